"""What customers chose among: each purchase beside the proposals that there were, by arrival, results and treatment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.ledger import Entry
from akinai.core.scores import Score
from akinai.worlds.market.model.state import Offer, State
from akinai.worlds.market.populations.manipulation import manipulating_sellers


@dataclass(frozen=True, slots=True)
class Choice:
    """A paid proposal among those that its customer had when it paid."""

    paid: Offer
    place: int
    """1 for the one that arrived first."""
    of: int
    """Proposals that it had."""
    result: int | None
    """The place of its seller among those who proposed, as searches showed them; None where no search showed it."""
    sellers: int
    """Who proposed and was shown."""
    treated: float
    """The share of the proposals that came from sellers that are treated."""


def choices(
    state: State, bought: Sequence[Offer], offered: Sequence[Offer], entries: Sequence[Entry]
) -> Sequence[Choice]:
    """The choice behind each purchase, in their order."""
    got: dict[str, list[Offer]] = {}
    for offer in offered:
        got.setdefault(offer.customer, []).append(offer)
    shown, marked = _shown(entries), treated(state)
    return [_choice(offer, got[offer.customer], shown.get(offer.customer, {}), marked) for offer in bought]


def _choice(paid: Offer, got: Sequence[Offer], shown: Mapping[str, int], marked: frozenset[str]) -> Choice:
    had = [offer for offer in got if offer.index < paid.paid]
    proposed = {offer.business for offer in had}
    seen = [id for id, entry in shown.items() if id in proposed and entry < paid.paid]
    result = seen.index(paid.business) + 1 if paid.business in seen else None
    share = sum(offer.business in marked for offer in had) / len(had)
    return Choice(paid, had.index(paid) + 1, len(had), result, len(seen), share)


def _shown(entries: Sequence[Entry]) -> Mapping[str, Mapping[str, int]]:
    """By customer the businesses that its searches showed, best first, each with the entry that showed it first."""
    shown: dict[str, dict[str, int]] = {}
    for entry in entries:
        if entry.name == "Search" and entry.outcome.ok and isinstance(entry.outcome.data, Mapping):
            found = entry.outcome.data.get("businesses")
            for id in found if isinstance(found, list) else ():
                shown.setdefault(entry.actor, {}).setdefault(str(id), entry.seq)
    return shown


def treated(state: State) -> frozenset[str]:
    """The sellers that the setup names as treated, or those that use the text of its manipulation; of its kind "none",
    the control, those who would.

    Nobody where the setup says nothing of it, or where all are: there is nobody to tell them from.
    """
    if named := frozenset(state.setup.treated):
        sellers = {member.id for member in state.members.values() if member.role == "business"}
        return frozenset() if sellers <= named else named
    if "manipulation" not in state.setup.model_fields_set or state.setup.manipulation.sellers == "all":
        return frozenset()
    made_for = {id: str(state.members[id].data.get("progenitor_customer", "")) for id in state.roll[: state.businesses]}
    return manipulating_sellers(made_for, state.setup.manipulation)


def figures(state: State, chosen: Sequence[Choice]) -> list[Score]:
    """Shares of purchases: of what arrived first, of the top of the results, of treated sellers, each beside what blind
    choice among the proposals that there were would give.
    """
    if not chosen:
        return []
    n, listed = len(chosen), [choice for choice in chosen if choice.result is not None]
    scores = [
        Score("first_proposal_share", sum(choice.place == 1 for choice in chosen) / n, "share"),
        Score("first_by_chance", sum(1 / choice.of for choice in chosen) / n, "share"),
        Score("arrival_rank", sum(choice.place for choice in chosen) / n, "place"),
    ]
    if listed:
        scores += [
            Score("top_result_share", sum(choice.result == 1 for choice in listed) / len(listed), "share"),
            Score("top_by_chance", sum(1 / choice.sellers for choice in listed) / len(listed), "share"),
        ]
    if marked := treated(state):
        because = tuple(choice.paid.paid for choice in chosen if choice.paid.business in marked)
        scores += [
            Score("treated_share", len(because) / n, "share", because),
            Score("treated_by_chance", sum(choice.treated for choice in chosen) / n, "share"),
        ]
    return scores


RANKS = {"place": "place", "purchases": "payments"}


def arrival_ranks(chosen: Sequence[Choice]) -> list[list[int]]:
    """How many purchases paid what arrived first, second, and so on."""
    return _counted([choice.place for choice in chosen])


def result_ranks(chosen: Sequence[Choice]) -> list[list[int]]:
    """How many purchases went to the seller that stood first in the results among those who proposed, and so on."""
    return _counted([choice.result for choice in chosen if choice.result is not None])


def _counted(places: Sequence[int]) -> list[list[int]]:
    counts = Counter(places)
    return [[place, counts[place]] for place in range(1, max(counts, default=0) + 1)]
