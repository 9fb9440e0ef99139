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
    """Idle, naive and reference on two seeds."""
    path = str(tmp_path_factory.mktemp("board") / "akinai.db")
    for agent in ("idle", "naive", "reference"):
        akinai.run("vending", agent=agent, seeds="1-2", days=1, name=agent, store=path, ledgers=False, preset="classic")
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
    assert (board["world"], board["preset"], board["settings"]) == ("vending@3", "classic", {"days": 1})
    assert [row["place"] for row in board["rows"]] == sorted(row["place"] for row in board["rows"])
    assert {row["group"] for row in board["rows"]} == {"idle", "naive", "reference"}
    assert all(row["rules"] and len(row["runs"]) == 2 for row in board["rows"])
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
    forge(folder, edit_score)
    forge(folder, edit_seeds)
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
    assert len(done) > 6


def edit_seeds(document: Document) -> None:
    for run in row_of(document, "reference")["runs"]:
        run["seed"] += 10


def edit_score(document: Document) -> None:
    row_of(document, "idle")["runs"][0]["score"] += 100_000


def of_row(name: str, /, **figures: object) -> Callable[[Document], None]:
    return lambda document: row_of(document, name).update(figures)


def of_run(name: str, /, **figures: object) -> Callable[[Document], None]:
    return lambda document: row_of(document, name)["runs"][1].update(figures)


def of_board(**figures: object) -> Callable[[Document], None]:
    return lambda document: document["boards"][0].update(figures)


def edit_place(document: Document) -> None:
    row = row_of(document, "naive")
    row["place"] = row["place"] % 3 + 1


def edit_pairs(document: Document) -> None:
    document["boards"][0]["pairs"][0]["winner"] = "idle"


def repeat_run(document: Document) -> None:
    row_of(document, "idle")["runs"].append(row_of(document, "naive")["runs"][0])


def drop_run(document: Document) -> None:
    row_of(document, "idle")["runs"].pop()


def drop_row(document: Document) -> None:
    document["boards"][0]["rows"].remove(row_of(document, "reference"))


def swap_runs(document: Document) -> None:
    rows = [row_of(document, group) for group in ("idle", "reference")]
    rows[0]["runs"], rows[1]["runs"] = rows[1]["runs"], rows[0]["runs"]


def turn_order(document: Document) -> None:
    document["boards"][0]["rows"].reverse()


def split_board(document: Document) -> None:
    (board,) = document["boards"]
    document["boards"] = [{**board, "rows": [row], "pairs": []} for row in board["rows"]]


def repeat_board(document: Document) -> None:
    document["boards"] *= 2


def add_price(document: Document) -> None:
    document["prices"] = {"openai:x": {"input_per_million": 0.01, "output_per_million": 0.01}}


def swap_digests(document: Document) -> None:
    first, second = row_of(document, "reference")["runs"]
    first["digest"], second["digest"] = second["digest"], first["digest"]


def move_run(document: Document) -> None:
    row_of(document, "idle")["runs"].append(row_of(document, "reference")["runs"].pop())


def repeat_row(document: Document) -> None:
    document["boards"][0]["rows"].append({**row_of(document, "reference"), "group": "reference too"})


def sharpen_test(document: Document) -> None:
    document["boards"][0]["pairs"][0]["p_holm"] = 0.001


def award_version(document: Document) -> None:
    document["akinai"] += " (winner of the year)"


def add_words(document: Document) -> None:
    document["award"] = "winner of the year"


