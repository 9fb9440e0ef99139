"""agent-lightning 0.3: our runs as its rollouts with rewards, and the ACE loop as its algorithm.

    from akinai.adapters.lightning import learn
    learned = learn(Practice("vending", "naive"))

No weights are trained. What learns is the playbook: a resource of the Trainer, which every rollout is given and the
algorithm writes anew. With the 1.x line see `lightning_gateway`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.adapters.lightning_package import make_ready
from akinai.adapters.lightning_runs import RunTask, bullets_of, play
from akinai.adapters.lightning_tasks import PLAYBOOK, Bench, Mode, Study, Tried, Wanted, study
from akinai.core.errors import AgentError, EndRun, ModelError
from akinai.learning.formats import dumps
from akinai.learning.roles import Insights, Retrieved, Trajectory
from akinai.learning.tasks import Assignment, DataSet, Task
from akinai.runtime.cast import ModelChoice
from akinai.runtime.learn import Learned
from akinai.runtime.learn import learn as learn_by_loop
from akinai.runtime.learn_world import Practice

if TYPE_CHECKING:
    from akinai.learning.loop import Watch
    from akinai.learning.playbook import Playbook

make_ready()

# The package is for an environment of its own, where no type checker runs.
from agentlightning import (  # noqa: E402  # pyright: ignore[reportMissingImports]
    Algorithm,
    LitAgent,
    OtelTracer,
    PromptTemplate,
    Trainer,
    emit_object,
    get_object_value,
)

__all__ = ["Ace", "RunAgent", "Study", "TaskAgent", "learn", "study", "trainer"]

TASK, SOURCE = "akinai.task", "akinai.source"
"""Attributes of a rollout's span: whose try it is, and where it is on record: "run#1 -> run#530"."""
OBJECT = "agentlightning.object"
POLL_S = 0.1
"""Between two looks of the runner for work, and of the algorithm for what came of it."""
AT_ONCE = 64
"""Rollouts that are waited for: enough that the runner always finds one."""


