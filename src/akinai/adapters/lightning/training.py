"""agent-lightning 0.3: our runs as its rollouts with rewards, and the ACE loop as its algorithm.

    from akinai.adapters.lightning import learn
    learned = learn(TrainConfig("vending", "naive"))

No weights are trained. The playbook learns: it is a resource of the Trainer that every rollout gets and the algorithm
rewrites. For the 1.x line see `akinai.adapters.lightning.gateway`. Without the package the import of this module raises
MissingExtra; with another line of it, UsageError.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.adapters.lightning.runs import RunTask, bullets_of, play
from akinai.adapters.lightning.tasks import PLAYBOOK, Mode, RolloutInput, RolloutRecord, Study, TaskRunner, study
from akinai.core.errors import AgentError, EndRun, MissingExtra, ModelError, UsageError
from akinai.learning.data_sets import DataSet
from akinai.learning.playbook.formats import dumps
from akinai.learning.roles.protocols import Insights, Retrieved, Trajectory
from akinai.learning.roles.tasks import Assignment, Task
from akinai.runtime.learn.learner import learn as learn_by_loop
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.play.agent_spec import ModelChoice

if TYPE_CHECKING:
    from akinai.learning.loop.job import Watch
    from akinai.learning.playbook.bullets import Playbook

PACKAGE = "agentlightning"
LINE = "0.3"
EXTRA = "lightning"


def _expect_package() -> None:
    """MissingExtra without the package; UsageError for another line of it."""
    try:
        installed = version(PACKAGE)
    except PackageNotFoundError:
        raise MissingExtra("the adapter of agent-lightning", PACKAGE, EXTRA) from None
    if not f"{installed}.".startswith(f"{LINE}."):
        raise UsageError(
            f"agent-lightning {installed} is installed, and this adapter's algorithm runs under the Trainer of its "
            f"{LINE} line; install 'akinai[{EXTRA}]' on Python 3.11, or use akinai.adapters.lightning.gateway with 1.x"
        )


if TYPE_CHECKING:  # the package is not installed where types are checked

    class Algorithm(Any):
        def __init__(self) -> None: ...

    class LitAgent(Any):
        def __init__(self) -> None: ...

    class OtelTracer(Any): ...

    class PromptTemplate(Any): ...

    class Trainer(Any): ...

    def emit_object(value: object, attributes: Mapping[str, str]) -> None: ...

    def get_object_value(span: Any) -> Any: ...
else:
    _expect_package()
    # The package imports LiteLLM, which otherwise downloads a list of prices during its import.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    from agentlightning import (
        Algorithm,
        LitAgent,
        OtelTracer,
        PromptTemplate,
        Trainer,
        emit_object,
        get_object_value,
    )

__all__ = ["Ace", "RunAgent", "Study", "TaskAgent", "learn", "make_trainer", "study"]

TASK, SOURCE = "akinai.task", "akinai.source"
"""Attributes of a rollout's span: the task, and the ledger entries of the attempt: "run#1 -> run#530"."""
OBJECT_SPAN = "agentlightning.object"
POLL_S = 0.1
"""Poll interval of the runner for rollouts, and of the algorithm for results."""
MAX_PENDING = 64
"""Rollouts that are queued at once: enough that the runner always finds one."""


