"""`learn`: a playbook from a data set or from the runs of a world, by name or as an object."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

from akinai.core.errors import EndRun, UsageError, why_unreadable
from akinai.core.lessons import RECORD, AdviceKinds, split_record
from akinai.core.worlds import World
from akinai.learning.contest.contenders import Contest
from akinai.learning.contest.controls import invented_control, permuted_control
from akinai.learning.data_sets import DataSet
from akinai.learning.loop.evaluation import EvalResult, judge
from akinai.learning.loop.graph import INTERRUPTED, checkpointer, close_thread, learn_in_graph
from akinai.learning.loop.job import Job, begin, check_ids
from akinai.learning.loop.loop import learn as run_loop
from akinai.learning.loop.provenance import beginning, near_copies, provenance, remember
from akinai.learning.loop.state import LoopState
from akinai.learning.playbook.bullets import Bullet, Playbook
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.playbook.formats import TEXT_ENDINGS
from akinai.learning.playbook.opening import expect_playbook
from akinai.learning.playbook.sections import all_sections
from akinai.learning.roles.model import model_roles
from akinai.learning.roles.protocols import Evaluator, Roles
from akinai.learning.roles.requests import TooManyUnreadable
from akinai.learning.roles.rules import AgreementEvaluator, AnswerEvaluator, ContrastEvaluator, RepeatedGenerator
from akinai.learning.roles.tasks import Split, Task, labels
from akinai.runtime.config.calls import with_options
from akinai.runtime.config.files import new_path
from akinai.runtime.config.settings import Settings, merged
from akinai.runtime.learn.against import (
    ICL,
    NONE,
    OURS,
    PLACEBO,
    ContenderScore,
    ContestScores,
    RecordsOnStore,
    compete,
    find_rivals,
)
from akinai.runtime.learn.arguments import (
    expect_no_model_options,
    expect_unused,
    find_world,
    learner_settings,
    learning_budget,
    main_model,
    named_data_set,
    names_in,
    playbook_file,
    run_options,
    split_settings,
    train_config,
)
from akinai.runtime.learn.checks import find_check
from akinai.runtime.learn.estimate import LearnEstimate, estimate_tasks, estimate_training_runs
from akinai.runtime.learn.plugins import METHODS, REFINERS, RoleContext, find_plugin
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.result import LearnResult, SplitEvaluation
from akinai.runtime.learn.role_models import ROLES, CallOptions, RoleModels, role_models
from akinai.runtime.learn.settings import LearnSettings, learn_settings
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.learn.world import ScoreEvaluator, check_players, find_engine, world_roles, world_tasks
from akinai.runtime.models.rate_limit import MAX_CONCURRENCY
from akinai.runtime.options import LearnOptions
from akinai.runtime.runs.work import Executor, check_jobs
from akinai.runtime.sync import wait

Tasks = str | DataSet | World[Any] | TrainConfig
"""A data set or a world, by name or as an object, or a world with all options of a training."""


@with_options(LearnOptions)
def learn(tasks: Tasks, **options: Unpack[LearnOptions]) -> LearnResult:
    """Learn a playbook, and judge it on tasks or runs that nothing was learned from, with it and without.

    `tasks` is a data set or a world, by name or as an object, or a `TrainConfig`. Without `model` and `roles`, rules
    play. Options are described by `akinai learn --help`. A name in `settings` that the learner does not know (or that
    the world knows too) is a setting of the world or an option of the data set. A `ModelChoice` holds its sampling
    parameters; `generator_model` and so on are the models of single roles, whose sampling may stand in `settings` too
    ("roles.reflector.temperature"). For a data set, `roles` and `evaluator` replace its own. An unfinished learning of
    the same playbook is resumed from `checkpoint`; `fresh` begins with an empty playbook and does not resume.
    `baseline` judges without a playbook too; `watch` is called at each step; `nodes` are
    steps of one's own in the loop; one that interrupted a learning with a `checkpoint` is handed `answer` in the next
    call; `against` names contenders to compare the playbook with.

    `jobs` calls of each model are under way at the same time, or runs that ask models (64 by default); runs of rules
    that judge are played in so many processes, which a script guards with `if __name__ == "__main__"`. `on` has an
    engine play runs, as in `run`. Results are equal whoever plays.

    UsageError, before anything is written, for what cannot be learned as asked; MissingExtra; ModelError when the model
    stays broken. Ctrl-C raises LearningStopped, or a plain KeyboardInterrupt while the playbook is unchanged.
    """
    learning = _resolve(tasks, options)
    learning.check()
    try:
        return wait(learning.run())
    except KeyboardInterrupt:
        if learning.begun or options["judge_only"]:
            raise LearningStopped(learning.path) from None
        raise


@with_options(LearnOptions)
def estimate_learning(tasks: Tasks, **options: Unpack[LearnOptions]) -> LearnEstimate:
    """Estimate the most that `learn` takes of its models; nothing is asked. `akinai learn --dry-run`."""
    learning = _resolve(tasks, options)
    if learning.runs is not None:
        return estimate_training_runs(learning.runs, learning.settings, learning.data_set, options)
    return estimate_tasks(learning.data_set, learning.settings, learning.models, options)


class LearningStopped(KeyboardInterrupt):
    """Ctrl-C during a learning that has begun, or that only judges."""

    def __init__(self, playbook: Path) -> None:
        super().__init__()
        self.playbook = playbook
        """The file that holds what was learned until then."""


def _resolve(tasks: Tasks, options: LearnOptions) -> "_Learning":
    """The learning that the arguments ask for. UsageError for options that do not go together."""
    learning_budget(options)
    if options["jobs"] is not None:
        check_jobs(options["jobs"])
    learner, runs, model = learner_settings(options), run_options(options), main_model(options)
    if options["judge_only"]:
        unused = {**learner, "fresh": options["fresh"] or None, "checkpoint": options["checkpoint"]}
        unused |= {"keep_history": options["keep_history"] or None}
        unused |= {"seeds": runs["seeds"], "roles": None, "embedder": None}
        expect_unused(unused, "nothing is learned with --judge-only")
    if isinstance(tasks, TrainConfig):
        expect_unused({**runs, "model": model, "roles": learner.get("roles")}, "the TrainConfig holds it")
        unknown, overrides = split_settings(options["settings"], None)
        expect_unused(dict.fromkeys(unknown, True), "these are no settings of the learner")
        return _of_runs(tasks, {**overrides, **learner}, options)
    world = find_world(tasks)
    task_settings, overrides = split_settings(options["settings"], world)
    overrides = merged(overrides, learner)
    calls = CallOptions(options["timeout"], options["calls_per_minute"], str(options["cache"] or "") or None)
    models = role_models(model, learn_settings(overrides).roles, calls)
    if not models and options["roles"] is None:
        expect_no_model_options(options)
    if world is not None:
        own_roles = {"roles": options["roles"], "evaluator": options["evaluator"]}
        expect_unused(own_roles, "the runs of a world have roles of their own")
        online = bool(learner.get("online"))
        config = train_config(tasks if isinstance(tasks, str) else world, runs, models, task_settings, online=online)
        return _of_runs(replace(config, seeds="") if options["judge_only"] else config, overrides, options)
    name = tasks.name if isinstance(tasks, DataSet) else str(tasks)
    expect_unused({**runs, "on": options["on"]}, f"{name} is no world")
    data_set = tasks if isinstance(tasks, DataSet) else named_data_set(name, overrides, task_settings)
    by_rules = not models and options["roles"] is None
    settings = learn_settings(overrides, defaults=data_set.settings if by_rules else {})
    return _Learning(options, data_set, settings, models)


def _of_runs(config: TrainConfig, overrides: Mapping[str, Any], options: LearnOptions) -> "_Learning":
    data_set = world_tasks(config)
    online = {"online": True} if config.online else {}
    settings = learn_settings({**overrides, **online}, defaults=data_set.settings)
    return _Learning({**options, "baseline": True}, data_set, settings, config.models, config)


@dataclass(frozen=True, slots=True)
class _Tasks:
    train: tuple[Task, ...]
    held_out: tuple[Task, ...]
    judged: Mapping[Split, tuple[Task, ...]]
    """The tasks that judge, validation before test; only splits that have tasks."""


@dataclass(slots=True)
class _Learning:
    """One learning: the loop, plain or as a graph with checkpoints, and the evaluation after it."""

    options: LearnOptions
    data_set: DataSet
    settings: LearnSettings
    models: RoleModels
    runs: TrainConfig | None = None
    """The runs of a world; None for tasks with known answers."""
    begun: bool = False
    """Whether the playbook's file was opened for this learning."""
    _scores: ScoreEvaluator = field(default_factory=ScoreEvaluator)
    _engine: Executor | None = None

    @property
    def path(self) -> Path:
        return playbook_file(self.options, self.data_set.name)

    @property
    def _by_agreement(self) -> bool:
        return self.settings.no_truth and self.settings.feedback == "consistency"

    def check(self) -> None:
        """UsageError for what cannot be learned as asked."""
        options, settings, runs = self.options, self.settings, self.runs
        if options["checkpoint"] is None:
            keeps = {"keep_history": options["keep_history"] or None, "answer": options["answer"]}
            expect_unused(keeps, "there is no checkpoint")
        if runs is None:
            expect_unused(
                {"jobs": None if self.models else options["jobs"]}, "tasks without a model are done in this process"
            )
            if settings.no_truth and not (options["roles"] or self.models.learns or options["judge_only"]):
                raise UsageError(
                    f"the rules of {self.data_set.name!r} learn from right answers; without them a model has to "
                    "(--reflector-model)"
                )
            if self._by_agreement and settings.online:
                raise UsageError(
                    "online learning scores attempts by their answers, and consistency knows none; leave one out"
                )
            return
        if settings.no_truth and (not runs.learns_by_model or settings.feedback == "consistency"):
            raise UsageError(
                "the rules of a world learn from what it knows, and runs do not agree on answers; "
                "without the truth a model reflects on the outcome: name one with --reflector-model"
            )
        in_memory = runs.store.startswith("memory:")
        if in_memory and ICL in names_in(options["against"]):
            raise UsageError(f"{ICL} shows the training runs, and these are kept in memory; name a store")
        if in_memory and options["checkpoint"]:
            raise UsageError("a checkpoint goes on with runs that are on record, and these are in memory; name a store")
        budget = learning_budget(options)
        check_players(runs, budget)
        self._engine = find_engine(runs, options["jobs"], options["on"], budget)

    async def run(self) -> LearnResult:
        """Learn, judge, compare. Roles are made when everything else is checked and open."""
        start, options = perf_counter(), self.options
        async with AsyncExitStack() as stack:
            tasks = self._load_tasks()
            names = self._rival_names(tasks)
            rivals = find_rivals(names, has_model=bool(self.models), on_runs=self.runs is not None)
            at_once = options["jobs"] or MAX_CONCURRENCY
            resources = Resources(self.data_set.name, learning_budget(options), self.path, stack, at_once)
            roles = await self._roles(resources)
            job, saver = self._job(tasks, roles), None
            if options["checkpoint"] and not options["judge_only"]:
                saver = await stack.enter_async_context(checkpointer(options["checkpoint"]))
            if not options["judge_only"]:
                self._begin(job, tasks)
            end, state = await self._learn(job, saver)
            evaluations = [SplitEvaluation("train")]
            judging_end: EndRun | None = None
            if not (isinstance(end, TooManyUnreadable) or (end and end.ending == INTERRUPTED)):
                evaluations, judging_end = await self._judge(job, tasks, state)
            if saver and state.over and judging_end is None:
                await close_thread(job, saver, str(job.playbook.path), keep_history=options["keep_history"])
            end, against = end or judging_end, None
            if rivals and end is None:
                contest, known = await self._contest(job, tasks, state, evaluations[0], resources)
                against, end = await compete(rivals, contest, tasks.judged[evaluations[0].split], known)
            first = replace(evaluations[0], clean=None) if self.runs else evaluations[0]
            return LearnResult(
                **{field.name: getattr(first, field.name) for field in fields(first)},
                data_set=self.data_set.name,
                label=roles.label,
                path=self.path,
                playbook=job.playbook.load(),
                epochs=state.epochs,
                ending=end.ending if end else "done",
                began=state.began,
                unfinished=None if state.over else state.counts,
                stopped=end.why if isinstance(end, TooManyUnreadable) else "",
                runs=self.runs,
                models=self.models,
                online=self.settings.online,
                seconds=perf_counter() - start,
                test=evaluations[1] if len(evaluations) > 1 else None,
                judge_only=options["judge_only"],
                selected=state.selected,
                against=against,
                unit=self._scores.unit,
                beside_units=self._scores.beside_units,
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

    async def _roles(self, resources: Resources) -> Roles:
        """The roles of the models; rules for roles without one."""
        options, settings, data_set = self.options, self.settings, self.data_set
        templates = settings.templates(data_set)  # a folder that is not there is refused, whoever plays
        if self.runs is not None:
            reuses_runs = options["checkpoint"] is not None and not options["fresh"]
            return await world_roles(
                self.runs, data_set, settings, resources, reuses_runs=reuses_runs, engine=self._engine
            )
        if options["roles"]:
            return options["roles"]
        models, rules = self.models, data_set.rules
        if options["judge_only"] and "generator" in models.by_role:
            models = replace(models, by_role=dict.fromkeys(ROLES, models.by_role["generator"]))
        if rules is None and (without := next((role for role in ROLES if role not in models.by_role), None)):
            raise UsageError(
                f"the data set {data_set.name!r} has no rules to play by; name a model, such as openai:gpt-5-mini"
                + (f" (--{without}-model)" if models else "")
            )
        ask = await resources.askers(models, structured=settings.structured) if models else None
        roles = rules
        if ask is not None:
            roles = model_roles(
                ask,
                models.label(),
                templates,
                tries=settings.tries,
                unreadable_limit=settings.unreadable_limit,
                budget_tokens=settings.curator_budget_tokens,
                generator=rules.generator if rules and "generator" not in models.by_role else None,
                learners=(rules.reflector, rules.curator) if rules and not models.learns else None,
            )
        assert roles is not None
        if not settings.method:
            return roles
        context = RoleContext(roles, ask, templates, settings.curator_budget_tokens, settings.tries)
        return find_plugin(METHODS, "method", settings.method)(context)

    def _job(self, tasks: _Tasks, roles: Roles) -> Job:
        settings, options = self.settings, self.options
        check = find_check(settings.check) if settings.check else self.data_set.check
        evaluator: Evaluator | None = self._scores if self.runs else options["evaluator"]
        if evaluator is None:
            evaluator = AnswerEvaluator(check, labels([*tasks.train, *chain(*tasks.judged.values())]))
        if self._by_agreement:
            evaluator = AgreementEvaluator(evaluator)
            roles = replace(roles, generator=RepeatedGenerator(roles.generator, settings.consistency_tries))
        elif settings.contrast > 1:
            evaluator = ContrastEvaluator(evaluator)
            roles = replace(roles, generator=RepeatedGenerator(roles.generator, settings.contrast))
        file, embedder = PlaybookFile(self.path), settings.embedding()
        retriever = settings.retriever(self.data_set, file=file)
        resumes = options["judge_only"] or (file.exists() and not options["fresh"])
        before = file.load() if resumes else Playbook()
        migrated = 0 if options["judge_only"] else len(self._migrated(before))
        if resumes:
            expect_playbook(before, self.path)
        if self.path.suffix.lower() in TEXT_ENDINGS and not options["judge_only"]:
            raise UsageError(
                f"{str(self.path)!r} is a text, which cannot hold all that a learning writes; "
                "name a playbook in .json or .yaml, or judge this one with --judge-only"
            )
        _expect_unseen(tasks, before, self.path)
        return Job(
            *(tasks.train, roles, evaluator, file, retriever, settings, tasks.held_out),
            began=replace(beginning(before, tasks.train), migrated=migrated),
            embedder=embedder,
            refiners=[find_plugin(REFINERS, "refiner", name) for name in settings.refiners],
            nodes=options["nodes"],
        )

    def _begin(self, job: Job, tasks: _Tasks) -> None:
        """Create the playbook where it is missing, and record what is about to be learned from."""
        learned_from = (*tasks.train, *(tasks.held_out if job.config.gate or job.config.keep_best else ()))
        fresh, sections = self.options["fresh"], all_sections()
        job.playbook.begin(
            self.data_set.sections or sections.get(self.data_set.name) or sections["custom"],
            reason="begun with an empty playbook" if fresh else "",
            fresh=fresh,
            edit=lambda playbook: remember(playbook.with_bullets(self._migrated(playbook)), learned_from),
        )
        self.begun = True

    def _migrated(self, playbook: Playbook) -> Mapping[str, Bullet]:
        """The bullets of an earlier release, whose sentences give them records, by id."""
        kinds = self.runs.teaching.kinds if self.runs else AdviceKinds()
        return {
            bullet.id: replace(bullet, extra={**bullet.extra, RECORD: record})
            for bullet in playbook
            if not bullet.record and (record := split_record(kinds.migrated(bullet.content))[1])
        }

    async def _learn(self, job: Job, saver: Any) -> tuple[EndRun | None, LoopState]:
        """The error that ended the loop early, such as a spent budget, if any, and the loop's last state."""
        newest = begin(job)

        def watch(step: str, state: LoopState) -> None:
            nonlocal newest
            newest = state
            if self.options["watch"]:
                self.options["watch"](step, state)

        try:
            if saver is None:
                return None, await run_loop(job, watch=watch)
            choices = {name: self.options[name] for name in ("fresh", "answer", "keep_history")}
            return None, await learn_in_graph(job, saver, str(job.playbook.path), last=True, watch=watch, **choices)
        except EndRun as end:
            return end, newest

    async def _judge(self, job: Job, tasks: _Tasks, state: LoopState) -> tuple[list[SplitEvaluation], EndRun | None]:
        """Evaluations on every split, with and without the playbook, and the error that ended them early, if any."""
        evaluations: list[SplitEvaluation] = []
        playbook, compared = job.playbook.load(), dict(tasks.judged)
        if not tasks.judged:
            evaluations.append(self._trained(tasks, state))
        try:
            for split, judged_tasks in tasks.judged.items():
                evaluations.append(SplitEvaluation(split))
                judged = await _evaluate(job, judged_tasks, playbook)
                near, seen = near_copies((*tasks.train, *tasks.held_out), judged_tasks), provenance(playbook)
                clean = [task.id for task in judged_tasks if task not in seen and task.id not in near]
                copies = sum(task.id in near and not seen.has_text(task) for task in judged_tasks)
                unseen = None if state.began.unrecorded else judged.only(clean)
                evaluations[-1] = SplitEvaluation(split, judged, clean=unseen, near=copies)
            for index, evaluation in enumerate(evaluations):
                if self.options["baseline"] and evaluation.judged is not None:
                    same = compared.get(evaluation.split) or tasks.train[: len(evaluation.judged.right)]
                    evaluation = replace(evaluation, baseline=await _evaluate(job, same, Playbook()))
                    evaluations[index] = evaluation
                    if evaluation.split in compared:
                        evaluations[index] = await self._controlled(job, evaluation, same)
        except EndRun as end:
            return evaluations or [SplitEvaluation("train")], end
        return evaluations, None

    def _trained(self, tasks: _Tasks, state: LoopState) -> SplitEvaluation:
        """The first attempts at the training tasks, where nothing else judges."""
        if not state.first_right or self._by_agreement:
            return SplitEvaluation("train")
        right = {task.id: right for task, right in zip(tasks.train, state.first_right, strict=False)}
        judged = EvalResult(right, dict(zip(right, state.first_scores, strict=True)))
        seen = frozenset(state.began.seen)
        unseen = [id for id in right if id not in seen]
        clean = self.settings.online and seen and not state.began.unrecorded
        return SplitEvaluation("train", judged, clean=judged.only(unseen) if clean else None)

    async def _controlled(self, job: Job, evaluation: SplitEvaluation, tasks: tuple[Task, ...]) -> SplitEvaluation:
        """The evaluation with the control of its playbook; as it was where the playbook gives none."""
        make_control = permuted_control if self.runs is None else invented_control
        control = make_control(job.playbook.load(), job.retriever)
        if control is None:
            return evaluation
        judged = await judge(tasks, control.playbook, job.roles.generator, job.evaluator, control.retriever)
        return replace(evaluation, control=judged, control_name=control.name)

    def _rival_names(self, tasks: _Tasks) -> list[str]:
        """The names of the contenders. UsageError where there are no tasks to compare them on."""
        names = [*names_in(self.options["against"])]
        if names and (self.options["judge_only"] or not tasks.judged or not self.options["baseline"]):
            raise UsageError(
                "others are compared on tasks that nothing was learned from, with and without a playbook, after a "
                "learning; name a file of such tasks, and leave out what judges otherwise"
            )
        if self.settings.no_truth and self.runs is None and ICL in names:
            raise UsageError(f"{ICL} shows right answers, and this learning is to know none; leave one of the two out")
        return names

    async def _contest(
        self, job: Job, tasks: _Tasks, state: LoopState, evaluation: SplitEvaluation, resources: Resources
    ) -> tuple[Contest, ContestScores]:
        """The contest on the tasks of the first split, and the scores in it that are known already."""
        ours, baseline, settings, ask = evaluation.judged, evaluation.baseline, self.settings, None
        assert ours is not None
        assert baseline is not None
        if self.models:
            by_role = {role: next(iter(self.models.by_role.values())) for role in ROLES} | {**self.models.by_role}
            ask = await resources.askers(replace(self.models, by_role=by_role), structured=settings.structured)
        spent = state.usage
        contest = Contest(
            tasks.train,
            [task.assignment for task in tasks.judged[evaluation.split]],
            job.roles,
            job.evaluator,
            job.config,
            job.playbook.load(),
            lambda config: settings.retriever(self.data_set, config),
            tokens=spent.tokens.input + spent.tokens.output,
            injected_tokens=ours.injected_tokens / max(1, len(ours.right)),
            open_file=lambda name: PlaybookFile(self.path.with_name(f"{self.path.stem}.{name}.json")),
            ask=ask,
            templates=settings.templates(self.data_set),
            budget_tokens=settings.curator_budget_tokens,
            tries=settings.tries,
            records=RecordsOnStore(self.runs, settings.placebo) if self.runs else None,
        )
        scores = [ContenderScore(NONE, baseline), ContenderScore(OURS, ours, spent, not settings.no_truth)]
        control = ""
        if evaluation.control is not None:
            control = PLACEBO if self.runs is None else evaluation.control_name
            scores.append(ContenderScore(control, evaluation.control))
        return contest, ContestScores(tuple(scores), self.runs is None, control)


async def _evaluate(job: Job, tasks: tuple[Task, ...], playbook: Playbook) -> EvalResult:
    return await judge(tasks, playbook, job.roles.generator, job.evaluator, job.retriever.fresh())


def _expect_unseen(tasks: _Tasks, before: Playbook, path: Path) -> None:
    """UsageError for a run that judges and that bullets come from: it would say nothing about other runs."""
    seen = provenance(remember(before, tasks.train))
    if both := next((task for task in chain(*tasks.judged.values()) if task.identity and task in seen), None):
        raise UsageError(
            f"{both.id!r} is to judge, and {path} is learned from the same run; "
            "judge by other seeds (--eval-seeds), or begin with an empty playbook (--fresh)"
        )


def write_prompts(tasks: str | DataSet | World[Any], folder: Path | str, settings: Settings = None) -> list[Path]:
    """Write the prompts that these tasks would be learned with as files, to change and to name in `prompts`.

    UsageError, with nothing written, where the folder holds such a file already.
    """
    world = find_world(tasks)
    task_settings, overrides = split_settings(settings, world)
    learner = learn_settings(overrides)
    data_set = DataSet("world", lambda _: ()) if world else tasks
    if not isinstance(data_set, DataSet):
        data_set = named_data_set(str(tasks), overrides, task_settings)
    templates, directory = learner.templates(data_set), new_path(folder)
    texts = {directory / f"{name}.md": f"{templates.text(name)}\n" for name in templates.names()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if existing := next((path for path in texts if path.exists()), None):
            raise UsageError(f"{str(existing)!r} is there already; name another folder, or remove it")
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"prompts cannot be written to {str(directory)!r}: {why_unreadable(error)}") from error
    return [*texts]
