"""Controls: contenders that learn nothing themselves. Their bullets teach what no run or task taught, or they are raw
examples. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, Self

from akinai.core.chance import Chance
from akinai.core.models import estimate_tokens
from akinai.learning.contest.contenders import Contest, ContestResult, Rival
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.roles.protocols import Retrieved
from akinai.learning.roles.tasks import Assignment
from akinai.learning.search.injection import inject_all

EXAMPLES = "examples"
JOINTS = (" -> ", ": ", "; ", ". ", ", ")
"""A sentence is cut at the first of these that it holds: before it stands the occasion, after it what is taught."""
MOST_EXAMPLES = 100
"""Raw examples that a search ranks for a task; further ones follow in an order drawn by lot."""
NEIGHBOURS = 16
"""Bullets of nearly the same length among which their teachings are permuted."""
_NUMBER = re.compile(r"\d+")

ControlName = Literal["permuted", "invented"]


class Control(NamedTuple):
    """A playbook that should be worth nothing, and the retriever that finds in it what was found in the original."""

    name: ControlName
    playbook: Playbook
    retriever: PlaybookRetriever


def permuted_control(playbook: Playbook, retriever: PlaybookRetriever) -> Control | None:
    """The control of tasks with answers: every task finds the bullets that it would find, and each teaches what
    another bullet of nearly its length teaches. None for fewer than two bullets that differ."""
    shuffled = permute(playbook)
    if shuffled is None:
        return None
    finds = ControlRetriever(retriever.fresh(), lambda inner, other, query: inner.permuted(playbook, other, query))
    return Control("permuted", shuffled, finds)


def invented_control(playbook: Playbook, retriever: PlaybookRetriever) -> Control | None:
    """The control of runs: the learned sentences with numbers from no run. None where no sentence holds a number."""
    invented = invent(playbook)
    return Control("invented", invented, retriever.fresh()) if invented else None


def permute(playbook: Playbook) -> Playbook | None:
    """The playbook in which bullets of nearly the same length have exchanged what they teach.

    A sentence keeps its first part, the occasion, and takes over the second part of another: exchanged as wholes, true
    sentences would stay true. No bullet gets a lesson equal to its own while at least half of its neighbours have
    another. None where nothing can be exchanged.
    """
    chance = Chance.of(0)
    bullets = sorted(playbook, key=lambda bullet: (estimate_tokens(bullet.content), bullet.id))
    by_arrow = all(JOINTS[0] in bullet.content for bullet in bullets)
    cuts = {bullet.id: _cut(bullet.content, by_arrow=by_arrow) for bullet in bullets}

    def rank(*label: str) -> int:
        return chance("permuted", *label).below(1 << 30)

    contents: dict[str, str] = {}
    starts = range(0, max(1, len(bullets) - NEIGHBOURS // 2), NEIGHBOURS)
    for index, start in enumerate(starts):
        block = bullets[start : None if index == len(starts) - 1 else start + NEIGHBOURS]
        lessons = Counter(cuts[bullet.id][1] for bullet in block)
        block.sort(key=lambda bullet: (rank(cuts[bullet.id][1]), cuts[bullet.id][1], rank(bullet.id), bullet.id))
        shift = max(lessons.values(), default=0)
        for bullet, giver in zip(block, [*block[shift:], *block[:shift]], strict=True):
            contents[bullet.id] = cuts[bullet.id][0] + cuts[giver.id][1]
    return _with_contents(playbook, contents)


def _cut(content: str, *, by_arrow: bool) -> tuple[str, str]:
    """The occasion and the lesson of a content."""
    if by_arrow:
        head, arrow, tail = content.rpartition(JOINTS[0])
        return head + arrow, tail
    for joint in JOINTS:
        head, cut, tail = content.partition(joint)
        if cut and tail.strip():
            return head + cut, tail
    middle = content.find(" ", len(content) // 2) + 1 or len(content) // 2
    return content[:middle], content[middle:]


def invent(playbook: Playbook) -> Playbook | None:
    """The playbook with every number replaced by one of as many digits that no run gave."""
    chance = Chance.of(0)

    def invented(bullet: Bullet) -> str:
        def number(match: re.Match[str]) -> str:
            drawn = chance("invented", bullet.id, match.start())
            low = 10 ** (len(match[0]) - 1) if len(match[0]) > 1 and match[0][0] != "0" else 0
            return f"{low + drawn.below(10 ** len(match[0]) - low):0{len(match[0])}}"

        return _NUMBER.sub(number, bullet.content)

    return _with_contents(playbook, {bullet.id: invented(bullet) for bullet in playbook})


def _with_contents(playbook: Playbook, contents: Mapping[str, str]) -> Playbook | None:
    """The playbook with these contents, found by words of their own; None where none differs. Keywords of a bullet are
    those of the content that it had, so they go with it."""
    changed = {
        bullet.id: replace(bullet, content=contents[bullet.id], keywords=())
        for bullet in playbook
        if bullet.content != contents[bullet.id]
    }
    return playbook.with_bullets(changed) if changed else None


class ControlRetriever(PlaybookRetriever):
    """A retriever that finds bullets by a function of another retriever, the playbook and the query."""

    def __init__(
        self, retriever: PlaybookRetriever, find: Callable[[PlaybookRetriever, Playbook, str], Retrieved]
    ) -> None:
        super().__init__(retriever.config)
        self._retriever, self._find = retriever, find

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        return self._find(self._retriever, playbook, query)

    def fresh(self) -> Self:
        return type(self)(self._retriever.fresh(), self._find)


async def placebo(contest: Contest) -> ContestResult:
    """No bullets: the learned ones, permuted, are judged as the control wherever they can be permuted."""
    return ContestResult(Playbook(), contest.retriever(contest.config))


async def icl(contest: Contest) -> ContestResult:
    """Training tasks with their answers as raw examples, searched for each task, in as many tokens as the bullets."""
    texts = (f"{task.text}\n-> {task.truth}" for task in contest.train)
    examples = _examples(texts, "Earlier tasks with their right answers.")
    top_k = max(contest.config.top_k, MOST_EXAMPLES)
    retriever = contest.retriever(
        contest.config.model_copy(update={"budget_tokens": 0, "whole": False, "min_confidence": 0.0, "top_k": top_k})
    )
    assigned = assign_examples(retriever, examples, contest.judged, contest.injected_tokens)
    finds = ControlRetriever(retriever, lambda inner, book, query: inner.given(book, query, assigned.get(query, ())))
    return ContestResult(examples, finds)


def assign_examples(
    retriever: PlaybookRetriever, examples: Playbook, tasks: Sequence[Assignment], mean_tokens: float
) -> Mapping[str, tuple[str, ...]]:
    """By query, the examples nearest to each task that take `mean_tokens` tokens on average.

    Whole examples seldom fit exactly: what a task was given too much or too little is made up for by the next ones.
    """
    chance = Chance.of(0)
    order = sorted(examples.by_id, key=lambda id: (chance("example", id).below(1 << 30), id))
    assigned: dict[str, tuple[str, ...]] = {}
    owed = 0.0
    for task in tasks:
        owed += mean_tokens
        hits = retriever.retrieve(examples, task.query).injection.bullet_ids
        ids: list[str] = []
        spent = 0
        for id in dict.fromkeys((*hits, *order)):
            tokens = retriever.by_ids(examples, [*ids, id]).injection.tokens
            if (spent + tokens) / 2 > owed:
                break
            ids.append(id)
            spent = tokens
        owed -= spent
        assigned[task.query] = tuple(ids)
    return assigned


async def foreign_lessons(contest: Contest) -> ContestResult:
    """Lessons of another world, in at most as many tokens as the learned bullets. All runs get the same ones."""
    assert contest.records is not None
    foreign, tokens = await contest.records.foreign_playbook(), _budget(contest)
    texts: list[str] = []
    for bullet in foreign:
        if inject_all(_examples([*texts, bullet.content])).tokens > tokens:
            break
        texts.append(bullet.content)
    return ContestResult(_examples(texts), contest.retriever(contest.config), saw_truth=False)


async def run_excerpts(contest: Contest) -> ContestResult:
    """Raw records of the runs that taught the playbook, in at most as many tokens as its bullets, with what the world
    knew about them where the Reflector saw it too."""
    assert contest.records is not None
    texts = await contest.records.excerpts(contest.playbook, _budget(contest), truth=not contest.config.no_truth)
    return ContestResult(_examples(texts), contest.retriever(contest.config))


def _budget(contest: Contest) -> int:
    """The tokens of the playbook in a run's context."""
    tokens = inject_all(contest.playbook).tokens
    return min(tokens, contest.config.budget_tokens or tokens)


def _examples(texts: Iterable[str], about: str = "What was seen elsewhere.") -> Playbook:
    """A playbook of these texts in one section."""
    bullets = tuple(Bullet(f"ex-{number:05}", EXAMPLES, text) for number, text in enumerate(texts, 1))
    return Playbook((Section(EXAMPLES, about, bullets),), len(bullets) + 1)


PLACEBO, ICL = Rival(placebo, on_runs=foreign_lessons), Rival(icl, on_runs=run_excerpts)
