"""Questions with choices as tasks of the learner, and the rules that learn them without a model.

Each training item becomes a bullet "concept -> answer", merged answer by answer. A new question is put to the playbook
once, and each of its choices once; a bullet that the question and a choice both find votes for that choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.learning.deltas import BulletTag
from akinai.learning.index import PlaybookIndex, SearchQuery
from akinai.learning.injection import inject, inject_all
from akinai.learning.loop_shelf import Shelf
from akinai.learning.playbook import Playbook
from akinai.learning.roles import Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles_by_rules import LessonCurator
from akinai.learning.sections import sections_for
from akinai.learning.tasks import Assignment, DataSet, Split, Task, exact
from akinai.retrieval import Tokenizer, tokenize
from akinai.runtime.questions import SAMPLE_EVAL, SAMPLE_TRAIN, questions_in
from akinai.worlds.qa import asked
from akinai.worlds.qa.lessons import concept, lesson_of, merged
from akinai.worlds.qa.setup import Question
from akinai.worlds.qa.voting import Ballot, best, overlap, vote

if TYPE_CHECKING:
    from akinai.learning.embedders import Fitting

TOP_K = 100
"""Bullets that the question may find, and each choice."""

DIMENSIONS = 400
"""Of the vectors that are fitted to the playbook where the extra `learn` is installed."""

FOLLOWED = 3
"""Voters that are tagged: the weightiest for the choice that was taken."""

NOBODY = Ballot((), ())
"""The ballot where nobody votes."""

SETTINGS: dict[str, Json] = {"reflect_on_success": True, "dedup": False, "top_k": TOP_K, "budget_tokens": 0}
"""Every item teaches, right or wrong; and bullets on one answer are merged as they come, those on two never."""


def qa_tasks(data: str = SAMPLE_TRAIN, eval: str = "", extra: bool | None = None) -> DataSet:
    """The data set `qa`: questions to learn from, and questions to be judged by.

    `data` and `eval` are files or names, as `questions_in` takes them; without both, the product's own samples.
    `extra` says whether bullets are found by SudachiPy's words and fitted vectors; left out: where the extra `learn`,
    which they need, is installed.
    """
    if extra not in (None, True, False):
        raise UsageError(f"extra is {extra!r:.40}; say true or false, or leave it out")
    judged = eval or (SAMPLE_EVAL if data == SAMPLE_TRAIN else "")
    names: dict[Split, str] = {"train": data, "validation": judged}
    tokenizer, make = _index(extra=extra_installed() if extra is None else extra)

    def load(split: Split) -> Sequence[Task]:
        name = names.get(split)
        return [task_of(one, name) for one in questions_in(name, split=split)] if name else []

    rules = Roles(OverlapAndVotes(tokenizer), ConceptReflector(), LessonCurator(merged), label="rules")
    return DataSet(
        "qa",
        load,
        check=exact,
        sections=sections_for("jcommonsenseqa"),
        rules=rules,
        language="ja",
        settings=SETTINGS,
        shelf=lambda plan: PollingShelf(plan, index=make),
    )


def task_of(question: Question, file: str) -> Task:
    """A question as a task. It is looked up by what it describes, and by each of its choices: a line each."""
    choices = [" ".join(choice.split()) for choice in question.choices]
    told: Json = {"question": question.question, "choices": [*question.choices]}
    query = "\n".join([concept(question.question), *choices])
    return Task(question.id, asked(question), question.answer, query, told, f"{file.rpartition('/')[2]}#{question.id}")


def extra_installed() -> bool:
    """Whether SudachiPy and SciPy are there."""
    return all(map(find_spec, ("sudachipy", "sudachidict_core", "scipy")))


def _index(*, extra: bool) -> tuple[Tokenizer, Callable[[], PlaybookIndex]]:
    from akinai.learning.sudachi import SudachiWords
    from akinai.learning.svd import TfidfSvd

    cut = _RememberedWords(SudachiWords()) if extra else tokenize
    # A cached property is a name too, which the checker does not see.
    embedder = cast("Fitting", TfidfSvd(DIMENSIONS, cut)) if extra else None
    return cut, lambda: PlaybookIndex(tokenizer=cut, embedder=embedder)


class _RememberedWords:
    """A tokenizer that cuts a text once: it is asked for words and for vectors, and by each of several indexes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name = str(getattr(tokenizer, "name", type(tokenizer).__qualname__))
        self._cut: Callable[[str], Sequence[str]] = lru_cache(maxsize=1 << 16)(lambda text: tuple(tokenizer(text)))

    def __call__(self, text: str) -> Sequence[str]:
        return self._cut(text)


