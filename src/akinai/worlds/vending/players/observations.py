"""Readers for rule-based players: what its tools tell an agent, in the texts that a model reads or in their data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from akinai.core.money import read_dollars
from akinai.worlds.vending.players.beliefs import Calendar, Product
from akinai.worlds.vending.rules.mail import parse_letters


@dataclass(frozen=True, slots=True)
class InventorySlot:
    """A slot as the inventory of a single machine shows it."""

    row: int
    column: int
    small: bool
    capacity: int
    product: str | None
    units: int
    price_cents: int | None


@dataclass(frozen=True, slots=True)
class ComingOrder:
    """An order on its way, as the order book shows it."""

    units: Mapping[str, int]
    """By product name."""
    promised: datetime


@dataclass(slots=True)
class Machine:
    """A site as the inventory showed it, kept up to date by visits."""

    number: int
    units: dict[str, int]
    box_cents: int
    sealed: bool
    lost: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """A supplier's price list."""

    supplier: str
    """Its id, or the address that the list came from."""
    lead_days: int
    hour: int
    minimum_cents: int
    freight_cents: int
    prices: Mapping[str, int]
    """Cents a unit by product id, without discount for large orders."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """By product id, where the list came by letter."""


_PRODUCT = re.compile(
    r"^Product: (.+) \((\w+)\)\nCategory: (.+)\nSize: (small|large), .+\nTypical retail price: \$([\d.,]+)\n"
    r"Typical sales: ([\d.]+) units .+\n(?:Price sensitivity: each 10% above that price loses about ([\d.]+)% .+\n)?"
    r"Wholesale price: about \$([\d.,]+) .+\nShelf life: (\d+) days?",
    re.M,
)
_REVIEW = re.compile(r"^.+ \((\w+)\), (\d)\.(\d) of 5\.", re.M)
_WEEKDAYS = re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([\d.]+)%")
_MONTHS = re.compile(r"^(\w+) \(.*\) by month: (.+)$", re.M)
_WEATHER = re.compile(r"^(\w+) by weather: (.+)$", re.M)
_SHARE = re.compile(r"(\w+) ([\d.]+)%")
_PITCH = re.compile(r"^- (.+): rent .+, footfall counted ([\d.]+) of", re.M)
_PITCH_PRICE = re.compile(r"^From (.+), another site with a machine, \$([\d.,]+):", re.M)
_CLOCK = re.compile(r", (\d\d):(\d\d)\]")
_SIGNED = re.compile(r"Signed for: order (\d+),")
_DATE = re.compile(r"\b\w{3} (\d{1,2} \w{3} \d{4})\b")
_NUMBER = re.compile(r"\d+")
_VARIETY = re.compile(r"^Sales by number of different products: (.+)$", re.M)
_PERCENT = re.compile(r"\d+: ([\d.]+)%")
_SHELVES = re.compile(r"has (\d+) slots for small items, (\d+) in each, and (\d+) for large items, (\d+) in each")
_STORAGE = re.compile(r"storage holds (\d+) units, (\d+) more with each further site")
_SLOT = re.compile(
    r"^- row (\d+), column (\d+) \((small|large), takes (\d+)\): "
    r"(?:empty|.+? \((\w+)\), (\d+) units, (?:no price set|price \$([\d.,]+)))$",
    re.M,
)
_STORED = re.compile(r"^- .+? \((\w+)\): (\d+) units \(", re.M)
_COMING = re.compile(r"^- Order \d+ from \w+: (.+); promised for \w+ (\d+ \w+ \d+, \d+:\d+)", re.M)
_MOMENT = re.compile(r"\b\w{3} (\d{1,2} \w{3} \d{4}, \d{2}:\d{2})")
_DAY = re.compile(r"\bday (\d+)\b")
_DAYS_LEFT = re.compile(r"day (\d+) of (\d+)\.")
_CASH = re.compile(r"^Cash: \$([\d.,]+)\.|your cash is \$([\d.,]+)\.", re.M)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PRICE_LINE = re.compile(r"^- (.+) \((\w+)\): \$([\d.,]+) a unit, case of \d+$", re.M)
_LEAD = re.compile(r"^- Delivery: (\d+) days? after the day of your letter, at (\d+):00$", re.M)
_MINIMUM = re.compile(r"^- Minimum order: \$([\d.,]+)$", re.M)
_MOST_CENTS = 10**15
"""More cents than any business will have."""


def read_products(text: str) -> dict[str, Product]:
    """Products on web pages, by id."""
    return {
        id: Product(
            id, name, category, size == "small", _cents(price), max(float(units), 0.01), int(life), _cents(trade),
            float(loss or 0) / 10,
        )
        for name, id, category, size, price, units, loss, trade, life in _PRODUCT.findall(text)
    }  # fmt: skip


def read_variety(text: str, variety: tuple[float, ...]) -> tuple[float, ...]:
    """The public factors on sales by number of different products, as far as a text has them."""
    table = _VARIETY.search(text)
    return tuple(float(share) / 100 for share in _PERCENT.findall(table[1])) if table else variety


def read_shelves(text: str) -> tuple[int, int, int, int] | None:
    """Small slots, units in each, large slots, units in each, as the inventory says; None where it does not."""
    match = _SHELVES.search(text)
    return (int(match[1]), int(match[2]), int(match[3]), int(match[4])) if match else None


def read_storage(text: str) -> tuple[int, int] | None:
    """Units of the storage, and more with each further site, as the letter on it says; None in any other text."""
    match = _STORAGE.search(text)
    return (int(match[1]), int(match[2])) if match else None


def read_ratings(text: str) -> dict[str, float]:
    """Ratings on review pages, by supplier."""
    return {id: int(stars) + int(tenths) / 10 for id, stars, tenths in _REVIEW.findall(text)}


def read_calendar(text: str, calendar: Calendar) -> Calendar:
    """The public factors of weekdays, months and weathers, as far as a text has them."""
    weekdays = tuple(float(share) / 100 for share in _WEEKDAYS.findall(text))
    months = {
        category: tuple(float(s) / 100 for _, s in _SHARE.findall(row)) for category, row in _MONTHS.findall(text)
    }
    weathers = {
        category: {sky: float(s) / 100 for sky, s in _SHARE.findall(row)} for category, row in _WEATHER.findall(text)
    }
    return Calendar(
        weekdays if len(weekdays) == 7 else calendar.weekdays, months or calendar.months, weathers or calendar.weathers
    )


def read_offers(data: Mapping[str, Any]) -> dict[str, Offer]:
    """Price lists from the data of GET_PRICE_LISTS, by supplier."""
    return {
        row["supplier"]: Offer(
            row["supplier"], row["lead_days"], row["hour"], row["minimum_cents"], row["freight_cents"],
            row["prices_cents"],
        )
        for row in data.get("suppliers", ())
    }  # fmt: skip


def read_machines(data: Mapping[str, Any]) -> list[Machine]:
    """Sites from the data of GET_MACHINE_INVENTORY."""
    return [
        Machine(site["site"], dict(site["units"]), site["box_cents"], site["sealed"], site["lost"])
        for site in data.get("sites", ())
    ]


def read_pitches(text: str) -> tuple[int, dict[str, float]]:
    """The price of the next pitch in cents, and the places with their counted footfall; 0 for none on offer."""
    price = _PITCH_PRICE.search(text)
    places = {name: float(count) for name, count in _PITCH.findall(text)}
    return (read_dollars(price[2]) if price else 0), places


def read_pitch_date(text: str) -> str:
    """The date from which the next pitch is on offer, as the text names it."""
    price = _PITCH_PRICE.search(text)
    return price[1] if price else ""


def read_minute(text: str) -> int | None:
    """The last minute of the day that an outcome names; None where it names none."""
    end = text.rfind("]")  # from the end, where it stands: looking through the whole text takes twenty times as long
    while end >= 0:
        if match := _CLOCK.fullmatch(text, max(end - 7, 0), end + 1):
            return int(match[1]) * 60 + int(match[2])
        end = text.rfind("]", 0, end)
    return None


def read_signed(text: str) -> list[int]:
    """Orders that were signed for, as an outcome names them."""
    return [int(number) for number in _SIGNED.findall(text)]


def read_date(text: str) -> datetime | None:
    """The first date in a text."""
    match = _DATE.search(text)
    return datetime.strptime(match[1], "%d %b %Y") if match else None  # noqa: DTZ007 - a world's time has no zone


def read_number(text: str) -> int:
    """The first number in a subject, 0 for none."""
    match = _NUMBER.search(text)
    return int(match[0]) if match else 0


def _cents(text: str) -> int:
    return read_dollars(text, maximum_cents=_MOST_CENTS) if text else 0


def read_slots(text: str) -> list[InventorySlot]:
    """The slots of a single machine, row by row."""
    return [
        InventorySlot(
            int(row), int(column), size == "small", int(takes), product or None, int(units or 0),
            _cents(price) if price else None,
        )
        for row, column, size, takes, product, units, price in _SLOT.findall(text)
    ]  # fmt: skip


def read_stored(text: str) -> dict[str, int]:
    """Units in storage, by product id."""
    return {product: int(units) for product, units in _STORED.findall(text)}


def read_orders(text: str) -> list[ComingOrder]:
    """The orders on their way."""
    return [
        ComingOrder(
            {name: int(units) for units, _, name in (part.partition(" ") for part in goods.split(", "))},
            _moment(promised),
        )
        for goods, promised in _COMING.findall(text)
    ]


def read_time(text: str) -> datetime | None:
    """The last time that a text names; outcomes and notices state the time. None where there is none."""
    times = _MOMENT.findall(text)
    return _moment(times[-1]) if times else None


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%d %b %Y, %H:%M")  # noqa: DTZ007 - a world's time has no zone


def read_day(text: str) -> int | None:
    """The number of the day that a notice or a view names; None where there is none."""
    match = _DAY.search(text)
    return int(match[1]) if match else None


def read_days_left(text: str) -> int | None:
    """Days from today to the last day of the run; None when it has no last day."""
    match = _DAYS_LEFT.search(text)
    return int(match[2]) - int(match[1]) if match else None


def read_cash(text: str) -> int | None:
    """Cash in cents, from a balance or the outcome of collecting; None where there is none."""
    match = _CASH.search(text)
    return _cents(match[1] or match[2]) if match else None


def find_addresses(text: str) -> list[str]:
    """The e-mail addresses in a text, in their order."""
    return list(dict.fromkeys(_ADDRESS.findall(text)))


def read_identity(view: str) -> tuple[str, str]:
    """The delivery address and the account that the briefing names."""
    delivery, account = re.search(r"^Delivery address: (.+)$", view, re.M), re.search(r"^Account: (.+)$", view, re.M)
    return (delivery[1] if delivery else "", account[1] if account else "")


def read_start_cents(view: str) -> int:
    """The starting cash in cents that the briefing names."""
    match = re.search(r"You begin with (\$[\d.,]+)\. ", view)
    return _cents(match[1]) if match else 0


def read_offer_letters(text: str) -> list[Offer]:
    """The price lists among the letters that read_email showed."""
    offers: list[Offer] = []
    for letter in parse_letters(text):
        goods = _PRICE_LINE.findall(letter.body)
        lead, minimum = _LEAD.search(letter.body), _MINIMUM.search(letter.body)
        if goods and lead:
            least, names = _cents(minimum[1]) if minimum else 0, {product: name for name, product, _ in goods}
            costs = {product: _cents(price) for _, product, price in goods}
            offers.append(Offer(letter.sender, int(lead[1]), int(lead[2]), least, 0, costs, names))
    return offers
