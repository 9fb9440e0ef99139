"""A world as a parallel environment of PettingZoo: every actor is an agent. `WorldParallelEnv("market")`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Unpack, cast

import numpy as np

from akinai.api.seat import Answer, Seat, own_actors
from akinai.api.training.batch import Batch, Game
from akinai.api.training.pools import episode_seed
from akinai.core.agents import owner_of
from akinai.core.chance import Split
from akinai.core.errors import MissingExtra
from akinai.core.facets import SAME
from akinai.core.worlds import World
from akinai.runtime.config.calls import complete_options, with_options
from akinai.runtime.config.settings import Settings, assign
from akinai.runtime.options import BatchOptions, TrainingOptions
from akinai.runtime.runs.sweep import sweep_points
from akinai.worlds import load

try:
    from gymnasium.error import ResetNeeded
    from pettingzoo import ParallelEnv  # pyright: ignore[reportMissingTypeStubs] - it has none

    from akinai.adapters.gymnasium import ReplySpace, TextSpace
    from akinai.adapters.gymnasium.environment import CUT_SHORT
except ImportError as error:
    raise MissingExtra("a parallel environment", "pettingzoo", "pettingzoo") from error

__all__ = ["WorldParallelEnv"]


class WorldParallelEnv(ParallelEnv[str, str, str]):
    """A world whose actors are agents, with the observations, actions and rewards of `WorldEnv`.

    A step goes on while an agent is on turn whose action was not yet taken: agents act in the order of the game, each
    at most once, by what they read before. An agent is rewarded by its own part, such as a customer's utility, where
    the world has one. All stay until the game is over. Nothing is recorded; `game.record()` makes a run of the game.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "is_parallelizable": True}  # pyright: ignore[reportIncompatibleVariableOverride] - PettingZoo declares a variable of the instance

    @with_options(TrainingOptions)
    def __init__(self, world: str | World[Any], **options: Unpack[TrainingOptions]) -> None:
        """The options of `WorldEnv`; without `hold` everybody is an agent but those whom `settings` give a player."""
        self._world = load(world) if isinstance(world, str) else world
        hold = options["hold"] or _free_groups(self._world, options["settings"]) or None
        whole: Any = complete_options(BatchOptions, {**options, "hold": hold, "n": 1})
        self._batch = Batch(self._world, whole)
        self._split: Split | None = options["split"]
        self._random = np.random.default_rng()
        self.render_mode = None
        self._take_seats()
        self.possible_agents, self.agents = [*self._seats], list[str]()
        self._spaces = {agent: (TextSpace(), ReplySpace(self.game.verbs(agent))) for agent in self.possible_agents}

    @property
    def game(self) -> Game:
        """The game of this episode."""
        return self._batch.games[0]

    def observation_space(self, agent: str) -> TextSpace:
        """The space of an agent's observations."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> ReplySpace:
        """The space of an agent's replies; samples are actions of its side."""
        return self._spaces[agent][1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Begin a game with this seed, by default a new one of the pool `split`, or of `train`.

        `infos` hold the system prompt of Akinai's own chat agent for each agent.
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._batch.begin(0, episode_seed(seed, self._split, self._random))
        self._take_seats()
        self.agents = [*self._seats]
        infos = {agent: {**info, "prompt": self._seats[agent].prompt()} for agent, info in self._infos({}).items()}
        return self._texts(), infos

    def step(
        self, actions: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take the actions of those on turn. An agent may be left out: the step then ends where it would be on turn.

        `infos` say of each agent whether it has acted and whether it is on turn now. ResetNeeded after the end.
        """
        if not self.agents:
            raise ResetNeeded("the environment has no episode; call reset()")
        game, whole, left = self.game, 0.0, dict(actions)
        before = {agent: game.part(agent) for agent in self._seats}
        while game.actor and (agent := owner_of(game.actor)) in left:
            seat = self._seats[agent]
            self._answers[agent] = seat.answer(game.take(seat.read(left.pop(agent))))
            whole += game.reward
        acted = {agent: self._answers[agent] for agent in actions if agent not in left}
        self._read_on(acted)
        rewards = {agent: whole if part is None else (game.part(agent) or 0.0) - part for agent, part in before.items()}
        truncated = game.ending in CUT_SHORT
        terminations = dict.fromkeys(self._seats, game.done and not truncated)
        if game.done:
            self.agents = []
        return self._texts(), rewards, terminations, dict.fromkeys(self._seats, truncated), self._infos(acted)

    def _take_seats(self) -> None:
        self._seats = {agent: Seat(self.game, agent) for agent in own_actors(self.game)}
        self._answers = {agent: seat.look() for agent, seat in self._seats.items()}

    def _read_on(self, acted: Mapping[str, Answer]) -> None:
        """Let an agent on turn read how its last action came out, and at the end all read that the game is over."""
        game = self.game
        for agent, seat in self._seats.items():
            if game.done and agent not in acted:
                self._answers[agent] = seat.look()
            elif game.done and not acted[agent].done:
                self._answers[agent] = replace(
                    acted[agent], text=f"{acted[agent].text}\n\n{seat.look().text}", done=True
                )
            elif game.actor and owner_of(game.actor) == agent:
                self._answers[agent] = seat.look() if game.last is None else seat.answer(game.last)

    def _texts(self) -> dict[str, str]:
        return {agent: answer.text for agent, answer in self._answers.items()}

    def _infos(self, acted: Mapping[str, Answer]) -> dict[str, dict[str, Any]]:
        turn = owner_of(self.game.actor) if self.game.actor else None
        return {
            agent: {
                "turn": agent == turn,
                "acted": agent in acted,
                "ok": answer.ok,
                "code": answer.code,
                "ending": self.game.ending,
            }
            for agent, answer in self._answers.items()
        }


def _free_groups(world: World[Any], settings: Settings) -> list[str]:
    """The sides of a world for which settings name no agent and no model."""
    table: dict[str, Any] = {}
    for name, value in sweep_points(None, settings, world.setup)[0].settings.items():
        assign(table, name, value, world.setup)
    sides = {side: table.get(side) for side in world.facets.sides.groups}
    tables = {side: cast("dict[str, Any]", own) if isinstance(own, dict) else {} for side, own in sides.items()}
    return [side for side, own in tables.items() if own.get("agent", SAME) == SAME and not own.get("model")]
