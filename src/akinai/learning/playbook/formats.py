"""Playbooks as JSON, YAML and texts. The schema of a file is checked when it is read."""

import codecs
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, cast

from akinai.core.canonical import Json, bad_text_in, no_constant
from akinai.core.errors import UsageError, why_unreadable
from akinai.core.untrusted.spelling import short_repr
from akinai.core.untrusted.yaml_text import YamlError, read_yaml
from akinai.learning.playbook.atomic import read_playbook_file, write_atomically
from akinai.learning.playbook.bullets import Bullet, Playbook, Section, id_number, id_problem, name_problem
from akinai.learning.playbook.errors import CorruptPlaybook, EmptyPlaybook, NewerPlaybook
from akinai.learning.playbook.keywords import with_keywords
from akinai.learning.playbook.tables import document_of_list, list_of, sections_of_tables
from akinai.learning.playbook.texts import dumps_text, is_ace, loads_ace, loads_document

SCHEMA = 1
"""The schema that is written; a file with a higher number is refused."""

YAML_ENDINGS = (".yaml", ".yml")
TEXT_ENDINGS = (".txt", ".md", ".mdc", ".markdown", ".cursorrules", ".windsurfrules", ".clinerules")
"""The file name endings of ACE's text and of others, which hold ids, counters and contents at most."""
ENDINGS = (".json", *YAML_ENDINGS, *TEXT_ENDINGS)

_MAY_HIDE_BAD_TEXT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def dumps(playbook: Playbook) -> str:
    """The text of a playbook's file: JSON with one bullet a line and letters unescaped. Equal playbooks give equal
    texts."""
    document: Any = to_json(playbook)
    inner = document if playbook.around is None else document["playbook"]
    sections = [
        _object_text(section, "bullets", _list_text(map(_encode, section["bullets"]), "  "), ", ")
        for section in inner["sections"]
    ]
    text = _object_text(inner, "sections", _list_text(sections, ""), ",\n")
    text = text if inner is document else _object_text(document, "playbook", text, ",\n")
    return f"{text}\n"


def loads(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in a file's text. `file` is its name for error messages.

    CorruptPlaybook names the line and column, or the field, at fault; NewerPlaybook for a newer schema.
    """
    return from_json(parse(text, file), file, may_hold_bad_text=_MAY_HIDE_BAD_TEXT.search(text) is not None)


def parse(text: str, file: str) -> Json:
    """JSON without NaN; CorruptPlaybook names line and column."""
    try:
        return json.loads(text, parse_constant=no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        location = f"line {error.lineno} column {error.colno}"
        raise CorruptPlaybook(file, location, f"no JSON here ({error.msg})") from error
    except ValueError as error:
        raise CorruptPlaybook(file, "a number", why_unreadable(error)) from error
    except RecursionError as error:
        raise CorruptPlaybook(file, "a value", why_unreadable(error)) from error


def dumps_yaml(playbook: Playbook) -> str:
    """The playbook as YAML, in the order of the JSON."""
    import yaml

    dumper = cast("Any", getattr(yaml, "CSafeDumper", yaml.SafeDumper))  # libyaml's where it was built in
    return yaml.dump(to_json(playbook), Dumper=dumper, allow_unicode=True, sort_keys=False, width=2**31 - 1)


def loads_yaml(text: str, file: str = "the playbook") -> Playbook:
    """The playbook in a YAML text; errors as in `loads`."""
    try:
        value = read_yaml(text).value
    except YamlError as error:
        raise CorruptPlaybook(file, error.position, f"no YAML here ({error.problem})") from error
    if why := _unlike_json(value):
        raise CorruptPlaybook(file, "one of its values", why)
    return from_json(cast("Json", value), file)


def import_playbook(path: Path | str) -> Playbook:
    """The playbook in a file. Bullets from a text, which holds no keywords, get default keywords.

    UsageError for a missing file or an unknown ending; CorruptPlaybook names the place at fault.
    """
    path = Path(path)
    ending, data = _ending(path), read_playbook_file(path)
    if data is None:
        raise UsageError(f"no file {str(path)!r}; name one that is there")
    return loads_file(data, path.name, ending)


def loads_file(data: bytes, file: str, ending: str) -> Playbook:
    """The playbook in a file's bytes, in the form that the ending names; JSON for an ending that names none.

    EmptyPlaybook for a file without text; other errors as in `loads`.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorruptPlaybook(file, f"byte {error.start}", "no UTF-8 here") from error
    if not text.strip():
        raise EmptyPlaybook(file)
    if ending in YAML_ENDINGS:
        return loads_yaml(text, file)
    if ending in TEXT_ENDINGS:
        mark = "\ufeff" if data.startswith(codecs.BOM_UTF8) else ""
        return with_keywords(loads_ace(mark + text, file) if is_ace(text) else loads_document(text, file))
    return loads(text, file)


def export_playbook(playbook: Playbook, path: Path | str) -> None:
    """Write a playbook in the form that the ending names.

    A text holds ids, counters and contents at most, a flat list in JSON is one again, and parts of a text that were
    read and have not changed are written as they were, to the byte.
    """
    path = Path(path)
    ending = _ending(path)
    if ending == ".json":
        listed = list_of(playbook)
        text = dumps(playbook) if listed is None else f"{json.dumps(listed, ensure_ascii=False, indent=2)}\n"
    elif ending in YAML_ENDINGS:
        text = dumps_yaml(playbook)
    else:
        text = dumps_text(playbook)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())


