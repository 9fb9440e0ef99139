"""The explanation of a run in its trace: values of branches as they are played, then the explanation itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from akinai.core.canonical import Json
from akinai.core.errors import SequenceConflict
from akinai.core.stores import Books, TraceBook, TraceRecord
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.reading import find_runs
from akinai.runtime.why.explanation import ConductCredit, Explanation

ACTOR = "(why)"
"""The actor of these trace records; no actor of a world has this name."""
VALUES, EXPLANATION = "why_values", "why"
"""Kinds of records."""


class Playable(Protocol):
    """A branch, or a finding in a future: what is played once for its value. It is hashable."""

    def to_json(self) -> list[Json]: ...


B = TypeVar("B", bound=Playable)


class WhyBook(Generic[B]):
    """The values of branches of one run and player, stored in the run's trace."""

    def __init__(self, book: TraceBook, run_id: str, key: str, read: Callable[[Sequence[Any]], B]) -> None:
        """`key` identifies the record and the player: values under another key are ignored. `read` reads a branch."""
        self._book, self._run, self._key, self._read = book, run_id, key, read
        self._last = 0
        self.values: dict[B, float] = {}

    async def load(self) -> None:
        """Read the stored values."""
        async for record in self._book.read_trace(self._run, ACTOR):
            self._last = max(self._last, record.call)
            data = cast("Mapping[str, Any]", record.data)
            if data.get("kind") == VALUES and data.get("key") == self._key:
                self.values |= {self._read(branch): value for branch, value in data["values"]}

    async def add(self, values: Mapping[B, float]) -> None:
        """Store the values of more branches."""
        if values:
            self.values |= values
            pairs: list[Json] = [[branch.to_json(), value] for branch, value in values.items()]
            await self._write({"kind": VALUES, "key": self._key, "values": pairs})

    async def conclude(self, explanation: Explanation) -> None:
        """Store the explanation."""
        await self._write({"kind": EXPLANATION, "explanation": explanation.to_json()})

    async def _write(self, data: Mapping[str, Json]) -> None:
        while True:
            self._last += 1
            try:
                return await self._book.add_trace(self._run, [TraceRecord(ACTOR, self._last, clock_us(), data)])
            except SequenceConflict:  # another process explains the same run
                async for record in self._book.read_trace(self._run, ACTOR):
                    self._last = max(self._last, record.call)


async def read_explanations(books: Books, names: Sequence[str]) -> list[Explanation]:
    """The stored explanations of runs and groups; runs without one are left out."""
    explanations: list[Explanation] = []
    for header in await find_runs(books, names):
        trace = [record async for record in books.read_trace(header.run_id, ACTOR)]
        explanation = explanation_in(trace, header.digest or "")
        if explanation is not None:
            explanations.append(explanation)
    return explanations


def explanation_in(trace: Iterable[TraceRecord], digest: str) -> Explanation | None:
    """The last explanation of decisions in a trace for the record with this final digest; None without one."""
    decisions = [explanation for explanation in _explanations(trace, digest) if explanation.conduct is None]
    return decisions[-1] if decisions else None


def conduct_gains_in(trace: Iterable[TraceRecord], digest: str) -> tuple[ConductCredit, ...] | None:
    """What the findings of conduct of a record gained, as far as that was asked; None where it never was."""
    studies = [explanation.conduct for explanation in _explanations(trace, digest) if explanation.conduct is not None]
    latest = {(row.type, row.actor, row.entry): row for rows in studies for row in rows}
    return tuple(latest.values()) if studies else None


async def read_conduct_gains(books: Books, run_id: str, digest: str) -> tuple[ConductCredit, ...] | None:
    """`conduct_gains_in` of the trace of a run."""
    return conduct_gains_in([record async for record in books.read_trace(run_id, ACTOR)], digest)


def _explanations(trace: Iterable[TraceRecord], digest: str) -> Iterator[Explanation]:
    """Yield the explanations of the record with this final digest, in the order in which they were stored."""
    for record in trace:
        data = record.data
        if record.actor != ACTOR or not isinstance(data, Mapping) or data.get("kind") != EXPLANATION:
            continue
        try:
            explanation = Explanation.from_json(data.get("explanation"))
        except ValueError:  # of another version
            continue
        if explanation.digest == digest:
            yield explanation
