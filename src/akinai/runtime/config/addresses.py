"""Addresses that people give: of stores, and of model servers."""

import ipaddress
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from akinai.core.errors import UsageError
from akinai.core.stores import Books
from akinai.runtime.config.settings import DEFAULT_STORE, named_source, setting
from akinai.runtime.sync import wait
from akinai.stores import expect_known, open_store

T = TypeVar("T")
StoreRef = str | os.PathLike[str] | Books | None
"""A store: its address or file, an open store (which stays open), or None for the configured one."""


def resolve_store(store: StoreRef) -> str | Books:
    """The store that is meant: None is AKINAI_STORE, the store of `akinai.toml`, or `akinai.db`."""
    if isinstance(store, os.PathLike):
        return os.fspath(store)
    return store_address(None) if store is None else store


def store_address(url: str | None) -> str:
    """The address of the store: `url`, AKINAI_STORE, `akinai.toml`, or the default."""
    address = setting("store", url, DEFAULT_STORE)
    with named_source("store", url):
        expect_known(address)
    return address


def shared_url(store: str | Books) -> str | None:
    """The address at which other processes can open a store too; None for one in memory, or given as an object."""
    return store if isinstance(store, str) and not store.startswith("memory:") else None


def in_store(store: StoreRef, work: Callable[[Books], Coroutine[Any, Any, T]], *, create: bool = False) -> T:
    """The result of `work` on an opened store, for plain code."""

    async def open_and_work() -> T:
        async with opened(resolve_store(store), create) as books:
            return await work(books)

    return wait(open_and_work())


@asynccontextmanager
async def opened(store: str | Books, create: bool) -> AsyncGenerator[Books]:
    """An open store. One that was given by its address is closed at the end."""
    if not isinstance(store, str):
        yield store
        return
    books = await open_store(store, create=create)
    try:
        yield books
    finally:
        await books.close()


def checked_address(base_url: str | None) -> str | None:
    """The address of a model server, without a slash at its end.

    UsageError for text that is no address, and for one that could hold a key.
    """
    if not base_url:
        return None
    try:
        parts = urlsplit(base_url)
        fits = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        fits = parts = None
    if parts and (parts.username or parts.password or parts.query):
        raise UsageError(
            "--base-url holds a password or a query, and it would be written into the run card; "
            "leave them out and set the key in the environment"
        )
    if not fits:
        raise UsageError(f"--base-url is an address such as 'http://127.0.0.1:8000/v1', not {base_url!r:.200}")
    return base_url.rstrip("/")


def on_this_machine(address: str) -> bool:
    """Whether an address is of this machine."""
    host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
