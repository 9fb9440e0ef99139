"""Search for an object of a shape in a model's reply, among thoughts, prose, drafts and examples. Pure.

The object that fits the shape is taken, wherever it is. Nothing is repaired: a reply that ends inside an object is
refused, and so is a reply with several different objects that fit equally well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from akinai.core.canonical import Json
from akinai.core.replies.lenient_json import Malformed, Unended, decode
from akinai.core.replies.thoughts import split_thoughts

OPENINGS_TRIED = 2_000
"""Opening brackets of a reply that are tried as the start of its object."""

_PLACEHOLDER = re.compile(r"\.\.\.|…|<[^<>]*>")
_OPENING = re.compile(r"[\[{]")


class UnreadableReply(ValueError):
    """A reply without the object that was asked for. The caller asks again, a limited number of times."""

    def __init__(self, why: str, *, code: str = "bad_field") -> None:
        super().__init__(why)
        self.code = code
        """Stable, for programs: empty, no_object, truncated, several, bad_field."""

    @property
    def truncated(self) -> bool:
        """Whether the reply ended inside the object."""
        return self.code == "truncated"


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of the object in a role's reply."""

    keys: tuple[str, ...]
    """Deciding fields: an object with at least one of them fits; objects that agree in all of them are equal."""
    fields: tuple[str, ...] = ()
    """The other fields of a complete answer: an object with all of them fits better."""
    near: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other names that models write for a field, in snake case, with the name of the field."""
    samples: frozenset[str] = frozenset()
    """Texts that stand for a value in the prompt's example."""
    items: str = ""
    """The key whose list may stand alone, where its items are objects with `item_key`."""
    item_key: str = ""


def object_in(reply: str, shape: Shape | str) -> Mapping[str, Json]:
    """The object of this shape, or with this key, in a reply: bare, fenced, inside prose, or in a list of one.

    Its fields have the shape's names. UnreadableReply when there is none, when several differ, or when the reply ends
    inside an object.
    """
    shape = Shape((shape,)) if isinstance(shape, str) else shape
    if not reply.strip():
        raise UnreadableReply("the reply is empty; answer with one JSON object", code="empty")
    parts = split_thoughts(reply)
    if parts.unended and not parts.text.strip():
        raise UnreadableReply("the reply ends inside its thoughts; answer with the JSON object alone", code="no_object")
    try:
        return _best_object(parts.text, shape)
    except UnreadableReply as error:
        if error.code != "no_object" or parts.begun or parts.text == reply:
            raise
    return _best_object(reply, shape)  # a mark in its prose, perhaps


def _best_object(text: str, shape: Shape) -> Mapping[str, Json]:
    values = [item.value for item in values_in(unquoted(text))]
    fitting = [fields for value in values for fields in _fitting(value, shape)]
    if not fitting:
        fitting = [fields for value in values for inner in _inside(value) for fields in _fitting(inner, shape)]
    if not fitting:
        raise UnreadableReply(
            f"{fault_in(text) or f'no JSON object with the key {shape.keys[0]!r} in the reply'}; answer with one",
            code="no_object",
        )
    best = max(_fit(fields, shape) for fields in fitting)
    if best == 0:
        raise UnreadableReply("the object holds the example's texts; give your own values")
    fitting = [fields for fields in fitting if _fit(fields, shape) == best]
    if len({json.dumps([fields.get(key) for key in shape.keys], sort_keys=True) for fields in fitting}) > 1:
        raise UnreadableReply(
            f"the reply has {len(fitting)} different objects that could be the answer; send one", code="several"
        )
    return fitting[-1]


@dataclass(frozen=True, slots=True)
class Value:
    """An object or list in a reply, and its position in the text."""

    value: Json
    start: int
    end: int


def values_in(text: str, *, bare_keys: bool = False) -> Iterator[Value]:
    """The outermost objects and lists of a text; `bare_keys` takes keys without quotes.

    UnreadableReply when the text ends inside one.
    """
    opening, tried = _OPENING.search(text), 0
    while opening and tried < OPENINGS_TRIED:
        start = opening.start()
        try:
            value, end = decode(text, start, bare_keys=bare_keys)
        except Unended:
            if text[start] == "{" or text[start + 1 :].lstrip().startswith("{"):
                raise UnreadableReply(
                    f"the object that begins at character {start} stops before its end; send it whole", code="truncated"
                ) from None
            end = start + 1
        except (Malformed, ValueError, RecursionError):
            end = start + 1
        else:
            yield Value(value, start, end)
        opening, tried = _OPENING.search(text, end), tried + 1


