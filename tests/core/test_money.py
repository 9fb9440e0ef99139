"""Money: every spelling that means one amount is read, every other is refused, and rounding is what its name says."""

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.money import MAXIMUM_CENTS, format_cents, half_even_cents, half_up, read_dollars
from together import together

MANY_CENTS = st.integers(0, MAXIMUM_CENTS)


@pytest.mark.parametrize(
    ("cents", "text"),
    [(0, "$0.00"), (5, "$0.05"), (123_456, "$1,234.56"), (-5, "-$0.05"), (-100_000_000, "-$1,000,000.00")],
)
def test_cents_are_printed_as_dollars(cents: int, text: str) -> None:
    """Two decimals, thousands with commas, the sign before the currency."""
    assert format_cents(cents) == text


@given(MANY_CENTS)
def test_every_amount_comes_back_from_every_spelling(cents: int) -> None:
    """Whatever form an amount takes on its way through JSON, the cents that come back are the cents that went in."""
    plain = f"{cents // 100}.{cents % 100:02}"
    wide = plain.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    for written in (
        *(format_cents(cents), plain, f"${plain}", f"$ {plain}", f"USD {plain}", f"{plain} dollars", f"{plain} USD"),
        *(f" {plain}\n", f"\\${plain}", f"US${plain}", wide, f"＄{wide}"),
        *(f"{cents} cents", f"{cents:,}c", f"{cents}¢"),
        *(float(plain), Decimal(plain), Decimal(f"{plain}0000")),
    ):
        assert read_dollars(written) == cents, written


@together(
    ("written", "cents"),
    [
        ("2.5", 250),
        ("2.", 200),
        (".75", 75),
        ("$.5", 50),
        ("1 dollar", 100),
        ("1 cent", 1),
        ("$1.75 USD", 175),
        ("1.75$", 175),
        ("usd 1.75", 175),
        ("3 Dollars", 300),
        ("75 CENTS", 75),
        ("3 US dollars", 300),
        ("007", 700),
        (3, 300),
        (1.1, 110),
        (1e3, 100_000),
        (-0.0, 0),
        (Decimal("1.750"), 175),
    ],
)
def test_loose_spellings_are_read(written: object, cents: int) -> None:
    """A missing zero, a full stop at the end, a singular and JSON's own number forms leave no doubt."""
    assert read_dollars(written) == cents


