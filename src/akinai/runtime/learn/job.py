"""One learning from beginning to end: the loop, plain or as a graph with checkpoints, and the evaluation after it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from time import perf_counter

from akinai.core.errors import EndRun, UsageError
from akinai.learning.contest.contenders import Contest, Rival, RunRecords
from akinai.learning.data_sets import DataSet
from akinai.learning.loop.evaluation import EvalResult, judge
from akinai.learning.loop.job import Job, Node, Watch, begin, check_ids
from akinai.learning.loop.loop import learn as run_loop
from akinai.learning.loop.provenance import beginning, provenance, remember
from akinai.learning.loop.retriever import Retriever
from akinai.learning.loop.state import Beginning, LoopConfig, LoopState
from akinai.learning.playbook.bullets import Playbook, Section
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.playbook.sections import all_sections
from akinai.learning.roles.consistency import AgreementEvaluator, ContrastEvaluator, RepeatedGenerator
from akinai.learning.roles.protocols import Evaluator, ModelUsage, Roles
from akinai.learning.roles.requests import TooManyUnreadable
from akinai.learning.roles.rules import AnswerEvaluator
from akinai.learning.roles.tasks import Split, Task
from akinai.runtime.learn.against import ICL, NONE, OURS, Against, Standing, compete, find_rivals
from akinai.runtime.learn.checks import find_check
from akinai.runtime.learn.plugins import REFINERS, find_plugin
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.result import Judgement, LearnResult
from akinai.runtime.learn.role_models import ROLES, RoleModels
from akinai.runtime.learn.settings import LearnSettings
from akinai.runtime.models.budget import NO_BUDGET, Budget
from akinai.runtime.models.rate_limit import MAX_CONCURRENCY
from akinai.runtime.runs.work import check_jobs
from akinai.runtime.sync import wait

PLAYBOOKS = Path("data") / "playbooks"
"""The folder of playbooks, one file for each data set."""


@dataclass(frozen=True, slots=True)
class JobConfig:
    """How a learning is run, whatever it learns from."""

    playbook: Path | str | None = None
    """The playbook's file; None: `data/playbooks/<name>.json`."""
    budget: Budget = NO_BUDGET
    checkpoint: str | None = None
    """A file, or the DSN of a PostgreSQL."""
    fresh: bool = False
    """Whether to begin with an empty playbook, and not to resume an unfinished learning."""
    baseline: bool = True
    """Whether the same tasks are judged without a playbook too."""
    judge_only: bool = False
    """Judge the playbook as it is, and learn nothing."""
    watch: Watch | None = None
    nodes: Sequence[Node] = ()
    """Steps of one's own in the loop."""
    against: Sequence[str] = ()
    """Contenders to compare the playbook with, by name."""
    jobs: int | None = None
    """Calls of each model at a time, and runs that ask models; or processes that play the runs of rules which judge.
    None: `MAX_CONCURRENCY`, and this process."""
    on: str | None = None
    """The engine that plays runs, as `--on` has it."""

    def __post_init__(self) -> None:
        if self.jobs is not None:
            check_jobs(self.jobs)

    def playbook_of(self, name: str) -> Path:
        """The file of the playbook, for a data set of this name."""
        return Path(self.playbook) if self.playbook else PLAYBOOKS / f"{name}.json"


MakeRoles = Callable[[Resources], Awaitable[Roles]]


class LearningStopped(KeyboardInterrupt):
    """Ctrl-C during a learning that has begun, or that only judges."""

    def __init__(self, playbook: Path) -> None:
        super().__init__()
        self.playbook = playbook
        """The file that holds what was learned until then."""


