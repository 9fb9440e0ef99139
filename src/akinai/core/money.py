"""Money is whole cents: how it is printed, how the dollars that agents write are read, how a division is rounded."""

import re
import unicodedata
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

MAXIMUM_CENTS = 100_000_000
"""$1,000,000: the largest amount that `read_dollars` takes unless told otherwise."""

_CENT = Decimal("0.01")
_MOST_DOLLARS = 10**15
_EXACT = Context(prec=40, rounding=ROUND_HALF_EVEN)  # our own, since a host program may change the default one
_LONGEST_TEXT = 60
_EXPECTED = "give an amount in dollars, such as 1.75 or '$1.75'"

_WHOLE = r"[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+"
_SPELT = re.ASCII | re.IGNORECASE
_DOLLARS = re.compile(
    rf"(?P<minus>-?)(?:(?:US|USD|\\)? ?\$|USD)? ?(?P<minus_inside>-?)"
    rf"(?P<whole>{_WHOLE})?(?:\.(?P<decimals>[0-9]*))? ?(?:\$|USD|(?:US )?dollars?)?",
    _SPELT,
)
_CENTS = re.compile(rf"(?P<minus>-?)(?P<cents>{_WHOLE}) ?(?:cents?|c|¢)", _SPELT)


@lru_cache(maxsize=4096)
def format_cents(cents: int) -> str:
    """Cents as people read them: `$1,234.56`, `-$0.05`."""
    dollars, remainder = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${dollars:,}.{remainder:02}"


def read_dollars(written: object, *, maximum_cents: int = MAXIMUM_CENTS) -> int:
    """The whole cents of an amount as an agent writes it in JSON.

    A number is in dollars and is read as its shortest decimal, so 1.1 is 110 and 0.1 + 0.2 is refused. Text may carry
    a currency (`$1.75`, `1.75 USD`, `3 dollars`), thousands (`1,234.50`), full-width characters, or be in whole cents
    (`75 cents`, `75c`, `75¢`).

    Raises ValueError, with a sentence for whoever wrote it, for a third decimal, a negative or non-finite amount, more
    than `maximum_cents`, and whatever could be read in two ways (`1,75`, `1.2.3`, `1e3`, `ten`, true).
    """
    dollars = _dollars(written)
    if not dollars.is_finite():
        raise ValueError(f"no amount of money in {dollars}; {_EXPECTED}")
    if dollars < 0:
        raise ValueError(f"{_short_text(dollars)} is below zero; give 0 or more")
    if dollars > Decimal(maximum_cents).scaleb(-2, context=_EXACT):
        raise ValueError(f"{_short_text(dollars)} is above {format_cents(maximum_cents)}; give at most that")
    cents = half_even_cents(dollars)
    if dollars != Decimal(cents).scaleb(-2, context=_EXACT):
        raise ValueError(f"{_short_text(dollars)} has more than two decimals; give whole cents, such as 1.75")
    return cents


def half_up(numerator: int, denominator: int) -> int:
    """The quotient as the nearest whole number; a half goes up, below zero too (-1/2 is 0).

    Raises ValueError unless the denominator is above 0.
    """
    if denominator <= 0:
        raise ValueError(f"a division by {denominator!r}; give a denominator above 0")
    return (2 * numerator + denominator) // (2 * denominator)


def half_even_cents(dollars: Decimal) -> int:
    """An amount in dollars as the nearest whole cent, a half going to the even one: 0.125 is 12, 0.135 is 14.

    Raises ValueError for NaN, infinities and amounts beyond 10^15 dollars.
    """
    if not dollars.is_finite() or abs(dollars) > _MOST_DOLLARS:
        raise ValueError("an amount of money that is not finite or beyond 10^15 dollars; give one that can be booked")
    return int(dollars.quantize(_CENT, context=_EXACT).scaleb(2, context=_EXACT))


def _dollars(written: object) -> Decimal:
    if isinstance(written, str):
        return _spelt_dollars(written)
    if isinstance(written, bool) or not isinstance(written, int | float | Decimal):
        raise ValueError(f"no amount of money in {_kind(written)}; {_EXPECTED}")
    return Decimal(float.__repr__(written)) if isinstance(written, float) else Decimal(written)


def _spelt_dollars(text: str) -> Decimal:
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"no amount of money in a text of {len(text):,} characters; {_EXPECTED}")
    plain = " ".join("".join(_narrow(letter) for letter in text).replace("\N{MINUS SIGN}", "-").split())
    if match := _CENTS.fullmatch(plain):
        return Decimal(match["minus"] + match["cents"].replace(",", "")).scaleb(-2, context=_EXACT)
    match = _DOLLARS.fullmatch(plain)
    if not match or not (match["whole"] or match["decimals"]):
        raise ValueError(f"no amount of money in {text!r}; {_EXPECTED}")
    decimals = match["decimals"] or ""
    if len(decimals) > 2:  # also 1.750, which is 1,750 to half of the world
        raise ValueError(f"{text!r} has more than two decimals; give whole cents, such as 1.75")
    sign = match["minus"] or match["minus_inside"]
    return Decimal(f"{sign}{(match['whole'] or '0').replace(',', '')}.{decimals}")


def _narrow(letter: str) -> str:
    """A full-width character in its usual width; NFKC for all of them would make 12 of `1²`."""
    return unicodedata.normalize("NFKC", letter) if unicodedata.east_asian_width(letter) == "F" else letter


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return f"a {type(value).__name__}"


def _short_text(dollars: Decimal) -> str:
    text = str(dollars)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."
