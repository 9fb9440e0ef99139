"""MemoryStore, which keeps ledgers as long as the process runs, for tests and trials."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from akinai.core.errors import UsageError
from akinai.core.ledger import Entry, chain_end
from akinai.core.stores import CoveringScores, RunHeader, ScoreRecord, Status, TraceRecord, sweep_name
from akinai.stores import duplicate_run, sequence_conflict, store_closed, trace_conflict, unknown_run


@dataclass(slots=True)
class _Run:
    header: RunHeader
    entries: list[Entry] = field(default_factory=list[Entry])
    trace: dict[tuple[str, int], TraceRecord] = field(default_factory=dict[tuple[str, int], TraceRecord])
    scores: ScoreRecord | None = None


class MemoryStore:
    """Keeps runs in this process, for one event loop. Nothing is written to disk."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._closed = False

    @classmethod
    async def open(cls, url: str = "memory:", *, create: bool = True) -> "MemoryStore":
        """A new, empty store, whatever `create` says: an existing one cannot be found again."""
        if url != "memory:":
            raise UsageError(f"a store in memory has no place {url!r}; write 'memory:'")
        return cls()

    async def create(self, run: RunHeader) -> None:
        self._check_open()
        if run.run_id in self._runs:
            raise duplicate_run(run.run_id)
        self._runs[run.run_id] = _Run(run)

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        stored = self._run(run_id).entries
        for last, entry in enumerate(entries, len(stored)):
            if entry.seq != last + 1:
                raise sequence_conflict(run_id, last, entry.seq)
        stored.extend(entries)

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        index = max(after, 0)
        # The run is looked up anew each time: while the reader waits it may grow, and the store may close.
        while index < len(entries := self._run(run_id).entries):
            yield entries[index]
            index += 1

    async def header(self, run_id: str) -> RunHeader:
        return self._run(run_id).header

    async def runs(
        self,
        *,
        group: str | None = None,
        status: Status | None = None,
        limit: int | None = None,
        agents: Sequence[str] | None = None,
    ) -> Sequence[RunHeader]:
        self._check_open()
        headers = [run.header for run in self._runs.values() if status in (None, run.header.status)]
        if agents is not None:
            headers = [header for header in headers if not {*agents}.isdisjoint(header.agents.values())]
        in_group = [header for header in headers if group is None or group in (header.group, sweep_name(header.card))]
        in_order = sorted(in_group, key=lambda header: header.created_at)
        return in_order if limit is None else in_order[max(0, len(in_order) - limit) :]

    async def update(self, run: RunHeader) -> None:
        stored = self._run(run.run_id)
        stored.header = replace(run, genesis=stored.header.genesis)

    async def add_trace(self, run_id: str, records: Sequence[TraceRecord]) -> None:
        trace = self._run(run_id).trace
        new: dict[tuple[str, int], TraceRecord] = {}
        for record in records:
            if (key := (record.actor, record.call)) in trace or key in new:
                raise trace_conflict(run_id, *key)
            # A copy, because an agent goes on adding to the list of messages that it passes in.
            new[key] = TraceRecord.parse(record.actor, record.call, record.at, record.text)
        trace.update(new)

    async def read_trace(self, run_id: str, actor: str | None = None) -> AsyncIterator[TraceRecord]:
        for key, record in sorted(self._run(run_id).trace.items()):
            if actor is None or key[0] == actor:
                yield record

    async def keep_scores(self, records: Sequence[ScoreRecord]) -> None:
        for run, record in [(self._run(record.run_id), record) for record in records]:
            run.scores = record

    async def kept_scores(self, run_id: str) -> ScoreRecord | None:
        self._check_open()
        return self._runs[run_id].scores if run_id in self._runs else None

    async def covering_scores(self, starts: Mapping[str, str]) -> Sequence[CoveringScores]:
        self._check_open()
        covering: list[CoveringScores] = []
        for run in (self._runs[run_id] for run_id in starts if run_id in self._runs):
            rows = ((entry.seq, entry.at, entry.text, entry.digest) for entry in run.entries)
            if run.scores is not None and chain_end(starts[run.scores.run_id], rows) == run.scores.digest:
                covering.append(CoveringScores(run.scores, len(run.entries), bool(run.trace)))
        return covering

    async def forget(self, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            self._run(run_id)
        for run_id in run_ids:
            self._runs.pop(run_id, None)

    async def close(self) -> None:
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise store_closed("memory:")

    def _run(self, run_id: str) -> _Run:
        self._check_open()
        if run_id not in self._runs:
            raise unknown_run(run_id, self._runs)
        return self._runs[run_id]
