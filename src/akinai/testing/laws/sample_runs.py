"""Sample runs for testing a store: a verb, headers, and entries with awkward texts."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from akinai.core.actions import Action
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.stores import Books, RunHeader

OpenStore = Callable[[], Awaitable[Books]]
StoreLaw = Callable[[OpenStore], Awaitable[None] | None]

AWKWARD_TEXTS = (
    "",
    "商い：自動販売機 😀👩‍👩‍👧",
    "x' OR '1'='1",
    "'); DROP TABLE actions; --",
    'a "quoted" \\ back\\slash\n\ttab\u2028',
    "100% _like_ $1 :name ? {brace} \x7f",
)


class Say(Action):
    """Say something to somebody."""

    to_agent_id: str
    from_agent_id: str
    text: str = ""
    data: JsonValue = None


def sample_genesis(seed: int = 7) -> Genesis:
    """A genesis with a setup of several kinds of JSON."""
    return Genesis("talk@1", seed, {"days": 30, "fee": 0.25, "names": ["é", "商"], "deep": {"none": None, "yes": True}})


def sample_header(run_id: str, **fields: Any) -> RunHeader:
    """The header of a new run, with other values for these fields."""
    return replace(RunHeader(run_id, sample_genesis(), {"owner": "reference"}, 1_700_000_000_000_000), **fields)


def sample_entries(
    count: int, text: str = "hello", before: Sequence[Entry] = (), data: JsonValue = None
) -> list[Entry]:
    """Entries that follow `before`; every third action is refused."""
    digest = before[-1].digest if before else sample_genesis().digest
    entries: list[Entry] = []
    for seq in range(len(before) + 1, len(before) + count + 1):
        action = Say(to_agent_id=f"business_{seq % 3}", from_agent_id="customer_1", text=text, data=data)
        outcome = Outcome("sent", data=data) if seq % 3 else Outcome.refused("no_such_agent", text, {"seq": seq})
        turn = Turn(seq, 1_700_000_000_000_000 + seq, "customer_1", action, said=text if seq % 2 else "")
        entries.append(Entry.of(digest, turn, outcome))
        digest = entries[-1].digest
    return entries


async def read_entries(store: Books, run_id: str, after: int = 0) -> list[Entry]:
    """All entries of a run after number `after`."""
    return [entry async for entry in store.read(run_id, after)]


async def expect_error(kind: type[Exception], answer: Awaitable[object]) -> Exception:
    """The error of this class that the store raises. AssertionError when it raises none."""
    try:
        await answer
    except kind as error:
        return error
    raise AssertionError(f"the store accepted what it must refuse with {kind.__name__}")
