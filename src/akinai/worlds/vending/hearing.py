"""What a rule-based player understands of the texts it hears: the same texts that a model reads, and nothing else."""

import re
from dataclasses import dataclass
from datetime import datetime

from akinai.core.money import read_dollars
from akinai.worlds.vending.mail import letters_in


@dataclass(frozen=True, slots=True)
class SeenSlot:
    """A slot as the machine's display tells it."""

    row: int
    column: int
    size: str
    capacity: int
    product: str | None
    units: int
    price_cents: int | None


@dataclass(frozen=True, slots=True)
class Coming:
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
class Research:
    """What a product's page says of it to everybody."""

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


def slots_in(text: str) -> list[SeenSlot]:
    """The slots of a machine inventory, row by row."""
    return [
        SeenSlot(int(row), int(column), size, int(takes), product or None, int(units or 0), _cents(price))
        for row, column, size, takes, product, units, price in _SLOT.findall(text)
    ]


def storage_in(text: str) -> dict[str, int]:
    """Units in storage by product id."""
    return {product: int(units) for product, units in _STORED.findall(text)}


def coming_in(text: str) -> list[Coming]:
    """The orders on their way."""
    return [
        Coming(int(number), supplier, _units_by_name(goods), _moment(promised))
        for number, supplier, goods, promised in _COMING.findall(text)
    ]


def clock_in(text: str) -> datetime | None:
    """The last moment that a text names: outcomes and notices say what time it is."""
    found = _CLOCK.findall(text)
    return datetime.strptime(found[-1], "%d %b %Y, %H:%M") if found else None  # noqa: DTZ007 - a world's time has no zone


def day_in(text: str) -> int | None:
    """The number of the day that a notice or a view names."""
    found = _DAY.search(text)
    return int(found[1]) if found else None


def cash_in(text: str) -> int | None:
    """Cash in cents, from a balance or from collecting."""
    found = _CASH.search(text) or _COLLECTED.search(text)
    return _cents(found[1]) if found else None


_MOST_CENTS = 10**15
"""More than any business will see."""


def _cents(text: str) -> int | None:
    return read_dollars(text, maximum_cents=_MOST_CENTS) if text else None


def _moment(text: str) -> datetime:
    return datetime.strptime(text.partition(" ")[2], "%d %b %Y, %H:%M")  # noqa: DTZ007 - a world's time has no zone


def _units_by_name(goods: str) -> dict[str, int]:
    return {name: int(units) for units, _, name in (part.partition(" ") for part in goods.split(", "))}


_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DAYS_LEFT = re.compile(r"day (\d+) of (\d+)\.")


def addresses_in(text: str) -> list[str]:
    """The e-mail addresses in a text, in order."""
    return list(dict.fromkeys(_ADDRESS.findall(text)))


def days_left_in(text: str) -> int | None:
    """Days after today until the run's last, None when it has none."""
    found = _DAYS_LEFT.search(text)
    return int(found[2]) - int(found[1]) if found else None


def identity_in(view: str) -> tuple[str, str]:
    """The delivery address and the account that the briefing names."""
    delivery, account = re.search(r"^Delivery address: (.+)$", view, re.M), re.search(r"^Account: (.+)$", view, re.M)
    return (delivery[1] if delivery else "", account[1] if account else "")


def start_cents_in(view: str) -> int:
    """The money that the briefing names."""
    found = re.search(r"You begin with (\$[\d.,]+)\. ", view)
    return _cents(found[1]) or 0 if found else 0


_PRICE_LINE = re.compile(r"^- (.+) \((\w+)\): \$([\d.,]+) a unit, case of \d+$", re.M)
_LEAD = re.compile(r"^- Delivery: (\d+) days? after the day of your letter, at (\d+):00$", re.M)
_MINIMUM = re.compile(r"^- Minimum order: \$([\d.,]+)$", re.M)
_BULK = re.compile(r"^- Bulk discount: ([\d.]+)% off all units from (\d+) units in one order$", re.M)


def offers_in(text: str) -> list[Offer]:
    """The price lists among the letters of a look at the mail."""
    offers: list[Offer] = []
    for letter in letters_in(text):
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


def research_in(text: str) -> dict[str, Research]:
    """The product pages among search results, by product id."""
    return {
        product: Research(product, name, size, _cents(price) or 0, float(units), float(loss) / 10, int(life))
        for name, product, size, price, units, loss, life in _RESEARCH.findall(text)
    }
