"""Actions: found under every spelling, shown to models as tools, parsed from any JSON, refused with a reason."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, JsonValue, ValidationError

from akinai.core.actions import UNREADABLE_TEXT_LIMIT, Action, ParameterAlias, Unreadable, Verbs
from akinai.core.canonical import bad_text, canonical
from akinai.core.errors import UnknownName
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.money import read_dollars
from akinai.testing.laws.strategies import ANY_JSON
from together import together


class SetPrice(Action):
    """Set the price of a product.

    It holds from the next customer on.
    """

    aliases = ("SET_PRICES", "reprice")
    parameter_aliases: ClassVar[Mapping[str, ParameterAlias]] = {
        "price": ParameterAlias("price_cents", read_dollars, {"type": "number", "description": "dollars"}),
        "item": ParameterAlias("product"),
    }

    product: str
    price_cents: Annotated[int, Field(ge=1, le=1000)]


class WaitUntil(Action):
    """Wait until an hour later today."""

    hour: Annotated[int, Field(ge=0, le=23)]
    mood: Literal["calm", "keen"] = "calm"


class Note(Action):
    """Keep anything."""

    class Line(Action):
        weight: float = 1.0

    lines: tuple[Line, ...] = ()
    anything: JsonValue = None


VERBS = Verbs([SetPrice, WaitUntil, Note])


def unreadable(name: object, parameters: object, reply: str = "a reply") -> Unreadable:
    """What was refused, which is all that these tests ask for."""
    action = VERBS.parse(name, parameters, reply)
    assert isinstance(action, Unreadable), f"{action!r} was read"
    return action


@together("name", ["SetPrice", "set_price", "SET_PRICE", "set-price", "Set Price", "setprice", "SET_PRICES", "Reprice"])
def test_verb_is_found_under_every_spelling(name: str) -> None:
    """Class name, tool name and aliases, in any case, with underscores, hyphens, spaces or nothing between words."""
    assert VERBS.find(name) is SetPrice


def test_two_verbs_may_not_answer_to_one_name() -> None:
    """A name that two verbs would answer to is the author's mistake, found when the world is loaded."""

    class Reprice(Action):
        """Set the price again."""

    with pytest.raises(ValueError, match="two actions answer to 'Reprice'"):
        Verbs([SetPrice, Reprice])


@pytest.mark.parametrize(
    ("cls", "tool_name"),
    [(SetPrice, "set_price"), (WaitUntil, "wait_until"), (Note, "note"), (Unreadable, "unreadable")],
)
def test_tool_name_is_the_class_name_in_snake_case(cls: type[Action], tool_name: str) -> None:
    """What a model calls is what the ledger holds, spelt as models spell."""
    assert cls.tool_name() == tool_name


def test_tool_shows_what_agents_say() -> None:
    """A tool has the docstring, the alias of a field in its place, no titles, and stays JSON."""
    assert SetPrice.tool() == {
        "name": "set_price",
        "description": "Set the price of a product.\n\nIt holds from the next customer on.",
        "parameters": {
            "type": "object",
            "properties": {"product": {"type": "string"}, "price": {"type": "number", "description": "dollars"}},
            "required": ["product", "price"],
        },
    }
    assert WaitUntil.tool()["parameters"] == {
        "type": "object",
        "properties": {
            "hour": {"type": "integer", "minimum": 0, "maximum": 23},
            "mood": {"type": "string", "enum": ["calm", "keen"], "default": "calm"},
        },
        "required": ["hour"],
    }
    assert set(Note.tool()["parameters"]["$defs"]) == {"Line", "JsonValue"}
    for cls in VERBS.classes:
        canonical(cls.tool())


@pytest.mark.parametrize(
    "parameters",
    [
        {"product": "cola", "price_cents": 175},
        {"product": "cola", "price": 1.75},
        {"product": "cola", "price": "$1.75"},
        {"item": "cola", "price": "175 cents"},
        {"item": "cola", "price_cents": "175"},
    ],
    ids=str,
)
def test_aliases_of_fields_are_read(parameters: dict[str, Any]) -> None:
    """An agent may say dollars for cents and another word for a field; the ledger holds one spelling."""
    assert VERBS.parse("set_price", parameters, "") == SetPrice(product="cola", price_cents=175)


