"""Reads runs: entries come from the store once and are replayed once, whatever details are requested."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from akinai import worlds
from akinai.core.canonical import Json, bad_text
from akinai.core.errors import AkinaiError, BrokenChain, LedgerError, SeedWithheld, StoreError, UnknownName, UsageError
from akinai.core.ledger import Entry, Ledger, chain_end, midnights
from akinai.core.models import Reply, Usage
from akinai.core.scores import About, Score
from akinai.core.steps import Step, Steps
from akinai.core.stores import Books, RunHeader, ScoreRecord, Store
from akinai.core.worlds import World, refold, replay
from akinai.runtime.models.budget import Prices
from akinai.runtime.play.trace_codec import is_call
from akinai.runtime.runs.kept_scores import KEPT_TABLES, find_scores, keep_scores, score_record
from akinai.runtime.runs.marking import notes_of
from akinai.runtime.runs.records import ModelUsage, Run, Series, counts_of
from akinai.runtime.runs.sweep import names_of

DAMAGE = (LedgerError, UsageError)
"""Errors of a damaged record, and of a world or version that is not installed."""

T = TypeVar("T")
Load = Callable[[str], World[Any]]
"""Returns a world by name, as `worlds.load` does."""


@dataclass(frozen=True, slots=True)
class Detail:
    """The details read of each run. All of them for a thousand runs take much memory."""

    ledger: bool = True
    """The ledger itself, 4 KB an entry."""
    evidence: bool = True
    """The entries that earned each score."""
    judged: bool = False
    """Counts of findings, coherence scores, and the world's own figures."""
    findings: bool = False
    """Every finding, not only counts."""
    series: bool = False
    """The days of the run."""
    tables: tuple[About, ...] = ()
    """The world's tables with these subjects."""
    fuzzy: int = 0
    """Edits by which a name written by an agent may differ from the right one and still count."""
    use_stored: bool = True
    """Whether stored scores may be used, and new ones are stored."""

    @property
    def keepable(self) -> bool:
        """Whether stored scores hold everything requested except the ledger."""
        return self.use_stored and not (self.fuzzy or set(self.tables) - set(KEPT_TABLES))

    @property
    def whole(self) -> "Detail":
        """The detail in which scores are stored: with days only if they were requested."""
        return Detail(judged=self.judged or self.series, findings=True, series=self.series, tables=KEPT_TABLES)

    def within(self, run: Run) -> bool:
        """Whether a stored run holds everything requested."""
        return (run.judged or not self.judged) and (run.series is not None or not self.series)


def loader(world: World[Any] | None) -> Load:
    """A `Load` that always returns the given world; `worlds.load` for None."""
    return worlds.load if world is None else lambda _: world


HELD_ENTRIES = 5_000
"""Entries of a run that are held while it is read. A longer one is read from the store in each pass."""
CHUNK = 500


class StoredEntries(Iterable[Entry]):
    """The entries of a run for code in another thread, which may go through them several times: none is held."""

    def __init__(self, store: Store, run_id: str, count: int) -> None:
        """`count` bounds a run that grows meanwhile. Made in the event loop of the store."""
        self._store, self._run_id, self._count = store, run_id, count
        self._loop = asyncio.get_running_loop()
        self._over = False

    def __iter__(self) -> Iterator[Entry]:
        entries = self._store.read(self._run_id)
        for start in range(0, self._count, CHUNK):
            if self._over:
                raise asyncio.CancelledError
            next_entries = _next_entries(entries, min(CHUNK, self._count - start))
            yield from asyncio.run_coroutine_threadsafe(next_entries, self._loop).result()

    async def use(self, work: Callable[[], T]) -> T:
        """The result of `work`, done in a thread, which ends early when this is cancelled."""
        try:
            return await asyncio.to_thread(work)
        finally:
            self._over = True


async def _next_entries(entries: AsyncIterator[Entry], count: int) -> list[Entry]:
    chunk: list[Entry] = []
    while len(chunk) < count and (entry := await anext(entries, None)) is not None:
        chunk.append(entry)
    return chunk


async def read_ledger(store: Store, header: RunHeader) -> Ledger:
    """The whole record of a run."""
    return Ledger(header.genesis, tuple([entry async for entry in store.read(header.run_id)]))


