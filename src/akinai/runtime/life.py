"""The life of a run after its begin: resume, fork, replay, verify, diff, export."""

import csv
import io
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import LedgerError, UsageError
from akinai.core.ledger import Entry, Ledger, check_chain
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import walk
from akinai.runtime.experiment import Progress, play_one
from akinai.runtime.runs import DAY_US, read_ledger
from akinai.runtime.session import clock_us

GOES_ON = (None, "stopped", "script_over", "message_cap", "budget")
"""Endings after which a run can be resumed."""


async def resume(store: Store, header: RunHeader, progress: Progress | None = None) -> RunHeader:
    """Go on from the last entry. A run that ended in its world stays as it is."""
    if header.status == "done" and header.ending not in GOES_ON:
        return header
    return await play_one(store, header, progress)


async def fork(
    store: Store,
    header: RunHeader,
    *,
    name: str,
    at_day: int | None = None,
    after: int | None = None,
    agent: str | None = None,
) -> RunHeader:
    """Begin a run that shares the past of another up to a day's morning or an entry; it is then played by `resume`.

    Raises UsageError when the point is not in the past, or the name is taken.
    """
    entries = (await read_ledger(store, header)).entries
    point = _fork_point(header, entries, at_day, after)
    agents = {role: agent or old for role, old in header.agents.items()}
    forked = RunHeader(
        run_id=name,
        genesis=header.genesis,
        agents=agents,
        created_at=clock_us(),
        parent=f"{header.run_id}#{point}",
        card={**header.card, "agent": next(iter(agents.values()))},
    )
    await store.create(forked)
    await store.append(name, entries[:point])
    return forked


def _fork_point(header: RunHeader, entries: tuple[Entry, ...], at_day: int | None, after: int | None) -> int:
    """How many entries the fork shares."""
    if (at_day is None) == (after is None):
        raise UsageError("a fork begins either at a day (--at-day) or after an entry (--after)")
    if after is not None:
        if not 0 <= after <= len(entries):
            raise UsageError(f"{header.run_id} has entries 1 to {len(entries)}; it cannot be forked after {after}")
        return after
    world = worlds.load(header.genesis.world)
    start = world.now(world.begin(header.genesis))
    if start is None:
        raise UsageError(f"{world.name} has no days; fork it --after an entry")
    midnight = (start // DAY_US + (at_day or 0) - 1) * DAY_US
    shared = [entry for entry in entries if entry.at < midnight]
    if at_day is None or at_day < 1 or (shared and len(shared) == len(entries) and not _reaches(header, entries, midnight)):
        raise UsageError(f"{header.run_id} never reached day {at_day}")
    return len(shared)


def _reaches(header: RunHeader, entries: tuple[Entry, ...], midnight: int) -> bool:
    world = worlds.load(header.genesis.world)
    last = None
    for last in walk(world, header.genesis, entries):
        pass
    now = world.now(last.after) if last else None
    return now is not None and now >= midnight


def check_replay(ledger: Ledger) -> None:
    """Apply every recorded action again. ReplayMismatch names the first outcome that differs."""
    for _ in walk(worlds.load(ledger.genesis.world), ledger.genesis, ledger.entries, check=True):
        pass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a record is untouched."""

    ok: bool
    entry: int | None = None
    """The first entry at fault; 0 is the genesis."""
    why: str | None = None

    def to_json(self) -> dict[str, Json]:
        return {"ok": True} if self.ok else {"ok": False, "entry": self.entry, "why": self.why}


async def verify(store: Store, header: RunHeader) -> Verdict:
    """Whether the chain of digests holds from the genesis to the last entry that was known when the run was closed."""
    try:
        ledger = await read_ledger(store, header)
        digest = check_chain(ledger.genesis, ledger.entries)
    except LedgerError as error:
        return Verdict(False, error.entry, error.why)
    count = len(ledger.entries)
    if header.entries is not None and count < header.entries:
        return Verdict(False, count + 1, f"it is missing: the run had {header.entries} entries when it was closed")
    if header.entries == count and header.digest != digest:
        return Verdict(False, count, "it is not the entry with which the run was closed")
    return Verdict(True)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs part, and what the world was like then."""

    entry: int | None
    """The first entry that differs, 0 when the genesis does; None when the runs are equal."""
    a: Mapping[str, Json] | None
    """What the first run has there; None when it is over."""
    b: Mapping[str, Json] | None
    days: tuple[tuple[int, Mapping[str, Json], Mapping[str, Json]], ...]
    """Day, facts of the first run, facts of the second at the end of that day, for the days both played."""


def difference(a: Ledger, b: Ledger) -> Difference:
    """Compare two ledgers entry by entry, and their worlds day by day."""
    days_a, days_b = dict(facts_by_day(a)), dict(facts_by_day(b))
    common = sorted(days_a.keys() & days_b.keys())
    days = tuple((day, days_a[day], days_b[day]) for day in common)
    if a.genesis.digest != b.genesis.digest:
        return Difference(0, _genesis_told(a), _genesis_told(b), days)
    longest = max(len(a.entries), len(b.entries))
    for i in range(longest):
        one = a.entries[i] if i < len(a.entries) else None
        two = b.entries[i] if i < len(b.entries) else None
        if one is None or two is None or one.digest != two.digest:
            return Difference(i + 1, one.data if one else None, two.data if two else None, days)
    return Difference(None, None, None, days)


def _genesis_told(ledger: Ledger) -> dict[str, Json]:
    return {"world": ledger.genesis.world, "seed": ledger.genesis.seed, "genesis": ledger.genesis.digest}


def facts_by_day(ledger: Ledger) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """The world's facts when each day ended, and at the end of the record."""
    world = worlds.load(ledger.genesis.world)
    start = world.now(state := world.begin(ledger.genesis))
    if start is None:
        return
    day = 0
    for step in walk(world, ledger.genesis, ledger.entries):
        state, now = step.after, world.now(step.after)
        if now is not None and (passed := now // DAY_US - start // DAY_US) > day:
            day = passed
            yield day, world.facts(state)


def entry_json(run_id: str, entry: Entry) -> dict[str, Json]:
    """An entry in the ledger's shape, with its time in ISO 8601."""
    return {
        "run_id": run_id,
        "seq": entry.seq,
        "agent_id": entry.actor,
        "created_at": datetime.fromtimestamp(entry.at / 1e6, UTC).isoformat(),
        "data": entry.data,
        "digest": entry.digest,
    }


async def export_lines(store: Store, header: RunHeader, format: str) -> AsyncIterator[str]:
    """A run as lines of text: "jsonl" one entry a line, "csv" with a head line and the parameters as JSON."""
    if format == "csv":
        yield _csv_line(["run_id", "seq", "agent_id", "created_at", "action", "parameters", "is_error", "code", "content"])
    async for entry in store.read(header.run_id):
        told = entry_json(header.run_id, entry)
        if format == "jsonl":
            yield json.dumps(told, ensure_ascii=False)
            continue
        parameters, outcome = json.dumps(entry.parameters, ensure_ascii=False), entry.outcome
        row: list[Any] = [header.run_id, entry.seq, entry.actor, told["created_at"], entry.name, parameters]
        yield _csv_line([*row, not outcome.ok, outcome.code or "", outcome.text])


def _csv_line(row: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(row)
    return text.getvalue()

