"""Model calls and the entries that they led to."""

import akinai
from akinai.core.canonical import Json
from akinai.core.ledger import Entry
from akinai.core.models import Message, Reply, Request, ToolCall
from akinai.core.stores import TraceRecord
from akinai.runtime.models.budget import Meter
from akinai.runtime.play.recording import CallRecorder
from akinai.runtime.play.trace_codec import ACTION, KIND
from akinai.stores.memory import MemoryStore
from akinai.testing.laws.sample_runs import sample_header
from akinai.views.calls import calls_by_entry


def entries() -> tuple[Entry, ...]:
    """Four nights of an owner."""
    return akinai.run("vending", agent="idle", days=4, store="memory:", preset="classic")[0].ledger.entries


def record(number: int, tools: int = 1, **more: Json) -> TraceRecord:
    """A call whose reply calls so many tools."""
    reply = Reply("", tuple(ToolCall(str(index), "advance_day", {}) for index in range(tools)))
    data: dict[str, Json] = {"kind": KIND, "model": "test:m", "new": [], "reply": reply.to_json(), **more}
    return TraceRecord("owner", number, 0, data)


def test_a_call_stands_at_the_action_that_its_record_names() -> None:
    """Calls that led to nothing before, such as those of a fork's origin, move none of the others."""
    calls_by_seq = calls_by_entry(entries(), [record(1, **{ACTION: 2}), record(2, **{ACTION: 4})])
    assert {seq: [call.number for call in calls] for seq, calls in calls_by_seq.items()} == {2: [1], 4: [2]}


def test_calls_without_a_number_follow_the_order_of_tools() -> None:
    """A reply with two tools led to two entries; the call stands at the first of them."""
    calls_by_seq = calls_by_entry(entries(), [record(1), record(2, tools=2), record(3)])
    assert {seq: [call.number for call in calls] for seq, calls in calls_by_seq.items()} == {1: [1], 2: [2], 4: [3]}


async def test_the_recorder_writes_which_action_a_call_leads_to() -> None:
    """The number is that of the actor's next entry when the call is made."""

    class Silent:
        name = "test:silent"

        async def reply(self, request: object) -> Reply:
            return Reply("nothing to say")

    store, actions = MemoryStore(), {"owner": 6}
    await store.create(sample_header("shop-1"))
    asker = CallRecorder("shop-1", 7, store, Meter(), actions=actions).asker("owner", Silent())
    await asker.ask(Request((Message("user", "Good morning."),)))
    actions["owner"] = 7
    await asker.ask(Request((Message("user", "Good evening."),)))
    trace = [record.data async for record in store.read_trace("shop-1")]
    assert [data[ACTION] for data in trace if isinstance(data, dict)] == [7, 8]
