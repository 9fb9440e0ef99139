"""The search for businesses: five algorithms over the listings of registered ones, and pages.

What an algorithm needs of a listing is computed once, when it is first used. Nothing here depends on an optional
package or on the machine, since a ledger must replay anywhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from akinai.retrieval import Document, HybridIndex
from akinai.worlds.market.model.actions import Algorithm, Constraints, Search
from akinai.worlds.market.model.profiles import MENU, data_of, public_business

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GRAM = 4
"""Characters that the lexical search compares at a time."""
REMEMBERED = 2_048
"""Rankings that a catalogue keeps: the next page of a search needs the same one, and a thousand agents may take turns.
"""

FEW = 8
"""Rankings of one catalogue before it gets an inverted index, which would not last while businesses come."""
RETRIEVED = 100
"""Maximum results of `rnr`."""

_NO_WORD = re.compile(r"[^\w\s]")


@dataclass(frozen=True)
class Listing:
    """A registered business as the searches see it."""

    id: str
    profile: Mapping[str, Any]

    @cached_property
    def _business(self) -> Mapping[str, Any]:
        return data_of(self.profile, "business")

    @cached_property
    def public(self) -> Mapping[str, Any]:
        """The profile in the form of the public search response."""
        return {**self.profile, "business": public_business(self.id, self.profile)}

    @property
    def name(self) -> str:
        return _text(self._business.get("name"))

    @property
    def description(self) -> str:
        return _text(self._business.get("description"))

    @cached_property
    def rating(self) -> float:
        """The rating; 0 where the profile has none."""
        rating = self._business.get("rating")
        return rating if isinstance(rating, int | float) and not isinstance(rating, bool) else 0

    @cached_property
    def menu(self) -> Mapping[str, Any]:
        """The items in the order of the menu."""
        menu = self._business.get(MENU)
        return cast("Mapping[str, Any]", menu) if isinstance(menu, Mapping) else {}

    @cached_property
    def amenities(self) -> Set[str]:
        """The amenities that the business has."""
        features = self._business.get("amenity_features")
        if not isinstance(features, Mapping):
            return frozenset()
        return frozenset(name for name, available in cast("Mapping[str, Any]", features).items() if available is True)

    @cached_property
    def words(self) -> str:
        """The text for searches by words."""
        return ", ".join((self.name, self.description, *self.menu))

    @cached_property
    def grams(self) -> Set[str]:
        return grams(self.words)

    @cached_property
    def filter_texts(self) -> tuple[str, str]:
        """Name and description in lower case, for the filter."""
        return self.name.lower(), self.description.lower()


def grams(text: str) -> Set[str]:
    """Runs of four characters of a text in lower case, without punctuation, white space folded, spaces at its ends."""
    plain = " ".join(_NO_WORD.sub("", text.lower()).split())
    padded = f" {plain} ".ljust(GRAM)
    return frozenset(padded[i : i + GRAM] for i in range(len(padded) - GRAM + 1))


@dataclass(frozen=True)
class Catalogue:
    """All listings, in registration order. Rankings are remembered; that changes no answer."""

    listings: tuple[Listing, ...] = ()
    _rankings: dict[tuple[Any, ...], tuple[str, ...]] = field(
        default_factory=dict[tuple[Any, ...], tuple[str, ...]], compare=False, repr=False
    )

    _lines: dict[tuple[str, Callable[[Listing], str]], str] = field(
        default_factory=dict[tuple[str, Callable[[Listing], str]], str], compare=False, repr=False
    )

    def line(self, id: str, words: Callable[[Listing], str]) -> str:
        """A listing in words, made once by `words`, since many searches find it."""
        if (id, words) not in self._lines:
            self._lines[id, words] = words(self.by_id[id])
        return self._lines[id, words]

    def put(self, listing: Listing) -> "Catalogue":
        """The catalogue with a listing added, or replaced where its id is there already."""
        if listing.id not in self.by_id:
            return Catalogue((*self.listings, listing))
        return Catalogue(tuple(listing if current.id == listing.id else current for current in self.listings))

    def without(self, id: str) -> "Catalogue":
        return Catalogue(tuple(listing for listing in self.listings if listing.id != id)) if id in self.by_id else self

    @cached_property
    def by_id(self) -> Mapping[str, Listing]:
        return {listing.id: listing for listing in self.listings}

    @cached_property
    def by_rating(self) -> Sequence[Listing]:
        """Best first, ties in registration order."""
        return sorted(self.listings, key=lambda listing: -listing.rating)

    def shared_grams(self, query_grams: Set[str]) -> "NDArray[np.int64]":
        """The number of the query's grams in each listing, by its row in `by_rating`."""
        import numpy as np

        if len(self._rankings) < FEW:
            return np.array([len(query_grams & listing.grams) for listing in self.by_rating], np.int64)
        row_lists = [rows for gram in query_grams if (rows := self._rows_by_gram.get(gram)) is not None]
        return np.bincount(np.concatenate([*row_lists, np.zeros(0, np.int64)]), minlength=len(self.listings))

    @cached_property
    def _rows_by_gram(self) -> "Mapping[str, NDArray[np.int64]]":
        """The rows in `by_rating` of the listings that hold a gram."""
        import numpy as np

        rows_by_gram: dict[str, list[int]] = {}
        for row, listing in enumerate(self.by_rating):
            for gram in listing.grams:
                rows_by_gram.setdefault(gram, []).append(row)
        return {gram: np.array(rows, np.int64) for gram, rows in rows_by_gram.items()}

    @cached_property
    def index(self) -> HybridIndex:
        """The index of `rnr`: words and hashed term vectors."""
        index = HybridIndex()
        index.add_all(Document(listing.id, listing.words) for listing in self.listings)
        return index

    def ranking(self, search: Search, items: Set[str]) -> tuple[str, ...]:
        """The ids that a search finds, best first. `items` are those that the searcher wants, for `optimal`."""
        limits = search.constraints.model_dump_json() if search.constraints else ""
        key = (search.search_algorithm, search.query, limits, items)
        ids = self._rankings.get(key)
        if ids is None:
            if len(self._rankings) >= REMEMBERED:
                self._rankings.pop(next(iter(self._rankings)))
            ids = self._rankings[key] = tuple(ALGORITHMS[search.search_algorithm](self, search, items))
        return ids


