"""Generators whose attempts are runs of a world, by rules or with a model, and the reports that a model reflects on.

In training a rule-based player also experiments, so that there is something to learn from. A judged run is played by
the playbook alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from akinai.core.canonical import Json, canonical
from akinai.core.chance import Chance
from akinai.core.errors import EndRun, ModelError, UnknownName
from akinai.core.ledger import Genesis
from akinai.core.models import Usage
from akinai.core.money import format_cents
from akinai.core.steps import Steps
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import World, participants, replay
from akinai.learning.condense import condense_run, describe_hidden_facts
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.formats import dumps
from akinai.learning.roles.protocols import Insights, ModelUsage, Retrieved, Trajectory
from akinai.learning.roles.tasks import Assignment
from akinai.learning.search.injection import inject
from akinai.runtime.config.addresses import opened
from akinai.runtime.config.settings import Prepared, prepare
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.train_config import TrainConfig
from akinai.runtime.models.budget import BUDGET
from akinai.runtime.play.agent_registry import check_spec, expect_tools, resolve_group_models
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.runtime.play.driver import PlayContext, play_run
from akinai.runtime.play.model_pool import CALLS, ModelPool, open_model_pool
from akinai.runtime.runs.bundling import Bundler
from akinai.runtime.runs.lifecycle import can_resume
from akinai.runtime.runs.planning import fresh_name, plan
from akinai.runtime.runs.reading import DAMAGE, Detail, loader, read_run
from akinai.runtime.runs.records import Run
from akinai.runtime.runs.unreadable import unread_sentence
from akinai.runtime.runs.work import PlayWork, ScratchWork, play_scratch
from akinai.runtime.sync import wait

TRUTH_SHARE = 3
"""The truth about a run may take 1 / TRUTH_SHARE of the tokens of its record."""

LOGGER = logging.getLogger("akinai.agents")


@dataclass(frozen=True, slots=True)
class RunTask:
    """The run that a task asks for."""

    seed: int
    trains: bool
    settings: Sequence[str]


@dataclass
class RunPlayer(ABC):
    """A Generator whose attempts are runs of a world."""

    world: World[Any]
    config: TrainConfig

    @abstractmethod
    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory: ...

    @abstractmethod
    async def training_run(self, name: str) -> Run:
        """A training run by its name."""

    def prepare(self, spec: AgentSpec, task: RunTask) -> tuple[Prepared, AgentSpec]:
        """The game of a task, and the agent with the models of its groups."""
        config, base_url = self.config, spec.model.base_url if spec.model else None
        check_spec(self.world, spec)
        prepared = prepare(
            self.world, preset=config.preset, days=config.days, settings=task.settings, thinks=spec.asks_model
        )
        resolved = resolve_group_models(spec, self.world, prepared.setup, base_url)
        expect_tools(self.world, prepared.setup, resolved)
        return prepared, resolved

    def plan(self, spec: AgentSpec, task: RunTask, group: str) -> RunHeader:
        prepared, spec = self.prepare(spec, task)
        return plan(self.world, prepared, spec, [task.seed], group)[0]

    async def begin(
        self, store: Books, header: RunHeader, can_serve: Callable[[RunHeader], bool] = lambda _: False
    ) -> RunHeader:
        """The run of this name that was begun before, if it can serve; otherwise a new run under a free name."""
        group, number = str(header.group), 1
        while True:
            try:
                begun = await store.header(header.run_id)
            except UnknownName:
                await store.create(header)
                return header
            if can_serve(begun):
                return begun
            number += 1
            name = f"{group}-again{number}"
            header = replace(header, run_id=f"{name}-{header.genesis.seed}", group=name)

    async def read(self, store: Books, header: RunHeader) -> Run:
        return await read_run(store, header, load=loader(self.world), trouble=DAMAGE)


@dataclass
class RulePlayer(RunPlayer):
    """A Generator that plays a run by the bullets.

    Each run is played in an event loop of its own: trainers of other frameworks call the player from several loops.
    Where there are `judges`, these play the runs that judge, all that are asked for together.
    """

    judges: Bundler | None = None
    _unread: dict[str, Run] = field(default_factory=dict[str, Run])
    """Training runs that nobody has read yet, by name. A store in memory keeps none."""

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        task = _parse_run_task(assignment.data)
        trains = task.trains and bool(assignment.attempt)  # a run that is held out has none
        bullets = tuple(bullet.for_players for bullet in retrieved.bullets)
        run = wait(self._train(task, bullets)) if trains else await self._judge(task, bullets)
        if run.status == "failed" or not run.measured:
            return Trajectory(assignment.id, failed=run.reason or unread_sentence(run.header) or "the run failed")
        used = tuple(bullet.id for bullet in retrieved.bullets)
        return replace(trajectory_of(run, assignment.id, self.config), used=used)

    async def training_run(self, name: str) -> Run:
        run = self._unread.pop(name, None)
        return wait(self._stored(name)) if run is None else run

    async def _stored(self, name: str) -> Run:
        async with opened(self.config.store, create=False) as store:
            return await self.read(store, await store.header(name))

    async def _train(self, task: RunTask, bullets: tuple[str, ...]) -> Run:
        """Another playbook makes another experiment, so each epoch tries other things.

        The name of the run follows from its bullets: a group holds runs that are played alike.
        """
        number = Chance.of(task.seed)("experiment", _digest([*bullets])).below(1 << 30)
        order = "" if self.config.online else self.config.teaching.experiment(number)
        bullets = tuple(filter(None, (order, *bullets)))
        group = f"learn-{self.world.name.partition('@')[0]}-{_digest([*bullets])[:6]}"
        async with opened(self.config.store, create=True) as store:
            run = await self.play(store, bullets, task, group)
        self._unread[run.id] = run
        return run

    async def _judge(self, task: RunTask, bullets: tuple[str, ...]) -> Run:
        header = self.plan(AgentSpec(self.config.agent, bullets=bullets), task, fresh_name([]))
        detail = Detail(ledger=bool(self.config.role))
        if self.judges is None:
            return wait(play_scratch(header, detail, PlayContext(self.world)))
        return (await self.judges.do(ScratchWork((header,), detail)))[0]

    async def play(self, store: Books, bullets: tuple[str, ...], task: RunTask, group: str) -> Run:
        header = await self.begin(store, self.plan(AgentSpec(self.config.agent, bullets=bullets), task, group))
        return await self.read(store, await play_run(store, header, None, PlayContext(self.world)))


async def play_once(world: World[Any], seed: int, days: int) -> Run:
    """A run by the player that follows playbooks, trying things out, without a playbook and in memory."""
    teaching = world.facets.teaching
    config = TrainConfig(world, teaching.learner, days=days if "days" in world.setup.model_fields else None)
    bullets = tuple(filter(None, (teaching.experiment(seed),)))
    async with opened("memory:", create=True) as store:
        return await RulePlayer(world, config).play(store, bullets, RunTask(seed, True, ()), fresh_name([]))


@dataclass
class ModelPlayer(RunPlayer):
    """A Generator that plays a run with an agent that asks a model and searches the playbook as it goes.

    Every run is kept in the store. Its name follows from the agent, the playbook and the attempt, so a run that was
    cut off is resumed from its last entry; the name is in the trajectory's `source`.
    """

    spec: AgentSpec
    reuses_runs: bool
    """Whether a run that is on record and done is not played again: where a learning is resumed after a crash."""
    books: Books
    resources: Resources
    engine: Bundler | None = None
    """Plays the runs elsewhere, as many at once as it can; without it this process does."""
    _pools: dict[AgentSpec, ModelPool] = field(default_factory=dict[AgentSpec, ModelPool])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.resources.at_once)

    async def training_run(self, name: str) -> Run:
        return await self.read(self.books, await self.books.header(name))

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        """ModelError for a run that broke or was unreadable, which is resumed when it is asked for again. EndRun when
        the budget is spent."""
        task = _parse_run_task(assignment.data)
        playbook = dumps(retrieved.playbook) if retrieved.playbook else ""
        spec = replace(self.spec, playbook=playbook)
        if retrieved.injection.bullet_ids:  # the whole playbook was asked for
            spec = replace(spec, playbook_tokens=0)
        run = await self._play(task, spec, assignment.attempt)
        if run.status == "failed":
            raise ModelError(f"run {run.id} broke: {run.reason}")
        if unread := unread_sentence(run.header):
            LOGGER.warning("run %s is unreadable: %s", run.id, unread)
            raise ModelError(f"run {run.id} is unreadable: {unread}")
        if run.ending == BUDGET:
            raise EndRun(BUDGET)
        return replace(trajectory_of(run, assignment.id, self.config), injected=await self._looked_up(run.id))

    async def _play(self, task: RunTask, spec: AgentSpec, attempt: str) -> Run:
        prepared, spec = self.prepare(spec, task)
        digest = _digest([attempt, spec.card(), prepared.setup])[:8]
        group = f"{'learn' if attempt else 'judge'}-{self.world.name.partition('@')[0]}-{digest}"
        header = plan(self.world, prepared, spec, [task.seed], group)[0]
        header = await self.begin(self.books, header, lambda begun: self.reuses_runs or can_resume(begun))
        if can_resume(header) and self.engine is not None:
            await self.engine.do(PlayWork((header.run_id,), Detail(ledger=False)))
            header = await self.books.header(header.run_id)
        elif can_resume(header):
            async with self._free:
                header = await play_run(self.books, header, None, PlayContext(self.world, pool=await self._pool(spec)))
        return await self.read(self.books, header)

    async def _pool(self, spec: AgentSpec) -> ModelPool:
        """The models of an agent, opened on first use and closed with the learning."""
        bare = replace(spec, playbook="")
        async with self._opening:
            if bare not in self._pools:
                pool = open_model_pool(bare, self.resources.meter, at_once=self.resources.at_once)
                self._pools[bare] = await self.resources.stack.enter_async_context(pool)
            return self._pools[bare]

    async def _looked_up(self, run: str) -> tuple[str, ...]:
        """The bullets that the run's agents saw, in the order in which they first did."""
        from akinai.runtime.play.lookup import LOOKED_UP

        ids: dict[str, None] = {}
        async for record in self.books.read_trace(run):
            lookup = cast("Mapping[str, Any]", record.data).get(LOOKED_UP)
            ids |= dict.fromkeys(lookup["bullets"] if lookup else ())
        return tuple(ids)


