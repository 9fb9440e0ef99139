"""The public search code and ours find the same businesses, in the same order, on the same pages."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from magentic_marketplace.experiments.utils import load_businesses_from_yaml, load_customers_from_yaml
from magentic_marketplace.marketplace.actions import Search as PublicSearch
from magentic_marketplace.marketplace.protocol.search import execute_search
from magentic_marketplace.marketplace.shared.models import (
    BusinessAgentProfile,
    Customer,
    CustomerAgentProfile,
    SearchConstraints,
)
from magentic_marketplace.platform.database.models import AgentRow
from magentic_marketplace.platform.database.sqlite import connect_to_sqlite_database

from akinai.core.ledger import Genesis, Turn
from akinai.core.worlds import step
from akinai.worlds.market import Market, State
from akinai.worlds.market.model.actions import Constraints, Register, Search
from akinai.worlds.market.rules import verbs as rules
from populations import NAMES, POPULATIONS

ALGORITHMS = ("simple", "lexical", "filtered", "optimal")
"""`rnr` ranks with a neural network there (torch, a model that is downloaded), and with words and hashed vectors here."""


class Populated:
    """One public population, registered with the public code's database and in our world."""

    def __init__(self, database: Any, state: State, customers: list[Customer]) -> None:
        self.database, self.state, self.customers = database, state, customers

    async def expect_equal(self, customer: Customer, **search: Any) -> int:
        """Both give the same page; returns how many businesses are on it."""
        agent = CustomerAgentProfile.from_customer(customer)
        public = await execute_search(search=PublicSearch(**search), agent=agent, database=self.database)
        limits = search.pop("constraints", None)
        ours = Search(**search, constraints=limits and Constraints.model_validate(limits.model_dump()))
        page = rules.page_json(self.state, ours, rules.results_page(self.state, customer.id, ours))
        assert page == public.content, (customer.id, search)
        found = [profile["business"] for profile in public.content["businesses"]]
        menus = [profile["business"]["menu_features"] for profile in page["businesses"]]
        assert [list(menu) for menu in menus] == [list(business["menu_features"]) for business in found]
        return len(found)


@pytest.fixture(params=NAMES)
async def populated(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Populated]:
    folder = POPULATIONS / request.param
    customers = load_customers_from_yaml(folder / "customers")
    businesses = [
        BusinessAgentProfile.from_business(business) for business in load_businesses_from_yaml(folder / "businesses")
    ]
    profiles = [*businesses, *(CustomerAgentProfile.from_customer(customer) for customer in customers)]
    world, genesis = Market(), Genesis(Market.name, 1, {"open": True, "clock": "wall"})
    state = world.begin(genesis)
    async with connect_to_sqlite_database(str(tmp_path / "public.db")) as database:
        await database.agents.create_many(
            [AgentRow(id=profile.id, created_at=datetime.now(UTC), data=profile) for profile in profiles]
        )
        for number, profile in enumerate(profiles, 1):
            action = world.verbs.settled(Register(profile=profile.model_dump(mode="json")))
            state, outcome = step(world, state, Turn(number, number, profile.id, action))
            assert outcome.ok
        yield Populated(database, state, customers)


def queries(customer: Customer) -> Iterator[str]:
    """What a customer may search for: its request, its items, one item in capitals."""
    items = list(customer.menu_features)
    yield customer.request
    yield ", ".join(items)
    yield items[0].upper()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_every_query_of_every_customer_is_ranked_alike(populated: Populated, algorithm: str) -> None:
    """The whole ranking, for three queries of each customer and for those that match nothing."""
    found = 0
    for customer in populated.customers:
        for query in queries(customer):
            query = query.replace("'", "") if algorithm == "filtered" else query  # a quote breaks the public query
            found += await populated.expect_equal(customer, query=query, search_algorithm=algorithm, limit=1_000)
    for query in ("", " ", "tea", "zzzz", "cafe & grill", "a"):
        customer = populated.customers[0]
        found += await populated.expect_equal(customer, query=query, search_algorithm=algorithm, limit=1_000)
    assert found


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_pages_are_cut_alike(populated: Populated, algorithm: str) -> None:
    """Every page of a few sizes, past the last one too."""
    (customer, *_) = populated.customers
    query = "" if algorithm == "filtered" else customer.request  # which finds nothing there, and has quotes
    for limit in (1, 4, 10):
        for page in range(1, 12):
            search = {"query": query, "search_algorithm": algorithm, "limit": limit, "page": page}
            await populated.expect_equal(customer, **search)


async def test_filters_find_alike(populated: Populated) -> None:
    """Rating, amenities, items and words, alone and together."""
    found = 0
    for customer in populated.customers:
        needs = [need for need in customer.amenity_features if "'" not in need]  # a quote breaks the public query
        items = [item for item in customer.menu_features if "'" not in item]
        for limits in (
            SearchConstraints(amenity_features=needs),
            SearchConstraints(menu_items=items),
            SearchConstraints(menu_items=items, amenity_features=needs, rating_threshold=0.5),
        ):
            for query in ("", "flavors"):
                search = {"query": query, "search_algorithm": "filtered", "constraints": limits, "limit": 1_000}
                found += await populated.expect_equal(customer, **search)
    assert found
