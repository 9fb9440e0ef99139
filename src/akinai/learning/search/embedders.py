"""Embedders: LangChain's embeddings, and vectors that are fitted to a playbook by TF-IDF and a truncated SVD."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from akinai.core.errors import MissingExtra
from akinai.learning.extras import expect_package, load_package
from akinai.learning.playbook.errors import EmbedderError
from akinai.retrieval import Embedder, Tokenizer, tokenize
from akinai.retrieval.vectors import unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 256
"""Texts in one call of `embed_documents`."""
MOST_TERMS = 50_000
"""Terms of a basis, at most: the most common ones."""

_PART = "fitting TF-IDF and SVD"
_DENSE_UP_TO = 2  # times the dimensions: for smaller matrices a full decomposition is faster than ARPACK
_NEGLIGIBLE = 1e-5  # of the largest singular value


class LangChainEmbeddings(Protocol):
    """The methods of LangChain's Embeddings that are used here. LangChain itself is not needed."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]: ...
    def embed_query(self, text: str) -> list[float]: ...


@runtime_checkable
class EmbedderFitter(Protocol):
    """Fits an embedder to the texts of a playbook."""

    @property
    def name(self) -> str: ...
    def fit(self, texts: Sequence[str]) -> Embedder: ...


class LangChainVectors:
    """LangChain embeddings as an `Embedder`. EmbedderError when they raise or return something that is not vectors.

    `name` identifies the vectors in a saved index; the default is the class and its `model`.
    """

    def __init__(self, embeddings: LangChainEmbeddings, name: str | None = None) -> None:
        model = getattr(embeddings, "model", None) or getattr(embeddings, "model_name", None)
        self._embeddings = embeddings
        self.name = name or f"{type(embeddings).__qualname__}:{model or 'default'}"

    @property
    def dimensions(self) -> int:
        """The length of a vector. The first access embeds a text."""
        return self._dimensions

    @cached_property
    def _dimensions(self) -> int:
        return self._vectors(self._embeddings.embed_query, "dimensions", 1).shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed documents, some at a time."""
        import numpy as np

        batches = [list(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        vectors = [self._vectors(self._embeddings.embed_documents, batch, len(batch)) for batch in batches]
        return np.concatenate(vectors) if vectors else np.zeros((0, self.dimensions), np.float32)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        return np.concatenate([self._vectors(self._embeddings.embed_query, text, 1) for text in texts])

    def _vectors(self, embed: Callable[[Any], Any], texts: str | list[str], rows: int) -> NDArray[np.float32]:
        """The vectors that the embeddings return, scaled to length 1."""
        import numpy as np

        try:
            vectors = np.array(embed(texts), np.float32)
        except Exception as error:  # third-party code may raise anything
            raise EmbedderError(
                f"{self.name} could not embed {rows} texts ({error!r}); mend it and try again"
            ) from error
        vectors = vectors.reshape(1, -1) if vectors.ndim == 1 and rows == 1 else vectors
        if vectors.ndim != 2 or len(vectors) != rows or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise EmbedderError(
                f"{self.name} gave {vectors.shape} for {rows} texts; finite numbers, a row a text, are needed"
            )
        return unit_rows(vectors)


@dataclass(frozen=True, slots=True)
class TfidfSvd:
    """Fits vectors of up to `dimensions` numbers to the texts of a playbook. Fitting needs the extra `learn`."""

    dimensions: int = 200
    tokenizer: Tokenizer = tokenize

    @property
    def name(self) -> str:
        return f"tfidf-svd-{self.dimensions}@1"

    def fit(self, texts: Sequence[str]) -> SvdVectors:
        """The basis of these texts: the directions in which their words vary together. MissingExtra without SciPy.

        A term's weight is (1 + ln count) * (1 + ln((1 + n) / (1 + df))), rows of length 1. Terms of a single text are
        left out where enough other terms remain. The same texts in the same order give the same basis on one machine.
        """
        import numpy as np

        expect_package("scipy", _PART)
        counts = [Counter(self.tokenizer(text)) for text in texts]
        documents = Counter(word for count in counts for word in count)
        shared = sorted((word for word, n in documents.items() if n > 1), key=lambda word: (-documents[word], word))
        vocabulary = shared[:MOST_TERMS] if len(shared) >= 2 * self.dimensions else sorted(documents)
        weights = [1 + math.log((1 + len(texts)) / (1 + documents[word])) for word in vocabulary]
        terms, idf = tuple(vocabulary), np.array(weights, np.float32)
        blank = SvdVectors(self, terms, idf, np.zeros((len(terms), 0), np.float32))
        rows = [row for count in counts if len((row := blank.weighed(count))[0])]
        if not rows:
            return SvdVectors(self, (), idf[:0], np.zeros((0, 1), np.float32))
        return SvdVectors(self, terms, idf, _basis(rows, len(terms), self.dimensions))


@dataclass(frozen=True, eq=False)
class SvdVectors:
    """An embedder on a fitted basis. Words outside the basis are ignored."""

    fitting: TfidfSvd
    terms: tuple[str, ...]
    idf: NDArray[np.float32]
    """By term; shape [terms]."""
    basis: NDArray[np.float32]
    """The direction of each term; shape [terms, d]."""

    @property
    def name(self) -> str:
        """Identifies the basis: embedders of one name give the same vectors."""
        return self._name

    @cached_property
    def _name(self) -> str:
        digest = hashlib.blake2b(digest_size=8)
        for part in (json.dumps(self.terms).encode(), self.idf.tobytes(), self.basis.tobytes()):
            digest.update(part)
        return f"{self.fitting.name}:{digest.hexdigest()}"

    @property
    def dimensions(self) -> int:
        return self.basis.shape[1]

    @cached_property
    def _row_of(self) -> Mapping[str, int]:
        return {term: row for row, term in enumerate(self.terms)}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape [n, d]; rows of length 1, or 0 for a text without a known word."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            indices, weights = self.weighed(Counter(self.fitting.tokenizer(text)))
            if len(indices):
                vector = weights @ self.basis[indices]
                length = float(np.linalg.norm(vector))
                vectors[row] = vector / length if length else vector
        return vectors

    def weighed(self, counts: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The rows of the basis for a text's terms, and their TF-IDF weights, a vector of length 1."""
        import numpy as np

        occurrences = [(row, n) for word, n in counts.items() if (row := self._row_of.get(word)) is not None]
        indices = np.array([row for row, _ in occurrences], np.int64)
        weights = np.array([1 + math.log(n) for _, n in occurrences], np.float32) * self.idf[indices]
        return indices, weights / np.linalg.norm(weights) if occurrences else weights


