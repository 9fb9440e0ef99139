"""A trader's memory, and the parsing of what its tools return."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from akinai.core.canonical import Json
from akinai.core.money import read_dollars
from akinai.worlds.vending.players.beliefs import Calendar, Effect, Outlook, Product, Sales

_PRODUCT = re.compile(
    r"^Product: .+ \((\w+)\)\nCategory: (\w+)\nSize: (small|large), .+\nTypical retail price: \$([\d.,]+)\n"
    r"Typical sales: ([\d.]+) units .+\nWholesale price: about \$([\d.,]+) .+\nShelf life: (\d+) days?",
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


@dataclass(slots=True)
class OpenOrder:
    """An order that has not come, as noted when it was placed."""

    supplier: str
    units: dict[str, int]
    cost_cents: int
    sent: int
    promised: int
    """The promised day."""
    hour: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A supplier's price list."""

    supplier: str
    lead_days: int
    hour: int
    minimum_cents: int
    freight_cents: int
    prices: Mapping[str, int]


@dataclass(slots=True)
class Bargain:
    """A talk with a supplier."""

    until: int
    done: bool = False


@dataclass(slots=True)
class Machine:
    """A site as the inventory showed it, kept up to date by visits."""

    number: int
    units: dict[str, int]
    box_cents: int
    sealed: bool
    lost: bool


@dataclass
class Memory:
    """All that a trader knows; forgetting everything is beginning with a new one."""

    products: dict[str, Product] = field(default_factory=dict[str, Product])
    calendar: Calendar = field(default_factory=Calendar)
    offers: dict[str, Offer] = field(default_factory=dict[str, Offer])
    ratings: dict[str, float] = field(default_factory=dict[str, float])
    trust: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    """By supplier: deliveries, and the part of what was paid that came, summed."""
    bargains: dict[str, Bargain] = field(default_factory=dict[str, Bargain])
    sales: defaultdict[str, Sales] = field(default_factory=lambda: defaultdict[str, Sales](Sales))
    open: dict[int, OpenOrder] = field(default_factory=dict[int, OpenOrder])
    site_factors: dict[int, float] = field(default_factory=dict[int, float])
    """By site: its customers, as a multiple of those of an average place."""
    dues: dict[int, int] = field(default_factory=dict[int, int])
    """By site: the day until which the rent is to be paid."""
    variety: tuple[float, ...] = ()
    """The factor on sales by number of different products, from one, as the web says."""
    events: list[tuple[int, int, Effect]] = field(default_factory=list[tuple[int, int, Effect]])
    """First and last days of events, and what they do."""
    assigned: dict[str, str] = field(default_factory=dict[str, str])
    """By product, the supplier that it is bought from."""
    costs: dict[str, float] = field(default_factory=dict[str, float])
    rates: dict[str, float] = field(default_factory=dict[str, float])
    """Expected units a day at an average site with full variety, by product at its price."""
    supplier_searches: int = 0
    """Searches for suppliers so far."""
    next_review: int = 0
    fresh: bool = True
    """Whether nothing was remembered when this day began."""
    _by_day: dict[int, Effect] = field(default_factory=dict[int, Effect])
    """The events by day, as far as `_dated` of them are known."""
    _dated: int = 0
    _outlook: Outlook | None = None
    """The outlook that was asked for last."""

    def variety_of(self, count: int) -> float:
        """The factor on sales with so many different products on sale; 1 while it is not known."""
        return self.variety[min(count, len(self.variety)) - 1] if count and self.variety else 1.0

    def event_on(self, day: int) -> Effect | None:
        """The event of a day, as far as it is known."""
        return self.events_by_day().get(day)

    def events_by_day(self) -> Mapping[int, Effect]:
        """The events as far as they are known."""
        if len(self.events) != self._dated:
            self._dated = len(self.events)
            self._by_day = {
                day: effect for first, last, effect in reversed(self.events) for day in range(first, last + 1)
            }
        return self._by_day

    def outlook(self, day: int) -> Outlook:
        """The outlook after a day, given the known events."""
        events, outlook = self.events_by_day(), self._outlook
        if outlook is None or outlook.day != day or outlook.events is not events:
            outlook = self._outlook = Outlook(events, day)
        return outlook


def fields(data: Json) -> Mapping[str, Any]:
    """The data of an outcome as a mapping."""
    return cast("Mapping[str, Any]", data) if isinstance(data, dict) else {}


def read_products(text: str) -> dict[str, Product]:
    """Products on web pages."""
    return {
        id: Product(
            id, category, size == "small", read_dollars(price), max(float(units), 0.01), int(life), read_dollars(trade)
        )
        for id, category, size, price, units, trade, life in _PRODUCT.findall(text)
    }


def read_variety(text: str, variety: tuple[float, ...]) -> tuple[float, ...]:
    """The public factors on sales by number of different products, as far as a text has them."""
    table = _VARIETY.search(text)
    return tuple(float(share) / 100 for share in _PERCENT.findall(table[1])) if table else variety


def read_event(event: Mapping[str, Any]) -> tuple[int, int, Effect]:
    """An event from the data of READ_NEWS."""
    return event["first"], event["last"], Effect(dict(event["times"]), event["pays"])


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


def read_offers(data: Json) -> dict[str, Offer]:
    """Price lists from the data of GET_PRICE_LISTS."""
    lists = fields(data).get("suppliers", ())
    return {
        row["supplier"]: Offer(
            row["supplier"], row["lead_days"], row["hour"], row["minimum_cents"], row["freight_cents"],
            row["prices_cents"],
        )
        for row in lists
    }  # fmt: skip


def read_machines(data: Json) -> list[Machine]:
    """Sites from the data of GET_MACHINE_INVENTORY."""
    return [
        Machine(site["site"], dict(site["units"]), site["box_cents"], site["sealed"], site["lost"])
        for site in fields(data).get("sites", ())
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
