"""One run, read once: its entries come from the store once and are folded once, whatever is asked of them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from akinai import worlds
from akinai.core.canonical import Json, canonical
from akinai.core.errors import AkinaiError, StoreError
from akinai.core.ledger import Entry, Genesis, Ledger
from akinai.core.models import Reply, Usage
from akinai.core.scores import Score
from akinai.core.stores import RunHeader
from akinai.core.trace import Books
from akinai.core.worlds import Step, Walked, World, walk
from akinai.runtime.analysis import Effort, RunRecord, Series, Wanted
from akinai.runtime.prices import Prices
from akinai.runtime.recorded import is_call
from akinai.runtime.runs import DAY_US, days_of, expect_whole

ALIKE = ("model", "sampling", "playbook", "cast")
"""In a run card: what makes two runs of one agent differ."""


Load = Callable[[str], World[Any]]
"""Gives a world by name, as `worlds.load` does; one that remembers spares each run a look at all that is installed."""


async def read_record(
    books: Books, header: RunHeader, wanted: Wanted, prices: Prices, load: Load = worlds.load
) -> RunRecord:
    """A run from the store. One that cannot be read or scored says why as its `trouble`; StoreError where the store
    itself does not work.
    """
    record, entries = known_of(header), list[Entry]()
    if record.trouble:
        return record
    try:
        async for entry in books.read(header.run_id):
            entries.append(entry)
        record = replace(record, entries=len(entries), digest=Ledger(header.genesis, entries).digest)
        told = told_of(record, Ledger(header.genesis, entries), wanted, load(header.genesis.world))
        expect_whole(header, len(entries))
    except StoreError:
        raise
    except Exception as broke:  # a damaged setting, or a fault in somebody's scorer: it concerns this run alone
        return replace(record, entries=len(entries), trouble=_reason(broke))
    return replace(told, effort=await _effort(books, header, prices))


def told_of(record: RunRecord, kept: Ledger, wanted: Wanted, world: World[Any]) -> RunRecord:
    """A record filled in from its ledger. Raises what the world, its scorers and its detectors raise."""
    once = Walked(walk(world, kept.genesis, kept.entries, check=True))
    ledger = Ledger(kept.genesis, once)
    scores = tuple(score for scorer in world.scorers for score in scorer(ledger))
    account = world.account(ledger, wanted.fuzzy)
    named = {one.name: one for one in account.figures}
    scores = tuple(named.pop(score.name, score) for score in scores)
    figures = tuple(named.values())
    findings, coherence = tuple(world.findings(ledger)), tuple(world.coherence(ledger))
    return replace(
        record,
        days=days_of(world, kept.genesis, once.steps[-1].after) if once.steps else 0,
        scores=scores if wanted.because else _bare(scores),
        finding_types=dict(Counter(one.type for one in findings)),
        severities=dict(Counter(one.severity for one in findings)),
        findings=findings if wanted.findings else None,
        coherence=coherence if wanted.because else _bare(coherence),
        figures=figures if wanted.because else _bare(figures),
        tables=tuple(one for one in account.tables if one.about in wanted.about),
        cast=account.cast,
        began=world.now(world.begin(kept.genesis)),
        series=series_of(world, ledger, once.steps) if wanted.series else None,
    )


def _bare(scores: Iterable[Score]) -> tuple[Score, ...]:
    """Scores without the entries that earned them."""
    return tuple(replace(score, because=()) for score in scores)


def ground_of(genesis: Genesis) -> str:
    """Equal for runs of one world under the same settings."""
    return _digest({"world": genesis.world, "setup": genesis.setup})


def kind_of(header: RunHeader, ground: str) -> str:
    """Equal for runs that were played alike. A fork is like those that were forked by the same command."""
    told: dict[str, Json] = {name: header.card.get(name) for name in ALIKE}
    forked = (header.group or header.run_id) if header.parent else None
    return _digest({**told, "ground": ground, "agents": [*header.agents.values()], "fork": forked})


def _digest(told: Json) -> str:
    return hashlib.sha256(canonical(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def known_of(header: RunHeader) -> RunRecord:
    """What is known of a run without its entries."""
    ground = ground_of(header.genesis)
    return RunRecord(
        id=header.run_id,
        world=header.genesis.world,
        agent=next(iter(header.agents.values()), ""),
        seed=header.genesis.seed,
        status=header.status,
        ending=header.ending,
        entries=0,
        digest=header.genesis.digest,
        days=0,
        scores=(),
        ground=ground,
        kind=kind_of(header, ground),
        card=header.card,
        group=header.group,
        parent=header.parent,
        broke=header.error,
        trouble=header.damage,
    )


def _reason(broke: Exception) -> str:
    return str(broke) if isinstance(broke, AkinaiError) else f"{type(broke).__name__}: {broke}"


@dataclass(frozen=True, slots=True)
class _Day:
    """A day that ended."""

    day: int
    facts: Mapping[str, Json]
    tools: Counter[str]
    refused: int


def series_of(world: World[Any], ledger: Ledger, steps: Iterable[Step[Any]]) -> Series:
    """The days of a run; those that one step passed over at once are told as the last of them."""
    start = world.now(world.begin(ledger.genesis))
    if start is None:
        return Series()
    days, tools, refused = list[_Day](), Counter[str](), 0
    for step in steps:
        tools[type(step.turn.action).tool_name()] += 1
        refused += not step.outcome.ok
        now = world.now(step.after)
        if now is not None and (day := now // DAY_US - start // DAY_US) > (days[-1].day if days else 0):
            days.append(_Day(day, {**world.facts(step.after), **world.closed_day(step.after)}, tools, refused))
            tools, refused = Counter(), 0
    return _columns(days)


def _columns(days: Sequence[_Day]) -> Series:
    facts = dict.fromkeys(name for day in days for name, value in day.facts.items() if _number(value) is not None)
    tables = dict.fromkeys(name for day in days for name, value in day.facts.items() if isinstance(value, Mapping))
    used = dict.fromkeys(name for day in days for name in day.tools)
    return Series(
        days=tuple(day.day for day in days),
        facts={name: tuple(_number(day.facts.get(name)) for day in days) for name in facts},
        tables={name: _table([day.facts.get(name) for day in days]) for name in tables},
        tools={name: tuple(day.tools[name] for day in days) for name in used},
        refused=tuple(day.refused for day in days),
    )


def _table(rows: Sequence[Json]) -> dict[str, tuple[float, ...]]:
    told = [cast("Mapping[str, Json]", row) if isinstance(row, Mapping) else {} for row in rows]
    items = sorted({item for row in told for item in row})
    return {item: tuple(_number(row.get(item)) or 0 for row in told) for item in items}


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


async def _effort(books: Books, header: RunHeader, prices: Prices) -> Effort | None:
    """What the trace says; None without calls, or where it is damaged: a ledger is scored without it."""
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
    return Effort(
        calls=calls,
        cache_hits=calls - len(sent),
        tokens=sum((usage for _, usage, _ in sent), Usage()),
        minutes=sum(latency for _, _, latency in sent) / 60,
        dollars=sum(prices[model].dollars(usage) for model, usage, _ in sent) if priced else None,
        models=tuple(models),
    )
