"""Parsing of operations and tags in the objects of models' replies. A field of a wrong type is refused. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import cast, get_args

from akinai.core.canonical import Json
from akinai.core.replies.objects import only, renamed
from akinai.learning.playbook.bullets import OPTIONAL_FIELDS, Verdict
from akinai.learning.playbook.deltas import BulletTag, Operation, OperationType, Refusal


def read_operations(value: Json, *, key: str = "operations") -> tuple[Operation | Refusal, ...]:
    """The operations of a Curator's answer, in order; an unreadable operation is returned as its refusal."""
    if isinstance(value, Mapping):
        value = [value]
    if not _is_list(value):
        return (Refusal(key, "bad_field", f"{key} is {_quote_value(value)}; give a list of operations"),)
    return tuple(_operation(item, f"{key}[{number}]") for number, item in enumerate(cast("Sequence[Json]", value)))


def read_tags(value: Json, *, key: str = "bullet_tags") -> tuple[BulletTag | Refusal, ...]:
    """The tags of a Reflector's answer, [{"id", "tag"}]; an unreadable tag is returned as its refusal."""
    if not _is_list(value):
        return (Refusal(key, "bad_field", f'{key} is {_quote_value(value)}; give a list of {{"id", "tag"}}'),)
    return tuple(_bullet_tag(item, f"{key}[{number}]") for number, item in enumerate(cast("Sequence[Json]", value)))


class _BadField(ValueError):
    pass


def _operation(item: Json, location: str) -> Operation | Refusal:
    try:
        fields = _Fields(renamed(item, _FIELD_NAMES, _NEAR) if isinstance(item, Mapping) else item)
        details = {name: fields.text(other) for name, other in _DETAILS.items() if fields.text(other)}
        return Operation(
            cast("OperationType", fields.choice("type", get_args(OperationType), str.upper)),
            fields.text("section"),
            fields.text("bullet_id"),
            fields.text("content"),
            fields.texts("keywords"),
            cast("dict[str, str]", details),
            fields.text("reasoning") or fields.text("reason") or "",
            fields.texts("evidence") or (),
        )
    except _BadField as error:
        return Refusal(location, "bad_field", f"{location}{error}")


def _bullet_tag(item: Json, location: str) -> BulletTag | Refusal:
    try:
        fields = _Fields(item)
        id = fields.text("id")
        if not id:
            raise _BadField(".id is missing; give the id of a bullet")
        return BulletTag(id, cast("Verdict", fields.choice("tag", get_args(Verdict), str.lower)))
    except _BadField as error:
        return Refusal(location, "bad_field", f"{location}{error}")


class _Fields:
    """The fields of one item, read by type."""

    def __init__(self, item: Json) -> None:
        if not isinstance(item, Mapping):
            raise _BadField(f" is {_quote_value(item)}; give an object")
        self._item = item

    def text(self, name: str) -> str | None:
        value = only(self._item.get(name))
        if value is None or isinstance(value, str):
            return value
        raise _BadField(f".{name} is {_quote_value(value)}; give a text")

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts; a single text counts as a list of one text. None when the field is missing."""
        value = self._item.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            value = [value]
        if _is_list(value) and all(isinstance(text, str) for text in cast("Sequence[Json]", value)):
            return tuple(text for text in cast("Sequence[str]", value) if text.strip())
        raise _BadField(f".{name} is {_quote_value(value)}; give a list of texts")

    def choice(self, name: str, choices: Sequence[str], fold: Callable[[str], str]) -> str:
        value = self.text(name)
        if value is not None and fold(value.strip()) in choices:
            return fold(value.strip())
        raise _BadField(f".{name} is {_quote_value(self._item.get(name))}; give {', '.join(choices)}")


# An operation has a `type` of its own (ADD, UPDATE or DELETE), so that of the bullet has another name.
_DETAILS = {name: "bullet_type" if name == "type" else name for name in OPTIONAL_FIELDS}


_FIELD_NAMES = {
    "type",
    "section",
    "bullet_id",
    "content",
    "keywords",
    "reasoning",
    "reason",
    "evidence",
    *_DETAILS.values(),
}
_NEAR = {"op": "type", "operation": "type", "action": "type", "id": "bullet_id", "text": "content", "bullet": "content"}


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _quote_value(value: Json) -> str:
    """The first 80 characters of a value as JSON, or "missing", for error messages."""
    return "missing" if value is None else f"{json.dumps(value, ensure_ascii=False):.80}"
