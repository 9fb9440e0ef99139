"""The changes that a PostgresStore makes: each is judged against what is there, and joins a batch or refuses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from akinai.core.ledger import Entry
from akinai.core.stores import RunHeader
from akinai.core.trace import TraceRecord
from akinai.stores import sequence_conflict, taken_run, trace_conflict, unknown_run
from akinai.stores.headers import Row, row_of

Columns: TypeAlias = "tuple[str, str, str, str, str]"
"""Of an entry: its run, number, time, data and digest."""


@dataclass(slots=True)
class Known:
    """What the database holds of all that a batch asks about."""

    last: dict[str, int] = field(default_factory=dict[str, int])
    """Of each run that is there, the number of its last entry."""
    runs: set[str] = field(default_factory=set[str])
    """All run ids, when one was asked for that is not there."""
    created: dict[str, int] = field(default_factory=dict[str, int])
    digests: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    calls: dict[tuple[str, str, int], int] = field(default_factory=dict[tuple[str, str, int], int])
    """Run, actor and number of the calls that are there, and their times."""

    def expect(self, run_id: str) -> int:
        """The last number of a run. UnknownName when it is not there."""
        if run_id not in self.last:
            raise unknown_run(run_id, self.runs | self.last.keys())
        return self.last[run_id]


@dataclass(slots=True)
class Batch:
    """What a transaction writes."""

    runs: list[Row] = field(default_factory=list[Row])
    entries: list[Columns] = field(default_factory=list[Columns])
    updates: dict[str, Row] = field(default_factory=dict[str, Row])
    trace: list[Row] = field(default_factory=list[Row])
    heads: dict[str, int] = field(default_factory=dict[str, int])
    """The runs that grow, and the numbers they grow to."""


class Change(Protocol):
    """Something to be written."""

    run_id: str

    def __len__(self) -> int:
        """How many rows it has."""
        ...

    def judge(self, known: Known, batch: Batch, doubtful: bool) -> None:
        """Join the batch, and tell the changes behind it of it; nothing of either when it refuses with an AkinaiError.

        `doubtful`: it was sent when the connection was lost, and may be in. Then it does nothing if it is.
        """
        ...


@dataclass(slots=True)
class Create:
    run: RunHeader
    run_id: str = ""

    def __post_init__(self) -> None:
        self.run_id = self.run.run_id

    def __len__(self) -> int:
        return 1

    def judge(self, known: Known, batch: Batch, doubtful: bool) -> None:
        if self.run_id in known.last:
            if doubtful and known.created.get(self.run_id) == self.run.created_at:
                return
            raise taken_run(self.run_id)
        known.last[self.run_id] = 0
        batch.runs.append(row_of(self.run))


@dataclass(slots=True)
class Append:
    run_id: str
    entries: Sequence[Entry]

    def __len__(self) -> int:
        return len(self.entries)

    def judge(self, known: Known, batch: Batch, doubtful: bool) -> None:
        last = known.expect(self.run_id)
        if not self.entries:
            return
        first, final = self.entries[0], self.entries[-1]
        if doubtful and known.digests.get((self.run_id, final.seq)) == final.digest:
            return
        if first.seq != last + 1:
            raise sequence_conflict(self.run_id, last, first.seq)
        known.last[self.run_id] = batch.heads[self.run_id] = final.seq
        batch.entries.extend((self.run_id, str(one.seq), str(one.at), one.text, one.digest) for one in self.entries)


@dataclass(slots=True)
class Update:
    run: RunHeader
    run_id: str = ""

    def __post_init__(self) -> None:
        self.run_id = self.run.run_id

    def __len__(self) -> int:
        return 1

    def judge(self, known: Known, batch: Batch, doubtful: bool) -> None:
        known.expect(self.run_id)
        batch.updates[self.run_id] = row_of(self.run)


@dataclass(slots=True)
class AddTrace:
    run_id: str
    records: Sequence[TraceRecord]
    rows: Sequence[Row] = ()

    def __post_init__(self) -> None:
        # Now: an agent goes on adding to the list of messages that it handed in.
        self.rows = [(self.run_id, one.actor, one.call, one.at, one.text) for one in self.records]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def keys(self) -> list[tuple[str, str, int]]:
        return [(self.run_id, one.actor, one.call) for one in self.records]

    def judge(self, known: Known, batch: Batch, doubtful: bool) -> None:
        known.expect(self.run_id)
        times = {key: one.at for key, one in zip(self.keys, self.records, strict=True)}
        if doubtful and times and all(known.calls.get(key) == at for key, at in times.items()):
            return
        seen: set[tuple[str, str, int]] = set()
        for key in self.keys:
            if key in known.calls or key in seen:
                raise trace_conflict(*key)
            seen.add(key)
        known.calls |= times
        batch.trace.extend(self.rows)
