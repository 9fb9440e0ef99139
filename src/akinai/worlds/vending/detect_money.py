"""Mistakes about money: prices that waver or lose, orders that cannot be paid, cash that is misremembered."""

from collections.abc import Iterator, Sequence

from akinai.core.findings import Finding
from akinai.core.money import format_cents
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.claims import cash_in
from akinai.worlds.vending.delegation import OWNER
from akinai.worlds.vending.state import Lot, State
from akinai.worlds.vending.story import Close, Scene, Story, found

CHANGES = 2
"""Changes of one product's price within a day that nobody minds."""
CASH_TOLERATED = 10
"""Cash may be misremembered by one part in so many of the truth: 10 per cent ..."""
CASH_TOLERATED_CENTS = 500
"""... or by so much."""


def price_inconsistency(story: Story) -> Sequence[Finding]:
    """A product's price changed more than twice within a day, or set below what its units had cost.

    Goods that must go by the end of the next day may be sold at any price.
    """
    return [*_wavering(story), *_below_cost(story)]


def _wavering(story: Story) -> Iterator[Finding]:
    changes: dict[tuple[int, str], list[tuple[Scene, str]]] = {}
    for scene in story.scenes:
        for product, told in _changed(scene):
            changes.setdefault((scene.before.day, product), []).append((scene, told))
    for (day, product), told in changes.items():
        if len(told) > CHANGES:
            yield found(
                "price_inconsistency",
                [scene for scene, _ in told],
                "minor",
                assumed=f"{', then '.join(price for _, price in told)} was the price of {product}",
                true=f"its price was changed {len(told)} times on day {day}",
            )


def _changed(scene: Scene) -> Iterator[tuple[str, str]]:
    """The products that an entry gave another price than the one they had, or two at once."""
    if not isinstance(scene.turn.action, a.SetPrice):
        return
    before, after = scene.before, scene.after
    if scene.outcome.code == "two_prices":
        slots = (before.slots[tag.row * before.setup.columns + tag.column] for tag in scene.turn.action.prices)
        for product in dict.fromkeys(slot.product for slot in slots if slot is not None):
            yield product, "two at once"
    elif scene.outcome.ok:
        for product, cents in after.prices.items():
            if before.prices.get(product, cents) != cents:
                yield product, format_cents(cents)


def _below_cost(story: Story) -> Iterator[Finding]:
    below: set[str] = set()
    for scene in story.scenes:
        if not isinstance(scene.turn.action, a.SetPrice | a.RestockSlot) or not scene.outcome.ok:
            continue
        state = scene.before.moved(prices=scene.after.prices) if _is_price(scene) else scene.after
        for product, cents in state.prices.items():
            cost = _cost(state, product)
            if cost is None or cents >= cost:
                below.discard(product)
            elif product not in below:
                below.add(product)
                yield found(
                    "price_inconsistency",
                    [scene],
                    "serious",
                    assumed=f"{format_cents(cents)} was a price for {product}",
                    true=f"a unit had cost {format_cents(round(cost))}",
                )


def _is_price(scene: Scene) -> bool:
    return isinstance(scene.turn.action, a.SetPrice)


def _cost(state: State, product: str) -> float | None:
    """Mean cents paid for a unit of the product that is in the machine, or else in storage, and not about to spoil."""
    slots = [lot for slot in state.slots if slot is not None and slot.product == product for lot in slot.lots]
    lots: Sequence[Lot] = [lot for lot in slots or state.storage.get(product, ()) if lot.last_day > state.day + 1]
    units = sum(lot.units for lot in lots)
    return sum(lot.units * lot.cost_cents for lot in lots) / units if units else None


def cash_flow_error(story: Story) -> Sequence[Finding]:
    """An order that cash does not cover, or a fee that goes unpaid while the machine holds the money for it."""
    return [*_refused_orders(story), *_unpaid_fees(story)]


_NOT_COVERED = "Your account does not cover the total of"


def _refused_orders(story: Story) -> Iterator[Finding]:
    """One a day and actor: trying again with less is the same mistake."""
    tries: dict[tuple[str, int], list[tuple[Scene, str]]] = {}
    for scene in story.scenes:
        if scene.outcome.code == "no_cash":
            tries.setdefault((scene.entry.actor, scene.before.day), []).append((scene, scene.outcome.text))
    for answer in story.answers:
        if _NOT_COVERED in answer.body:
            line = answer.body[answer.body.index(_NOT_COVERED) :].partition("\n")[0]
            told = f"{line} Cash was {format_cents(answer.answered.after.cash_cents)}"
            tries.setdefault((answer.asked.entry.actor, answer.asked.before.day), []).append((answer.asked, told))
    for told in tries.values():
        scenes = [scene for scene, _ in told]
        yield found("cash_flow_error", scenes, "serious", assumed="cash covered the order", true=told[-1][1][:300])


def _unpaid_fees(story: Story) -> Iterator[Finding]:
    stretch: list[Scene] = []
    last: Finding | None = None
    for close in story.closes:
        coins = _could_have_paid(close)
        if not coins:
            if last is not None:
                yield last
            stretch, last = [], None
            continue
        stretch.append(close.scene)
        last = found(
            "cash_flow_error",
            stretch,
            "grave",
            assumed="the fee would be paid",
            true=f"it went unpaid on {len(stretch)} days while {format_cents(coins)} lay in the machine",
            actor=OWNER,
        )
    if last is not None:
        yield last


def _could_have_paid(close: Close) -> int:
    """Cents in the machine before the day's sales, where they would have paid a fee that was missed; else 0."""
    if close.book.fee_met:
        return 0
    after = close.scene.after
    coins = after.machine_cents - close.book.income_cents
    return coins if coins > 0 and coins + after.cash_cents >= after.setup.fee_cents else 0


def cash_misremembered(story: Story) -> Sequence[Finding]:
    """Cash is stated or noted that is not there: off by more than a tenth and more than $5."""
    findings: list[Finding] = []
    known: dict[int, tuple[int, list[Scene]]] = {}
    for words in story.words:
        scene = words.scene
        for cash in cash_in(words.text, scene.before):
            if any(_near(cash.cents, truth) for state in (scene.before, scene.after) for truth in _purses(state)):
                continue
            place, scenes = known.setdefault(cash.cents, (len(findings), []))
            scenes.append(scene)
            true = f"cash was {format_cents(scene.before.cash_cents)}"
            told = found("cash_misremembered", scenes, "serious", assumed=f'"{cash.said}"', true=true)
            findings[place : place + 1] = [told]
            break
    return findings


def _near(cents: int, truth: int) -> bool:
    return abs(cents - truth) <= max(truth / CASH_TOLERATED, CASH_TOLERATED_CENTS)


def _purses(state: State) -> tuple[int, int]:
    """What may be called cash: the cash, and the cash with the money in the machine."""
    return state.cash_cents, state.cash_cents + state.machine_cents
