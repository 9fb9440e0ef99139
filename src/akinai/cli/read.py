"""Commands that read what was played: runs, analyze, compare, diff."""

from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import Json, Names, Store, argument, option, place_of
from akinai.cli.shown import document, line, next_steps, page, say

if TYPE_CHECKING:
    from akinai.core.statistics import Comparison
    from akinai.runtime.runs import Runs

FAILED = 1

First = Annotated[str, argument("A", "A run or a group.")]
Second = Annotated[str, argument("B", "Another.")]
Gain = Annotated[
    str | None,
    option("--gain", metavar="X", help="Tell how many seeds would show a gain of X, in dollars for money."),
]


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


def analyze(names: Names, store: Store = None, as_json: Json = False) -> None:
    """Scores of runs and groups, and what many say together."""
    from akinai.runtime import api

    found = api.runs(*names, store=place_of(store), ledgers=False)
    groups = found.by_agent()
    if as_json:
        told = found.to_json()
        if len(groups) > 1:
            told["groups"] = {
                agent: {name: one.to_json() for name, one in runs.summary().items()} for agent, runs in groups.items()
            }
        document(told)
    else:
        from akinai.report.tables import analysis

        page(lambda width: analysis(found, groups, width))
    troubled = [run for run in found if run.trouble]
    for run in troubled:
        say(f"run {run.id} cannot be scored: {run.trouble}")
    if troubled:
        raise typer.Exit(FAILED)


def compare(
    a: First,
    b: Second,
    gain: Gain = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Compare B with A, paired by seed: how much, and how sure."""
    from akinai.runtime import api

    place = place_of(store)
    one, two = (api.runs(name, store=place, ledgers=False) for name in (a, b))
    scores, units = one.compare(two), one.units()
    needed = _seeds_needed(scores, units, gain) if gain is not None else {}
    if as_json:
        from akinai.runtime.runs import card_of

        return document(
            {
                "a": _side(a, one),
                "b": _side(b, two),
                "scores": {
                    name: told.to_json() | {"unit": units[name]} | ({"seeds_needed": needed[name]} if needed else {})
                    for name, told in scores.items()
                },
                "card": card_of([*one, *two]),
            }
        )
    from akinai.report.differences import comparison

    return page(lambda width: comparison((a, b), scores, units, needed, gain or "", width))


def _side(name: str, runs: "Runs") -> dict[str, object]:
    return {"name": name, "agents": list(dict.fromkeys(run.agent for run in runs)), "runs": [run.id for run in runs]}


def _seeds_needed(scores: "dict[str, Comparison]", units: dict[str, str], gain: str) -> dict[str, int | None]:
    """How many seeds would show a gain, for every score with a spread to judge by."""
    from akinai.core.errors import UsageError
    from akinai.core.statistics import seeds_needed

    try:
        wanted = float(gain.replace("$", "").replace(",", ""))
    except ValueError:
        wanted = 0.0
    if not 0 < wanted < 1e12:
        raise UsageError(f"--gain wants an amount above 0, such as 50 or 12.5, not {gain!r}")
    needed: dict[str, int | None] = {}
    for name, one in scores.items():
        amount = wanted * 100 if units[name] == "cents" else wanted
        spread = one.sd_difference
        needed[name] = seeds_needed(spread, max(amount, spread / 1e5)) if spread is not None else None
    return needed


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
