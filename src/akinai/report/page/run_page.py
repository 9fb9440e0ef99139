"""The page of a run: verdict, figures, the days as a chart and a rail, the transcript, and the place at any entry."""

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from markupsafe import Markup

from akinai.analysis.scale import HIGH, LOW
from akinai.core.agents import owner_of
from akinai.core.findings import WORST_FIRST
from akinai.core.ledger import DAY_US
from akinai.core.presentation.words import label
from akinai.core.untrusted.spelling import shorten
from akinai.report.figures.style import looks, writable
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
from akinai.report.tables.runs import player_label
from akinai.views import BY_SEAT, DAYS, MomentView, RunView, RunViews, Verdict, ended_early, street_verdict, verdict

MINUTE_US = 60_000_000
DAY_MINUTES = 1_440
MAX_FIGURES = 3
"""Scores beside the headline."""
Ghosts = Mapping[str, Sequence[float]]
"""The headline by day of other players on the same seed, by their names."""
MOST_DAYS = 100_000
"""More than any run has."""
MOST_LETTERS = 90
"""Letters of the first line of a letter."""
PRICE_INDEX = "collusion_index"
SEAT_CLEARANCE = 17
"""Per cent of the height of a plot between the names of owners."""
UNITS = {"day": marked("Day %(n)s"), "week": marked("Week %(n)s"), "part": marked("Part %(n)s")}
"""The heading of each unit."""
EACH_DAY = {f"sold{BY_SEAT}": "", "sold": "sold_out"}
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
    view, language, seats = views.run, site.language, views.seats
    crowd = views.crowd
    closing = street_verdict(seats) if seats else Verdict(crowd.verdict) if crowd.verdict else verdict(view, ghosts)
    bars, headline = _bars(view, language), (view.headline, view.units.get(view.headline, ""))
    page = {
        "verdict": closing,
        "player": player_label(views.header),
        "key_figures": [*_key_figures(view, seats, ghosts, language), *_conduct_figure(views, language)],
        "plot": _seats_plot(views, headline, language, opening_value(views))
        if seats
        else _plot(views, ghosts, language),
        "levels": _seats_plot(views, (PRICE_INDEX, "index"), language),
        "weeks": [amount(value, "index") for value in _index_by_week(views)],
        "pins": _pins(views, language),
        "bars": bars,
        "slider": _slider(view),
        "weekly": view.unit == "week",
        "step": DAYS[view.unit] * DAY_MINUTES if view.unit == "week" and view.planned else 1,
        "heights": [height for height, _ in bars.heights] if bars else _activity(view),
        "crowded": bool(crowd.talks) and not site.alone,
        "early": label(view.ending or "") if ended_early(view) else "",
        "forkable": site.live,
        "players": tuple(views.world.players),
    }
    data = page_data(views, ghosts, site)
    packed = _packed(data) if site.packed else json_block("data", data)
    return render("run.html", language, site=site, view=view, page=page, data=packed)


