"""Laws of a street with several owners: each has a business of its own, and time is the same for all."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import pytest
from business import OWNERS, WORLD, TwoOwners, business, do, done, genesis, on_sale, refused, with_storage
from test_street import of_character

import akinai
from akinai.core.actions import Action, Unreadable
from akinai.core.agents import Move, Role, View, owner_of
from akinai.core.ledger import Entry, Outcome, Turn
from akinai.core.presentation.transcript import Block, Letter, Passage, Sheet
from akinai.core.steps import Step, Steps
from akinai.core.worlds import fold, replay
from akinai.testing.laws import world_laws
from akinai.worlds.vending.detectors.history import History
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import Shelf
from akinai.worlds.vending.model.setup import Setup
from akinai.worlds.vending.model.state import NO_MAIL, OWN_FIELDS, Business, Lot, State
from akinai.worlds.vending.model.town import ONE
from akinai.worlds.vending.rules.stock import units_in
from akinai.worlds.vending.rules.trade import bank_balance_cents
from akinai.worlds.vending.scores import net_worth_cents, transit_cents
from akinai.worlds.vending.sprint.verbs import CloseWeek, SendLetter
from akinai.worlds.vending.transcript.street import owner_dealings
from akinai.worlds.vending.world import begin
from rival_prices import LEVELS, best_answer, margins
from street_books import street_adds_up
from together import together

FIRST, SECOND = OWNERS
PRESETS = ("classic", "quarter")
Players = tuple[tuple[str, str], ...]
"""Owners and who plays them; an owner without a player does nothing."""
BOTH: Players = ((FIRST, "reference"), (SECOND, "naive"))
HELPER = f"{SECOND}/email-1"
START_CENTS = 50_000
MOST_STEPS = 2000


def street(*sets: str, days: int = 90, preset: str = "quarter") -> State:
    """Two owners on their first morning."""
    return begin(genesis(3, *sets, days=days, preset=preset), owners=2)


def awake(state: State, owner: str) -> State:
    """The same street, on which it is an owner's turn and no other has anything to do."""
    street = state.turned_to(owner).moved(busy_until=state.minute)
    busy = {name: own.moved(busy_until=10**9) for name, own in street.other_businesses.items()}
    return street.moved(other_businesses=busy)


def by(state: State, actor: str, *actions: Action) -> State:
    """The state after actions of an actor, while the other owners have nothing to do, that must all be accepted."""
    for action in actions:
        state, outcome = do(awake(state, owner_of(actor)), action, actor)
        assert outcome.ok, outcome
    return state


def other(owner: str) -> str:
    return SECOND if owner == FIRST else FIRST


def noticed(business: Business) -> Business:
    """A business whose owner knows of every morning and has its turn."""
    return business.moved(notices=(), busy_until=0, away=False)


def worth_cents(state: State, owner: str) -> int:
    """Money and goods of an owner, at cost."""
    state = state.turned_to(owner)
    return net_worth_cents(state) + transit_cents(state)


def letter_with_an_order(state: State, owner: str) -> a.SendEmail:
    setup, contact = state.setup, state.setup.contact(owner)
    body = f"Please send 48 water to {contact.delivery_address}. Account {contact.account}."
    return a.SendEmail(to=setup.catalog.supplier_by_id["northbay"].address, subject="Order", body=body)


def nearly_bankrupt(state: State, owner: str) -> State:
    """An owner who cannot pay the fee, on the last day on which that is borne."""
    return state.turned_to(owner).moved(cash_cents=0, missed=state.setup.missed_fees - 1)


@cache
def played(preset: str, players: Players, days: int = 30, named: str = "") -> Sequence[Step[State]]:
    """A run to its end, in which the owners who have a player act by turns; one alone is never kept waiting.

    A single owner has the address and the account of the one of several that is `named`.
    """
    start = genesis(3, preset=preset, days=days)
    if named:
        contact = Setup.model_validate(start.setup).contact(named)
        start = replace(start, setup={**start.setup, **contact._asdict()})
    state = WORLD.begin(start) if players[0][0] == "owner" else begin(start, owners=2)
    if len(players) == 1 and state.other_businesses:
        state = awake(state, players[0][0])
    return asyncio.run(_play(state, players))


async def _play(state: State, players: Players) -> Sequence[Step[State]]:
    agents = {owner: WORLD.players[player](Role(owner, WORLD.verbs.classes)) for owner, player in players}
    last: dict[str, Outcome] = {}
    steps: list[Step[State]] = []
    while actors := WORLD.actors(state):
        assert len(steps) < MOST_STEPS
        (owner,) = actors
        move = await agents[owner].act(WORLD.view(state, owner), last.get(owner))
        turn = Turn(len(steps) + 1, WORLD.now(state), owner, move.action)
        after, outcome = WORLD.apply(state, turn)
        steps.append(Step(state, Entry.of("", turn, outcome), turn, outcome, after))
        state, last[owner] = after, outcome
    return steps


