"""Search by words and by vectors together: `HybridIndex`, which is kept, and `rank` for a handful of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias, cast

from akinai.retrieval.bm25 import BM25Index, PackedPostings, inverse_document_frequency, length_norm
from akinai.retrieval.text import Tokenizer, tokenize
from akinai.retrieval.vectors import (
    GRID,
    Embedder,
    HashedTermVectors,
    VectorIndex,
    check_top_k,
    check_vectors,
    grid_steps,
    round_scores,
    top_positions,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALPHA = 0.6
"""The weight of the vector score in the combined score; the rest is the weight of BM25."""

FLOOR = 0.3
"""The cosine above which a document is found although it shares no word with the query."""

_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Document:
    """A text to search, under its id."""

    id: str
    text: str
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    """For filters; not searched."""


Allowed: TypeAlias = Set[str] | Callable[[Document], bool]
"""Which documents may be found: their ids, or a predicate called for each candidate."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that a query found, with how near it is by words and by vectors."""

    id: str
    text: str
    vector_score: float
    """max(0, cosine), 0 to 1, rounded to six decimals."""
    bm25_score: float
    """BM25 divided by the highest among the allowed documents, to six decimals; above 0 whenever a word matched."""
    combined_score: float
    """alpha * vector_score + (1 - alpha) * bm25_score, exactly."""
    matched: tuple[str, ...]
    """The words of the query that occur in the document, in the query's order."""