def _basis(
    rows: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]], terms: int, dimensions: int
) -> NDArray[np.float32]:
    """The right singular vectors of a sparse matrix as columns, largest first; shape [terms, d], d <= dimensions."""
    import numpy as np

    if min(len(rows), terms) <= _DENSE_UP_TO * dimensions:
        dense = np.zeros((len(rows), terms), np.float32)
        for row, (indices, weights) in enumerate(rows):
            dense[row, indices] = weights
        _, values, directions = np.linalg.svd(dense, full_matrices=False)
    else:
        values, directions = _truncated(rows, terms, dimensions)
    order = np.argsort(-values, kind="stable")[:dimensions]
    order = order[values[order] > _NEGLIGIBLE * values[order[0]]]
    return np.ascontiguousarray(directions[order].T, np.float32)


def _truncated(
    rows: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]], terms: int, dimensions: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Singular values, shape [d], and right singular vectors, shape [d, terms], by ARPACK.

    It is handed its chance: where singular values coincide, as those of texts that are alike, it starts anew, and
    SciPy's `svds` would draw that start from the system.
    """
    import numpy as np

    sparse, linalg = load_package("scipy.sparse", _PART), load_package("scipy.sparse.linalg", _PART)
    ends = np.cumsum([0, *(len(indices) for indices, _ in rows)])
    indices = np.concatenate([indices for indices, _ in rows])
    weights = np.concatenate([weights for _, weights in rows])
    matrix = sparse.csr_matrix((weights, indices, ends), shape=(len(rows), terms))
    tall, side = (matrix, terms) if terms <= len(rows) else (matrix.T, len(rows))
    squared: Any = linalg.aslinearoperator(tall.T) @ linalg.aslinearoperator(tall)
    _, vectors = linalg.eigsh(squared, k=dimensions, v0=np.ones(side, np.float32), rng=0)
    vectors, _ = np.linalg.qr(vectors)
    left, values, right = np.linalg.svd(tall @ vectors, full_matrices=False)
    return values, right @ vectors.T if tall is matrix else left.T


class WordVectors:
    """Means of the word vectors that the package `wordllama` ships: English by meaning, offline, 16 MB.

    A text is the mean of its tokens' vectors. The weights are of 32,000 tokens, so Japanese falls into single
    characters and bytes: it is found by words as before, and not by meaning.
    """

    name = "wordllama:l2-supercat-256"

    def __init__(self) -> None:
        part = "vectors of words by meaning"
        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtra(part, "wordllama", "meaning")
        folder = Path(spec.submodule_search_locations[0])
        (weights,) = folder.glob("weights/l2_supercat_256.safetensors")
        (tokenizer,) = folder.glob("tokenizers/l2_supercat_tokenizer_config.json")
        (matrix,) = load_package("safetensors.numpy", part).load_file(weights).values()
        self._matrix: NDArray[np.float32] = matrix.astype("float32")
        self._tokenizer = load_package("tokenizers", part).Tokenizer.from_file(str(tokenizer))

    @property
    def dimensions(self) -> int:
        return self._matrix.shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, encoded in zip(rows, self._tokenizer.encode_batch([*texts], add_special_tokens=False), strict=True):
            if encoded.ids:
                row[:] = self._matrix[encoded.ids].mean(axis=0)
        return unit_rows(rows)
