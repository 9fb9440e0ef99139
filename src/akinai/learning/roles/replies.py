"""The objects that models reply with: their shapes, their JSON Schemas for providers with structured output, and the
readers of their fields. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast, get_args

from akinai.core.canonical import Json
from akinai.core.replies.objects import Shape, UnreadableReply, only, renamed
from akinai.learning.playbook.bullets import OPTIONAL_FIELDS, Verdict
from akinai.learning.playbook.deltas import BulletTag, Operation, OperationType, Refusal
from akinai.learning.playbook.texts import without_counters

T = TypeVar("T")

ANSWER = Shape(
    ("answer", "actions"),
    ("reasoning", "bullet_ids"),
    {"final_answer": "answer", "action": "actions", "thought": "reasoning", "used_bullets": "bullet_ids"},
    frozenset({"the answer", "the first action"}),
)
INSIGHT = Shape(
    ("key_insight",),
    ("error_identification", "root_cause_analysis", "correct_approach"),
    {
        "insight": "key_insight",
        "error": "error_identification",
        "root_cause": "root_cause_analysis",
        "tags": "bullet_tags",
    },
)
INSIGHTS = Shape(("insights",), ("reasoning",), {"key_insights": "insights", "tags": "bullet_tags"})
OPERATIONS = Shape(
    ("operations",), ("reasoning",), {"ops": "operations", "changes": "operations"}, frozenset(), "operations", "type"
)


_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}


def _object(properties: Mapping[str, Json], required: Sequence[str]) -> Mapping[str, Json]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [*required],
        "additionalProperties": False,
    }


_TAGS: Json = {
    "type": "array",
    "items": _object(
        {"id": _TEXT, "tag": {"type": "string", "enum": ["helpful", "harmful", "neutral"]}}, ("id", "tag")
    ),
}
_EXPLANATION: Mapping[str, Json] = dict.fromkeys(
    ("reasoning", "error_identification", "root_cause_analysis", "correct_approach"), _TEXT
)
_ENTRIES: Json = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}
_OPERATION = _object(
    {
        "type": {"type": "string", "enum": ["ADD", "UPDATE", "DELETE"]},
        **dict.fromkeys(("section", "bullet_id", "content", "reasoning"), _TEXT),
        "keywords": _TEXTS,
        "evidence": _TEXTS,
    },
    ("type",),
)

ANSWER_SCHEMA = _object(
    {"reasoning": _TEXT, "bullet_ids": _TEXTS, "answer": _TEXT, "actions": _TEXTS}, ("reasoning", "bullet_ids")
)
INSIGHT_SCHEMA = _object(
    {**_EXPLANATION, "key_insight": _TEXT, "bullet_tags": _TAGS}, (*_EXPLANATION, "key_insight", "bullet_tags")
)
INSIGHTS_SCHEMA = _object(
    {
        **_EXPLANATION,
        "insights": {
            "type": "array",
            "items": _object({"insight": _TEXT, "entries": _ENTRIES}, ("insight", "entries")),
        },
        "bullet_tags": _TAGS,
    },
    ("reasoning", "insights", "bullet_tags"),
)
OPERATIONS_SCHEMA = _object(
    {"reasoning": _TEXT, "operations": {"type": "array", "items": _OPERATION}}, ("reasoning", "operations")
)


def read_operations(value: Json) -> tuple[Operation | Refusal, ...]:
    """The operations of a Curator's answer, in order; an unreadable operation is returned as its refusal."""
    return _read_all([value] if isinstance(value, Mapping) else value, "operations", _operation, "operations")


def read_tags(value: Json) -> tuple[BulletTag | Refusal, ...]:
    """The tags of a Reflector's answer, [{"id", "tag"}]; an unreadable tag is returned as its refusal."""
    return _read_all(value, "bullet_tags", _bullet_tag, '{"id", "tag"}')


