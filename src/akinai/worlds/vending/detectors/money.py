"""Mistakes about money: inconsistent prices, orders and fees that cannot be paid, misremembered cash."""

from collections.abc import Iterator, Sequence

from akinai.core.money import format_cents
from akinai.worlds.vending.detectors.claims import find_cash
from akinai.worlds.vending.detectors.history import Close, History, Mistake, Step, detector, merges
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import Lot, State

CHANGES = 2
"""The most changes of a product's price within a day that are no mistake."""
CASH_TOLERATED = 10
"""A statement of cash may differ from the truth by one part in ten: 10 per cent ..."""
CASH_TOLERATED_CENTS = 500
"""... or by this amount, if that is more."""


@detector
def price_inconsistency(history: History) -> Iterator[Mistake]:
    """A product's price changed more than twice within a day, or set below what its units had cost.

    Goods that must go by the end of the next day may be sold at any price.
    """
    yield from _wavering(history)
    yield from _below_cost(history)


def _wavering(history: History) -> Iterator[Mistake]:
    changes: dict[tuple[int, str], list[tuple[Step, str]]] = {}
    for step in history.steps:
        for product, price in _changed(step):
            changes.setdefault((step.before.day, product), []).append((step, price))
    for (day, product), prices in changes.items():
        if len(prices) > CHANGES:
            assumed = f"{', then '.join(price for _, price in prices)} was the price of {product}"
            true = f"its price was changed {len(prices)} times on day {day}"
            yield Mistake([step for step, _ in prices], "minor", assumed, true)


def _changed(step: Step) -> Iterator[tuple[str, str]]:
    """The products whose price an entry changed, with the new price; "two at once" where it gave two prices."""
    if not isinstance(step.turn.action, a.SetPrice | a.ChangePrices):
        return
    before, after = step.before, step.after
    if step.outcome.code == "two_prices" and isinstance(step.turn.action, a.SetPrice):
        slots = (before.slots[tag.row * before.setup.columns + tag.column] for tag in step.turn.action.prices)
        for product in dict.fromkeys(slot.product for slot in slots if slot is not None):
            yield product, "two at once"
    elif step.outcome.ok:
        for product, cents in after.prices.items():
            if before.prices.get(product, cents) != cents:
                yield product, format_cents(cents)


def _below_cost(history: History) -> Iterator[Mistake]:
    below: set[str] = set()
    for step in history.steps:
        if not isinstance(step.turn.action, a.SetPrice | a.ChangePrices | a.RestockSlot) or not step.outcome.ok:
            continue
        priced = isinstance(step.turn.action, a.SetPrice | a.ChangePrices)
        state = step.before.moved(prices=step.after.prices) if priced else step.after
        for product, cents in state.prices.items():
            cost = _cost(state, product)
            if cost is None or cents >= cost:
                below.discard(product)
            elif product not in below:
                below.add(product)
                name, loss = state.setup.catalog.by_id[product].name, format_cents(round(cost) - cents)
                yield Mistake(
                    [step],
                    "serious",
                    assumed=f"{format_cents(cents)} was a price for {name}",
                    true=f"a unit of {name} had cost {format_cents(round(cost))}, so each sale loses {loss}",
                )


def _cost(state: State, product: str) -> float | None:
    """Mean unit cost in cents of a product in the machine, or else in storage, without units about to spoil."""
    slots = [lot for slot in state.slots if slot is not None and slot.product == product for lot in slot.lots]
    lots: Sequence[Lot] = [lot for lot in slots or state.storage.get(product, ()) if lot.last_day > state.day + 1]
    units = sum(lot.units for lot in lots)
    return sum(lot.units * lot.cost_cents for lot in lots) / units if units else None


@detector
def cash_flow_error(history: History) -> Iterator[Mistake]:
    """An order that cash does not cover, an unpaid fee while the machine holds the money for it, or a full cash box.

    A box that is so full that its machine takes cards only may stay so for two nights; each further week counts.
    """
    yield from _refused_orders(history)
    yield from _unpaid_fees(history)
    yield from _full_boxes(history)


FULL_NIGHTS, FULL_AGAIN = 3, 7
"""Consecutive nights with a full cash box that make a finding, and nights until the next finding of that box."""


def _full_boxes(history: History) -> Iterator[Mistake]:
    street = history.setup.street
    full: dict[int, list[Step]] = {}
    for close in history.closes:
        for index, site in enumerate(close.step.after.sites):
            if site.lost or site.box_cents < street.counter.box_cents:
                full.pop(index, None)
                continue
            nights = full.setdefault(index, [])
            nights.append(close.step)
            if (len(nights) - FULL_NIGHTS) % FULL_AGAIN == 0:
                yield Mistake(
                    nights[-FULL_AGAIN:],
                    "serious",
                    assumed=f"the cash of site {index + 1} could wait",
                    true=f"its box was full on {len(nights)} nights and took no coins: {format_cents(site.box_cents)}",
                    by_owner=True,
                )


_NOT_COVERED = "Your account does not cover the total of"


@merges
def _refused_orders(history: History) -> Iterator[tuple[object, Mistake]]:
    """Orders without the cash, by day and actor: another try with a smaller order is the same mistake."""
    refused = [(step, step.outcome.text) for step in history.steps if step.outcome.code == "no_cash"]
    for answer in history.answers:
        if _NOT_COVERED in answer.body:
            line = answer.body[answer.body.index(_NOT_COVERED) :].partition("\n")[0]
            refused.append((answer.request, f"{line} Cash was {format_cents(answer.answered.after.cash_cents)}"))
    for step, truth in refused:
        yield (step.entry.actor, step.before.day), Mistake([step], "serious", "cash covered the order", truth[:300])


@merges
def _unpaid_fees(history: History) -> Iterator[tuple[int, Mistake]]:
    """Nights without the fee, each with the number of the last night on which it was paid."""
    first = 0
    for number, close in enumerate(history.closes):
        if coins := _could_have_paid(close):
            true = f"it went unpaid on {number + 1 - first} days while {format_cents(coins)} lay in the machine"
            yield first, Mistake([close.step], "grave", "the fee would be paid", true, by_owner=True)
        else:
            first = number + 1


def _could_have_paid(close: Close) -> int:
    """Cents in the machines when the owner last acted that day, if they would have paid the missed fee; else 0."""
    if close.book.fee_met:
        return 0
    before = close.step.before
    coins = before.machine_cents
    return coins if coins > 0 and coins + before.cash_cents >= before.setup.fee_cents else 0


@detector
@merges
def cash_misremembered(history: History) -> Iterator[tuple[int, Mistake]]:
    """A stated or noted amount of cash that differs from the truth by more than a tenth and more than $5."""
    for step, text in ((statement.step, statement.text) for statement in history.statements):
        states = step.before, step.after  # cash may mean the account alone, or with the money in the machines
        truths = [cents + state.cash_cents for state in states for cents in (0, state.machine_cents)]
        for cash in find_cash(text, step.before):
            if not any(_near(cash.cents, truth) for truth in truths):
                true = f"cash was {format_cents(step.before.cash_cents)}"
                yield cash.cents, Mistake([step], "serious", f'"{cash.words}"', true)
                break


def _near(cents: int, truth: int) -> bool:
    return abs(cents - truth) <= max(truth / CASH_TOLERATED, CASH_TOLERATED_CENTS)
