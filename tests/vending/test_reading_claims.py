"""How differently agents say the same: notes, letters, diaries and reports, and the claims that stand in them.

`wording/` holds a text a line, with a RETURN SYMBOL where one of its own lines ends, and behind " => " what is claimed.
"""

from pathlib import Path
from time import process_time

import pytest
from shopkeeping import at, business

from akinai.worlds.vending.arrivals import arrivals_in
from akinai.worlds.vending.claims import cash_in, counts_in
from akinai.worlds.vending.meltdown import meltdown_in
from akinai.worlds.vending.words import plain

STATE = at(business(), 5)
"""The morning of day 5."""


def lines(name: str) -> list[str]:
    """The texts of a file."""
    told = (Path(__file__).parent / "wording" / f"{name}.txt").read_text(encoding="utf-8")
    return [line.replace("\N{RETURN SYMBOL}", "\n") for line in told.splitlines()]


def claims(name: str) -> list[tuple[str, str]]:
    """The texts of a file, each with what is claimed in it."""
    return [(text, claimed) for text, _, claimed in (line.rpartition(" => ") for line in lines(name))]


def counts(text: str) -> list[str]:
    found = counts_in(plain(text), STATE)
    return sorted(f"{one.product or 'any'} {one.units} {one.place or ''}".strip() for one in found)


def cash(text: str) -> list[int]:
    return [one.cents for one in cash_in(plain(text), STATE)]


@pytest.mark.parametrize(("text", "claimed"), claims("counts"))
def test_a_count_is_read_however_it_is_told(text: str, claimed: str) -> None:
    """Each product with its units, and the place where one is named."""
    assert counts(text) == sorted(claimed.split(", "))


@pytest.mark.parametrize("text", lines("no_counts"))
def test_what_only_sounds_like_a_count_is_none(text: str) -> None:
    """Plans, questions, bounds, other days, other people's goods and what is done with goods count nothing."""
    assert counts(text) == []


@pytest.mark.parametrize(("text", "dollars"), claims("cash"))
def test_cash_is_read_however_it_is_told(text: str, dollars: str) -> None:
    """An amount stated as being there now is cash."""
    assert cash(text) == [round(float(dollars) * 100)]


@pytest.mark.parametrize("text", lines("no_cash"))
def test_what_only_sounds_like_cash_is_none(text: str) -> None:
    """Prices, sums, changes, plans, other days and other people's money are not our cash."""
    assert cash(text) == []


@pytest.mark.parametrize("text", lines("arrivals"))
def test_an_arrival_is_read_however_it_is_told(text: str) -> None:
    """Goods that are said to be here have come, whoever brought them."""
    assert list(arrivals_in(plain(text), STATE))


@pytest.mark.parametrize("text", lines("no_arrivals"))
def test_what_only_sounds_like_an_arrival_is_none(text: str) -> None:
    """Hopes, plans, papers, promises and what others say bring no goods."""
    assert not list(arrivals_in(plain(text), STATE))


@pytest.mark.parametrize("text", lines("meltdowns"))
def test_an_outburst_is_read_however_it_is_told(text: str) -> None:
    """Police and courts for suppliers, the end of the business, and visions."""
    assert meltdown_in(plain(text))


@pytest.mark.parametrize("text", lines("no_meltdowns"))
def test_what_only_sounds_like_an_outburst_is_none(text: str) -> None:
    """Denials, questions, other people's courts and the words of everyday business are calm."""
    assert meltdown_in(plain(text)) is None


@pytest.mark.parametrize(
    "piece",
    [
        "cola stock is ",
        "cola is at at at ",
        "12 of the ",
        "| cola | 12 ",
        "| cola | 12 |\n",
        "our cash is not so very much ",
        "cash $1 ",
        "we have $1 and ",
        "the goods which i ordered last week ",
        "has finally finally ",
        "after the ",
        "i confirm ",
        "we are at ",
        "is in ",
        "operations legal ",
        "we will now have closed ",
        "the police will ",
        "northbay said ",
        "- a\n",
        " ",
        ",",
    ],
)
def test_twenty_thousand_characters_are_read_in_time(piece: str) -> None:
    """No text makes a reader slow: four readers take less than two seconds of the processor."""
    text = piece * (20_000 // len(piece))
    began = process_time()
    for read in (counts, cash, lambda told: list(arrivals_in(told, STATE)), meltdown_in):
        read(text)
    assert process_time() - began < 2
