"""Parsing of model replies: the JSON object in a reply, and the operations and tags in that object. Pure.

Nothing is repaired: a truncated object is not an object, and a field of the wrong type is refused by name.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast, get_args

from akinai.core.canonical import Json
from akinai.learning.playbook.bullets import OPTIONAL_FIELDS, Verdict
from akinai.learning.playbook.deltas import BulletTag, Operation, OperationType, Refusal

OPENINGS_TRIED = 2_000
"""Opening braces of a reply that are tried as the start of its object."""

_CLOSING_FENCE = re.compile(r"[a-z-]{0,4}\s*(?:`{3}\s*)?")


class UnreadableReply(ValueError):
    """A reply without the object that was asked for. The caller asks again, a limited number of times."""

    def __init__(self, why: str, *, code: str = "bad_field") -> None:
        super().__init__(why)
        self.code = code
        """Stable, for programs: empty, no_object, truncated, bad_field."""

    @property
    def truncated(self) -> bool:
        """Whether the reply ended inside the object."""
        return self.code == "truncated"


def object_in(reply: str, key: str) -> Mapping[str, Json]:
    """The JSON object with this key in a reply, bare, fenced or inside prose; the last of several.

    UnreadableReply when there is none, or when the reply ends inside an object.
    """
    found: Mapping[str, Json] | None = None
    start, tried = reply.find("{"), 0
    while start >= 0 and tried < OPENINGS_TRIED:
        try:
            value, end = _DECODER.raw_decode(reply, start)
        except json.JSONDecodeError as error:
            if _ends_inside(reply, start, error):
                raise UnreadableReply(
                    f"the object that begins at character {start} stops before its end; send it whole", code="truncated"
                ) from None
            end = start + 1
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, dict) and key in value:
                found = cast("dict[str, Json]", value)
        start, tried = reply.find("{", end), tried + 1
    if found is not None:
        return found
    if not reply.strip():
        raise UnreadableReply("the reply is empty; answer with one JSON object", code="empty")
    raise UnreadableReply(f"no JSON object with the key {key!r} in the reply; answer with one", code="no_object")


def read_operations(value: Json, *, key: str = "operations") -> tuple[Operation | Refusal, ...]:
    """The operations of a Curator's answer, in order; an unreadable operation is returned as its refusal."""
    if not _is_list(value):
        return (Refusal(key, "bad_field", f"{key} is {_shown(value)}; give a list of operations"),)
    return tuple(_operation(item, f"{key}[{number}]") for number, item in enumerate(cast("Sequence[Json]", value)))


def read_tags(value: Json, *, key: str = "bullet_tags") -> tuple[BulletTag | Refusal, ...]:
    """The tags of a Reflector's answer, [{"id", "tag"}]; an unreadable tag is returned as its refusal."""
    if not _is_list(value):
        return (Refusal(key, "bad_field", f'{key} is {_shown(value)}; give a list of {{"id", "tag"}}'),)
    return tuple(_bullet_tag(item, f"{key}[{number}]") for number, item in enumerate(cast("Sequence[Json]", value)))


class _BadField(ValueError):
    pass


def _operation(item: Json, place: str) -> Operation | Refusal:
    try:
        fields = _Fields(item)
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
        return Refusal(place, "bad_field", f"{place}{error}")


def _bullet_tag(item: Json, place: str) -> BulletTag | Refusal:
    try:
        fields = _Fields(item)
        id = fields.text("id")
        if not id:
            raise _BadField(".id is missing; give the id of a bullet")
        return BulletTag(id, cast("Verdict", fields.choice("tag", get_args(Verdict), str.lower)))
    except _BadField as error:
        return Refusal(place, "bad_field", f"{place}{error}")


class _Fields:
    """The fields of one item, read by type."""

    def __init__(self, item: Json) -> None:
        if not isinstance(item, Mapping):
            raise _BadField(f" is {_shown(item)}; give an object")
        self._item = item

    def text(self, name: str) -> str | None:
        value = self._item.get(name)
        if value is None or isinstance(value, str):
            return value
        raise _BadField(f".{name} is {_shown(value)}; give a text")

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts; a single text counts as a list of one text. None when the field is missing."""
        value = self._item.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            value = [value]
        if _is_list(value) and all(isinstance(text, str) for text in cast("Sequence[Json]", value)):
            return tuple(text for text in cast("Sequence[str]", value) if text.strip())
        raise _BadField(f".{name} is {_shown(value)}; give a list of texts")

    def choice(self, name: str, choices: Sequence[str], fold: Callable[[str], str]) -> str:
        value = self.text(name)
        if value is not None and fold(value.strip()) in choices:
            return fold(value.strip())
        raise _BadField(f".{name} is {_shown(self._item.get(name))}; give {', '.join(choices)}")


# An operation has a `type` of its own (ADD, UPDATE or DELETE), so that of the bullet has another name.
_DETAILS = {name: "bullet_type" if name == "type" else name for name in OPTIONAL_FIELDS}


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Models write raw line breaks inside texts, so these are accepted; nothing else is.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, strict=False)


def _ends_inside(reply: str, start: int, error: json.JSONDecodeError) -> bool:
    """Whether an object was well formed until the reply, or the fence around it, ended."""
    if error.msg.startswith("Unterminated string"):
        return True
    if error.msg.startswith("Invalid \\") and len(reply) - error.pos <= 6:
        return True
    return error.pos > start + 1 and _CLOSING_FENCE.fullmatch(reply, error.pos) is not None


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shown(value: Json) -> str:
    """A value as error messages show it."""
    return "missing" if value is None else f"{json.dumps(value, ensure_ascii=False):.80}"
