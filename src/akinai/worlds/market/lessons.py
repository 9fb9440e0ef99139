"""What a market teaches its customers, from its ledger alone: whom to ask, what to pay, how long to wait. Pure.

What a payment was worth, and what would have come of another choice, is the truth that the fold knows; a customer sees
proposals and profiles only. `merged` adds the lessons of many markets up, each weighing as much as it has seen.
"""

from collections.abc import Iterator, Mapping, Sequence

from akinai.core.ledger import Entry, Ledger
from akinai.core.lessons import Lesson
from akinai.worlds.market import actions as a
from akinai.worlds.market.advice import (
    Advice,
    AmenityAdvice,
    ItemsAdvice,
    MenuAdvice,
    PriceAdvice,
    SearchAdvice,
    WaitAdvice,
    added,
)
from akinai.worlds.market.advice_on_search import Ranked
from akinai.worlds.market.bazaar import Bazaar, Deal
from akinai.worlds.market.seen import Deals, Seen, together
from akinai.worlds.market.state import State
from akinai.worlds.market.times import SECOND_US

MOST_WAITED = 8
"""Proposals beyond which the curve of waiting is not told."""
SHOWN = 3
"""Entries that are named as evidence."""


def merged(content: str, lesson: Lesson) -> str:
    """What a bullet says after a later lesson about the same thing."""
    return added(content, lesson.content)


def lessons_of(state: State, ledger: Ledger) -> list[Lesson]:
    """The lessons of a market at its end; each stands where there is something to tell."""
    bazaar = Bazaar(state, ledger.entries)
    return [
        *_amenities(bazaar),
        *_items(bazaar),
        *_menus(bazaar),
        *_waiting(bazaar),
        *_price(bazaar),
        *_searches(bazaar),
    ]


def _amenities(bazaar: Bazaar) -> Iterator[Lesson]:
    """Payments for all items, at places with and without the amenities."""
    lacking = [one for one in bazaar.paid if one.complete and not one.suits]
    having = [one for one in bazaar.paid if one.fits]
    if lacking or having:
        told = AmenityAdvice(_deals(lacking), _deals(having))
        yield _lesson("checking_an_offer", "amenities", told, _payments(lacking, having), "amenity", "lacks")


def _items(bazaar: Bazaar) -> Iterator[Lesson]:
    """Payments for a part of the items, and for all."""
    part = [one for one in bazaar.paid if not one.complete]
    whole = [one for one in bazaar.paid if one.complete]
    if part or whole:
        told = ItemsAdvice(_deals(part), _deals(whole))
        yield _lesson("checking_an_offer", "items", told, _payments(part, whole), "complete", "missing item")


def _deals(some: Sequence[Deal]) -> Deals:
    return Deals.of(one.left_cents for one in some)


def _payments(bad: Sequence[Deal], good: Sequence[Deal]) -> Sequence[int]:
    return [one.offer.paid for one in (*bad[:SHOWN], *good[:1])]


def _menus(bazaar: Bazaar) -> Iterator[Lesson]:
    """Who was asked, and whether all came of it."""
    whole = {(one.offer.customer, one.offer.business) for one in bazaar.deals if one.complete}
    lacking = [pair for pair in bazaar.asked if not bazaar.has_items(*pair)]
    having = [pair for pair in bazaar.asked if bazaar.has_items(*pair)]
    if lacking or having:
        counts = len(lacking), len(whole & {*lacking}), len(having), len(whole & {*having})
        shown = [bazaar.asked[pair].seq for pair in (*lacking[:SHOWN], *having[:1])]
        yield _lesson("searching", "menus", MenuAdvice(*counts), shown, "menu", "whom to ask")


