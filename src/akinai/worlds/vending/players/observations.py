"""Parsers for rule-based players: they read the texts that a model reads, and nothing else."""

import re
from dataclasses import dataclass
from datetime import datetime

from akinai.core.money import read_dollars
from akinai.worlds.vending.rules.mail import parse_letters


@dataclass(frozen=True, slots=True)
class InventorySlot:
    """A slot as the machine's inventory shows it."""

    row: int
    column: int
    size: str
    capacity: int
    product: str | None
    units: int
    price_cents: int | None


@dataclass(frozen=True, slots=True)
class ComingOrder:
    """An order that is on its way."""

    number: int
    supplier: str
    units: dict[str, int]
    """By product name."""
    promised: datetime


@dataclass(frozen=True, slots=True)
class Offer:
    """One supplier's terms, read from its price list."""

    address: str
    names: dict[str, str]
    """By product id."""
    cost_cents: dict[str, int]
    """By product id, without bulk discount."""
    lead_days: int
    hour: int
    minimum_cents: int
    bulk: tuple[tuple[int, int], ...]
    """Units and per mille off, rising."""


@dataclass(frozen=True, slots=True)
class ProductPage:
    """The public facts on a product's web page."""

    product: str
    name: str
    size: str
    reference_cents: int
    units_a_day: float
    elasticity: float
    shelf_days: int


_SLOT = re.compile(
    r"^- row (\d+), column (\d+) \((small|large), takes (\d+)\): "
    r"(?:empty|.+? \((\w+)\), (\d+) units, (?:no price set|price \$([\d.,]+)))$",
    re.M,
)
_STORED = re.compile(r"^- .+? \((\w+)\): (\d+) units \(", re.M)
_COMING = re.compile(r"^- Order (\d+) from (\w+): (.+); promised for (\w+ \d+ \w+ \d+, \d+:\d+)", re.M)
_CLOCK = re.compile(r"\b\w{3} (\d{1,2} \w{3} \d{4}, \d{2}:\d{2})")
_DAY = re.compile(r"\bday (\d+)\b")
_CASH = re.compile(r"^Cash: \$([\d.,]+)\.", re.M)
_COLLECTED = re.compile(r"your cash is \$([\d.,]+)\.")


def parse_slots(text: str) -> list[InventorySlot]:
    """Parse the slots of a machine inventory, row by row."""
    return [
        InventorySlot(int(row), int(column), size, int(takes), product or None, int(units or 0), _cents(price))
        for row, column, size, takes, product, units, price in _SLOT.findall(text)
    ]


def parse_storage(text: str) -> dict[str, int]:
    """Parse the units in storage, by product id."""
    return {product: int(units) for product, units in _STORED.findall(text)}


def parse_orders(text: str) -> list[ComingOrder]:
    """Parse the orders on their way."""
    return [
        ComingOrder(int(number), supplier, _units_by_name(goods), _moment(promised))
        for number, supplier, goods, promised in _COMING.findall(text)
    ]


def parse_time(text: str) -> datetime | None:
    """The last time that a text names; outcomes and notices state the time. None where there is none."""
    times = _CLOCK.findall(text)
    return datetime.strptime(times[-1], "%d %b %Y, %H:%M") if times else None  # noqa: DTZ007 - a world's time has no zone


def parse_day(text: str) -> int | None:
    """The number of the day that a notice or a view names; None where there is none."""
    match = _DAY.search(text)
    return int(match[1]) if match else None


def parse_cash(text: str) -> int | None:
    """Cash in cents, from a balance or the outcome of collecting; None where there is none."""
    match = _CASH.search(text) or _COLLECTED.search(text)
    return _cents(match[1]) if match else None


_MOST_CENTS = 10**15
"""More cents than any business will have."""


def _cents(text: str) -> int | None:
    return read_dollars(text, maximum_cents=_MOST_CENTS) if text else None


def _moment(text: str) -> datetime:
    return datetime.strptime(text.partition(" ")[2], "%d %b %Y, %H:%M")  # noqa: DTZ007 - a world's time has no zone


def _units_by_name(goods: str) -> dict[str, int]:
    return {name: int(units) for units, _, name in (part.partition(" ") for part in goods.split(", "))}


_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DAYS_LEFT = re.compile(r"day (\d+) of (\d+)\.")


def find_addresses(text: str) -> list[str]:
    """The e-mail addresses in a text, in their order."""
    return list(dict.fromkeys(_ADDRESS.findall(text)))


def parse_days_left(text: str) -> int | None:
    """Days from today to the last day of the run; None when it has no last day."""
    match = _DAYS_LEFT.search(text)
    return int(match[2]) - int(match[1]) if match else None


def parse_identity(view: str) -> tuple[str, str]:
    """The delivery address and the account that the briefing names."""
    delivery, account = re.search(r"^Delivery address: (.+)$", view, re.M), re.search(r"^Account: (.+)$", view, re.M)
    return (delivery[1] if delivery else "", account[1] if account else "")


def parse_start_cents(view: str) -> int:
    """The starting cash in cents that the briefing names."""
    match = re.search(r"You begin with (\$[\d.,]+)\. ", view)
    return _cents(match[1]) or 0 if match else 0


_PRICE_LINE = re.compile(r"^- (.+) \((\w+)\): \$([\d.,]+) a unit, case of \d+$", re.M)
_LEAD = re.compile(r"^- Delivery: (\d+) days? after the day of your letter, at (\d+):00$", re.M)
_MINIMUM = re.compile(r"^- Minimum order: \$([\d.,]+)$", re.M)
_BULK = re.compile(r"^- Bulk discount: ([\d.]+)% off all units from (\d+) units in one order$", re.M)


def parse_offers(text: str) -> list[Offer]:
    """Parse the price lists among the letters that read_email showed."""
    offers: list[Offer] = []
    for letter in parse_letters(text):
        goods = _PRICE_LINE.findall(letter.body)
        names = {product: name for name, product, _ in goods}
        costs = {product: _cents(price) or 0 for _, product, price in goods}
        lead, minimum = _LEAD.search(letter.body), _MINIMUM.search(letter.body)
        if costs and lead:
            bulk = tuple((int(units), round(float(off) * 10)) for off, units in _BULK.findall(letter.body))
            least = (_cents(minimum[1]) or 0) if minimum else 0
            offers.append(Offer(letter.sender, names, costs, int(lead[1]), int(lead[2]), least, bulk))
    return offers


_RESEARCH = re.compile(
    r"^Product: (.+) \((\w+)\)\nCategory: .+\nSize: (small|large), .+\n"
    r"Typical retail price: \$([\d.,]+)\nTypical sales: ([\d.]+) units a day at that price\n"
    r"Price sensitivity: each 10% above that price loses about ([\d.]+)% of sales, .+\n"
    r"Wholesale price: .+\nShelf life: (\d+) days?",
    re.M,
)


def parse_product_pages(text: str) -> dict[str, ProductPage]:
    """Parse the product pages among search results, by product id."""
    return {
        product: ProductPage(product, name, size, _cents(price) or 0, float(units), float(loss) / 10, int(life))
        for name, product, size, price, units, loss, life in _RESEARCH.findall(text)
    }
