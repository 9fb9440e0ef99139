"""What sets runs apart, for people: two groups compared score by score, two runs entry by entry and day by day."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from akinai.core.canonical import Json
from akinai.core.statistics import Comparison
from akinai.report.columns import Column, fitted, plain, shortened
from akinai.report.tables import ABSENT, figure, label
from akinai.runtime.difference import Day, Difference

LONGEST = 400
"""Characters of a parameter or an outcome that are shown side by side."""
FIRST_DAYS = 5
"""Days that are shown from the first on that differs; then weekly, and the last."""


def comparison(
    names: tuple[str, str],
    scores: Mapping[str, Comparison],
    units: Mapping[str, str],
    needed: Mapping[str, int | None],
    gain: str,
    width: int,
) -> RenderableType:
    """Every score of b against a; `needed` are the seeds for a gain of so much, by score."""
    told = list(scores.items())

    def column(head: str, what: Sequence[float | None], drop: int = 0, sign: bool = True) -> Column:
        cells = [figure(one, units[name], sign=sign) for one, (name, _) in zip(what, told, strict=True)]
        return Column(head, cells, drop=drop)

    columns = [
        Column("score", [label(name) for name in scores], words=True),
        column("difference", [one.difference for _, one in told]),
        column("95 % from", [one.ci95[0] if one.ci95 else None for _, one in told]),
        column("to", [one.ci95[1] if one.ci95 else None for _, one in told]),
        Column("wins", [str(one.wins) for _, one in told]),
        Column("losses", [str(one.losses) for _, one in told]),
        Column("ties", [str(one.ties) for _, one in told], drop=3),
        column("smallest visible", [one.smallest_visible for _, one in told], 1, sign=False),
        Column("p", [_p(one.p) for _, one in told], drop=4),
    ]
    if needed:
        seeds = [figure(needed.get(name), "seeds") for name in scores]
        columns.append(Column(f"seeds for +-{gain}", seeds, drop=2))
    first = told[0][1]
    title = f"{names[1]} against {names[0]}: {first.pairs} {'pair' if first.pairs == 1 else 'pairs'} by seed"
    left_out = _left_out(names, first)
    return Group(
        fitted(columns, width, title + (f" ({left_out})" if left_out else "")), Text(""), Text(verdict(*told[0], units))
    )


def verdict(name: str, one: Comparison, units: Mapping[str, str]) -> str:
    """What one score's comparison says, in a sentence."""
    unit = units[name]
    if one.difference is None:
        return f"{label(name)}: no seed with a value on both sides."
    gain = f"{label(name)} differs by {figure(one.difference, unit, sign=True)} on average"
    if one.ci95 is None:
        return f"{gain}, on one seed: play more to know how sure that is."
    low, high = one.ci95
    between = f"between {figure(low, unit, sign=True)} and {figure(high, unit, sign=True)} at 95 %"
    if low <= 0 <= high and one.smallest_visible:
        seen = f"{one.pairs} pairs show a gain from {figure(one.smallest_visible, unit)} on"
        return f"{gain}, {between}: that may be chance; {seen}."
    return f"{gain}, {between}."


def _p(p: float | None) -> str:
    return ABSENT if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _left_out(names: tuple[str, str], one: Comparison) -> str:
    counts = {
        f"failed in {names[0]} only": one.failed_a,
        f"failed in {names[1]} only": one.failed_b,
        "failed in both": one.failed_both,
        f"played by {names[0]} only": one.only_a,
        f"played by {names[1]} only": one.only_b,
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def difference(two: Difference, width: int) -> RenderableType:
    """The entry in which two runs part, side by side, then days that show what became of it."""
    if two.entry is None:
        return Text(plain(f"{two.a} and {two.b} are equal, entry by entry."))
    where = "before anyone acts: their genesis differs" if two.entry == 0 else f"at entry {two.entry}"
    title = Text(plain(f"{two.a} and {two.b} part {where}."), "bold")
    chosen = chosen_days(two.days)
    shown: list[RenderableType] = [title, Text(""), _side_by_side(two, width)]
    if chosen:
        rows = [(str(one.day), one.a, one.b) for one in chosen]
        if (two.end_a, two.end_b) != (chosen[-1].a, chosen[-1].b):
            rows.append(("end", two.end_a, two.end_b))
        shown += [Text(""), _states(rows, two, width)]
    return Group(*shown)


def chosen_days(days: Sequence[Day]) -> list[Day]:
    """The first days that differ, then one a week, and the last."""
    start = next((i for i, one in enumerate(days) if one.differs), None)
    if start is None:
        return []
    early = list(days[start : start + FIRST_DAYS])
    later = list(days[start + FIRST_DAYS :])
    return [*early, *(one for i, one in enumerate(later, 1) if i % 7 == 0 or i == len(later))]


def _side_by_side(two: Difference, width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, width=width)
    table.add_column()
    for name in (two.a, two.b):
        table.add_column(Text(plain(name), "bold"), ratio=1, overflow="fold")
    a, b = _lines(two.at_a), _lines(two.at_b)
    for name in dict.fromkeys([*a, *b]):
        table.add_row(Text(name, "dim"), *(Text(side.get(name, ABSENT)) for side in (a, b)))
    return table


def _lines(at: Mapping[str, Json] | None) -> dict[str, str]:
    """An entry, or a genesis, in a few named lines."""
    if at is None:
        return {"action": "(the run is over)"}
    if "data" not in at:
        setup = cast("Mapping[str, Json]", at["setup"])
        return {"world": str(at["world"]), "seed": str(at["seed"])} | {
            name: shortened(json.dumps(value, ensure_ascii=False), LONGEST) for name, value in setup.items()
        }
    data = cast("Mapping[str, Any]", at["data"])
    result = data["result"]
    lines = {"time": str(at["created_at"])[:16].replace("T", " "), "actor": str(data["agent_id"])}
    lines["action"] = str(data["request"]["name"])
    for name, value in data["request"]["parameters"].items():
        lines[f"  {name}"] = shortened(value if isinstance(value, str) else json.dumps(value), LONGEST)
    if result["is_error"]:
        lines["refused"] = str(result["error"]["code"])
    return {**lines, "heard": shortened(result["content"], LONGEST)}


def _states(
    rows: Sequence[tuple[str, Mapping[str, Json] | None, Mapping[str, Json] | None]], two: Difference, width: int
) -> Table:
    """Facts that differ somewhere, a row a day: the first run's beside the second's."""
    names = dict.fromkeys(name for _, a, b in rows for name in [*(a or {}), *(b or {})])
    differing = [name for name in names if any((a or {}).get(name) != (b or {}).get(name) for _, a, b in rows)]
    columns = [Column("day", [day for day, _, _ in rows])]
    for place, name in enumerate(differing, 1):
        sides = [(_fact(a, name), _fact(b, name)) for _, a, b in rows]
        left, right = (max(len(side[i]) for side in sides) for i in (0, 1))
        cells = [f"{a:>{left}}  {b:>{right}}" for a, b in sides]
        columns.append(Column(label(name.removesuffix("_cents")), cells, drop=place))
    return fitted(columns, width, f"At the end of the day: {two.a}, then {two.b}")


def _fact(facts: Mapping[str, Json] | None, name: str) -> str:
    value = (facts or {}).get(name)
    if value is None:
        return ABSENT
    if isinstance(value, int | float) and not isinstance(value, bool):
        return figure(value, "cents" if name.endswith("_cents") else "")
    return shortened(value if isinstance(value, str) else json.dumps(value), 20)
