"""Short ways to set up a vending business and to act in it, for the tests of this folder."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from akinai.core.actions import Action
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.scores import Score
from akinai.core.steps import Steps
from akinai.runtime.config.settings import prepare
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model.state import DAY_MINUTES, Lot, Slot, State
from akinai.worlds.vending.scores import net_worth_cents
from akinai.worlds.vending.world import begin

WORLD = Vending()
OWNERS = ("owner_1", "owner_2")
FOREVER = 10**6
FORTY = {"water": 0, "cola": 1, "chips": 6, "cookies": 7}


def genesis(seed: int = 1, *sets: str, days: int = 0, preset: str | None = "classic") -> Genesis:
    return Genesis(WORLD.name, seed, prepare(WORLD, preset=preset, days=days, settings=sets).setup)


def business(seed: int = 1, *sets: str, days: int = 0, preset: str | None = "classic") -> State:
    """A business on its first morning; without a horizon unless `days` says so."""
    return WORLD.begin(genesis(seed, *sets, days=days, preset=preset))


def do(state: State, action: Action, actor: str = "owner") -> tuple[State, Outcome]:
    return WORLD.apply(state, Turn(1, WORLD.now(state), actor, action))


def done(state: State, *actions: Action) -> State:
    """The state after actions that must all be accepted."""
    for action in actions:
        state, outcome = do(state, action)
        assert outcome.ok, outcome
    return state


def refused(state: State, action: Action, code: str, actor: str = "owner") -> Outcome:
    """The refusal of an action, which must leave the state equal."""
    after, outcome = do(state, action, actor)
    assert (outcome.ok, outcome.code) == (False, code), outcome
    assert after == state
    return outcome


def with_storage(state: State, units: Mapping[str, int], last_day: int = FOREVER) -> State:
    """Goods in storage at their wholesale price."""
    catalog = state.setup.catalog.by_id
    lots = {p: (Lot(n, catalog[p].wholesale_cents, last_day),) for p, n in units.items()}
    return replace(state, storage={**state.storage, **lots})


def on_sale(state: State, prices: Mapping[str, int | None], units: int = 1000) -> State:
    """A product in each slot from the first on, with its price (None: the reference), never running out."""
    catalog = state.setup.catalog.by_id
    small = [p for p in prices if catalog[p].size == "small"]
    large = [p for p in prices if catalog[p].size == "large"]
    slots: list[Slot | None] = list(state.slots)
    for at, product in [*enumerate(small), *enumerate(large, state.setup.small_slots)]:
        slots[at] = Slot(product, (Lot(units, catalog[product].wholesale_cents, FOREVER),))
    cents = {p: catalog[p].reference_cents if price is None else price for p, price in prices.items()}
    return replace(state, slots=tuple(slots), prices=cents)


def with_coins(state: State, cents: int) -> State:
    """The state with so much cash in the box of its first machine."""
    return replace(state, sites=(state.sites[0]._replace(box_cents=cents), *state.sites[1:]))


def at(state: State, day: int, hour: int = 8) -> State:
    return replace(state, minute=(day - 1) * DAY_MINUTES + hour * 60)


def worth(state: State) -> int:
    return net_worth_cents(state)


def sold(state: State) -> dict[str, Any]:
    assert state.book is not None
    return dict(state.book.sold)


def traded(before: State, after: State) -> tuple[Counter[str], int]:
    """The units sold between two states of which the first is of the same day or the day before, and the income."""
    units, income = Counter[str](), after.today_sales.income_cents - before.today_sales.income_cents
    if after.book is not None and after.book is not before.book:
        units.update(after.book.sold)
        income += after.book.income_cents
    for _, sales in after.today_sales.sales:
        units.update(sales)
    for _, sales in before.today_sales.sales:
        units.subtract(sales)
    return +units, income


def worths(steps: Steps[State]) -> list[Score]:
    """The net worth of each owner."""
    last = (len(steps),) if len(steps) else ()
    return [
        Score(f"net_worth_{owner}", net_worth_cents(steps.final.turned_to(owner)), "cents", last) for owner in OWNERS
    ]


class TwoOwners(Vending):
    """The world with two owners, who share the clock alone."""

    scorers = (worths,)

    def begin(self, genesis: Genesis) -> State:
        return begin(genesis, owners=2)
