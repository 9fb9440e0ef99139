"""A world as a Gymnasium environment."""

from typing import Any, ClassVar, Unpack

import gymnasium
from gymnasium.error import ResetNeeded

from akinai import worlds
from akinai.adapters.gymnasium.spaces import ReplySpace, TextSpace
from akinai.api.opening import Session
from akinai.api.opening import open as open_session
from akinai.api.seat import Seat
from akinai.api.training.pools import episode_seed, reward_span
from akinai.core.chance import Split
from akinai.core.options import part_of
from akinai.core.worlds import World
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import EpisodeOptions, TrainingOptions

CUT_SHORT = ("message_cap", "stuck", "unreadable")
"""Endings that a limit of the session made, not the world: the episode is truncated."""


class WorldEnv(gymnasium.Env[str, str]):
    """An episode is a run. An observation is what the actor reads, an action is its reply: a JSON object such as
    {"action": "wait_until", "hour": 9}, also with prose around it. What cannot be read is refused.

    Where several actors are held, the action is that of the actor in `info["actor"]`. `info` also holds the tools that
    are offered now, and `ok` and `code` of the last outcome. The reward is in the unit of the world's first score, or
    with `reward="scaled"` in parts of the way from idle to the world's first player.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}  # pyright: ignore[reportIncompatibleVariableOverride] - Gymnasium declares a variable of the instance and sets it on classes

    @with_options(TrainingOptions)
    def __init__(
        self, world: str | World[Any], render_mode: str | None = None, **options: Unpack[TrainingOptions]
    ) -> None:
        """The options of `akinai.open`. Episodes are kept in `store`, by default in memory. With `split` the seeds of
        `reset` are numbers of the games of that pool."""
        self.render_mode = render_mode
        self._world = worlds.load(world) if isinstance(world, str) else world
        self._options: EpisodeOptions = part_of(EpisodeOptions, options)
        self._split: Split | None = options["split"]
        self._span = reward_span(self._world, options["reward"], options)
        self.observation_space = TextSpace()
        self.action_space = ReplySpace(self._world.verbs.classes)
        self._seat: Seat[Session] | None = None
        self._read = ""

    @property
    def session(self) -> Session:
        """The session of this episode: its run, scores and actors. ResetNeeded before the first."""
        return self._running().session

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a run with this seed, by default a new game of the pool `split`, or of `train`; or go on with a run of
        the store: {"resume": RUN}.

        `info["prompt"]` is the system prompt of Akinai's own chat agent.
        """
        super().reset(seed=seed)
        self.close()
        if resume := (options or {}).get("resume"):
            session = open_session(resume=resume, store=self._options["store"])
        else:
            session = open_session(self._world, seed=episode_seed(seed, self._split, self.np_random), **self._options)
        self._seat = Seat(session)
        self._read = self._seat.look().text
        return self._read, {**self._info(), "prompt": self._seat.prompt()}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the action of a reply. ResetNeeded after the end."""
        if self.session.done:
            raise ResetNeeded(f"the run is over ({self.session.ending}); call reset()")
        self._read = self.session.reply(action)
        truncated, reward = self.session.ending in CUT_SHORT, float(self.session.reward) / self._span
        return self._read, reward, self.session.done and not truncated, truncated, self._info()

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride] - Gymnasium's type leaves None out
        """The last observation, in the mode "ansi"."""
        return self._read if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the episode. Its run can be resumed if it is kept in a store and not over."""
        seat, self._seat = self._seat, None
        if seat is not None:
            seat.session.close()

    def _running(self) -> Seat[Session]:
        if self._seat is None:
            raise ResetNeeded("the environment has no episode; call reset()")
        return self._seat

    def _info(self) -> dict[str, Any]:
        seat, session, outcome = self._running(), self.session, self.session.outcome
        return {
            "actor": session.actor,
            "tools": seat.offered(),
            "ok": outcome is None or outcome.ok,
            "code": outcome and outcome.code,
            "ending": session.ending,
        }
