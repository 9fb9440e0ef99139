"""Small runs to try a store with: a verb, entries with awkward texts, and what its laws ask again and again."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from akinai.core.actions import Action
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.stores import RunHeader
from akinai.core.trace import Books

Opening = Callable[[], Awaitable[Books]]
Law = Callable[[Opening], Awaitable[None] | None]

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


def genesis_of(seed: int = 7) -> Genesis:
    """A genesis with a setup of several kinds of JSON."""
    return Genesis("talk@1", seed, {"days": 30, "fee": 0.25, "names": ["é", "商"], "deep": {"none": None, "yes": True}})


def run_of(run_id: str, **told: Any) -> RunHeader:
    """A header of a new run; `told` are further fields of it."""
    return replace(RunHeader(run_id, genesis_of(), {"owner": "reference"}, 1_700_000_000_000_000), **told)


def entries_of(count: int, text: str = "hello", before: Sequence[Entry] = (), data: JsonValue = None) -> list[Entry]:
    """Entries of a run that follow `before`, with every third one refused."""
    digest = before[-1].digest if before else genesis_of().digest
    entries: list[Entry] = []
    for seq in range(len(before) + 1, len(before) + count + 1):
        action = Say(to_agent_id=f"business_{seq % 3}", from_agent_id="customer_1", text=text, data=data)
        outcome = Outcome("sent", data=data) if seq % 3 else Outcome.refused("no_such_agent", text, {"seq": seq})
        turn = Turn(seq, 1_700_000_000_000_000 + seq, "customer_1", action, said=text if seq % 2 else "")
        entries.append(Entry.of(digest, turn, outcome))
        digest = entries[-1].digest
    return entries


async def entries_in(store: Books, run_id: str, after: int = 0) -> list[Entry]:
    """All entries of a run behind number `after`."""
    return [entry async for entry in store.read(run_id, after)]


async def refused(wanted: type[Exception], asked: Awaitable[object]) -> Exception:
    """The error of class `wanted` with which the store refuses."""
    try:
        await asked
    except wanted as error:
        return error
    raise AssertionError(f"the store accepted what it must refuse with {wanted.__name__}")