@dataclass(slots=True)
class RecordScan:
    """The first pass over the entries of a run."""

    chain: str | None
    """The digest that its texts give; None where an entry does not follow."""
    digest: str
    """The digest of the last entry, as it is stored."""
    count: int = 0
    held: list[Entry] | None = field(default_factory=list[Entry])
    """All entries; None for a run that is too long."""

    @staticmethod
    def of(header: RunHeader) -> "RecordScan":
        return RecordScan(header.genesis.digest, header.genesis.digest)

    async def read(self, store: Store, run_id: str, *, hold: bool) -> None:
        """Read the entries; `hold` holds all of a long run too. What precedes a broken one is in place. BrokenChain."""
        gap: BrokenChain | None = None
        async for entry in store.read(run_id):
            self.count += 1
            self.digest = entry.digest
            if entry.seq != self.count and gap is None:
                gap = BrokenChain(self.count, f"it is missing; the next one there is entry {entry.seq}")
            row = (entry.seq, entry.at, entry.text, entry.digest)
            self.chain = None if self.chain is None else chain_end(self.chain, [row], self.count)
            if self.held is not None:
                self.held.append(entry)
                if self.count > HELD_ENTRIES and not hold:
                    self.held = None
        if gap:
            raise gap


async def read_run(
    store: Store,
    header: RunHeader,
    detail: Detail = Detail(),
    *,
    load: Load = worlds.load,
    trouble: tuple[type[Exception], ...] = (),
    new_records: list[ScoreRecord] | None = None,
) -> Run:
    """A run from the store, scored in a thread. New scores are stored, or appended to `new_records` for the caller to
    store.

    Raises LedgerError for a damaged record and UsageError for another version's world. Errors of the classes in
    `trouble` become the run's `trouble` instead, except StoreError: then the store itself does not work.
    """
    scan, other_rules = RecordScan.of(header), False
    try:
        if header.damage:
            raise BrokenChain(0, header.damage)
        await scan.read(store, header.run_id, hold=detail.ledger)
        expect_whole(header, scan.count)
        try:
            world = load(header.genesis.world)
        except UsageError:
            other_rules = True
            raise
        return await _read_or_score(store, header, scan, world, detail, new_records)
    except trouble as error:
        if isinstance(error, StoreError):
            raise
        why = header.damage or (str(error) if isinstance(error, AkinaiError) else f"{type(error).__name__}: {error}")
        record = None if header.damage else _record(header, scan, detail)
        digest = "" if header.damage else scan.digest
        return Run(header, scan.count, digest, trouble=why, other_rules=other_rules, record=record)


def _record(header: RunHeader, scan: RecordScan, detail: Detail) -> Ledger | None:
    return Ledger(header.genesis, tuple(scan.held or ())) if detail.ledger else None


async def _read_or_score(
    store: Store,
    header: RunHeader,
    scan: RecordScan,
    world: World[Any],
    detail: Detail,
    new_records: list[ScoreRecord] | None,
) -> Run:
    claimed = header.genesis.claimed is not None
    if not detail.keepable and not claimed:
        return replace(await score_stored(store, header, scan, world, detail), record=_record(header, scan, detail))
    run = await find_scores(store, header, world, scan.chain, scan.count, of_any_version=claimed)
    if run is None or not detail.within(run):
        if claimed:  # its scores are claims, which nobody can make again before the reveal
            raise SeedWithheld
        run = await score_stored(store, header, scan, world, detail.whole)
        record = score_record(run, world)
        if new_records is None:
            await keep_scores(store, [record] if record else [])
        elif record:
            new_records.append(record)
    return trim_run(replace(run, record=_record(header, scan, detail)), detail)


async def score_stored(store: Store, header: RunHeader, scan: RecordScan, world: World[Any], detail: Detail) -> Run:
    """A run that was scanned, scored from its entries in a thread. Raises what `score_run` raises."""
    without_ledger = replace(detail, ledger=False)
    if scan.held is not None:
        ledger = Ledger(header.genesis, scan.held)
        return await asyncio.to_thread(score_run, header, ledger, world, without_ledger)
    entries = StoredEntries(store, header.run_id, scan.count)
    steps = refold(world, header.genesis, entries)
    return await entries.use(lambda: score_steps(header, steps, world, without_ledger))


async def read_played(
    store: Store, header: RunHeader, played: Sequence[Step[Any]], detail: Detail, *, load: Load = worlds.load
) -> Run:
    """A run that was just played, scored from its steps; read from the store if the steps are incomplete."""
    last = played[-1].entry.digest if played else header.genesis.digest
    if header.entries == len(played) and header.digest == last:
        try:
            world = load(header.genesis.world)
            steps = Steps(header.genesis, world.begin(header.genesis), played)
            if not detail.keepable:
                return score_steps(header, steps, world, detail)
            run = score_steps(header, steps, world, detail.whole)
            record = score_record(run, world)
            await keep_scores(store, [record] if record else [])
            return trim_run(run, detail)
        except DAMAGE:
            pass  # reading the record reports the error
    return await read_run(store, header, detail, load=load, trouble=DAMAGE)


