"""The changes of a PostgresStore: each is checked against a snapshot, and joins a batch or is refused."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from akinai.core.ledger import Entry
from akinai.core.stores import RunHeader, ScoreRecord, TraceRecord
from akinai.stores import duplicate_run, sequence_conflict, trace_conflict, unknown_run
from akinai.stores.header_rows import Row, header_row

EntryRow: TypeAlias = "tuple[str, str, str, str, str]"
"""Run, number, time, data and digest of an entry, all as text."""


@dataclass(slots=True)
class Snapshot:
    """The part of the database that a batch is checked against; changes of the batch update it."""

    last_seqs: dict[str, int] = field(default_factory=dict[str, int])
    """By run id, the number of the run's last entry, 0 for none."""
    run_ids: set[str] = field(default_factory=set[str])
    """All run ids; filled only when a change names an unknown run."""
    created: dict[str, int] = field(default_factory=dict[str, int])
    digests: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    call_times: dict[tuple[str, str, int], int] = field(default_factory=dict[tuple[str, str, int], int])
    """By run, actor and number of a call, its time."""

    def last_seq(self, run_id: str) -> int:
        """The number of a run's last entry. UnknownName when the run does not exist."""
        if run_id not in self.last_seqs:
            raise unknown_run(run_id, self.run_ids | self.last_seqs.keys())
        return self.last_seqs[run_id]


@dataclass(slots=True)
class Batch:
    """The rows that one transaction writes."""

    runs: list[Row] = field(default_factory=list[Row])
    entries: list[EntryRow] = field(default_factory=list[EntryRow])
    updates: dict[str, Row] = field(default_factory=dict[str, Row])
    trace: list[Row] = field(default_factory=list[Row])
    scores: dict[str, Row] = field(default_factory=dict[str, Row])
    last_seqs: dict[str, int] = field(default_factory=dict[str, int])
    """By id of a run that grows, the number of its new last entry."""


class Change(Protocol):
    """A change to the database."""

    @property
    def run_id(self) -> str: ...

    def __len__(self) -> int:
        """The number of rows it writes."""
        ...

    def join(self, batch: Batch, snapshot: Snapshot, in_doubt: bool) -> None:
        """Add the rows to the batch and update the snapshot. An AkinaiError refuses the change and leaves both alone.

        `in_doubt` means that the change was sent just before a connection was lost, so it may be committed already.
        If the snapshot shows that it is, nothing is added.
        """
        ...


@dataclass(frozen=True, slots=True)
class Create:
    """A new run. Refused where its id is taken."""

    run: RunHeader

    @property
    def run_id(self) -> str:
        return self.run.run_id

    def __len__(self) -> int:
        return 1

    def join(self, batch: Batch, snapshot: Snapshot, in_doubt: bool) -> None:
        if self.run_id in snapshot.last_seqs:
            if in_doubt and snapshot.created.get(self.run_id) == self.run.created_at:
                return
            raise duplicate_run(self.run_id)
        snapshot.last_seqs[self.run_id] = 0
        batch.runs.append(header_row(self.run))


@dataclass(frozen=True, slots=True)
class Append:
    """Entries after a run's last one. Refused where their numbers do not follow it."""

    run_id: str
    entries: Sequence[Entry]

    def __len__(self) -> int:
        return len(self.entries)

    def join(self, batch: Batch, snapshot: Snapshot, in_doubt: bool) -> None:
        last = snapshot.last_seq(self.run_id)
        if not self.entries:
            return
        first, final = self.entries[0], self.entries[-1]
        if in_doubt and snapshot.digests.get((self.run_id, final.seq)) == final.digest:
            return
        if first.seq != last + 1:
            raise sequence_conflict(self.run_id, last, first.seq)
        snapshot.last_seqs[self.run_id] = batch.last_seqs[self.run_id] = final.seq
        batch.entries.extend(
            (self.run_id, str(entry.seq), str(entry.at), entry.text, entry.digest) for entry in self.entries
        )


@dataclass(frozen=True, slots=True)
class Update:
    """The new header of an existing run. The genesis stays."""

    run: RunHeader

    @property
    def run_id(self) -> str:
        return self.run.run_id

    def __len__(self) -> int:
        return 1

    def join(self, batch: Batch, snapshot: Snapshot, in_doubt: bool) -> None:
        snapshot.last_seq(self.run_id)
        batch.updates[self.run_id] = header_row(self.run)


@dataclass(slots=True)
class AddTrace:
    """Model calls of a run. Refused where a number is taken."""

    run_id: str
    records: Sequence[TraceRecord]
    rows: Sequence[Row] = field(init=False)

    def __post_init__(self) -> None:
        # At once, because an agent goes on adding to the list of messages that it passed in.
        self.rows = [(self.run_id, record.actor, record.call, record.at, record.text) for record in self.records]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def keys(self) -> list[tuple[str, str, int]]:
        return [(self.run_id, record.actor, record.call) for record in self.records]

    def join(self, batch: Batch, snapshot: Snapshot, in_doubt: bool) -> None:
        snapshot.last_seq(self.run_id)
        times = {key: record.at for key, record in zip(self.keys, self.records, strict=True)}
        if in_doubt and times and all(snapshot.call_times.get(key) == at for key, at in times.items()):
            return
        seen: set[tuple[str, str, int]] = set()
        for key in self.keys:
            if key in snapshot.call_times or key in seen:
                raise trace_conflict(*key)
            seen.add(key)
        snapshot.call_times |= times
        batch.trace.extend(self.rows)


@dataclass(frozen=True, slots=True)
class KeepScores:
    """The scores of a run, which replace earlier ones."""

    record: ScoreRecord

    @property
    def run_id(self) -> str:
        return self.record.run_id

    def __len__(self) -> int:
        return 1

    def join(self, batch: Batch, snapshot: Snapshot, in_doubt: bool) -> None:
        snapshot.last_seq(self.run_id)
        batch.scores[self.run_id] = (self.run_id, self.record.digest, self.record.version, self.record.text)
