"""The account of a market: its figures, and who did what to whom, from a run's record alone."""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

from akinai.core.accounts import WORDS, Account, Table
from akinai.core.canonical import Json, canonical
from akinai.core.ledger import Entry, Ledger
from akinai.core.money import half_even_cents
from akinai.core.scores import Score
from akinai.worlds.market.amounts import prices, total_cents
from akinai.worlds.market.best_possible import ways
from akinai.worlds.market.choices import RANKS, Choice, arrival_ranks, choices, figures, result_ranks
from akinai.worlds.market.proposal_errors import KINDS, InvalidMenuItem, ProposalError, errors, matches, told
from akinai.worlds.market.scores import Buyer, buyers, proposals, purchases, scores_of
from akinai.worlds.market.state import Offer, State
from akinai.worlds.market.surplus import Sale, gini, sales

Row = list[Json]
Key = TypeVar("Key", bound=Hashable)
One = TypeVar("One")


@dataclass(frozen=True)
class Seen:
    """A market at the end of its record, and what several figures are made of, each found once."""

    state: State
    entries: Sequence[Entry]
    fuzzy: int = 0

    @cached_property
    def buyers(self) -> Sequence[Buyer]:
        return buyers(self.state, self.fuzzy)

    @cached_property
    def sellers(self) -> Sequence[str]:
        return sorted(one.id for one in self.state.members.values() if one.role == "business")

    @cached_property
    def proposals(self) -> Sequence[Offer]:
        return proposals(self.state)

    @cached_property
    def sales(self) -> Sequence[Sale]:
        return sales(self.state, purchases(self.state), self.fuzzy)

    @cached_property
    def errors(self) -> Sequence[tuple[Offer, ProposalError]]:
        """All errors of delivered proposals, whatever counts as the menu's."""
        return [(offer, error) for offer in self.proposals for error in errors(offer, self.state.members)]

    @cached_property
    def chosen(self) -> Sequence[Choice]:
        """The choice behind every sale, in their order."""
        return choices(self.state, [sale.offer for sale in self.sales], self.proposals, self.entries)

    @cached_property
    def sent(self) -> Mapping[tuple[str, str], int]:
        """Messages that were delivered, by sender and recipient."""
        return {(sender, to): box.count for (to, sender), box in self.state.boxes.items() if sender}

    @cached_property
    def written(self) -> Mapping[str, int]:
        """Messages that were delivered, by sender."""
        counts = Counter[str]()
        for (sender, _), n in self.sent.items():
            counts[sender] += n
        return counts

    @cached_property
    def deeds(self) -> Mapping[tuple[str, str], int]:
        """Actions that were not refused, by actor and verb; refused ones of an actor under ""."""
        return Counter((entry.actor, entry.name if entry.outcome.ok else "") for entry in self.entries)


def account(state: State, ledger: Ledger, fuzzy: int = 0) -> Account:
    """The account of a run that came to a state. docs/market-analysis.md says what each figure means."""
    seen = Seen(state, ledger.entries, fuzzy)
    tables = [
        Table("proposal_errors", ERRORS, _errors(seen)),
        Table("arrival_ranks", RANKS, arrival_ranks(seen.chosen), keys=1),
        Table("result_ranks", RANKS, result_ranks(seen.chosen), keys=1),
        Table("payments_by_business", SOLD, _sold(seen), keys=1),
        Table("customers", CUSTOMERS, _customers(seen), 1, "agent"),
        Table("businesses", BUSINESSES, _businesses(seen), 1, "agent"),
        Table("conversations", CONVERSATIONS, _conversations(seen), 2, "conversation"),
        Table("purchases", PURCHASES, _purchases(seen), 0, "conversation"),
    ]
    return Account(_figures(seen), tables, _cast(state))


