"""Texts as vectors, and exact cosine search over them; nothing here is fitted, saved or fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
    """Turns texts into vectors whose cosine says how alike the texts are."""

    @property
    def name(self) -> str:
        """Says which vectors these are; two embedders of one name give the same vector for the same text."""
        ...

    @property
    def dimensions(self) -> int:
        """The length d of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, in order: shape [n, d], float32, each row of length 1 (or 0 for a text that says nothing)."""
        ...


@dataclass(frozen=True, slots=True)
class HashedTermVectors:
    """Vectors from the words of a text alone: no model, no fitting, the same bytes on every machine.

    A word adds to four of the `dimensions` coordinates, chosen and signed by its blake2b hash; n repeats weigh
    sqrt(n). The sums are integers; one square root and one product, which IEEE 754 rounds the same everywhere,
    scale them to length 1, and each coordinate is cut towards zero to a multiple of 1/4096. So no row is longer
    than 1, and a dot product of two rows is a sum of multiples of 2**-24 that never leaves [-1, 1]: float32 holds
    every partial sum exactly, and any BLAS, in any order, on any number of threads, gives the same bits. The price
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
            steps = grid_steps(self.tokenizer(text), self.dimensions)
            matrix[row, list(steps)] = list(steps.values())
        matrix /= GRID
        return matrix


def grid_steps(tokens: Iterable[str], dimensions: int) -> dict[int, int]:
    """The hashed vector of some words as {coordinate: steps of 1/4096}; what is not named is 0."""
    sums: dict[int, int] = {}
    for token, count in Counter(tokens).items():
        weight = isqrt(count << 16)
        for place, positive in _places(token, dimensions):
            sums[place] = sums.get(place, 0) + (weight if positive else -weight)
    squares = sum(value * value for value in sums.values())
    scale = GRID / sqrt(squares) if squares else 0.0
    return {place: int(value * scale) for place, value in sums.items()}


@lru_cache(maxsize=1 << 16)
def _places(token: str, dimensions: int) -> tuple[tuple[int, bool], ...]:
    # Four places a word: where two words meet in one, neither can cancel the other.
    digest = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=4 * _SPREAD).digest()
    numbers = (int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4))
    return tuple(((number >> 1) % dimensions, bool(number & 1)) for number in numbers)


