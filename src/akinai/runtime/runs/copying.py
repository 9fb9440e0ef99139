"""Runs copied from one store into another, entry by entry, with equal digests."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import StoreError, UsageError
from akinai.core.ledger import Entry
from akinai.core.models import Reply
from akinai.core.stores import Books, KeepsScores, RunHeader, TraceRecord
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.play.driver import is_reproducible
from akinai.runtime.play.trace_codec import is_call
from akinai.runtime.runs.kept_scores import KEPT_TABLES, score_record
from akinai.runtime.runs.reading import Detail, read_run

ENTRIES_AT_ONCE = 500


RUNS_AT_ONCE = 64
"""Runs that are copied side by side: what arrives together is committed together."""


async def copy_runs(source: Books, target: Books, headers: Sequence[RunHeader]) -> None:
    """Copy runs, as `copy_run` does."""
    for start in range(0, len(headers), RUNS_AT_ONCE):
        await asyncio.gather(*(copy_run(source, target, header) for header in headers[start : start + RUNS_AT_ONCE]))


async def copy_run(source: Books, target: Books, header: RunHeader) -> None:
    """Copy the header and every entry of a run, and its model calls without prompts and replies. Of a sealed run the
    header as it may leave the store, with the scores, which nobody can make without the seed.

    UsageError where the target has a run of this name.
    """
    await target.create(header.published)
    entries: list[Entry] = []
    async for entry in source.read(header.run_id):
        entries.append(entry)
        if len(entries) == ENTRIES_AT_ONCE:
            await target.append(header.run_id, entries)
            entries = []
    if entries:
        await target.append(header.run_id, entries)
    if calls := await _calls(source, header):
        await target.add_trace(header.run_id, calls)
    if header.published.genesis.claimed is not None:
        await _copy_scores(source, target, header)


async def _copy_scores(source: Books, target: Books, header: RunHeader) -> None:
    """Copy the scores of a run; made again where the source has none."""
    assert isinstance(target, KeepsScores)
    run = await read_run(source, header, Detail(False, findings=True, judged=True, tables=KEPT_TABLES))
    record = score_record(run, worlds.load(run.world))
    if record is None:
        raise UsageError(f"the scores of the sealed run {run.id!r} cannot go with it: its world is in no package")
    await target.keep_scores([record])


async def _calls(source: Books, header: RunHeader) -> Sequence[TraceRecord]:
    """The model calls of a run without prompts and replies; none if its trace is damaged, which affects no score, and
    of a player by rules."""
    try:
        if is_reproducible(worlds.load(header.genesis.world), spec_of(header)):
            return ()
        trace = source.read_trace(header.run_id)
        return [replace(record, data=_without_texts(record)) async for record in trace if is_call(record)]
    except (StoreError, UsageError, KeyError, TypeError, AttributeError):
        return ()


def _without_texts(record: TraceRecord) -> Json:
    data = cast("Mapping[str, Any]", record.data)
    reply = replace(Reply.from_json(data["reply"]), text="", calls=())
    return {"kind": data["kind"], "model": data["model"], "reply": reply.to_json()}
