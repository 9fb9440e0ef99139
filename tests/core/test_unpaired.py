"""Groups without a common seed: Welch's interval, and what it could have seen."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.statistics import summarise
from akinai.core.unpaired import compare_apart, seeds_needed_apart, smallest_visible_apart

values = st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=9)


def test_welch_by_hand() -> None:
    """Means 2 and 4, deviations 1 and 2, three runs each: standard error sqrt(5/3), 2.94 degrees rounded down to 2."""
    told = compare_apart([1, 2, 3, None], [2, 4, 6])
    half = 4.302652729911275 * math.sqrt(5 / 3)
    assert (told.n_a, told.n_b, told.failed_a, told.failed_b, told.difference) == (3, 3, 1, 0, 2)
    assert told.ci95 == (pytest.approx(2 - half), pytest.approx(2 + half))
    # t = 1.549 with 2 degrees: p = 1 - t / sqrt(2 + t^2)
    t = 2 / math.sqrt(5 / 3)
    assert told.p == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert told.smallest_visible == pytest.approx((4.302652729911275 + 1.0606601717798212) * math.sqrt(5 / 3))


def test_few_runs_promise_nothing() -> None:
    """One run on a side gives a difference without an interval; none gives nothing."""
    one = compare_apart([1], [2, 4])
    assert (one.difference, one.ci95, one.p, one.smallest_visible) == (2, None, None, None)
    assert compare_apart([None], [2, 4]).difference is None
    assert compare_apart([], []).to_json()["ci95"] is None
    assert seeds_needed_apart(summarise([1]), summarise([2, 4]), 1) is None


def test_equal_runs_have_no_spread() -> None:
    """Where neither side varies the interval has no width and there is no test."""
    told = compare_apart([5, 5], [7, 7, 7])
    assert (told.ci95, told.p, told.smallest_visible) == ((2, 2), None, 0)


@given(values, values)
def test_swapping_sides_negates(a: list[float], b: list[float]) -> None:
    """b against a is a against b with the sign changed."""
    one, two = compare_apart(a, b), compare_apart(b, a)
    assert (one.difference is None) == (two.difference is None)
    if one.difference is not None:
        assert one.difference == -(two.difference or 0.0)
    assert (one.p, one.smallest_visible) == (two.p, two.smallest_visible)
    if one.ci95 and two.ci95:
        assert one.ci95 == (pytest.approx(-two.ci95[1]), pytest.approx(-two.ci95[0]))


def test_seeds_needed_see_the_gain() -> None:
    """As many runs as are needed see the gain, and a few less do not."""
    side = summarise([0.0, 10.0, 20.0, 30.0])
    needed = seeds_needed_apart(side, side, 5)
    assert needed is not None
    sd = side.sd or 0.0

    def visible(n: int) -> float:
        many = replace(summarise([0.0] * n), sd=sd)
        return smallest_visible_apart(many, many) or 0.0

    assert visible(needed) <= 5 < visible(needed - 3)
