"""Where runs are kept, as a caller says it: an address, an open store, or nothing for the usual place."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from akinai.core.stores import Store
from akinai.runtime.config import DEFAULT_STORE, setting
from akinai.stores import open_store

T = TypeVar("T")
Place = str | Store | None
"""Where runs are kept: an address, an open store (which stays open), or None for the usual place."""


async def with_store(place: str | Store, work: Callable[[Store], Awaitable[T]], *, create: bool = False) -> T:
    """What `work` gives with the store at a place."""
    async with opened(place, create) as books:
        return await work(books)


@asynccontextmanager
async def opened(place: str | Store, create: bool) -> AsyncIterator[Store]:
    """The store at a place; one that was opened here is closed."""
    if not isinstance(place, str):
        yield place
        return
    books = await open_store(place, create=create)
    try:
        yield books
    finally:
        await books.close()


def place_of(store: Place) -> str | Store:
    """The address or the store that is meant."""
    return setting("store", None, DEFAULT_STORE) if store is None else store
