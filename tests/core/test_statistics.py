"""Statistics over seeds: order and side do not matter, nobody is dropped, and the formulas give the printed numbers."""

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from random import Random
from statistics import fmean, pstdev, stdev

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from akinai.core.statistics import (
    BOUNDLESS,
    LEVEL,
    compare,
    fewest_pairs,
    fewest_runs,
    mde,
    mean_interval,
    proportion_interval,
    seeds_needed,
    share_between,
    summarise,
    t_quantile,
)
from akinai.core.statistics.rearrangements import sign_flips
from together import together

SCORES = st.floats(-1e9, 1e9)
RUNS = st.lists(st.none() | SCORES, max_size=12)
GROUPS = st.dictionaries(st.integers(0, 12), st.none() | st.integers(-5, 5) | SCORES, max_size=12)

# extra hours of sleep of ten patients, drug 2 less drug 1: Student 1908, Biometrika 6:20
SLEEP = (1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4)


def close(actual: object, expected: object) -> bool:
    return actual == pytest.approx(expected, rel=1e-9, abs=1e-6)


@together(
    ("p", "df", "printed"),
    [
        *((0.975, 1, 12.7062), (0.975, 2, 4.30265), (0.975, 5, 2.57058), (0.975, 10, 2.22814), (0.975, 30, 2.04227)),
        *((0.975, 100, 1.98397), (0.975, 10**9, 1.95996), (0.8, 1, 1.37638), (0.8, 10, 0.879058), (0.8, 30, 0.853767)),
        *((0.995, 4, 4.60409), (0.999, 1, 318.309), (0.5, 7, 0.0), (0.025, 10, -2.22814)),
    ],
)
def test_t_quantiles_are_those_of_the_tables(p: float, df: int, printed: float) -> None:
    """Every digit that the tables print is right."""
    assert t_quantile(p, df) == pytest.approx(printed, rel=3e-6, abs=1e-12)


@given(st.floats(0.001, 0.999), st.integers(1, 60))
def test_t_quantile_has_its_share_of_the_density_below_it(p: float, df: int) -> None:
    """Integrating Student's density up to the quantile gives the share back, to ten decimals."""
    top = math.atan(t_quantile(p, df) / math.sqrt(df))
    steps = 400
    # with t = sqrt(df) tan(angle) the density becomes c cos(angle)^(df - 1); Simpson's rule
    heights = [
        math.cos(top * k / steps) ** (df - 1) * (1 if k in (0, steps) else 2 + 2 * (k % 2)) for k in range(steps + 1)
    ]
    c = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    assert 0.5 + c * math.fsum(heights) * top / steps / 3 == pytest.approx(p, abs=1e-10)


@given(st.floats(0.5, 0.999))
@example(0.999)
def test_t_quantile_joins_its_two_formulas(p: float) -> None:
    """Where the finite sum hands over to the expansion, at 2,000 degrees, the curve goes on to eleven digits."""
    at, *after = (t_quantile(p, df) for df in (2_000, 2_001, 2_002, 2_003))
    assert at == pytest.approx(3 * after[0] - 3 * after[1] + after[2], rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(("p", "df"), [(0, 5), (1, 5), (-0.1, 5), (math.nan, 5), (0.975, 0)])
def test_t_quantile_refuses_what_has_none(p: float, df: int) -> None:
    """The ends of the scale and zero degrees of freedom have no quantile."""
    with pytest.raises(ValueError, match="give 0 < p < 1, df >= 1"):
        t_quantile(p, df)


def test_summary_of_a_few_runs() -> None:
    """The plain figures are the textbook ones, and the failed run stands beside them."""
    summary = summarise([4, None, 1, 10, 5])
    assert (summary.n, summary.failed) == (4, 1)
    assert (summary.mean, summary.median, summary.min, summary.max) == (5, 4.5, 1, 10)
    assert close(summary.sd, math.sqrt((16 + 1 + 25 + 0) / 3))


@given(RUNS)
def test_no_run_is_dropped_in_silence(runs: list[float | None]) -> None:
    """Runs with a value and failed runs add up to all runs."""
    summary = summarise(runs)
    assert summary.n + summary.failed == len(runs)
    assert summary.failed == runs.count(None)


def test_without_runs_there_is_no_figure() -> None:
    """No value gives no mean, one value gives no spread; none of them is an error or a NaN."""
    assert summarise([]).to_json() == dict.fromkeys(("mean", "median", "sd", "min", "max", "ci95")) | {
        "n": 0,
        "failed": 0,
    }
    assert summarise([None, None]).failed == 2
    single = summarise([7.0])
    assert (single.mean, single.median, single.min, single.max, single.sd, single.ci95) == (7, 7, 7, 7, None, None)


@given(RUNS, st.randoms(use_true_random=False))
def test_order_does_not_matter(runs: list[float | None], chance: object) -> None:
    """The same runs in another order give the same summary, interval included, to the bit."""
    shuffled = list(runs)
    chance.shuffle(shuffled)  # pyright: ignore[reportAttributeAccessIssue]  hypothesis hands in a random.Random
    assert summarise(shuffled) == summarise(runs)


@given(RUNS, GROUPS, GROUPS)
@example([-0.0, -0.0], {1: 0.0, 2: -0.0}, {1: -0.0, 2: 0.0})
def test_json_holds_what_the_record_holds(runs: list[float | None], a: dict[int, float], b: dict[int, float]) -> None:
    """A summary and a comparison are plain JSON: no NaN, no negative zero, and the same values after a round trip."""
    for document in (summarise(runs).to_json(), compare(a, b).to_json()):
        text = json.dumps(document, allow_nan=False)
        assert json.loads(text) == document
        assert "-0.0," not in text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e101, 10**200])
