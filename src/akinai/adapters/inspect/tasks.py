"""A task for every world: seeds are samples, Inspect's model plays, the world's scores are the scores.

Inspect finds them by the entry point `inspect_ai`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import anyio

from akinai import worlds
from akinai.adapters.inspect.framework import (
    ChatMessageSystem,
    ChatMessageUser,
    MemoryDataset,
    PrerequisiteError,
    Sample,
    Score,
    Task,
    collect,
    mean,
    scorer,
    solver,
    span,
    stderr,
    task,
)
from akinai.adapters.inspect.player import Player
from akinai.agents.chat import OPENING, ChatOptions
from akinai.api.opening import aopen, plan_session
from akinai.api.seat import Seat, own_actors
from akinai.core.errors import AkinaiError, UsageError
from akinai.core.ledger import Genesis
from akinai.core.options import part_of
from akinai.core.worlds import World, participants
from akinai.runtime.config.calls import complete_options, with_options
from akinai.runtime.config.settings import prepare
from akinai.runtime.export.eval_log.sample import FINDINGS, SCORER, sample_id, scores_document
from akinai.runtime.options import EpisodeOptions, OpenOptions, TaskOptions
from akinai.runtime.play.agent_registry import SESSION_AGENT
from akinai.runtime.play.agent_spec import limited
from akinai.runtime.runs.planning import checked_seeds, seeds_in
from akinai.runtime.runs.reading import Detail, score_run

PLAYED = "akinai/scores"
"""The key of a sample's store that holds the scores of its run."""


@with_options(TaskOptions)
def make_task(name: str, **options: Unpack[TaskOptions]) -> Any:
    """The task of a world. UsageError for options that do not fit.

    `seeds` are like "1-5"; `settings` "name=value", several with commas; `hold` the actors or groups that the model
    plays, each in a conversation of its own, by default all whom neither the world nor a setting gives a player.
    Runs are kept in `store`, by default in memory.
    """
    world, settings = worlds.load(name), _settings(options["settings"])
    prepared = prepare(world, preset=options["preset"], days=options["days"], settings=settings)
    geneses = [Genesis(world.name, seed, prepared.setup) for seed in _seeds(options["seeds"])]
    hold = _listed(options["hold"])
    episode: EpisodeOptions = part_of(EpisodeOptions, {**options, "settings": settings, "hold": hold})
    opening: Any = complete_options(OpenOptions, {**episode, "seed": geneses[0].seed})
    plan_session(world, SESSION_AGENT, opening)
    limits = limited(ChatOptions(window_tokens=options["window_tokens"]), prepared.setup)
    samples = [
        Sample(id=sample_id(genesis.seed), input=_view(world, genesis), metadata={"seed": genesis.seed})
        for genesis in geneses
    ]
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=play(world.name, episode, limits.window_tokens, limits.max_replies),
        scorer=[scores(), findings()],
        version=world.name.partition("@")[2],
        metadata={"settings_digest": geneses[0].settings_digest},
    )


def _seeds(seeds: Any) -> Sequence[int]:
    """Seeds as Inspect's command line gives them: a text, a number, or a list of either."""
    if isinstance(seeds, str):
        return seeds_in(seeds)
    if isinstance(seeds, int):
        return checked_seeds([seeds])
    return seeds_in(",".join(map(str, seeds)))


def _settings(settings: Any) -> Mapping[str, Any] | Sequence[str]:
    return settings if isinstance(settings, Mapping) else _listed(settings) or ()  # pyright: ignore[reportUnknownVariableType] - from outside


def _listed(value: Any) -> list[str] | None:
    """A list from a list or a text with commas; None for nothing."""
    if isinstance(value, str):
        return value.split(",")
    return [str(item) for item in value] if value else None


def _view(world: World[Any], genesis: Genesis) -> str:
    """The view of the first actor at the beginning."""
    state = world.begin(genesis)
    actors = participants(world, state)
    return world.view(state, actors[0]).text if actors else ""


@solver(name="akinai_play")
def play(world: str, options: EpisodeOptions, window_tokens: int, max_replies: int = 0) -> Any:
    """Plays the run of a sample's seed to its end, to one of Inspect's limits, or to the replies that the game allows.

    `max_replies` 0 is no cap.
    """

    async def solve(state: Any, generate: Any) -> Any:
        player: EpisodeOptions = {**options, "agent": options["agent"] or "inspect", "model": str(state.model)}
        session = await aopen(world.partition("@")[0], seed=state.metadata["seed"], **player)
        state.metadata["run"] = session.id
        actors = own_actors(session)
        try:
            if len(actors) == 1:
                seat = Seat(session)
                state.messages = _head(seat)
                output = await Player(seat, state.messages, window_tokens, max_replies).play(state.messages)
                state.output = output or state.output
            else:
                await collect(*(_play_seat(Seat(session, actor), window_tokens, max_replies) for actor in actors))
        finally:
            # Also when a limit cancels the sample: it is scored as the run stands.
            with anyio.CancelScope(shield=True):
                await session.close()
                run = await session.run()
                detail = Detail(judged=True, findings=True)
                state.store.set(PLAYED, scores_document(score_run(run.header, run.ledger, session.world, detail)))
        return state

    return solve


def _head(seat: Seat[Any]) -> list[Any]:
    """The messages with which a conversation begins, as that of Akinai's own chat agent does."""
    return [ChatMessageSystem(content=seat.prompt()), ChatMessageUser(content=OPENING)]


async def _play_seat(seat: Seat[Any], window_tokens: int, max_replies: int) -> None:
    """A seat of several, in a conversation of its own."""
    async with span(name=seat.actor, type="agent"):
        await Player(seat, _head(seat), window_tokens, max_replies).play([])


@scorer(name=SCORER, metrics={"*": [mean(), stderr()]})
def scores() -> Any:
    """All scores of the world, by name; units and evidence are in the metadata."""
    return _recorded(SCORER)


@scorer(name=FINDINGS, metrics=[mean(), stderr()])
def findings() -> Any:
    """The number of findings; what they say is in the metadata."""
    return _recorded(FINDINGS)


def _recorded(name: str) -> Any:
    async def score(state: Any, target: Any) -> Any:
        played = state.store.get(PLAYED)
        if played is None:
            raise UsageError("the sample holds no run; it was not played by the solver of this task")
        return Score(**played[name])

    return score


def register(name: str) -> Callable[..., Any]:
    """The task of a world, as Inspect knows it."""

    @with_options(TaskOptions)
    def world_task(**options: Unpack[TaskOptions]) -> Any:
        try:
            return make_task(name, **options)
        except AkinaiError as error:
            raise PrerequisiteError(str(error)) from error

    world_task.__name__ = name
    world_task.__doc__ = f"The world {name!r}; see `make_task`."
    return task(name=name)(world_task)


TASKS = {name: register(name) for name in worlds.names()}
"""The tasks of all installed worlds."""
