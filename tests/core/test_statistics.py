"""Statistics over seeds: order and side do not matter, nobody is dropped, and the formulas give the printed numbers."""

import itertools
import json
import math
from statistics import fmean, pstdev

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from akinai.core.statistics import (
    compare,
    mde,
    mean_interval,
    proportion_interval,
    seeds_needed,
    share_between,
    summarise,
    t_quantile,
)

SCORES = st.floats(-1e9, 1e9)
RUNS = st.lists(st.none() | SCORES, max_size=12)
GROUPS = st.dictionaries(st.integers(0, 12), st.none() | st.integers(-5, 5) | SCORES, max_size=12)

# extra hours of sleep of ten patients, drug 2 less drug 1: Student 1908, Biometrika 6:20
SLEEP = (1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4)


def close(actual: object, expected: object) -> bool:
    return actual == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
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


def textbook_bootstrap_t(values: tuple[float, ...]) -> list[float]:
    """The ratio of each of the n^n resamples in order: Efron and Tibshirani 1993, 12.5, with a least spread."""
    centre, spread = fmean(values), pstdev(values)
    draws = itertools.product(values, repeat=len(values))
    return sorted((fmean(drawn) - centre) * spread / max(pstdev(drawn), spread / 3) for drawn in draws)


@pytest.mark.parametrize(
    "values",
    [
        (1.0, 1.5, 2.3, 4.0, 7.9, 8.6),
        pytest.param((0.0, 0.0, 0.0, 0.0, 3.0, 5.0), marks=pytest.mark.slow),
        pytest.param((-9.0, 1.0, 2.0, 3.0, 4.0, 4.5), marks=pytest.mark.slow),
    ],
)
def test_interval_is_the_textbook_one(values: tuple[float, ...]) -> None:
    """Ten thousand draws end where all 46,656 resamples do, to 0.5 % of them, or at the sample's extremes."""
    ratios = textbook_bootstrap_t(values)
    low, high = mean_interval(values) or (math.nan, math.nan)
    for end, share in ((low, 0.975), (high, 0.025)):
        last, first = (fmean(values) - ratios[round((share + step) * (len(ratios) - 1))] for step in (-0.005, 0.005))
        first, last = max(first, min(values)), min(last, max(values))
        assert min(first, max(values)) - 1e-9 <= end <= max(last, min(values)) + 1e-9


def test_interval_is_the_same_on_every_machine() -> None:
    """The draws are a function of the seed: these digits were printed once and stay."""
    assert mean_interval(SLEEP) == pytest.approx((0.9464604476587453, 2.96), rel=1e-12)
    assert mean_interval(SLEEP, seed=1) == pytest.approx(mean_interval(SLEEP), abs=0.1)
    assert mean_interval(SLEEP, seed=1) != mean_interval(SLEEP)


@pytest.mark.parametrize(
    ("values", "low", "high"), [((1.0, 2.0), -4.8531, 7.8531), ((1.0, 2.0, 4.0, 5.0), 0.0948, 5.9052)]
)
def test_interval_of_very_few_is_students(values: tuple[float, ...], low: float, high: float) -> None:
    """Below five values nothing is resampled: mean +- t sd / sqrt(n)."""
    assert mean_interval(values) == pytest.approx((low, high), abs=1e-4)


@given(st.lists(SCORES, min_size=2, max_size=12))
def test_interval_holds_the_mean_of_the_sample(values: list[float]) -> None:
    """The sample's own mean lies inside, and from five values on the interval stays within the sample's range."""
    low, high = mean_interval(values) or (math.nan, math.nan)
    assert low <= (summarise(values).mean or 0.0) <= high
    if len(values) >= 5:
        assert min(values) <= low
        assert high <= max(values)


@given(st.lists(SCORES, min_size=2, max_size=6), st.booleans())
def test_interval_of_symmetric_values_is_symmetric(half: list[float], middle: bool) -> None:
    """Values that are their own mirror image around 0 give an interval that is its own mirror image."""
    low, high = mean_interval([*half, *(-value for value in half), *([0.0] if middle else [])]) or (math.nan, math.nan)
    assert low == -high


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=10), st.integers(1, 1000), st.integers(-10_000, 10_000))
def test_interval_knows_no_unit(values: list[int], scale: int, shift: int) -> None:
    """Cents for dollars, or another zero: the interval moves with the values."""
    low, high = mean_interval(values) or (math.nan, math.nan)
    assert close(
        mean_interval([shift + scale * value for value in values]), (shift + scale * low, shift + scale * high)
    )


@given(SCORES, st.integers(2, 12))
def test_interval_of_equal_values_has_no_width(value: float, n: int) -> None:
    """Where nothing varies nothing is resampled, and no rounding dust is left."""
    assert mean_interval([value] * n) == (value, value)


@pytest.mark.parametrize("odd_one", [1e-300, 1e-160, 1.0, 1e90])
@pytest.mark.parametrize("n", [5, 6, 50])
def test_interval_survives_one_odd_value(odd_one: float, n: int) -> None:
    """The most skewed sample there is, at any scale, has a finite interval around its mean."""
    low, high = mean_interval([0.0] * (n - 1) + [odd_one]) or (math.nan, math.nan)
    assert 0 <= low <= odd_one / n <= high <= odd_one


def test_comparison_of_students_sleep_data() -> None:
    """Mean 1.58, sd 1.23, t = 4.0621 on 9 degrees, p = 0.002833: as printed by every statistics program."""
    comparison = compare(dict.fromkeys(range(10), 0.0), dict(enumerate(SLEEP)))
    assert (comparison.pairs, comparison.wins, comparison.losses, comparison.ties) == (10, 9, 0, 1)
    assert comparison.difference == pytest.approx(1.58)
    assert comparison.sd_difference == pytest.approx(1.229995, abs=1e-6)
    assert comparison.p == pytest.approx(0.002833, abs=5e-7)
    assert comparison.ci95 == mean_interval(SLEEP)
    assert comparison.mde == pytest.approx((2.262157 + 0.883404) * 1.229995 / math.sqrt(10), abs=1e-5)


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
        **dict.fromkeys(("sd_difference", "ci95", "p", "mde")),
    }


