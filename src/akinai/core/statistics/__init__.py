"""Statistics of scores: summaries over seeds, comparisons of two groups, and the gains that so many runs can show.

Numbers in, numbers out; no score is known by name. Every figure is deterministic: what is sampled is drawn by labelled
chance, and the order of the values does not matter.
"""

from akinai.core.statistics.comparisons import (
    PairedComparison,
    WelchComparison,
    cautious_sd,
    compare,
    mde,
    seeds_needed,
    welch_compare,
    welch_mde,
    welch_seeds_needed,
)
from akinai.core.statistics.intervals import (
    Estimate,
    estimate_mean,
    expected_coverage,
    mean,
    mean_interval,
    proportion_interval,
    sd,
)
from akinai.core.statistics.passes import pass_at_k, pass_hat_k
from akinai.core.statistics.ranking import RankedPair, Ranking, holm, rank, seeds_to_show
from akinai.core.statistics.ratings import Rating, rate
from akinai.core.statistics.rearrangements import LEVEL, fewest_pairs, fewest_runs
from akinai.core.statistics.student_t import t_quantile, t_within
from akinai.core.statistics.summaries import BOUNDLESS, Better, Bounds, Summary, clustered, share_between, summarise

__all__ = [
    "BOUNDLESS",
    "LEVEL",
    "Better",
    "Bounds",
    "Estimate",
    "PairedComparison",
    "RankedPair",
    "Ranking",
    "Rating",
    "Summary",
    "WelchComparison",
    "cautious_sd",
    "clustered",
    "compare",
    "estimate_mean",
    "expected_coverage",
    "fewest_pairs",
    "fewest_runs",
    "holm",
    "mde",
    "mean",
    "mean_interval",
    "pass_at_k",
    "pass_hat_k",
    "proportion_interval",
    "rank",
    "rate",
    "sd",
    "seeds_needed",
    "seeds_to_show",
    "share_between",
    "summarise",
    "t_quantile",
    "t_within",
    "welch_compare",
    "welch_mde",
    "welch_seeds_needed",
]
