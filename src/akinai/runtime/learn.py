"""Learning as a person asks for it: a data set or a world, a playbook on disk, and what came of it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.errors import EndRun, UsageError
from akinai.core.models import Asker
from akinai.core.statistics import Comparison
from akinai.learning.loop import Course, Watch, begin, expect_ids
from akinai.learning.loop import learn as run_loop
from akinai.learning.loop_judging import Judgement, gain, judge
from akinai.learning.loop_records import EpochReport, State, StepName
from akinai.learning.playbook import Playbook, Section
from akinai.learning.playbook_file import PlaybookFile
from akinai.learning.roles import Evaluator, Roles
from akinai.learning.roles_by_model import model_roles
from akinai.learning.roles_by_rules import AnswerEvaluator
from akinai.learning.sections import all_sections
from akinai.learning.tasks import DataSet, Split, Task
from akinai.runtime.budget import NO_BUDGET, Budget, Meter
from akinai.runtime.cast import ModelChoice
from akinai.runtime.learn_calls import CallBook, MeteredAsker
from akinai.runtime.learn_settings import LearnSettings, check_named, find_data_set, learn_settings
from akinai.runtime.stage import known_prices
from akinai.runtime.waiting import wait

PLAYBOOKS = Path("data") / "playbooks"
"""Where playbooks are kept, one file a data set."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What a learning came to."""

    data_set: str
    label: str
    """Who played the roles: "rules", or the model's name."""
    path: Path
    """The playbook's file."""
    playbook: Playbook
    epochs: tuple[EpochReport, ...]
    ending: str
    """"done", or "budget" when that was spent before: learning goes on from its checkpoint, if it has one."""
    split: Split
    """What was judged: "validation", or "train" where there is none and in online learning."""
    judged: Judgement | None
    """With the playbook that was learned; in online learning each task before anything was learned from it."""
    baseline: Judgement | None
    """The same tasks without a playbook."""

    @property
    def gain(self) -> Comparison | None:
        """What the playbook did for the same tasks: difference of the scores with its interval, wins and losses."""
        return gain(self.baseline, self.judged) if self.baseline and self.judged else None

    def to_json(self) -> dict[str, Json]:
        return {
            "data_set": self.data_set,
            "roles": self.label,
            "playbook": str(self.path),
            "playbook_size": len(self.playbook),
            "ending": self.ending,
            "epochs": [epoch.to_json() for epoch in self.epochs],
            "split": self.split,
            "judged": self.judged.to_json() if self.judged else None,
            "baseline": self.baseline.to_json() if self.baseline else None,
            "gain": self.gain.to_json() if self.gain else None,
        }


