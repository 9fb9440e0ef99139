"""Reads a run from a store as view models, and on as it grows."""

from akinai import worlds
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Ledger
from akinai.core.stores import Books, RunHeader, TraceRecord
from akinai.core.worlds import replay
from akinai.runtime.runs.reading import Load, expect_whole, read_ledger
from akinai.views.run import RunViews


async def read_views(books: Books, header: RunHeader, *, load: Load = worlds.load) -> RunViews:
    """The views of a run of a store, from one fold of its ledger.

    Raises LedgerError for a damaged record and UsageError for another version's world.
    """
    if header.damage:
        raise BrokenChain(0, header.damage)
    ledger: Ledger = await read_ledger(books, header)
    expect_whole(header, len(ledger.entries))
    world = load(header.genesis.world)
    return RunViews(header, world, replay(world, ledger, check=True), await read_trace(books, header))


async def read_trace(books: Books, header: RunHeader) -> list[TraceRecord]:
    """The second book of a run, whole."""
    return [record async for record in books.read_trace(header.run_id)]


async def read_on(books: Books, views: RunViews) -> RunViews:
    """The views of the same run as it stands now: the same object where nothing was added."""
    header = await books.header(views.header.run_id)
    entries = [entry async for entry in books.read(header.run_id, len(views.steps))]
    if not entries and header.status == views.header.status:
        return views
    return views.grown(header, entries, await read_trace(books, header))