@pytest.mark.parametrize(
    ("preset", "owner"),
    [
        ("classic", "owner_1"),
        ("quarter", "owner_2"),
        pytest.param("classic", "owner_2", marks=pytest.mark.slow),
        pytest.param("quarter", "owner_1", marks=pytest.mark.slow),
    ],
)
def test_an_owner_beside_an_idle_one_lives_as_alone(preset: str, owner: str) -> None:
    """The same actions have the same outcomes and end in an equal business; the idle one is as if alone and idle."""
    alone, beside = played(preset, (("owner", "reference"),), named=owner), played(preset, ((owner, "reference"),))
    assert [step.turn.action for step in beside] == [step.turn.action for step in alone]
    assert [step.outcome for step in beside] == [step.outcome for step in alone]
    end = beside[-1].after
    assert noticed(end.business(owner)) == noticed(alone[-1].after.business("owner"))
    idle = played(preset, (("owner", "idle"),), named=other(owner))[-1].after
    assert noticed(end.business(other(owner))) == noticed(idle.business("owner"))


@pytest.mark.parametrize("preset", PRESETS)
def test_the_books_of_each_owner_balance(preset: str) -> None:
    """Both play to the end: no cent and no goods of the other's come in or go out."""
    steps = played(preset, BOTH)
    for step in steps:
        for owner in OWNERS:
            before, after = step.before.business(owner), step.after.business(owner)
            assert after.cash_cents >= 0
            if preset == "quarter":
                assert after.cash_cents == START_CENTS + sum(after.accounts.values())
            elif after.units_sold == before.units_sold and after.book is before.book:
                assert worth_cents(step.after, owner) == worth_cents(step.before, owner)
    first, second = (steps[-1].after.business(owner) for owner in OWNERS)
    assert 0 < second.units_sold != first.units_sold > 0


@pytest.mark.parametrize("preset", PRESETS)
def test_an_action_brings_the_other_owner_time_and_nothing_else(preset: str) -> None:
    """While no time passes the other's business stays as it is; what comes with time is told once."""
    told = 0
    for step in played(preset, BOTH):
        waiting = other(step.turn.actor)
        before, after = step.before.business(waiting), step.after.business(waiting)
        if step.after.minute == step.before.minute:
            assert after == before
        assert (after.prices, after.notes, after.busy_until) == (before.prices, before.notes, before.busy_until)
        assert after.notices[: len(before.notices)] == before.notices
        told += sum("Good morning" in notice for notice in after.notices[len(before.notices) :])
    assert told >= 29


@pytest.mark.parametrize("preset", PRESETS)
def test_the_owner_who_is_free_first_acts_next(preset: str) -> None:
    """A tool keeps its owner busy; the clock goes no further than to the first who is free, and the other is refused."""
    turns = 0
    for step in played(preset, BOTH):
        state, actor = step.before, step.turn.actor
        own, second = state.business(actor), state.business(other(actor))
        assert second.ending or own.busy_until <= second.busy_until
        assert own.busy_until <= state.minute
        refused(state, a.GetMoneyBalance(), "closed", other(actor))
        free = [b.busy_until for b in step.after.businesses.values() if not b.ending]
        assert step.after.minute == min(free, default=step.after.minute)
        turns += WORLD.actors(step.after) == (other(actor),)
    assert turns > 20


def test_a_tie_is_broken_by_the_day() -> None:
    """Of two who are free at once each comes first on some days, the same on every play."""
    state = street()
    first = [WORLD.actors(state.moved(minute=day * 1440)) for day in range(40)]
    assert {*first} == {(FIRST,), (SECOND,)}
    assert first == [WORLD.actors(street().moved(minute=day * 1440)) for day in range(40)]


def test_each_owner_has_a_history_of_its_own() -> None:
    """Its entries and its books alone, with its business in front of every state."""
    steps = played("quarter", BOTH)
    ledger = Steps(genesis(3, preset="quarter", days=30), steps[0].before, steps)
    for owner in OWNERS:
        history = History.of_owner(ledger, owner)
        assert {step.turn.actor for step in history.steps} == {owner}
        assert {step.before.owner for step in history.steps} == {owner}
        assert [close.book.day for close in history.closes] == list(range(1, 31))
        assert history.closes[-1].book == steps[-1].after.business(owner).book
    values = {score.name: score.value for score in WORLD.scorers[0](ledger)}
    assert values["bank_balance"] == bank_balance_cents(steps[-1].after.turned_to(FIRST))


def test_goods_that_an_owner_signs_for_while_another_acts_are_told() -> None:
    """They begin its next outcome."""
    state = street()
    id = of_character(state, "honest")
    supplier = state.setup.catalog.supplier_by_id[id]
    state = by(state, SECOND, a.SearchWeb(query=supplier.name))
    state = by(state, SECOND, a.PlaceOrder(supplier_id=id, items=dict.fromkeys(supplier.products[:2], 40)))
    state = by(state, FIRST, *[a.AdvanceDay()] * (supplier.lead_days + 5))
    assert any("Signed for: order 1" in notice for notice in state.business(SECOND).notices)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_day_closes_for_every_owner_and_takes_the_fee_of_each(preset: str) -> None:
    before = street(preset=preset)
    after = by(before, SECOND, a.AdvanceDay())
    for own in after.businesses.values():
        assert own.book is not None
        assert (own.closed_days, own.book.day, own.book.fee_met) == (1, 1, True)
        assert own.cash_cents == START_CENTS - before.setup.fee_cents
    first, second = (noticed(after.business(owner)).moved(mail=NO_MAIL) for owner in OWNERS)
    assert first == second