def _cast(state: State) -> str:
    everybody = [state.members[id].own for id in sorted(state.members)]
    return hashlib.sha256(canonical(everybody).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _by(all_of_them: Iterable[One], key: Callable[[One], Key]) -> dict[Key, list[One]]:
    found: dict[Key, list[One]] = {}
    for one in all_of_them:
        found.setdefault(key(one), []).append(one)
    return found


def _figures(seen: Seen) -> list[Score]:
    state, bought = seen.state, sum(bool(one.purchases) for one in seen.buyers)
    counts = Counter(type(error).__name__ for _, error in seen.errors)
    wrong = {offer.index for offer, _ in seen.errors}
    return [
        *scores_of(state, seen.fuzzy),
        *_place(seen),
        Score("needs_met", sum(one.needs_met for one in seen.buyers), "customers"),
        *_ratio("completion_rate", bought, len(seen.buyers), "share"),
        *_ratio("proposals_per_customer", len(seen.proposals), len(seen.buyers), "proposals"),
        Score("messages", state.delivered, "messages"),
        Score("searches", sum(n for (_, verb), n in seen.deeds.items() if verb == "Search"), "searches"),
        Score("refused", sum(n for (_, verb), n in seen.deeds.items() if not verb), "actions"),
        *figures(seen.state, seen.chosen),
        *(Score(name, counts[kind], "errors", _of_kind(seen, kind)) for kind, name in KINDS.items()),
        Score("invalid_purchases", sum(sale.offer.index in wrong for sale in seen.sales), "payments"),
        *_surplus(seen),
    ]


def _of_kind(seen: Seen, kind: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(offer.index for offer, error in seen.errors if type(error).__name__ == kind))


def _ratio(name: str, part: int, whole: int, unit: str) -> list[Score]:
    """A figure that nothing can be said of where there is nothing to divide by."""
    return [Score(name, part / whole, unit)] if whole else []


def _place(seen: Seen) -> list[Score]:
    """How near the welfare came to the best possible, and what is between."""
    known = ways(seen.state.members.values())
    welfare = sum(one.utility_cents for one in seen.buyers)
    return [
        *([Score("of_best", welfare / known.best_possible, "share")] if known.best_possible else []),
        Score("best_possible", known.best_possible, "cents"),
        Score("pick_any_with_amenities", known.pick_any_with_amenities, "cents"),
        Score("pick_cheapest", known.pick_cheapest, "cents"),
        Score("pick_any", known.pick_any, "cents"),
    ]


def _surplus(seen: Seen) -> list[Score]:
    """Both sides' gains. Sales of unknown cost are left out of the sellers', and counted."""
    worth = sum(_willing(seen.state, one.id) for one in seen.buyers if one.needs_met)
    consumers = worth - sum(one.paid_cents for one in seen.buyers)
    known = [sale for sale in seen.sales if sale.cost_cents is not None]
    costs, fees = sum(sale.cost_cents or 0 for sale in known), sum(sale.fee_cents for sale in seen.sales)
    producers = sum(sale.paid_cents for sale in known) - costs
    sold = _by(seen.sales, lambda one: one.offer.business)
    everybody = {*seen.sellers, *sold}
    spread = gini([sum(one.paid_cents for one in sold.get(id, [])) for id in everybody])
    return [
        Score("consumer_surplus", consumers, "cents"),
        Score("seller_cost", costs, "cents"),
        Score("producer_surplus", producers, "cents"),
        Score("total_surplus", consumers + producers, "cents"),
        Score("platform_fees", fees, "cents"),
        Score("business_profit", sum(sale.profit_cents or 0 for sale in known), "cents"),
        *([Score("revenue_gini", spread, "share")] if spread is not None else []),
        Score("unknown_costs", len(seen.sales) - len(known), "payments"),
    ]


def _willing(state: State, customer: str) -> int:
    """What a customer is willing to pay for all that it wants."""
    return half_even_cents(sum(prices(state.members[customer].data).values(), Decimal(0)))


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
"""`said` is what the proposal says, `right` what it should have said; `counted_as` the menu's item that stands for it
under the distance that was asked for; `paid_in` the entry of its payment."""


def _errors(seen: Seen) -> list[Row]:
    rows: list[Row] = []
    for offer, error in seen.errors:
        one = told(error)
        stands_for = _meant(seen, offer).get(error.item) if isinstance(error, InvalidMenuItem) else None
        who: Row = [offer.index, offer.business, offer.customer, offer.proposal.id]
        rows.append([type(error).__name__, *who, one.said, one.right, one.edits, stands_for, offer.paid or None])
    return rows


def _meant(seen: Seen, offer: Offer) -> Mapping[str, str]:
    return matches(offer.proposal, prices(seen.state.members[offer.business].data).keys(), seen.fuzzy)


SOLD = {"business": WORDS, "payments": "payments", "revenue": "cents"}


def _sold(seen: Seen) -> list[Row]:
    """Every business, those that sold nothing too."""
    sold = _by(seen.sales, lambda one: one.offer.business)
    everybody = sorted({*seen.sellers, *sold})
    return [[id, len(sold.get(id, [])), sum(one.paid_cents for one in sold.get(id, []))] for id in everybody]


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


def _businesses(seen: Seen) -> list[Row]:
    sold, offered = _by(seen.sales, lambda one: one.offer.business), _by(seen.proposals, lambda one: one.business)
    wrong = {offer.index for offer, _ in seen.errors}
    rows: list[Row] = []
    for id in sorted({*seen.sellers, *sold, *offered}):
        mine, made = sold.get(id, []), offered.get(id, [])
        known = all(one.cost_cents is not None for one in mine)
        rows.append(
            [
                id,
                len(mine),
                sum(one.paid_cents for one in mine),
                sum(one.cost_cents or 0 for one in mine) if known else None,
                sum(one.fee_cents for one in mine),
                sum(one.profit_cents or 0 for one in mine) if known else None,
                len(made),
                sum(one.index in wrong for one in made),
                seen.written[id],
                seen.deeds.get((id, ""), 0),
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


def _customers(seen: Seen) -> list[Row]:
    got = Counter(offer.customer for offer in seen.proposals)
    return [
        [
            one.id,
            one.utility_cents,
            int(one.needs_met),
            one.paid_cents,
            len(one.purchases),
            got[one.id],
            seen.written[one.id],
            *(seen.deeds.get((one.id, verb), 0) for verb in ("Search", "FetchMessages", "")),
        ]
        for one in seen.buyers
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
"""`first_rank` tells when the business's first proposal came among those of all businesses to this customer."""


def _conversations(seen: Seen) -> list[Row]:
    offered = _by(seen.proposals, lambda one: (one.customer, one.business))
    wrong = Counter((offer.customer, offer.business) for offer, _ in seen.errors)
    order: dict[str, dict[str, int]] = {}
    for offer in seen.proposals:
        mine = order.setdefault(offer.customer, {})
        mine.setdefault(offer.business, len(mine) + 1)
    rows: list[Row] = []
    for pair in _pairs(seen):
        customer, business = pair
        made = offered.get(pair, [])
        paid = [offer for offer in made if offer.paid]
        there, back = seen.sent.get((customer, business), 0), seen.sent.get((business, customer), 0)
        cents = sum(total_cents(offer.proposal) for offer in paid)
        rank = order.get(customer, {}).get(business)
        rows.append([customer, business, there, back, len(made), wrong[pair], len(paid), cents, rank])
    return rows


def _pairs(seen: Seen) -> list[tuple[str, str]]:
    """Who wrote to whom, each two once, the customer first."""
    members = seen.state.members
    pairs = {(to, sender) if members[sender].role == "business" else (sender, to) for sender, to in seen.sent}
    return sorted((one, two) for one, two in pairs if members[two].role == "business" or (two, one) not in pairs)


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
"""`place` of the paid proposal, by arrival, among `of` that the customer had; `result`, the seller's among those who
proposed, as searches showed them."""


def _purchases(seen: Seen) -> list[Row]:
    return [
        [
            sale.offer.paid,
            sale.offer.customer,
            sale.offer.business,
            sale.offer.proposal.id,
            sale.paid_cents,
            sale.cost_cents,
            one.place,
            one.of,
            one.result,
        ]
        for sale, one in zip(seen.sales, seen.chosen, strict=True)
    ]
