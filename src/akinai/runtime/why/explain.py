"""Explains a run of a store, `jobs` branches at a time; branches that were played before are not played again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from akinai import worlds
from akinai.core.errors import AkinaiError, UsageError
from akinai.core.ledger import Ledger
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import World, replay
from akinai.runtime.garbage import never_collecting
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.runs.processes import LocalProcesses
from akinai.runtime.runs.reading import expect_whole, read_ledger
from akinai.runtime.runs.work import Died, Executor, Here, Monitor, open_executor
from akinai.runtime.why.book import WhyBook
from akinai.runtime.why.branches import Branch, Branches
from akinai.runtime.why.conduct import ConductStudy
from akinai.runtime.why.explanation import Explanation
from akinai.runtime.why.joint import open_branches
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
    world = worlds.load(header.genesis.world)
    player = options.player or default_agent(world)
    if options.conduct:
        return _explain_conduct(world, header, ledger, player, options)
    branches = _replay_branches(ledger, player, options.actor)
    followed = f" {options.actor}" if options.actor else ""
    book = WhyBook(books, header.run_id, f"{ledger.digest} {player}{followed}")
    await book.load()
    left, done, total = options.budget or 10**9, 0, 0

    async def play(requested: Sequence[Branch]) -> dict[Branch, float]:
        nonlocal left, done, total
        new = [branch for branch in requested if branch not in book.values][:left]
        left, total, batch = left - len(new), total + len(new), dict[Branch, float]()
        if not new:
            return book.values
        try:
            items = [BranchWork(header.run_id, ledger.digest, player, branch, options.actor) for branch in new]
            async for index, value in executor.work(url, items, None):
                if isinstance(value, Died):
                    raise AkinaiError("a process that played branches died, perhaps for want of memory; try --jobs 1")
                batch[new[index]] = value
                done += 1
                if len(batch) == BATCH:
                    await book.add(batch)
                    batch = {}
                if progress:
                    progress(done, total)
        finally:
            await book.add(batch)
        return book.values

    executor = _executor(books, options, url)
    try:
        with never_collecting():
            divergences = await branches.divergences()
        study = Study(branches, divergences, options.futures)
        await study.run(play)
    finally:
        await executor.close()
    explanation = study.explanation(header, ledger.digest, asked_model=spec_of(header).asks_model)
    await book.conclude(explanation)
    return explanation


def _explain_conduct(
    world: World[Any], header: RunHeader, ledger: Ledger, player: str, options: WhyConfig
) -> Explanation:
    """What the misconduct of a run, or of an actor in it, gained. No player plays on: all else is as recorded."""
    steps = replay(world, ledger, check=True)
    findings = [
        finding
        for finding in world.facets.judging.detect(steps)
        if finding.is_conduct and options.actor in (None, finding.actor)
    ]
    rows = tuple(ConductStudy(world, steps, options.futures).credits(findings)) if findings else ()
    score = world.scorers[0](steps)[0]
    return Explanation(
        run=header.run_id, digest=ledger.digest, player=player, asked_model=spec_of(header).asks_model,
        headline=score.name, unit=score.unit, by_days=world.now(steps.opening) is not None, value=score.value,
        player_value=None, cost=(), made=(), parted=0, days=0, tried=len(rows),
        futures=max((row.futures for row in rows), default=0), branches=0, left=0, actor=options.actor, conduct=rows,
    )  # fmt: skip


def _executor(books: Books, options: WhyConfig, url: str | None) -> Executor:
    """The engine that plays the branches. UsageError for one that cannot open the store."""
    if options.on is not None:
        engine = open_executor(options.on, options.jobs)
        engine.check_store(url or "memory:")
        return engine
    return Here(books) if options.jobs == 1 or url is None else LocalProcesses(options.jobs)


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
            ledger = await read_ledger(books, await books.header(self.run_id))
            if ledger.digest != self.digest:
                raise UsageError(f"run {self.run_id!r} has grown while it was explained; explain it again")
            branches = _replay_branches(ledger, self.player, self.actor)
        with never_collecting():  # every state of the run is kept, and none is in a cycle
            return await branches.value(self.branch)


_last_branches: dict[tuple[str, str, str | None], Branches] = {}
"""The branches of the run that this process played last. They keep all states, so the run is replayed once."""


def _replay_branches(ledger: Ledger, player: str, actor: str | None) -> Branches:
    world = worlds.load(ledger.genesis.world)
    steps = replay(world, ledger, check=True)
    branches = open_branches(world, steps, player, actor)
    _last_branches.clear()
    _last_branches[ledger.digest, player, actor] = branches
    return branches
