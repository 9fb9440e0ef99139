"""Trace: what was thought, kept beside what happened. It decides no state and enters no digest."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from akinai.core.canonical import Json, bad_text, canonical, settled
from akinai.core.stores import Store


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One call of a model, or one line of a log, by an actor."""

    actor: str
    call: int
    """The actor's n-th in its run, from 1."""
    at: int
    """Microseconds since the epoch, on the clock of the machine."""
    data: Json
    """Prompt, reply, tokens, latency: whatever there is to tell. Text in it is kept as it came."""

    @property
    def text(self) -> str:
        """The data as JSON text that every store can keep, half a surrogate pair from a model included."""
        text = canonical(self.data)
        if bad_text(text) is None:
            return text
        return json.dumps(settled(self.data), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @staticmethod
    def parse(actor: str, call: int, at: int, text: str) -> "TraceRecord":
        """A record from a store's JSON text. Raises ValueError when it is not JSON."""
        return TraceRecord(actor, call, at, json.loads(text))


class TraceBook(Protocol):
    """Keeps what was thought, by run, actor and call."""

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        """Add records, all or none; answered when they are durable.

        SequenceConflict when an actor's number is there already (gaps are allowed: calls may overlap),
        UnknownName for a run that is not there.
        """
        ...

    def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        """The records of a run, or of one actor in it, by actor and number. UnknownName as for `read`."""
        ...


class Books(Store, TraceBook, Protocol):
    """Both books in one place: what every shipped store is and what `open_store` gives."""
