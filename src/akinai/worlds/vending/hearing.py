"""What a rule-based player understands of the texts it hears: the same texts that a model reads, and nothing else."""

import re
from dataclasses import dataclass
from datetime import datetime

from akinai.core.money import read_dollars


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


def _cents(text: str) -> int | None:
    return read_dollars(text) if text else None


def _moment(text: str) -> datetime:
    return datetime.strptime(text.partition(" ")[2], "%d %b %Y, %H:%M")  # noqa: DTZ007 - a world's time has no zone


def _units_by_name(goods: str) -> dict[str, int]:
    return {name: int(units) for units, _, name in (part.partition(" ") for part in goods.split(", "))}
