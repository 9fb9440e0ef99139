"""A world as a vector environment of Gymnasium: a batch of games, which are recorded only when asked."""

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from akinai.adapters.gymnasium.environment import CUT_SHORT
from akinai.adapters.gymnasium.spaces import ReplySpace, TextSpace
from akinai.api.seat import Seat
from akinai.api.training.batch import Batch, Game
from akinai.api.training.pools import episode_seed
from akinai.core.chance import Split
from akinai.core.worlds import World
from akinai.runtime.config.calls import complete_options, with_options
from akinai.runtime.options import BatchOptions, TrainingOptions
from akinai.worlds import load

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]
Rewards = np.ndarray[tuple[int], np.dtype[np.float64]]


class WorldVectorEnv(VectorEnv[tuple[str, ...], Sequence[str], Any]):
    """As many games as there are places, with the observations, actions and rewards of `WorldEnv`.

    A game that is over is followed by a new one of the pool at the next step. Nothing is recorded while they are
    played: `batch.record(i)` makes a run of the game in a place, before the step that follows its end.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # pyright: ignore[reportIncompatibleVariableOverride] - Gymnasium declares a variable of the instance and sets it on classes

    @with_options(TrainingOptions)
    def __init__(self, world: str | World[Any], num_envs: int = 1, **options: Unpack[TrainingOptions]) -> None:
        """The options of `WorldEnv`, for `num_envs` places; a `store` is that of `batch.record`."""
        self.num_envs = num_envs
        self._world = load(world) if isinstance(world, str) else world
        self._split: Split | None = options["split"]
        self.single_observation_space, self.single_action_space = TextSpace(), ReplySpace(self._world.verbs.classes)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        whole: Any = complete_options(BatchOptions, {**options, "n": num_envs})
        self.batch = Batch(self._world, whole)
        self._seats: list[Seat[Game]] = []
        self._over: Flags = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Begin a game in every place: with the seeds from `seed` on, with these seeds, or new ones of the pool."""
        first = seed if isinstance(seed, int) or seed is None else None
        super().reset(seed=first)
        seeds = [None] * self.num_envs if seed is None else seed
        numbers = range(seeds, seeds + self.num_envs) if isinstance(seeds, int) else seeds
        if len(numbers) != self.num_envs:
            raise ValueError(f"reset of {self.num_envs} places takes as many seeds, not {len(numbers)}")
        self._over = np.zeros(self.num_envs, np.bool_)
        self._seats = [self._begun(place, number) for place, number in enumerate(numbers)]
        infos: dict[str, Any] = {}
        for place, seat in enumerate(self._seats):
            infos = self._add_info(infos, {**_info(seat), "prompt": seat.prompt()}, place)
        return tuple(seat.look().text for seat in self._seats), infos

    def step(self, actions: Sequence[str]) -> tuple[tuple[str, ...], Rewards, Flags, Flags, dict[str, Any]]:
        """Take the action of a reply in every game, and begin a new one in the place of each that was over before."""
        if not self._seats:
            raise ResetNeeded("the environment has no episode; call reset()")
        again = self._over
        for place in np.flatnonzero(again):
            self._seats[place] = self._begun(int(place), None)
        stepped = self.batch.step([None if begun else text for begun, text in zip(again, actions, strict=True)])
        texts: list[str] = []
        infos: dict[str, Any] = {}
        for place, (seat, outcome) in enumerate(zip(self._seats, stepped.outcomes, strict=True)):
            texts.append(seat.look().text if outcome is None else seat.answer(outcome).text)
            infos = self._add_info(infos, _info(seat), place)
        self._over = np.array(stepped.done, np.bool_)
        truncated = np.array([seat.session.ending in CUT_SHORT for seat in self._seats], np.bool_)
        return tuple(texts), np.array(stepped.rewards, np.float64), self._over & ~truncated, truncated, infos

    def _begun(self, place: int, seed: int | None) -> Seat[Game]:
        return Seat(self.batch.begin(place, episode_seed(seed, self._split, self.np_random)))


def _info(seat: Seat[Game]) -> dict[str, Any]:
    game, outcome = seat.session, seat.session.outcome
    return {
        "actor": game.actor or "",
        "ok": outcome is None or outcome.ok,
        "code": (outcome and outcome.code) or "",
        "ending": game.ending or "",
    }
