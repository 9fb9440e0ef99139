"""Controls: contenders that learn nothing themselves. They inject bullets of other tasks, or raw examples. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Self

from akinai.core.chance import Chance
from akinai.learning.contest.contenders import Contest, ContestResult, Rival
from akinai.learning.loop.retriever import Retriever
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.roles.protocols import Retrieved
from akinai.learning.search.index import PlaybookIndex
from akinai.learning.search.injection import inject_all

EXAMPLES = "examples"


async def placebo(contest: Contest) -> ContestResult:
    """The learned bullets, where each task gets those of another task."""
    return ContestResult(
        contest.playbook, AssignedRetriever(contest.retriever(contest.config), shuffle_bullets(contest))
    )


def shuffle_bullets(contest: Contest) -> Mapping[str, tuple[str, ...]]:
    """For each task's query, the bullets of another judged task: a shuffle in which no task keeps its own.

    A bullet that both tasks had is left out: it would be the treatment, not the placebo.
    """
    chance = Chance.of(contest.seed)
    order = sorted(contest.judged, key=lambda task: (chance("placebo", task.id).below(1 << 30), task.id))
    shifted = [*order[1:], *order[:1]]
    bullet_ids: dict[str, tuple[str, ...]] = {}
    for task, other in zip(order, shifted, strict=True):
        own = frozenset(contest.injected.get(task.id, ()))
        bullet_ids[task.query] = tuple(id for id in contest.injected.get(other.id, ()) if id not in own)
    return bullet_ids


class AssignedRetriever:
    """A retriever that gives each query the bullets that were assigned to it."""

    def __init__(self, retriever: Retriever, assigned: Mapping[str, tuple[str, ...]]) -> None:
        self._retriever, self._assigned = retriever, assigned

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        return self._retriever.given(playbook, query, self._assigned.get(query, ()))

    def given(self, playbook: Playbook, query: str, ids: Sequence[str]) -> Retrieved:
        return self._retriever.given(playbook, query, ids)

    def by_ids(self, playbook: Playbook, ids: Sequence[str]) -> Retrieved:
        return self._retriever.by_ids(playbook, ids)

    def injected_tokens(self, retrieved: Retrieved, injected: Sequence[str]) -> int:
        return self._retriever.injected_tokens(retrieved, injected)

    def playbook_tokens(self, playbook: Playbook) -> int:
        return self._retriever.playbook_tokens(playbook)

    def fresh(self) -> Self:
        return type(self)(self._retriever.fresh(), self._assigned)

    def with_index(self, index: Callable[[], PlaybookIndex]) -> Self:
        return type(self)(self._retriever.with_index(index), self._assigned)


async def icl(contest: Contest) -> ContestResult:
    """Training tasks with their answers as raw examples, searched for each task, in as many tokens as the bullets."""
    bullets = tuple(
        Bullet(f"ex-{number:05}", EXAMPLES, f"{task.text}\n-> {task.truth}")
        for number, task in enumerate(contest.train, 1)
    )
    section = Section(EXAMPLES, "Earlier tasks with their right answers.", bullets)
    tokens = max(1, round(contest.injected_tokens))
    config = replace(contest.config, budget_tokens=tokens, whole=False, min_confidence=0.0)
    return ContestResult(Playbook((section,), len(bullets) + 1), contest.retriever(config))


async def foreign_lessons(contest: Contest) -> ContestResult:
    """Lessons of another world, in at most as many tokens as the learned bullets. All runs get the same ones."""
    assert contest.records is not None
    foreign, tokens = await contest.records.foreign_playbook(), _budget(contest)
    bullets: list[Bullet] = []
    for bullet in foreign:
        if inject_all(_numbered_playbook([*bullets, bullet])).tokens > tokens:
            break
        bullets.append(bullet)
    return ContestResult(_numbered_playbook(bullets), contest.retriever(contest.config))


async def run_excerpts(contest: Contest) -> ContestResult:
    """Raw records of the runs that taught the playbook, in at most as many tokens as its bullets."""
    assert contest.records is not None
    texts = await contest.records.excerpts(contest.playbook, _budget(contest))
    return ContestResult(
        _numbered_playbook([Bullet("ex", EXAMPLES, text) for text in texts]), contest.retriever(contest.config)
    )


def _budget(contest: Contest) -> int:
    """The tokens of the playbook in a run's context."""
    tokens = inject_all(contest.playbook).tokens
    return min(tokens, contest.config.budget_tokens or tokens)


def _numbered_playbook(bullets: Sequence[Bullet]) -> Playbook:
    """A playbook of these bullets in one section, renumbered."""
    own = tuple(Bullet(f"ex-{number:05}", EXAMPLES, bullet.content) for number, bullet in enumerate(bullets, 1))
    return Playbook((Section(EXAMPLES, "What was seen elsewhere.", own),), len(own) + 1)


PLACEBO, ICL = Rival(placebo, on_runs=foreign_lessons), Rival(icl, on_runs=run_excerpts)
