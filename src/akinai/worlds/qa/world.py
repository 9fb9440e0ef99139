"""The questions world: a sheet of multiple-choice questions, asked in turn, and its scores.

A question without an answer, skipped or never reached, counts as wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import ClassVar

from akinai.core.agents import View
from akinai.core.canonical import Json
from akinai.core.facets import Facets, Files, Judging, Reader
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.scores import Score
from akinai.core.steps import Steps
from akinai.core.worlds import World
from akinai.retrieval import normalise
from akinai.worlds.qa import model as a
from akinai.worlds.qa.model import State
from akinai.worlds.qa.players import PLAYERS
from akinai.worlds.qa.questions import Question, Setup, marks, read_data, read_seen, sheet_of
from akinai.worlds.qa.transcript import QaExplaining, QaPresentation

__all__ = ["SOLVER", "Qa", "Question", "Setup", "State"]


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that was answered."""

    question: Question
    choice: int
    """The index of the choice, from 0."""
    seq: int
    """The entry that holds the answer."""

    @property
    def right(self) -> bool:
        return self.choice == self.question.label


def answered_questions(steps: Steps[State]) -> list[AnsweredQuestion]:
    """The answered questions of a run, in the order of the sheet."""
    answers: list[AnsweredQuestion] = []
    for step in steps:
        index = step.before.question_index
        if index in step.after.answers and index not in step.before.answers:
            answers.append(AnsweredQuestion(step.before.sheet[index], step.after.answers[index], step.entry.seq))
    return answers


def score(steps: Steps[State]) -> Sequence[Score]:
    """Accuracy over all questions of the sheet, and `clean_accuracy` over those whose text and whose set of choices are
    not among `seen`; 0 without such a question.
    """
    sheet = steps.opening.sheet
    seen = frozenset(Setup.model_validate(steps.genesis.setup).seen)
    clean = {question.id for question in sheet if seen.isdisjoint(marks(question.question, question.choices))}
    answers = answered_questions(steps)
    right = [answer for answer in answers if answer.right]
    clean_right = [answer for answer in right if answer.question.id in clean]
    return [
        Score("accuracy", len(right) / len(sheet), "share", _entries(right), better="higher"),
        Score("correct", len(right), "questions", _entries(right), better="higher"),
        Score("answered", len(answers), "questions", _entries(answers), better="higher"),
        Score(
            "clean_accuracy",
            len(clean_right) / len(clean) if clean else 0,
            "share",
            _entries(clean_right),
            better="higher",
        ),
        Score("clean_questions", len(clean), "questions"),
    ]


def _entries(answers: Sequence[AnsweredQuestion]) -> tuple[int, ...]:
    return tuple(answer.seq for answer in answers)


SOLVER = "solver"
OVER = "all questions were asked"


class QaJudging(Judging[State]):
    """The main figures of a sheet."""

    def standing(self, state: State) -> float:
        return state.correct / len(state.sheet)

    def facts(self, state: State) -> Mapping[str, Json]:
        return {
            "asked": state.question_index,
            "answered": len(state.answers),
            "correct": state.correct,
            "questions": len(state.sheet),
        }


class QaFiles(Files[State]):
    """The files of questions, and of those that a solver has seen before."""

    readers: ClassVar[Mapping[str, Reader]] = {"data": read_data, "seen": read_seen}
    kinds: ClassVar[Mapping[str, str]] = {"data": "questions", "seen": "marks of seen questions"}


class Qa(World[State]):
    """The rules: each question is asked once, in order, and no outcome tells whether an answer was right."""

    name = "qa@1"
    setup = Setup
    verbs = a.VERBS
    scorers = (score,)
    players = PLAYERS
    facets = Facets(judging=QaJudging(), presentation=QaPresentation(), files=QaFiles(), explaining=QaExplaining())

    def begin(self, genesis: Genesis) -> State:
        return State(sheet_of(genesis))

    def actors(self, state: State) -> Sequence[str]:
        return (SOLVER,) if state.question else ()

    def view(self, state: State, actor: str) -> View:
        if actor != SOLVER:
            return View("", closed=f"only {SOLVER!r} answers questions")
        question = state.question
        if question is None:
            return View("", closed=OVER)
        text = f"Question {state.question_index + 1} of {len(state.sheet)}\n{question_text(question)}"
        return View(text, a.VERBS.classes, news=text if state.question_index else "")

    def apply(self, state: State, turn: Turn) -> tuple[State, Outcome]:
        if turn.actor != SOLVER:
            return state, Outcome.refused("not_yours", f"only {SOLVER!r} answers questions")
        question = state.question
        if question is None:
            return state, Outcome.refused("over", OVER)
        match turn.action:
            case a.Answer():
                return answer(state, question, turn.action)
            case a.Skip():
                return state.next(), Outcome("Skipped.", data={"question": question.id, "choice": None})
            case _:
                raise TypeError(f"{type(turn.action).__name__} is no verb of the world of questions")

    def ending(self, state: State) -> str | None:
        return None if state.question else "all_asked"


def question_text(question: Question) -> str:
    """A question as a solver reads it: the text on a line, then each numbered choice on a line of its own."""
    lines = [question.question, *(f"{n}. {choice}" for n, choice in enumerate(question.choices, 1))]
    return "\n".join(" ".join(line.split()) for line in lines)


def answer(state: State, question: Question, action: a.Answer) -> tuple[State, Outcome]:
    """Record an answer and go on. The outcome does not tell whether it was right.

    Refused as `no_such_choice` for a number or a text that is no choice of the question.
    """
    index = choice_index(question, action.choice)
    if index is None:
        return state, Outcome.refused("no_such_choice", _no_such_choice(question, action.choice))
    text = f"Answered {index + 1}. {question.choices[index]}"
    return state.next(index), Outcome(text, data={"question": question.id, "choice": index + 1})


def choice_index(question: Question, choice: int | str) -> int | None:
    """The index from 0 of a choice given by its text, in any width and case, or by its number from 1."""
    texts = [normalise(text).strip() for text in question.choices]
    folded = normalise(str(choice)).strip()
    if isinstance(choice, str) and folded in texts:
        return texts.index(folded)
    number = int(folded) if folded.isascii() and folded.isdecimal() and len(folded) < 4 else 0
    return number - 1 if 1 <= number <= len(texts) else None


def _no_such_choice(question: Question, choice: int | str) -> str:
    close = get_close_matches(str(choice)[:100], question.choices, n=1)
    suggestion = f"did you mean {close[0]!r}?" if close else f"give a number from 1 to {len(question.choices)}"
    return f"no choice {choice!r:.60} here; {suggestion}"
