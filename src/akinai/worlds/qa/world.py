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
class Answered:
    """A question that was answered."""

    question: Question
    choice: int
    """The index of the choice, from 0."""
    seq: int
    """The entry that holds the answer."""

    @property
    def right(self) -> bool:
        return self.choice == self.question.label


def answered(steps: Steps[State]) -> list[Answered]:
    """The answered questions of a run, in their order."""
    found: list[Answered] = []
    for step in steps:
        place = step.before.place
        if place in step.after.answers and place not in step.before.answers:
            found.append(Answered(step.before.sheet[place], step.after.answers[place], step.entry.seq))
    return found


def score(steps: Steps[State]) -> Sequence[Score]:
    """Accuracy over all questions of the sheet; `clean_accuracy` over those that `seen` does not know, by their text
    or by the set of their choices (1 question of the sheet at least, else 0).
    """
    sheet = steps.opening.sheet
    seen = frozenset(Setup.model_validate(steps.genesis.setup).seen)
    clean = {question.id for question in sheet if seen.isdisjoint(marks(question.question, question.choices))}
    found = answered(steps)
    right = [match for match in found if match.right]
    clean_right = [answer for answer in right if answer.question.id in clean]
    return [
        Score("accuracy", len(right) / len(sheet), "share", _entries(right), better="higher"),
        Score("correct", len(right), "questions", _entries(right), better="higher"),
        Score("answered", len(found), "questions", _entries(found), better="higher"),
        Score(
            "clean_accuracy",
            len(clean_right) / len(clean) if clean else 0,
            "share",
            _entries(clean_right),
            better="higher",
        ),
        Score("clean_questions", len(clean), "questions"),
    ]


def _entries(found: Sequence[Answered]) -> tuple[int, ...]:
    return tuple(match.seq for match in found)


def correct(state: State) -> int:
    """The number of right answers so far."""
    return sum(state.sheet[place].label == choice for place, choice in state.answers.items())


def facts(state: State) -> Mapping[str, Json]:
    """The main figures of a sheet."""
    answered, questions = len(state.answers), len(state.sheet)
    return {"asked": state.place, "answered": answered, "correct": correct(state), "questions": questions}


SOLVER = "solver"
OVER = "all questions were asked"


class QaJudging(Judging[State]):
    """The main figures of a sheet."""

    def standing(self, state: State) -> float:
        return correct(state) / len(state.sheet)

    def facts(self, state: State) -> Mapping[str, Json]:
        return facts(state)


class QaFiles(Files[State]):
    """The files of questions, and of those that a solver has seen before."""

    readers: ClassVar[Mapping[str, Reader]] = {"data": read_data, "seen": read_seen}


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
        text = f"Question {state.place + 1} of {len(state.sheet)}\n{question_text(question)}"
        return View(text, a.VERBS.classes, news=text if state.place else "")

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

    Refused as `no_such_choice` for a number or a text that is none of the question's.
    """
    place = place_of(question, action.choice)
    if place is None:
        return state, Outcome.refused("no_such_choice", _no_such(question, action.choice))
    text = f"Answered {place + 1}. {question.choices[place]}"
    return state.next(place), Outcome(text, data={"question": question.id, "choice": place + 1})


def place_of(question: Question, choice: int | str) -> int | None:
    """The index from 0 of a choice given by its text, in any width and case, or by its number from 1."""
    texts = [normalise(text).strip() for text in question.choices]
    said = normalise(str(choice)).strip()
    if isinstance(choice, str) and said in texts:
        return texts.index(said)
    number = int(said) if said.isascii() and said.isdecimal() and len(said) < 4 else 0
    return number - 1 if 1 <= number <= len(texts) else None


def _no_such(question: Question, choice: int | str) -> str:
    close = get_close_matches(str(choice)[:100], question.choices, n=1)
    meant = f"did you mean {close[0]!r}?" if close else f"give a number from 1 to {len(question.choices)}"
    return f"no choice {choice!r:.60} here; {meant}"
