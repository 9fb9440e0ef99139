"""The generator of populations as files in the public format, with the welfare that they can reach."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from akinai.core.actions import complaint
from akinai.core.errors import UsageError
from akinai.core.facets import Generated, Generator
from akinai.core.ledger import Genesis
from akinai.worlds.market.model.setup import Setup
from akinai.worlds.market.populations.baselines import baselines
from akinai.worlds.market.populations.files import BASELINES, baselines_text, population_texts
from akinai.worlds.market.populations.generated import PER_CUSTOMER, generate

MOST = 100_000
"""Members of one side."""


class PopulationOptions(BaseModel, frozen=True, extra="forbid"):
    """The options of a generated population."""

    customers: Annotated[int, Field(le=MOST, description="Number of customers.")] = 2
    businesses: Annotated[
        int | None,
        Field(ge=0, le=MOST, description="Number of businesses.", title=f"{PER_CUSTOMER} for each customer"),
    ] = None
    kind: Annotated[
        Literal["restaurants", "contractors"], Field(description="What they sell: restaurants or contractors.")
    ] = "restaurants"
    language: Annotated[Literal["en", "ja"], Field(description="Language of names and requests: en or ja.")] = "en"
    identical: Annotated[bool, Field(description="Give a customer's businesses identical offers.")] = False


def generate_population(options: PopulationOptions, genesis: Genesis) -> Generated:
    """The population that a market generates with the same seed, counts and `population` setting.

    UsageError for a number or a name that does not fit.
    """
    customers = options.customers
    if customers < 1:
        raise UsageError(f"a population has at least one customer, not {customers}")
    businesses = PER_CUSTOMER * customers if options.businesses is None else options.businesses
    population = options.model_dump(include={"kind", "language", "identical"})
    counts = {"customers": {"count": customers}, "businesses": {"count": businesses}}
    try:
        setup = Setup.model_validate({**counts, "population": population})
    except ValidationError as error:
        raise UsageError(f"no such population can be made: {complaint(error)}") from error
    people = generate(genesis.chance("population"), customers, businesses, setup.population)
    welfare = baselines(people, genesis.chance("baselines"))
    return Generated(
        files={**dict(population_texts(people)), BASELINES: baselines_text(welfare.to_json())},
        title=f"{customers:,} customers and {businesses:,} businesses",
        document={
            "customers": customers,
            "businesses": businesses,
            "seed": genesis.seed,
            "population": population,
            "baselines": welfare.to_json(),
        },
        heads=("what customers choose", "welfare"),
        values_cents={
            "any business with the items": round(100 * welfare.pick_any.median),
            "the cheapest of them": welfare.pick_cheapest_cents,
            "any business with all": round(100 * welfare.pick_any_with_amenities.median),
            "best possible": welfare.pick_optimal_cents,
        },
    )


GENERATOR = Generator(
    about="Write made-up customers and businesses as YAML files in the public format, with the welfare they can reach.",
    options=PopulationOptions,
    generate=generate_population,
    setting="data",
)
