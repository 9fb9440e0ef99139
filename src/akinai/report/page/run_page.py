"""The page of a run: verdict, figures, the days as a chart and a rail, the transcript, and the place at any entry."""

import base64
import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from akinai.analysis.scale import HIGH, LOW
from akinai.core.findings import WORST_FIRST
from akinai.core.ledger import DAY_US
from akinai.core.presentation.words import label
from akinai.core.untrusted.spelling import shorten
from akinai.report.figures.style import writable
from akinai.report.language import translate_report
from akinai.report.page.plot import Line, Plot, plot, run_looks
from akinai.report.page.site import Site
from akinai.report.page.templating import (
    MINUS,
    amount,
    count,
    json_block,
    marked,
    render,
    translate,
)
from akinai.views import MomentView, RunView, RunViews, Verdict, ended_early, verdict

MINUTE_US = 60_000_000
DAY_MINUTES = 1_440
MAX_FIGURES = 3
"""Scores beside the headline."""
Ghosts = Mapping[str, Sequence[float]]
"""The headline by day of other players on the same seed, by their names."""
MOST_DAYS = 100_000
"""More than any run has."""
EACH_DAY = {"sold": "sold_out"}
"""A table of a day whose sum is drawn as bars, and the fact that colours a bar."""


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for each day: its height in per cent, and whether it is marked."""

    name: str
    heights: Sequence[tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure of the run's head."""

    label: str
    value: str
    share: float | None = None
    """Drawn as a bar, in per cent."""
    marks: Sequence[tuple[str, int]] = ()
    note: str = ""


def run_page(views: RunViews, ghosts: Ghosts, site: Site) -> Markup:
    """The page of a run. On a server it loads its days one by one; a file contains them."""
    view, language = views.run, site.language
    crowd = views.crowd
    closing = Verdict(crowd.verdict) if crowd.verdict else verdict(view, ghosts)
    bars = _bars(view, language)
    pins = [
        _pin(finding.day, finding.entries[-1], translate_report(finding.title, language), finding.look)
        for finding in view.findings
    ]
    page = {
        "verdict": closing,
        "key_figures": _key_figures(view, ghosts, language),
        "plot": _plot(views, ghosts, language),
        "pins": [*pins, *(_moment_pin(view, moment) for moment in view.moments)],
        "bars": bars,
        "slider": _slider(view),
        "heights": [height for height, _ in bars.heights] if bars else _activity(view),
        "crowded": bool(crowd.talks) and not site.alone,
        "early": label(view.ending or "") if ended_early(view) else "",
        "forkable": site.live,
        "players": tuple(views.world.players),
    }
    data = page_data(views, ghosts, site)
    packed = _packed(data) if site.packed else json_block("data", data)
    return render("run.html", language, site=site, view=view, page=page, data=packed)


def _pin(day: int, entry: int, title: str, severity: str) -> dict[str, Any]:
    """A finding or a decisive moment on the chart; of a moment the severity is whether it cost or made."""
    return {"day": day, "entry": entry, "title": title, "severity": severity}


def _moment_pin(view: RunView, moment: MomentView) -> dict[str, Any]:
    words = moment.words or moment.instead
    worth = amount(abs(moment.worth), view.units.get(view.headline, ""))
    title = f"{worth}{': ' if words else ''}{shorten(words, 48)}"
    return _pin(moment.day, moment.entry, title, moment.kind)


def day_html(views: RunViews, day: int, site: Site) -> Markup:
    """A day of the transcript; empty for a day that the run does not have."""
    if not 1 <= day <= len(views.days):
        return Markup("")
    html = render(
        "day.html", site.language, site=site, view=views.run, day=views.days[day - 1], items=views.day(day),
        crowded=views.crowded,
    )  # fmt: skip
    return Markup("\n".join(line for line in html.split("\n") if line.strip()) if "\n\n" in html else html)


