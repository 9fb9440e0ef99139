"""Model calls by the entry that they led to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from akinai.core.ledger import Entry
from akinai.core.models import Reply
from akinai.core.stores import TraceRecord
from akinai.runtime.play.trace_codec import ACTION, is_call
from akinai.views.model import CallView

__all__ = ["calls_by_entry", "read_call"]


def read_call(record: TraceRecord) -> CallView | None:
    """Read a call from its trace record; None for a record that holds none, or a damaged one."""
    if not is_call(record):
        return None
    data = cast("Mapping[str, Any]", record.data)
    try:
        reply = Reply.from_json(data["reply"])
        new = tuple((str(message["speaker"]), str(message["text"])) for message in data["new"])
        usage = reply.usage
        return CallView(
            record.actor, record.call, str(data["model"]), usage.input, usage.output, usage.cached, reply.latency_s,
            reply.tries, reply.from_cache, new, reply.message.marked_text,
            tuple((call.name, call.arguments) for call in reply.calls),
        )  # fmt: skip
    except (KeyError, TypeError):
        return None


def calls_by_entry(entries: Sequence[Entry], records: Iterable[TraceRecord]) -> Mapping[int, tuple[CallView, ...]]:
    """The calls that led to each entry, by its number.

    A record says the number of its actor's action that it led to. Where it does not, calls and entries are matched in
    order: a reply led to as many entries as it called tools, at least one.
    """
    own: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        own[entry.actor].append(entry)
    calls_by_seq: dict[int, list[CallView]] = defaultdict(list)
    for record, call, action_number in _number_calls(records):
        of_actor = own[record.actor]
        if action_number <= len(of_actor):
            calls_by_seq[of_actor[action_number - 1].seq].append(call)
    return {seq: tuple(calls) for seq, calls in calls_by_seq.items()}


def _number_calls(records: Iterable[TraceRecord]) -> Iterator[tuple[TraceRecord, CallView, int]]:
    """Yield the calls with the number of the action that each led to, from 1."""
    next_number: dict[str, int] = defaultdict(lambda: 1)
    for record in records:
        call = read_call(record)
        if call is None:
            continue
        recorded_number = cast("Mapping[str, Any]", record.data).get(ACTION)
        action_number = recorded_number if isinstance(recorded_number, int) else next_number[record.actor]
        yield record, call, action_number
        next_number[record.actor] = action_number + max(1, len(call.tools))
