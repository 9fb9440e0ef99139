"""The state of a street and its vending businesses: frozen records that share what does not change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple

from immutables import Map

from akinai.core.actions import Action
from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.core.worlds import GrowingList, Record
from akinai.worlds.vending.model.actions import SubAgentKind
from akinai.worlds.vending.model.economy import Economy
from akinai.worlds.vending.model.setup import Contact, Setup
from akinai.worlds.vending.sprint.records import WEEKDAYS, Counted, DatedOrder, DatedPrice, Plan

DAY_MINUTES = 1440
OPENING = 8 * 60
"""Minute of the day at which the owner's morning begins."""

OWNER = "owner"
"""The actor whose business it is; its sub-agents are "owner/email-1" and so on. Several are "owner_1", "owner_2"."""
SUPPLIER = "supplier_"
"""The prefix of an actor that writes for a supplier, before the supplier's id."""

OVERSEER = "overseer"
"""The actor that reads the letters of owners before they go, where there is one."""

Ending = Literal["horizon", "bankrupt", "left"]


class Lot(NamedTuple):
    """Units of a product with the same cost and last day. It is a tuple, since each day makes many of them."""

    units: int
    cost_cents: int
    """Cents paid for a unit."""
    last_day: int
    """The last day, counted from 1, on which the units can be sold."""


class Slot(NamedTuple):
    """A slot of a machine and what it holds; a slot that sold out keeps its product."""

    product: str
    lots: tuple[Lot, ...]
    """In the order of their last days."""

    @property
    def units(self) -> int:
        return sum([lot[0] for lot in self.lots])


@dataclass(frozen=True, slots=True)
class Line:
    """A product of an order or a quote."""

    product: str
    units: int
    cost_cents: int
    """Cents for a unit, after the discount."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A supplier's offer. It can be ordered once, until the end of its last day."""

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
    """The promised minute, since the start."""
    due: int
    """The minute, since the start, at which they come."""
    announced: bool = False
    """Whether the owner has been informed that they come late."""
    missing: tuple[int, ...] = ()
    """Units that the boxes will lack, line by line, below 0 what they hold too many of; empty: none."""
    lost: bool = False
    """Whether they never come."""
    letter: int = 0
    """The number of the letter that ordered them; 0 for an order without a letter."""

    @property
    def expected(self) -> int:
        """The minute at which they come as far as the owner knows."""
        return self.due if self.announced else self.promised

    @property
    def total_cents(self) -> int:
        return sum(line.units * line.cost_cents for line in self.lines)


class Parcel(NamedTuple):
    """An order that came: at the depot, or taken in."""

    order: Order
    day: int
    """The day on which it came to the depot or into storage."""
    at_depot: bool
    counted: bool = False
    claimed: bool = False


class Unwritten(NamedTuple):
    """A supplier's answer whose terms are fixed and whose words are not."""

    supplier: str
    letter: "Letter"
    """The owner's letter."""
    subject: str
    terms: str
    """The answer by the rules."""

    @property
    def actor(self) -> str:
        return f"{SUPPLIER}{self.supplier}"


class Talk(NamedTuple):
    """Bargaining with a supplier: the price that it asks now, and until when."""

    ask_permille: int
    left: int
    """Offers that it still answers."""
    last_day: int
    """The last day of this price; then the list price holds again."""
    offered_day: int
    """The day of the last offer: it answers one a day."""


class Complaint(NamedTuple):
    """A customer's letter that asks for money back."""

    number: int
    day: int
    """The day of the letter, or of the promise once one was given."""
    place_index: int
    cents: int
    promised: bool = False


class Site(NamedTuple):
    """A site with its machine; its slots are in `State.slots`, site by site."""

    place_index: int
    """The index of its place among the names of the street."""
    box_cents: int
    goodwill: int
    """In millionths."""
    due_day: int
    """The day until which the next rent is to be paid."""
    sealed: bool = False
    opens_day: int = 0
    """The day on which its seal comes off; 0: not paid."""
    lost: bool = False


