"""JSON Schemas of the objects that the roles ask for, for providers with structured output. Pure."""

from collections.abc import Mapping, Sequence

from akinai.core.canonical import Json

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

ANSWER = _object(
    {"reasoning": _TEXT, "bullet_ids": _TEXTS, "answer": _TEXT, "actions": _TEXTS}, ("reasoning", "bullet_ids")
)
INSIGHT = _object(
    {**_EXPLANATION, "key_insight": _TEXT, "bullet_tags": _TAGS}, (*_EXPLANATION, "key_insight", "bullet_tags")
)
INSIGHTS = _object(
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
OPERATIONS = _object(
    {"reasoning": _TEXT, "operations": {"type": "array", "items": _OPERATION}}, ("reasoning", "operations")
)
