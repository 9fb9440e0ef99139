"""Texts as vectors, and exact cosine search over them. Nothing is fitted, saved or downloaded."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from heapq import nsmallest
from math import isqrt, sqrt
from typing import TYPE_CHECKING, Protocol

from akinai.retrieval.text import Tokenizer, tokenize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GRID = 4096
"""Hashed coordinates are whole multiples of 1/4096."""

_SPREAD = 4
_BLOCK = 512


class Embedder(Protocol):
    """Turns texts into vectors whose cosine measures their similarity. One that embeds queries otherwise has
    `embed_queries` too."""

    @property
    def name(self) -> str:
        """Identifies the vectors: embedders with equal names give equal vectors for equal texts."""
        ...

    @property
    def dimensions(self) -> int:
        """The length d of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, in order: shape [n, d], float32, each row of length 1, or 0 for a text without content."""
        ...


@dataclass(frozen=True, slots=True)
class HashedTermVectors:
    """Vectors from the words of a text alone: no model, no fitting, the same bytes on every machine.

    A word adds to four of the `dimensions` coordinates, chosen and signed by its blake2b hash; n repeats weigh
    sqrt(n). The sums are integers; one square root and one product, which IEEE 754 rounds the same everywhere,
    scale them to length 1, and each coordinate is truncated towards zero to a multiple of 1/4096. So no row is longer
    than 1, and a dot product of two rows is a sum of multiples of 2**-24 that never leaves [-1, 1]: float32 holds
    every partial sum exactly, and any BLAS, in any order, on any number of threads, gives the same bits. The cost
    is a length of 0.997 to 1, which the index divides out.

    Texts without a common word have a cosine near 0, not 0: about 1/sqrt(dimensions) either way, from words
    whose coordinates meet by chance, and more for texts of one or two words.
    """

    dimensions: int = 512
    tokenizer: Tokenizer = tokenize

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise ValueError(f"{self.dimensions} dimensions for hashed term vectors; ask for at least 1")

    @property
    def name(self) -> str:
        return f"hashed-terms-{self.dimensions}@1"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape [n, dimensions]; a text without words gives a row of zeros."""
        import numpy as np

        matrix = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            steps = grid_steps(Counter(self.tokenizer(text)), self.dimensions)
            matrix[row, list(steps)] = list(steps.values())
        matrix /= GRID
        return matrix


def grid_steps(counts: Mapping[str, int], dimensions: int) -> dict[int, int]:
    """The hashed vector of counted words as {coordinate: steps of 1/4096}; missing coordinates are 0."""
    sums = defaultdict[int, int](int)
    for token, count in counts.items():
        weight = isqrt(count << 16)
        for coordinate, sign in _coordinates(token, dimensions):
            sums[coordinate] += sign * weight
    squares = sum([value * value for value in sums.values()])
    scale = GRID / sqrt(squares) if squares else 0.0
    return {coordinate: int(value * scale) for coordinate, value in sums.items()}


@lru_cache(maxsize=1 << 16)
def _coordinates(token: str, dimensions: int) -> tuple[tuple[int, int], ...]:
    # Four coordinates a word: two words that share one cannot cancel each other.
    digest = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=4 * _SPREAD).digest()
    numbers = (int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4))
    return tuple(((number >> 1) % dimensions, 1 if number & 1 else -1) for number in numbers)


class Rows:
    """The row of each id; rows are always 0 ... n-1 without a gap.

    A new id takes the next row; when an id is removed, the last row moves into its place. Indexes that get the same
    changes in the same order therefore agree on the rows.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._row_of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, id: object) -> bool:
        return id in self._row_of

    def row(self, id: str) -> int:
        """The row of an id; KeyError when it is missing."""
        try:
            return self._row_of[id]
        except KeyError:
            raise KeyError(f"no document {id!r} among the {len(self.ids)} of this index; add it first") from None

    def append(self, id: str) -> int:
        self._row_of[id] = len(self.ids)
        self.ids.append(id)
        return len(self.ids) - 1

    def remove(self, id: str) -> tuple[int, int]:
        """Remove an id. Returns its row and the former last row, whose id is now in it."""
        row = self.row(id)
        del self._row_of[id]
        mover = self.ids.pop()
        if mover != id:
            self.ids[row] = mover
            self._row_of[mover] = row
        return row, len(self.ids)


def top_positions(scores: NDArray[np.float64], rows: NDArray[np.int64], ids: Sequence[str], top_k: int) -> list[int]:
    """The positions of the `top_k` highest scores, highest first, ties by id; fewer when there are fewer.

    `scores[i]` belongs to row `rows[i]`, whose id is `ids[rows[i]]`. ValueError for a negative `top_k`.
    """
    import numpy as np

    def id_of(position: int) -> str:
        return ids[int(rows[position])]

    check_top_k(top_k)
    if top_k == 0:
        return []
    positions = list(range(len(scores)))
    if top_k < len(scores):
        least = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        above: list[int] = np.flatnonzero(scores > least).tolist()
        tied: list[int] = np.flatnonzero(scores == least).tolist()
        missing = top_k - len(above)
        positions = above + (tied if missing == len(tied) else nsmallest(missing, tied, key=id_of))
    top_scores: list[float] = scores[positions].tolist()
    keys = [(-score, id_of(position), position) for score, position in zip(top_scores, positions, strict=True)]
    return [position for _, _, position in sorted(keys)]


def check_top_k(top_k: int) -> None:
    """ValueError for a negative number of results."""
    if top_k < 0:
        raise ValueError(f"top_k is {top_k}; ask for 0 results or more")


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A document that a query found by its vector."""

    id: str
    score: float
    """The cosine, -1 to 1, rounded to six decimals."""


