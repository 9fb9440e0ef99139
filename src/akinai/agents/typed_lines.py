"""Lines that a person types, read as actions: a name and its values, in order or by name, or JSON."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.errors import UnknownName
from akinai.core.presentation.complaints import complaint_about
from akinai.core.presentation.desk import Desk, Pick
from akinai.core.presentation.voice import Voice
from akinai.core.replies.moves import read_move, read_object

MAX_WORD = 60
"""Characters of a name that completion offers."""
_NAMED = re.compile(r"(\w+)=")
_QUOTED = re.compile(r'"([^"]+)"(=?)')
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an action, as a person types it."""

    name: str
    schema: Schema
    required: bool

    @property
    def usage(self) -> str:
        """Its part of a usage line: in capitals, or in brackets where it is optional."""
        if not self.required:
            row = " ".join(part.usage for part in self.rows)
            return f"[{self.name}={f'{row}; ...' if row else 'A, B' if self.is_list else '...'}]"
        if self.is_table or self.is_list:
            return "NAME=N ..." if self.is_table else "A, B"
        return f"{'|'.join(self.kinds)} ..." if self.kinds else self.name.upper()

    @property
    def is_text(self) -> bool:
        return self.schema.get("type") == "string"

    @property
    def is_list(self) -> bool:
        """Whether it is a list of names or numbers, which a person types with commas between."""
        return self.schema.get("type") == "array" and self._items.get("type") in ("string", "integer")

    @property
    def rows(self) -> "Sequence[Parameter]":
        """The values of each row, where it is a list of objects; a person types rows with semicolons between."""
        return _parameters(self._items) if self.schema.get("type") == "array" and "properties" in self._items else ()

    @property
    def _items(self) -> Schema:
        return self.schema.get("items", {})

    @property
    def is_table(self) -> bool:
        """Whether it maps names of the world to values, such as products to units."""
        return "additionalProperties" in self.schema

    @property
    def kinds(self) -> Mapping[str, Schema]:
        """The variants of an object by their `type`, such as a text or a payment of a message; otherwise empty."""
        variants: Sequence[Schema] = self.schema.get("oneOf", ())
        return {str(kind["properties"]["type"]["const"]): kind for kind in variants if "type" in kind["properties"]}


def parameters_of(verb: type[Action]) -> Sequence[Parameter]:
    """The parameters of an action in the order in which values are read: required ones come first.

    An action whose only parameter is a list of objects, such as slots with prices, is typed as one of them.
    """
    schema = verb.tool(inline=True)["parameters"]
    properties: dict[str, Schema] = {name: _without_null(item) for name, item in schema["properties"].items()}
    if len(properties) == 1:
        (items,) = properties.values()
        if "properties" in (inner := items.get("items", {})):
            return _parameters(inner)
    return _parameters({**schema, "properties": properties})


def _parameters(schema: Schema) -> Sequence[Parameter]:
    required: Sequence[str] = schema.get("required", ())
    parameters = [Parameter(name, _without_null(item), name in required) for name, item in schema["properties"].items()]
    return sorted(parameters, key=lambda parameter: not parameter.required)


def _without_null(schema: Schema) -> Schema:
    """The schema of an optional parameter without its variant for null."""
    choices: Sequence[Schema] = schema.get("anyOf", ())
    variants = [choice for choice in choices if choice.get("type") != "null"]
    return {**schema, **variants[0]} if variants else schema


def usage(verb: type[Action], voice: Voice) -> str:
    """The usage line of an action: its name and its values in order."""
    line = " ".join([verb.tool_name(), *(parameter.usage for parameter in parameters_of(verb))])
    return line.replace("ROW COLUMN", "SLOT") if voice.spots else line


def read_line(verbs: Verbs, line: str, offered: Sequence[type[Action]] = (), voice: Voice = Voice()) -> Action:  # noqa: B008 - it is frozen
    """An action as a person types it. An `Unreadable` says what is wrong.

    `set_price 0 1 1.75`, `set_price row=0 column=1 price=1.75` and `price 0 1 1.75` are the same: a word or the
    beginning of a name is enough where only one of the `offered` actions has it. Where only one of them needs exactly
    one value, the value alone is enough. Names of the `voice` stand for ids and for slots: `price A2 1.75`.
    """
    if line.lstrip().startswith("{"):
        return read_move(verbs, line).action
    word, _, arguments = line.strip().partition(" ")
    try:
        verb = _verb(verbs, word, offered)
        if verb is None:
            verb, arguments = _only_with_a_value(offered), line
        if verb is None:
            return verbs.offering(offered or verbs.classes).parse(word, {}, line)  # which words the refusal
        values = _values(parameters_of(verb), arguments.strip(), voice)
        action = read_object(verbs, {"action": verb.__name__, "arguments": values}, line).action
        return _explained(action, verb, values, voice)
    except ValueError as error:
        return Unreadable.of(line, f"{error}; 'help' shows how actions are typed")


