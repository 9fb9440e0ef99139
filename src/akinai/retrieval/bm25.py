"""Search by words: an inverted index with BM25 scores, changed one document at a time."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property, lru_cache
from itertools import compress
from typing import TYPE_CHECKING, TypeVar

from akinai.retrieval.text import Tokenizer, tokenize
from akinai.retrieval.vectors import Rows, best

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.2
"""How soon repeats of a word stop counting: the first is worth 1/2.2, ten 10/11.2 of the idf at average length."""

B = 0.75
"""How much a long document is held against it, from 0 (not) to 1 (in proportion)."""

_MANY = 64
_PRECISE = Context(prec=20)
_Numbers = TypeVar("_Numbers", float, "NDArray[np.float64]")


@lru_cache(maxsize=1 << 16)
def inverse_document_frequency(documents: int, containing: int) -> float:
    """How much a word tells that stands in `containing` of `documents`; above 0 even when all have it.

    Lucene's log(1 + (N - df + 0.5) / (df + 0.5)), which is log((2N + 2) / (2df + 1)). Taken in decimal, where a
    logarithm is rounded correctly by specification, so no machine's libm can move a score.
    """
    return float(_PRECISE.ln(_PRECISE.divide(Decimal(2 * documents + 2), Decimal(2 * containing + 1))))


def length_norm(length: _Numbers, average: float, k1: float = K1, b: float = B) -> _Numbers:
    """What is added to a count in the denominator of BM25, for a document of this many words; a number or an array."""
    return k1 * ((1.0 - b) + b * (length / average))


@dataclass(frozen=True, slots=True)
class WordHit:
    id: str
    score: float
    """BM25, above 0; unbounded, and comparable within one query only."""
    matched: tuple[str, ...]
    """The words of the query that the document holds, in the query's order."""


