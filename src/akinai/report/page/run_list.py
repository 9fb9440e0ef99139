"""The list of runs: a row for each run, by world and group, beside idle and reference where the store has them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from urllib.parse import urlencode

from markupsafe import Markup

from akinai.analysis.groups import settings_key
from akinai.analysis.presentation import presentation_of
from akinai.analysis.scale import HIGH, LOW
from akinai.core.findings import WORST_FIRST
from akinai.core.presentation.words import label
from akinai.core.stores import RunHeader
from akinai.report.figures.svg import path_of
from akinai.report.page.site import Site
from akinai.report.page.templating import (
    ABSENT,
    MINUS,
    amount,
    count,
    dollars,
    marked,
    number,
    render,
    translate,
)
from akinai.report.tables.runs import player_label
from akinai.runtime.play.agent_registry import PERSONS
from akinai.runtime.play.driver import horizon
from akinai.runtime.runs.lifecycle import can_resume
from akinai.runtime.runs.marking import Notes, notes_of
from akinai.runtime.runs.records import Run
from akinai.runtime.runs.sweep import sweep_of

WIDTH, HEIGHT = 120, 28
"""The size of a sparkline."""
MOST_ROWS = 2_000
"""Rows of a page on a server. Links lead to the others."""
FEWEST = 4
"""Runs that a group needs so that one of them can be an outlier."""
FAR, FAR_SHARE = 2.5, 0.5
"""A run is an outlier if it is so many median absolute deviations, and this share of it, below its group's median."""
SMALL_GAP = 0.01
"""A share of the reference's result: a smaller gap has no colour."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run of the list."""

    header: RunHeader
    run: Run | None = None
    """None until its ledger was read and judged."""
    entries: int = 0
    growing: bool = False
    """Whether it is being played now."""
    job: bool = False
    """Whether this studio plays it."""
    key: str = ""
    """Its `settings_key`, where it was computed once for all pages."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the template shows it; every number is text with its unit."""

    id: str
    agent: str
    state: str
    entries: int
    parent: str = ""
    error: str = ""
    early: str = ""
    """Why a finished run was over before its last day."""
    outlier: bool = False
    """Whether it came out far below the others of its group."""
    words: str = ""
    """The text that the filter searches, in lower case."""
    read: bool = False
    line: str = ""
    ghost: str = ""
    width: float = WIDTH
    value: str = ABSENT
    gap: str = ""
    comparison: str = "even"
    """The gap in a word: "ahead", "even" or "behind"."""
    share: str | None = None
    """The place between idle and reference."""
    share_width: float = 0
    best: str | None = None
    """The share of the best possible, in a world that knows it."""
    best_width: float = 0
    marks: Sequence[tuple[str, int]] = ()
    tokens: str = ""
    cost: str = ""
    day: int = 0
    days_planned: int = 0
    growing: bool = False
    job: bool = False
    resumable: bool = False
    persons: bool = False
    """Whether a person plays it."""
    model: bool = False
    notes: Notes = field(default_factory=Notes)


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The rows of a group and their mean."""

    name: str
    rows: Sequence[RunRow]
    mean: str | None
    seeds: int


@dataclass(frozen=True, slots=True)
class Section:
    """The runs of a world."""

    title: str
    headline: str
    over: str
    count: int
    groups: Sequence[GroupRows]


@dataclass(frozen=True, slots=True)
class RunList:
    """The page."""

    version: int
    sections: Sequence[Section]
    gone: int = 0
    """Runs that are deleted."""
    deleted: bool = False
    """Whether it shows these."""
    count: int = 0
    """All runs; the page has those from `first` to `last`, from 1."""
    first: int = 0
    last: int = 0
    newer: str = ""
    older: str = ""
    """The addresses of the pages before and after; empty without one."""
    find: str = ""
    """Words that all of its runs have; empty for all runs."""


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of rows: runs of idle and reference by game and seed, and the range of sparklines by world."""

    baselines: Mapping[tuple[str, int, str], Run] = field(default_factory=dict[tuple[str, int, str], Run])
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """The settings keys of the runs that have been read."""
    outliers: frozenset[str] = frozenset()
    """Runs that came out far below the others of their group."""

    @staticmethod
    def of(items: Iterable[ListedRun]) -> "Scales":
        keys: dict[str, str] = {}
        baselines: dict[tuple[str, int, str], Run] = {}
        values: dict[str, list[float]] = {}
        listed_runs = list(items)
        for item in listed_runs:
            if item.run is None or item.run.trouble:
                continue
            if item.key:
                keys[item.header.run_id] = item.key
            values.setdefault(item.run.world, [0.0]).extend(item.run.headline_by_day)
            if item.run.header.player in (LOW, HIGH) and item.run.state == "done" and not item.run.parent:
                key = item.key or settings_key(item.header.genesis)
                baselines.setdefault((key, item.run.seed, item.run.header.player), item.run)
        ranges = {world: (min(numbers), max(numbers)) for world, numbers in values.items()}
        return Scales(baselines, ranges, keys, _outliers(listed_runs))

    def baseline(self, header: RunHeader, agent: str) -> Run | None:
        """Idle or reference in the same game on the same seed."""
        if header.damage:
            return None
        key = self.keys.get(header.run_id) or settings_key(header.genesis)
        return self.baselines.get((key, header.seed, agent))


