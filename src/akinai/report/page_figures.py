"""Which figures a report has: as many as the runs of a world have something for."""

from collections.abc import Iterator, Mapping, Sequence

from akinai.report.figures import Quantity, Unfinished, over_days, panels, stacked
from akinai.report.figures_axes import Look
from akinai.report.figures_marks import Mark, Spread, by_tool, spreads, timeline
from akinai.report.figures_svg import Drawing
from akinai.report.series import Members, aligned, day_of
from akinai.report.tables import figure as number
from akinai.report.tables import label
from akinai.runtime.analysis import Group, RunRecord, Series

PARTS = {"cash_cents": "cash", "machine_cents": "machine cash", "stock_cents": "stock", "transit_cents": "in transit"}
"""Facts that lie on top of one another: what a business owns."""
MOST_UNFINISHED = 12
"""Lines of single runs that broke; more would hide the means."""
WEEKLY = "Means of the last seven days."

Looks = Mapping[str, Look]


def headline(groups: Sequence[Group]) -> tuple[str, str] | None:
    """The name and the unit of the score that a world gives first; None where nothing could be scored."""
    return next(((one.name, one.unit) for group in groups for one in group.scores.values()), None)


def score_figure(groups: Sequence[Group], members: Members, looks: Looks) -> Iterator[Drawing]:
    """Each run's score by group."""
    if (first := headline(groups)) is None:
        return
    name, unit = first
    shown: dict[str, Spread] = {}
    for group in groups:
        over = group.scores.get(name)
        values = [value for run in members.runs[group.name] if (value := run.value(name)) is not None]
        if over and over.summary.mean is not None and values:
            shown[group.name] = Spread(values, over.summary.mean, over.summary.ci95)
    if sum(len(one.values) for one in shown.values()) > 1:
        note = "A dot is a run; above the dots the mean of the group and its 95 % interval."
        yield spreads(Quantity("scores", f"{title(name)} of every run", label(name), unit, note), shown, looks)


def day_figures(groups: Sequence[Group], members: Members, looks: Looks) -> Iterator[Drawing]:
    """Everything that is drawn over days."""
    first = headline(groups)
    if first:
        yield from _worth(first[0], members, looks)
        yield from _parts(first[0], members)
    yield from _trade(members, looks)
    yield from _tools(members, looks)


def _worth(score: str, members: Members, looks: Looks) -> Iterator[Drawing]:
    """The headline score over the days, in a world that tells it as a fact."""
    for fact, unit in ((f"{score}_cents", "cents"), (score, "")):
        if curves := members.fact(fact, carried=True):
            broken = [
                Unfinished(group, aligned(run.series.days, run.series.facts[fact], carried=True))
                for group, runs in members.runs.items()
                for run in runs
                if run.state != "done" and run.series and run.series.facts.get(fact)
            ]
            note = "A run that ended early goes on with its last value."
            early = any(series.days[-1] < len(curves[group].mean) for group, _, series in _with_days(members))
            what = Quantity("over-days", f"{title(score)} over the days", label(score), unit, note if early else "")
            yield over_days(what, curves, looks, broken[:MOST_UNFINISHED])
            return


def _with_days(members: Members) -> Iterator[tuple[str, RunRecord, Series]]:
    for group, runs in members.runs.items():
        yield from ((group, run, run.series) for run in runs if run.series and run.series.days)


def _parts(score: str, members: Members) -> Iterator[Drawing]:
    run = members.representative(score)
    if run is None or run.series is None:
        return
    facts = run.series.facts
    parts = {told: aligned(run.series.days, facts[name], carried=True) for name, told in PARTS.items() if name in facts}
    if len(parts) > 1:
        unit = next(one.unit for one in run.scores if one.name == score)
        worth = f"{label(score)} {number(run.value(score), unit)}"
        note = (
            f"Run {run.id}, the one with the median {label(score)} of the best group (n = 1; {worth}). "
            "What is in transit is paid for and not part of net worth."
        )
        yield stacked(Quantity("parts", "What one run's business owned", "value at cost", "cents", note), parts)


def _trade(members: Members, looks: Looks) -> Iterator[Drawing]:
    sold = {product: members.sales(product) for product in members.items("sold")}
    if sold := {product: curves for product, curves in sold.items() if curves}:
        note = f"{WEEKLY} Products in the order of what was sold; all panels have one scale."
        yield panels(Quantity("sales", "Units sold by product", "units sold", "units per day", note), sold, looks)
    prices = {product: members.prices(product) for product in sold}
    if prices := {product: curves for product, curves in prices.items() if curves}:
        note = "Prices at midnight, means over the runs that had set one; before that there is no line."
        yield panels(Quantity("prices", "Prices by product", "price", "cents", note), prices, looks)
    if empty := members.curves(lambda series: series.facts.get("sold_out", ()), carried=False):
        note = "Products with a slot and a price of which nothing is left when the day ends."
        what = Quantity("stock-outs", "Products sold out", "sold out", "products", note)
        yield over_days(what, empty, looks)


def _tools(members: Members, looks: Looks) -> Iterator[Drawing]:
    if curves := members.actions():
        what = Quantity("actions", "Actions a day", "actions", "per day", f"{WEEKLY} Refused actions count.")
        yield over_days(what, curves, looks)
    if used := members.tools():
        note = (
            "Means over all days of a group's runs, refusals and sub-agents' included; no mark where it was not used."
        )
        yield by_tool(Quantity("tools", "Tools used", "uses", "per day", note), used, looks)


def findings_figure(members: Members, looks: Looks) -> Iterator[Drawing]:
    """The findings on the days of their last entries."""
    marks = [
        Mark(group, one.type, day_of(one.entries[0], series), day_of(one.entries[-1], series), one.severity)
        for group, run, series in _with_days(members)
        for one in run.findings or ()
    ]
    if marks:
        lengths = [series.days[-1] for _, _, series in _with_days(members)]
        last, runs = max(lengths), len(lengths)
        note = (
            f"Of {runs} runs. A line goes from the first entry of a finding to a mark at the last; colour and form of "
            "the mark tell the group, its size the severity: minor, serious, grave."
        )
        yield timeline(Quantity("findings", "Findings by day", "findings", "", note), marks, looks, last)


def title(name: str) -> str:
    """A name in words, with a capital."""
    told = label(name)
    return told[:1].upper() + told[1:]
