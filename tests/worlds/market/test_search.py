"""How businesses are found."""

import pytest
from trading import Desk, business, customer

from akinai.worlds.market.model.actions import Algorithm, Constraints, Search
from akinai.worlds.market.search import Catalogue, Listing, find, grams
from together import together

HOUSES = [
    business("noodles", {"Noodle Soup": 5.0, "Green Tea": 2.0}, rating=2.0, description="Soups, hot and cold."),
    business("tea", {"Green Tea": 1.5}, rating=5.0, amenity_features={"Free Wifi": True, "Live Music": False}),
    business("curry", {"Noodle Curry": 7.0}, rating=5.0, description="100% curry, 'hot'."),
    business("grill", {"Skewers": 4.0}, rating=3.5),
]
CATALOGUE = Catalogue(tuple(Listing(item["id"], {"id": item["id"], "business": item}) for item in HOUSES))


def ids(search: Search, *items: str) -> list[str]:
    return list(find(CATALOGUE, search, frozenset(items)).ids)


def test_simple_goes_by_rating() -> None:
    """Best rated first; of two with one rating the one that registered first."""
    assert ids(Search(search_algorithm="simple")) == ["tea", "curry", "grill", "noodles"]


def test_grams_are_of_the_plain_text() -> None:
    """Lower case, punctuation out, white space folded, a space at both ends."""
    assert grams("To-Fu,  x") == {" tof", "tofu", "ofu ", "fu x", "u x "}
    assert grams("寿司") == {" 寿司 "}
    assert grams("a_b") == {" a_b", "a_b "}
    assert (grams("a"), grams("")) == ({" a  "}, {"    "})


def test_lexical_goes_by_letters_in_common() -> None:
    """The share of the query's runs of four that a business holds ranks it, ties by rating, then registration."""
    assert ids(Search(query="noodle soup"))[:2] == ["noodles", "curry"]
    assert ids(Search(query="green tea")) == ["tea", "noodles", "curry", "grill"]
    assert ids(Search(query="??")) == ["tea", "curry", "grill", "noodles"]


def test_an_inverted_index_ranks_as_comparing_does() -> None:
    """The first searches of a catalogue compare, later ones look up; both give one answer."""
    queries = [f"{word} {n}" for n in range(9) for word in ("noodle soup", "green tea", "hot skewers")]
    fresh = [ids_of_fresh(query) for query in queries]
    item = Catalogue(CATALOGUE.listings)
    assert [list(find(item, Search(query=query)).ids) for query in queries] == fresh


def ids_of_fresh(query: str) -> list[str]:
    return list(find(Catalogue(CATALOGUE.listings), Search(query=query)).ids)


@together(
    ("query", "limits", "expected"),
    [
        ("", Constraints(), ["tea", "curry", "grill", "noodles"]),
        ("CURRY", Constraints(), ["curry"]),
        ("100%", Constraints(), ["curry"]),
        ("'", Constraints(), ["curry"]),
        ("", Constraints(rating_threshold=3.5), ["tea", "curry", "grill"]),
        ("", Constraints(amenity_features=["Free Wifi"]), ["tea"]),
        ("", Constraints(amenity_features=["Live Music"]), []),
        ("", Constraints(menu_items=["Green Tea"]), ["tea", "noodles"]),
        ("soup", Constraints(menu_items=["Green Tea"], rating_threshold=5), []),
    ],
)
def test_filtered_wants_every_constraint_met(query: str, limits: Constraints, expected: list[str]) -> None:
    """Text in name or description, a rating, amenities that are there, items that are on the menu."""
    assert ids(Search(query=query, search_algorithm="filtered", constraints=limits)) == expected


def test_optimal_holds_all_that_is_wanted() -> None:
    """Businesses with every requested item, whatever the query says; customers alone may ask."""
    assert ids(Search(search_algorithm="optimal"), "Green Tea", "Noodle Soup") == ["noodles"]
    desk = Desk([business(), business("diner", {"A": 1.0})], [customer()])
    assert desk.hears("ann", Search(search_algorithm="optimal"))["businesses"][0]["id"] == "grill"
    assert desk.act("grill", Search(search_algorithm="optimal")).code == "wrong_role"


def test_rnr_finds_words_in_any_order() -> None:
    """Retrieve and rerank finds the businesses that share words with the query."""
    assert ids(Search(query="soup of noodle", search_algorithm="rnr"))[0] == "noodles"


@pytest.mark.parametrize("query", ["", "  ", "pizza", "!"])
def test_rnr_without_a_match_goes_by_rating(query: str) -> None:
    """A query that is empty or matches nothing leaves the order of the ratings, as in the public system."""
    assert ids(Search(query=query, search_algorithm="rnr")) == ids(Search(search_algorithm="simple"))


def test_lexical_reads_a_menu_in_its_order() -> None:
    """Runs of four letters cross the border between two items, so the order of a menu decides the rank."""
    menus = {"forward": {"Tea": 1.0, "Cake": 1.0}, "backward": {"Cake": 1.0, "Tea": 1.0}}
    listings = [Listing(id, {"business": {"rating": 3, "menu_features": menu}}) for id, menu in menus.items()]
    catalogue = Catalogue(tuple(listings))
    assert find(catalogue, Search(query="Cake, Tea")).ids[0] == "backward"
    assert find(catalogue, Search(query="Tea, Cake")).ids[0] == "forward"


@pytest.mark.parametrize("field", ["name", "description"])
def test_filtered_finds_a_query_inside_one_text(field: str) -> None:
    """In the name or in the description, in any case and with its spaces; not across the two."""
    catalogue = Catalogue((Listing("a", {"business": {field: "Old Town Grill"}}),))
    assert find(catalogue, Search(query="TOWN g", search_algorithm="filtered")).ids
    assert not find(catalogue, Search(query=" town grill ", search_algorithm="filtered")).ids


@pytest.mark.parametrize("algorithm", ["simple", "lexical", "optimal"])
def test_pages_share_out_the_results(algorithm: Algorithm) -> None:
    """All pages together are the results, in order; past the last one a page is empty."""
    pages = [find(CATALOGUE, Search(search_algorithm=algorithm, limit=3, page=number)) for number in (1, 2, 3)]
    assert [len(page.ids) for page in pages] == [3, 1, 0]
    assert {(page.results, page.pages) for page in pages} == {(4, 2)}
    whole = find(CATALOGUE, Search(search_algorithm=algorithm, limit=10))
    assert [*pages[0].ids, *pages[1].ids] == list(whole.ids)


def test_a_new_profile_is_found_at_once() -> None:
    """A catalogue with a listing changed is another catalogue: what was ranked before does not linger."""
    before = find(CATALOGUE, Search(query="ramen", search_algorithm="filtered")).ids
    new = Listing("grill", {"business": {**HOUSES[3], "name": "Ramen"}})
    changed = CATALOGUE.put(new)
    assert list(before) == []
    assert list(find(changed, Search(query="ramen", search_algorithm="filtered")).ids) == ["grill"]
    assert len(changed.listings) == 4
    assert list(find(changed.without("grill"), Search(query="ramen", search_algorithm="filtered")).ids) == []
