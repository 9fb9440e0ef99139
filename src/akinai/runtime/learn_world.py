"""A world as a data set: a task is one run, its trajectory the ledger, its report findings and scores.

In training the player is told, beside its playbook, to try things out, so that there is something to learn from; where
it is judged it plays by the playbook alone.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from akinai import worlds
from akinai.core.canonical import Json, canonical
from akinai.core.chance import Chance
from akinai.core.errors import UsageError
from akinai.core.lessons import Lesson
from akinai.core.money import format_cents
from akinai.core.worlds import World
from akinai.learning.files import sha256
from akinai.learning.formats import dumps
from akinai.learning.loop import Watch
from akinai.learning.playbook import Playbook
from akinai.learning.playbook_file import PlaybookFile
from akinai.learning.roles import Curation, Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles_by_rules import LessonCurator
from akinai.learning.tasks import Assignment, DataSet, Split, Task
from akinai.runtime import api
from akinai.runtime.cast import THINKING, Cast
from akinai.runtime.config import prepare
from akinai.runtime.experiment import seeds_in
from akinai.runtime.learn import Learned, learn
from akinai.runtime.runs import Run

SETTINGS: dict[str, Json] = {"reflect_on_success": True, "dedup": False, "whole": True, "budget_tokens": 0}
"""Every run teaches; bullets differ by their numbers; and a player wants them all."""

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


def learn_world(
    practice: Practice, *, playbook: Path | str | None = None, epochs: int = 1, watch: Watch | None = None
) -> Learned:
    """Learn a playbook from runs on some seeds and judge it on others, each with and without it.

    UsageError for a world that teaches nothing by rules, a player that asks a model, or seeds that stand on both sides.
    """
    data_set = world_tasks(practice)
    assert data_set.rules is not None
    return learn(
        data_set,
        playbook=playbook,
        epochs=epochs,
        roles=data_set.rules,
        evaluator=ByScore(),
        settings=SETTINGS,
        watch=watch,
    )


def learned_document(learned: Learned, practice: Practice, seconds: float) -> dict[str, Json]:
    """What came of it, as `akinai learn --json` tells it; means and gain are the world's first score, in dollars where
    that is money."""
    judged, without, gain = learned.judged, learned.baseline, learned.gain
    return {
        "world": worlds.load(practice.world).name,
        "agent": practice.agent,
        "seeds": practice.seeds,
        "eval_seeds": practice.eval_seeds,
        "days": practice.days,
        "settings": [*practice.settings],
        "eval_settings": [*practice.eval_settings],
        "epochs": len(learned.epochs),
        "runs": len(judged.scores) if judged else 0,
        "with": judged.mean if judged else None,
        "without": without.mean if without else None,
        "paired": {
            "gain": gain.difference,
            "ci95": list(gain.ci95) if gain.ci95 else None,
            "wins": gain.wins,
            "losses": gain.losses,
            "smallest_visible": gain.smallest_visible,
        }
        if gain
        else None,
        "playbook_size": len(learned.playbook),
        "seconds": round(seconds, 2),
        "card": {
            "akinai": version("akinai"),
            "python": platform.python_version(),
            "roles": learned.label,
            "playbook": str(learned.path),
            "playbook_sha256": sha256(dumps(learned.playbook).encode()),
        },
    }


def teaches(name: str) -> bool:
    """Whether a world of that name has lessons to give."""
    return name in worlds.names() and type(worlds.load(name)).lessons is not World.lessons


def world_tasks(practice: Practice) -> DataSet:
    """The runs of a world as tasks, with the rules that learn from them."""
    world = worlds.load(practice.world)
    base = world.name.partition("@")[0]
    if not teaches(base):
        raise UsageError(f"{world.name} has no lessons by rules; learn from a world that has, such as vending")
    if practice.agent in THINKING:
        raise UsageError(
            f"the agent {practice.agent!r} asks a model; runs teach by rules here: name a player such as naive"
        )
    train, judged = seeds_in(practice.seeds), seeds_in(practice.eval_seeds)
    if not practice.eval_settings and (both := sorted({*train} & {*judged})):
        raise UsageError(f"seed {both[0]} is both learned from and judged by; choose other --eval-seeds")
    for settings in (practice.settings, [*practice.settings, *practice.eval_settings]):
        prepare(world, days=practice.days, settings=settings)  # a setting that does not fit is told before anything
    seeds: dict[Split, list[int]] = {"train": train, "validation": judged}

    def load(split: Split) -> list[Task]:
        return [
            Task(f"{base}-{split}-{seed}", f"{base}, seed {seed}", "", data={"seed": seed, "split": split})
            for seed in seeds.get(split, [])
        ]

    player = Player(world, practice)
    rules = Roles(player, WorldReflector(player), EvidenceCurator(LessonCurator(world.merged)), label="rules")
    return DataSet(base, load, rules=rules, settings=SETTINGS)


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
        bullets = tuple(bullet.content for bullet in given.bullets)
        run = self._train(seed, bullets) if trains else self._judge(seed, bullets)
        if run.status == "failed":
            return Trajectory(assignment.id, failed=run.error or "the run failed")
        score = run.scores[0]
        told: Mapping[str, Json] = {"score": score.value, "unit": score.unit, "run": run.id}
        source = f"{run.id}#1 -> {run.id}#{len(run.ledger.entries)}"
        used = tuple(bullet.id for bullet in given.bullets)
        return Trajectory(assignment.id, _shown(score.value, score.unit), details=told, source=source, used=used)

    def _train(self, seed: int, bullets: tuple[str, ...]) -> Run:
        """Another playbook is another experiment, so every epoch tries other things.

        What a run is told stands in its name: a group holds runs that are played alike.
        """
        order = self.world.experiment(Chance.of(seed)("experiment", _digest(bullets)).below(1 << 30))
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
        return not self.practice.store.startswith("memory:") and Path(self.practice.store).exists()

    def _judge(self, seed: int, bullets: tuple[str, ...]) -> Run:
        settings = [*self.practice.settings, *self.practice.eval_settings]
        return self._run(Cast(self.practice.agent, bullets=bullets), seed, settings, "memory:", None)

    def _run(self, cast: Cast, seed: int, settings: Sequence[str], store: str, name: str | None) -> Run:
        days = self.practice.days
        return api.run(
            self.practice.world, agent=cast, seeds=seed, days=days, settings=settings, store=store, name=name
        )[0]

    def taken(self, name: str) -> Run:
        """A training run by its name, once."""
        return self.runs.pop(name, None) or api.runs(name, store=self.practice.store)[0]


class ByScore:
    """The Evaluator: the world's first score, in dollars where it is money; right when it is above zero."""

    async def evaluate(self, task: Task, trajectory: Trajectory) -> Evaluation:
        told = trajectory.details
        score = told["score"] / 100 if told["unit"] == "cents" else float(told["score"])
        return Evaluation(score > 0, score, f"{trajectory.answer} in {told['run']}")


@dataclass
class WorldReflector:
    """The Reflector: what the world says its record teaches."""

    player: Player

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        given: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        name = str(trajectory.details["run"])
        run, world = self.player.taken(name), self.player.world
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
    return (" -> ".join(f"{run}#{entry}" for entry in lesson.entries),) if lesson.entries else (run,)


def _digest(bullets: tuple[str, ...]) -> str:
    return hashlib.sha256(canonical([*bullets]).encode()).hexdigest()


def _told(data: Json) -> tuple[int, bool]:
    match data:
        case {"seed": int(seed), "split": str(split)}:
            return seed, split == "train"
        case _:
            raise ValueError(f"a task with {data!r:.60} is no run of a world; make it by `world_tasks`")


def _shown(value: float, unit: str) -> str:
    return format_cents(int(value)) if unit == "cents" else f"{value} {unit}"


def bullets_in(path: Path | str) -> tuple[str, ...]:
    """What a playbook tells, in its order. UsageError where there is none."""
    return tuple(bullet.content for bullet in PlaybookFile(Path(path)).load())
