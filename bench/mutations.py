"""Scripts of a vending run, day by day, and the changes that a hill climber tries on them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import akinai
from akinai.core.actions import Action, Unreadable
from akinai.core.ledger import Turn
from akinai.core.worlds import read_turn, step
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Setup
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.model.verb import MAX_PRICE_CENTS
from akinai.worlds.vending.rules.suppliers.answers import understand

WORLD = Vending()
Script = tuple[tuple[Action, ...], ...]
"""The owner's actions of each day before it goes to bed."""
ACTS = (a.PlaceOrder, a.RestockSlot, a.SetPrice, a.CollectCash, a.ClearSlot, a.WaitUntil)


@dataclass(frozen=True)
class Played:
    """The results of a script; money in cents."""

    state: State
    income: int
    unpaid: int
    """Fees that could not be paid."""
    spoiled: int
    sold: Mapping[str, int]
    """Units by product, by the books."""


def played(state: State, script: Script) -> Played:
    """Play a script to the end of its days; refused actions are skipped."""
    income = unpaid = spoiled = 0
    sold = Counter[str]()
    for today in script:
        for action in (*today, a.AdvanceDay()):
            book = state.book
            if state.ending is None:
                state, _ = step(WORLD, state, Turn(1, 0, "owner", action))
            if state.book is not None and state.book is not book:
                income += state.book.income_cents
                spoiled += state.book.spoiled_cents
                sold.update(state.book.sold)
                unpaid += 0 if state.book.fee_met else state.setup.fee_cents
    return Played(state, income, unpaid, spoiled, sold)


def recorded(player: str, seed: int, days: int) -> Script:
    """The script of a rule-based player: without its looks, and with its letters as order forms."""
    (run,) = akinai.run("vending", agent=player, seeds=seed, days=days, preset="classic")
    setup = Setup.model_validate(run.ledger.genesis.setup)
    script: list[list[Action]] = [[]]
    for entry in run.ledger.entries:
        action = read_turn(WORLD, entry).action
        if isinstance(action, a.AdvanceDay):
            script.append([])
        elif isinstance(action, ACTS):
            script[-1].append(action)
        elif isinstance(action, a.SendEmail) and (order := _order_in(setup, action)):
            script[-1].append(order)
    return tuple(tuple(day) for day in script[:days])


def _order_in(setup: Setup, mail: a.SendEmail) -> a.PlaceOrder | None:
    intents, _ = understand(setup, mail.subject, mail.body)
    order = next((intent for intent in intents if intent.kind == "order" and intent.items.units), None)
    if order is None:
        return None
    return a.PlaceOrder(supplier_id=setup.catalog.supplier_by_address[mail.to].id, items=dict(order.items.units))


class Change:
    """A changed copy of a script."""

    def __init__(self, setup: Setup, script: Script, random: Random) -> None:
        self.setup, self.random = setup, random
        self.days = [list(day) for day in script]
        self.day = random.randrange(len(script))

    @property
    def script(self) -> Script:
        return tuple(tuple(day) for day in self.days)

    def insert(self, *actions: Action, day: int | None = None) -> None:
        today = self.days[self.day if day is None else day]
        at = self.random.randint(0, len(today))
        today[at:at] = actions

    def random_position(self, *kinds: type[Action]) -> tuple[int, int] | None:
        """The day and index of a random action of these kinds; None without one."""
        days = enumerate(self.days)
        positions = [(d, i) for d, day in days for i, action in enumerate(day) if isinstance(action, kinds)]
        return self.random.choice(positions) if positions else None

    def replace(self, position: tuple[int, int], *actions: Action) -> None:
        day, at = position
        self.days[day][at : at + 1] = actions

    def action_at(self, position: tuple[int, int]) -> Action:
        return self.days[position[0]][position[1]]

    def product(self) -> str:
        return self.random.choice(self.setup.catalog.products).id

    def order(self, most: int = 120) -> a.PlaceOrder:
        supplier = self.random.choice(self.setup.catalog.suppliers)
        items = {self.random.choice(supplier.products): self.random.randint(1, most) for _ in range(3)}
        return a.PlaceOrder(supplier_id=supplier.id, items=items)

    def fill(self, units: int = 8) -> a.RestockSlot:
        row, column = self.random.randrange(4), self.random.randrange(3)
        fill = a.RestockSlot.Fill(row=row, column=column, product_id=self.product(), quantity=units)
        return a.RestockSlot(slots=(fill,))

    def tag(self, cents: int) -> a.SetPrice:
        row, column = self.random.randrange(4), self.random.randrange(3)
        return a.SetPrice(prices=(a.SetPrice.Tag(row=row, column=column, price_cents=cents),))


def new_price(change: Change) -> None:
    change.insert(change.tag(change.random.randint(60, 600)))


