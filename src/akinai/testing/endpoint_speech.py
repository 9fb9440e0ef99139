"""Actions as a model says them: the inverse of hearing, for players on the wire; and how a reply carries its number."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from akinai.agents.structured import BESIDE, NAME_KEYS
from akinai.core.actions import Action, Spoken
from akinai.core.canonical import Json

TAG_BITS = 16
_CALL = re.compile(r"call_(\d{1,9})_([0-9a-f]{4})")
_WORD = re.compile(r"\w+")
_MARK = re.compile(rf"\{{([ \t]{{{TAG_BITS + 1},60}})")
_TO_SPACE, _TO_BITS = str.maketrans("01", " \t"), str.maketrans(" \t", "01")


def spoken_parameters(action: Action) -> dict[str, Json]:
    """The parameters as `type(action).hear` reads them: dollars for cents, nested actions alike.

    Fields at their default are left out. Where no spelling is found that reads back as the value, the field stands
    under its own name, which is always heard.
    """
    kept = cast("dict[str, Json]", action.model_dump(mode="json", exclude_defaults=True))
    shown = {how.field: (name, how) for name, how in action.spoken.items() if how.schema is not None}
    said: dict[str, Json] = {}
    for field, dumped in kept.items():
        value = _nested(getattr(action, field), dumped)
        name, how = shown.get(field, (field, None))
        spelling = None if how is None else _spelling(how, value)
        said[field if spelling is None else name] = value if spelling is None else spelling
    return said


def structured_text(action: Action, said: str = "") -> str:
    """An action as one JSON object, the way models without tools say it."""
    parameters = spoken_parameters(action)
    if not BESIDE.isdisjoint(parameters) or not set(NAME_KEYS).isdisjoint(parameters):
        parameters = {"arguments": parameters}
    beside: dict[str, Json] = {"reasoning": said} if said else {}
    return json.dumps({"action": action.tool_name().upper(), **beside, **parameters}, ensure_ascii=False)


def tag_of(key: str) -> str:
    """Four hex digits that tell the replies of one conversation from those of another."""
    return hashlib.sha256(key.encode()).hexdigest()[:4]


def call_id(number: int, tag: str) -> str:
    """The id of a conversation's n-th move as a call."""
    return f"call_{number}_{tag}"


def number_in_id(call_id: str, tag: str) -> int:
    """The number of the move that a call's id tells; 0 when it is none of this conversation's."""
    found = _CALL.fullmatch(call_id)
    return int(found[1]) if found and found[2] == tag else 0


def marked(text: str, number: int, tag: str) -> str:
    """A JSON object with the number of the move in its white space, where no reader of JSON looks."""
    bits = f"{int(tag, 16):0{TAG_BITS}b}{number:b}"
    return "{" + bits.translate(_TO_SPACE) + text[1:]


def number_in_text(text: str, tag: str) -> int:
    """The number that `marked` wrote; 0 when there is none of this conversation's."""
    found = _MARK.search(text)
    bits = found[1].translate(_TO_BITS) if found else ""
    return int(bits[TAG_BITS:], 2) if bits and int(bits[:TAG_BITS], 2) == int(tag, 16) else 0


def words_in(text: str) -> Iterator[str]:
    """The words of a text, with the underscores of names in them."""
    return (found[0] for found in _WORD.finditer(text))


def _nested(value: object, dumped: Json) -> Json:
    """The JSON of a value, with the actions inside it as they are spoken."""
    if isinstance(value, Action):
        return spoken_parameters(value)
    if isinstance(value, Mapping):
        told = cast("Mapping[str, Json]", dumped)
        return {str(key): _nested(item, told[str(key)]) for key, item in cast("Mapping[Any, object]", value).items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [
            _nested(*pair) for pair in zip(cast("Sequence[object]", value), cast("list[Json]", dumped), strict=True)
        ]
    return dumped


def _spelling(how: Spoken, value: Json) -> Json:
    """A spelling that is heard as the value, found by trying; None when none is."""
    for spelling in _spellings(value):
        try:
            if (how.read(spelling) if how.read else spelling) == value:
                return spelling
        except (ValueError, TypeError):
            continue
    return None


def _spellings(value: Json) -> Iterator[Json]:
    """The value as it is, as hundredths (cents as dollars), as text."""
    yield value
    if isinstance(value, int):
        yield value / 100
        yield f"{value / 100:.2f}"
    yield str(value)
