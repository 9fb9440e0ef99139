"""Playbooks for agents that ask a model: shown whole if they fit the budget, else searched as the agent plays."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from akinai.core.agents import RetrievedBullets
from akinai.core.canonical import Json
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.formats import loads
from akinai.learning.search.embedders import EmbedderFitter
from akinai.learning.search.index import PlaybookIndex, SearchQuery
from akinai.learning.search.injection import Injection, inject, inject_all
from akinai.retrieval import Embedder

MOST_RESULTS = 200
"""Most bullets that a search returns; the token budget decides how many of them are shown."""
LOOKED_UP = "looked_up"
"""Key of a trace record: the bullets that a search before the call found."""


class PlaybookSearch:
    """A playbook and its index."""

    def __init__(
        self, playbook: Playbook, tokens: int, embedder: Callable[[], Embedder | EmbedderFitter] | None = None
    ) -> None:
        """`tokens` is the budget of a search result; 0 for no limit. `embedder` opens the embedder when the first
        search needs it; None for hashed words."""
        whole = inject_all(playbook)
        self._playbook, self._tokens = playbook, tokens
        self._whole = whole if tokens == 0 or whole.tokens <= tokens else None
        self._index: PlaybookIndex | None = None
        self._embedder = embedder

    @property
    def bullets(self) -> tuple[str, ...]:
        """All bullets as players get them, in the playbook's order."""
        return self._playbook.for_players

    def find(self, situation: str) -> Injection:
        """The whole playbook if it fits; otherwise the bullets nearest to the situation, as many as fit."""
        if self._whole is not None:
            return self._whole
        if self._index is None:
            self._index = PlaybookIndex(self._playbook, embedder=self._embedder() if self._embedder else None)
        results = self._index.search(SearchQuery(situation, top_k=MOST_RESULTS))
        return inject([result.bullet for result in results], budget_tokens=self._tokens)


class ActorLookup:
    """One actor's `Lookup`; each search is noted in the trace once."""

    def __init__(self, search: PlaybookSearch) -> None:
        self._search = search
        self._notes: dict[str, Json] = {}

    def __call__(self, situation: str) -> RetrievedBullets:
        injection = self._search.find(situation)
        self._notes = {LOOKED_UP: {"bullets": [*injection.bullet_ids], "tokens": injection.tokens}}
        return RetrievedBullets(injection.text, injection.bullet_ids, injection.tokens)

    def take_notes(self) -> Mapping[str, Json]:
        """The notes for the next call's trace record; empty if there was no search since the last call."""
        notes, self._notes = self._notes, {}
        return notes


@lru_cache(maxsize=4)
def playbook_search(text: str, tokens: int, embedder: str = "", embedder_base_url: str | None = None) -> PlaybookSearch:
    """The search over the playbook in a JSON text, shared by all runs. CorruptPlaybook for any other text."""
    if not embedder:
        return PlaybookSearch(loads(text), tokens)
    from akinai.runtime.models.embeddings import find_embedder

    return PlaybookSearch(loads(text), tokens, partial(find_embedder, embedder, base_url=embedder_base_url))
