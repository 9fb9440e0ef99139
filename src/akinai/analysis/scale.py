"""Scales: how idle and reference score on the seeds of a group, read from the store or played in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from akinai import worlds
from akinai.analysis.groups import first_header, settings_key
from akinai.analysis.readers import SCORES, Readers
from akinai.analysis.records import Scale
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader, Store
from akinai.runtime.config.settings import Prepared
from akinai.runtime.play.agent_spec import AgentSpec, spec_of
from akinai.runtime.runs.planning import plan
from akinai.runtime.runs.records import Run

LOW, HIGH = "idle", "reference"
MOST_SEEDS = 20
"""Seeds on which idle and reference are read or played for a scale by default."""
MOST_DAYS = 1_800
"""Days that each of the two plays for a scale by default, all seeds together."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run of idle or reference that a scale needs."""

    seed: int
    agent: str
    header: RunHeader
    stored: bool
    """Whether it is in the store; else it must be played."""


async def read_scales(
    readers: Readers,
    books: Store,
    groups: Mapping[str, Sequence[Run]],
    every_seed: bool | None,
    *,
    by_day: bool = False,
) -> dict[str, Scale]:
    """The scale of every group; groups with the same settings share what is read and played.

    `every_seed` True takes every seed, playing what the store does not have, False none, None a bounded number of
    seeds. `by_day` keeps the first score at the end of each day.
    """
    if every_seed is False:
        return {key: Scale(why_not="it was not asked for") for key in groups}
    alike: dict[str, list[str]] = {}
    for key, runs in groups.items():
        header = first_header(runs)
        alike.setdefault("" if header.damage else settings_key(header.genesis), []).append(key)
    scales: dict[str, Scale] = {}
    for keys in alike.values():
        header, runs = first_header(groups[keys[0]]), [run for key in keys for run in groups[key]]
        if reason := _reason_against(header):
            scales |= dict.fromkeys(keys, Scale(why_not=reason))
            continue
        baselines, played = await _baselines(readers, books, header, runs, every_seed, by_day=by_day)
        for key in keys:
            scales[key] = _scale(sorted({run.seed for run in groups[key]}), groups[key], baselines, played)
    return scales


def _reason_against(header: RunHeader) -> str | None:
    """The reason why idle and reference cannot play this game; None where they can."""
    if header.damage:
        return "its record cannot be read"
    try:
        world = worlds.load(header.genesis.world)
    except UsageError as error:
        return str(error)
    first = next(iter(world.facets.sides.seats), None)
    if first in spec_of(header).seated:
        return f"its settings say who plays {first}, so idle and reference would play nothing"
    missing = [name for name in (LOW, HIGH) if name not in world.players]
    if missing:
        return f"{world.name} has no player {' and no player '.join(map(repr, missing))}"
    return None


def _ends(header: RunHeader) -> tuple[str, ...]:
    """The players of a scale: idle, reference, and a yardstick where the world has one for such a game."""
    world = worlds.load(header.genesis.world)
    yardstick = world.facets.judging.yardstick(header.genesis.setup)
    return (LOW, HIGH, *([yardstick] if yardstick in world.players else []))


async def _baselines(
    readers: Readers,
    books: Store,
    header: RunHeader,
    runs: Sequence[Run],
    every_seed: bool | None,
    *,
    by_day: bool,
) -> tuple[dict[tuple[int, str], Run], set[int]]:
    """Idle and reference by seed, and the seeds on which one of them had to be played."""
    ends, geneses = _ends(header), {run.seed: run.header for run in runs}
    baselines = {
        (run.seed, run.header.player): run
        for run in runs
        if run.header.player in ends and run.state == "done" and not run.parent
    }
    seeds = sorted({run.seed for run in runs if run.measured})
    complete = {seed for seed in seeds if all((seed, agent) in baselines for agent in ends)}
    most = None if every_seed else max(0, _most_seeds(header) - len(complete))
    stored = {
        (candidate.seed, agent): candidate
        for candidate in await books.runs(status="done", agents=ends)
        if (agent := candidate.player) in ends
        and not candidate.parent
        and candidate.genesis.world == header.genesis.world
        and candidate.genesis.setup == header.genesis.setup
    }
    incomplete = {seed: geneses[seed] for seed in seeds if seed not in complete}
    needed = _needed(ends, incomplete, stored, most)
    needed = [baseline for baseline in needed if (baseline.seed, baseline.agent) not in baselines]
    detail = replace(SCORES, series=by_day)
    read = await readers.read([baseline.header for baseline in needed if baseline.stored], detail)
    to_play = [baseline for baseline in needed if not baseline.stored]
    played = await readers.play([baseline.header for baseline in to_play], detail)
    baselines |= {(run.seed, run.header.player): run for run in [*read, *played]}
    return baselines, {baseline.seed for baseline in to_play}


