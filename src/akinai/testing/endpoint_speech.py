"""Actions as a model says them: the inverse of hearing, for players on the wire; and how a reply carries its number."""

import hashlib
import json
import re
from collections.abc import Iterator

from akinai.agents.structured import BESIDE, NAME_KEYS
from akinai.core.actions import Action
from akinai.core.canonical import Json

TAG_BITS = 16
_CALL = re.compile(r"call_(\d{1,9})_([0-9a-f]{4})")
_WORD = re.compile(r"\w+")
_MARK = re.compile(rf"\{{([ \t]{{{TAG_BITS + 1},60}})")
_TO_SPACE, _TO_BITS = str.maketrans("01", " \t"), str.maketrans(" \t", "01")


def structured_text(action: Action, said: str = "") -> str:
    """An action as one JSON object, the way models without tools say it."""
    parameters = action.say()
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
