"""Multiple-choice questions as tasks of the learner, and the rules that learn them without a model. Pure.

Each training question becomes a bullet "concept -> answer", and bullets on the same answer are merged. A new question
is searched for in the playbook once, and so is each of its choices; a bullet that both the question and a choice find
votes for that choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

from akinai.core.canonical import Json
from akinai.core.lessons import Lesson
from akinai.learning.data_sets import DataSet, TaskLoader
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.playbook.bullets import Playbook, Section
from akinai.learning.playbook.deltas import BulletTag
from akinai.learning.roles.protocols import Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles.rules import LessonCurator
from akinai.learning.roles.tasks import Assignment, Task
from akinai.learning.search.embedders import TfidfSvd
from akinai.learning.search.index import PlaybookIndex, SearchQuery
from akinai.learning.search.injection import inject, inject_all
from akinai.learning.search.sudachi import SudachiWords
from akinai.retrieval import Tokenizer, tokenize

TOP_K = 100
"""The most bullets that the question finds, and that each choice finds."""

DIMENSIONS = 400
"""Length of the vectors that are fitted to the playbook with the extra."""

TAGGED = 3
"""Voters that are tagged: the weightiest for the choice that was taken."""

SETTINGS: dict[str, Json] = {"reflect_on_success": True, "dedup": False, "top_k": TOP_K, "budget_tokens": 0}
"""Every question teaches, right or wrong. Bullets are merged by answer as they come, and never across answers."""


class Question(Protocol):
    """A question with choices and the right answer among them."""

    @property
    def id(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def choices(self) -> Sequence[str]: ...
    @property
    def answer(self) -> str: ...


Q = TypeVar("Q", bound=Question)


@runtime_checkable
class ChoiceTasks(Protocol[Q]):
    """Questions of one kind, as the package that brings them describes them. Pure: texts come as arguments."""

    name: str
    """The name of the data set."""
    package: str
    """The package that holds the sample files."""
    samples: tuple[str, str]
    """Sample files: to learn from, and to be judged by."""
    sections: str
    """The name of the playbook's sections in `sections.yaml`."""
    language: str
    """The language of the prompts."""

    def read(self, file: str, text: str) -> Sequence[Q]:
        """The questions in a file. ValueError names the record at fault."""
        ...

    def make(self, id: str, text: str, choices: Sequence[str], answer: str) -> Q:
        """A question from its parts."""
        ...

    def text(self, question: Q) -> str:
        """The question and its choices, as a solver reads them."""
        ...

    def concept(self, question: Q) -> str:
        """The description in the question, on one line: the query to the playbook."""
        ...

    def lesson(self, question: Q) -> Lesson:
        """The lesson of one question."""
        ...

    def merge(self, content: str, lesson: Lesson) -> str:
        """The content of a bullet after another lesson about its answer."""
        ...

    def guess(self, question: str, choices: Sequence[str], tokenizer: Tokenizer) -> int:
        """The index of the choice that is taken when no bullet votes."""
        ...


def choice_data_set(
    tasks: ChoiceTasks[Any],
    load: TaskLoader,
    sections: tuple[Section, ...],
    *,
    extra: bool,
) -> DataSet:
    """The data set of multiple-choice questions, with the rules that learn them. With `extra` bullets are found by
    SudachiPy's words and fitted vectors."""
    words: Tokenizer = SudachiWords() if extra else tokenize
    index = partial(PlaybookIndex, tokenizer=words, embedder=TfidfSvd(DIMENSIONS, words) if extra else None)
    generator = VotingGenerator(tasks, words)
    rules = Roles(generator, QuestionReflector(tasks), LessonCurator(tasks.merge), label="rules")
    return DataSet(
        tasks.name,
        load,
        sections=sections,
        rules=rules,
        language=tasks.language,
        settings=SETTINGS,
        retriever=lambda config: VotingRetriever(config, index=index),
    )


def choice_task(tasks: ChoiceTasks[Q], question: Q, file: str) -> Task:
    """A question as a task. Its query has a line for the concept and a line for each choice."""
    query = "\n".join([tasks.concept(question), *(" ".join(choice.split()) for choice in question.choices)])
    data: Json = {"question": question.question, "choices": [*question.choices]}
    source = f"{file}#{question.id}"
    return Task(question.id, tasks.text(question), question.answer, query, data, source)


@dataclass(frozen=True, slots=True)
class Ballot:
    """The votes of bullets for the choices of a question."""

    votes: tuple[float, ...] = ()
    """By choice, 0 to 1; 0 where no bullet votes for it."""
    voters: tuple[tuple[str, ...], ...] = ()
    """By choice, the ids of the bullets that the question and the choice both find, the weightiest first."""

    @property
    def choice(self) -> int | None:
        """The index of the choice with the most votes, the first of several; None when nobody voted."""
        return max(range(len(self.votes)), key=lambda index: (self.votes[index], -index)) if any(self.votes) else None