class Rows:
    """Which id sits in which row, rows always 0 ... n-1 without a gap.

    A new id takes the next row; when one leaves, the last row moves into its place. Indexes that are told the
    same changes in the same order therefore agree on the rows.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._row_of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, id: object) -> bool:
        return id in self._row_of

    def row(self, id: str) -> int:
        """The row of an id; KeyError for one that is not here."""
        try:
            return self._row_of[id]
        except KeyError:
            raise KeyError(f"no document {id!r} among the {len(self.ids)} of this index; add it first") from None

    def append(self, id: str) -> int:
        self._row_of[id] = len(self.ids)
        self.ids.append(id)
        return len(self.ids) - 1

    def remove(self, id: str) -> tuple[int, int]:
        """Give up an id: its row, and the last row, whose id now sits there."""
        row = self.row(id)
        del self._row_of[id]
        mover = self.ids.pop()
        if mover != id:
            self.ids[row] = mover
            self._row_of[mover] = row
        return row, len(self.ids)


def best(scores: NDArray[np.float64], rows: NDArray[np.int64], ids: Sequence[str], top_k: int) -> list[int]:
    """The positions of the `top_k` highest scores, highest first, ties by id; fewer when there are fewer.

    `scores[i]` belongs to row `rows[i]`, whose id is `ids[rows[i]]`. ValueError for a negative `top_k`.
    """
    import numpy as np

    def id_of(position: int) -> str:
        return ids[int(rows[position])]

    check_top_k(top_k)
    if top_k == 0:
        return []
    chosen = list(range(len(scores)))
    if top_k < len(scores):
        least = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        above: list[int] = np.flatnonzero(scores > least).tolist()
        tied: list[int] = np.flatnonzero(scores == least).tolist()
        wanted = top_k - len(above)
        chosen = above + (tied if wanted == len(tied) else nsmallest(wanted, tied, key=id_of))
    told: list[float] = scores[chosen].tolist()
    keys = [(-score, id_of(position), position) for score, position in zip(told, chosen, strict=True)]
    return [position for _, _, position in sorted(keys)]


def check_top_k(top_k: int) -> None:
    """ValueError for a negative number of results."""
    if top_k < 0:
        raise ValueError(f"top_k is {top_k}; ask for 0 results or more")


@dataclass(frozen=True, slots=True)
class VectorHit:
    id: str
    score: float
    """The cosine, -1 to 1, rounded to six decimals."""


class VectorIndex:
    """Exact cosine search over the vectors of documents, which come and go by id. Not for several threads at once.

    Numbers are float32 and kept coordinate by coordinate, so a query that has few coordinates, as hashed ones do,
    reads those alone. Memory grows by doubling, so adding costs the same however many there are.
    """

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self.dimensions = dimensions
        self._rows = Rows()
        self._columns: NDArray[np.float32] = np.zeros((dimensions, 0), np.float32)
        self._lengths: NDArray[np.float64] = np.zeros(0, np.float64)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    @property
    def ids(self) -> Sequence[str]:
        """The ids by row. A removal moves the last row into the gap."""
        return self._rows.ids

    @property
    def matrix(self) -> NDArray[np.float32]:
        """The vectors by row, shape [n, d]: a read-only window that the next change may outdate."""
        window = self._columns[:, : len(self)].T
        window.flags.writeable = False
        return window

    def add(self, id: str, vector: NDArray[np.float32]) -> None:
        """Add a vector of shape [d], or replace the one of this id. ValueError for another shape, NaN or infinity."""
        self.add_all([id], checked(vector, (self.dimensions,))[None])

    def add_all(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add or replace several, shape [n, d]; the ids are different ones. ValueError as in `add`, nothing added."""
        vectors = checked(vectors, (len(ids), self.dimensions))
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
        """Forget a document; KeyError when it is not here."""
        row, last = self._rows.remove(id)
        self._columns[:, row] = self._columns[:, last]
        self._lengths[row] = self._lengths[last]

    def cosines(self, vector: NDArray[np.float32], rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """The cosine of a vector with every row, or with the rows given; shape [n] or [len(rows)].

        0 where either has no length. Not rounded: vectors other than hashed ones differ by about 1e-7 between machines.
        """
        import numpy as np

        vector = checked(vector, (self.dimensions,))
        dots = self._dots(vector, rows)
        lengths = self._lengths[: len(self)] if rows is None else self._lengths[rows]
        scale = lengths * _lengths(vector[None])[0]
        return np.divide(dots.astype(np.float64), scale, out=np.zeros(len(scale)), where=scale > 0)

    def _dots(self, vector: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        import numpy as np

        places = np.flatnonzero(vector)
        if 4 * len(places) > self.dimensions:
            dots = vector @ self._columns[:, : len(self)]
        elif rows is not None and 8 * len(rows) < len(self):  # else reading in order beats fetching some of it
            return vector[places] @ self._columns[places[:, None], rows]
        else:
            dots = vector[places] @ self._columns[places, : len(self)]
        return dots if rows is None else dots[rows]

    def _make_room(self, rows: int) -> None:
        import numpy as np

        held, room = len(self), self._columns.shape[1]
        if rows > room:
            room = max(16, 2 * room, rows)
            columns, lengths = self._columns, self._lengths
            self._columns = np.zeros((self.dimensions, room), np.float32)
            self._lengths = np.zeros(room, np.float64)
            self._columns[:, :held], self._lengths[:held] = columns[:, :held], lengths[:held]

    def search(self, vector: NDArray[np.float32], top_k: int = 10) -> list[VectorHit]:
        """The documents nearest to a vector of shape [d], nearest first, ties by id; fewer when there are fewer."""
        import numpy as np

        scores = rounded(self.cosines(vector))
        rows = np.arange(len(scores))
        return [VectorHit(self.ids[i], float(scores[i])) for i in best(scores, rows, self.ids, top_k)]


def rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores to six decimals, so that the last bits of a machine's arithmetic order nothing."""
    import numpy as np

    return np.rint(scores * 1e6) / 1e6


def checked(vectors: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Vectors as float32 of this shape; ValueError for another shape, NaN or infinity."""
    import numpy as np

    vectors = np.asarray(vectors, np.float32)
    if vectors.shape != shape:
        raise ValueError(f"expected vectors of shape {shape}, found {vectors.shape}; was another embedder used?")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or infinity; give finite numbers")
    return vectors


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Of each row; shape [n, d] to [n]."""
    import numpy as np

    exact = vectors.astype(np.float64)
    return np.sqrt(np.einsum("ij,ij->i", exact, exact))
