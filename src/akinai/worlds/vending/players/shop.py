"""A rule-based player's memory of its machine, storage and orders, and what it does with them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.players.observations import (
    ComingOrder,
    InventorySlot,
    parse_cash,
    parse_days_left,
    parse_identity,
    parse_orders,
    parse_slots,
    parse_start_cents,
    parse_storage,
)


class Shop:
    """A player's memory of its business, updated when it looks."""

    def __init__(
        self, me: Routine, names: Mapping[str, str], products: Sequence[tuple[str, str]], *, twice: bool = True
    ) -> None:
        self._me, self._twice = me, twice
        self.names = names
        """Product names by id."""
        self._products = products
        """Id and size, the most important first."""
        self._slots: list[InventorySlot] = []
        self._storage: dict[str, int] = {}
        self._coming: list[ComingOrder] = []
        self._expected: dict[str, int] = {}
        """Ordered since the last look."""
        self.cash_cents = parse_start_cents(me.view.text)
        self.days_left = parse_days_left(me.view.text)
        """Days from today to the last day of the run; None when it has no last day."""

    def look(self) -> Plan:
        """Look up what is in storage, on its way and in the machine."""
        outcome = yield a.CheckDeliveries()
        self._storage, self._coming = parse_storage(outcome.text), parse_orders(outcome.text)
        self._expected = {}
        outcome = yield a.GetMachineInventory()
        self._slots = parse_slots(outcome.text)

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
            yield at_machine(self._me, a.RestockSlot(slots=tuple(fills)))
            filled = {(fill.row, fill.column): fill for fill in fills}
            self._slots = [_filled(slot, filled.get((slot.row, slot.column))) for slot in self._slots]

    def price(self, cents: Mapping[str, int]) -> Plan:
        """Set the prices that differ from `cents`."""
        tags = [
            a.SetPrice.Tag(row=slot.row, column=slot.column, price_cents=price)
            for slot in self._slots
            if (price := cents.get(slot.product or "")) is not None and price != slot.price_cents
        ]
        if tags:
            yield at_machine(self._me, a.SetPrice(prices=tuple(tags)))

    def collect(self) -> Plan:
        """Collect the money in the machine, and note the cash."""
        outcome = yield at_machine(self._me, a.CollectCash())
        cash = parse_cash(outcome.text)
        if cash is None:
            outcome = yield a.GetMoneyBalance()
            cash = parse_cash(outcome.text)
        self.cash_cents = cash or 0

    def take_over(self, cents: Mapping[str, int]) -> Plan:
        """Look at a shop that another player ran: set the prices of what is in its machine, and take the money."""
        yield from self.look()
        yield from self.restock()
        yield from self.price(cents)
        yield from self.collect()

    def stored(self, product: str) -> int:
        """Units in storage at the last look, less those put into the machine since."""
        return self._storage.get(product, 0)

    def capacity(self, product: str) -> int:
        """Units that the product's slots hold when full."""
        return sum(slot.capacity for slot, assigned in self._layout() if assigned == product)

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
        """The last time today at which something is promised to come; None when nothing is."""
        moments = [order.promised for order in self._coming if today and order.promised.date() == today.date()]
        return max(moments, default=None)

    def _layout(self) -> Iterable[tuple[InventorySlot, str]]:
        """Each slot with its product: the products in turn, the best ones twice where `twice` is set."""
        for size in ("small", "large"):
            slots = [slot for slot in self._slots if slot.size == size]
            products = [product for product, own in self._products if own == size]
            yield from zip(slots, products * (len(slots) if self._twice else 1), strict=False)


def at_machine(me: Routine, action: Action) -> Action:
    """An action at the machine: the player's own, or a task for its sub-agent where only that may act there."""
    return action if type(action) in me.view.verbs else a.DelegatePhysical(task=as_task(action))


def as_task(action: Action) -> str:
    """An action at the machine, worded as a task."""
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
            raise TypeError(f"{type(action).__name__} is no action at the machine")


def order_letter(me: Routine, address: str, names: Mapping[str, str], quantities: Mapping[str, int]) -> a.SendEmail:
    """A letter that orders goods: items with quantities, the delivery address, the account to charge."""
    delivery, account = parse_identity(me.view.text)
    items = "\n".join(f"- {units} units of {names[product]}" for product, units in quantities.items())
    body = f"Please send us:\n{items}\nDelivery address: {delivery}\nPlease charge account {account}."
    return a.SendEmail(to=address, subject="Order", body=body)


def _filled(slot: InventorySlot, fill: a.RestockSlot.Fill | None) -> InventorySlot:
    if fill is None:
        return slot
    price = slot.price_cents if slot.product == fill.product_id else None
    units = slot.units + fill.quantity
    return InventorySlot(slot.row, slot.column, slot.size, slot.capacity, fill.product_id, units, price)
