"""Numbers, names and units as people read them."""

from collections.abc import Sequence

from akinai.core.chance import seed_label
from akinai.core.money import format_cents

ABSENT = "-"
MOST_RANGES = 8
"""Ranges of numbers that a text lists."""


def figure(value: float | None, unit: str, *, sign: bool = False) -> str:
    """Format a number in its unit: cents as "$1,234.56", dollars to four digits, a share as "12 %" in percent or
    "12.3" in points, a p-value to three decimals, counts with thousands, an absent one as "-"."""
    if value is None:
        return ABSENT
    if unit == "p":
        return p_value(value)
    if unit == "percent":
        return percent(value)
    if unit == "dollars":
        return f"${value:,.4g}"
    plus = "+" if sign and value > 0 else ""
    if unit == "points":
        return f"{100 * value:{'+' * sign}.1f}"
    if unit == "cents":
        return plus + format_cents(round(value))
    if float(value).is_integer():
        return f"{plus}{int(value):,}"
    return f"{plus}{value:,.1f}" if abs(value) >= 10 else f"{plus}{value:.3g}"


def p_value(p: float) -> str:
    """A p-value to three decimals, "<0.001" below that."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def percent(share: float) -> str:
    """A share of 1 as a percentage: "12 %"."""
    return f"{100 * share:,.0f} %"


def label(name: str) -> str:
    """A score's or a setting's name in words."""
    return name.replace("_", " ")


def capitalized(words: str) -> str:
    """Words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def unit_word(unit: str) -> str:
    """A unit in words: amounts in cents are printed as dollars, and a p-value has none."""
    return {"cents": "dollars", "p": ""}.get(unit, unit)


def counted(count: int, noun: str) -> str:
    """ "1 seed", "1,200 seeds", "2 entries"."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else several}"


def _span(low: int, high: int) -> str:
    """Seeds from `low` to `high`: "1-5", or "sealed 1-5 of 3f9a0c1..."."""
    if low == high:
        return seed_label(low)
    if low >= 0:
        return f"{low}-{high}"
    first, last = (seed_label(number).split(" ", 2) for number in (low, high))
    return f"{first[0]} {first[1]}-{last[1]} {first[2]}"


def ranges(numbers: Sequence[int]) -> str:
    """Rising whole numbers as ranges, such as "1-5, 8"; of many ranges the first."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    texts = [_span(low, high) for low, high in spans[:MOST_RANGES]]
    return ", ".join(texts) + (" ..." if len(spans) > MOST_RANGES else "")