@pytest.mark.parametrize(
    ("change", "row", "kind"),
    [
        (edit_score, "idle", "edited score"),
        (edit_seeds, "reference", "another seed"),
        (edit_place, "naive", "edited figure"),
        (edit_pairs, "", "edited figure"),
        (repeat_run, "", "repeated run"),
        (repeat_board, "", "repeated run"),
        (drop_run, "", "dropped run"),
        (drop_row, "", "dropped run"),
        (swap_runs, "idle", "edited figure"),
        (turn_order, "", "edited figure"),
        (split_board, "", "edited figure"),
        (add_price, "", "edited figure"),
        (add_words, "", "edited figure"),
        (award_version, "", "edited figure"),
        (lambda document: document.pop("akinai"), "", "edited figure"),
        (sharpen_test, "", "edited figure"),
        (swap_digests, "reference", "edited ledger"),
        (move_run, "reference", "other settings"),
        (repeat_row, "", "repeated run"),
        (of_row("naive", group="nаive"), "nаive", "edited figure"),
        (of_run("naive", award="best"), "", "edited figure"),
        (of_row("idle", mean=1e6), "idle", "edited score"),
        pytest.param(of_row("idle", ci95=[1.0, 2.0]), "idle", "edited score", marks=pytest.mark.slow),
        pytest.param(of_row("naive", mde=0.1), "naive", "edited figure", marks=pytest.mark.slow),
        pytest.param(of_row("naive", input_tokens=5), "naive", "edited figure", marks=pytest.mark.slow),
        pytest.param(of_row("naive", dollars=0.5), "naive", "edited figure", marks=pytest.mark.slow),
        (of_row("naive", group="My Agent"), "My Agent", "edited figure"),
        pytest.param(of_row("naive", agent="chat"), "naive", "edited figure", marks=pytest.mark.slow),
        (of_row("naive", model="openai:x", rules=False), "naive", "edited figure"),
        pytest.param(of_row("naive", rules=False), "naive", "edited figure", marks=pytest.mark.slow),
        pytest.param(of_row("naive", playbook="0" * 64), "naive", "edited figure", marks=pytest.mark.slow),
        (of_row("naive", award="best"), "", "edited figure"),
        (of_run("naive", seed=77), "naive", "another seed"),
        pytest.param(of_run("naive", ending="broke"), "naive", "edited figure", marks=pytest.mark.slow),
        pytest.param(of_run("naive", status="failed"), "naive", "edited figure", marks=pytest.mark.slow),
        (of_run("naive", digest="0" * 64), "naive", "edited ledger"),
        (of_run("naive", run="idle-9"), "naive", "missing ledger"),
        (of_board(preset="quarter"), "reference", "another preset"),
        (of_board(settings={"days": 365}), "naive", "other settings"),
        (of_board(world="vending@4"), "naive", "another preset"),
        (of_board(score="luck"), "naive", "edited figure"),
        pytest.param(of_board(better="lower"), "naive", "edited figure", marks=pytest.mark.slow),
        pytest.param(of_board(unit="yen"), "naive", "edited figure", marks=pytest.mark.slow),
    ],
)
def test_a_forged_document_is_refused(folder: Path, change: Callable[[Document], None], row: str, kind: str) -> None:
    """Whatever is edited, left out, repeated, moved or added is refused by name."""
    forge(folder, change)
    assert (row, kind) in refusals(folder)


@pytest.mark.parametrize(
    ("before", "after"),
    [('"mean": ', '"mean": 1e9, "mean": '), ('"unit": "cents"', '"unit": NaN'), ('"format": 1', '"format": 1e999')],
)
def test_a_document_that_readers_read_differently_is_refused(folder: Path, before: str, after: str) -> None:
    """A figure that stands there twice, and one that is no number, are none that a check could confirm."""
    path = folder / "leaderboard.json"
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(UsageError, match=r"leaderboard\.json' (cannot be read|is no leaderboard)"):
        akinai.check_leaderboard(folder)


SELL = "UPDATE actions SET data = replace(data, '$', '$1') WHERE run_id = 'reference-2' AND seq = 3"
CUT = "DELETE FROM actions WHERE run_id = 'reference-2' AND seq > 5"
CLOSED = "UPDATE runs SET entries = 5, digest = (SELECT digest FROM actions WHERE run_id = 'reference-2' AND seq = 5)"


def edit_ledgers(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "ledgers.db")) as connection, connection:
        before = connection.total_changes
        for statement in statements:
            connection.execute(statement)
        assert connection.total_changes > before


def other_columns(folder: Path, table: str) -> str:
    with closing(sqlite3.connect(folder / "ledgers.db")) as connection:
        return ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "run_id")