def test_what_is_no_score_is_an_error(value: float) -> None:
    """A value that is not finite is a broken program, not a failed run."""
    for use in (summarise, mean_interval):
        with pytest.raises(ValueError, match="give a finite number, or None for a run that failed"):
            use([1.0, 2.0, value])
    with pytest.raises(ValueError, match="give a finite number"):
        compare({1: 0.0}, {1: value})


def test_interval_by_hand() -> None:
    """Student's ends, and Hall's where they lie further out: the sleep data have a skewness of 0.9."""
    n, mean = len(SLEEP), fmean(SLEEP)
    sd, skewness = stdev(SLEEP), fmean((x - mean) ** 3 for x in SLEEP) / pstdev(SLEEP) ** 3
    student = 2.262157 * sd / math.sqrt(n)
    low, high = mean_interval(SLEEP) or (math.nan, math.nan)
    assert low == pytest.approx(mean - student, abs=1e-6)
    # Hall 1992: the t that his cubic takes to -2.262157, with a = skewness / sqrt(n)
    a = skewness / math.sqrt(n)
    t = (math.sqrt(n) * (mean - high)) / sd
    assert t < -2.262157
    assert t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6 == pytest.approx(-2.262157, abs=1e-6)


def test_interval_of_two_is_students() -> None:
    """Two values have no skewness: mean +- t sd / sqrt(2)."""
    assert mean_interval((1.0, 2.0)) == pytest.approx((-4.8531, 7.8531), abs=1e-4)


@given(st.lists(SCORES, min_size=2, max_size=12))
def test_interval_holds_the_mean_of_the_sample(values: list[float]) -> None:
    """The sample's own mean lies inside, unless nothing varies and there is no interval."""
    low, high = mean_interval(values) or (min(values), max(values))
    assert low <= (summarise(values).mean or 0.0) <= high


@given(st.lists(SCORES, min_size=2, max_size=6), st.booleans())
def test_interval_of_symmetric_values_is_symmetric(half: list[float], middle: bool) -> None:
    """Values that are their own mirror image around 0 give an interval that is its own mirror image."""
    assume(any(half))
    low, high = mean_interval([*half, *(-value for value in half), *([0.0] if middle else [])]) or (math.nan, math.nan)
    assert low == -high


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=10), st.integers(1, 1000), st.integers(-10_000, 10_000))
def test_interval_knows_no_unit(values: list[int], scale: int, shift: int) -> None:
    """Cents for dollars, or another zero: the interval moves with the values."""
    assume(len(set(values)) > 1)
    low, high = mean_interval(values) or (math.nan, math.nan)
    assert close(
        mean_interval([shift + scale * value for value in values]), (shift + scale * low, shift + scale * high)
    )


@given(SCORES, st.integers(2, 12))
def test_equal_values_have_no_interval(value: float, n: int) -> None:
    """How far values may lie apart was not seen, and no rounding dust makes an interval of it."""
    assert mean_interval([value] * n) is None
    assert summarise([value] * n, bounds=BOUNDLESS).ci95 is None


