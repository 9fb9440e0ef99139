"""Explains a run of a store, `jobs` branches at a time, and goes on from what was played before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from akinai import worlds
from akinai.core.errors import AkinaiError, UsageError
from akinai.core.ledger import Ledger
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import replay
from akinai.runtime.garbage import never_collecting
from akinai.runtime.play.agent_registry import default_agent
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.runs.processes import LocalProcesses
from akinai.runtime.runs.reading import expect_whole, read_ledger
from akinai.runtime.runs.work import Died, Executor, Here, Monitor, open_executor
from akinai.runtime.why.book import WhyBook
from akinai.runtime.why.branches import Branch, Branches
from akinai.runtime.why.explanation import Explanation
from akinai.runtime.why.joint import open_branches
from akinai.runtime.why.study import Study

BATCH = 32
"""Values that are kept together: a process that dies loses no more, and Ctrl-C none."""
Progress = Callable[[int, int], None]
"""Called with the branches that were played of those that are wanted so far."""


@dataclass(frozen=True, slots=True)
class WhyOptions:
    """How much is played, and by whom."""

    player: str | None = None
    """Who plays the rest of every branch; None for the world's default player."""
    actor: str | None = None
    """Whose decisions count, by its own gain; None for all by the first score."""
    futures: int = 8
    budget: int = 600
    """Branches that are played at most; 0 for no limit."""
    jobs: int = 1
    on: str | None = None
    """The engine that plays, as `--on` has it."""


async def explain(
    books: Books,
    header: RunHeader,
    options: WhyOptions = WhyOptions(),
    progress: Progress | None = None,
    url: str | None = None,
) -> Explanation:
    """Which decisions of a run made and cost most. Values go into its second book as they are played.

    `url` is the store's address for other processes; without it this one plays alone.

    UsageError for a run that cannot be explained, ReplayMismatch where its record is not what the rules give.
    """
    ledger = await read_ledger(books, header)
    expect_whole(header, len(ledger.entries))
    world = worlds.load(header.genesis.world)
    player = options.player or default_agent(world)
    branches = _keep(ledger, player, options.actor)
    followed = f" {options.actor}" if options.actor else ""
    book = WhyBook(books, header.run_id, f"{ledger.digest} {player}{followed}")
    await book.load()
    left, done, total = options.budget or 10**9, 0, 0

    async def play(wanted: Sequence[Branch]) -> dict[Branch, float]:
        nonlocal left, done, total
        new = [branch for branch in wanted if branch not in book.values][:left]
        left, total, batch = left - len(new), total + len(new), dict[Branch, float]()
        if not new:
            return book.values
        try:
            items = [BranchWork(header.run_id, ledger.digest, player, branch, options.actor) for branch in new]
            async for place, value in executor.work(url, items, None):
                if isinstance(value, Died):
                    raise AkinaiError("a process that played branches died, perhaps for want of memory; try --jobs 1")
                batch[new[place]] = value
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
            departures = await branches.departures()
        study = Study(branches, departures, options.futures)
        await study.run(play)
    finally:
        await executor.close()
    found = study.explanation(header, ledger.digest, asked_model=spec_of(header).asks_model)
    await book.conclude(found)
    return found


def _executor(books: Books, options: WhyOptions, url: str | None) -> Executor:
    """Who plays the branches. UsageError for an engine that cannot open the store."""
    if options.on is not None:
        engine = open_executor(options.on, options.jobs)
        engine.check_store(url or "memory:")
        return engine
    return Here(books) if options.jobs == 1 or url is None else LocalProcesses(options.jobs)


@dataclass(frozen=True, slots=True)
class BranchWork:
    """A branch to play of a run of the store."""

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
        if (branches := _at_hand.get(key)) is None:
            ledger = await read_ledger(books, await books.header(self.run_id))
            if ledger.digest != self.digest:
                raise UsageError(f"run {self.run_id!r} has grown while it was explained; explain it again")
            branches = _keep(ledger, self.player, self.actor)
        with never_collecting():  # every state of the run is kept, and none is in a cycle
            return await branches.value(self.branch)


_at_hand: dict[tuple[str, str, str | None], Branches] = {}
"""The run of which this process played branches last: it keeps all states, so it is folded once."""


def _keep(ledger: Ledger, player: str, actor: str | None) -> Branches:
    world = worlds.load(ledger.genesis.world)
    steps = replay(world, ledger, check=True)
    branches = open_branches(world, steps, player, actor)
    _at_hand.clear()
    _at_hand[ledger.digest, player, actor] = branches
    return branches