def _needed(
    ends: Sequence[str],
    seeds: Mapping[int, RunHeader],
    stored: Mapping[tuple[int, str], RunHeader],
    most: int | None,
) -> list[Baseline]:
    """The baselines to read or play, on at most `most` seeds; None is all. Seeds that need no playing are first.

    `seeds` has the header of a run on each, `ends` are the players of the scale, `stored` the headers of their runs.
    """
    at_hand = [seed for seed in seeds if all((seed, agent) in stored for agent in ends)]
    to_play = [seed for seed in seeds if seed not in set(at_hand) and _playable(seeds[seed].genesis)]
    return [
        Baseline(seed, agent, stored.get((seed, agent)) or _to_play(seeds[seed], agent), (seed, agent) in stored)
        for seed in [*at_hand, *to_play][:most]
        for agent in ends
    ]


def _playable(genesis: Genesis) -> bool:
    """Whether a game can be played here, and ends for a player that never stops."""
    return genesis.claimed is None and bool(genesis.setup.get("days") or genesis.setup.get("max_messages"))


def _most_seeds(header: RunHeader) -> int:
    """Seeds of a scale by default: as many as take little time."""
    days = header.genesis.setup.get("days", 0)
    return max(1, min(MOST_SEEDS, MOST_DAYS // days)) if isinstance(days, int) and days else MOST_SEEDS


def _to_play(like: RunHeader, agent: str) -> RunHeader:
    """The header of a player's run on the game of another run."""
    world = worlds.load(like.genesis.world)
    (header,) = plan(world, Prepared(like.genesis.setup, "", ""), AgentSpec(agent), [like.genesis.seed], agent)
    sealed = like.sealed.card() if like.sealed else {}
    return replace(header, run_id=f"{agent}-{like.number}", card={**header.card, **sealed})


def _scale(
    seeds: Sequence[int], own: Sequence[Run], baselines: Mapping[tuple[int, str], Run], played: Iterable[int]
) -> Scale:
    """The scale of a group, from the runs of idle and reference by seed."""
    measured_seeds = {run.seed for run in own if run.measured}
    seeds = [seed for seed in seeds if seed in measured_seeds]
    usable = [seed for seed in seeds if all(_finished(baselines.get((seed, agent))) for agent in (LOW, HIGH))]
    if not usable:
        return Scale(of=len(seeds), why_not="idle and reference were played on none of its seeds")
    covered, yardsticks = set(usable), _yardsticks(own, usable, baselines)
    return Scale(
        seeds=tuple(usable),
        of=len(seeds),
        played=tuple(sorted(covered & set(played))),
        idle=_means([baselines[seed, LOW] for seed in usable]),
        reference=_means([baselines[seed, HIGH] for seed in usable]),
        own=_means([_placed(run, baselines[run.seed, LOW]) for run in own if run.seed in covered and run.measured]),
        informed=_means(yardsticks),
        bound=_bound(own, usable),
        days=_days(usable, baselines),
    )


def _days(seeds: Sequence[int], baselines: Mapping[tuple[int, str], Run]) -> dict[str, dict[int, Sequence[float]]]:
    """The first score at the end of each day, by player and seed."""
    by_player: dict[str, dict[int, Sequence[float]]] = {}
    for (seed, agent), run in baselines.items():
        if seed in seeds and _finished(run) and (values := run.headline_by_day):
            by_player.setdefault(agent, {})[seed] = values
    return by_player


def _placed(run: Run, idle: Run) -> Run:
    """The run that counts on the scale: idle's for one that ended before its first day did, since it paid for none."""
    return idle if run.state == "done" and not run.days and idle.days else run


def _yardsticks(own: Sequence[Run], seeds: Sequence[int], baselines: Mapping[tuple[int, str], Run]) -> list[Run]:
    """The runs of the yardstick, if it was played on every seed."""
    names = _ends(first_header(own))[2:]
    runs = [baselines.get((seed, name)) for name in names for seed in seeds]
    return [run for run in runs if run is not None and _finished(run)] if all(map(_finished, runs)) else []


def _bound(own: Sequence[Run], seeds: Sequence[int]) -> float | None:
    """The mean over seeds of the score that nobody can expect to exceed; None where the world does not know it."""
    header = first_header(own)
    bound = worlds.load(header.genesis.world).facets.judging.bound
    geneses = {run.seed: run.header.genesis for run in own}
    if any(geneses[seed].claimed is not None for seed in seeds):
        return None
    bounds = [bound(replace(header.genesis, seed=geneses[seed].seed)) for seed in seeds]
    known_bounds = [value for value in bounds if value is not None]
    return fmean(known_bounds) if known_bounds and len(known_bounds) == len(bounds) else None


def _finished(run: Run | None) -> bool:
    return run is not None and run.state == "done"


def _means(runs: Sequence[Run]) -> dict[str, float]:
    """The mean of each score, every seed with the same weight."""
    by_seed: dict[int, list[Run]] = {}
    for run in runs:
        by_seed.setdefault(run.seed, []).append(run)
    means: dict[str, float] = {}
    for name in dict.fromkeys(score.name for run in runs for score in run.scores):
        values = [[run.value(name) for run in same] for same in by_seed.values()]
        readable = [[value for value in same if value is not None] for same in values]
        means[name] = fmean(fmean(same) for same in readable if same)
    return means
