"""The state of a vending business: frozen records, sharing what does not change."""

from __future__ import annotations  # rpds classes take no parameters at run time

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

from rpds import HashTrieMap, List, Queue

from akinai.core.records import Record
from akinai.worlds.vending.economy import Economy
from akinai.worlds.vending.setup import Setup

DAY_MINUTES = 1440
OPENING = 8 * 60
"""Minute of the day at which the owner's morning begins."""

Ending = Literal["horizon", "bankrupt"]
Kind = Literal["email", "research", "physical"]


class Lot(NamedTuple):
    """Units of one product that came together: one cost, one last day. A tuple, since each day makes many of them."""

    units: int
    cost_cents: int
    """Paid for a unit."""
    last_day: int
    """The last day, counted from 1, on which they can be sold."""


class Slot(NamedTuple):
    """A slot of the machine and what it holds; a slot that sold out keeps its product."""

    product: str
    lots: tuple[Lot, ...]
    """Oldest last day first."""

    @property
    def units(self) -> int:
        return sum([lot.units for lot in self.lots])


@dataclass(frozen=True, slots=True)
class Restocked:
    """Units that came into the machine in the course of a day: they can only meet the demand after them."""

    product: str
    minute: int
    """Of the day."""
    units: int


@dataclass(frozen=True, slots=True)
class Line:
    """One product of an order or a quote."""

    product: str
    units: int
    cost_cents: int
    """For a unit, after the discount."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What a supplier offered; it stands until the end of its last day and can be ordered once."""

    number: int
    supplier: str
    lines: tuple[Line, ...]
    last_day: int


@dataclass(frozen=True, slots=True)
class Order:
    """Goods paid for and on their way."""

    number: int
    supplier: str
    lines: tuple[Line, ...]
    placed_day: int
    promised: int
    """Minute since the start at which they were promised."""
    due: int
    """Minute since the start at which they come."""
    announced: bool = False
    """The owner was told that they come late."""

    @property
    def expected(self) -> int:
        """The minute at which they come as far as the owner was told."""
        return self.due if self.announced else self.promised

    @property
    def total_cents(self) -> int:
        return sum(line.units * line.cost_cents for line in self.lines)


@dataclass(frozen=True, slots=True)
class Letter:
    """An e-mail."""

    number: int
    at: int
    """Minute since the start."""
    sender: str
    to: str
    subject: str
    body: str


@dataclass(frozen=True, slots=True)
class Mail:
    """The owner's mail box. Nothing in it is copied when it grows."""

    unread: Queue[Letter]
    read: List[Letter]
    """Newest first."""
    sent: List[Letter]
    """Newest first."""
    waiting: tuple[Letter, ...]
    """Sent and not yet answered, oldest first."""
    letters: int
    quotes: HashTrieMap[int, Quote]
    """Offers that still stand."""


NO_MAIL = Mail(Queue(), List(), List(), (), 0, HashTrieMap())


@dataclass(frozen=True, slots=True)
class Notes:
    """What the owner keeps for itself."""

    notepad: str
    by_key: HashTrieMap[str, str]
    memories: List[str]
    """Newest first."""


NO_NOTES = Notes("", HashTrieMap(), List())


@dataclass(frozen=True, slots=True)
class Book:
    """The truth about one closed day, for scores and laws; agents see no more of it than the morning notice tells."""

    day: int
    weather: str
    sold: Mapping[str, int]
    """Units by product, of those that were on sale."""
    wanted: Mapping[str, int]
    """Units that customers asked for, by product on sale: more than sold when stock ran short."""
    prices: Mapping[str, int]
    """Cents by product at midnight."""
    income_cents: int
    spoiled: Mapping[str, int]
    spoiled_cents: int
    """What the spoiled units had cost."""
    fee_cents: int
    """Paid; 0 when it was missed."""
    fee_met: bool
    empty: tuple[str, ...]
    """Products that have a slot and a price and were sold out at the end of the day."""


@dataclass(frozen=True, slots=True)
class Delegated:
    """A task that a sub-agent has now, or the last one it had."""

    kind: Kind
    actor: str
    task: str
    open: bool
    """It is at work, and the owner waits."""


@dataclass(frozen=True)
class State(Record):
    """A vending business at one minute. Time runs in minutes since the midnight before the first day."""

    setup: Setup
    economy: Economy
    minute: int
    closed_days: int
    cash_cents: int
    machine_cents: int
    missed: int
    """Days in a row without a paid fee."""
    slots: tuple[Slot | None, ...]
    """Row by row."""
    prices: Mapping[str, int]
    """Cents by product."""
    storage: Mapping[str, tuple[Lot, ...]]
    """By product, oldest last day first; a product with none is not there."""
    restocked: tuple[Restocked, ...] = ()
    """Of today."""
    orders: tuple[Order, ...] = ()
    """On their way, by due minute."""
    order_count: int = 0
    mail: Mail = NO_MAIL
    notes: Notes = NO_NOTES
    known_suppliers: tuple[str, ...] = ()
    """Ids of those the owner found or wrote to, in that order."""
    sub_agent: Delegated | None = None
    sub_agents: int = 0
    """How many have been at work."""
    tasks: int = 0
    """How many they were given."""
    report: str = ""
    """What the last sub-agent reported."""
    book: Book | None = None
    """Of the last closed day."""
    units_sold: int = 0
    ending: Ending | None = None

    @property
    def day(self) -> int:
        """Today, counted from 1."""
        return self.minute // DAY_MINUTES + 1

    @property
    def minute_of_day(self) -> int:
        return self.minute % DAY_MINUTES


def merged(lots: Iterable[Lot]) -> tuple[Lot, ...]:
    """Lots by last day, then cost, those with equal cost and last day as one."""
    units: dict[tuple[int, int], int] = {}
    for lot in lots:
        key = (lot.last_day, lot.cost_cents)
        units[key] = units.get(key, 0) + lot.units
    return tuple(Lot(count, cost, last) for (last, cost), count in sorted(units.items()))


WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def clock(setup: Setup, minute: int) -> str:
    """A minute as people say it: "Wed 1 Apr 2026, 08:00"."""
    day, rest = divmod(minute, DAY_MINUTES)
    date = setup.start_date + timedelta(days=day)
    weekday, month = WEEKDAYS[date.weekday()], MONTHS[date.month - 1]
    return f"{weekday} {date.day} {month} {date.year}, {rest // 60:02d}:{rest % 60:02d}"
