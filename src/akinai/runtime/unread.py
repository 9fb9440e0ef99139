"""Tool calls whose arguments no provider package reads: wrapped before it looks, so that none is lost or reordered.

LangChain puts such calls behind the others, and breaks on arguments that are JSON but no object.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from akinai.core.canonical import Json, canonical

WRAPPER = "unreadable_arguments"
"""The one name in an object that stands for arguments that are none."""


def readable(body: bytes) -> bytes:
    """A provider's answer in which every tool call has an object as its arguments: what is none is wrapped in one.

    OpenAI's chat completions and responses, and Anthropic's messages. Any other body is given back as it is.
    """
    if b"arguments" not in body and b"tool_use" not in body:
        return body
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return body
    changed = [_mend(call) for call in _calls_in(answer)] if isinstance(answer, dict) else []
    return json.dumps(answer).encode() if any(changed) else body


def wrapped(arguments: Json) -> dict[str, Any]:
    """Arguments as an object: what servers take in a conversation, whatever the model had written."""
    if isinstance(arguments, Mapping):
        return dict(cast("Mapping[str, Any]", arguments))
    return {WRAPPER: arguments if isinstance(arguments, str) else canonical(arguments)}


def unwrapped(arguments: object) -> Json:
    """Arguments as the model gave them: an object, or the text that is none, also where it cannot be kept as JSON."""
    if isinstance(arguments, dict) and arguments.keys() == {WRAPPER}:
        arguments = cast("dict[str, Any]", arguments)[WRAPPER]
    try:
        canonical(cast("Json", arguments))
    except (ValueError, TypeError, RecursionError):
        return str(arguments)
    return cast("Json", arguments)


def _calls_in(answer: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Every call in an answer, as the object that holds the arguments and their name in it."""
    for choice in _objects(answer.get("choices")):
        for call in _objects(_object(choice.get("message")).get("tool_calls")):
            yield _object(call.get("function")), "arguments"
    for item in _objects(answer.get("output")):
        if item.get("type") == "function_call":
            yield item, "arguments"
    for block in _objects(answer.get("content")):
        if block.get("type") == "tool_use":
            yield block, "input"


def _mend(call: tuple[dict[str, Any], str]) -> bool:
    """Wrap the arguments of a call where it is needed; whether it was."""
    holder, name = call
    given = holder.get(name)
    if name == "input":
        if given is None or isinstance(given, dict):
            return False
        holder[name] = {WRAPPER: given if isinstance(given, str) else json.dumps(given)}
        return True
    if given in (None, "") or (isinstance(given, str) and _is_object(given)):
        return False
    # Some servers send the object itself where its text belongs.
    whole = given if isinstance(given, dict) else {WRAPPER: given if isinstance(given, str) else json.dumps(given)}
    holder[name] = json.dumps(whole)
    return True


def _is_object(text: str) -> bool:
    try:
        # Not strict, as LangChain reads it: models write line ends into their texts.
        return isinstance(json.loads(text, strict=False, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _objects(value: object) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", one) for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
