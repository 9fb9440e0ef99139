"""A leaderboard of sealed games is checked as far as can be before its key is revealed, and in full after it."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.report.page.leaderboard import leaderboard_claims, reveal_in
from akinai.runtime.seal import Key, load_key, new_key

GAME: dict[str, Any] = {"preset": "classic", "days": 4, "jobs": 1, "ledgers": False}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key, another one, a store with two players on its games and a run of the other key, and a board of the two."""
    home = tmp_path_factory.mktemp("sealed")
    for name in ("key", "other"):
        new_key(home / f"{name}.json")
    store = str(home / "akinai.db")
    for agent in ("idle", "naive"):
        akinai.run("vending", agent=agent, seeds="1-3", key=home / "key.json", name=agent, store=store, **GAME)
    akinai.run("vending", agent="naive", seeds="4-5", key=home / "key.json", name="tried", store=store, **GAME)
    akinai.run("vending", agent="idle", seeds="1-3", key=home / "other.json", name="elsewhere", store=store, **GAME)
    akinai.leaderboard("idle", "naive", output=home / "board", key=home / "key.json", store=store)
    return home


@pytest.fixture
def board(home: Path, tmp_path: Path) -> Path:
    """A copy to forge."""
    return Path(shutil.copytree(home / "board", tmp_path / "board"))


def kinds(folder: Path) -> set[str]:
    return {refusal.kind for refusal in akinai.check_leaderboard(folder)}


def change_numbers(folder: Path, old: str, new: str) -> None:
    path = folder / "leaderboard.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def sql(folder: Path, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(folder / "ledgers.db")) as store, store:
        store.execute(statement, values)


def true_seeds(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / "akinai.db")) as store:
        rows = store.execute("SELECT genesis FROM runs").fetchall()
    return [str(json.loads(genesis)["seed"]) for (genesis,) in rows]


def test_a_board_before_the_reveal_holds_no_seed_and_is_checked_as_far_as_can_be(home: Path, board: Path) -> None:
    """No file of it holds a seed or the key; the check accepts it and says what is a claim."""
    secret = load_key(home / "key.json").secret.hex()
    for path in board.iterdir():
        content = path.read_bytes()
        assert not [seed for seed in (*true_seeds(home), secret) if seed.encode() in content], path.name
    assert kinds(board) == set()
    assert "claims until the key is revealed" in (leaderboard_claims(board) or "")
    rows = json.loads((board / "leaderboard.json").read_text())["boards"][0]["rows"]
    games = [(run["seed"], run["sealed"]["index"]) for run in rows[0]["runs"]]
    assert games == [(None, 1), (None, 2), (None, 3)]


def test_the_page_says_how_many_runs_were_begun_under_the_key(board: Path) -> None:
    """Five runs of naive were begun and three are here: who tells of the best alone is seen."""
    page = (board / "leaderboard.html").read_text()
    assert "Runs begun under the key: idle 3, naive 5. Runs on this board: 6." in page
    assert "practice-seeds" not in page


def test_a_revealed_board_is_checked_in_full(home: Path, board: Path) -> None:
    """Every seed is derived, every ledger replayed: the true key holds, and an edited score is refused."""
    reveal_in(board, load_key(home / "key.json"))
    assert leaderboard_claims(board) is None
    assert kinds(board) == set()


def test_scores_that_were_claimed_are_made_again_after_the_reveal(home: Path, board: Path) -> None:
    """A board with a score that its ledger does not give passes before the reveal, and is refused after it."""
    shutil.rmtree(board)
    store = board.parent / "forged.db"
    shutil.copy(home / "akinai.db", store)
    with closing(sqlite3.connect(store)) as books, books:
        (text,) = books.execute("SELECT data FROM run_scores WHERE run_id = 'naive-1'").fetchone()
        forged = re.sub(r'("name":"net_worth","value":)(-?\d+)', r"\g<1>9999999", text)
        assert forged != text
        books.execute("UPDATE run_scores SET data = ? WHERE run_id = 'naive-1'", (forged,))
    akinai.leaderboard("idle", "naive", output=board, key=home / "key.json", store=str(store))
    assert "99,999.99" in (board / "leaderboard.html").read_text()
    assert kinds(board) == set()
    reveal_in(board, load_key(home / "key.json"))
    assert "edited score" in kinds(board)


def test_a_forged_key_is_refused(home: Path, board: Path) -> None:
    """A key of another commitment, put into the folder by hand, is no key of the board; `reveal` refuses it as well."""
    other = load_key(home / "other.json")
    with pytest.raises(UsageError, match="name the key of the board"):
        reveal_in(board, other)
    (board / "key.json").write_text(json.dumps(other.to_json()))
    assert kinds(board) == {"forged key"}
    (board / "key.json").write_text(
        json.dumps({**other.to_json(), "commitment": load_key(home / "key.json").commitment})
    )
    with pytest.raises(UsageError, match="does not fit the commitment"):
        akinai.check_leaderboard(board)


