"""The public population format, `businesses/*.yaml` and `customers/*.yaml`, read and written."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import yaml
from pydantic import ValidationError

from akinai.core.canonical import Json
from akinai.core.lessons import RECORD, with_record
from akinai.core.untrusted.spelling import short_repr
from akinai.core.untrusted.yaml_text import YamlError, read_yaml
from akinai.worlds.market.model.setup import Business, Customer, Population

KINDS: Mapping[str, type[Business] | type[Customer]] = {"businesses": Business, "customers": Customer}
ENDINGS = (".yaml", ".yml")


def read_population(texts: Mapping[str, str]) -> Json:
    """The population in a folder's texts by relative path; other files in it are left alone.

    ValueError names the file, the line and the field at fault.
    """
    records: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for name, text in texts.items():
        kind = f"/{name}".split("/")[-2]
        if name.endswith(ENDINGS) and kind in KINDS:
            records[kind].append(_read(name, text, KINDS[kind]))
    if not records["businesses"] and not records["customers"]:
        raise ValueError("there is no businesses/*.yaml and no customers/*.yaml in it; name the folder that holds both")
    try:
        return Population.model_validate(records).model_dump(mode="json")
    except ValidationError as error:  # each is one by itself: what does not fit is between them
        raise ValueError(error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")) from error


def read_ids(texts: Mapping[str, str]) -> Json:
    """The ids in a file, one a line or with commas between them; text after a # is left out."""
    lines = [line.partition("#")[0] for text in texts.values() for line in text.splitlines()]
    ids = [id for line in lines for part in line.split(",") if (id := part.strip())]
    if not ids:
        raise ValueError("there is no id in it; write one a line")
    return [*dict.fromkeys(ids)]


def read_sentences(texts: Mapping[str, str]) -> Json:
    """The bullets in a playbook's JSON as players get them, in their order."""
    bullets: list[Json] = []
    for text in texts.values():
        try:
            document = json.loads(text)
            document = document.get("playbook", document)
            held = [bullet for section in document["sections"] for bullet in section["bullets"]]
            bullets += [with_record(bullet["content"], bullet.get(RECORD) or {}) for bullet in held]
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError("it is no playbook; name the JSON file that a learning wrote") from error
    return bullets


def _read(name: str, text: str, kind: type[Business] | type[Customer]) -> Business | Customer:
    try:
        document = read_yaml(text)
    except YamlError as error:
        line = f", line {error.line}" if error.line else ""
        raise ValueError(f"{name}{line}: {error.problem}") from error
    try:
        return kind.model_validate(document.value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(step) for step in first["loc"]) or "the whole file"
        input_text = "" if first["type"] == "missing" else f", not {short_repr(first['input'])}"
        message = re.sub(r"valid dictionary or instance of \w+", "table of fields", first["msg"])
        why = f"{message[:1].lower()}{message[1:]}{input_text}"
        raise ValueError(f"{name}, line {_line(document.root, first['loc'])}, {field}: {why}") from error


def _line(node: Any, path: Sequence[int | str]) -> int:
    """The line of the node at a path, or of the innermost node on the way that exists."""
    line: int = node.start_mark.line if node else 0
    for step in path:
        inner = next((value for key, value in _children(node) if key == step), None)
        if inner is None:
            break
        node, line = inner, inner.start_mark.line
    return line + 1


def _children(node: Any) -> Iterator[tuple[int | str, Any]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in cast("list[tuple[Any, Any]]", node.value):
            yield str(key.value), value
    elif isinstance(node, yaml.SequenceNode):
        yield from enumerate(cast("list[Any]", node.value))


BASELINES = "baseline_utilities.json"
"""The file of baselines beside the two folders; readers of a population ignore it."""

_PLAIN = re.compile(r"[A-Za-z]\w*(?:[ -]\w+)*", re.ASCII)
_WORDS = frozenset("y yes n no true false on off null".split())
"""Words that YAML reads as another value unless they are quoted."""


def population_texts(people: Population) -> Iterator[tuple[str, str]]:
    """Each file's path in the folder and its text; `read_population` reads the same population back.

    The order within a side is that of the ids, so ids that do not rise come back in another order.
    """
    for folder, side in (("businesses", people.businesses), ("customers", people.customers)):
        for person in side:
            yield f"{folder}/{person.id}.yaml", record_text(person)


def record_text(record: Business | Customer) -> str:
    """One business or customer as YAML."""
    lines: list[str] = []
    for name, value in record.model_dump().items():
        if isinstance(value, Mapping):
            table = cast("Mapping[str, object]", value)
            lines.append(f"{name}:" if table else f"{name}: {{}}")
            lines += [f"  {_scalar(key)}: {_scalar(inner)}" for key, inner in table.items()]
        elif isinstance(value, list | tuple):
            parts = cast("Sequence[object]", value)
            lines.append(f"{name}:" if parts else f"{name}: []")
            lines += [f"- {_scalar(inner)}" for inner in parts]
        else:
            lines.append(f"{name}: {_scalar(value)}")
    return "\n".join(lines) + "\n"


def baselines_text(baselines: Mapping[str, Json]) -> str:
    """The baselines as the public sets keep them."""
    return json.dumps(baselines, indent=2) + "\n"


def _scalar(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            text = format(Decimal(repr(value)), "f")
            return text if "." in text else f"{text}.0"
        case str():
            return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
        case _:
            raise TypeError(f"{type(value).__name__} is nothing that a population holds")


def _quoted(text: str) -> str:
    """A text in double quotes; unprintable characters are escaped."""
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
