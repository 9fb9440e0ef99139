"""Commands that read what was played: runs, diff."""

from typing import Annotated

from akinai.cli.options import Json, Store, argument, place_of
from akinai.cli.shown import document, line, next_steps, page


def runs(store: Store = None, as_json: Json = False) -> None:
    """List the runs of the store, oldest first."""
    from akinai.runtime import api

    place = place_of(store)
    if as_json:
        return document(api.runs(store=place, ledgers=False).to_json())
    from akinai.report.tables import headers_table

    headers = api.headers(place)
    if headers:
        return page(lambda width: headers_table(headers, width))
    line("no runs yet")
    return next_steps({"akinai run vending": "play one"})


def diff(
    a: Annotated[str, argument("A", "A run.")],
    b: Annotated[str, argument("B", "Another.")],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show the first entry where two runs part, then their states by day."""
    from akinai.runtime import api

    told = api.diff(a, b, store=place_of(store))
    if as_json:
        return document(told.to_json())
    from akinai.report.differences import difference

    return page(lambda width: difference(told, width))
