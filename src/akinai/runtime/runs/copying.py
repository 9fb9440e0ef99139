"""Runs copied from one store into another, entry by entry, with equal digests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.errors import StoreError
from akinai.core.ledger import Entry
from akinai.core.models import Reply
from akinai.core.stores import Books, RunHeader, TraceRecord
from akinai.runtime.play.trace_codec import is_call

ENTRIES_AT_ONCE = 500


async def copy_run(source: Books, target: Books, header: RunHeader) -> None:
    """Copy the header and every entry of a run, and its model calls without prompts and replies.

    UsageError where the target has a run of this name.
    """
    await target.create(header)
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


async def _calls(source: Books, header: RunHeader) -> Sequence[TraceRecord]:
    """The model calls of a run without prompts and replies; none if its trace is damaged, which affects no score."""
    try:
        trace = source.read_trace(header.run_id)
        return [replace(record, data=_without_texts(record)) async for record in trace if is_call(record)]
    except (StoreError, KeyError, TypeError, AttributeError):
        return ()


def _without_texts(record: TraceRecord) -> Json:
    data = cast("Mapping[str, Any]", record.data)
    reply = replace(Reply.from_json(data["reply"]), text="", calls=())
    return {"kind": data["kind"], "model": data["model"], "reply": reply.to_json()}
