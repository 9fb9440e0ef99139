"""The decisions of a market's actions, in words, and the result of a run for one participant."""

from akinai.core.actions import Action
from akinai.core.facets import Explaining
from akinai.core.money import format_cents
from akinai.core.scores import Score
from akinai.core.steps import Step
from akinai.worlds.market.analysis.scores import buyers, purchases
from akinai.worlds.market.analysis.welfare import sales
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import State
from akinai.worlds.market.model.units import total_cents
from akinai.worlds.market.transcript.entries import named

LONGEST_TEXT = 60
"""Characters of a text that are quoted."""


class MarketExplaining(Explaining[State]):
    """Messages and leaving decide; searching, reading and waiting do not. No chance is redrawn."""

    def decides(self, action: Action) -> bool:
        return isinstance(action, a.SendMessage | a.Leave)

    def waits(self, action: Action) -> bool:
        return isinstance(action, a.Wait)

    def words(self, step: Step[State]) -> str:
        state, action = step.before, step.turn.action
        name = named(state, step.turn.actor)
        match action:
            case a.SendMessage():
                return f"{name} {_sent(state, action)}"
            case a.Leave():
                return f"{name} left"
            case a.Wait():
                return f"{name} waited for mail"
            case _:
                return f"{name}: {super().words(step)}"

    def gain(self, state: State, actor: str) -> Score | None:
        """A customer's utility; a business's profit, or its revenue where its costs are not known."""
        member = state.members.get(actor)
        if member is None or not member.role:
            return None
        if member.role == "customer":
            buyer = next(buyer for buyer in buyers(state) if buyer.id == actor)
            paid = tuple(offer.paid for offer in buyer.purchases)
            return Score("utility", buyer.utility_cents, "cents", paid, better="higher")
        own_sales = sales(state, [offer for offer in purchases(state) if offer.business == actor])
        paid = tuple(sale.offer.paid for sale in own_sales)
        profits = [sale.profit_cents for sale in own_sales if sale.profit_cents is not None]
        if len(profits) < len(own_sales):
            revenue = sum(sale.paid_cents - sale.fee_cents for sale in own_sales)
            return Score("revenue", revenue, "cents", paid, "higher")
        return Score("profit", sum(profits), "cents", paid, better="higher")


def _sent(state: State, action: a.SendMessage) -> str:
    to, message = named(state, action.to_agent_id), action.message
    match message:
        case a.Text():
            return f"wrote to {to}: {' '.join(message.content.split())!r:.{LONGEST_TEXT}}"
        case a.OrderProposal():
            return f"proposed to {to} {_items(message)} for {format_cents(total_cents(message))}"
        case a.Payment():
            offer = state.offers.get((action.to_agent_id, message.proposal_message_id))
            amount = format_cents(total_cents(offer.proposal)) if offer else f"{message.proposal_message_id!r:.60}"
            return f"paid {to} {amount}"


def _items(proposal: a.OrderProposal) -> str:
    """ "Tea, 2 x Cake and 3 more"."""
    lines = [item.item_name if item.quantity == 1 else f"{item.quantity} x {item.item_name}" for item in proposal.items]
    more = f" and {len(lines) - 2} more" if len(lines) > 2 else ""
    return f"{', '.join(lines[:2])}{more}"