class HybridIndex:
    """Search by words and by vectors over documents, which are added and removed by id. Not thread-safe.

    A document is a hit when it shares a word with the query, or when its cosine is above `floor`. The default floor
    is 0.3 with your own embedder. The built-in hashed vectors have none: they represent words alone, so their cosine
    without a shared word is chance.

    With hashed vectors, results are equal on every machine and depend on the documents, not on the order of changes.
    Cosines of another embedder are rounded to six decimals before they are compared, which hides most differences
    between machines.
    """

    def __init__(
        self, *, tokenizer: Tokenizer = tokenize, embedder: Embedder | None = None, floor: float | None = None
    ) -> None:
        self.embedder: Embedder = HashedTermVectors(tokenizer=tokenizer) if embedder is None else embedder
        self._embed_queries: Callable[[Sequence[str]], NDArray[np.float32]]
        self._embed_queries = getattr(self.embedder, "embed_queries", self.embedder.embed)
        self.floor = FLOOR if floor is None and not isinstance(self.embedder, HashedTermVectors) else floor
        self._documents: dict[str, Document] = {}
        # Both get the same changes in the same order, so a row is the same document in both.
        self._words = BM25Index(tokenizer=tokenizer)
        self._vectors = VectorIndex(self.embedder.dimensions)
        self._mask: tuple[frozenset[str], NDArray[np.bool_]] | None = None

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, id: object) -> bool:
        return id in self._documents

    def __getitem__(self, id: str) -> Document:
        return self._documents[id]

    @property
    def ids(self) -> Sequence[str]:
        """The ids by row of `vectors`. A removal moves the last row into the gap."""
        return self._words.ids

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The documents' vectors by row, shape [n, d]: a read-only view, valid until the next change."""
        return self._vectors.matrix

    def add(self, id: str, text: str, fields: Mapping[str, object] | None = None) -> None:
        """Add a document, or replace the document of this id; the next search sees it."""
        self.add_all([Document(id, text, {} if fields is None else fields)])

    def add_all(
        self,
        documents: Iterable[Document],
        vectors: NDArray[np.float32] | None = None,
        packed: PackedPostings | None = None,
    ) -> None:
        """Add or replace several, embedded in one call; nothing changes when the tokenizer or the embedder fails.

        `vectors`, one row a document, replace the call; `packed` are the postings of documents that all are new. A
        document whose text is unchanged gets its new fields without an embedding. Of two documents with the same id,
        the later is kept.
        """
        added = list(documents)
        latest = {document.id: row for row, document in enumerate(added)}
        if vectors is None:
            fresh = [row for row in latest.values() if not self._has_text(added[row])]
            vectors = self._embed([added[row].text for row in fresh])
        else:
            fresh = list(latest.values())
            vectors = check_vectors(vectors, (len(added), self.embedder.dimensions))[fresh]
        words = [self._words.tokenizer(added[row].text) for row in fresh] if packed is None else []
        self._documents.update((id, added[row]) for id, row in latest.items())
        ids = [added[row].id for row in fresh]
        if packed is None:
            self._words.add_all(ids, words)
        else:
            self._words.add_packed(ids, packed)
        self._vectors.add_all(ids, vectors)
        self._mask = None

    def remove(self, id: str) -> None:
        """Remove a document; KeyError when it is not in the index."""
        self._words.remove(id)
        self._vectors.remove(id)
        del self._documents[id]
        self._mask = None

    def search(self, query: str, top_k: int = 10, *, alpha: float = ALPHA, allowed: Allowed | None = None) -> list[Hit]:
        """The best hits, best combined score first, ties by id; fewer than `top_k` only when fewer qualify.

        `allowed` is applied before ranking: excluded documents neither take a rank nor set the highest BM25. The
        rarity of a word and the average length are still those of the whole index. ValueError for alpha outside
        0 to 1 or a negative top_k.
        """
        candidates = self._ranked(query, top_k, alpha, allowed)
        rows: list[int] = candidates.rows.tolist()
        vectors: list[float] = candidates.vector.tolist()
        bm25s: list[float] = candidates.bm25.tolist()
        combined: list[float] = candidates.combined(alpha).tolist()
        words = self._words.matched(query, rows)
        return [
            Hit(self.ids[row], self._documents[self.ids[row]].text, vector, bm25, score, matched)
            for row, vector, bm25, score, matched in zip(rows, vectors, bm25s, combined, words, strict=True)
        ]

    def scores(
        self, query: str, top_k: int = 10, *, alpha: float = ALPHA, allowed: Allowed | None = None
    ) -> dict[str, float]:
        """Ids and combined scores of the hits of `search`, in its order; three times as fast when there are many."""
        candidates = self._ranked(query, top_k, alpha, allowed)
        rows: list[int] = candidates.rows.tolist()
        combined: list[float] = candidates.combined(alpha).tolist()
        return {self.ids[row]: score for row, score in zip(rows, combined, strict=True)}

    def _ranked(self, query: str, top_k: int, alpha: float, allowed: Allowed | None) -> _Candidates:
        """The best hits, best first."""
        check_alpha(alpha)
        check_top_k(top_k)
        if top_k == 0 or not self._documents or not query.strip():
            return _Candidates.none()
        candidates = self._candidates(query, allowed)
        return candidates.at(top_positions(candidates.combined(alpha), candidates.rows, self.ids, top_k))

    def _has_text(self, document: Document) -> bool:
        stored = self._documents.get(document.id)
        return stored is not None and stored.text == document.text

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        shape = (len(texts), self.embedder.dimensions)
        return check_vectors(self.embedder.embed(texts), shape) if texts else np.zeros(shape, np.float32)

    def _candidates(self, query: str, allowed: Allowed | None) -> _Candidates:
        import numpy as np

        words = self._words.scores(query)
        vector = check_vectors(self._embed_queries([query]), (1, self.embedder.dimensions))[0]
        if self.floor is None:
            rows = self._permitted(np.flatnonzero(words), allowed)
            cosines = round_scores(self._vectors.cosines(vector, rows))
        else:
            cosines = round_scores(self._vectors.cosines(vector))
            rows = self._permitted(np.flatnonzero((words > 0) | (cosines > self.floor)), allowed)
            cosines = cosines[rows]
        bm25 = words[rows]
        highest = bm25.max(initial=0.0)
        if highest:
            bm25 = np.where(bm25 > 0, np.maximum(round_scores(bm25 / highest), _LEAST), 0.0)
        return _Candidates(rows, np.clip(cosines, 0.0, 1.0), bm25)

    def _permitted(self, rows: NDArray[np.int64], allowed: Allowed | None) -> NDArray[np.int64]:
        import numpy as np

        if allowed is None:
            return rows
        if isinstance(allowed, frozenset):
            return rows[self._mask_of(cast("frozenset[str]", allowed))[rows]]
        candidates: list[int] = rows.tolist()
        id_of = self.ids
        ids = [id_of[row] for row in candidates]
        if isinstance(allowed, Set):
            keep = [id in allowed for id in ids]
        else:
            keep = [allowed(self._documents[id]) for id in ids]
        return rows[np.array(keep, np.bool_)]

    def _mask_of(self, allowed: frozenset[str]) -> NDArray[np.bool_]:
        """A mask of the allowed rows, kept for the next search, which often has the same filter."""
        import numpy as np

        if self._mask is None or self._mask[0] is not allowed:
            self._mask = allowed, np.array([id in allowed for id in self.ids], np.bool_)
        return self._mask[1]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Hits by row; three arrays of one length."""

    rows: NDArray[np.int64]
    vector: NDArray[np.float64]
    bm25: NDArray[np.float64]

    @classmethod
    def none(cls) -> _Candidates:
        import numpy as np

        return cls(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    def combined(self, alpha: float) -> NDArray[np.float64]:
        return alpha * self.vector + (1 - alpha) * self.bm25

    def at(self, positions: Sequence[int]) -> _Candidates:
        import numpy as np

        indexes = np.array(positions, np.int64)
        return _Candidates(self.rows[indexes], self.vector[indexes], self.bm25[indexes])


def check_alpha(alpha: float) -> None:
    """ValueError for a share outside 0 to 1, or NaN."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha!r}; give the vector score a share from 0 (words alone) to 1 (vectors alone)")


