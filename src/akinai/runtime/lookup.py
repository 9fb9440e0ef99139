"""A playbook in the hands of an agent that thinks: whole where it fits the budget, else searched as it plays."""

from collections.abc import Mapping
from functools import lru_cache

from akinai.core.agents import Found
from akinai.core.canonical import Json
from akinai.learning.formats import loads
from akinai.learning.index import PlaybookIndex, SearchQuery
from akinai.learning.injection import Injection, inject, inject_all
from akinai.learning.playbook import Playbook

LOOKED_FOR = 200
"""Bullets that a question may find; the budget decides how many are told."""
LOOKED_UP = "looked_up"
"""In the trace: what a playbook was asked for before a call, and what it gave."""


class Searched:
    """A playbook and its index. ValueError for a text that is no playbook."""

    def __init__(self, playbook: Playbook, tokens: int) -> None:
        whole = inject_all(playbook)
        self._playbook, self._tokens = playbook, tokens
        self._whole = whole if tokens == 0 or whole.tokens <= tokens else None
        self._index: PlaybookIndex | None = None

    @property
    def contents(self) -> tuple[str, ...]:
        """What its bullets say, in its order."""
        return tuple(bullet.content for bullet in self._playbook)

    def find(self, situation: str) -> Injection:
        """The whole of it where it fits; else the bullets that are nearest to the situation, as many as fit."""
        if self._whole is not None:
            return self._whole
        if self._index is None:
            self._index = PlaybookIndex(self._playbook)
        found = self._index.search(SearchQuery(situation, top_k=LOOKED_FOR))
        return inject([result.bullet for result in found], budget_tokens=self._tokens)


class ActorsLookup:
    """A playbook as one actor asks it; what it gave is told to the trace once."""

    def __init__(self, searched: Searched) -> None:
        self._searched = searched
        self._news: dict[str, Json] = {}

    def __call__(self, situation: str) -> Found:
        found = self._searched.find(situation)
        self._news = {LOOKED_UP: {"bullets": [*found.bullet_ids], "tokens": found.tokens}}
        return Found(found.text, found.bullet_ids, found.tokens)

    def noted(self) -> Mapping[str, Json]:
        """What is to be noted beside the next call; nothing where nothing was asked since."""
        news, self._news = self._news, {}
        return news


@lru_cache(maxsize=4)
def searched(text: str, tokens: int) -> Searched:
    """The playbook in a text, indexed once for all who ask it. CorruptPlaybook for a text that holds none."""
    return Searched(loads(text), tokens)