def learn(
    tasks: TrainConfig | DataSet | Study,
    *,
    playbook: Path | str | None = None,
    epochs: int | None = None,
    settings: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> LearnResult:
    """Learn a playbook under a Trainer: the same bullets as `akinai learn`, with a rollout for each attempt.

    The parameters are those of `akinai.learn`; a `Study` brings its own settings. Raises UsageError
    and ModelError as it does, AgentError when a rollout left no record, KeyboardInterrupt some seconds after Ctrl-C.
    """
    plan = tasks if isinstance(tasks, Study) else study(tasks, settings)
    algorithm = Ace(plan, playbook=playbook, epochs=epochs, watch=watch)
    make_trainer(algorithm).fit(TaskAgent(plan), plan.samples("train"), val_dataset=plan.samples("validation"))
    if algorithm.learned is None:
        raise KeyboardInterrupt  # the only reason for which a Trainer stops silently
    return algorithm.learned


def make_trainer(algorithm: Algorithm, **options: Any) -> Any:
    """A Trainer that runs the algorithm in this thread and one runner on another, and traces rewards only.

    Runners in one process share their tracer, so the spans of two would mix; rule-based runs hold the interpreter's
    lock anyway. `options` are those of the Trainer, such as `initial_resources` and `store`.
    """
    return Trainer(
        algorithm=algorithm,
        n_runners=1,
        strategy={"type": "shm", "main_thread": "algorithm"},
        tracer=_tracer(),
        runner={"type": "agentlightning.LitAgentRunner", "poll_interval": POLL_S, "interval_jitter": 0.0},
        **options,
    )


@cache
def _tracer() -> OtelTracer:
    """The tracer of the process, as OpenTelemetry requires. The package's default, AgentOps, connects to a service."""
    return OtelTracer()


class TaskAgent(LitAgent):
    """Attempts the tasks of a study: a rollout is a task, and its reward is the loop's score for the attempt.

    For runs of a world that is its first score, in dollars if it is money. The playbook comes as a resource.
    """

    def __init__(self, study: Study) -> None:
        super().__init__()
        self._runner = TaskRunner(study)

    async def rollout_async(self, task: Any, resources: Mapping[str, Any], rollout: Any) -> float:
        rollout_input = RolloutInput.of(task)
        resource = resources.get(PLAYBOOK)
        playbook = resource.template if resource else ""
        mode: Mode = "train" if rollout.mode == "train" else "val"
        try:
            trajectory, reward = await self._runner.attempt(rollout_input, playbook, mode)
        except ModelError as error:
            _emit_record(rollout_input.task, RolloutRecord(model_error=str(error)))
            raise
        except EndRun as end:
            _emit_record(rollout_input.task, RolloutRecord(ending=end.ending))
            raise
        _emit_record(rollout_input.task, RolloutRecord(trajectory))
        return reward


class RunAgent(LitAgent):
    """Plays runs for any algorithm of agent-lightning: a sample is a `RunTask` as JSON, the reward its score.

    An LLM among the resources plays (the agent "chat"); without one the rule-based player does. The text of other
    resources is added to the bullets of the task's playbook: a playbook's JSON as its bullets, any other text as one.
    The key of an LLM comes from the environment.
    """

    def rollout(self, task: Any, resources: Mapping[str, Any], rollout: Any) -> float:
        models = [resource for resource in resources.values() if hasattr(resource, "get_base_url")]
        texts = [resource.template for resource in resources.values() if hasattr(resource, "template")]
        model = _model_choice(models[0], rollout) if models else None
        bullets = tuple(bullet for text in texts for bullet in bullets_of(text))
        name = f"rollout-{rollout.rollout_id}"
        rewarded = play(RunTask.of(task), model, name=name, bullets=bullets)
        emit_object(rewarded.to_json(), attributes={SOURCE: rewarded.run.id})
        return rewarded.reward


class Ace(Algorithm):
    """The ACE loop with a rollout for each attempt. `learned` is the result; Reflector and Curator are unchanged."""

    def __init__(
        self, study: Study, *, playbook: Path | str | None = None, epochs: int | None = None, watch: Watch | None = None
    ) -> None:
        super().__init__()
        self._study, self._playbook, self._epochs, self._watch = study, playbook, epochs, watch
        self.learned: LearnResult | None = None

    async def run(self, train_dataset: Any = None, val_dataset: Any = None) -> None:
        """Learn from the first data set; judge on the second, with the playbook and without.

        The loop runs in its own thread, so that the Trainer can stop it when its runners are gone.
        """
        rollouts = Rollouts(self.get_store(), _tasks(train_dataset), _tasks(val_dataset), self._study.data_set)
        try:
            self.learned = await asyncio.to_thread(self._learn, rollouts)
        finally:
            rollouts.abandoned = True

    def _learn(self, rollouts: Rollouts) -> LearnResult:
        study = self._study
        return learn_by_loop(
            replace(study.data_set, load=rollouts.load),
            playbook=self._playbook,
            epochs=self._epochs,
            roles=replace(study.roles, generator=rollouts),
            evaluator=study.evaluator,
            settings=study.settings,
            watch=self._watch,
        )


class Rollouts:
    """The Generator: each attempt is a rollout by a runner, with the playbook as its resource."""

    def __init__(self, store: Any, train: Sequence[Task], judged: Sequence[Task], data_set: DataSet) -> None:
        held_out = data_set.load("held_out")
        self._store = store
        self._splits: Mapping[str, Sequence[Task]] = {"train": train, "validation": judged, "held_out": held_out}
        # An id is unique within a split only, so the text is part of the key.
        self._task_by_key = {(task.id, task.text): task for tasks in self._splits.values() for task in tasks}
        self._published: tuple[Playbook, str] | None = None
        self._publishing, self._pending = asyncio.Lock(), asyncio.Semaphore(MAX_PENDING)
        self.abandoned = False
        """Set when the runners are gone, so that nothing waits for a rollout."""

    def load(self, split: str) -> Sequence[Task]:
        return self._splits.get(split, ())

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        """An attempt. Raises the runner's ModelError or EndRun, and AgentError when the rollout left no record."""
        task = self._task_by_key[assignment.id, assignment.text]
        mode: Mode = "train" if assignment.attempt else "val"
        resources = await self._resources(retrieved.playbook)
        rollout_input = RolloutInput(task, tuple(reflections), assignment.attempt).to_json()
        async with self._pending:
            rollout = await self._store.enqueue_rollout(input=rollout_input, mode=mode, resources_id=resources)
            ended = await self._wait_for(rollout.rollout_id)
        spans = await self._store.query_spans(rollout.rollout_id, attempt_id="latest", name=OBJECT_SPAN)
        records = [span for span in spans if span.attributes.get(TASK) == task.id]
        if not records:
            raise AgentError(
                f"the rollout {rollout.rollout_id} of task {task.id!r} {ended.status} and left no record; "
                "what its runner logged says why"
            )
        return _trajectory(RolloutRecord.of(get_object_value(records[-1])))

    async def _resources(self, playbook: Playbook) -> str:
        """The resource id of this playbook, which is published once, while it is the newest."""
        async with self._publishing:
            if self._published is None or self._published[0] is not playbook:
                text = PromptTemplate(template=dumps(playbook), engine="jinja")  # never rendered
                update = await self._store.add_resources({PLAYBOOK: text})
                self._published = playbook, update.resources_id
            return self._published[1]

    async def _wait_for(self, rollout_id: str) -> Any:
        while not self.abandoned:
            if finished := await self._store.wait_for_rollouts(rollout_ids=[rollout_id], timeout=0):
                return finished[0]
            await asyncio.sleep(POLL_S)
        raise AgentError(f"nobody made the rollout {rollout_id}: its runners ended; what they logged says why")


def _emit_record(task: Task, record: RolloutRecord) -> None:
    """Emit a span with the record of an attempt, for the algorithm."""
    source = (record.trajectory.source if record.trajectory else "") or task.evidence
    emit_object(record.to_json(), attributes={TASK: task.id, SOURCE: source})


def _trajectory(record: RolloutRecord) -> Trajectory:
    if record.ending:
        raise EndRun(record.ending)
    if record.trajectory is None:
        raise ModelError(record.model_error)
    return record.trajectory


def _tasks(samples: Any) -> list[Task]:
    return [RolloutInput.of(samples[n]).task for n in range(len(samples))] if samples is not None else []


def _model_choice(llm: Any, rollout: Any) -> ModelChoice:
    sampling = llm.sampling_parameters
    options = {name: sampling[name] for name in ("temperature", "max_tokens", "seed") if name in sampling}
    return ModelChoice(
        f"openai:{llm.model}", llm.get_base_url(rollout.rollout_id, rollout.attempt.attempt_id), **options
    )
