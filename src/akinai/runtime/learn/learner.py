"""`learn`: a playbook from a data set or from the runs of a world, by name or as an object."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from akinai.core.errors import UsageError, why_unreadable
from akinai.core.worlds import World
from akinai.learning.data_sets import DataSet
from akinai.learning.roles.model import model_roles
from akinai.learning.roles.protocols import Roles
from akinai.runtime.config.calls import with_options
from akinai.runtime.config.files import new_path
from akinai.runtime.config.settings import Settings, merged
from akinai.runtime.learn.against import ICL, RecordsOnStore
from akinai.runtime.learn.arguments import (
    expect_unused,
    find_world,
    learner_settings,
    learning_budget,
    main_model,
    named_data_set,
    names_in,
    run_options,
    split_settings,
    train_config,
)
from akinai.runtime.learn.estimate import LearnEstimate, estimate_tasks, estimate_training_runs
from akinai.runtime.learn.job import run_job
from akinai.runtime.learn.plugins import METHODS, RoleContext, find_plugin
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.role_models import ROLES, CallOptions, RoleModels, role_models
from akinai.runtime.learn.settings import LearnSettings, learn_settings
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.learn.world import ScoreEvaluator, check_players, find_engine, world_roles, world_tasks
from akinai.runtime.options import LearnOptions
from akinai.runtime.runs.work import check_jobs

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
    steps of one's own in the loop; `against` names contenders to compare the playbook with.

    `jobs` calls of each model are under way at the same time, or runs that ask models (64 by default); runs of rules
    that judge are played in so many processes, which a script guards with `if __name__ == "__main__"`. `on` has an
    engine play runs, as in `run`. Results are equal whoever plays.

    UsageError, before anything is written, for what cannot be learned as asked; MissingExtra; ModelError when the model
    stays broken.
    """
    return _resolve(tasks, options).learn()


@with_options(LearnOptions)
def estimate_learning(tasks: Tasks, **options: Unpack[LearnOptions]) -> LearnEstimate:
    """Estimate the most that `learn` takes of its models; nothing is asked. `akinai learn --dry-run`."""
    return _resolve(tasks, options).estimate()


def _resolve(tasks: Tasks, options: LearnOptions) -> "_TaskLearning | _RunLearning":
    """The learning that the arguments ask for. UsageError for options that do not go together."""
    learning_budget(options)
    if options["jobs"] is not None:
        check_jobs(options["jobs"])
    learner, runs, model = learner_settings(options), run_options(options), main_model(options)
    if options["judge_only"]:
        unused = {**learner, "fresh": options["fresh"] or None, "checkpoint": options["checkpoint"]}
        unused |= {"seeds": runs["seeds"], "roles": None, "embedder": None}
        expect_unused(unused, "nothing is learned with judge_only")
    if isinstance(tasks, TrainConfig):
        expect_unused({**runs, "model": model, "roles": learner.get("roles")}, "the TrainConfig holds it")
        unknown, overrides = split_settings(options["settings"], None)
        expect_unused(dict.fromkeys(unknown, True), "these are no settings of the learner")
        return _RunLearning(tasks, {**overrides, **learner}, options)
    world = find_world(tasks)
    task_settings, overrides = split_settings(options["settings"], world)
    overrides = merged(overrides, learner)
    calls = CallOptions(options["timeout"], options["calls_per_minute"], str(options["cache"] or "") or None)
    models = role_models(model, learn_settings(overrides).roles, calls)
    if world is not None:
        own_roles = {"roles": options["roles"], "evaluator": options["evaluator"]}
        expect_unused(own_roles, "the runs of a world have roles of their own")
        online = bool(learner.get("online"))
        config = train_config(tasks if isinstance(tasks, str) else world, runs, models, task_settings, online=online)
        return _RunLearning(replace(config, seeds="") if options["judge_only"] else config, overrides, options)
    name = tasks.name if isinstance(tasks, DataSet) else str(tasks)
    expect_unused({**runs, "on": options["on"]}, f"{name} is no world")
    data_set = tasks if isinstance(tasks, DataSet) else named_data_set(name, overrides, task_settings)
    return _TaskLearning(data_set, overrides, models, options)