def _explained(action: Action, verb: type[Action], values: Mapping[str, object], voice: Voice) -> Action:
    """An action that cannot be read, with the reason in the words of a form, and the usage."""
    if not isinstance(action, Unreadable):
        return action
    properties: Mapping[str, Schema] = verb.tool(inline=True)["parameters"]["properties"]
    lists = [name for name, schema in properties.items() if schema.get("type") == "array"]
    rows = {lists[0]: [dict(values)]} if len(properties) == len(lists) == 1 and lists[0] not in values else values
    picks = (Pick(("row", "column"), "Slot", ()),) if voice.spots else ()
    complaint = complaint_about(verb, rows, Desk(picks=picks))
    return action.model_copy(update={"why": f"{complaint.text} Usage: {usage(verb, voice)}"}) if complaint else action


def _verb(verbs: Verbs, word: str, offered: Sequence[type[Action]]) -> type[Action] | None:
    """The action that a word names. ValueError where it could be several; None where there is none."""
    try:
        return verbs.find(word)
    except UnknownName:
        matches = _named_by(word, offered)
    if len(matches) > 1:
        raise ValueError(f"{word!r:.60} could be {' or '.join(verb.tool_name() for verb in matches)}")
    return matches[0] if matches else None


def read_verb(word: str, offered: Sequence[type[Action]]) -> type[Action] | None:
    """The action that a word names, in full or in part; None where no action or several match."""
    exact = [verb for verb in offered if verb.tool_name() == word.lower()]
    matches = exact or _named_by(word, offered)
    return matches[0] if len(matches) == 1 else None


def _named_by(word: str, offered: Sequence[type[Action]]) -> Sequence[type[Action]]:
    name = word.lower().replace("-", "_")
    if not name.strip("_"):
        return ()
    parts = {verb: verb.tool_name().split("_") for verb in offered}
    last = [verb for verb in offered if parts[verb][-1] == name]
    words = [verb for verb in offered if name in parts[verb]]
    return last or words or [verb for verb in offered if verb.tool_name().startswith(name)]


def _only_with_a_value(offered: Sequence[type[Action]]) -> type[Action] | None:
    with_values = [verb for verb in offered if any(parameter.required for parameter in parameters_of(verb))]
    if len(with_values) != 1:
        return None
    return with_values[0] if sum(parameter.required for parameter in parameters_of(with_values[0])) == 1 else None


def _values(parameters: Sequence[Parameter], text: str, voice: Voice) -> dict[str, object]:
    """The values of a line, by parameter. ValueError for a value that fits no parameter."""
    by_name = {parameter.name: parameter for parameter in parameters}
    table = next((item for item in parameters if item.is_table), None)
    values: dict[str, object] = {}
    while text:
        named = _NAMED.match(text)
        waiting = [item for item in parameters if item.name not in values]
        spot = voice.spots.get(text.split()[0].upper(), {})
        key, after_key = _id_at(text, voice, "=") if table else ("", "")
        if spot and spot.keys() <= {item.name for item in waiting}:
            values |= spot
            text = text.partition(" ")[2].lstrip()
        elif named and named[1] in by_name:
            name = named[1]
            last = not any(item.required for item in waiting if item.name != name)
            values[name], text = _named_value(by_name[name], text[named.end() :], voice, by_name, last=last)
        elif table and (key or named):
            if named and not key:
                key, after_key = _id_by_word(named[1], voice), text[named.end() :]
            value, text = _value(None, after_key, voice)
            table_values = values.setdefault(table.name, {})
            if not isinstance(table_values, dict):
                raise ValueError(f"{key}= belongs to {table.name}, which was given already")
            cast("dict[str, object]", table_values)[key] = value
        elif not waiting:
            raise ValueError(f"{text.split()[0]!r:.60} is one value too many")
        elif kinds := waiting[0].kinds:
            values[waiting[0].name], text = _variant(waiting[0], kinds, text, voice)
        else:
            last = len(waiting) == 1 or not waiting[1].required
            if waiting[0].is_list or waiting[0].rows:
                values[waiting[0].name], text = _named_value(waiting[0], text, voice, by_name)
            else:
                values[waiting[0].name], text = _value(waiting[0], text, voice, to_the_end=last)
    return values


def _id_at(text: str, voice: Voice, end: str) -> tuple[str, str]:
    """The id whose name a text begins with, and the text after it; both are empty where there is none."""
    quoted = _QUOTED.match(text)
    if quoted and quoted[2] == end and (id := _id_at(quoted[1], voice, end)[0]):
        return id, text[quoted.end() :].lstrip()
    for id, name in sorted(voice.names.items(), key=lambda item: -len(item[1])):
        after = text[len(name) :]
        if text[: len(name)].casefold() == name.casefold() and (after.startswith(end) or not after):
            return id, after[len(end) :].lstrip()
    return "", ""


