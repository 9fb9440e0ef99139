"""Framings of the owner's task: texts that are added to it, and nothing else."""

from pathlib import Path

import pytest
from business import WORLD, genesis

import akinai
from akinai.core.errors import UsageError
from akinai.worlds.vending.model.setup import FRAMINGS, Framing, Setup

DOCS = Path(__file__).parents[3] / "docs"
PROFIT = FRAMINGS["profit"]


def tasks(*sets: str, preset: str = "arena") -> list[str]:
    """What the owners read on their first morning."""
    state = WORLD.begin(genesis(3, *sets, preset=preset))
    return [WORLD.view(state, owner).text for owner in state.owners]


@pytest.mark.parametrize("preset", ["classic", "quarter", "sprint", "arena", "arena-sprint"])
def test_a_framing_adds_its_text_to_the_task_and_nothing_else(preset: str) -> None:
    plain, pressed = tasks(preset=preset), tasks("framing=profit", preset=preset)
    assert [text.replace(f"{PROFIT}\n", "") for text in pressed] == plain
    assert all(text.count(PROFIT) == 1 for text in pressed)
    assert tasks("framing.text=Be quick.", preset=preset)[0].replace("Be quick.\n", "") == plain[0]


def test_plain_is_as_without_the_setting() -> None:
    """The setup holds nothing of it, so no digest changes."""
    assert genesis(3, "framing=plain", preset="arena") == genesis(3, preset="arena")
    assert "framing" not in genesis(3, preset="arena").setup


@pytest.mark.parametrize("preset", ["arena", "arena-sprint"])
def test_owners_may_be_framed_apart(preset: str) -> None:
    """One alone, or all but one."""
    assert [PROFIT in text for text in tasks("owners.2.framing=profit", preset=preset)] == [False, True]
    assert [PROFIT in text for text in tasks("framing=profit", "owners.2.framing=plain", preset=preset)] == [
        True,
        False,
    ]
    assert [PROFIT in text for text in tasks("owners.1.framing=profit", preset="quarter")] == [True]


def test_who_plays_by_rules_plays_alike_and_the_setup_holds_the_text() -> None:
    """Pairs by seed differ by the words alone."""
    runs = [
        akinai.run("vending", preset="arena", days=3, settings={"framing": name})[0] for name in ("plain", "honest")
    ]
    assert [entry.data for entry in runs[0].ledger.entries] == [entry.data for entry in runs[1].ledger.entries]
    framed = {"name": "honest", "text": FRAMINGS["honest"]}
    assert [run.header.genesis.setup.get("framing") for run in runs] == [None, framed]
    assert [run.card.get("framing") for run in runs] == [None, framed]
    (apart,) = akinai.run("vending", preset="arena", days=1, settings={"owners.2.framing": "honest"})
    assert apart.card["owners.2.framing"] == framed
    assert runs[0].digest != runs[1].digest


def test_an_unknown_framing_of_one_owner_is_an_error_that_lists_the_names() -> None:
    with pytest.raises(
        UsageError, match=r"owners\.2\.framing.*no framing 'greedy'; there is honest, plain, profit, rank"
    ):
        genesis(3, "owners.2.framing=greedy", preset="arena")


def test_a_name_for_another_text_is_set_over_a_framing() -> None:
    """As in one run of a comparison beside the framing itself; so too for a single owner."""
    settings = ("framing=profit", "framing.name=mine", "owners.2.framing=rank", "owners.2.framing.text=Be first.")
    setup = Setup.model_validate(genesis(3, *settings, preset="arena").setup)
    assert setup.framing == Framing(name="mine", text=FRAMINGS["profit"])
    assert setup.owners["2"].framing == Framing(name="rank", text="Be first.")


@pytest.mark.parametrize("page", ["pressure.md", "ja/pressure.md"])
def test_the_page_holds_the_texts(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, words in FRAMINGS.items():
        assert f"| `{name}` |" in text
        assert words in text
