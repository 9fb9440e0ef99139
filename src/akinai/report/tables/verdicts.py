"""Verdicts of comparisons in sentences: which side is better, by how much, and how many seeds would settle the rest."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from akinai.analysis.plan import StudyPlan
from akinai.analysis.records import Group, PassRate, WorldRanking
from akinai.core.statistics import PairedComparison, RankedPair, expected_coverage
from akinai.report.tables.columns import Column
from akinai.report.tables.runs import ABSENT, figure, label

MOST_PAIRS = 6
"""Pairs that are listed in full; of more groups, each is compared with the next one only."""


def ranking_sentences(ranking: WorldRanking) -> str:
    """A sentence on the order of the groups, and one on what these seeds could have shown."""
    sentences = [_pair(pair, ranking) for pair in _chosen_pairs(ranking)]
    name = label(ranking.score)
    pairs = len(ranking.order.pairs)
    parts = [f"{name[:1].upper()}{name[1:]}: {'; '.join(sentences)}."]
    if ranking.order.mde:
        floor = figure(ranking.order.mde, ranking.unit)
        parts.append(
            f"With these runs a true difference of about {floor} between two groups is found four times in five."
        )
    if pairs > 1:
        parts.append(f"Corrected for {pairs} pairs (Holm).")
    return " ".join(filter(None, [*parts, coverage_warning(ranking.seeds) if ranking.order.mde else ""]))


def _chosen_pairs(ranking: WorldRanking) -> list[RankedPair]:
    pairs = ranking.order.pairs
    if len(pairs) <= MOST_PAIRS:
        return sorted(pairs, key=lambda pair: pair.winner is None)
    order = list(ranking.order.places) or list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    neighbours = {frozenset(two) for two in pairwise(order)}
    return [pair for pair in pairs if frozenset((pair.a, pair.b)) in neighbours]


def _pair(pair: RankedPair, ranking: WorldRanking) -> str:
    comparison = pair.comparison
    pairs = comparison.pairs if isinstance(comparison, PairedComparison) else None
    if pair.winner and comparison.difference is not None:
        loser = pair.a if pair.winner == pair.b else pair.b
        return better_by(pair.winner, loser, comparison.difference, comparison.ci95, ranking.unit)
    seeds = pairs if pairs is not None else ranking.seeds
    return cannot_tell(pair.a, pair.b, seeds, pair.fewest if pair.powerless else None, pair.seeds_to_show)


def better_by(winner: str, loser: str, difference: float, ends: tuple[float, float] | None, unit: str) -> str:
    """ "B is better than A by $322.00, between $147.00 and $497.00"; without an interval where nothing varies."""
    sentence = f"{winner} is better than {loser} by {figure(abs(difference), unit)}"
    if ends is None:
        return f"{sentence}, with no spread to put an interval on"
    low, high = ends if difference > 0 else (-ends[1], -ends[0])
    return f"{sentence}, between {figure(low, unit)} and {figure(high, unit)}"


def cannot_tell(a: str, b: str, seeds: int, fewest: int | None, needed: int | None) -> str:
    """ "A and C cannot be told apart with 8 seeds: about 40 would show a difference of this size". Where so few can
    show no difference, `fewest` is the number of seeds that can."""
    count = f"{seeds:,} seed{'' if seeds == 1 else 's'}"
    if fewest is not None:
        return f"{a} and {b} cannot be told apart: with {count} no difference can be shown, {fewest} can"
    sentence = f"{a} and {b} cannot be told apart with {count}"
    return sentence + (f": about {needed:,} would show a difference of this size" if needed and needed > seeds else "")


def coverage_warning(seeds: int) -> str:
    """A sentence for groups of few seeds; none from 50 seeds on."""
    if seeds < 2 or (expected := expected_coverage(seeds)) is None:
        return ""
    share = f"{100 * expected:.0f} %"
    return f"Where scores are very skewed, intervals over {seeds} seeds hold the truth in {share} of studies, not 95 %."


def place_column(names: Sequence[str], rankings: Sequence[WorldRanking]) -> Column:
    """The place of each group; groups that cannot be told apart share it."""
    places: Mapping[str, int] = {name: rank for ranking in rankings for name, rank in ranking.order.places.items()}
    return Column("place", [str(places[name]) if name in places else ABSENT for name in names])


def rank_text(rank: int | None, ranks: Collection[int | None]) -> str:
    """A place on a leaderboard, with "=" where others of `ranks` share it; empty without one."""
    if rank is None:
        return ""
    return f"{rank}{'=' if list(ranks).count(rank) > 1 else ''}"


def pass_columns(rates: Sequence[PassRate]) -> list[Column]:
    """A row for each score and k: pass@k and pass^k, each with its interval."""

    def cells(kind: str) -> list[str]:
        summaries = [getattr(rate, kind) for rate in rates]
        return [
            ABSENT
            if summary.mean is None
            else f"{100 * summary.mean:.0f} %"
            + (f" ({100 * summary.ci95[0]:.0f} to {100 * summary.ci95[1]:.0f} %)" if summary.ci95 else "")
            for summary in summaries
        ]

    return [
        Column("score", [f"{label(rate.score)} {figure(rate.threshold, rate.unit)}" for rate in rates], words=True),
        Column("tries", [str(rate.k) for rate in rates]),
        Column("pass@k: at least once", cells("at_least_once")),
        Column("pass^k: every time", cells("every_time")),
        Column("seeds", [str(rate.every_time.n) for rate in rates]),
    ]


def plan_sentences(plan: StudyPlan) -> str:
    """A planned study in a few lines."""
    gain, sd = figure(plan.gain, plan.unit), figure(plan.sd, plan.unit)
    name, n = label(plan.score), plan.pilot_seeds
    lines = [
        f"{plan.cautious:,} seeds on each side show a gain of {gain} in {name}, four times in five: "
        f"{plan.runs:,} runs.",
        f"The pilot of {n} seeds has a spread of {sd}"
        + (f" between {plan.pilot[0]} and {plan.pilot[1]}, seed by seed." if plan.paired else "."),
    ]
    if plan.cautious > plan.seeds:
        lines.append(
            f"So few seeds know a spread badly, and the number allows for it: {plan.seeds:,} would do if the true "
            "spread is the pilot's, which is as often too little as enough."
        )
    if plan.unreadable:
        lines.append(
            f"{plan.unreadable} of {plan.pilot_runs} runs of the pilot are unreadable: expect as many, and play more."
        )
    if not plan.paired:
        lines.append(
            "Counted as if the sides had no luck in common; a pilot of both, on common seeds, often needs fewer."
        )
    if plan.tokens is None:
        lines.append("No model was asked in the pilot: no tokens.")
    else:
        took = f"{plan.tokens.input:,} tokens read and {plan.tokens.output:,} written"
        price = "" if plan.dollars is None else f", ${plan.dollars:,.2f}"
        lines.append(f"As the pilot's runs went: {took}, {plan.hours:,.2f} hours{price}.")
    return "\n".join(lines)


def report_verdict(groups: Sequence[Group], rankings: Sequence[WorldRanking]) -> str:
    """A sentence for each world: the best group, by how much, and the groups that cannot be told apart from it."""
    sentences: list[str] = []
    for world in dict.fromkeys(group.world for group in groups):
        rivals = [group for group in groups if group.world == world and group.scores and _mean(group) is not None]
        ranking = next((ranking for ranking in rankings if ranking.world == world), None)
        if rivals:
            sentences.append(_leading(rivals, ranking))
    return " ".join(sentences)


def _leading(rivals: Sequence[Group], ranking: WorldRanking | None) -> str:
    score = next(iter(rivals[0].scores.values()))
    places: Mapping[str, int] = ranking.order.places if ranking else {}
    sign = 1 if score.better == "lower" else -1
    ranked = sorted(rivals, key=lambda group: (places.get(group.name, len(rivals)), sign * (_mean(group) or 0)))
    first, followers = ranked[0], ranked[1:]
    result = f"{label(score.name)} {figure(_mean(first), score.unit)} on average{_between(first)}"
    tied = [group for group in followers if places.get(group.name) == places.get(first.name, 1)]
    if not followers:
        return f"{first.name}: {result}."
    if tied:
        names = ", ".join(group.name for group in tied)
        return f"{first.name} has the best mean, {result}; these runs do not tell it apart from {names}."
    second = followers[0]
    return f"{first.name} is best: {result}, ahead of {second.name} with {figure(_mean(second), score.unit)}."


def _mean(group: Group) -> float | None:
    return next(iter(group.scores.values())).summary.mean


def _between(group: Group) -> str:
    share = next(iter(group.scores.values())).share
    return "" if share is None else f", {share:.0%} of the way from idle to reference".replace("%", " %")
