"""Groups of runs put in order: all pairs compared, corrected for their number, and places that respect ties."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from akinai.core.canonical import Json
from akinai.core.statistics.comparisons import (
    PairedComparison,
    WelchComparison,
    compare,
    mde,
    seeds_needed,
    welch_compare,
    welch_mde,
)
from akinai.core.statistics.intervals import mean
from akinai.core.statistics.rearrangements import LEVEL, fewest_pairs, fewest_runs
from akinai.core.statistics.summaries import Better, summarise

Key = TypeVar("Key", bound=Hashable)
MOST_SEEDS = 100_000
"""A larger number of needed seeds is not reported."""


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """The p of each of several tests, corrected by Holm's method (1979, Scandinavian Journal of Statistics 6:65).

    None is no test: it stays None and is not counted.
    """
    order = sorted((p, index) for index, p in enumerate(ps) if p is not None)
    corrected: list[float | None] = [None] * len(ps)
    largest = 0.0
    for rank, (p, index) in enumerate(order):
        largest = max(largest, min(1.0, p * (len(order) - rank)))
        corrected[index] = largest
    return corrected


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two groups of a ranking: b less a."""

    a: str
    b: str
    comparison: PairedComparison | WelchComparison
    p_holm: float | None
    """The p of the comparison, corrected for all pairs of the ranking."""
    winner: str | None
    """The better group where the difference is shown; None for a tie."""
    seeds_to_show: int | None
    """Seeds that each group needs to show the observed difference with 80 % power; None where it is shown, where
    nothing differs, and above `MOST_SEEDS`."""
    mde: float | None
    """Minimum detectable effect at 80 % power, with p corrected; None where these runs can show no difference."""
    fewest: int
    """The smallest number of seeds, or of runs on each side without a common seed, that can show a difference with p
    corrected."""

    @property
    def powerless(self) -> bool:
        """Whether so few runs can show no difference, however large."""
        return self.mde is None

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {"a": self.a, "b": self.b, **self.comparison.to_json(), "mde": self.mde}
        document |= {"p_holm": self.p_holm, "winner": self.winner, "fewest": self.fewest}
        return document | {"seeds_to_show": self.seeds_to_show}


@dataclass(frozen=True, slots=True)
class Ranking:
    """Groups by one score."""

    places: Mapping[str, int]
    """The place of each group, best first: one more than the number of groups that are shown to be better. Groups that
    cannot be told apart from the same rivals share a place. Empty where neither higher nor lower values are better."""
    pairs: tuple[RankedPair, ...]
    """Every two groups, in the order in which the groups were given."""

    @property
    def mde(self) -> float | None:
        """The largest of the pairs' minimum detectable effects: a smaller difference may have been overlooked."""
        effects = [pair.mde for pair in self.pairs if pair.mde is not None]
        return max(effects) if effects and len(effects) == len(self.pairs) else None

    def to_json(self) -> dict[str, Json]:
        return {"places": dict(self.places), "mde": self.mde, "pairs": [pair.to_json() for pair in self.pairs]}


def rank(groups: Mapping[str, Mapping[Key, float | None]], *, better: Better | None) -> Ranking:
    """Put groups in order by one score. Each is given by its values by seed (or another key that makes a pair), None
    for a run that failed; of several runs of a seed give their mean.

    Two groups are compared on their common seeds, and by their means where there are none; each p is corrected for the
    number of pairs (see `holm`). Of equal groups, any difference at all is shown in at most 5 % of studies.
    """
    names = list(combinations(groups, 2))
    comparisons = [
        compare(groups[a], groups[b], better=better)
        if groups[a].keys() & groups[b].keys()
        else welch_compare(groups[a].values(), groups[b].values())
        for a, b in names
    ]
    corrected = holm([comparison.p for comparison in comparisons])
    pairs = tuple(
        _pair(a, b, comparison, p, better, groups, LEVEL / len(names))
        for (a, b), comparison, p in zip(names, comparisons, corrected, strict=True)
    )
    return Ranking(_places(groups, pairs, better) if better else {}, pairs)


def _pair(
    a: str,
    b: str,
    comparison: PairedComparison | WelchComparison,
    p: float | None,
    better: Better | None,
    groups: Mapping[str, Mapping[Key, float | None]],
    level: float,
) -> RankedPair:
    shown, winner = p is not None and p < LEVEL, None
    if shown and better and comparison.difference:
        winner = b if (comparison.difference > 0) == (better == "higher") else a
    to_show = None if shown else seeds_to_show(comparison, groups[a], groups[b], level=level)
    if isinstance(comparison, PairedComparison):
        spread, fewest = comparison.sd_difference, fewest_pairs(level)
        smallest = None if spread is None or comparison.pairs < fewest else mde(spread, comparison.pairs, level=level)
    else:
        fewest = fewest_runs(level)
        smallest = welch_mde(summarise(groups[a].values()), summarise(groups[b].values()), level=level)
    return RankedPair(a, b, comparison, p, winner, to_show, smallest, fewest)


def seeds_to_show(
    comparison: PairedComparison | WelchComparison,
    a: Mapping[Key, float | None],
    b: Mapping[Key, float | None],
    *,
    level: float = LEVEL,
) -> int | None:
    """Seeds that each side needs to show the observed difference; None where there is none, below two values, and above
    `MOST_SEEDS`."""
    gain = abs(comparison.difference or 0.0)
    if isinstance(comparison, PairedComparison):
        spread = comparison.sd_difference
    else:
        sides = [summarise(side.values()).sd for side in (a, b)]
        spread = None if None in sides else math.hypot(*(side or 0.0 for side in sides))
    if not gain or spread is None or spread * spread > gain * gain * MOST_SEEDS:
        return None
    seeds = seeds_needed(spread, gain, level=level)
    return seeds if seeds <= MOST_SEEDS else None


def _places(
    groups: Mapping[str, Mapping[Key, float | None]], pairs: Sequence[RankedPair], better: Better
) -> dict[str, int]:
    beaten = dict.fromkeys(groups, 0)
    for pair in pairs:
        if pair.winner:
            beaten[pair.a if pair.winner == pair.b else pair.b] += 1
    means = {name: [value for value in values.values() if value is not None] for name, values in groups.items()}
    sign = -1 if better == "higher" else 1
    order = sorted(groups, key=lambda name: (beaten[name], sign * mean(means[name]) if means[name] else 0.0))
    return {name: beaten[name] + 1 for name in order}
