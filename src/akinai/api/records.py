"""Functions about the record of runs: runs, delete, restore, deal, replay, verify, diff, export, merge."""

from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO, TypedDict, cast, get_args

from akinai import worlds
from akinai.analysis.diff import Diff, diff_runs
from akinai.core.errors import LedgerError, UnknownName, UsageError
from akinai.core.findings import Deal
from akinai.core.stores import Books, RunHeader, Status
from akinai.core.worlds import expect_version
from akinai.core.worlds import replay as core_replay
from akinai.runtime.config.addresses import StoreRef, in_store, opened
from akinai.runtime.config.files import new_path
from akinai.runtime.export.database import database_formats, write_database
from akinai.runtime.export.eval_log.writing import FORMAT as EVAL_LOG
from akinai.runtime.export.eval_log.writing import SUFFIX, write_eval_log
from akinai.runtime.export.lines import LINE_FORMATS, LineFormat, csv_head, export_lines, line_format
from akinai.runtime.runs.marking import delete_forever, list_runs, notes_of, set_deleted
from akinai.runtime.runs.merging import Merged, merge_stores
from akinai.runtime.runs.reading import DAMAGE, Detail, find_run, find_runs, read_run
from akinai.runtime.runs.records import Run, Runs
from akinai.runtime.runs.verification import Verdict, checked_digest
from akinai.runtime.runs.verification import verify as verify_run
from akinai.runtime.sync import wait

MOST_NAMED = 5
"""Runs that a refusal names."""


def replay(run: str, *, store: StoreRef = None, ledgers: bool = True) -> Runs:
    """Apply every recorded action of a run, or of a group's runs, again. ReplayMismatch names the first difference."""

    async def work(books: Books) -> Runs:
        runs: list[Run] = []
        for header in await find_runs(books, [run]):
            try:
                with _named_in_errors(header):
                    expect_version(worlds.load(header.genesis.world), header.genesis)
                    runs.append(await read_run(books, header, Detail(ledger=ledgers, use_stored=False)))
            except UsageError as error:
                raise UsageError(f"run {header.run_id!r} cannot be replayed: {error}") from error
        return Runs(runs)

    return in_store(store, work)


def verify(*names: str, digest: str | None = None, store: StoreRef = None) -> dict[str, Verdict]:
    """Whether the records of runs or groups are as they were written, by the runs' ids, and their digests.

    A chain without a published digest shows faults and careless edits, not an edit by somebody who computes the digests
    anew. `digest` is one that was noted or published earlier: the run's final one, its header's or its card's.
    UsageError for a digest of not 64 hexadecimal digits, and for several runs with a digest.
    """
    published = None if digest is None else checked_digest(digest)

    async def work(books: Books) -> dict[str, Verdict]:
        headers = await find_runs(books, names, damaged=True)
        if published and len(headers) > 1:
            raise UsageError(
                f"a digest is of one run, and {' '.join(names)!r:.100} stands for {len(headers)}; name one, "
                f"such as {headers[0].run_id!r}"
            )
        return {header.run_id: await verify_run(books, header, published) for header in headers}

    return in_store(store, work)


def runs(
    *names: str,
    group: str | None = None,
    status: Status | None = None,
    limit: int | None = None,
    deleted: bool = False,
    store: StoreRef = None,
    ledgers: bool = True,
) -> Runs:
    """Runs and groups by name, or all runs of a store, oldest first, scored from their ledgers.

    Without names, `group` takes the runs of one group or sweep, `status` those that are "open", "done" or "failed", and
    `limit` the newest; 0 is no limit. Deleted runs are left out, unless one is named; `deleted` takes them alone. A run
    whose record is damaged or of another version's world says so as its
    `error` and has no scores.
    """
    run_filter = _run_filter(group, status, limit)

    async def work(books: Books) -> Runs:
        if names:
            headers = await find_runs(books, names, damaged=True)
        else:
            headers = await list_runs(books, deleted=deleted, **run_filter)
        return Runs([await read_run(books, header, Detail(ledger=ledgers), trouble=DAMAGE) for header in headers])

    return in_store(store, work)


class _RunFilter(TypedDict):
    """The arguments of `list_runs` that select runs."""

    group: str | None
    status: Status | None
    limit: int | None


def _run_filter(group: str | None, status: str | None, limit: int | None) -> _RunFilter:
    """The filter, checked. UnknownName for an unknown status, UsageError for a limit below 0."""
    if status is not None and status not in get_args(Status):
        raise UnknownName("status", status, get_args(Status))
    if limit is not None and limit < 0:
        raise UsageError(f"a limit is a number of runs from 0, which is no limit, not {limit!r}")
    return {"group": group, "status": cast("Status | None", status), "limit": limit or None}


def headers(
    store: StoreRef = None,
    *,
    group: str | None = None,
    status: str | None = None,
    limit: int | None = None,
    deleted: bool = False,
) -> Sequence[RunHeader]:
    """The headers of all runs, or of those that `runs` takes: quick, and without scores."""
    run_filter = _run_filter(group, status, limit)
    return in_store(store, lambda books: list_runs(books, deleted=deleted, **run_filter))


def delete(*names: str, forever: bool = False, yes: bool = False, store: StoreRef = None) -> Sequence[str]:
    """Leave runs, and all runs of groups, out of every list and group; returns their ids.

    Their records stay: `restore` brings them back, and each can still be read by its own name. With `forever` and
    `yes` their records are removed, whether they were deleted before or not, and nothing brings them back. UsageError
    for a run that is being played, and for `forever` without `yes`; then none is deleted.
    """
    if not forever:
        return _mark(names, store, deleted=True)

    async def work(books: Books) -> Sequence[str]:
        headers = await find_runs(books, names, damaged=True, deleted=True)
        ids = [header.run_id for header in headers]
        if not yes:
            listed = ", ".join([*ids[:MOST_NAMED], *["..."] * (len(ids) > MOST_NAMED)])
            raise UsageError(
                f"nothing brings back what is deleted for good: {listed}; say --yes if that is meant "
                "(yes=True in Python)"
            )
        await delete_forever(books, headers)
        return ids

    return in_store(store, work)


