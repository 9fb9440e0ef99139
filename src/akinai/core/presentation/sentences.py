"""Differences in sentences: who is better, by how much and how sure that is, or that so few runs can show nothing."""

from collections.abc import Callable

from akinai.core.presentation.words import counted, figure, label
from akinai.core.scores import Better
from akinai.core.statistics import (
    LEVEL,
    PairedComparison,
    WelchComparison,
    expected_coverage,
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
    fewest: int | None = None,
) -> str:
    """The difference of b and a in one score, with its uncertainty; `to_show` is how many seeds would show it.

    ``amount`` formats a number of the score, and `noun` is what the two are paired by. `fewest` is the smallest number
    that can show a difference, where these are too few; by default that of a single comparison.
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
    apart = f"{name} is {f'{amount(abs(difference))} {more} with {first}' if difference else 'the same'} on average"
    wins = _wins(paired, noun, forward=ahead)
    if statistic.p is not None and statistic.p < LEVEL:
        ends = _ends(statistic.ci95, difference, amount)
        if better is None:
            return f"{apart} than with {second}{ends}."
        return f"{first} is better than {second}: {name} is {amount(abs(difference))} {more} on average{ends}{wins}."
    if fewest := fewest or statistic.fewest:
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


def amount_in(unit: str) -> Format:
    """Format amounts of a unit."""
    return lambda value: figure(value, unit)


def floor_sentences(mde: float | None, unit: str, seeds: int) -> list[str]:
    """What so many runs could have shown, and how far their intervals can be trusted; none without an `mde`."""
    if not mde:
        return []
    floor = figure(mde, unit)
    sentence = f"With these runs a true difference of about {floor} between two groups is found four times in five."
    return [sentence, *filter(None, [coverage_warning(seeds)])]


def coverage_warning(seeds: int) -> str:
    """A sentence for groups of few seeds; none from 50 seeds on."""
    if seeds < 2 or (expected := expected_coverage(seeds)) is None:
        return ""
    share = f"{100 * expected:.0f} %"
    return (
        f"Where scores are very skewed, intervals over {seeds} seeds hold the truth in {share} of studies, not 95 %. "
        "None looks for a kind of run that was not seen."
    )
