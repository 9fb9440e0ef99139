"""Complaints: what is wrong with the values of an action, in the words of the form that a person fills in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from akinai.core.actions import Action
from akinai.core.canonical import bad_text_in, unfit_in
from akinai.core.presentation.desk import Desk
from akinai.core.untrusted.spelling import short_repr

MOST = 4
"""Faults that are told at once."""
NUMBERS = ("int_", "float_", "decimal_", "finite_")
Path = tuple[str | int, ...]
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why an action cannot be taken with these values."""

    text: str
    """A sentence for each fault."""
    paths: tuple[Path, ...] = ()
    """The values at fault, by names and positions in the parameters."""


def words_of(name: str) -> str:
    """The name of a parameter in words: "supplier_id" is "Supplier"."""
    text = name.removesuffix("_id").replace("_", " ")
    return f"{text[:1].upper()}{text[1:]}"


def complaint_about(verb: type[Action], values: Mapping[str, Any], desk: Desk) -> Complaint | None:
    """The complaint about the values of an action; None where they can be read."""
    if why := unfit_in(values) or bad_text_in(values):
        return Complaint(f"A value {why}.")
    reader = _Reader(verb, verb.tool(inline=True)["parameters"], values, desk)
    faults = [*reader.faults(values, ()), *reader.nameless()]
    return reader.complaint(faults[:MOST]) if faults else None


@dataclass(frozen=True, slots=True)
class _Fault:
    path: Path
    wish: str
    """What the value should be; empty where it is missing."""


