"""The command about leaderboards: to write one, and to check one that somebody else has written."""

from pathlib import Path
from typing import Annotated

import typer

from akinai.cli.options import Json, Store, argument, option, store_address
from akinai.cli.output import FAILED, print_error, print_json, print_line

FOLDER = Path("akinai-leaderboard")
MOST_REFUSALS = 20
"""Refusals that are printed."""


def leaderboard(
    names: Annotated[
        list[str], argument("RUN... | check DIR", "Runs and groups to write; or 'check' and a folder to check.")
    ],
    output: Annotated[
        Path, option("-o", "--output", metavar="DIR", help="The folder to write to.", default=str(FOLDER))
    ] = FOLDER,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Write a leaderboard with ties, its figures and its ledgers; or replay one and refuse what does not hold."""
    if names[0] == "check" and len(names) == 2:
        return _check(names[1], as_json=as_json)
    from akinai.report.page.leaderboard import leaderboard as write

    written = write(*names, output=output, store=store_address(store))
    if as_json:
        return print_json(written.to_json())
    print_line(f"wrote {written.page}")
    print_line("      with leaderboard.json and ledgers.db beside it")
    print_line(f"open  {written.page.resolve().as_uri()}")
    return None


def _check(folder: str, *, as_json: bool) -> None:
    from akinai.report.page.leaderboard import check_leaderboard

    refused = check_leaderboard(folder)
    if as_json:
        document = [{"row": found.row, "kind": found.kind, "why": found.why} for found in refused]
        print_json({"ok": not refused, "refused": document})
    elif not refused:
        print_line(f"{folder}: ok, every ledger replayed and every figure made again")
    if refused:
        for found in refused[:MOST_REFUSALS]:
            print_error(f"refused: {found.row or 'the leaderboard'}: {found.kind}: {found.why}")
        if len(refused) > MOST_REFUSALS:
            print_error(f"and {len(refused) - MOST_REFUSALS:,} more; --json tells all")
        raise typer.Exit(FAILED)