def _read_all(value: Json, key: str, read: Callable[[Mapping[str, Json]], T], whole: str) -> tuple[T | Refusal, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return (Refusal(key, "bad_field", f"{key} is {quote_value(value)}; give a list of {whole}"),)
    items: list[T | Refusal] = []
    for number, item in enumerate(value):
        location = f"{key}[{number}]"
        try:
            items.append(read(object_field(item, location)))
        except UnreadableReply as error:
            text = str(error) if str(error).startswith(location) else f"{location}.{error}"
            items.append(Refusal(location, "bad_field", text))
    return tuple(items)


def _operation(item: Mapping[str, Json]) -> Operation:
    fields = renamed(item, _FIELD_NAMES, _NEAR)
    content = _text(fields, "content")
    details = {name: text for name, other in _DETAILS.items() if (text := text_in(fields, other))}
    operation = cast("OperationType", _choice(fields, "type", get_args(OperationType), str.upper))
    return Operation(
        operation,
        _text(fields, "section"),
        None if operation == "ADD" else _text(fields, "bullet_id"),  # a new bullet gets its own; models copy another's
        None if content is None else without_counters(content),
        texts_in(fields, "keywords"),
        details,
        text_in(fields, "reasoning") or text_in(fields, "reason"),
        texts_in(fields, "evidence") or (),
    )


def _bullet_tag(fields: Mapping[str, Json]) -> BulletTag:
    id = text_in(fields, "id")
    if not id:
        raise UnreadableReply("id is missing; give the id of a bullet")
    return BulletTag(id, cast("Verdict", _choice(fields, "tag", get_args(Verdict), str.lower)))


def object_field(item: Json, location: str, belongs: str = "an object") -> Mapping[str, Json]:
    """An item as an object; UnreadableReply says where something else is."""
    if isinstance(item, Mapping):
        return item
    raise UnreadableReply(f"{location} is {quote_value(item)}; give {belongs}")


def text_in(fields: Mapping[str, Json], name: str) -> str:
    """A text field, or a list of one text; empty where it is missing. UnreadableReply where it is not a text."""
    return _text(fields, name) or ""


def _text(fields: Mapping[str, Json], name: str) -> str | None:
    value = only(fields.get(name))
    if value is None or isinstance(value, str):
        return value
    raise UnreadableReply(f"{name} is {quote_value(value)}; give a text")


def texts_in(fields: Mapping[str, Json], name: str) -> tuple[str, ...] | None:
    """A list of texts without empty ones; a single text counts as a list of one. None when the field is missing."""
    value = fields.get(name)
    if value is None:
        return None
    items = [value] if isinstance(value, str) else value
    if isinstance(items, Sequence) and all(isinstance(item, str) for item in items):
        return tuple(text for text in cast("Sequence[str]", items) if text.strip())
    raise UnreadableReply(f"{name} is {quote_value(value)}; give a list of texts")


def _choice(fields: Mapping[str, Json], name: str, choices: Sequence[str], fold: Callable[[str], str]) -> str:
    value = fold(text_in(fields, name).strip())
    if value in choices:
        return value
    raise UnreadableReply(f"{name} is {quote_value(fields.get(name))}; give {', '.join(choices)}")


def quote_value(value: Json) -> str:
    """The first 80 characters of a value as JSON, or "missing", for error messages."""
    return "missing" if value is None else f"{json.dumps(value, ensure_ascii=False):.80}"


# An operation has a `type` of its own (ADD, UPDATE or DELETE), so that of the bullet has another name.
_DETAILS = {name: "bullet_type" if name == "type" else name for name in OPTIONAL_FIELDS}
_FIELD_NAMES = {
    *("type", "section", "bullet_id", "content", "keywords", "reasoning", "reason", "evidence"),
    *_DETAILS.values(),
}
_NEAR = {"op": "type", "operation": "type", "action": "type", "id": "bullet_id", "text": "content", "bullet": "content"}
