"""The structured-action format: one JSON object a reply, for scripts, models without tool calls, and any program."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from akinai.core.actions import Action, Unreadable, Verbs

NAME_KEYS = ("action", "tool_name", "command", "name")
BESIDE = frozenset({"reasoning", "thought", "thoughts", "explanation"})
"""What a reply may hold beside the action without it being a parameter."""
OBJECTS_TRIED = 64
"""Openings of an object that are tried in a reply with prose around it."""

EXPECTED = 'expected one JSON object such as {"action": "NAME"} or {"action": "NAME", "parameter": 15}'


def read_reply(verbs: Verbs, reply: str) -> Action:
    """The action in a reply: pure JSON, fenced, or with prose around it. An `Unreadable` where there is none."""
    given = _object_in(reply)
    if given is None:
        found = "the reply is empty" if not reply.strip() else "the reply holds no JSON object with an action"
        return Unreadable.of(reply, f"{found}; {EXPECTED}")
    return read_object(verbs, given, reply)


def read_object(verbs: Verbs, given: Mapping[str, Any], reply: str) -> Action:
    """The same from a parsed object; `reply` is its text, kept when it cannot be read."""
    key = next((key for key in NAME_KEYS if key in given), None)
    if key is None:
        return Unreadable.of(reply, f"the object names no action; {EXPECTED}")
    parameters = {name: value for name, value in given.items() if name != key and name not in BESIDE}
    for wrapper in ("arguments", "parameters", "args"):
        if wrapper in parameters and len(parameters) == 1:
            return verbs.heard(given[key], _arguments(parameters[wrapper]), reply)
    return verbs.heard(given[key], parameters, reply)


def reasoning_in(reply: str) -> str:
    """The text that stands beside the action in a reply."""
    given = _object_in(reply) or {}
    return next((text for key in sorted(BESIDE) if isinstance(text := given.get(key), str)), "")


def _arguments(value: object) -> object:
    """Parameters given as an object, as JSON text, or not at all."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return value
    return {} if value is None else value


def _object_in(reply: str) -> Mapping[str, Any] | None:
    """The first JSON object that names an action, or else the first there is."""
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
