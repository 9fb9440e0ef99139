"""The commands over markets: making a population."""

from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import Json, flag, option, whole
from akinai.cli.shown import command, document, next_steps, page

if TYPE_CHECKING:
    from rich.console import RenderableType

    from akinai.runtime.populations import Written

app = typer.Typer(name="market", no_args_is_help=True, help="Make populations for the market.")


@app.callback()
def market() -> None:
    """Make populations for the market."""


@app.command()
def generate(
    output: Annotated[str, option("-o", "--output", metavar="DIR", help="A folder that is new or empty.")],
    customers: Annotated[int, option("--customers", metavar="N", help="Customers.", default="2", parser=whole)] = 2,
    businesses: Annotated[
        int | None, option("--businesses", metavar="M", help="Businesses.", default="3 for each customer", parser=whole)
    ] = None,
    seed: Annotated[int, option("--seed", metavar="S", help="What decides all chance.", default="1", parser=whole)] = 1,
    kind: Annotated[
        str, option("--kind", metavar="K", help="restaurants or contractors.", default="restaurants")
    ] = "restaurants",
    language: Annotated[str, option("--language", metavar="L", help="en or ja.", default="en")] = "en",
    identical: Annotated[bool, flag("--identical", help="All offers that a customer can get are the same.")] = False,
    as_json: Json = False,
) -> None:
    """Write customers and businesses of your own as YAML files in the public format, and what they could come to."""
    from akinai.runtime.populations import write_population
    from akinai.worlds.market.generated import PER_CUSTOMER

    made = write_population(
        output,
        customers=customers,
        businesses=PER_CUSTOMER * customers if businesses is None else businesses,
        seed=seed,
        kind=kind,
        language=language,
        identical=identical,
    )
    if as_json:
        return document(made.to_json())
    page(lambda width: _shown(made, width))
    return next_steps({command(None, "run", "market", "--set", f"data={made.folder}"): "play it"})


def _shown(made: "Written", width: int) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from akinai.core.money import format_cents
    from akinai.report.columns import Column, fitted

    told = made.baselines
    rows = {
        "any business with the items": told.pick_any.median,
        "the cheapest of them": told.pick_cheapest_cents / 100,
        "any business with all": told.pick_any_with_amenities.median,
        "best possible": told.pick_optimal_cents / 100,
    }
    title = Text(f"{made.customers:,} customers and {made.businesses:,} businesses in {made.folder}", "bold")
    welfare = [format_cents(round(100 * value)) for value in rows.values()]
    return Group(
        title,
        Text(""),
        fitted([Column("what customers choose", list(rows), words=True), Column("welfare", welfare)], width),
    )