def restore(*names: str, store: StoreRef = None) -> Sequence[str]:
    """Bring deleted runs, and all runs of groups, back; returns the ids of those that were deleted."""
    return _mark(names, store, deleted=False)


def _mark(names: Sequence[str], store: StoreRef, *, deleted: bool) -> Sequence[str]:
    async def work(books: Books) -> Sequence[str]:
        headers = await find_runs(books, names, deleted=True)
        changed = [header for header in headers if notes_of(header).deleted != deleted]
        await set_deleted(books, changed, deleted=deleted)
        return [header.run_id for header in changed]

    return in_store(store, work)


def export(
    run: str, *, format: str = "jsonl", output: str | Path | TextIO | None = None, store: StoreRef = None
) -> Sequence[str]:
    """Write the entries of a run, or of a group's runs, for other programs: "jsonl" or "csv", one entry a line, or
    one run as a database in a format of its world, such as "magentic"; or all of them as a log of Inspect AI
    ("inspect") with a sample for each seed.

    `output` is a file to write, or an open one; without it the lines are returned, else none, and a log is written to
    RUN.eval. UsageError for a file that cannot be written, before an older one is touched.
    """
    if format == EVAL_LOG:
        if output is not None and not isinstance(output, str | Path):
            raise UsageError(f"the format {format!r} is no text; name a file for it with -o, such as -o run{SUFFIX}")
        write_file = write_eval_log
    elif format not in LINE_FORMATS and format in database_formats():
        if not isinstance(output, str | Path):
            raise UsageError(f"the format {format!r} is a database; name a file for it with -o, such as -o market.db")
        write_file = partial(_write_database, run, format)
    else:
        return _export_lines(run, output, line_format(format), store)
    path = new_path(f"{run}{SUFFIX}" if output is None else output)

    async def work(books: Books) -> None:
        await write_file(books, await find_runs(books, [run]), path)

    in_store(store, work)
    return ()


def _export_lines(run: str, output: str | Path | TextIO | None, format: LineFormat, store: StoreRef) -> Sequence[str]:
    """Write lines, or return them where there is no `output`."""
    path = new_path(output) if isinstance(output, str | Path) else None
    lines: list[str] = []
    with ExitStack() as stack:
        file = None if isinstance(output, str | Path) else output

        def write(text: str) -> None:
            # The file is opened at the first line, so that an unknown run leaves an old file alone.
            nonlocal file
            if file is None and path is not None:
                file = stack.enter_context(_open(path))
            lines.append(text) if file is None else file.write(f"{text}\n")

        async def work(books: Books) -> None:
            headers = await find_runs(books, [run])
            if format == "csv":
                write(csv_head())
            for header in headers:
                async for text in export_lines(books, header, format):
                    write(text)

        in_store(store, work)
    return lines


def _open(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}; name another file with -o") from error


async def _write_database(run: str, format: str, books: Books, headers: Sequence[RunHeader], path: Path) -> None:
    if len(headers) > 1:
        raise UsageError(
            f"{run!r} stands for {len(headers)} runs, and such a database holds one; name one, "
            f"such as {headers[0].run_id!r}"
        )
    await write_database(books, headers[0], format, path)


def merge(out: str | Books, *stores: str | Books) -> Merged:
    """Copy all runs of the stores into the store `out`, which is made where there is none: ledgers with equal digests,
    model calls, kept scores. Doing it again changes nothing; a run that went on since grows.

    UsageError, before anything is written, where two stores hold different runs under one name.
    """
    if not stores:
        raise UsageError("name the stores to merge after the one to merge them into")

    async def work() -> Merged:
        async with AsyncExitStack() as stack:
            sources: dict[str, Books] = {}
            for number, store in enumerate(stores, 1):
                name = store if isinstance(store, str) else f"store {number}"
                sources[name] = await stack.enter_async_context(opened(store, create=False))
            return await merge_stores(await stack.enter_async_context(opened(out, create=True)), sources)

    return wait(work())


def deal(run: str | Run, id: str, *, store: StoreRef = None) -> Deal:
    """One deal of a run, with the entries that belong to it. UnknownName for an id that no deal of the run has."""
    played = _one_run(run, store)
    world = worlds.load(played.world)
    deals = {deal.id: deal for deal in world.facets.judging.deals(core_replay(world, played.ledger))}
    if id not in deals:
        raise UnknownName("deal", id, deals, f"'akinai analyze {played.id} --deals' lists them")
    return deals[id]


def diff(a: str | Run, b: str | Run, *, store: StoreRef = None) -> Diff:
    """The first entry in which two runs differ, and their worlds day by day."""
    return diff_runs(_one_run(a, store), _one_run(b, store))


@contextmanager
def _named_in_errors(header: RunHeader) -> Generator[None]:
    """Name the run in errors of its record."""
    try:
        yield
    except LedgerError as error:
        raise type(error)(error.entry, f"{error.why} (in run {header.run_id!r})") from error


def _one_run(name: str | Run, store: StoreRef) -> Run:
    if isinstance(name, Run):
        return name

    async def work(books: Books) -> Run:
        header = await find_run(books, name)
        with _named_in_errors(header):
            return await read_run(books, header)

    return in_store(store, work)