def learn(
    tasks: Practice | DataSet | Study,
    *,
    playbook: Path | str | None = None,
    epochs: int | None = None,
    settings: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> Learned:
    """Learn a playbook under a Trainer: what `akinai learn` does, bullet by bullet, with rollouts for tries.

    `tasks` and the rest are as in `learn_world` and `akinai.learn`; a `Study` has settings of its own. UsageError and
    ModelError as there; AgentError when a rollout left no record; KeyboardInterrupt some seconds after Ctrl-C.
    """
    what = tasks if isinstance(tasks, Study) else study(tasks, settings)
    algorithm = Ace(what, playbook=playbook, epochs=epochs, watch=watch)
    trainer(algorithm).fit(TaskAgent(what), what.samples("train"), val_dataset=what.samples("validation"))
    if algorithm.learned is None:
        raise KeyboardInterrupt  # the one thing that a Trainer ends for and says nothing of
    return algorithm.learned


def trainer(algorithm: Algorithm, **others: Any) -> Any:
    """A Trainer that runs the algorithm here, with one runner on a thread, and traces rewards alone.

    In one process the package's runners share their tracer, so the spans of two would mix; a rule-based run takes the
    interpreter's lock anyway. `others` go to the Trainer: `initial_resources`, `store`.
    """
    return Trainer(
        algorithm=algorithm,
        n_runners=1,
        strategy={"type": "shm", "main_thread": "algorithm"},
        tracer=_tracer(),
        runner={"type": "agentlightning.LitAgentRunner", "poll_interval": POLL_S, "interval_jitter": 0.0},
        **others,
    )


@cache
def _tracer() -> OtelTracer:
    """One for the process, as OpenTelemetry has it; the package's own choice, AgentOps, speaks to a service."""
    return OtelTracer()


class TaskAgent(LitAgent):
    """Makes the tries of a study: a rollout is a task, its reward the score that the loop gives the try.

    For the runs of a world that is its first score, in dollars where it is money. The playbook comes as a resource.
    """

    def __init__(self, what: Study) -> None:
        super().__init__()
        self._bench = Bench(what)

    async def rollout_async(self, task: Any, resources: Mapping[str, Any], rollout: Any) -> float:
        wanted = Wanted.of(task)
        told = resources.get(PLAYBOOK)
        mode: Mode = "train" if rollout.mode == "train" else "val"
        try:
            trajectory, reward = await self._bench.tried(wanted, told.template if told else "", mode)
        except ModelError as error:
            _leave(wanted.task, Tried(broken=str(error)))
            raise
        except EndRun as end:
            _leave(wanted.task, Tried(ending=end.ending))
            raise
        _leave(wanted.task, Tried(trajectory))
        return reward


class RunAgent(LitAgent):
    """Plays runs for any algorithm of agent-lightning: a sample is a `RunTask` as JSON, the reward its score.

    An LLM among the resources plays (the agent "chat"), without one the rules do. What other resources say is told
    beside the task's playbook: a playbook's JSON as its bullets, any other text as one. The key of an LLM comes from
    the environment.
    """

    def rollout(self, task: Any, resources: Mapping[str, Any], rollout: Any) -> float:
        models = [one for one in resources.values() if hasattr(one, "get_base_url")]
        texts = [one.template for one in resources.values() if hasattr(one, "template")]
        model = _choice(models[0], rollout) if models else None
        bullets = tuple(bullet for text in texts for bullet in bullets_of(text))
        name = f"rollout-{rollout.rollout_id}"
        rewarded = play(RunTask.of(task), model, name=name, bullets=bullets)
        emit_object(rewarded.to_json(), attributes={SOURCE: rewarded.run.id})
        return rewarded.reward


class Ace(Algorithm):
    """The ACE loop: rollouts for tries; Reflector, Curator and playbook as ever. `learned` is what came of it."""

    def __init__(
        self, what: Study, *, playbook: Path | str | None = None, epochs: int | None = None, watch: Watch | None = None
    ) -> None:
        super().__init__()
        self._study, self._playbook, self._epochs, self._watch = what, playbook, epochs, watch
        self.learned: Learned | None = None

    async def run(self, train_dataset: Any = None, val_dataset: Any = None) -> None:
        """Learn from the one and judge by the other, with the playbook and without.

        The loop has a thread of its own, so that the Trainer can end this when its runners are gone.
        """
        rollouts = Rollouts(self.get_store(), _tasks(train_dataset), _tasks(val_dataset), self._study.data_set)
        try:
            self.learned = await asyncio.to_thread(self._learn, rollouts)
        finally:
            rollouts.over = True

    def _learn(self, rollouts: Rollouts) -> Learned:
        what = self._study
        return learn_by_loop(
            replace(what.data_set, load=rollouts.load),
            playbook=self._playbook,
            epochs=self._epochs,
            roles=replace(what.roles, generator=rollouts),
            evaluator=what.evaluator,
            settings=what.settings,
            watch=self._watch,
        )


class Rollouts:
    """The Generator: each try is a rollout that some runner makes, with the playbook as its resource."""

    def __init__(self, store: Any, train: Sequence[Task], judged: Sequence[Task], data_set: DataSet) -> None:
        held_out = data_set.load("held_out")
        self._store = store
        self._splits: Mapping[str, Sequence[Task]] = {"train": train, "validation": judged, "held_out": held_out}
        # Ids are of a split; the text tells two tasks of one id apart.
        self._known = {(task.id, task.text): task for tasks in self._splits.values() for task in tasks}
        self._published: tuple[Playbook, str] | None = None
        self._publishing, self._at_once = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)
        self.over = False
        """Set when nobody makes rollouts any more: then none is waited for."""

    def load(self, split: str) -> Sequence[Task]:
        return self._splits.get(split, ())

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        """A try. ModelError and EndRun as the runner met them; AgentError when it left no record."""
        task = self._known[assignment.id, assignment.text]
        mode: Mode = "train" if assignment.attempt else "val"
        resources = await self._resources(given.playbook)
        wanted = Wanted(task, tuple(reflections), assignment.attempt).to_json()
        async with self._at_once:
            begun = await self._store.enqueue_rollout(input=wanted, mode=mode, resources_id=resources)
            ended = await self._ended(begun.rollout_id)
        spans = await self._store.query_spans(begun.rollout_id, attempt_id="latest", name=OBJECT)
        records = [span for span in spans if span.attributes.get(TASK) == task.id]
        if not records:
            raise AgentError(
                f"the rollout {begun.rollout_id} of task {task.id!r} {ended.status} and left no record; "
                "what its runner logged says why"
            )
        return _trajectory(Tried.of(get_object_value(records[-1])))

    async def _resources(self, playbook: Playbook) -> str:
        """The id under which the runners find this playbook; each is published once, while it is the newest."""
        async with self._publishing:
            if self._published is None or self._published[0] is not playbook:
                text = PromptTemplate(template=dumps(playbook), engine="jinja")  # not filled in by anybody
                update = await self._store.add_resources({PLAYBOOK: text})
                self._published = playbook, update.resources_id
            return self._published[1]

    async def _ended(self, rollout_id: str) -> Any:
        while not self.over:
            if found := await self._store.wait_for_rollouts(rollout_ids=[rollout_id], timeout=0):
                return found[0]
            await asyncio.sleep(POLL_S)
        raise AgentError(f"nobody made the rollout {rollout_id}: its runners ended; what they logged says why")


def _leave(task: Task, tried: Tried) -> None:
    """A span with all that the algorithm wants to know of a try."""
    source = (tried.trajectory.source if tried.trajectory else "") or task.evidence
    emit_object(tried.to_json(), attributes={TASK: task.id, SOURCE: source})


def _trajectory(tried: Tried) -> Trajectory:
    if tried.ending:
        raise EndRun(tried.ending)
    if tried.trajectory is None:
        raise ModelError(tried.broken)
    return tried.trajectory


def _tasks(samples: Any) -> list[Task]:
    return [Wanted.of(samples[n]).task for n in range(len(samples))] if samples is not None else []


def _choice(llm: Any, rollout: Any) -> ModelChoice:
    asked = llm.sampling_parameters
    known = {name: asked[name] for name in ("temperature", "max_tokens", "seed") if name in asked}
    return ModelChoice(f"openai:{llm.model}", llm.get_base_url(rollout.rollout_id, rollout.attempt.attempt_id), **known)
