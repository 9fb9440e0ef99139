"""The tables of a market's account: errors, ranks, customers, businesses, conversations, purchases."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from akinai.core.canonical import Json
from akinai.core.scores import WORDS, Table
from akinai.worlds.market.analysis.actions import MarketRecord
from akinai.worlds.market.analysis.choices import RANKS, PaidChoice, arrival_ranks, choices, result_ranks
from akinai.worlds.market.analysis.proposal_errors import (
    InvalidMenuItem,
    ProposalError,
    describe_error,
    errors,
    matches,
)
from akinai.worlds.market.analysis.scores import Buyer, buyers, gains_of, proposals, purchases
from akinai.worlds.market.analysis.welfare import Sale, sales
from akinai.worlds.market.model.state import Offer, State
from akinai.worlds.market.model.units import prices, total_cents

Row = list[Json]
Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


@dataclass(frozen=True)
class MarketReport:
    """A market at the end of its record, with the aggregates that several figures share, each computed once."""

    record: MarketRecord
    fuzzy: int = 0

    @property
    def state(self) -> State:
        return self.record.state

    @cached_property
    def buyers(self) -> Sequence[Buyer]:
        return buyers(self.state, self.fuzzy)

    @cached_property
    def sellers(self) -> Sequence[str]:
        return sorted(member.id for member in self.state.members.values() if member.role == "business")

    @cached_property
    def proposals(self) -> Sequence[Offer]:
        return proposals(self.state)

    @cached_property
    def sales(self) -> Sequence[Sale]:
        return sales(self.state, purchases(self.state), self.fuzzy)

    @cached_property
    def errors(self) -> Sequence[tuple[Offer, ProposalError]]:
        """All errors of delivered proposals, to the letter: `fuzzy` excuses none."""
        return [(offer, error) for offer in self.proposals for error in errors(offer, self.state.members)]

    @cached_property
    def choices(self) -> Sequence[PaidChoice]:
        """The choice behind each sale, in the order of `sales`."""
        return choices(self.record, [sale.offer for sale in self.sales], self.proposals)

    @cached_property
    def sent(self) -> Mapping[tuple[str, str], int]:
        """Messages that were delivered, by sender and recipient."""
        return {(sender, to): len(box) for (to, sender), box in self.state.boxes.items() if sender}

    @cached_property
    def written(self) -> Mapping[str, int]:
        """Messages that were delivered, by sender."""
        counts = Counter[str]()
        for (sender, _), n in self.sent.items():
            counts[sender] += n
        return counts


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by a key, in their order."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def market_tables(market: MarketReport) -> Sequence[Table]:
    """The tables of a market as a whole."""
    return [
        Table("proposal_errors", ERRORS, _errors(market)),
        Table("arrival_ranks", RANKS, arrival_ranks(market.choices), keys=1),
        Table("result_ranks", RANKS, result_ranks(market.choices), keys=1),
        Table("over_time", OVER_TIME, _over_time(market), keys=1),
        Table("payments_by_business", SOLD, _sold(market), keys=1),
    ]


def agent_tables(market: MarketReport) -> Sequence[Table]:
    return [
        Table("customers", CUSTOMERS, _customers(market), 1, "agent"),
        Table("businesses", BUSINESSES, _businesses(market), 1, "agent"),
    ]


def conversation_tables(market: MarketReport) -> Sequence[Table]:
    return [
        Table("conversations", CONVERSATIONS, _conversations(market), 2, "conversation"),
        Table("purchases", PURCHASES, _purchases(market), 0, "conversation"),
    ]


ERRORS = {
    "error": WORDS,
    "entry": "entries",
    "business": WORDS,
    "customer": WORDS,
    "proposal": WORDS,
    "said": WORDS,
    "right": WORDS,
    "distance": "edits",
    "counted_as": WORDS,
    "paid_in": "entries",
}
"""`said` is the wording of the proposal, `right` the correct one; `counted_as` is the menu's item that it counts as
within the fuzzy distance; `paid_in` is the entry of its payment."""


def _errors(market: MarketReport) -> list[Row]:
    rows: list[Row] = []
    for offer, error in market.errors:
        wording = describe_error(error)
        stands_for = _menu_matches(market, offer).get(error.item) if isinstance(error, InvalidMenuItem) else None
        parties: Row = [offer.index, offer.business, offer.customer, offer.proposal.id]
        rows.append(
            [
                type(error).__name__,
                *parties,
                wording.written,
                wording.right,
                wording.edits,
                stands_for,
                offer.paid or None,
            ]
        )
    return rows


def _menu_matches(market: MarketReport, offer: Offer) -> Mapping[str, str]:
    return matches(offer.proposal, prices(market.state.members[offer.business].data).keys(), market.fuzzy)


SOLD = {"business": WORDS, "payments": "payments", "revenue": "cents"}


def _sold(market: MarketReport) -> list[Row]:
    """A row for every business, including those that sold nothing."""
    sold = group_by(market.sales, lambda sale: sale.offer.business)
    sellers = sorted({*market.sellers, *sold})
    return [[id, len(sold.get(id, [])), sum(sale.paid_cents for sale in sold.get(id, []))] for id in sellers]


BUSINESSES = {
    "business": WORDS,
    "payments": "payments",
    "revenue": "cents",
    "cost": "cents",
    "fees": "cents",
    "profit": "cents",
    "proposals": "proposals",
    "invalid_proposals": "proposals",
    "messages": "messages",
    "refused": "actions",
}


def _businesses(market: MarketReport) -> list[Row]:
    sold, offered = (
        group_by(market.sales, lambda sale: sale.offer.business),
        group_by(market.proposals, lambda offer: offer.business),
    )
    invalid = {offer.index for offer, _ in market.errors}
    rows: list[Row] = []
    for id in sorted({*market.sellers, *sold, *offered}):
        own_sales, offers = sold.get(id, []), offered.get(id, [])
        costs_known = all(sale.cost_cents is not None for sale in own_sales)
        rows.append(
            [
                id,
                len(own_sales),
                sum(sale.paid_cents for sale in own_sales),
                sum(sale.cost_cents or 0 for sale in own_sales) if costs_known else None,
                sum(sale.fee_cents for sale in own_sales),
                sum(sale.profit_cents or 0 for sale in own_sales) if costs_known else None,
                len(offers),
                sum(offer.index in invalid for offer in offers),
                market.written[id],
                market.record.counts[id, ""],
            ]
        )
    return rows


CUSTOMERS = {
    "customer": WORDS,
    "utility": "cents",
    "needs_met": "customers",
    "paid": "cents",
    "payments": "payments",
    "proposals": "proposals",
    "messages": "messages",
    "searches": "searches",
    "fetches": "fetches",
    "refused": "actions",
}


def _customers(market: MarketReport) -> list[Row]:
    proposal_counts = Counter(offer.customer for offer in market.proposals)
    return [
        [
            buyer.id,
            buyer.utility_cents,
            int(buyer.needs_met),
            buyer.paid_cents,
            len(buyer.purchases),
            proposal_counts[buyer.id],
            market.written[buyer.id],
            *(market.record.counts[buyer.id, verb] for verb in ("Search", "FetchMessages", "")),
        ]
        for buyer in market.buyers
    ]


CONVERSATIONS = {
    "customer": WORDS,
    "business": WORDS,
    "from_customer": "messages",
    "from_business": "messages",
    "proposals": "proposals",
    "errors": "errors",
    "payments": "payments",
    "paid": "cents",
    "first_rank": "place",
}
"""`first_rank` is the rank by arrival of a business's first proposal to the customer among those of all businesses."""