@dataclass(frozen=True, slots=True)
class _Postings:
    """Where one word stands: rows rising, and how often in each. NumPy reads these arrays in place."""

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

    def hold(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each of the rows is here."""
        import numpy as np

        held = np.frombuffer(self.rows, np.int64)
        return held[np.minimum(np.searchsorted(held, rows), len(held) - 1)] == rows


@dataclass(frozen=True, slots=True)
class Packed:
    """Where the words of some documents stand, as arrays: what an index is filled with in one go, or saved as."""

    vocabulary: Sequence[str]
    begins: NDArray[np.int64]
    """For each word where its rows begin, and behind the last one their number; shape [words + 1]."""
    rows: NDArray[np.int64]
    """Of the documents that hold a word, rising; word after word."""
    counts: NDArray[np.int64]
    """How often it stands in each."""

    @staticmethod
    def of(words: Sequence[Sequence[str]]) -> Packed:
        """The words of documents that take the rows from 0, repeats kept."""
        import numpy as np

        places: dict[str, int] = {}
        flat = np.array([places.setdefault(word, len(places)) for some in words for word in some], np.int64)
        rows = np.repeat(np.arange(len(words)), [len(some) for some in words])
        pairs, counts = np.unique(flat * len(words) + rows, return_counts=True)
        found, rows = np.divmod(pairs, len(words))
        begins = np.searchsorted(found, np.arange(len(places) + 1))
        return Packed(list(places), begins.astype(np.int64), rows.astype(np.int64), counts.astype(np.int64))

    def by_row(self, documents: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The same document after document: places in the vocabulary, counts, and where each document begins."""
        import numpy as np

        order = np.argsort(self.rows, kind="stable")
        words = np.repeat(np.arange(len(self.vocabulary)), np.diff(self.begins))
        begins = np.searchsorted(self.rows[order], np.arange(documents + 1))
        return words[order], self.counts[order], begins


class BM25Index:
    """An inverted index over documents, which come and go by id. Not for several threads at once.

    A document's score is the sum, over the different words of the query, of idf * count / (count + norm), with
    Lucene's idf (`inverse_document_frequency`) and norm (`length_norm`); a word repeated in the query counts once.
    Scores depend on the documents alone, not on the order in which they came.
    """

    def __init__(self, *, tokenizer: Tokenizer = tokenize, k1: float = K1, b: float = B) -> None:
        self.tokenizer = tokenizer
        self.k1 = k1
        self.b = b
        self._rows = Rows()
        self._postings: dict[str, _Postings] = {}
        self._words: list[tuple[str, ...] | _Late] = []
        self._lengths = array("q")
        self._total = 0
        self._norms: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    @property
    def ids(self) -> Sequence[str]:
        """The ids by row. A removal moves the last row into the gap."""
        return self._rows.ids

    def add(self, id: str, text: str) -> None:
        """Add a document, or replace the one of this id. Costs what its words cost, however many others."""
        self.add_words(id, self.tokenizer(text))

    def add_words(self, id: str, words: Iterable[str]) -> None:
        """Add a document whose words are known already, repeats kept."""
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
        """`add_words` for several, the ids different ones: many are sorted in one go and not word by word."""
        for id in ids:  # first of all, as in `VectorIndex.add_all`: a row is the same document in both
            if id in self._rows:
                self.remove(id)
        if len(ids) < _MANY:
            for id, some in zip(ids, words, strict=True):
                self.add_words(id, some)
            return
        packed = Packed.of(words)
        self._append_postings(packed)
        for id, some in zip(ids, words, strict=True):
            self._rows.append(id)
            self._words.append(tuple(dict.fromkeys(some)))
            self._lengths.append(len(some))
            self._total += len(some)
        self._norms = None

    def add_packed(self, ids: Sequence[str], packed: Packed) -> None:
        """`add_all` for documents whose postings are known; ValueError for an id that is here already."""
        import numpy as np

        if here := [id for id in ids if id in self._rows]:
            raise ValueError(f"{here[0]!r} is in the index already; remove it first")
        self._append_postings(packed)
        sums = np.bincount(packed.rows, packed.counts, len(ids)).astype(np.int64)
        late = _Block(packed, len(ids))
        for row, id in enumerate(ids):
            self._rows.append(id)
            self._words.append(_Late(late, row))
        self._lengths.frombytes(sums.tobytes())
        self._total += int(sums.sum())
        self._norms = None

    def remove(self, id: str) -> None:
        """Forget a document; KeyError when it is not here."""
        row, last = self._rows.remove(id)
        for word in _told(self._words[row]):
            self._postings[word].drop(row)
            if not self._postings[word].rows:
                del self._postings[word]
        self._total -= self._lengths[row]
        moved, length = self._words.pop(), self._lengths.pop()
        if row != last:
            for word in _told(moved):
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
        """For each row, the different words of the query that it holds, in the query's order."""
        import numpy as np

        known = [word for word in dict.fromkeys(self.tokenizer(query)) if word in self._postings]
        if not known or not rows:
            return [()] * len(rows)
        asked = np.array(rows, np.int64)
        held: list[list[bool]] = np.stack([self._postings[word].hold(asked) for word in known], 1).tolist()
        return [tuple(compress(known, some)) for some in held]

    def search(self, query: str, top_k: int = 10) -> list[WordHit]:
        """The best documents that hold a word of the query, best first, ties by id; fewer when fewer match."""
        import numpy as np

        scores = self.scores(query)
        rows = np.flatnonzero(scores)
        chosen: list[int] = [int(rows[i]) for i in best(scores[rows], rows, self.ids, top_k)]
        return [
            WordHit(self.ids[row], float(scores[row]), words)
            for row, words in zip(chosen, self.matched(query, chosen), strict=True)
        ]

    def _append_postings(self, packed: Packed) -> None:
        """Enter documents that take the next rows into the postings, a word at a time."""
        rows, ends = packed.rows + len(self), packed.begins.tolist()
        for place, word in enumerate(packed.vocabulary):
            postings = self._postings.setdefault(word, _Postings())
            postings.rows.frombytes(rows[ends[place] : ends[place + 1]].tobytes())
            postings.counts.frombytes(packed.counts[ends[place] : ends[place + 1]].tobytes())

    def _length_norms(self) -> NDArray[np.float64]:
        """`length_norm` of every row, worked out at the first search after a change."""
        import numpy as np

        if self._norms is None:
            lengths = np.array(self._lengths, np.float64)
            # Without a single word nothing is looked up, so any average will do.
            average = self._total / len(self) if self._total else 1.0
            self._norms = length_norm(lengths, average, self.k1, self.b)
        return self._norms


class _Block:
    """Documents that came packed; which words each holds is worked out when one of them is first removed."""

    def __init__(self, packed: Packed, documents: int) -> None:
        self._packed, self._documents = packed, documents

    @cached_property
    def _by_row(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        return self._packed.by_row(self._documents)

    def words(self, row: int) -> tuple[str, ...]:
        places, _, begins = self._by_row
        held: list[int] = places[begins[row] : begins[row + 1]].tolist()
        return tuple(self._packed.vocabulary[place] for place in held)


@dataclass(frozen=True, slots=True)
class _Late:
    """The words of one of them."""

    block: _Block
    row: int


def _told(words: tuple[str, ...] | _Late) -> tuple[str, ...]:
    return words.block.words(words.row) if isinstance(words, _Late) else words