def test_passed_and_failed_have_the_interval_of_a_share() -> None:
    """Also where all passed; values that only look like it, such as days, are no share."""
    assert summarise([1, 0, 1, 1], bounds=(0.0, 1.0)).ci95 == proportion_interval(3, 4)
    assert summarise([1.0] * 5, bounds=(0.0, 1.0)).ci95 == pytest.approx((0.025 ** (1 / 5), 1.0))
    assert summarise([1.0] * 5, bounds=(0.0, math.inf)).ci95 is None
    passed = summarise([1, 1, 0, 0, 1, 1], bounds=(0.0, 1.0), clusters=[1, 1, 2, 2, 3, 3])
    assert passed.ci95 == proportion_interval(2, 3)


@pytest.mark.parametrize("values", [[0, 1], [0, 0, 1], [1, 0, 1, 1], [0] * 9 + [1]])
def test_ones_and_zeros_without_bounds_may_be_counts(values: list[float]) -> None:
    """Their interval holds that of a share and that of a mean: a further run may be 3. All alike they are a share."""
    low, high = summarise(values).ci95 or (math.nan, math.nan)
    both = [proportion_interval(round(sum(values)), len(values)), mean_interval(values) or (math.nan, math.nan)]
    assert (low, high) == (min(ends[0] for ends in both), max(ends[1] for ends in both))
    assert summarise([0, 0]).ci95 == proportion_interval(0, 2)


@together("odd_one", [1e-300, 1e-160, 1.0, 1e90])
@together("n", [5, 6, 50])
def test_interval_survives_one_odd_value(odd_one: float, n: int) -> None:
    """The most skewed sample there is, at any scale, has a finite interval around its mean."""
    low, high = mean_interval([0.0] * (n - 1) + [odd_one]) or (math.nan, math.nan)
    assert -odd_one <= low <= odd_one / n <= high <= 100 * odd_one


def test_comparison_of_students_sleep_data() -> None:
    """Mean 1.58, sd 1.23, t = 4.0621 on 9 degrees, p = 0.002833: as printed by every statistics program.

    Of 1,024 ways to sign the ten differences four are as far from 0, since one is 0: a smaller p of 0.0039 is not given.
    """
    comparison = compare(dict.fromkeys(range(10), 0.0), dict(enumerate(SLEEP)))
    assert (comparison.pairs, comparison.wins, comparison.losses, comparison.ties) == (10, 9, 0, 1)
    assert comparison.difference == pytest.approx(1.58)
    assert comparison.sd_difference == pytest.approx(1.229995, abs=1e-6)
    assert comparison.p == pytest.approx(4 / 1024)
    low, high = mean_interval(SLEEP) or (math.nan, math.nan)
    assert comparison.ci95 is not None
    assert comparison.ci95[0] <= low
    assert comparison.ci95[1] >= high
    assert comparison.mde == mde(comparison.sd_difference or 0.0, 10)


@given(GROUPS, GROUPS)
def test_swapping_sides_negates_the_difference(a: dict[int, float | None], b: dict[int, float | None]) -> None:
    """compare(b, a) is compare(a, b) seen from the other side, to the bit."""
    forward, backward = compare(a, b), compare(b, a)
    assert (forward.pairs, forward.failed_both, forward.ties) == (backward.pairs, backward.failed_both, backward.ties)
    assert (forward.failed_a, forward.only_a, forward.wins) == (backward.failed_b, backward.only_b, backward.losses)
    assert (forward.failed_b, forward.only_b, forward.losses) == (backward.failed_a, backward.only_a, backward.wins)
    assert (forward.sd_difference, forward.p, forward.mde) == (backward.sd_difference, backward.p, backward.mde)
    assert forward.difference == (None if backward.difference is None else -backward.difference)
    assert forward.ci95 == (None if backward.ci95 is None else (-backward.ci95[1], -backward.ci95[0]))


@given(GROUPS, GROUPS)
def test_every_seed_is_counted_once(a: dict[int, float | None], b: dict[int, float | None]) -> None:
    """A seed is a pair, a failure of one or both, or known to one side only; each pair is a win, a loss or a tie."""
    comparison = compare(a, b)
    counts = (
        comparison.pairs,
        comparison.failed_a,
        comparison.failed_b,
        comparison.failed_both,
        comparison.only_a,
        comparison.only_b,
    )
    assert min(counts) >= 0
    assert sum(counts) == len(a.keys() | b.keys())
    assert comparison.wins + comparison.losses + comparison.ties == comparison.pairs