def _conversations(market: MarketReport) -> list[Row]:
    offered = group_by(market.proposals, lambda offer: (offer.customer, offer.business))
    error_counts = Counter((offer.customer, offer.business) for offer, _ in market.errors)
    ranks_by_customer: dict[str, dict[str, int]] = {}
    for offer in market.proposals:
        ranks = ranks_by_customer.setdefault(offer.customer, {})
        ranks.setdefault(offer.business, len(ranks) + 1)
    rows: list[Row] = []
    for pair in _pairs(market):
        customer, business = pair
        offers = offered.get(pair, [])
        paid = [offer for offer in offers if offer.paid]
        messages = [market.sent.get(direction, 0) for direction in ((customer, business), (business, customer))]
        cents = sum(total_cents(offer.proposal) for offer in paid)
        rank = ranks_by_customer.get(customer, {}).get(business)
        rows.append([*pair, *messages, len(offers), error_counts[pair], len(paid), cents, rank])
    return rows


def _pairs(market: MarketReport) -> list[tuple[str, str]]:
    """The pairs of agents that wrote to each other, each once, the customer first."""
    members = market.state.members
    pairs = {(to, sender) if members[sender].role == "business" else (sender, to) for sender, to in market.sent}
    return sorted((a, b) for a, b in pairs if members[b].role == "business" or (b, a) not in pairs)


PURCHASES = {
    "entry": "entries",
    "customer": WORDS,
    "business": WORDS,
    "proposal": WORDS,
    "paid": "cents",
    "cost": "cents",
    "place": "place",
    "of": "proposals",
    "result": "place",
}
"""`place` is the rank by arrival of the paid proposal among the `of` that the customer had; `result` is the rank of its
seller in the search results, among those who proposed."""


def _purchases(market: MarketReport) -> list[Row]:
    return [
        [
            sale.offer.paid,
            sale.offer.customer,
            sale.offer.business,
            sale.offer.proposal.id,
            sale.paid_cents,
            sale.cost_cents,
            choice.arrival_rank,
            choice.options,
            choice.result_rank,
        ]
        for sale, choice in zip(market.sales, market.choices, strict=True)
    ]


OVER_TIME = {
    "tenth": "place",
    "purchases": "payments",
    "proposals": "proposals",
    "welfare": "cents",
    "revenue": "cents",
    "mean_offered": "cents",
    "mean_paid": "cents",
}
"""`welfare` is the gain by the payments of a tenth; the mean totals of the proposals made and paid in it are absent
where there were none."""
TENTHS = 10


def _over_time(market: MarketReport) -> list[Row]:
    """The run in ten parts of equal time between its first and its last entry; empty where these have the same time."""
    start, length = market.record.began, market.record.ended - market.record.began
    if not length:
        return []

    def tenth(at: int) -> int:
        return min((at - start) * TENTHS // length, TENTHS - 1)

    state = market.state
    offered = group_by(market.proposals, lambda offer: tenth(state.proposed_at(offer)))
    paid = group_by((sale.offer for sale in market.sales), lambda offer: tenth(state.paid_at(offer)))
    welfare = Counter[int]()
    for buyer in market.buyers:
        for offer, gain in gains_of(state, buyer, market.fuzzy):
            welfare[tenth(state.paid_at(offer))] += gain
    rows: list[Row] = []
    for index in range(TENTHS):
        proposed, bought = offered.get(index, []), paid.get(index, [])
        revenue = sum(total_cents(offer.proposal) for offer in bought)
        means = _mean_total(proposed), _mean_total(bought)
        rows.append([index + 1, len(bought), len(proposed), welfare[index], revenue, *means])
    return rows


def _mean_total(offers: Sequence[Offer]) -> int | None:
    return round(sum(total_cents(offer.proposal) for offer in offers) / len(offers)) if offers else None
