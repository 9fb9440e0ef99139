"""`learn`: a playbook from a data set or from the runs of a world, by name or as an object."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, Unpack

from akinai.core.errors import UsageError, why_unreadable
from akinai.core.worlds import World
from akinai.learning.data_sets import DataSet
from akinai.learning.roles.model import model_roles
from akinai.learning.roles.protocols import Evaluator, Roles
from akinai.runtime.config.calls import with_options
from akinai.runtime.config.settings import Settings, merged
from akinai.runtime.learn.against import ICL, RecordsOnStore
from akinai.runtime.learn.estimate import LearnEstimate, estimate_tasks, estimate_training_runs
from akinai.runtime.learn.job import JobConfig, run_job
from akinai.runtime.learn.options import (
    expect_unused,
    find_world,
    named_data_set,
    names_in,
    split_settings,
    train_config,
)
from akinai.runtime.learn.plugins import METHODS, RoleContext, find_plugin
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.role_models import ROLES, CallOptions, RoleModels, role_models, role_setting
from akinai.runtime.learn.settings import LearnSettings, learn_settings
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.learn.world import ScoreEvaluator, check_players, find_engine, world_roles, world_tasks
from akinai.runtime.models.budget import Budget
from akinai.runtime.options import LearnOptions
from akinai.runtime.play.agent_spec import ModelChoice

R = TypeVar("R")
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
    return _resolved(tasks, options, learn_tasks, learn_runs)


@with_options(LearnOptions)
def estimate_learning(tasks: Tasks, **options: Unpack[LearnOptions]) -> LearnEstimate:
    """What `learn` with these options takes of its models at most; nothing is asked. `akinai learn --dry-run`."""
    return _resolved(tasks, options, _estimate_tasks, _estimate_runs)


LEARNER_OPTIONS = ("epochs", "online", "limit", "embedder", "no_truth", "keep_best")
"""Arguments that are settings of the learner."""
RUN_OPTIONS = (
    "agent", "reflect", "seeds", "eval_seeds", "preset", "days", "role", "opponents", "eval_settings", "store",
)  # fmt: skip
"""Arguments about a world's runs."""


def _named(options: LearnOptions, names: Sequence[str]) -> dict[str, Any]:
    """The options of these names; None for empty ones."""
    return {name: None if options[name] in ("", []) else options[name] for name in names}


def _learner_settings(options: LearnOptions) -> dict[str, Any]:
    """The settings of the learner that were given, those of each role among them."""
    by_role = {
        "generator": role_setting(options["generator_model"], options["generator_base_url"]),
        "reflector": role_setting(options["reflector_model"], options["reflector_base_url"]),
        "curator": role_setting(options["curator_model"], options["curator_base_url"]),
    }
    roles = {role: setting for role, setting in by_role.items() if setting} or None
    settings = {**_named(options, LEARNER_OPTIONS), "roles": roles}
    return {name: value for name, value in settings.items() if value is not None and value is not False}


def _model(options: LearnOptions) -> ModelChoice | None:
    """The model of all roles."""
    model = options["model"]
    if not isinstance(model, str):
        return model
    return ModelChoice(
        model, options["base_url"], options["temperature"], options["reply_tokens"], options["model_seed"]
    )


def _job(options: LearnOptions) -> JobConfig:
    budget = Budget(0, options["max_tokens"], options["max_minutes"], options["max_dollars"])
    return JobConfig(
        options["playbook"], budget, options["checkpoint"], options["fresh"], options["baseline"],
        options["judge_only"], options["watch"], options["nodes"], names_in(options["against"]), options["jobs"],
        options["on"],
    )  # fmt: skip


def _resolved(
    tasks: Tasks,
    options: LearnOptions,
    on_tasks: Callable[[DataSet, Mapping[str, Any], JobConfig, RoleModels, Roles | None, Evaluator | None], R],
    on_runs: Callable[[TrainConfig, Mapping[str, Any], JobConfig], R],
) -> R:
    """What is done with the tasks or with the runs that are learned from."""
    learner, runs, job, choice = (
        _learner_settings(options),
        _named(options, RUN_OPTIONS),
        _job(options),
        _model(options),
    )
    settings, roles, evaluator = options["settings"], options["roles"], options["evaluator"]
    if job.judge_only:
        unused = {**learner, "fresh": job.fresh or None, "checkpoint": job.checkpoint, "seeds": runs["seeds"]}
        expect_unused({**unused, "roles": None, "embedder": None}, "nothing is learned with judge_only")
    if isinstance(tasks, TrainConfig):
        expect_unused({**runs, "model": choice, "roles": learner.get("roles")}, "the TrainConfig holds it")
        rest, overrides = split_settings(settings, None)
        expect_unused(dict.fromkeys(rest, True), "these are no settings of the learner")
        return on_runs(tasks, {**overrides, **learner}, job)
    world = find_world(tasks)
    rest, overrides = split_settings(settings, world)
    overrides = merged(overrides, learner)
    calls = CallOptions(options["timeout"], options["calls_per_minute"], str(options["cache"] or "") or None)
    models = role_models(choice, learn_settings(overrides).roles, calls)
    if world is not None:
        expect_unused({"roles": roles, "evaluator": evaluator}, "the runs of a world have roles of their own")
        online = bool(learner.get("online"))
        config = train_config(tasks if isinstance(tasks, str) else world, runs, models, rest, online=online)
        return on_runs(replace(config, seeds="") if job.judge_only else config, overrides, job)
    expect_unused({**runs, "on": job.on}, f"{tasks.name if isinstance(tasks, DataSet) else tasks} is no world")
    data_set = tasks if isinstance(tasks, DataSet) else named_data_set(str(tasks), overrides, rest)
    return on_tasks(data_set, overrides, job, models, roles, evaluator)


