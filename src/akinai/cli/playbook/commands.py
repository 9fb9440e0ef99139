"""Commands for playbooks: show, search, change, restore, import, export and repair."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from akinai.cli.options import Embedder, Json, argument, flag, option, whole_number
from akinai.cli.output import print_json, print_line, print_next_steps, print_page, print_sentence
from akinai.core.presentation.words import counted

if TYPE_CHECKING:
    from akinai.api.playbook import Refined

app = typer.Typer(
    name="playbook",
    no_args_is_help=True,
    help="Read, search, change and repair a playbook, bullet by bullet.",
)

ROWS = 20
"""Default number of rows in a table."""

File = Annotated[str, argument("PLAYBOOK", "A playbook's file, or its name in data/playbooks.")]
Section = Annotated[str | None, option("--section", metavar="S", help="Only this section.", default="all")]


def row_count(text: str) -> int:
    """A number of rows. BadParameter below 0."""
    number = whole_number(text)
    if number < 0:
        raise typer.BadParameter(f"the number of rows is 0 (all) or more, not {number}")
    return number


Rows = Annotated[
    int, option("--rows", metavar="N", help="Maximum number of rows; 0 is all.", default="20", parser=row_count)
]
Reason = Annotated[str, option("--reason", metavar="TEXT", help="The reason to record in the history.")]
Yes = Annotated[bool, flag("--yes", help="Apply the change; without it, only show the change.")]


@app.command()
def show(
    playbook: File,
    id: Annotated[str | None, argument("BULLET", "The id of a bullet to show in full.")] = None,
    section: Section = None,
    rows: Rows = ROWS,
    as_json: Json = False,
) -> None:
    """Show sections and bullets with their records, or one bullet in full."""
    from akinai.api.playbook import open_playbook
    from akinai.cli.playbook import tables

    loaded = open_playbook(playbook).load()
    if id is not None:
        bullet = loaded[id]
        return (
            print_json(tables.bullet_json(bullet)) if as_json else print_page(lambda _: tables.bullet_details(bullet))
        )
    sections = [loaded.section(section)] if section is not None else list(loaded.sections)
    if as_json:
        return print_json(tables.playbook_json(loaded, sections))
    return print_page(lambda width: tables.overview(loaded, sections, rows, width))


@app.command()
def search(
    playbook: File,
    words: Annotated[list[str], argument("WORDS...", "Words to search for.")],
    top: Annotated[
        int, option("--top", metavar="N", help="Maximum number of bullets.", default="10", parser=whole_number)
    ] = 10,
    section: Section = None,
    alpha: Annotated[
        float | None,
        option(
            "--alpha",
            metavar="A",
            help="Weight of the vector score, 0 to 1; the rest is the word score.",
            default="0.6",
        ),
    ] = None,
    embedder: Embedder = None,
    as_json: Json = False,
) -> None:
    """Search the bullets; show their scores and the matching words."""
    from akinai.api import playbook as api
    from akinai.cli.playbook import tables

    hits = api.search(playbook, *words, top=top, section=section, alpha=alpha, embedder=embedder)
    query = " ".join(words)
    if as_json:
        return print_json({"query": query, "results": [tables.hit_json(hit) for hit in hits]})
    if not hits:
        count = len(api.open_playbook(playbook).load())
        return print_sentence(f"no bullet of {count:,} has a word of {query!r}")
    return print_page(lambda width: tables.hit_rows(hits, width))


@app.command()
def add(
    playbook: File,
    content: Annotated[str, argument("TEXT", "The text of the bullet.")],
    section: Annotated[str, option("--section", metavar="S", help="The section of the bullet; created if missing.")],
    keywords: Annotated[
        str | None,
        option(
            "--keywords", metavar="A,B", help="Keywords, separated by commas.", default="the most distinctive words"
        ),
    ] = None,
    reason: Reason = "added by hand",
    as_json: Json = False,
) -> None:
    """Add a bullet by hand; creates the playbook if it is missing."""
    from akinai.api import playbook as api
    from akinai.cli.playbook import tables

    file = api.open_playbook(playbook, new=True)
    old_sections = [old.name for old in file.load().sections] if file.path.exists() else []
    saved = api.add(playbook, content, section=section, keywords=keywords, reason=reason)
    bullet = saved.playbook.section(section).bullets[-1]
    if as_json:
        return print_json({"change": saved.n, "bullet": tables.bullet_json(bullet)})
    new = ""
    if old_sections and bullet.section not in old_sections:
        new = f", a new section beside {', '.join(old_sections)}"
    return print_sentence(f"added {bullet.id} to {bullet.section}, change {saved.n}{new}")


@app.command()
def history(playbook: File, rows: Rows = ROWS, as_json: Json = False) -> None:
    """List every change, first to last, with its reason."""
    from akinai.api import playbook as api
    from akinai.cli.playbook import tables

    changes = api.history(playbook)
    if as_json:
        return print_json({"changes": [tables.change_json(change) for change in changes]})
    if not changes:
        return print_sentence("no change is on record: the next one begins the journal")
    print_page(lambda width: tables.change_rows(changes, rows, width))
    last = changes[-1].n
    steps = {f"akinai playbook diff {playbook} {last - 1} {last}": "what the last one did"} if last > 1 else {}
    return print_next_steps(steps)


@app.command()
def diff(
    playbook: File,
    a: Annotated[int, argument("A", "A point of the history; 0 is the empty playbook.")],
    b: Annotated[int, argument("B", "Another point of the history.")],
    rows: Rows = ROWS,
    as_json: Json = False,
) -> None:
    """Show what was added, removed and changed between two points of the history."""
    from akinai.api import playbook as api
    from akinai.cli.playbook import tables

    difference = api.diff(playbook, a, b)
    if as_json:
        return print_json(tables.difference_json(difference))
    return print_page(lambda width: tables.difference_rows(difference, rows, width))


@app.command()
def rollback(
    playbook: File,
    point: Annotated[int, argument("N", "The change to go back to; 0 is the empty playbook.")],
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Restore the playbook after change N. The rollback is a change too, and can be rolled back."""
    from akinai.api import playbook as api

    saved = api.rollback(playbook, point, reason=reason)
    if as_json:
        return print_json({"change": saved.n, "to": point, "bullets": len(saved.playbook)})
    return print_sentence(
        f"as after change {point}: {counted(len(saved.playbook), 'bullet')}; this is change {saved.n}"
    )


