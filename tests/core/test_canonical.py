"""Canonical JSON: one spelling for one value, on every machine and after every store."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.canonical import MOST_LEVELS, bad_text, bad_text_in, canonical, keepable, settled, unfit_in
from together import together

TEXT = st.text(st.characters(exclude_categories=("Cs",)))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=20,
)


@given(value=JSON)
def test_reading_back_gives_the_same_text(value: Any) -> None:
    """What is read back is the settled value, and its canonical text is the text that was read."""
    text = canonical(value)
    again = json.loads(text)
    assert again == settled(value)
    assert canonical(again) == text
    text.encode()


@given(value=JSON)
def test_the_text_is_that_of_the_standard_encoder(value: Any) -> None:
    """Whoever writes it, sorted and without spaces, it is the text that digests of all releases stand on."""
    standard = json.dumps(settled(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert canonical(value) == standard


def test_every_character_is_spelled_as_the_standard_encoder_does() -> None:
    """Each in a text and as the key of an object: escapes, and the order of keys."""
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    value: Any = [text, dict.fromkeys(reversed(text[:20_000] + text[-1000:]), 0)]
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@given(value=st.dictionaries(TEXT, JSON, max_size=6))
def test_order_of_keys_does_not_matter(value: dict[str, Any]) -> None:
    """However an object was filled, its keys stand in the order of their code points."""
    turned = dict(reversed(value.items()))
    assert canonical(turned) == canonical(value)
    assert list(json.loads(canonical(value))) == sorted(value)


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_floats_read_back_to_the_bit(number: float) -> None:
    """The shortest decimal that is the same float; a whole one as an integer, as a database gives it back."""
    text = canonical(number)
    assert float(text) == number
    assert ("." in text or "e" in text) == (not number.is_integer())


@together(
    ("value", "text"),
    [
        ({"b": [1.5, None, True], "a": {"z": 1, "Z": 2}}, '{"a":{"Z":2,"z":1},"b":[1.5,null,true]}'),
        (1.0, "1"),
        (-0.0, "0"),
        (1e22, "10000000000000000000000"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e-7, "1e-07"),
        (2**70, "1180591620717411303424"),
        ("商い é \u2028 \x7f", '"商い é \u2028 \x7f"'),
        ('"\\\n\t\x01', '"\\"\\\\\\n\\t\\u0001"'),
        ((1, 2), "[1,2]"),
        ({}, "{}"),
        ([[], {}, ""], '[[],{},""]'),
    ],
)
def test_spelling(value: Any, text: str) -> None:
    """Worked examples: digests stand on these spellings."""
    assert canonical(value) == text


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(number: float) -> None:
    """NaN and infinities are no JSON, wherever they stand."""
    for value in (number, [number], {"a": [{"b": number}]}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            canonical(value)


@together("value", [{1, 2}, b"ab", object(), {1: 2}, {"a": {None: 1}}, [{("x",): 1}]])
def test_what_is_not_json_is_refused(value: Any) -> None:
    """A set has no order, bytes are no text, and a key that is not text would be another key when read back."""
    with pytest.raises(TypeError, match=r"not JSON|not text"):
        canonical(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("plain 商い 😀", None),
        ("a\0b", "holds a NUL character"),
        ("\ud83d", "holds half of a surrogate pair"),
        ("x\udfff", "holds half of a surrogate pair"),
    ],
)
def test_text_that_no_store_keeps_is_named(text: str, why: str | None) -> None:
    """NUL and lone surrogates are found in a text and anywhere in a value, keys included; `keepable` marks them."""
    for reason in (bad_text(text), bad_text_in(text), bad_text_in({"a": [1, {text: None}]}), bad_text_in([[text]])):
        assert (reason or "").startswith(why or "")
        assert (reason is None) == (why is None)
    assert bad_text(keepable(text)) is None
    assert len(keepable(text)) == len(text)
    assert (keepable(text) == text) == (why is None)


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@together(
    ("value", "why"),
    [
        (_nested(MOST_LEVELS), None),
        (_nested(MOST_LEVELS + 1), "is nested deeper than 64 levels"),
        (_nested(10_000), "is nested deeper than 64 levels"),
        (10**1000 - 1, None),
        ([-(10**1000)], "has more than 1,000 digits"),
        ({"a": math.nan}, "is NaN or infinite"),
        ([[math.inf]], "is NaN or infinite"),
        ([1.5, True, None, "nan", -0.0], None),
    ],
)
def test_what_no_ledger_keeps_is_named(value: Any, why: str | None) -> None:
    """Numbers that are none or too long, and nesting that no recursive reader survives, are found without recursion."""
    reason = unfit_in(value)
    assert (reason or "").startswith(why or "")
    assert (reason is None) == (why is None)


def test_parts_that_may_hold_floats_are_enough() -> None:
    """Where the rest of a value holds none, looking into these alone gives the same text."""
    for part in ({"a": [1.0, {"b": 2.5}]}, {"a": 10**30}, {"a": "\ud800"}, {"a": (1, 2)}, None, {"é": True}):
        value = {"z": {"y": part, "x": "1.0"}, "b": part}
        assert canonical(value, (part, None)) == canonical(value)
    with pytest.raises(ValueError, match="JSON"):
        canonical({"z": [math.nan]}, ([math.nan],))