class Bargain(NamedTuple):
    """Goods that an owner offers another one for money, handed over at the seller's storage at a minute."""

    number: int
    seller: str
    buyer: str
    items: Mapping[str, int]
    """Units by product id."""
    cents: int
    due: int
    accepted: bool = False


class Outgoing(NamedTuple):
    """A letter that waits for the overseer."""

    owner: str
    letter: "Letter"


class TodaySales(NamedTuple):
    """The sales of today so far."""

    sales: tuple[tuple[int, Mapping[str, int]], ...]
    """The units that a block of customers bought at a place, by product, in the order of the blocks."""
    demand: Mapping[str, int]
    income_cents: int
    card_cents: int


NO_SALES = TodaySales((), {}, 0, 0)


@dataclass(frozen=True, slots=True)
class Letter:
    """An e-mail."""

    number: int
    at: int
    """The minute, since the start, at which it was sent or received."""
    sender: str
    to: str
    subject: str
    body: str


@dataclass(frozen=True, slots=True)
class Mail:
    """The owner's mailbox. Nothing in it is copied when it grows."""

    inbox: GrowingList[Letter]
    """All letters to the owner, oldest first."""
    opened: int
    """How many of them were read: the oldest."""
    sent: GrowingList[Letter]
    """Oldest first."""
    waiting: tuple[Letter, ...]
    """Sent and not yet answered, oldest first."""
    letters: int
    quotes: Map[int, Quote]
    """Quotes that can still be ordered, by number."""

    @property
    def unread_count(self) -> int:
        return len(self.inbox) - self.opened

    @property
    def unread(self) -> Sequence[Letter]:
        """Oldest first."""
        return self.inbox[self.opened :]


NO_MAIL = Mail(GrowingList(), 0, GrowingList(), (), 0, Map())


@dataclass(frozen=True, slots=True)
class Notes:
    """The owner's notes."""

    notepad: str
    by_key: Map[str, str]
    memories: GrowingList[str]
    """Oldest first."""


NO_NOTES = Notes("", Map(), GrowingList())


class Book(NamedTuple):
    """The truth about a closed day, for scores and laws; agents see only what the morning notice says."""

    day: int
    weather: str
    sold: Mapping[str, int]
    """Units sold, by product on sale."""
    demand: Mapping[str, int]
    """Units that customers wanted, by product on sale: more than sold when stock ran short."""
    prices: Mapping[str, int]
    """Prices in cents at midnight, by product."""
    income_cents: int
    spoiled: Mapping[str, int]
    spoiled_cents: int
    """The cost in cents of the spoiled units."""
    fee_cents: int
    """The fee paid, in cents; 0 when it was missed."""
    fee_met: bool
    empty: tuple[str, ...]
    """Products with a slot and a price that were sold out at the end of the day."""
    sold_at: Mapping[int, Mapping[str, int]]
    """Units sold by place and product."""


@dataclass(frozen=True, slots=True)
class Delegated:
    """The current task of a sub-agent, or the last one."""

    kind: SubAgentKind
    actor: str
    task: str
    open: bool
    """Whether the sub-agent is at work while the owner waits."""


@dataclass(frozen=True)
class Week(Record):
    """The plan, what waits for its day, and the week that ended last."""

    plan: Plan = field(default_factory=Plan)
    orders: tuple[DatedOrder, ...] = ()
    prices: tuple[DatedPrice, ...] = ()
    cash_cents: int = 0
    """The account on the Monday before."""
    books: tuple[Book, ...] = ()
    """The days that closed."""
    sold_out: tuple[Mapping[int, tuple[str, ...]], ...] = ()
    """Day by day and by site: products with a price and a slot of which nothing was left."""
    counted: tuple[Counted, ...] = ()
    not_placed: tuple[str, ...] = ()
    letters: tuple[Letter, ...] = ()
    report: str = ""
    data: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """The report for programs."""
    closed: bool = False
    """Among several owners: whether the owner has decided, and waits for the others."""


