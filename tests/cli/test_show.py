"""akinai show: a run as a story, one entry in full, and a run that somebody else plays."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import akinai as api
from akinai.core.stores import Books, RunHeader
from akinai.runtime.config.addresses import in_store
from command_line import Akinai

LETTER = {
    "action": "SEND_EMAIL",
    "to": "orders@northbay-wholesale.com",
    "subject": "Price list",
    "body": "Your prices?",
}
MOVES = [
    {"action": "SEARCH_WEB", "query": "wholesale"},
    LETTER,
    {"action": "SET_PRICE", "row": 0, "column": 0, "price": 1.5},
    {"action": "ADVANCE_DAY"},
    {"action": "READ_EMAIL"},
    {"action": "ADVANCE_DAY"},
]


@pytest.fixture(autouse=True)
def played(akinai: Akinai, folder: Path) -> None:
    """Two days of a shop: a search, a letter, a refusal, an answer."""
    (folder / "moves.jsonl").write_text("\n".join(map(json.dumps, MOVES)))
    assert (
        akinai(
            "run", "vending", "--preset", "classic", "--agent", "script:moves.jsonl", "--days", "2", "--name", "shop"
        ).code
        == 0
    )


def test_a_run_reads_as_a_story(akinai: Akinai) -> None:
    """The story has the verdict, a head for each day, what was written and answered, and what was refused."""
    story = akinai("show", "shop-1").out
    for words in (
        "After 2 days the net worth is $496.", "Day 1  Wed 1 Apr 2026", "Day 2  Thu 2 Apr 2026",
        "Wrote to Northbay Wholesale  #2", "Your prices?", "refused (empty_slot)", "Read 1 letter  #5",
    ):  # fmt: skip
        assert words in story


def test_a_finding_stands_on_top_with_its_severity(akinai: Akinai, folder: Path) -> None:
    """How serious it is, what it is, and the command that opens its entry."""
    (folder / "loop.jsonl").write_text("\n".join(map(json.dumps, [MOVES[2]] * 4 + [{"action": "ADVANCE_DAY"}])))
    assert (
        akinai(
            "run", "vending", "--preset", "classic", "--agent", "script:loop.jsonl", "--days", "1", "--name", "loop"
        ).code
        == 0
    )
    story = akinai("show", "loop-1").out
    assert "o minor  Going in circles (day 1): " in story
    assert "akinai show loop-1 --entry 4" in story


def test_an_entry_is_shown_in_full_with_the_place_after_it(akinai: Akinai) -> None:
    """A letter that a story cuts is whole, and the machine stands below."""
    story, full = akinai("show", "shop-1").out, akinai("show", "shop-1", "--entry", "5").out
    assert "more lines" in story
    assert "more lines" not in full
    assert "Best regards" in full
    assert "A1 empty" in full
    assert "cash $498.00" in full


def test_a_selection_holds_what_was_asked_for(akinai: Akinai) -> None:
    """Day, words and actor leave out the rest, on paper and as JSON."""
    entries = {
        words: [item["seq"] for item in akinai("show", "shop-1", *words.split(), "--json").json["items"]]
        for words in ("--day 2", "--grep YOUR", "--actor owner", "--entry 3", "--day 1 --grep your")
    }
    assert entries["--day 2"] == [5, 6]
    assert 2 in entries["--grep YOUR"]
    assert entries["--actor owner"] == [1, 2, 3, 4, 5, 6]
    assert entries["--entry 3"] == [3]
    assert entries["--day 1 --grep your"] == [seq for seq in entries["--grep YOUR"] if seq < 5]


def test_a_deal_has_its_own_entries(akinai: Akinai) -> None:
    """The transcript of a deal holds the entries that belong to it."""
    akinai("run", "market", "--set", "customers.count=1", "--set", "businesses.count=2", "--name", "m")
    (run,) = akinai("analyze", "m-1", "--deals", "--no-scale", "--json").json["runs"]
    id = run["tables"]["proposal_storage"][0]["proposal"]
    document = akinai("show", "m-1", "--deal", id, "--json").json
    assert [item["seq"] for item in document["items"]] == [step["entry"] for step in document["deal"]["steps"]]


def half_played(run: api.Run) -> RunHeader:
    """The header of the same run while it was played."""
    return replace(run.header, run_id="live", group=None, status="open", ending=None, entries=None, digest=None)


def test_follow_goes_on_as_somebody_else_plays() -> None:
    """A run that grows is shown to its end: each item once, in order, with a last word on how it ended."""
    (run,) = api.runs("shop-1")
    entries, header = run.ledger.entries, half_played(run)

    async def begin(books: Books) -> None:
        await books.create(header)
        await books.append("live", entries[:3])

    async def end(books: Books) -> None:
        await books.append("live", entries[3:])
        await books.update(replace(header, status="done", ending="horizon"))

    in_store("akinai.db", begin)
    following = api.follow("live")
    first = next(following)
    in_store("akinai.db", end)
    later = list(following)
    assert [item.seq for item in first.items] == [1, 2, 3]
    assert [item.seq for transcript in later for item in transcript.items] == [4, 5, 6]
    assert later[-1].run.status == "done"


def test_follow_of_a_run_that_is_over_is_its_story(akinai: Akinai) -> None:
    """What is over is shown once, and how it ended."""
    answer = akinai("show", "shop-1", "--follow")
    assert answer.code == 0
    assert answer.out.startswith(akinai("show", "shop-1").out)
    assert answer.out.rstrip().endswith("shop-1 is done: horizon")


def test_further_lines_of_an_entry_begin_below_its_first(akinai: Akinai, folder: Path) -> None:
    """What was done never runs into the column of times."""
    search = {"action": "SEARCH_WEB", "query": "a wholesale supplier of anything at all " * 4}
    (folder / "wordy.jsonl").write_text(json.dumps(search))
    assert (
        akinai(
            "run", "vending", "--preset", "classic", "--agent", "script:wordy.jsonl", "--days", "1", "--name", "wordy"
        ).code
        == 0
    )
    story = akinai("show", "wordy-1").out.split("Day 1")[1].splitlines()[1:]
    assert len(story) > 2
    assert all(line.startswith(("  08:00  ", " " * 9)) for line in story)


def test_a_street_reads_side_by_side(akinai: Akinai) -> None:
    """The head has a row for each owner, a day its prices and the lowest of them; --owner has one's own side."""
    sets = ("--set", "owners.2.agent=stocker", "--set", "owners.3.agent=naive")
    words = ("run", "vending", "--preset", "arena", "--agent", "reference", "--days", "10", "--name", "rivals", *sets)
    assert akinai(*words).code == 0
    story = akinai("show", "rivals-1").out
    assert "the bank balance by owner is owner_1 $" in story
    assert re.search(r"^owner_2 +stocker +\$[\d,.]+ +\d+ +\d+$", story, re.MULTILINE)
    assert re.search(r"^bank balance owner_1 \$[\d,.]+, owner_2 \$[\d,.]+, owner_3 \$[\d,.]+", story, re.MULTILINE)
    day = akinai("show", "rivals-1", "--day", "9").out
    assert "Prices (▾ the lowest)" in day
    rows = [re.findall(r"(▾ )?\$(\d+\.\d\d)", line) for line in day.partition("Prices (")[2].splitlines()[2:]]
    several = [row for row in rows if len({cents for _, cents in row}) > 1]
    assert several
    for row in several:
        least = min((cents for _, cents in row), key=float)
        assert [bool(mark) for mark, _ in row] == [cents == least for _, cents in row]
    assert not any(mark for row in rows if row not in several for mark, _ in row)
    side = akinai("show", "rivals-1", "--owner", "owner_2").out
    assert side.startswith("rivals-1 owner_2  vending@3, played by stocker")
    assert "owner_3" not in side
    unknown = akinai("show", "rivals-1", "--owner", "owner_4")
    assert unknown.code == 2
    assert "(in run 'rivals-1')" in unknown.err
