"""The JSON that passes between the ACE loop and the rollouts of agent-lightning. The package is not imported here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from pydantic import TypeAdapter, ValidationError

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.learning.data_sets import DataSet
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.formats import loads
from akinai.learning.roles.protocols import Evaluation, Evaluator, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles.rules import AnswerEvaluator
from akinai.learning.roles.tasks import Assignment, Split, Task
from akinai.runtime.learn.data_sets import find_check
from akinai.runtime.learn.settings import learn_settings
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.learn.world import ScoreEvaluator, world_tasks

Mode: TypeAlias = Literal["train", "val"]

PLAYBOOK = "playbook"
"""The resource that holds the playbook, as text."""
REFLECTIONS, ATTEMPT = "reflections", "attempt"
"""Keys of a rollout's input, besides the fields of the task."""


@dataclass(frozen=True, slots=True)
class Study:
    """The tasks, roles, evaluator and settings of a learning run, shared by the algorithm and its rollouts."""

    data_set: DataSet
    roles: Roles
    evaluator: Evaluator
    settings: Mapping[str, Any]
    """The learner's settings by name, including those of the data set."""

    def samples(self, split: Split) -> list[dict[str, Json]]:
        """The tasks of a split as a data set of agent-lightning. They include the correct answers, for the reward."""
        return [asdict(task) for task in self.data_set.load(split)]

    def retriever(self) -> PlaybookRetriever:
        """The retriever of a rollout's bullets, equal to the loop's."""
        settings = learn_settings(self.settings)
        return settings.retriever(self.data_set)


def study(tasks: TrainConfig | DataSet, settings: Mapping[str, Any] | None = None) -> Study:
    """A study of a world's runs, or of a data set, by its rules. `settings` override defaults, by the learner's names.

    UsageError for data sets that need a model, and for models as roles of a world: a model belongs to one event loop,
    but here the player and the loop run in two.
    """
    if isinstance(tasks, TrainConfig):
        if tasks.plays_by_model or tasks.learns_by_model:
            raise UsageError(
                "rules play and reflect under a Trainer, and a model was named; leave it to `akinai learn`"
            )
        options = {**({"online": True} if tasks.online else {}), **(settings or {})}
        data_set, evaluator = world_tasks(tasks), ScoreEvaluator()
    else:
        options, data_set, evaluator = settings or {}, tasks, None
    if data_set.rules is None:
        raise UsageError(f"the data set {data_set.name!r} has no rules to play by; make a `Study` with roles of yours")
    learner_settings = learn_settings(options, defaults=data_set.settings)
    check = find_check(learner_settings.check) if learner_settings.check else data_set.check
    judge = evaluator or AnswerEvaluator(check)
    return Study(data_set, data_set.rules, judge, learner_settings.model_dump(exclude_unset=True))


@dataclass(frozen=True, slots=True)
class RolloutInput:
    """The input of a rollout: a task to try."""

    task: Task
    reflections: tuple[Insights, ...] = ()
    """Reflections on earlier attempts, oldest first."""
    attempt: str = ""
    """The attempt's name in the Generator's assignment."""

    @property
    def assignment(self) -> Assignment:
        """The Generator's assignment."""
        return replace(self.task.assignment, attempt=self.attempt)

    def to_json(self) -> dict[str, Json]:
        reflections = _adapter(tuple[Insights, ...]).dump_python(self.reflections, mode="json")
        return {**asdict(self.task), REFLECTIONS: reflections, ATTEMPT: self.attempt}

    @staticmethod
    def of(data: object) -> "RolloutInput":
        """The input in a rollout's JSON, which may be a task alone. UsageError for anything else."""
        try:
            fields = dict(cast("Mapping[str, Any]", data))
            reflections = _adapter(tuple[Insights, ...]).validate_python(fields.pop(REFLECTIONS, ()))
            attempt = fields.pop(ATTEMPT, "")
            return RolloutInput(Task(**fields), reflections, attempt)
        except (TypeError, ValueError, ValidationError) as error:
            raise UsageError(f"a rollout of {data!r:.80} is no task; hand in the samples of a study") from error


@dataclass(frozen=True, slots=True)
class RolloutRecord:
    """The result of an attempt, which a rollout emits besides its reward."""

    trajectory: Trajectory | None = None
    model_error: str = ""
    """The model's error, if it failed."""
    ending: str = ""
    """Why learning should end, such as a spent budget."""

    def to_json(self) -> Json:
        return _adapter(RolloutRecord).dump_python(self, mode="json")

    @staticmethod
    def of(data: Json) -> "RolloutRecord":
        return _adapter(RolloutRecord).validate_python(data)


@dataclass
class TaskRunner:
    """Attempts tasks with the bullets of any playbook it is given. Belongs to one runner of the Trainer."""

    study: Study
    _retriever: PlaybookRetriever = field(init=False)
    _text: str | None = None
    _mode: Mode = "train"
    _playbook: Playbook = field(default_factory=Playbook)

    def __post_init__(self) -> None:
        self._retriever = self.study.retriever()

    def retrieve(self, assignment: Assignment, playbook: str, mode: Mode) -> Retrieved:
        """The bullets for a task, found as the loop finds them: one retriever while learning, a new one to judge."""
        if playbook != self._text:
            if (mode, self._mode) != ("train", "train"):
                self._retriever = self._retriever.fresh()
            self._text, self._mode = playbook, mode
            self._playbook = loads(playbook, f"the resource {PLAYBOOK!r}") if playbook else Playbook()
        return self._retriever.retrieve(self._playbook, assignment.query)

    async def attempt(self, rollout_input: RolloutInput, playbook: str, mode: Mode) -> tuple[Trajectory, float]:
        """An attempt and its reward: the loop's score for it, 0 without an answer. Raises ModelError and EndRun."""
        assignment = rollout_input.assignment
        retrieved = self.retrieve(assignment, playbook, mode)
        trajectory = await self.study.roles.generator.generate(assignment, retrieved, rollout_input.reflections)
        if trajectory.failed:
            return trajectory, 0.0
        evaluation: Evaluation = await self.study.evaluator.evaluate(rollout_input.task, trajectory)
        return trajectory, evaluation.score


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