def run_job(
    data_set: DataSet,
    settings: LearnSettings,
    make_roles: MakeRoles,
    config: JobConfig,
    evaluator: Evaluator | None = None,
    models: RoleModels | None = None,
    records: RunRecords | None = None,
) -> LearnResult:
    """Learn, judge, and return the result. Roles are made when everything else is checked and open; without
    `evaluator` answers are compared with the truth; runs of a world have `records`. Errors as in `learn`, and
    LearningStopped on Ctrl-C, a plain KeyboardInterrupt where the playbook is as it was.
    """
    path = config.playbook_of(data_set.name)
    learning = _Learning(data_set, settings, config, path, evaluator, models, records)
    try:
        return wait(learning.run(make_roles))
    except KeyboardInterrupt:
        if learning.begun or config.judge_only:
            raise LearningStopped(path) from None
        raise


@dataclass(frozen=True, slots=True)
class _Tasks:
    train: tuple[Task, ...]
    held_out: tuple[Task, ...]
    judged: Mapping[Split, tuple[Task, ...]]
    """Those that judge, validation before test; only splits that have tasks."""


@dataclass(frozen=True, slots=True)
class _Runner:
    learn: Callable[[Watch], Awaitable[LoopState]]
    """Runs the loop to its end."""
    forget: Callable[[], Awaitable[None]]
    """Deletes the checkpoint: a learning is over when its playbook is judged."""


