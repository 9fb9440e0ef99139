"""The ledger: a chain from the genesis on, in which nothing can be edited, taken out, put in or moved unseen."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from akinai.core.actions import Action
from akinai.core.errors import BrokenChain
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn, check_chain, entry_digest
from together import together

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
GENESIS = Genesis("stand@1", 7, {"days": 3, "fee": 0.25, "names": ["é", "商"]})


class Sell(Action):
    """Sell something."""

    product: str = "cola"
    units: int = 1
    beside: JsonValue = None


def ledger_of(count: int, *, at: int = 1_000) -> Ledger:
    """A sound record, a minute an entry, every third one refused."""
    digest, entries = GENESIS.digest, list[Entry]()
    for seq in range(1, count + 1):
        turn = Turn(seq, at + 60 * seq, "owner", Sell(units=seq), said="I sell." if seq % 2 else "")
        sold, none = Outcome("Sold.", data={"units": seq}), Outcome.refused("no_stock", "none left", {"units": 0})
        entries.append(Entry.of(digest, turn, sold if seq % 3 else none))
        digest = entries[-1].digest
    return Ledger(GENESIS, tuple(entries))


def broken(genesis: Genesis, entries: list[Entry]) -> int:
    """The entry that the chain names as the first at fault."""
    with pytest.raises(BrokenChain) as caught:
        check_chain(genesis, entries)
    return caught.value.entry


def test_sound_record_has_its_last_digest() -> None:
    """An untouched chain holds, and its last digest stands for all of it; without entries that is the genesis's."""
    ledger = ledger_of(6)
    assert check_chain(GENESIS, ledger.entries) == ledger.digest == ledger.entries[-1].digest
    assert check_chain(GENESIS, []) == Ledger(GENESIS).digest == GENESIS.digest


def test_pinned_digests() -> None:
    """Recorded runs are verified by these: a change of the chain cannot pass unseen."""
    assert GENESIS.text == '{"seed":7,"setup":{"days":3,"fee":0.25,"names":["é","商"]},"world":"stand@1"}'
    assert GENESIS.digest.startswith("54c2df4eece3cbe7")
    entry = ledger_of(1).entries[0]
    assert entry.text == (
        '{"agent_id":"owner","request":{"name":"Sell","parameters":{"beside":null,"product":"cola","units":1}},'
        '"result":{"content":"Sold.","data":{"units":1},"is_error":false},"said":"I sell."}'
    )
    assert entry.digest == entry_digest(GENESIS.digest, 1, 1060, entry.text)
    assert entry.digest.startswith("d42535275367216f")


EDITS: dict[str, dict[str, Any]] = {
    "at": {"at": 1_000 + 60 * 4 + 1},
    "actor": {"actor": "somebody"},
    "name": {"name": "Give"},
    "parameters": {"parameters": {"product": "cola", "units": 99, "beside": None}},
    "content": {"outcome": Outcome("Sold!", data={"units": 4})},
    "is_error": {"outcome": Outcome("Sold.", ok=False, code="no_stock", data={"units": 4})},
    "data": {"outcome": Outcome("Sold.", data={"units": 5})},
    "said": {"said": "I did not."},
    "digest": {"digest": "0" * 64},
    "text": {"text": "{}"},
}


@together("edit", EDITS.values())
def test_edit_of_any_field_is_found_and_named(edit: dict[str, Any]) -> None:
    """Whatever is changed in entry 4 of 6, the chain breaks there."""
    entries = list(ledger_of(6).entries)
    entries[3] = replace(entries[3], **edit)
    assert broken(GENESIS, entries) == 4


@pytest.mark.parametrize(("part", "name"), [("error", "code"), ("error", "message"), ("data", "units")])
def test_edit_of_a_refusal_is_found_and_named(part: str, name: str) -> None:
    """What a refusal says, in words and for programs, is part of the chain when it is read from a store."""
    entries = list(ledger_of(6).entries)
    data = json.loads(entries[2].text)
    data["result"][part][name] = "edited"
    entries[2] = Entry.parse(3, entries[2].at, json.dumps(data), entries[2].digest)
    assert broken(GENESIS, entries) == 3


@given(count=st.integers(1, 6), data=st.data())
def test_edited_entry_with_a_new_digest_breaks_the_next(count: int, data: st.DataObject) -> None:
    """Who edits an entry and writes its digest anew must write all that follow; the first not rewritten is named."""
    entries = list(ledger_of(count + 1).entries)
    index = data.draw(st.integers(0, count - 1))
    turn = Turn(index + 1, entries[index].at, "owner", Sell(units=77))
    before = entries[index - 1].digest if index else GENESIS.digest
    entries[index] = Entry.of(before, turn, Outcome("Sold."))
    assert broken(GENESIS, entries) == index + 2