def _estimate_tasks(
    data_set: DataSet,
    overrides: Mapping[str, Any],
    job: JobConfig,
    models: RoleModels,
    roles: Roles | None = None,
    evaluator: Evaluator | None = None,
) -> LearnEstimate:
    settings = learn_settings(overrides, defaults={} if models else data_set.settings)
    return estimate_tasks(data_set, settings, models, job.playbook_of(data_set.name), job)


def _estimate_runs(config: TrainConfig, overrides: Mapping[str, Any], job: JobConfig) -> LearnEstimate:
    data_set = world_tasks(config)
    settings = learn_settings(overrides, defaults=data_set.settings)
    return estimate_training_runs(config, settings, data_set, job)


def learn_tasks(
    data_set: DataSet,
    overrides: Mapping[str, Any],
    job: JobConfig,
    models: RoleModels | None = None,
    roles: Roles | None = None,
    evaluator: Evaluator | None = None,
) -> LearnResult:
    """Learn from tasks with known answers; `overrides` are settings of the learner."""
    models = models or RoleModels()
    by_rules = not models and roles is None
    expect_unused({"jobs": None if models else job.jobs}, "tasks without a model are done in this process")
    settings = learn_settings(overrides, defaults=data_set.settings if by_rules else {})
    if settings.no_truth and roles is None and not models.learns and not job.judge_only:
        raise UsageError(
            f"the rules of {data_set.name!r} learn from right answers; without them a model has to (--reflector-model)"
        )
    if settings.no_truth and settings.feedback == "consistency" and settings.online:
        raise UsageError("online learning scores attempts by their answers, and consistency knows none; leave one out")

    if job.judge_only and "generator" in models.by_role:
        models = replace(models, by_role=dict.fromkeys(ROLES, models.by_role["generator"]))

    async def make_roles(resources: Resources) -> Roles:
        return roles or await _task_roles(data_set, settings, models, resources)

    result = run_job(data_set, settings, make_roles, job, evaluator, models)
    return replace(result, models=models)


def learn_runs(config: TrainConfig, overrides: Mapping[str, Any], job: JobConfig) -> LearnResult:
    """Learn from the runs of a world; `overrides` are settings of the learner."""
    data_set = world_tasks(config)
    if config.online:
        overrides = {**overrides, "online": True}
    settings = learn_settings(overrides, defaults=data_set.settings)
    if settings.no_truth and (not config.learns_by_model or settings.feedback == "consistency"):
        raise UsageError(
            "the rules of a world learn from what it knows, and runs do not agree on answers; "
            "without the truth a model reflects on the outcome: name one with --reflector-model"
        )
    if ICL in job.against and config.store.startswith("memory:"):
        raise UsageError(f"{ICL} shows the training runs, and these are kept in memory; name a store")
    if job.checkpoint and config.store.startswith("memory:"):
        raise UsageError("a checkpoint goes on with runs that are on record, and these are in memory; name a store")
    check_players(config, job.budget)
    engine = find_engine(config, job.jobs, job.on, job.budget)
    keeps = job.checkpoint is not None and not job.fresh

    async def make_roles(resources: Resources) -> Roles:
        return await world_roles(config, data_set, settings, resources, keeps=keeps, engine=engine)

    records = RecordsOnStore(config, settings.placebo)
    evaluator = ScoreEvaluator()
    result = run_job(data_set, settings, make_roles, replace(job, baseline=True), evaluator, records=records)
    return replace(
        result,
        runs=config,
        judgement=replace(result.judgement, clean=None),
        models=config.models,
        unit=evaluator.unit,
        beside_units=evaluator.beside_units,
    )


def write_prompts(tasks: str | DataSet | World[Any], folder: Path | str, settings: Settings = None) -> list[Path]:
    """Write the prompts that these tasks would be learned with as files, to change and to name in `prompts`.

    UsageError, with nothing written, where the folder holds such a file already.
    """
    world = find_world(tasks)
    rest, overrides = split_settings(settings, world)
    learner = learn_settings(overrides)
    data_set = DataSet("world", lambda _: ()) if world else tasks
    if not isinstance(data_set, DataSet):
        data_set = named_data_set(str(tasks), overrides, rest)
    templates, place = learner.templates(data_set), Path(folder)
    texts = {place / f"{name}.md": f"{templates.text(name)}\n" for name in templates.names()}
    try:
        place.mkdir(parents=True, exist_ok=True)
        if there := next((path for path in texts if path.exists()), None):
            raise UsageError(f"{str(there)!r} is there already; name another folder, or remove it")
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"prompts cannot be written to {str(place)!r}: {why_unreadable(error)}") from error
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
