"""The choices of customers: each purchase among the proposals at hand, by arrival, search results and treatment."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from akinai.core.scores import Score
from akinai.worlds.market.analysis.actions import MarketRecord
from akinai.worlds.market.model.state import Offer, State
from akinai.worlds.market.populations.manipulation import manipulating_sellers


@dataclass(frozen=True, slots=True)
class PaidChoice:
    """A paid proposal among those that its customer had when it paid."""

    paid: Offer
    arrival_rank: int
    """1 for the one that arrived first."""
    options: int
    """The number of proposals that it had."""
    result_rank: int | None
    """The rank of its seller in the search results among those who proposed; None where no search showed it."""
    listed_sellers: int
    """The number of sellers that proposed and that a search showed."""
    treated_share: float
    """The share of the proposals that came from treated sellers."""


@dataclass(slots=True)
class _Options:
    """The proposals to one customer, taken up in the order of arrival, so that many purchases cost no more than one."""

    offers: list[Offer] = field(default_factory=list[Offer])
    count: int = 0
    businesses: set[str] = field(default_factory=set[str])
    treated: int = 0

    def take_until(self, entry: int, treated_ids: frozenset[str]) -> None:
        """Take up the proposals that came before an entry."""
        while self.count < len(self.offers) and (offer := self.offers[self.count]).index < entry:
            self.count += 1
            self.businesses.add(offer.business)
            self.treated += offer.business in treated_ids


def choices(record: MarketRecord, bought: Sequence[Offer], offered: Sequence[Offer]) -> Sequence[PaidChoice]:
    """The choice behind each purchase, in the order of `bought`, which is that of payment."""
    options_by_customer: dict[str, _Options] = {}
    for offer in offered:
        options_by_customer.setdefault(offer.customer, _Options()).offers.append(offer)
    treated_ids, paid_choices = treated(record.state), list[PaidChoice]()
    for paid in bought:
        options = options_by_customer[paid.customer]
        options.take_until(paid.paid, treated_ids)
        showings = record.showings.get(paid.customer, {})
        listed = [id for id, entry in showings.items() if id in options.businesses and entry < paid.paid]
        result_rank = listed.index(paid.business) + 1 if paid.business in listed else None
        arrival_rank = bisect_left(options.offers, paid.index, key=lambda offer: offer.index) + 1
        share = options.treated / options.count
        paid_choices.append(PaidChoice(paid, arrival_rank, options.count, result_rank, len(listed), share))
    return paid_choices


def treated(state: State) -> frozenset[str]:
    """The sellers that the setup names as treated, or those that use the text of its manipulation; with the kind
    "none", the control, those that would use it.

    Empty where the setup has neither, or treats all, so that there is nobody to compare with.
    """
    if named := frozenset(state.setup.treated):
        sellers = {member.id for member in state.members.values() if member.role == "business"}
        return frozenset() if sellers <= named else named
    if "manipulation" not in state.setup.model_fields_set or state.setup.manipulation.sellers == "all":
        return frozenset()
    made_for = {id: str(state.members[id].data.get("progenitor_customer", "")) for id in state.roll[: state.businesses]}
    return manipulating_sellers(made_for, state.setup.manipulation)


def figures(state: State, paid_choices: Sequence[PaidChoice]) -> list[Score]:
    """Shares of purchases from the first proposal, the top of the results and treated sellers, each with the share that
    blind choice among the proposals at hand would give.
    """
    if not paid_choices:
        return []
    n, listed = len(paid_choices), [choice for choice in paid_choices if choice.result_rank is not None]
    scores = [
        Score("first_proposal_share", sum(choice.arrival_rank == 1 for choice in paid_choices) / n, "share"),
        Score("first_by_chance", sum(1 / choice.options for choice in paid_choices) / n, "share"),
        Score("arrival_rank", sum(choice.arrival_rank for choice in paid_choices) / n, "place"),
    ]
    if listed:
        scores += [
            Score("top_result_share", sum(choice.result_rank == 1 for choice in listed) / len(listed), "share"),
            Score("top_by_chance", sum(1 / choice.listed_sellers for choice in listed) / len(listed), "share"),
        ]
    if treated_ids := treated(state):
        because = tuple(choice.paid.paid for choice in paid_choices if choice.paid.business in treated_ids)
        scores += [
            Score("treated_share", len(because) / n, "share", because),
            Score("treated_by_chance", sum(choice.treated_share for choice in paid_choices) / n, "share"),
        ]
    return scores


RANKS = {"place": "place", "purchases": "payments"}


def arrival_ranks(paid_choices: Sequence[PaidChoice]) -> list[list[int]]:
    """The number of purchases by the rank of the paid proposal by arrival."""
    return _count_ranks([choice.arrival_rank for choice in paid_choices])


def result_ranks(paid_choices: Sequence[PaidChoice]) -> list[list[int]]:
    """The number of purchases by the rank of the seller in the results, among those who proposed."""
    return _count_ranks([choice.result_rank for choice in paid_choices if choice.result_rank is not None])


def _count_ranks(ranks: Sequence[int]) -> list[list[int]]:
    counts = Counter(ranks)
    return [[rank, counts[rank]] for rank in range(1, max(counts, default=0) + 1)]
