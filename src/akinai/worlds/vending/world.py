"""The vending world, after Vending-Bench (arXiv 2502.15840): one to five owners run machines, for weeks or a year."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from akinai.core.actions import Action, Unreadable
from akinai.core.agents import View
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.worlds import World
from akinai.worlds.vending.facets import FACETS
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import economy_of
from akinai.worlds.vending.model.setup import Setup
from akinai.worlds.vending.model.state import OPENING, OVERSEER, OWNER, Result, State
from akinai.worlds.vending.players.strategies import PLAYERS
from akinai.worlds.vending.players.weekly import take_over
from akinai.worlds.vending.rules import (
    actors,
    customers,
    days,
    deliveries,
    machine,
    mail,
    notes,
    orders,
    rivals,
    sites,
    trade,
    web,
)
from akinai.worlds.vending.rules.suppliers import bargaining
from akinai.worlds.vending.scores import collusion_scores, forecast_scores, owner_scores, score, shock_scores
from akinai.worlds.vending.sprint import office
from akinai.worlds.vending.sprint import verbs as weekly

__all__ = ["Setup", "State", "Vending"]


class Vending(World[State]):
    """The rules of the vending world."""

    name = "vending@3"
    setup = Setup
    verbs = a.VERBS
    scorers = (score, owner_scores, collusion_scores, shock_scores, forecast_scores)
    players = PLAYERS
    facets = FACETS

    def begin(self, genesis: Genesis) -> State:
        return begin(genesis)

    def actors(self, state: State) -> Sequence[str]:
        return actors.may_act(state)

    def view(self, state: State, actor: str) -> View:
        return actors.view(state, actor)

    def apply(self, state: State, turn: Turn) -> tuple[State, Outcome]:
        if isinstance(turn.action, Unreadable):
            return carry_out(state, turn.action)
        own = actors.turn_to_actor(state, turn.actor)
        if refusal := actors.refusal(own, turn.actor, type(turn.action)):
            return state, refusal
        if turn.actor == OVERSEER:
            leaves = isinstance(turn.action, a.LeaveStreet)
            after, outcome = mail.leave_unread(own) if leaves else carry_out(own, turn.action)
            return (office.begin_week(after) if own.week else after), outcome
        after, outcome = carry_out(own, turn.action)
        if own.week is not None:
            return after if outcome.ok else state, outcome
        if not outcome.ok:
            return state, outcome
        verb = type(turn.action)
        if isinstance(turn.action, a.VisitSite):
            minutes = sites.visit_minutes(own, turn.action, outcome)
        else:
            minutes = minutes_of(own.setup, verb)
        if own.notices and turn.actor == own.owner:
            after, outcome = days.with_notices(after, outcome)
        return days.spend(after, outcome, minutes, away=issubclass(verb, a.Verb) and verb.away)

    def now(self, state: State) -> int:
        return _midnight_us(state.setup.start_date) + state.minute * 60_000_000

    def ending(self, state: State) -> str | None:
        return actors.ending(state)


def begin(genesis: Genesis, owners: int | None = None) -> State:
    """The state before anyone acts, with one owner, or with several who all begin alike: `owner_1`, `owner_2`, ...

    Without `owners` they are as many as the settings say.
    """
    economy = economy_of(genesis)
    setup = economy.setup
    owners = owners or len(setup.owners) or 1
    first, *other_owners = (OWNER,) if owners == 1 else tuple(f"{OWNER}_{number}" for number in range(1, owners + 1))
    state = State(
        setup=setup,
        economy=economy,
        minute=OPENING,
        owner=first,
        owners=(first, *other_owners),
        closed_days=0,
        cash_cents=setup.start_cents,
        missed=0,
        slots=(),
        prices={},
        storage={},
    )
    opened = {owner: trade.begin(state.moved(owner=owner)) for owner in state.owners}
    if setup.weekly:
        opened = {owner: office.begin(own) for owner, own in opened.items()}
    state = opened[first].moved(other_businesses={owner: opened[owner].business(owner) for owner in other_owners})
    return office.with_report(take_over(state, carry_out)) if setup.takes_over else state


@lru_cache(maxsize=64)
def _midnight_us(day: date) -> int:
    return int(datetime.combine(day, datetime.min.time(), UTC).timestamp()) * 1_000_000


def minutes_of(setup: Setup, verb: type[Action]) -> int:
    """How long a verb takes, in minutes; waiting, delegating and reporting take no time of their own."""
    if not setup.tool_time or not issubclass(verb, a.Verb):
        return 0
    name = verb.errand_minutes or verb.minutes if setup.street.errands else verb.minutes
    return 0 if name is None else setup.minutes_by_name.get(name, 0)


def carry_out(state: State, action: Action) -> Result:
    """Apply the rule of the action's verb."""
    verb = type(action)
    if rule := _RULES.get(verb):
        return rule(state, action)
    if rule := _RULES_OF_STATE.get(verb):
        return rule(state)
    raise TypeError(f"{verb.__name__} is no verb of the vending world")


