"""The list of runs: a row for each run, by world and group, beside idle and reference where the store has them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any
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
from akinai.runtime.runs.marking import notes_of
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
    sought = find.lower().split()
    items = [
        item
        for item in items
        if notes_of(item.header).deleted == deleted
        and (not sought or all(map(_facts(item, scales)["words"].__contains__, sought)))
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

    page = {
        "version": version,
        "sections": [section for section in sections if section["groups"]],
        "gone": gone,
        "deleted": deleted,
        "count": len(items),
        "first": first,
        "last": min(last, len(items)),
        "newer": part(max(1, first - MOST_ROWS)) if first > 1 else "",
        "older": part(last + 1) if last < len(items) else "",
        "find": find,
    }
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


def _section(world: str, items: Sequence[ListedRun], scales: Scales, site: Site, left: _Window) -> dict[str, Any]:
    """The runs of a world."""
    first = next((item.run for item in items if item.run and item.run.scores), None)
    headline = label(first.scores[0].name).capitalize() if first else translate(marked("Score"), site.language)
    best = presentation_of(world).best
    of_best, by_day = (translate(text, site.language) for text in (marked("Share of the best"), marked("Day by day")))
    groups: dict[str, list[ListedRun]] = {}
    for item in items:
        groups.setdefault(sweep_of(item.header.card) or item.header.group or item.header.run_id, []).append(item)
    rows = [_group(name, members, scales, left) for name, members in groups.items()]
    return {
        "title": world or translate(marked("Damaged"), site.language),
        "headline": headline,
        "over": of_best if best else by_day,
        "count": len(items),
        "groups": [group for group in rows if group["rows"]],
    }


def _group(name: str, items: Sequence[ListedRun], scales: Scales, left: _Window) -> dict[str, Any]:
    """The rows of a group, and their mean."""
    ordered = sorted(items, key=lambda item: (item.header.seed, item.header.created_at))
    runs = [item.run for item in ordered if item.run and item.run.scores and item.run.measured]
    values = [float(run.scores[0].value) for run in runs]
    mean = amount(fmean(values), runs[0].scores[0].unit) if values else None
    rows = [row_of(item, scales) for item in left.take(ordered)]
    return {"name": name, "rows": rows, "mean": mean, "seeds": len({run.seed for run in runs})}


def row_of(item: ListedRun, scales: Scales) -> dict[str, Any]:
    """The row of a run as the template shows it; every number is text with its unit."""
    facts, run = _facts(item, scales), item.run
    return facts | (_figures(run, scales, facts["days_planned"]) if run and run.scores else {})


def _facts(item: ListedRun, scales: Scales) -> dict[str, Any]:
    """The row without scores, and the words that searches look for."""
    header, run = item.header, item.run
    state = run.state if run else header.status
    planned = horizon(header) if not header.damage else 0
    row = {
        "item": item,
        "id": header.run_id,
        "agent": player_label(header),
        "state": state,
        "error": (run.reason if run else header.error) or "",
        "early": label(header.ending or "") if run and state == "done" and 0 < run.days < planned else "",
        "outlier": header.run_id in scales.outliers,
        "days_planned": planned,
        "persons": header.player in PERSONS,
        "resumable": not header.damage and can_resume(header) and not (run and run.trouble),
        "notes": notes_of(header),
        **UNREAD,
    }
    if run is not None:
        usage = run.usage
        row |= {
            "day": run.days + (run.state == "open"),
            "marks": [*_marks(run)],
            "tokens": count(usage.tokens.input + usage.tokens.output) if usage else "",
            "cost": f"${usage.dollars:,.2f}" if usage and usage.dollars is not None else "",
        }
    return row | {"words": _words(row)}


def _marks(run: Run) -> Iterator[tuple[str, int]]:
    """The marks of a run and how many there are of each: mistakes by severity, then conduct."""
    yield from ((severity, run.severities[severity]) for severity in WORST_FIRST if severity in run.severities)
    if run.conduct:
        yield "serious conduct", sum(run.conduct.values())


UNREAD: Mapping[str, Any] = {
    "day": 0, "marks": (), "tokens": "", "cost": "", "line": "", "value": ABSENT, "gap": "", "comparison": "even",
    "share": None, "best": None,
}  # fmt: skip
"""The figures of a run that was not judged."""


def _words(row: Mapping[str, Any]) -> str:
    item: ListedRun = row["item"]
    header, run, notes = item.header, item.run, row["notes"]
    far = " far below its group" if row["outlier"] else ""
    parts = [header.run_id, header.group or "", row["agent"], header.genesis.world, header.game_words]
    parts += [f"{row['state']} {row['early']}{far}", notes.label, *(f"tag:{tag}" for tag in notes.tags)]
    if run:
        parts += [*map(label, (*run.finding_types, *run.conduct)), *run.severities]
        parts += ["conduct"] if run.conduct else []
    return " ".join(parts).lower()


def _figures(run: Run, scales: Scales, planned: int) -> dict[str, Any]:
    """The first score of a run, its line over the days, and its distances."""
    score, values = run.scores[0], run.headline_by_day
    low, high = (scales.baseline(run.header, agent) for agent in (LOW, HIGH))
    days = max(planned, len(values)) or 1
    figures: dict[str, Any] = {"value": amount(score.value, score.unit)}
    if len(values) > 1:
        span = scales.ranges.get(run.world, (0.0, max(values)))
        line, ghost = (_sparkline(points, days - 1, *span) for points in (values, high.headline_by_day if high else ()))
        width = round(WIDTH * (len(values) - 1) / max(1, days - 1), 1)
        figures |= {"line": line, "ghost": ghost, "width": width}
    return figures | _distances(run, low, high)


def _sparkline(values: Sequence[float], days: int, low: float, high: float) -> str:
    """A path in a box of its own, where all rows of a table have the same scale."""
    step, span = WIDTH / max(1, days), (high - low) or 1
    points = [(at * step, HEIGHT - 1 - (value - low) / span * (HEIGHT - 2)) for at, value in enumerate(values)]
    return path_of(points) if len(points) > 1 else ""


def _distances(run: Run, low: Run | None, high: Run | None) -> dict[str, Any]:
    """The distance from reference, and the place between idle and reference; of an open run by its day. In a world that
    knows the best possible, the share of that."""
    ours, floor, top = (_so_far(other, run) for other in (run, low, high))
    distances: dict[str, Any] = {}
    best = presentation_of(run.world).best
    if best and (reached := run.value(best.share)) is not None:
        distances = {"best": _percent(reached), "best_width": _width(reached)}
    if ours is not None and top is not None:
        gap = ours - top
        small = abs(gap) <= abs(top) * SMALL_GAP
        distances["comparison"] = "even" if small else "ahead" if gap > 0 else "behind"
        unit = run.scores[0].unit
        text = dollars(gap, sign=True) if unit == "cents" else number(gap, unit, sign=True).replace("-", MINUS)
        distances["gap"] = text if gap else "–"
        if floor is not None and top != floor:
            share = (ours - floor) / (top - floor)
            distances |= {"share": _percent(share), "share_width": _width(share)}
    return distances


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