@given(GROUPS)
def test_a_group_does_not_differ_from_itself(a: dict[int, float | None]) -> None:
    """Nothing but ties, and no p where there is no spread to measure it by."""
    comparison = compare(a, a)
    assert comparison.ties == comparison.pairs
    assert comparison.difference == (0.0 if comparison.pairs else None)
    assert comparison.ci95 == ((0.0, 0.0) if comparison.pairs > 1 else None)
    assert comparison.p is None


def test_a_constant_gain_has_no_p() -> None:
    """The same gain at every seed: an interval without width, and no test, which would call two pairs certain."""
    comparison = compare({1: 1.0, 2: 2.0}, {1: 2.0, 2: 3.0})
    assert (comparison.difference, comparison.ci95, comparison.p, comparison.mde) == (1.0, (1.0, 1.0), None, 0.0)


@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5), min_size=2), st.randoms(use_true_random=False))
def test_pairs_are_made_by_key(a: dict[str, float], chance: object) -> None:
    """The order in which a mapping was filled pairs nobody; any hashable key makes a pair, an item's id too."""
    b = {key: value * value for key, value in a.items()}
    keys = list(a)
    chance.shuffle(keys)  # pyright: ignore[reportAttributeAccessIssue]  hypothesis hands in a random.Random
    assert compare(a, {key: b[key] for key in keys}) == compare(a, b)


def test_smallest_visible_worked_number() -> None:
    """Ten pairs with a spread of 100: (2.262157 + 0.883404) x 100 / sqrt(10) = 99.4714."""
    assert mde(100.0, 10) == pytest.approx(99.4714, abs=1e-4)


@pytest.mark.parametrize(("gain", "pairs"), [(0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15), (1.0, 10)])
def test_seeds_needed_are_those_of_the_power_tables(gain: float, pairs: int) -> None:
    """For gains in units of the spread: what power programs give for a paired t-test, 80 % at two-sided 5 %."""
    assert seeds_needed(1.0, gain) == pairs


@given(st.floats(0, 1e6), st.floats(1, 1e6))
def test_seeds_needed_is_the_smallest_number_that_sees(sd: float, gain: float) -> None:
    """That many pairs see the gain and one fewer does not."""
    n = seeds_needed(sd, gain)
    assert mde(sd, n) <= gain
    assert n == 2 or mde(sd, n - 1) > gain


@given(st.floats(1e-3, 1e3), st.integers(2, 300))
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


def test_smallest_visible_wants_two_pairs() -> None:
    """One pair shows no spread."""
    with pytest.raises(ValueError, match="give at least 2"):
        mde(1.0, 1)


@pytest.mark.parametrize(
    ("value", "low", "high", "share"),
    [(75, 50, 150, 0.25), (25, 50, 150, -0.25), (200, 50, 150, 1.5), (3, 10, 0, 0.7), (5, 5, 5, None)],
)
def test_share_between_two_baselines(value: float, low: float, high: float, share: float | None) -> None:
    """0 at the low baseline, 1 at the high one, beyond them outside; equal baselines measure nothing."""
    assert share_between(value, low, high) == share


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_proportion_interval_worked_numbers(successes: int, n: int, low: float, high: float) -> None:
    """The Wilson column of Newcombe 1998, Statistics in Medicine 17:857, table I."""
    assert proportion_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 5000), st.data())
def test_proportion_interval_ends_where_the_score_test_does(n: int, data: st.DataObject) -> None:
    """At each end the share seen is 1.96 standard errors away, the error being the end's own: Wilson's definition."""
    successes = data.draw(st.integers(0, n))
    low, high = proportion_interval(successes, n)
    seen = successes / n
    assert 0 <= low <= seen <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert abs(seen - end) == pytest.approx(1.9599640 * math.sqrt(end * (1 - end) / n), rel=1e-5, abs=1e-9)


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
    summary = summarise(values, bounds=(0.0, 1.0))
    assert summary.ci95 is not None
    assert summary.mean is not None
    assert 0.0 <= summary.ci95[0] <= summary.mean <= summary.ci95[1] <= 1.0
    assert summarise([*values, -1.0], bounds=(0.0, 1.0)) == summarise([*values, -1.0])


def test_a_share_of_four_runs_is_cut() -> None:
    """Student's interval of 0, 1, 1, 1 goes beyond 1."""
    assert summarise([0.0, 1.0, 1.0, 1.0]).ci95 == pytest.approx((-0.0456, 1.5456), abs=1e-4)
    assert summarise([0.0, 1.0, 1.0, 1.0], bounds=(0.0, 1.0)).ci95 == (0.0, 1.0)


def test_direction_decides_wins() -> None:
    """The lower side wins where lower is better; without a direction nobody wins, and differences stay."""
    a, b = {1: 5, 2: 5, 3: 5}, {1: 2, 2: 9, 3: 5}
    counts = {
        way: (compare(a, b, better=way).wins, compare(a, b, better=way).losses) for way in ("higher", "lower", None)
    }
    assert counts == {"higher": (1, 1), "lower": (1, 1), None: (None, None)}
    fewer = compare(a, {1: 2, 2: 3, 3: 5}, better="lower")
    assert (fewer.wins, fewer.losses, fewer.ties, fewer.difference) == (2, 0, 1, -5 / 3)
