"""Differences in sentences: who is better, by how much and how sure that is, or that so few runs can show nothing."""

from collections.abc import Callable

from akinai.core.presentation.words import counted, figure, label
from akinai.core.scores import Better
from akinai.core.statistics import (
    LEVEL,
    PairedComparison,
    WelchComparison,
    expected_coverage,
    fewest_pairs,
    fewest_runs,
)

Format = Callable[[float], str]
"""An amount, without its sign, as a text."""


def difference_sentences(
    a: str,
    b: str,
    score: str,
    statistic: PairedComparison | WelchComparison,
    better: Better | None,
    to_show: int | None = None,
    *,
    amount: Format,
    noun: str = "seed",
) -> str:
    """The difference of b and a in one score, with its uncertainty; `to_show` is how many seeds would show it.

    ``amount`` formats a number of the score, and `noun` is what the two are paired by.
    """
    difference, name = statistic.difference, label(score)
    if difference is None:
        return f"{a} and {b} have no {noun} with a value on both sides."
    paired = statistic if isinstance(statistic, PairedComparison) else None
    n = paired.pairs if paired else min(statistic.n_a, statistic.n_b) if isinstance(statistic, WelchComparison) else 0
    if not difference and not (paired and paired.sd_difference):
        where = f"on any of {counted(n, noun)}" if paired else "on average"
        return f"{name} does not differ between {a} and {b} {where}."
    # The side with the better mean comes first; without a direction the one with the higher.
    ahead = (difference > 0) == (better != "lower")
    first, second = (b, a) if ahead else (a, b)
    more = "lower" if better == "lower" else "higher"
    apart = f"{name} is {amount(abs(difference))} {more} with {first} on average"
    wins = _wins(paired, noun, forward=ahead)
    if statistic.p is not None and statistic.p < LEVEL:
        ends = _ends(statistic.ci95, difference, amount)
        if better is None:
            return f"{apart} than with {second}{ends}."
        return f"{first} is better than {second}: {name} is {amount(abs(difference))} {more} on average{ends}{wins}."
    if fewest := _fewest(statistic, n):
        few = f"{counted(n, noun)} can show no difference, {fewest} can"
        return f"{first} and {second} cannot be told apart yet: {few}. So far {apart}{wins}."
    sentence = f"{first} and {second} cannot be told apart with {counted(n, noun)}: {apart}"
    if statistic.ci95:
        low, high = sorted(end if difference > 0 else -end for end in statistic.ci95)
        sentence += f", and anything from {amount(abs(low))} lower to {amount(high)} higher fits" * (low < 0)
    more_seeds = (
        f" About {counted(to_show, noun)} would show a difference of this size." if to_show and to_show > n else ""
    )
    return f"{sentence}.{more_seeds}"


def _ends(ci95: tuple[float, float] | None, difference: float, amount: Format) -> str:
    if ci95 is None:
        return ""
    low, high = sorted(abs(end) for end in ci95) if difference else ci95
    return f", between {amount(low)} and {amount(high)} at 95 %"


def _wins(paired: PairedComparison | None, noun: str, *, forward: bool) -> str:
    wins = None if paired is None else paired.wins if forward else paired.losses
    return "" if wins is None or paired is None else f", better on {wins:,} of {counted(paired.pairs, noun)}"


def _fewest(statistic: PairedComparison | WelchComparison, n: int) -> int | None:
    """The smallest number that can show a difference; None where there are enough."""
    if isinstance(statistic, PairedComparison):
        return fewest_pairs() if n < fewest_pairs() else None
    return fewest_runs() if statistic.powerless else None


def amount_in(unit: str) -> Format:
    """Format amounts of a unit."""
    return lambda value: figure(value, unit)


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
    count = counted(seeds, "seed")
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
