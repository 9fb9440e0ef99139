"""A run of a world as a rollout of agent-lightning: a task in JSON, a model at an address, a reward."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from akinai import api, worlds
from akinai.api.session import first_score
from akinai.api.training.pools import episode_seed, reward_span
from akinai.core.actions import complaint
from akinai.core.canonical import Json
from akinai.core.chance import Split
from akinai.core.errors import AgentError, UsageError
from akinai.core.ledger import Ledger
from akinai.learning.playbook.formats import loads
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.learn.players import in_dollars
from akinai.runtime.options import Reward
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.play.agent_spec import CHAT, AgentSpec, ModelChoice
from akinai.runtime.runs.records import Run


class RunTask(BaseModel):
    """A run to play: one sample of a data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    world: str
    seed: int | None = None
    """The seed; with `split` the number of a game of that pool. None is a new game each time."""
    split: Split | None = None
    """The pool of the games: "train", "validation" or "test"; new games without it are of "train"."""
    preset: str | None = None
    days: int | None = None
    settings: tuple[str, ...] = ()
    """Settings that override the preset, as "name=value"."""
    agent: str | None = None
    """The agent that plays; by default "chat" with a model, and the world's own player without one."""
    playbook: str | None = None
    """The file of a playbook whose bullets the agent gets."""
    store: str = "memory:"
    """The store of the ledger. A ledger in memory ends with the process."""
    reward: Reward = "score"
    """"score": the first score, in dollars if it is money. "scaled": its gain in parts of the way from idle to the
    world's first player."""
    reward_scale: float = 1.0
    """Factor from score to reward. Trainers of weights need rewards of about 1: 0.001 for a thousand dollars."""
    data_id: str = ""
    """Set by the trainer; not used here."""

    @staticmethod
    def of(data: Any) -> "RunTask":
        """A task from JSON. UsageError names the invalid field."""
        try:
            return RunTask.model_validate(data)
        except ValidationError as error:
            raise UsageError(f"the task of a run: {complaint(error)}") from error


@dataclass(frozen=True, slots=True)
class RewardedRun:
    """A run and its reward."""

    run: Run
    reward: float
    store: str

    @property
    def summary(self) -> str:
        """One line for people."""
        score = self.run.scores[0]
        return f"{score.name} {score.value} {score.unit} in run {self.run.id}"

    def to_json(self) -> dict[str, Json]:
        """The store of the ledger, and the run with every score."""
        return {"store": self.store, **self.run.to_json()}


def play(
    task: RunTask, model: ModelChoice | None = None, *, name: str | None = None, bullets: tuple[str, ...] = ()
) -> RewardedRun:
    """Play a run to its end. The reward is the world's first score as `task.reward` has it, times the scale.

    `name` is the run's group in its store. `bullets` follow those of the task's playbook. UsageError when the task
    cannot be played; AgentError when the run failed, which gives no reward at all.
    """
    all_bullets = (*(read_playbook(task.playbook).for_players if task.playbook else ()), *bullets)
    world = worlds.load(task.world)
    span = reward_span(world, task.reward, task.model_dump())
    agent = task.agent or (CHAT if model else default_agent(world))
    run = api.run(
        task.world,
        agent=AgentSpec(agent, model, bullets=all_bullets),
        seeds=episode_seed(task.seed, task.split),
        preset=task.preset,
        days=task.days,
        settings=task.settings,
        store=task.store,
        name=name,
    )[0]
    if run.status == "failed" or not run.scores:
        raise AgentError(f"the run {run.id!r} of {task.world} failed: {run.error or 'it has no scores'}")
    if task.reward == "score":
        reward = reward_of(run)
    else:
        reward = (run.scores[0].value - first_score(world, Ledger(run.ledger.genesis))) / span
    return RewardedRun(run, reward * task.reward_scale, task.store)


def reward_of(run: Run) -> float:
    """The world's first score, in dollars if its unit is cents."""
    score = run.scores[0]
    return in_dollars(score.value, score.unit)


def bullets_of(text: str) -> tuple[str, ...]:
    """The bullets in a resource: those of a playbook's JSON, or any other text as a single bullet."""
    if text.lstrip().startswith("{"):
        return loads(text, "the resource").for_players
    return (text,) if text.strip() else ()
