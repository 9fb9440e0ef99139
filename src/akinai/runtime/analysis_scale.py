"""Where idle and reference stand on the seeds of a group: what the share of the way is measured on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.stores import RunHeader
from akinai.runtime.analysis import RunRecord, Scale
from akinai.runtime.cast import Cast
from akinai.runtime.config import Prepared
from akinai.runtime.experiment import plan

LOW, HIGH = "idle", "reference"
MOST_SEEDS = 20
"""On which idle and reference are read or played for a scale that nobody asked for."""
MOST_DAYS = 1_800
"""That each of the two plays for it."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run of idle or reference that a scale needs."""

    ground: str
    seed: int
    agent: str
    header: RunHeader
    stored: bool
    """It is in the store; else it must be played."""


def why_no_scale(header: RunHeader) -> str | None:
    """Why a game cannot be played for a scale; None where it can."""
    try:
        world = worlds.load(header.genesis.world)
    except UsageError as error:
        return str(error)
    missing = [name for name in (LOW, HIGH) if name not in world.players]
    if missing:
        return f"{world.name} has no player {' and no player '.join(map(repr, missing))}"
    return None


def endless(setup: Mapping[str, Json]) -> bool:
    """Whether a player that never stops might play a game for ever."""
    return not setup.get("days") and not setup.get("max_messages")


def wanted_of(
    ground: str, header: RunHeader, seeds: Sequence[int], stored: Mapping[tuple[int, str], RunHeader], most: int | None
) -> list[Baseline]:
    """The baselines of a ground that are to be read or played, on at most so many seeds; None is all.

    `header` is one of its runs, `stored` what the store has of idle and reference there. Seeds on which nothing must
    be played come first.
    """
    at_hand = [seed for seed in seeds if (seed, LOW) in stored and (seed, HIGH) in stored]
    to_play = [] if endless(header.genesis.setup) else [seed for seed in seeds if seed not in set(at_hand)]
    return [
        Baseline(
            ground, seed, agent, stored.get((seed, agent)) or _to_play(header, agent, seed), (seed, agent) in stored
        )
        for seed in [*at_hand, *to_play][:most]
        for agent in (LOW, HIGH)
    ]


def most_seeds(header: RunHeader) -> int:
    """On how many seeds a scale stands that nobody asked for: what takes little time."""
    days = header.genesis.setup.get("days", 0)
    return max(1, min(MOST_SEEDS, MOST_DAYS // days)) if isinstance(days, int) and days else MOST_SEEDS


def _to_play(like: RunHeader, agent: str, seed: int) -> RunHeader:
    world = worlds.load(like.genesis.world)
    (header,) = plan(world, Prepared(like.genesis.setup, "", ""), Cast(agent), [seed], agent)
    return header


def scale_of(
    seeds: Sequence[int],
    own: Sequence[RunRecord],
    baselines: Mapping[tuple[int, str], RunRecord],
    played: Iterable[int],
) -> Scale:
    """The scale of a group from what is known of idle and reference by seed."""
    known = {run.seed for run in own if not run.trouble}
    seeds = [seed for seed in seeds if seed in known]
    usable = [seed for seed in seeds if all(_fit(baselines.get((seed, agent))) for agent in (LOW, HIGH))]
    if not usable:
        return Scale(of=len(seeds), why_not="idle and reference were played on none of its seeds")
    chosen = set(usable)
    return Scale(
        seeds=tuple(usable),
        of=len(seeds),
        played=tuple(sorted(chosen & set(played))),
        idle=_means([baselines[seed, LOW] for seed in usable]),
        reference=_means([baselines[seed, HIGH] for seed in usable]),
        own=_means([run for run in own if run.seed in chosen and not run.trouble]),
    )


def _fit(run: RunRecord | None) -> bool:
    return run is not None and run.state == "done"


def _means(runs: Sequence[RunRecord]) -> dict[str, float]:
    """The mean of each score, every seed with the same weight."""
    by_seed: dict[int, list[RunRecord]] = {}
    for run in runs:
        by_seed.setdefault(run.seed, []).append(run)
    names = dict.fromkeys(score.name for run in runs for score in run.scores)
    means: dict[str, float] = {}
    for name in names:
        values = [[run.value(name) for run in same] for same in by_seed.values()]
        known = [[value for value in same if value is not None] for same in values]
        means[name] = fmean(fmean(same) for same in known if same)
    return means
