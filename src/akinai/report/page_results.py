"""All numbers of a report as one JSON document, for programs: the analysis, the comparisons and what is drawn."""

from collections.abc import Mapping, Sequence

from akinai.core.canonical import Json
from akinai.report.series import Curves, Members
from akinai.runtime.analysis import Analysis
from akinai.runtime.analysis_pairs import Contrast


def results(analysis: Analysis, compared: Sequence[Contrast], *, files: Sequence[str]) -> Mapping[str, Json]:
    """What `akinai analyze --json` prints, with comparisons of groups and curves by group; `files` are the report's."""
    worlds = list(dict.fromkeys(group.world for group in analysis.groups))
    by_world = {world: [group for group in analysis.groups if group.world == world] for world in worlds}
    told: dict[str, Json] = dict(analysis.to_json())
    told["runs"] = [{name: value for name, value in run.to_json().items() if name != "series"} for run in analysis.runs]
    told["comparisons"] = [{name: part for name, part in one.to_json().items() if name != "card"} for one in compared]
    told["curves"] = {world: _curves(Members.of(analysis, groups)) for world, groups in by_world.items()}
    told["files"] = list(files)
    return told


def _curves(members: Members) -> dict[str, Json]:
    """By fact, or table and item, then by group: means and intervals by day from 1."""
    products = members.items("sold")
    told: dict[str, Json] = {name: _of(members.fact(name, carried=True)) for name in members.facts()}
    told["actions"] = _of(members.actions())
    told["sold"] = {product: _of(members.sales(product)) for product in products}
    told["price_cents"] = {product: _of(members.prices(product)) for product in products}
    told["uses_a_day"] = {group: dict(tools) for group, tools in members.tools().items()}
    return told


def _of(curves: Curves) -> dict[str, Json]:
    return {group: one.to_json() for group, one in curves.items()}
