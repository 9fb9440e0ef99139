"""Reads a run from a store as view models, and on as it grows."""

from collections.abc import Callable, Sequence
from typing import Any

from akinai import worlds
from akinai.core.errors import BrokenChain
from akinai.core.findings import Finding
from akinai.core.ledger import Ledger
from akinai.core.stores import Books, RunHeader, TraceRecord
from akinai.core.worlds import World, replay
from akinai.runtime.garbage import never_collecting
from akinai.runtime.runs.kept_scores import find_scores, record_digest
from akinai.runtime.runs.reading import Load, expect_whole, read_ledger
from akinai.runtime.why.book import ACTOR as WHY
from akinai.views.run import RunViews


async def read_views(books: Books, header: RunHeader, *, load: Load = worlds.load) -> RunViews:
    """The views of a run of a store, from one fold of its ledger.

    Raises LedgerError for a damaged record and UsageError for another version's world.
    """
    return (await read_for_views(books, header, load=load))()


async def read_for_views(books: Books, header: RunHeader, *, load: Load = worlds.load) -> Callable[[], RunViews]:
    """Read a run, and return a function that folds its ledger into the views; another thread may call it.

    Both raise as `read_views`.
    """
    if header.damage:
        raise BrokenChain(0, header.damage)
    with never_collecting():
        ledger: Ledger = await read_ledger(books, header)
    expect_whole(header, len(ledger.entries))
    world = load(header.genesis.world)
    trace, findings = await read_trace(books, header), await _kept_findings(books, header, ledger, world)

    def fold() -> RunViews:
        with never_collecting():
            return RunViews(header, world, replay(world, ledger, check=True), trace, findings)

    return fold


async def _kept_findings(
    books: Books, header: RunHeader, ledger: Ledger, world: World[Any]
) -> Sequence[Finding] | None:
    """The findings that are kept beside a run that is over; None where there are none, so that detectors must run."""
    if header.status == "open":
        return None
    record = await find_scores(books, header, world, record_digest(ledger), len(ledger.entries))
    return record.findings if record is not None and record.judged else None


async def read_trace(books: Books, header: RunHeader) -> list[TraceRecord]:
    """Read the whole trace of a run."""
    return [record async for record in books.read_trace(header.run_id)]


async def read_on(books: Books, views: RunViews) -> RunViews:
    """Read on in a run, and return its views as of now: the same object where nothing was added."""
    header = await books.header(views.header.run_id)
    entries = [entry async for entry in books.read(header.run_id, len(views.steps))]
    if not entries and header.status == views.header.status:
        explained = [record async for record in books.read_trace(header.run_id, WHY)]
        if len(explained) == sum(record.actor == WHY for record in views.trace):
            return views
    return views.grown(header, entries, await read_trace(books, header))
