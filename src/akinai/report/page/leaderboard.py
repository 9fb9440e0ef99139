"""Leaderboards in folders: a page, its numbers, and the ledgers from which a check computes them again."""

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from akinai.analysis.leaderboard import (
    FORMAT,
    Board,
    Refusal,
    board_table,
    check_boards,
    expect_one_key,
    log_refusals,
    make_boards,
    repeats,
)
from akinai.analysis.readers import open_readers
from akinai.analysis.verdicts import ranking_sentences
from akinai.core.canonical import Json, canonical
from akinai.core.canonical import parse_json as unambiguous_json
from akinai.core.chance import SHORT, seed_label
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.presentation.sentences import coverage_warning
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import counted, label
from akinai.core.stores import Books, RunHeader
from akinai.core.untrusted.documents import MOST_RECORD_BYTES, parse_json
from akinai.files import read_named
from akinai.report.page.cards import PRACTICE_SECTION, practice_link, words_section
from akinai.report.page.document import Block, Document, Section
from akinai.runtime.config.addresses import StoreRef, in_store, opened, resolve_store, shared_url
from akinai.runtime.config.files import expect_writable, new_path, staged_folder, write_texts
from akinai.runtime.models.budget import Prices, known_prices, read_prices
from akinai.runtime.runs.copying import copy_runs
from akinai.runtime.runs.reading import find_runs
from akinai.runtime.runs.work import check_jobs
from akinai.runtime.seal import Key, expect_key, forged_line, load_optional, parse_log, revealed_key

PAGE, NUMBERS, LEDGERS = "leaderboard.html", "leaderboard.json", "ledgers.db"
LOG, KEY = "log.jsonl", "key.json"
"""Of sealed games: the log of the runs that were begun under the key, and the key once it is revealed."""
VERSION = re.compile(r"\d+(\.\d+){1,3}((a|b|rc|\.dev|\.post)\d+)?(\+[a-z\d.]{1,20})?")
"""The version of the release that wrote a leaderboard, which may be an earlier one."""


@dataclass(frozen=True, slots=True)
class WrittenLeaderboard:
    """A leaderboard in its folder."""

    folder: Path
    boards: tuple[Board, ...]

    @property
    def page(self) -> Path:
        return self.folder / PAGE

    def __str__(self) -> str:
        """Who leads each board and how sure that is, and a row for each group."""
        return "\n\n".join(f"{board.sentences}\n\n{board_table(board).always}" for board in self.boards)

    def to_json(self) -> dict[str, Json]:
        files = [PAGE, NUMBERS, LEDGERS, *([LOG] if any(board.commitment for board in self.boards) else [])]
        boards = [{**board.to_json(), "table": board_table(board).to_json()} for board in self.boards]
        return {"folder": str(self.folder), "files": files, "boards": boards}


def leaderboard(
    *names: str,
    output: str | Path = "akinai-leaderboard",
    jobs: int = 1,
    on: str | None = None,
    key: str | Path | None = None,
    store: StoreRef = None,
) -> WrittenLeaderboard:
    """Write a leaderboard of runs and groups into the folder `output`: a page, its numbers as JSON, and the ledgers.

    Groups that cannot be told apart share a place. Model calls are copied without what was said. `jobs` processes score
    the runs, or the engine `on`, as in `run`. Runs on sealed games need their `key`, whose log goes into the folder;
    their seeds do not. UsageError for a run that cannot be scored or is not over, without Jinja2, and if the folder
    cannot be written.
    """
    check_jobs(jobs)
    _expect_jinja()
    folder, prices = new_path(output), known_prices()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is a file, and a leaderboard is a folder of files; name another with -o")
    expect_writable(folder, "the leaderboard")
    if not names:
        raise UsageError("name the runs and groups that stand on the leaderboard")

    address, own_key = resolve_store(store), load_optional(key)

    async def work(books: Books) -> WrittenLeaderboard:
        headers = await find_runs(books, names)
        expect_one_key(headers)
        expect_key(own_key, headers, "publishing")
        log = own_key.log.lines() if own_key else []
        async with open_readers(books, shared_url(address), jobs, prices, on) as readers:
            boards = await make_boards(readers, headers, log)
        _expect_no_repeats(boards)
        claims = [board.to_json() for board in boards]
        if refused := log_refusals(log, claims, {header.run_id: header for header in headers}):
            raise UsageError(f"{refused[0].why}; join the logs of all machines that played under the key")
        await _write(folder, books, headers, boards, _document(boards, claims, prices), log)
        return WrittenLeaderboard(folder, tuple(boards))

    return in_store(address, work)


