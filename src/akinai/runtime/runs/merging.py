"""Runs of several stores brought together in one: shards of a study that were played on machines of their own."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from akinai.core.canonical import Json
from akinai.core.errors import LedgerError, UnknownName, UsageError
from akinai.core.ledger import check_chain
from akinai.core.stores import Books, KeepsScores, RunHeader, TraceRecord
from akinai.runtime.runs.copying import ENTRIES_AT_ONCE
from akinai.runtime.runs.planning import expect_free

RUNS_AT_ONCE = 16
TRACES_AT_ONCE = 50

Outcome = Literal["added", "grown", "same"]


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of the runs that were merged, by their ids."""

    added: tuple[str, ...]
    grown: tuple[str, ...]
    """They were there, and have gone on since."""
    same: tuple[str, ...]
    """They were there, as they are or with more entries."""

    def to_json(self) -> dict[str, Json]:
        return {name: list(runs) for name, runs in asdict(self).items()}


async def merge_stores(target: Books, sources: Mapping[str, Books]) -> Merged:
    """Copy the runs of the sources, which come by their addresses, into the target: entries, headers, model calls,
    scores. Digests stay; a run that is there already stays, and grows where a source holds its continuation.

    UsageError, before anything is written, for a name under which two stores hold different runs, and for a damaged
    header; LedgerError for a record that is not as it was written, which is left out with the runs after it.
    """
    plan = await _planned(target, sources)
    outcomes: dict[str, Outcome] = {}
    for start in range(0, len(plan), RUNS_AT_ONCE):
        chunk = plan[start : start + RUNS_AT_ONCE]
        found = await asyncio.gather(*(_merge_run(target, header, books) for header, books in chunk))
        outcomes |= {header.run_id: outcome for (header, _), outcome in zip(chunk, found, strict=True)}
    added, grown, same = (
        tuple(id for id, found in outcomes.items() if found == name) for name in ("added", "grown", "same")
    )
    return Merged(added, grown, same)


async def _planned(target: Books, sources: Mapping[str, Books]) -> list[tuple[RunHeader, Books]]:
    """Each run of the sources once, with the source that holds most of it."""
    holders = {header.run_id: (header, target) for header in await target.runs()}
    plan: dict[str, tuple[RunHeader, Books]] = {}
    for place, source in sources.items():
        new: list[RunHeader] = []
        for header in await source.runs():
            if header.damage:
                raise UsageError(f"{place}: {header.damage}")
            plan.setdefault(header.run_id, (header, source))
            if header.run_id not in holders:
                new.append(header)
            elif await _goes_on(*holders[header.run_id], header, source, place):
                plan[header.run_id] = holders[header.run_id] = header, source
        try:
            expect_free([header for header, _ in holders.values()], new)
        except UsageError as error:
            raise UsageError(f"{place}: {error}") from error
        holders |= {header.run_id: (header, source) for header in new}
    return list(plan.values())


async def _goes_on(known: RunHeader, holder: Books, header: RunHeader, source: Books, place: str) -> bool:
    """Whether a source holds the continuation of a run that is known. UsageError where the two are different runs."""
    same = _identity(known) == _identity(header)
    if same and header.entries is not None and _closing(known) == _closing(header):
        return False
    ours = [entry.digest async for entry in holder.read(known.run_id)]
    theirs = [entry.digest async for entry in source.read(header.run_id)]
    shared = min(len(ours), len(theirs))
    if not same or ours[:shared] != theirs[:shared]:
        raise UsageError(
            f"{place}: its run {header.run_id!r} is not the one of that name that another of the stores holds; nothing "
            "was merged: merge it into a store of its own"
        )
    # Of two with the same entries the one that is over knows more.
    return len(theirs) > len(ours) or (len(theirs) == len(ours) and known.status != "done" and header.status == "done")


def _identity(header: RunHeader) -> tuple[object, ...]:
    return header.genesis, header.agents, header.parent, header.group


def _closing(header: RunHeader) -> tuple[object, ...]:
    return header.entries, header.digest, header.status, header.ending


async def _merge_run(target: Books, header: RunHeader, source: Books) -> Outcome:
    """Bring a run of the target to what the source holds of it."""
    theirs = [entry async for entry in source.read(header.run_id)]
    try:
        check_chain(header.genesis, theirs)
    except LedgerError as error:
        raise type(error)(error.entry, f"{error.why} (in run {header.run_id!r}, which was not merged)") from error
    try:
        known = await target.header(header.run_id)
    except UnknownName:
        known = None
        await target.create(header)
    count = 0
    async for _ in target.read(header.run_id):
        count += 1
    if known and (count > len(theirs) or (count == len(theirs) and _closing(known) == _closing(header))):
        return "same"
    await _copy_trace(target, source, header.run_id)
    for start in range(count, len(theirs), ENTRIES_AT_ONCE):
        await target.append(header.run_id, theirs[start : start + ENTRIES_AT_ONCE])
    if known:
        await target.update(header)
    if isinstance(source, KeepsScores) and isinstance(target, KeepsScores):
        scores = await source.kept_scores(header.run_id)
        await target.keep_scores([scores] if scores else [])
    return "grown" if known else "added"


async def _copy_trace(target: Books, source: Books, run_id: str) -> None:
    """Before the entries, so that a run whose last entry is there is whole."""
    there = {(record.actor, record.call) async for record in target.read_trace(run_id)}
    new: list[TraceRecord] = []
    async for record in source.read_trace(run_id):
        if (record.actor, record.call) not in there:
            new.append(record)
        if len(new) == TRACES_AT_ONCE:
            await target.add_trace(run_id, new)
            new = []
    if new:
        await target.add_trace(run_id, new)
