"""A world as a data set: a task is one run, its trajectory the ledger, its report findings and scores.

In training the player is told, beside its playbook, to try things out, so that there is something to learn from; where
it is judged it plays by the playbook alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from akinai import worlds
from akinai.core.canonical import Json, canonical
from akinai.core.chance import Chance
from akinai.core.errors import UsageError
from akinai.core.lessons import Lesson
from akinai.core.worlds import World
from akinai.learning.formats import dumps
from akinai.learning.loop import Watch
from akinai.learning.playbook import Playbook
from akinai.learning.playbook_file import PlaybookFile
from akinai.learning.roles import Curation, Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles_by_rules import LessonCurator
from akinai.learning.roles_of_runs import RunCurator, RunReflector, evidence
from akinai.learning.tasks import Assignment, DataSet, Split, Task
from akinai.runtime import api
from akinai.runtime.budget import NO_BUDGET, Budget
from akinai.runtime.cast import THINKING, Cast, ModelChoice
from akinai.runtime.config import prepare
from akinai.runtime.experiment import seeds_in
from akinai.runtime.learn import How, Learned, Means, learn_as
from akinai.runtime.learn_runs import PlaysRuns, RunsShelf, Stint, Telling, ThinkingPlayer, shown_score, situation
from akinai.runtime.learn_settings import brought_tasks, learn_settings
from akinai.runtime.runs import Run
from akinai.runtime.stage import check_cast, check_model
from akinai.stores import open_store

SETTINGS: dict[str, Json] = {"reflect_on_success": True, "dedup": False, "whole": True, "budget_tokens": 0}
"""Every run teaches; bullets differ by their numbers; and a player wants them all."""
BY_MODEL: dict[str, Json] = {"reflect_on_success": True, "new_tries": False, "batch": 1}
"""Every run teaches, is played once, and is learned from before the next one begins."""

Reflects: TypeAlias = Literal["model", "rules"]

TRAIN_SEEDS, EVAL_SEEDS = "1-10", "101-120"


@dataclass(frozen=True, slots=True)
class Practice:
    """What is played to learn, and what to be judged."""

    world: str
    agent: str
    seeds: str = TRAIN_SEEDS
    eval_seeds: str = EVAL_SEEDS
    days: int | None = None
    settings: Sequence[str] = ()
    """Of all runs, as "name=value"."""
    eval_settings: Sequence[str] = ()
    """Of those that judge, over the others."""
    store: str = "memory:"
    """Where the training runs are kept: the evidence of every bullet."""
    model: ModelChoice | None = None
    """Whom the player asks, where it asks one, and the roles."""
    reflects: Reflects | None = None
    """Who finds out what a run teaches, and keeps the playbook; None: the model, where there is one."""
    online: bool = False
    """Each seed is played by the playbook so far, and by it alone, before anything is learned from it."""

    @property
    def plays_by_model(self) -> bool:
        """Whether the agent asks a model, or a side of the world has one of its own."""
        names = [one.partition("=")[0] for one in (*self.settings, *self.eval_settings)]
        return self.agent in THINKING or any(name.endswith(".model") for name in names)

    @property
    def learns_by_model(self) -> bool:
        return self.reflects == "model" if self.reflects else self.model is not None


def learn_world(
    practice: Practice,
    *,
    playbook: Path | str | None = None,
    epochs: int | None = None,
    checkpoint: str | None = None,
    anew: bool = False,
    budget: Budget = NO_BUDGET,
    settings: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> Learned:
    """Learn a playbook from runs on some seeds and judge it on others, each with and without it.

    `settings` go over `[learn]` of `akinai.toml`, by the names of `LearnSettings`; the rest is as in `akinai.learn`. A
    model that plays has the `budget_tokens` of the settings for its playbook.

    UsageError for a world that teaches nothing by rules where no model reflects, a role without its model, seeds that
    stand on both sides, or a checkpoint of runs that are in memory alone.
    """
    data_set = world_tasks(practice)
    by_rules = not (practice.plays_by_model or practice.learns_by_model)
    given = {"epochs": epochs, "online": practice.online or None}
    asked = {**(settings or {}), **{name: value for name, value in given.items() if value is not None}}
    chosen = learn_settings(asked, beneath=_settings(practice))
    if checkpoint and practice.store.startswith("memory:"):
        raise UsageError("a checkpoint goes on with runs that are on record, and these are in memory; name a store")
    _check(practice, budget)
    how = How(chosen, data_set, None, budget, checkpoint, anew, True, watch)

    async def made(means: Means) -> Roles:
        assert data_set.rules is not None
        return data_set.rules if by_rules else await _roles(practice, how, data_set.rules, means)

    return learn_as(how, made, playbook=playbook, evaluator=ByScore())


def _check(practice: Practice, budget: Budget) -> None:
    """UsageError, before anything is written, for a player that is not there or a model that cannot be asked."""
    cast = Cast(practice.agent, practice.model if practice.agent in THINKING else None, budget=budget)
    check_cast(worlds.load(practice.world), cast)
    if practice.model:
        check_model(cast, practice.model)


def _settings(practice: Practice) -> dict[str, Json]:
    """What suits the players and the roles of a learning."""
    if practice.plays_by_model:
        return BY_MODEL | ({} if practice.learns_by_model else {"dedup": False})
    if practice.learns_by_model:
        return BY_MODEL | {"whole": True, "budget_tokens": 0}
    return SETTINGS | ({"batch": 1} if practice.online else {})


async def _roles(practice: Practice, how: How, rules: Roles, means: Means) -> Roles:
    """The roles where a model plays, or learns from what is played, or both."""
    settings = how.settings
    player = cast("PlaysRuns", rules.generator)
    if practice.plays_by_model:
        player = await _thinking(practice, how, means)
    if not practice.learns_by_model:
        return Roles(player, WorldReflector(player), rules.curator, label="rules", thinks=True)
    assert practice.model is not None
    ask, templates = await means.asker(practice.model), settings.templates(how.data_set)
    reflector = RunReflector(ask("reflector"), templates, tries=settings.tries)
    tokens = settings.curator_budget_tokens
    curator = RunCurator(ask("curator"), templates, tries=settings.tries, budget_tokens=tokens)
    return Roles(Telling(player, settings.run_tokens), reflector, curator, practice.model.name, thinks=True)


async def _thinking(practice: Practice, how: How, means: Means) -> ThinkingPlayer:
    books = await open_store(practice.store)
    means.stack.push_async_callback(books.close)
    tokens = 0 if how.settings.whole else how.settings.budget_tokens
    asked = practice.model if practice.agent in THINKING else None
    cast = Cast(practice.agent, asked, like=practice.model, playbook_tokens=tokens)
    world, keeps = worlds.load(practice.world), how.checkpoint is not None and not how.anew
    stint = Stint(world, cast, practice.days, practice.settings, practice.eval_settings, keeps)
    return ThinkingPlayer(stint, books, means)


def teaches(name: str) -> bool:
    """Whether a world of that name has lessons to give."""
    return name in worlds.names() and type(worlds.load(name)).lessons is not World.lessons


def is_played(name: str) -> bool:
    """Whether a name means a world, whose runs teach, and no data set."""
    return name in worlds.names() and name not in brought_tasks()


def world_tasks(practice: Practice) -> DataSet:
    """The runs of a world as tasks, with the rules that learn from them."""
    world = worlds.load(practice.world)
    base = world.name.partition("@")[0]
    if not practice.learns_by_model and not teaches(base):
        raise UsageError(
            f"{world.name} has no lessons by rules; name a model, or learn from a world that has, such as vending"
        )
    if practice.model is None and (practice.agent in THINKING or practice.learns_by_model):
        who = "whoever reflects" if practice.learns_by_model else f"the agent {practice.agent!r}"
        raise UsageError(f"{who} asks a model here; name one, such as --model openai:gpt-5-mini")
    train, judged = seeds_in(practice.seeds), [] if practice.online else seeds_in(practice.eval_seeds)
    if not practice.eval_settings and (both := sorted({*train} & {*judged})):
        raise UsageError(f"seed {both[0]} is both learned from and judged by; choose other --eval-seeds")
    for settings in (practice.settings, [*practice.settings, *practice.eval_settings]):
        prepare(world, days=practice.days, settings=settings)  # a setting that does not fit is told before anything
    seeds: dict[Split, list[int]] = {"train": train, "validation": judged}

    def load(split: Split) -> list[Task]:
        return [
            Task(f"{base}-{split}-{seed}", text(seed), "", data={"seed": seed, "split": split})
            for seed in seeds.get(split, [])
        ]

    def text(seed: int) -> str:
        if not practice.learns_by_model:
            return f"{base}, seed {seed}"
        return situation(world, seed, prepare(world, days=practice.days, settings=practice.settings).setup)

    player = Player(world, practice)
    rules = Roles(player, WorldReflector(player), EvidenceCurator(LessonCurator(world.merged)), label="rules")
    shelf = RunsShelf if practice.plays_by_model else None
    return DataSet(base, load, rules=rules, settings=_settings(practice), shelf=shelf)


@dataclass
class Player:
    """The Generator: plays a run by the bullets, in training with an order to try things out."""

    world: World[Any]
    practice: Practice
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    """Training runs that were not read yet, by name."""

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        seed, trains = _told(assignment.data)
        trains = trains and bool(assignment.attempt or not self.practice.online)
        bullets = tuple(bullet.content for bullet in given.bullets)
        run = self._train(seed, bullets) if trains else self._judge(seed, bullets)
        if run.status == "failed":
            return Trajectory(assignment.id, failed=run.error or "the run failed")
        score = run.scores[0]
        told: Mapping[str, Json] = {"score": score.value, "unit": score.unit, "run": run.id}
        source = f"{run.id}#1 -> {run.id}#{len(run.ledger.entries)}"
        used = tuple(bullet.id for bullet in given.bullets)
        return Trajectory(assignment.id, shown_score(score.value, score.unit), details=told, source=source, used=used)

    def _train(self, seed: int, bullets: tuple[str, ...]) -> Run:
        """Another playbook is another experiment, so every epoch tries other things.

        What a run is told stands in its name: a group holds runs that are played alike.
        """
        number = Chance.of(seed)("experiment", _digest(bullets)).below(1 << 30)
        order = "" if self.practice.online else self.world.experiment(number)
        cast = Cast(self.practice.agent, bullets=tuple(filter(None, (order, *bullets))))
        known = {header.run_id for header in api.headers(self.practice.store)} if self._kept else set[str]()
        name = group = f"learn-{self.world.name.partition('@')[0]}-{_digest(cast.bullets)[:6]}"
        again = 1
        while f"{name}-{seed}" in known:
            again += 1
            name = f"{group}-again{again}"
        run = self._run(cast, seed, self.practice.settings, self.practice.store, name)
        self.runs[run.id] = run
        return run

    @property
    def _kept(self) -> bool:
        place = self.practice.store
        return not place.startswith("memory:") and ("://" in place or Path(place).exists())

    def _judge(self, seed: int, bullets: tuple[str, ...]) -> Run:
        settings = [*self.practice.settings, *self.practice.eval_settings]
        return self._run(Cast(self.practice.agent, bullets=bullets), seed, settings, "memory:", None)

    def _run(self, cast: Cast, seed: int, settings: Sequence[str], store: str, name: str | None) -> Run:
        days = self.practice.days
        return api.run(
            self.practice.world, agent=cast, seeds=seed, days=days, settings=settings, store=store, name=name
        )[0]

    async def taken(self, name: str) -> Run:
        """A training run by its name, once."""
        return self.runs.pop(name, None) or api.runs(name, store=self.practice.store)[0]


class ByScore:
    """The Evaluator: the world's first score, in dollars where it is money; right when it is above zero."""

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation:
        told = trajectory.details
        score = told["score"] / 100 if told["unit"] == "cents" else float(told["score"])
        report = f"; {told['report']}" if told.get("report") else ""
        return Evaluation(score > 0, score, f"{trajectory.answer} in {told['run']}{report}")


