"""The commands over a playbook's file: read, search, change, go back, carry away, mend."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akinai.cli import playbook_shown as shown
from akinai.cli.options import Json, argument, flag, option, whole
from akinai.cli.shown import document, line, next_steps, page

if TYPE_CHECKING:
    from akinai.learning.playbook_file import PlaybookFile
    from akinai.learning.refine import Refinement

app = typer.Typer(
    name="playbook",
    no_args_is_help=True,
    help="Read, search, change and mend a playbook: what was learned, bullet by bullet.",
)

ROWS = 20
"""Rows of a table unless more are asked for."""

File = Annotated[str, argument("PLAYBOOK", "The path of its file, or its name in data/playbooks.")]
Section = Annotated[str | None, option("--section", metavar="S", help="Of this section alone.", default="all")]
Rows = Annotated[int, option("--rows", metavar="N", help="Rows at most; 0 is all.", default="20", parser=whole)]
Reason = Annotated[str, option("--reason", metavar="TEXT", help="What the history says of it.")]
Yes = Annotated[bool, flag("--yes", help="Do it; else it is only told what would be done.")]


def found(name: str, *, there: bool = True) -> "PlaybookFile":
    """The playbook of a path or a name. UsageError with close matches when none is there, unless it may be new."""
    from akinai.core.errors import UnknownName
    from akinai.learning.playbook_file import PlaybookFile
    from akinai.runtime.learn import PLAYBOOKS

    own = Path(name).expanduser()
    named = PLAYBOOKS / f"{name}.json"
    by_name = own.suffix == "" and own.parent == Path() and not own.exists()
    path = named if by_name or (named.exists() and not own.exists()) else own
    file = PlaybookFile(path)
    if not there or file.exists() or file.journal_path.exists():
        return file
    near = (own.parent, PLAYBOOKS)
    known = {str(one): None for folder in near if folder.is_dir() for one in sorted(folder.glob("*.json"))}
    if own.suffix == "" and own.parent == Path():  # a name was asked for, so names are offered
        known = {Path(one).stem if PLAYBOOKS in Path(one).parents else one: None for one in known}
    raise UnknownName("playbook", name, known, "'akinai learn qa' makes one")


@app.command()
def show(
    playbook: File,
    id: Annotated[str | None, argument("BULLET", "One bullet by its id, in full.")] = None,
    section: Section = None,
    rows: Rows = ROWS,
    as_json: Json = False,
) -> None:
    """What is in it: sections, bullets and how they did; or one bullet in full."""
    loaded = found(playbook).load()
    if id is not None:
        bullet = loaded[id]
        return document(shown.bullet_json(bullet)) if as_json else page(lambda _: shown.one_bullet(bullet))
    chosen = [loaded.section(section)] if section is not None else list(loaded.sections)
    if as_json:
        return document(shown.playbook_json(loaded, chosen))
    return page(lambda width: shown.overview(loaded, chosen, rows, width))


@app.command()
def search(
    playbook: File,
    words: Annotated[list[str], argument("WORDS...", "What to look for.")],
    top: Annotated[int, option("--top", metavar="N", help="Bullets at most.", default="10", parser=whole)] = 10,
    section: Section = None,
    alpha: Annotated[
        float | None, option("--alpha", metavar="A", help="Share of the vectors, 0 to 1.", default="0.6")
    ] = None,
    as_json: Json = False,
) -> None:
    """The bullets that words find, with their scores and the words that matched."""
    from akinai.core.errors import UsageError
    from akinai.learning.index import PlaybookIndex, SearchQuery

    file = found(playbook)
    loaded = file.load()
    if section is not None:
        loaded.section(section)  # UnknownName with close matches
    try:
        query = SearchQuery(" ".join(words), top, section, min_confidence=0.0)
        hits = PlaybookIndex(loaded).search(query, alpha=alpha)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if as_json:
        return document({"query": query.query_text, "results": [shown.hit_json(hit) for hit in hits]})
    if not hits:
        return line(f"no bullet of {len(loaded):,} has a word of {query.query_text!r}")
    return page(lambda width: shown.hits(hits, width))


@app.command()
def add(
    playbook: File,
    content: Annotated[str, argument("TEXT", "The bullet.")],
    section: Annotated[str, option("--section", metavar="S", help="Where it goes; made where it is not there.")],
    keywords: Annotated[
        str | None, option("--keywords", metavar="A,B", help="Separated by commas.", default="the telling words")
    ] = None,
    reason: Reason = "added by hand",
    as_json: Json = False,
) -> None:
    """Add a bullet by hand, to a new playbook too."""
    from akinai.core.errors import UsageError
    from akinai.learning.deltas import Delta, Operation
    from akinai.learning.playbook import Section as Heading
    from akinai.learning.playbook import unfit_name

    if why := unfit_name(section):
        raise UsageError(f"a section named {section!r:.60}: the name {why}")
    file = found(playbook, there=False)
    beside = [one.name for one in file.load().sections] if file.path.exists() else []
    file.begin([Heading(section)])
    words = tuple(one.strip() for one in keywords.split(",") if one.strip()) if keywords is not None else None
    saved = file.commit(Delta("", (Operation("ADD", section, content=content, keywords=words),), reason=reason))
    if saved.refusals:
        raise UsageError(saved.refusals[0].text)
    bullet = saved.playbook.section(section).bullets[-1]
    if as_json:
        return document({"change": saved.n, "bullet": shown.bullet_json(bullet)})
    new = f", a new section beside {', '.join(beside)}" if beside and section not in beside else ""
    return line(f"added {bullet.id} to {section}, change {saved.n}{new}")


@app.command()
def history(playbook: File, rows: Rows = ROWS, as_json: Json = False) -> None:
    """Every change that was made, first to last, with its reason."""
    changes = found(playbook).history()
    if as_json:
        return document({"changes": [shown.change_json(change) for change in changes]})
    if not changes:
        return line("no change is on record: the next one begins the journal")
    page(lambda width: shown.changes(changes, rows, width))
    last = changes[-1].n
    steps = {f"akinai playbook diff {playbook} {last - 1} {last}": "what the last one did"} if last > 1 else {}
    return next_steps(steps)


@app.command()
def diff(
    playbook: File,
    a: Annotated[int, argument("A", "A change of the history; 0 is the empty playbook.")],
    b: Annotated[int, argument("B", "Another.")],
    rows: Rows = ROWS,
    as_json: Json = False,
) -> None:
    """What was added, removed and changed between two points of the history."""
    found_difference = found(playbook).diff(a, b)
    if as_json:
        return document(shown.difference_json(found_difference))
    return page(lambda width: shown.differences(found_difference, rows, width))


@app.command()
def rollback(
    playbook: File,
    point: Annotated[int, argument("N", "The change after which it was as it should be; 0 is the empty playbook.")],
    reason: Reason = "",
    as_json: Json = False,
) -> None:
    """Make it what it was after change N. That is a change too, and can be rolled back."""
    saved = found(playbook).rollback(point, reason=reason)
    if as_json:
        return document({"change": saved.n, "to": point, "bullets": len(saved.playbook)})
    return line(f"as after change {point}: {len(saved.playbook):,} bullets; this is change {saved.n}")


@app.command()
def dedup(
    playbook: File,
    threshold: Annotated[
        float, option("--threshold", metavar="C", help="The cosine of near duplicates.", default="0.9")
    ] = 0.9,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Merge equal and nearly equal bullets: their counters are added up and their sources kept."""
    from akinai.learning import refine

    _refine(playbook, "dedup", lambda loaded: refine.dedup(loaded, threshold=threshold), yes=yes, as_json=as_json)


