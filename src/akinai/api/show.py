"""Functions that read a run as a transcript: show, and follow for a run that is being played."""

import asyncio
from collections.abc import Iterator
from typing import Unpack

from akinai.core.stores import Books
from akinai.runtime.config.addresses import in_store, resolve_store
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import FollowOptions, ShowOptions
from akinai.runtime.runs.reading import find_run
from akinai.views.reading import read_on, read_views
from akinai.views.run import RunViews
from akinai.views.selection import Selection, Transcript, select

POLL_SECONDS = 0.5
"""Seconds between two looks at a run that is being played."""


@with_options(ShowOptions)
def show(run: str, **options: Unpack[ShowOptions]) -> Transcript:
    """Read what a run did, wrote and thought: all of it, a day, an entry, an actor, a deal, or the entries with words.

    `owner` is the side of one of several owners: its entries, what the others sent it, its facts and its findings.
    `grep` is text in any case; with `calls` it is looked for in model calls as well. UsageError for a day or an entry
    that the run does not have, UnknownName for an actor, an owner or a deal.
    """
    selection = Selection(
        options["day"], options["entry"], options["actor"], options["owner"], options["deal"], options["calls"],
        options["grep"],
    )  # fmt: skip

    async def work(books: Books) -> RunViews:
        return await read_views(books, await find_run(books, run))

    return select(in_store(options["store"], work), selection)


@with_options(FollowOptions)
def follow(run: str, **options: Unpack[FollowOptions]) -> Iterator[Transcript]:
    """Transcripts of a run as it is played, by this process or another: one at once, then one whenever it has grown.

    The first holds all items until then, each later one only new items. Ends when the run is over.
    """
    address = resolve_store(options["store"])
    selection = Selection(None, None, options["actor"], options["owner"], None, options["calls"], options["grep"])

    async def first(books: Books) -> RunViews:
        return await read_views(books, await find_run(books, run))

    views = in_store(address, first)
    yield select(views, selection)
    while views.header.status == "open":
        seen = len(views.steps)

        async def following(books: Books, old_views: RunViews = views) -> RunViews:
            while True:
                new_views = await read_on(books, old_views)
                if new_views is not old_views:
                    return new_views
                await asyncio.sleep(POLL_SECONDS)

        views = in_store(address, following)
        yield select(views, selection, after=seen)