@dataclass(frozen=True, slots=True)
class _TaskLearning:
    """A learning from tasks with known answers."""

    data_set: DataSet
    overrides: Mapping[str, Any]
    """Settings of the learner."""
    models: RoleModels
    options: LearnOptions

    def estimate(self) -> LearnEstimate:
        settings = learn_settings(self.overrides, defaults={} if self.models else self.data_set.settings)
        return estimate_tasks(self.data_set, settings, self.models, self.options)

    def learn(self) -> LearnResult:
        data_set, models, options = self.data_set, self.models, self.options
        by_rules = not models and options["roles"] is None
        expect_unused({"jobs": None if models else options["jobs"]}, "tasks without a model are done in this process")
        settings = learn_settings(self.overrides, defaults=data_set.settings if by_rules else {})
        if settings.no_truth and options["roles"] is None and not models.learns and not options["judge_only"]:
            raise UsageError(
                f"the rules of {data_set.name!r} learn from right answers; without them a model has to "
                "(--reflector-model)"
            )
        if settings.no_truth and settings.feedback == "consistency" and settings.online:
            raise UsageError(
                "online learning scores attempts by their answers, and consistency knows none; leave one out"
            )
        if options["judge_only"] and "generator" in models.by_role:
            models = replace(models, by_role=dict.fromkeys(ROLES, models.by_role["generator"]))

        async def make_roles(resources: Resources) -> Roles:
            return options["roles"] or await _task_roles(data_set, settings, models, resources)

        result = run_job(data_set, settings, make_roles, options, options["evaluator"], models)
        return replace(result, models=models)


@dataclass(frozen=True, slots=True)
class _RunLearning:
    """A learning from the runs of a world."""

    config: TrainConfig
    overrides: Mapping[str, Any]
    """Settings of the learner."""
    options: LearnOptions

    def estimate(self) -> LearnEstimate:
        data_set = world_tasks(self.config)
        settings = learn_settings(self.overrides, defaults=data_set.settings)
        return estimate_training_runs(self.config, settings, data_set, self.options)

    def learn(self) -> LearnResult:
        config, overrides, options = self.config, self.overrides, self.options
        data_set = world_tasks(config)
        if config.online:
            overrides = {**overrides, "online": True}
        settings = learn_settings(overrides, defaults=data_set.settings)
        if settings.no_truth and (not config.learns_by_model or settings.feedback == "consistency"):
            raise UsageError(
                "the rules of a world learn from what it knows, and runs do not agree on answers; "
                "without the truth a model reflects on the outcome: name one with --reflector-model"
            )
        in_memory = config.store.startswith("memory:")
        if in_memory and ICL in names_in(options["against"]):
            raise UsageError(f"{ICL} shows the training runs, and these are kept in memory; name a store")
        if in_memory and options["checkpoint"]:
            raise UsageError("a checkpoint goes on with runs that are on record, and these are in memory; name a store")
        budget = learning_budget(options)
        check_players(config, budget)
        engine = find_engine(config, options["jobs"], options["on"], budget)
        reuses_runs = options["checkpoint"] is not None and not options["fresh"]

        async def make_roles(resources: Resources) -> Roles:
            return await world_roles(config, data_set, settings, resources, reuses_runs=reuses_runs, engine=engine)

        records = RecordsOnStore(config, settings.placebo)
        evaluator = ScoreEvaluator()
        with_baseline: LearnOptions = {**options, "baseline": True}
        result = run_job(data_set, settings, make_roles, with_baseline, evaluator, records=records)
        return replace(
            result,
            runs=config,
            evaluation=replace(result.evaluation, clean=None),
            models=config.models,
            unit=evaluator.unit,
            beside_units=evaluator.beside_units,
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


async def _task_roles(data_set: DataSet, settings: LearnSettings, models: RoleModels, resources: Resources) -> Roles:
    """The roles of the models; the rules of the data set for roles without one."""
    roles = await _plain_roles(data_set, settings, models, resources)
    if not settings.method:
        return roles
    ask = await resources.askers(models, structured=settings.structured) if models else None
    context = RoleContext(roles, ask, settings.templates(data_set), settings.curator_budget_tokens, settings.tries)
    return find_plugin(METHODS, "method", settings.method)(context)


async def _plain_roles(data_set: DataSet, settings: LearnSettings, models: RoleModels, resources: Resources) -> Roles:
    rules = data_set.rules
    if rules is None and len(models.by_role) < len(ROLES):
        without = next(role for role in ROLES if role not in models.by_role)
        raise UsageError(
            f"the data set {data_set.name!r} has no rules to play by; name a model, such as openai:gpt-5-mini"
            + (f" (--{without}-model)" if models else "")
        )
    if rules is not None and not models:
        return rules
    return model_roles(
        await resources.askers(models, structured=settings.structured),
        models.label(),
        settings.templates(data_set),
        tries=settings.tries,
        unreadable_limit=settings.unreadable_limit,
        budget_tokens=settings.curator_budget_tokens,
        generator=rules.generator if rules and "generator" not in models.by_role else None,
        learners=(rules.reflector, rules.curator) if rules and not models.learns else None,
    )