def check_leaderboard(folder: str | Path, *, jobs: int = 1, on: str | None = None) -> list[Refusal]:
    """Replay the ledgers of a leaderboard's folder, compute every figure again and draw the page again, and return the
    refusals: none where all of it holds, the page to the byte.

    Of sealed games, chains, log, statistics and page are checked; seeds, outcomes and scores too once the key was
    revealed (`leaderboard_claims` says what is not).

    `jobs` processes replay, or the engine `on` if its machines can open the folder's file. UsageError for a folder that
    holds no leaderboard.
    """
    check_jobs(jobs)
    _expect_jinja()
    claimed, ledgers = _claimed(Path(folder)), str(Path(folder) / LEDGERS)

    log, key = _log_of(Path(folder), claimed), _revealed(Path(folder))

    async def check(books: Books, url: str, *, drawn: bool = True) -> list[Refusal]:
        prices = read_prices(claimed["prices"])
        async with open_readers(books, url, jobs, prices, on) as readers:
            refused, boards = await check_boards(books, readers, claimed["boards"], log)
        own = dict(_document(boards, [board.to_json() for board in boards], prices))
        if VERSION.fullmatch(str(claimed.get("akinai"))):
            own["akinai"] = claimed["akinai"]  # of the release that wrote it
        if not refused and canonical(claimed) != canonical(own):
            why = "its prices or something beside the boards are not those of its runs"
            refused.append(Refusal("", "edited figure", why))
        return refused or (_page_refusals(Path(folder), boards, str(claimed.get("akinai"))) if drawn else [])

    async def work(books: Books) -> list[Refusal]:
        if key is not None and (refused := await _key_refusals(books, key, claimed["boards"], log)):
            return refused
        refused = await check(books, ledgers, drawn=key is None)
        if refused or key is None:
            return refused
        with tempfile.TemporaryDirectory(prefix="akinai-revealed-") as place:
            url = str(Path(place, LEDGERS))
            async with opened(url, create=True) as revealed:
                await copy_runs(books, revealed, [_open_header(header, key) for header in await books.runs()])
                return await check(revealed, url)

    try:
        if not claimed["boards"] or not all(board["rows"] for board in claimed["boards"]):
            why = "is a leaderboard without rows; there is nothing to check"
            raise UsageError(f"{str(Path(folder) / NUMBERS)!r} {why}")
        if not Path(ledgers).is_file():
            return [Refusal("", "missing ledger", f"{LEDGERS} is not there, and no run can be replayed")]
        return in_store(ledgers, work)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{str(Path(folder) / NUMBERS)!r} is no leaderboard of this version ({error})") from error


def leaderboard_claims(folder: str | Path) -> str | None:
    """What a leaderboard of sealed games claims until its key is revealed, a sentence; None where nothing is."""
    claimed = _claimed(Path(folder))
    if not any(board.get("commitment") for board in claimed["boards"]) or (Path(folder) / KEY).exists():
        return None
    return (
        "its games are sealed: that each seed is the one of its number, what came of the actions and the scores are "
        "claims until the key is revealed"
    )


def reveal_in(folder: str | Path, key: Key) -> Path:
    """Write the key into the folder of a leaderboard, for `check_leaderboard`. UsageError for one of other games."""
    boards = _claimed(Path(folder))["boards"]
    if not any(board.get("commitment") for board in boards):
        raise UsageError(f"the leaderboard in {str(folder)!r} is of practice seeds, which have no key")
    for board in boards:
        if board.get("commitment") not in (None, key.commitment):
            raise UsageError(
                f"the leaderboard in {str(folder)!r} is of the key {str(board['commitment'])[:SHORT]}..., and "
                f"{str(key.path)!r} holds {key.commitment[:SHORT]}...; name the key of the board"
            )
    path = Path(folder) / KEY
    path.write_text(f"{json.dumps(key.to_json(), indent=1)}\n", encoding="utf-8", newline="\n")
    return path


