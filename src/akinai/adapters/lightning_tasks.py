"""What passes between the ACE loop and the rollouts of agent-lightning: JSON. Nothing of the package is here."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from pydantic import TypeAdapter, ValidationError

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.learning.formats import loads
from akinai.learning.loop_shelf import Shelf
from akinai.learning.playbook import Playbook
from akinai.learning.roles import Evaluation, Evaluator, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles_by_rules import AnswerEvaluator
from akinai.learning.tasks import Assignment, DataSet, Split, Task
from akinai.runtime.learn_settings import check_named, learn_settings
from akinai.runtime.learn_world import ByScore, Practice, world_tasks

Mode: TypeAlias = Literal["train", "val"]

PLAYBOOK = "playbook"
"""The resource that holds the playbook, as text."""
REFLECTIONS, ATTEMPT = "reflections", "attempt"
"""In a rollout's input, beside the fields of the task."""


@dataclass(frozen=True, slots=True)
class Study:
    """What is learned, by whom, and how it is judged: the same for the algorithm and for its rollouts."""

    data_set: DataSet
    roles: Roles
    evaluator: Evaluator
    settings: Mapping[str, Any]
    """Of the learner, by name, those of the data set among them."""

    def samples(self, split: Split) -> list[dict[str, Json]]:
        """The tasks of a split as a data set of agent-lightning. The truth is in them, for the reward."""
        return [asdict(task) for task in self.data_set.load(split)]

    def shelf(self) -> Shelf:
        """Where a rollout's bullets come from: as the loop has it."""
        settings = learn_settings(self.settings)
        plan = settings.plan(thinks=self.roles.thinks)
        return self.data_set.shelf(plan) if self.data_set.shelf else settings.shelf(plan)


def study(tasks: Practice | DataSet, settings: Mapping[str, Any] | None = None) -> Study:
    """Runs of a world, or a data set, with its rules; `settings` go over what suits them, by the learner's names.

    UsageError for what only a model can do, and for models as roles of a world: those belong to one event loop, and
    here a player and the loop have one each.
    """
    if isinstance(tasks, Practice):
        if tasks.plays_by_model or tasks.learns_by_model:
            raise UsageError(
                "rules play and reflect under a Trainer, and a model was named; leave it to `akinai learn`"
            )
        given = {**({"online": True} if tasks.online else {}), **(settings or {})}
        data_set, evaluator = world_tasks(tasks), ByScore()
    else:
        given, data_set, evaluator = settings or {}, tasks, None
    if data_set.rules is None:
        raise UsageError(f"the data set {data_set.name!r} has no rules to play by; make a `Study` with roles of yours")
    chosen = learn_settings(given, beneath=data_set.settings)
    check = check_named(chosen.check) if chosen.check else data_set.check
    judge = evaluator or AnswerEvaluator(check)
    return Study(data_set, data_set.rules, judge, chosen.model_dump(exclude_unset=True))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A try that is wanted: the input of a rollout."""

    task: Task
    reflections: tuple[Insights, ...] = ()
    """On earlier tries at it, oldest first."""
    attempt: str = ""
    """As the Generator is told in its assignment."""

    @property
    def assignment(self) -> Assignment:
        """What the Generator gets."""
        return replace(self.task.assignment, attempt=self.attempt)

    def to_json(self) -> dict[str, Json]:
        told = _adapter(tuple[Insights, ...]).dump_python(self.reflections, mode="json")
        return {**asdict(self.task), REFLECTIONS: told, ATTEMPT: self.attempt}

    @staticmethod
    def of(told: object) -> "Wanted":
        """From a rollout's input; a task alone will do. UsageError for anything else."""
        try:
            fields = dict(cast("Mapping[str, Any]", told))
            reflections = _adapter(tuple[Insights, ...]).validate_python(fields.pop(REFLECTIONS, ()))
            attempt = fields.pop(ATTEMPT, "")
            return Wanted(Task(**fields), reflections, attempt)
        except (TypeError, ValueError, ValidationError) as error:
            raise UsageError(f"a rollout of {told!r:.80} is no task; hand in the samples of a study") from error


@dataclass(frozen=True, slots=True)
class Tried:
    """How a try went: what a rollout leaves beside its reward."""

    trajectory: Trajectory | None = None
    broken: str = ""
    """What broke in place of a trajectory: the model, in the words of its error."""
    ending: str = ""
    """Why the learning should end, such as a budget that is spent."""

    def to_json(self) -> Json:
        return _adapter(Tried).dump_python(self, mode="json")

    @staticmethod
    def of(told: Json) -> "Tried":
        return _adapter(Tried).validate_python(told)


@dataclass
class Bench:
    """Where tries are made: a Generator with the bullets of whatever playbook it is handed. Of one runner."""

    study: Study
    _shelf: Shelf = field(init=False)
    _text: str | None = None
    _mode: Mode = "train"
    _playbook: Playbook = field(default_factory=Playbook)

    def __post_init__(self) -> None:
        self._shelf = self.study.shelf()

    def given(self, assignment: Assignment, playbook: str, mode: Mode) -> Retrieved:
        """The bullets of a task, found as the loop finds them: on one shelf while it learns, on a new one to judge."""
        if playbook != self._text:
            if (mode, self._mode) != ("train", "train"):
                self._shelf = self._shelf.another()
            self._text, self._mode = playbook, mode
            self._playbook = loads(playbook, f"the resource {PLAYBOOK!r}") if playbook else Playbook()
        return self._shelf.retrieve(self._playbook, assignment.query)

    async def tried(self, wanted: Wanted, playbook: str, mode: Mode) -> tuple[Trajectory, float]:
        """A try and its reward: the score that the loop gives it, 0 where there is no answer. ModelError; EndRun."""
        assignment = wanted.assignment
        given = self.given(assignment, playbook, mode)
        trajectory = await self.study.roles.generator.generate(assignment, given, wanted.reflections)
        if trajectory.failed:
            return trajectory, 0.0
        evaluation: Evaluation = await self.study.evaluator.evaluate(wanted.task, trajectory)
        return trajectory, evaluation.score


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
