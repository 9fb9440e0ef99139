"""The page of two runs in step: where they part, how each ends, and their groups seed by seed."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from akinai.core.presentation.words import label
from akinai.report.figures.svg import TICKS, Axis, scale
from akinai.report.language import translate_cell
from akinai.report.page.plot import Line, Plot, Tick, plot, run_looks, short_number
from akinai.report.page.run_page import opening_value, page_data
from akinai.report.page.site import Site
from akinai.report.page.templating import json_block, marked, render, translate
from akinai.views import DAYS, RunView, RunViews


def compare_page(first: RunViews, second: RunViews, groups: Sequence[Mapping[int, float]], site: Site) -> Markup:
    """The page. `groups` are the headlines of the runs of both groups by seed."""
    view, other = first.run, second.run
    same = _same_entries(first, second)
    day = first.day_of(same + 1) if same < len(first.steps) else view.last_day
    days = max(view.planned, other.planned, view.last_day, other.last_day, 1)
    steps = [DAYS[one.unit] for one in (view, other)]
    pairs, ticks = _pairs(groups, view.units.get(view.headline, ""))
    page = {
        "verdict": _verdict(view, other, same, day, site),
        "headline": translate_cell(label(view.headline).capitalize(), site.language),
        "plot": _plot(first, second, days, site),
        "part": day - 1 if same else None,
        "pairs": pairs,
        "ticks": ticks,
        "days": days,
        "step": max(steps),
        "weekly": max(steps) > 1,
    }
    data = {
        "days": days,
        "step": max(steps),
        "count": steps[0],
        "begin": day,
        "runs": [page_data(views, {}, site) for views in (first, second)],
    }
    return render(
        "compare.html", site.language, site=site, first=view, second=other, page=page, data=json_block("data", data)
    )


def _same_entries(first: RunViews, second: RunViews) -> int:
    """The number of first entries that both runs share: equal digests mean equal pasts."""
    if first.steps.genesis.digest != second.steps.genesis.digest:
        return 0
    count = 0
    for a, b in zip(first.steps, second.steps, strict=False):
        if a.entry.digest != b.entry.digest:
            break
        count += 1
    return count


def _verdict(first: RunView, second: RunView, same: int, day: int, site: Site) -> str:
    ends = [view.scores.get(view.headline) for view in (first, second)]
    shared = translate(marked("The same until entry %(entry)s on day %(day)s."), site.language) if same else ""
    sentence = shared.replace("%(entry)s", str(same)).replace("%(day)s", str(day))
    if ends[0] is None or ends[1] is None or first.headline != second.headline:
        return sentence or f"{first.id}, {second.id}"
    ahead, behind = (first, second) if ends[0] >= ends[1] else (second, first)
    gap, unit = abs(ends[0] - ends[1]), first.units[first.headline]
    if not gap:
        words = translate(marked("Both end level."), site.language)
    else:
        amount = short_number(gap, unit)
        words = translate(marked("%(ahead)s ends %(gap)s ahead of %(behind)s."), site.language)
        words = words.replace("%(ahead)s", ahead.id).replace("%(behind)s", behind.id).replace("%(gap)s", amount)
    return f"{sentence} {words}".strip()


def _plot(first: RunViews, second: RunViews, days: int, site: Site) -> Plot | None:
    looks = run_looks(first.run.id, second.run.id)
    lines = [
        Line(look, [opening_value(views), *values], front=views is first)
        for views, look in zip((first, second), looks, strict=True)
        if views.run.headline_fact and views.run.planned
        if (values := [value for value in views.run.series() if value is not None])
    ]
    headline = first.run.headline
    return plot((headline, first.run.units.get(headline, "")), lines, days, site.language)


def _pairs(groups: Sequence[Mapping[int, float]], unit: str) -> tuple[list[dict[str, Any]], list[Tick]]:
    """The seeds that both groups played, on one axis: their places are in per cent of it."""
    first, second = groups
    seeds = sorted(first.keys() & second.keys())
    if len(seeds) < 2:
        return [], []
    axis = scale([Axis("", unit, low=None)], [group[seed] for seed in seeds for group in groups], TICKS)

    def at(value: float) -> float:
        return round(axis.at(value, 0, 100), 2)

    pairs = [
        {
            "seed": seed,
            "first": at(first[seed]),
            "second": at(second[seed]),
            "difference": short_number(first[seed] - second[seed], unit, sign=True),
        }
        for seed in seeds
    ]
    return pairs, [Tick(at(value), short_number(value, unit)) for value in axis.ticks]
