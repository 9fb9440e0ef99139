"""Merges the runs of several stores into one, such as shards of a study played on different machines."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from akinai.core.canonical import JsonRecord
from akinai.core.errors import LedgerError, UnknownName, UsageError
from akinai.core.ledger import check_chain
from akinai.core.stores import Books, KeepsScores, RunHeader, TraceRecord
from akinai.runtime.runs.copying import ENTRIES_AT_ONCE
from akinai.runtime.runs.planning import expect_free

RUNS_AT_ONCE = 16
TRACES_AT_ONCE = 50

Outcome = Literal["added", "grown", "same"]


@dataclass(frozen=True, slots=True)
class Merged(JsonRecord):
    """The ids of the merged runs, by outcome."""

    added: tuple[str, ...]
    grown: tuple[str, ...]
    """Runs of the target to which entries were added."""
    same: tuple[str, ...]
    """Runs of which the target already held at least as much."""


async def merge_stores(target: Books, sources: Mapping[str, Books]) -> Merged:
    """Copy the runs of the sources, by address, into the target: entries, headers, model calls, scores.

    Digests stay. A run that the target already holds stays, and grows if a source holds its continuation.
    UsageError, before anything is written, for a name under which two stores hold different runs, and for a damaged
    header; LedgerError for a record that was altered, which is left out with the runs after it.
    """
    plan = await _plan(target, sources)
    outcomes: dict[str, Outcome] = {}
    for start in range(0, len(plan), RUNS_AT_ONCE):
        chunk = plan[start : start + RUNS_AT_ONCE]
        chunk_outcomes = await asyncio.gather(*(_merge_run(target, header, books) for header, books in chunk))
        outcomes |= {header.run_id: outcome for (header, _), outcome in zip(chunk, chunk_outcomes, strict=True)}
    added, grown, same = (
        tuple(id for id, outcome in outcomes.items() if outcome == name) for name in ("added", "grown", "same")
    )
    return Merged(added, grown, same)


async def _plan(target: Books, sources: Mapping[str, Books]) -> list[tuple[RunHeader, Books]]:
    """Each run of the sources once, with the store that holds most of it."""
    holders = {header.run_id: (header, target) for header in await target.runs()}
    plan: dict[str, tuple[RunHeader, Books]] = {}
    for address, source in sources.items():
        new: list[RunHeader] = []
        for header in await source.runs():
            if header.damage:
                raise UsageError(f"{address}: {header.damage}")
            plan.setdefault(header.run_id, (header, source))
            if header.run_id not in holders:
                new.append(header)
            elif await _is_continuation(*holders[header.run_id], header, source, address):
                plan[header.run_id] = holders[header.run_id] = header, source
        try:
            expect_free([header for header, _ in holders.values()], new)
        except UsageError as error:
            raise UsageError(f"{address}: {error}") from error
        holders |= {header.run_id: (header, source) for header in new}
    return list(plan.values())


async def _is_continuation(current: RunHeader, holder: Books, header: RunHeader, source: Books, address: str) -> bool:
    """Whether a source holds the continuation of a run. UsageError if the two are different runs."""
    same = _identity(current) == _identity(header)
    if same and header.entries is not None and _closing(current) == _closing(header):
        return False
    ours = [entry.digest async for entry in holder.read(current.run_id)]
    theirs = [entry.digest async for entry in source.read(header.run_id)]
    shared = min(len(ours), len(theirs))
    if not same or ours[:shared] != theirs[:shared]:
        raise UsageError(
            f"{address}: its run {header.run_id!r} is not the one of that name that another of the stores holds; "
            "nothing was merged: merge it into a store of its own"
        )
    # With the same entries, the run that is over tells more.
    return len(theirs) > len(ours) or (
        len(theirs) == len(ours) and current.status != "done" and header.status == "done"
    )


def _identity(header: RunHeader) -> tuple[object, ...]:
    return header.genesis, header.agents, header.parent, header.group


def _closing(header: RunHeader) -> tuple[object, ...]:
    return header.entries, header.digest, header.status, header.ending


async def _merge_run(target: Books, header: RunHeader, source: Books) -> Outcome:
    """Create a run in the target or extend it by what the source holds."""
    theirs = [entry async for entry in source.read(header.run_id)]
    try:
        check_chain(header.genesis, theirs)
    except LedgerError as error:
        raise type(error)(error.entry, f"{error.why} (in run {header.run_id!r}, which was not merged)") from error
    try:
        current = await target.header(header.run_id)
    except UnknownName:
        current = None
        await target.create(header)
    count = 0
    async for _ in target.read(header.run_id):
        count += 1
    if current and (count > len(theirs) or (count == len(theirs) and _closing(current) == _closing(header))):
        return "same"
    await _copy_trace(target, source, header.run_id)
    for start in range(count, len(theirs), ENTRIES_AT_ONCE):
        await target.append(header.run_id, theirs[start : start + ENTRIES_AT_ONCE])
    if current:
        await target.update(header)
    if isinstance(source, KeepsScores) and isinstance(target, KeepsScores):
        scores = await source.kept_scores(header.run_id)
        await target.keep_scores([scores] if scores else [])
    return "grown" if current else "added"


async def _copy_trace(target: Books, source: Books, run_id: str) -> None:
    """Copy trace records. Called before entries are copied, so that a run with its last entry is complete."""
    copied = {(record.actor, record.call) async for record in target.read_trace(run_id)}
    new: list[TraceRecord] = []
    async for record in source.read_trace(run_id):
        if (record.actor, record.call) not in copied:
            new.append(record)
        if len(new) == TRACES_AT_ONCE:
            await target.add_trace(run_id, new)
            new = []
    if new:
        await target.add_trace(run_id, new)
