"""The groups of a report side by side: a card each, and the first score over the days against idle and reference."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from akinai.analysis.analyse import Analysis
from akinai.analysis.groups import settings_key
from akinai.analysis.records import Group, ScoreSummary, WorldRanking
from akinai.analysis.verdicts import rank_text
from akinai.core.findings import WORST_FIRST, Finding
from akinai.core.presentation.words import label
from akinai.report.figures.style import SCALE_LOOKS, Look, looks
from akinai.report.language import translate_cell
from akinai.report.page.document import Addresses, entry_link
from akinai.report.page.plot import Plot, group_hues, group_line, on_span, plot, scale_hues, short_number, span_of
from akinai.report.page.templating import Language
from akinai.report.why.section import moment_link
from akinai.report.why.tables import decisions_text, when
from akinai.runtime.runs.records import Run
from akinai.runtime.why.explanation import Credit, Explanation

MAX_GAMES = 6
"""Games of a world that have a chart each; with more, all groups of the world share one chart."""
MAX_MOMENTS = 3
MAX_TYPES = 6


@dataclass(frozen=True, slots=True)
class Game:
    """The groups that played one world under the same settings."""

    world: str
    score: str
    settings: str
    cards: Sequence[Mapping[str, Any]]
    """Of each group what its card shows."""
    plot: Plot | None


def hues_of(analysis: Analysis) -> dict[str, str]:
    """The hue of each group that charts draw."""
    by_id, hues = {run.id: run for run in analysis.runs}, dict[str, str]()
    for world in dict.fromkeys(group.world for group in analysis.groups):
        groups = _ranked(analysis, world)
        genesis = by_id[groups[0].runs[0]].header.genesis
        hues |= group_hues(genesis, ((group.name, group.agent) for group in groups))
    return hues


def games(analysis: Analysis, addresses: Addresses, explained: Sequence[Explanation], language: Language) -> list[Game]:
    """The games of an analysis, each with its groups by place."""
    hues, runs = hues_of(analysis), {run.id: run for run in analysis.runs}
    drawn = looks([group.name for group in analysis.groups], hues)
    drawn = {name: drawn[name] for name in hues}
    games: list[Game] = []
    for world in dict.fromkeys(group.world for group in analysis.groups):
        groups = [group for group in _ranked(analysis, world) if group.scores]
        if not groups:
            continue
        by_key: dict[str, list[Group]] = {}
        for group in groups:
            by_key.setdefault(settings_key(runs[group.runs[0]].header.genesis), []).append(group)
        parts = list(by_key.values()) if len(by_key) <= MAX_GAMES else [groups]
        span = span_of(ci95 for group in groups if (ci95 := _ends(group.first)))
        ranking = _ranking_of(analysis, world)
        cards = {
            group.name: _group_card(
                group, _runs(group, runs), hues.get(group.name, ""), ranking, span, addresses, explained
            )
            for group in groups
        }
        for part in parts:
            settings = ", ".join(f"{name} {value}" for name, value in part[0].settings.items())
            plot = _plot(part, runs, drawn, language, scaled=len(part) < len(groups) or len(by_key) == 1)
            score = translate_cell(label(part[0].first.name).capitalize(), language)
            games.append(Game(world, score, settings if len(parts) > 1 else "", [cards[g.name] for g in part], plot))
    return games


def _ranked(analysis: Analysis, world: str) -> list[Group]:
    """The groups of a world, the best first."""
    groups = [group for group in analysis.groups if group.world == world]
    ranking = _ranking_of(analysis, world)
    places: Mapping[str, int] = ranking.order.places if ranking else {}

    def rank(group: Group) -> tuple[int, float]:
        first = next(iter(group.scores.values()), None)
        mean = (first.summary.mean if first else None) or 0.0
        return places.get(group.name, len(groups) + 1), mean if first and first.better == "lower" else -mean

    return sorted(groups, key=rank)


def _ranking_of(analysis: Analysis, world: str) -> WorldRanking | None:
    return next((ranking for ranking in analysis.standings if ranking.world == world), None)


def _ends(score: ScoreSummary) -> tuple[float, float] | None:
    mean = score.summary.mean
    return score.summary.ci95 or (None if mean is None else (mean, mean))


def _runs(group: Group, runs: Mapping[str, Run]) -> list[Run]:
    return [runs[id] for id in group.runs]


def _group_card(
    group: Group,
    runs: Sequence[Run],
    hue: str,
    ranking: WorldRanking | None,
    span: tuple[float, float],
    addresses: Addresses,
    explained: Sequence[Explanation],
) -> Mapping[str, Any]:
    """The card of a group: its place, the look of its line, its interval and mean in per cent of the scale that all
    groups of the game share, its findings by type and its decisive moments."""
    score, places = group.first, dict(ranking.order.places) if ranking else {}
    left, width, middle = on_span(score.summary.mean, score.summary.ci95, span)
    findings = list(_findings_by_type(runs, addresses))
    return {
        "group": group,
        "score": score,
        "hue": hue,
        "rank": rank_text(places.get(group.name), places.values()),
        "left": left,
        "width": width,
        "middle": middle,
        "findings": findings[:MAX_TYPES],
        "conduct": sum(summary.count for summary in group.conduct.values()),
        "more": max(0, len(findings) - MAX_TYPES),
        "judged": any(run.findings is not None for run in runs),
        "moments": list(_moments(group, explained, addresses)),
    }


def _findings_by_type(runs: Sequence[Run], addresses: Addresses) -> Iterator[Mapping[str, Any]]:
    """The types of findings of a group, the worst and the most frequent first, each with a link to the worst."""
    by_type: dict[str, list[tuple[Run, Finding]]] = {}
    for run in runs:
        for finding in run.findings or ():
            by_type.setdefault(finding.type, []).append((run, finding))
    rows = {type: min(pairs, key=lambda pair: WORST_FIRST.index(pair[1].severity)) for type, pairs in by_type.items()}
    for type in sorted(by_type, key=lambda type: (WORST_FIRST.index(rows[type][1].severity), -len(by_type[type]))):
        run, worst = rows[type]
        having = len(Counter(run.id for run, _ in by_type[type]))
        words = entry_link(label(type), addresses, run.id, entry=worst.entries[-1])
        yield {"type": words, "count": len(by_type[type]), "runs": having, "look": worst.look}


def _moments(group: Group, explained: Sequence[Explanation], addresses: Addresses) -> Iterator[Mapping[str, Any]]:
    """Yield the decisions that cost or made most in the group's explained runs, first those that differ from chance."""
    rows: list[tuple[Explanation, str, Credit]] = [
        (explanation, kind, row)
        for explanation in explained
        if explanation.run in group.runs
        for kind, rows in (("cost", explanation.cost), ("made", explanation.made))
        for row in rows
    ]
    rows.sort(key=lambda moment: (not moment[2].shown, -abs(moment[2].made)))
    for explanation, kind, row in rows[:MAX_MOMENTS]:
        where = moment_link(f"{explanation.run}, {when(explanation, row)}", addresses, explanation, row)
        worth, significant = short_number(abs(row.made), explanation.unit), row.shown
        words = decisions_text(row)
        yield {"when": where, "worth": worth, "decisions": words, "kind": kind, "significant": significant}


def _plot(
    groups: Sequence[Group], runs: Mapping[str, Run], drawn: Mapping[str, Look], language: Language, *, scaled: bool
) -> Plot | None:
    """The chart of a game; `scaled` adds the players of the scale that are not among its groups."""
    genesis = runs[groups[0].runs[0]].header.genesis
    lines = [
        group_line(look, [run.headline_by_day for run in _runs(group, runs) if run.measured], genesis)
        for group in groups
        if (look := drawn.get(group.name))
    ]
    hues = {line.look.hue for line in lines}
    for player, hue in scale_hues(genesis).items() if scaled else ():
        by_seed = {seed: days for group in groups for seed, days in group.scale.days.get(player, {}).items()}
        if hue not in hues:
            look = Look(player, hue, *SCALE_LOOKS[hue])
            lines.append(group_line(look, list(by_seed.values()), genesis, banded=False))
    first = groups[0].first
    return plot((first.name, first.unit), lines, 0, language, 8.0)
