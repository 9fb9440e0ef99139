"""A street of several owners at a moment, side by side, and what they sent one another."""

from collections.abc import Iterator, Mapping

from akinai.core.agents import owner_of
from akinai.core.canonical import Json
from akinai.core.presentation.transcript import Comparison, Dealing, Listing, Place, Street
from akinai.core.presentation.words import label
from akinai.core.steps import Step, Steps
from akinai.worlds.vending.model.actions import AcceptGoods, OfferGoods, SendMoney
from akinai.worlds.vending.model.state import Business, Letter, State
from akinai.worlds.vending.rules.books import rival_at
from akinai.worlds.vending.rules.rivals import BANK
from akinai.worlds.vending.rules.stock import units_in
from akinai.worlds.vending.scores import headline_cents, last_books
from akinai.worlds.vending.transcript.place import place_of

SOLD_OUT = "sold out"
ENDINGS: Mapping[str, str] = {"bankrupt": "out of business", "left": "left the street"}


def street_of(state: State, before: State | None, earlier: Place | None) -> Street:
    """The street of a state: all owners' money and prices, and the place of each; parts of `earlier` are reused."""
    businesses, parts = state.businesses, dict[str, Place]()
    earlier = earlier if isinstance(earlier, Street) else None
    old: Mapping[str, Business] = before.businesses if before is not None and earlier is not None else {}
    for owner, own in businesses.items():
        previous = earlier.parts[owner] if earlier else None
        same = previous if previous and own is old[owner] and own is not state else None
        parts[owner] = same or place_of(
            state.turned_to(owner), before.turned_to(owner) if before and previous else None, previous
        )
    return Street((), (), (_owners(state), _prices(state)), parts)


def _owners(state: State) -> Listing:
    sold = "sold last week" if state.setup.weekly else "sold yesterday"
    heads = {"owner": "", label(state.setup.street.goal): "cents", sold: "units", "state": ""}
    rows, books = dict[str, tuple[Json, ...]](), last_books(state)
    for owner, own in state.businesses.items():
        units = sum(sum(book.sold.values()) for book in books[owner])
        rows[owner] = (owner, headline_cents(state.turned_to(owner)), units, _condition(own))
    return Comparison("owners", "The owners", heads, rows)


def _condition(own: Business) -> str:
    if gone := ENDINGS.get(own.ending or "" if own.left_after is None else "left"):
        return gone
    sealed = sum(site.sealed for site in own.sites)
    return "" if not sealed else "sealed" if sealed == len(own.sites) else f"{sealed} sealed"


def _prices(state: State) -> Listing:
    """The price of each product that is on sale or sold out in an open machine, those of most owners first."""
    tags = {owner: _tags(state, own) for owner, own in state.businesses.items()}
    names = {id: state.setup.catalog.by_id[id].name for own in tags.values() for id in own}
    order = sorted(names, key=lambda id: (-sum(id in own for own in tags.values()), names[id]))
    rows: dict[str, tuple[Json, ...]] = {id: (names[id], *(own.get(id) for own in tags.values())) for id in order}
    return Comparison("prices", "Prices", {"product": "", **dict.fromkeys(tags, "cents")}, rows)


def _tags(state: State, own: Business) -> dict[str, Json]:
    count = state.setup.slots
    open_slots = [
        slot
        for index, site in enumerate(() if own.ending in ENDINGS else own.sites)
        if not (site.sealed or site.lost)
        for slot in own.slots[index * count : (index + 1) * count]
    ]
    return {id: own.prices[id] if n else SOLD_OUT for id, n in units_in(open_slots).items() if id in own.prices}


def owner_dealings(steps: Steps[State]) -> Iterator[Dealing]:
    """Letters, payments, offers and goods between owners, by the entry that brought them."""
    for step in steps if steps.opening.other_businesses else ():
        before = step.before.businesses
        for owner, own in step.after.businesses.items():
            if own.mail.inbox is not before[owner].mail.inbox:
                for letter in own.mail.inbox[len(before[owner].mail.inbox) :]:
                    yield from _dealing(step, owner, letter)


def _dealing(step: Step[State], to: str, letter: Letter) -> Iterator[Dealing]:
    action, seq = step.turn.action, step.entry.seq
    first = letter.body.strip().partition("\n")[0] or letter.subject
    if sender := rival_at(step.after.turned_to(to), letter.sender):
        yield Dealing(seq, sender, to, "offer" if isinstance(action, OfferGoods | AcceptGoods) else "letter", first)
    elif letter.sender == BANK and isinstance(action, SendMoney) and owner_of(step.entry.actor) != to:
        yield Dealing(seq, owner_of(step.entry.actor), to, "payment", letter.body)
    elif letter.sender == BANK:
        for bargain in step.before.bargains:
            if bargain.buyer == to and letter.subject.startswith(f"Offer {bargain.number} "):
                yield Dealing(seq, bargain.seller, to, "goods", letter.body)
