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
from akinai.learning.contest.controls import invented_control, permuted_control
from akinai.learning.data_sets import DataSet
from akinai.learning.loop.evaluation import EvalResult, judge
from akinai.learning.loop.job import Job, Watch, begin, check_ids
from akinai.learning.loop.loop import learn as run_loop
from akinai.learning.loop.near_copies import near_copies
from akinai.learning.loop.provenance import beginning, provenance, remember
from akinai.learning.loop.retriever import Retriever
from akinai.learning.loop.state import Beginning, LoopConfig, LoopState
from akinai.learning.playbook.bullets import Playbook, Section
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.playbook.formats import TEXT_ENDINGS
from akinai.learning.playbook.opening import PLAYBOOKS, expect_playbook, playbook_path
from akinai.learning.playbook.sections import all_sections
from akinai.learning.roles.consistency import AgreementEvaluator, ContrastEvaluator, RepeatedGenerator
from akinai.learning.roles.protocols import Evaluator, ModelUsage, Roles
from akinai.learning.roles.requests import TooManyUnreadable
from akinai.learning.roles.rules import AnswerEvaluator
from akinai.learning.roles.tasks import Split, Task, labels
from akinai.runtime.learn.against import ICL, NONE, OURS, PLACEBO, ContenderScore, ContestScores, compete, find_rivals
from akinai.runtime.learn.arguments import learning_budget, names_in
from akinai.runtime.learn.checks import find_check
from akinai.runtime.learn.plugins import REFINERS, find_plugin
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.result import LearnResult, SplitEvaluation
from akinai.runtime.learn.role_models import ROLES, RoleModels
from akinai.runtime.learn.settings import LearnSettings
from akinai.runtime.models.rate_limit import MAX_CONCURRENCY
from akinai.runtime.options import LearnOptions
from akinai.runtime.sync import wait


def playbook_file(options: LearnOptions, name: str) -> Path:
    """The file of the playbook; without `playbook` the one for a data set of this name."""
    return playbook_path(options["playbook"]) if options["playbook"] else PLAYBOOKS / f"{name}.json"


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
    options: LearnOptions,
    evaluator: Evaluator | None = None,
    models: RoleModels | None = None,
    records: RunRecords | None = None,
) -> LearnResult:
    """Learn, judge, and return the result.

    Roles are made when everything else is checked and open. Without `evaluator` answers are compared with the truth.
    Runs of a world have `records`. Raises what `learn` raises, and on Ctrl-C LearningStopped, or a plain
    KeyboardInterrupt while the playbook is unchanged.
    """
    path = playbook_file(options, data_set.name)
    learning = _Learning(data_set, settings, options, path, evaluator, models, records)
    try:
        return wait(learning.run(make_roles))
    except KeyboardInterrupt:
        if learning.begun or options["judge_only"]:
            raise LearningStopped(path) from None
        raise