# A table and not a `match`, which would ask for every class before the right one, at every action.
_RULES: Mapping[type[Action], Callable[[State, Any], Result]] = {
    Unreadable: lambda state, action: (state, Outcome.refused(action.code, action.why)),
    a.WaitUntil: days.wait_until,
    a.ReadEmail: mail.read_email,
    a.SendEmail: mail.send_email,
    a.SearchWeb: web.search_web,
    a.PlaceOrder: lambda state, action: (office if state.week else orders).place_order(state, action),
    a.RestockSlot: machine.restock_slot,
    a.SetPrice: machine.set_price,
    a.ClearSlot: machine.clear_slot,
    a.NotepadWrite: notes.notepad_write,
    a.UpdateNotes: notes.update_notes,
    a.GetNotes: notes.get_notes,
    a.DeleteNote: notes.delete_note,
    a.AddMemory: notes.add_memory,
    a.SearchMemory: notes.search_memory,
    a.ChatWithSubAgent: actors.chat_with_sub_agent,
    a.Report: actors.report,
    a.WriteReply: mail.write_reply,
    a.ReviewLetter: mail.review_letter,
    a.GetPriceLists: bargaining.get_price_lists,
    a.MakeOffer: bargaining.make_offer,
    a.CountDelivery: deliveries.count_delivery,
    a.Claim: deliveries.claim,
    a.FetchDepot: deliveries.fetch_depot,
    a.SellToJobber: deliveries.sell_to_jobber,
    a.VisitSite: sites.visit_site,
    a.ChangePrices: sites.change_prices,
    a.AnswerCustomer: customers.answer_customer,
    a.Pay: customers.pay,
    a.SendMoney: rivals.send_money,
    a.OfferGoods: rivals.offer_goods,
    a.AcceptGoods: rivals.accept_goods,
    a.LeaveStreet: lambda state, _: (office if state.week else days).leave(state),
    a.TakePitch: lambda state, action: (office if state.week else customers).take_pitch(state, action),
    weekly.AnswerCustomers: office.answer_customers,
    weekly.SendLetter: mail.send_email,
    weekly.ReadLetter: office.read_letter,
    weekly.WriteNotes: office.write_notes,
    weekly.SetPlan: office.set_plan,
    weekly.Forecast: office.forecast,
    weekly.Week: lambda state, action: office.decide_week(state, action, carry_out),
    a.DelegateEmail: actors.delegate,
    a.DelegateResearch: actors.delegate,
    a.DelegatePhysical: actors.delegate,
}
_RULES_OF_STATE: Mapping[type[Action], Callable[[State], Result]] = {
    a.AdvanceDay: days.advance_day,
    weekly.CloseWeek: office.close_week,
    a.CheckDeliveries: orders.check_deliveries,
    a.ListStorage: orders.list_storage,
    a.CollectCash: machine.collect_cash,
    a.GetMoneyBalance: machine.get_money_balance,
    a.ViewBusinessState: machine.view_business_state,
    a.ViewSuppliers: orders.view_suppliers,
    a.NotepadRead: notes.notepad_read,
    a.NotepadErase: notes.notepad_erase,
    a.SubAgentSpecs: actors.sub_agent_specs,
    a.ReadNews: customers.read_news,
    a.LookAtRivals: rivals.look_at_rivals,
    a.GetMachineInventory: lambda state: (sites if state.setup.street.errands else machine).get_machine_inventory(
        state
    ),
}
