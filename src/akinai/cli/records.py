"""Commands about the record of runs: list, delete, replay, verify, merge, diff, export, and leaderboards."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import (
    Csv,
    Jobs,
    Json,
    On,
    RunName,
    RunNames,
    Store,
    argument,
    flag,
    option,
    process_count,
    store_address,
    whole_number,
)
from akinai.cli.output import (
    FAILED,
    command_line,
    print_error,
    print_json,
    print_line,
    print_next_steps,
    print_page,
    print_sentence,
)
from akinai.core.errors import UsageError
from akinai.core.presentation.words import counted

if TYPE_CHECKING:
    from akinai.runtime.runs.verification import Covered, Verdict

DIGESTS: "Mapping[Covered, str]" = {"final": "final digest", "header": "header", "card": "card"}
FORMATS = (
    "jsonl or csv: one entry per line. inspect: a log of Inspect AI with a sample per seed. magentic: a market run as "
    "a SQLite database that the tools of Magentic Marketplace read."
)


MOST_LISTED = 200
"""Runs that a table lists unless --limit says otherwise."""

Limit = Annotated[
    int | None,
    option(
        "--limit",
        metavar="N",
        help="The newest N runs; 0 lists all.",
        default=f"{MOST_LISTED}, with --json or --csv all",
        parser=whole_number,
    ),
]


def runs(
    group: Annotated[str | None, option("--group", metavar="NAME", help="Runs of this group or sweep alone.")] = None,
    status: Annotated[
        str | None, option("--status", metavar="STATUS", help="Runs that are open, done or failed.")
    ] = None,
    limit: Limit = None,
    deleted: Annotated[bool, flag("--deleted", help="Runs that were deleted, which are left out otherwise.")] = False,
    store: Store = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """List the runs in the store, oldest first. Nothing is scored: `akinai analyze` reads the ledgers."""
    from akinai import api

    read = partial(api.headers, store_address(store), group=group, status=status, deleted=deleted)
    if as_json:
        return print_json({"runs": [header.to_json() for header in read(limit=limit)]})
    from akinai.report.tables.runs import headers_page, headers_table

    if as_csv:
        return print_line(headers_table(read(limit=limit)).csv)
    most = MOST_LISTED if limit is None else limit
    # One more than is listed says whether there are more.
    headers = read(limit=most + 1 if limit is None else limit)
    listed = headers[-most:] if most else headers
    if listed:
        print_page(lambda width: headers_page(listed, width))
        if len(listed) < len(headers):
            print_line()
            print_sentence(f"the newest {most:,} runs; --limit N lists more, --limit 0 all, --group and --status some")
        return None
    if group or status or deleted:
        return print_sentence("no such runs")
    print_sentence("no runs yet")
    return print_next_steps({"akinai run vending": "play one"})


def delete(
    names: RunNames,
    forever: Annotated[bool, flag("--forever", help="Remove the records for good, after a question.")] = False,
    yes: Annotated[bool, flag("--yes", help="Do not ask before --forever removes records.")] = False,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Leave runs out of every list and group.

    Their records stay, and each can still be read by its own name. `akinai restore` brings them back.

    After --forever nothing does.
    """
    from akinai import api

    if forever and not yes and sys.stdin.isatty():
        from akinai.report.language import translate

        yes = typer.confirm(f"{translate('Delete for good, with all records:')} {', '.join(names)}?", err=True)
    ids = api.delete(*names, forever=forever, yes=yes, store=store_address(store))
    if forever and not as_json:
        return print_sentence(f"deleted for good: {', '.join(ids)}")
    if as_json:
        return print_json({"deleted": list(ids)})
    print_sentence(f"deleted: {', '.join(ids)}" if ids else "nothing to delete: they are deleted already")
    return print_next_steps({command_line(store, "restore", *names): "bring them back"}) if ids else None


