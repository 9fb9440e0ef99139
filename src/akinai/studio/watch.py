"""The watch over a store: which runs there are, which of them grow, and what their ledgers come to."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from akinai import worlds
from akinai.analysis.groups import settings_key
from akinai.analysis.scale import HIGH, LOW
from akinai.core.errors import AkinaiError
from akinai.core.ledger import Entry, Ledger
from akinai.core.stores import Books, RunHeader
from akinai.report.page.run_list import Item
from akinai.runtime.models.budget import Price, Prices
from akinai.runtime.runs.kept_scores import find_scores, keep_scores, score_record
from akinai.runtime.runs.reading import Detail, expect_whole, read_usage, score_run, select_runs, trimmed
from akinai.runtime.runs.records import Run

POLL_S = 0.5
GROWING_S = 5.0
"""How long after its last entry a run counts as being played."""
DETAIL = Detail(ledger=False, evidence=False, judged=True, series=True)


@dataclass(slots=True)
class _Known:
    item: Item
    version: int
    changed_at: float = float("-inf")
    read_entries: int = -1
    """The number of entries that the judged run has; -1 before it was judged."""
    aside: bool = False
    """Whether it is no run of the list, but idle or reference on the seed of one."""


@dataclass(slots=True)
class Watch:
    """The runs of a store, or those that names stand for; `version` rises with every change."""

    books: Books
    names: Sequence[str] = ()
    prices: Prices = field(default_factory=dict[str, Price])
    version: int = 0
    list_version: int = 0
    """The version at which a run came or went."""
    _known: dict[str, _Known] = field(default_factory=dict[str, _Known])
    _refreshed_at: float = float("-inf")
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def items(self) -> list[Item]:
        """All runs, oldest first."""
        return [known.item for known in self._known.values() if not known.aside]

    @property
    def yardsticks(self) -> list[Item]:
        """Runs of idle and reference in the same games on the same seeds, where names stand for other runs."""
        return [known.item for known in self._known.values() if known.aside]

    def changed_since(self, version: int) -> list[Item]:
        return [known.item for known in self._known.values() if known.version > version]

    @property
    def unread(self) -> int:
        """Runs that were never judged."""
        return sum(known.read_entries < 0 for known in self._known.values())

    def look_again(self) -> None:
        """Let the next refresh read the store, however short the last one is ago."""
        self._refreshed_at = float("-inf")

    async def refresh(self) -> None:
        """Read the headers anew, and count the entries of runs that are not over, at most twice a second."""
        async with self._lock:
            if time.monotonic() - self._refreshed_at < POLL_S:
                return
            headers = await self.books.runs()
            chosen = select_runs(headers, self.names, damaged=True, deleted=True) if self.names else headers
            aside = {header.run_id for header in yardsticks(headers, chosen)} if self.names else set[str]()
            chosen = [*chosen, *(header for header in headers if header.run_id in aside)]
            ids = [header.run_id for header in chosen]
            if ids != list(self._known):
                self.list_version = self.version = self.version + 1
                self._known = {id: self._known[id] for id in ids if id in self._known}
            known: dict[str, _Known] = {}
            for header in chosen:
                updated = await self._updated(header)
                known[header.run_id] = replace(updated, aside=True) if header.run_id in aside else updated
            self._known = known
            self._refreshed_at = time.monotonic()

    async def _updated(self, header: RunHeader) -> _Known:
        known = self._known.get(header.run_id)
        before = known.item if known else None
        entries = await self._entries(header, before.entries if before else 0)
        now = time.monotonic()
        grew = before is not None and entries > before.entries
        changed_at = now if grew else known.changed_at if known else float("-inf")
        growing = header.status == "open" and now - changed_at < GROWING_S
        item = replace(before or Item(header, key=_key(header)), header=header, entries=entries, growing=growing)
        if known is None or item != before:
            self.version += 1
            read = known.read_entries if known and before and before.header.status == header.status else -1
            return _Known(item, self.version, changed_at, read)
        return known

    async def _entries(self, header: RunHeader, after: int) -> int:
        if header.damage or (header.entries is not None and header.status != "open"):
            return header.entries or 0
        try:
            return after + len([entry async for entry in self.books.read(header.run_id, after)])
        except AkinaiError:
            return after

    async def read_for(self, seconds: float) -> None:
        """Judge runs, newest first, until the time is over or none waits for it."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and await self.read_next():
            pass

    async def read_next(self) -> bool:
        """Judge the newest run whose judgement is missing or old; False when there is none."""
        waiting = [known for known in self._known.values() if known.read_entries != known.item.entries]
        if not waiting:
            return False
        known = min(waiting, key=lambda known: (known.read_entries >= 0, known.aside, -known.item.header.created_at))
        id, entries = known.item.header.run_id, known.item.entries
        run = await judged_run(self.books, known.item.header, self.prices)
        if (current := self._known.get(id)) is not None:
            self.version += 1
            self._known[id] = replace(
                current, item=replace(current.item, run=run), version=self.version, read_entries=entries
            )
        return True


def yardsticks(headers: Sequence[RunHeader], chosen: Sequence[RunHeader]) -> list[RunHeader]:
    """Finished runs of idle and reference among all, in the games and on the seeds of the chosen ones."""
    names = {header.run_id for header in chosen}
    wanted = {(_key(header), header.genesis.seed) for header in chosen if not header.damage}
    players = [
        header
        for header in headers
        if header.run_id not in names and next(iter(header.agents.values()), "") in (LOW, HIGH) and not header.parent
    ]
    return [
        header
        for header in players
        if header.status == "done" and not header.damage and (_key(header), header.genesis.seed) in wanted
    ]


def _key(header: RunHeader) -> str:
    return "" if header.damage else settings_key(header.genesis)


async def judged_run(books: Books, header: RunHeader, prices: Prices, detail: Detail = DETAIL) -> Run:
    """A run with its scores, findings, days and usage; its `trouble` says what is wrong.

    What is kept beside it is used; else the fold works in a thread, and what it gives is kept.
    """
    if header.damage:
        return Run(header, trouble=header.damage)
    entries: list[Entry] = []
    try:
        entries += [entry async for entry in books.read(header.run_id)]
        expect_whole(header, len(entries))
        world = worlds.load(header.genesis.world)
        kept = await find_scores(books, header, entries, world) if header.status != "open" else None
        if kept is None or not detail.within(kept):
            ledger = Ledger(header.genesis, tuple(entries))
            kept = await asyncio.to_thread(score_run, header, ledger, world, detail.whole)
            record = score_record(kept, world)
            await keep_scores(books, [record] if record else [])
        run = trimmed(kept, detail)
    except Exception as error:  # any error is the run's own trouble: a damaged entry, or a fault in somebody's scorer
        why = str(error) if isinstance(error, AkinaiError) else f"{type(error).__name__}: {error}"
        return Run(header, len(entries), trouble=why)
    return replace(run, usage=await read_usage(books, header, prices))