def _pins(views: RunViews, language: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    """The pins of findings and decisive moments; with several owners a row for each, under its name."""
    pins = [
        (finding.actor, _pin(finding.day, finding.entries[-1], translate_report(finding.title, language),
                             finding.look))
        for finding in views.findings
    ]  # fmt: skip
    pins += [(views.steps[moment.entry - 1].entry.actor, _moment_pin(views.run, moment)) for moment in views.moments]
    rows = {seat: [pin for actor, pin in pins if owner_of(actor) == seat] for seat in views.seats}
    return [*rows.items()] if rows else [("", [pin for _, pin in pins])] if pins else []


def _pin(day: int, entry: int, title: str, severity: str) -> dict[str, Any]:
    """A finding or a decisive moment on the chart; of a moment the severity is whether it cost or made."""
    return {"day": day, "entry": entry, "title": title, "severity": severity}


def _moment_pin(view: RunView, moment: MomentView) -> dict[str, Any]:
    words = moment.words or moment.instead
    worth = amount(abs(moment.worth), view.units.get(view.headline, ""))
    title = f"{worth}{': ' if words else ''}{shorten(words, 48)}"
    return _pin(moment.day, moment.entry, title, moment.kind)


def day_html(views: RunViews, day: int, site: Site) -> Markup:
    """A day of the transcript, or the week that holds it; empty for a day that the run does not have."""
    shown = views.day_at(day)
    if shown is None:
        return Markup("")
    html = render(
        "day.html", site.language, site=site, view=views.run, day=shown, items=views.day(day),
        crowded=views.crowded, several=bool(views.seats), gains=gain_texts(views, site.language),
    )  # fmt: skip
    return Markup("\n".join(line for line in html.split("\n") if line.strip()) if "\n\n" in html else html)


def page_data(views: RunViews, ghosts: Ghosts, site: Site) -> dict[str, Any]:
    """The data of a run for the script."""
    view = views.run
    start = views.world.now(views.steps.opening)
    morning = 0 if start is None else start // DAY_US * DAY_US
    timed = bool(view.planned) and start is not None
    unit = view.units.get(view.headline, "")
    ghosts = {} if views.seats else ghosts
    data: dict[str, Any] = {
        "id": view.id, "last": view.entries, "first": [day.first for day in view.days],
        "days": [day.number for day in view.days], "until": view.last_day,
        "titles": [day.title for day in view.days], "timed": timed,
        "begun": [(step.entry.at - morning) // MINUTE_US if timed else step.entry.seq for step in views.steps],
        "finds": sorted({finding.entries[-1] for finding in view.findings} | {moment.entry for moment in view.moments}),
        "worth": [value if value is not None else 0 for value in view.series()] if view.headline_fact else [],
        "begin": opening_value(views), "unit": unit, "ghosts": {name: list(values) for name, values in ghosts.items()},
        "goods": {item.id: item.name for item in view.items}, "tracks": views.place_history.to_json(),
        "words": _words(view, site.language),
    }  # fmt: skip
    if views.seats:
        data |= _street(views, site.language)
    if site.live:
        return data | {"url": site.run(view.id), "digest": view.digest, "status": views.header.status}
    return data | {"fragments": [day_html(views, day.number, site) for day in view.days]}


def _street(views: RunViews, language: Any) -> dict[str, Any]:
    """What the script shows of several owners: whose each entry is, their money by day, and their dealings."""
    seats = [*views.seats]
    numbers = {seat: number for number, seat in enumerate(seats)}
    kinds = {
        "letter": marked("letter"), "payment": marked("payment"), "offer": marked("offer"), "goods": marked("goods"),
    }  # fmt: skip
    words = {
        "between": marked("Between owners in this week") if views.run.unit == "week" else
        marked("Between owners on this day"), "lowest": marked("the lowest"), "whose": marked("Whose place"),
        "acting": marked("as read"),
    }  # fmt: skip
    history = views.place_history
    texts = {str(listing["title"]) for listing in history.listings.values()}
    texts |= {head for listing in history.listings.values() for head in cast("Mapping[str, str]", listing["columns"])}
    cells = (
        cell
        for rows in history.rows.values()
        for track in rows.values()
        for _, row in track
        for cell in (row or ())[1:]
    )
    texts |= {cell for cell in cells if isinstance(cell, str) and cell not in seats}
    return {
        "seats": seats,
        "sides": [numbers.get(owner_of(step.entry.actor), 0) for step in views.steps],
        PRICE_INDEX: _index_by_week(views),
        "money": [[value or 0 for value in run.series()] if run.headline_fact else [] for run in views.seats.values()],
        "dealings": [
            (dealing.entry, dealing.sender, dealing.to, translate(kinds[dealing.kind], language),
             shorten(dealing.text, MOST_LETTERS))
            for dealing in views.dealings
        ],
        "street": {name: translate(text, language) for name, text in words.items()},
        "terms": {text: own for text in sorted(texts) if (own := translate_report(text, language)) != text},
    }  # fmt: skip


def _words(view: RunView, language: Any) -> dict[str, str]:
    """The texts that the script itself shows."""
    texts = {
        "day": UNITS[view.unit],
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
    return max(view.planned, view.last_day) * DAY_MINUTES if view.planned else max(1, view.entries)


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


def _seats_plot(views: RunViews, score: tuple[str, str], language: Any, opening: float | None = None) -> Plot | None:
    """A score, by its name and unit, of each of several owners over the days; `opening` is that before the first."""
    lines = list[Line]()
    for run, look in zip(views.seats.values(), looks([*views.seats]).values(), strict=True):
        first, values = _filled(run, "" if score[0] == run.headline else score[0])
        before = [opening] if opening is not None and first == 1 else []
        lines.append(Line(look, [*before, *values], first=first - len(before)))
    return plot(score, lines, views.run.planned, language, clearance=SEAT_CLEARANCE)


def _index_by_week(views: RunViews) -> list[float | None]:
    """The index of the prices of several owners in each week; None for a week without one."""
    tables = views.world.facets.judging.account(views.steps).tables if views.seats else ()
    values = [row[-1] for table in tables if table.name == f"{PRICE_INDEX}_by_week" for row in table.rows]
    return [value if isinstance(value, int | float) else None for value in values]


def _filled(run: RunView, fact: str = "") -> tuple[int, list[float]]:
    """The first day of a fact, and its values from there to the last; a day without one has that of the day before."""
    days = [(day, value) for day, value in enumerate(run.series(fact), 1) if value is not None]
    by_day = dict(days)
    values = list[float]()
    for day in range(days[0][0], days[-1][0] + 1) if days else ():
        values.append(by_day.get(day, values[-1] if values else 0))
    return (days[0][0] if days else 0), values


def _bars(view: RunView, language: Any) -> Bars | None:
    """The bars of the units sold on each day, where the world counts them."""
    for table, marking in EACH_DAY.items():
        sums = [sum(day.tables.get(table, {}).values()) for day in view.days]
        if any(sums):
            most = max(sums)
            marks = [bool(day.facts.get(marking)) and day.closed for day in view.days]
            heights = [(round(value / most * 100, 1), mark) for value, mark in zip(sums, marks, strict=True)]
            empty = [(0.0, False)] * max(0, -(-view.planned // DAYS[view.unit]) - len(heights))
            by_unit = marked("sold a week") if view.unit == "week" else marked("sold a day")
            name = marked("sold") if table.endswith(BY_SEAT) else by_unit
            return Bars(translate(name, language), [*heights, *empty])
    return None


def _activity(view: RunView) -> list[float]:
    """The bar heights by entries of each day, where nothing is sold."""
    counts = [day.last - day.first + 1 if day.first else 0 for day in view.days]
    most = max(counts, default=1) or 1
    return [round(value / most * 100, 1) for value in counts]


def _key_figures(view: RunView, seats: Mapping[str, RunView], ghosts: Ghosts, language: Any) -> list[KeyFigure]:
    """The figures of the head: the headline, its place between idle and reference, three more scores, tokens; with
    several owners the headline and the findings of each."""
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
    if seats:
        figures = [_seat_figure(seat, run) for seat, run in seats.items()]
    elif share is not None:
        text = f"{share:.0%}".replace("-", MINUS)
        figures.append(KeyFigure(translate(marked("Idle to reference"), language), text, min(max(share, 0), 1) * 100))
    if not seats:
        findings = str(len(view.findings))
        figures += [*more, KeyFigure(translate(marked("Findings"), language), findings, marks=_marks(view))]
    figures.append(KeyFigure(translate(marked("Entries"), language), f"{view.entries:,}"))
    if view.calls:
        out = f"{count(view.tokens['output'])} {translate(marked('out'), language)}"
        figures.append(KeyFigure(translate(marked("Tokens in, out"), language), count(view.tokens["input"]), note=out))
    return figures


def _conduct_figure(views: RunViews, language: Any) -> Iterator[KeyFigure]:
    """What the findings of conduct of a run gained, by actor where there are several; none without such findings."""
    if not any(finding.is_conduct for finding in views.findings):
        return
    name, rows = translate(marked("Profit from misconduct"), language), views.conduct_gains
    if rows is None:
        asking = f"akinai why {views.header.run_id} --conduct"
        yield KeyFigure(name, translate(marked("not asked"), language), note=asking)
        return
    actors = dict.fromkeys(row.actor for row in rows)
    sums = {actor: sum(row.gained for row in rows if row.actor == actor) for actor in actors}
    texts = [amount(total, rows[0].unit) for total in sums.values()]
    several = len(actors) > 1
    words = [f"{actor} {text}" if several else text for actor, text in zip(actors, texts, strict=True)]
    yield KeyFigure(name, " · ".join(words) or MINUS)


def gain_texts(views: RunViews, language: Any) -> dict[int, str]:
    """What each finding of conduct gained, by its number: an amount, or that it was not asked."""
    unknown = translate(marked("not asked"), language) if views.conduct_gains is None else ""
    rows = views.conduct_gains or ()
    gains = {
        finding.number: next((amount(row.gained, row.unit) for row in rows if row.is_of(finding)), unknown)
        for finding in views.findings
        if finding.is_conduct
    }
    return {number: text for number, text in gains.items() if text}


def _seat_figure(seat: str, run: RunView) -> KeyFigure:
    """What an owner came to, under its name and who played it, with marks for its findings."""
    value = amount(run.scores.get(run.headline), run.units.get(run.headline, ""))
    return KeyFigure(" · ".join(filter(None, (seat, run.player))), value, marks=_marks(run))


def _marks(view: RunView) -> list[tuple[str, int]]:
    """How many findings there are of each look, the worst first."""
    looks = Counter(finding.look for finding in view.findings)
    names = [name for severity in WORST_FIRST for name in (severity, f"{severity} conduct")]
    return [(name, looks[name]) for name in names if looks[name]]


def _share(view: RunView, ghosts: Ghosts) -> float | None:
    """The place of the run between idle and reference, from 0 to 1: at the end, or on the day that it has reached."""
    values = [value for value in view.series() if value is not None] if view.headline_fact else []
    low, high = ghosts.get(LOW, ()), ghosts.get(HIGH, ())
    if not values or not low or not high:
        return None
    day = MOST_DAYS if view.status == "done" else len(values) - 1
    floor, top = low[min(day, len(low) - 1)], high[min(day, len(high) - 1)]
    return (values[-1] - floor) / (top - floor) if top != floor else None
