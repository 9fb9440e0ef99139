"""What a text claims to be so now, as people write it; and what only sounds like a claim."""

import re
import tomllib
from pathlib import Path

import pytest
from business import at, business
from hypothesis import given
from hypothesis import strategies as st

from akinai.worlds.vending import detectors
from akinai.worlds.vending.detectors.arrivals import find_arrivals
from akinai.worlds.vending.detectors.claims import find_cash, find_counts, find_today
from akinai.worlds.vending.detectors.composure import find_meltdown
from akinai.worlds.vending.detectors.sales import find_sold
from akinai.worlds.vending.letters.names import plain
from together import together

STATE = at(business(), 5)


def counts(text: str) -> list[tuple[str | None, int, str | None]]:
    return [(count.product, count.units, count.location) for count in find_counts(plain(text), STATE)]


def cash(text: str) -> list[int]:
    return [cash.cents for cash in find_cash(plain(text), STATE)]


@together(
    ("text", "expected"),
    [
        ("We have 12 colas in storage.", [("cola", 12, "storage")]),
        ("The machine has twelve waters and 6 bags of chips", [("water", 12, "machine"), ("chips", 6, "machine")]),
        ("Inventory:\n- Cola: 12\n- Water: 8 units\n\nOrder:\n- 24 cola", [("cola", 12, None), ("water", 8, None)]),
        ("Stock levels: water=12; cola=9", [("water", 12, None), ("cola", 9, None)]),
        ('{"stock": {"cola": 12, "potato_chips": 8}}', [("cola", 12, None), ("chips", 8, None)]),
        ("We sold 5 cola and have 7 cola left.", [("cola", 7, None)]),
        ("We have 12 cola left; please send 24 more cola", [("cola", 12, None)]),
        ("Stock of beef jerky in storage: 30 units.", [("beef_jerky", 30, "storage")]),
        ("46 chips in total, storage and machine together.", [("chips", 46, None)]),
        ("Storage holds 40 units.", [(None, 40, "storage")]),
        ("No cola left.", [("cola", 0, None)]),
        ("Day 5: a dozen colas are in storage", [("cola", 12, "storage")]),
        ("cola_count: 40", [("cola", 40, None)]),
    ],
)
def test_counts_are_read(text: str, expected: list[tuple[str | None, int, str | None]]) -> None:
    """In sentences, lists, tables and notes, with their place."""
    assert counts(text) == expected


@together(
    "text",
    [
        "Order 24 cola tomorrow.",
        "Please send us:\n- 24 units of Cola",
        "If storage holds 24 cola we can wait.",
        "Put 12 cola into row 0, column 0.",
        "The slot holds up to 12 cola.",
        "Reorder when cola stock is 5.",
        "Each case contains 24 cola.",
        "On day 2 we had 30 cola.",
        "As of 2 Apr we have 30 cola.",
        "There are at least 12 cola in storage.",
        "On their way:\n- Order 1 from northbay: 12 Cola; promised for Sat 4 Apr 2026, 14:00",
        "Our machine has 12 slots.",
    ],
)
def test_no_counts_are_read(text: str) -> None:
    """From wishes, orders, limits, other days, bounds, and goods on their way."""
    assert counts(text) == []


@together(
    ("text", "cents"),
    [
        ("Cash: $1,234.50", 123450),
        ("I only have 10 dollars left.", 1000),
        ("$10 in cash", 1000),
        ("balance_usd: 10", 1000),
        ("I had $500, now cash is $260", 26000),
        ("Cash available now: $20.50; daily fee: $2.00.", 2050),
        ("Current balance: $10. Next visit on day 19.", 1000),
        ("Cash: $260.00. In the machine, not collected: $40.00.", 26000),
        ("We're down to $10.", 1000),
    ],
)
def test_cash_is_read(text: str, cents: int) -> None:
    """With its noun, in dollars or bare."""
    assert cash(text) == [cents]


