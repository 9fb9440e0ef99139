"""What a report draws of markets: whom customers bought from, who gained, and at which place it stood."""

from functools import cache

import pytest

import akinai
from akinai import api
from akinai.report.figures.style import LONGEST_NAME, looks
from akinai.report.figures.svg import Drawing
from akinai.report.page.sections import document
from akinai.stores.memory import MemoryStore

SETTINGS = {"customers": 3, "population.identical": True, "manipulation.sellers": "one_each", "fee_permille": 50}


@cache
def drawn() -> dict[str, Drawing]:
    """By name, of a sweep with customers who take the first proposal, and with careful ones."""
    store = MemoryStore()
    sweep = {"manipulation.kind": ["none", "strong_injection"]}
    for agent in ("first", "careful"):
        akinai.run("market", agent=agent, seeds=range(1, 4), settings=SETTINGS, sweep=sweep, name=agent, store=store)
    return {drawing.name: drawing for drawing in document(api.analyze(store=store, evidence=False), ()).drawings}


@pytest.mark.slow
def test_a_market_has_its_figures() -> None:
    """The score of every run, shares, gains, places and deals over time, each told in words and as a table."""
    assert list(drawn()) == ["scores", "shares", "gains", "places", "over-time"]
    for drawing in drawn().values():
        assert drawing.description.endswith(".")
        assert all(len(row) == len(drawing.values.heads) for row in drawing.values.rows)


def test_shares_stand_beside_blind_choice() -> None:
    """Who takes the first proposal has a share of 1, where blind choice among what it had would give less."""
    rows = [row for row in drawn()["shares"].values.rows if row[1] == "first proposal" and row[0].startswith("first")]
    assert len(rows) == 2
    for row in rows:
        cells = dict(zip(drawn()["shares"].values.heads, row, strict=True))
        assert (cells["mean"], cells["n"]) == ("1", "3")
        assert float(cells["blind choice"]) < 1
    assert {row[1] for row in drawn()["shares"].values.rows} == {
        "first proposal",
        "top of the results",
        "treated sellers",
    }


def test_gains_are_those_of_both_sides_and_the_platform() -> None:
    """What customers and sellers have of it, and what the platform keeps."""
    assert {row[1] for row in drawn()["gains"].values.rows} == {"consumer surplus", "business profit", "platform fees"}


def test_deals_are_drawn_by_tenth_of_the_run() -> None:
    """A panel each for deals, the welfare that they added and their price, with a row for every tenth."""
    rows = drawn()["over-time"].values.rows
    panels = ("deals", "welfare added", "price")
    assert [row[:2] for row in rows] == [(panel, str(tenth)) for panel in panels for tenth in range(1, 11)]
    assert all(cell.startswith("$") for row in rows if row[0] == "price" for cell in row[2:] if cell != "-")


def test_long_names_keep_what_tells_them_apart() -> None:
    """What all groups share at the beginning goes first: words, then the path of a setting."""
    same = "chat openai:gullible manipulation.kind="
    names = {look.name for look in looks([f"{same}{kind}" for kind in ("none", "strong_injection")]).values()}
    assert names == {"kind=none", "kind=strong_injection"}
    short = ["chat a", "chat b"]
    assert [look.name for look in looks(short).values()] == short
    mixed = [f"{'x' * 40} kind={kind}" for kind in ("none", "authority")]
    _, none, authority = (look.name for look in looks(["careful", *mixed]).values())
    assert (none[-10:], authority[-14:]) == (" kind=none", "kind=authority")
    assert max(len(none), len(authority)) <= LONGEST_NAME
    long = ["chat openai:a-model-of-a-long-name", "careful"]
    assert [look.name for look in looks(long).values()][1] == "careful"