def test_who_failed_where_is_told() -> None:
    """Six seeds, six fates."""
    a = {1: 1.0, 2: None, 3: 3.0, 4: None, 5: 5.0}
    b = {1: 2.0, 2: 2.0, 3: None, 4: None, 6: None}
    assert compare(a, b).to_json() == {
        **dict.fromkeys(("pairs", "failed_a", "failed_b", "failed_both", "only_a", "only_b", "wins"), 1),
        **{"losses": 0, "ties": 0, "difference": 1.0},
        **dict.fromkeys(("sd_difference", "ci95", "mde")),
        "p": 1.0,
    }


@given(GROUPS)
def test_a_group_does_not_differ_from_itself(a: dict[int, float | None]) -> None:
    """Nothing but ties, no interval, and a p of 1."""
    comparison = compare(a, a)
    assert comparison.ties == comparison.pairs
    assert comparison.difference == (0.0 if comparison.pairs else None)
    assert comparison.ci95 is None
    assert comparison.p == (1.0 if comparison.pairs else None)


@together("n", [1, 2, 5, 6, 10, 20])
def test_a_constant_gain_is_tested_like_any_other(n: int) -> None:
    """The same gain at every seed has the p of n equal signs, and no interval, since no spread was seen."""
    comparison = compare(dict.fromkeys(range(n), 1.0), dict.fromkeys(range(n), 2.0))
    assert (comparison.difference, comparison.ci95) == (1.0, None)
    # of 20 pairs 20,000 of the million ways are sampled; with the way that was seen none of them is as far
    assert comparison.p == pytest.approx(max(2 / 2**n, 2 / 20_000))


DIFFERENCES = st.lists(st.integers(-3, 3) | st.floats(-10, 10).map(lambda x: round(x, 3)), min_size=1, max_size=9)
"""Of magnitudes that rounding tells apart, as scores are."""


def flip_p(differences: Sequence[float], truth: float) -> float:
    """The sign-flip test by its definition: two-sided p of a true difference, over all ways to sign the differences."""
    parts = [difference - truth for difference in differences]
    total, dust = math.fsum(parts), 1e-12 * max(map(abs, parts), default=0.0)
    sums = [math.fsum(sign * x for sign, x in zip(s, parts, strict=True)) for s in signs(len(parts))]
    return min(1.0, 2 * min(sum(x <= total + dust for x in sums), sum(x >= total - dust for x in sums)) / len(sums))


def signs(n: int) -> Iterable[tuple[int, ...]]:
    return itertools.product((1, -1), repeat=n)


@given(DIFFERENCES)
def test_signs_are_flipped_as_the_definition_says(differences: list[float]) -> None:
    """The p by typical values is that of all flips, and just outside the interval p is below 5 %, just inside not."""
    test = sign_flips(differences)
    assert test.p == pytest.approx(flip_p(differences, 0.0), abs=1e-12)
    assert (test.ends is None) == (len(differences) < 6 or not any(differences))
    for end, outward in zip(test.ends or (), (-1, 1), strict=False):
        step = outward * 1e-4
        assert flip_p(differences, end + step) < LEVEL
        assert flip_p(differences, end - outward * 1e-9) >= LEVEL  # the end itself is known to rounding


def test_tied_sums_are_not_told_apart_by_rounding() -> None:
    """0.1 + 0.2 - 0.3 is 0: a tie, which counts against the difference on both sides."""
    gains = [0.1, 0.2, -0.3, 0.1, 0.2, -0.3]
    tenths = [10 * gain for gain in gains]
    assert sign_flips(gains).p == sign_flips(tenths).p == sign_flips([round(gain) for gain in tenths]).p == 1.0


@given(st.lists(SCORES | st.integers(-3, 3), min_size=1, max_size=25))
def test_interval_and_p_never_disagree(differences: list[float]) -> None:
    """An interval leaves 0 out exactly where p is below 5 %."""
    comparison = compare(dict.fromkeys(range(len(differences)), 0.0), dict(enumerate(differences)))
    assert comparison.p is not None
    if comparison.ci95 is not None:
        assert (comparison.p < LEVEL) == (not comparison.ci95[0] <= 0 <= comparison.ci95[1])


def test_interval_and_p_agree_near_the_level() -> None:
    """The same of five hundred samples whose mean lies about two standard errors from 0, of all sizes and shapes."""
    chance = Random(3)
    near = 0
    for study in range(500):
        n = 6 + study % 9
        draw = (lambda: chance.gauss(0.9, 1.0)) if study % 2 else (lambda: chance.expovariate(1.0) - 0.35)
        comparison = compare(dict.fromkeys(range(n), 0.0), {seed: draw() for seed in range(n)})
        assert comparison.ci95 is not None
        assert comparison.p is not None
        near += 0.01 < comparison.p < 0.2
        assert (comparison.p < LEVEL) == (not comparison.ci95[0] <= 0 <= comparison.ci95[1])
    assert near > 100


