"""Functions over a playbook's file, as the commands `akinai playbook ...`: `akinai.playbook.show("vending")`.

`playbook` is the path of a file, or its name in `data/playbooks`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from akinai.core.errors import UsageError
from akinai.core.presentation.words import counted
from akinai.learning.playbook.bullets import Bullet, Playbook, Section, name_problem
from akinai.learning.playbook.deltas import Delta, Edit, Operation
from akinai.learning.playbook.file import Recovered, Saved
from akinai.learning.playbook.formats import export_playbook, import_playbook
from akinai.learning.playbook.journal import Change
from akinai.learning.playbook.opening import expect_playbook, open_playbook
from akinai.learning.playbook.patches import Difference
from akinai.learning.search import dedup as refine
from akinai.learning.search.dedup import Refinement
from akinai.learning.search.embedders import EmbedderFitter
from akinai.learning.search.index import PlaybookIndex, SearchQuery, SearchResult
from akinai.learning.search.saved_index import index_of
from akinai.retrieval import Embedder
from akinai.runtime.config.files import new_path


def show(playbook: str | Path, bullet: str | None = None, *, section: str | None = None) -> Playbook | Section | Bullet:
    """A playbook; or one of its sections, or one bullet by its id."""
    loaded = open_playbook(playbook).load()
    if bullet is not None:
        return loaded[bullet]
    return loaded if section is None else loaded.section(section)


def search(
    playbook: str | Path,
    *words: str,
    top: int = 10,
    section: str | None = None,
    alpha: float | None = None,
    embedder: str | None = None,
) -> Sequence[SearchResult]:
    """The bullets that words find, with their scores and the words that matched.

    `alpha` is the share of the vectors in the score, 0 to 1; `embedder` names what makes them. The index is kept beside
    a playbook in .json, where that can be written. UsageError for words,
    numbers or names that do not fit.
    """
    file = open_playbook(playbook)
    loaded = file.load()
    if section is not None:
        section = loaded.section(section).name  # UnknownName with close matches
    try:
        query = SearchQuery(" ".join(words), top, section, min_confidence=0.0)
        PlaybookIndex().search(query, alpha=alpha)  # what cannot be asked writes no index
        vectors = _embedder(embedder)
        return index_of(file, embedder=vectors).search(query, alpha=alpha)
    except ValueError as error:
        raise UsageError(str(error)) from error


def add(
    playbook: str | Path,
    text: str,
    *,
    section: str,
    keywords: str | Sequence[str] | None = None,
    reason: str = "added by hand",
) -> Saved:
    """Add a bullet by hand, to a new playbook too. `keywords` are several, or text separated by commas."""
    if why := name_problem(section):
        raise UsageError(f"a section named {section!r:.60}: the name {why}")
    file = open_playbook(playbook, new=True)
    file.begin([Section(section)])
    several = keywords.split(",") if isinstance(keywords, str) else keywords
    words = tuple(word.strip() for word in several if word.strip()) if several is not None else None
    saved = file.commit(Delta("", (Operation("ADD", section, content=text, keywords=words),), reason=reason))
    if saved.refusals:
        raise UsageError(saved.refusals[0].text)
    return saved


def history(playbook: str | Path) -> Sequence[Change]:
    """Every change that was made, first to last, with its reason."""
    return open_playbook(playbook).history()


def diff(playbook: str | Path, a: int, b: int) -> Difference:
    """The bullets added, removed and changed between two points of the history; 0 is the empty playbook."""
    file = open_playbook(playbook)
    file.load()  # which says what is wrong with a file that is no playbook
    return file.diff(a, b)


def rollback(playbook: str | Path, n: int, *, reason: str = "") -> Saved:
    """Restore the playbook as it was after change `n`. That is a change too, and can be rolled back."""
    return open_playbook(playbook).rollback(n, reason=reason)


@dataclass(frozen=True, slots=True)
class Refined:
    """A refinement of a playbook, and the change that applied it."""

    refinement: Refinement
    saved: Saved | None
    """None without `yes`: the playbook is unchanged."""


def dedup(
    playbook: str | Path, *, threshold: float = refine.NEAR, embedder: str | None = None, yes: bool = False
) -> Refined:
    """Merge equal and nearly equal bullets, adding up their counters; without `yes` nothing is changed."""
    vectors = _embedder(embedder)
    return _refine(
        playbook, "dedup", lambda loaded: refine.dedup(loaded, threshold=threshold, embedder=vectors), yes=yes
    )


def prune(
    playbook: str | Path,
    *,
    below: float = refine.PRUNE_BELOW,
    after_uses: int = refine.PRUNE_AFTER_USES,
    yes: bool = False,
) -> Refined:
    """Remove bullets that were used often and seldom right; without `yes` nothing is changed."""
    return _refine(playbook, "prune", lambda loaded: refine.prune(loaded, below=below, min_uses=after_uses), yes=yes)


def _embedder(name: str | None) -> Embedder | EmbedderFitter | None:
    if name is None:
        return None
    from akinai.runtime.models.embeddings import find_embedder

    return find_embedder(name)


def _refine(
    playbook: str | Path, kind: Literal["dedup", "prune"], make: Callable[[Playbook], Refinement], *, yes: bool
) -> Refined:
    file = open_playbook(playbook)
    try:
        return Refined(make(file.load()), file.change(kind, make) if yes else None)
    except ValueError as error:
        raise UsageError(str(error)) from error


def import_(playbook: str | Path, source: str | Path, *, replace: bool = False) -> Saved:
    """Read a playbook from JSON, YAML or a text (ACE's, a list, a cheatsheet, a rule file).

    UsageError where it would replace bullets, unless `replace`.
    """
    source = Path(source)
    read = import_playbook(source)
    expect_playbook(read, source)
    file = open_playbook(playbook, new=True)
    count = len(file.load()) if file.exists() else 0
    if count and not replace:
        raise UsageError(
            f"{playbook} holds {counted(count, 'bullet')} that an import would replace; "
            "say --replace (it can be rolled back)"
        )
    return file.change("import", lambda _: Edit(read, f"from {source.name}"))


def export(playbook: str | Path, target: str | Path) -> Playbook:
    """Write a playbook in another form, by the ending of `target`: .json, .yaml, .txt or .md."""
    loaded = open_playbook(playbook).load()
    try:
        export_playbook(loaded, new_path(target))
    except OSError as error:
        why = "a part of its path is a file" if isinstance(error, FileExistsError) else error.strerror
        raise UsageError(f"cannot write {str(target)!r}: {why}; name another file") from error
    return loaded


def recover(playbook: str | Path) -> Recovered:
    """Make unreadable files readable again from each other; what cannot be read is kept as copies."""
    return open_playbook(playbook).recover()
