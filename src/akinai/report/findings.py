"""Findings for people: a table of what was assumed and what was true, and a line a type with a mark for each day."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from akinai.core.findings import SEVERITIES, Finding, Severity
from akinai.report.columns import plain, shortened
from akinai.report.tables import label

STYLES: Mapping[Severity, str] = {"minor": "yellow", "serious": "dark_orange", "grave": "bold red"}
MARKS: Mapping[Severity, str] = {"minor": "o", "serious": "#", "grave": "X"}
QUIET = "."
DAY_US = 24 * 60 * 60 * 1_000_000
TABLE_WIDTH = 96
"""Columns below which a finding is told in lines of its own."""
MOST_TEXT = 240
MOST_ENTRIES = 3


def day_of(finding: Finding, start: int) -> int:
    """The day of a finding, counted from 1; `start` is any time of the first, in microseconds since the epoch."""
    return finding.at // DAY_US - start // DAY_US + 1


def findings_table(findings: Sequence[Finding], width: int, *, start: int) -> RenderableType:
    """A row a finding, in their order: day, type, severity, who, entries, what was assumed and what was true.

    `start` is the world's time at its beginning, in microseconds since the epoch. In a narrow place each finding has
    lines of its own.
    """
    if not findings:
        return Text("no findings")
    if width < TABLE_WIDTH:
        return Group(*(_in_lines(one, start) for one in findings))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), width=width)
    table.add_column(Text("day", "bold"), justify="right", no_wrap=True)
    for head in ("type", "severity", "actor", "entries"):
        table.add_column(Text(head, "bold"), no_wrap=True)
    for head in ("assumed", "true"):
        table.add_column(Text(head, "bold"), ratio=1, overflow="fold")
    for one in findings:
        table.add_row(
            Text(str(day_of(one, start))),
            Text(plain(label(one.type))),
            Text(one.severity, STYLES[one.severity]),
            Text(shortened(one.actor, 18)),
            Text(entries_told(one.entries)),
            Text(shortened(one.assumed, MOST_TEXT)),
            Text(shortened(one.true, MOST_TEXT)),
        )
    return table


def entries_told(entries: Sequence[int]) -> str:
    """The entries that show a finding: the first ones, and how many more."""
    shown = ", ".join(map(str, entries[:MOST_ENTRIES]))
    return f"{shown} +{len(entries) - MOST_ENTRIES}" if len(entries) > MOST_ENTRIES else shown


def _in_lines(one: Finding, start: int) -> RenderableType:
    head = Text.assemble(
        (f"day {day_of(one, start)}, {plain(label(one.type))}", "bold"),
        "  ",
        (one.severity, STYLES[one.severity]),
        f"  {shortened(one.actor, 18)}, entries {entries_told(one.entries)}",
    )
    told = (f"assumed: {shortened(one.assumed, MOST_TEXT)}", f"true: {shortened(one.true, MOST_TEXT)}")
    return Group(head, *(Padding(Text(line), (0, 0, 0, 2)) for line in told))


def timeline(findings: Sequence[Finding], days: int, width: int, *, start: int) -> RenderableType:
    """A line a type with a mark for each day, the worst finding's where a day has several; and a line of all.

    Where `days` do not fit into the width a mark stands for several days. `start` is as in `findings_table`.
    """
    if not findings:
        return Text("no findings")
    types = list(dict.fromkeys(one.type for one in findings))
    names = max(len(label(one)) for one in types)
    counts = len(str(len(findings)))
    days = max(days, *(day_of(one, start) for one in findings))
    span = -(-days // max(10, width - names - counts - 4))
    rows = [
        _row(one, [each for each in findings if each.type == one], (names, counts), days, span, start) for one in types
    ]
    scale = Text(f"{' ' * (names + counts + 3)} {_scale(days, span)}", "dim")
    each = "a day" if span == 1 else f"{span} days"
    legend = Text.assemble(
        f"a mark is {each}: ", *((f"{MARKS[one]} {one}  ", STYLES[one]) for one in SEVERITIES), f"{QUIET} nothing"
    )
    return Group(scale, *rows, Text(""), legend)


def _row(type: str, mine: Sequence[Finding], widths: tuple[int, int], days: int, span: int, start: int) -> Text:
    """The marks of one type."""
    worst: dict[int, Severity] = {}
    for one in mine:
        place = (day_of(one, start) - 1) // span
        worst[place] = max(one.severity, worst.get(place, one.severity), key=_rank)
    names, counts = widths
    row = Text(f"{plain(label(type)):{names}}  {len(mine):{counts}}  ")
    for place in range(-(-days // span)):
        severity = worst.get(place)
        row.append(QUIET, "dim") if severity is None else row.append(MARKS[severity], STYLES[severity])
    return row


def _rank(severity: Severity) -> int:
    return SEVERITIES.index(severity)


def _scale(days: int, span: int) -> str:
    """Numbers of days above the marks, every tenth mark."""
    told = ""
    for place in range(0, -(-days // span), 10):
        told = f"{told:{place}}{place * span + 1}"
    return told
