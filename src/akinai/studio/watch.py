"""The watch over a store: lists its runs, sees which of them grow, and scores their ledgers."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from akinai.analysis.groups import settings_key, settings_keys
from akinai.analysis.scale import HIGH, LOW
from akinai.core.errors import AkinaiError, StoreError
from akinai.core.stores import Books, RunHeader
from akinai.report.page.run_list import ListedRun
from akinai.runtime.models.budget import Price, Prices
from akinai.runtime.runs.reading import Detail, read_run, read_usage, select_runs
from akinai.runtime.runs.records import Run

POLL_S = 0.5
GROWING_S = 5.0
"""Seconds after its last entry for which a run counts as being played."""
NEWEST = 50
"""The newest runs, which every look reads."""
PAUSE, WHOLE_PAUSE = 10, 20
"""A look at what is new, or at all headers, follows after so many times the time that the last one took."""
DETAIL = Detail(ledger=False, evidence=False, judged=True, series=True)


@dataclass(slots=True)
class _Watched:
    item: ListedRun
    version: int
    changed_at: float = float("-inf")
    read_entries: int = -1
    """The number of entries that the judged run has; -1 before it was judged."""
    aside: bool = False
    """Whether it is not listed itself, but is idle or reference on the seed of a listed run."""


@dataclass(slots=True)
class Watch:
    """The runs of a store, or those that names stand for; `version` rises with every change."""

    books: Books
    names: Sequence[str] = ()
    prices: Prices = field(default_factory=dict[str, Price])
    plays: Callable[[str], bool] = field(default=lambda _: False)
    """Whether this studio plays a run."""
    version: int = 0
    list_version: int = 0
    """The version at which a run came or went."""
    _watched: dict[str, _Watched] = field(default_factory=dict[str, _Watched])
    _due_at: float = float("-inf")
    _whole_due_at: float = float("-inf")
    _queue: list[str] = field(default_factory=list[str])
    """Runs whose judgement is missing or old, the next at the end."""
    _queue_version: int = -1
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def items(self) -> list[ListedRun]:
        """All runs, oldest first."""
        return [watched.item for watched in self._watched.values() if not watched.aside]

    @property
    def yardsticks(self) -> list[ListedRun]:
        """Runs of idle and reference in the same games on the same seeds, where names stand for other runs."""
        return [watched.item for watched in self._watched.values() if watched.aside]

    def changed_since(self, version: int) -> list[ListedRun]:
        return [watched.item for watched in self._watched.values() if watched.version > version]

    @property
    def unread(self) -> int:
        """Runs that were never judged."""
        return sum(watched.read_entries < 0 for watched in self._watched.values())

    def look_again(self) -> None:
        """Let the next refresh read the store, even right after the last one."""
        self._due_at = self._whole_due_at = float("-inf")

    async def refresh(self, *, at_once: bool = False) -> None:
        """Read what is new, at most twice a second, and more rarely in a large store.

        That is the newest runs and the open ones; and all headers, as often as it takes little of the time. A page that
        is to be there `at_once` leaves these to the stream of what is new in it, once they were read.
        """
        async with self._lock:
            begun = time.monotonic()
            if begun < self._due_at:
                return
            if begun < self._whole_due_at or (
                at_once and self._watched and not self.names and self._whole_due_at > float("-inf")
            ):
                await self._refresh_newest()
                pause = max(POLL_S, PAUSE * (time.monotonic() - begun))
            else:
                await self._refresh_whole()
                self._whole_due_at, pause = begun + WHOLE_PAUSE * (time.monotonic() - begun), POLL_S
            self._due_at = time.monotonic() + pause

    async def _refresh_whole(self) -> None:
        headers = await self.books.runs()
        selected = select_runs(headers, self.names, damaged=True, deleted=True) if self.names else headers
        aside = {header.run_id for header in yardsticks(headers, selected)} if self.names else set[str]()
        selected = [*selected, *(header for header in headers if header.run_id in aside)]
        ids = [header.run_id for header in selected]
        if ids != list(self._watched):
            self.list_version = self.version = self.version + 1
            self._watched = {id: self._watched[id] for id in ids if id in self._watched}
        watched: dict[str, _Watched] = {}
        for header, key in zip(selected, settings_keys(selected), strict=True):
            updated = await self._updated(header, key)
            watched[header.run_id] = replace(updated, aside=True) if header.run_id in aside else updated
        self._watched = watched

    async def _refresh_newest(self) -> None:
        """Read the newest runs, and those that are or were open; all where none of the newest is watched yet."""
        headers = {header.run_id: header for header in await self.books.runs(limit=NEWEST)}
        if not self.names and self._watched.keys().isdisjoint(headers):
            return await self._refresh_whole()
        headers |= {header.run_id: header for header in await self.books.runs(status="open")}
        were_open = [id for id, watched in self._watched.items() if watched.item.header.status == "open"]
        headers |= {id: await self.books.header(id) for id in were_open if id not in headers}
        for header in sorted(headers.values(), key=lambda header: header.created_at):
            if watched := self._watched.get(header.run_id):
                self._watched[header.run_id] = replace(await self._updated(header), aside=watched.aside)
            elif not self.names:
                self._watched[header.run_id] = await self._updated(header)
                self.list_version = self.version

    async def _updated(self, header: RunHeader, key: str = "") -> _Watched:
        watched = self._watched.get(header.run_id)
        before = watched.item if watched else None
        if before and _changing(before.header) == _changing(header):
            header = before.header  # most runs of a large store: nothing is compared, and nothing held twice
            if watched and header.status != "open" and not before.growing and before.job == self.plays(header.run_id):
                return watched
        entries = await self._entries(header, before.entries if before else 0)
        now = time.monotonic()
        grew = before is not None and entries > before.entries
        changed_at = now if grew else watched.changed_at if watched else float("-inf")
        growing = header.status == "open" and now - changed_at < GROWING_S
        item = before or ListedRun(header, key="" if header.damage else key or _key(header))
        item = replace(item, header=header, entries=entries, growing=growing, job=self.plays(header.run_id))
        if watched is None or item != before:
            self.version += 1
            read = watched.read_entries if watched and before and before.header.status == header.status else -1
            return _Watched(item, self.version, changed_at, read)
        return watched

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
        if not self._queue or self._queue_version != self.list_version:
            self._queue_version = self.list_version
            waiting = [watched for watched in self._watched.values() if watched.read_entries != watched.item.entries]
            waiting.sort(
                key=lambda watched: (watched.read_entries >= 0, watched.aside, -watched.item.header.created_at)
            )
            self._queue = [watched.item.header.run_id for watched in reversed(waiting)]
        watched = self._watched[self._queue.pop()] if self._queue else None
        if watched is None:
            return False
        id, entries = watched.item.header.run_id, watched.item.entries
        run = await judged_run(self.books, watched.item.header, self.prices)
        if (current := self._watched.get(id)) is not None:
            self.version += 1
            self._watched[id] = replace(
                current, item=replace(current.item, run=run), version=self.version, read_entries=entries
            )
        return True


def _changing(header: RunHeader) -> tuple[object, ...]:
    """What may change in the header of a run: its genesis, the most of it, does not."""
    changing = (header.created_at, header.status, header.ending, header.entries, header.digest, header.error)
    return *changing, header.card, header.damage


def yardsticks(headers: Sequence[RunHeader], selected: Sequence[RunHeader]) -> list[RunHeader]:
    """Finished runs of idle and reference among all `headers`, in the games and on the seeds of the selected runs."""
    names = {header.run_id for header in selected}
    games = {(_key(header), header.genesis.seed) for header in selected if not header.damage}
    players = [
        header
        for header in headers
        if header.run_id not in names and header.player in (LOW, HIGH) and not header.parent
    ]
    return [
        header
        for header in players
        if header.status == "done" and not header.damage and (_key(header), header.genesis.seed) in games
    ]


def _key(header: RunHeader) -> str:
    return "" if header.damage else settings_key(header.genesis)


async def judged_run(books: Books, header: RunHeader, prices: Prices, detail: Detail = DETAIL) -> Run:
    """A run with its scores, findings, usage and the headline by day; its `trouble` says what is wrong.

    Scores that the store keeps are used; otherwise the ledger is folded, and its scores are kept.
    """
    try:
        run = await read_run(books, header, detail, trouble=(Exception,))
    except StoreError as error:
        return Run(header, trouble=str(error))
    if run.trouble:
        return run
    return replace(run, series=run.headline_series, usage=await read_usage(books, header, prices))
