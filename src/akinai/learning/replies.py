"""Reading what a model answers: the JSON object in a reply, and the operations and tags in that object. Pure.

Nothing is repaired: an object that stops early is no object, and a field of the wrong type is named and refused.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast, get_args

from akinai.core.canonical import Json
from akinai.learning.deltas import BulletTag, Operation, OperationType, Refusal
from akinai.learning.playbook import OPTIONAL_FIELDS, Verdict

OPENINGS_TRIED = 2_000
"""Opening braces of a reply that are tried as the beginning of its object."""

_AT_THE_END = re.compile(r"[a-z-]{0,4}\s*(?:`{3}\s*)?")


class UnreadableReply(ValueError):
    """A reply without the object that was asked for. Ask again; a second one counts as a failure."""

    def __init__(self, why: str, *, truncated: bool = False) -> None:
        super().__init__(why)
        self.truncated = truncated
        """The object began and the reply ended before it did."""


def object_in(reply: str, key: str) -> Mapping[str, Json]:
    """The JSON object with this key in a reply: pure, fenced, or with prose around it; of several the last.

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
                    f"the object that begins at character {start} stops before its end; send it whole", truncated=True
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
    said = "the reply is empty" if not reply.strip() else f"no JSON object with the key {key!r} in the reply"
    raise UnreadableReply(f"{said}; answer with one")


def read_operations(value: Json, *, key: str = "operations") -> tuple[Operation | Refusal, ...]:
    """The operations of a Curator's answer, in their order; one that cannot be read stands as its refusal."""
    if not _is_list(value):
        return (Refusal(key, "bad_field", f"{key} is {_told(value)}; give a list of operations"),)
    return tuple(_operation(item, f"{key}[{number}]") for number, item in enumerate(cast("Sequence[Json]", value)))


def read_tags(value: Json, *, key: str = "bullet_tags") -> tuple[BulletTag | Refusal, ...]:
    """The tags of a Reflector's answer, [{"id", "tag"}]; one that cannot be read stands as its refusal."""
    if not _is_list(value):
        return (Refusal(key, "bad_field", f'{key} is {_told(value)}; give a list of {{"id", "tag"}}'),)
    return tuple(_bullet_tag(item, f"{key}[{number}]") for number, item in enumerate(cast("Sequence[Json]", value)))


class _BadField(ValueError):
    pass


def _operation(item: Json, place: str) -> Operation | Refusal:
    try:
        fields = _Fields(item)
        details = {name: fields.text(other) for name, other in _DETAILS.items() if fields.text(other)}
        return Operation(
            cast("OperationType", fields.one_of("type", get_args(OperationType), str.upper)),
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
        return BulletTag(id, cast("Verdict", fields.one_of("tag", get_args(Verdict), str.lower)))
    except _BadField as error:
        return Refusal(place, "bad_field", f"{place}{error}")


class _Fields:
    """The fields of one item, each asked for by its type."""

    def __init__(self, item: Json) -> None:
        if not isinstance(item, Mapping):
            raise _BadField(f" is {_told(item)}; give an object")
        self._item = item

    def text(self, name: str) -> str | None:
        value = self._item.get(name)
        if value is None or isinstance(value, str):
            return value
        raise _BadField(f".{name} is {_told(value)}; give a text")

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, or one text as a list of one; None when it is missing."""
        value = self._item.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            value = [value]
        if _is_list(value) and all(isinstance(text, str) for text in cast("Sequence[Json]", value)):
            return tuple(text for text in cast("Sequence[str]", value) if text.strip())
        raise _BadField(f".{name} is {_told(value)}; give a list of texts")

    def one_of(self, name: str, choices: Sequence[str], fold: Callable[[str], str]) -> str:
        value = self.text(name)
        if value is not None and fold(value.strip()) in choices:
            return fold(value.strip())
        raise _BadField(f".{name} is {_told(self._item.get(name))}; give {', '.join(choices)}")


# An operation's own `type` is ADD, UPDATE or DELETE, so the bullet's goes by another name.
_DETAILS = {name: "bullet_type" if name == "type" else name for name in OPTIONAL_FIELDS}


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Raw line breaks inside a text are what models write and mean; nothing else is read loosely.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, strict=False)


def _ends_inside(reply: str, start: int, error: json.JSONDecodeError) -> bool:
    """Whether an object was going well until the reply, or the fence around it, ended."""
    if error.msg.startswith("Unterminated string"):
        return True
    if error.msg.startswith("Invalid \\") and len(reply) - error.pos <= 6:
        return True
    return error.pos > start + 1 and _AT_THE_END.fullmatch(reply, error.pos) is not None


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _told(value: Json) -> str:
    """A value as a message shows it."""
    return "missing" if value is None else f"{json.dumps(value, ensure_ascii=False):.80}"
