"""A playbook as AutoGen's Memory: an assistant is given the bullets that its last message finds, and may add some."""

from pathlib import Path
from typing import Any

from akinai.adapters.autogen.framework import (
    CancellationToken,
    Memory,
    MemoryContent,
    MemoryMimeType,
    MemoryQueryResult,
    SystemMessage,
    UpdateContextResult,
)
from akinai.api.playbook import add
from akinai.core.errors import UsageError
from akinai.learning.playbook.opening import open_playbook
from akinai.learning.search.index import SearchQuery
from akinai.learning.search.injection import inject
from akinai.learning.search.saved_index import FileIndex

SECTION = "memories"
"""The section of bullets that are added without one."""


class PlaybookMemory(Memory):
    """Finds and adds bullets in a playbook's file, always in its newest state; created where it is missing.

        AssistantAgent("owner", client, memory=[PlaybookMemory("vending")])

    `add` takes texts; `metadata={"section": ...}` names their section. `clear` is refused: a playbook's bullets are
    removed by `akinai playbook`, where each removal can be rolled back.
    """

    component_type = "memory"

    def __init__(self, playbook: str | Path, *, top_k: int = 10, tokens: int = 2_000, section: str = SECTION) -> None:
        super().__init__()
        self._file = open_playbook(playbook, new=True)
        if not self._file.exists():
            self._file.begin((), reason="begun by a memory", fresh=False)
        self._index = FileIndex(self._file)
        self.top_k, self.tokens, self.section = top_k, tokens, section

    async def update_context(self, model_context: Any) -> UpdateContextResult:
        """Add the bullets that the last message finds to a context, as one system message within `tokens`."""
        messages = await model_context.get_messages()
        query = str(getattr(messages[-1], "content", "")) if messages else ""
        playbook, found = self._file.load(), self._search(query)
        bullets = [playbook[str(item.metadata["id"])] for item in found if item.metadata]
        injection = inject(bullets, budget_tokens=self.tokens)
        given = [item for item in found if item.metadata and item.metadata["id"] in injection.bullet_ids]
        if given:
            text = f"Bullets of the playbook that may help:\n{injection.text}"
            await model_context.add_message(SystemMessage(content=text))
        return UpdateContextResult(memories=MemoryQueryResult(results=given))

    async def query(
        self, query: str | MemoryContent, cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """The bullets that a text finds, best first."""
        text = query if isinstance(query, str) else str(query.content)
        return MemoryQueryResult(results=self._search(text))

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Add a text as a bullet. UsageError for what is no text."""
        if not isinstance(content.content, str) or not content.content.strip():
            raise UsageError(f"a memory of the kind {content.mime_type!r} is no text; give a text")
        section = str((content.metadata or {}).get("section") or self.section)
        add(self._file.path, content.content, section=section, reason="added by a memory")

    async def clear(self) -> None:
        """UsageError."""
        raise UsageError(f"{self._file.path.name} is not cleared by a memory; 'akinai playbook rollback' goes back")

    async def close(self) -> None: ...

    def _search(self, text: str) -> list[MemoryContent]:
        results = self._index.search(SearchQuery(text, self.top_k, min_confidence=0.0)) if text.strip() else []
        return [
            MemoryContent(
                content=result.bullet.content,
                mime_type=MemoryMimeType.TEXT,
                metadata={"id": result.bullet.id, "section": result.bullet.section, "score": result.combined_score},
            )
            for result in results
        ]