def learn(
    tasks: str | DataSet,
    *,
    playbook: Path | str | None = None,
    epochs: int | None = None,
    online: bool | None = None,
    model: str | ModelChoice | None = None,
    base_url: str | None = None,
    roles: Roles | None = None,
    evaluator: Evaluator | None = None,
    checkpoint: str | None = None,
    anew: bool = False,
    baseline: bool = True,
    budget: Budget = NO_BUDGET,
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> Learned:
    """Learn a playbook from the training tasks of a data set, and judge it on the validation tasks, once.

    `tasks` is a `DataSet` or the name of one; `options` go to the one of that name (such as the paths of its files).
    Without `model` and `roles` the rules of the data set play. `settings` go over `[learn]` of `akinai.toml`, by the
    names of `LearnSettings`. The playbook is `data/playbooks/<name>.json` and is added to when it is there.
    `checkpoint` (a file, or the DSN of a PostgreSQL) runs the loop as a LangGraph graph: when a learning of that
    playbook is unfinished there it goes on at its step, unless `anew`. `baseline` answers the judged tasks without a
    playbook too. `watch` is told of each step.

    UsageError, before anything is written, for what cannot be learned as asked; MissingExtra; ModelError when the model
    stays broken.
    """
    given = {"epochs": epochs, "online": online}
    asked = {**(settings or {}), **{name: value for name, value in given.items() if value is not None}}
    data_set = find_data_set(tasks, learn_settings(asked), options) if isinstance(tasks, str) else tasks
    by_rules = model is None and roles is None
    chosen = learn_settings(asked, beneath=data_set.settings if by_rules else {})
    if isinstance(model, str):
        model = ModelChoice(model, base_url)
    how = How(chosen, data_set, model, budget, checkpoint, anew, baseline, watch)

    async def made(means: Means) -> Roles:
        return roles or await _roles(how, means)

    return learn_as(how, made, playbook=playbook, evaluator=evaluator)


@dataclass(frozen=True, slots=True)
class How:
    """How a data set is learned."""

    settings: LearnSettings
    data_set: DataSet
    model: ModelChoice | None
    budget: Budget
    checkpoint: str | None
    anew: bool
    baseline: bool
    watch: Watch | None


class Means:
    """What roles may be made of: models that are closed when the learning is over, and one budget for them all."""

    def __init__(self, how: How, book: CallBook, stack: AsyncExitStack) -> None:
        self.stack = stack
        """Closed when the learning is over."""
        self.meter = Meter(how.budget, known_prices())
        """Counts the calls of all roles together."""
        self._book, self._label = book, f"learn-{how.data_set.name}"

    async def asker(self, choice: ModelChoice) -> Callable[[str], Asker]:
        """A model's askers by role; each call goes into the book beside the playbook. UsageError for a model that
        cannot be asked."""
        from akinai.runtime.models import open_model

        self.meter.expect(choice.name)
        sampling = {"temperature": choice.temperature, "max_tokens": choice.max_tokens, "seed": choice.seed}
        opened = open_model(choice.name, base_url=choice.base_url, **cast("dict[str, Any]", sampling))
        model = await self.stack.enter_async_context(opened)
        return lambda role: MeteredAsker(role, model.labelled(f"{self._label}/{role}"), self.meter, self._book)


def learn_as(
    how: How,
    made: Callable[[Means], Awaitable[Roles]],
    *,
    playbook: Path | str | None = None,
    evaluator: Evaluator | None = None,
) -> Learned:
    """Learn by roles that are made when all is checked and open; the rest is as in `learn`."""
    path = Path(playbook) if playbook else PLAYBOOKS / f"{how.data_set.name}.json"
    return wait(_learn(how, path, made, evaluator))


@dataclass(frozen=True, slots=True)
class _Tasks:
    train: tuple[Task, ...]
    held_out: tuple[Task, ...]
    validation: tuple[Task, ...]


async def _learn(
    how: How, path: Path, made: Callable[[Means], Awaitable[Roles]], evaluator: Evaluator | None
) -> Learned:
    async with AsyncExitStack() as stack:
        tasks = _tasks(how)
        roles = await made(Means(how, CallBook.beside(path), stack))
        course = _course(how, tasks, roles, evaluator, PlaybookFile(path))
        run = await _runner(how, course, stack)
        course.playbook.begin(_sections(how.data_set))
        ending, state = await _run(how, course, run.learn)
        split, judged, baseline, cut = await _judged(how, course, tasks, state)
        if state.over and not cut:
            await run.forget()
        ending = cut if ending == "done" and cut else ending
        playbook = course.playbook.load()
        return Learned(how.data_set.name, roles.label, path, playbook, state.epochs, ending, split, judged, baseline)


def _course(how: How, tasks: _Tasks, roles: Roles, evaluator: Evaluator | None, file: PlaybookFile) -> Course:
    plan = how.settings.plan(thinks=roles.thinks)
    check = check_named(how.settings.check) if how.settings.check else how.data_set.check
    shelf = how.data_set.shelf(plan) if how.data_set.shelf else how.settings.shelf(plan)
    return Course(tasks.train, roles, evaluator or AnswerEvaluator(check), file, shelf, plan, tasks.held_out)


def _tasks(how: How) -> _Tasks:
    """The tasks by what they are for; what is held out of the training tasks is not trained on."""
    settings, load = how.settings, how.data_set.load
    train = tuple(load("train"))
    held_out = tuple(load("held_out"))
    if settings.held_out and not held_out:
        if settings.held_out >= len(train):
            raise UsageError(f"{settings.held_out} tasks to be held out of {len(train)}; leave some to learn from")
        train, held_out = train[: -settings.held_out], train[-settings.held_out :]
    train = train[: settings.limit] if settings.limit else train
    if not train:
        raise UsageError(f"the data set {how.data_set.name!r} has no training tasks; name a file that holds some")
    validation = () if settings.online else tuple(load("validation"))
    expect_ids(validation)
    return _Tasks(train, held_out, validation)


def _sections(data_set: DataSet) -> tuple[Section, ...]:
    known = all_sections()
    return data_set.sections or known.get(data_set.name) or known["custom"]


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs a course to its end, and forgets where it stood when its playbook is judged: then a learning is over."""

    learn: Callable[[Watch], Awaitable[State]]
    forget: Callable[[], Awaitable[None]]


async def _runner(how: How, course: Course, stack: AsyncExitStack) -> Runner:
    """The loop, or where a checkpoint is asked for the graph; the checkpoint is opened before anything is written."""
    place = how.checkpoint
    if place is None:
        return Runner(lambda watch: run_loop(course, watch=watch), lambda: asyncio.sleep(0))
    from akinai.learning.graph import checkpointer, learn_in_graph

    saver, thread = await stack.enter_async_context(checkpointer(place)), str(course.playbook.path)
    return Runner(
        lambda watch: learn_in_graph(course, saver, thread, anew=how.anew, last=True, watch=watch),
        lambda: saver.adelete_thread(thread),
    )


async def _run(how: How, course: Course, run: Callable[[Watch], Awaitable[State]]) -> tuple[str, State]:
    """The loop to its end, or to where the budget ended."""
    newest = begin(course)

    def watched(step: StepName, state: State) -> None:
        nonlocal newest
        newest = state
        if how.watch:
            how.watch(step, state)

    try:
        return "done", await run(watched)
    except EndRun as end:
        return end.ending, newest


async def _judged(
    how: How, course: Course, tasks: _Tasks, state: State
) -> tuple[Split, Judgement | None, Judgement | None, str]:
    """How the playbook did and how none did; nothing when the budget is spent on the way, and then its ending."""
    generator, evaluator = course.roles.generator, course.evaluator
    judged: Judgement | None = None
    split: Split = "validation" if tasks.validation else "train"
    try:
        if tasks.validation:
            shelf = course.shelf.another()
            judged = await judge(tasks.validation, course.playbook.load(), generator, evaluator, shelf)
        elif state.marks:
            right = {task.id: mark == "1" for task, mark in zip(tasks.train, state.marks, strict=False)}
            judged = Judgement(right, dict(zip(right, state.worth, strict=True)))
        if judged is None or not how.baseline:
            return split, judged, None, ""
        asked = tasks.validation or tasks.train[: len(judged.right)]
        return split, judged, await judge(asked, Playbook(), generator, evaluator, course.shelf.another()), ""
    except EndRun as end:
        return split, judged, None, end.ending


async def _roles(how: How, means: Means) -> Roles:
    """The roles of the model; or the rules of the data set."""
    if how.model is None:
        if how.data_set.rules is None:
            raise UsageError(
                f"the data set {how.data_set.name!r} has no rules to play by; name a model, such as openai:gpt-5-mini"
            )
        return how.data_set.rules
    settings = how.settings
    return model_roles(
        await means.asker(how.model),
        how.model.name,
        settings.templates(how.data_set),
        tries=settings.tries,
        budget_tokens=settings.curator_budget_tokens,
    )
