"""A world as a data set: a task is one run, its trajectory the ledger, its report the findings and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from akinai.core.canonical import Json, canonical
from akinai.core.errors import UsageError
from akinai.core.presentation.words import unit_word
from akinai.core.worlds import replay
from akinai.learning.data_sets import DataSet
from akinai.learning.playbook.sections import all_sections
from akinai.learning.roles.model import RunCurator, RunReflector, model_roles
from akinai.learning.roles.protocols import Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles.rules import LessonCurator
from akinai.learning.roles.tasks import Split, Task
from akinai.runtime.config.settings import prepare
from akinai.runtime.learn.players import (
    ModelPlayer,
    RulePlayer,
    RunPlayer,
    RunReporter,
    RunRetriever,
    in_dollars,
    situation,
)
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.role_models import LEARNERS
from akinai.runtime.learn.settings import LearnSettings
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.models.budget import NO_BUDGET, Budget
from akinai.runtime.models.rate_limit import MAX_CONCURRENCY
from akinai.runtime.play.agent_registry import check_model, check_spec
from akinai.runtime.play.agent_spec import MODEL_AGENTS, AgentSpec
from akinai.runtime.play.driver import horizon
from akinai.runtime.runs.bundling import Bundler
from akinai.runtime.runs.planning import seeds_in
from akinai.runtime.runs.processes import LocalProcesses
from akinai.runtime.runs.work import Executor, ScratchWork, open_executor
from akinai.stores import open_store

RULES_DEFAULTS: dict[str, Json] = {"reflect_on_success": True, "dedup": False, "whole": True, "budget_tokens": 0}
"""Defaults by rules: every run teaches, bullets that differ in a number both stay, and the player gets all of them."""
MODEL_DEFAULTS: dict[str, Json] = {"reflect_on_success": True, "new_tries": False, "batch": 1}
"""Defaults with a model: every run teaches, is played once, and is learned from before the next one begins."""
FEW_DAYS = 2_000
"""Days that this process plays in the two seconds that further processes take to start."""
DAYS_UNKNOWN = 100
"""Assumed days of a run without a horizon."""
GATHER_S = 0.2
"""Seconds without a further run after which the runs gathered for an engine are handed to it."""


def world_tasks(config: TrainConfig) -> DataSet:
    """The runs of a world as tasks, with the rules that learn from them.

    UsageError for a world without lessons where no model reflects, a role without its model, seeds that both teach and
    judge, or settings that do not fit.
    """
    world = config.load_world()
    base = world.name.partition("@")[0]
    _check_config(config)
    train = seeds_in(config.seeds) if config.seeds else []
    judged = [] if config.online else seeds_in(config.eval_seeds)
    if not config.eval_settings and (both := sorted({*train} & {*judged})):
        raise UsageError(f"seed {both[0]} is both learned from and judged by; choose other --eval-seeds")
    runs = {"train": _runs(config, "train", train), "validation": _runs(config, "validation", judged)}
    first = next((run for tasks in runs.values() for run in tasks), None)

    def load(split: Split) -> list[Task]:
        return [
            Task(run.id, text(run), "", data=run.data, identity=canonical([world.name, run.seed, run.setup]))
            for run in runs.get(split, ())
        ]

    def text(run: _TaskRun) -> str:
        if not config.learns_by_model or first is None:
            return f"{base}, seed {run.seed}"
        return situation(world, run.seed, first.setup)

    player = RulePlayer(world, config)
    rules = Roles(player, WorldReflector(player), LessonCurator(config.teaching.merge), label="rules")
    retriever = RunRetriever if config.plays_by_model else None
    sections = all_sections().get(base, ())
    return DataSet(
        config.name, load, sections=sections, rules=rules, settings=default_settings(config), retriever=retriever
    )


@dataclass(frozen=True, slots=True)
class _TaskRun:
    """A run that teaches or judges."""

    id: str
    seed: int
    setup: Mapping[str, Json]
    data: Mapping[str, Json]


def _runs(config: TrainConfig, split: Split, seeds: Sequence[int]) -> list[_TaskRun]:
    """The runs of a split: training takes turns among the opponents, and each is judged against."""
    opposing, judges = config.opposing(), split == "validation"
    settings = config.settings_of(judged=judges)
    world = config.load_world()
    setups = [
        prepare(world, preset=config.preset, days=config.days, settings=[*settings, *side.settings]).setup
        for side in opposing
    ]
    pairs = [(index, seed) for index in range(len(opposing)) for seed in seeds]
    if not judges:
        pairs = [(number % len(opposing), seed) for number, seed in enumerate(seeds)]
    runs: list[_TaskRun] = []
    for index, seed in pairs:
        side = opposing[index]
        id = f"{config.name}-{split}-{seed}{f'-{side.name}' if judges and len(opposing) > 1 else ''}"
        data: dict[str, Json] = {"seed": seed, "split": split, "settings": [*settings, *side.settings]}
        runs.append(_TaskRun(id, seed, setups[index], {**data, "opponents": side.name}))
    return runs


def _check_config(config: TrainConfig) -> None:
    world = config.load_world()
    if not config.learns_by_model and not config.teaching.teaches:
        raise UsageError(
            f"{world.name} has no lessons by rules; name a model, or learn from a world that has, such as vending"
        )
    without_player = config.model is None and config.agent in MODEL_AGENTS
    if without_player or (config.learns_by_model and config.reflects_with is None):
        role = "whoever reflects" if config.learns_by_model and not without_player else f"the agent {config.agent!r}"
        raise UsageError(f"{role} asks a model here; name one, such as --model openai:gpt-5-mini")
    if config.model and not (config.plays_by_model or config.learns_by_model):
        raise UsageError(
            f"nobody asks {config.model.name}: {config.agent} plays by rules and --reflect rules learns by them; "
            "leave --model out, or one of the two"
        )


def check_players(config: TrainConfig, budget: Budget) -> None:
    """UsageError for an unknown player, or for a model that cannot be asked."""
    spec = AgentSpec(config.agent, config.model if config.agent in MODEL_AGENTS else None, budget=budget)
    check_spec(config.load_world(), spec)
    for choice in dict.fromkeys(config.models.by_role.values()):
        check_model(spec, choice)


def default_settings(config: TrainConfig) -> dict[str, Json]:
    """Learner settings that suit the players and the roles."""
    if config.plays_by_model:
        return MODEL_DEFAULTS | ({} if config.learns_by_model else {"dedup": False})
    if config.learns_by_model:
        return MODEL_DEFAULTS | {"whole": True, "budget_tokens": 0}
    return RULES_DEFAULTS | ({"batch": 1} if config.online else {})


def find_engine(config: TrainConfig, jobs: int | None, on: str | None, budget: Budget) -> Executor | None:
    """The engine that plays runs instead of this process; None where this process does.

    UsageError for an unknown engine, one that cannot open the store, or one that cannot count a budget.
    """
    if on is None and (config.plays_by_model or (jobs or 1) == 1):
        return None
    if not isinstance(config.world, str):
        raise UsageError(
            "a world given as an object is played in this process; give its name, or leave out jobs and on"
        )
    if on is None:
        return LocalProcesses(jobs or 1)
    engine = open_executor(on, jobs or (MAX_CONCURRENCY if config.plays_by_model else 1))
    if config.plays_by_model:
        engine.check_store(config.store)
        if budget != NO_BUDGET:
            raise UsageError(
                "an engine's machines cannot count a limit on a whole learning; leave out --on, or the limit "
                "(--max-tokens, --max-minutes, --max-dollars)"
            )
    return engine


async def world_roles(
    config: TrainConfig,
    data_set: DataSet,
    settings: LearnSettings,
    resources: Resources,
    *,
    reuses_runs: bool,
    engine: Executor | None = None,
) -> Roles:
    """The roles for a world's runs. With `reuses_runs` a run that is on record and done is not played again."""
    assert data_set.rules is not None
    bundler: Bundler | None = None
    if engine is not None:
        if config.plays_by_model:
            bundler = Bundler(engine, config.store, GATHER_S)
        elif isinstance(engine, LocalProcesses):
            bundler = Bundler(engine, None, is_small=_is_small)
        else:
            bundler = Bundler(engine, None)
        resources.stack.push_async_callback(engine.close)
    player: RunPlayer = RulePlayer(config.load_world(), config, bundler)
    if not (config.plays_by_model or config.learns_by_model):
        return replace(data_set.rules, generator=player, reflector=WorldReflector(player))
    if config.plays_by_model:
        player = await _model_player(config, settings, resources, bundler, reuses_runs=reuses_runs)
    if not config.learns_by_model:
        return Roles(player, WorldReflector(player), data_set.rules.curator, label="rules", uses_model=True)
    ask = await resources.askers(config.models, LEARNERS, structured=settings.structured)
    return model_roles(
        ask,
        config.models.label(LEARNERS),
        settings.templates(data_set),
        tries=settings.tries,
        unreadable_limit=settings.unreadable_limit,
        budget_tokens=settings.curator_budget_tokens,
        generator=RunReporter(player, settings.run_tokens, settings.no_truth),
        learner_types=(RunReflector, RunCurator),
    )


