"""The structured-action format, one JSON object a reply: for scripts, programs and models without tool calls."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move

NAME_KEYS = ("action", "tool_name", "command", "name")
TEXT_KEYS = frozenset(
    "reasoning reason thought thoughts thinking explanation rationale analysis reflection justification observation "
    "plan comment comments note notes summary next_steps".split()
)
"""Keys of a reply that hold text beside its action, unless the action has a parameter of that name."""
OBJECTS_TRIED = 64
"""The number of opening braces that are tried in a reply with prose around its object."""

EXPECTED = 'expected one JSON object such as {"action": "NAME"} or {"action": "NAME", "parameter": 15}'


def read_move(verbs: Verbs, reply: str) -> Move:
    """The action in a reply, and the text beside it: before and after its object, and in the object's text fields.

    The reply is pure JSON, fenced, or has prose around it. `Unreadable` where there is no action; it keeps the reply.
    """
    objects = list(_objects(reply))
    named = [item for item in objects if any(key in item.value for key in NAME_KEYS)]
    action_object = next(iter(named or objects), None)
    if action_object is None:
        problem = "the reply is empty" if not reply.strip() else "the reply holds no JSON object with an action"
        return Move(Unreadable.of(reply, f"{problem}; {EXPECTED}"))
    move = read_object(verbs, action_object.value, reply)
    if isinstance(move.action, Unreadable):
        return move
    first = next((item.start for item in objects), 0)
    after = "".join(
        reply[item.end : following.start if following else len(reply)]
        for item, following in zip(objects, [*objects[1:], None], strict=True)
    )
    return Move(move.action, _joined(_prose(reply[:first]), move.said, _prose(after)))


def read_object(verbs: Verbs, fields: Mapping[str, Any], reply: str) -> Move:
    """The action in a parsed object, and the object's text fields. `reply` is its text, which an `Unreadable` keeps."""
    key = next((key for key in NAME_KEYS if key in fields), None)
    if key is None:
        return Move(Unreadable.of(reply, f"the object names no action; {EXPECTED}"))
    parameters = {name: value for name, value in fields.items() if name != key}
    own = verbs.parameters(fields[key])
    texts = {name: value for name, value in parameters.items() if name in TEXT_KEYS and name not in own}
    parameters = {name: value for name, value in parameters.items() if name not in texts}
    for wrapper in ("arguments", "parameters", "args"):
        if wrapper in parameters and len(parameters) == 1:
            inner = _arguments(parameters[wrapper])
            if isinstance(inner, dict):
                inside = cast("dict[str, Any]", inner)
                texts |= {name: value for name, value in inside.items() if name in TEXT_KEYS and name not in own}
                inner = {name: value for name, value in inside.items() if name in own or name not in TEXT_KEYS}
            return _move(verbs.parse(fields[key], inner, reply), texts)
    return _move(verbs.parse(fields[key], parameters, reply), texts)


def _move(action: Action, texts: Mapping[str, Any]) -> Move:
    return Move(action) if isinstance(action, Unreadable) else Move(action, _joined(*map(_text, texts.values())))


def _text(value: object) -> str:
    """A text, or the texts of a list; anything else as JSON."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(map(_text, cast("list[object]", value)))
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$|```(?:json)?", re.MULTILINE)


def _prose(text: str) -> str:
    return _FENCE.sub("", text).strip()


def _joined(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _arguments(value: object) -> object:
    """The value of a wrapper as an object: JSON text is parsed, null is an empty object."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return value
    return {} if value is None else value


class _Object(NamedTuple):
    """An object in a reply, and its position in the text."""

    value: Mapping[str, Any]
    start: int
    end: int


def _objects(reply: str) -> Iterator[_Object]:
    decoder, start = json.JSONDecoder(), reply.find("{")
    for _ in range(OBJECTS_TRIED):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(reply, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, dict):
                yield _Object(cast("dict[str, Any]", value), start, end)
        start = reply.find("{", end)