def restore(names: RunNames, store: Store = None, as_json: Json = False) -> None:
    """Bring deleted runs back into lists and groups; `akinai runs --deleted` lists them."""
    from akinai import api

    ids = api.restore(*names, store=store_address(store))
    if as_json:
        return print_json({"restored": list(ids)})
    return print_sentence(f"restored: {', '.join(ids)}" if ids else "nothing to restore: none of them is deleted")


def replay(name: RunName, store: Store = None, as_json: Json = False) -> None:
    """Apply every recorded action again and check that each outcome is the recorded one."""
    from akinai import api

    runs = api.replay(name, store=store_address(store), ledgers=False)
    if as_json:
        return print_json(runs.to_json())
    from akinai.report.tables.runs import runs_page

    print_page(lambda width: runs_page(runs, width))
    entries = sum(run.entries for run in runs)
    print_line()
    print_sentence(f"replayed {counted(entries, 'entry')}: every outcome as recorded")


def verify(
    names: RunNames,
    digest: Annotated[
        str | None,
        option("--digest", metavar="HEX", help="A digest of the run that was noted or published: compare with it."),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Check records against their chain of digests, and print the digests.

    Whoever edits a store can compute its chain anew. Publish the final digest: with --digest it shows any later edit.
    """
    from akinai import api

    verdicts = api.verify(*names, digest=digest, store=store_address(store))
    ok = all(verdict.ok for verdict in verdicts.values())
    if as_json:
        documents = {run: verdict.to_json() for run, verdict in verdicts.items()}
        print_json(next(iter(documents.values())) if len(documents) == 1 else {"ok": ok, "runs": documents})
    else:
        print_line("\n".join(line for run, verdict in verdicts.items() for line in _verdict_lines(run, verdict)))
    if not ok:
        raise typer.Exit(FAILED)


def _verdict_lines(run: str, verdict: "Verdict") -> Iterator[str]:
    """The lines about one run: whether its record is intact, and its digests in full."""
    from akinai.report.language import translate, translate_sentence
    from akinai.report.language.lines import columns

    if verdict.ok:
        matches = f"; the digest is its {DIGESTS[verdict.matches]}" if verdict.matches else ""
        yield translate_sentence(f"{run}: ok, {counted(verdict.entries or 0, 'entry')}{matches}")
    else:
        entry = f"entry {verdict.entry}: " if verdict.entry else ""
        yield translate_sentence(f"{run}: NOT as it was written: {entry}{verdict.why}")
    if verdict.note:
        yield f"  {translate_sentence(verdict.note)}"
    names = {covered: translate(name) for covered, name in DIGESTS.items()}
    widest = max(map(columns, names.values()))
    for covered, value in verdict.digests.items():
        if value:
            yield f"  {names[covered]}{' ' * (widest - columns(names[covered]))}  {value}"


def merge(
    out: Annotated[str, argument("OUT", "The store to merge into; it is made where there is none.")],
    stores: Annotated[list[str], argument("IN...", "Stores whose runs are copied.")],
    as_json: Json = False,
) -> None:
    """Copy all runs of some stores into one, with equal digests; done again, it changes nothing."""
    from akinai import api
    from akinai.report.language import translate, translate_sentence

    merged = api.merge(out, *stores)
    if as_json:
        return print_json(merged.to_json())
    counts = {"added": merged.added, "grown since": merged.grown, "there already": merged.same}
    parts = [translate_sentence(f"{len(runs):,} {name}") for name, runs in counts.items() if runs]
    print_line(f"{out}: {', '.join(parts) or translate('no runs')}")
    return print_next_steps({f"akinai runs --store {shlex.quote(out)}": "list them"})


def diff(
    a: Annotated[str, argument("A", "A run.")],
    b: Annotated[str, argument("B", "Another run.")],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show the first entry at which two runs differ, then both runs day by day."""
    from akinai import api

    difference = api.diff(a, b, store=store_address(store))
    if as_json:
        return print_json(difference.to_json())
    from akinai.report.tables.diffs import diff_page

    return print_page(lambda width: diff_page(difference, width))


def export(
    name: RunName,
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help=FORMATS)] = "jsonl",
    output: Annotated[
        Path | None,
        option("-o", "--output", metavar="FILE", help="The file to write.", default="stdout, or RUN.eval"),
    ] = None,
    store: Store = None,
) -> None:
    """Write the entries of a run, or of a group's runs, for other programs."""
    from akinai import api
    from akinai.runtime.export.eval_log.writing import FORMAT, SUFFIX
    from akinai.runtime.export.lines import LINE_FORMATS

    if format == FORMAT:
        path = output or Path(f"{name}{SUFFIX}")
        api.export(name, format=format, output=path, store=store_address(store))
        print_sentence(f"wrote {path}")
        return print_next_steps({f"inspect view --log-dir {path.parent}": "read it in Inspect AI's viewer"})
    try:
        # A terminal gets text that it does not obey, a file or a pipe the exact text.
        to_terminal = output is None and sys.stdout.isatty()
        file = None if to_terminal and format in LINE_FORMATS else output or sys.stdout
        for line in api.export(name, format=format, output=file, store=store_address(store)):
            print_line(line)
        sys.stdout.flush()
    except BrokenPipeError:  # `akinai export RUN | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return None


