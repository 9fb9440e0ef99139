"""Groups without a common seed: Welch's interval, and what it could have seen."""

import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.statistics import summarise, welch_compare, welch_mde, welch_seeds_needed
from akinai.core.statistics.rearrangements import exchanges

values = st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=9)


def test_welch_by_hand() -> None:
    """Means 3 and 8, deviations squared 2 and 8 about them: standard error sqrt(2.5), 5.88 degrees, rounded down to 5."""
    result = welch_compare([1, 2, 3, 4, 5, None], [4, 6, 8, 10, 12])
    half = 2.5705818366147395 * math.sqrt((2.5 + 10) / 5)
    assert (result.n_a, result.n_b, result.failed_a, result.failed_b, result.difference) == (5, 5, 1, 0, 5)
    assert result.ci95 is not None
    # symmetric sides have no skewness: the interval is Welch's, or that of the exchanges where it is wider
    low, high = exchanges([1, 2, 3, 4, 5], [4, 6, 8, 10, 12]).ends or (math.nan, math.nan)
    assert result.ci95 == pytest.approx((min(low, 5 - half), max(high, 5 + half)))
    # the values that come from b to a, in the 252 ways to deal ten values, sum up to as much in five of them
    pool = [1, 2, 3, 4, 5, 4, 6, 8, 10, 12]
    deals = [sum(deal) for deal in combinations(pool, 5)]
    assert result.p == pytest.approx(max(2 * sum(deal <= 15 for deal in deals) / 252, welch_p(5 / math.sqrt(2.5))))
    factor = 2.5705818366147395 + 0.9195437801
    assert result.mde == pytest.approx(factor * math.sqrt(2.5) * (1 + 0.36 / 2**0.6), rel=1e-6)


def welch_p(t: float) -> float:
    """Two-sided p of Student's t with five degrees of freedom: Abramowitz and Stegun 26.7.3."""
    theta = math.atan(t / math.sqrt(5))
    within = 2 / math.pi * (theta + math.sin(theta) * (math.cos(theta) + 2 / 3 * math.cos(theta) ** 3))
    return 1 - within


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=5), st.lists(st.integers(-4, 4), min_size=2, max_size=5))
def test_sides_are_exchanged_as_the_definition_says(a: list[int], b: list[int]) -> None:
    """The p is the share of all deals of the values to the sides that are as far apart, twice its smaller tail."""
    deals = [sum(deal) for deal in combinations([*a, *b], len(a))]
    tails = sum(deal <= sum(a) for deal in deals), sum(deal >= sum(a) for deal in deals)
    if len(set(a) | set(b)) > 1:
        assert exchanges(a, b).p == pytest.approx(min(1.0, 2 * min(tails) / len(deals)))


@given(st.lists(st.integers(-4, 4), min_size=4, max_size=6), st.lists(st.floats(-4, 4), min_size=4, max_size=6))
def test_interval_and_p_never_disagree(a: list[float], b: list[float]) -> None:
    """An interval leaves 0 out exactly where p is below 5 %."""
    result = welch_compare(a, b)
    if result.ci95 is not None:
        assert result.p is not None
        assert (result.p < 0.05) == (not result.ci95[0] <= 0 <= result.ci95[1])


def test_few_runs_promise_nothing() -> None:
    """One run on a side gives a difference without an interval; none gives nothing."""
    result = welch_compare([1], [2, 4])
    assert (result.difference, result.ci95, result.p, result.mde) == (2, None, None, None)
    assert welch_compare([None], [2, 4]).difference is None
    assert welch_compare([], []).to_json()["ci95"] is None
    assert welch_seeds_needed(summarise([1]), summarise([2, 4]), 1) is None


def test_equal_runs_have_no_spread() -> None:
    """Where a side does not vary there is no interval, and the exchanges alone give p."""
    result = welch_compare([5, 5], [7, 7, 7])
    assert (result.ci95, result.p, result.mde) == (None, 2 / 10, None)
    assert welch_compare([5.0] * 150, [7.0] * 150).p == 2 / 20_000


@given(values, values)
def test_swapping_sides_negates(a: list[float], b: list[float]) -> None:
    """b against a is a against b with the sign changed."""
    forward, backward = welch_compare(a, b), welch_compare(b, a)
    assert (forward.difference is None) == (backward.difference is None)
    if forward.difference is not None:
        assert forward.difference == -(backward.difference or 0.0)
    assert (forward.p, forward.mde) == (backward.p, backward.mde)
    if forward.ci95 and backward.ci95:
        assert forward.ci95 == (pytest.approx(-backward.ci95[1]), pytest.approx(-backward.ci95[0]))


def test_seeds_needed_see_the_gain() -> None:
    """As many runs as are needed see the gain, and a few less do not."""
    side = summarise([0.0, 10.0, 20.0, 30.0])
    needed = welch_seeds_needed(side, side, 5)
    assert needed is not None
    sd = side.sd or 0.0

    def visible(n: int) -> float:
        many = replace(summarise([0.0] * n), sd=sd)
        return welch_mde(many, many) or 0.0

    assert visible(needed) <= 5 < visible(needed - 3)


def test_thousands_of_runs_are_enough() -> None:
    """Whatever their number, which has more arrangements than a float can hold."""
    many = summarise([100.0, 300.0] * 1_000)
    assert 0 < (welch_mde(many, many) or 0.0) < 20
