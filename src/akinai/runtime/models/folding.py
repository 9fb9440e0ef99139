"""Tools beyond the number that a server takes, folded into the last one that it takes, and calls of it unfolded."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

FOLDED = "other_tool"
"""The name of the tool in which others are folded."""
_LIMIT = re.compile(r"too (?:long|many)|at most|maximum|no more than|up to|limit|exceed")
_NUMBER = re.compile(r"\b\d{1,4}\b")


def tools_limit(text: str, count: int) -> int | None:
    """The number of tools that a refusal of `count` allows, 1 where it names none; None for another refusal."""
    if count < 2 or not re.search(r"\btools?\b|functions", text) or not _LIMIT.search(text):
        return None
    return max((int(number) for number in _NUMBER.findall(text) if 0 < int(number) < count), default=1)


def fold_tools(body: dict[str, Any], limit: int) -> None:
    """Change a request so that it has at most `limit` tools: the last stands for all that have no place."""
    tools = as_tables(body.get("tools"))
    if len(tools) <= limit:
        return
    functions = [as_table(tool.get("function")) for tool in tools[limit - 1 :]]
    names = [str(function.get("name")) for function in functions]
    texts = [
        f"{function.get('name')}: {function.get('description', '')}\n"
        f"Parameters (JSON Schema): {json.dumps(function.get('parameters', {}), ensure_ascii=False)}"
        for function in functions
    ]
    parameters = {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": names}, "parameters": {"type": "object"}},
        "required": ["name", "parameters"],
    }
    description = "\n\n".join(["Calls one of these tools, by its name and with its parameters.", *texts])
    last = {"name": FOLDED, "description": description, "parameters": parameters}
    body["tools"] = [*tools[: limit - 1], {"type": "function", "function": last}]
    for message in as_tables(body.get("messages")):
        for call in as_tables(message.get("tool_calls")):
            _fold_call(as_table(call.get("function")), names)


def _fold_call(function: dict[str, Any], names: Sequence[str]) -> None:
    if function.get("name") not in names:
        return
    arguments = function.get("arguments")
    text = isinstance(arguments, str)
    inside = {"name": function["name"], "parameters": _object(arguments)}
    function |= {"name": FOLDED, "arguments": json.dumps(inside) if text else inside}


def unfold_call(function: dict[str, Any]) -> bool:
    """Give a call in an answer the name and arguments of the tool that it means; whether it was folded."""
    if function.get("name") != FOLDED:
        return False
    arguments = function.get("arguments")
    inside = _object(arguments)
    if not isinstance(inside.get("name"), str):
        return False
    parameters = inside.get("parameters", {key: value for key, value in inside.items() if key != "name"})
    function["name"] = inside["name"]
    function["arguments"] = json.dumps(parameters) if isinstance(arguments, str) else parameters
    return True


def _object(arguments: object) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            return {}
    return as_table(arguments)


def as_table(value: object) -> dict[str, Any]:
    """A JSON object; an empty one in place of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_tables(value: object) -> list[dict[str, Any]]:
    """The objects of a JSON list; none of anything else."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
