"""The trader: a rule-based player of a business of several sites, and its memory. Its habits make it strong or weak."""

from __future__ import annotations  # a trader makes another

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.chance import Chance
from akinai.core.errors import AgentError
from akinai.core.ledger import Genesis, Outcome
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import economy_of
from akinai.worlds.vending.model.state import DAY_MINUTES, OPENING
from akinai.worlds.vending.model.terms import Effect as EventTerms
from akinai.worlds.vending.players import beliefs
from akinai.worlds.vending.players import observations as read
from akinai.worlds.vending.players.beliefs import STEPS, Calendar, Effect, Outlook, Posterior, Product, Sales
from akinai.worlds.vending.players.habits import Habits
from akinai.worlds.vending.players.observations import Machine, Offer
from akinai.worlds.vending.sprint.records import WEEKDAYS


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


@dataclass(slots=True)
class Bargain:
    """A talk with a supplier."""

    until: int
    done: bool = False


FESTIVAL_PART = 0.8
"""The part of what people pay more at an event that is believed."""


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

    def trust_more(self, supplier: str, part: float) -> None:
        """Note the part of a paid order that came."""
        count, good = self.trust.get(supplier, (0, 0.0))
        self.trust[supplier] = (count + 1, good + part)

    def value_of(self, supplier: str, units: Mapping[str, int]) -> int:
        """The price of goods by a supplier's list."""
        offer = self.offers.get(supplier)
        return sum(count * (offer.prices.get(id, 0) if offer else 0) for id, count in units.items())

    def variety_of(self, count: int) -> float:
        """The factor on sales with so many different products on sale; 1 while it is not known."""
        return self.variety[min(count, len(self.variety)) - 1] if count and self.variety else 1.0

    def event_on(self, day: int) -> Effect | None:
        """The event of a day, as far as it is known."""
        return self.events_by_day().get(day)

    def pays_on(self, day: int) -> float:
        """The factor on the price that people find right on a day, as far as an event is known and believed."""
        event = self.event_on(day)
        return 1 + (event.pays - 1) * FESTIVAL_PART if event else 1.0

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


Doing = Generator[Action, Outcome, Outcome]
Coming = dict[str, list[tuple[int, int]]]
"""By product: in how many days units come, and how many."""

EVENING = 20 * 60


def effect_of(terms: EventTerms) -> Effect:
    """What the news will say of an event."""
    times = {id: terms.permille_of(id) / 1000 for id in ("", *terms.categories)}
    return Effect(times, terms.worth_permille / 1000)


