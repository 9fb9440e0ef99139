"""Worlds as people read of them before they play."""

import json
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from akinai.core.canonical import Json
from akinai.report.columns import Column, fitted, plain, shortened
from akinai.report.tables import figure, label
from akinai.runtime.about import About, Told, ToldAction


def worlds_table(worlds: Sequence[About], width: int) -> Table:
    """A row a world."""
    return _prose(
        {
            "world": [one.world for one in worlds],
            "who acts": [", ".join(one.actors) for one in worlds],
            "presets": [", ".join(preset.name for preset in one.presets) for one in worlds],
            "agents": [", ".join(agent.name for agent in one.agents) for one in worlds],
            "about": [one.about for one in worlds],
        },
        width,
    )


def world_page(one: About, width: int) -> RenderableType:
    """Everything about a world."""
    agents = [
        Told(agent.name, f"{agent.about} {'' if i else '(the default)'}".strip()) for i, agent in enumerate(one.agents)
    ]
    settings = {
        "setting": [setting.name for setting in one.settings],
        "default": [_short(setting.default) for setting in one.settings],
        "about": [setting.about for setting in one.settings],
    }
    shown: list[RenderableType] = [
        Text.assemble((one.world, "bold"), f"  {plain(one.about)}"),
        Text(f"acts first: {', '.join(one.actors)}"),
        *_part("Presets (--preset NAME, or a path ending in .toml)", _named(one.presets, width)),
        *_part("Agents (--agent NAME)", _named(agents, width)),
        *_part("Actions", _prose(
            {
                "action": [action.name for action in one.actions],
                "parameters": [_parameters(action) for action in one.actions],
                "about": [action.about for action in one.actions],
            },
            width,
        )),
        *_part("Settings (--set NAME=VALUE)", _prose(settings, width)),
    ]  # fmt: skip
    for name, rows in one.lists.items():
        shown += _part(name, _records(rows, width))
    return Group(*shown)


def _part(title: str, table: RenderableType) -> list[RenderableType]:
    return [Text(""), Text(plain(title), "bold"), Text(""), table]


def _named(things: Sequence[Told], width: int) -> Table:
    return _prose({"name": [one.name for one in things], "about": [one.about for one in things]}, width)


def _prose(columns: Mapping[str, Sequence[str]], width: int) -> Table:
    """Columns of which the last is prose and takes the room that is left."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), width=width)
    *narrow, last = columns
    for name in narrow:
        longest = max((len(cell) for cell in columns[name]), default=0)
        table.add_column(
            Text(name, "bold"), overflow="fold", max_width=max(10, width // 3), no_wrap=longest <= width // 4
        )
    table.add_column(Text(last, "bold"), ratio=1, overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(plain(cell)) for cell in row))
    return table


def _parameters(action: ToldAction) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in action.parameters.items())


def _records(rows: Sequence[Mapping[str, Json]], width: int) -> Table:
    """Records as a table: the fields that fit, in their order."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [_field(name, [row.get(name) for row in rows], place) for place, name in enumerate(names)]
    return fitted(columns, width)


def _field(name: str, values: Sequence[Json], place: int) -> Column:
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    unit = "cents" if name.endswith("_cents") else ""
    cells = [figure(one, unit) if numbers and isinstance(one, int | float) else _short(one) for one in values]
    return Column(label(name.removesuffix("_cents")), cells, words=not numbers, drop=place)


def _short(value: Json) -> str:
    if isinstance(value, str):
        return shortened(value, 30)
    if isinstance(value, Mapping):
        return f"{{{len(value)} items}}" if len(json.dumps(value)) > 30 else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence) and len(json.dumps(value)) > 30:
        return f"[{len(value)} items]"
    return json.dumps(value, ensure_ascii=False)
