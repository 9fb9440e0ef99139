"""The decisions of a vending run in words, and the redrawing of the noise of later days."""

from collections.abc import Mapping, Sequence

from akinai.core.actions import Action, Unreadable
from akinai.core.facets import Explaining
from akinai.core.findings import Finding
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.core.scores import Score
from akinai.core.steps import Step
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.model.terms import Counterfactual
from akinai.worlds.vending.model.verb import Sending
from akinai.worlds.vending.rules.actors import turn_to_actor
from akinai.worlds.vending.rules.suppliers.bargaining import get_price_lists
from akinai.worlds.vending.scores import headline_cents
from akinai.worlds.vending.sprint.verbs import AnswerCustomers, CloseWeek, Week
from akinai.worlds.vending.transcript.entries import summary_of, supplier_name

LOOKS = (
    a.Look, a.SearchWeb, a.GetPriceLists, a.ReadNews, a.LookAtRivals, a.CountDelivery, a.AdvanceDay, a.WaitUntil,
    a.SubAgentSpecs, a.Report, a.WriteReply, Unreadable,
)  # fmt: skip
"""Verbs that decide nothing: looks, notes and waiting."""
MOST_NAMED = 3
"""The most products that the words for an order name."""


class VendingExplaining(Explaining[State]):
    """Orders, prices, visits, letters and payments decide; the noise of demand, deliveries and weather is redrawn."""

    def decides(self, action: Action) -> bool:
        return not isinstance(action, LOOKS)

    def waits(self, action: Action) -> bool:
        return isinstance(action, a.AdvanceDay | a.WaitUntil | CloseWeek)

    def gain(self, state: State, actor: str) -> Score | None:
        if not state.other_businesses or actor not in state.owners:
            return None
        return Score("bank_balance", headline_cents(state.turned_to(actor)), "cents", (), better="higher")

    def words(self, step: Step[State]) -> str:
        state, after = (turn_to_actor(side, step.turn.actor) for side in (step.before, step.after))
        step, action = Step(state, step.entry, step.turn, step.outcome, after), step.turn.action
        match action:
            case a.PlaceOrder():
                return f"ordered {_units(state, action.items)} from {supplier_name(state, action.supplier_id)}"
            case a.SellToJobber():
                return f"sold {_units(state, action.items)} to the jobber"
            case a.AnswerCustomer():
                return f"answered complaint {action.complaint}: {action.answer}"
            case a.SendEmail():
                return f"{_lower_first(summary_of(step))}, {action.subject!r:.60}"
            case a.TakePitch():
                spent = state.cash_cents - after.cash_cents
                return f"took the pitch {action.place} for {format_cents(spent)}"
            case _:
                return _lower_first(summary_of(step))

    def unmade(self, state: State, action: Action) -> Outcome:
        # A refused offer would end the talk for the player; one that moved nothing leaves it open.
        if isinstance(action, a.MakeOffer):
            _, listed = get_price_lists(state, a.GetPriceLists(suppliers=(action.supplier_id,)))
            if listed.ok:
                return Outcome("", data={**listed.fields["suppliers"][0], "moved": False})
        return super().unmade(state, action)

    def honest(self, step: Step[State], finding: Finding) -> Sequence[Action] | None:
        """A refund or a rent is paid; letters, offers and claims are not made."""
        action, state = step.turn.action, turn_to_actor(step.before, step.turn.actor)
        match finding.type, action:
            case "ignored_invoice", _:
                if step.entry.seq != finding.entries[0]:
                    return None
                sites = enumerate(state.sites, 1)
                due = [number for number, site in sites if site.due_day <= state.day and not site.lost]
                return (*(a.Pay(bill="rent", number=number) for number in due), action)
            case "refund_unpaid", a.AnswerCustomer(answer="promise"):
                return (action.model_copy(update={"answer": "pay"}),)
            case "refund_unpaid", AnswerCustomers(pay=paid, promise=promised):
                return (action.model_copy(update={"pay": (*paid, *promised), "promise": ()}),)
            case _, Week():
                return (action.model_copy(update={"offers": (), "claims": ()}),)
            case _, Sending() | a.MakeOffer() | a.Claim() | a.SendMoney():
                return ()
            case _:
                return None

    def redraw(self, state: State, salt: int) -> State:
        old = state.economy
        setup = old.setup.model_copy(update={"counterfactual": Counterfactual(after=state.day - 1, salt=salt)})
        return state.moved(economy=old.redrawn(setup))


def _units(state: State, items: Mapping[str, int]) -> str:
    """ "24 units of Cola, 12 of Milk and 3 more products", the largest lines first."""
    products = [(state.setup.catalog.find(name), name, units) for name, units in items.items()]
    lines = sorted(((units, product.name if product else name) for product, name, units in products), reverse=True)
    if not lines:
        return "nothing"
    (first, name), *further = lines[:MOST_NAMED]
    text = ", ".join([f"{first} units of {name}", *(f"{units} of {other}" for units, other in further)])
    left = len(lines) - MOST_NAMED
    return f"{text} and {left} more product{'' if left == 1 else 's'}" if left > 0 else text


def _lower_first(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
