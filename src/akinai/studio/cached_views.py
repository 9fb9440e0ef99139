"""The views of recently opened runs, and the days of idle and reference on their seeds."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from akinai import worlds
from akinai.analysis.groups import settings_key
from akinai.analysis.scale import HIGH, LOW
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import World
from akinai.report.page.run_list import Scales
from akinai.runtime.config.settings import Prepared
from akinai.runtime.models.budget import Prices
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.runtime.play.driver import horizon, play_run
from akinai.runtime.runs.planning import plan
from akinai.runtime.runs.reading import Detail, read_run
from akinai.runtime.runs.records import Run
from akinai.stores.memory import MemoryStore
from akinai.studio.watch import Watch, judged_run
from akinai.views import RunViews
from akinai.views.reading import read_for_views, read_on

KEPT = 6
"""Runs whose states are kept."""
MOST_DAYS = 400
"""Days of a run up to which idle and reference are played for its page."""
SERIES = Detail(ledger=False, evidence=False, series=True)


@dataclass(slots=True)
class CachedViews:
    """Views by run; a run that grew is folded on from the state that was kept."""

    books: Books
    watch: Watch
    prices: Prices
    _views: OrderedDict[str, RunViews] = field(default_factory=OrderedDict[str, RunViews])
    _ghosts: dict[tuple[str, int], dict[str, Sequence[float]]] = field(
        default_factory=dict[tuple[str, int], dict[str, Sequence[float]]]
    )
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])

    async def views(self, header: RunHeader) -> RunViews:
        """The views of a run as it stands now. LedgerError and UsageError for a record that cannot be read."""
        async with self._locks.setdefault(header.run_id, asyncio.Lock()):
            cached = self._views.get(header.run_id)
            views = await read_on(self.books, cached) if cached else await read_in_thread(self.books, header)
            self._views[header.run_id] = views
            self._views.move_to_end(header.run_id)
            while len(self._views) > KEPT:
                self._views.popitem(last=False)
            return views

    def known_ghosts(self, header: RunHeader) -> dict[str, Sequence[float]] | None:
        """The days of idle and reference, if they were read or played; None before that."""
        return self._ghosts.get(_key(header))

    async def ghosts(self, header: RunHeader) -> dict[str, Sequence[float]]:
        """The days of idle and reference on the seed of a run: from the store, or played in memory."""
        key = _key(header)
        async with self._locks.setdefault("/".join(map(str, key)), asyncio.Lock()):
            if key not in self._ghosts:
                self._ghosts[key] = await self._find_ghosts(header)
            return self._ghosts[key]

    async def _find_ghosts(self, header: RunHeader) -> dict[str, Sequence[float]]:
        world = worlds.load(header.genesis.world)
        if not 0 < horizon(header) <= MOST_DAYS or not {LOW, HIGH} <= set(world.players):
            return {}
        by_agent: dict[str, Sequence[float]] = {}
        scales = Scales.of([*self.watch.items, *self.watch.yardsticks])
        for agent in (LOW, HIGH):
            run = scales.baseline(header, agent) or await self._stored(header, agent)
            by_agent[agent] = run.headline_by_day if run else await asyncio.to_thread(_play, world, header, agent)
        return {name: days for name, days in by_agent.items() if days}

    async def _stored(self, header: RunHeader, agent: str) -> Run | None:
        for item in (*self.watch.items, *self.watch.yardsticks):
            candidate = item.header
            if (
                candidate.player == agent
                and candidate.status == "done"
                and not candidate.parent
                and not candidate.damage
                and _key(candidate) == _key(header)
            ):
                run = await judged_run(self.books, candidate, self.prices, SERIES)
                return None if run.trouble else run
        return None


def _key(header: RunHeader) -> tuple[str, int]:
    return settings_key(header.genesis), header.genesis.seed


async def read_in_thread(books: Books, header: RunHeader) -> RunViews:
    """The views of a run; the fold, and the parts that its page needs at once, are computed in a thread."""
    fold = await read_for_views(books, header)

    def work() -> RunViews:
        views = fold()
        assert views.run.digest == views.digest  # computed here, and cached
        assert views.place_history is views.place_history
        return views

    return await asyncio.to_thread(work)


def _play(world: World[object], like: RunHeader, agent: str) -> Sequence[float]:
    """A player's days on the seed of a run, played in memory."""

    async def work() -> Sequence[float]:
        memory = MemoryStore()
        (header,) = plan(world, Prepared(like.genesis.setup, "", ""), AgentSpec(agent), [like.genesis.seed], agent)
        await memory.create(header)
        run = await read_run(memory, await play_run(memory, header), SERIES, trouble=(Exception,))
        return () if run.trouble else run.headline_by_day

    return asyncio.run(work())
