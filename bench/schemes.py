"""A competent trader, and the same trader with one scheme each that is no business: what a scheme adds to net worth.

    python bench/schemes.py [seeds] [days]        by default 20 seeds and 60 days

Both play the same seeds, so the differences are paired. A trader looks at what the tools tell, nothing hidden.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from akinai.core.actions import Action
from akinai.core.ledger import Genesis, Turn
from akinai.core.statistics import summarise
from akinai.runtime.config.settings import prepare
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Product, Setup, Supplier
from akinai.worlds.vending.model.state import DAY_MINUTES, State
from akinai.worlds.vending.rules.orders import quote_lines, total_cents, unit_cents
from akinai.worlds.vending.scores import net_worth_cents

WORLD = Vending()
SEEDS, DAYS = 20, 60
EIGHT = ("water", "cola", "energy_drink", "chocolate_bar", "chips", "cup_noodles", "beef_jerky", "trail_mix")
FIVE = ("water", "cola", "chocolate_bar", "chips", "cookies")
STOCK_DAYS = 12


@cache
def setup_of(days: int) -> Setup:
    return Setup.model_validate(prepare(WORLD, preset="classic", days=days, settings=["max_messages=0"]).setup)


def begin(seed: int, days: int) -> State:
    return WORLD.begin(Genesis(WORLD.name, seed, setup_of(days).model_dump(mode="json")))


class Trader:
    """Waits for goods, fills, prices at the best of the public curve, collects, orders up to a level. Every day."""

    keeps = EIGHT

    def __init__(self, seed: int, days: int) -> None:
        self.state = begin(seed, days)
        self.catalog = self.state.setup.catalog
        self.income_cents = self.unpaid_cents = 0
        self.slot_products = self.layout()

    def do(self, action: Action) -> bool:
        if self.state.ending:
            return False
        before = self.state
        self.state, outcome = WORLD.apply(before, Turn(1, 0, "owner", action))
        if (book := self.state.book) is not None and book is not before.book:
            self.income_cents += book.income_cents
            self.unpaid_cents += 0 if book.fee_met else self.state.setup.fee_cents
        return outcome.ok

    def play(self) -> "Trader":
        while not self.state.ending:
            self.morning()
            self.work()
            self.evening()
            self.do(a.AdvanceDay())
        return self

    # a scheme replaces one of these

    def morning(self) -> None:
        """At 08:00."""

    def evening(self) -> None:
        """When the work is done."""

    def work(self) -> None:
        today = [order.due for order in self.state.orders if order.due // DAY_MINUTES + 1 == self.state.day]
        if today:
            self.do(a.WaitUntil(hour=min(max(today) % DAY_MINUTES // 60, 23)))
        self.fill()
        self.price()
        self.collect()
        self.buy()

    def layout(self) -> Mapping[int, str]:
        """A product for every slot, by its index: all in turn, the first ones twice."""
        priced: dict[int, str] = {}
        for size, first in (("small", 0), ("large", 6)):
            mine = [id for id in self.keeps if self.catalog.by_id[id].size == size]
            priced |= {first + i: mine[i % len(mine)] for i in range(6)}
        return priced

    def fill(self) -> None:
        stored = {product: sum(lot.units for lot in lots) for product, lots in self.state.storage.items()}
        for index, product in self.slot_products.items():
            slot = self.state.slots[index]
            there = slot.units if slot else 0
            units = min(stored.get(product, 0), (12 if index < 6 else 8) - there)
            if units > 0 and self.do(fill(product, units, index)):
                stored[product] -= units

    def price(self) -> None:
        self.tag(self.best_prices())

    def tag(self, cents: Mapping[int, int]) -> None:
        now = {index: self.state.prices.get(self.slot_products[index]) for index in cents}
        if changed := {index: price for index, price in cents.items() if now[index] != price}:
            tags = tuple(a.SetPrice.Tag(row=p // 3, column=p % 3, price_cents=c) for p, c in changed.items())
            self.do(a.SetPrice(prices=tags))

    def collect(self) -> None:
        if self.state.machine_cents:
            self.do(a.CollectCash())

    def buy(self) -> None:
        """Fill up each supplier's goods where one of them runs low, as far as cash goes and while they still come."""
        for supplier in self.catalog.suppliers:
            mine = [id for id in self.keeps if self.seller(id) is supplier]
            owned = self.owned()
            days = {id: owned[id] / self.rate(id) for id in mine}
            left = self.state.setup.days - self.state.day
            if mine and min(days.values()) < supplier.lead_days + 3 and left > supplier.lead_days:
                need = min(STOCK_DAYS + supplier.lead_days, left)
                self.order(supplier, {id: max(0, round(need * self.rate(id)) - owned[id]) for id in mine})

    def order(self, supplier: Supplier, units: Mapping[str, int]) -> None:
        cost = sum(count * unit_cents(supplier, self.catalog.by_id[id]) for id, count in units.items())
        share = min(1.0, max(0, self.state.cash_cents - self.kept_cents()) / cost) if cost else 0
        if items := {id: whole for id, count in units.items() if (whole := int(count * share)) > 0}:
            self.send(supplier, items)

    def kept_cents(self) -> int:
        return 1000

    def send(self, supplier: Supplier, items: Mapping[str, int]) -> None:
        self.do(a.PlaceOrder(supplier_id=supplier.id, items=dict(items)))

    def seller(self, id: str) -> Supplier:
        sellers = [supplier for supplier in self.catalog.suppliers if id in supplier.products]
        return min(sellers, key=lambda seller: unit_cents(seller, self.catalog.by_id[id]))

    def owned(self) -> Counter[str]:
        units: Counter[str] = Counter()
        for slot in self.state.slots:
            units[slot.product if slot else ""] += slot.units if slot else 0
        for id, lots in self.state.storage.items():
            units[id] += sum(lot.units for lot in lots)
        for order in self.state.orders:
            units.update({line.product: line.units for line in order.lines})
        return units

    def best_price(self, product: Product) -> int:
        """(r (1 + 1/e) + c) / 2, the greatest profit on the public curve."""
        reach = product.reference_cents * (1000 + product.elasticity_permille) // product.elasticity_permille
        return (reach + unit_cents(self.seller(product.id), product)) // 2

    def best_prices(self) -> dict[int, int]:
        """The best price by index of each slot that holds goods."""
        return {
            index: self.best_price(self.catalog.by_id[product])
            for index, product in self.slot_products.items()
            if self.state.slots[index]
        }

    def rate(self, id: str) -> float:
        return 0.85 * self.catalog.by_id[id].daily_milliunits / 1000


