"""The scores of a market: needs met, money paid, and errors of proposals. One definition for all reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from akinai.core.canonical import Json
from akinai.core.money import half_even_cents
from akinai.core.scores import Score
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.actions import MarketRecord
from akinai.worlds.market.analysis.proposal_errors import errors, menu_items
from akinai.worlds.market.analysis.welfare import amenities, needed_amenities
from akinai.worlds.market.model.state import Member, Offer, State
from akinai.worlds.market.model.units import prices, total_cents


@dataclass(frozen=True, slots=True)
class Buyer:
    """A customer at the end of a market."""

    id: str
    needs_met: bool
    """A proposal that it paid holds all items that it wants, all on the menu of a business with all amenities."""
    worth_cents: int
    """Twice the sum of its willingness to pay if its needs are met, else 0."""
    paid_cents: int
    purchases: Sequence[Offer]

    @property
    def utility_cents(self) -> int:
        return self.worth_cents - self.paid_cents


def purchases(state: State) -> Sequence[Offer]:
    """The proposals that were paid, in the order of payment."""
    return sorted((offer for offer in state.offers.values() if offer.paid), key=lambda offer: offer.paid)


def proposals(state: State) -> Sequence[Offer]:
    """All delivered proposals, in the order of delivery."""
    return sorted(state.offers.values(), key=lambda offer: offer.index)


def buyers(state: State, fuzzy: int = 0) -> Sequence[Buyer]:
    """Every customer, by id, including those who bought nothing.

    An item of a proposal within `fuzzy` edits of one of the menu, in lower case, counts as that item.
    """
    bought: dict[str, list[Offer]] = {}
    for offer in purchases(state):
        bought.setdefault(offer.customer, []).append(offer)
    customers = sorted(
        (member for member in state.members.values() if member.role == "customer"), key=lambda member: member.id
    )
    return [_buyer(state, customer, bought.get(customer.id, []), fuzzy) for customer in customers]


def _buyer(state: State, customer: Member, bought: Sequence[Offer], fuzzy: int) -> Buyer:
    met = any(_meets(customer, state.members[offer.business], offer, fuzzy) for offer in bought)
    worth = half_even_cents(2 * sum(prices(customer.data).values(), Decimal(0))) if met else 0
    return Buyer(customer.id, met, worth, sum(total_cents(offer.proposal) for offer in bought), bought)


def gains_of(state: State, buyer: Buyer, fuzzy: int = 0) -> Sequence[tuple[Offer, int]]:
    """The gain in utility by each purchase, in cents: the first that meets the customer's needs adds their worth."""
    customer, worth, gains = state.members[buyer.id], buyer.worth_cents, list[tuple[Offer, int]]()
    for offer in buyer.purchases:
        met = worth if worth and _meets(customer, state.members[offer.business], offer, fuzzy) else 0
        worth -= met
        gains.append((offer, met - total_cents(offer.proposal)))
    return gains


def _meets(customer: Member, business: Member, offer: Offer, fuzzy: int) -> bool:
    items = menu_items(offer.proposal, prices(business.data).keys(), fuzzy)
    return prices(customer.data).keys() <= items and needed_amenities(customer) <= amenities(business)


def welfare_cents(state: State) -> int:
    """The sum of all customers' utilities."""
    return sum(buyer.utility_cents for buyer in buyers(state))


def part_cents(state: State, member: Member) -> int:
    """The utility of a customer, or what a business was paid."""
    if member.role == "business":
        return sum(total_cents(offer.proposal) for offer in purchases(state) if offer.business == member.id)
    return _buyer(state, member, [offer for offer in purchases(state) if offer.customer == member.id], 0).utility_cents


def is_seated(state: State, business: str) -> bool:
    """Whether the run's agent may play a business, by `agent_share`."""
    share = state.setup.agent_share
    return share >= 1 or state.chance("seated", business).below(1_000) < 1_000 * share


def facts(state: State) -> Mapping[str, Json]:
    """The truth about a state in a few numbers."""
    return {
        "registered": len(state.joined),
        "businesses": len(state.catalogue.listings),
        "customers_left": state.customers_left,
        "messages": state.delivered,
        "proposals": len(state.offers),
        "purchases": state.payments,
        "paid_cents": state.booked_cents,
        "welfare_cents": welfare_cents(state),
    }


def score(steps: Steps[State]) -> Sequence[Score]:
    """The scores of a run; programs rely on their names.

    `welfare` is the sum of all customers' utilities, `customer_utility` their mean over all customers, including those
    who bought nothing, to the nearest cent. `invalid_proposals` counts delivered proposals with any error. Refused
    messages do not count.
    """
    return scores_of(steps.derive(MarketRecord.of).state)


def scores_of(state: State, fuzzy: int = 0) -> Sequence[Score]:
    """The scores of a state."""
    customers = buyers(state, fuzzy)
    welfare = sum(buyer.utility_cents for buyer in customers)
    mean = half_even_cents(Decimal(welfare) / 100 / len(customers)) if customers else 0
    offers = proposals(state)
    invalid = tuple(offer.index for offer in offers if errors(offer, state.members))
    paid = tuple(offer.paid for offer in purchases(state))
    return [
        Score("welfare", welfare, "cents", paid, better="higher"),
        Score("customer_utility", mean, "cents", paid, better="higher"),
        Score("business_revenue", state.booked_cents, "cents", paid),
        Score("purchases", state.payments, "payments", paid),
        Score("proposals", len(offers), "proposals", tuple(offer.index for offer in offers)),
        Score("invalid_proposals", len(invalid), "proposals", invalid, better="lower"),
    ]
