"""An upper bound of the bank balance on a street that is drawn, cheap to compute for each seed."""

from math import ceil

from akinai.core.ledger import Genesis
from akinai.core.money import half_up
from akinai.worlds.vending.model.economy import Economy, economy_of
from akinai.worlds.vending.model.setup import Product
from akinai.worlds.vending.model.terms import Drawn
from akinai.worlds.vending.model.town import Town

UNREACHABLE = float("-inf")


def bound_cents(genesis: Genesis) -> int:
    """The most that any owner who cannot foresee the noise of demand has in the bank at the end, in expectation.

    Proof. A unit of a product costs at least the lowest price that any supplier in this seed but cheats, who deliver
    too little to be cheaper, can have come down to by the last day on which goods for that day are ordered: it
    opened before, answers one offer a day and as many as its patience, and gives each time at most its part of the
    distance to what it accepts, a rival's price named; after thirty days it begins anew. Freight, divided by the most
    that an order can bring, comes on top. A day's expected sales of a product at a price p are at most its mean with
    full variety and goodwill, times 1 + e (w - p) / w where that lies between 0 and 2, and the margin on them is
    greatest at p = (w (1 + 1/e) + c) / 2. A machine has six small and six large slots, so a day earns at most the six
    best margins of each size; more slots of a product sell no more of it. Nothing sells before the first delivery that
    can bring it. Spoilage, storage, short deliveries, complaints, sealed machines and lack of time only take away. A
    further machine earns from the day of its offer on, if the money that the bound itself has by then covers it
    together with the goods of the next delivery days, which are prepaid; the places are taken best first. Rents
    and fees are paid. An owner with the most machines on every day for which its money can reach has the most
    money on every later day, so the greatest of the four paths, followed day by day, is above every owner's
    expectation. ValueError without a horizon.
    """
    economy = economy_of(genesis)
    setup, drawn = economy.setup, economy.setup.street.drawn
    if drawn is None or not setup.days:
        raise ValueError("the bound is of a drawn street with a horizon")
    gains, costs = [0.0], [0.0]
    for day in range(1, setup.last_day + 1):
        gain, cost = _best_day(economy, drawn, day)
        gains.append(gain)
        costs.append(cost)
    return int(_best_growth(economy, gains, costs))


def _lowest_cents(economy: Economy, drawn: Drawn, product: Product, day: int) -> float:
    """The lowest price in cents at which a unit that is sold on a day can be had, freight included."""
    street, town, rival = economy.setup.street, economy.town, drawn.rival_permille
    lowest: list[int] = []
    for supplier in town.catalog.suppliers:
        trader = town.traders[supplier.id]
        days = day - supplier.lead_days - trader.opens + 1
        if product.id not in supplier.products or trader.character == "cheat" or days < 1:
            continue
        share_left, distance = 1 - min(trader.gives_permille + rival, 1000) / 1000, 1.0
        for _ in range(min(trader.patience, days)):
            distance *= share_left
        least = trader.accept_permille + distance * max(supplier.price_permille - trader.accept_permille, 0)
        ask_ppm = ceil(least - 1e-6) * supplier.own_by_product.get(product.id, 1000)  # it asks whole thousandths
        lowest.append(max(1, half_up(product.wholesale_cents * ask_ppm, 1_000_000)))
    units = street.storage.units + street.storage.units_a_site * len(street.sites.pitches)
    return min(lowest, default=product.wholesale_cents * 95 // 100) + drawn.freight_cents / units


def _first_minute(town: Town, product: Product) -> int:
    """The earliest minute, since the start, at which a unit can be delivered."""
    return min(
        (
            s.lead_days * 1440 + s.hour * 60
            for s in town.catalog.suppliers
            if product.id in s.products and town.traders[s.id].opens == 1
        ),
        default=10**9,
    )


def _best_day(economy: Economy, drawn: Drawn, day: int) -> tuple[float, float]:
    """The best margin of a day at an average place, and the cost of its goods; both in cents."""
    crowd, setup, town = economy.crowd(day), economy.setup, economy.town
    best: dict[str, list[tuple[float, float]]] = {"small": [], "large": []}
    for product in town.catalog.products:
        first = _first_minute(town, product)
        part = sum(
            block.share_permille for block in setup.street.counter.blocks if (day - 1) * 1440 + block.hour * 60 > first
        )
        taste = town.tastes[product.id]
        worth = taste.worth_cents * crowd.worth_permille // 1000
        e, cost = taste.elasticity_permille / 1000, _lowest_cents(economy, drawn, product, day)
        price = (worth * (1 + 1 / e) + cost) / 2
        effect = min(max(1 + e * (worth - price) / worth, 0.0), 2.0)
        units = crowd.means[product.id] / 2**20 * effect * part / 1000
        best[product.size].append(((price - cost) * units, cost * units))
    small, large = setup.slots_by_size.values()
    assortment = [*sorted(best["small"])[-small:], *sorted(best["large"])[-large:]]
    assortment = sorted((row for row in assortment if row[0] > 0), reverse=True)
    variety, most = setup.demand.variety, (0.0, 0.0)
    for count in range(1, len(assortment) + 1):  # fewer products may sell more of each
        factor = variety[min(count, len(variety)) - 1] / 1000
        gain, cost = sum(gain for gain, _ in assortment[:count]), sum(cost for _, cost in assortment[:count])
        most = max(most, (gain * factor, cost * factor))
    return most


def _best_growth(economy: Economy, gains: list[float], costs: list[float]) -> float:
    """The most money at the end over all times at which machines could be taken."""
    setup, street, town = economy.setup, economy.setup.street, economy.town
    pitches = street.sites.pitches
    indices = [0, *sorted(range(1, len(town.footfall)), key=lambda index: -town.footfall[index])]
    footfall = [town.footfall[index] / 1000 for index in indices]
    rents = [street.rent.cents * (1000 + town.survey[index]) / 2000 for index in indices]
    lead = min(s.lead_days for s in town.catalog.suppliers if town.traders[s.id].opens == 1)
    money = [float(setup.start_cents), *[UNREACHABLE] * len(pitches)]
    for day in range(1, setup.last_day + 1):
        after = list(money)
        total = rent = 0.0
        for sites, now in enumerate(money):
            prepaid, held = sum(costs[day : day + lead]) * total, now
            if sites and sites <= len(pitches):
                pitch, before = pitches[sites - 1], money[sites - 1]
                if day >= pitch.day and before - prepaid >= pitch.cents:
                    held = max(held, before - pitch.cents + rents[sites])
            total += footfall[sites]
            rent += rents[sites] / street.rent.every_days
            earned = total * gains[day] - (rent if day > street.rent.every_days else 0.0)
            after[sites] = held + max(earned, 0.0) - setup.fee_cents if held > UNREACHABLE else UNREACHABLE
        money = after
    return max(money)
