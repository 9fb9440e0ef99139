"""The vending world, after Vending-Bench (arXiv 2502.15840): one owner, one machine, suppliers by mail, for months."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache

from akinai.core.actions import Action
from akinai.core.agents import View
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.worlds import World
from akinai.worlds.vending.facets import FACETS
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import economy_of
from akinai.worlds.vending.model.setup import Setup
from akinai.worlds.vending.model.state import OPENING, OWNER, State
from akinai.worlds.vending.players.strategies import PLAYERS
from akinai.worlds.vending.rules import (
    actors,
    bargaining,
    customers,
    days,
    deliveries,
    machine,
    mail,
    notes,
    orders,
    sites,
    trade,
    web,
)
from akinai.worlds.vending.scores import score

__all__ = ["Setup", "State", "Vending"]


class Vending(World[State]):
    """The rules of the vending world."""

    name = "vending@2"
    setup = Setup
    verbs = a.VERBS
    scorers = (score,)
    players = PLAYERS
    facets = FACETS

    def begin(self, genesis: Genesis) -> State:
        economy = economy_of(genesis)
        setup = economy.setup
        state = State(
            setup=setup,
            economy=economy,
            minute=OPENING,
            closed_days=0,
            cash_cents=setup.start_cents,
            machine_cents=0,
            missed=0,
            slots=(None,) * setup.slots,
            prices={},
            storage={},
        )
        return trade.begin(state.moved(slots=())) if setup.street else state

    def actors(self, state: State) -> Sequence[str]:
        if state.ending:
            return ()
        if state.unwritten:
            return (state.unwritten[0].actor,)
        return (state.sub_agent.actor,) if state.sub_agent and state.sub_agent.open else (OWNER,)

    def view(self, state: State, actor: str) -> View:
        return actors.view(state, actor)

    def apply(self, state: State, turn: Turn) -> tuple[State, Outcome]:
        if refusal := actors.refusal(state, turn.actor, type(turn.action)):
            return state, refusal
        after, outcome = carry_out(state, turn.action)
        if not outcome.ok:
            return state, outcome
        verb = type(turn.action)
        if isinstance(turn.action, a.VisitSite):
            minutes = sites.visit_minutes(state, turn.action, outcome)
        else:
            minutes = minutes_of(state.setup, verb)
        return days.spend(after, outcome, minutes, away=issubclass(verb, a.Verb) and verb.away)

    def now(self, state: State) -> int:
        return _midnight_us(state.setup.start_date) + state.minute * 60_000_000

    def ending(self, state: State) -> str | None:
        return state.ending


@lru_cache(maxsize=64)
def _midnight_us(day: date) -> int:
    return int(datetime.combine(day, datetime.min.time(), UTC).timestamp()) * 1_000_000


def minutes_of(setup: Setup, verb: type[Action]) -> int:
    """How long a verb takes, in minutes; waiting, delegating and reporting take no time of their own."""
    if not setup.tool_time or not issubclass(verb, a.Verb):
        return 0
    if setup.street:
        name = verb.street_minutes or verb.minutes
        return 0 if name is None else getattr(setup.street.errands, name, 0) or getattr(setup.minutes, name, 0)
    return 0 if verb.minutes is None else getattr(setup.minutes, verb.minutes)


def carry_out(state: State, action: Action) -> tuple[State, Outcome]:  # noqa: C901 - one arm a verb
    """Apply the rule of the action's verb."""
    # fmt: off
    match action:
        case a.AdvanceDay(): return days.advance_day(state)
        case a.WaitUntil(): return days.wait_until(state, action)
        case a.ReadEmail(): return mail.read_email(state, action)
        case a.SendEmail(): return mail.send_email(state, action)
        case a.SearchWeb(): return web.search_web(state, action)
        case a.PlaceOrder(): return orders.place_order(state, action)
        case a.CheckDeliveries(): return orders.check_deliveries(state)
        case a.ListStorage(): return orders.list_storage(state)
        case a.RestockSlot(): return machine.restock_slot(state, action)
        case a.SetPrice(): return machine.set_price(state, action)
        case a.CollectCash(): return machine.collect_cash(state)
        case a.ClearSlot(): return machine.clear_slot(state, action)
        case a.GetMachineInventory() if state.sites: return state, sites.inventory(state)
        case a.GetMachineInventory(): return machine.get_machine_inventory(state)
        case a.GetMoneyBalance(): return machine.get_money_balance(state)
        case a.ViewBusinessState(): return machine.view_business_state(state)
        case a.ViewSuppliers(): return orders.view_suppliers(state)
        case a.NotepadRead(): return notes.notepad_read(state)
        case a.NotepadWrite(): return notes.notepad_write(state, action)
        case a.NotepadErase(): return notes.notepad_erase(state)
        case a.UpdateNotes(): return notes.update_notes(state, action)
        case a.GetNotes(): return notes.get_notes(state, action)
        case a.DeleteNote(): return notes.delete_note(state, action)
        case a.AddMemory(): return notes.add_memory(state, action)
        case a.SearchMemory(): return notes.search_memory(state, action)
        case a.Delegation(): return actors.delegate(state, action)
        case a.ChatWithSubAgent(): return actors.chat_with_sub_agent(state, action)
        case a.SubAgentSpecs(): return actors.sub_agent_specs(state)
        case a.Report(): return actors.report(state, action)
        case a.WriteReply(): return mail.write_reply(state, action)
        case a.GetPriceLists(): return bargaining.get_price_lists(state, action)
        case a.MakeOffer(): return bargaining.make_offer(state, action)
        case a.CountDelivery(): return deliveries.count_delivery(state, action)
        case a.Claim(): return deliveries.claim(state, action)
        case a.FetchDepot(): return deliveries.fetch_depot(state, action)
        case a.SellToJobber(): return deliveries.sell_to_jobber(state, action)
        case a.VisitSite(): return sites.visit_site(state, action)
        case a.ChangePrices(): return sites.change_prices(state, action)
        case a.ReadNews(): return customers.read_news(state)
        case a.AnswerCustomer(): return customers.answer_customer(state, action)
        case a.Pay(): return customers.pay(state, action)
        case a.TakePitch(): return customers.take_pitch(state, action)
        case _: raise TypeError(f"{type(action).__name__} is no verb of the vending world")
    # fmt: on
