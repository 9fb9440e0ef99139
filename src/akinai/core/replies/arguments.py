"""Reading of the name and the arguments of one call, as models and their servers write them. Pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move
from akinai.core.errors import UnknownName
from akinai.core.replies.lenient_json import Malformed, Unended, decode

TEXT_KEYS = frozenset(
    "reasoning reason thought thoughts thinking explanation rationale analysis reflection justification observation "
    "plan comment comments note notes summary next_steps".split()
)
"""Keys of a reply that hold text beside its action, unless the action has a parameter of that name."""
WRAPPERS = ("arguments", "parameters", "args")
"""Keys that hold the parameters of an action."""
ENCODINGS = 3
"""The number of times that arguments may have been encoded as JSON text."""
_OTHER_WRAPPERS = (
    *WRAPPERS, "params", "input", "kwargs", "action_input", "tool_input", "parameter", "argument", "param", "arg"
)  # fmt: skip
_CALL_NUMBER = re.compile(r":\d+$")
_SEPARATORS = re.compile(r"[.:/]|__")
_ESCAPED = re.compile(r"<\||[{(\[<]")


def read_call(verbs: Verbs, name: object, arguments: object, reply: str) -> Move:
    """The action of a call's name and arguments. `reply` is their text, which an `Unreadable` keeps.

    What the verbs read as it stands is never changed. Else what has one reading is read: a wrapped name, arguments as
    JSON text or in a wrapper, null for an optional parameter, a text beside the parameters.
    """
    given: object = {} if arguments is None or arguments == "" else arguments
    action = verbs.parse(name, given, reply)
    if not isinstance(action, Unreadable) or not isinstance(name, str):
        return Move(action)
    cls = find_verb(verbs, name)
    values = _object(given)
    if cls is None or values is None:
        return Move(action if cls is None else verbs.parse(cls.tool_name(), given, reply))
    action = verbs.parse(cls.tool_name(), values, reply)
    if not isinstance(action, Unreadable):
        return Move(action)
    own = verbs.parameters(cls.tool_name())
    texts: list[object] = []
    for _ in range(ENCODINGS):
        texts += [value for key, value in values.items() if key in TEXT_KEYS - own]
        values = {key: value for key, value in values.items() if key not in TEXT_KEYS - own}
        inner = _unwrapped(cls, values, own)
        if inner is values:
            break
        values = inner
    repaired = verbs.parse(cls.tool_name(), _repaired(cls, values, own), reply)
    return (
        Move(repaired)
        if isinstance(repaired, Unreadable)
        else Move(repaired, "\n".join(filter(None, map(text_of, texts))))
    )


def find_verb(verbs: Verbs, name: str) -> type[Action] | None:
    """The verb of a name, also of one that a model or its server wrapped: `functions.X`, `X<|channel|>commentary`."""
    for spelling in _spellings(name):
        try:
            return verbs.find(spelling)
        except UnknownName:
            continue
    return None


def _spellings(name: str) -> Iterator[str]:
    yield name
    bare = name.strip().strip("`'\"*").removesuffix("()").strip()
    yield bare
    cut = _CALL_NUMBER.sub("", _ESCAPED.split(bare, maxsplit=1)[0].strip())
    yield cut
    yield _SEPARATORS.split(cut)[-1]


def json_value(text: str) -> object:
    """The one JSON value that is the whole text, leniently; several equal ones, or empty ones beside it, count as one.

    ValueError where there is none, or several.
    """
    values, position = list[object](), 0
    while text[position:].strip():
        start = len(text) - len(text[position:].lstrip())
        try:
            value, position = decode(text, start)
        except (Unended, Malformed, RecursionError) as error:
            raise ValueError(str(error)) from error
        if value not in values:
            values.append(value)
    filled = [value for value in values if value != {}] or values[:1]
    if len(filled) != 1:
        raise ValueError("no single value")
    return filled[0]


def _object(arguments: object) -> Mapping[str, Any] | None:
    """Arguments as an object: JSON text is decoded, also several times encoded."""
    for _ in range(ENCODINGS):
        if not isinstance(arguments, str):
            break
        try:
            arguments = json_value(arguments) if arguments.strip() else {}
        except ValueError:
            return None
    return cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else None


def _unwrapped(cls: type[Action], values: Mapping[str, Any], own: frozenset[str]) -> Mapping[str, Any]:
    """The parameters inside a wrapper that is the only key; other values as they are.

    An empty wrapper beside parameters says nothing. A bare value in one is that of the only parameter that is required.
    """
    empty = [key for key in values if key in _OTHER_WRAPPERS and key not in own and values[key] in ({}, None, "", [])]
    if empty:
        return {key: value for key, value in values.items() if key not in empty}
    if len(values) == 1:
        ((key, value),) = values.items()
        if key in _OTHER_WRAPPERS and key not in own:
            inner = _object(value)
            if inner is not None:
                return inner
            required = [name for name, field in cls.model_fields.items() if field.is_required()]
            return {required[0]: value} if len(required) == 1 else values
    return values


def _repaired(cls: type[Action], values: Mapping[str, Any], own: frozenset[str]) -> dict[str, Any]:
    schema: Mapping[str, Any] = cls.tool(inline=True)["parameters"]
    required = {name for name, field in cls.model_fields.items() if field.is_required()}
    required |= {name for name, alias in cls.parameter_aliases.items() if alias.field in required}
    repaired: dict[str, Any] = {}
    for key, value in values.items():
        name = _own_name(key, own, values)
        if value is None and name in own and name not in required:
            continue
        repaired[name] = _decoded(value, schema.get("properties", {}).get(name, {}))
    return repaired


def _own_name(key: str, own: frozenset[str], values: Mapping[str, Any]) -> str:
    """The parameter that a key names in another case or spelling; the key itself where that is no single one."""
    if key in own:
        return key
    folded = _folded(key)
    same = [name for name in own if _folded(name) == folded and name not in values]
    return same[0] if len(same) == 1 and sum(_folded(other) == folded for other in values) == 1 else key


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _decoded(value: object, schema: Mapping[str, Any]) -> object:
    """A value in which objects and lists that arrived as JSON text are decoded, where the schema takes no text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') and schema and not _takes_text(schema):
        try:
            return _decoded(json_value(value), schema)
        except ValueError:
            return value
    if isinstance(value, list) and isinstance(schema.get("additionalProperties"), Mapping):
        rows = cast("list[object]", value)
        return _table(rows) or rows
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        return [_decoded(item, cast("Mapping[str, Any]", items)) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        properties: Mapping[str, Any] = schema.get("properties", {})
        table = cast("Mapping[str, object]", value)
        return {key: _decoded(item, properties.get(key, {})) for key, item in table.items()}
    return cast("object", value)


def _table(rows: Sequence[object]) -> Mapping[str, object] | None:
    """An object from names to numbers that was written as a list: of objects with a name and a number each, or with
    the one as the other's key. None for any other list, and for one that has a name twice."""
    table: dict[str, object] = {}
    for row in rows:
        if not isinstance(row, Mapping):
            return None
        fields = cast("Mapping[str, object]", row)
        names = [value for value in fields.values() if isinstance(value, str)]
        numbers = [value for value in fields.values() if type(value) is int]
        if len(fields) == len(numbers) == 1:
            names = [*fields]
        if len(fields) > 2 or len(names) != 1 or len(numbers) != 1 or names[0] in table:
            return None
        table[names[0]] = numbers[0]
    return table


def _takes_text(schema: Mapping[str, Any]) -> bool:
    variants: Sequence[Mapping[str, Any]] = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if variants:
        return any(map(_takes_text, variants))
    return schema.get("type") == "string" or "enum" in schema or not schema.keys() - {"description", "default"}


def text_of(value: object) -> str:
    """A text, or the texts of a list; anything else as JSON."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return "\n".join(map(text_of, cast("list[object]", value)))
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