class RowIndex:
    """Documents by row, which are added and removed by id."""

    def __init__(self) -> None:
        self._rows = Rows()

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    @property
    def ids(self) -> Sequence[str]:
        """The ids by row. A removal moves the last row into the gap."""
        return self._rows.ids


class VectorIndex(RowIndex):
    """Exact cosine search over the vectors of documents, which are added and removed by id. Not thread-safe.

    Numbers are float32, stored coordinate by coordinate, so a query with few nonzero coordinates, such as a hashed
    one, reads only those. Memory grows by doubling, so the time to add does not depend on the size of the index.
    """

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        super().__init__()
        self.dimensions = dimensions
        self._columns: NDArray[np.float32] = np.zeros((dimensions, 0), np.float32)
        self._lengths: NDArray[np.float64] = np.zeros(0, np.float64)

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The vectors by row, shape [n, d]: a read-only view, valid until the next change."""
        view = self._columns[:, : len(self)].T
        view.flags.writeable = False
        return view

    def add(self, id: str, vector: NDArray[np.float32]) -> None:
        """Add or replace the vector of an id, shape [d]. ValueError for another shape, NaN or infinity."""
        self.add_all([id], check_vectors(vector, (self.dimensions,))[None])

    def add_all(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add or replace several, shape [n, d], with different ids. On ValueError, as in `add`, nothing is added."""
        vectors = check_vectors(vectors, (len(ids), self.dimensions))
        for id in ids:
            if id in self._rows:
                self.remove(id)
        first = len(self)
        self._make_room(first + len(ids))
        for id in ids:
            self._rows.append(id)
        for start in range(0, len(ids), _BLOCK):
            block = vectors[start : start + _BLOCK]
            at = slice(first + start, first + start + len(block))
            self._columns[:, at], self._lengths[at] = block.T, _lengths(block)

    def remove(self, id: str) -> None:
        """Remove a document; KeyError when it is not in the index."""
        row, last = self._rows.remove(id)
        self._columns[:, row] = self._columns[:, last]
        self._lengths[row] = self._lengths[last]

    def cosines(self, vector: NDArray[np.float32], rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """The cosine of a vector with every row, or with `rows`; shape [n] or [len(rows)].

        0 where either vector is zero. Not rounded: except for hashed vectors, cosines differ by about 1e-7 between
        machines.
        """
        import numpy as np

        vector = check_vectors(vector, (self.dimensions,))
        dots = self._dots(vector, rows)
        lengths = self._lengths[: len(self)] if rows is None else self._lengths[rows]
        scale = lengths * _lengths(vector[None])[0]
        return np.divide(dots.astype(np.float64), scale, out=np.zeros(len(scale)), where=scale > 0)

    def _dots(self, vector: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        import numpy as np

        nonzero = np.flatnonzero(vector)
        if 4 * len(nonzero) > self.dimensions:
            dots = vector @ self._columns[:, : len(self)]
        elif rows is not None and 8 * len(rows) < len(self):  # otherwise sequential reading is faster
            return vector[nonzero] @ self._columns[nonzero[:, None], rows]
        else:
            dots = vector[nonzero] @ self._columns[nonzero, : len(self)]
        return dots if rows is None else dots[rows]

    def _make_room(self, rows: int) -> None:
        import numpy as np

        count, room = len(self), self._columns.shape[1]
        if rows > room:
            room = max(16, 2 * room, rows)
            columns, lengths = self._columns, self._lengths
            self._columns = np.zeros((self.dimensions, room), np.float32)
            self._lengths = np.zeros(room, np.float64)
            self._columns[:, :count], self._lengths[:count] = columns[:, :count], lengths[:count]

    def search(self, vector: NDArray[np.float32], top_k: int = 10) -> list[VectorHit]:
        """The documents nearest to a vector of shape [d], nearest first, ties by id; fewer when there are fewer."""
        import numpy as np

        scores = round_scores(self.cosines(vector))
        rows = np.arange(len(scores))
        return [VectorHit(self.ids[i], float(scores[i])) for i in top_positions(scores, rows, self.ids, top_k)]


def round_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores to six decimals, so that a machine's last bits do not decide an order."""
    import numpy as np

    return np.rint(scores * 1e6) / 1e6


def check_vectors(vectors: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """The vectors as float32; ValueError for another shape, NaN or infinity."""
    import numpy as np

    vectors = np.asarray(vectors, np.float32)
    if vectors.shape != shape:
        raise ValueError(f"expected vectors of shape {shape}, found {vectors.shape}; was another embedder used?")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or infinity; give finite numbers")
    return vectors


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors scaled to length 1; those of length 0 stay."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The length of each row; shape [n, d] to [n]."""
    import numpy as np

    exact = vectors.astype(np.float64)
    return np.sqrt(np.einsum("ij,ij->i", exact, exact))