@dataclass
class RunReporter:
    """A Generator that adds what a model reflects on: the condensed record, the findings, and what the world knows."""

    player: RunPlayer
    run_tokens: int
    """Limit on the tokens of a record."""
    no_truth: bool = False
    """Leave out what the world knows and the player did not."""

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        trajectory = await self.player.generate(assignment, retrieved, reflections)
        if trajectory.failed or not assignment.attempt:
            return trajectory
        world, run = self.player.world, await self.player.training_run(str(trajectory.details["run"]))
        steps = replay(world, run.ledger)
        record = condense_run(world, steps, budget_tokens=self.run_tokens)
        truth = (
            "" if self.no_truth else describe_hidden_facts(world, steps, budget_tokens=self.run_tokens // TRUTH_SHARE)
        )
        details = {**trajectory.details, "truth": truth, "report": report_of(world, run, steps)}
        # Which bullets were followed is not recorded: what they did is for the Reflector to say.
        return replace(trajectory, reasoning=record, details=details, used=())


class RunRetriever(PlaybookRetriever):
    """Returns the playbook without any bullets: an agent that asks a model searches it while it plays. With `whole` it
    is given all of them."""

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        if self.config.whole:
            return super().retrieve(playbook, query)
        return Retrieved(inject(()), playbook)

    def permuted(self, original: Playbook, permuted: Playbook, query: str) -> Retrieved:
        return self.retrieve(permuted, query)


def trajectory_of(run: Run, task_id: str, config: TrainConfig) -> Trajectory:
    """A run as a trajectory: the score of its role, its model calls, and where it is on record."""
    score, details = run.scores[0], dict[str, Json]()
    if config.role:
        teaching, world = config.teaching, config.load_world()
        account = world.facets.judging.account(replay(world, run.ledger))
        figures = {figure.name: figure for figure in account.figures}
        score = figures[teaching.score] if teaching.score else score
        details["beside"] = {name: in_dollars(figures[name].value, figures[name].unit) for name in teaching.beside}
        details["beside_units"] = {name: figures[name].unit for name in teaching.beside}
    details |= {"score": score.value, "unit": score.unit, "run": run.id, "entries": run.entries}
    source = f"{run.id}#1 -> {run.id}#{run.entries}"
    answer, usage = format_score(score.value, score.unit), _card_usage(run.card.get(CALLS))
    return Trajectory(task_id, answer, details=details, source=source, usage=usage)


def in_dollars(value: float, unit: str) -> float:
    """A score, in dollars where it is money."""
    return value / 100 if unit == "cents" else float(value)


def format_score(value: float, unit: str) -> str:
    """A score with its unit; money in dollars."""
    return format_cents(int(value)) if unit == "cents" else f"{value} {unit}"


def report_of(world: World[Any], run: Run, steps: Steps[Any]) -> str:
    """The scores of a run, and the number of its findings by type."""
    scores = ", ".join(f"{score.name} {format_score(score.value, score.unit)}" for score in run.scores)
    counts = Counter(finding.type for finding in world.facets.judging.detect(steps))
    findings = ", ".join(f"{kind} {n}" for kind, n in counts.most_common())
    return f"ended as {run.ending}; {scores}; findings: {findings or 'none'}"


def situation(world: World[Any], seed: int, setup: Mapping[str, Json]) -> str:
    """The first view of a run, for one actor of each side."""
    state = world.begin(Genesis(world.name, seed, setup))
    first: dict[str, str] = {}
    for actor in participants(world, state):
        first.setdefault(world.facets.seating.group(state, actor), actor)
    views = (world.view(state, actor).text for actor in first.values())
    return "\n\n".join([f"{world.name.partition('@')[0]}, seed {seed}", *views])


def _card_usage(calls: Json) -> ModelUsage:
    """The model calls of a run, from its card."""
    match calls:
        case {"calls": int(n), "usage": {"input": int(sent), "output": int(answered), "cached": int(cached)}}:
            return ModelUsage(n, 0, Usage(sent, answered, cached))
        case _:
            return ModelUsage()


def _digest(parts: Json) -> str:
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def _parse_run_task(data: Json) -> RunTask:
    match data:
        case {"seed": int(seed), "split": str(split), "settings": [*settings]}:
            return RunTask(seed, split == "train", [str(setting) for setting in settings])
        case _:
            raise ValueError(f"a task with {data!r:.60} is no run of a world; make it by `world_tasks`")