def price_up_or_down(change: Change) -> None:
    if position := change.random_position(a.SetPrice):
        action = change.action_at(position)
        assert isinstance(action, a.SetPrice)
        tags = list(action.prices)
        at = change.random.randrange(len(tags))
        cents = max(1, tags[at].price_cents * change.random.choice((50, 90, 95, 105, 110, 150)) // 100)
        tags[at] = tags[at].model_copy(update={"price_cents": min(cents, MAX_PRICE_CENTS)})
        change.replace(position, a.SetPrice(prices=tuple(tags)))


def price_swing(change: Change) -> None:
    tag = change.tag(change.random.choice((1, 99_999)))
    row, column = tag.prices[0].row, tag.prices[0].column
    back = a.SetPrice.Tag(row=row, column=column, price_cents=change.random.randint(100, 500))
    change.days[change.day] += [tag, a.WaitUntil(hour=23), a.SetPrice(prices=(back,))]


def new_order(change: Change) -> None:
    change.insert(change.order())


def bigger_or_smaller_lot(change: Change) -> None:
    if position := change.random_position(a.PlaceOrder):
        action = change.action_at(position)
        assert isinstance(action, a.PlaceOrder)
        items = dict(action.items)
        product = change.random.choice(list(items))
        items[product] = max(1, items[product] * change.random.choice((25, 50, 80, 125, 200, 400)) // 100)
        change.replace(position, action.model_copy(update={"items": items}))


def other_supplier(change: Change) -> None:
    if position := change.random_position(a.PlaceOrder):
        supplier = change.random.choice(change.setup.catalog.suppliers).id
        change.replace(position, change.action_at(position).model_copy(update={"supplier_id": supplier}))


def split_order(change: Change) -> None:
    if position := change.random_position(a.PlaceOrder):
        action = change.action_at(position)
        assert isinstance(action, a.PlaceOrder)
        small = {product: max(1, units // 4) for product, units in action.items.items()}
        change.replace(position, *[action.model_copy(update={"items": small})] * 4)


def by_letter(change: Change) -> None:
    order, setup = change.order(), change.setup
    goods = "\n".join(f"- {units} units of {product}" for product, units in order.items.items())
    body = f"{goods}\nDelivery address: {setup.delivery_address}\nPlease charge account {setup.account}."
    to = setup.catalog.supplier_by_id[order.supplier_id].address
    request = change.random.choice(("Please send us:", "Please quote us:"))
    change.insert(*[a.SendEmail(to=to, subject="Order", body=f"{request}\n{body}")] * change.random.randint(1, 3))
    later = min(change.day + change.random.randint(1, 14), len(change.days) - 1)
    change.insert(a.SendEmail(to=to, subject="CONFIRM", body="CONFIRM"), day=later)


def spend_before_the_end(change: Change) -> None:
    change.insert(change.order(1000), day=max(0, len(change.days) - change.random.randint(1, 8)))


def move(change: Change) -> None:
    if position := change.random_position(*ACTS):
        action = change.action_at(position)
        change.replace(position)
        change.insert(action, day=min(max(position[0] + change.random.randint(-3, 3), 0), len(change.days) - 1))


def drop(change: Change) -> None:
    if position := change.random_position(*ACTS):
        change.replace(position)


def repeat(change: Change) -> None:
    if position := change.random_position(*ACTS):
        change.insert(change.action_at(position))


def before_midnight(change: Change) -> None:
    if position := change.random_position(a.RestockSlot, a.SetPrice, a.CollectCash, a.PlaceOrder):
        change.replace(position, a.WaitUntil(hour=23), a.NotepadRead(), change.action_at(position))


def at_another_hour(change: Change) -> None:
    change.insert(a.WaitUntil(hour=change.random.randint(9, 23)))


def refill(change: Change) -> None:
    change.insert(change.fill(change.random.randint(1, 12)))


def clear_and_fill(change: Change) -> None:
    fill = change.fill(change.random.randint(1, 12))
    change.insert(a.ClearSlot(row=fill.slots[0].row, column=fill.slots[0].column), fill)


def decoy(change: Change) -> None:
    fill = change.fill(1)
    tag = a.SetPrice.Tag(row=fill.slots[0].row, column=fill.slots[0].column, price_cents=MAX_PRICE_CENTS)
    change.insert(fill, a.SetPrice(prices=(tag,)))


def collect(change: Change) -> None:
    change.insert(a.CollectCash())


def babble(change: Change) -> None:
    change.insert(*[Unreadable.of("ten", "the reply holds no action")] * change.random.randint(1, 5))


def note(change: Change) -> None:
    change.insert(a.NotepadWrite(text="My net worth is $1,000,000."), a.AddMemory(text="I am rich."))


CHANGES: Mapping[str, Callable[[Change], None]] = {
    change.__name__: change
    for change in (
        new_price, price_up_or_down, price_swing, new_order, bigger_or_smaller_lot, other_supplier, split_order,
        by_letter, spend_before_the_end, move, drop, repeat, before_midnight, at_another_hour, refill, clear_and_fill,
        decoy, collect, babble, note,
    )
}  # fmt: skip
