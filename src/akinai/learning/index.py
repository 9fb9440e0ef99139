"""Search over the bullets of a playbook, by word and by meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from akinai.learning.embedders import Asked, Fitted, Fitting
from akinai.learning.playbook import Bullet, Playbook
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
from akinai.retrieval.bm25 import Packed
from akinai.retrieval.vectors import checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GROWTH = 1.2
"""A fitted embedder is fitted anew when the playbook is this many times as large as when it was."""

_AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What to look for, and where."""

    query_text: str
    top_k: int = 10
    section_filter: str | Collection[str] | None = None
    """The name of a section, or several; None for all."""
    min_confidence: float = 0.3
    """Bullets with a lower `confidence_score` are left out; an unused one has 0.5."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A bullet that was found."""

    bullet: Bullet
    vector_score: float
    """max(0, cosine), 0 to 1."""
    bm25_score: float
    """BM25 over the highest among the bullets that passed the filters, 0 to 1."""
    combined_score: float
    """alpha * vector_score + (1 - alpha) * bm25_score, exactly."""
    matched: tuple[str, ...]
    """The words of the query that the bullet holds."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Words and vectors of texts, as an earlier index had them."""

    words: Mapping[str, Sequence[str]]
    """By text."""
    vectors: Mapping[str, NDArray[np.float32]]
    """By text, each of shape [d]."""
    fitted: Fitted | None = None
    fitted_on: int = 0
    """How many bullets it was fitted to."""
    whole: Whole | None = None
    """The index of this very playbook; words and vectors by text are then asked for nowhere."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An index as arrays, its rows in the order of the playbook."""

    packed: Packed
    vectors: NDArray[np.float32]
    """Shape [n, d]."""


class PlaybookIndex:
    """The bullets of a playbook, found by their `searchable_text`. Not for several threads at once.

    `tokenizer` cuts bullets and queries alike. `embedder` is an `Embedder` (left out: hashed term vectors, which know
    words alone) or a `Fitting`, which is fitted to the bullets, projects new ones, and is fitted anew at
    `refresh(..., refit=True)` or when the playbook grew by a fifth. `floor` is the cosine above which a bullet is found
    without a common word: left out, 0.3, and none for hashed vectors. Filters apply before ranking.
    """

    def __init__(
        self,
        playbook: Playbook | None = None,
        *,
        tokenizer: Tokenizer = tokenize,
        embedder: Embedder | Fitting | None = None,
        alpha: float = ALPHA,
        floor: float | None = None,
        remembered: Remembered | None = None,
    ) -> None:
        known = remembered or Remembered({}, {})
        self.tokenizer, self.alpha = tokenizer, alpha
        self.playbook = Playbook()
        self._fitting = embedder if isinstance(embedder, Fitting) else None
        self._fitted, self._fitted_on = known.fitted, known.fitted_on
        if embedder is None or isinstance(embedder, Fitting):
            self._embedder: Embedder = known.fitted or HashedTermVectors(tokenizer=tokenizer)
        else:
            self._embedder = embedder
        self._floor = floor
        self._cut = _Remembering(tokenizer, known.words)
        self._hybrid = self._empty(self._embedder)
        self._passing: dict[tuple[frozenset[str] | None, float], frozenset[str] | None] = {}
        if known.whole is not None and playbook is not None:
            documents = [Document(bullet.id, bullet.searchable_text) for bullet in playbook]
            self._hybrid.add_packed(documents, known.whole.vectors, known.whole.packed)
            self.playbook = playbook
        else:
            self._index(playbook or Playbook(), known.vectors, refit=False)
        self._cut.words = {}

    def __len__(self) -> int:
        return len(self._hybrid)

    def refresh(self, playbook: Playbook, *, refit: bool = False) -> None:
        """Index the changes since the last playbook; the next search sees them.

        Costs what the changed texts cost, and a look at every bullet. When an embedder fails nothing has changed.
        """
        self._index(playbook, {}, refit=refit)

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

    def scores(self, query: SearchQuery, *, alpha: float | None = None) -> dict[str, float]:
        """The ids and combined scores of what `search` finds, in its order, for who asks often."""
        return self._hybrid.scores(
            query.query_text,
            query.top_k,
            alpha=self.alpha if alpha is None else alpha,
            allowed=self._allowed(query),
        )

    @property
    def embedder_name(self) -> str:
        return self._embedder.name

    @property
    def fitted(self) -> tuple[Fitted, int] | None:
        """The fitted embedder and the number of bullets it was fitted to; None for one that needs no fitting."""
        return (self._fitted, self._fitted_on) if self._fitted is not None else None

    def vectors(self) -> NDArray[np.float32]:
        """The bullets' vectors in the playbook's order; shape [n, d]."""
        rows = {id: row for row, id in enumerate(self._hybrid.ids)}
        return self._hybrid.vectors[[rows[id] for id in self.playbook.by_id]]

    def _empty(self, embedder: Embedder) -> HybridIndex:
        return HybridIndex(tokenizer=self._cut, embedder=_asking(embedder), floor=self._floor)

    def _index(self, playbook: Playbook, vectors: Mapping[str, NDArray[np.float32]], *, refit: bool) -> None:
        """`refresh`, with the vectors of texts that are known already."""
        hybrid, embedder, old = self._hybrid, self._embedder, self.playbook.by_id
        fitted = self._fit(playbook) if refit or self._outgrown(playbook) else None
        if fitted:
            hybrid, embedder, old, vectors = self._empty(fitted), fitted, Playbook().by_id, dict[str, Any]()
        new = playbook.by_id
        fresh = [bullet for bullet in new.values() if not _same_text(old.get(bullet.id), bullet)]
        _fill(hybrid, embedder, fresh, vectors)
        for id in [id for id in old if id not in new]:
            hybrid.remove(id)
        if fitted:
            self._fitted, self._fitted_on = fitted, len(playbook)
        self._hybrid, self._embedder, self.playbook = hybrid, embedder, playbook
        self._passing.clear()

    def _outgrown(self, playbook: Playbook) -> bool:
        return self._fitted is None or len(playbook) > GROWTH * self._fitted_on

    def _fit(self, playbook: Playbook) -> Fitted | None:
        if self._fitting is None:
            return None
        return self._fitting.fit([bullet.searchable_text for bullet in playbook])

    def _allowed(self, query: SearchQuery) -> frozenset[str] | None:
        """The ids that pass a query's filters; None when all do. Worked out once a filter and playbook."""
        asked = query.section_filter
        sections = None if asked is None else frozenset([asked] if isinstance(asked, str) else asked)
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
    """Names the rules of a tokenizer in a saved index: its `name`, or where it is defined."""
    if tokenizer is tokenize:
        return TOKENIZER_NAME
    named = getattr(tokenizer, "__qualname__", type(tokenizer).__qualname__)
    return str(getattr(tokenizer, "name", f"{tokenizer.__module__}.{named}"))


