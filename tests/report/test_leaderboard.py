"""A leaderboard holds what its ledgers give, and a check refuses every forgery by name."""

import json
import pickle
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.analysis import readers
from akinai.core.errors import UsageError
from akinai.runtime.runs.work import Unwatched, Work, do_work
from akinai.runtime.sync import wait
from akinai.stores import open_store

Document = dict[str, Any]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Idle, naive and reference on three seeds, and a run of naive under another preset's name for later."""
    path = str(tmp_path_factory.mktemp("board") / "akinai.db")
    for agent in ("idle", "naive", "reference"):
        akinai.run("vending", agent=agent, seeds="1-3", days=8, name=agent, store=path, ledgers=False, preset="classic")
    return path


@pytest.fixture(scope="module")
def sound(store: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board") / "out"
    akinai.leaderboard("idle", "naive", "reference", output=folder, store=store)
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A copy to forge."""
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def refusals(folder: Path) -> list[tuple[str, str]]:
    return [(refusal.row, refusal.kind) for refusal in akinai.check_leaderboard(folder)]


def forge(folder: Path, change: Callable[[Document], None]) -> None:
    path = folder / "leaderboard.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def row_of(document: Document, group: str) -> Document:
    return next(row for board in document["boards"] for row in board["rows"] if row["group"] == group)


def test_a_leaderboard_has_places_intervals_and_ledgers(sound: Path) -> None:
    """Rows by place with their runs and digests; nobody's place is by luck; the page names every group."""
    document = json.loads((sound / "leaderboard.json").read_text())
    (board,) = document["boards"]
    assert (board["world"], board["preset"], board["settings"]) == ("vending@3", "classic", {"days": 8})
    assert [row["place"] for row in board["rows"]] == sorted(row["place"] for row in board["rows"])
    assert {row["group"] for row in board["rows"]} == {"idle", "naive", "reference"}
    assert all(row["rules"] and len(row["runs"]) == 3 for row in board["rows"])
    assert len(board["pairs"]) == 3
    page = (sound / "leaderboard.html").read_text()
    assert "reference" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_a_sound_leaderboard_is_believed(sound: Path) -> None:
    """Every ledger is replayed, rules play again, and nothing differs."""
    assert akinai.check_leaderboard(sound) == []


@pytest.mark.slow
def test_processes_come_to_the_same_verdicts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers that are replayed elsewhere are refused for the same reasons, in the same order."""
    assert_same_verdicts(folder, monkeypatch)
    forge(folder, lambda document: [edit_score(document), edit_seeds(document)])
    assert_same_verdicts(folder, monkeypatch)


def assert_same_verdicts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, done = akinai.check_leaderboard(folder), list[int]()

    class Elsewhere:
        """Processes without the time that they take to start: work travels as bytes, and the last is done first."""

        def __init__(self, jobs: int) -> None:
            pass

        async def work(self, url: str | None, items: Sequence[Work[Any]], progress: Any) -> AsyncIterator[Any]:
            for index in reversed(range(len(items))):
                done.append(index)
                item: Work[Any] = pickle.loads(pickle.dumps(items[index]))
                yield index, pickle.loads(pickle.dumps(await do_work(url, item, Unwatched())))

        async def close(self) -> None:
            pass

    monkeypatch.setattr(readers, "LocalProcesses", Elsewhere)
    monkeypatch.setattr(readers, "FEW_ENTRIES", 0)
    assert akinai.check_leaderboard(folder, jobs=2) == here
    assert len(done) > 9


def edit_seeds(document: Document) -> None:
    for run in row_of(document, "reference")["runs"]:
        run["seed"] += 10


def edit_score(document: Document) -> None:
    row_of(document, "idle")["runs"][0]["score"] += 100_000


def edit_mean(document: Document) -> None:
    row_of(document, "idle")["mean"] = 1e6


def edit_place(document: Document) -> None:
    row = row_of(document, "naive")
    row["place"] = row["place"] % 3 + 1


def edit_seed(document: Document) -> None:
    row_of(document, "naive")["runs"][1]["seed"] = 77


def edit_preset(document: Document) -> None:
    document["boards"][0]["preset"] = "quarter"


def edit_settings(document: Document) -> None:
    document["boards"][0]["settings"]["days"] = 365


def edit_digest(document: Document) -> None:
    row_of(document, "naive")["runs"][1]["digest"] = "0" * 64


def edit_tokens(document: Document) -> None:
    row_of(document, "naive")["input_tokens"] = 5


@pytest.mark.parametrize(
    ("change", "row", "kind"),
    [
        (edit_score, "idle", "edited score"),
        (edit_mean, "idle", "edited score"),
        (edit_place, "naive", "edited figure"),
        (edit_seed, "naive", "another seed"),
        (edit_preset, "reference", "another preset"),
        (edit_settings, "naive", "other settings"),
        (edit_digest, "naive", "edited ledger"),
        (edit_tokens, "naive", "edited figure"),
    ],
)
def test_an_edited_document_is_refused(folder: Path, change: Callable[[Document], None], row: str, kind: str) -> None:
    """Whatever figure of a row is edited, the row is refused by name."""
    forge(folder, change)
    assert (row, kind) in refusals(folder)


def test_an_edited_ledger_is_refused(folder: Path) -> None:
    """One cent in one recorded outcome."""
    with closing(sqlite3.connect(folder / "ledgers.db")) as connection, connection:
        connection.execute(
            "UPDATE actions SET data = replace(data, '$', '$1') WHERE run_id = 'reference-2' AND seq = 3"
        )
        assert connection.total_changes == 1
    assert ("reference", "edited ledger") in refusals(folder)


def test_a_missing_ledger_is_refused(folder: Path) -> None:
    """A run of which the folder has no record."""
    forge(folder, lambda document: row_of(document, "idle")["runs"][0].update(run="idle-9"))
    assert ("idle", "missing ledger") in refusals(folder)


def test_a_run_cannot_stand_twice(folder: Path) -> None:
    """The best run listed again."""
    forge(folder, lambda document: row_of(document, "idle")["runs"].append(row_of(document, "naive")["runs"][0]))
    assert ("", "edited figure") in refusals(folder)


def test_rules_must_play_what_they_claim(store: str, tmp_path: Path) -> None:
    """The ledger of the reference player under the name of naive: sound in itself, and not what naive plays."""
    path = str(tmp_path / "false.db")
    akinai.run("vending", agent="reference", seeds="1-3", days=8, name="x", store=path, ledgers=False, preset="classic")

    async def rename() -> None:
        books = await open_store(path)
        for header in await books.runs():
            await books.update(replace(header, agents=dict.fromkeys(header.agents, "naive")))
        await books.close()

    wait(rename())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE runs SET agents = replace(agents, 'reference', 'naive')")
    akinai.leaderboard("x", output=tmp_path / "out", store=path)
    assert ("naive", "not what the player plays") in refusals(tmp_path / "out")


@pytest.mark.parametrize(
    ("before", "after"),
    [("</body>", "<script>alert(1)</script></body>"), ("reference", "naive"), ("$", "$1"), ("", " ")],
)
def test_an_edited_page_is_refused(folder: Path, before: str, after: str) -> None:
    """A script, another name, another figure and a space more: the page is drawn again, and is the same to the byte."""
    page = folder / "leaderboard.html"
    text = page.read_text()
    assert before in text
    page.write_text(text.replace(before, after, 1))
    assert refusals(folder) == [("", "edited page")]
    page.unlink()
    assert refusals(folder) == [("", "edited page")]


@pytest.mark.parametrize("boards", [[], [{"rows": []}]])
def test_a_leaderboard_without_rows_is_refused(folder: Path, boards: list[Document]) -> None:
    """There is nothing that it could claim."""
    forge(folder, lambda document: document.update(boards=boards))
    with pytest.raises(UsageError, match="without rows"):
        akinai.check_leaderboard(folder)


def test_what_is_no_leaderboard_is_refused(tmp_path: Path, store: str) -> None:
    """A folder without one, one of another shape, a run that is not there, a file in the place of the folder."""
    with pytest.raises(UsageError, match="no leaderboard in"):
        akinai.check_leaderboard(tmp_path)
    (tmp_path / "leaderboard.json").write_text('{"format": 9}')
    with pytest.raises(UsageError, match="is no leaderboard of format 1"):
        akinai.check_leaderboard(tmp_path)
    (tmp_path / "leaderboard.json").write_text("{")
    with pytest.raises(UsageError, match="it is no JSON"):
        akinai.check_leaderboard(tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        akinai.leaderboard("idle", output=tmp_path / "leaderboard.json", store=store)
    with pytest.raises(UsageError, match="name the runs"):
        akinai.leaderboard(store=store)
