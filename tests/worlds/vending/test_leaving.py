"""Laws of an owner who leaves a street: its business goes on with nobody, so it ends as one that is left idle."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from business import OWNERS, WORLD, do, genesis, refused
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from test_owners import after_handover, arena, awake, by, offered, stocked

from akinai.core.agents import Agent, Role
from akinai.core.ledger import Outcome, Turn
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.rules.trade import bank_balance_cents
from akinai.worlds.vending.sprint.verbs import CloseWeek
from akinai.worlds.vending.transcript.street import street_of

FIRST, SECOND = OWNERS
PLAYERS = ("reference", "stocker", "listed", "naive")


def balances(state: State) -> Mapping[str, int]:
    """The bank balance of each owner."""
    return {owner: bank_balance_cents(state.turned_to(owner)) for owner in state.owners}


async def play(opening: State, players: Sequence[str], quitter: str, moves: int) -> tuple[State, list[Turn]]:
    """A street at its end, on which one owner idles after so many moves of its player, and all turns."""
    agents: dict[str, Agent] = {
        owner: WORLD.players[player](Role(owner, WORLD.verbs.classes))
        for owner, player in zip(opening.owners, players, strict=True)
    }
    idle = CloseWeek() if opening.week else a.AdvanceDay()
    state, outcomes, turns, made = opening, dict[str, Outcome](), list[Turn](), 0
    while actors := WORLD.actors(state):
        actor = actors[0]
        made += actor == quitter
        told = outcomes.get(actor) and WORLD.facets.observation.observe_late(state, actor, outcomes[actor])
        move = await agents[actor].act(WORLD.view(state, actor), told) if actor != quitter or made <= moves else None
        turns.append(Turn(len(turns) + 1, WORLD.now(state), actor, move.action if move else idle))
        state, outcomes[actor] = WORLD.apply(state, turns[-1])
    return state, turns


def leave_in_place_of_idling(state: State, turns: Sequence[Turn], quitter: str, moves: int) -> State:
    """The same street at its end, on which the owner leaves and all others do what they did."""
    actions = {owner: [turn.action for turn in turns if turn.actor == owner] for owner in state.owners}
    actions[quitter] = [*actions[quitter][:moves], a.LeaveStreet()]
    while actors := WORLD.actors(state):
        actor = next(owner for owner in actors if actions[owner])
        state, _ = WORLD.apply(state, Turn(1, WORLD.now(state), actor, actions[actor].pop(0)))
    return state


def check_that_leaving_is_idling(
    preset: str, days: int, seed: int, players: Sequence[str], number: int, moves: int
) -> None:
    opening = WORLD.begin(genesis(seed, f"owners={len(players)}", preset=preset, days=days))
    quitter = opening.owners[number % len(players)]
    idled, turns = asyncio.run(play(opening, players, quitter, moves))
    left = leave_in_place_of_idling(opening, turns, quitter, moves)
    assert WORLD.ending(left) == WORLD.ending(idled)
    assert balances(left) == balances(idled)


SEATS = st.lists(st.sampled_from(PLAYERS), min_size=2, max_size=5)
SEEDS = st.integers(1, 10_000)
AS_DRAWN = (Phase.explicit, Phase.reuse, Phase.generate)
"""A failing game is shown as it was drawn: to look for a smaller one takes minutes."""


@settings(max_examples=3, deadline=None, phases=AS_DRAWN)
@given(seed=SEEDS, players=SEATS, number=st.integers(0, 4), moves=st.integers(0, 120))
def test_who_leaves_has_what_it_would_have_idle(seed: int, players: Sequence[str], number: int, moves: int) -> None:
    """The final bank balance after leaving is that after doing nothing to the end, and so is everybody else's, who does the same."""
    check_that_leaving_is_idling("arena", 45, seed, players, number, moves)


@settings(max_examples=3, deadline=None, phases=AS_DRAWN)
@given(seed=SEEDS, players=SEATS, number=st.integers(0, 4), moves=st.integers(0, 30))
def test_who_leaves_by_the_week_has_what_it_would_have_idle(
    seed: int, players: Sequence[str], number: int, moves: int
) -> None:
    """The same where employees work on by the plans."""
    check_that_leaving_is_idling("arena-sprint", 56, seed, players, number, moves)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, phases=AS_DRAWN)
