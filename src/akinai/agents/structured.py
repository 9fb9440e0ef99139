"""The structured-action format, one JSON object a reply: for scripts, programs and models without tool calls."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from akinai.core.actions import Action, Unreadable, Verbs

NAME_KEYS = ("action", "tool_name", "command", "name")
REASONING_KEYS = frozenset({"reasoning", "thought", "thoughts", "explanation"})
"""Keys of a reply that are not parameters of its action."""
OBJECTS_TRIED = 64
"""How many opening braces are tried in a reply with prose around its object."""

EXPECTED = 'expected one JSON object such as {"action": "NAME"} or {"action": "NAME", "parameter": 15}'


def read_reply(verbs: Verbs, reply: str) -> Action:
    """The action in a reply: pure JSON, fenced, or with prose around it. `Unreadable` where there is none."""
    given = _object_in(reply)
    if given is None:
        found = "the reply is empty" if not reply.strip() else "the reply holds no JSON object with an action"
        return Unreadable.of(reply, f"{found}; {EXPECTED}")
    return read_object(verbs, given, reply)


def read_object(verbs: Verbs, given: Mapping[str, Any], reply: str) -> Action:
    """The action in a parsed object. `reply` is its text, which an `Unreadable` keeps."""
    key = next((key for key in NAME_KEYS if key in given), None)
    if key is None:
        return Unreadable.of(reply, f"the object names no action; {EXPECTED}")
    parameters = {name: value for name, value in given.items() if name != key and name not in REASONING_KEYS}
    for wrapper in ("arguments", "parameters", "args"):
        if wrapper in parameters and len(parameters) == 1:
            return verbs.parse(given[key], _arguments(parameters[wrapper]), reply)
    return verbs.parse(given[key], parameters, reply)


def reasoning_in(reply: str) -> str:
    """The reasoning beside the action in a reply; empty where there is none."""
    given = _object_in(reply) or {}
    return next((text for key in sorted(REASONING_KEYS) if isinstance(text := given.get(key), str)), "")


def _arguments(value: object) -> object:
    """Parameters that were given as an object, as JSON text, or not at all."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return value
    return {} if value is None else value


def _object_in(reply: str) -> Mapping[str, Any] | None:
    """The first JSON object that names an action, or else the first JSON object."""
    first: Mapping[str, Any] | None = None
    for given in _objects(reply):
        if any(key in given for key in NAME_KEYS):
            return given
        first = first or given
    return first


def _objects(reply: str) -> Iterator[Mapping[str, Any]]:
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
                yield cast("dict[str, Any]", value)
        start = reply.find("{", end)
