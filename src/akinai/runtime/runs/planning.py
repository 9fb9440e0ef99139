"""Plans the runs of one command (seeds, names, headers) and writes the headers to a store."""

import asyncio
import platform
import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, cast

from akinai.core.actions import Action
from akinai.core.canonical import Json, short_digest
from akinai.core.chance import POOLS, Split, pooled_seed
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import CLIENT, LABEL, NAMED, OFFERED, PROGRAM, PROMPT, RunHeader, Store
from akinai.core.untrusted.documents import why_unportable
from akinai.core.worlds import World, participants, usable_verbs
from akinai.runtime.config.settings import Prepared
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.sweep import SweepPoint, names_of, sweep_of
from akinai.runtime.seal import Key

ALL = "agents"
"""The role of the agent in the header of a run in which it plays several sides."""
MOST_SEEDS = 100_000
LARGEST_SEED = 2**63 - 1

_NAME = re.compile(r"\w[\w.-]{0,79}")
_FIRST = "amber brisk calm clever copper early fair gentle golden honest keen lively lucky merry mild neat plain proud quiet ready sharp silver steady sunny swift tidy warm wise".split()  # noqa: E501 - a list of words
_SECOND = "anchor apron barrel basket bell bottle broom candle cart coin counter crate drawer fennel ginger jar kettle lantern ledger market melon mint orchard parcel pepper plum purse quince scale shelf stall teapot till wagon".split()  # noqa: E501 - a list of words


@dataclass(frozen=True, slots=True)
class Part:
    """One point of a sweep with its setup and agent; a command without a sweep has one."""

    point: SweepPoint
    prepared: Prepared
    spec: AgentSpec


def plan_all(
    world: World[Any],
    parts: Sequence[Part],
    seeds: Sequence[int],
    name: str,
    *,
    named: bool = False,
    key: Key | None = None,
) -> list[RunHeader]:
    """The runs of one command; each point of its sweep has a group name of its own. `named`, `key` as for `plan`."""
    headers: list[RunHeader] = []
    for part in parts:
        planned = plan(
            world, part.prepared, part.spec, seeds, checked_name(part.point.group(name)), named=named, key=key
        )
        card = part.point.card(name)
        later = len(headers)
        headers += [
            replace(header, card={**header.card, **card}, created_at=header.created_at + later) for header in planned
        ]
    return headers


def plan(
    world: World[Any],
    prepared: Prepared,
    spec: AgentSpec,
    seeds: Sequence[int],
    group: str,
    *,
    named: bool = False,
    key: Key | None = None,
) -> list[RunHeader]:
    """The runs of one group, called GROUP-SEED. `named`: a person gave the group its name. With a `key` the seeds are
    numbers of its sealed games, and runs are called by these."""
    geneses = [
        Genesis(world.name, key.seed_of(world.name, prepared.preset, seed) if key else seed, prepared.setup)
        for seed in seeds
    ]
    first = geneses[0]
    card = {**run_card(world.name, spec.agent, prepared.preset, prepared.preset_sha256), **spec.card()}
    card |= world.facets.presentation.card(prepared.setup)
    card |= {OFFERED: offered_digest(world, first) if spec.asks_model else None, NAMED: named}
    role = ALL if world.facets.sides.groups else next(iter(_first_actors(world, prepared)), "player")
    return [
        RunHeader(
            run_id=f"{group}-{seed}",
            genesis=genesis,
            agents={role: spec.agent},
            created_at=clock_us() + i,
            group=group,
            card={**card, **(key.sealed(seed).card() if key else {})},
        )
        for i, (seed, genesis) in enumerate(zip(seeds, geneses, strict=True))
    ]


def expect_actors(world: World[Any], prepared: Prepared) -> None:
    """UsageError for a setup in which nobody acts."""
    if not _first_actors(world, prepared):
        who = " or ".join(world.facets.sides.groups) or "an actor"
        raise UsageError(f"nobody acts in {world.name} under these settings, so nothing is played; let in {who}")


def _first_actors(world: World[Any], prepared: Prepared) -> Sequence[str]:
    return world.actors(world.begin(Genesis(world.name, 1, prepared.setup)))


_version = cache(version)