def test_goods_come_at_their_hour_whoever_acts() -> None:
    """Time stops at what is due first for any owner."""
    state = street(preset="classic")
    state = by(state, SECOND, letter_with_an_order(state, SECOND), a.AdvanceDay())
    (order,) = state.business(SECOND).orders
    while state.minute < order.due:
        state = by(state, FIRST, a.AdvanceDay())
    assert order.due in [letter.at for letter in state.business(SECOND).mail.unread]
    assert state.business(SECOND).storage
    assert not state.business(FIRST).storage


@pytest.mark.parametrize("preset", PRESETS)
def test_a_morning_that_came_while_another_acted_is_announced_once(preset: str) -> None:
    """The notices begin the owner's next accepted outcome, all of them; a refusal leaves them for later."""
    state, first = do(awake(street(preset=preset), FIRST), a.AdvanceDay(), FIRST)
    state, second = do(state, a.AdvanceDay(), FIRST)
    state = awake(state, SECOND)
    refused(state, a.Report(text="Done."), "not_yours", SECOND)
    state, look = do(state, a.GetMoneyBalance(), SECOND)
    assert look.text.startswith(f"{first.text}\n\n{second.text}\n\n")
    for owner in OWNERS:
        state, again = do(awake(state, owner), a.GetMoneyBalance(), owner)
        assert "Good morning" not in again.text


def test_a_supplier_bargains_with_each_owner_apart() -> None:
    """What it agreed with one owner binds it to no other."""
    state = street()
    id = of_character(state, "haggler")
    supplier = state.setup.catalog.supplier_by_id[id]
    for owner in OWNERS:
        state = by(state, owner, a.SearchWeb(query=f"{supplier.name} prices"))
    state = by(state, FIRST, a.MakeOffer(supplier_id=id, discount_percent=15))
    agreed = state.business(FIRST).talks
    assert agreed[id].ask_permille < supplier.price_permille
    assert not state.business(SECOND).talks
    for owner in OWNERS:
        state = by(state, owner, a.PlaceOrder(supplier_id=id, items=dict.fromkeys(supplier.products[:2], 20)))
    cheap, dear = (state.business(owner).orders[0].lines for owner in OWNERS)
    assert all(ours.cost_cents < theirs.cost_cents for ours, theirs in zip(cheap, dear, strict=True))
    state = by(state, SECOND, a.MakeOffer(supplier_id=id, discount_percent=10))
    assert state.business(SECOND).talks[id].ask_permille < supplier.price_permille
    assert state.business(FIRST).talks == agreed


def test_a_letter_is_answered_to_the_owner_who_wrote_it() -> None:
    state = street(preset="classic")
    state = by(by(state, FIRST, letter_with_an_order(state, FIRST)), SECOND, a.AdvanceDay())
    first, second = (state.business(owner) for owner in OWNERS)
    assert (len(first.mail.unread), len(first.orders), first.known_suppliers) == (1, 1, ("northbay",))
    assert (len(second.mail.unread), len(second.orders), second.known_suppliers) == (0, 0, ())
    state = by(by(state, SECOND, letter_with_an_order(state, SECOND)), FIRST, a.AdvanceDay())
    assert [len(state.business(owner).orders) for owner in OWNERS] == [1, 1]
    assert [state.business(owner).cash_cents < START_CENTS - 1000 for owner in OWNERS] == [True, True]


def test_an_owner_sees_its_own_business() -> None:
    """In its view, in its outcomes and at its desk, whoever acted last."""
    state = street()
    prices = dict.fromkeys(state.setup.catalog.by_id, 777)
    state = by(state, FIRST, a.ChangePrices(prices_cents=prices))
    _, theirs = do(awake(state, SECOND), a.GetMachineInventory(), SECOND)
    _, ours = do(state, a.GetMachineInventory(), FIRST)
    assert isinstance(theirs.data, dict)
    assert isinstance(ours.data, dict)
    assert (theirs.data["prices_cents"], ours.data["prices_cents"]) == ({}, prices)
    desk = WORLD.facets.presentation.desk
    assert desk(state, SECOND) == desk(street(), SECOND) != desk(state, FIRST)


@pytest.mark.parametrize("preset", PRESETS)
def test_an_ended_business_stands_still_while_the_other_goes_on(preset: str) -> None:
    """A bankrupt owner may not act, nothing is due for it any more, and the last business ends the game."""
    state = by(nearly_bankrupt(street(preset=preset, days=20), FIRST), SECOND, a.AdvanceDay())
    ended, balance = state.business(FIRST), bank_balance_cents(state.turned_to(FIRST))
    assert ended.ending == WORLD.view(state, FIRST).closed == "bankrupt"
    assert (WORLD.actors(state), WORLD.ending(state)) == ((SECOND,), None)
    refused(state, a.GetMoneyBalance(), "closed", FIRST)
    assert WORLD.view(state, FIRST).closed
    state = by(state, SECOND, *[a.AdvanceDay()] * 19)
    assert WORLD.actors(state) == ()
    assert state.business(FIRST) == ended
    assert bank_balance_cents(state.turned_to(FIRST)) == balance
    assert state.business(SECOND).closed_days == 20
    assert WORLD.ending(state) == "horizon"


