"""Statistics of scores: summaries over seeds, comparisons of two groups, and the gains that so many runs can show.

Numbers in, numbers out; no score is known by name. Every figure is deterministic: resampling draws are a function of
`seed`, and the order of the values does not matter.
"""

from akinai.core.statistics.comparisons import (
    PairedComparison,
    WelchComparison,
    compare,
    mde,
    seeds_needed,
    welch_compare,
    welch_mde,
    welch_seeds_needed,
)
from akinai.core.statistics.intervals import expected_coverage, mean_interval, proportion_interval, sd
from akinai.core.statistics.passes import pass_at_k, pass_hat_k
from akinai.core.statistics.ranking import RankedPair, Ranking, holm, rank, seeds_to_show
from akinai.core.statistics.student_t import t_quantile, t_within
from akinai.core.statistics.summaries import BOUNDLESS, Better, Bounds, Summary, clustered, share_between, summarise

__all__ = [
    "BOUNDLESS",
    "Better",
    "Bounds",
    "PairedComparison",
    "RankedPair",
    "Ranking",
    "Summary",
    "WelchComparison",
    "clustered",
    "compare",
    "expected_coverage",
    "holm",
    "mde",
    "mean_interval",
    "pass_at_k",
    "pass_hat_k",
    "proportion_interval",
    "rank",
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
