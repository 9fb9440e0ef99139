"""Stores of ledgers. `open_store` finds the store for an address; each kind of store is in a module of its own.

The errors that every store raises are here too, so that their wording is the same everywhere.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from akinai.core.errors import SequenceConflict, StoreError, UnknownName, UsageError
from akinai.plugins import plugins

if TYPE_CHECKING:
    from akinai.core.ledger import Entry
    from akinai.core.stores import Books

__all__ = [
    "duplicate_run",
    "expect_consecutive",
    "expect_known",
    "open_store",
    "sequence_conflict",
    "store_closed",
    "trace_conflict",
    "unknown_run",
]
GROUP = "akinai.stores"


async def open_store(url: str, *, create: bool = True) -> "Books":
    """Open the store at `url`: "memory:", a path ("akinai.db", "/x/y.db"), "sqlite:///path", "postgresql://host/name".

    Other schemes come from the entry points `akinai.stores`: a class with `async open(url, *, create)`.
    With `create=False` nothing is created, and a store that does not exist is a UsageError. Raises UnknownName for an
    unknown scheme, StoreError when the location cannot be used, StoreVersion for a store of a newer Akinai.
    A store belongs to one process: open it after a fork, never before.
    """
    scheme = expect_known(url)
    try:
        kind = plugins(GROUP)[scheme].load()
    except ImportError as error:
        extra = f': pip install "akinai[{scheme}]"' if scheme == "postgres" else ""
        raise UsageError(f"the store {scheme!r} cannot be loaded ({error}); install what it needs{extra}") from error
    return await kind.open(url, create=create)


def expect_known(url: str) -> str:
    """The scheme of an address. UsageError for an empty address, UnknownName for a scheme without a store."""
    scheme, schemes = _scheme(url), plugins(GROUP)
    if scheme not in schemes:
        missing = "support for PostgreSQL is not installed" if scheme == "postgres" else ""
        raise UnknownName("store", scheme, schemes, missing or "a file with ':' in its name is written './a:b.db'")
    return scheme


def _scheme(url: str) -> str:
    if not url:
        raise UsageError("the store has no address; give a path such as 'akinai.db', or 'memory:'")
    if url == ":memory:":
        raise UsageError("':memory:' is not a store here; write 'memory:'")
    # One letter before the colon is a Windows drive.
    prefix = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", url)
    if prefix is None:
        return "sqlite"
    scheme = prefix[1].lower()
    return "postgres" if re.fullmatch(r"postgres(ql)?(\+\w+)?", scheme) else scheme


def unknown_run(run_id: str, run_ids: Iterable[str]) -> UnknownName:
    """The error for a run that is not in the store."""
    return UnknownName("run", run_id, run_ids, "'akinai runs' lists all")


def duplicate_run(run_id: str) -> UsageError:
    """The error for creating a run under an id that is taken."""
    return UsageError(f"there is a run {run_id!r} already; choose another name, or go on with 'akinai resume {run_id}'")


def sequence_conflict(run_id: str, last: int, seq: int) -> SequenceConflict:
    """The error for appending entry `seq` after entry `last`."""
    error = SequenceConflict(
        f"run {run_id!r} takes entry {last + 1} next, not {seq}; if another process writes it, read it again first"
    )
    error.last = last
    return error


def expect_consecutive(run_id: str, entries: "Sequence[Entry]") -> int:
    """Check that the entries of an append are numbered without a gap; SequenceConflict otherwise.

    Returns the number of the first entry, 0 when there is none.
    """
    first = entries[0].seq if entries else 0
    for seq, entry in enumerate(entries, first):
        if entry.seq != seq:
            raise sequence_conflict(run_id, seq - 1, entry.seq)
    return first


def trace_conflict(run_id: str, actor: str, call: int) -> SequenceConflict:
    """The error for a trace record whose number its actor has used already."""
    return SequenceConflict(
        f"the trace of run {run_id!r} holds call {call} of {actor!r} already; give it the next number"
    )


def store_closed(url: str) -> StoreError:
    """The error for using a store after it was closed."""
    return StoreError(f"the store {url!r} is closed; open it again")
