"""Two runs side by side: the first entry that differs, then the days after it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from akinai.analysis.diff import DayDiff, Diff
from akinai.core.canonical import Json
from akinai.core.chance import Sealed
from akinai.core.presentation.tables import Column
from akinai.core.presentation.words import ABSENT, figure, label
from akinai.core.untrusted.spelling import shorten
from akinai.report.language import translate
from akinai.report.tables.columns import fit_table, translate_line

LONGEST = 400
"""Characters of a parameter or an outcome that are shown side by side."""
FIRST_DAYS = 5
"""Days shown in full, from the first that differs on; then one a week, and the last."""


def diff_page(diff: Diff, width: int) -> RenderableType:
    """The page of two runs: the first entry in which they differ, side by side, then days after it."""
    if diff.entry is None:
        return Text(translate_line(f"{diff.a} and {diff.b} are equal, entry by entry."))
    where = "before anyone acts: their genesis differs" if diff.entry == 0 else f"at entry {diff.entry}"
    title = Text(translate_line(f"{diff.a} and {diff.b} part {where}."), "bold")
    days = days_to_show(diff.days)
    parts: list[RenderableType] = [title, Text(""), _side_by_side(diff, width)]
    if days:
        rows = [(str(day.day), day.a, day.b) for day in days]
        if (diff.end_a, diff.end_b) != (days[-1].a, days[-1].b):
            rows.append((translate("end"), diff.end_a, diff.end_b))
        parts += [Text(""), _states(rows, diff, width)]
    return Group(*parts)


def days_to_show(days: Sequence[DayDiff]) -> list[DayDiff]:
    """The first days that differ, then one a week, and the last."""
    start = next((i for i, day in enumerate(days) if day.differs), None)
    if start is None:
        return []
    early = list(days[start : start + FIRST_DAYS])
    later = list(days[start + FIRST_DAYS :])
    return [*early, *(day for i, day in enumerate(later, 1) if i % 7 == 0 or i == len(later))]


def _side_by_side(diff: Diff, width: int) -> Table:
    a, b = _lines(diff.at_a), _lines(diff.at_b)
    names = list(dict.fromkeys([*a, *b]))
    sides = [
        Column(run, [side.get(name, ABSENT) for name in names], words=True, prose=True)
        for run, side in ((diff.a, a), (diff.b, b))
    ]
    return fit_table([Column("", [*map(translate, names)], words=True), *sides], width)


def _lines(at: Mapping[str, Json] | None) -> dict[str, str]:
    """An entry, or a genesis, in a few named lines."""
    if at is None:
        return {"action": translate("(the run is over)")}
    if "data" not in at:
        setup = cast("Mapping[str, Json]", at["setup"])
        return {"world": str(at["world"]), "seed": _game(at)} | {
            name: shorten(json.dumps(value, ensure_ascii=False), LONGEST) for name, value in setup.items()
        }
    data = cast("Mapping[str, Any]", at["data"])
    result = data["result"]
    lines = {"time": str(at["created_at"])[:16].replace("T", " "), "actor": str(data["agent_id"])}
    lines["action"] = str(data["request"]["name"])
    for name, value in data["request"]["parameters"].items():
        lines[f"  {name}"] = shorten(value if isinstance(value, str) else json.dumps(value), LONGEST)
    if result["is_error"]:
        lines["refused"] = str(result["error"]["code"])
    return {**lines, "outcome": shorten(result["content"], LONGEST)}


def _game(at: Mapping[str, Json]) -> str:
    """The seed of a genesis, or its number under a key."""
    sealed = Sealed.of_card(at)
    return sealed.label if sealed else str(at["seed"])


def _states(
    rows: Sequence[tuple[str, Mapping[str, Json] | None, Mapping[str, Json] | None]], diff: Diff, width: int
) -> Table:
    """Facts that differ on some day, one row per day: the first run's value, then the second's."""
    names = dict.fromkeys(name for _, a, b in rows for name in [*(a or {}), *(b or {})])
    differing = [name for name in names if any((a or {}).get(name) != (b or {}).get(name) for _, a, b in rows)]
    columns = [Column("day", [day for day, _, _ in rows])]
    for index, name in enumerate(differing, 1):
        sides = [(_fact(a, name), _fact(b, name)) for _, a, b in rows]
        left, right = (max(len(side[i]) for side in sides) for i in (0, 1))
        cells = [f"{a:>{left}}  {b:>{right}}" for a, b in sides]
        columns.append(Column(label(name.removesuffix("_cents")), cells, drop=index))
    return fit_table(columns, width, f"At the end of the day: {diff.a}, then {diff.b}")


def _fact(facts: Mapping[str, Json] | None, name: str) -> str:
    value = (facts or {}).get(name)
    if value is None:
        return ABSENT
    if isinstance(value, int | float) and not isinstance(value, bool):
        return figure(value, "cents" if name.endswith("_cents") else "")
    return shorten(value if isinstance(value, str) else json.dumps(value), 20)
