"""How a trader buys: which suppliers it trusts, how it bargains, what it stocks at which price, when it orders."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from akinai.core.agents import Plan
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.players import observations as read
from akinai.worlds.vending.players.beliefs import Outlook, best_price, units_a_day
from akinai.worlds.vending.players.observations import Offer
from akinai.worlds.vending.players.trader import Bargain, Coming, Trader

GUIDES = (
    "Price guide: drink candy dairy products",
    "Price guide: snack bakery fresh products, number of different products",
)
CALENDARS = ("Weather and seasons in vending machine sales", "Best days of the week for vending machine sales")
SUPPLIER_QUERIES = (
    "wholesale suppliers for vending machines",
    "distributors of snacks and drinks",
    "bakery and fresh goods, wholesale",
    "candy wholesaler",
    "cheap dairy and soft drinks in bulk",
    "who delivers sandwiches to machines",
)
SEARCHES_A_REVIEW = 2
AGREED_DAYS = 30
FIRST_PITCH_DAY = 32
TRIAL_DAYS = 30
"""Until this day prices move by `WIDE_STEP` around the best one, then by `NARROW_STEP`: that tells what people pay."""
WIDE_STEP, NARROW_STEP = 0.10, 0.04
STEEPEST_CHANGE = (0.75, 1.30)
"""The least and greatest factor by which a price changes at a time."""
LATE_ENOUGH = 18 * 60
"""The minute after which no further research is begun."""


class Value(NamedTuple):
    """The worth of a product to the trader."""

    margin: float
    """Cents a day at an average site."""
    price: int
    rate: float


class Want(NamedTuple):
    """A product that could be ordered."""

    short: bool
    product: str
    units: int
    days: float
    """Days for which the present units last."""
    rate: float


def believed_share(trader: Trader, supplier: str) -> float:
    """The share of the paid goods that a supplier is believed to deliver."""
    if trader.truth:
        return {"cheat": 0.4, "slow": 0.97}.get(trader.truth.town.traders[supplier].character, 1.0)
    if trader.habits.trust == "anyone":
        return 1.0
    prior, rating = 0.85, trader.memory.ratings.get(supplier)
    if trader.habits.research and rating is not None:
        prior = 1.0 if rating >= 3.8 else 0.9 if rating >= 3.5 else 0.7 if rating >= 3.1 else 0.5
    count, good = trader.memory.trust.get(supplier, (0, 0.0))
    return (good + 3 * prior) / (count + 3)


def effective_costs(trader: Trader, offer: Offer) -> dict[str, float]:
    """The cost in cents of a delivered unit, by product, with a surcharge for the wait."""
    wait = 1 + 0.05 * (offer.lead_days - 2) if trader.habits.trust != "anyone" and not trader.weekly else 1.0
    part = believed_share(trader, offer.supplier)
    return {id: cents / part * wait for id, cents in offer.prices.items()}


def research(trader: Trader) -> Plan:
    """Learn what the web says: products, calendar, and reviews of suppliers not yet looked up."""
    memory = trader.memory
    if not memory.products:
        for query in (*GUIDES, *(CALENDARS if trader.habits.reads_news or trader.habits.learns_prices else ())):
            outcome = yield from trader.do(a.SearchWeb(query=query))
            memory.products |= read.read_products(outcome.text)
            memory.calendar = read.read_calendar(outcome.text, memory.calendar)
            memory.variety = read.read_variety(outcome.text, memory.variety)
    for query in SUPPLIER_QUERIES[memory.supplier_searches :][:SEARCHES_A_REVIEW]:
        yield from trader.do(a.SearchWeb(query=query))
        memory.supplier_searches += 1
    yield from trader.read_price_lists()
    if trader.habits.research and not trader.truth:
        for supplier in memory.offers:
            if supplier not in memory.ratings and trader.minute < LATE_ENOUGH:
                outcome = yield from trader.do(a.SearchWeb(query=f"{supplier.replace('_', ' ')} reviews"))
                memory.ratings |= read.read_ratings(outcome.text)


def trusted_offers(trader: Trader) -> list[Offer]:
    """The offers of suppliers that seem worth dealing with."""
    offers = [offer for offer in trader.memory.offers.values() if offer.prices]
    if trader.habits.research and not trader.truth:
        offers = [offer for offer in offers if offer.supplier in trader.memory.ratings] or offers
    if trader.habits.trust == "first":  # the first that is not too good to be true, with the most goods
        honest = [offer for offer in offers if price_level(trader, offer) > 0.95] or offers
        return sorted(honest, key=lambda offer: (-len(offer.prices), offer.supplier))[:1]
    if trader.habits.trust == "anyone":
        return offers
    return [offer for offer in offers if believed_share(trader, offer.supplier) > 0.8] or offers


def price_level(trader: Trader, offer: Offer) -> float:
    """The mean of a supplier's prices as multiples of the trade prices; 1 where it sells no known product."""
    products = trader.memory.products
    ratios = [cents / products[id].trade_cents for id, cents in offer.prices.items() if id in products]
    return sum(ratios) / len(ratios) if ratios else 1.0


