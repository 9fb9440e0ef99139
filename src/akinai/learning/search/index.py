"""Search over the bullets of a playbook, by words and vectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from akinai.learning.playbook.bullets import Bullet, Playbook
from akinai.learning.search.embedders import EmbedderFitter
from akinai.retrieval import (
    ALPHA,
    TOKENIZER_NAME,
    Document,
    Embedder,
    HashedTermVectors,
    HybridIndex,
    Tokenizer,
    tokenize,
)
from akinai.retrieval.bm25 import PackedPostings
from akinai.retrieval.vectors import check_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GROWTH = 1.2
"""A fitted embedder is fitted again when the playbook has grown by this factor."""

_AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query, and the filters on its results."""

    query_text: str
    top_k: int = 10
    section_filter: str | Collection[str] | None = None
    """The name of a section, or several names; None is all."""
    min_confidence: float = 0.3
    """Bullets with a lower `confidence_score` are excluded; an unused bullet has 0.5."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A bullet with its scores."""

    bullet: Bullet
    vector_score: float
    """max(0, cosine), 0 to 1."""
    bm25_score: float
    """BM25 divided by the highest BM25 among the bullets that pass the filters, 0 to 1."""
    combined_score: float
    """alpha * vector_score + (1 - alpha) * bm25_score, exactly."""
    matched: tuple[str, ...]
    """The words of the query that occur in the bullet."""


@dataclass(frozen=True, slots=True)
class SavedParts:
    """Parts of an earlier index that fit a playbook."""

    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict[str, Any])
    """By text, each of shape [d]."""
    postings: PackedPostings | None = None
    """The words of exactly this playbook, whose bullets are the rows."""


class PlaybookIndex:
    """An index of bullets by their `searchable_text`. Not thread-safe.

    `tokenizer` splits bullets and queries alike. `embedder` is an `Embedder` (default: hashed term vectors, which know
    words alone) or an `EmbedderFitter`, which is fitted to the bullets, and again when the playbook grew by a fifth. A
    bullet without a common word is found from a cosine of 0.3, and not at all by hashed vectors. Filters apply before
    ranking.
    """

    def __init__(
        self,
        playbook: Playbook | None = None,
        *,
        tokenizer: Tokenizer = tokenize,
        embedder: Embedder | EmbedderFitter | None = None,
        alpha: float = ALPHA,
        saved: SavedParts | None = None,
    ) -> None:
        saved = saved or SavedParts()
        self.tokenizer, self.alpha = tokenizer, alpha
        self.playbook = Playbook()
        self.fitted_on = 0
        """Number of bullets that the embedder was fitted to; 0 for one that needs no fitting."""
        self._fitting = embedder if isinstance(embedder, EmbedderFitter) else None
        if embedder is None or isinstance(embedder, EmbedderFitter):
            embedder = HashedTermVectors(tokenizer=tokenizer)
        self._embedder: Embedder = embedder
        self._hybrid = HybridIndex(tokenizer=tokenizer, embedder=self._embedder)
        self._passing: dict[tuple[frozenset[str] | None, float], frozenset[str] | None] = {}
        self._index(playbook or Playbook(), saved)

    def __len__(self) -> int:
        return len(self._hybrid)

    def refresh(self, playbook: Playbook) -> None:
        """Index the changes since the last playbook.

        The cost is that of the changed texts and a comparison of every bullet. A failing embedder changes nothing.
        """
        if playbook is not self.playbook:
            self._index(playbook, SavedParts())

    def search(self, query: SearchQuery, *, alpha: float | None = None) -> list[SearchResult]:
        """The best bullets, best first, ties by id: at most `top_k`, fewer when fewer have a common word or a cosine
        above the floor. ValueError for a negative `top_k`, or an `alpha` (in place of the index's) outside 0 to 1.
        """
        hits = self._hybrid.search(
            query.query_text,
            query.top_k,
            alpha=self.alpha if alpha is None else alpha,
            allowed=self._allowed(query),
        )
        by_id = self.playbook.by_id
        return [
            SearchResult(by_id[hit.id], hit.vector_score, hit.bm25_score, hit.combined_score, hit.matched)
            for hit in hits
        ]

    def scores(self, query: SearchQuery) -> dict[str, float]:
        """Ids and combined scores of the results of `search`, in order; faster than `search`."""
        return self._hybrid.scores(query.query_text, query.top_k, alpha=self.alpha, allowed=self._allowed(query))

    def vectors(self) -> NDArray[np.float32]:
        """The bullets' vectors in the playbook's order; shape [n, d]."""
        rows = {id: row for row, id in enumerate(self._hybrid.ids)}
        return self._hybrid.vectors[[rows[id] for id in self.playbook.by_id]]

    def _index(self, playbook: Playbook, saved: SavedParts) -> None:
        """Index the changes since the last playbook, with what is known of the new one."""
        hybrid, embedder, old = self._hybrid, self._embedder, self.playbook.by_id
        fitted_on = self.fitted_on
        if self._fitting and (not fitted_on or len(playbook) > GROWTH * fitted_on):
            embedder = self._fitting.fit([bullet.searchable_text for bullet in playbook])
            hybrid, fitted_on = HybridIndex(tokenizer=self.tokenizer, embedder=embedder), len(playbook)
            old = Playbook().by_id
        new = playbook.by_id
        fresh = [
            bullet
            for bullet in new.values()
            if (before := old.get(bullet.id)) is not bullet
            and (before is None or before.searchable_text != bullet.searchable_text)
        ]
        _fill(hybrid, embedder, fresh, saved)
        for id in [id for id in old if id not in new]:
            hybrid.remove(id)
        self._hybrid, self._embedder, self.playbook, self.fitted_on = hybrid, embedder, playbook, fitted_on
        self._passing.clear()

    def _allowed(self, query: SearchQuery) -> frozenset[str] | None:
        """The ids that pass a query's filters; None when all do. Cached by filter until the playbook changes."""
        names = query.section_filter
        sections = None if names is None else frozenset([names] if isinstance(names, str) else names)
        key = sections, query.min_confidence
        if key not in self._passing:
            ids = frozenset(
                bullet.id
                for section in self.playbook.sections
                if sections is None or section.name in sections
                for bullet in section.bullets
                if bullet.confidence_score >= query.min_confidence
            )
            self._passing[key] = None if len(ids) == len(self) else ids
        return self._passing[key]


def tokenizer_name(tokenizer: Tokenizer) -> str:
    """Identifies a tokenizer in a saved index: its `name`, or where it is defined."""
    if tokenizer is tokenize:
        return TOKENIZER_NAME
    named = getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__)
    return str(getattr(tokenizer, "name", f"{tokenizer.__module__}.{named}"))


def _fill(hybrid: HybridIndex, embedder: Embedder, bullets: Sequence[Bullet], saved: SavedParts) -> None:
    """Add bullets to an index, after all of them are embedded."""
    import numpy as np

    texts = [bullet.searchable_text for bullet in bullets]
    vectors = np.zeros((len(texts), embedder.dimensions), np.float32)
    missing = [row for row, text in enumerate(texts) if text not in saved.vectors]
    for row, text in enumerate(texts):
        if text in saved.vectors:
            vectors[row] = saved.vectors[text]
    for start in range(0, len(missing), _AT_ONCE):
        rows = missing[start : start + _AT_ONCE]
        vectors[rows] = check_vectors(embedder.embed([texts[row] for row in rows]), (len(rows), embedder.dimensions))
    documents = [Document(bullet.id, text) for bullet, text in zip(bullets, texts, strict=True)]
    hybrid.add_all(documents, vectors, saved.postings)