def _is_small(items: Sequence[ScratchWork]) -> bool:
    """Whether processes would take longer to start than the runs take."""
    return sum(horizon(header) or DAYS_UNKNOWN for item in items for header in item.headers) < FEW_DAYS


async def _model_player(
    config: TrainConfig, settings: LearnSettings, resources: Resources, engine: Bundler | None, *, reuses_runs: bool
) -> ModelPlayer:
    books = await open_store(config.store)
    resources.stack.push_async_callback(books.close)
    tokens = 0 if settings.whole else settings.budget_tokens
    model = config.model if config.agent in MODEL_AGENTS else None
    options = config.options
    spec = AgentSpec(
        config.agent,
        model,
        model_defaults=config.model,
        playbook_tokens=tokens,
        embedder=settings.embedder,
        embedder_base_url=settings.embedder_base_url,
        cache=options.cache,
        timeout_s=options.timeout_s,
        calls_per_minute=options.calls_per_minute,
    )
    return ModelPlayer(config.load_world(), config, spec, reuses_runs, books, resources, engine)


@dataclass
class ScoreEvaluator:
    """An Evaluator by the world's first score, in dollars where that is money. A score above 0 is right."""

    unit: str = ""
    """Of the scores, once there is one."""
    beside_units: dict[str, str] = field(default_factory=dict[str, str])
    """Of the figures beside them, by name."""

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation:
        details = trajectory.details
        self.unit = unit_word(details["unit"])
        self.beside_units |= {name: unit_word(unit) for name, unit in details.get("beside_units", {}).items()}
        score = in_dollars(details["score"], details["unit"])
        report = f"; {details['report']}" if details.get("report") else ""
        return Evaluation(score > 0, score, f"{trajectory.answer} in {details['run']}{report}")


@dataclass
class WorldReflector:
    """A Reflector by rules: the lessons that the world draws from the ledger."""

    player: RunPlayer

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        if trajectory.failed:
            return Insights(task.id, failed=trajectory.failed)
        name = str(trajectory.details["run"])
        run, world = await self.player.training_run(name), self.player.world
        steps = replay(world, run.ledger)
        kinds = dict.fromkeys(finding.type for finding in world.facets.judging.detect(steps))
        lessons = tuple(self.player.config.teaching.lessons(steps))
        return Insights(
            task.id,
            key_insight=f"{trajectory.answer}, {len(lessons)} lessons",
            error_identification=", ".join(kinds),
            lessons=lessons,
            sources=(name,),
        )
