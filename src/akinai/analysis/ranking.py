"""Rankings of a world's groups by its headline score, and how often seeds that were played again pass a threshold."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from statistics import fmean

from akinai.analysis.groups import seed_values
from akinai.analysis.records import Group, PassRate, WorldRanking
from akinai.core.errors import UnknownName, UsageError
from akinai.core.statistics import pass_at_k, pass_hat_k, rank, summarise
from akinai.runtime.runs.records import Run

MOST_GROUPS = 30
"""Groups of one world that are ranked: 435 pairs."""
MOST_TRIES = 8
"""The largest k of pass@k and pass^k that is computed."""


def rank_groups(groups: Sequence[Group], runs: Iterable[Run]) -> list[WorldRanking]:
    """Rank the groups of each world that has two or more by its first score; a world with more than `MOST_GROUPS` has
    no ranking."""
    by_id = {run.id: run for run in runs}
    rankings: list[WorldRanking] = []
    for world in dict.fromkeys(group.world for group in groups if group.world):
        rivals = [group for group in groups if group.world == world and group.scores]
        if not 2 <= len(rivals) <= MOST_GROUPS:
            continue
        first = next(iter(rivals[0].scores.values()))
        values = {group.name: seed_means((by_id[id] for id in group.runs), first.name) for group in rivals}
        ranking = rank(values, better=first.better)
        seeds = min(sum(mean is not None for mean in means.values()) for means in values.values())
        rankings.append(WorldRanking(world, first.name, first.unit, first.better, ranking, seeds))
    return rankings


def seed_means(runs: Iterable[Run], score: str) -> dict[int, float | None]:
    """The mean of each seed's runs; None where none of them is measured."""
    return {seed: fmean(values) if values else None for seed, values in seed_values(runs, score).items()}


def pass_rates(group: Group, runs: Sequence[Run], thresholds: Mapping[str, float]) -> list[PassRate]:
    """pass@k and pass^k of each score that has a threshold, for k from 1 to the tries of the seed that was tried most.

    A run passes where its score is no worse than the threshold, which is in dollars for money. UnknownName for a score
    that the group's world does not have; UsageError for one of which neither higher nor lower values are better.
    """
    rates: list[PassRate] = []
    for name, amount in thresholds.items():
        if name not in group.scores:
            raise UnknownName("score", name, group.scores)
        score = group.scores[name]
        if score.better is None:
            raise UsageError(f"neither higher nor lower values of {name!r} are better, so no run passes; name another")
        threshold = amount * 100 if score.unit == "cents" else amount
        sign = 1 if score.better == "higher" else -1
        tries = [
            (len(values), sum(sign * value >= sign * threshold for value in values))
            for values in seed_values(runs, name).values()
        ]
        for k in range(1, min(MOST_TRIES, max((n for n, _ in tries), default=0)) + 1):
            enough = [(passed, n) for n, passed in tries if n >= k]
            once, always = (
                summarise([rate(passed, n, k) for passed, n in enough], bounds=(0.0, 1.0))
                for rate in (pass_at_k, pass_hat_k)
            )
            rates.append(PassRate(name, score.unit, threshold, k, once, always))
    return rates


def parse_thresholds(texts: Mapping[str, float] | Sequence[str] | None) -> dict[str, float]:
    """Thresholds by score, from such a mapping or from texts like "net_worth=1000". UsageError for any other text."""
    if isinstance(texts, Mapping):
        return dict(texts)
    return dict(_threshold(text) for text in texts or ())


def _threshold(text: str) -> tuple[str, float]:
    name, _, amount = text.partition("=")
    try:
        value = float(amount.replace("$", "").replace(",", ""))
    except ValueError:
        value = nan
    if not name.strip() or not isfinite(value):
        raise UsageError(f"--threshold wants SCORE=VALUE, such as net_worth=1000, not {text!r:.100}")
    return name.strip().replace(" ", "_"), value