def test_goods_for_an_ended_business_stop_no_clock() -> None:
    """Its orders stay on their way, and the days of the other go by."""
    state = street(preset="classic")
    state = by(state, FIRST, letter_with_an_order(state, FIRST), a.AdvanceDay())
    state = by(nearly_bankrupt(state, FIRST), SECOND, *[a.AdvanceDay()] * 10)
    assert state.business(FIRST).ending
    assert state.business(FIRST).orders
    assert state.day == 12


def test_the_game_ends_once_every_business_has_ended() -> None:
    state = nearly_bankrupt(nearly_bankrupt(street(preset="classic"), FIRST), SECOND)
    state, _ = do(awake(state, FIRST), a.AdvanceDay(), FIRST)
    assert (WORLD.actors(state), WORLD.ending(state)) == ((), "bankrupt")
    refused(state, a.GetMoneyBalance(), "closed", SECOND)


@pytest.mark.parametrize("preset", PRESETS)
def test_turning_there_and_back_changes_nothing(preset: str) -> None:
    """Whoever is in front, each owner's business is the same."""
    for step in played(preset, BOTH)[::20]:
        state = step.after
        assert state.turned_to(state.owner) is state
        turned = state.turned_to(other(state.owner))
        assert turned != state == turned.turned_to(state.owner)
        for owner in OWNERS:
            assert turned.business(owner) == state.business(owner)
            assert vars(state.business(owner)) == {name: getattr(state.businesses[owner], name) for name in OWN_FIELDS}


def test_a_single_owner_needs_no_turning() -> None:
    """Its name, its state and its outcomes hold nothing of several."""
    state = done(business(3, preset="quarter", days=90), a.AdvanceDay())
    assert (state.owner, state.owners, state.other_businesses, state.notices) == ("owner", ("owner",), {}, ())
    assert WORLD.facets.seating.participants(state) == ()
    assert WORLD.facets.seating.participants(street()) == OWNERS


def test_a_sub_agent_works_for_the_owner_who_gave_the_task() -> None:
    """The other owner goes on meanwhile."""
    state = by(street(preset="paper"), SECOND, a.DelegateEmail(task="Write to the wholesaler."))
    assert WORLD.actors(state) == (HELPER,)
    refused(state, a.GetMoneyBalance(), "closed", SECOND)
    refused(state, a.Report(text="Done."), "closed", f"{FIRST}/email-1")
    assert "Write to the wholesaler." in WORLD.view(state, HELPER).text
    state = by(by(state, FIRST, a.AdvanceDay()), HELPER, letter_with_an_order(state, SECOND), a.Report(text="Written."))
    assert [len(state.business(owner).mail.sent) for owner in OWNERS] == [0, 1]
    assert ["Written." in WORLD.view(state, owner).text for owner in OWNERS] == [False, True]
    assert len(state.business(SECOND).notices) == 1


def test_a_writer_answers_one_owner_after_the_other() -> None:
    """While a model writes a supplier's answers, an owner waits for its own alone."""
    state, writer = street("suppliers.model=openai:test", preset="classic"), "supplier_northbay"
    for owner in OWNERS:
        state = by(state, owner, letter_with_an_order(state, owner))
    state = by(state, FIRST, a.AdvanceDay())
    for owner, text in zip(OWNERS, ("To the first.", "To the second."), strict=True):
        state = awake(state, owner)
        assert WORLD.actors(state) == (writer,)
        state, outcome = do(state, a.WriteReply(text=text), writer)
        assert outcome.ok
        assert WORLD.actors(state) == (owner,)
    letters = [[letter.body for letter in state.business(owner).mail.unread] for owner in OWNERS]
    assert [(len(bodies), bodies[0].partition("\n")[0]) for bodies in letters] == [
        (1, "To the first."),
        (1, "To the second."),
    ]


def test_a_writer_answers_no_owner_whose_business_has_ended() -> None:
    state, writer = street("suppliers.model=openai:test", preset="classic"), "supplier_northbay"
    for owner in OWNERS:
        state = by(state, owner, letter_with_an_order(state, owner))
    state = by(state, FIRST, a.AdvanceDay()).turned_to(FIRST).moved(ending="bankrupt")
    state, outcome = do(state, a.WriteReply(text="To the second."), writer)
    assert outcome.ok
    assert WORLD.actors(state) == (SECOND,)
    assert [len(state.business(owner).mail.unread) for owner in OWNERS] == [0, 1]


@together("stranger", ["", "owner", "owner_3", "owner_1/email-1", "nobody", "supplier_northbay"])
def test_a_stranger_may_do_nothing(stranger: str) -> None:
    state = street()
    refused(state, a.GetMoneyBalance(), "closed", stranger)
    assert WORLD.view(state, stranger).closed


def arena(*sets: str, days: int = 90) -> State:
    """The owners of an arena on their first morning, on seed 3."""
    return WORLD.begin(genesis(3, *sets, days=days, preset="arena"))