PRICED = {"product": "cola", "price": 1}
REFUSED: dict[str, tuple[object, object, str]] = {
    "no name": (None, {}, "no_action: the name of the action should be text, not a NoneType"),
    "a list for a name": (["set_price"], {}, "no_action: the name of the action should be text, not a list"),
    "a number too long to print": (10**5000, {}, "no_action: the name of the action should be text, not a int"),
    "a misspelt name": ("set_prise", {}, "no_action: no action 'set_prise'; did you mean 'set_price'?"),
    "an empty name": ("", {}, "no_action: no action ''; there is note, set_price, wait_until"),
    "null": ("wait_until", None, "bad_parameters: parameters of wait_until should be an object"),
    "a list": ("wait_until", [9], "bad_parameters: parameters of wait_until should be an object"),
    "nothing": ("wait_until", {}, "bad_parameters: wait_until: hour: field required"),
    "too much": ("wait_until", {"hour": 24}, "wait_until: hour: input should be less than or equal to 23, not 24"),
    "a field too many": (
        "wait_until",
        {"hour": 1, "day": 2},
        "wait_until: day: extra inputs are not permitted, not 2; it takes hour",
    ),
    "NaN": ("wait_until", {"hour": math.nan}, "bad_parameters: wait_until: a parameter is NaN or infinite"),
    "a long number": ("wait_until", {"x": 10**1000}, "wait_until: a parameter has more than 1,000 digits"),
    "a NUL": ("wait_until", {"hour": 1, "mood\0": 1}, "bad_text: wait_until: a parameter holds a NUL character"),
    "half a pair": (
        "set_price",
        PRICED | {"product": "\ud83d"},
        "bad_text: set_price: a parameter holds half of",
    ),
    "no money": ("set_price", PRICED | {"price": "ten"}, "bad_parameters: set_price: no amount of money in 'ten'"),
    "two prices": (
        "set_price",
        PRICED | {"price_cents": 100},
        "set_price: 'price_cents' was given twice: also as",
    ),
    "two products": ("set_price", PRICED | {"item": "b"}, "set_price: 'product' was given twice: also as 'item'"),
    "nan as text": ("note", {"lines": [{"weight": "nan"}]}, "note: lines.0.weight: input should be a finite number"),
    "too large": ("note", {"lines": [{"weight": "1e999"}]}, "note: lines.0.weight: input should be a finite number"),
    "infinity": ("note", {"anything": {"a": [-math.inf]}}, "bad_parameters: note: a parameter is NaN or infinite"),
}


@together(("name", "parameters", "why"), REFUSED.values())
def test_what_cannot_be_read_is_refused_with_a_reason(name: object, parameters: object, why: str) -> None:
    """A stable code for programs and, for the agent, where it went wrong, what was found and what is expected."""
    refused = unreadable(name, parameters)
    assert why in f"{refused.code}: {refused.why}"


def test_reasons_stay_short() -> None:
    """However much is wrong, and however long it is, the reason can be read: three complaints, names cut at 100."""
    many = unreadable("wait_until", {f"field_{n}": "x" * 10_000 for n in range(500)})
    assert many.why.count("extra inputs are not permitted") == 2, "one is that `hour` is missing"
    assert len(many.why) < 600
    assert len(unreadable("x" * 1_000_000, {}).why) < 300
    assert len(unreadable("note", {"x" * 100_000: 1}).why) < 300


class Order(Action):
    """An order."""

    items: Annotated[dict[str, int], Field(min_length=1, max_length=2)]
    lines: Annotated[tuple[int, ...], Field(max_length=1)] = ()


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"items": {}}, "order: items: give at least 1 item, not {}"),
        ({"items": {"a": 1}, "lines": [1, 2]}, "order: lines: give at most 1 item, not [1, 2]"),
        ({"items": [1]}, "order: items: input should be an object of names and values, not [1]"),
    ],
)
def test_a_refusal_speaks_of_items_and_objects(parameters: object, why: str) -> None:
    """No model knows what is validated after what, nor what a dictionary of this language is."""
    refused = Verbs([Order]).parse("order", parameters, "")
    assert isinstance(refused, Unreadable)
    assert refused.why == why


def _nested(levels: int, of: type[list[Any]] | type[dict[str, Any]]) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if of is list else {"a": value}
    return value


@pytest.mark.parametrize("of", [list, dict])
def test_deep_nesting_is_refused_before_anything_recurses(of: Any) -> None:
    """63 levels inside the parameters are kept and written; from 64 on they are refused, at any depth."""
    note = VERBS.parse("note", {"anything": _nested(63, of)}, "")
    assert isinstance(note, Note)
    canonical(note.model_dump(mode="json"))
    for levels in (64, 500, 2_000, 100_000):
        assert (
            unreadable("note", {"anything": _nested(levels, of)}).why
            == "note: a parameter is nested deeper than 64 levels"
        )


FIELDS = dict.fromkeys(("product", "item", "price", "price_cents", "hour", "mood", "lines", "anything"), ANY_JSON)


@given(
    name=st.sampled_from(["set_price", "wait_until", "note"]) | ANY_JSON,
    parameters=ANY_JSON | st.fixed_dictionaries({}, optional=FIELDS) | st.builds(dict, anything=ANY_JSON),
)
def test_whatever_is_parsed_can_be_kept(name: Any, parameters: Any) -> None:
    """No JSON makes `parse` raise; what comes of it is an action that an entry holds and reads back equal."""
    action = VERBS.parse(name, parameters, "the reply")
    digest = Genesis("stand@1", 1, {}).digest
    entry = Entry.of(digest, Turn(1, 1, "owner", action), Outcome("done"))
    again = Entry.parse(1, 1, entry.text, entry.digest)
    assert VERBS.recorded(again.name, again.parameters) == action