def ending_of(path: Path) -> str:
    """The ending of a file's name in small letters; a name that is an ending itself, as of a rule file, is its own."""
    return path.suffix.lower() or path.name.lower()


def _ending(path: Path) -> str:
    if ending_of(path) in ENDINGS:
        return ending_of(path)
    raise UsageError(f"{str(path)!r} names no form of a playbook; end it in one of {', '.join(ENDINGS[:5])}")


def to_json(playbook: Playbook) -> dict[str, Json]:
    """The playbook as JSON-native values."""
    inner: dict[str, Json] = {
        "schema": SCHEMA,
        "metadata": {
            "created_at": playbook.created_at,
            "updated_at": playbook.updated_at,
            "next_id": playbook.next_id,
            **playbook.metadata,
        },
        "sections": [
            {**section_head(section), "bullets": [bullet_json(bullet) for bullet in section.bullets], **section.extra}
            for section in playbook.sections
        ],
        **playbook.extra,
    }
    return inner if playbook.around is None else {"playbook": inner, **playbook.around}


def from_json(value: Json, file: str = "the playbook", *, may_hold_bad_text: bool = True) -> Playbook:
    """The playbook in JSON-native values; errors as in `loads`, which name the field at fault."""
    if may_hold_bad_text and (why := bad_text_in(value)):
        raise CorruptPlaybook(file, "one of its texts", f"a text {why}")
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        value = document_of_list(value, file)
    root, around = _Reader(file, "", value), None
    outer = root
    if "playbook" in root.fields and "sections" not in root.fields:
        around = root.extra({"playbook"})
        root = _Reader(file, "playbook.", root.fields["playbook"])
    if (document := sections_of_tables(root.fields)) is not None:
        root = _Reader(file, root.prefix, document)
    schema = max(root.number("schema", SCHEMA), outer.number("schema", SCHEMA))
    if schema > SCHEMA:
        raise NewerPlaybook(file, schema, SCHEMA)
    metadata = _Reader(file, "metadata.", root.fields.get("metadata", {}))
    sections = tuple(
        _section(_Reader(file, f"sections[{number}].", item)) for number, item in enumerate(root.items("sections"))
    )
    highest = _checked(file, sections)
    return Playbook(
        sections,
        max(metadata.number("next_id", 1), highest + 1),
        metadata.text("created_at"),
        metadata.text("updated_at"),
        metadata.extra({"created_at", "updated_at", "next_id"}),
        root.extra({"schema", "metadata", "sections"}),
        around,
    )


def bullet_json(bullet: Bullet) -> dict[str, Json]:
    """A bullet as the file holds it."""
    fields: dict[str, Json] = {
        "id": bullet.id,
        "section": bullet.section,
        "content": bullet.content,
        "searchable_text": bullet.searchable_text,
        "keywords": [*bullet.keywords],
        "helpful": bullet.helpful,
        "harmful": bullet.harmful,
        "neutral": bullet.neutral,
        "source_trajectory": bullet.source_trajectory,
        **bullet.extra,
    }
    if not bullet.neutral:
        del fields["neutral"]
    return fields


_BULLET_FIELDS = frozenset(bullet_json(Bullet("", "", "", neutral=1)))


def read_bullet(value: Json, file: str, prefix: str, section: str) -> Bullet:
    """The bullet in a file's object. `section` is the section that contains it, and overrides the field."""
    fields = _Reader(file, prefix, value)
    id = fields.text("id", needed=True)
    if why := id_problem(id):
        raise fields.error("id", f"an id (this one {why})")
    return Bullet(
        id,
        section,
        fields.text("content", needed=True),
        fields.texts("keywords"),
        fields.number("helpful", 0),
        fields.number("harmful", 0),
        fields.number("neutral", 0),
        fields.text("source_trajectory"),
        fields.extra(_BULLET_FIELDS),
    )