@dataclass
class WorldReflector:
    """The Reflector: what the world says its record teaches."""

    player: PlaysRuns

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        given: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        if trajectory.failed:
            return Insights(task.id, failed=trajectory.failed)
        name = str(trajectory.details["run"])
        run, world = await self.player.taken(name), self.player.world
        kinds = dict.fromkeys(finding.type for finding in world.findings(run.ledger))
        lessons = tuple(world.lessons(run.ledger))
        return Insights(
            task.id,
            key_insight=f"{trajectory.answer}, {len(lessons)} lessons",
            error_identification=", ".join(kinds),
            lessons=lessons,
            sources=(name,),
        )


@dataclass
class EvidenceCurator:
    """A Curator of lessons that gives every operation the entries of its own lessons as evidence."""

    curator: LessonCurator

    async def curate(self, insights: Sequence[Insights], playbook: Playbook) -> Curation:
        apart = [
            replace(one, lessons=(lesson,), sources=_places(one.sources[0], lesson))
            for one in insights
            for lesson in one.lessons
        ]
        return await self.curator.curate(apart, playbook)


def _places(run: str, lesson: Lesson) -> tuple[str, ...]:
    return (evidence(run, lesson.entries),) if lesson.entries else (run,)


def _digest(bullets: tuple[str, ...]) -> str:
    return hashlib.sha256(canonical([*bullets]).encode()).hexdigest()


def _told(data: Json) -> tuple[int, bool]:
    match data:
        case {"seed": int(seed), "split": str(split)}:
            return seed, split == "train"
        case _:
            raise ValueError(f"a task with {data!r:.60} is no run of a world; make it by `world_tasks`")


def bullets_in(path: Path | str) -> tuple[str, ...]:
    """What a playbook tells, in its order. UsageError where there is none."""
    return tuple(bullet.content for bullet in PlaybookFile(Path(path)).load())


def text_in(path: Path | str) -> str:
    """A playbook as the JSON text that a `Cast` takes. UsageError where there is none."""
    return dumps(PlaybookFile(Path(path)).load())
