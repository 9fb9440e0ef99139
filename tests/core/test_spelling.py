"""Others' words on a terminal and in errors: they are text, and no more of a value is spelled than is shown."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from akinai.core.untrusted.spelling import printable, printable_json, short_repr
from together import together

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("ab' ", max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=4),
    max_leaves=10,
)


@together(
    ("text", "spelled"),
    [
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("safe\rsudo", "safe\\x0dsudo"),
        ("abc\u202egpj.exe", "abc\\u202egpj.exe"),
        ("half \udcff", "half \\udcff"),
        ("a\tb\nc é 商い 😀👩‍👩‍👧", "a\tb\nc é 商い 😀👩‍👩‍👧"),
    ],
)
def test_what_a_terminal_obeys_is_spelled(text: str, spelled: str) -> None:
    """Controls, marks of direction and halves of pairs are shown by their numbers; all that is seen stays."""
    assert printable(text) == spelled


@given(st.text())
def test_escaped_json_is_the_same_value(text: str) -> None:
    """No escape is left in the text, and whoever reads the JSON reads what was written."""
    written = printable_json(json.dumps({"a": text}, ensure_ascii=False))
    assert json.loads(written) == {"a": text}
    assert printable(written) == written


@given(JSON, st.integers(1, 80))
def test_short_repr_is_the_beginning_of_the_repr(value: Any, width: int) -> None:
    """What is shown of a JSON value is what `repr` begins with."""
    whole = repr(value)
    assert short_repr(value, len(whole)) == whole
    assert len(short_repr(value, width)) <= width


def test_short_repr_spells_no_more_than_it_returns() -> None:
    """A value that stands for 10^30 others is shown at once, as is a number that Python refuses to spell."""
    value: list[Any] = ["lol"]
    for _ in range(30):
        value = [value] * 10
    assert short_repr(value) == "[" * 31 + "'lol'], ['lol'], ['lol'], ['l"
    assert short_repr(16**9000) == "a whole number of 36,001 bits"
    assert short_repr({"a" * 10**7: 1}, 10) == "{'aaaaaaaa"
