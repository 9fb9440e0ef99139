"""A market at its end, as its lessons and findings read it: wants, requests, offers and payments. Pure."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from akinai.core.ledger import Entry
from akinai.core.money import half_even_cents
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.actions import MarketRecord
from akinai.worlds.market.analysis.proposal_errors import menu_items
from akinai.worlds.market.analysis.scores import proposals
from akinai.worlds.market.analysis.welfare import amenities, needed_amenities
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.state import Offer, State
from akinai.worlds.market.model.units import prices, total_cents


@dataclass(frozen=True, slots=True)
class ValuedDeal:
    """A proposal with its value to its customer."""

    offer: Offer
    complete: bool
    """It holds all items that the customer wants, all of them on the menu."""
    suits: bool
    """The business has all amenities that the customer needs."""
    cents: int
    """The total price."""
    willing_cents: int
    """The customer's willingness to pay for the items that it wants."""
    at: int
    """When it came, microseconds since the epoch."""

    @property
    def fits(self) -> bool:
        return self.complete and self.suits

    @property
    def utility_cents(self) -> int:
        """The customer's utility if it pays this proposal alone."""
        return (2 * self.willing_cents if self.fits else 0) - self.cents


@dataclass(frozen=True)
class MarketOutcome:
    """A market at its end."""

    steps: Steps[State]
    record: MarketRecord

    @staticmethod
    def of(steps: Steps[State]) -> "MarketOutcome":
        """The outcome of a ledger's steps."""
        return MarketOutcome(steps, steps.derive(MarketRecord.of))

    @property
    def state(self) -> State:
        return self.record.state

    def label(self, id: str) -> str:
        """The id of a member with its name, for people."""
        name = self.state.members[id].name
        return f"{id} ({name})" if name and name != id else id

    @cached_property
    def menus(self) -> Mapping[str, Mapping[str, Decimal]]:
        """The menu of each business: prices in dollars by item."""
        return {member.id: prices(member.data) for member in self.state.members.values() if member.role == "business"}

    @cached_property
    def wants(self) -> Mapping[str, Mapping[str, Decimal]]:
        """The items that each customer wants, with its willingness to pay in dollars."""
        return {member.id: prices(member.data) for member in self.state.members.values() if member.role == "customer"}

    @cached_property
    def deals(self) -> Sequence[ValuedDeal]:
        """All proposals of businesses to customers, in the order of arrival."""
        return [
            self._deal(offer)
            for offer in proposals(self.state)
            if offer.business in self.menus and offer.customer in self.wants
        ]

    def _deal(self, offer: Offer) -> ValuedDeal:
        members, wants = self.state.members, self.wants[offer.customer]
        return ValuedDeal(
            offer,
            not self.missing(offer),
            needed_amenities(members[offer.customer]) <= amenities(members[offer.business]),
            total_cents(offer.proposal),
            half_even_cents(sum(wants.values(), Decimal(0))),
            self.state.proposed_at(offer),
        )

    def missing(self, offer: Offer) -> Set[str]:
        """The items that a customer wants and that the proposal or the menu lacks."""
        items = menu_items(offer.proposal, self.menus[offer.business].keys())
        return self.wants[offer.customer].keys() - items

    @cached_property
    def deals_by_customer(self) -> Mapping[str, Sequence[ValuedDeal]]:
        """The deals that each customer was offered, in the order of arrival."""
        by_customer: dict[str, list[ValuedDeal]] = {}
        for deal in self.deals:
            by_customer.setdefault(deal.offer.customer, []).append(deal)
        return by_customer

    @cached_property
    def paid(self) -> Sequence[ValuedDeal]:
        return sorted((deal for deal in self.deals if deal.offer.paid), key=lambda deal: deal.offer.paid)

    @cached_property
    def requests(self) -> Mapping[tuple[str, str], Entry]:
        """The first text of a customer to a business, by customer and business."""
        requests: dict[tuple[str, str], Entry] = {}
        for entry in (step.entry for step in self.steps):
            if entry.name != "SendMessage" or not entry.outcome.ok or entry.actor not in self.wants:
                continue
            sent = a.SendMessage.model_validate(entry.parameters)
            if isinstance(sent.message, a.Text) and sent.to_agent_id in self.menus:
                requests.setdefault((entry.actor, sent.to_agent_id), entry)
        return requests

    def has_items(self, customer: str, business: str) -> bool:
        return self.menus[business].keys() >= self.wants[customer].keys()

    @cached_property
    def _holders(self) -> Mapping[str, Sequence[str]]:
        """The businesses that have an item."""
        holders: dict[str, list[str]] = {}
        for business, menu in self.menus.items():
            for item in menu:
                holders.setdefault(item, []).append(business)
        return holders

    def cheapest(self, customer: str) -> str | None:
        """The business that fits and is cheapest at menu prices; None where none fits."""
        wants, members = self.wants[customer], self.state.members
        rarest = min((self._holders.get(item, ()) for item in wants), key=len, default=())
        fitting = [
            business
            for business in rarest
            if self.has_items(customer, business)
            and needed_amenities(members[customer]) <= amenities(members[business])
        ]
        return min(fitting, key=lambda id: (sum(self.menus[id][item] for item in wants), id), default=None)
