"""Days of groups: what becomes of runs that end early, of days that were passed over, of single runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.report.figures.series import Members, align_days, curve, day_of, weekly
from akinai.runtime.runs.records import Series

values = st.lists(st.integers(0, 10**6).map(float), min_size=1, max_size=8)


def test_a_run_that_ended_early_stays_in_the_mean_of_every_day() -> None:
    """Money goes on with its last value and sales with none: nobody leaves a mean by going bankrupt."""
    runs = [[10.0, 20.0], [30.0, 40.0, 50.0, 60.0]]
    levels, flows = curve(runs, carried=True), curve(runs, carried=False)
    assert levels is not None
    assert flows is not None
    assert levels.mean == (20, 30, 35, 40)
    assert flows.mean == (20, 30, 25, 30)
    assert levels.n == flows.n == 2


def test_the_interval_is_students() -> None:
    """Three values 1, 2, 3: mean 2, standard error 1/sqrt(3), t(0.975, 2) = 4.3027; none below zero where none is."""
    means = curve([[101.0], [102.0], [103.0]], carried=True)
    assert means is not None
    assert (means.low[0], means.high[0]) == pytest.approx((102 - 2.484138, 102 + 2.484138), abs=1e-5)
    near_zero = curve([[0.0], [0.0], [3.0]], carried=True)
    assert near_zero is not None
    assert near_zero.low[0] == 0


@given(st.lists(values, min_size=1, max_size=5), st.booleans())
def test_a_mean_lies_within_its_interval_and_order_says_nothing(runs: list[list[float]], carried: bool) -> None:
    """low <= mean <= high on every day, and the order of the runs changes nothing."""
    means = curve(runs, carried=carried)
    assert means == curve(list(reversed(runs)), carried=carried)
    assert means is not None
    assert len(means.mean) == max(map(len, runs))
    points = zip(means.low, means.mean, means.high, strict=True)
    assert all(None not in point and low <= mean <= high for point in points for low, mean, high in [point])  # type: ignore[operator]


def test_runs_without_a_value_make_no_curve() -> None:
    """Nothing known is no line, rather than a line at zero."""
    assert curve([], carried=True) is None
    assert curve([[], [None, None]], carried=True) is None


def test_days_passed_over_keep_levels_and_have_no_sales() -> None:
    """A record that tells days 2 and 4 alone: money stays as it was on day 3, nothing was sold on it."""
    assert align_days((2, 4), (5.0, 7.0), carried=True) == [None, 5, 5, 7]
    assert align_days((2, 4), (5.0, 7.0), carried=False) == [0, 5, 0, 7]


def test_a_week_is_the_mean_of_at_most_seven_days() -> None:
    """The first day is its own mean; a day without a value counts for nothing."""
    assert weekly([7.0, None, 1.0]) == [7, 7, 4]
    assert weekly([1.0] * 7 + [8.0])[-1] == 2


def test_an_entry_lies_on_the_day_whose_actions_reach_it() -> None:
    """Two actions on day 1, one on day 3: entry 2 is half through day 1, entry 3 begins day 3, the rest comes after."""
    series = Series(days=(1, 3), tools={"look": (1, 1), "wait": (1, 0)})
    assert [day_of(entry, series) for entry in (1, 2, 3, 4)] == [1, 1.5, 3, 4]


def test_nobody_is_drawn_for_a_group_without_days() -> None:
    """A world without a clock has no curves, no tools by day and nobody who stands for it."""
    nothing = Members({"solver": []})
    assert (nothing.actions(), nothing.tools(), nothing.representative("accuracy")) == ({}, {}, None)
