"""A run of a world as a rollout of agent-lightning: a task in JSON, a model at an address, a reward."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from akinai import api, worlds
from akinai.core.actions import complaint
from akinai.core.canonical import Json
from akinai.core.errors import AgentError, UsageError
from akinai.learning.playbook.formats import loads
from akinai.runtime.learn.world import playbook_contents
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.play.agent_spec import CHAT, AgentSpec, ModelChoice
from akinai.runtime.runs.records import Run

CENTS = 100


class RunTask(BaseModel):
    """A run to play: one sample of a data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    world: str
    seed: int
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
    """Play a run to its end. The reward is the world's first score, in dollars where that is money, times the scale.

    `name` is the run's group in its store. `bullets` follow those of the task's playbook. UsageError when the task
    cannot be played; AgentError when the run failed, which gives no reward at all.
    """
    all_bullets = (*(playbook_contents(task.playbook) if task.playbook else ()), *bullets)
    agent = task.agent or (CHAT if model else default_agent(worlds.load(task.world)))
    run = api.run(
        task.world,
        agent=AgentSpec(agent, model, bullets=all_bullets),
        seeds=task.seed,
        preset=task.preset,
        days=task.days,
        settings=task.settings,
        store=task.store,
        name=name,
    )[0]
    if run.status == "failed" or not run.scores:
        raise AgentError(f"the run {run.id!r} of {task.world} failed: {run.error or 'it has no scores'}")
    return RewardedRun(run, reward_of(run) * task.reward_scale, task.store)


def reward_of(run: Run) -> float:
    """The world's first score, in dollars if its unit is cents."""
    score = run.scores[0]
    return score.value / CENTS if score.unit == "cents" else float(score.value)


def bullets_of(text: str) -> tuple[str, ...]:
    """The bullets in a resource: those of a playbook's JSON, or any other text as a single bullet."""
    if text.lstrip().startswith("{"):
        return tuple(bullet.content for bullet in loads(text, "the resource"))
    return (text,) if text.strip() else ()
