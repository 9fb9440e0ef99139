"""How a rule-based player keeps a shop: what it remembers of machine, storage and orders, and what it does there."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.money import format_cents
from akinai.worlds.vending import actions as a
from akinai.worlds.vending import hearing
from akinai.worlds.vending.hearing import Coming, SeenSlot


class Shop:
    """A player's memory of its business, filled by looking."""

    def __init__(
        self, me: Routine, names: Mapping[str, str], products: Sequence[tuple[str, str]], *, twice: bool = True
    ) -> None:
        self._me, self._twice = me, twice
        self.names = names
        """Product names by id."""
        self._products = products
        """Id and size, the most important first."""
        self._slots: list[SeenSlot] = []
        self._storage: dict[str, int] = {}
        self._coming: list[Coming] = []
        self._expected: dict[str, int] = {}
        """Ordered since the last look."""
        self.cash_cents = hearing.start_cents_in(me.view.text)
        self.days_left = hearing.days_left_in(me.view.text)
        """Days behind today until the run's last; None when it has none."""

    def look(self) -> Plan:
        """See what has come, what is on its way and what is in the machine."""
        heard = yield a.CheckDeliveries()
        self._storage, self._coming = hearing.storage_in(heard.text), hearing.coming_in(heard.text)
        self._expected = {}
        heard = yield a.GetMachineInventory()
        self._slots = hearing.slots_in(heard.text)

    def restock(self) -> Plan:
        """Fill every slot with its product, as far as storage goes."""
        fills: list[a.RestockSlot.Fill] = []
        for slot, product in self._layout():
            if slot.product not in (None, product) and slot.units:
                continue
            units = min(slot.capacity - slot.units, self._storage.get(product, 0))
            if units > 0:
                self._storage[product] -= units
                fills.append(a.RestockSlot.Fill(row=slot.row, column=slot.column, product_id=product, quantity=units))
        if fills:
            yield by_hand(self._me, a.RestockSlot(slots=tuple(fills)))
            filled = {(fill.row, fill.column): fill for fill in fills}
            self._slots = [_filled(slot, filled.get((slot.row, slot.column))) for slot in self._slots]

    def price(self, cents: Mapping[str, int]) -> Plan:
        """Set the prices that are not as they should be."""
        tags = [
            a.SetPrice.Tag(row=slot.row, column=slot.column, price_cents=price)
            for slot in self._slots
            if (price := cents.get(slot.product or "")) is not None and price != slot.price_cents
        ]
        if tags:
            yield by_hand(self._me, a.SetPrice(prices=tuple(tags)))

    def collect(self) -> Plan:
        """Take the money out of the machine, and know the cash."""
        heard = yield by_hand(self._me, a.CollectCash())
        cash = hearing.cash_in(heard.text)
        if cash is None:
            heard = yield a.GetMoneyBalance()
            cash = hearing.cash_in(heard.text)
        self.cash_cents = cash or 0

    def stored(self, product: str) -> int:
        """Units in storage when the player last looked, less what it has put into the machine since."""
        return self._storage.get(product, 0)

    def capacity(self, product: str) -> int:
        """Units that the product's slots hold when full."""
        return sum(slot.capacity for slot, one in self._layout() if one == product)

    def position(self, product: str) -> int:
        """Units in the machine, in storage, and on their way."""
        machine = sum(slot.units for slot in self._slots if slot.product == product)
        name = self.names[product]
        coming = sum(order.units.get(name, 0) for order in self._coming) + self._expected.get(product, 0)
        return machine + self.stored(product) + coming

    def expect(self, units: Mapping[str, int]) -> None:
        """Remember what was ordered, until the next look."""
        self._expected = {p: self._expected.get(p, 0) + units.get(p, 0) for p in {*self._expected, *units}}

    def arrival_on(self, today: datetime | None) -> datetime | None:
        """The last hour at which something is promised for today."""
        moments = [order.promised for order in self._coming if today and order.promised.date() == today.date()]
        return max(moments, default=None)

    def _layout(self) -> Iterable[tuple[SeenSlot, str]]:
        """Each slot with the product that belongs there: the products in turn, the best ones twice if wanted."""
        for size in ("small", "large"):
            slots = [slot for slot in self._slots if slot.size == size]
            products = [product for product, own in self._products if own == size]
            yield from zip(slots, products * (len(slots) if self._twice else 1), strict=False)


def by_hand(me: Routine, action: Action) -> Action:
    """An action at the machine: the player's own, or a task for its physical sub-agent where there is a wall."""
    return action if type(action) in me.view.verbs else a.DelegatePhysical(task=in_words(action))


def in_words(action: Action) -> str:
    """An action at the machine as one would ask somebody to do it."""
    match action:
        case a.RestockSlot(slots=slots):
            return "\n".join(f"Put {s.quantity} {s.product_id} into row {s.row}, column {s.column}." for s in slots)
        case a.SetPrice(prices=prices):
            return "\n".join(
                f"Set the price of row {tag.row}, column {tag.column} to {format_cents(tag.price_cents)}."
                for tag in prices
            )
        case a.CollectCash():
            return "Collect the cash."
        case _:
            raise TypeError(f"{type(action).__name__} takes no hands")


def order_letter(me: Routine, address: str, names: Mapping[str, str], wanted: Mapping[str, int]) -> a.SendEmail:
    """A letter that orders goods: items with quantities, the delivery address, the account to charge."""
    delivery, account = hearing.identity_in(me.view.text)
    items = "\n".join(f"- {units} units of {names[product]}" for product, units in wanted.items())
    body = f"Please send us:\n{items}\nDelivery address: {delivery}\nPlease charge account {account}."
    return a.SendEmail(to=address, subject="Order", body=body)


def _filled(slot: SeenSlot, fill: a.RestockSlot.Fill | None) -> SeenSlot:
    if fill is None:
        return slot
    price = slot.price_cents if slot.product == fill.product_id else None
    units = slot.units + fill.quantity
    return SeenSlot(slot.row, slot.column, slot.size, slot.capacity, fill.product_id, units, price)
