"""Findings as terminal text: a table of what was assumed and what was true, and a timeline with a mark for each day."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.text import Text

from akinai.core.findings import SEVERITIES, Finding, Severity
from akinai.core.ledger import DAY_US
from akinai.core.presentation.tables import Column
from akinai.core.presentation.words import label
from akinai.core.untrusted.spelling import plain, shorten, with_name
from akinai.report.language import fill, translate, translate_record
from akinai.report.language.lines import columns
from akinai.report.tables.columns import fit_table

STYLES: Mapping[Severity, str] = {"minor": "yellow", "serious": "dark_orange", "grave": "bold red"}
MARKS: Mapping[Severity, str] = {"minor": "o", "serious": "#", "grave": "X"}
QUIET = "."
MAX_TEXT = 240
MAX_ACTOR = 32
MAX_ENTRIES = 3


def day_of(finding: Finding, start: int) -> int:
    """The day of a finding from 1; `start` is any time on day 1, in microseconds since the epoch."""
    return finding.at // DAY_US - start // DAY_US + 1


def listed_findings(
    findings: Sequence[Finding],
    width: int,
    *,
    start: int,
    names: Mapping[str, str] = MappingProxyType({}),
    command: str = "",
) -> RenderableType:
    """A row for each finding: day, type, severity, actor, entries, what was assumed, what was true and what was
    thought; mistakes first, then conduct.

    `start` is the world's time at its beginning, in microseconds since the epoch; `names` are those of actors. What was
    true ends with the command that opens its last entry: `command`, such as "akinai show RUN", with the entry's number.
    """
    if not findings:
        return Text(translate("no findings"))
    mistakes = [finding for finding in findings if not finding.is_conduct]
    conduct = [finding for finding in findings if finding.is_conduct]

    def opening(finding: Finding) -> str:
        return f" ({command} --entry {finding.entries[-1]})" if command else ""

    def table(findings: Sequence[Finding]) -> RenderableType:
        return _table(findings, width, start, names, opening)

    if mistakes and conduct:
        return Group(table(mistakes), Text(f"\n{translate('conduct')}"), table(conduct))
    return table(findings)


def _table(
    findings: Sequence[Finding],
    width: int,
    start: int,
    names: Mapping[str, str],
    opening: Callable[[Finding], str],
) -> RenderableType:
    """The rows of a family of findings."""
    thoughts = [_short(finding.thought) for finding in findings]
    return fit_table(
        [
            Column("day", [day_of(finding, start) for finding in findings]),
            Column("type", [translate(label(finding.type)) for finding in findings], words=True),
            Column("severity", [translate(finding.severity) for finding in findings], words=True),
            Column("actor", [shorten(with_name(finding.actor, names), MAX_ACTOR) for finding in findings], True, 2),
            Column("entries", [short_entries(finding.entries) for finding in findings], words=True, drop=1),
            Column("assumed", [_short(finding.assumed) for finding in findings], words=True, prose=True),
            Column("true", [f"{_short(of.true)}{opening(of)}" for of in findings], words=True, prose=True),
            *([Column("thought", thoughts, words=True, prose=True)] if any(thoughts) else []),
        ],
        width,
    )


def _short(text: str) -> str:
    return shorten(translate_record(text), MAX_TEXT)


def short_entries(entries: Sequence[int]) -> str:
    """The first entries that show a finding, and how many more there are."""
    first = ", ".join(map(str, entries[:MAX_ENTRIES]))
    return f"{first} +{len(entries) - MAX_ENTRIES}" if len(entries) > MAX_ENTRIES else first


def timeline(findings: Sequence[Finding], days: int, width: int, *, start: int) -> RenderableType:
    """A line for each type, with the mark of each day's worst finding, and a legend.

    If `days` do not fit into the width, a mark stands for several days. `start` is as in `listed_findings`.
    """
    if not findings:
        return Text(translate("no findings"))
    types = list(dict.fromkeys(finding.type for finding in findings))
    names = max(columns(translate(label(kind))) for kind in types)
    counts = len(str(len(findings)))
    days = max(days, *(day_of(finding, start) for finding in findings))
    span = -(-days // max(10, width - names - counts - 4))
    by_type = {kind: [finding for finding in findings if finding.type == kind] for kind in types}
    rows = [_row(kind, of_type, (names, counts), days, span, start) for kind, of_type in by_type.items()]
    scale = Text(f"{' ' * (names + counts + 3)} {_scale(days, span)}", "dim")
    explanation = translate("a mark is a day:") if span == 1 else fill("a mark is {count} days:", count=span)
    marks = ((f"{MARKS[severity]} {translate(severity)}  ", STYLES[severity]) for severity in SEVERITIES)
    legend = Text.assemble(f"{explanation} ", *marks, f"{QUIET} {translate('nothing')}")
    return Group(scale, *rows, Text(""), legend)


def _row(kind: str, of_type: Sequence[Finding], widths: tuple[int, int], days: int, span: int, start: int) -> Text:
    """The marks of a type of finding."""
    worst: dict[int, Severity] = {}
    for finding in of_type:
        mark = (day_of(finding, start) - 1) // span
        worst[mark] = max(finding.severity, worst.get(mark, finding.severity), key=_rank)
    names, counts = widths
    name = plain(translate(label(kind)))
    row = Text(f"{name}{' ' * (names - columns(name))}  {len(of_type):{counts}}  ")
    for mark in range(-(-days // span)):
        severity = worst.get(mark)
        row.append(QUIET, "dim") if severity is None else row.append(MARKS[severity], STYLES[severity])
    return row


def _rank(severity: Severity) -> int:
    return SEVERITIES.index(severity)


def _scale(days: int, span: int) -> str:
    """The number of the day above every tenth mark."""
    text = ""
    for mark in range(0, -(-days // span), 10):
        text = f"{text:{mark}}{mark * span + 1}"
    return text
