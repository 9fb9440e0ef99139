"""A world as a taskset of verifiers."""

# verifiers is not installed where types are checked.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUntypedFunctionDecorator=false

from collections.abc import Iterator
from typing import Any, Literal

import verifiers.v1 as vf

from akinai import worlds
from akinai.adapters.verifiers.tools import WorldState, WorldTools
from akinai.agents.chat import OPENING
from akinai.api.opening import aopen
from akinai.api.opening import open as open_session
from akinai.api.play import run as play
from akinai.api.seat import Seat
from akinai.api.training.pools import episode_seed, reward_span
from akinai.core.agents import owner_of
from akinai.core.chance import Split
from akinai.core.errors import UsageError
from akinai.runtime.options import Reward
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.runs.records import Run

PRACTICE = "practice"


class WorldData(vf.TaskData):
    """A run to be played, as `akinai.open` opens it."""

    world: str
    options: dict[str, Any]
    span: float = 1.0
    """What the reward is divided by."""


class WorldTaskConfig(vf.TaskConfig):
    """Where the tools run: by default beside the rollout, in a process of their own."""

    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class WorldTask(vf.Task[WorldData, WorldState, WorldTaskConfig]):
    """A game of a world. The reward is what the run's first score gained, in its unit or scaled."""

    @classmethod
    def toolsets(cls, config: WorldTaskConfig) -> list[Any]:
        """The tools of a rollout."""
        return [WorldTools(config.tools)]

    @vf.stop
    async def over(self, trace: vf.Trace) -> bool:
        """Whether the run is over."""
        return trace.state.done

    @vf.reward
    async def gained(self, trace: vf.Trace) -> float:
        """The gain of the first score: all rewards of the session summed."""
        return trace.state.gained / self.data.span

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        """The scores of a run that is over."""
        return trace.state.scores

    async def validate(self, runtime: Any) -> bool:
        """Whether the gold answer, the actions of the world's first player, gains something through a session."""
        gold = gold_answer(self.data)
        verbs = worlds.load(self.data.world).verbs
        gained = 0.0
        options: dict[str, Any] = {**self.data.options, "store": None}
        async with await aopen(self.data.world, **options) as session:
            held = {*session.held}
            for entry in gold.ledger.entries:
                if owner_of(entry.actor) not in held:  # the world or the settings have it played
                    continue
                action = verbs.recorded(entry.name, entry.parameters)
                await session.act(action.tool_name(), action.encode(), actor=entry.actor)
                gained += session.reward
        return gained > 0 and (await session.run()).digest == gold.digest


def gold_answer(data: WorldData) -> Run:
    """The run of the world's first player with the options of a task."""
    agent = default_agent(worlds.load(data.world))
    options = {name: data.options[name] for name in ("preset", "days", "settings", "max_actions", "max_repeats")}
    return play(data.world, agent=agent, seeds=[data.options["seed"]], **options)[0]


class WorldTasksetConfig(vf.TasksetConfig):
    """The world and the options of its runs, as for `akinai.open`."""

    world: str = ""
    """Its name, which must be given."""
    preset: str | None = None
    days: int | None = None
    settings: list[str] = []
    """Such as "starting_cash=300"."""
    store: str | None = None
    """Where runs are kept; None is the memory of the process of the tools."""
    hold: list[str] = []
    """The actors that are played; empty is every actor for whom neither the world nor a setting names a player."""
    rest: str | None = None
    max_actions: int = 0
    max_repeats: int = 20
    agent: str = "verifiers"
    """What the agent is called, for the record."""
    model: str | None = None
    """The model that plays, for the record."""
    label: str | None = None
    """What tables call who plays."""
    seeds: int = 10
    """Tasks: the games 1 to this number of the split."""
    split: Split | Literal["practice"] = "train"
    """The pool of the games; "practice" for the seeds that everybody knows."""
    reward: Reward = "score"
    """"scaled": parts of the way from idle to the world's first player."""
    task: WorldTaskConfig = WorldTaskConfig()


class WorldTaskset(vf.Taskset[WorldTask, WorldTasksetConfig]):
    """A task for each seed."""

    def load(self) -> Iterator[WorldTask]:
        """The tasks in the order of their seeds."""
        config = self.config
        if not config.world:
            raise UsageError("the taskset needs a world, such as --taskset.world NAME; 'akinai worlds' lists them")
        world = worlds.load(config.world)
        split = None if config.split == PRACTICE else config.split
        span = reward_span(world, config.reward, config.model_dump())
        for number in range(1, config.seeds + 1):
            options: dict[str, Any] = {
                "preset": config.preset, "seed": episode_seed(number, split), "days": config.days,
                "settings": list(config.settings) or None,
                "store": config.store, "hold": list(config.hold) or None, "rest": config.rest,
                "max_actions": config.max_actions, "max_repeats": config.max_repeats, "agent": config.agent,
                "model": config.model, "label": config.label,
            }  # fmt: skip
            name = f"{world.name}-{config.split}-{number}"
            yield WorldTask(
                WorldData(
                    name=name, prompt=OPENING, system_prompt=_prompt(config.world, options), world=config.world,
                    options=options, span=span,
                ),
                config.task,
            )  # fmt: skip


def _prompt(world: str, options: dict[str, Any]) -> str:
    in_memory: dict[str, Any] = {**options, "store": None}
    session = open_session(world, **in_memory)
    try:
        return Seat(session).prompt()
    finally:
        session.close()
