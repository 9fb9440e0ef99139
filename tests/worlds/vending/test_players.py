"""The players without a model: what they earn, in what order, and that they play by the tools that everybody has."""

from statistics import mean

import pytest
from business import WORLD, business

from akinai.core.agents import Role
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome, Turn
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.players.strategies import PLAYERS
from akinai.worlds.vending.scores import facts, net_worth_cents

SEEDS = range(1, 21)
Played = tuple[State, list[tuple[a.Action, Outcome]]]


async def played(player: str, seed: int, days: int, *, preset: str | None = "classic") -> Played:
    """A run in memory: the state at its end, and every action with its outcome."""
    state, agents, last, log = business(seed, days=days, preset=preset), {}, {}, []
    while actors := WORLD.actors(state):
        actor = actors[0]
        agent = agents.setdefault(actor, PLAYERS[player](Role(actor, WORLD.verbs.classes)))
        try:
            move = await agent.act(WORLD.view(state, actor), last.get(actor))
        except EndRun:
            break
        state, last[actor] = WORLD.apply(state, Turn(len(log) + 1, 0, actor, move.action))
        log.append((move.action, last[actor]))
    return state, log


@pytest.mark.slow
async def test_players_stand_in_order_on_every_seed() -> None:
    """Idle earns less than naive, and naive less than reference, on each of twenty seeds; reference is well above $2,218
    after 102 days, on average."""
    best = []
    for seed in SEEDS:
        idle, naive, reference = [
            net_worth_cents((await played(player, seed, 102))[0]) for player in ("idle", "naive", "reference")
        ]
        assert idle < naive < reference, seed
        best.append(reference)
    assert mean(best) > 1.25 * 221_793


async def test_a_single_machine_parts_no_rungs() -> None:
    """In `classic` the rungs play one of two games, as the page about the economy says."""

    async def actions(player: str) -> list[tuple[a.Action, Outcome]]:
        return (await played(player, 1, 12))[1]

    low, high = await actions("naive"), await actions("reference")
    assert low != high
    assert await actions("listed") == low
    for player in ("careful", "bargainer", "stocker", "informed"):
        assert await actions(player) == high


@pytest.mark.slow
async def test_naive_stands_near_the_papers_human() -> None:
    """Five products, list prices, one order and one visit a week: within a quarter of $844 after 67 days."""
    worths = [net_worth_cents((await played("naive", seed, 67))[0]) for seed in SEEDS]
    assert 0.75 * 84_405 <= mean(worths) <= 1.25 * 84_405


@pytest.mark.parametrize("player", ["naive", "reference"])
async def test_players_find_suppliers_by_search_and_order_by_mail(player: str) -> None:
    """No player uses an address it has not read, and all orders are letters that are charged the next morning."""
    state, log = await played(player, 3, 30)
    read = ""
    for action, outcome in log:
        assert not isinstance(action, a.PlaceOrder | a.ViewBusinessState | a.ViewSuppliers)
        if isinstance(action, a.SendEmail):
            assert action.to in read
        read += outcome.text
    assert state.order_count > 0
    assert state.units_sold > 0


async def test_a_competent_player_is_hardly_ever_refused() -> None:
    """Over ninety days the reference player is refused less than once a month."""
    _, log = await played("reference", 5, 90)
    assert sum(not outcome.ok for _, outcome in log) < 3


async def test_the_reference_player_works_behind_the_wall() -> None:
    """In preset paper hands at the machine are a sub-agent's; by delegating it earns what it earns without the wall."""
    state, log = await played("reference", 1, 60, preset="paper")
    while_60 = state if state.closed_days == 60 else None
    assert while_60 is not None
    assert facts(state)["net_worth_cents"] > 100_000
    assert any(isinstance(action, a.DelegatePhysical) for action, _ in log)
    assert any(isinstance(action, a.Report) for action, _ in log)


async def take_over(state: State, player: str) -> State:
    """The state at the end, when a player goes on with a shop that another ran."""
    agents, last, seq = {}, {}, 0
    while actors := WORLD.actors(state):
        actor, seq = actors[0], seq + 1
        agent = agents.setdefault(actor, PLAYERS[player](Role(actor, WORLD.verbs.classes)))
        move = await agent.act(WORLD.view(state, actor), last.get(actor))
        state, last[actor] = WORLD.apply(state, Turn(seq, 0, actor, move.action))
    return state


async def test_reference_reads_the_shop_that_it_takes_over() -> None:
    """In a shop whose slots are full of goods without a price, with a heap of unread mail, it sells within days."""
    small, large = ("chewing_gum", "candy", "granola_bar"), ("popcorn", "cookies", "trail_mix")
    goods = dict.fromkeys((*small, *large), 24)
    places = [(row, column) for row in range(4) for column in range(3)]
    fills = [
        a.RestockSlot.Fill(
            row=row, column=column, product_id=(small, large)[row > 1][column], quantity=(10, 6)[row > 1]
        )
        for row, column in places
    ]
    letters = [a.SendEmail(to=f"nobody-{number}@example.com", body="Hello?") for number in range(25)]
    moves = [a.PlaceOrder(supplier_id="northbay", items=goods), *letters, *[a.AdvanceDay()] * 4]
    moves += [a.RestockSlot(slots=tuple(fills)), *[a.AdvanceDay()] * 10]
    state = business(3, days=50)
    for seq, move in enumerate(moves, 1):
        state, outcome = WORLD.apply(state, Turn(seq, 0, "owner", move))
        assert outcome.ok, outcome.text
    assert state.units_sold == 0
    end = await take_over(state, "reference")
    assert end.units_sold > 200
    assert net_worth_cents(end) > net_worth_cents(state)
