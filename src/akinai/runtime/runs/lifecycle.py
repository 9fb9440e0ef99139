"""The life cycle of a run after its start: resume, fork."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from akinai import worlds
from akinai.core.errors import UsageError
from akinai.core.ledger import DAY_US, Entry, Ledger
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import World, replay
from akinai.runtime.play.agent_spec import AGENT_SPEC, AgentSpec
from akinai.runtime.play.driver import SINCE
from akinai.runtime.play.model_pool import CALLS
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.planning import expect_free
from akinai.runtime.runs.reading import days_of, read_ledger
from akinai.runtime.runs.records import RESUMABLE, TRACEBACK


def can_resume(header: RunHeader) -> bool:
    """Whether a run can be continued: False once it ended in its world."""
    return header.status != "done" or header.ending in RESUMABLE


@dataclass(frozen=True, slots=True)
class Fork:
    """The header of a new run, and the entries that it shares with its parent."""

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
    spec: AgentSpec,
) -> Fork:
    """Plan a fork that shares a run's past up to a day's morning or an entry. UsageError for a point beyond it."""
    ledger = await read_ledger(store, header)
    point = _fork_point(header, ledger, at_day, after)
    role, old = next(iter(header.agents.items()))
    since = header.card.get(SINCE, 0)
    # A model's replies are in the trace of its own run, so a fork loads even its own past as a foreign one.
    same = spec.agent == old and spec.model is None
    foreign = min(point, since if isinstance(since, int) else 0) if same else point
    left_out = (SINCE, AGENT_SPEC, CALLS, TRACEBACK, "playbook")
    card = {name: value for name, value in header.card.items() if name not in left_out} | spec.card()
    forked = replace(
        header,
        run_id=name,
        agents={role: spec.agent},
        created_at=clock_us(),
        status="open",
        parent=f"{header.run_id}#{point}",
        group=group,
        ending=None,
        entries=point,
        digest=ledger.entries[point - 1].digest if point else ledger.genesis.digest,
        error=None,
        card=card | {SINCE: foreign} if foreign else card,
    )
    return Fork(forked, ledger.entries[:point])


async def begin_forks(store: Store, forks: Sequence[Fork]) -> None:
    """Write the forks with their past, or none: UsageError when a name is taken. `play_run` then continues them."""
    expect_free(await store.runs(), [fork.header for fork in forks])
    for fork in forks:
        # At once, so that a crash between the two is unlikely; after one, `resume` finds entries missing and refuses.
        await asyncio.gather(store.create(fork.header), store.append(fork.header.run_id, fork.past))


def _fork_point(header: RunHeader, ledger: Ledger, at_day: int | None, after: int | None) -> int:
    """The number of entries that the fork shares."""
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
    """The last day, from 1, that was played or can still be played."""
    steps = replay(world, ledger)
    return days_of(world, steps) + (world.ending(steps.final) is None)