def score_run(
    header: RunHeader,
    ledger: Ledger,
    world: World[Any],
    detail: Detail = Detail(),
) -> Run:
    """A run from its ledger. Raises what the world, its scorers and its detectors raise."""
    return score_steps(header, replay(world, ledger, check=True), world, detail)


def score_steps(header: RunHeader, steps: Steps[Any], world: World[Any], detail: Detail = Detail()) -> Run:
    """A run from its steps, replayed from its ledger or just played. Raises what `score_run` raises."""
    scores = tuple(score for scorer in world.scorers for score in scorer(steps))
    run = Run(
        header,
        entries=len(steps),
        digest=steps.digest,
        days=days_of(world, steps),
        scores=scores,
        record=steps.ledger if detail.ledger else None,
        began=world.now(steps.opening),
        series=series_of(world, steps) if detail.series else None,
    )
    return trim_run(_judge(run, steps, world, detail) if detail.judged else run, detail)


def trim_run(run: Run, detail: Detail) -> Run:
    """The run with only the details requested."""
    lists = (run.scores, run.coherence, run.figures)
    scores, coherence, figures = lists if detail.evidence else map(_without_evidence, lists)
    run = replace(
        run,
        record=run.record if detail.ledger else None,
        findings=run.findings if detail.findings else None,
        series=run.series if detail.series else None,
        tables=tuple(table for table in run.tables if table.about in detail.tables),
        scores=scores,
        coherence=coherence,
        figures=figures,
    )
    return run if detail.judged else _unjudged(run)


def _judge(run: Run, steps: Steps[Any], world: World[Any], detail: Detail) -> Run:
    """The run with its findings, coherence and the world's own figures and tables."""
    judging = world.facets.judging
    findings = tuple(judging.detect(steps))
    account = judging.account(steps, detail.fuzzy)
    figures = {figure.name: figure for figure in account.figures}
    return replace(
        run,
        judged=True,
        replaced=tuple(score for score in run.scores if figures.get(score.name, score) != score),
        scores=tuple(figures.pop(score.name, score) for score in run.scores),
        figures=tuple(figures.values()),
        **counts_of(findings),
        findings=findings if detail.findings else None,
        coherence=tuple(judging.coherence(steps, findings)),
        tables=tuple(account.tables_about(detail.tables)),
        roster=account.cast,
        names=world.facets.presentation.names(steps.final),
    )


def _unjudged(run: Run) -> Run:
    if not run.judged:
        return run
    own = {score.name: score for score in run.replaced}
    names = ("header", "entries", "digest", "days", "record", "began", "series")
    fields: dict[str, Any] = {name: getattr(run, name) for name in names}
    return Run(**fields, scores=tuple(own.get(score.name, score) for score in run.scores))


def judge_run(run: Run) -> Run:
    """The same run, judged from its ledger if it holds one and its world is installed."""
    if run.judged or run.trouble or run.record is None:
        return run
    try:
        world = worlds.load(run.world)
    except UsageError:
        return run
    return replace(_judge(run, replay(world, run.record), world, Detail(judged=True)), scores=run.scores)


def _without_evidence(scores: Iterable[Score]) -> tuple[Score, ...]:
    return tuple(Score(score.name, score.value, score.unit, (), score.better) for score in scores)


def expect_whole(header: RunHeader, entries: int) -> None:
    """Raise LedgerError if the record has fewer entries than when the run was closed."""
    if header.entries is not None and entries < header.entries:
        raise LedgerError(entries + 1, f"it is missing: the run had {header.entries} entries when it was closed")


def days_of(world: World[Any], steps: Steps[Any]) -> int:
    """Midnights that passed on the world's own clock; 0 where it has none."""
    begin, now = world.now(steps.opening), world.now(steps.final)
    return 0 if begin is None or now is None else midnights(begin, now)


async def find_runs(
    store: Store, names: Sequence[str], *, damaged: bool = False, deleted: bool = False
) -> list[RunHeader]:
    """The runs of a store that names stand for, as in `select_runs`. Reads other headers only if a name is missing."""
    by_id: dict[str, RunHeader] = {}
    for name in names:
        if bad_text(name):  # which no store asks for
            continue
        by_id |= {header.run_id: header for header in await store.runs(group=name)}
        try:
            header = await store.header(name)
        except (UnknownName, BrokenChain):
            continue
        by_id.setdefault(name, header)
    try:
        candidates = sorted(by_id.values(), key=lambda header: header.created_at)
        return select_runs(candidates, names, damaged=damaged, deleted=deleted)
    except UnknownName:  # or one whose header is damaged
        return select_runs(await store.runs(), names, damaged=damaged, deleted=deleted)