@dataclass(slots=True)
class _Learning:
    data_set: DataSet
    settings: LearnSettings
    config: JobConfig
    path: Path
    evaluator: Evaluator | None
    models: RoleModels | None = None
    """For contenders that ask a model."""
    records: RunRecords | None = None
    begun: bool = False
    """Whether the playbook's file was opened for this learning."""

    async def run(self, make_roles: MakeRoles) -> LearnResult:
        start = perf_counter()
        async with AsyncExitStack() as stack:
            tasks = self._load_tasks()
            rivals = self._rivals(tasks)
            at_once = self.config.jobs or MAX_CONCURRENCY
            resources = Resources(self.data_set.name, self.config.budget, self.path, stack, at_once)
            roles = await make_roles(resources)
            job = self._job(tasks, roles)
            runner = await self._runner(job, stack)
            if not self.config.judge_only:
                self._begin(job, tasks)
                self.begun = True
            end, state = await self._learn(job, runner)
            stopped = isinstance(end, TooManyUnreadable)
            (judgement, *further), cut = (
                ([Judgement("train")], None) if stopped else await self._judge(job, tasks, state)
            )
            if state.over and cut is None:
                await runner.forget()
            end, against = end or cut, None
            if rivals and end is None:
                against, end = await self._compete(rivals, job, tasks, state, judgement, resources)
            return LearnResult(
                self.data_set.name,
                roles.label,
                self.path,
                job.playbook.load(),
                state.epochs,
                end.ending if end else "done",
                judgement,
                state.began,
                unfinished=None if state.over else state.counts,
                stopped=end.why if isinstance(end, TooManyUnreadable) else "",
                online=self.settings.online,
                seconds=perf_counter() - start,
                test=further[0] if further else None,
                judge_only=self.config.judge_only,
                selected=state.selected,
                against=against,
            )

    def _load_tasks(self) -> _Tasks:
        """The tasks by purpose. Held-out tasks are not trained on."""
        settings, load = self.settings, self.data_set.load
        splits: tuple[Split, ...] = () if settings.online else ("validation", "test")
        judged: dict[Split, tuple[Task, ...]] = {split: found for split in splits if (found := tuple(load(split)))}
        for found in judged.values():
            check_ids(found)
        if self.config.judge_only:
            if not judged:
                raise UsageError(
                    f"the data set {self.data_set.name!r} has no tasks to judge by; name a file that holds some"
                )
            return _Tasks((), (), judged)
        train = tuple(load("train"))
        held_out = tuple(load("held_out"))
        if settings.held_out and not held_out:
            if settings.held_out >= len(train):
                raise UsageError(f"{settings.held_out} tasks to be held out of {len(train)}; leave some to learn from")
            train, held_out = train[: -settings.held_out], train[-settings.held_out :]
        train = train[: settings.limit] if settings.limit else train
        if not train:
            raise UsageError(f"the data set {self.data_set.name!r} has no training tasks; name a file that holds some")
        return _Tasks(train, held_out, judged)

    def _job(self, tasks: _Tasks, roles: Roles) -> Job:
        settings = self.settings
        config = settings.loop_config(uses_model=roles.uses_model)
        check = find_check(settings.check) if settings.check else self.data_set.check
        evaluator = self.evaluator or AnswerEvaluator(check)
        if settings.no_truth and settings.feedback == "consistency":
            evaluator = AgreementEvaluator(evaluator)
            roles = replace(roles, generator=RepeatedGenerator(roles.generator, settings.consistency_tries))
        elif settings.contrast > 1:
            evaluator = ContrastEvaluator(evaluator)
            roles = replace(roles, generator=RepeatedGenerator(roles.generator, settings.contrast))
        refiners = [find_plugin(REFINERS, "refiner", name) for name in settings.refiners]
        retriever, embedder = settings.retriever(config, self.data_set), settings.embedding()
        file = PlaybookFile(self.path)
        known = self.config.judge_only or (file.exists() and not self.config.fresh)
        before = file.load() if known else Playbook()
        began = beginning(before, tasks.train)
        _expect_unseen(tasks, before, self.path)
        return Job(
            *(tasks.train, roles, evaluator, file, retriever, config, tasks.held_out),
            began=began,
            embedder=embedder,
            refiners=refiners,
            nodes=self.config.nodes,
        )

    def _begin(self, job: Job, tasks: _Tasks) -> None:
        """Create the playbook where it is missing, and record what is about to be learned from."""
        learned_from = (*tasks.train, *(tasks.held_out if job.config.gate or job.config.keep_best else ()))
        job.playbook.begin(
            _sections(self.data_set),
            reason="begun with an empty playbook" if self.config.fresh else "",
            fresh=self.config.fresh,
            edit=lambda playbook: remember(playbook, learned_from),
        )

    async def _runner(self, job: Job, stack: AsyncExitStack) -> _Runner:
        """The plain loop, or the graph where there is a checkpoint, which is opened before anything is written."""
        place, fresh = self.config.checkpoint, self.config.fresh
        if place is None or self.config.judge_only:
            return _Runner(lambda watch: run_loop(job, watch=watch), lambda: asyncio.sleep(0))
        from akinai.learning.loop.graph import checkpointer, learn_in_graph

        saver, thread = await stack.enter_async_context(checkpointer(place)), str(job.playbook.path)
        return _Runner(
            lambda watch: learn_in_graph(job, saver, thread, fresh=fresh, last=True, watch=watch),
            lambda: saver.adelete_thread(thread),
        )

    async def _learn(self, job: Job, runner: _Runner) -> tuple[EndRun | None, LoopState]:
        """What ended the loop early, such as a spent budget, and its last state."""
        newest = begin(job)

        def watch(step: str, state: LoopState) -> None:
            nonlocal newest
            newest = state
            if self.config.watch:
                self.config.watch(step, state)

        try:
            return None, await runner.learn(watch)
        except EndRun as end:
            return end, newest

    async def _judge(self, job: Job, tasks: _Tasks, state: LoopState) -> tuple[Sequence[Judgement], EndRun | None]:
        """Judge the playbook on every split, and the same tasks without a playbook; and what ended it early."""
        done: list[Judgement] = []
        agreement = self.settings.no_truth and self.settings.feedback == "consistency"
        if not tasks.judged:
            judged = None
            if state.first_right and not agreement:
                right = {task.id: right for task, right in zip(tasks.train, state.first_right, strict=False)}
                judged = EvalResult(right, dict(zip(right, state.first_scores, strict=True)))
            done.append(Judgement("train", judged, clean=self._clean("train", judged, (), state.began)))
        try:
            for split, found in tasks.judged.items():
                done.append(Judgement(split))
                judged = await self._evaluate(job, found, job.playbook.load())
                done[-1] = Judgement(split, judged, clean=self._clean(split, judged, found, state.began))
            for number, judgement in enumerate(done):
                if self.config.baseline and judgement.judged is not None:
                    same = tasks.judged.get(judgement.split) or tasks.train[: len(judgement.judged.right)]
                    done[number] = replace(judgement, baseline=await self._evaluate(job, same, Playbook()))
        except EndRun as end:
            return done or [Judgement("train")], end
        return done, None

    def _rivals(self, tasks: _Tasks) -> Mapping[str, Rival]:
        """The contenders. UsageError where there are no tasks to compare them on."""
        if self.config.against and (self.config.judge_only or not tasks.judged or not self.config.baseline):
            raise UsageError(
                "others are compared on tasks that nothing was learned from, with and without a playbook, after a "
                "learning; name a file of such tasks, and leave out what judges otherwise"
            )
        if self.settings.no_truth and self.records is None and ICL in self.config.against:
            raise UsageError(f"{ICL} shows right answers, and this learning is to know none; leave one of the two out")
        return find_rivals(self.config.against, has_model=bool(self.models), on_runs=self.records is not None)

    async def _compete(
        self,
        rivals: Mapping[str, Rival],
        job: Job,
        tasks: _Tasks,
        state: LoopState,
        judgement: Judgement,
        resources: Resources,
    ) -> tuple[Against | None, EndRun | None]:
        """Compare the playbook with the contenders on the tasks of the first split."""
        ours, none = judgement.judged, judgement.baseline
        assert ours is not None
        assert none is not None
        judged, settings, ask = tasks.judged[judgement.split], self.settings, None
        if self.models:
            everyone = {role: next(iter(self.models.by_role.values())) for role in ROLES} | {**self.models.by_role}
            ask = await resources.askers(replace(self.models, by_role=everyone), structured=settings.structured)
        spent = sum((epoch.counts.usage for epoch in state.epochs), ModelUsage()) + sum(
            (selected.usage for selected in state.selected), ModelUsage()
        )

        def retriever(config: LoopConfig) -> Retriever:
            return settings.retriever(config, self.data_set)

        contest = Contest(
            tasks.train,
            [task.assignment for task in judged],
            job.roles,
            job.evaluator,
            job.config,
            job.playbook.load(),
            retriever,
            tokens=spent.tokens.input + spent.tokens.output,
            injected=ours.injected,
            injected_tokens=ours.injected_tokens / max(1, len(ours.right)),
            open_file=lambda name: PlaybookFile(self.path.with_name(f"{self.path.stem}.{name}.json")),
            ask=ask,
            templates=settings.templates(self.data_set),
            budget_tokens=settings.curator_budget_tokens,
            tries=settings.tries,
            records=self.records,
        )
        first = (Standing(NONE, none), Standing(OURS, ours, spent))
        return await compete(rivals, contest, judged, first)

    async def _evaluate(self, job: Job, tasks: Sequence[Task], playbook: Playbook) -> EvalResult:
        return await judge(tasks, playbook, job.roles.generator, job.evaluator, job.retriever.fresh())

    def _clean(
        self, split: Split, judged: EvalResult | None, tasks: Sequence[Task], began: Beginning
    ) -> EvalResult | None:
        """The judged tasks that no bullet had seen when they were judged; None where that cannot be said."""
        if judged is None or began.unrecorded:
            return None
        if split == "train":
            unseen = [id for id in judged.right if id not in frozenset(began.seen)]
            return judged.only(unseen) if self.settings.online and began.seen else None
        seen = provenance(PlaybookFile(self.path).load())
        return judged.only([task.id for task in tasks if task not in seen])


def _expect_unseen(tasks: _Tasks, before: Playbook, path: Path) -> None:
    """UsageError for runs that judge and that bullets come from: they would say nothing about other runs."""
    seen = provenance(remember(before, tasks.train))
    if both := next((task for task in chain(*tasks.judged.values()) if task.identity and task in seen), None):
        raise UsageError(
            f"{both.id!r} is to judge, and {path} is learned from the same run; "
            "judge by other seeds (--eval-seeds), or begin with an empty playbook (--fresh)"
        )


def _sections(data_set: DataSet) -> tuple[Section, ...]:
    known = all_sections()
    return data_set.sections or known.get(data_set.name) or known["custom"]