LEADERBOARD = Path("akinai-leaderboard")
MOST_REFUSALS = 20
"""Refusals that are printed."""


def leaderboard(
    names: Annotated[
        list[str], argument("RUN... | check DIR", "Runs and groups to write; or 'check' and a folder to check.")
    ],
    output: Annotated[
        Path, option("-o", "--output", metavar="DIR", help="The folder to write to.", default=str(LEADERBOARD))
    ] = LEADERBOARD,
    jobs: Jobs = None,
    on: On = None,
    key: Annotated[
        Path | None, option("--key", metavar="FILE", help="The key of sealed games.", default="none: practice seeds")
    ] = None,
    store: Store = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Write a leaderboard with ties, its figures and its ledgers; or replay one and refuse what does not hold."""
    if names[0] == "check" and len(names) == 2:
        if as_csv:
            raise UsageError("a check prints no table; leave --csv out")
        return _check_leaderboard(names[1], process_count(jobs, ""), on, as_json=as_json)
    from akinai.analysis.leaderboard import board_table
    from akinai.report.page.leaderboard import leaderboard as write

    address = store_address(store)
    written = write(*names, output=output, jobs=process_count(jobs, address), on=on, key=key, store=address)
    if as_json:
        return print_json(written.to_json())
    if as_csv:
        return print_line("\n\n".join(board_table(board).csv for board in written.boards))
    from akinai.report.tables.analyses import boards_page

    print_page(lambda width: boards_page(written.boards, width))
    print_line()
    print_sentence(f"wrote {written.page}")
    log = "leaderboard.json, ledgers.db and log.jsonl" if key else "leaderboard.json and ledgers.db"
    print_sentence(f"      with {log} beside it")
    print_sentence(f"open  {written.page.resolve().as_uri()}")
    return None


def _check_leaderboard(folder: str, jobs: int, on: str | None, *, as_json: bool) -> None:
    from akinai.report.page.leaderboard import check_leaderboard, leaderboard_claims

    refusals = check_leaderboard(folder, jobs=jobs, on=on)
    claims = leaderboard_claims(folder)
    if as_json:
        document = [{"row": refusal.row, "kind": refusal.kind, "why": refusal.why} for refusal in refusals]
        print_json({"ok": not refusals, "refused": document, "claims": claims})
    elif not refusals and claims:
        print_sentence(f"{folder}: ok, as far as it can be checked")
        print_sentence(claims)
    elif not refusals:
        print_sentence(f"{folder}: ok, every ledger replayed and every figure made again")
    if refusals:
        for refusal in refusals[:MOST_REFUSALS]:
            print_error(f"refused: {refusal.row or 'the leaderboard'}: {refusal.kind}: {refusal.why}")
        if len(refusals) > MOST_REFUSALS:
            print_error(f"and {len(refusals) - MOST_REFUSALS:,} more; --json tells all")
        raise typer.Exit(FAILED)
