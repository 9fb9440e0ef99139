"""A run of a world as agent-lightning asks for one: a task in JSON, a model at an address, a reward."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from akinai import worlds
from akinai.core.actions import complaint
from akinai.core.canonical import Json
from akinai.core.errors import AgentError, UsageError
from akinai.learning.formats import loads
from akinai.runtime import api
from akinai.runtime.cast import CHAT, Cast, ModelChoice
from akinai.runtime.casting import default_agent
from akinai.runtime.learn_world import bullets_in
from akinai.runtime.runs import Run

CENTS = 100


class RunTask(BaseModel):
    """A run that is wanted: one sample of a data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    world: str
    seed: int
    preset: str | None = None
    days: int | None = None
    settings: tuple[str, ...] = ()
    """Over the preset, as "name=value"."""
    agent: str | None = None
    """Left out: "chat" with a model, the world's own player without one."""
    playbook: str | None = None
    """The file of a playbook that the agent is told."""
    store: str = "memory:"
    """Where the ledger is kept; in memory it is gone with the process."""
    reward_scale: float = 1.0
    """What the score is multiplied by. Trainers of weights want rewards of about 1: 0.001 for a thousand dollars."""
    data_id: str = ""
    """Of the trainer's own; not read here."""

    @staticmethod
    def of(told: Any) -> "RunTask":
        """From JSON. UsageError names the field at fault."""
        try:
            return RunTask.model_validate(told)
        except ValidationError as error:
            raise UsageError(f"the task of a run: {complaint(error)}") from error


@dataclass(frozen=True, slots=True)
class Rewarded:
    """A run and what it is worth."""

    run: Run
    reward: float
    store: str

    @property
    def told(self) -> str:
        """In a line for people."""
        score = self.run.scores[0]
        return f"{score.name} {score.value} {score.unit} in run {self.run.id}"

    def to_json(self) -> dict[str, Json]:
        """Where the ledger is, and every score."""
        return {"store": self.store, **self.run.to_json()}


def play(
    task: RunTask, model: ModelChoice | None = None, *, name: str | None = None, bullets: tuple[str, ...] = ()
) -> Rewarded:
    """Play a run to its end. The reward is the world's first score, in dollars where that is money, times the scale.

    `name` is the group that the run is called by in its store; `bullets` are told beside those of the task's playbook.
    UsageError for what cannot be played as asked; AgentError when the run failed, which is worth no reward at all.
    """
    told = (*(bullets_in(Path(task.playbook)) if task.playbook else ()), *bullets)
    agent = task.agent or (CHAT if model else default_agent(worlds.load(task.world)))
    run = api.run(
        task.world,
        agent=Cast(agent, model, bullets=told),
        seeds=task.seed,
        preset=task.preset,
        days=task.days,
        settings=task.settings,
        store=task.store,
        name=name,
    )[0]
    if run.status == "failed" or not run.scores:
        raise AgentError(f"the run {run.id!r} of {task.world} failed: {run.error or 'it has no scores'}")
    return Rewarded(run, reward_of(run) * task.reward_scale, task.store)


def reward_of(run: Run) -> float:
    """The world's first score; dollars where it is in cents."""
    score = run.scores[0]
    return score.value / CENTS if score.unit == "cents" else float(score.value)


def bullets_of(text: str) -> tuple[str, ...]:
    """What a resource tells an agent: the bullets of a playbook's JSON, or any other text as one."""
    if text.lstrip().startswith("{"):
        return tuple(bullet.content for bullet in loads(text, "the resource"))
    return (text,) if text.strip() else ()