def page_data(views: RunViews, ghosts: Ghosts, site: Site) -> dict[str, Any]:
    """The data of a run for the script."""
    view = views.run
    start = views.world.now(views.steps.opening)
    morning = 0 if start is None else start // DAY_US * DAY_US
    timed = bool(view.planned) and start is not None
    unit = view.units.get(view.headline, "")
    data: dict[str, Any] = {
        "id": view.id, "last": view.entries, "first": [day.first for day in view.days],
        "titles": [day.title for day in view.days], "timed": timed,
        "begun": [(step.entry.at - morning) // MINUTE_US if timed else step.entry.seq for step in views.steps],
        "finds": sorted({finding.entries[-1] for finding in view.findings} | {moment.entry for moment in view.moments}),
        "worth": [value if value is not None else 0 for value in view.series()] if view.headline_fact else [],
        "begin": opening_value(views), "unit": unit, "ghosts": {name: list(values) for name, values in ghosts.items()},
        "goods": {item.id: item.name for item in view.items}, "tracks": views.place_history.to_json(),
        "words": _words(view, site.language),
    }  # fmt: skip
    if site.live:
        return data | {"url": site.run(view.id), "digest": view.digest, "status": views.header.status}
    return data | {"fragments": [day_html(views, day.number, site) for day in view.days]}


def _words(view: RunView, language: Any) -> dict[str, str]:
    """The texts that the script itself shows."""
    texts = {
        "day": marked("Day %(n)s") if view.unit == "day" else marked("Part %(n)s"),
        "entry": marked("entry %(n)s of %(all)s"),
        "level": marked("level with reference"),
        "gap": marked("%(gap)s to reference"),
        "empty": marked("empty"),
        "unpriced": marked("no price"),
        "nothing": marked("nothing"),
        "found": marked("%(n)s entries with “%(text)s”"),
        "soldout": marked("sold out"),
    }
    return {name: translate(text, language) for name, text in texts.items()}


def _packed(data: Mapping[str, Any]) -> Markup:
    """The data as gzip in base64: a year with its transcript in less than a megabyte."""
    text = writable(json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    packed = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
    return Markup('<script type="application/octet-stream" id="packed">') + Markup(packed) + Markup("</script>")


def opening_value(views: RunViews) -> float:
    """The headline before the first day."""
    fact = views.run.headline_fact
    value = views.world.facets.judging.facts(views.steps.opening).get(fact) if fact else None
    return value if isinstance(value, int | float) else 0


def _slider(view: RunView) -> int:
    return max(view.planned, len(view.days)) * DAY_MINUTES if view.planned else max(1, view.entries)


def _plot(views: RunViews, ghosts: Ghosts, language: Any) -> Plot | None:
    """The headline over the days, in front of idle and reference."""
    view = views.run
    values = [value for value in view.series() if value is not None] if view.headline_fact and view.planned else []
    if not values:
        return None
    unit, begin = view.units.get(view.headline, ""), opening_value(views)
    return headline_plot((view.headline, unit), begin, {**ghosts, view.id: values}, view.planned, language)


def headline_plot(headline: tuple[str, str], begin: float, days: Ghosts, planned: int, language: Any) -> Plot | None:
    """The headline, by its name and unit, over the days of each run from its beginning on; the last run is in front."""
    own, *ghosts = reversed([*days])
    lines = [Line(look, [begin, *days[look.name]], front=look.name == own) for look in run_looks(own, *ghosts)]
    return plot(headline, [line for line in lines if line.front or len(line.values) > 1], planned, language)


def _bars(view: RunView, language: Any) -> Bars | None:
    """The bars of the units sold on each day, where the world counts them."""
    for table, marking in EACH_DAY.items():
        sums = [sum(day.tables.get(table, {}).values()) for day in view.days]
        if any(sums):
            most = max(sums)
            marks = [bool(day.facts.get(marking)) and day.closed for day in view.days]
            heights = [(round(value / most * 100, 1), mark) for value, mark in zip(sums, marks, strict=True)]
            empty = [(0.0, False)] * max(0, view.planned - len(heights))
            return Bars(translate(marked("sold a day"), language), [*heights, *empty])
    return None


def _activity(view: RunView) -> list[float]:
    """The bar heights by entries of each day, where nothing is sold."""
    counts = [day.last - day.first + 1 if day.first else 0 for day in view.days]
    most = max(counts, default=1) or 1
    return [round(value / most * 100, 1) for value in counts]


def _key_figures(view: RunView, ghosts: Ghosts, language: Any) -> list[KeyFigure]:
    """The figures of the head: the headline, its place between idle and reference, three more scores, tokens."""
    scores = [
        KeyFigure(translate_report(label(name).capitalize(), language), amount(value, view.units[name]))
        for name, value in view.scores.items()
    ]
    further = [
        score
        for score, unit in zip(scores, view.units.values(), strict=True)
        if unit != "cents" and score is not scores[0]
    ]
    figures, more = scores[:1], further[:MAX_FIGURES]
    share = _share(view, ghosts)
    if share is not None:
        text = f"{share:.0%}".replace("-", MINUS)
        figures.append(KeyFigure(translate(marked("Idle to reference"), language), text, min(max(share, 0), 1) * 100))
    looks = Counter(finding.look for finding in view.findings)
    names = [name for severity in WORST_FIRST for name in (severity, f"{severity} conduct")]
    marks = [(name, looks[name]) for name in names if looks[name]]
    figures += [*more, KeyFigure(translate(marked("Findings"), language), str(looks.total()), marks=marks)]
    figures.append(KeyFigure(translate(marked("Entries"), language), f"{view.entries:,}"))
    if view.calls:
        out = f"{count(view.tokens['output'])} {translate(marked('out'), language)}"
        figures.append(KeyFigure(translate(marked("Tokens in, out"), language), count(view.tokens["input"]), note=out))
    return figures


def _share(view: RunView, ghosts: Ghosts) -> float | None:
    """The place of the run between idle and reference, from 0 to 1: at the end, or on the day that it has reached."""
    values = [value for value in view.series() if value is not None] if view.headline_fact else []
    low, high = ghosts.get(LOW, ()), ghosts.get(HIGH, ())
    if not values or not low or not high:
        return None
    day = MOST_DAYS if view.status == "done" else len(values) - 1
    floor, top = low[min(day, len(low) - 1)], high[min(day, len(high) - 1)]
    return (values[-1] - floor) / (top - floor) if top != floor else None