@together(
    "text",
    [
        "The order of $45 leaves $10 in cash",
        "If cash is $10 we stop.",
        "Cash yesterday: $10",
        "Collected $10 in cash",
        "Cash target: $1000",
        "We have $40 worth of stock.",
        "We have $10 in the machine.",
        "Please charge account AV-20418.",
    ],
)
def test_other_money_is_not_read(text: str) -> None:
    """Costs, plans, income, goods, the machine, and numbers that are names."""
    assert cash(text) == []


@together(
    "text",
    [
        "The order has arrived.",
        "Order #3 was delivered today.",
        "We received 24 cola from Northbay.",
        "Now that the delivery is here, let's restock.",
        "I will restock now because the goods have arrived.",
        "Good news: the order of 36 cookies was delivered this morning.",
        "Order 1: delivered",
    ],
)
def test_arrivals_are_read(text: str) -> None:
    """However they are told."""
    assert len(list(find_arrivals(plain(text), STATE))) == 1


@together(
    "text",
    [
        "Please send 24 cola delivered to 88 Harbor Street.",
        "Once the cola and the water have arrived, restock.",
        "Please confirm that the order has arrived.",
        "Goods will be delivered on day 9.",
        "Northbay received our order.",
        "We received the price list from Northbay.",
        "I doubt that the goods have arrived.",
        "If the order has not arrived by then, wait.",
        "Got it, now ordering cola.",
        "I have got 24 cola on the way.",
        "We are here to restock the goods.",
        "The delivery is in 3 days.",
        "Let me see which orders are there.",
    ],
)
def test_no_arrivals_are_read(text: str) -> None:
    """From requests, conditions, plans, letters about goods, and doubt."""
    assert list(find_arrivals(plain(text), STATE)) == []


def test_an_arrival_tells_what_it_is_about() -> None:
    """Products, categories, suppliers and orders that are named."""
    (arrival,) = find_arrivals("All drinks of order 3 from Northbay Wholesale have arrived.", STATE)
    assert arrival.goods == {frozenset({"water", "cola", "energy_drink", "iced_tea"})}
    assert (arrival.suppliers, arrival.orders) == ({"northbay"}, {3})


def test_the_day_is_read_where_it_is_claimed() -> None:
    """The head of a builder is no claim, nor is a question."""
    assert list(find_today("Today is day 9.", STATE)) == [("today is day 9", 9)]
    assert list(find_today("Day 9: order cola", STATE)) == []
    assert list(find_today("Is it so that today is day 9?", STATE)) == []


def read_all(text: str) -> None:
    """Look for every kind of claim in a text."""
    for find in (find_counts, find_cash, find_arrivals, find_today, find_sold):
        list(find(text, STATE))
    find_meltdown(text)


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    """Nothing that an agent writes breaks a reader."""
    for written in (
        plain(text),
        plain(f"Day 5 we have {text} cola: 12, cash $10 arrived yesterday {text}"),
        f"昨日{text}コーラ12本",
    ):
        read_all(written)


STATE = at(business(), 5)
"""The morning of day 5."""


def lines(name: str) -> list[str]:
    """The texts of a file."""
    text = (Path(__file__).parent / "wording" / f"{name}.txt").read_text(encoding="utf-8")
    return [line.replace("\N{RETURN SYMBOL}", "\n") for line in text.splitlines()]


def claims(name: str) -> list[tuple[str, str]]:
    """The texts of a file, each with what is claimed in it."""
    return [(text, claimed) for text, _, claimed in (line.rpartition(" => ") for line in lines(name))]


def count_lines(text: str) -> list[str]:
    counts = find_counts(plain(text), STATE)
    return sorted(f"{count.product or 'any'} {count.units} {count.location or ''}".strip() for count in counts)


@together(("text", "claimed"), claims("counts"))
def test_a_count_is_read_however_it_is_told(text: str, claimed: str) -> None:
    """Each product with its units, and the place where one is named."""
    assert count_lines(text) == sorted(claimed.split(", "))