async def find_run(store: Store, name: str) -> RunHeader:
    """The header of one run. UnknownName for an unknown name, UsageError for a name that stands for several runs."""
    runs = await find_runs(store, [name])
    if len(runs) > 1:
        raise UsageError(f"{name!r} stands for {len(runs)} runs; name one, such as {runs[0].run_id!r}")
    return runs[0]


def select_runs(
    headers: Sequence[RunHeader], names: Sequence[str], *, damaged: bool = False, deleted: bool = False
) -> list[RunHeader]:
    """The runs that names stand for: a run's id, or the name of a group or a sweep. UnknownName for any other.

    A group's deleted runs are left out unless `deleted` is set; UsageError if that leaves none.
    BrokenChain for a run whose header is damaged, unless `damaged` is set.
    """
    selected: dict[str, RunHeader] = {}
    for name in names:
        named = [run for run in headers if name in names_of(run)]
        runs = [run for run in named if deleted or run.run_id == name or not notes_of(run).deleted]
        if named and not runs:
            raise UsageError(f"all runs of {name!r} are deleted; 'akinai restore {name}' brings them back")
        if not runs:
            ids = {id for run in headers for id in names_of(run)}
            raise UnknownName("run", name, ids, "'akinai runs' lists them")
        selected |= {run.run_id: run for run in runs}
    for run in selected.values():
        if run.damage and not damaged:
            raise BrokenChain(0, run.damage)
    return list(selected.values())


@dataclass(frozen=True, slots=True)
class _Day:
    """A day that ended."""

    day: int
    facts: Mapping[str, Json]
    tools: Counter[str]
    refused: int


def series_of(world: World[Any], steps: Steps[Any]) -> Series:
    """The days of a run. Days that one step passed over count as one, the last of them."""
    start = world.now(steps.opening)
    if start is None:
        return Series()
    judging = world.facets.judging
    days, tools, refused = list[_Day](), Counter[str](), 0
    for step in steps:
        tools[type(step.turn.action).tool_name()] += 1
        refused += not step.outcome.ok
        now = world.now(step.after)
        if now is not None and (day := midnights(start, now)) > (days[-1].day if days else 0):
            days.append(_Day(day, {**judging.facts(step.after), **judging.day_facts(step.after)}, tools, refused))
            tools, refused = Counter[str](), 0
    return _columns(days)


def _columns(days: Sequence[_Day]) -> Series:
    facts = dict.fromkeys(name for day in days for name, value in day.facts.items() if _number(value) is not None)
    tables = dict.fromkeys(name for day in days for name, value in day.facts.items() if isinstance(value, Mapping))
    used = dict.fromkeys(name for day in days for name in day.tools)
    return Series(
        days=tuple(day.day for day in days),
        facts={name: tuple(_number(day.facts.get(name)) for day in days) for name in facts},
        tables={name: _by_item([day.facts.get(name) for day in days]) for name in tables},
        tools={name: tuple(day.tools[name] for day in days) for name in used},
        refused=tuple(day.refused for day in days),
    )


def _by_item(tables: Sequence[Json]) -> dict[str, tuple[float, ...]]:
    empty: Mapping[str, Json] = {}
    rows = [cast("Mapping[str, Json]", table) if isinstance(table, Mapping) else empty for table in tables]
    items = sorted({item for row in rows for item in row})
    return {item: tuple(_number(row.get(item)) or 0 for row in rows) for item in items}


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


async def read_usage(books: Books, header: RunHeader, prices: Prices) -> ModelUsage | None:
    """The usage of a run's model calls; None without calls or if the trace is damaged, which affects no score."""
    sent: list[tuple[str, Usage, float]] = []
    models: dict[str, None] = {}
    calls = 0
    try:
        async for record in books.read_trace(header.run_id):
            if not is_call(record):
                continue
            data = cast("Mapping[str, Any]", record.data)
            reply = Reply.from_json(data["reply"])
            calls += 1
            models[reply.model] = None
            if not reply.from_cache:
                sent.append((data["model"], reply.usage, reply.latency_s))
    except (StoreError, KeyError, TypeError):
        return None
    if not calls:
        return None
    priced = all(model in prices for model, _, _ in sent)
    return ModelUsage(
        calls=calls,
        cache_hits=calls - len(sent),
        tokens=sum((usage for _, usage, _ in sent), Usage()),
        minutes=sum(latency for _, _, latency in sent) / 60,
        dollars=sum(prices[model].dollars(usage) for model, usage, _ in sent) if priced else None,
        models=tuple(models),
    )