@pytest.mark.parametrize(
    "statements",
    [
        (SELL,),
        (CUT,),
        (CUT, f"{CLOSED} WHERE run_id = 'reference-2'"),
        ("UPDATE runs SET status = 'failed' WHERE run_id = 'reference-2'",),
        ("UPDATE runs SET genesis = replace(genesis, '\"seed\":2', '\"seed\":7') WHERE run_id = 'reference-2'",),
        ("UPDATE runs SET agents = replace(agents, 'reference', 'wizard') WHERE run_id = 'reference-2'",),
    ],
)
def test_an_edited_ledger_is_refused(folder: Path, statements: Sequence[str]) -> None:
    """One cent in an outcome, the last days cut off, as they are and closed anew, another ending, seed or player."""
    edit_ledgers(folder, *statements)
    assert "reference" in {row for row, kind in refusals(folder) if kind in ("edited ledger", "edited figure")}


def test_scores_beside_a_ledger_are_no_evidence(folder: Path, store: str) -> None:
    """What was made of a run lies beside it in a store; in a board's file it must be what the entries make."""
    akinai.analyze("reference", scale=False, store=store)
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT * FROM run_scores WHERE run_id = 'reference-2'").fetchall()
    assert rows
    score = row_of(json.loads((folder / "leaderboard.json").read_text()), "reference")["runs"][1]["score"]
    with closing(sqlite3.connect(folder / "ledgers.db")) as connection, connection:
        for run, digest, written_by, data in rows:
            assert str(score) in data
            forged = (run, digest, written_by, data.replace(str(score), str(score + 1)))
            connection.execute("INSERT INTO run_scores VALUES (?, ?, ?, ?)", forged)
    assert refusals(folder) == [("reference", "edited ledger")]


def test_a_board_without_its_ledgers_is_refused(folder: Path) -> None:
    """Nothing of it can be replayed, and the refusal names the file."""
    (folder / "ledgers.db").unlink()
    assert [(refusal.kind, refusal.why.split()[0]) for refusal in akinai.check_leaderboard(folder)] == [
        ("missing ledger", "ledgers.db")
    ]


def test_a_copied_ledger_adds_no_evidence(folder: Path) -> None:
    """The best run under another name, in the file and in the row."""
    edit_ledgers(
        folder,
        f"INSERT INTO runs (run_id, {other_columns(folder, 'runs')}) SELECT 'reference-3', "
        f"{other_columns(folder, 'runs')} FROM runs WHERE run_id = 'reference-2'",
        f"INSERT INTO actions (run_id, {other_columns(folder, 'actions')}) SELECT 'reference-3', "
        f"{other_columns(folder, 'actions')} FROM actions WHERE run_id = 'reference-2'",
    )
    assert refusals(folder) == [("", "dropped run")]
    forge(
        folder,
        lambda document: (runs := row_of(document, "reference")["runs"]).append({**runs[1], "run": "reference-3"}),
    )
    assert ("reference", "repeated run") in refusals(folder)


def test_what_repeats_or_forks_is_not_written(store: str, tmp_path: Path) -> None:
    """A run that repeats another of its row, and a fork, whose past another player made, are refused at writing."""
    path = str(tmp_path / "more.db")
    for name in ("a", "b"):
        akinai.run("vending", agent="naive", seeds="1", days=2, name=name, label="x", store=path, preset="classic")
    with pytest.raises(UsageError, match="run b-1 repeats run a-1 entry by entry"):
        akinai.leaderboard("a", "b", output=tmp_path / "out", store=path)
    akinai.fork("a", at_day=2, agent="idle", name="c", store=path)
    with pytest.raises(UsageError, match="run c-1 is a fork"):
        akinai.leaderboard("c", output=tmp_path / "out", store=path)


def test_rules_must_play_what_they_claim(store: str, tmp_path: Path) -> None:
    """The ledger of the reference player under the name of naive: sound in itself, and not what naive plays."""
    path = str(tmp_path / "false.db")
    akinai.run("vending", agent="reference", seeds="1-2", days=3, name="x", store=path, ledgers=False, preset="classic")

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