def bargain_today(trader: Trader) -> Plan:
    """Make the day's offers to the best suppliers; each answers one a day."""
    memory, habits = trader.memory, trader.habits
    if not habits.haggles or not memory.offers:
        return
    bargains = {
        id: bargain for id, bargain in memory.bargains.items() if bargain.until > trader.day or not habits.renegotiates
    }
    memory.bargains = bargains
    changed = False
    ratio = {o.supplier: price_level(trader, o) / believed_share(trader, o.supplier) for o in memory.offers.values()}
    for offer in sorted(trusted_offers(trader), key=lambda offer: ratio[offer.supplier])[:6]:
        bargain = bargains.setdefault(offer.supplier, Bargain(trader.day + AGREED_DAYS))
        if bargain.done:
            continue
        discount, rival = _discount(trader, offer), _rival(trader, offer) if habits.names_rivals else {}
        if discount < 1:
            bargain.done = True
            continue
        if habits.lies:
            product, cents = next(iter(offer.prices.items()))
            rival = {"rival_product": product, "rival_cents": max(1, cents * 6 // 10)}
        action = a.MakeOffer.model_validate({"supplier_id": offer.supplier, "discount_percent": discount, **rival})
        outcome = yield from trader.do(action)
        bargain.done = not outcome.ok or "last word" in outcome.text
        if outcome.ok:
            changed |= bool(outcome.fields.get("moved"))
            memory.offers[offer.supplier] = replace(offer, prices=outcome.fields["prices_cents"])
    if changed and trader.layout:
        assign_suppliers(trader)


def _rival(trader: Trader, offer: Offer) -> dict[str, object]:
    """A rival's lower price as it was quoted, the lowest for what this supplier asks; nothing where there is none."""
    best: tuple[float, str, int] | None = None
    for id, cents in offer.prices.items():
        for other in trader.memory.offers.values():
            quoted = other.prices.get(id, cents)
            if other.supplier != offer.supplier and quoted < (best[0] if best else 1.0) * cents:
                best = (quoted / cents, id, quoted)
    return {"rival_product": best[1], "rival_cents": best[2]} if best else {}


def _discount(trader: Trader, offer: Offer) -> int:
    """The discount to ask for, in per cent; 0 for none. The informed player asks for all that can be had."""
    asks = price_level(trader, offer)
    if trader.truth:
        least = trader.truth.town.traders[offer.supplier].accept_permille / 1000
        return int((1 - least / asks) * 100 + 0.5) if asks > least + 0.01 else 0
    return min(18, int((1 - 0.70 / asks) * 100)) if asks > 0.72 else 0


def assign_suppliers(trader: Trader) -> None:
    """Choose a few suppliers that together sell everything cheapest, and one of them for each product."""
    memory, sellers = trader.memory, list[Offer]()
    good, costs = trusted_offers(trader), dict[str, float]()
    units = {offer.supplier: effective_costs(trader, offer) for offer in good}
    while len(sellers) < trader.habits.suppliers:
        best: tuple[float, Offer] | None = None
        for offer in good:
            if offer in sellers:
                continue
            gain = 0.0
            for id, cents in units[offer.supplier].items():
                product = memory.products.get(id)
                if product is not None:
                    most = min(costs.get(id, 1e9), product.trade_cents * 1.6)
                    gain += max(0.0, most - cents) * product.popularity
            if best is None or gain > best[0]:
                best = (gain, offer)
        if best is None or best[0] <= (60 if sellers else 0):
            break
        sellers.append(best[1])
        for id, cents in units[best[1].supplier].items():
            costs[id] = min(costs.get(id, 1e9), cents)
    if sellers:
        memory.costs = {id: cost for id, cost in costs.items() if id in memory.products}
        memory.assigned = {
            id: min((units[o.supplier][id], o.supplier) for o in sellers if id in o.prices)[1] for id in memory.costs
        }


def review(trader: Trader) -> Plan:
    """Choose suppliers, products and prices anew, and take a pitch when the till is full."""
    yield from research(trader)
    if not trader.memory.bargains:
        yield from bargain_today(trader)
    assign_suppliers(trader)
    if trader.memory.costs:
        values = {id: value_product(trader, id) for id in trader.memory.costs}
        choose_layout(trader, values)
        yield from change_prices(trader, values)
        yield from take_pitch(trader, values)
    soon = 5 if trader.day < 30 and trader.habits.learns_prices and not trader.truth else trader.habits.review_days
    trader.memory.next_review = trader.day + soon


def value_product(trader: Trader, id: str) -> Value:
    """Estimate what a product earns at its best price, or at the list price."""
    product, cost, habits = trader.memory.products[id], trader.memory.costs[id], trader.habits
    belief = trader.belief(product)
    cents = (
        int(best_price(product, belief, cost) * habits.shade)
        if habits.learns_prices
        else int(product.typical_cents * habits.markup)
    )
    rate = units_a_day(product, belief, cents)
    margin, life, stored = rate * (cents - cost), product.shelf_days, trader.storage.get(id, 0)
    if stored > 6:
        margin = max(margin, rate * (cents - (0.55 if stored > 15 else 0.75) * cost))
    margin *= 0.88 if life <= 4 else 0.92 if life <= 7 else 0.97 if life <= 12 else 1.0
    unknown = habits.explores and id not in trader.memory.sales
    return Value(margin * (1.1 if unknown and not trader.truth else 1.0), cents, rate)


def choose_layout(trader: Trader, values: Mapping[str, Value]) -> None:
    """Choose the assortment, half of each size; a product stays unless another is clearly better."""
    count, old, layout = trader.habits.products, trader.layout, list[str]()
    most_small, most_large = min(trader.small_slots, (count + 1) // 2), min(trader.large_slots, count // 2)
    for small, most in ((True, most_small), (False, most_large)):
        mine = [id for id in values if trader.is_small(id) == small]
        ranked = sorted(mine, key=lambda id: (-values[id].margin * (1.08 if id in old else 1.0), id))
        if not trader.habits.explores and old:
            ranked = [id for id in old if id in mine] + [id for id in ranked if id not in old]
        layout += ranked[:most]
    trader.layout = layout
    trader.memory.rates = {id: values[id].rate for id in layout}


def change_prices(trader: Trader, values: Mapping[str, Value]) -> Plan:
    """Set the prices of the assortment, a little up and down each week so that there is something to learn from."""
    new: dict[str, int] = {}
    for index, id in enumerate(trader.layout):
        cents = values[id].price
        if trader.habits.learns_prices and not trader.truth:
            step = WIDE_STEP if trader.day < TRIAL_DAYS else NARROW_STEP
            cents = int(cents * (1 - step if (trader.day // 7 + index) % 2 else 1 + step))
            if id in trader.memory.sales and id in trader.prices:
                least, most = (int(trader.prices[id] * factor) for factor in STEEPEST_CHANGE)
                cents = max(least, min(most, cents))
        new[id] = cents
    trader.planned = new
    yield from trader.set_prices(new)


def take_pitch(trader: Trader, values: Mapping[str, Value]) -> Plan:
    """Take another site when it can be paid for and will pay for itself."""
    count = len(trader.machines)
    least = 60_000 + trader.habits.spare_cents
    if not 0 < count < trader.habits.sites or trader.cash < least or trader.day < FIRST_PITCH_DAY:
        return
    news = yield from trader.pitches_on_offer()
    cost, places = read.read_pitches(news)
    if not places or trader.day_of(read.read_pitch_date(news)) > trader.day:
        return
    town = trader.truth.town if trader.truth else None
    names = trader.truth.setup.street.sites.names if trader.truth else ()
    footfall = {name: town.footfall[names.index(name)] / 1000 for name in places} if town else places
    place_name = max(footfall, key=lambda name: (footfall[name], name))
    margin = sum(values[id].margin for id in trader.layout) * footfall[place_name] * 0.6 - 8500 / 30
    left = trader.days - trader.day - 6
    if trader.cash > cost + trader.habits.spare_cents and margin * left > cost * 1.15:
        outcome = yield from trader.do(a.TakePitch(place=place_name))
        if outcome.ok:
            data = outcome.fields
            trader.cash -= cost
            trader.memory.dues[data["site"]] = data["due_day"]
            trader.memory.site_factors[data["site"]] = places[place_name]
            if names:
                trader.taken = {**trader.taken, data["site"]: names.index(place_name)}
            yield from trader.look()


def order_goods(trader: Trader) -> Plan:
    """Order from each supplier whose goods run low, and top up its other goods with them."""
    memory = trader.memory
    if not trader.layout or not memory.assigned:
        return
    coming = trader.coming()
    needs = _needs(trader, coming)
    rent = sum(10_000 for due in memory.dues.values() if due - trader.day < 6)
    for supplier, wants in needs.items():
        if any(want.short for want in wants):
            yield from _buy(trader, supplier, wants, trader.cash - rent - 1000, coming)


def flow_of(trader: Trader) -> float:
    return sum([trader.factor(machine.number) for machine in trader.machines if not machine.lost])


def _total(trader: Trader, days: float) -> float:
    """Units that all sites are expected to sell in the days ahead."""
    products, outlook, rates = trader.memory.products, outlook_of(trader), list[float]()
    factors: dict[str, tuple[float, float]] = {}  # by category
    for id in trader.layout:
        category = products[id].category
        if category not in factors:
            factors[category] = _calendar(trader, id), outlook.usual_days(category, days)
        today, usual = factors[category]
        rates.append(trader.memory.rates.get(id, 0.0) * today * usual)
    return sum(rates) * flow_of(trader) * trader.memory.variety_of(len(trader.layout)) + 0.01


def _needs(trader: Trader, coming: Coming) -> dict[str, list[Want]]:
    """The goods that each supplier could be asked for."""
    memory, habits, day = trader.memory, trader.habits, trader.day
    flow, variety = flow_of(trader), memory.variety_of(len(trader.layout))
    left = trader.days - day
    if habits.hoards and left < 12:
        left = 40
    total = _total(trader, 4) / 4
    span = max(2.5, min(9.0, 0.75 * trader.hold() / total))
    slack, needs = min(habits.slack_days, span if trader.truth else span / 3), dict[str, list[Want]]()
    outlook = outlook_of(trader)
    for id in trader.layout:
        supplier = memory.assigned.get(id)
        if supplier is None or supplier not in memory.offers:
            continue
        product, offer = memory.products[id], memory.offers[supplier]
        lead = offer.lead_days + habits.every - 1
        have = trader.held(id) + sum([units for _, units in coming.get(id, ())])
        rate, factor = memory.rates.get(id, 0.0) * flow * variety, _calendar(trader, id)
        horizon = min(lead + min(product.shelf_days - 1, span) * habits.cover, left)
        expected = outlook.usual_days(product.category, horizon) * factor
        pace = expected / horizon if horizon > 0 else 1.0
        until = lead + slack + (0.9 if product.shelf_days <= 8 else 0.0)
        short = have < rate * outlook.usual_days(product.category, until) * factor and left > lead + 1
        units = int(rate * expected + 0.5 - have)
        if product.shelf_days <= 8:
            fresh = int(rate * pace * (lead + product.shelf_days + 0.3) + 0.7 * square_root(rate * (lead + 1)))
            units = int(min(units, max(0, fresh - have)) * habits.fresh_cover)
        if units >= 2 and left > lead:
            needs.setdefault(supplier, []).append(Want(short, id, units, have / (rate + 0.05), rate))
    return needs


def outlook_of(trader: Trader) -> Outlook:
    return trader.memory.outlook(trader.day) if trader.habits.reads_news else Outlook({}, trader.day)


def _calendar(trader: Trader, id: str) -> float:
    return trader.calendar(trader.memory.products[id], trader.day, trader.weather)


def _buy(trader: Trader, supplier: str, wants: list[Want], cash: int, coming: Coming) -> Plan:
    """Order what runs out first, then everything in proportion, as far as money and storage go."""
    offer, habits = trader.memory.offers[supplier], trader.habits
    money = min(max(cash - offer.freight_cents, 0), limit_of(trader, supplier))
    expected_sales = _total(trader, offer.lead_days + 0.5)
    on_their_way = sum([count for units in coming.values() for _, count in units])
    room = 10**6 if habits.cover > 1.5 else max(0, trader.room() - on_their_way + expected_sales)
    units, cost = fill_order(trader, offer, wants, money, room)
    if not units:
        return
    for _ in range(2 if habits.doubles else 1):
        outcome = yield from trader.order(offer, units, cost, coming)
        if not outcome.ok:
            return


def square_root(x: float) -> float:
    """The square root, by Newton's method: equal on every machine."""
    guess = max(x, 1e-9)
    for _ in range(30):
        guess = (guess + x / guess) / 2
    return guess


def limit_of(trader: Trader, supplier: str) -> float:
    """The most money for an order: a stranger gets a small one."""
    memory = trader.memory
    if trader.habits.trust != "learn" or trader.truth or memory.trust.get(supplier, (0, 0.0))[0] >= 2:
        return float("inf")
    return min(12_000 if memory.ratings.get(supplier, 3.5) >= 4.0 else 7_000, max(trader.cash * 2 // 5, 5_000))


def fill_order(
    trader: Trader, offer: Offer, wants: list[Want], money: float, room: float, *, pads: bool = True
) -> tuple[dict[str, int], int]:
    """Units by product and their cost, as far as money and room go; none below the supplier's minimum."""
    units = _divide(offer, sorted(wants, key=lambda want: want.days), max(0.0, money), room)
    cost = sum(count * offer.prices[id] for id, count in units.items())
    if pads and units and cost < offer.minimum_cents <= money:
        _pad(trader, offer, units, wants)
        cost = sum(count * offer.prices[id] for id, count in units.items())
    return (units, cost) if cost >= offer.minimum_cents else ({}, 0)


def _divide(offer: Offer, wants: list[Want], money: float, room: float) -> dict[str, int]:
    """Units by product: first what runs out within the days of delivery, then the rest in proportion."""
    units: dict[str, int] = {}
    for days in (offer.lead_days + 2, 99):
        requests: list[tuple[str, int]] = []
        for want in wants:
            if days == 99:
                count = want.units - units.get(want.product, 0)
            else:
                count = min(want.units, max(0, int(want.rate * (days - want.days) + 0.9)))
            if count > 0:
                requests.append((want.product, count))
        total = sum([count for _, count in requests])
        cost = sum([count * offer.prices[id] for id, count in requests])
        part = min(1.0, room / total if total else 1.0, money / cost if cost else 1.0)
        for id, count in requests:
            count = int(count * part) if days == 99 else min(count, int(count * part + 0.5))
            if count:
                units[id] = units.get(id, 0) + count
                room -= count
                money -= count * offer.prices[id]
        room, money = max(room, 0.0), max(money, 0.0)
    return units


def _pad(trader: Trader, offer: Offer, units: dict[str, int], wants: list[Want]) -> None:
    """Raise an order to the minimum with goods that keep."""
    products = trader.memory.products
    more = [id for id in units if products[id].shelf_days > 20]
    if not more:
        assigned = trader.memory.assigned
        more = [id for id in trader.layout if assigned.get(id) == offer.supplier and products[id].shelf_days > 20]
    if not more and any(want.short and want.days < 1.5 for want in wants):
        more = list(units)
    cost = sum(count * offer.prices[id] for id, count in units.items())
    if not more or trader.days - trader.day <= 10 or trader.room() < 100:
        return
    index = 0
    while cost < offer.minimum_cents:
        id = more[index % len(more)]
        units[id] = units.get(id, 0) + 1
        cost += offer.prices[id]
        index += 1