def _outliers(items: Iterable[ListedRun]) -> frozenset[str]:
    """Finished runs whose headline is far below the median of their group, once all of the group were read."""
    groups: dict[tuple[str, str], list[Run]] = {}
    items = list(items)
    unread = {item.header.group for item in items if item.run is None}
    for item in items:
        run = item.run
        if run and run.scores and run.state == "done" and item.header.group and not notes_of(item.header).deleted:
            groups.setdefault((item.header.group, item.key), []).append(run)
    outliers: set[str] = set()
    for (group, _), runs in groups.items():
        if len(runs) < FEWEST or group in unread or runs[0].scores[0].better == "lower":
            continue
        middle = median(run.scores[0].value for run in runs)
        spread = median(abs(run.scores[0].value - middle) for run in runs)
        least = middle - max(FAR * spread, abs(middle) * FAR_SHARE)
        outliers |= {run.header.run_id for run in runs if run.scores[0].value < least}
    return frozenset(outliers)


def runs_page(
    items: Sequence[ListedRun],
    site: Site,
    version: int = 0,
    *,
    yardsticks: Sequence[ListedRun] = (),
    deleted: bool = False,
    find: str = "",
    first: int = 1,
) -> Markup:
    """The page of all runs, newest groups first: those that are not deleted, or those that are, with the words `find`.

    On a server it has `MOST_ROWS` of them, from number `first` on. `yardsticks` are further runs of idle and reference,
    which are not shown but measure the others.
    """
    scales = Scales.of([*items, *yardsticks])
    gone = sum(notes_of(item.header).deleted for item in items)
    wanted = find.lower().split()
    items = [
        item
        for item in items
        if notes_of(item.header).deleted == deleted
        and (not wanted or all(word in row_of(item, scales).words for word in wanted))
    ]
    by_world: dict[str, list[ListedRun]] = {}
    for item in reversed(items):
        by_world.setdefault(item.header.genesis.world, []).append(item)
    first = max(1, first)
    left = _Window(first - 1, MOST_ROWS if site.live else len(items))
    sections = [_section(world, of_world, scales, site, left) for world, of_world in by_world.items()]
    last = first - 1 + MOST_ROWS if site.live else len(items)

    def part(number: int) -> str:
        return f"/?{urlencode({'first': number, 'find': find, 'deleted': int(deleted)})}"

    page = RunList(
        version, [section for section in sections if section.groups], gone, deleted, len(items), first,
        min(last, len(items)), newer=part(max(1, first - MOST_ROWS)) if first > 1 else "",
        older=part(last + 1) if last < len(items) else "", find=find,
    )  # fmt: skip
    return render("runs.html", site.language, site=site, page=page)


@dataclass(slots=True)
class _Window:
    """Runs that are passed over, and then those that a page still has room for."""

    before: int
    room: int

    def take(self, items: Sequence[ListedRun]) -> Sequence[ListedRun]:
        """Those of the next runs that the page has."""
        taken = items[self.before : self.before + self.room]
        self.before, self.room = max(0, self.before - len(items)), self.room - len(taken)
        return taken


def row_html(item: ListedRun, scales: Scales, site: Site) -> Markup:
    """One row of the table."""
    return render("row.html", site.language, site=site, row=row_of(item, scales))


def _section(world: str, items: Sequence[ListedRun], scales: Scales, site: Site, left: _Window) -> Section:
    first = next((item.run for item in items if item.run and item.run.scores), None)
    headline = label(first.scores[0].name).capitalize() if first else translate(marked("Score"), site.language)
    best = presentation_of(world).best
    of_best, by_day = (translate(text, site.language) for text in (marked("Share of the best"), marked("Day by day")))
    over = of_best if best else by_day
    groups: dict[str, list[ListedRun]] = {}
    for item in items:
        groups.setdefault(sweep_of(item.header.card) or item.header.group or item.header.run_id, []).append(item)
    rows = [_group(name, members, scales, left) for name, members in groups.items()]
    title = world or translate(marked("Damaged"), site.language)
    return Section(title, headline, over, len(items), [group for group in rows if group.rows])