def _waiting(bazaar: Bazaar) -> Iterator[Lesson]:
    """What the first so many proposals that fit would have come to, and how long they took."""
    got = {customer: fitting for customer, some in bazaar.got.items() if (fitting := [one for one in some if one.fits])}
    answers = {
        (one.offer.customer, one.offer.business): one for one in reversed(bazaar.deals) if _pair(one) in bazaar.asked
    }
    if not got or not answers:
        return
    most = min(max(map(len, got.values())), MOST_WAITED)
    left = [round(sum(_best_of(some[:count]) for some in got.values()) / len(got)) for count in range(1, most + 1)]
    first_best = [some for some in got.values() if some[0].cents <= min(one.cents for one in some)]
    late = [some for some in got.values() if some not in first_best]
    seconds = [(one.at - bazaar.asked[pair].at) / SECOND_US for pair, one in answers.items()]
    told = WaitAdvice(
        len(got),
        len(first_best),
        tuple(left),
        len(seconds),
        sum(seconds) / len(seconds),
        round(max(seconds)),
    )
    shown = [index for some in (late or first_best)[:SHOWN] for index in _first_and_cheapest(some)]
    yield _lesson("bargaining", "waiting", told, shown, "wait", "first proposal", "cheapest")


def _pair(one: Deal) -> tuple[str, str]:
    return one.offer.customer, one.offer.business


def _best_of(some: Sequence[Deal]) -> int:
    """What the cheapest leaves of those that have not expired when the last of them comes; else nothing."""
    now = some[-1].at
    return max((one.left_cents for one in some if one.offer.expires is None or one.offer.expires >= now), default=0)


def _first_and_cheapest(some: Sequence[Deal]) -> Sequence[int]:
    return some[0].offer.index, min(some, key=lambda one: one.cents).offer.index


def _price(bazaar: Bazaar) -> Iterator[Lesson]:
    """What was left at which price, both as shares of what the customer would have paid."""
    fitting = [one for one in bazaar.paid if one.fits and one.willing_cents]
    if fitting:
        rows = (Seen(round(one.cents / one.willing_cents, 2), one.left_cents / one.willing_cents, 1) for one in fitting)
        dearest = sorted(fitting, key=lambda one: -one.cents / one.willing_cents)[:SHOWN]
        shown = [one.offer.paid for one in dearest]
        yield _lesson("bargaining", "price", PriceAdvice(together(rows)), shown, "price", "too dear", "walk away")


def _searches(bazaar: Bazaar) -> Iterator[Lesson]:
    """Where searches for all items had the business that fits and is cheapest, by customer and algorithm."""
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for entry in bazaar.entries:
        if entry.name != "Search" or not entry.outcome.ok or entry.actor not in bazaar.wants:
            continue
        search = a.Search.model_validate(entry.parameters)
        key, before = (search.search_algorithm, entry.actor), (entry.seq, 0)
        best = bazaar.cheapest(entry.actor)
        if best is None or not all(item.lower() in search.query.lower() for item in bazaar.wants[entry.actor]):
            continue
        seq, place = places.get(key, before)
        shown = _shown(entry)
        if not place and best in shown:
            place = (search.page - 1) * search.limit + shown.index(best) + 1
        places[key] = seq, place
    if places:
        told = SearchAdvice(tuple(_ranked(name, places) for name in sorted({name for name, _ in places})))
        seqs = [seq for (name, _), (seq, place) in places.items() if name == told.best.algorithm and place]
        yield _lesson("searching", "searches", told, seqs[:SHOWN], "search_algorithm", "results", "page")


def _shown(entry: Entry) -> Sequence[str]:
    data = entry.outcome.data
    ids = data.get("businesses") if isinstance(data, Mapping) else None
    return [str(one) for one in ids] if isinstance(ids, list) else []


def _ranked(name: str, places: Mapping[tuple[str, str], tuple[int, int]]) -> Ranked:
    mine = [place for (algorithm, _), (_, place) in places.items() if algorithm == name]
    found = [place for place in mine if place]
    return Ranked(name, len(mine), sum(one <= 3 for one in found), sum(one <= 10 for one in found), max([0, *found]))


def _lesson(section: str, about: str, advice: Advice, entries: Sequence[int], *keywords: str) -> Lesson:
    return Lesson(section, advice.said(), keywords, about, tuple(sorted(set(entries))))