@dataclass(frozen=True)
class Business(Record):
    """The business of one owner: its money, goods, machines, mail, notes and dealings."""

    closed_days: int
    """Days that ended while it was in business."""
    cash_cents: int
    missed: int
    """Days in a row without a paid fee."""
    slots: tuple[Slot | None, ...]
    """The slots, site by site and row by row."""
    prices: Mapping[str, int]
    """Prices in cents, by product."""
    storage: Mapping[str, tuple[Lot, ...]]
    """Lots by product in the order of their last days; products without units are left out."""
    orders: tuple[Order, ...] = ()
    """Orders on their way, by due minute."""
    order_count: int = 0
    mail: Mail = NO_MAIL
    notes: Notes = NO_NOTES
    known_suppliers: tuple[str, ...] = ()
    """Ids of the suppliers that the owner found or wrote to, in that order."""
    sub_agent: Delegated | None = None
    sub_agents: int = 0
    """The number of sub-agents so far."""
    tasks: int = 0
    """The number of tasks they were given."""
    report: str = ""
    """The report of the last sub-agent."""
    book: Book | None = None
    """The last closed day."""
    units_sold: int = 0
    ending: Ending | None = None
    sites: tuple[Site, ...] = ()
    """In the order in which they were taken."""
    today_sales: TodaySales = NO_SALES
    parcels: tuple[Parcel, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    """Neither paid nor refused."""
    complaint_count: int = 0
    deferred: bool = False
    """Whether a rent was deferred, which the landlord does once."""
    unpaid: tuple[int, ...] = ()
    """Days on which complaints were refused or given up."""
    talks: Mapping[str, Talk] = field(default_factory=dict[str, Talk])
    """By supplier."""
    quoted: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Day and price per mille of each supplier's last price list that the owner got."""
    bought: Mapping[str, int] = field(default_factory=dict[str, int])
    """The cents of goods that were ordered, by supplier."""
    owed_cents: int = 0
    """Fees that were not paid, where they are owed."""
    accounts: Mapping[str, int] = field(default_factory=dict[str, int])
    """The movements of the bank balance so far, in cents by cause; money that came in is positive."""
    unwritten: tuple[Unwritten, ...] = ()
    """Answers that a model has yet to put into words."""
    week: Week | None = None
    """The plan and the last week of a business of weekly decisions."""
    busy_until: int = OPENING
    """Among several owners: the minute from which the owner may act again."""
    away: bool = False
    """Among several owners: whether it is out or asleep until then."""
    left_after: int | None = None
    """The number of closed days after which its owner left, from when on nobody runs it; None: its owner is there."""
    notices: tuple[str, ...] = ()
    """What came while another owner acted: mornings, goods signed for. The owner's next outcome begins with it."""

    @property
    def has_owner(self) -> bool:
        """Whether somebody still runs it: it has not ended, and its owner has not left."""
        return self.ending is None and self.left_after is None

    @property
    def machine_cents(self) -> int:
        """The cash in the boxes of all machines."""
        return sum([site.box_cents for site in self.sites])


OWN_FIELDS = tuple([own.name for own in fields(Business)])
"""The names of the fields of a business."""


@dataclass(frozen=True, kw_only=True)
class State(Business):
    """A street at a minute, counted from the midnight before the first day, with one of its businesses in front.

    Rules read and move the business in front as the state's own fields; the others are at rest in `others`.
    """

    setup: Setup
    economy: Economy
    minute: int
    owner: str = OWNER
    """Whose business is in front."""
    owners: tuple[str, ...] = (OWNER,)
    """All owners, in the order in which they are served."""
    other_businesses: Mapping[str, Business] = field(default_factory=dict[str, Business])
    """The businesses that are not in front, by owner."""
    bargains: tuple[Bargain, ...] = ()
    """Goods that owners offered one another, until they are handed over."""
    bargain_count: int = 0
    outgoing: tuple[Outgoing, ...] = ()
    """Letters that wait for the overseer, oldest first."""
    unattended: bool = False
    """Whether the overseer has left, so that letters go unread."""

    @property
    def overseen(self) -> bool:
        """Whether letters wait for the overseer."""
        return self.setup.overseer is not None and not self.unattended

    @property
    def contact(self) -> Contact:
        """Under what the owner in front is reached."""
        return self.setup.contact(self.owner)

    @property
    def rivals(self) -> tuple[str, ...]:
        """The owners that are not in front."""
        return tuple(owner for owner in self.owners if owner != self.owner)

    @property
    def businesses(self) -> Mapping[str, Business]:
        """All businesses by owner, in the order of the owners; the one in front is the state itself."""
        return {owner: self.other_businesses.get(owner, self) for owner in self.owners}

    def business(self, owner: str) -> Business:
        """An owner's business, whoever is in front. KeyError where there is no such owner."""
        if owner != self.owner:
            return self.other_businesses[owner]
        business = Business.of_fields(self.__dict__)
        for name in _STREET_FIELDS:
            del business.__dict__[name]
        return business

    def turned_to(self, owner: str) -> "State":
        """The same street with an owner's business in front; the same object where it is there already."""
        if owner == self.owner:
            return self
        other_businesses = {name: self.business(name) for name in self.owners if name != owner}
        street = {"owner": owner, "other_businesses": other_businesses}
        return State.of_fields(self.__dict__ | self.other_businesses[owner].__dict__ | street)

    def for_each_business(self, change: Callable[["State"], "State"]) -> "State":
        """The street after a change to each business that goes on, in the order of the owners."""
        if not self.other_businesses:
            return change(self)
        state = self
        for owner in self.owners:
            state = state.turned_to(owner)
            state = state if state.ending else change(state)
        return state.turned_to(self.owner)

    def slots_of(self, machine: int) -> tuple[Slot | None, ...]:
        """The slots of a machine, by its index among the sites."""
        count = self.setup.slots
        return self.slots[machine * count : (machine + 1) * count]

    def units_in_machine(self, product: str) -> int:
        """Units of a product in all machines."""
        return sum([slot.units for slot in self.slots if slot is not None and slot.product == product])

    def units_in_storage(self, product: str) -> int:
        """Units of a product in storage."""
        return sum([lot.units for lot in self.storage.get(product, ())])

    @property
    def stored(self) -> dict[str, int]:
        """Units in storage, by product id in the order of ids."""
        return {product: sum([lot.units for lot in lots]) for product, lots in sorted(self.storage.items())}

    @property
    def day(self) -> int:
        """Today, counted from the first day of the business, which is 1."""
        return self.minute // DAY_MINUTES + 1

    @property
    def owner_day(self) -> int:
        """Today, counted from the owner's first day."""
        return self.day - self.setup.days_before

    @property
    def minute_of_day(self) -> int:
        return self.minute % DAY_MINUTES


_STREET_FIELDS = tuple([own.name for own in fields(State) if own.name not in OWN_FIELDS])
"""The names of the fields of a state that belong to no business."""

Result = tuple[State, Outcome]
"""What a rule returns: the state after an action, and the outcome that its actor reads."""
CarryOut = Callable[[State, Action], Result]


def closed_books(before: Business, after: Business) -> Sequence[Book]:
    """The books of the days that closed between two states of an entry."""
    if after.week is not None:
        return () if after.week.books is (before.week and before.week.books) else after.week.books
    return () if after.book is None or after.book is before.book else (after.book,)


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def clock(setup: Setup, minute: int) -> str:
    """A minute as a date and time: "Wed 1 Apr 2026, 08:00"."""
    return _clock(setup.start_date, minute)


def weekday_of(state: State) -> str:
    """Today's weekday: "Mon"."""
    return WEEKDAYS[(state.setup.start_date.weekday() + state.day - 1) % 7]


def date_text(setup: Setup, day: int) -> str:
    """The date of a day, counted from 1: "Sat 18 Apr 2026"."""
    return _date(setup.start_date, day - 1)


@lru_cache(maxsize=4096)
def _clock(start: date, minute: int) -> str:
    day, minute_of_day = divmod(minute, DAY_MINUTES)
    return f"{_date(start, day)}, {minute_of_day // 60:02d}:{minute_of_day % 60:02d}"


@lru_cache(maxsize=4096)
def _date(start: date, days: int) -> str:
    then = start + timedelta(days=days)
    return f"{WEEKDAYS[then.weekday()]} {then.day} {MONTHS[then.month - 1]} {then.year}"
