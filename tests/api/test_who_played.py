"""Who played is part of the record: runs that a person named apart, or that others played, are never one row."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import akinai
from akinai import Move, View
from akinai.analysis.groups import group_runs
from akinai.core.errors import UsageError
from akinai.core.ledger import Outcome
from akinai.report.tables.comparisons import comparison_page
from akinai.worlds.vending.model.actions import AdvanceDay

GAME: dict[str, Any] = {"preset": "classic", "days": 2}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def play(name: str, seeds: int = 2, **options: Any) -> None:
    """Sessions that sleep, opened in a loop as a researcher would."""
    for seed in range(1, seeds + 1):
        with akinai.open("vending", seed=seed, name=name, store="akinai.db", **GAME, **options) as session:
            while not session.done:
                session.act("advance_day")


def rows(*names: str) -> dict[str, int]:
    return {group.name: len(group.runs) for group in akinai.analyze(*names, store="akinai.db", scale=False).groups}


def sleeper(words: str = "") -> Callable[..., Any]:
    """A factory whose agents sleep; the words are a part of its program."""

    class Sleeper:
        def __init__(self, role: object) -> None:
            self.words = words

        async def act(self, view: View, last: Outcome | None) -> Move:
            return Move(AdvanceDay(), self.words)

    return Sleeper


def test_groups_that_a_person_named_are_rows_of_their_own() -> None:
    """Also where a name ends in a number, and where nothing else tells the players apart."""
    play("promptA")
    play("prompt-2")
    assert rows("promptA", "prompt-2") == {"session promptA": 2, "session prompt-2": 2}
    verdict = akinai.compare("promptA", "prompt-2", store="akinai.db")
    assert (verdict.a.name, verdict.b.name) == ("promptA", "prompt-2")


def test_a_client_says_who_it_is() -> None:
    """Its agent, model and label are on the card and in every table."""
    play("a", agent="mine", model="openai:x")
    play("b", agent="mine", model="openai:y", label="second try")
    assert rows() == {"mine openai:x": 2, "second try": 2}
    run = akinai.runs("b-1", store="akinai.db")[0]
    assert (run.agent, run.model, run.label) == ("mine", "openai:y", "second try")
    assert run.card["client"] == {"agent": "mine", "model": "openai:y"}


def test_runs_of_one_label_are_one_row_while_the_player_is_one() -> None:
    """A label joins named groups; another player under it stays a row of its own, and the name says which."""
    play("a", label="mine")
    play("b", label="mine")
    assert rows() == {"mine": 4}
    play("c", label="mine", agent="other")
    assert rows() == {"mine by session": 4, "mine by other": 2}


@pytest.mark.parametrize("label", ["two\nlines", "right\u202eleft", " edges ", "x" * 81])
def test_a_label_that_tables_cannot_show_is_refused(label: str) -> None:
    """Control characters, edges and length; nothing is written."""
    with pytest.raises(UsageError, match="cannot name a row"):
        akinai.run("vending", label=label, store="akinai.db", **GAME)
    with pytest.raises(UsageError, match="cannot name who plays"):
        akinai.open("vending", agent=label, store="akinai.db", **GAME)
    assert not Path("akinai.db").exists()


def test_a_group_holds_one_player() -> None:
    """A label, a client or a program that differs is refused before anything is written."""
    play("a", label="mine")
    for options in ({"label": "other"}, {"agent": "other", "label": "mine"}):
        with pytest.raises(UsageError, match="was played by 'mine'"):
            akinai.open("vending", seed=9, name="a", store="akinai.db", **GAME, **options)
    akinai.run("vending", agent=sleeper("a"), name="b", store="akinai.db", **GAME)
    with pytest.raises(UsageError, match="program"):
        akinai.run("vending", agent=sleeper("b"), seeds=2, name="b", store="akinai.db", **GAME)


def test_programs_are_told_apart_by_what_they_are() -> None:
    """A class by its source and what it closes over; a script by its lines. Equal programs are equal."""
    cards = [
        akinai.run("vending", agent=agent, **GAME)[0].card["program"]
        for agent in (sleeper("a"), sleeper("a"), sleeper("b"))
    ]
    assert cards[0] == cards[1] != cards[2]
    Path("a.jsonl").write_text('{"action": "advance_day"}\n' * 2)
    first = akinai.run("vending", agent="script:a.jsonl", **GAME)[0].card["program"]
    Path("a.jsonl").write_text('{"action": "advance_day"}\n' * 3)
    assert first != akinai.run("vending", agent="script:a.jsonl", **GAME)[0].card["program"]
    assert akinai.run("vending", agent="idle", **GAME)[0].card["program"] is None


def test_cards_of_before_are_like_those_of_their_release() -> None:
    """Unknown is like unknown within one release, and unlike what is known."""
    known = akinai.run("vending", agent="idle", seeds="1-4", **GAME)
    old = [
        type(run)(_without_digests(run.header, release), run.entries, run.digest)
        for run, release in zip(known, ("0.2.0", "0.2.0", "0.1.0"), strict=False)
    ]
    assert [len(runs) for runs in group_runs([*old, known[3]]).values()] == [2, 1, 1]


def _without_digests(header: Any, release: str) -> Any:
    from dataclasses import replace

    card = {name: value for name, value in header.card.items() if name not in ("prompt", "program", "offered")}
    return replace(header, card={**card, "akinai": release})


def test_a_verdict_tells_how_the_players_differ() -> None:
    """Programs that differ are named as such, and not as played alike; a name alone is no difference on a card."""
    for name in ("a", "b"):
        akinai.run("vending", agent=sleeper(name), seeds="1-2", name=name, store="akinai.db", **GAME)
    programs = [akinai.runs(f"{name}-1", store="akinai.db")[0].card["program"] for name in ("a", "b")]
    page = sentence_of("a", "b")
    assert f"a has program {programs[0]}; b has program {programs[1]}." in page
    play("c")
    play("d")
    assert "c and d were played alike, as far as their cards tell" in sentence_of("c", "d")


def sentence_of(a: str, b: str) -> str:
    """What `akinai compare` prints, as one line."""
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(comparison_page(akinai.compare(a, b, store="akinai.db"), console.width))
    return " ".join(console.export_text().split())