@given(
    preset=st.sampled_from((("arena", 90, 500), ("arena-sprint", 112, 60))),
    seed=SEEDS,
    players=SEATS,
    number=st.integers(0, 4),
    share=st.integers(0, 100),
)
def test_who_leaves_a_long_game_has_what_it_would_have_idle(
    preset: tuple[str, int, int], seed: int, players: Sequence[str], number: int, share: int
) -> None:
    """The same over whole games."""
    name, days, most = preset
    check_that_leaving_is_idling(name, days, seed, players, number, most * share // 100)


def left(state: State, owner: str) -> State:
    """The street after an owner left whose turn it was."""
    state = state.turned_to(owner).moved(busy_until=0)
    waiting = {name: own.moved(busy_until=state.minute) for name, own in state.other_businesses.items()}
    state, outcome = do(state.moved(other_businesses=waiting), a.LeaveStreet(why="its program broke"), owner)
    assert outcome.ok
    return state


def test_nobody_waits_for_who_left_and_its_goods_are_sold() -> None:
    """It may do nothing, gets no mail and no money, and its fees are paid up to the horizon with the others'."""
    state = left(stocked(stocked(arena(days=20), FIRST, 900), SECOND, 900), SECOND)
    assert (WORLD.actors(state), WORLD.view(state, SECOND).closed) == ((FIRST,), "left")
    refused(awake(state, FIRST), a.SendMoney(to=SECOND, cents=1), "closed", FIRST)
    _, looked = do(awake(state, FIRST), a.LookAtRivals(), FIRST)
    assert "owner_2 has left, and nobody runs its business." in looked.text
    assert looked.fields["prices_cents"][SECOND] != {}
    assert street_of(state, None, None).listings[0].rows[SECOND][-1] == "left the street"
    while WORLD.actors(state):
        state, _ = do(state, a.AdvanceDay(), FIRST)
    own = state.business(SECOND)
    assert (own.ending, own.closed_days, own.left_after) == ("horizon", 20, 0)
    assert own.accounts["fees"] == -20 * 200
    assert own.units_sold > 0
    assert own.notices == ()


def test_leaving_says_what_it_brings() -> None:
    """In words and as data: up to which day fees and rents go on."""
    state = awake(arena(days=20), SECOND)
    _, outcome = do(state, a.LeaveStreet(), SECOND)
    assert outcome.data == {"unattended_until_day": 20}
    assert "Up to the end of day 20 its fees and rents go on falling due." in outcome.text


@pytest.mark.parametrize("preset", ["arena", "arena-sprint"])
def test_the_last_to_leave_lets_time_pass_to_the_horizon(preset: str) -> None:
    """Also where the others are bankrupt, so that it saves nothing by an end before theirs."""
    state = WORLD.begin(genesis(3, preset=preset, days=28))
    bankrupt = {name: own.moved(ending="bankrupt") for name, own in state.other_businesses.items()}
    state, _ = do(state.moved(other_businesses=bankrupt), a.LeaveStreet(), FIRST)
    assert (WORLD.actors(state), WORLD.ending(state)) == ((), "horizon")
    assert state.business(FIRST).accounts["fees"] == -28 * 200


def test_who_left_without_a_horizon_is_closed() -> None:
    """It owes nothing for days that have no end."""
    state = left(WORLD.begin(genesis(3, "owners=2", preset="classic", days=0)), SECOND)
    own = state.business(SECOND)
    assert own.ending == "left"
    assert by(state, FIRST, *[a.AdvanceDay()] * 5).business(SECOND).cash_cents == own.cash_cents


def test_an_accepted_offer_binds_who_left() -> None:
    """As it binds who does nothing: the buyer pays for the goods."""
    state, id = offered(arena())
    after = after_handover(left(by(state, SECOND, a.AcceptGoods(offer=1)), SECOND))
    assert after.business(SECOND).accounts["goods"] == -1_500
    assert id in after.business(SECOND).storage