def _id_by_word(word: str, voice: Voice) -> str:
    """The id that a word of its name stands for, where no other name has the word; else the word itself."""
    ids = [id for id, name in voice.names.items() if word.casefold() in name.casefold().split()]
    return ids[0] if len(ids) == 1 and word not in voice.names else word


def _variant(parameter: Parameter, kinds: Mapping[str, Schema], text: str, voice: Voice) -> tuple[object, str]:
    """An object of one of several kinds, such as `text Hello` or `payment P-1`; JSON is also accepted."""
    if text.startswith("{"):
        return _value(parameter, text, voice)
    kind, _, arguments = text.partition(" ")
    if kind not in kinds:
        raise ValueError(f"{parameter.name} begins with its type, which is {' or '.join(kinds)}, not {kind!r:.60}")
    fields = [field for field in _parameters(kinds[kind]) if field.name != "type"]
    return {"type": kind, **_values(fields, arguments.strip(), voice)}, ""


def _named_value(
    parameter: Parameter, text: str, voice: Voice, names: Iterable[str], *, last: bool = True
) -> tuple[object, str]:
    """A value, and the text after it. A list ends where one of the `names` follows, and so does a text if it is the
    `last` that is required."""
    words = parameter.is_text and last and "enum" not in parameter.schema
    if text[:1] in ("[", '"') or not (parameter.is_list or parameter.rows or words):
        return _value(parameter, text, voice)
    following = re.search(rf"\s+(?:{'|'.join(map(re.escape, names))})=", text)
    end = following.start() if following else len(text)
    if words:
        return _value(parameter, text[:end], voice, to_the_end=True)[0], text[end:].lstrip()
    parts = [part.strip() for part in text[:end].split(";" if parameter.rows else ",") if part.strip()]
    values = [_values(parameter.rows, part, voice) if parameter.rows else _item(part, voice) for part in parts]
    return values, text[end:].lstrip()


def _item(text: str, voice: Voice) -> object:
    name = text.strip('"')
    return int(name) if name.isdecimal() else _id_at(name, voice, "=")[0] or _id_by_word(name, voice)


def _value(parameter: Parameter | None, text: str, voice: Voice, *, to_the_end: bool = False) -> tuple[object, str]:
    """A value and the text after it. The value is JSON where it begins like JSON, else a word, or the whole text. A
    name that takes the place of an id is read as that id."""
    names_id = parameter is not None and (parameter.name.endswith("_id") or (parameter.is_text and not to_the_end))
    if names_id and (named := _id_at(text, voice, " "))[0]:
        return named
    if text[:1] in ('"', "{", "["):
        value, end = _json(text)
    elif to_the_end and parameter and parameter.is_text:
        value, end = text, len(text)
    else:
        end = len(text.split(maxsplit=1)[0]) if text.strip() and not text[0].isspace() else 0
        value = text[:end] if parameter and parameter.is_text else _plain(text[:end])
    if names_id and isinstance(value, str):
        value = _id_at(value, voice, " ")[0] or _id_by_word(value, voice)
    return value, text[end:].lstrip()


def _json(text: str) -> tuple[object, int]:
    try:
        return json.JSONDecoder().raw_decode(text)
    except ValueError as error:
        raise ValueError(f"a value that begins with {text[0]} should be JSON: {error}") from None


def _plain(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


class SeenValues:
    """The names and values in earlier outcomes, such as products, suppliers and slots, for completion."""

    def __init__(self, voice: Voice = Voice()) -> None:  # noqa: B008 - it is frozen
        self.voice = voice
        self.words: dict[str, None] = {}
        """Names, in the order of their first appearance."""
        self._records: dict[tuple[tuple[str, str], ...], None] = {}

    def add(self, data: object) -> None:
        """Add the names and values in an outcome's data."""
        if isinstance(data, str):
            if 2 < len(data) <= MAX_WORD and not any(map(str.isspace, data)):
                self.words[data] = None
        elif isinstance(data, Mapping):
            record = cast("Mapping[str, object]", data)
            values = {key: str(value) for key, value in record.items() if isinstance(value, str | int)}
            self._records[tuple(values.items())] = None
            for key, value in record.items():
                self.add(key)
                self.add(value)
        elif isinstance(data, Sequence):
            for item in cast("Sequence[object]", data):
                self.add(item)

    def values(self, parameters: Sequence[Parameter]) -> Sequence[str]:
        """The values seen for the first of these parameters, each followed by those of the next ones in the same
        record: "0 1" for a row and a column."""
        texts: dict[str, None] = {}
        if [item.name for item in parameters[:2]] == ["row", "column"]:
            texts |= dict.fromkeys(self.voice.spots)
        for record in map(dict, self._records):
            if values := list(takewhile(bool, (record.get(item.name, "") for item in parameters))):
                texts[" ".join(values)] = None
        return [text for text in texts if len(text) <= MAX_WORD]
