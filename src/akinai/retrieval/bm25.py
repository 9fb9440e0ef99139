"""Search by words: an inverted index with BM25 scores. Documents can be added and removed at any time."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import lru_cache
from itertools import compress, pairwise
from typing import TYPE_CHECKING, TypeVar

from akinai.retrieval.text import Tokenizer, tokenize
from akinai.retrieval.vectors import RowIndex, top_positions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.2
"""How quickly repeats of a word saturate: at average length one is worth 1/2.2 of the idf, ten are worth 10/11.2."""

B = 0.75
"""How much length lowers a score, from 0 (not at all) to 1 (in proportion)."""

_MANY = 64
_PRECISE = Context(prec=20)
_Numbers = TypeVar("_Numbers", float, "NDArray[np.float64]")


@lru_cache(maxsize=1 << 16)
def inverse_document_frequency(documents: int, containing: int) -> float:
    """The weight of a word that occurs in `containing` of `documents`; above 0 even when all contain it.

    Lucene's log(1 + (N - df + 0.5) / (df + 0.5)), which is log((2N + 2) / (2df + 1)). Computed in decimal, whose
    logarithm is correctly rounded by specification, so that scores do not depend on a machine's libm.
    """
    return float(_PRECISE.ln(_PRECISE.divide(Decimal(2 * documents + 2), Decimal(2 * containing + 1))))


def length_norm(length: _Numbers, average: float, k1: float = K1, b: float = B) -> _Numbers:
    """The term added to a count in the denominator of BM25, for documents of `length` words; a number or an array."""
    return k1 * ((1.0 - b) + b * (length / average))


@dataclass(frozen=True, slots=True)
class WordHit:
    """A document that a query found by its words."""

    id: str
    score: float
    """BM25, above 0 and without an upper bound; comparable within one query only."""
    matched: tuple[str, ...]
    """The words of the query that occur in the document, in the query's order."""


