"""Runs that teach with a model's help: a player that thinks, and a Reflector and a Curator that read its ledger."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from akinai.core.canonical import Json, canonical
from akinai.core.errors import EndRun, ModelError, UnknownName
from akinai.core.ledger import Genesis
from akinai.core.models import Usage
from akinai.core.money import format_cents
from akinai.core.stores import RunHeader
from akinai.core.trace import Books
from akinai.core.worlds import World
from akinai.learning.condense import condensed
from akinai.learning.condense_days import known
from akinai.learning.formats import dumps
from akinai.learning.injection import inject
from akinai.learning.loop_shelf import Shelf
from akinai.learning.playbook import Playbook
from akinai.learning.roles import Generator, Insights, Retrieved, Spent, Trajectory
from akinai.learning.tasks import Assignment
from akinai.runtime.budget import BUDGET
from akinai.runtime.cast import Cast
from akinai.runtime.config import prepare
from akinai.runtime.experiment import plan
from akinai.runtime.learn import Means
from akinai.runtime.life import can_go_on
from akinai.runtime.play import Given, play_one
from akinai.runtime.runs import Run, read_run
from akinai.runtime.stage import CALLS, Stage, open_stage, seated

AT_ONCE = 64
"""Runs that wait for models at the same time, where a playbook is judged."""
TRUTH_SHARE = 3
"""What the world knows of a run may take one part in so many of its record's tokens."""


class RunsShelf(Shelf):
    """Hands over the playbook and no bullets: a run looks into it by itself."""

    def another(self) -> RunsShelf:
        return RunsShelf(self.plan, count_tokens=self.count_tokens)

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        return Retrieved(inject((), count_tokens=self.count_tokens), (), playbook)


class PlaysRuns(Generator, Protocol):
    """A Generator whose tries are runs of a world."""

    @property
    def world(self) -> World[Any]: ...

    async def taken(self, name: str) -> Run:
        """A training run by its name; read once."""
        ...


@dataclass(frozen=True, slots=True)
class Stint:
    """What the runs of a learning have in common."""

    world: World[Any]
    cast: Cast
    days: int | None
    settings: Sequence[str]
    eval_settings: Sequence[str]
    """Of runs that judge, over the others."""
    keeps: bool
    """Whether a run that is on record and done is not played again: where a learning goes on after a crash."""


@dataclass
class ThinkingPlayer:
    """The Generator: an agent that asks a model plays a run, and looks into the playbook as it goes.

    Every run is kept in the store. Its name follows from who plays what, with which playbook and for which try, so one
    that was cut off goes on from its last entry; it is in the trajectory's `source`.
    """

    stint: Stint
    books: Books
    means: Means
    _stages: dict[Cast, Stage] = field(default_factory=dict[Cast, Stage])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    @property
    def world(self) -> World[Any]:
        return self.stint.world

    async def taken(self, name: str) -> Run:
        return await read_run(self.books, await self.books.header(name))

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        """ModelError for a run that broke; asked again it goes on. EndRun when the budget is spent."""
        seed = cast("Mapping[str, int]", assignment.data)["seed"]
        playbook = dumps(given.playbook) if given.playbook else ""
        async with self._places:
            run = await self._played(seed, replace(self.stint.cast, playbook=playbook), assignment.attempt)
        if run.status == "failed":
            raise ModelError(f"run {run.id} broke: {run.error}")
        if run.ending == BUDGET:
            raise EndRun(BUDGET)
        return replace(trajectory_of(run, assignment.id), injected=await self._looked_up(run.id))

    async def _played(self, seed: int, cast: Cast, attempt: str) -> Run:
        stint = self.stint
        settings = [*stint.settings, *([] if attempt else stint.eval_settings)]
        prepared = prepare(stint.world, days=stint.days, settings=settings, thinks=cast.thinks)
        cast = seated(cast, stint.world, prepared.setup, cast.model.base_url if cast.model else None)
        digest = hashlib.sha256(canonical([attempt, cast.card(), prepared.setup]).encode()).hexdigest()[:8]
        name = f"{'learn' if attempt else 'judge'}-{stint.world.name.partition('@')[0]}-{digest}"
        header = await self._begun(plan(stint.world, prepared, cast, [seed], name)[0])
        if can_go_on(header):
            header = await play_one(self.books, header, None, Given(stage=await self._stage(cast)))
        return await read_run(self.books, header)

    async def _begun(self, header: RunHeader) -> RunHeader:
        """The run of this name where it was begun before and can serve; else a new one, under a name that is free."""
        group, again = str(header.group), 1
        while True:
            try:
                there = await self.books.header(header.run_id)
            except UnknownName:
                await self.books.create(header)
                return header
            if self.stint.keeps or can_go_on(there):
                return there
            again += 1
            name = f"{group}-again{again}"
            header = replace(header, run_id=f"{name}-{header.genesis.seed}", group=name)

    async def _stage(self, cast: Cast) -> Stage:
        """The models of a cast, opened when they are first wanted, and closed with the learning."""
        bare = replace(cast, playbook="")
        async with self._opening:
            if bare not in self._stages:
                opened = open_stage(bare, self.means.meter)
                self._stages[bare] = await self.means.stack.enter_async_context(opened)
            return self._stages[bare]

    async def _looked_up(self, run: str) -> tuple[str, ...]:
        """The bullets that its agents had in sight, in the order of their coming."""
        from akinai.runtime.lookup import LOOKED_UP

        ids: dict[str, None] = {}
        async for record in self.books.read_trace(run):
            told = cast("Mapping[str, Any]", record.data).get(LOOKED_UP)
            ids |= dict.fromkeys(told["bullets"] if told else ())
        return tuple(ids)


