"""Retrieval of the bullets for a task's context, always from the newest playbook."""

from collections.abc import Callable, Sequence
from typing import Self

from akinai.learning.loop.state import LoopConfig
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.roles.protocols import Retrieved
from akinai.learning.search.index import PlaybookIndex, SearchQuery
from akinai.learning.search.injection import inject, inject_all


class PlaybookRetriever:
    """Finds the bullets for a task and fits them into the token budget of a config. Not thread-safe.

    Subclasses usually override `retrieve` alone. Packages add retrievers through the entry point group
    `akinai.retrievers`: functions of the `LoopConfig`.

    `index` makes the index of a playbook, as `PlaybookIndex` does.
    """

    def __init__(self, config: LoopConfig, *, index: Callable[[Playbook], PlaybookIndex] = PlaybookIndex) -> None:
        self.config, self._make_index = config, index
        self._index: PlaybookIndex | None = None

    def fresh(self) -> Self:
        """A retriever of the same kind with an index of its own, for another playbook: an index refreshes quickly
        only while changes are small."""
        return self.with_index(self._make_index)

    def with_index(self, index: Callable[[Playbook], PlaybookIndex]) -> Self:
        """The same retriever over indexes of another kind."""
        return type(self)(self.config, index=index)

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        """The bullets for a task with this query."""
        if self.config.whole:
            return Retrieved(inject_all(playbook), playbook)
        index = self._refreshed(playbook)
        search = SearchQuery(query, top_k=self.config.top_k, min_confidence=self.config.min_confidence)
        bullets = [result.bullet for result in index.search(search)]
        return Retrieved(inject(bullets, budget_tokens=self.config.budget_tokens or None), playbook)

    def by_ids(self, playbook: Playbook, ids: Sequence[str]) -> Retrieved:
        """These bullets, as far as the playbook still holds them."""
        bullets = [playbook[id] for id in ids if id in playbook]
        return Retrieved(inject(bullets), playbook)

    def given(self, playbook: Playbook, query: str, ids: Sequence[str]) -> Retrieved:
        """These bullets as a task with this query gets them, whatever a search would find."""
        return self.by_ids(playbook, ids)

    def permuted(self, original: Playbook, permuted: Playbook, query: str) -> Retrieved:
        """The bullets of a permuted playbook whose ids the search finds in the original."""
        return self.by_ids(permuted, self.retrieve(original, query).injection.bullet_ids)

    def injected_tokens(self, retrieved: Retrieved, injected: Sequence[str]) -> int:
        """Tokens of the bullets in a task's context, including those that its Generator searched for itself."""
        if tuple(injected) == retrieved.injection.bullet_ids:
            return retrieved.injection.tokens
        return self.by_ids(retrieved.playbook, injected).injection.tokens

    def _refreshed(self, playbook: Playbook) -> PlaybookIndex:
        if self._index is None:
            self._index = self._make_index(playbook)
        self._index.refresh(playbook)
        return self._index