@dataclass(frozen=True, slots=True)
class _Tasks:
    train: tuple[Task, ...]
    held_out: tuple[Task, ...]
    judged: Mapping[Split, tuple[Task, ...]]
    """The tasks that judge, validation before test; only splits that have tasks."""


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
    options: LearnOptions
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
            at_once = self.options["jobs"] or MAX_CONCURRENCY
            resources = Resources(self.data_set.name, learning_budget(self.options), self.path, stack, at_once)
            roles = await make_roles(resources)
            job = self._job(tasks, roles)
            runner = await self._runner(job, stack)
            if not self.options["judge_only"]:
                self._begin(job, tasks)
                self.begun = True
            end, state = await self._learn(job, runner)
            evaluations, judging_end = [SplitEvaluation("train")], None
            if not isinstance(end, TooManyUnreadable):
                evaluations, judging_end = await self._judge(job, tasks, state)
            if state.over and judging_end is None:
                await runner.forget()
            end, against = end or judging_end, None
            if rivals and end is None:
                against, end = await self._compete(rivals, job, tasks, state, evaluations[0], resources)
            return LearnResult(
                self.data_set.name,
                roles.label,
                self.path,
                job.playbook.load(),
                state.epochs,
                end.ending if end else "done",
                evaluations[0],
                state.began,
                unfinished=None if state.over else state.counts,
                stopped=end.why if isinstance(end, TooManyUnreadable) else "",
                online=self.settings.online,
                seconds=perf_counter() - start,
                test=evaluations[1] if len(evaluations) > 1 else None,
                judge_only=self.options["judge_only"],
                selected=state.selected,
                against=against,
                servers=resources.servers,
            )

    def _load_tasks(self) -> _Tasks:
        """The tasks by purpose. Held-out tasks are not trained on."""
        settings, load = self.settings, self.data_set.load
        splits: tuple[Split, ...] = () if settings.online else ("validation", "test")
        judged: dict[Split, tuple[Task, ...]] = {split: tasks for split in splits if (tasks := tuple(load(split)))}
        for tasks in judged.values():
            check_ids(tasks)
        if self.options["judge_only"]:
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
        evaluator = self.evaluator or AnswerEvaluator(check, labels([*tasks.train, *chain(*tasks.judged.values())]))
        if settings.no_truth and settings.feedback == "consistency":
            evaluator = AgreementEvaluator(evaluator)
            roles = replace(roles, generator=RepeatedGenerator(roles.generator, settings.consistency_tries))
        elif settings.contrast > 1:
            evaluator = ContrastEvaluator(evaluator)
            roles = replace(roles, generator=RepeatedGenerator(roles.generator, settings.contrast))
        refiners = [find_plugin(REFINERS, "refiner", name) for name in settings.refiners]
        retriever, embedder = settings.retriever(config, self.data_set), settings.embedding()
        file = PlaybookFile(self.path)
        resumes = self.options["judge_only"] or (file.exists() and not self.options["fresh"])
        before = file.load() if resumes else Playbook()
        if resumes:
            expect_playbook(before, self.path)
        if self.path.suffix.lower() in TEXT_ENDINGS and not self.options["judge_only"]:
            raise UsageError(
                f"{str(self.path)!r} is a text, which cannot hold all that a learning writes; "
                "name a playbook in .json or .yaml, or judge this one with --judge-only"
            )
        began = beginning(before, tasks.train)
        _expect_unseen(tasks, before, self.path)
        return Job(
            *(tasks.train, roles, evaluator, file, retriever, config, tasks.held_out),
            began=began,
            embedder=embedder,
            refiners=refiners,
            nodes=self.options["nodes"],
        )

    def _begin(self, job: Job, tasks: _Tasks) -> None:
        """Create the playbook where it is missing, and record what is about to be learned from."""
        learned_from = (*tasks.train, *(tasks.held_out if job.config.gate or job.config.keep_best else ()))
        job.playbook.begin(
            _sections(self.data_set),
            reason="begun with an empty playbook" if self.options["fresh"] else "",
            fresh=self.options["fresh"],
            edit=lambda playbook: remember(playbook, learned_from),
        )

    async def _runner(self, job: Job, stack: AsyncExitStack) -> _Runner:
        """The plain loop, or the graph where there is a checkpoint, which is opened before anything is written."""
        checkpoint, fresh = self.options["checkpoint"], self.options["fresh"]
        if checkpoint is None or self.options["judge_only"]:
            return _Runner(lambda watch: run_loop(job, watch=watch), lambda: asyncio.sleep(0))
        from akinai.learning.loop.graph import checkpointer, learn_in_graph

        saver, thread = await stack.enter_async_context(checkpointer(checkpoint)), str(job.playbook.path)
        return _Runner(
            lambda watch: learn_in_graph(job, saver, thread, fresh=fresh, last=True, watch=watch),
            lambda: saver.adelete_thread(thread),
        )

    async def _learn(self, job: Job, runner: _Runner) -> tuple[EndRun | None, LoopState]:
        """The error that ended the loop early, such as a spent budget, if any, and the loop's last state."""
        newest = begin(job)

        def watch(step: str, state: LoopState) -> None:
            nonlocal newest
            newest = state
            if self.options["watch"]:
                self.options["watch"](step, state)

        try:
            return None, await runner.learn(watch)
        except EndRun as end:
            return end, newest

    async def _judge(
        self, job: Job, tasks: _Tasks, state: LoopState
    ) -> tuple[Sequence[SplitEvaluation], EndRun | None]:
        """Evaluations on every split, with and without the playbook, and the error that ended them early, if any."""
        evaluations: list[SplitEvaluation] = []
        agreement = self.settings.no_truth and self.settings.feedback == "consistency"
        if not tasks.judged:
            judged = None
            if state.first_right and not agreement:
                right = {task.id: right for task, right in zip(tasks.train, state.first_right, strict=False)}
                judged = EvalResult(right, dict(zip(right, state.first_scores, strict=True)))
            clean = self._clean("train", judged, (), state.began)
            evaluations.append(SplitEvaluation("train", judged, clean=clean))
        try:
            for split, split_tasks in tasks.judged.items():
                evaluations.append(SplitEvaluation(split))
                judged = await self._evaluate(job, split_tasks, job.playbook.load())
                near = near_copies((*tasks.train, *tasks.held_out), split_tasks)
                clean = self._clean(split, judged, split_tasks, state.began, near)
                seen = provenance(job.playbook.load())
                copies = sum(task.id in near and not seen.has_text(task) for task in split_tasks)
                evaluations[-1] = SplitEvaluation(split, judged, clean=clean, near=copies)
            for index, evaluation in enumerate(evaluations):
                if self.options["baseline"] and evaluation.judged is not None:
                    same_tasks = tasks.judged.get(evaluation.split) or tasks.train[: len(evaluation.judged.right)]
                    baseline = await self._evaluate(job, same_tasks, Playbook())
                    evaluations[index] = replace(evaluation, baseline=baseline)
                    if evaluation.split in tasks.judged:
                        evaluations[index] = await self._controlled(job, evaluations[index], same_tasks)
        except EndRun as end:
            return evaluations or [SplitEvaluation("train")], end
        return evaluations, None

    async def _controlled(self, job: Job, evaluation: SplitEvaluation, tasks: Sequence[Task]) -> SplitEvaluation:
        """The evaluation with the control of its playbook; as it was where the playbook gives none."""
        playbook, retriever = job.playbook.load(), job.retriever
        control = (
            permuted_control(playbook, retriever) if self.records is None else invented_control(playbook, retriever)
        )
        if control is None:
            return evaluation
        judged = await judge(tasks, control.playbook, job.roles.generator, job.evaluator, control.retriever)
        return replace(evaluation, control=judged, control_name=control.name)

    def _rivals(self, tasks: _Tasks) -> Mapping[str, Rival]:
        """The contenders. UsageError where there are no tasks to compare them on."""
        names = names_in(self.options["against"])
        if names and (self.options["judge_only"] or not tasks.judged or not self.options["baseline"]):
            raise UsageError(
                "others are compared on tasks that nothing was learned from, with and without a playbook, after a "
                "learning; name a file of such tasks, and leave out what judges otherwise"
            )
        if self.settings.no_truth and self.records is None and ICL in names:
            raise UsageError(f"{ICL} shows right answers, and this learning is to know none; leave one of the two out")
        return find_rivals(names, has_model=bool(self.models), on_runs=self.records is not None)

    async def _compete(
        self,
        rivals: Mapping[str, Rival],
        job: Job,
        tasks: _Tasks,
        state: LoopState,
        evaluation: SplitEvaluation,
        resources: Resources,
    ) -> tuple[ContestScores | None, EndRun | None]:
        """Compare the playbook with the contenders on the tasks of the first split."""
        ours, baseline = evaluation.judged, evaluation.baseline
        assert ours is not None
        assert baseline is not None
        judged, settings, ask = tasks.judged[evaluation.split], self.settings, None
        if self.models:
            by_role = {role: next(iter(self.models.by_role.values())) for role in ROLES} | {**self.models.by_role}
            ask = await resources.askers(replace(self.models, by_role=by_role), structured=settings.structured)
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
            injected_tokens=ours.injected_tokens / max(1, len(ours.right)),
            open_file=lambda name: PlaybookFile(self.path.with_name(f"{self.path.stem}.{name}.json")),
            ask=ask,
            templates=settings.templates(self.data_set),
            budget_tokens=settings.curator_budget_tokens,
            tries=settings.tries,
            records=self.records,
        )
        scores = [ContenderScore(NONE, baseline), ContenderScore(OURS, ours, spent, not settings.no_truth)]
        control = ""
        if evaluation.control is not None:
            control = PLACEBO if self.records is None else evaluation.control_name
            scores.append(ContenderScore(control, evaluation.control))
        first = ContestScores(tuple(scores), self.records is None, control)
        return await compete(rivals, contest, judged, first)

    async def _evaluate(self, job: Job, tasks: Sequence[Task], playbook: Playbook) -> EvalResult:
        return await judge(tasks, playbook, job.roles.generator, job.evaluator, job.retriever.fresh())

    def _clean(
        self,
        split: Split,
        judged: EvalResult | None,
        tasks: Sequence[Task],
        began: Beginning,
        near: frozenset[str] = frozenset(),
    ) -> EvalResult | None:
        """The judged tasks that no bullet had seen when they were judged; None where that cannot be said."""
        if judged is None or began.unrecorded:
            return None
        if split == "train":
            unseen = [id for id in judged.right if id not in frozenset(began.seen)]
            return judged.only(unseen) if self.settings.online and began.seen else None
        seen = provenance(PlaybookFile(self.path).load())
        return judged.only([task.id for task in tasks if task not in seen and task.id not in near])


def _expect_unseen(tasks: _Tasks, before: Playbook, path: Path) -> None:
    """UsageError for a run that judges and that bullets come from: it would say nothing about other runs."""
    seen = provenance(remember(before, tasks.train))
    if both := next((task for task in chain(*tasks.judged.values()) if task.identity and task in seen), None):
        raise UsageError(
            f"{both.id!r} is to judge, and {path} is learned from the same run; "
            "judge by other seeds (--eval-seeds), or begin with an empty playbook (--fresh)"
        )


def _sections(data_set: DataSet) -> tuple[Section, ...]:
    sections = all_sections()
    return data_set.sections or sections.get(data_set.name) or sections["custom"]