def test_missing_entry_is_named() -> None:
    """A gap is found at the number that is not there; so are a repeat and two that changed places."""
    entries = list(ledger_of(6).entries)
    assert broken(GENESIS, entries[:2] + entries[3:]) == 3
    assert broken(GENESIS, entries[1:]) == 1
    assert broken(GENESIS, [*entries[:3], entries[2], *entries[3:]]) == 4
    assert broken(GENESIS, [entries[0], entries[2], entries[1], *entries[3:]]) == 2
    skipped = Entry.of(entries[2].digest, Turn(5, entries[2].at, "owner", Sell()), Outcome("Sold."))
    with pytest.raises(BrokenChain, match="entry 4: it is missing; the next one there is entry 5"):
        check_chain(GENESIS, [*entries[:3], skipped])


def test_falling_time_is_named() -> None:
    """Time may stand still and never goes back, even where the digests follow."""
    entries = list(ledger_of(3).entries)
    still = Entry.of(entries[-1].digest, Turn(4, entries[-1].at, "owner", Sell()), Outcome("Sold."))
    back = Entry.of(still.digest, Turn(5, still.at - 1, "owner", Sell()), Outcome("Sold."))
    assert check_chain(GENESIS, [*entries, still]) == still.digest
    assert broken(GENESIS, [*entries, still, back]) == 5


@pytest.mark.parametrize(
    "edited",
    [replace(GENESIS, world="stand@2"), replace(GENESIS, seed=8), replace(GENESIS, setup={**GENESIS.setup, "days": 4})],
    ids=["world", "seed", "setup"],
)
def test_edited_genesis_breaks_the_first_entry(edited: Genesis) -> None:
    """The chain begins in the genesis: no entry follows from another one."""
    assert broken(edited, list(ledger_of(3).entries)) == 1


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    text, data = draw(TEXT), draw(JSON)
    return Outcome(text, data=data) if draw(st.booleans()) else Outcome.refused("no_stock", text, data)


@given(
    action=st.builds(Sell, product=TEXT, units=st.integers(), beside=JSON),
    remark=TEXT,
    outcome=outcomes(),
    at=st.integers(0, 2**62),
)
def test_entry_reads_back_equal(action: Sell, remark: str, outcome: Outcome, at: int) -> None:
    """An entry that is written as text and read again is equal in every field, and its digest still follows."""
    turn = Turn(1, at, "商人", action, remark)
    entry = Entry.of(GENESIS.digest, turn, outcome)
    again = Entry.parse(1, at, entry.text, entry.digest)
    assert again == entry
    assert again.text == entry.text
    assert again.outcome == outcome
    assert check_chain(GENESIS, [again]) == entry.digest


def test_spelling_in_the_store_does_not_matter() -> None:
    """A database may give keys in another order, with spaces and 1.0 for 1: the digest is that of the meaning."""
    entry = ledger_of(1).entries[0]
    data = json.loads(entry.text)
    data["result"]["data"]["units"] = 1.0
    spelt = json.dumps(dict(reversed(data.items())), indent=2, ensure_ascii=True)
    again = Entry.parse(1, entry.at, spelt, entry.digest)
    assert again == entry
    assert check_chain(GENESIS, [again]) == entry.digest


def _data(**edited: Any) -> str:
    sound = {
        "agent_id": "a",
        "request": {"name": "Sell", "parameters": {}},
        "result": {"is_error": False, "content": ""},
    }
    return json.dumps(sound | edited)


NO_ENTRIES = {
    "nothing": "",
    "no JSON": "not json",
    "a list": "[]",
    "a number": "7",
    "an empty object": "{}",
    "no request": _data(request=None),
    "no result": _data(result=None),
    "an actor that is no text": _data(agent_id=7),
    "a name that is no text": _data(request={"name": ["Sell"], "parameters": {}}),
    "parameters that are no object": _data(request={"name": "Sell", "parameters": 3}),
    "NaN": _data(request={"name": "Sell", "parameters": {"n": float("nan")}}),
    "an error that is no object": _data(result={"is_error": True, "content": "", "error": 7}),
    "said that is no text": _data(said=["x"]),
    "brackets": "[" * 100_000,
    "deep nesting": _data(said="DEEP").replace('"DEEP"', "[" * 900 + "]" * 900),
}


@together("text", NO_ENTRIES.values())
def test_what_is_no_entry_is_named(text: str) -> None:
    """Data that is no JSON, or not an entry's, is a broken chain at that number, never another error."""
    with pytest.raises(BrokenChain) as caught:
        Entry.parse(5, 0, text, "d")
    assert caught.value.entry == 5


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("Done."),
        Outcome("", data=[]),
        Outcome("Done.", data={"error": {"code": "x"}, "n": [None, 0, False]}),
        Outcome.refused("no_cash", "too dear"),
        Outcome.refused("no_cash", "too dear", {"total_cents": 5}),
    ],
    ids=repr,
)
def test_outcome_reads_back_equal(outcome: Outcome) -> None:
    """Text, ok, code and data survive the ledger's shape."""
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_refusal_has_the_shape_of_the_source_document() -> None:
    """`result` holds `is_error` and `content`; a refusal also its code, for programs."""
    assert Outcome("Done.").to_json() == {"is_error": False, "content": "Done."}
    assert Outcome.refused("no_cash", "too dear").to_json() == {
        "is_error": True,
        "content": "too dear",
        "error": {"code": "no_cash", "message": "too dear"},
    }
