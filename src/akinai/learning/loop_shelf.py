"""The shelf: where the loop gets the bullets of a task from, whatever playbook is the newest."""

from collections.abc import Callable, Sequence

from akinai.learning.index import PlaybookIndex, SearchQuery
from akinai.learning.injection import TokenCounter, estimate_tokens, inject, inject_all
from akinai.learning.loop_records import Plan
from akinai.learning.playbook import Playbook
from akinai.learning.roles import Retrieved


class Shelf:
    """Finds bullets for tasks and fits them into the budget of a plan. Not for several threads at once.

    `index` makes an empty index, as `PlaybookIndex` does; `count_tokens` counts what is injected.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        index: Callable[[], PlaybookIndex] = PlaybookIndex,
        count_tokens: TokenCounter = estimate_tokens,
    ) -> None:
        self.plan, self.count_tokens = plan, count_tokens
        self._make = index
        self._index: PlaybookIndex | None = None

    def another(self) -> "Shelf":
        """One of the same kind, for a playbook that is not the newest: a shelf is quick with small changes only."""
        return Shelf(self.plan, index=self._make, count_tokens=self.count_tokens)

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        """What a task with this query is given."""
        if self.plan.whole:
            return Retrieved(inject_all(playbook, count_tokens=self.count_tokens), (), playbook)
        index = self._refreshed(playbook)
        wanted = SearchQuery(query, top_k=self.plan.top_k, min_confidence=self.plan.min_confidence)
        results = tuple(index.search(wanted))
        bullets = [result.bullet for result in results]
        fitting = inject(bullets, budget_tokens=self.plan.budget_tokens, count_tokens=self.count_tokens)
        return Retrieved(fitting, results, playbook)

    def again(self, playbook: Playbook, ids: Sequence[str]) -> Retrieved:
        """What a task was given before, as far as it is still there."""
        there = [playbook[id] for id in ids if id in playbook]
        return Retrieved(inject(there, count_tokens=self.count_tokens), (), playbook)

    def tokens_of(self, given: Retrieved, injected: Sequence[str]) -> int:
        """What a task was given in tokens: of the bullets that its Generator found by itself too."""
        if tuple(injected) == given.injection.bullet_ids:
            return given.injection.tokens
        return self.again(given.playbook, injected).injection.tokens

    def tokens_of_all(self, playbook: Playbook) -> int:
        """What the whole playbook would take in a context."""
        return inject_all(playbook, count_tokens=self.count_tokens).tokens

    def _refreshed(self, playbook: Playbook) -> PlaybookIndex:
        if self._index is None:
            self._index = self._make()
        if self._index.playbook is not playbook:
            self._index.refresh(playbook)
        return self._index
