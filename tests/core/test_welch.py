"""Groups without a common seed: Welch's interval, and what it could have seen."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.statistics import summarise, welch_compare, welch_mde, welch_seeds_needed

values = st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=9)


def test_welch_by_hand() -> None:
    """Means 2 and 4, deviations 1 and 2, three runs each: standard error sqrt(5/3), 2.94 degrees rounded down to 2."""
    result = welch_compare([1, 2, 3, None], [2, 4, 6])
    half = 4.302652729911275 * math.sqrt(5 / 3)
    assert (result.n_a, result.n_b, result.failed_a, result.failed_b, result.difference) == (3, 3, 1, 0, 2)
    assert result.ci95 == (pytest.approx(2 - half), pytest.approx(2 + half))
    # t = 1.549 with 2 degrees: p = 1 - t / sqrt(2 + t^2)
    t = 2 / math.sqrt(5 / 3)
    assert result.p == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert result.mde == pytest.approx((4.302652729911275 + 1.0606601717798212) * math.sqrt(5 / 3))


def test_few_runs_promise_nothing() -> None:
    """One run on a side gives a difference without an interval; none gives nothing."""
    result = welch_compare([1], [2, 4])
    assert (result.difference, result.ci95, result.p, result.mde) == (2, None, None, None)
    assert welch_compare([None], [2, 4]).difference is None
    assert welch_compare([], []).to_json()["ci95"] is None
    assert welch_seeds_needed(summarise([1]), summarise([2, 4]), 1) is None


def test_equal_runs_have_no_spread() -> None:
    """Where neither side varies the interval has no width and there is no test."""
    result = welch_compare([5, 5], [7, 7, 7])
    assert (result.ci95, result.p, result.mde) == ((2, 2), None, 0)


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