def _log_of(folder: Path, claimed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The log of the key; empty for practice seeds. UsageError where it is not there."""
    if not any(board.get("commitment") for board in claimed["boards"]):
        return []
    return parse_log(read_named(folder / LOG, f"the log {LOG}", most_bytes=MOST_RECORD_BYTES), LOG)


def _revealed(folder: Path) -> Key | None:
    path = folder / KEY
    return revealed_key(read_named(path), str(path)) if path.exists() else None


def _open_header(header: RunHeader, key: Key) -> RunHeader:
    """The header of a sealed run with the seed that the key gives it."""
    sealed = header.sealed
    if sealed is None:
        return header
    seed = key.seed_of(header.genesis.world, str(header.card.get("preset")), sealed.index)
    card = {**header.card, **replace(sealed, key=key.secret.hex()).card()}
    return replace(header, genesis=Genesis(header.genesis.world, seed, header.genesis.setup), card=card)


async def _key_refusals(
    books: Books, key: Key, boards: Sequence[Mapping[str, Any]], log: Sequence[Mapping[str, Any]]
) -> list[Refusal]:
    """Refusals of a key that is not the board's, of runs that are not on the games that it gives, and of lines of the
    log that were not written with it."""
    for board in boards:
        if board.get("commitment") != key.commitment:
            why = f"the key that was revealed is {key.commitment}, and the board is of {board.get('commitment')}"
            return [Refusal("", "forged key", why)]
    refused: list[Refusal] = []
    for header in await books.runs():
        if header.sealed and _open_header(header, key).genesis.digest != header.genesis.digest:
            why = f"run {header.run_id} was not played on game {header.sealed.index} of the key"
            refused.append(Refusal("", "swapped index", why))
    if (line := forged_line(key.secret, log)) is not None:
        refused.append(Refusal("", "forged log", f"the log's line of run {line['run']} was not written with the key"))
    return refused


def _expect_jinja() -> None:
    if find_spec("jinja2") is None:
        raise UsageError('a leaderboard needs Jinja2, which is not installed; pip install "akinai[report]"')


def _expect_no_repeats(boards: Sequence[Board]) -> None:
    """UsageError where two runs of a row have the same record."""
    runs = ((row.group, run.run, run.digest) for board in boards for row in board.rows for run in row.runs)
    for _, run, first in repeats(runs):
        raise UsageError(f"run {run} repeats run {first} entry by entry and adds no evidence; leave one of them out")


def _page_refusals(folder: Path, boards: Sequence[Board], writer: str) -> list[Refusal]:
    """A refusal where the page beside the figures is not, to the byte, the one that shows them."""
    from akinai.report.page.html import page

    try:
        same = (folder / PAGE).read_bytes() == page(as_page(boards)).encode()
    except FileNotFoundError:
        return [Refusal("", "edited page", f"{PAGE} is not there")]
    except OSError as error:
        raise UsageError(f"{str(folder / PAGE)!r} cannot be read: {error.strerror}") from error
    if same:
        return []
    why = f"{PAGE} is not the page of these figures"
    if writer != version("akinai"):
        why += f", or another Akinai drew it ({writer}); check with that one"
    return [Refusal("", "edited page", why)]


def _claimed(folder: Path) -> dict[str, Any]:
    try:
        path = folder / NUMBERS
        what = f"no leaderboard in {str(folder)!r}: {NUMBERS}"
        text = read_named(path, what, most_bytes=MOST_RECORD_BYTES)
        document: Any = parse_json(text)
        unambiguous_json(text)
    except ValueError as error:
        raise UsageError(f"{str(folder / NUMBERS)!r} cannot be read: {error}") from error
    if not isinstance(document, dict) or cast("dict[str, Any]", document).get("format") != FORMAT:
        raise UsageError(f"{str(folder / NUMBERS)!r} is no leaderboard of format {FORMAT}")
    return cast("dict[str, Any]", document)


async def _write(
    folder: Path,
    books: Books,
    headers: Sequence[RunHeader],
    boards: Sequence[Board],
    document: Mapping[str, Json],
    log: Sequence[Mapping[str, Any]],
) -> None:
    """Write all files in a folder of their own, then move them to their places."""
    from akinai.report.page.html import page

    numbers = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    texts = {NUMBERS: f"{numbers}\n", PAGE: page(as_page(boards))}
    if log:
        texts[LOG] = "".join(f"{canonical(line)}\n" for line in log)
    with staged_folder(folder, "the leaderboard") as staged:
        async with opened(str(staged / LEDGERS), create=True) as target:
            await copy_runs(books, target, headers)
        write_texts(staged, texts)
    for name in {KEY, LOG} - texts.keys():
        (folder / name).unlink(missing_ok=True)


def _document(boards: Sequence[Board], claims: Sequence[Json], prices: Prices) -> Mapping[str, Json]:
    models = {row.model for board in boards for row in board.rows}
    used: Json = {
        name: {field.name: value for field in fields(price) if (value := getattr(price, field.name)) is not None}
        for name, price in prices.items()
        if name in models
    }
    return {"format": FORMAT, "akinai": version("akinai"), "prices": used, "boards": [*claims]}


def as_page(boards: Sequence[Board]) -> Document:
    """The page: a section for each board, then the runs and how to check them."""
    rows = sum(len(board.rows) for board in boards)
    worlds = " and ".join(dict.fromkeys(board.world for board in boards))
    sections = [section for board in boards for section in _sections(board, many=len(boards) > 1)]
    check = Section(
        "How to check this",
        (
            (
                f"{LEDGERS} beside this page holds every ledger, {NUMBERS} every figure. "
                "'akinai leaderboard check DIR' replays each ledger by the rules of its world, plays the rows of rules "
                "again, makes every figure anew and refuses, by name, rows that claim anything else."
            ),
            (
                "A place is one more than the number of groups that are shown to be better, in exact tests of pairs by "
                "seed (of means where no seed is common), corrected for all pairs by Holm's method. Intervals hold the "
                "mean with 95 % confidence; runs of one seed enter them together."
            ),
        ),
    )
    practice = () if all(board.commitment for board in boards) else (PRACTICE_SECTION,)
    verdict = " ".join(board.sentences for board in boards)
    about = f"{counted(rows, 'group')} of runs."
    return Document(f"Leaderboard of {worlds}", about, (*sections, *practice, words_section(sections), check), verdict)


def _sections(board: Board, *, many: bool) -> list[Section]:
    settings = ", ".join(f"{name} = {json.dumps(value)}" for name, value in board.settings.items())
    under = f"{board.world}, preset {board.preset}" + (f", {settings}" if settings else "")
    fewest = min(len({run.seed for run in row.runs}) for row in board.rows)
    blocks: list[Block] = [f"Under {under}.", *_key_words(board), _ranking_table(board)]
    if verdict := ranking_sentences(board.standings) if board.standings else coverage_warning(fewest):
        blocks.append(verdict)
    name = f"By {label(board.score)}" + (f", {board.world} {board.preset}" if many else "")
    return [Section(name, tuple(blocks)), Section("Runs", (_runs(board),), 3)]


def _key_words(board: Board) -> list[Block]:
    """What is said of the key of sealed games, and of the runs that were begun under it."""
    if board.commitment is None:
        return []
    here = sum(len(row.runs) for row in board.rows)
    begun = ", ".join(f"{player} {count}" for player, count in board.begun.items())
    return [
        f"Sealed games of the key {board.commitment}.",
        f"Runs begun under the key: {begun}. Runs on this board: {here}.",
        (
            f"Before the key is revealed the seeds, what came of the actions and the scores are claims. {KEY} beside "
            "this page, once it is there, makes them checkable."
        ),
    ]


def _ranking_table(board: Board) -> Grid:
    """The rows; practice seeds lead to what is said of them."""
    columns = [
        replace(column, values=[*map(practice_link, column.cells)])
        if column.head == "seeds" and not board.commitment
        else column
        for column in board_table(board).columns
    ]
    note = "Tokens and dollars are of a run, on average; rows without a model go by rules."
    if any(row.unreadable for row in board.rows):
        note += " Unreadable runs are in no mean: no action could be read in what their models wrote."
    return Grid(columns, note=note)


def _runs(board: Board) -> Grid:
    runs = [(run, row.group) for row in board.rows for run in row.runs]
    columns = [
        Column("run", [run.run for run, _ in runs], words=True, names=True),
        Column("group", [group for _, group in runs], words=True, names=True),
        Column("seed", [seed_label(run.seed) for run, _ in runs]),
        Column("ending", [run.ending or run.status for run, _ in runs], words=True),
        Column(label(board.score), [run.score for run, _ in runs], unit=board.unit),
        Column("digest", [run.digest[:16] for run, _ in runs], words=True),
    ]
    return Grid(columns, note=f"All 64 digits of each digest: {NUMBERS}.")


__all__ = ["WrittenLeaderboard", "as_page", "check_leaderboard", "leaderboard", "leaderboard_claims", "reveal_in"]
