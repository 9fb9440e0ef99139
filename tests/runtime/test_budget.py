"""Budgets, prices and estimates: what is counted, when a run ends, and that no dollar is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.errors import AgentError, EndRun, UnknownName, UsageError
from akinai.core.models import Usage
from akinai.runtime.models.budget import Budget, Meter, Price, read_prices
from akinai.runtime.play.estimate import Workload, estimate

MODEL = "openai:gpt-test"
PRICES = read_prices({MODEL: {"input_per_million": 2, "output_per_million": 8.0, "cached_input_per_million": 0.5}})


def ends(meter: Meter, model: str = MODEL) -> bool:
    """Whether the meter ends the run before the next call."""
    try:
        meter.check(model)
    except EndRun as end:
        return end.ending == "budget"
    return False


def test_tokens_end_a_run():
    """The call after the one that reached the limit is not made; input and output both count."""
    meter = Meter(Budget(tokens=1000))
    meter.count(MODEL, Usage(600, 300, 500))
    assert not ends(meter)
    meter.count(MODEL, Usage(90, 10))
    assert ends(meter)
    assert meter.usage == Usage(690, 310, 500)


def test_minutes_end_a_run():
    """Minutes are those since the meter's begin, on the clock that it was given."""
    time_s = 1000.0
    meter = Meter(Budget(minutes=2), now=lambda: time_s)
    time_s += 119
    assert not ends(meter)
    time_s += 1
    assert ends(meter)


def test_dollars_end_a_run():
    """Dollars are tokens times the user's prices, cached input at its own."""
    meter = Meter(Budget(dollars=0.01), PRICES)
    meter.count(MODEL, Usage(input=4000, output=100, cached=3000))  # 1000 x $2 + 3000 x $0.5 + 100 x $8, a million
    assert meter.dollars == pytest.approx(0.0043)
    assert not ends(meter)
    meter.count(MODEL, Usage(input=0, output=720))
    assert ends(meter)


def test_dollars_are_never_guessed():
    """Without a price the dollars of a run are unknown, also where other models in it have one."""
    meter = Meter(prices=PRICES)
    assert meter.dollars == 0
    meter.count(MODEL, Usage(10, 10))
    meter.count("ollama:free", Usage(10, 10))
    assert meter.dollars is None
    assert not ends(meter)


def test_a_budget_in_dollars_needs_a_price():
    """It is refused before anything is sent, with the lines to add."""
    meter = Meter(Budget(dollars=5), PRICES)
    meter.expect_price(MODEL)
    with pytest.raises(UsageError, match=r'\[prices\."openai:other"\] with input_per_million'):
        meter.expect_price("openai:other")
    Meter(Budget(tokens=5), PRICES).expect_price("openai:other")


def test_a_budget_that_cannot_be_kept_is_told():
    """Where a server counts no tokens, a limit on tokens would never end the run: it fails at the next call instead."""
    meter = Meter(Budget(tokens=1000))
    meter.count("openai:local", Usage())
    with pytest.raises(AgentError, match=r"openai:local tells no token counts.*use --max-actions"):
        meter.check("openai:local")
    without_limit = Meter()
    without_limit.count("openai:local", Usage())
    assert not ends(without_limit)


def test_no_budget_ends_nothing():
    """Zero is no limit."""
    meter = Meter(now=iter(range(10**6, 10**9, 10**6)).__next__)
    meter.count(MODEL, Usage(10**9, 10**9))
    assert not ends(meter)


def test_a_budget_is_a_number_from_zero():
    """A negative or infinite limit is refused under the name of its flag."""
    for wrong in ({"tokens": -1}, {"minutes": float("nan")}, {"dollars": float("inf")}):
        (name,) = wrong
        with pytest.raises(UsageError, match=f"--max-{name} is a number from 0"):
            Budget(**wrong)


def test_prices_are_checked():
    """A price table that does not fit is told by the place that is at fault."""
    with pytest.raises(UnknownName, match=r"'input_per_milion'; did you mean 'input_per_million'.*in \[prices\."):
        read_prices({"a:b": {"input_per_milion": 1}})
    with pytest.raises(UsageError, match=r'\[prices\."a:b"\] has no output_per_million'):
        read_prices({"a:b": {"input_per_million": 1}})
    for value in (-1, "2", True, float("nan")):
        with pytest.raises(UsageError, match="is dollars for a million tokens"):
            read_prices({"a:b": {"input_per_million": value, "output_per_million": 1}})
    with pytest.raises(UsageError, match=r"\[prices\] should be a table"):
        read_prices([1])


def test_cached_input_without_a_price_costs_as_any():
    """A table without a price for cached input reckons it as input: no discount is guessed."""
    assert Price(3, 0).dollars(Usage(input=1_000_000, cached=900_000)) == 3


# Estimates


def test_an_estimate_of_a_long_run():
    """2,000 messages with the paper's window: the first calls grow by 300 tokens each, the rest read the window."""
    expected = estimate(Workload(max_messages=2000, tokens_at_first=3000, seconds_a_call=3.6), Price(2, 8))
    growing = sum(3000 + 300 * n for n in range(91))  # 3,000 ... 30,000
    assert expected.messages == 2000
    assert expected.usage == Usage(growing + (2000 - 91) * 30_000, 200_000)
    assert expected.hours == pytest.approx(2.0)
    assert expected.dollars == pytest.approx((expected.usage.input * 2 + 200_000 * 8) / 1e6)


def test_days_or_messages_whichever_is_less():
    """Days times messages a day bound the run as the cap does; runs side by side take no longer than one."""
    load = Workload(max_messages=2000, days=30, messages_a_day=10, seconds_a_call=6, runs=5, at_once=5)
    expected = estimate(load)
    assert (expected.messages, expected.hours, expected.dollars) == (1500, 0.5, None)
    assert estimate(Workload(max_messages=100, days=30, messages_a_day=10)).messages == 100
    with pytest.raises(UsageError, match="give --max-actions"):
        estimate(Workload())


@given(
    messages=st.integers(1, 300),
    window=st.integers(0, 5000),
    first=st.integers(0, 6000),
    growth=st.integers(0, 500),
)
def test_the_estimate_is_the_sum_over_the_calls(messages, window, first, growth):
    """The closed form equals min(window, first + (n - 1) x growth) added up call by call."""
    load = Workload(max_messages=messages, window_tokens=window, tokens_at_first=first, tokens_a_message=growth)
    assert estimate(load).usage.input == sum(min(window, first + n * growth) for n in range(messages))