def vote(question: Mapping[str, float], choices: Sequence[Mapping[str, float]]) -> Ballot:
    """Each bullet that the question and a choice both find votes for the choice, with the squares of both scores.

    `question` and `choices` are search scores by bullet, 0 to 1. A choice's votes are divided by the length of its
    vector of squared scores, so that a common word which finds many bullets is worth no more than a rare one; and by
    that of the question, which makes them a cosine.
    """
    squares = {id: score * score for id, score in question.items()}
    shares = [{id: score * score * squares[id] for id, score in scores.items() if id in squares} for scores in choices]
    lengths = [_length(question) * _length(scores) for scores in choices]
    return Ballot(
        tuple(sum(share.values()) / length if length else 0.0 for share, length in zip(shares, lengths, strict=True)),
        tuple(tuple(sorted(share, key=lambda id: (-share[id], id))) for share in shares),
    )


def _length(scores: Mapping[str, float]) -> float:
    """The length of the vector of squared scores."""
    return sum(score**4 for score in scores.values()) ** 0.5


@dataclass(frozen=True, slots=True)
class RetrievedVotes(Retrieved):
    """The bullets of a question with their votes for its choices."""

    ballot: Ballot = Ballot()


class VotingRetriever(PlaybookRetriever):
    """Searches by a query of several lines, the question and its choices. It injects only the bullets that the
    question and one of the choices both find.
    """

    def retrieve(self, playbook: Playbook, query: str) -> Retrieved:
        scores, choice_scores = self._found(playbook, query)
        ballot = vote(scores, choice_scores)
        voters = sorted({id for ids in ballot.voters for id in ids}, key=lambda id: (-scores[id], id))
        if self.config.whole:
            return RetrievedVotes(inject_all(playbook), playbook, ballot)
        bullets = [playbook[id] for id in voters]
        injection = inject(bullets, budget_tokens=self.config.budget_tokens or None)
        if injection.left_out:
            ballot = vote({id: scores[id] for id in injection.bullet_ids}, choice_scores)
        return RetrievedVotes(injection, playbook, ballot)

    def given(self, playbook: Playbook, query: str, ids: Sequence[str]) -> Retrieved:
        """These bullets. Those that the question and a choice both find vote."""
        scores, choice_scores = self._found(playbook, query)
        own = {id: score for id, score in scores.items() if id in ids}
        ballot = vote(own, choice_scores) if own else Ballot()
        return RetrievedVotes(self.by_ids(playbook, ids).injection, playbook, ballot)

    def permuted(self, original: Playbook, permuted: Playbook, query: str) -> Retrieved:
        """The bullets of the permuted playbook, which votes by what it teaches: its concepts are those of the original,
        so the question finds the same bullets."""
        return self.retrieve(permuted, query)

    def _found(self, playbook: Playbook, query: str) -> tuple[Mapping[str, float], Sequence[Mapping[str, float]]]:
        """The scores of the bullets that the question finds, and of those that each choice finds."""
        index = self._refreshed(playbook)
        # A bullet that misled once stays a voter: leaving such bullets out costs accuracy, see docs/qa.md.
        queries = (SearchQuery(text, top_k=self.config.top_k, min_confidence=0.0) for text in query.split("\n"))
        scores, *choice_scores = map(index.scores, queries)
        return scores, choice_scores


class VotingGenerator:
    """The Generator: it takes the choice with the most votes, or guesses where nobody votes."""

    def __init__(self, tasks: ChoiceTasks[Any], tokenizer: Tokenizer) -> None:
        self._tasks, self._tokenizer = tasks, tokenizer

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        question, choices = _question(assignment.data)
        ballot = retrieved.ballot if isinstance(retrieved, RetrievedVotes) else Ballot()
        if ballot.choice is None:
            index = self._tasks.guess(question, choices, self._tokenizer)
            return Trajectory(assignment.id, choices[index], "no bullet speaks for a choice: words in common")
        voters = ballot.voters[ballot.choice]
        share = ballot.votes[ballot.choice] / sum(ballot.votes)
        reasoning = f"{share:.0%} of the votes, by {len(voters)} bullets"
        return Trajectory(assignment.id, choices[ballot.choice], reasoning, used=voters[:TAGGED])


class QuestionReflector:
    """The Reflector: it states the lesson of the question, and tags bullets that led to a wrong answer as harmful."""

    def __init__(self, tasks: ChoiceTasks[Any]) -> None:
        self._tasks = tasks

    async def reflect(
        self,
        task: Task,
        trajectory: Trajectory,
        evaluation: Evaluation,
        retrieved: Retrieved,
        earlier: Sequence[Insights] = (),
    ) -> Insights:
        question, choices = _question(task.data)
        lesson = self._tasks.lesson(self._tasks.make(task.id, question, choices, task.truth))
        insights = Insights(task.id, key_insight=lesson.content, lessons=(lesson,))
        if evaluation.right:
            return insights
        tags = tuple(BulletTag(id, "harmful") for id in trajectory.used)
        return replace(insights, error_identification=evaluation.report, correct_approach=task.truth, tags=tags)


def _question(data: Json) -> tuple[str, tuple[str, ...]]:
    """The question and the choices in a task's data. ValueError for a task of another kind."""
    match data:
        case {"question": str(question), "choices": [*choices]}:
            return question, tuple(str(choice) for choice in choices)
        case _:
            raise ValueError(f"a task with {data!r:.60} is no question with choices; make it by `choice_task`")