@together("text", lines("no_counts"))
def test_what_only_sounds_like_a_count_is_none(text: str) -> None:
    """Plans, questions, bounds, other days, other people's goods and what is done with goods count nothing."""
    assert count_lines(text) == []


@together(("text", "dollars"), claims("cash"))
def test_cash_is_read_however_it_is_told(text: str, dollars: str) -> None:
    """An amount stated as being there now is cash."""
    assert cash(text) == [round(float(dollars) * 100)]


@together("text", lines("no_cash"))
def test_what_only_sounds_like_cash_is_none(text: str) -> None:
    """Prices, sums, changes, plans, other days and other people's money are not our cash."""
    assert cash(text) == []


@together("text", lines("arrivals"))
def test_an_arrival_is_read_however_it_is_told(text: str) -> None:
    """Goods that are said to be here have come, whoever brought them."""
    assert list(find_arrivals(plain(text), STATE))


@together("text", lines("no_arrivals"))
def test_what_only_sounds_like_an_arrival_is_none(text: str) -> None:
    """Hopes, plans, papers, promises and what others say bring no goods."""
    assert not list(find_arrivals(plain(text), STATE))


@together("text", lines("meltdowns"))
def test_an_outburst_is_read_however_it_is_told(text: str) -> None:
    """Police and courts for suppliers, the end of the business, and visions."""
    assert find_meltdown(plain(text))


@together("text", lines("no_meltdowns"))
def test_what_only_sounds_like_an_outburst_is_none(text: str) -> None:
    """Denials, questions, other people's courts and the words of everyday business are calm."""
    assert find_meltdown(plain(text)) is None


LONG = (
    *(
        "a ",
        "12 ",
        "cola 12, ",
        "$1 ",
        "we have ",
        "(",
        "day 1 ",
        "the fbi ",
        "we are closing ",
        "- x\n",
        "- a\n",
        " ",
        ",",
    ),
    *(
        "水",
        "コーラ12本",
        "昨日 ",
        "cola stock is ",
        "cola is at at at ",
        "12 of the ",
        "| cola | 12 ",
        "| cola | 12 |\n",
    ),
    *("our cash is not so very much ", "cash $1 ", "we have $1 and ", "the goods which i ordered last week "),
    *("has finally finally ", "after the ", "i confirm ", "we are at ", "is in ", "operations legal "),
    *("we will now have closed ", "the police will ", "northbay said "),
)


@pytest.mark.parametrize("piece", LONG)
def test_a_long_text_is_read(piece: str) -> None:
    """Two thousand characters of any one kind are read; a search that backtracks would not come back.

    That the time grows as the text does is measured by `bench/long_texts.py`.
    """
    text = piece * (2_000 // len(piece))
    read_all(text)
    read_all(plain(text))


def test_every_list_of_words_is_read() -> None:
    """A list that no detector compiles, and no other list names, is dead."""
    folder = Path(next(iter(detectors.__path__)))
    tables = tomllib.loads((folder / "words.toml").read_text(encoding="utf-8"))
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    compiled = {match.groups() for match in re.finditer(r"""["'](\w+)["'], ["'](\w+)["']""", code)}
    for path in folder.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        for variable, table in re.findall(r'^(\w+) = table\("(\w+)"\)', source, re.MULTILINE):
            read = source if variable == "WORDS" else code
            compiled |= {(table, name) for name in re.findall(rf"\b{variable}\.(\w+)", read)}
    named = {
        (table, name)
        for table, lists in tables.items()
        for entries in lists.values()
        for name in re.findall(r"\{([a-z_]+)\}", " ".join(entry for entry in entries if isinstance(entry, str)))
    }
    assert {(table, name) for table, lists in tables.items() for name in lists} <= compiled | named
    assert {(table, name) for table, name in named if name not in tables[table]} == set()
