"""A run's record in a budget of tokens: never above it, the most telling first, and the same whenever it is asked for."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

import akinai
from akinai import worlds
from akinai.core.ledger import Ledger
from akinai.core.models import estimate_tokens
from akinai.core.steps import Steps
from akinai.core.worlds import replay
from akinai.learning.condense import (
    HEADINGS,
    condense_run,
    days_in,
    describe_hidden_facts,
    means,
    periods,
    table_means,
)

WORLD = worlds.load("vending")
SCRIPT = [
    '{"action": "SEARCH_WEB", "query": "wholesale supplier for vending machines"}',
    '{"action": "RESTOCK_SLOT", "slots": [{"row": 0, "column": 0, "product_id": "water", "quantity": 12}]}',
    '{"action": "SEND_EMAIL", "to": "orders@northbay-wholesale.com", "subject": "Order", "body": "12 units of water"}',
    '{"action": "SEND_EMAIL", "to": "orders@northbay-wholesale.com", "subject": "Order", "body": "12 units of water"}',
]


def steps_of(days: int) -> Steps[Any]:
    return replay(WORLD, akinai.run("vending", agent="naive", days=days, preset="classic")[0].ledger)


@pytest.fixture(scope="module")
def short() -> Steps[Any]:
    return steps_of(10)


@pytest.fixture(scope="module")
def year() -> Steps[Any]:
    return steps_of(365)


def condense(steps: Steps[Any], tokens: int) -> str:
    return condense_run(WORLD, steps, budget_tokens=tokens)


def parts(text: str) -> dict[str, list[str]]:
    """The lines under each heading."""
    sections = [section.split("\n") for section in text.split("\n\n")]
    return {heading: lines for heading, *lines in sections}


@pytest.mark.parametrize(
    ("run", "tokens"),
    [
        *(("short", tokens) for tokens in (0, 300, 4_000)),
        ("year", 4_000),
        *(pytest.param("year", tokens, marks=pytest.mark.slow) for tokens in (0, 300)),
    ],
)
def test_a_record_never_costs_more_than_its_budget(run: str, tokens: int, request: pytest.FixtureRequest) -> None:
    """Ten days or a year, tight or ample: the text has at most so many tokens."""
    text = condense(request.getfixturevalue(run), tokens)
    assert estimate_tokens(text) <= tokens
    assert set(parts(text)) <= {"", *HEADINGS}
    assert text == condense(request.getfixturevalue(run), tokens)


@pytest.mark.slow
def test_a_larger_budget_leaves_out_less(year: Steps[Any]) -> None:
    """What is left out never grows with the budget, and nothing is where all fits."""
    sizes = [sum(map(len, parts(condense(year, tokens)).values())) for tokens in (300, 1_000, 3_000, 60_000, 600_000)]
    assert sizes[:-1] == sorted(sizes[:-1])
    assert sizes[0] < sizes[-2] == sizes[-1]


@pytest.mark.parametrize("tokens", [1_000, 4_000])
def test_the_days_of_a_year_are_told_as_finely_as_they_fit(year: Steps[Any], tokens: int) -> None:
    """All 365 days stand in the rows, none twice; a larger budget tells shorter stretches."""
    rows = parts(condense(year, tokens))["Days"]
    ends = [[int(number) for number in row.split(" ")[1].split("-")] for row in rows]
    assert [ends[0][0], ends[-1][-1]] == [1, 365]
    assert all(before[-1] + 1 == after[0] for before, after in pairwise(ends))
    finer = parts(condense(year, 3 * tokens))["Days"]
    assert len(finer) > len(rows)


def test_the_most_telling_stays_when_the_budget_is_small(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Findings and refusals come before days, and days before decisions; each leads to its entries."""
    script = tmp_path_factory.mktemp("script") / "moves.jsonl"
    script.write_text("\n".join([*SCRIPT, *['{"action": "ADVANCE_DAY"}'] * 40]))
    run = akinai.run("vending", agent=f"script:{script}", days=40, preset="classic")[0]
    steps = replay(WORLD, run.ledger)
    findings = WORLD.facets.judging.detect(steps)
    assert findings
    small, ample = parts(condense(steps, 260)), parts(condense(steps, 9_000))
    assert len(ample["Findings"]) == len(findings)
    assert small["Findings"][0] == ample["Findings"][0]
    assert small["Refusals"] == ample["Refusals"]
    assert "#2 RestockSlot" in small["Refusals"][0]
    assert len(small.get("Decisions", [])) < len(ample["Decisions"])
    assert any("the same" in line or "#3 " in line for line in ample["Decisions"])


def test_every_kind_of_decision_is_told_before_any_is_told_twice(year: Steps[Any]) -> None:
    """What was decided once a year is in sight beside what was decided every week."""
    lines = parts(condense(year, 1_500))["Decisions"]
    kinds = [line.split("(")[0].rpartition(" ")[2] for line in lines]
    assert {"SearchWeb", "SendEmail", "RestockSlot", "SetPrice"} <= set(kinds)
    numbers = [int(line.split(" ")[0][1:]) for line in lines]
    assert numbers == sorted(numbers)


def test_what_the_world_knows_holds_the_demand_that_went_unmet(year: Steps[Any]) -> None:
    """By product, what customers wanted beside what was sold, as the means of the days on which it was on offer."""
    days = [*days_in(WORLD, year)]
    assert [day.number for day in days] == list(range(1, 366))
    text = describe_hidden_facts(WORLD, year, budget_tokens=2_000)
    assert estimate_tokens(text) <= 2_000
    water = table_means(days)["water"]
    assert water["wanted"] >= water["sold"] > 0
    assert f"water, a day: sold {water['sold']:.2f}".rstrip("0") in text
    assert means(days)["income_cents"] == sum(_numbers(days, "income_cents")) / 365


def _numbers(days: Sequence[object], name: str) -> list[float]:
    return [day.figures[name] for day in days]  # type: ignore[attr-defined]


def test_rows_of_any_length_hold_all_days(short: Steps[Any]) -> None:
    """From a day a row to one row for the run."""
    rows = [*periods([*days_in(WORLD, short)])]
    assert [len(group) for group in rows] == [10, 2, 1]


def test_a_market_without_days_is_condensed_too() -> None:
    """Its conversations are decisions, and what the world knows are its figures."""
    run, world = akinai.run("market")[0], worlds.load("market")
    text = condense_run(world, replay(world, run.ledger), budget_tokens=2_000)
    assert estimate_tokens(text) <= 2_000
    assert any("SendMessage" in line for line in parts(text)["Decisions"])
    assert "welfare" in describe_hidden_facts(world, replay(world, run.ledger), budget_tokens=500)


def test_a_run_in_which_nobody_acted_is_told(short: Steps[Any]) -> None:
    """An empty ledger has a summary and nothing else; a negative budget is no budget."""
    empty = replay(WORLD, Ledger(short.genesis, ()))
    assert "0 entries, ended as cut off before its end" in condense(empty, 500)
    with pytest.raises(ValueError, match="a budget of -1 tokens"):
        condense(empty, -1)