def _group(name: str, items: Sequence[ListedRun], scales: Scales, left: _Window) -> GroupRows:
    ordered = sorted(items, key=lambda item: (item.header.seed, item.header.created_at))
    runs = [item.run for item in ordered if item.run and item.run.scores and item.run.measured]
    values = [float(run.scores[0].value) for run in runs]
    mean = amount(fmean(values), runs[0].scores[0].unit) if values else None
    seeds = len({run.seed for run in runs})
    return GroupRows(name, [row_of(item, scales) for item in left.take(ordered)], mean, seeds)


def row_of(item: ListedRun, scales: Scales) -> RunRow:
    """Make the row of a run."""
    header, run = item.header, item.run
    agent = player_label(header)
    state = run.state if run else header.status
    planned = horizon(header) if not header.damage else 0
    early = label(header.ending or "") if run and state == "done" and 0 < run.days < planned else ""
    outlier = header.run_id in scales.outliers
    row = RunRow(
        header.run_id,
        agent,
        state,
        item.entries,
        parent=header.parent or "",
        error=(run.reason if run else header.error) or "",
        early=early,
        outlier=outlier,
        words=_words(item, agent, f"{state} {early}{' far below its group' if outlier else ''}"),
        days_planned=planned,
        growing=item.growing,
        job=item.job,
        persons=header.player in PERSONS,
        resumable=not header.damage and can_resume(header) and not (run and run.trouble),
        model=bool(header.card.get("model")),
        notes=notes_of(header),
    )
    return row if run is None else _with_scores(row, run, scales)


def _words(item: ListedRun, agent: str, state: str) -> str:
    header, run = item.header, item.run
    parts = [header.run_id, header.group or "", agent, header.genesis.world, header.game_words, state]
    notes = notes_of(header)
    parts += [notes.label, *(f"tag:{tag}" for tag in notes.tags)]
    if run:
        parts += [*map(label, run.finding_types), *run.severities]
    return " ".join(parts).lower()


def _with_scores(row: RunRow, run: Run, scales: Scales) -> RunRow:
    """Add to a row what the ledger says."""
    usage = run.usage
    row = replace(
        row,
        read=True,
        day=run.days + (run.state == "open"),
        marks=[(severity, run.severities[severity]) for severity in WORST_FIRST if severity in run.severities],
        tokens=count(usage.tokens.input + usage.tokens.output) if usage else "",
        cost=f"${usage.dollars:,.2f}" if usage and usage.dollars is not None else "",
    )
    if not run.scores:
        return row
    score, values = run.scores[0], run.headline_by_day
    row = replace(row, value=amount(score.value, score.unit))
    low, high = (scales.baseline(run.header, agent) for agent in (LOW, HIGH))
    days = max(row.days_planned, len(values)) or 1
    if len(values) > 1:
        span = scales.ranges.get(run.world, (0.0, max(values)))
        line, ghost = (_sparkline(points, days - 1, *span) for points in (values, high.headline_by_day if high else ()))
        row = replace(row, line=line, ghost=ghost, width=round(WIDTH * (len(values) - 1) / max(1, days - 1), 1))
    return _with_distances(row, run, low, high)


def _sparkline(values: Sequence[float], days: int, low: float, high: float) -> str:
    """A path in a box of its own, where all rows of a table have the same scale."""
    step, span = WIDTH / max(1, days), (high - low) or 1
    points = [(at * step, HEIGHT - 1 - (value - low) / span * (HEIGHT - 2)) for at, value in enumerate(values)]
    return path_of(points) if len(points) > 1 else ""


def _with_distances(row: RunRow, run: Run, low: Run | None, high: Run | None) -> RunRow:
    """Add to a row its distance from reference, and its place between idle and reference; open runs by their day."""
    ours, floor, top = (_so_far(other, run) for other in (run, low, high))
    best = presentation_of(run.world).best
    if best and (reached := run.value(best.share)) is not None:
        row = replace(row, best=_percent(reached), best_width=_width(reached))
    if ours is not None and top is not None:
        gap = ours - top
        small = abs(gap) <= abs(top) * SMALL_GAP
        comparison = "even" if small else "ahead" if gap > 0 else "behind"
        unit = run.scores[0].unit
        text = dollars(gap, sign=True) if unit == "cents" else number(gap, unit, sign=True).replace("-", MINUS)
        row = replace(row, gap=text if gap else "–", comparison=comparison)
        if floor is not None and top != floor:
            share = (ours - floor) / (top - floor)
            row = replace(row, share=_percent(share), share_width=_width(share))
    return row


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("-", MINUS)


def _width(share: float) -> float:
    return round(min(max(share, 0), 1) * 100, 1)


def _so_far(other: Run | None, run: Run) -> float | None:
    """A run's score at the end, or on the day that an open run has reached."""
    if other is None or not other.scores:
        return None
    if run.state == "done":
        return float(other.scores[0].value)
    values = other.headline_by_day
    return values[min(run.days, len(values)) - 1] if values and run.days else None
