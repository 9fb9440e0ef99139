"""GEPA's contract over the learner's roles: a candidate is the text that takes the place of the bullets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import gepa.api

from akinai.core.errors import AkinaiError, EndRun
from akinai.core.models import Message, Request
from akinai.learning.contest.contenders import MOST_EPOCHS, Contest, ContestResult, Rival, nearly_spent
from akinai.learning.contest.curators import outcome_text
from akinai.learning.loop.evaluation import attempt_all
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import Attempt
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.roles.protocols import ModelUsage
from akinai.learning.roles.tasks import Task

INSTRUCTIONS = "instructions"
SEED_TEXT = "Think step by step, and give the answer in exactly the form that the task asks for."
"""The candidate that GEPA begins with."""
HELD_OUT_SHARE = 3
"""One training task in this many is kept for GEPA's own validation; GEPA never sees the tasks that judge."""


async def optimized(contest: Contest) -> ContestResult:
    """Run `gepa.optimize` on the training tasks until the tokens of the contest are spent, or as many attempts."""
    bridge = Bridge(contest, asyncio.get_running_loop())
    validation = contest.train[::HELD_OUT_SHARE]
    training = [task for number, task in enumerate(contest.train) if number % HELD_OUT_SHARE] or [*contest.train]
    optimize = cast("Any", gepa.api).optimize  # its types are generic in what is never named
    result = await asyncio.to_thread(
        optimize,
        {INSTRUCTIONS: SEED_TEXT},
        training,
        [*validation],
        bridge,
        reflection_lm=bridge.reflect,
        max_metric_calls=len(contest.train)
        * (MOST_EPOCHS if contest.tokens else contest.config.epochs * (2 + contest.config.rounds)),
        stop_callbacks=bridge.spent,
        logger=Silent(),
        seed=0,
    )
    if bridge.broken is not None:
        raise bridge.broken
    return ContestResult(_playbook(str(result.best_candidate[INSTRUCTIONS])), bridge.retriever(), bridge.usage)


class Silent:
    """GEPA's logger; a learning reports in its document."""

    def log(self, message: str) -> None: ...


@dataclass
class Batch:
    """An evaluated batch as GEPA reads it."""

    outputs: list[str]
    scores: list[float]
    trajectories: list[tuple[Task, Attempt]] | None
    objective_scores: None = None
    num_metric_calls: int | None = None


@dataclass
class Bridge:
    """GEPA's adapter. GEPA runs in a thread of its own; models are asked in the loop of the learning."""

    contest: Contest
    loop: asyncio.AbstractEventLoop
    usage: ModelUsage = field(default_factory=ModelUsage)
    broken: AkinaiError | EndRun | None = None
    """A broken model or a spent budget, raised once GEPA has stopped: it takes errors for failed proposals."""
    seen_tokens: int = 0
    """The tokens that had been spent when GEPA last asked whether to stop."""
    attempted: int = 0
    propose_new_texts: None = None
    """GEPA's own proposer is used."""

    def evaluate(self, batch: list[Task], candidate: dict[str, str], capture_traces: bool = False) -> Batch:
        attempts = self._result_of(self._attempts(batch, _playbook(candidate[INSTRUCTIONS])))
        if attempts is None:
            return Batch([""] * len(batch), [0.0] * len(batch), None)
        scores = [attempt.evaluation.score if attempt.evaluation else 0.0 for attempt in attempts]
        traces = [*zip(batch, attempts, strict=True)] if capture_traces else None
        return Batch([attempt.trajectory.answer for attempt in attempts], scores, traces)

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Batch, components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        records = [
            {
                "Inputs": task.text,
                "Generated Outputs": "\n".join(filter(None, (attempt.trajectory.reasoning, attempt.trajectory.answer))),
                "Feedback": self._feedback(task, attempt),
            }
            for task, attempt in eval_batch.trajectories or ()
        ]
        return dict.fromkeys(components_to_update, records)

    def _feedback(self, task: Task, attempt: Attempt) -> str:
        if attempt.evaluation is None:
            return attempt.trajectory.failed or "wrong"
        task = replace(task, truth="") if self.contest.config.no_truth else task
        return outcome_text(task, attempt.trajectory, attempt.evaluation)

    def reflect(self, prompt: str | list[dict[str, Any]]) -> str:
        """GEPA's reflection model: that of the Reflector."""
        text = prompt if isinstance(prompt, str) else "\n\n".join(str(message["content"]) for message in prompt)
        asker = self.contest.asker("gepa", "reflector")
        reply = self._result_of(asker.ask(Request((Message("user", text),))))
        if reply is None:
            return ""
        self.usage = self.usage + ModelUsage(1, tokens=reply.usage)
        return reply.text

    def spent(self, gepa_state: object) -> bool:
        """Whether the tokens of the contest are spent, to the nearest iteration, or a model is broken."""
        tokens = self.usage.tokens.input + self.usage.tokens.output
        step, self.seen_tokens = tokens - self.seen_tokens, tokens
        return self.broken is not None or nearly_spent(self.contest, tokens, step)

    def retriever(self) -> PlaybookRetriever:
        """A retriever that puts the instructions into every context."""
        config = self.contest.config.model_copy(update={"whole": True})
        return self.contest.retriever(config) if self.contest.records else PlaybookRetriever(config)

    async def _attempts(self, batch: Sequence[Task], playbook: Playbook) -> list[Attempt]:
        self.attempted += 1
        contest, name = self.contest, f"gepa/{self.attempted}" if self.contest.records else ""
        attempts = await attempt_all(
            batch, playbook, contest.roles.generator, contest.evaluator, self.retriever(), name=name
        )
        self.usage = sum((attempt.trajectory.usage for attempt in attempts), self.usage)
        return attempts

    def _result_of(self, call: Any) -> Any:
        """The result of a call in the loop of the learning; None when it failed."""
        if self.broken is not None:
            call.close()
            return None
        try:
            return asyncio.run_coroutine_threadsafe(call, self.loop).result()
        except (AkinaiError, EndRun) as error:
            self.broken = error
            return None


def _playbook(text: str) -> Playbook:
    bullet = Bullet("in-00001", INSTRUCTIONS, text)
    return Playbook((Section(INSTRUCTIONS, "How to do the tasks.", (bullet,)),), 2)


RIVAL = Rival(optimized, asks_model=True, on_runs=optimized)