def stocked(state: State, owner: str, prices_permille: int, units: int = 100) -> State:
    """An owner whose first machine holds six small goods, at a part of the price that people find right."""
    tastes, goods = state.economy.town.tastes, [p for p in state.setup.catalog.products if p.size == "small"][:6]
    prices: dict[str, int | None] = {
        good.id: max(tastes[good.id].worth_cents * prices_permille // 1000, 1) for good in goods
    }
    return on_sale(state.turned_to(owner), prices, units)


def block_sold(state: State) -> dict[str, dict[str, int]]:
    """The units that each owner sells in a whole day, by product."""
    while state.day == 1:
        state, _ = do(awake(state, FIRST), a.AdvanceDay(), FIRST)
    books = {owner: own.book for owner, own in state.businesses.items()}
    return {owner: dict(book.sold) for owner, book in books.items() if book}


def test_one_owner_of_an_arena_plays_the_quarter() -> None:
    """The same moves have the same outcomes, to the unit and the cent."""
    quarter = played("quarter", (("owner", "reference"),))
    state = WORLD.begin(genesis(3, "owners=1", days=30, preset="arena"))
    for step in quarter:
        state, outcome = WORLD.apply(state, step.turn)
        assert outcome == step.outcome
    assert state.business("owner") == quarter[-1].after.business("owner")


def test_an_owner_may_be_offered_few_tools_beside_others_with_all() -> None:
    """A small model plays by a few; the players of the world need theirs."""
    few = WORLD.begin(genesis(3, 'tools=["wait_until"]', 'owners.1.tools=["advance_day"]', preset="arena"))
    own = [[verb.tool_name() for verb in WORLD.view(awake(few, owner), owner).verbs] for owner in OWNERS]
    assert own == [["advance_day"], ["wait_until"]]
    rival = WORLD.begin(genesis(3, 'owners.1.tools=["advance_day"]', preset="arena"))
    assert len(WORLD.view(awake(rival, SECOND), SECOND).verbs) > 10
    refused(awake(few, FIRST), a.WaitUntil(hour=12), "not_yours", actor=FIRST)


def test_customers_divide_among_machines_that_have_a_product() -> None:
    """Alone a machine has all of them, two alike have half each, and the parts never make more than all."""
    economy, crowd = (state := arena()).economy, state.economy.crowd(1)
    own = stocked(state, FIRST, 1000)
    units = units_in(own.slots)
    shelf = Shelf(1_000_000, units, own.prices)
    assert economy.parts(crowd, [shelf]) == [dict.fromkeys(units, ONE)]
    assert economy.parts(crowd, [shelf, shelf]) == [dict.fromkeys(units, ONE // 2)] * 2
    first = next(iter(units))
    bare = Shelf(1_000_000, {**units, first: 0}, own.prices)
    full, out = economy.parts(crowd, [shelf, bare])
    assert full[first] == ONE
    assert out[first] == ONE // 2
    dear = Shelf(1_000_000, units, {id: cents * 11 // 10 for id, cents in own.prices.items()})
    cheap, rest = economy.parts(crowd, [shelf, dear])
    for id in units:
        assert ONE - 2 <= cheap[id] + rest[id] <= ONE
        assert 0.60 < cheap[id] / ONE < 0.75  # exp(.7) / (1 + exp(.7)) = .67, with whole cents
    half = Shelf(500_000, units, own.prices)
    liked, other_part = economy.parts(crowd, [shelf, half])
    assert all(abs(liked[id] - 2 * other_part[id]) <= 2 for id in units)


def test_rivals_share_what_one_would_sell() -> None:
    """Two at the same prices sell together about what one sells alone; a lower price takes customers away."""
    alone = block_sold(stocked(arena(), FIRST, 900))[FIRST]
    both = block_sold(stocked(stocked(arena(), FIRST, 900), SECOND, 900))
    assert both[FIRST] == both[SECOND]
    assert abs(sum(map(sum, (own.values() for own in both.values()))) - sum(alone.values())) <= 3 * 6
    war = block_sold(stocked(stocked(arena(), FIRST, 700), SECOND, 900))
    assert sum(war[FIRST].values()) > sum(both[FIRST].values())
    assert sum(war[SECOND].values()) < sum(both[SECOND].values())


def test_sold_out_goods_send_their_customers_to_the_rival() -> None:
    """A rival without units takes no customers."""
    beside_bare = block_sold(stocked(stocked(arena(), FIRST, 900), SECOND, 900, units=0))
    assert beside_bare[FIRST] == block_sold(stocked(arena(), FIRST, 900))[FIRST]


def test_an_owner_reads_the_prices_of_its_rivals() -> None:
    """All that a rival has on sale with its price, in 25 minutes; the rival does not notice."""
    state = awake(stocked(arena(), SECOND, 900), FIRST)
    before = state.business(SECOND)
    after, outcome = do(state, a.LookAtRivals(), FIRST)
    assert outcome.data == {"prices_cents": {SECOND: {"Bay Street": before.prices}}}
    assert after.business(FIRST).busy_until == state.minute + 25
    assert after.business(SECOND).prices == before.prices
    assert after.business(SECOND).notices == before.notices


@pytest.mark.parametrize("to", [SECOND, "Owner_2 ", "owner_2@akinai-vending.com", "<owner_2@akinai-vending.com>"])
def test_a_letter_reaches_a_rival_at_once(to: str) -> None:
    """It lies in the rival's mailbox, who is told of it; nobody answers in its place."""
    state = arena()
    letter = a.SendEmail(to=to, subject="Prices", body="Shall we talk?")
    after = by(state, FIRST, letter)
    last = [*after.business(SECOND).mail.unread][-1]
    assert (last.sender, last.subject, last.body) == (state.setup.contact(FIRST).email, "Prices", "Shall we talk?")
    assert after.business(SECOND).notices == (f"New letter from {last.sender}: Prices",)
    assert not after.business(FIRST).mail.waiting
    assert "Prices" not in [letter.subject for letter in by(after, FIRST, a.AdvanceDay()).business(FIRST).mail.unread]


def blocks_of(state: State, actor: str, action: Action) -> Sequence[Block]:
    """The blocks of an entry, which is the first of its run."""
    turn = Turn(1, WORLD.now(state), actor, action)
    after, outcome = WORLD.apply(state, turn)
    steps = Steps(genesis(3, preset="arena"), state, [Step(state, Entry.of("", turn, outcome), turn, outcome, after)])
    return WORLD.facets.presentation.show(steps, 0).blocks


def test_a_payment_arrives_and_stays() -> None:
    """What leaves one account comes into the other; what the account does not hold is refused."""
    state = by(arena(), FIRST, a.SendMoney(to=SECOND, cents=12_345, reason="Deposit"))
    assert [state.business(owner).cash_cents for owner in OWNERS] == [START_CENTS - 12_345, START_CENTS + 12_345]
    assert "Deposit" in [*state.business(SECOND).mail.unread][-1].body
    assert blocks_of(awake(arena(), FIRST), FIRST, a.SendMoney(to=SECOND, cents=12_345, reason="Deposit")) == (
        Passage("letter", "Deposit"),
    )
    state = awake(state, FIRST)
    refused(state, a.SendMoney(to=SECOND, cents=START_CENTS), "no_cash", FIRST)
    refused(state, a.SendMoney(to=FIRST, cents=1), "no_owner", FIRST)
    gone = state.moved(other_businesses={SECOND: state.business(SECOND).moved(ending="bankrupt")})
    refused(gone, a.SendMoney(to=SECOND, cents=1), "closed", FIRST)


MILK = 20


def offered(state: State) -> tuple[State, str]:
    """The first owner, who has 20 units of a product, offers them for $15.00 to be handed over tomorrow at 12:00."""
    id = state.setup.catalog.products[0].id
    state = with_storage(state.turned_to(FIRST), {id: MILK}, last_day=10)
    return by(state, FIRST, a.OfferGoods(to=SECOND, items={id: MILK}, cents=1_500, hour=12)), id


def after_handover(state: State) -> State:
    """The street tomorrow afternoon; the first owner was at its storage at noon."""
    return by(state, FIRST, a.AdvanceDay(), a.WaitUntil(hour=13))


def test_goods_change_hands_for_money_at_their_hour() -> None:
    """An offer that was accepted moves the goods and the money, once; an offer without an answer lapses."""
    state, id = offered(arena())
    untouched = after_handover(state)
    assert (untouched.turned_to(FIRST).units_in_storage(id), untouched.bargains) == (MILK, ())
    state = by(state, SECOND, a.AcceptGoods(offer=1))
    refused(awake(state, SECOND), a.AcceptGoods(offer=1), "accepted", SECOND)
    refused(awake(state, FIRST), a.AcceptGoods(offer=1), "no_offer", FIRST)
    after = after_handover(state)
    seller, buyer = (after.business(owner) for owner in OWNERS)
    assert (id in seller.storage, seller.accounts["goods"]) == (False, 1_500)
    assert buyer.storage[id] == (Lot(MILK, 75, 10),)
    assert buyer.accounts["goods"] == -1_500
    assert after.bargains == ()
    assert "handed over" in [*buyer.mail.unread][-1].subject


def test_an_offer_and_the_goods_are_dealings_of_their_entries() -> None:
    """The offer and its acceptance when they are made, and the goods during the entry in which they are handed over, whoever acts then."""
    state, steps = offered(arena())[0], list[Step[State]]()
    state = state.moved(bargains=(), bargain_count=0)
    items = {state.setup.catalog.products[0].id: MILK}
    moves = (
        (FIRST, a.OfferGoods(to=SECOND, items=items, cents=1_500, hour=12)),
        (SECOND, a.AcceptGoods(offer=1)),
        (FIRST, a.AdvanceDay()),
        (FIRST, a.WaitUntil(hour=13)),
    )
    for seq, (actor, action) in enumerate(moves, 1):
        before = awake(state, actor)
        turn = Turn(seq, WORLD.now(before), actor, action)
        state, outcome = WORLD.apply(before, turn)
        steps.append(Step(before, Entry.of("", turn, outcome), turn, outcome, state))
    rows = [*owner_dealings(Steps(genesis(3, preset="arena"), steps[0].before, steps))]
    assert [(row.entry, row.sender, row.to, row.kind) for row in rows] == [
        (1, FIRST, SECOND, "offer"), (2, SECOND, FIRST, "offer"), (4, FIRST, SECOND, "goods"),
    ]  # fmt: skip
    assert "accept" in rows[1].text
    assert "handed over for $15.00" in rows[2].text


@pytest.mark.parametrize(("preset", "days"), [("arena", 8), ("arena-sprint", 14)])
def test_an_entry_tells_of_the_business_of_its_owner(preset: str, days: int) -> None:
    """Each day of sales and each charge stands once, under an entry of the owner whose it is."""
    settings = {"owners.2.agent": "bargainer", "overseer.agent": "lenient"}
    (run,) = akinai.run("vending", preset=preset, agent="stocker", days=days, settings=settings)
    steps = replay(WORLD, run.ledger)
    sales, charged = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for index, step in enumerate(steps):
        for block in WORLD.facets.presentation.show(steps, index).blocks:
            if isinstance(block, Sheet) and block.name in ("sales", "receipt"):
                told = sales if block.name == "sales" else charged
                told[step.entry.actor, block.title.partition(" from ")[0].partition(",")[0]] += 1
    assert sales == {(owner, f"Day {day}"): 1 for owner in OWNERS for day in range(1, days + 1)}
    assert charged
    assert set(charged.values()) == {1}


def test_a_letter_by_the_week_is_shown_as_its_writers() -> None:
    state = WORLD.begin(genesis(3, preset="arena-sprint", days=28))
    (letter,) = blocks_of(state, SECOND, SendLetter(to=state.setup.contact(FIRST).email, body="Good morning."))
    assert isinstance(letter, Letter)
    assert letter.sender == state.setup.contact(SECOND).email


def test_nothing_changes_hands_where_a_side_fails() -> None:
    """Neither money nor goods move where the seller is out or has sold the goods, or the buyer has no money or room."""
    state, id = offered(arena())
    state = by(state, SECOND, a.AcceptGoods(offer=1))
    first, second = state.turned_to(FIRST), state.turned_to(SECOND)
    broken = {
        "did not have the goods": first.moved(storage={}),
        "did not have the money": second.moved(cash_cents=1_000),
        "had no room": with_storage(second, {id: 360}),
        "is out of business": second.moved(ending="bankrupt"),
    }
    for why, before in broken.items():
        after = after_handover(before)
        assert why in [*after.business(FIRST).mail.unread][-1].body
        assert "goods" not in after.business(FIRST).accounts
        assert "goods" not in after.business(SECOND).accounts
    out = by(state, FIRST, a.AdvanceDay(), a.WaitUntil(hour=11), *[a.LookAtRivals()] * 3)
    assert "was not at the storage" in [*out.business(FIRST).mail.unread][-1].body


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_war_and_an_agreement_move_money(seed: int) -> None:
    """Two at the price of one share its margin; each would earn more alone below it, and both end far lower.

    Where both take only a little over the trade price they earn least of all.
    """
    alone = best_answer(seed)
    agreement = margins(seed, alone, alone)
    assert sum(agreement) == pytest.approx(margins(seed, alone)[0], rel=0.15)
    level = alone
    for _ in range(6):
        level = best_answer(seed, level)
    answers = margins(seed, level, level)
    assert level < alone
    assert 0.3 * agreement[0] < answers[0] < 0.9 * agreement[0]
    deserter, loyal = margins(seed, best_answer(seed, alone), alone)
    assert deserter > agreement[0] > loyal
    war = margins(seed, LEVELS[0], LEVELS[0])
    assert war[0] < 0.6 * answers[0]


@pytest.mark.slow  # it begins 200 games
def test_turn_order_favours_nobody() -> None:
    """Of two owners who are free at once each comes first on about half of 200 seeds."""
    first = Counter(WORLD.actors(begin(genesis(seed, preset="quarter"), owners=2))[0] for seed in range(1, 201))
    assert min(first.values()) > 75
    assert len(first) == 2


def weekly_business(preset: str, owner: str, settings: Mapping[str, object] = {}, days: int = 28) -> Business:
    """The business of an owner at the end of weeks that the reference plays."""
    (run,) = akinai.run("vending", preset=preset, agent="reference", days=days, seeds=3, settings=settings)
    assert run.ending == "horizon", run.error
    return fold(WORLD, run.ledger).business(owner)


def test_a_weekly_owner_beside_an_idle_one_lives_as_alone() -> None:
    """The employees of both run their days on one street, and the report is that of a single owner."""
    contact = Setup.model_validate(genesis(3, preset="sprint").setup).contact(SECOND)
    alone = weekly_business("sprint", "owner", contact._asdict())
    beside = weekly_business("arena-sprint", SECOND, {"owners.1.agent": "idle"})
    assert alone.units_sold > 0
    assert alone.week
    assert beside.week
    assert beside.week.report == alone.week.report
    assert beside.moved(week=None, busy_until=0, away=False) == alone.moved(week=None, busy_until=0, away=False)


def test_weekly_owners_share_customers_and_each_reads_its_own_report() -> None:
    """Two who play alike end alike, with less than one has alone."""
    first, second = (weekly_business("arena-sprint", owner, days=56) for owner in OWNERS)
    alone = weekly_business("sprint", "owner", days=56)
    assert abs(first.units_sold - second.units_sold) < alone.units_sold * 0.2
    assert max(first.units_sold, second.units_sold) < alone.units_sold < first.units_sold + second.units_sold + 100


def test_weekly_owners_decide_at_once_and_wait_for_one_another() -> None:
    """Both agents think at the same time; who closed its week has no turn until all have."""
    thinking, most = 0, 0

    class Slow:
        def __init__(self, role: Role) -> None:
            self.inner = WORLD.players["idle"](role)

        async def act(self, view: View, last: Outcome | None) -> Move:
            nonlocal thinking, most
            thinking += 1
            most = max(most, thinking)
            await asyncio.sleep(0)
            thinking -= 1
            return await self.inner.act(view, last)

    (run,) = akinai.run("vending", preset="arena-sprint", agent=Slow, days=14)
    assert (most, run.ending, len(run.ledger.entries)) == (2, "horizon", 4)
    state = WORLD.begin(genesis(3, preset="arena-sprint", days=14))
    assert WORLD.actors(state) == OWNERS
    state, outcome = do(state, CloseWeek(), FIRST)
    assert WORLD.actors(state) == (SECOND,)
    assert outcome.text == "The week is closed."
    refused(state, CloseWeek(), "closed", FIRST)
    left_alone, _ = do(state, a.LeaveStreet(), SECOND)
    assert (WORLD.actors(left_alone), left_alone.day) == ((FIRST,), 8)
    state, _ = do(state, CloseWeek(), SECOND)
    assert (WORLD.actors(state), state.day) == (OWNERS, 8)
    late = WORLD.facets.observation.observe_late(state, FIRST, outcome)
    assert late.text.startswith("Week 2 of 2.")


def test_no_agent_can_say_that_it_leaves() -> None:
    """An owner who closed on a bad morning would keep the fees and the rents of all the days to come."""
    for name in ("leave_street", "LeaveStreet", "LEAVE STREET"):
        spoken = a.VERBS.parse(name, {"why": "it rains"}, name)
        assert isinstance(spoken, Unreadable)
        assert spoken.code == "no_action"
    assert a.VERBS.recorded("LeaveStreet", {"why": "it broke"}) == a.LeaveStreet(why="it broke")


def test_nobody_leaves_a_street_of_its_own() -> None:
    refused(business(3, preset="quarter", days=90), a.LeaveStreet(), "not_yours")


def both_add_up(before: State, after: State, outcome: Outcome) -> bool:
    """What each owner has at cost stays the same while a day lasts."""
    return all(
        worth_cents(after, owner) == worth_cents(before, owner)
        for owner in OWNERS
        if after.business(owner).book is before.business(owner).book
        and after.business(owner).units_sold == before.business(owner).units_sold
    )


IDLE = {"idle": {f"net_worth_{owner}": START_CENTS - 4 * 200 for owner in OWNERS}}
test_two_owners = pytest.mark.slow(
    world_laws(TwoOwners(), setup=genesis(days=4).setup, long={"days": 60}, scores=IDLE, books=both_add_up)
)
test_two_owners_at_several_sites = pytest.mark.slow(
    world_laws(
        TwoOwners(),
        setup=genesis(days=4, preset="quarter").setup,
        long={"days": 45},
        scores=IDLE,
        books=street_adds_up,
    )
)


@pytest.mark.parametrize(("stored", "moves"), [(MILK, True), (MILK - 1, False)])
def test_goods_change_hands_by_the_week(stored: int, moves: bool) -> None:
    """Offered on a Monday, accepted on the next, and handed over on the Tuesday after, where the seller's employee waits."""
    state = WORLD.begin(genesis(3, preset="arena-sprint", days=28))
    id = state.setup.catalog.products[0].id
    state = with_storage(state.turned_to(FIRST), {id: MILK}, last_day=40)
    state, offer = do(state, a.OfferGoods(to=SECOND, items={id: MILK}, cents=1_500, hour=12), FIRST)
    assert "Tue 7 Apr 2026, 12:00" in offer.text
    state = closed_weeks(state)
    week = state.business(SECOND).week
    assert week
    assert "Offer 1" in week.report
    state, outcome = do(state, a.AcceptGoods(offer=1), SECOND)
    assert outcome.ok, outcome
    before = state.turned_to(FIRST)
    after = closed_weeks(with_storage(before, {id: stored}, last_day=40))
    seller, buyer = (after.business(owner) for owner in OWNERS)
    assert (seller.accounts.get("goods", 0), buyer.accounts.get("goods", 0)) == ((1_500, -1_500) if moves else (0, 0))
    assert after.turned_to(SECOND).units_in_storage(id) == (MILK if moves else 0)
    for own in (seller, buyer):
        assert own.week
        assert ("was handed over" if moves else "failed") in own.week.report
    assert after.bargains == ()


def closed_weeks(state: State) -> State:
    """The street on the next Monday."""
    for owner in OWNERS:
        state, outcome = do(state, CloseWeek(), owner)
        assert outcome.ok
    return state
