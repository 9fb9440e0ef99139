"""A world as an environment of OpenEnv. Each client that connects has a run of its own."""

# OpenEnv is not installed where types are checked.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Unpack

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field, WithJsonSchema
from starlette.responses import JSONResponse

from akinai import worlds
from akinai.api.opening import Session
from akinai.api.opening import open as open_session
from akinai.api.seat import Answer, Seat
from akinai.api.training.pools import episode_seed, reward_span
from akinai.core.chance import Split
from akinai.core.errors import AkinaiError, UsageError
from akinai.core.options import part_of
from akinai.core.worlds import World
from akinai.runtime.config.calls import with_options
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.front import Front, Guard, Listener
from akinai.runtime.options import EpisodeOptions, TrainingOptions
from akinai.runtime.sync import wait


class WorldAction(Action):
    """An action of the world, as a tool call."""

    name: str = Field(description="The tool, such as advance_day. What is no tool of the world is refused.")
    arguments: Annotated[Any, WithJsonSchema({"type": "object", "description": "Its arguments."})] = Field(
        default_factory=dict[str, Any]
    )
    """A value of any type: what is no object is refused, in words that a model can use."""
    text: str = Field(default="", description="Text beside the action, which the record keeps.")


class WorldObservation(Observation):
    """What the actor reads: at the reset what it sees, then the outcome of its action, with news."""

    text: str = Field(description="The text for the model.")
    ok: bool = Field(default=True, description="Whether the action was done; false when it was refused.")
    code: str | None = Field(default=None, description="Why it was refused, for programs.")
    actor: str | None = Field(default=None, description="Whose action is next.")
    offered: list[str] = Field(default_factory=list[str], description="Names of the tools that may be used now.")
    tools: list[dict[str, Any]] = Field(
        default_factory=list[dict[str, Any]], description="All tools of this game with their schemas, at the reset."
    )
    ending: str | None = Field(default=None, description="Why the run is over.")


class WorldState(State):
    """The run: `episode_id` is its name in the store."""

    world: str = Field(default="", description="The world with the version of its rules.")
    seed: int = Field(default=0, description="The seed of the run.")
    ending: str | None = Field(default=None, description="Why the run is over.")
    scores: dict[str, float] = Field(default_factory=dict[str, float], description="The scores, once the run is over.")


class WorldEnvironment(Environment[WorldAction, WorldObservation, WorldState]):
    """An episode is a run. The reward is what an action changed of the world's first score, in its unit."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, world: World[Any], options: TrainingOptions) -> None:
        """`options` of `akinai.open`, but for seed, name and resume, which `reset` takes."""
        super().__init__()
        self._world = world
        self._split: Split | None = options["split"]
        self._options: EpisodeOptions = part_of(EpisodeOptions, options)
        self._span = reward_span(world, options["reward"], options)
        self._seat: Seat[Session] | None = None
        self._steps = 0

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        resume: str | None = None,
        split: Split | None = None,
        **kwargs: Any,
    ) -> WorldObservation:
        """Begin a run with a seed, or without one on a new game; or go on with a run of the store, `resume`.

        With `split` ("train", "validation" or "test", by default that of the server) the seed is the number of a game
        of that pool. New games without it are of `train`.

        `episode_id` names the run, which is called NAME-SEED. UsageError for what cannot be played.
        """
        if kwargs:
            raise UsageError(f"reset takes seed, episode_id, split and resume, not {', '.join(map(str, kwargs))}")
        self.close()
        if resume is not None:
            session = open_session(resume=resume, store=self._options["store"])
        else:
            drawn = episode_seed(seed, split or self._split)
            session = open_session(self._world, seed=drawn, name=episode_id, **self._options)
            if session.resumed:
                session.close()
                raise UsageError(f"the episode {session.id!r} has begun before; reset with resume goes on with it")
        self._seat = seat = Seat(session)
        self._steps = 0
        return self._observation(Answer(seat.prompt(), ok=True, done=session.done), tools=seat.tools())

    def step(self, action: WorldAction, timeout_s: float | None = None, **kwargs: Any) -> WorldObservation:
        """Take an action. After the end the observation says so, with no reward."""
        seat = self._running()
        if seat.session.done:
            return self._observation(seat.over())
        outcome = seat.session.act(action.name, action.arguments, text=action.text)
        self._steps += 1
        return self._observation(seat.answer(outcome))

    @property
    def state(self) -> WorldState:
        """The run as it stands."""
        if self._seat is None:
            return WorldState(world=self._world.name)
        session = self._seat.session
        scores = {score.name: float(score.value) for score in session.scores()} if session.done else {}
        return WorldState(
            episode_id=session.id, step_count=self._steps, world=self._world.name, seed=session.seed,
            ending=session.ending, scores=scores,
        )  # fmt: skip

    def get_metadata(self) -> EnvironmentMetadata:
        """The world with the version of its rules."""
        name, _, version = self._world.name.partition("@")
        about = (self._world.__doc__ or name).strip().split("\n")[0]
        return EnvironmentMetadata(name=f"akinai-{name}", description=about, version=version)

    def close(self) -> None:
        """End the episode. Its run can be resumed if it is kept in a store and not over."""
        seat, self._seat = self._seat, None
        if seat is not None:
            seat.session.close()

    def _running(self) -> Seat[Session]:
        if self._seat is None:
            raise UsageError("there is no episode; reset first, and keep the connection open: /step alone forgets")
        return self._seat

    def _observation(self, answer: Answer, *, tools: Sequence[Any] = ()) -> WorldObservation:
        seat = self._running()
        return WorldObservation(
            text=answer.text, ok=answer.ok, code=answer.code, actor=seat.session.actor, offered=seat.offered(),
            tools=list(tools), ending=seat.session.ending, done=answer.done,
            reward=None if answer.reward is None else answer.reward / self._span,
        )  # fmt: skip


@with_options(TrainingOptions)
def make_app(world: str | World[Any], max_clients: int = 64, **options: Unpack[TrainingOptions]) -> Any:
    """The FastAPI application that serves a world, for a server of yours. Options as those of `akinai.open`.

    Runs are kept in `store`, by default in memory. `max_clients` is how many may be connected at once.
    """
    loaded = worlds.load(world) if isinstance(world, str) else world
    make = partial(WorldEnvironment, loaded, options)
    name = f"akinai-{loaded.name.partition('@')[0]}"
    app = create_app(
        make, WorldAction, WorldObservation, env_name=name, state_cls=WorldState, max_concurrent_envs=max_clients
    )
    app.add_exception_handler(AkinaiError, _refused)
    return app


async def _refused(_: object, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 422)


@with_options(TrainingOptions)
def serve(
    world: str | World[Any],
    max_clients: int = 64,
    port: int = 8000,
    allow_host: Sequence[str] = (),
    ready: Callable[[str], None] | None = None,
    **options: Unpack[TrainingOptions],
) -> None:
    """Serve a world on this machine until SIGTERM or SIGINT. Options as those of `make_app`.

    `allow_host` holds further names under which requests may come, as from a proxy. `ready` is called with the address
    when clients can connect. UsageError for a port that is in use.
    """
    app = make_app(world, max_clients, **options)

    async def serving_until_signal() -> None:
        with Front.at(Listener.OPENENV, "127.0.0.1", port) as front:
            async with front.serving(app, Guard(AllowedHosts(allow_host)), sockets=True) as serving:
                if ready:
                    ready(front.url)
                await serving.until_signal()

    with suppress(KeyboardInterrupt):
        wait(serving_until_signal())