def test_p_is_no_smaller_than_chance_allows() -> None:
    """Six pairs are the fewest that can show a difference, at any size; with a sharper level it takes more."""
    assert [fewest_pairs(LEVEL / pairs) for pairs in (1, 3, 6, 28)] == [6, 7, 8, 11]
    assert fewest_runs() == 4
    huge = [compare(dict.fromkeys(range(n), 0.0), {seed: 1e6 + seed for seed in range(n)}).p for n in (5, 6)]
    assert huge == [2 / 32, 2 / 64]


def test_mcnemar_is_the_test_of_passed_and_failed() -> None:
    """Nine seeds that b alone passed, one that a alone passed, ten alike: (1 + 10) / 2^10, twice."""
    a = dict(enumerate([0] * 9 + [1] + [1] * 10))
    b = dict(enumerate([1] * 9 + [0] + [1] * 10))
    # 20 pairs: the ways are sampled, so the p lies near
    assert sign_flips([b[seed] - a[seed] for seed in a]).p == pytest.approx(22 / 1024, rel=0.15)
    assert sign_flips([b[seed] - a[seed] for seed in range(10)]).p == 22 / 1024


@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5), min_size=2), st.randoms(use_true_random=False))
def test_pairs_are_made_by_key(a: dict[str, float], chance: object) -> None:
    """The order in which a mapping was filled pairs nobody; any hashable key makes a pair, an item's id too."""
    b = {key: value * value for key, value in a.items()}
    keys = list(a)
    chance.shuffle(keys)  # pyright: ignore[reportAttributeAccessIssue]  hypothesis hands in a random.Random
    assert compare(a, {key: b[key] for key in keys}) == compare(a, b)


def test_smallest_visible_worked_number() -> None:
    """Ten pairs with a spread of 100: (2.262157 + 0.883404) x 100 / sqrt(10) = 99.4714, and 1 + 0.36 / 5^0.6 = 1.13706
    of it, since ten pairs are four more than the fewest."""
    assert mde(100.0, 10) == pytest.approx(99.4714 * 1.13706, abs=1e-2)


@pytest.mark.parametrize(("gain", "pairs"), [(0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15), (1.0, 10)])
def test_seeds_needed_are_those_of_the_power_tables(gain: float, pairs: int) -> None:
    """For gains in units of the spread: what power programs give for a paired t-test, 80 % at two-sided 5 %, and a few
    pairs more for a test that holds whatever the scores are."""
    assert pairs < seeds_needed(1.0, gain) <= 1.01 * pairs + 5


@given(st.floats(0, 1e6), st.floats(1, 1e6))
def test_seeds_needed_is_the_smallest_number_that_sees(sd: float, gain: float) -> None:
    """That many pairs see the gain and one fewer does not."""
    n = seeds_needed(sd, gain)
    assert mde(sd, n) <= gain
    assert n == 6 or mde(sd, n - 1) > gain


@given(st.floats(1e-3, 1e3), st.integers(6, 300))
def test_seeds_needed_undoes_smallest_visible(sd: float, n: int) -> None:
    """The gain that n pairs just see needs n pairs."""
    assert seeds_needed(sd, mde(sd, n)) == n


@pytest.mark.parametrize(
    ("sd", "gain", "advice"),
    [(1, 0, "above 0"), (1, -1, "above 0"), (1, math.nan, "finite"), (-1, 1, "at least 0"), (1, 1e-7, "a millionth")],
)
def test_seeds_needed_refuses_what_no_number_of_seeds_can_see(sd: float, gain: float, advice: str) -> None:
    """A gain of nothing, of less than nothing or hopelessly under the noise has no number of seeds."""
    with pytest.raises(ValueError, match=advice):
        seeds_needed(sd, gain)


def test_smallest_visible_wants_six_pairs() -> None:
    """Five pairs can show nothing."""
    with pytest.raises(ValueError, match="give at least 6"):
        mde(1.0, 5)


@pytest.mark.parametrize(
    ("value", "low", "high", "share"),
    [(75, 50, 150, 0.25), (25, 50, 150, -0.25), (200, 50, 150, 1.5), (3, 10, 0, 0.7), (5, 5, 5, None)],
)
def test_share_between_two_baselines(value: float, low: float, high: float, share: float | None) -> None:
    """0 at the low baseline, 1 at the high one, beyond them outside; equal baselines measure nothing."""
    assert share_between(value, low, high) == share


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_proportion_interval_worked_numbers(successes: int, n: int, low: float, high: float) -> None:
    """The exact column of Newcombe 1998, Statistics in Medicine 17:857, table I."""
    assert proportion_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 200), st.data())
