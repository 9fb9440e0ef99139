"""Experiments: one world, one agent, many seeds. Here runs are named, planned and begun."""

import asyncio
import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import World
from akinai.runtime.cast import Cast
from akinai.runtime.config import Prepared
from akinai.runtime.runs import run_card
from akinai.runtime.session import clock_us
from akinai.runtime.sweep import Arm, names_of, sweep_of

ALL = "agents"
"""Who is played by the agent, in the header of a run in which it plays several sides."""
MOST_SEEDS = 100_000
LARGEST_SEED = 2**63 - 1

_NAME = re.compile(r"\w[\w.-]{0,79}")
_FIRST = "amber brisk calm clever copper early fair gentle golden honest keen lively lucky merry mild neat plain proud quiet ready sharp silver steady sunny swift tidy warm wise".split()  # noqa: E501 - a list of words
_SECOND = "anchor apron barrel basket bell bottle broom candle cart coin counter crate drawer fennel ginger jar kettle lantern ledger market melon mint orchard parcel pepper plum purse quince scale shelf stall teapot till wagon".split()  # noqa: E501 - a list of words


@dataclass(frozen=True, slots=True)
class Part:
    """What one place of a sweep is played with; a command without a sweep has one."""

    arm: Arm
    prepared: Prepared
    cast: Cast


def plan_all(world: World[Any], parts: Sequence[Part], seeds: Sequence[int], name: str) -> list[RunHeader]:
    """The runs of one command: those of each place of its sweep under the place's own name."""
    headers: list[RunHeader] = []
    for part in parts:
        planned = plan(world, part.prepared, part.cast, seeds, checked_name(part.arm.group(name)))
        card = part.arm.card(name)
        later = len(headers)
        headers += [replace(one, card={**one.card, **card}, created_at=one.created_at + later) for one in planned]
    return headers


def plan(world: World[Any], prepared: Prepared, cast: Cast, seeds: Sequence[int], group: str) -> list[RunHeader]:
    """The runs of one command: GROUP-SEED for every seed, GROUP standing for them all."""
    card = {**run_card(world.name, cast.agent, prepared.preset, prepared.preset_sha256), **cast.card()}
    role = ALL if world.groups else _first(world, Genesis(world.name, seeds[0], prepared.setup))
    return [
        RunHeader(
            run_id=f"{group}-{seed}",
            genesis=Genesis(world.name, seed, prepared.setup),
            agents={role: cast.agent},
            created_at=clock_us() + i,
            group=group,
            card=card,
        )
        for i, seed in enumerate(seeds)
    ]


def _first(world: World[Any], genesis: Genesis) -> str:
    return next(iter(world.actors(world.begin(genesis))), "player")


async def begin_all(store: Store, headers: Sequence[RunHeader]) -> None:
    """Write the headers of all runs, or none: UsageError when a name is taken."""
    expect_free(await store.runs(), headers)
    await asyncio.gather(*(store.create(header) for header in headers))


def expect_free(known: Sequence[RunHeader], new: Sequence[RunHeader]) -> None:
    """UsageError unless the new runs can join the known ones: one name, one run or one group of like runs."""
    ids, groups = {run.run_id for run in known}, {run.group: run for run in known if run.group}
    sweeps = {name for run in known if (name := sweep_of(run.card))}
    for run in new:
        for name in names_of(run):
            other_kind = (name in groups and name != run.group) or name in sweeps
            if name in ids or other_kind:
                kind = "run" if name in ids else "group of runs" if name in groups else "sweep"
                raise UsageError(
                    f"there is a {kind} {name!r} already; choose another --name, or 'akinai resume {name}'"
                )
        other = groups.get(run.group) if run.group else None
        if other and _kind(other) != _kind(run):
            raise UsageError(
                f"the group {run.group!r} was played by {next(iter(other.agents.values()))!r} in {other.genesis.world}"
                ", these are of another agent, model or playbook, or under other settings; choose another --name"
            )


def _kind(run: RunHeader) -> tuple[object, ...]:
    # Only the agents' names: who acts first, under whom older headers have the agent, is drawn by the seed in a market.
    asked = tuple(run.card.get(name) for name in ("model", "sampling", "playbook"))
    return run.genesis.world, run.genesis.setup, {*run.agents.values()}, run.parent is None, asked


def fresh_name(known: Sequence[RunHeader]) -> str:
    """A short readable name that no run and no group has."""
    taken = names_in(known)
    for _ in range(1000):
        name = f"{secrets.choice(_FIRST)}-{secrets.choice(_SECOND)}"
        if not _stands_for(name, taken):
            return name
    return counted("run", taken)


def counted(start: str, taken: Collection[str]) -> str:
    """The first of START-1, START-2 ... that is free."""
    number = 1
    while _stands_for(f"{start}-{number}", taken):
        number += 1
    return f"{start}-{number}"


def _stands_for(name: str, taken: Collection[str]) -> bool:
    return any(one == name or one.startswith(f"{name}-") for one in taken)


def names_in(known: Sequence[RunHeader]) -> set[str]:
    """The names of runs, groups and sweeps."""
    return {name for run in known for name in names_of(run)}


def checked_name(name: str) -> str:
    """The name of a run as files, addresses and command lines can hold it. UsageError when it is none."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a run's name is letters, digits, '-', '_' and '.', at most 80 and no spaces, not {name!r:.100}"
        )
    return name


def seeds_in(text: str) -> list[int]:
    """Seeds as people write them: "7", "1-5", "1,3,10-12". UsageError says what is wrong."""
    return checked_seeds(_seeds(text))


def checked_seeds(seeds: Iterator[int] | Sequence[int]) -> list[int]:
    """Seeds that one command can play. UsageError for none, too many, one twice, or one that is no seed."""
    seen: dict[int, None] = {}
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
            raise UsageError(f"a seed is a whole number from 0 to 2^63 - 1, not {seed!r:.60}")
        if seed in seen:
            raise UsageError(f"seed {seed} is there twice; give each once")
        if len(seen) == MOST_SEEDS:
            raise UsageError(f"more seeds than the {MOST_SEEDS:,} that one command plays")
        seen[seed] = None
    if not seen:
        raise UsageError("no seeds; give at least one, such as 1 or 1-5")
    return list(seen)


def _seeds(text: str) -> Iterator[int]:
    for piece in text.split(","):
        low, dash, high = piece.strip().partition("-")
        if not (low.isdecimal() and (high.isdecimal() or not dash)) or max(len(low), len(high)) > 19:
            raise UsageError(f"seeds are like 7, 1-5 or 1,3,10-12, not {text!r:.100}")
        first, last = int(low), int(high) if dash else int(low)
        if last < first:
            raise UsageError(f"the seeds {piece.strip()!r} run backwards; write {last}-{first}")
        yield from range(first, last + 1)
