"""Results in sentences: which group leads and how sure that is, and how many seeds would settle the rest."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from akinai.analysis.records import Group, WorldRanking
from akinai.core.presentation.sentences import amount_in, difference_sentences, floor_sentences
from akinai.core.presentation.words import counted, figure, label, percent
from akinai.core.statistics import RankedPair

MOST_PAIRS = 6
"""Pairs that are listed in full; of more groups, each is compared with the next one only."""


def opening_sentences(groups: Sequence[Group], rankings: Sequence[WorldRanking]) -> str:
    """A sentence or two for each world: the best group and how sure that is, or what a single group came to."""
    sentences: list[str] = []
    for world in dict.fromkeys(group.world for group in groups):
        rivals = [group for group in groups if group.world == world and group.scores and _mean(group) is not None]
        ranking = next((ranking for ranking in rankings if ranking.world == world), None)
        if rivals:
            sentences.append(_leading(rivals, ranking) if len(rivals) > 1 else _alone(rivals[0]))
    return " ".join(sentences) or "No run has a score."


def _leading(rivals: Sequence[Group], ranking: WorldRanking | None) -> str:
    score = rivals[0].first
    places: Mapping[str, int] = ranking.order.places if ranking else {}
    sign = 1 if score.better == "lower" else -1
    first, *followers = sorted(
        rivals, key=lambda group: (places.get(group.name, len(rivals)), sign * (_mean(group) or 0))
    )
    result = f"{_on_average(first)}{_between(first)}"
    if ranking is None or not places:
        return f"{first.name} has the best mean, {result}; nothing here says how sure that is."
    tied = [group.name for group in followers if places.get(group.name) == places.get(first.name)]
    if not tied:
        second = followers[0]
        return f"{first.name} is best: {result}, ahead of {second.name} with {figure(_mean(second), score.unit)}."
    pairs = [pair for pair in ranking.order.pairs if first.name in (pair.a, pair.b) and {pair.a, pair.b} & {*tied}]
    if all(pair.powerless for pair in pairs):
        few = f"{counted(ranking.seeds, 'seed')} can show no difference, {max(pair.fewest for pair in pairs)} can"
        return f"Nothing can be told apart yet: {few}. {first.name} has the best mean so far, {result}."
    return f"{first.name} has the best mean, {result}; these runs do not tell it apart from {', '.join(tied)}."


def _alone(group: Group) -> str:
    """A group that stands beside no other: its mean, or the one value that there is."""
    score = group.first
    if score.summary.n == 1 or group.seeds == 1:
        result = f"{label(score.name)} {figure(_mean(group), score.unit)} on one seed{_between(group)}"
        return f"{group.name}: {result}. Another seed may say otherwise."
    low, high = (figure(end, score.unit) for end in score.summary.ci95 or (None, None))
    sure = f", between {low} and {high} at 95 %" if score.summary.ci95 else ""
    return f"{group.name}: {_on_average(group)} of {counted(group.seeds, 'seed')}{sure}{_between(group)}."


def _mean(group: Group) -> float | None:
    return group.first.summary.mean


def _on_average(group: Group) -> str:
    score = group.first
    return f"{label(score.name)} {figure(score.summary.mean, score.unit)} on average"


def _between(group: Group) -> str:
    share = group.first.share
    return "" if share is None else f", {percent(share)} of the way from idle to reference"


def ranking_sentences(ranking: WorldRanking) -> str:
    """A sentence on the order of the groups, and one on what these seeds could have shown."""
    pairs = len(ranking.order.pairs)
    parts = [_pair(pair, ranking) for pair in _chosen_pairs(ranking)]
    parts += floor_sentences(ranking.order.mde, ranking.unit, ranking.seeds)
    return " ".join([*parts, *[f"Corrected for {pairs} pairs (Holm)."] * (pairs > 1)])


def _chosen_pairs(ranking: WorldRanking) -> list[RankedPair]:
    pairs = ranking.order.pairs
    if len(pairs) <= MOST_PAIRS:
        return sorted(pairs, key=lambda pair: pair.winner is None)
    order = list(ranking.order.places) or list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    neighbours = {frozenset(two) for two in pairwise(order)}
    return [pair for pair in pairs if frozenset((pair.a, pair.b)) in neighbours]


def _pair(pair: RankedPair, ranking: WorldRanking) -> str:
    """The difference of two groups, its p corrected for all pairs."""
    statistic, fewest = replace(pair.comparison, p=pair.p_holm), pair.fewest if pair.powerless else None
    return difference_sentences(
        pair.a, pair.b, ranking.score, statistic, ranking.better, pair.seeds_to_show,
        amount=amount_in(ranking.unit), fewest=fewest,
    )  # fmt: skip


def rank_text(rank: int | None, ranks: Collection[int | None]) -> str:
    """A place on a leaderboard, with "=" where others of `ranks` share it; empty without one."""
    if rank is None:
        return ""
    return f"{rank}{'=' if list(ranks).count(rank) > 1 else ''}"