@dataclass(frozen=True, slots=True)
class Page:
    """One page of results."""

    ids: Sequence[str]
    results: int
    """On all pages."""
    pages: int


def find(catalogue: Catalogue, search: Search, items: Set[str] = frozenset(), most: int = 0) -> Page:
    """The page that a search asks for; past the last one it is empty. Results beyond `most` are cut, 0 is no cap."""
    ids = catalogue.ranking(search, items)[: most or None]
    start = (search.page - 1) * search.limit
    return Page(ids[start : start + search.limit], len(ids), -(-len(ids) // search.limit))


def _simple(catalogue: Catalogue, search: Search, items: Set[str]) -> Sequence[str]:
    return [listing.id for listing in catalogue.by_rating]


def _lexical(catalogue: Catalogue, search: Search, items: Set[str]) -> Sequence[str]:
    """Rank by the share of the query's grams that a listing holds; ties by rating, then registration."""
    import numpy as np

    if not search.query:
        return [listing.id for listing in catalogue.by_rating]

    shared_grams = catalogue.shared_grams(grams(search.query))
    rows: list[int] = np.argsort(-shared_grams, kind="stable").tolist()
    return [catalogue.by_rating[row].id for row in rows]


def _filtered(catalogue: Catalogue, search: Search, items: Set[str]) -> Sequence[str]:
    """Businesses that meet the constraints and hold the whole query in their name or in their description."""
    limits, query = search.constraints or Constraints(), search.query.lower()
    return [
        listing.id
        for listing in catalogue.by_rating
        if any(query in text for text in listing.filter_texts) and _meets(listing, limits)
    ]


def _meets(listing: Listing, limits: Constraints) -> bool:
    if limits.rating_threshold is not None and listing.rating < limits.rating_threshold:
        return False
    return listing.amenities >= set(limits.amenity_features or ()) and listing.menu.keys() >= set(
        limits.menu_items or ()
    )


def _optimal(catalogue: Catalogue, search: Search, items: Set[str]) -> Sequence[str]:
    return [listing.id for listing in catalogue.by_rating if listing.menu.keys() >= items]


def _rnr(catalogue: Catalogue, search: Search, items: Set[str]) -> Sequence[str]:
    """Rank by words and meaning; by rating where nothing matches the query."""
    hits = catalogue.index.search(search.query, RETRIEVED) if search.query.strip() else ()
    return [hit.id for hit in hits] or [listing.id for listing in catalogue.by_rating]


ALGORITHMS: Mapping[Algorithm, Callable[[Catalogue, Search, Set[str]], Sequence[str]]] = {
    "simple": _simple,
    "lexical": _lexical,
    "filtered": _filtered,
    "optimal": _optimal,
    "rnr": _rnr,
}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
