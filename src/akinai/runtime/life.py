"""The life of a run after its begin: resume, fork, replay, verify."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import LedgerError, UsageError
from akinai.core.ledger import Entry, Ledger, check_chain
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import World, fold, walk
from akinai.runtime.cast import CAST, Cast
from akinai.runtime.experiment import expect_free
from akinai.runtime.play import SINCE
from akinai.runtime.runs import DAY_US, days_of, read_ledger
from akinai.runtime.session import clock_us
from akinai.runtime.stage import CALLS

GOES_ON = (None, "stopped", "script_over", "message_cap", "budget")
"""Endings after which a run can be resumed."""


def can_go_on(header: RunHeader) -> bool:
    """Whether there is anything left to play: not where the run ended in its world."""
    return header.status != "done" or header.ending in GOES_ON


@dataclass(frozen=True, slots=True)
class Fork:
    """A run to be, and the past that it shares."""

    header: RunHeader
    past: Sequence[Entry]


async def plan_fork(
    store: Store,
    header: RunHeader,
    name: str,
    *,
    group: str | None = None,
    at_day: int | None = None,
    after: int | None = None,
    cast: Cast,
) -> Fork:
    """A fork that shares a run's past up to a day's morning or an entry. UsageError when the point is not there."""
    ledger = await read_ledger(store, header)
    point = _fork_point(header, ledger, at_day, after)
    role, old = next(iter(header.agents.items()))
    since = header.card.get(SINCE, 0)
    # A model's replies stand in the trace of its own run, so in a fork even its own past is told to it.
    same = cast.agent == old and cast.model is None
    others = min(point, since if isinstance(since, int) else 0) if same else point
    left_out = (SINCE, CAST, CALLS, "playbook")
    card = {name: value for name, value in header.card.items() if name not in left_out} | cast.card()
    forked = replace(
        header,
        run_id=name,
        agents={role: cast.agent},
        created_at=clock_us(),
        status="open",
        parent=f"{header.run_id}#{point}",
        group=group,
        ending=None,
        entries=point,
        digest=ledger.entries[point - 1].digest if point else ledger.genesis.digest,
        error=None,
        card=card | {SINCE: others} if others else card,
    )
    return Fork(forked, ledger.entries[:point])


async def begin_forks(store: Store, forks: Sequence[Fork]) -> None:
    """Write the forks with their past, or none: UsageError when a name is taken. `play_one` then plays them on."""
    expect_free(await store.runs(), [fork.header for fork in forks])
    for fork in forks:
        # Together, so that hardly a crash comes between the two; if one does, `resume` misses entries and refuses.
        await asyncio.gather(store.create(fork.header), store.append(fork.header.run_id, fork.past))


def _fork_point(header: RunHeader, ledger: Ledger, at_day: int | None, after: int | None) -> int:
    """How many entries the fork shares."""
    if (at_day is None) == (after is None):
        raise UsageError("a fork begins either at a day (--at-day) or after an entry (--after); give one of them")
    count = len(ledger.entries)
    if after is not None:
        if not 0 <= after <= count:
            raise UsageError(f"{header.run_id} has entries 1 to {count}; it cannot be forked after {after}")
        return after
    world = worlds.load(ledger.genesis.world)
    start = world.now(world.begin(ledger.genesis))
    if start is None:
        raise UsageError(f"{world.name} has no days; fork it --after an entry")
    morning = (start // DAY_US + (at_day or 0) - 1) * DAY_US
    last = _last_day(world, ledger)
    if last < 1:
        raise UsageError(f"{header.run_id} was over within a day; fork it --after an entry")
    if at_day is None or not 1 <= at_day <= last:
        raise UsageError(f"{header.run_id} was played on days 1 to {last}; it cannot be forked at day {at_day}")
    return sum(entry.at < morning for entry in ledger.entries)


def _last_day(world: World[Any], ledger: Ledger) -> int:
    """The last day, from 1, that was played or could still be."""
    state = fold(world, ledger)
    return days_of(world, ledger.genesis, state) + (world.ending(state) is None)


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
        check_chain(ledger.genesis, ledger.entries)
    except LedgerError as error:
        return Verdict(False, error.entry, error.why)
    count = len(ledger.entries)
    if header.entries is not None and count < header.entries:
        return Verdict(False, count + 1, f"it is missing: the run had {header.entries} entries when it was closed")
    if header.digest and header.entries is not None:
        known = ledger.entries[header.entries - 1].digest if header.entries else ledger.genesis.digest
        if known != header.digest:
            return Verdict(False, header.entries, "it is not the entry with which the run was closed")
    return Verdict(True)
