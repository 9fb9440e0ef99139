"""Embedders of others: anything with LangChain's `embed_documents` and `embed_query` becomes one of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from akinai.learning.errors import EmbedderError
from akinai.retrieval import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 256
"""Texts in one call of `embed_documents`."""


class LangChainEmbeddings(Protocol):
    """The two methods of LangChain's Embeddings that are used here; LangChain itself is not needed."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]: ...
    def embed_query(self, text: str) -> list[float]: ...


@runtime_checkable
class Asked(Protocol):
    """An embedder that treats a question otherwise than a document."""

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a question, shaped as `Embedder.embed`."""
        ...


class Fitted(Embedder, Protocol):
    """An embedder that was made from the texts of a playbook, and can be saved."""

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """All there is to it, as arrays without objects."""
        ...


@runtime_checkable
class Fitting(Protocol):
    """How to make an embedder from the texts of a playbook."""

    @property
    def name(self) -> str: ...
    def fit(self, texts: Sequence[str]) -> Fitted: ...
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Fitted: ...


class LangChainVectors:
    """LangChain embeddings as an `Embedder`. EmbedderError when they raise or give something that is not vectors.

    `name` tells in a saved index which vectors these are; left out, it is made of the class and its `model`.
    """

    def __init__(self, embeddings: LangChainEmbeddings, name: str | None = None, *, batch: int = BATCH) -> None:
        model = getattr(embeddings, "model", None) or getattr(embeddings, "model_name", None)
        self._embeddings, self._batch = embeddings, batch
        self.name = name or f"{type(embeddings).__qualname__}:{model or 'default'}"

    @cached_property
    def dimensions(self) -> int:
        """The length of a vector, known after one is made."""
        return self._asked_for(self._embeddings.embed_query, "dimensions", 1).shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Documents, in calls of `batch`."""
        import numpy as np

        batches = [list(texts[start : start + self._batch]) for start in range(0, len(texts), self._batch)]
        made = [self._asked_for(self._embeddings.embed_documents, batch, len(batch)) for batch in batches]
        return np.concatenate(made) if made else np.zeros((0, self.dimensions), np.float32)

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        return np.concatenate([self._asked_for(self._embeddings.embed_query, text, 1) for text in texts])

    def _asked_for(self, ask: Any, what: str | list[str], rows: int) -> NDArray[np.float32]:
        """What the embeddings answer, as unit rows."""
        import numpy as np

        try:
            vectors = np.array(ask(what), np.float32)
        except Exception as error:  # it is somebody else's code: anything can come out of it
            raise EmbedderError(
                f"{self.name} could not embed {rows} texts ({error!r}); mend it and try again"
            ) from error
        vectors = vectors.reshape(1, -1) if vectors.ndim == 1 and rows == 1 else vectors
        if vectors.ndim != 2 or len(vectors) != rows or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise EmbedderError(
                f"{self.name} gave {vectors.shape} for {rows} texts; finite numbers, a row a text, are needed"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
