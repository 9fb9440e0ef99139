"""Rule-based owners of a weekly business: the trader's habits and knowledge, put to use on Mondays alone."""

from collections.abc import Generator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.ledger import Genesis, Outcome
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import OPENING, CarryOut, State
from akinai.worlds.vending.players import buying
from akinai.worlds.vending.players import observations as read
from akinai.worlds.vending.players.beliefs import Product
from akinai.worlds.vending.players.habits import LADDER, Habits
from akinai.worlds.vending.players.observations import Machine, Offer
from akinai.worlds.vending.players.trader import Coming, Doing, Memory, Trader
from akinai.worlds.vending.rules.actors import view
from akinai.worlds.vending.rules.books import day_text, rent_cents
from akinai.worlds.vending.sprint import verbs as weekly
from akinai.worlds.vending.sprint.records import WEEKDAYS

ORDER_DAYS = (0, 2, 4)
"""The days after Monday on which the employee places orders."""
SLACK_DAYS = 7.0
"""Days beyond the next delivery that an order is to cover; chosen on seeds 11-14."""
LISTS_DAYS = 84
"""Days after which all price lists are asked for again."""


class WeeklyOwner(Trader):
    """A trader that decides on Mondays from the week's report."""

    weekly = True

    def __init__(self, me: Routine, habits: Habits, genesis: Genesis | None = None) -> None:
        """Begin with the first view, which holds the first report."""
        super().__init__(me, replace(habits, every=max(7, habits.every)), genesis)
        self.report: Mapping[str, Any] = {}
        self.pitches = ""
        """What was last said of pitches on offer."""
        self.complaints: list[int] = []
        self.prices_by_day: dict[int, dict[str, int]] = {}
        """Prices as they held, by day, for what is learned from sales."""
        self.plan: tuple[object, ...] = ()
        self.next_lists = 0
        self._read_first_report(me.view.text)

    # Reading

    def _read_first_report(self, text: str) -> None:
        self.today = read.read_date(text.partition(" of ")[2])
        number = text.rpartition(" day ")[2].partition(" of ")[0]
        self.day = int(number) if number.isdigit() else 1
        self.pitches = text
        self.storage_units, self.storage_units_a_site = read.read_storage(text) or (300, 100)
        if shelves := read.read_shelves(text):
            self.small_slots, self.small_units, self.large_slots, self.large_units = shelves
        self.machines = [Machine(1, {}, 0, sealed=False, lost=False)]
        self.memory.dues[1] = self.day_of(text.partition("first due on ")[2])

    def take_report(self, outcome: Outcome) -> None:
        """Read a week's report."""
        report = self.report = outcome.fields
        days = int(report["day"]) - self.day
        self.today = self.today + timedelta(days=days) if self.today else None
        self.day, self.minute, self.cash = report["day"], OPENING, report["cash_cents"]
        self.machines = read.read_machines(report)
        self.storage, self.prices = dict(report["storage"]), dict(report["prices_cents"])
        self.note_events(report["news"]["events"])

    def learn_week(self) -> None:
        """Learn from each day of the week as a trader learns from yesterday."""
        present = self.day, self.today, self.machines, self.prices
        for row in self.report.get("days", ()):
            self.day = row["day"] + 1
            self.today = present[1] - timedelta(days=present[0] - self.day) if present[1] else None
            self.prices = self.prices_by_day.pop(row["day"], present[3])
            self.yesterday = row["weather"], row["sold"]
            self.machines = [_evening(machine, row) for machine in present[2]]
            self.learn()
        self.day, self.today, self.machines, self.prices = present
        self.weather = self.yesterday[0]

    # What a Monday's report and plan take the place of

    def read_price_lists(self) -> Plan:
        """Price lists are remembered for a while."""
        if not self.memory.offers or self.day >= self.next_lists:
            yield from super().read_price_lists()
            self.next_lists = self.day + LISTS_DAYS

    def pitches_on_offer(self) -> Generator[Action, Outcome, str]:
        """The news stand in the report."""
        return self.pitches
        yield

    def do(self, action: Action) -> Doing:
        """Do an action, and note until when an agreed price holds, and the sites and pitches that there are."""
        outcome = yield from super().do(action)
        if isinstance(action, a.MakeOffer) and outcome.ok and action.supplier_id in self.memory.bargains:
            until = self.day_of(outcome.text.rpartition(", until ")[2])
            self.memory.bargains[action.supplier_id].until = until + 1
        elif isinstance(action, a.TakePitch) and outcome.ok:
            self.pitches = outcome.text
            self.machines.append(Machine(outcome.fields["site"], {}, 0, sealed=False, lost=False))
        return outcome

    def look(self) -> Plan:
        """All that there is to see stands in the report."""
        return
        yield

    def set_prices(self, prices: Mapping[str, int]) -> Plan:
        """Prices go into the plan."""
        self.prices |= prices
        return
        yield

    def handle(self, subject: str, body: str) -> Generator[Action, Outcome, bool]:
        """Do what a letter asks for; complaints are answered together, and the employee sees to goods."""
        number = read.read_number(subject)
        if subject.startswith("Complaint"):
            self.complaints.append(number)
        elif subject.endswith("is overdue") or subject.endswith("is sealed"):
            yield from self.pay_rent(number)
        elif subject == "Another pitch":
            self.pitches = body
        elif not subject.endswith("at the depot"):
            return (yield from super().handle(subject, body))
        return False

    # A Monday

    def works(self) -> bool:
        """Whether the owner decides anything on this Monday."""
        every = self.habits.every
        return not self.rests() and (every < 14 or self.day // 7 % (every // 7) == 0)

    def monday(self) -> Plan:
        """Decide: answers, claims and bills, suppliers and goods, orders, the plan, offers. The week is not closed."""
        memory, habits = self.memory, self.habits
        if habits.wipe and self.day > 1:
            memory = self.memory = Memory()
        again = False
        for letter in self.report.get("letters", ()):
            again |= yield from self.handle(letter["subject"], letter["body"])
        yield from self._answer()
        yield from self._claim()
        self.learn_week()
        yield from self.pay_rents()
        if again:
            self.next_lists = 0
        for query in buying.SUPPLIER_QUERIES[memory.supplier_searches : -buying.SEARCHES_A_REVIEW]:
            yield from super().do(a.SearchWeb(query=query))
            memory.supplier_searches += 1
        used = {*memory.assigned.values()}
        asks_first = any(id in used and bargain.until <= self.day for id, bargain in memory.bargains.items())
        if asks_first:
            yield from buying.bargain_today(self)
        fresh = not memory.bargains
        yield from buying.review(self)
        yield from self.sell_leftovers()
        if self.days - self.day > 3:
            yield from self._order()
        yield from self._set_plan()
        if not asks_first and not fresh:
            yield from buying.bargain_today(self)
            if self.layout:
                buying.assign_suppliers(self)

    def _answer(self) -> Plan:
        numbers, self.complaints = tuple(self.complaints), []
        if numbers and self.habits.complaints != "ignore" and self.cash > 2000:
            outcome = yield from self.do(weekly.AnswerCustomers.model_validate({self.habits.complaints: numbers}))
            self.cash -= outcome.fields.get("paid_cents", 0)

    def _claim(self) -> Plan:
        """Claim what is missing of the goods that came, and note how far suppliers can be trusted."""
        memory = self.memory
        for text in self.report.get("not_placed", ()):
            memory.open.pop(read.read_number(text), None)
        for row in self.report.get("counted", ()):
            order, missing = memory.open.pop(row["order"], None), row["missing"]
            if not self.habits.claims:
                continue
            yield from self.claim(row["order"], row["supplier"], missing, order)

    def _set_plan(self) -> Plan:
        """Tell the employee what the machines hold and what it costs, with higher prices at festivals."""
        prices = {id: self.prices[id] for id in self.layout if id in self.prices}
        by_day = dict.fromkeys(range(self.day, self.day + 7), prices)
        if self.habits.reads_news and self.habits.learns_prices:
            for day in by_day:
                if (pays := self.memory.pays_on(day)) > 1:
                    by_day[day] = {id: int(cents * pays) for id, cents in prices.items()}
        self.prices_by_day = {day: {**self.prices, **dated} for day, dated in by_day.items()}
        tags, before = list[weekly.PriceFrom](), dict[str, int]()
        for offset, dated in enumerate(by_day.values()):
            for id, cents in dated.items():
                if before.get(id) != cents:
                    tags.append(weekly.PriceFrom(product=id, price_cents=cents, from_day=WEEKDAYS[offset]))
            before = dated
        numbers = [machine.number for machine in self.machines if not machine.lost]
        sites = tuple(weekly.SitePlan(site=number, products=tuple(self.layout)) for number in numbers)
        plan = tuple(self.layout), tuple(numbers), tuple(tags)
        if self.layout and plan != self.plan:
            self.plan = plan
            yield from self.do(weekly.SetPlan(sites=sites, prices=tuple(tags)))

    # Orders

    def _order(self) -> Plan:
        """Order what sells until the delivery after the next, spread over the week."""
        memory, habits = self.memory, self.habits
        if not self.layout or not memory.assigned:
            return
        coming = self.coming()
        rent = sum(10_000 for due in memory.dues.values() if due - self.day < 8)
        cash, left = self.cash - rent - 3000, self.days - self.day
        income = 0.75 * sum(row["income_cents"] for row in self.report.get("days", ())) / 7
        ahead = 40 if habits.hoards else left
        offsets = ORDER_DAYS if habits.dates_orders else ORDER_DAYS[:1]
        for place, offset in enumerate(offsets):
            following = offsets[place + 1] if place + 1 < len(offsets) else 7
            for supplier in dict.fromkeys(memory.assigned[id] for id in self.layout if id in memory.assigned):
                offer = memory.offers.get(supplier)
                if offer is None or offset + offer.lead_days >= left:
                    continue
                wants = self._wants(offer, offset + offer.lead_days, following + offer.lead_days, ahead, coming)
                there = sum(self._stock(id, offset + offer.lead_days, coming) for id in self.layout)
                there += sum(units for id, units in self.storage.items() if id not in self.layout)
                room = 1e6 if habits.cover > 1.5 else max(0.0, self.hold() - there)
                money = min(cash + income * offset - offer.freight_cents, buying.limit_of(self, supplier))
                units, cost = buying.fill_order(self, offer, wants, money, room, pads=place == 0)
                if not units:
                    continue
                for _ in range(2 if habits.doubles else 1):
                    outcome = yield from self.order(offer, units, cost, coming, offset)
                    cash -= cost + offer.freight_cents if outcome.ok else 0

    def _rate(self, product: Product) -> float:
        """Units a day that all sites are expected to sell on a usual day of this month."""
        memory = self.memory
        month = memory.calendar.months.get(product.category)
        season = month[self.today.month - 1] if month and self.today and self.habits.learns_prices else 1.0
        return memory.rates.get(product.id, 0.0) * buying.flow_of(self) * memory.variety_of(len(self.layout)) * season

    def _sells(self, id: str, first: float, last: float) -> float:
        """Units that sell between two numbers of days ahead."""
        product, ahead = self.memory.products[id], buying.outlook_of(self)
        days = ahead.usual_days(product.category, last) - ahead.usual_days(product.category, first)
        return self._rate(product) * max(0.0, days)

    def _stock(self, id: str, at: int, coming: Coming) -> float:
        """Units that are there so many days ahead, if sales go as expected."""
        have, now = float(self.held(id)), 0
        for day, units in sorted(coming.get(id, [])):
            if day > at:
                break
            have, now = max(0.0, have - self._sells(id, now, day)) + units, day
        return max(0.0, have - self._sells(id, now, at))

    def _wants(self, offer: Offer, at: int, following: int, left: int, coming: Coming) -> list[buying.Want]:
        """What a supplier could be asked for that comes `at` days ahead, when the next goods come at `following`."""
        wants: list[buying.Want] = []
        for id in self.layout:
            if self.memory.assigned.get(id) != offer.supplier:
                continue
            product, cover = self.memory.products[id], self.habits.cover
            end = following + SLACK_DAYS + self.habits.slack_days - 1.6
            end = at + (end - at) * cover
            end = min(end, at + product.shelf_days * (1.0 if cover < 1.5 else cover), left)
            have, sells = self._stock(id, at, coming), self._sells(id, at, end)
            units = int(sells + 0.5 + buying.square_root(sells) - have)
            if product.shelf_days <= 8:
                units = int(units * self.habits.fresh_cover)
            if units >= 2:
                rate = self._rate(product)
                wants.append(buying.Want(True, id, units, have / (rate + 0.05), rate))
        return wants


def _evening(machine: Machine, row: Mapping[str, Any]) -> Machine:
    """A machine as it was left on the evening of a day: what was sold out held nothing, all else something."""
    number, out = str(machine.number), row["out"].get(str(machine.number), ())
    ids = {*machine.units, *row["sold"].get(number, ())}
    return replace(machine, units={id: 0 if id in out else 1 for id in sorted(ids)})


def run_weeks(owner: WeeklyOwner) -> Plan:
    """Decide on every Monday until the end."""
    while True:
        if owner.works():
            yield from owner.monday()
        outcome = yield weekly.CloseWeek()
        owner.take_report(outcome)


def take_over(state: State, carry_out: CarryOut) -> State:
    """The business after the player `listed` ran it for its weeks, with a page of notes for who comes next."""
    setup = state.setup
    alone = setup.model_copy(update={"takes_over": 0, "days": setup.last_day})
    state = state.moved(setup=alone)
    me = Routine(lambda me: run_weeks(WeeklyOwner(me, LADDER["listed"])))
    me.view = view(state, state.owner)
    owner = WeeklyOwner(me, LADDER["listed"])
    plan, weeks = run_weeks(owner), 0
    action = next(plan)
    while state.ending is None:
        state, outcome = carry_out(state, action)
        weeks += isinstance(action, weekly.CloseWeek)
        if weeks == setup.takes_over:
            owner.take_report(outcome)
            break
        action = plan.send(outcome)
    text = _notes(state, owner)[: weekly.NOTES_LIMIT]
    return state.moved(setup=setup, notes=replace(state.notes, notepad=text))


def _notes(state: State, owner: WeeklyOwner) -> str:
    """What the owner before leaves: letters to read, rents, suppliers with their prices, and orders on their way."""
    memory, counted = owner.memory, {row["order"] for row in owner.report.get("counted", ())}
    lines = ["From the owner before you. Letters 1 and 2 are the contract and the terms of machine and storage."]
    for number, due in memory.dues.items():
        cents = format_cents(rent_cents(state, state.sites[number - 1].place_index))
        lines.append(f"Rent of site {number}, {cents}: due on {day_text(state, due)}.")
    for supplier in dict.fromkeys(memory.assigned.values()):
        if (offer := memory.offers.get(supplier)) is None:
            continue  # it is out of business
        prices = offer.prices
        goods = [f"{id} {prices[id] / 100:.2f}" for id in owner.layout if memory.assigned.get(id) == supplier]
        lead = offer.lead_days
        lines.append(f"Bought from {supplier} (goods come {lead} days later), dollars a unit: {', '.join(goods)}.")
    for number, order in memory.open.items():
        if number not in counted:
            units = ", ".join(f"{count} {id}" for id, count in order.units.items())
            lines.append(f"Order {number}, for {day_text(state, order.promised)}: {units}.")
    return "\n".join(lines)