def run_card(world: str, agent: str, preset: str, preset_sha256: str) -> dict[str, Json]:
    """The provenance of a run: versions, preset and agent."""
    return {
        "akinai": _version("akinai"),
        "python": platform.python_version(),
        "world": world,
        "preset": preset,
        "preset_sha256": preset_sha256,
        "agent": agent,
        "model": None,
        "sampling": None,
        "playbook": None,
        LABEL: None,
        PROMPT: None,
        PROGRAM: None,
        OFFERED: None,
        NAMED: False,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def offered_digest(world: World[Any], genesis: Genesis) -> str:
    """Digest of the tools that those who take part in a run can use in its course, by their side."""
    state, seating = world.begin(genesis), world.facets.seating
    by_side = {seating.group(state, actor): actor for actor in participants(world, state)}
    return _tools_digest(tuple((side, tuple(usable_verbs(world, state, actor))) for side, actor in by_side.items()))


@lru_cache(maxsize=64)
def _tools_digest(sides: tuple[tuple[str, tuple[type[Action], ...]], ...]) -> str:
    return short_digest({side: [verb.tool() for verb in verbs] for side, verbs in sides})


async def begin_all(store: Store, headers: Sequence[RunHeader], joining: str = "") -> None:
    """Write the headers of all runs, or none: UsageError when a name is taken, unless by the sweep that they join."""
    expect_free([run for run in await store.runs() if not joining or sweep_of(run.card) != joining], headers)
    await asyncio.gather(*(store.create(header) for header in headers))


def expect_free(existing: Sequence[RunHeader], new: Sequence[RunHeader]) -> None:
    """Raise UsageError unless the new runs can join the existing ones.

    A name belongs to one run, to one group of runs that were played alike, or to one sweep.
    """
    ids, groups = {run.run_id for run in existing}, {run.group: run for run in existing if run.group}
    sweeps = {name for run in existing if (name := sweep_of(run.card))}
    for run in new:
        for name in names_of(run):
            if name in ids or (name in groups and name != run.group) or name in sweeps:
                kind = "run" if name in ids else "group of runs" if name in groups else "sweep"
                raise UsageError(f"there is a {kind} {name!r} already; choose another name, or 'akinai resume {name}'")
        other = groups.get(run.group) if run.group else None
        if other and _commitment(other) != _commitment(run):
            raise UsageError(
                f"the group {run.group!r} holds {other.game_words}, and here is {run.game_words}: one group has one "
                "key, or none; choose another name"
            )
        if other and _played_as(other) != _played_as(run):
            raise UsageError(
                f"the group {run.group!r} was played by {other.label or other.agent!r} in {other.genesis.world}"
                ", these are of another agent, label, model, prompt, program or playbook, or under other settings; "
                "choose another name"
            )


def _commitment(run: RunHeader) -> str | None:
    return run.sealed.commitment if run.sealed else None


def _played_as(run: RunHeader) -> tuple[object, ...]:
    """A key that is equal for runs that one group may hold."""
    # Names of agents without roles: older headers name the actor that acts first, which depends on the seed.
    card = tuple(run.card.get(name) for name in ("model", "sampling", "playbook", LABEL, PROMPT, PROGRAM, CLIENT))
    return run.genesis.world, run.genesis.setup, {*run.agents.values()}, run.parent is None, card


def fresh_name(existing: Sequence[RunHeader]) -> str:
    """A short readable name that no run, group or sweep has."""
    taken = names_in(existing)
    for _ in range(1000):
        name = f"{secrets.choice(_FIRST)}-{secrets.choice(_SECOND)}"
        if not _is_taken(name, taken):
            return name
    return numbered_name("run", taken)


def numbered_name(start: str, taken: Collection[str]) -> str:
    """The first free name of START-1, START-2, ..."""
    number = 1
    while _is_taken(f"{start}-{number}", taken):
        number += 1
    return f"{start}-{number}"


def _is_taken(name: str, taken: Collection[str]) -> bool:
    return any(other == name or other.startswith(f"{name}-") for other in taken)


def names_in(runs: Sequence[RunHeader]) -> set[str]:
    """The names of runs, groups and sweeps."""
    return {name for run in runs for name in names_of(run)}


def checked_name(name: str) -> str:
    """The name, if files, addresses and command lines can hold it. UsageError otherwise."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a run's name is letters, digits, '-', '_' and '.', at most 80 and no spaces, not {name!r:.100}"
        )
    if why := why_unportable(name):
        raise UsageError(why)
    return name


def seeds_in(text: str) -> list[int]:
    """Seeds as people write them: "7", "1-5", "1,3,10-12", or games of a pool for training, "train:1-10".

    UsageError says what is wrong.
    """
    return checked_seeds(_seeds(text))


def checked_seeds(seeds: Iterator[int] | Sequence[int]) -> list[int]:
    """The seeds as a list. UsageError for no seeds, too many, a duplicate, or a value that is no seed."""
    seen: dict[int, None] = {}
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:  # pyright: ignore[reportUnnecessaryIsInstance] - a caller's mistake is answered with a sentence
            raise UsageError(f"a seed is a whole number from 0 to 2^63 - 1, not {seed!r:.60}")
        if seed in seen:
            raise UsageError(f"seed {seed} is there twice; give each once")
        if len(seen) == MOST_SEEDS:
            raise UsageError(f"more seeds than the {MOST_SEEDS:,} that one command plays")
        seen[seed] = None
    if not seen:
        raise UsageError("no seeds; give at least one, such as 1 or 1-5")
    return list(seen)


def shard_of(seeds: Sequence[int], shard: str, name: str | None) -> list[int]:
    """The seeds of one shard: for "2/8" the 2nd, the 10th, the 18th and so on.

    UsageError for text that is no shard, for a shard without seeds, and without a `name`, which joins the shards.
    """
    match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", shard.strip())
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"a shard is I/N, such as 2/8 for the second of eight, not {shard!r:.60}")
    if count > len(seeds):
        there = "there is 1" if len(seeds) == 1 else f"there are {len(seeds)}"
        raise UsageError(f"{count} shards want {count} seeds or more, and {there}")
    if name is None:
        raise UsageError("a shard needs the name of the study, such as --name study: without it each shard has its own")
    return list(seeds[number - 1 :: count])


def _seeds(text: str) -> Iterator[int]:
    for piece in text.split(","):
        pool, colon, numbers = piece.strip().rpartition(":")
        if colon and pool not in POOLS:
            raise UnknownName("pool of seeds", pool, POOLS)
        low, dash, high = numbers.partition("-")
        if low.isdecimal() and (high.isdecimal() or not dash) and max(len(low), len(high)) > 19:
            raise UsageError(f"a seed is a whole number from 0 to 2^63 - 1, not {piece.strip():.60}")
        if not (low.isdecimal() and (high.isdecimal() or not dash)):
            raise UsageError(f"seeds are like 7, 1-5 or 1,3,10-12, not {text!r:.100}")
        first, last = int(low), int(high) if dash else int(low)
        if last < first:
            raise UsageError(f"the seeds {piece.strip()!r} run backwards; write {last}-{first}")
        if colon and not first:
            raise UsageError(f"the games of a pool are numbered from 1, and {piece.strip()!r} begins with 0")
        for number in range(first, last + 1):
            yield pooled_seed(cast("Split", pool), number) if colon else number