@dataclass(frozen=True, slots=True)
class Polled(Retrieved):
    """The bullets of a question with what they say to its choices."""

    ballot: Ballot = NOBODY


class PollingShelf(Shelf):
    """Finds bullets by a query of several lines: those that the first line, the question, and another, a choice, both
    find. Only these are injected.
    """

    def another(self) -> PollingShelf:
        return PollingShelf(self.plan, index=self._make, count_tokens=self.count_tokens)

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        question, *choices = query.split("\n")
        index = self._refreshed(playbook)
        found = {result.bullet.id: result for result in index.search(self._wanted(question))}
        scores = {id: result.combined_score for id, result in found.items()}
        asked = [index.scores(self._wanted(choice)) for choice in choices]
        ballot = vote(scores, asked)
        voters = sorted({id for some in ballot.voters for id in some}, key=lambda id: (-scores[id], id))
        count = self.count_tokens
        if self.plan.whole:
            return Polled(inject_all(playbook, count_tokens=count), (), playbook, ballot=ballot)
        bullets = [found[id].bullet for id in voters]
        fitting = inject(bullets, budget_tokens=self.plan.budget_tokens, count_tokens=count)
        if fitting.left_out:
            ballot = vote({id: scores[id] for id in fitting.bullet_ids}, asked)
        return Polled(fitting, tuple(found[id] for id in voters), playbook, ballot=ballot)

    def _wanted(self, text: str) -> SearchQuery:
        # What was wrong once stays a voter: leaving such bullets out costs accuracy, see docs/qa.md.
        return SearchQuery(text, top_k=self.plan.top_k, min_confidence=0.0)


class OverlapAndVotes:
    """The Generator: the choice with the most votes, or with the most words of the question where nobody votes."""

    def __init__(self, tokenizer: Tokenizer = tokenize) -> None:
        self._tokenizer = tokenizer

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        question, choices = _question(assignment.data)
        ballot = given.ballot if isinstance(given, Polled) else NOBODY
        if ballot.choice is None:
            place = best(overlap(question, choices, self._tokenizer))
            return Trajectory(assignment.id, choices[place], "no bullet speaks for a choice: words in common")
        voters = ballot.voters[ballot.choice]
        share = ballot.votes[ballot.choice] / sum(ballot.votes)
        told = f"{share:.0%} of the votes, by {len(voters)} bullets"
        return Trajectory(assignment.id, choices[ballot.choice], told, used=voters[:FOLLOWED])


class ConceptReflector:
    """The Reflector: the lesson of the item, and harmful for the bullets that were followed to a wrong answer."""

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        given: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        question, choices = _question(task.data)
        lesson = lesson_of(Question(id=task.id, question=question, choices=choices, label=choices.index(task.truth)))
        told = Insights(task.id, key_insight=lesson.content, lessons=(lesson,))
        if evaluation.right:
            return told
        tags = tuple(BulletTag(id, "harmful") for id in trajectory.used)
        return replace(told, error_identification=evaluation.report, correct_approach=task.truth, tags=tags)


def _question(data: Json) -> tuple[str, tuple[str, ...]]:
    """The question and the choices of a task's data. ValueError for a task that is none."""
    match data:
        case {"question": str(question), "choices": [*choices]}:
            return question, tuple(str(choice) for choice in choices)
        case _:
            raise ValueError(f"a task with {data!r:.60} is no question with choices; make it by `task_of`")
