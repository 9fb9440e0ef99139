"""Explains a run of a store, `jobs` branches at a time; branches that were played before are not played again."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic

from akinai import worlds
from akinai.core.errors import AkinaiError, UnknownName, UsageError
from akinai.core.ledger import Ledger
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import replay
from akinai.runtime.garbage import never_collecting
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.runs.processes import LocalProcesses
from akinai.runtime.runs.reading import expect_whole, read_ledger
from akinai.runtime.runs.work import Died, Executor, Here, Monitor, Work, open_executor
from akinai.runtime.why.book import B, WhyBook
from akinai.runtime.why.branches import Branch, Branches, actors_of
from akinai.runtime.why.conduct import ConductBranch, ConductStudy
from akinai.runtime.why.explanation import Explanation
from akinai.runtime.why.joint import named_players, open_branches
from akinai.runtime.why.study import Study

BATCH = 32
"""Values written together: a process that dies loses no more, and Ctrl-C none."""
Progress = Callable[[int, int], None]
"""Called with the number of branches played and of branches requested so far."""


@dataclass(frozen=True, slots=True)
class WhyConfig:
    """The player, the budget and the engine of an explanation."""

    player: str | None = None
    """The player of the rest of every branch; None for the world's default player."""
    actor: str | None = None
    """The actor whose decisions count, by its own gain; None for all actors by the first score."""
    futures: int = 8
    budget: int = 600
    """Most branches that are played; 0 for no limit."""
    jobs: int = 1
    on: str | None = None
    """The engine that plays, as `--on` has it."""
    conduct: bool = False
    """Whether findings of conduct are taken out, in place of decisions."""


class BranchPlayer(Generic[B]):
    """Plays branches that have no value yet as far as the budget goes, and keeps their values as they come."""

    def __init__(
        self,
        book: WhyBook[B],
        work: Callable[[B], Work[float]],
        executor: Executor,
        url: str | None,
        budget: int,
        progress: Progress | None,
    ) -> None:
        """`budget` 0 is no limit."""
        self.book, self._work, self._executor, self._url, self._progress = book, work, executor, url, progress
        self._left, self._done, self._total = budget or 10**9, 0, 0

    async def play(self, requested: Sequence[B]) -> Mapping[B, float]:
        """All values so far. AkinaiError where a process dies."""
        new = [branch for branch in requested if branch not in self.book.values][: self._left]
        self._left, self._total, batch = self._left - len(new), self._total + len(new), dict[B, float]()
        if not new:
            return self.book.values
        try:
            async for index, value in self._executor.work(self._url, [self._work(branch) for branch in new], None):
                if isinstance(value, Died):
                    raise AkinaiError("a process that played branches died, perhaps for want of memory; try --jobs 1")
                batch[new[index]] = value
                self._done += 1
                if len(batch) == BATCH:
                    await self.book.add(batch)
                    batch = {}
                if self._progress:
                    self._progress(self._done, self._total)
        finally:
            await self.book.add(batch)
        return self.book.values


async def explain(
    books: Books,
    header: RunHeader,
    options: WhyConfig = WhyConfig(),
    progress: Progress | None = None,
    url: str | None = None,
) -> Explanation:
    """Find the decisions of a run that made and cost most. Values go into its trace as they are played.

    `url` is the store's address for other processes; without it this one plays alone.

    UsageError for a run that cannot be explained, ReplayMismatch where its record does not follow from the rules.
    """
    ledger = await read_ledger(books, header)
    expect_whole(header, len(ledger.entries))
    if options.conduct:
        return await _explain_conduct(books, header, ledger, options, progress, url)
    player, actor = options.player or default_agent(worlds.load(header.genesis.world)), options.actor
    branches = _replay_branches(ledger, player, actor)
    seats = "".join(f" {group}={named}" for group, named in named_players(branches.world, ledger.genesis.setup))
    key = f"{ledger.digest} {player}{f' {actor}' if actor else ''}{seats}"
    book = WhyBook(books, header.run_id, key, Branch.from_json)
    await book.load()

    def work(branch: Branch) -> BranchWork:
        return BranchWork(header.run_id, ledger.digest, player, branch, actor)

    async with _executor(books, options, url) as executor:
        with never_collecting():
            divergences = await branches.divergences()
        study = Study(branches, divergences, options.futures)
        await study.run(BranchPlayer(book, work, executor, url, options.budget, progress).play)
    explanation = study.explanation(header, ledger.digest, asked_model=spec_of(header).asks_model)
    await book.conclude(explanation)
    return explanation


