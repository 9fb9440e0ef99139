"""The pages that list the settings of a world: each has all of them, in the words of `akinai worlds`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from akinai import worlds
from akinai.core.canonical import Json
from akinai.report.language import translate_text
from akinai.runtime.config.settings import prepare, presets
from akinai.runtime.describe import field_notes

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"vending": "economy.md", "market": "market.md"}


def rows(name: str, language: str) -> Iterator[str]:
    """A row for each setting: its name, what it is where nothing else is said, the presets that set it, what it means."""
    world = worlds.load(name)
    notes = field_notes(world.setup)
    setups = {preset: prepare(world, preset=preset).setup for preset in presets(world)}
    for field, info in world.setup.model_fields.items():
        plain = info.get_default(call_default_factory=True)
        by_value: dict[str, list[str]] = {}
        if not isinstance(plain, BaseModel | dict) and info.default is not None and not info.is_required():
            for preset, setup in setups.items():
                if (value := written(setup.get(field, json_of(plain)))) != written(json_of(plain)):
                    by_value.setdefault(value, []).append(f"`{preset}`")
        sets = "; ".join(f"{', '.join(names)} {value}" for value, names in by_value.items())
        shown = "" if isinstance(plain, BaseModel | dict | tuple) or plain is None or info.is_required() else plain
        default = written(json_of(shown)) if shown != "" else ""
        yield f"| `{field}` | {default} | {sets} | {translate_text(notes[field], language)} |"


def json_of(value: object) -> Json:
    return (
        value
        if isinstance(value, bool | int | float | str)
        else list(value)
        if isinstance(value, tuple)
        else str(value)
    )


def written(value: Json) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case list():
            return f"[{len(value)}]"
        case _:
            return str(value)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", PAGES)
def test_every_setting_of_a_world_has_its_row(name: str, language: str) -> None:
    page = (DOCS / ("ja" if language == "ja" else "") / PAGES[name]).read_text(encoding="utf-8")
    assert not [row for row in rows(name, language) if f"{row}\n" not in page]