def test_a_swapped_index_is_refused(home: Path, board: Path) -> None:
    """In the figures alone it is refused at once; in the record as well, when the key is revealed."""
    figures = Path(shutil.copytree(board, board.parent / "figures"))
    change_numbers(figures, '"index": 1', '"index": 9')
    assert "swapped index" in kinds(figures)
    sql(board, "UPDATE runs SET card = replace(card, '\"index\":1}', '\"index\":9}')")
    change_numbers(board, '"index": 1', '"index": 9')
    log = board / "log.jsonl"
    log.write_text(log.read_text().replace('"index":1', '"index":9'))
    assert kinds(board) == {"edited ledger"}  # the card's digest is stored beside it
    restamp(board)
    reveal_in(board, load_key(home / "key.json"))
    assert {"swapped index", "forged log"} <= kinds(board)


def restamp(folder: Path) -> None:
    """Store the digests of headers and cards anew, as a forger can who writes with Akinai itself."""
    from akinai.runtime.sync import wait
    from akinai.stores import open_store

    async def work() -> None:
        books = await open_store(str(folder / "ledgers.db"))
        for header in await books.runs():
            await books.update(header)
        await books.close()

    wait(work())


def test_a_second_key_on_one_board_is_refused(home: Path, board: Path) -> None:
    """When it is written, and when a run of another key is put in by hand."""
    store = str(home / "akinai.db")
    with pytest.raises(UsageError, match="one board has one key, or none"):
        akinai.leaderboard("naive", "elsewhere", output=board.parent / "new", key=home / "key.json", store=store)
    own, other = load_key(home / "key.json").commitment, load_key(home / "other.json").commitment
    sql(board, "UPDATE runs SET card = replace(card, ?, ?) WHERE run_id = 'naive-2'", own, other)
    restamp(board)
    assert "another key" in kinds(board)


def test_a_run_left_out_of_the_log_is_refused(home: Path, board: Path) -> None:
    """Whether it is on the board or was left out of it: a line that is taken out leaves a gap."""
    log = board / "log.jsonl"
    lines = log.read_text().splitlines()
    log.write_text("\n".join(line for line in lines if '"run":"naive-2"' not in line))
    assert {"not in the log", "left out of the log"} <= kinds(board)
    log.write_text("\n".join(line for line in lines if '"run":"tried-4"' not in line))
    assert "left out of the log" in kinds(board)
    shutil.copytree(home, board.parent / "home")
    own = board.parent / "home" / "key.runs.jsonl"
    own.write_text("".join(line for line in own.read_text().splitlines(keepends=True) if '"run":"naive-2"' not in line))
    with pytest.raises(UsageError, match="does not hold run naive-2"):
        akinai.leaderboard(
            "naive", output=board.parent / "n", key=own.with_name("key.json"), store=str(home / "akinai.db")
        )


def test_a_line_that_was_not_written_with_the_key_is_refused_after_the_reveal(home: Path, board: Path) -> None:
    """A line whose player was renamed stands before the reveal, and is found by its code after it."""
    reveal_in(board, load_key(home / "key.json"))
    log = board / "log.jsonl"
    log.write_text(log.read_text().replace('"run":"tried-5"', '"run":"tried-6"'))
    assert kinds(board) == {"forged log"}


@pytest.mark.slow
def test_a_board_of_practice_seeds_says_so_in_a_word_with_a_link(home: Path, tmp_path: Path) -> None:
    """On the board and in a report: the word, and the section to which it leads."""
    store = str(tmp_path / "p.db")
    akinai.run("vending", agent="naive", seeds="1-2", name="p", store=store, **GAME)
    akinai.leaderboard("p", output=tmp_path / "board", store=store)
    akinai.report("p", output=tmp_path / "report", store=store, jobs=1)
    for page in (tmp_path / "board" / "leaderboard.html", tmp_path / "report" / "report.html"):
        text = page.read_text()
        assert 'href="#practice-seeds"' in text
        assert 'id="practice-seeds"' in text
        assert "everybody knows" in text
    run_page = next((tmp_path / "report" / "runs").glob("run-*.html")).read_text()
    assert 'href="#practice"' in run_page
    assert re.search("practice seed [12]<", run_page)
    akinai.report("idle", output=tmp_path / "sealed", store=str(home / "akinai.db"), jobs=1)
    for path in (tmp_path / "sealed").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"practice-seeds" not in content, path
            assert not [seed for seed in true_seeds(home) if seed.encode() in content], path


def test_a_key_object_is_not_needed_to_check(home: Path) -> None:
    """The folder alone is checked: the log's codes need the key, and nothing else of it."""
    assert isinstance(load_key(home / "key.json"), Key)
    assert akinai.check_leaderboard(home / "board") == []