def section_head(section: Section) -> dict[str, Json]:
    """The name and description of a section."""
    return {"name": section.name, "description": section.description} if section.description else {"name": section.name}


class _Reader:
    """The fields of one object, read by type. `prefix` is the path to the object: "" or "metadata."."""

    def __init__(self, file: str, prefix: str, value: Json) -> None:
        self.file, self.prefix = file, prefix
        if not isinstance(value, Mapping):
            raise CorruptPlaybook(file, prefix.rstrip(".") or "the root", f"{_describe(value)} where an object belongs")
        self.fields = value

    def error(self, name: str, belongs: str) -> CorruptPlaybook:
        return CorruptPlaybook(
            self.file, f"{self.prefix}{name}", f"{_describe(self.fields.get(name))} where {belongs} belongs"
        )

    def text(self, name: str, *, needed: bool = False) -> str:
        value = self.fields.get(name)
        if isinstance(value, str):
            return value
        if value is None and not needed:
            return ""
        raise self.error(name, "a text")

    def texts(self, name: str) -> tuple[str, ...]:
        items = self.items(name)
        if all(isinstance(item, str) for item in items):
            return tuple(cast("Sequence[str]", items))
        raise self.error(name, "a list of texts")

    def number(self, name: str, default: int) -> int:
        value = self.fields.get(name, default)
        if type(value) is int and value >= 0:
            return value
        raise self.error(name, "a whole number of at least 0")

    def items(self, name: str) -> Sequence[Json]:
        value = self.fields.get(name, ())
        if isinstance(value, Sequence) and not isinstance(value, str):
            return value
        raise self.error(name, "a list")

    def extra(self, names: Set[str]) -> dict[str, Json]:
        """The unknown fields, in order."""
        return {name: value for name, value in self.fields.items() if name not in names}


def _section(fields: _Reader) -> Section:
    name = fields.text("name", needed=True)
    if why := name_problem(name):
        raise fields.error("name", f"a name (this one {why})")
    bullets = tuple(
        read_bullet(item, fields.file, f"{fields.prefix}bullets[{number}].", name)
        for number, item in enumerate(fields.items("bullets"))
    )
    return Section(name, fields.text("description"), bullets, fields.extra({"name", "description", "bullets"}))


def _checked(file: str, sections: Sequence[Section]) -> int:
    """The highest number in an id. CorruptPlaybook for a duplicate section or id."""
    names: dict[str, int] = {}
    locations: dict[str, str] = {}
    highest = 0
    for number, section in enumerate(sections):
        if section.name in names:
            raise CorruptPlaybook(file, f"sections[{number}]", f"a second section {section.name!r}")
        names[section.name] = number
        for at, bullet in enumerate(section.bullets):
            location = f"sections[{number}].bullets[{at}]"
            if bullet.id in locations:
                raise CorruptPlaybook(file, location, f"the id {bullet.id!r}, which {locations[bullet.id]} has already")
            locations[bullet.id] = location
            highest = max(highest, id_number(bullet.id))
    return highest


def _object_text(fields: Mapping[str, Json], own: str, text: str, joint: str) -> str:
    """An object, of which the field `own` is a text already."""
    pairs = (f"{_encode(name)}: {text if name == own else _encode(value)}" for name, value in fields.items())
    return f"{{{joint.join(pairs)}}}"


def _list_text(items: Iterable[str], margin: str) -> str:
    lines = ",\n".join(f"{margin}  {item}" for item in items)
    return f"[\n{lines}\n{margin}]" if lines else "[]"


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large")
    return number


def _unlike_json(value: object) -> str | None:
    """The reason why JSON cannot hold a YAML value; None when it can."""
    if isinstance(value, dict):
        fields = cast("dict[object, object]", value)
        if bad_name := next((name for name in fields if not isinstance(name, str)), None):
            return f"the field name {short_repr(bad_name, 80)} is not text; put it in quotes"
        return next((why for item in fields.values() if (why := _unlike_json(item))), None)
    if isinstance(value, list):
        return next((why for item in cast("list[object]", value) if (why := _unlike_json(item))), None)
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return None
    return f"{short_repr(value, 80)} has no place in JSON"


def _describe(value: Json) -> str:
    """A value as error messages show it."""
    return "nothing" if value is None else f"{short_repr(value, 80)}"
