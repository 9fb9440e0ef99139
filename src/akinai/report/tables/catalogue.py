"""The catalogue of worlds: a table of all, and a page about each."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from akinai.core.canonical import Json
from akinai.core.presentation.tables import Column
from akinai.core.presentation.words import figure, label
from akinai.core.untrusted.spelling import plain, shorten
from akinai.report.language import fill, translate, translate_sentence, translate_text
from akinai.report.tables.columns import fit_table, translate_line
from akinai.runtime.describe import OF_EVERY_WORLD, ActionInfo, Described, WorldInfo

KINDS = re.compile(r"""(?<!["\w])(?:whole number|number|text|anything|object|name(?=: ))(?!["\w])""")
"""Words for the types of parameters; values between quotes and the names of fields stay."""


class Check(Protocol):
    """A check of an installation, and its result."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def about(self) -> str: ...


OF_A_MODEL = ("model", "server", "advice")
"""Kinds of checks whose names are words, not names of packages and addresses."""


def checks_table(checks: Sequence[Check], width: int) -> Table:
    """A row for each check of an installation."""
    return _prose(
        {
            "": [translate(check.kind) for check in checks],
            "name": [translate(check.name) if check.kind in OF_A_MODEL else check.name for check in checks],
            "state": [translate(check.state) for check in checks],
            "found": [translate_sentence(check.about) for check in checks],
        },
        width,
    )


def worlds_table(worlds: Sequence[WorldInfo], width: int) -> Table:
    """A row for each world, with the players of its own."""
    return _prose(
        {
            "world": [world.world for world in worlds],
            "who acts": [translate(world.who) for world in worlds],
            "presets": [", ".join(preset.name for preset in world.presets) for world in worlds],
            "players": [
                ", ".join(agent.name for agent in world.agents if agent.name not in OF_EVERY_WORLD) for world in worlds
            ],
            "about": [translate_text(world.about) for world in worlds],
        },
        width,
    )


def world_page(world: WorldInfo, width: int) -> RenderableType:
    """The page of a world: presets, agents, actions, settings and lists such as a catalogue of products."""
    default, *further = world.agents
    agents = [
        Described(default.name, f"{translate_text(default.about)} {translate('(the default)')}".strip()),
        *further,
    ]
    settings = {
        "setting": [setting.name for setting in world.settings],
        "default": [_short(setting.default) for setting in world.settings],
        "about": [translate_text(setting.about) for setting in world.settings],
    }
    parts: list[RenderableType] = [
        Text.assemble((world.world, "bold"), f"  {translate_line(world.about)}"),
        Text(plain(fill("who acts: {who}; first {actors}", who=translate(world.who), actors=", ".join(world.actors)))),
        *_part("Presets (--preset NAME, or a path ending in .toml)", _named(world.presets, width)),
        *_part("Agents (--agent NAME)", _named(agents, width)),
        *_part("Actions", _prose(
            {
                "action": [action.name for action in world.actions],
                "parameters": [_parameters(action) for action in world.actions],
                "about": [translate_text(action.about) for action in world.actions],
            },
            width,
        )),
        *_part("Settings (--set NAME=VALUE)", _prose(settings, width)),
    ]  # fmt: skip
    for name, rows in world.lists.items():
        parts += _part(name, _records(rows, width))
    return Group(*parts)


def _part(title: str, table: RenderableType) -> list[RenderableType]:
    return [Text(""), Text(translate_line(title), "bold"), Text(""), table]


def _named(things: Sequence[Described], width: int) -> Table:
    return _prose(
        {"name": [thing.name for thing in things], "about": [translate_text(thing.about) for thing in things]}, width
    )


def _prose(columns: Mapping[str, Sequence[str]], width: int) -> Table:
    """A table whose last column is prose, and so are others with long cells."""
    *_, last = columns
    longest = {name: max(map(len, cells), default=0) for name, cells in columns.items()}
    most = width // (len(columns) + 1)
    return fit_table(
        [
            Column(name, cells, words=True, prose=name == last or longest[name] > most)
            for name, cells in columns.items()
        ],
        width,
    )


def _parameters(action: ActionInfo) -> str:
    kinds = ((name, KINDS.sub(lambda kind: translate(kind[0]), text)) for name, text in action.parameters.items())
    return ", ".join(f"{name}: {kind}" for name, kind in kinds)


def _records(rows: Sequence[Mapping[str, Json]], width: int) -> Table:
    """Make a table of the fields of some records that fit, in their order."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [_field(name, [row.get(name) for row in rows], index) for index, name in enumerate(names)]
    return fit_table(columns, width)


def _field(name: str, values: Sequence[Json], index: int) -> Column:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    unit = "cents" if name.endswith("_cents") else ""
    cells = [figure(value, unit) if numbers and isinstance(value, int | float) else _short(value) for value in values]
    return Column(label(name.removesuffix("_cents")), cells, words=not numbers, drop=index)


def _items(value: Sequence[Json] | Mapping[str, Json]) -> str:
    return fill("{count} items", count=len(value))


def _short(value: Json) -> str:
    if isinstance(value, str):
        return shorten(value, 30)
    if isinstance(value, Mapping):
        return f"{{{_items(value)}}}" if len(json.dumps(value)) > 30 else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence) and len(json.dumps(value)) > 30:
        return f"[{_items(value)}]"
    return json.dumps(value, ensure_ascii=False)
