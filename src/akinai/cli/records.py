"""Commands about the record of runs: runs, replay, verify, diff, export."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from akinai.cli.options import Json, RunName, RunNames, Store, argument, option, store_address
from akinai.cli.output import FAILED, print_json, print_line, print_next_steps, print_page

FORMATS = (
    "jsonl or csv: one entry per line. magentic: a market run as a SQLite database that the tools of Magentic "
    "Marketplace read."
)


def runs(store: Store = None, as_json: Json = False) -> None:
    """List the runs in the store, oldest first."""
    from akinai import api

    address = store_address(store)
    if as_json:
        return print_json(api.runs(store=address, ledgers=False).to_json())
    from akinai.report.tables.runs import headers_table

    headers = api.headers(address)
    if headers:
        return print_page(lambda width: headers_table(headers, width))
    print_line("no runs yet")
    return print_next_steps({"akinai run vending": "play one"})


def replay(name: RunName, store: Store = None, as_json: Json = False) -> None:
    """Apply every recorded action again and check that each outcome is the recorded one."""
    from akinai import api

    runs = api.replay(name, store=store_address(store), ledgers=False)
    if as_json:
        return print_json(runs.to_json())
    from akinai.report.tables.runs import runs_page

    print_page(lambda width: runs_page(runs, width))
    entries = sum(run.entries for run in runs)
    print_line(f"\nreplayed {entries:,} {'entry' if entries == 1 else 'entries'}: every outcome as recorded")


def verify(names: RunNames, store: Store = None, as_json: Json = False) -> None:
    """Check records against their chain of digests, which shows any later edit."""
    from akinai import api

    verdicts = api.verify(*names, store=store_address(store))
    ok = all(verdict.ok for verdict in verdicts.values())
    if as_json:
        documents = {run: verdict.to_json() for run, verdict in verdicts.items()}
        print_json(next(iter(documents.values())) if len(documents) == 1 else {"ok": ok, "runs": documents})
    else:
        for run, verdict in verdicts.items():
            wrong = f"NOT as it was written: entry {verdict.entry}: {verdict.why}"
            print_line(f"{run}: ok" if verdict.ok else f"{run}: {wrong}")
    if not ok:
        raise typer.Exit(FAILED)


def diff(
    a: Annotated[str, argument("A", "A run.")],
    b: Annotated[str, argument("B", "Another run.")],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show the first entry at which two runs differ, then both runs day by day."""
    from akinai import api

    found = api.diff(a, b, store=store_address(store))
    if as_json:
        return print_json(found.to_json())
    from akinai.report.tables.diffs import diff_page

    return print_page(lambda width: diff_page(found, width))


def export(
    name: RunName,
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help=FORMATS)] = "jsonl",
    output: Annotated[
        Path | None, option("-o", "--output", metavar="FILE", help="The file to write.", default="stdout")
    ] = None,
    store: Store = None,
) -> None:
    """Write the entries of a run, or of a group's runs, for other programs."""
    from akinai import api

    try:
        api.export(name, format=format, output=output or sys.stdout, store=store_address(store))
        sys.stdout.flush()
    except BrokenPipeError:  # `akinai export RUN | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
