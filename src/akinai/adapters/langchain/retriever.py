"""A LangChain retriever over a playbook: documents are bullets, best first."""

from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from akinai.learning.playbook.opening import open_playbook
from akinai.learning.search.index import SearchQuery, SearchResult
from akinai.learning.search.saved_index import FileIndex


class BulletRetriever(BaseRetriever):
    """Finds bullets as `akinai playbook search` does, always in the newest state of the playbook's file."""

    playbook: str
    """The path of a playbook in any form, or its name in `data/playbooks`."""
    top_k: int = 10
    min_confidence: float = 0.0
    section: str | None = None
    """Only bullets of this section."""

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._index = FileIndex(open_playbook(self.playbook))

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        search = SearchQuery(query, self.top_k, self.section, self.min_confidence)
        return [document(result) for result in self._index.search(search)]


def document(result: SearchResult) -> Document:
    """A bullet as a document: its content, and its record as metadata."""
    bullet = result.bullet
    metadata = {
        "id": bullet.id,
        "section": bullet.section,
        "helpful": bullet.helpful,
        "harmful": bullet.harmful,
        "confidence": bullet.confidence_score,
        "source": bullet.source_trajectory,
        "score": result.combined_score,
    }
    return Document(page_content=bullet.content, id=bullet.id, metadata=metadata)


def playbook_retriever(
    playbook: str | Path, *, top_k: int = 10, min_confidence: float = 0.0, section: str | None = None
) -> BulletRetriever:
    """A retriever over a playbook. UnknownName when there is none."""
    return BulletRetriever(playbook=str(playbook), top_k=top_k, min_confidence=min_confidence, section=section)