@dataclass(frozen=True, slots=True)
class _Postings:
    """The rows in which a word occurs, ascending, and its count in each. NumPy reads these arrays in place."""

    rows: array[int] = field(default_factory=lambda: array("q"))
    counts: array[int] = field(default_factory=lambda: array("q"))

    def put(self, row: int, count: int) -> None:
        at = bisect_left(self.rows, row)
        self.rows.insert(at, row)
        self.counts.insert(at, count)

    def drop(self, row: int) -> int:
        at = bisect_left(self.rows, row)
        del self.rows[at]
        return self.counts.pop(at)

    def contains(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the word occurs in each of the rows; shape [len(rows)]."""
        import numpy as np

        own_rows = np.frombuffer(self.rows, np.int64)
        return own_rows[np.minimum(np.searchsorted(own_rows, rows), len(own_rows) - 1)] == rows


@dataclass(frozen=True, slots=True)
class PackedPostings:
    """The postings of several documents as arrays, to fill an index at once or to save it."""

    vocabulary: Sequence[str]
    begins: NDArray[np.int64]
    """Where the rows of each word begin, then the number of rows; shape [words + 1]."""
    rows: NDArray[np.int64]
    """The rows of each word's documents, ascending; word after word."""
    counts: NDArray[np.int64]
    """How often the word occurs in each."""

    @staticmethod
    def of(documents: Sequence[Sequence[str]]) -> PackedPostings:
        """The postings of documents in rows 0, 1, 2 ..., each given as its words with repeats."""
        import numpy as np

        word_indexes: dict[str, int] = {}
        occurrences = np.array(
            [word_indexes.setdefault(word, len(word_indexes)) for words in documents for word in words], np.int64
        )
        rows = np.repeat(np.arange(len(documents)), [len(words) for words in documents])
        pairs, counts = np.unique(occurrences * len(documents) + rows, return_counts=True)
        words_of_pairs, rows = np.divmod(pairs, len(documents))
        begins = np.searchsorted(words_of_pairs, np.arange(len(word_indexes) + 1))
        return PackedPostings(
            list(word_indexes), begins.astype(np.int64), rows.astype(np.int64), counts.astype(np.int64)
        )

    def words_by_row(self, documents: int) -> list[list[str]]:
        """The different words of each document."""
        words: list[list[str]] = [[] for _ in range(documents)]
        rows: list[int] = self.rows.tolist()
        for word, (begin, end) in zip(self.vocabulary, pairwise(self.begins.tolist()), strict=True):
            for row in rows[begin:end]:
                words[row].append(word)
        return words


class BM25Index(RowIndex):
    """An inverted index over documents, which are added and removed by id. Not thread-safe.

    A document's score is the sum, over the different words of the query, of idf * count / (count + norm), with
    Lucene's idf (`inverse_document_frequency`) and norm (`length_norm`); a word repeated in the query counts once.
    Scores depend on the documents alone, not on the order in which they were added.
    """

    def __init__(self, *, tokenizer: Tokenizer = tokenize, k1: float = K1, b: float = B) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.k1 = k1
        self.b = b
        self._postings: dict[str, _Postings] = {}
        self._words: list[Iterable[str]] = []
        self._lengths = array("q")
        self._total = 0
        self._norms: NDArray[np.float64] | None = None

    def add(self, id: str, text: str) -> None:
        """Add a document, or replace the document of this id. The time does not depend on the size of the index."""
        self.add_words(id, self.tokenizer(text))

    def add_words(self, id: str, words: Iterable[str]) -> None:
        """Add a document given as its words, with repeats."""
        counts = Counter(words)
        if id in self._rows:
            self.remove(id)
        row = self._rows.append(id)
        for word, count in counts.items():
            postings = self._postings.get(word)
            if postings is None:
                postings = self._postings[word] = _Postings()
            postings.rows.append(row)
            postings.counts.append(count)
        self._words.append(tuple(counts))
        self._lengths.append(counts.total())
        self._total += counts.total()
        self._norms = None

    def add_all(self, ids: Sequence[str], words: Sequence[Sequence[str]]) -> None:
        """`add_words` for several documents with different ids: many are sorted at once, not word by word."""
        for id in ids:  # before any is added, as in `VectorIndex.add_all`, so that rows agree in both
            if id in self._rows:
                self.remove(id)
        if len(ids) < _MANY:
            for id, repeated in zip(ids, words, strict=True):
                self.add_words(id, repeated)
            return
        self.add_packed(ids, PackedPostings.of(words))

    def add_packed(self, ids: Sequence[str], packed: PackedPostings) -> None:
        """`add_all` for documents whose postings are known; ValueError for an id that is in the index already."""
        import numpy as np

        if present := [id for id in ids if id in self._rows]:
            raise ValueError(f"{present[0]!r} is in the index already; remove it first")
        self._append_postings(packed)
        sums = np.bincount(packed.rows, packed.counts, len(ids)).astype(np.int64)
        self._words += packed.words_by_row(len(ids))
        for id in ids:
            self._rows.append(id)
        self._lengths.frombytes(sums.tobytes())
        self._total += int(sums.sum())
        self._norms = None

    def remove(self, id: str) -> None:
        """Remove a document; KeyError when it is not in the index."""
        row, last = self._rows.remove(id)
        for word in self._words[row]:
            self._postings[word].drop(row)
            if not self._postings[word].rows:
                del self._postings[word]
        self._total -= self._lengths[row]
        moved, length = self._words.pop(), self._lengths.pop()
        if row != last:
            for word in moved:
                self._postings[word].put(row, self._postings[word].drop(last))
            self._words[row], self._lengths[row] = moved, length
        self._norms = None

    def scores(self, query: str) -> NDArray[np.float64]:
        """Every document's score by row (`ids`), shape [n]; 0 where no word matches."""
        import numpy as np

        totals = np.zeros(len(self), np.float64)
        norms = self._length_norms()
        for word in dict.fromkeys(self.tokenizer(query)):
            postings = self._postings.get(word)
            if postings is not None:
                rows = np.frombuffer(postings.rows, np.int64)
                counts = np.frombuffer(postings.counts, np.int64)
                idf = inverse_document_frequency(len(self), len(rows))
                totals[rows] += idf * (counts / (counts + norms[rows]))
        return totals

    def matched(self, query: str, rows: Sequence[int]) -> list[tuple[str, ...]]:
        """For each row, the different words of the query that occur in it, in the query's order."""
        import numpy as np

        words = [word for word in dict.fromkeys(self.tokenizer(query)) if word in self._postings]
        if not words or not rows:
            return [()] * len(rows)
        row_array = np.array(rows, np.int64)
        occurrences: list[list[bool]] = np.stack(
            [self._postings[word].contains(row_array) for word in words], 1
        ).tolist()
        return [tuple(compress(words, flags)) for flags in occurrences]

    def search(self, query: str, top_k: int = 10) -> list[WordHit]:
        """The best documents with a word of the query, best first, ties by id; fewer than `top_k` when fewer match."""
        import numpy as np

        scores = self.scores(query)
        rows = np.flatnonzero(scores)
        best_rows: list[int] = [int(rows[i]) for i in top_positions(scores[rows], rows, self.ids, top_k)]
        return [
            WordHit(self.ids[row], float(scores[row]), words)
            for row, words in zip(best_rows, self.matched(query, best_rows), strict=True)
        ]

    def _append_postings(self, packed: PackedPostings) -> None:
        """Add documents that take the next rows to the postings, word by word."""
        rows, begins = packed.rows + len(self), packed.begins.tolist()
        for index, word in enumerate(packed.vocabulary):
            postings = self._postings.setdefault(word, _Postings())
            postings.rows.frombytes(rows[begins[index] : begins[index + 1]].tobytes())
            postings.counts.frombytes(packed.counts[begins[index] : begins[index + 1]].tobytes())

    def _length_norms(self) -> NDArray[np.float64]:
        """`length_norm` of every row, computed at the first search after a change."""
        import numpy as np

        if self._norms is None:
            lengths = np.array(self._lengths, np.float64)
            # Without a single word nothing is looked up, so any average works.
            average = self._total / len(self) if self._total else 1.0
            self._norms = length_norm(lengths, average, self.k1, self.b)
        return self._norms