async def _explain_conduct(
    books: Books, header: RunHeader, ledger: Ledger, options: WhyConfig, progress: Progress | None, url: str | None
) -> Explanation:
    """What the misconduct of a run, or of an actor in it, gained. No player plays on: all else is as recorded."""
    study = _replay_conduct(ledger)
    actors = actors_of(study.world, study.steps)
    if options.actor is not None and options.actor not in actors:
        raise UnknownName("actor", options.actor, actors)
    book = WhyBook(books, header.run_id, f"{ledger.digest} conduct", ConductBranch.from_json)
    await book.load()

    def work(branch: ConductBranch) -> ConductWork:
        return ConductWork(header.run_id, ledger.digest, branch)

    branches = study.branches(options.futures, options.actor)
    async with _executor(books, options, url) as executor:
        gains = await BranchPlayer(book, work, executor, url, options.budget, progress).play(branches)
    rows, world, steps = tuple(study.credits(branches, gains)), study.world, study.steps
    score = world.scorers[0](steps)[0]
    explanation = Explanation(
        run=header.run_id, digest=ledger.digest, player=options.player or default_agent(world),
        asked_model=spec_of(header).asks_model,
        headline=score.name, unit=score.unit, by_days=world.now(steps.opening) is not None, value=score.value,
        player_value=None, cost=(), made=(), parted=0, days=0, tried=len(rows),
        futures=max((row.futures for row in rows), default=0), branches=len(gains),
        left=len({*branches} - gains.keys()), actor=options.actor, conduct=rows,
    )  # fmt: skip
    await book.conclude(explanation)
    return explanation


@asynccontextmanager
async def _executor(books: Books, options: WhyConfig, url: str | None) -> AsyncGenerator[Executor]:
    """The engine that plays the branches. UsageError for one that cannot open the store."""
    executor: Executor
    if options.on is not None:
        executor = open_executor(options.on, options.jobs)
        executor.check_store(url or "memory:")
    else:
        executor = Here(books) if options.jobs == 1 or url is None else LocalProcesses(options.jobs)
    try:
        yield executor
    finally:
        await executor.close()


@dataclass(frozen=True, slots=True)
class BranchWork:
    """The work of playing one branch of a stored run."""

    run_id: str
    digest: str
    """The final digest of the record that is explained."""
    player: str
    branch: Branch
    actor: str | None = None

    @property
    def run_ids(self) -> tuple[str, ...]:
        return ()

    async def do(self, books: Books, monitor: Monitor) -> float:
        """The headline at the end of the branch."""
        key = (self.digest, self.player, self.actor)
        if (branches := _last_branches.get(key)) is None:
            ledger = await _same_ledger(books, self.run_id, self.digest)
            branches = _replay_branches(ledger, self.player, self.actor)
        with never_collecting():  # every state of the run is kept, and none is in a cycle
            return await branches.value(self.branch)


@dataclass(frozen=True, slots=True)
class ConductWork:
    """The work of playing a stored run with and without a finding of conduct, in one future."""

    run_id: str
    digest: str
    """The final digest of the record that is explained."""
    branch: ConductBranch

    @property
    def run_ids(self) -> tuple[str, ...]:
        return ()

    async def do(self, books: Books, monitor: Monitor) -> float:
        """What the finding gained its actor."""
        if (study := _last_conduct.get(self.digest)) is None:
            study = _replay_conduct(await _same_ledger(books, self.run_id, self.digest))
        with never_collecting():
            return study.gain(self.branch)


async def _same_ledger(books: Books, run_id: str, digest: str) -> Ledger:
    """The ledger of a run. UsageError if its digest is no longer this one."""
    ledger = await read_ledger(books, await books.header(run_id))
    if ledger.digest != digest:
        raise UsageError(f"run {run_id!r} has grown while it was explained; explain it again")
    return ledger


_last_conduct: dict[str, ConductStudy] = {}
"""The misconduct of the run that this process played last, by its digest."""


def _replay_conduct(ledger: Ledger) -> ConductStudy:
    world = worlds.load(ledger.genesis.world)
    _last_conduct.clear()
    study = _last_conduct[ledger.digest] = ConductStudy(world, replay(world, ledger, check=True))
    return study


_last_branches: dict[tuple[str, str, str | None], Branches] = {}
"""The branches of the run that this process played last. They keep all states, so the run is replayed once."""


def _replay_branches(ledger: Ledger, player: str, actor: str | None) -> Branches:
    world = worlds.load(ledger.genesis.world)
    steps = replay(world, ledger, check=True)
    branches = open_branches(world, steps, player, actor)
    _last_branches.clear()
    _last_branches[ledger.digest, player, actor] = branches
    return branches