def rank(
    query: str, documents: Mapping[str, str] | Iterable[tuple[str, str]], top_k: int = 10, alpha: float = ALPHA
) -> list[Hit]:
    """Search a handful of texts, {id: text}, without an index; the hits equal those of a `HybridIndex`, to the bit.

    Built-in tokenizer and hashed vectors in plain Python: for tens of documents this is faster than filling an index,
    and it does not import NumPy. The analyses of the last few thousand texts are cached.
    """
    check_alpha(alpha)
    check_top_k(top_k)
    texts: dict[str, str] = dict(documents)
    analysed = {id: _analyse(text) for id, text in texts.items()}
    analysed_query = _analyse(query)
    words = _bm25(analysed_query, analysed)
    highest = max(words.values(), default=0.0)
    bm25 = {id: max(round(score / highest * 1e6) / 1e6, _LEAST) for id, score in words.items()}
    vector = {id: _vector_score(analysed_query, analysed[id]) for id in words}
    combined = {id: alpha * vector[id] + (1 - alpha) * bm25[id] for id in words}
    best = sorted(combined, key=lambda id: (-combined[id], id))[:top_k]
    return [
        Hit(id, texts[id], vector[id], bm25[id], combined[id], _matched(analysed_query, analysed[id])) for id in best
    ]


@dataclass(frozen=True, slots=True)
class _Analysis:
    counts: Mapping[str, int]
    words: int
    steps: Mapping[int, int]
    length: float
    """The length of the vector of `steps`."""


def _matched(query: _Analysis, document: _Analysis) -> tuple[str, ...]:
    return tuple(word for word in query.counts if word in document.counts)


@lru_cache(maxsize=4096)
def _analyse(text: str) -> _Analysis:
    counts = Counter(tokenize(text))
    steps = grid_steps(counts, HashedTermVectors().dimensions)
    squares = sum(step * step for step in steps.values())
    return _Analysis(counts, counts.total(), steps, sqrt(squares / GRID**2))


def _bm25(query: _Analysis, documents: Mapping[str, _Analysis]) -> dict[str, float]:
    """BM25 of the documents with a word of the query, in the order of operations of `BM25Index`."""
    total = sum(document.words for document in documents.values())
    scores: dict[str, float] = {}
    for word in query.counts:
        holding = [(id, document) for id, document in documents.items() if word in document.counts]
        idf = inverse_document_frequency(len(documents), len(holding))
        for id, document in holding:
            count = document.counts[word]
            norm = length_norm(float(document.words), total / len(documents))
            scores[id] = scores.get(id, 0.0) + idf * (count / (count + norm))
    return scores


def _vector_score(query: _Analysis, document: _Analysis) -> float:
    """max(0, cosine) to six decimals, in the order of operations of `VectorIndex`."""
    steps = document.steps
    dot = sum([step * steps[coordinate] for coordinate, step in query.steps.items() if coordinate in steps]) / GRID**2
    scale = document.length * query.length
    cosine = dot / scale if scale else 0.0
    return min(max(round(cosine * 1e6) / 1e6, 0.0), 1.0)
