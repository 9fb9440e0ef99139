"""The fault `untidy`: a reply that is one JSON object, in the shapes in which models write objects."""

import json
import pprint
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from akinai.core.models import Reply

Shape = Callable[[dict[str, Any]], str]

_NEAR_NAMES = {"answer": "final_answer", "key_insight": "insight", "operations": "ops", "bullet_ids": "bulletIds"}


def _text(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _draft(fields: dict[str, Any]) -> dict[str, Any]:
    """A draft of the object, with other values and missing fields."""
    return {name: "not sure yet" if isinstance(value, str) else [] for name, value in list(fields.items())[-1:]}


def _example(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: "..." if isinstance(value, str) else ["..."] for name, value in fields.items()}


def _with_commas(fields: dict[str, Any]) -> str:
    """Trailing commas, one field a line."""
    inside = "".join(f"  {json.dumps(name)}: {_text(value)},\n" for name, value in fields.items())
    return f"{{\n{inside}}}"


SHAPES: Mapping[str, Shape] = {
    "fenced": lambda o: f"```json\n{json.dumps(o, indent=2, ensure_ascii=False)}\n```",
    "fenced_plainly": lambda o: f"```\n{_text(o)}\n```",
    "prose_before": lambda o: f"Let me look at the bullets first. None of [1, 2] applies.\n\n{_text(o)}",
    "prose_after": lambda o: f"{_text(o)}\n\nLet me know if {{anything}} is unclear!",
    "prose_around": lambda o: f"Sure! Here it is:\n\n```json\n{_text(o)}\n```\n\nI hope this helps.",
    "draft_before": lambda o: f"First thought: {_text(_draft(o))}\nOn reflection:\n{_text(o)}",
    "example_after": lambda o: f"{_text(o)}\n\n(The form was {_text(_example(o))}.)",
    "trailing_commas": _with_commas,
    "python": lambda o: pprint.pformat(o, width=100, sort_dicts=False),
    "list_of_one": lambda o: _text([o]),  # type: ignore[arg-type]
    "near_names": lambda o: _text({_NEAR_NAMES.get(name, name): value for name, value in o.items()}),
    "thoughts": lambda o: f"<think>\nPerhaps {_text(_draft(o))}? No.\n</think>\n\n{_text(o)}",
    "thoughts_unopened": lambda o: f"Perhaps {_text(_example(o))}? No.\n</think>\n{_text(o)}",
    "wrapped": lambda o: _text({"response": o}),
    "commented": lambda o: _with_commas(o).replace(",\n", ",  // as asked\n"),
    "text_of_json": lambda o: json.dumps(_text(o), ensure_ascii=False),
    "twice": lambda o: f"{_text(o)}\n\nAgain, the same:\n\n{_text(o)}",
    "truncated": lambda o: _text(o)[:-3],
    "two_answers": lambda o: f"{_text(o)}\nor\n{_text(dict.fromkeys(o, 'another'))}",
    "refusal": lambda o: "I'm sorry, but I can't answer that.",
}
"""By name: a function from the right object to a model's reply. The last three replies cannot be read."""


def untidy(reply: Reply, digest: str) -> Reply:
    """The reply in a shape that the digest of its request chooses. One that is no JSON object is left alone."""
    try:
        value: object = json.loads(reply.text)
    except ValueError:
        return reply
    if reply.calls or not isinstance(value, dict):
        return reply
    fields = cast("dict[str, Any]", value)
    name = [*SHAPES][int(digest[:8], 16) % len(SHAPES)]
    return replace(reply, text=SHAPES[name](fields), finish="length" if name == "truncated" else reply.finish)
