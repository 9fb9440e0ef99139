"""Forms for the actions of a person: made from the schemas of a world's tools, arranged by the world's desk."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from akinai.core.canonical import Json, canonical
from akinai.core.presentation.complaints import words_of
from akinai.core.presentation.desk import Desk, FilledRow, Pick

Kind = Literal[
    "text", "area", "number", "choice", "flag", "rows", "group", "variant", "table", "lines", "list", "pick", "json"
]
LONG_TEXT = 1_000
"""Characters from which a text has a field of several lines."""
FEW = 3
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form."""

    name: str
    kind: Kind
    label: str
    about: str = ""
    required: bool = False
    value: Json = None
    low: float | None = None
    high: float | None = None
    whole: bool = False
    most: int | None = None
    """Characters of a text."""
    choices: tuple[tuple[str, str, str], ...] = ()
    """Values with labels and notes: of a choice, or offered for a text. Of a pick the values are JSON objects."""
    fields: tuple["Field", ...] = ()
    """The fields of a group, or of each row."""
    variants: tuple[tuple[str, tuple["Field", ...]], ...] = ()
    filled: tuple[FilledRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """An action as a form."""

    verb: str
    label: str
    about: str
    fields: tuple[Field, ...]

    @property
    def at_once(self) -> bool:
        """Whether it means something without a field filled in: not where it is made of rows and lists."""
        lists = [field for field in self.fields if field.kind in ("lines", "list")]
        rows = any(field.kind in ("rows", "group", "table") for field in self.fields)
        return not (rows or len(lists) > 1 or any(field.required for field in self.fields))


@dataclass(frozen=True, slots=True)
class FormList:
    """Forms under a heading."""

    title: str
    forms: tuple[Form, ...]


def forms_of(tools: Sequence[Mapping[str, Any]], desk: Desk) -> tuple[Form | None, list[FormList]]:
    """Make the main form, and the other forms by group. `tools` have schemas without `$ref`."""
    forms = {tool["name"]: _form(tool, desk) for tool in tools}
    main = forms.pop(desk.main, None)
    groups: list[FormList] = []
    for group in desk.groups:
        group_forms = tuple(forms.pop(verb) for verb in group.verbs if verb in forms)
        if group_forms:
            groups.append(FormList(group.title, group_forms))
    if forms:
        groups.append(FormList("More" if groups or main else "Actions", tuple(forms.values())))
    return main, groups


def _form(tool: Mapping[str, Any], desk: Desk) -> Form:
    name = str(tool["name"])
    maker = _FieldMaker({pick.fields: pick for pick in desk.picks}, desk.without, desk.rows.get(name, ()))
    about = re.sub(r"(?<!\n)\n(?!\n)", " ", desk.abouts.get(name) or str(tool["description"]))
    return Form(name, desk.labels.get(name) or words_of(name), about, maker.fields(tool["parameters"]))


@dataclass(frozen=True, slots=True)
class _FieldMaker:
    picks: Mapping[tuple[str, ...], Pick]
    without: frozenset[str]
    filled: tuple[FilledRow, ...] = ()

    def fields(self, schema: Schema) -> tuple[Field, ...]:
        """The fields of an object; several that are picked together are one."""
        properties: Mapping[str, Schema] = {
            name: part for name, part in schema.get("properties", {}).items() if name not in self.without
        }
        required: Sequence[str] = schema.get("required", ())
        fields = list(self._pick_fields(properties, required))
        joined = {name for field in fields for name in field.name.split(" ")}
        fields += [
            self._field(name, _without_null(part), name in required)
            for name, part in properties.items()
            if name not in joined
        ]
        return tuple(fields)

    def _pick_fields(self, properties: Mapping[str, Schema], required: Sequence[str]) -> Iterator[Field]:
        for names, pick in self.picks.items():
            if not pick.free and pick.choices and set(names) <= set(properties):
                choices = tuple(
                    (canonical(dict(zip(names, choice.values, strict=True))), choice.label, choice.note)
                    for choice in pick.choices
                )
                yield Field(" ".join(names), "pick", pick.label, required=set(names) <= set(required), choices=choices)

    def _field(self, name: str, schema: Schema, required: bool) -> Field:
        about, value = str(schema.get("description", "")), schema.get("default")
        if "enum" in schema:
            choices = tuple((str(item), str(item).replace("_", " "), "") for item in schema["enum"])
            return Field(name, "choice", words_of(name), about, required, value, choices=choices)
        if "oneOf" in schema:
            return self._variant(name, schema, required)
        match schema.get("type"):
            case "boolean":
                return Field(name, "flag", words_of(name), about, value=value)
            case "integer" | "number" as kind:
                whole = kind == "integer"
                low, high = schema.get("minimum"), schema.get("maximum")
                return Field(name, "number", words_of(name), about, required, value, low, high, whole)
            case "string":
                return self._text(name, schema, required)
            case "array":
                return self._array(name, schema, required)
            case "object" if "properties" in schema:
                return Field(name, "group", words_of(name), about, required, fields=self.fields(schema))
            case "object" if "additionalProperties" in schema:
                label, choices = self._label_and_choices(name, name)
                unit: Schema = schema["additionalProperties"]
                whole = unit.get("type") == "integer"
                return Field(
                    name, "table", label, about, required, low=unit.get("minimum"), whole=whole, choices=choices,
                    filled=self.filled,
                )  # fmt: skip
            case _:
                return Field(name, "json", words_of(name), about, required, value)

    def _text(self, name: str, schema: Schema, required: bool) -> Field:
        label, choices = self._label_and_choices(name, words_of(name))
        most = schema.get("maxLength")
        long = (most or 0) > LONG_TEXT or name in ("content", "text")
        about = str(schema.get("description", ""))
        return Field(
            name, "area" if long else "text", label, about, required, schema.get("default"), most=most, choices=choices
        )

    def _label_and_choices(self, name: str, label: str) -> tuple[str, tuple[tuple[str, str, str], ...]]:
        """The label of a field, and the values to offer for it."""
        if (pick := self.picks.get((name,))) is None:
            return words_of(label), ()
        return pick.label, tuple((str(choice.values[0]), choice.label, choice.note) for choice in pick.choices)

    def _array(self, name: str, schema: Schema, required: bool) -> Field:
        items: Schema = _without_null(schema.get("items", {}))
        about = str(schema.get("description", ""))
        if "properties" in items:
            return Field(name, "rows", words_of(name), about, required, fields=self.fields(items), filled=self.filled)
        label, choices = self._label_and_choices(name, name)
        if "enum" in items:
            choices = tuple((str(item), "", "") for item in items["enum"])
        listed = "enum" in items or (name,) in self.picks
        return Field(name, "list" if listed else "lines", label, about, required, choices=choices)

    def _variant(self, name: str, schema: Schema, required: bool) -> Field:
        variants: list[tuple[str, tuple[Field, ...]]] = []
        for part in schema["oneOf"]:
            kind = str(part["properties"]["type"]["const"])
            if kind in self.without:
                continue
            properties = {key: value for key, value in part["properties"].items() if key != "type"}
            variants.append((kind, self.fields({**part, "properties": properties})))
        return Field(
            name, "variant", words_of(name), str(schema.get("description", "")), required, variants=tuple(variants)
        )


def _without_null(schema: Schema) -> Schema:
    """The schema without the null of a value that may be left out."""
    choices: Sequence[Schema] = schema.get("anyOf", ())
    non_null = [choice for choice in choices if choice.get("type") != "null"]
    return {**schema, **non_null[0], "default": schema.get("default")} if non_null else schema