@given(reply=st.text(st.characters(), max_size=60))
def test_unreadable_keeps_the_fingerprint_of_the_whole_reply(reply: str) -> None:
    """The SHA-256 is of the reply as it came; the text that is kept is one that every store takes."""
    unreadable = Unreadable.of(reply, reply)
    assert unreadable.sha256 == hashlib.sha256(reply.encode("utf-8", "surrogatepass")).hexdigest()
    assert bad_text(unreadable.text) is None
    assert bad_text(unreadable.why) is None
    assert len(unreadable.text) == len(reply)


def test_unreadable_text_is_cut() -> None:
    """Of a megabyte 4,096 characters are kept, and replies that differ behind them have different fingerprints."""
    first, second = Unreadable.of("x" * 1_000_000, "why"), Unreadable.of("x" * 999_999 + "y", "why")
    assert first.text == second.text == "x" * UNREADABLE_TEXT_LIMIT
    assert first.sha256 != second.sha256


def test_recorded_actions_are_what_they_were() -> None:
    """The ledger's name and parameters give the action again, `Unreadable` too; another name is an UnknownName."""
    for action in (
        SetPrice(product="cola", price_cents=5),
        Note(lines=(Note.Line(weight=0.5),)),
        Unreadable.of("?", "no"),
    ):
        assert VERBS.recorded(type(action).__name__, action.model_dump(mode="json")) == action
    with pytest.raises(UnknownName, match="no action 'Steal'; there is Note, SetPrice, WaitUntil"):
        VERBS.recorded("Steal", {})
    with pytest.raises(ValidationError):
        VERBS.recorded("WaitUntil", {"hour": "later"})


def test_settled_action_is_the_one_that_is_read_back() -> None:
    """A world sees keys in their order and whole floats whole, as it will on replay."""
    note = Note(anything={"b": 2.0, "a": [1.5, -0.0, {"d": 1, "c": 1e22}]})
    settled = VERBS.settled(note)
    assert repr(settled.model_dump()["anything"]) == repr({"a": [1.5, 0, {"c": 10**22, "d": 1}], "b": 2})
    text = canonical(note.model_dump(mode="json"))
    assert repr(VERBS.recorded("Note", json.loads(text))) == repr(settled)
    flat = WaitUntil(hour=9)
    assert VERBS.settled(flat) is flat
    with pytest.raises(UnknownName, match="no action 'Line'"):
        VERBS.settled(Note.Line(weight=0.5))


def test_actions_cannot_be_changed() -> None:
    """An action is a value: equal by its fields, and frozen."""
    action = WaitUntil(hour=9)
    assert action == WaitUntil(hour=9)
    assert hash(action) == hash(WaitUntil(hour=9))
    with pytest.raises(ValidationError, match="frozen"):
        action.hour = 10  # pyright: ignore[reportAttributeAccessIssue] - it is what is refused


@together(
    ("name", "names", "hint", "message", "close"),
    [
        ("colla", ["cola", "chips"], "", "no product 'colla'; did you mean 'cola'?", ("cola",)),
        (
            "set_pric",
            ["set_prices", "set_price", "get_price"],
            "elsewhere are more",
            "no product 'set_pric'; did you mean 'set_price' or 'set_prices' or 'get_price'? (elsewhere are more)",
            ("set_price", "set_prices", "get_price"),
        ),
        (
            "cola",
            ["cola_zero", "cola_can", "coal"],
            "",
            "no product 'cola'; did you mean 'coal' or 'cola_can' or 'cola_zero'?",
            ("coal", "cola_can", "cola_zero"),
        ),
        (
            "demand.footfal",
            ["demand.footfall", "demand.variety"],
            "",
            "no product 'demand.footfal'; did you mean 'demand.footfall'?",
            ("demand.footfall",),
        ),
        ("zzz", ["b", "a"], "", "no product 'zzz'; there is a, b", ()),
        ("zzz", [], "", "no product 'zzz'; there is none yet", ()),
        ("z" * 200, ["a"], "", f"no product '{'z' * 100}...'; there is a", ()),
    ],
)
def test_unknown_name_offers_what_is_there(
    name: str, names: list[str], hint: str, message: str, close: tuple[str, ...]
) -> None:
    """The message holds what was asked, the closest names or else all of them, and where to look."""
    error = UnknownName("product", name, names, hint)
    assert str(error) == message
    assert (error.kind, error.name, error.close) == ("product", name, close)


def test_unknown_name_lists_at_most_twenty() -> None:
    """A long list is cut, and says so."""
    error = UnknownName("run", "zzzzz", [f"run-{n:02}" for n in range(30)])
    assert str(error).endswith("run-18, run-19 ...")