def fill(product: str, units: int, index: int) -> a.RestockSlot:
    return a.RestockSlot(
        slots=(a.RestockSlot.Fill(row=index // 3, column=index % 3, product_id=product, quantity=units),)
    )


class AtNight(Trader):
    """goods put in at 23:00"""

    def work(self) -> None:
        self.do(a.WaitUntil(hour=23))
        super().work()


class DearByDay(Trader):
    """prices tripled by day, lowered at 23:00"""

    def morning(self) -> None:
        self.tag({index: 3 * cents for index, cents in self.best_prices().items()})

    def evening(self) -> None:
        self.do(a.WaitUntil(hour=23))
        self.tag(self.best_prices())


class DearByNight(DearByDay):
    """prices raised by a half at 23:00, lowered in the morning"""

    def morning(self) -> None:
        self.tag(self.best_prices())

    def evening(self) -> None:
        self.do(a.WaitUntil(hour=23))
        self.tag({index: cents * 3 // 2 for index, cents in self.best_prices().items()})


class Shuffler(Trader):
    """every slot cleared in the evening and filled again"""

    def evening(self) -> None:
        self.do(a.WaitUntil(hour=20))
        for index in self.slot_products:
            self.do(a.ClearSlot(row=index // 3, column=index % 3))
        self.fill()


class Splitter(Trader):
    """every order in lots as small as the supplier takes"""

    def send(self, supplier: Supplier, items: Mapping[str, int]) -> None:
        lot: dict[str, int] = {}
        for id, units in items.items():
            for _ in range(units):
                lot[id] = lot.get(id, 0) + 1
                cost = sum(n * unit_cents(supplier, self.catalog.by_id[product]) for product, n in lot.items())
                if cost >= supplier.minimum_cents:
                    super().send(supplier, lot)
                    lot = {}


class Padder(Trader):
    """orders padded with chewing gum up to the next bulk discount"""

    def send(self, supplier: Supplier, items: Mapping[str, int]) -> None:
        count = sum(items.values())
        tiers = [tier.units for tier in supplier.bulk if count < tier.units <= 2 * count]
        gum = {"chewing_gum": tiers[0] - count} if tiers and "chewing_gum" in supplier.products else {}
        if not self.do(a.PlaceOrder(supplier_id=supplier.id, items={**items, **gum})):
            super().send(supplier, items)


class TwoSuppliers(Trader):
    """goods bought from any of their suppliers in turn"""

    def seller(self, id: str) -> Supplier:
        sellers = [supplier for supplier in self.catalog.suppliers if id in supplier.products]
        return sellers[self.state.day // 5 % len(sellers)]


class Loader(Trader):
    """all cash turned into goods that still come before the end"""

    def evening(self) -> None:
        if self.state.setup.days - self.state.day == 4:
            self.send(self.catalog.supplier_by_id["northbay"], {"water": max(1, (self.state.cash_cents - 200) // 54)})


class OddCollector(Trader):
    """money collected at 03:00 of every fifth night only"""

    def collect(self) -> None:
        if self.state.cash_cents < 2000:
            super().collect()

    def evening(self) -> None:
        if self.state.day % 5 == 0:
            for _ in range(2):
                self.do(a.WaitUntil(hour=23))
                while self.state.minute_of_day > 22 * 60:
                    self.do(a.NotepadRead())
            super().collect()


class Stocker(Trader):
    """all cash but a few dollars in goods that keep"""

    keeps_cents = 5000

    def buy(self) -> None:
        owned, left = self.owned(), self.state.setup.days - self.state.day
        low = any(owned[id] / self.rate(id) < 6 for id in self.keeps)
        if left > 6 and (low or self.state.cash_cents >= 2000 + self.keeps_cents):
            Trader.collect(self)
            self.spend(self.state.cash_cents - self.keeps_cents)

    def spend(self, cash: int) -> None:
        """Spend `cash` cents on goods that last equally long, and the last dollars on chewing gum."""
        supplier, owned = self.catalog.supplier_by_id["northbay"], self.owned()
        cents = {id: unit_cents(supplier, self.catalog.by_id[id], 100) for id in self.keeps}
        days = cash / sum(self.rate(id) * cents[id] for id in self.keeps) + 10
        short = {id: max(0.0, self.rate(id) * days - owned[id]) for id in self.keeps}
        cost = sum(short[id] * cents[id] for id in self.keeps)
        items = Counter({id: int(n * min(1.0, cash / cost)) for id, n in short.items()} if cost else {})
        while (total := total_cents(quote_lines(self.catalog, supplier, +items))) <= cash - 41:
            items["chewing_gum"] += 1
        if supplier.minimum_cents <= total <= cash:
            self.send(supplier, +items)


class FeeDodger(Stocker):
    """no cash at midnight: all in the machine or in goods; each tenth fee paid"""

    keeps_cents = 0

    def collect(self) -> None:
        """Only to buy, and for the tenth fee."""

    def evening(self) -> None:
        if self.state.missed >= self.state.setup.missed_fees - 1:
            Trader.collect(self)


class Five(Trader):
    """five products"""

    keeps = FIVE


class Decoys(Five):
    """three more in the machine for $1,000 that nobody buys"""

    decoys = ("candy", "granola_bar", "popcorn")

    def layout(self) -> Mapping[int, str]:
        own = super().layout()
        return {**own, 4: "candy", 5: "granola_bar", 11: "popcorn"}

    def best_price(self, product: Product) -> int:
        return 100_000 if product.id in self.decoys else super().best_price(product)

    def buy(self) -> None:
        super().buy()
        if self.state.day == 1:
            self.do(a.PlaceOrder(supplier_id="northbay", items={"candy": 12, "granola_bar": 12, "popcorn": 8}))


SCHEMES: Mapping[type[Trader], type[Trader]] = {
    **dict.fromkeys((AtNight, DearByDay, DearByNight, Shuffler, Splitter, Padder, TwoSuppliers, Loader), Trader),
    OddCollector: Trader,
    FeeDodger: Stocker,
    Decoys: Five,
}
"""Schemes, each with the trader that it is compared with."""


@dataclass(frozen=True)
class End:
    """The result of a trader, in cents."""

    worth: int
    unpaid: int


@cache
def ended(trader: type[Trader], seed: int, days: int) -> End:
    done = trader(seed, days).play()
    return End(net_worth_cents(done.state), done.unpaid_cents)


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    days = int(sys.argv[2]) if len(sys.argv) > 2 else DAYS
    for trader in (Trader, Stocker, Five):
        worths = [ended(trader, seed, days).worth / 100 for seed in range(1, seeds + 1)]
        print(f"{trader.__name__}: ${sum(worths) / seeds:,.2f} after {days} days, mean of {seeds} seeds")
    print(f"{'scheme':82} {'gain':>9} {'95 % interval':>22} {'unpaid fees':>12}")
    for scheme, plain in SCHEMES.items():
        pairs = [(ended(scheme, seed, days), ended(plain, seed, days)) for seed in range(1, seeds + 1)]
        gain = summarise([(played.worth - before.worth) / 100 for played, before in pairs])
        low, high = gain.ci95 or (0.0, 0.0)
        unpaid = sum(played.unpaid for played, _ in pairs) / 100 / seeds
        print(f"{scheme.__doc__:82} {gain.mean:+9.2f} {f'{low:+.2f} to {high:+.2f}':>22} {unpaid:12.2f}")


if __name__ == "__main__":
    main()
