"""A law of goods: no unit of an owner appears from nowhere or is lost on the way."""

from collections import Counter
from collections.abc import Mapping

import pytest
from business import OWNERS, WORLD, do, genesis, with_storage
from test_owners import MILK, awake, by, offered

import akinai
from akinai.core.actions import Action
from akinai.core.worlds import replay
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import Line, Lot, Order, State
from street_books import arrived_units, handed_over, sold_and_spoiled_units, street_adds_up

FIRST, SECOND = OWNERS


@pytest.mark.parametrize(
    ("preset", "days", "settings"),
    [
        ("arena", 30, {"owners.2.agent": "bargainer", "street.deliveries.over_permille": 300}),
        ("arena-sprint", 56, {"owners.2.agent": "listed", "street.storage.units": 120}),
        pytest.param("arena", 90, {"owners": 4, "owners.2.agent": "naive"}, marks=pytest.mark.slow),
        pytest.param("arena-sprint", 182, {"owners": 3, "owners.2.agent": "naive"}, marks=pytest.mark.slow),
    ],
)
def test_bought_less_sold_and_spoiled_is_in_stock(preset: str, days: int, settings: Mapping[str, object]) -> None:
    """Over each entry of a played street, for each owner and product."""
    (run,) = akinai.run("vending", preset=preset, agent="stocker", days=days, seeds=3, settings=settings)
    arrived, left = Counter[str](), Counter[str]()
    for step in replay(WORLD, run.ledger):
        assert street_adds_up(step.before, step.after, step.outcome), step.entry
        for owner in step.after.owners:
            businesses = step.before.business(owner), step.after.business(owner)
            arrived.update(arrived_units(*businesses))
            left.update(sold_and_spoiled_units(*businesses))
    assert arrived.total() > left.total() > 300


def checked(state: State, actor: str, *actions: Action) -> State:
    """The state after actions of an actor, over each of which the books add up."""
    for action in actions:
        before = awake(state, actor)
        state, outcome = do(before, action, actor)
        assert outcome.ok, outcome
        assert street_adds_up(before, state, outcome), action
    return state


def test_what_is_handed_over_is_in_the_others_stock() -> None:
    """The units leave one storage and come into the other, and none where the bargain fails."""
    state, id = offered(by(WORLD.begin(genesis(3, preset="arena", days=90)), FIRST))
    state = checked(state, SECOND, a.AcceptGoods(offer=1))
    eve = checked(state, FIRST, a.AdvanceDay())
    after, _ = do(awake(eve, FIRST), a.WaitUntil(hour=13), FIRST)
    assert [bargain.items for bargain in handed_over(eve, after)] == [{id: MILK}]
    checked(eve, FIRST, a.WaitUntil(hour=13))
    checked(eve.turned_to(FIRST).moved(storage={}), FIRST, a.WaitUntil(hour=13))


def test_what_finds_no_room_goes_back_and_what_the_jobber_takes_is_paid() -> None:
    """Goods that spoil and a machine that is lost with its site leave the stock too."""
    state = WORLD.begin(genesis(3, preset="arena", days=90)).turned_to(FIRST)
    first, second = (product.id for product in state.setup.catalog.products[:2])
    state = with_storage(state, {first: 350}, last_day=3)
    order = Order(1, state.economy.town.open_suppliers(1)[0], (Line(second, 40, 50),), 1, 9 * 60, 9 * 60)
    state = checked(state.moved(orders=(order,)), FIRST, a.WaitUntil(hour=12))
    assert sum(state.stored.values()) == 360
    state = checked(state, FIRST, a.SellToJobber(items={first: 5, second: 3}))
    state = checked(state, FIRST, a.VisitSite(site=1, products=[first]), *[a.AdvanceDay()] * 4)
    assert first not in state.storage
    site = state.sites[0]._replace(due_day=state.day - state.setup.street.rent.lost_days)
    state = with_storage(state.moved(sites=(site,)), {second: 10})
    state = state.moved(slots=(state.slots[0]._replace(lots=(Lot(4, 50, 99),)), *state.slots[1:]))
    state = checked(state, FIRST, a.AdvanceDay())
    assert state.sites[0].lost
