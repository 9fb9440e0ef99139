"""The choices of customers: each purchase among the proposals at hand, by arrival, search results and treatment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.ledger import Entry
from akinai.core.scores import Score
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


def choices(
    state: State, bought: Sequence[Offer], offered: Sequence[Offer], entries: Sequence[Entry]
) -> Sequence[PaidChoice]:
    """The choice behind each purchase, in the order of `bought`."""
    offers_by_customer: dict[str, list[Offer]] = {}
    for offer in offered:
        offers_by_customer.setdefault(offer.customer, []).append(offer)
    showings, treated_ids = _first_showings(entries), treated(state)
    return [
        _choice(offer, offers_by_customer[offer.customer], showings.get(offer.customer, {}), treated_ids)
        for offer in bought
    ]


def _choice(
    paid: Offer, offers: Sequence[Offer], showings: Mapping[str, int], treated_ids: frozenset[str]
) -> PaidChoice:
    options = [offer for offer in offers if offer.index < paid.paid]
    proposed = {offer.business for offer in options}
    listed = [id for id, entry in showings.items() if id in proposed and entry < paid.paid]
    result_rank = listed.index(paid.business) + 1 if paid.business in listed else None
    share = sum(offer.business in treated_ids for offer in options) / len(options)
    return PaidChoice(paid, options.index(paid) + 1, len(options), result_rank, len(listed), share)


def _first_showings(entries: Sequence[Entry]) -> Mapping[str, Mapping[str, int]]:
    """By customer, the businesses that its searches showed, best first, each with the first entry that showed it."""
    showings: dict[str, dict[str, int]] = {}
    for entry in entries:
        if entry.name == "Search" and entry.outcome.ok and isinstance(entry.outcome.data, Mapping):
            businesses = entry.outcome.data.get("businesses")
            for id in businesses if isinstance(businesses, list) else ():
                showings.setdefault(entry.actor, {}).setdefault(str(id), entry.seq)
    return showings


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
