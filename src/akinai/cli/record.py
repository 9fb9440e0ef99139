"""Commands about the record itself: replay, verify, export."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TextIO

import typer

from akinai.cli.options import Json, Name, Names, Store, option, place_of
from akinai.cli.shown import document, line, page

FAILED = 1
FORMATS_TOLD = "jsonl or csv, one entry a line; magentic, a market's run as a SQLite database of the public system."


def replay(name: Name, store: Store = None, as_json: Json = False) -> None:
    """Apply every recorded action again and check each outcome."""
    from akinai.runtime import api

    runs = api.replay(name, store=place_of(store), ledgers=False)
    if as_json:
        return document(runs.to_json())
    from akinai.report.tables import played

    page(lambda width: played(runs, width))
    entries = sum(run.entries for run in runs)
    line(f"\nreplayed {entries:,} {'entry' if entries == 1 else 'entries'}: every outcome as recorded")


def verify(names: Names, store: Store = None, as_json: Json = False) -> None:
    """Check by the chain of digests that nobody edited the record."""
    from akinai.runtime import api

    verdicts = api.verify(*names, store=place_of(store))
    ok = all(one.ok for one in verdicts.values())
    if as_json:
        told = {run: one.to_json() for run, one in verdicts.items()}
        document(next(iter(told.values())) if len(told) == 1 else {"ok": ok, "runs": told})
    else:
        for run, one in verdicts.items():
            line(f"{run}: ok" if one.ok else f"{run}: NOT as it was written: entry {one.entry}: {one.why}")
    if not ok:
        raise typer.Exit(FAILED)


def export(
    name: Name,
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help=FORMATS_TOLD)] = "jsonl",
    output: Annotated[Path | None, option("-o", "--output", metavar="FILE", help="Where.", default="stdout")] = None,
    store: Store = None,
) -> None:
    """Write the entries of a run, or a group, for other programs."""
    from akinai.runtime import api

    if format == "magentic":
        return api.export_magentic(name, _expect_file(output), store=place_of(store))
    with ExitStack() as stack:
        file: TextIO | None = None

        def write(text: str) -> None:
            # Opened with the first line, so that an unknown run leaves what is there alone.
            nonlocal file
            file = file or (stack.enter_context(_opened(output)) if output else sys.stdout)
            print(text, file=file)

        try:
            api.export(name, write, format=format, store=place_of(store))
            sys.stdout.flush()
        except BrokenPipeError:  # `akinai export RUN | head` has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _expect_file(output: Path | None) -> Path:
    from akinai.core.errors import UsageError

    if output is None:
        raise UsageError("the format 'magentic' is a database; name a file for it with -o, such as -o market.db")
    return output


def _opened(path: Path) -> TextIO:
    from akinai.core.errors import UsageError

    try:
        return path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}; name another file with -o") from error
