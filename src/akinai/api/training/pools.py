"""Games and rewards for trainers: which seed an episode has, and what a reward is divided by."""

import secrets
from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

from numpy.random import Generator

from akinai.api.play import run
from akinai.api.session import first_score
from akinai.core.canonical import Json
from akinai.core.chance import POOLS, Split, pooled_seed
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Genesis, Ledger
from akinai.core.worlds import World
from akinai.runtime.config.settings import prepare
from akinai.runtime.options import Reward, Seeds
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.runs.planning import checked_seeds, seeds_in

IDLE = "idle"
SCALED = "scaled"
SCALE_GAMES = 4
"""Games of the pool `train` on which the two ends of scaled rewards are played, once for each setup."""
_SPANS: dict[tuple[str, str], float] = {}


def episode_seed(seed: int | None, split: Split | None, random: Generator | None = None) -> int:
    """The seed itself; with `split` that of the pool's game of this number. Without one that of a new game of a pool,
    by default `train`, which `random` draws. UnknownName for another pool."""
    if seed is None:
        seed, split = secrets.randbits(63) if random is None else int(random.integers(2**62)), split or "train"
    if split is None:
        return seed
    if split not in POOLS:
        raise UnknownName("split", split, POOLS)
    (number,) = checked_seeds([seed])
    return pooled_seed(split, number)


def episode_seeds(seeds: Seeds | None, split: Split | None) -> tuple[Iterator[int], int | None]:
    """The seeds of one episode after another, and how many differ: those that are named, again and again, or without
    any new games of a pool without end."""
    if seeds is None:
        return iter(lambda: episode_seed(None, split), None), None
    numbers = (
        seeds_in(seeds) if isinstance(seeds, str) else checked_seeds([seeds] if isinstance(seeds, int) else [*seeds])
    )
    return cycle(episode_seed(number, split) for number in numbers), len(numbers)


def reward_span(world: World[Any], reward: Reward, options: Any) -> float:
    """What rewards are divided by: 1, or for "scaled" what the world's first player gains beyond `idle`, or beyond the
    start where nobody is idle, in the mean of a few games of the pool `train`. UsageError where that is nothing."""
    if reward == "score":
        return 1.0
    if reward != SCALED:
        raise UnknownName("reward", reward, ("score", SCALED))
    game = {name: options[name] for name in ("preset", "days", "settings")}
    prepared = prepare(world, preset=game["preset"], days=game["days"], settings=game["settings"] or ())
    key = world.name, repr(prepared.setup)
    if key not in _SPANS:
        _SPANS[key] = _span(world, game, prepared.setup)
    return _SPANS[key]


def _span(world: World[Any], game: dict[str, Any], setup: Mapping[str, Json]) -> float:
    seeds = [pooled_seed("train", number) for number in range(SCALE_GAMES)]
    began = sum(first_score(world, Ledger(Genesis(world.name, seed, setup))) for seed in seeds)
    gains = [
        sum(played.scores[0].value for played in run(world, agent=agent, seeds=seeds, ledgers=False, **game)) - began
        for agent in (default_agent(world), IDLE)
        if agent in world.players
    ]
    span = (gains[0] - sum(gains[1:])) / SCALE_GAMES
    if span <= 0:
        raise UsageError(f"rewards of {world.name} cannot be scaled: its first player gains nothing in games like this")
    return span