def trajectory_of(run: Run, task: str) -> Trajectory:
    """A run as the loop knows it: what it came to, and where it is on record."""
    score = run.scores[0]
    told: Json = {"score": score.value, "unit": score.unit, "run": run.id, "entries": run.entries}
    source = f"{run.id}#1 -> {run.id}#{run.entries}"
    return Trajectory(
        task, shown_score(score.value, score.unit), details=told, source=source, spent=_spent(run.card.get(CALLS))
    )


def _spent(calls: Json) -> Spent:
    """What the model calls of a run came to, as its card has it."""
    match calls:
        case {"calls": int(n), "usage": {"input": int(sent), "output": int(answered), "cached": int(cached)}}:
            return Spent(n, 0, Usage(sent, answered, cached))
        case _:
            return Spent()


@dataclass
class Telling:
    """A Generator whose runs are told to a model: the record condensed, the findings, and what the world knows."""

    player: PlaysRuns
    run_tokens: int
    """Of a record, at most."""

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        tried = await self.player.generate(assignment, given, reflections)
        if tried.failed or not assignment.attempt:
            return tried
        world, run = self.player.world, await self.player.taken(str(tried.details["run"]))
        record = condensed(world, run.ledger, budget_tokens=self.run_tokens)
        truth = known(world, run.ledger, budget_tokens=self.run_tokens // TRUTH_SHARE)
        details = {**tried.details, "entries": run.entries, "truth": truth, "report": reported(world, run)}
        # Nobody knows which bullets were followed: what they did is for the Reflector to say.
        return replace(tried, reasoning=record.text, details=details, used=())


def shown_score(value: float, unit: str) -> str:
    """A score in words: dollars where it is money."""
    return format_cents(int(value)) if unit == "cents" else f"{value} {unit}"


def reported(world: World[Any], run: Run) -> str:
    """Scores, and how often each kind of finding was made."""
    scores = ", ".join(f"{score.name} {shown_score(score.value, score.unit)}" for score in run.scores)
    kinds: dict[str, int] = {}
    for one in world.findings(run.ledger):
        kinds[one.type] = kinds.get(one.type, 0) + 1
    findings = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items(), key=lambda pair: -pair[1]))
    return f"ended as {run.ending}; {scores}; findings: {findings or 'none'}"


def situation(world: World[Any], seed: int, setup: Mapping[str, Json]) -> str:
    """What the actors of a run see at its begin, one of each side."""
    state = world.begin(Genesis(world.name, seed, setup))
    first: dict[str, str] = {}
    for actor in world.everybody(state):
        first.setdefault(world.group(state, actor), actor)
    views = (world.view(state, actor).text for actor in first.values())
    return "\n\n".join([f"{world.name.partition('@')[0]}, seed {seed}", *views])