@dataclass(frozen=True, slots=True)
class _Reader:
    verb: type[Action]
    schema: Schema
    values: Mapping[str, Any]
    desk: Desk

    def faults(self, values: Mapping[str, Any], within: Path) -> Sequence[_Fault]:
        """The faults of values; `within` is the path of the row that alone they hold."""
        try:
            self.verb.decode(values)
        except ValidationError as error:
            details = cast("Sequence[Mapping[str, Any]]", error.errors(include_url=False))
            if not within and any(str(detail["loc"][0]) not in self._fields for detail in details if detail["loc"]):
                return self._by_row(values) or [self._fault(detail, ()) for detail in details]
            return [self._fault(detail, within) for detail in details]
        except (ValueError, TypeError, RecursionError, OverflowError) as error:
            value = values[str(within[0])] if within else None
            empty = isinstance(value, dict) and "" in cast("dict[str, object]", value).values()
            return (not within and self._by_row(values)) or [
                _Fault(within, "give a number" if empty else str(error)[:300])
            ]
        return ()

    def nameless(self) -> Iterator[_Fault]:
        """Numbers of a table for which nothing is named."""
        yield from (
            _Fault((name,), "") for name, value in self.values.items() if isinstance(value, dict) and "" in value
        )

    @property
    def _fields(self) -> Sequence[str]:
        return (*self.verb.model_fields, *self.verb.parameter_aliases)

    def _by_row(self, values: Mapping[str, Any]) -> Sequence[_Fault]:
        """The faults of the rows of lists and tables, each read alone: an action may read them before it says where."""
        faults: list[_Fault] = []
        for name, value in values.items():
            if isinstance(value, list):
                rows = enumerate(cast("list[object]", value))
                faults += [f for at, row in rows for f in self.faults({**values, name: [row]}, (name, at))]
            elif isinstance(value, dict):
                table = cast("dict[str, object]", value)
                faults += [f for key in table for f in self.faults({**values, name: {key: table[key]}}, (name, key))]
        return faults

    def _fault(self, detail: Mapping[str, Any], within: Path) -> _Fault:
        location = tuple(detail["loc"])
        further = location[2:] if within and location[:1] == within[:1] else location
        path = tuple(self._path((*within, *further)))
        missing = detail["type"] in ("missing", "too_short", "string_too_short") or detail.get("input") in ("", None)
        of_table = (
            len(path) > 1 and isinstance(self.values.get(str(path[0])), dict) and "oneOf" not in self._part(path[0])
        )
        return _Fault(path, _wish(detail) if not missing else "give a number" if of_table else "")

    def complaint(self, faults: Sequence[_Fault]) -> Complaint:
        """The faults in sentences."""
        missing: dict[str, dict[str, None]] = {}
        sentences: dict[str, None] = {}
        for fault in faults:
            row, label = self._row(fault.path), self._label(fault.path)
            if fault.wish:
                where = f"{label} in row {row}" if label and row else label or (f"Row {row}" if row else "")
                sentences[f"{where}{': ' if where else ''}{fault.wish}."] = None
            else:
                missing.setdefault(row, {})[label.lower()] = None
        gaps = [f"{f'Row {row}: ' if row else ''}Give {', '.join(labels)}." for row, labels in missing.items()]
        return Complaint(
            " ".join([*gaps, *sentences]), tuple(dict.fromkeys(fault.path for fault in faults if fault.path))
        )

    def _path(self, location: Sequence[str | int]) -> Iterator[str | int]:
        """The path of a value as it is given: fields under their aliases, without the tags of variants."""
        schema = self.schema
        for step in location:
            properties: Schema = schema.get("properties", {})
            if isinstance(step, int) or "additionalProperties" in schema:
                schema = schema.get("items" if isinstance(step, int) else "additionalProperties", {})
            elif "oneOf" in schema:  # the tag of a variant is no part of the path
                schema = next(part for part in schema["oneOf"] if part["properties"]["type"]["const"] == step)
                continue
            elif not properties or step == "[key]":  # a type among several, or a key itself
                continue
            else:
                step = step if step in properties else step.removesuffix("_cents")
                schema = _without_null(properties.get(step, {}))
            yield step

    def _part(self, name: str | int) -> Schema:
        return self.schema.get("properties", {}).get(name, {})

    def _row(self, path: Path) -> str:
        """The number of a row in a list of several; empty elsewhere."""
        rows = self.values.get(str(path[0])) if len(path) > 1 else None
        at = next(iter(path[1:]), "") if isinstance(rows, list) and len(cast("list[object]", rows)) > 1 else ""
        return str(at + 1) if isinstance(at, int) else ""

    def _label(self, path: Path) -> str:
        names = [step for step in path if isinstance(step, str)]
        if not names or isinstance(path[-1], int):
            return ""
        for pick in self.desk.picks:
            if names[-1] in pick.fields and len(pick.fields) > 1:
                return pick.label
            if pick.fields == (names[0],) and len(names) > 1:  # a key of a table
                labels = {str(choice.values[0]): choice.label for choice in pick.choices}
                return labels.get(names[-1]) or (f"{names[-1]!r:.60}" if names[-1] else pick.label)
            if pick.fields == (names[-1],):
                return pick.label
        return words_of(names[-1])


def _without_null(schema: Schema) -> Schema:
    choices: Sequence[Schema] = schema.get("anyOf", ())
    return next((choice for choice in choices if choice.get("type") != "null"), schema)


def _wish(fault: Mapping[str, Any]) -> str:
    """What a value should be, and what it is."""
    kind, limits, value = str(fault["type"]), cast("Mapping[str, Any]", fault.get("ctx") or {}), fault.get("input")
    found = short_repr(value, 40)
    if kind.startswith(NUMBERS):
        return f"a {'whole ' if kind.startswith('int') else ''}number, not {found}"
    match kind:
        case "greater_than_equal" | "greater_than":
            return f"{'at least' if 'ge' in limits else 'more than'} {limits.get('ge', limits.get('gt'))}, not {found}"
        case "less_than_equal" | "less_than":
            return f"{'at most' if 'le' in limits else 'less than'} {limits.get('le', limits.get('lt'))}, not {found}"
        case "literal_error" | "union_tag_invalid":
            return f"one of {limits.get('expected', limits.get('expected_tags'))}, not {found}"
        case "string_too_long" | "too_long":
            return f"at most {limits.get('max_length')} {'characters' if kind.startswith('string') else 'rows'}"
        case "extra_forbidden":
            return "there is no such value here"
        case "dict_type":
            return f"names with values, not {found}"
        case _:
            text = str(fault["msg"]).removeprefix("Value error, ")
            return f"{text[:1].lower()}{text[1:]}, not {found}"