class Trader:
    """A player that trades: what it does, looks at and notes. How it buys is in `buying`."""

    weekly = False
    """Whether it decides on Mondays alone, where every delivery takes long and no day of waiting is dear."""

    def __init__(self, me: Routine, habits: Habits, genesis: Genesis | None = None) -> None:
        """Begin with the first view; an informed trader knows the hidden parameters of a genesis.

        Raises AgentError where it is informed and has no genesis.
        """
        if habits.informed and genesis is None:
            raise AgentError("this player knows the hidden parameters of its run, and it was given none: play it here")
        self.truth = economy_of(genesis) if habits.informed and genesis is not None else None
        self.me, self.habits = me, habits
        self.memory = Memory()
        if self.truth is not None:
            kinds, before = self.truth.setup.street.events.kinds, self.truth.setup.days_before
            self.memory.events = [
                (event.first - before, event.last - before, effect_of(kinds[event.kind]))
                for event in self.truth.town.events
            ]
        self.day, self.minute, self.cash = 1, OPENING, read.read_start_cents(me.view.text)
        self.days = 1 + (read.read_days_left(me.view.text) or 363)
        self.today: datetime | None = read.read_date(me.view.text.rpartition("Now: ")[2])
        self.weather: str | None = None
        self.yesterday: tuple[str | None, Mapping[str, Mapping[str, int]]] = (None, {})
        """Weather and units sold by site of the day before."""
        self.unread = 1
        self.machines: list[Machine] = []
        self.storage: dict[str, int] = {}
        self.small_slots, self.small_units, self.large_slots, self.large_units = 6, 10, 6, 10
        """Assumed until the inventory is seen."""
        self.storage_units, self.storage_units_a_site = 300, 100
        """Assumed until the letter on it is read."""
        self.layout: list[str] = []
        self.prices: dict[str, int] = {}
        self.planned: dict[str, int] = {}
        self.festival = False
        self.arrived: list[int] = []
        """Orders that were signed for and not yet counted."""
        self._prior: tuple[float, ...] = ()
        """The probability of each of `beliefs.WORTHS` in this town, as of `_prior_day`."""
        self._prior_day = 0
        self.taken: Mapping[int, int] = {1: 0}
        """The informed player's sites, each with the index of its place."""

    def copied(self, me: Routine) -> Trader:
        """The same trader for another agent; habits and hidden parameters are shared."""
        shared = {"me": me, "habits": self.habits, "truth": self.truth}
        copy = object.__new__(type(self))
        copy.__dict__ = shared | deepcopy({name: value for name, value in self.__dict__.items() if name not in shared})
        return copy

    def rests(self) -> bool:
        """Whether it does nothing today because it has stopped or is away."""
        habits, day = self.habits, self.day
        stopped = bool(habits.stops and day > habits.stops)
        return stopped or bool(habits.coma and 0 <= day - habits.coma[0] < habits.coma[1])

    # Acting and noting

    def do(self, action: Action) -> Doing:
        """Do an action, and note the clock and the orders that were signed for."""
        outcome = yield action
        if not outcome.ok:
            return outcome
        self.minute = read.read_minute(outcome.text) or self.minute
        for number in read.read_signed(outcome.text):
            if number in self.memory.open:
                self.arrived.append(number)
        cash = outcome.fields.get("cash_cents")
        self.cash = cash if isinstance(cash, int) else self.cash
        return outcome

    def wake(self, morning: Outcome) -> None:
        """Note the morning's notice."""
        data = morning.fields
        self.yesterday = (self.weather, data.get("sold_at", {}))
        self.day, self.minute = data.get("day", self.day + 1), OPENING
        self.today = read.read_date(morning.text)
        self.weather, self.unread = data.get("weather"), data.get("unread", 0)
        self.cash = data.get("cash_cents", self.cash)
        self.arrived = []

    def watch(self, action: Action, outcome: Outcome) -> None:
        """Note what was done in its place: orders on their way, bills paid, goods counted, pitches taken."""
        data, memory = outcome.fields, self.memory
        match action:
            case a.PlaceOrder():
                offer = memory.offers.get(action.supplier_id)
                lead_days, hour = (offer.lead_days, offer.hour) if offer else (4, 17)
                goods, promised = dict(action.items), self.day + lead_days
                cost = memory.value_of(action.supplier_id, goods)
                memory.open[data["order"]] = OpenOrder(action.supplier_id, goods, cost, self.day, promised, hour)
            case a.CountDelivery() | a.Claim():
                memory.open.pop(action.order, None)
            case a.Pay(bill="rent"):
                memory.dues[action.number] = data.get("due_day", self.day + 28)
            case a.TakePitch():
                memory.dues[data["site"]] = data["due_day"]
            case _:
                pass

    def day_of(self, text: str) -> int:
        """The number of the day that a text names by its date."""
        date = read.read_date(text)
        return self.day + (date - self.today).days if date and self.today else self.day

    def look(self) -> Plan:
        """Look at storage and machines."""
        outcome = yield from self.do(a.ListStorage())
        self.storage = dict(outcome.fields.get("storage", {}))
        outcome = yield from self.do(a.GetMachineInventory())
        self.machines = read.read_machines(outcome.fields)
        if shelves := read.read_shelves(outcome.text):
            self.small_slots, self.small_units, self.large_slots, self.large_units = shelves
        self.prices = dict(outcome.fields.get("prices_cents", {}))

    def read_mail(self) -> Generator[Action, Outcome, bool]:
        """Read new letters and do what they ask for. Returns whether suppliers must be chosen anew."""
        again, waiting = False, True
        while waiting:
            outcome = yield from self.do(a.ReadEmail())
            letters = outcome.fields.get("letters", [])
            waiting = len(letters) == 20
            for letter in letters:
                again |= yield from self.handle(letter["subject"], letter["body"])
        return again

    def handle(self, subject: str, body: str) -> Generator[Action, Outcome, bool]:
        """Do what a letter asks for. Returns whether it says that a supplier closes."""
        number, habits = read.read_number(subject), self.habits
        if subject.startswith("Complaint"):
            if habits.complaints != "ignore" and self.cash > 2000:
                outcome = yield from self.do(a.AnswerCustomer(complaint=number, answer=habits.complaints))
                self.cash -= outcome.fields.get("paid_cents", 0)
        elif subject.endswith("delayed") and number in self.memory.open:
            self.memory.open[number].promised = self.day_of(body.partition("New delivery:")[2])
        elif subject.endswith("is moved") and number in self.memory.open:
            self.memory.open[number].hour = int(body.rpartition(":")[0].split()[-1])
        elif subject.endswith("at the depot"):
            outcome = yield from self.do(a.FetchDepot(order=number))
            self.cash -= outcome.fields.get("fee_cents", 0)
        elif subject.endswith("signed for") and number in self.memory.open and number not in self.arrived:
            self.arrived.append(number)
        elif storage := read.read_storage(body):
            self.storage_units, self.storage_units_a_site = storage
        elif subject == "Your contract":
            self.memory.dues[1] = self.day_of(body.partition("first due on ")[2])
        elif subject.endswith("is sealed"):
            yield from self.unseal(number)
        elif subject.endswith(" closes"):
            return True
        return False

    def unseal(self, site: int) -> Plan:
        """Pay a rent that is overdue, with the cash of the machine if need be."""
        outcome = yield from self.pay_rent(site)
        if outcome.code == "no_cash":
            yield from self.do(a.VisitSite(site=site))
            yield from self.pay_rent(site)

    def pay_rent(self, site: int) -> Doing:
        """Pay the rent of a site, and note when the next is due."""
        outcome = yield from self.do(a.Pay(bill="rent", number=site))
        if outcome.ok:
            self.cash -= outcome.fields.get("paid_cents", 0)
            self.memory.dues[site] = outcome.fields.get("due_day", self.day + 28)
        return outcome

    def pay_rents(self) -> Plan:
        """Pay the rents that fall due before the next working day."""
        habits = self.habits
        if not habits.pays_rent_in_time or (not habits.pays_last_rent and self.days - self.day < 30):
            return
        for machine in self.machines:
            due = self.memory.dues.get(machine.number)
            if not machine.lost and due is not None and due <= self.day + habits.every - 1:
                yield from self.pay_rent(machine.number)

    def read_news(self) -> Doing:
        """Note the events ahead."""
        outcome = yield from self.do(a.ReadNews())
        self.note_events(outcome.fields.get("events", ()))
        return outcome

    def note_events(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Note events by the data of READ_NEWS."""
        for row in events if self.habits.reads_news else ():
            event = row["first"], row["last"], Effect(dict(row["times"]), row["pays"])
            self.memory.events += [event] if event not in self.memory.events else []

    def pitches_on_offer(self) -> Generator[Action, Outcome, str]:
        """The news, which name the pitches."""
        return (yield from self.read_news()).text

    def read_price_lists(self) -> Plan:
        outcome = yield from self.do(a.GetPriceLists())
        self.memory.offers = read.read_offers(outcome.fields)

    def festival_prices(self) -> Plan:
        """Raise prices for a festival, and lower them after it."""
        if not (self.habits.reads_news and self.habits.learns_prices and self.layout):
            return
        pays = self.memory.pays_on(self.day)
        festival = pays > 1
        if festival or self.festival:
            prices = {id: int(price * pays) for id, price in self.planned.items() if id in self.layout}
            yield from self.set_prices(prices)
            self.festival = festival

    def set_prices(self, prices: Mapping[str, int]) -> Plan:
        new = {id: cents for id, cents in prices.items() if self.prices.get(id) != cents}
        if new:
            yield from self.do(a.ChangePrices(prices_cents=new))
            self.prices |= new

    # Sites

    def is_worth_visiting(self, machine: Machine) -> bool:
        """Whether a visit would put enough into a machine."""
        total = 0
        for id in machine.units or self.layout:
            stored = self.storage.get(id, 0)
            if stored and id in self.memory.products:
                have = machine.units.get(id, 0)
                gap = min(self.capacity(id) - have, stored)
                total += gap + (3 if gap and have <= 1 else 0)
        return total >= 8

    def capacity(self, id: str) -> int:
        return self.small_units if self.memory.products[id].small else self.large_units

    def visits(self) -> Plan:
        """Visit the sites that are worth it, and wait first for vans that are about to come."""
        if not self.layout or not self.memory.products:
            return
        for machine in self.machines:
            if machine.lost or self.minute > 21 * 60:
                continue
            if self.habits.waits:
                yield from self.wait_for_goods(until=self.minute // 60 + 2)
            layout = self.next_layout(machine)
            rich = 3000 if self.cash < 40_000 else 9000
            if self.truth and self.days - self.day <= 1:
                rich = 1000
            cash = self.habits.collects and machine.box_cents > rich
            if layout is not None or self.is_worth_visiting(machine) or cash:
                yield from self.visit(machine, layout)

    def visit(self, machine: Machine, layout: list[str] | None) -> Plan:
        products = None if layout is None else tuple(layout)
        action = a.VisitSite(site=machine.number, products=products, collect=self.habits.collects)
        outcome = yield from self.do(action)
        if outcome.ok:
            after = dict(outcome.fields.get("units", {}))
            for id in {*after, *machine.units}:
                moved = after.get(id, 0) - machine.units.get(id, 0)
                self.storage[id] = max(0, self.storage.get(id, 0) - moved)
            machine.units = after
            if self.habits.collects:
                machine.box_cents = 0

    def next_layout(self, machine: Machine) -> list[str] | None:
        """The products that the machine shall hold; None when they are those that it holds."""
        held = list(machine.units)
        if not any(self.storage.get(id) for id in self.layout):
            return None
        if not held:
            return list(self.layout)
        if not any(self.storage.get(id) and id not in held for id in self.layout):
            return None
        layout = list(held)
        for id in self.layout:
            if id in layout or not self.storage.get(id):
                continue
            same = [other for other in layout if self.is_small(other) == self.is_small(id)]
            if len(same) >= (self.small_slots if self.is_small(id) else self.large_slots):
                leaving = [other for other in same if other not in self.layout]
                if not leaving:
                    continue
                layout.remove(min(leaving, key=lambda other: machine.units.get(other, 0)))
            layout.append(id)
        return layout if layout != held else None

    def is_small(self, id: str) -> bool:
        return id in self.memory.products and self.memory.products[id].small

    def sell_leftovers(self) -> Plan:
        """Sell to a jobber what no longer sells, when storage is full."""
        if not self.layout or self.room() >= 60 or self.habits.cover > 1.5:
            return
        flow, old = sum(self.factor(machine.number) for machine in self.machines), dict[str, int]()
        for id, units in self.storage.items():
            keep = int(self.memory.rates.get(id, 0.0) * flow * 9) + 2 if id in self.layout else 0
            if units > keep:
                old[id] = units - keep
        if sum(old.values()) > 15:
            outcome = yield from self.do(a.SellToJobber(items=old))
            if outcome.ok:
                self.cash += outcome.fields.get("paid_cents", 0)
                self.storage = {id: units - old.get(id, 0) for id, units in self.storage.items()}

    def room(self) -> int:
        return self.storage_room() - sum(self.storage.values())

    def storage_room(self) -> int:
        """The units that the storage holds."""
        return self.storage_units + self.storage_units_a_site * (len(self.machines) - 1)

    def hold(self) -> float:
        """The units that storage and machines hold, four fifths of each machine's room counted."""
        shelves = self.small_slots * self.small_units + self.large_slots * self.large_units
        return self.storage_room() + len(self.machines) * shelves * 0.8

    def held(self, id: str) -> int:
        """The units of a product in storage and machines."""
        return self.storage.get(id, 0) + sum([machine.units.get(id, 0) for machine in self.machines])

    def factor(self, site: int) -> float:
        """The believed customers of a site, as a multiple of those of an average place."""
        if self.truth:
            name = self.taken.get(site, 0)
            return self.truth.town.footfall[name] / 1000
        return self.memory.site_factors.get(site, 1.0)

    # Deliveries

    def wait_for_goods(self, until: int) -> Plan:
        """Wait for what is promised today up to an hour."""
        today = [order for order in self.memory.open.values() if order.promised == self.day]
        for hour in sorted({order.hour for order in today}):
            if self.minute < hour * 60 and hour <= until and hour * 60 < DAY_MINUTES:
                yield from self.do(a.WaitUntil(hour=hour))
                yield from self.count()

    def count(self) -> Plan:
        """Count what came, claim what is missing, and note how far the supplier can be trusted."""
        if not self.arrived:
            return
        for number in list(dict.fromkeys(self.arrived)):
            order = self.memory.open.pop(number, None)
            if order is not None and self.habits.claims:
                yield from self.check(number, order)
        self.arrived = []
        outcome = yield from self.do(a.ListStorage())
        self.storage = dict(outcome.fields.get("storage", {}))

    def check(self, number: int, order: OpenOrder) -> Plan:
        outcome = yield from self.do(a.CountDelivery(order=number))
        if outcome.ok:
            missing: dict[str, int] = dict(outcome.fields.get("missing", {}))
            yield from self.claim(number, order.supplier, missing, order)

    def claim(self, number: int, supplier: str, missing: Mapping[str, int], order: OpenOrder | None) -> Plan:
        """Claim what is missing of an order, and note how far its supplier can be trusted where it is remembered."""
        lost = float(self.memory.value_of(supplier, missing))
        if missing:
            outcome = yield from self.do(a.Claim(order=number, missing=dict(missing)))
            paid = outcome.fields.get("paid_cents", 0)
            self.cash, lost = self.cash + paid, max(0.0, lost - paid)
        if order:
            self.memory.trust_more(order.supplier, 1 - lost / max(1, order.cost_cents))

    def order(self, offer: Offer, units: dict[str, int], cost: int, coming: Coming, offset: int = 0) -> Doing:
        """Order goods, today or so many days later in the week, and note in `coming` that they are on their way."""
        day = WEEKDAYS[offset] if offset else None
        outcome = yield from self.do(a.PlaceOrder(supplier_id=offer.supplier, items=units, day=day))
        if outcome.ok:
            order = OpenOrder(offer.supplier, units, cost, self.day, self.day + offset + offer.lead_days, offer.hour)
            self.memory.open[outcome.fields["order"]] = order
            self._note_coming(order, coming)
        return outcome

    def coming(self) -> Coming:
        """What is on its way as far as it comes to mind."""
        coming = Coming()
        for order in self.open_orders():
            self._note_coming(order, coming)
        return coming

    def _note_coming(self, order: OpenOrder, coming: Coming) -> None:
        for id, count in order.units.items():
            coming.setdefault(id, []).append((max(0, order.promised - self.day), count))

    def open_orders(self) -> list[OpenOrder]:
        """The open orders that come to mind; what is overdue for days is given up."""
        remembered: list[OpenOrder] = []
        for number, order in list(self.memory.open.items()):
            if self.day > order.promised + 7:
                self.memory.trust_more(order.supplier, 0.0)
                del self.memory.open[number]
            elif self.comes_to_mind(number):
                remembered.append(order)
        return remembered

    # Learning

    def learn(self) -> None:
        """Learn tastes by price, and the factor of each site, from yesterday's sales."""
        habits, memory, day = self.habits, self.memory, self.day - 1
        if self.truth or day < 1 or not (habits.learns_prices or habits.explores):
            return
        event, worth = (memory.event_on(day), memory.pays_on(day)) if habits.reads_news else (None, 1.0)
        weather, sold_at = self.yesterday
        for machine in self.machines:
            sold = sold_at.get(str(machine.number), {})
            if machine.sealed or not sold:
                continue
            variety = memory.variety_of(len({*sold, *[id for id, units in machine.units.items() if units]}))
            total = expected = 0.0
            site, days_by_category = self.factor(machine.number), dict[str, float]()
            for id in machine.units:
                product = memory.products.get(id)
                if product is None or id not in self.prices:
                    continue
                units, rate = sold.get(id, 0), memory.rates.get(id, 0.0)
                days = days_by_category.get(product.category)
                if days is None:
                    days = site * self.calendar(product, day, weather) * variety
                    days *= event.factor(product.category) if event else 1.0
                    days_by_category[product.category] = days
                if not machine.units[id] and (not units or units < rate * days):
                    continue
                step = round(self.prices[id] / (product.typical_cents * worth) * STEPS)
                memory.sales[id].add(step, days, units)
                total, expected = total + units, expected + rate * days
            if expected > 2:
                site_factor = self.factor(machine.number)
                memory.site_factors[machine.number] = site_factor * (1 + 0.04 * (max(total / expected, 0.3) - 1))
        if self.day % 7 == 0:
            for sales in memory.sales.values():
                sales.fade(0.88)

    def calendar(self, product: Product, day: int, weather: str | None) -> float:
        if self.today is None:
            return 1.0
        weekday = (self.today.weekday() + day - self.day) % 7
        return self.memory.calendar.factor(product.category, weekday, self.today.month - 1, weather)

    def belief(self, product: Product) -> Posterior:
        """The belief about a product's demand; the informed player knows the truth."""
        if self.truth:
            taste = self.truth.town.tastes[product.id]
            period = (self.day + self.truth.setup.days_before + taste.phase) // self.truth.town.taste_days
            base = taste.base / 2**20 * taste.by_period[period] / 1000
            worth = taste.worth_cents / product.typical_cents
            return base, ((1.0, worth, taste.elasticity_permille / 1000),)
        if not (self.habits.learns_prices or self.habits.explores):
            return beliefs.public_belief(product)
        if self._prior_day != self.day:
            products = self.memory.products
            likelihoods = [
                sales.likelihood(products[id])
                for id, sales in self.memory.sales.items()
                if sales.seen and id in products
            ]
            self._prior, self._prior_day = beliefs.prior_of_worths(likelihoods), self.day
        return self.memory.sales.get(product.id, Sales()).posterior(product, self._prior)

    def comes_to_mind(self, number: int) -> bool:
        """Whether an open order is remembered today."""
        if self.habits.remembers >= 1:
            return True
        return Chance.of(number)("comes to mind", self.day).below(1000) < self.habits.remembers * 1000