def fault_in(text: str) -> str | None:
    """Where the first object of a text stops being JSON, in words for its author; None where none does."""
    for opening in islice(re.finditer(r"\{", text), OPENINGS_TRIED):
        try:
            decode(text, opening.start(), bare_keys=True)
        except Malformed as error:
            end = error.position
            if ":" in text[opening.start() : end]:
                near = re.sub(r"[\s\"',:]+", " ", text[max(opening.start(), end - 24) : end + 12]).strip()
                near = near.partition(" ")[2] or near  # without half a word
                hint = (
                    "; a quotation mark inside a text has a backslash before it"
                    if text[:end].rstrip().endswith('"')
                    else ""
                )
                return f"the object that begins at character {opening.start()} is no JSON near: {near}{hint}"
        except (ValueError, RecursionError):
            continue
        else:
            return None
    return None


def unquoted(text: str) -> str:
    """The text inside a reply that is one JSON string; any other reply as it is."""
    stripped = text.strip()
    if len(stripped) > 1 and stripped.startswith('"') and stripped.endswith('"'):
        with suppress(ValueError):  # an object that was written as a text
            return str(json.loads(stripped))
    return text


def _fitting(value: Json, shape: Shape) -> Iterator[Mapping[str, Json]]:
    """A value as an object of the shape: itself, the item of a list of one, or the list that may stand alone."""
    if isinstance(value, Mapping):
        fields = renamed(value, {*shape.keys, *shape.fields, *shape.near.values()}, shape.near)
        if any(key in fields for key in shape.keys):
            yield fields
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        items = cast("list[Mapping[str, Json]]", value)
        if shape.items and all(shape.item_key in item for item in items):
            yield {shape.items: cast("Json", items)}
        elif len(items) == 1:
            yield from _fitting(items[0], shape)


def _inside(value: Json) -> Iterator[Json]:
    """The objects one level inside an object: a wrapper such as {"response": {...}}."""
    if isinstance(value, Mapping):
        yield from (inner for inner in value.values() if isinstance(inner, Mapping))


def _fit(fields: Mapping[str, Json], shape: Shape) -> int:
    """3 for an object with all fields, 2 for one with a key, 1 and 0 for placeholders."""
    if any(_is_sample(fields[key], shape) for key in shape.keys if key in fields):
        return 0
    texts = [value for key in shape.keys if isinstance(value := fields.get(key), str)]
    if any(_PLACEHOLDER.fullmatch(text.strip()) for text in texts):
        return 1
    return 3 if all(name in fields for name in shape.fields) else 2


def _is_sample(value: Json, shape: Shape) -> bool:
    """Whether a value is that of the prompt's example, such as "...", or a list of such values."""
    if isinstance(value, str):
        return value.strip() in ("...", "…") or value in shape.samples
    if isinstance(value, Mapping):
        return any(_is_sample(value[key], shape) for key in ("content", "insight") if key in value)
    return isinstance(value, list) and bool(value) and all(_is_sample(item, shape) for item in value)


def renamed(value: Mapping[str, Json], names: set[str], near: Mapping[str, str]) -> Mapping[str, Json]:
    """The object with its keys in snake case where that is one of `names`, and with `near` names replaced. A field that
    already has a right name wins."""
    if value.keys() <= names:
        return value
    fields = dict(value)
    for name in value:
        if name in names:
            continue
        snake = _snake_case(name)
        field_name = snake if snake in names else near.get(snake, "")
        if field_name and field_name not in fields:
            fields[field_name] = fields.pop(name)
    return fields


def _snake_case(name: str) -> str:
    return "_".join(re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def only(value: Json) -> Json:
    """The item of a list of one; any other value as it is."""
    return cast("Sequence[Json]", value)[0] if isinstance(value, list) and len(value) == 1 else value