@app.command()
def prune(
    playbook: File,
    below: Annotated[
        float, option("--below", metavar="C", help="Confidence that it must have been able to reach.", default="0.5")
    ] = 0.5,
    uses: Annotated[
        int, option("--after-uses", metavar="N", help="Uses before it is judged.", default="5", parser=whole)
    ] = 5,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Leave out bullets that were used often and seldom right."""
    from akinai.learning import refine

    _refine(
        playbook, "prune", lambda loaded: refine.prune(loaded, below=below, min_uses=uses), yes=yes, as_json=as_json
    )


def _refine(playbook: str, kind: Any, refined: Any, *, yes: bool, as_json: bool) -> None:
    """Tell what a refinement would do; do it where that was asked for."""
    from akinai.core.errors import UsageError

    file = found(playbook)
    try:
        refinement: Refinement = refined(file.load())
        saved = file.change(kind, refined) if yes else None
    except ValueError as error:
        raise UsageError(str(error)) from error
    if as_json:
        return document(shown.refinement_json(refinement, saved.n if saved else None))
    if not refinement.merges and not refinement.removals:
        return line("no bullet is to be " + ("merged" if kind == "dedup" else "left out"))
    page(lambda width: shown.refinement(file.at(saved.n - 1) if saved else file.load(), refinement, width))
    if saved:
        return next_steps({f"akinai playbook rollback {playbook} {saved.n - 1}": "if that was a mistake"})
    line("\nnothing was changed")
    return next_steps({f"akinai playbook {kind} {playbook} --yes": "do it; every bullet can be brought back"})


@app.command("import")
def import_(
    playbook: File,
    source: Annotated[Path, argument("FROM", "JSON, YAML, or ACE's text (.txt, .md).")],
    replace: Annotated[bool, flag("--replace", help="In place of what is in the playbook.")] = False,
    as_json: Json = False,
) -> None:
    """Make a playbook of a file that somebody else wrote."""
    from akinai.core.errors import UsageError
    from akinai.learning.playbook_file import Edit
    from akinai.learning.portable import import_playbook

    read = import_playbook(source)
    file = found(playbook, there=False)
    there = len(file.load()) if file.exists() else 0
    if there and not replace:
        raise UsageError(
            f"{playbook} holds {there:,} bullets and an import would replace them; "
            "say --replace (it can be rolled back)"
        )
    saved = file.change("import", lambda _: Edit(read, f"from {source.name}"))
    if as_json:
        return document({"change": saved.n, "bullets": len(saved.playbook)})
    return line(f"{len(saved.playbook):,} bullets from {source}, change {saved.n}")


@app.command()
def export(
    playbook: File, target: Annotated[Path, argument("TO", "Ending in .json, .yaml, .txt or .md (ACE's text).")]
) -> None:
    """Write it in another form."""
    from akinai.core.errors import UsageError
    from akinai.learning.portable import export_playbook

    loaded = found(playbook).load()
    try:
        export_playbook(loaded, target)
    except OSError as error:
        raise UsageError(f"cannot write {str(target)!r}: {error.strerror}; name another file") from error
    line(f"{len(loaded):,} bullets written to {target}")


@app.command()
def recover(playbook: File, as_json: Json = False) -> None:
    """Make unreadable files readable again from each other; what cannot be read is kept beside them."""
    recovered = found(playbook).recover()
    kept: Sequence[str] = [str(path) for path in recovered.kept]
    if as_json:
        return document({"bullets": len(recovered.playbook), "kept": kept})
    if not kept:
        return line(f"nothing to mend: {len(recovered.playbook):,} bullets can be read")
    return line(f"{len(recovered.playbook):,} bullets recovered; what could not be read is in {', '.join(kept)}")