@app.command()
def dedup(
    playbook: File,
    threshold: Annotated[
        float, option("--threshold", metavar="C", help="Lowest cosine of near duplicates.", default="0.9")
    ] = 0.9,
    embedder: Embedder = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Merge equal and nearly equal bullets; counters are added up and sources kept."""
    from akinai.api import playbook as api

    refined = api.dedup(playbook, threshold=threshold, embedder=embedder, yes=yes)
    _print_refined(playbook, "dedup", refined, as_json=as_json)


@app.command()
def prune(
    playbook: File,
    below: Annotated[
        float,
        option(
            "--below",
            metavar="C",
            help="Remove bullets whose confidence is below C, with a certainty of 95 %.",
            default="0.5",
        ),
    ] = 0.5,
    uses: Annotated[
        int,
        option(
            "--after-uses",
            metavar="N",
            help="Minimum number of uses before a bullet is judged.",
            default="5",
            parser=whole_number,
        ),
    ] = 5,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove bullets that were used often and seldom right."""
    from akinai.api import playbook as api

    refined = api.prune(playbook, below=below, after_uses=uses, yes=yes)
    _print_refined(playbook, "prune", refined, as_json=as_json)


def _print_refined(playbook: str, command: str, refined: "Refined", *, as_json: bool) -> None:
    """Print what a refinement changed, or would change."""
    from akinai.api.playbook import open_playbook
    from akinai.cli.playbook import tables

    refinement, saved = refined.refinement, refined.saved
    if as_json:
        return print_json(tables.refinement_json(refinement, saved.n if saved else None))
    if not refinement.merges and not refinement.removals:
        return print_sentence("no bullet is to be " + ("merged" if command == "dedup" else "left out"))
    file = open_playbook(playbook)
    print_page(lambda width: tables.refinement_rows(file.at(saved.n - 1) if saved else file.load(), refinement, width))
    if saved:
        return print_next_steps({f"akinai playbook rollback {playbook} {saved.n - 1}": "if that was a mistake"})
    print_line()
    print_sentence("nothing was changed")
    return print_next_steps({f"akinai playbook {command} {playbook} --yes": "do it; every bullet can be brought back"})


@app.command("import")
def import_(
    playbook: File,
    source: Annotated[Path, argument("FROM", "JSON, YAML, or a text: ACE's, a list, a cheatsheet, a rule file.")],
    replace: Annotated[bool, flag("--replace", help="Replace the bullets of an existing playbook.")] = False,
    as_json: Json = False,
) -> None:
    """Make a playbook from a file in another form."""
    from akinai.api import playbook as api

    saved = api.import_(playbook, source, replace=replace)
    if as_json:
        return print_json({"change": saved.n, "bullets": len(saved.playbook)})
    return print_sentence(f"{counted(len(saved.playbook), 'bullet')} from {source}, change {saved.n}")


@app.command()
def export(
    playbook: File,
    target: Annotated[
        Path, argument("TO", "A file that ends in .json, .yaml, .txt or .md (the text that was imported, else ACE's).")
    ],
) -> None:
    """Write the playbook in another form."""
    from akinai.api import playbook as api

    print_sentence(f"{len(api.export(playbook, target)):,} bullets written to {target}")


@app.command()
def recover(playbook: File, as_json: Json = False) -> None:
    """Repair unreadable files from each other; a copy of what cannot be read is kept."""
    from akinai.api import playbook as api

    recovered = api.recover(playbook)
    copies = [str(path) for path in recovered.copies]
    if as_json:
        return print_json({"bullets": len(recovered.playbook), "kept": copies})
    if not copies:
        return print_sentence(f"nothing to mend: {counted(len(recovered.playbook), 'bullet')} can be read")
    return print_sentence(
        f"{counted(len(recovered.playbook), 'bullet')} recovered; what could not be read is in {', '.join(copies)}"
    )