def test_proportion_interval_ends_where_the_binomial_does(n: int, data: st.DataObject) -> None:
    """At each end the share that was seen, or one further out, has a probability of 2.5 %: the definition."""
    successes = data.draw(st.integers(0, n))
    low, high = proportion_interval(successes, n)
    assert 0 <= low <= successes / n <= high <= 1

    def between(first: int, last: int, share: float) -> float:
        return math.fsum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(first, last + 1))

    if successes:
        assert between(successes, n, low) == pytest.approx(0.025, abs=1e-9)
    if successes < n:
        assert between(0, successes, high) == pytest.approx(0.025, abs=1e-9)


@given(st.integers(0, 5000), st.data())
def test_failures_mirror_successes(n: int, data: st.DataObject) -> None:
    """The interval of the failures is the interval of the successes, seen from 1."""
    successes = data.draw(st.integers(0, n))
    low, high = proportion_interval(successes, n)
    assert proportion_interval(n - successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.integers(0, 200), st.integers(0, 200), st.floats(0.5, 0.98))
def test_more_confidence_is_a_wider_interval(successes: int, failures: int, confidence: float) -> None:
    """An interval at a higher confidence holds the one at a lower."""
    assume(successes + failures)
    inner = proportion_interval(successes, successes + failures, confidence=confidence)
    outer = proportion_interval(successes, successes + failures, confidence=confidence + 0.01)
    assert outer[0] <= inner[0]
    assert inner[1] <= outer[1]
    assert outer[1] - outer[0] > inner[1] - inner[0]


@given(st.integers(0, 5000), st.floats(0.01, 0.999))
def test_no_success_and_no_failure_are_exact_ends(n: int, confidence: float) -> None:
    """With no success the low end is 0, with no failure the high end is 1, without rounding dust."""
    assert proportion_interval(0, n, confidence=confidence)[0] == 0
    assert proportion_interval(n, n, confidence=confidence)[1] == 1


def test_no_trial_tells_nothing() -> None:
    """Of a share that was never tried anything may be true."""
    assert proportion_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("successes", "n", "confidence"), [(-1, 5, 0.95), (6, 5, 0.95), (0, -1, 0.95), (1, 2, 1.0), (1, 2, 0.0)]
)
def test_impossible_shares_are_refused(successes: int, n: int, confidence: float) -> None:
    """More successes than trials, and certainty, are mistakes of the program."""
    with pytest.raises(ValueError, match="give"):
        proportion_interval(successes, n, confidence=confidence)


@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_no_end_of_an_interval_lies_where_no_value_can(values: list[float]) -> None:
    """A share's interval stays between 0 and 1 and holds the mean; a value beyond the bounds shows that they are none."""
    assume(len(set(values)) > 1)
    summary = summarise(values, bounds=(0.0, 1.0))
    assert summary.ci95 is not None
    assert summary.mean is not None
    assert 0.0 <= summary.ci95[0] <= summary.mean <= summary.ci95[1] <= 1.0
    assert summarise([*values, -1.0], bounds=(0.0, 1.0)) == summarise([*values, -1.0])


def test_a_mean_of_shares_is_cut() -> None:
    """The interval of 0.2, 1, 1, 1 goes beyond 1."""
    assert (summarise([0.2, 1.0, 1.0, 1.0]).ci95 or (0, 0))[1] > 1
    assert (summarise([0.2, 1.0, 1.0, 1.0], bounds=(0.0, 1.0)).ci95 or (0, 0))[1] == 1.0


def test_direction_decides_wins() -> None:
    """The lower side wins where lower is better; without a direction nobody wins, and differences stay."""
    a, b = {1: 5, 2: 5, 3: 5}, {1: 2, 2: 9, 3: 5}
    counts = {
        way: (compare(a, b, better=way).wins, compare(a, b, better=way).losses) for way in ("higher", "lower", None)
    }
    assert counts == {"higher": (1, 1), "lower": (1, 1), None: (None, None)}
    fewer = compare(a, {1: 2, 2: 3, 3: 5}, better="lower")
    assert (fewer.wins, fewer.losses, fewer.ties, fewer.difference) == (2, 0, 1, -5 / 3)
