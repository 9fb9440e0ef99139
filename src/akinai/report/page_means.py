"""Which figures a report draws of what a world tells beside its scores: shares beside chance, gains, places."""

from collections.abc import Iterator, Mapping, Sequence

from akinai.core.statistics import Summary
from akinai.report.figures import Quantity
from akinai.report.figures_axes import Look
from akinai.report.figures_means import Mean, by_place, means
from akinai.report.figures_svg import Drawing
from akinai.runtime.analysis import Group

SHARES: Mapping[str, tuple[str, str]] = {
    "first_proposal_share": ("first proposal", "first_by_chance"),
    "top_result_share": ("top of the results", "top_by_chance"),
    "treated_share": ("treated sellers", "treated_by_chance"),
}
"""Shares of purchases: what of, and what each would be if customers chose blindly."""
GAINS: Mapping[str, tuple[str, str]] = {
    name: (name.replace("_", " "), "") for name in ("consumer_surplus", "business_profit", "platform_fees")
}
RANKS: Mapping[str, str] = {"arrival_ranks": "by arrival", "result_ranks": "by place in the results"}
MOST_LINES = 4
"""Groups beyond which lines over places cannot be told apart."""
NOTE = "Marks are means over the runs of a group, lines their 95 % intervals."

Looks = Mapping[str, Look]


def mean_figures(groups: Sequence[Group], looks: Looks) -> Iterator[Drawing]:
    """As many as the groups have something for."""
    here = {group.name: looks[group.name] for group in groups}
    if told := _of(groups, SHARES):
        note = f"Shares of purchases. {NOTE} A tick is what blind choice among the proposals at hand would give."
        yield means(
            Quantity("shares", "Whom customers bought from", "Share of purchases", "share", note),
            told,
            here,
            "blind choice",
        )
    if len(told := _of(groups, GAINS)) > 1:
        note = (
            f"{NOTE} Customers: what they were willing to pay less what they paid; sellers: that less costs and fees."
        )
        yield means(Quantity("gains", "Who gained", "Gain", "cents", note), told, here)
    if len(groups) <= MOST_LINES and (places := _places(groups)):
        note = f"{NOTE} When the paid proposal came, and where its seller stood in the results, among those at hand."
        yield by_place(Quantity("places", "The place of what was bought", "purchases", "a run", note), places, here)


def _of(groups: Sequence[Group], names: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, Mean]]:
    """Quantities that some group has, and that are not 0 everywhere."""
    told: dict[str, dict[str, Mean]] = {}
    for name, (words, beside) in names.items():
        found = {
            group.name: Mean(one.summary, _mean(group, beside))
            for group in groups
            if (one := group.figures.get(name)) and one.summary.mean is not None
        }
        if any(one.summary.min or one.summary.max for one in found.values()) or (found and beside):
            told[words] = found
    return told


def _mean(group: Group, name: str) -> float | None:
    one = group.figures.get(name)
    return one.summary.mean if one else None


def _places(groups: Sequence[Group]) -> dict[str, dict[str, dict[int, Summary]]]:
    """The tables of places that hold more than one."""
    told: dict[str, dict[str, dict[int, Summary]]] = {}
    for name, words in RANKS.items():
        found = {
            group.name: {int(str(row.keys[0])): row.values["purchases"] for row in group.tables[name].rows}
            for group in groups
            if name in group.tables and group.tables[name].rows
        }
        if any(len(places) > 1 for places in found.values()):
            told[words] = found
    return told
