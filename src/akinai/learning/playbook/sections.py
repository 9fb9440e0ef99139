"""The sections of a data set's playbook: packaged definitions, and those of the working folder, which override them."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import cast

from akinai.core.errors import UnknownName, UsageError
from akinai.core.untrusted.spelling import short_repr
from akinai.core.untrusted.yaml_text import YamlError, read_yaml
from akinai.files import read_named
from akinai.learning.playbook.bullets import Section, name_problem

OVERRIDE = Path("config") / "sections.yaml"
"""The definitions of a working folder. They replace packaged ones of the same name."""


def sections_for(data_set: str, folder: Path | str = ".") -> tuple[Section, ...]:
    """The sections of a data set in the working folder `folder`.

    UnknownName with close matches for an unknown data set; UsageError for an invalid file.
    """
    sections = all_sections(folder)
    if data_set not in sections:
        raise UnknownName("sections for the data set", data_set, sections, hint=f"define them in {OVERRIDE}")
    return sections[data_set]


def all_sections(folder: Path | str = ".") -> Mapping[str, tuple[Section, ...]]:
    """The sections of every data set, by its name."""
    packaged = files("akinai.learning.playbook").joinpath("sections.yaml")
    sections = read_sections(packaged.read_text(encoding="utf-8"), "the packaged sections.yaml")
    path = Path(folder) / OVERRIDE
    if path.exists():
        sections |= read_sections(read_named(path), str(path))
    return sections


def read_sections(text: str, file: str) -> dict[str, tuple[Section, ...]]:
    """Definitions in YAML: data set -> list of {name, description}, or of names. `file` is for error messages."""
    try:
        loaded = read_yaml(text).value
    except YamlError as error:
        raise UsageError(f"{file} cannot be read: {error.problem} at {error.position}; mend it") from error
    if not loaded:
        raise UsageError(f"{file} holds no section; write a list of sections under the name of each data set")
    if not isinstance(loaded, Mapping):
        raise UsageError(f"{file} holds {short_repr(loaded)}; write a list of sections under the name of each data set")
    data_sets = cast("Mapping[object, object]", loaded)
    return {str(name): _sections(items, f"{file}, {name}") for name, items in data_sets.items()}


def _sections(items: object, location: str) -> tuple[Section, ...]:
    if not isinstance(items, Sequence) or isinstance(items, str) or not items:
        items_text = short_repr(cast("object", items))
        raise UsageError(
            f"{location}: {items_text} where a list of sections belongs; give each a name and a description"
        )
    sections = tuple(_section(item, location) for item in cast("Sequence[object]", items))
    names = [section.name for section in sections]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{location}: section {repeated!r} stands twice; name each once")
    return sections


def _section(item: object, location: str) -> Section:
    fields = cast("Mapping[object, object]", item) if isinstance(item, Mapping) else {"name": item}
    name, description = fields.get("name"), fields.get("description", "")
    if not isinstance(name, str) or not isinstance(description, str):
        item_text = short_repr(cast("object", item))
        raise UsageError(f"{location}: {item_text} where a section belongs; give a name and a description, both text")
    if why := name_problem(name):
        raise UsageError(f"{location}: a section named {short_repr(name)}; the name {why}")
    return Section(name, description)