@together(
    "written",
    [
        *("", " ", ".", "$", "-", "USD", "cents", "ten", "free", "NaN", "Infinity", "null"),
        *("1.2.3", "1e3", "1_000", "1 2", "1/2", "0x10", "5%", "+1", "~2", "1.75 each", "($5)"),
        *("1,75", "1,23", "12,34.50", "0,123", "1.234,50", "1\u00a0234"),
        *("5 dollarſ", "€5", "5 EUR", "￥3", "$75 cents", "75.5 cents", "0.75¢"),
        *("1²", "½", "①", "١", "1.75\0", "\ud800", "9" * 61, "1" * 1_000_000),
        *(float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
        *(True, False, None, [], [1.75], {}, {"price": 1}, b"1", 1j),
    ],
)
def test_what_is_not_one_amount_is_refused(written: object) -> None:
    """Words, other currencies, spellings with two readings and JSON of another kind are refused with what to give."""
    with pytest.raises(ValueError, match=r"^no amount of money in .{1,80}; give an amount in dollars, such as 1\.75"):
        read_dollars(written)


@together(
    "written", ["1.755", "1.750", "$0.001", 0.1 + 0.2, 1e-7, Decimal("1." + "0" * 50 + "1"), Decimal("1E-999999")]
)
def test_fractions_of_a_cent_are_refused(written: object) -> None:
    """No third decimal is rounded away, nor the zero of `1.750`, which is 1,750 to half of the world."""
    with pytest.raises(ValueError, match="has more than two decimals; give whole cents"):
        read_dollars(written)


@together("written", ["-5", "-$5", "$-5", "−5", "-5 cents", -1, -0.01, Decimal("-1E-999999")])
def test_negative_amounts_are_refused(written: object) -> None:
    """Nothing is priced or paid below zero, however the sign is written."""
    with pytest.raises(ValueError, match=r"^-.{1,70} is below zero; give 0 or more"):
        read_dollars(written)


@given(st.integers(0, 10**7), st.integers(-2, 2))
def test_the_maximum_is_the_last_amount_read(maximum: int, step: int) -> None:
    """The maximum itself is read and one cent more is refused."""
    cents = max(0, maximum + step)
    if cents <= maximum:
        assert read_dollars(f"{cents} cents", maximum_cents=maximum) == cents
    else:
        with pytest.raises(ValueError, match=re.escape(f"is above {format_cents(maximum)}; give at most that")):
            read_dollars(f"{cents} cents", maximum_cents=maximum)


@together("written", ["1000000.01", 1_000_001, 1e22, 1e300, Decimal("1E+999999"), "9" * 60])
def test_absurd_amounts_are_refused(written: object) -> None:
    """A million dollars is enough unless the caller says otherwise, and the refusal stays short."""
    with pytest.raises(ValueError, match=r"^.{1,70} is above \$1,000,000\.00; give at most that"):
        read_dollars(written)


def test_an_integer_too_long_to_print_is_refused() -> None:
    """Python refuses to print an int of more than 4,300 digits; the refusal of the amount does not fall over that."""
    for written, why in ((10**5000, "is above"), (-(10**5000), "is below zero")):
        with pytest.raises(ValueError, match=rf"^.{{1,70}} {why}"):
            read_dollars(written)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_no_json_value_breaks_the_reader(written: object) -> None:
    """Any JSON value is an amount within bounds or a ValueError, never another exception."""
    try:
        cents = read_dollars(written)
    except ValueError:
        return
    assert type(cents) is int
    assert 0 <= cents <= MAXIMUM_CENTS


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6))
def test_half_up_is_the_nearest_whole_number(numerator: int, denominator: int) -> None:
    """The result is within a half of the quotient, and an exact half is the larger neighbour."""
    distance = half_up(numerator, denominator) - Fraction(numerator, denominator)
    assert Fraction(-1, 2) < distance <= Fraction(1, 2)


@together(
    ("numerator", "denominator", "whole"),
    [(85 * 950, 1000, 81), (5, 2, 3), (4, 3, 1), (-1, 2, 0), (-3, 2, -1), (0, 7, 0)],
)
def test_half_up_worked_numbers(numerator: int, denominator: int, whole: int) -> None:
    """85 cents less 5 % is 80.75, so 81; a half goes up, below zero too."""
    assert half_up(numerator, denominator) == whole


@pytest.mark.parametrize("denominator", [0, -2])
def test_half_up_wants_a_positive_denominator(denominator: int) -> None:
    """A denominator of zero or below is a mistake of the program."""
    with pytest.raises(ValueError, match="give a denominator above 0"):
        half_up(1, denominator)


@together(
    ("dollars", "cents"),
    [
        ("0.125", 12),
        ("0.135", 14),
        ("0.12500000000000000000000000000000000001", 13),
        ("8.009", 801),
        ("-0.125", -12),
        ("-0.135", -14),
        ("12", 1200),
        ("1E-999999", 0),
        ("1E+15", 10**17),
    ],
)
def test_booking_rounds_half_to_even(dollars: str, cents: int) -> None:
    """The nearest cent is booked; exactly between two it is the even one, whatever stands behind the half."""
    assert half_even_cents(Decimal(dollars)) == cents


@given(st.decimals(-(10**9), 10**9))
def test_booking_agrees_with_exact_rounding(dollars: Decimal) -> None:
    """The cents are Python's exact half-even rounding of the fraction, for every number of digits."""
    assert half_even_cents(dollars) == round(Fraction(dollars) * 100)


@together("dollars", ["NaN", "sNaN", "Infinity", "-Infinity", "1E+16", "-1E+999999"])
def test_what_cannot_be_booked_is_refused(dollars: str) -> None:
    """No number of cents stands for NaN, an infinity or more than 10^15 dollars."""
    with pytest.raises(ValueError, match="give one that can be booked"):
        half_even_cents(Decimal(dollars))