class _Remembering:
    """A tokenizer that knows the words of some texts already."""

    def __init__(self, tokenizer: Tokenizer, words: Mapping[str, Sequence[str]]) -> None:
        self._tokenizer, self.words = tokenizer, words

    def __call__(self, text: str) -> Sequence[str]:
        words = self.words.get(text)
        return self._tokenizer(text) if words is None else words


@dataclass(frozen=True, slots=True)
class _Questions:
    """The side of an embedder that a search asks."""

    asked: Asked
    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.asked.embed_questions(texts)


def _asking(embedder: Embedder) -> Embedder:
    """What embeds a query: documents are embedded here and handed over with their vectors."""
    return _Questions(embedder, embedder.name, embedder.dimensions) if isinstance(embedder, Asked) else embedder


def _same_text(old: Bullet | None, new: Bullet) -> bool:
    return old is not None and (old is new or old.searchable_text == new.searchable_text)


def _fill(
    hybrid: HybridIndex, embedder: Embedder, bullets: Sequence[Bullet], known: Mapping[str, NDArray[np.float32]]
) -> None:
    """Add bullets to an index: all are embedded before the first is added."""
    import numpy as np

    texts = [bullet.searchable_text for bullet in bullets]
    vectors = np.zeros((len(texts), embedder.dimensions), np.float32)
    missing = [row for row, text in enumerate(texts) if text not in known]
    for row, text in enumerate(texts):
        if text in known:
            vectors[row] = known[text]
    for start in range(0, len(missing), _AT_ONCE):
        rows = missing[start : start + _AT_ONCE]
        vectors[rows] = checked(embedder.embed([texts[row] for row in rows]), (len(rows), embedder.dimensions))
    documents = [Document(bullet.id, text) for bullet, text in zip(bullets, texts, strict=True)]
    hybrid.add_all(documents, vectors)
