"""The world of questions: a sheet of multiple-choice questions with known answers, answered one after the other."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import ClassVar

from akinai.core.agents import View
from akinai.core.canonical import Json
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.worlds import World
from akinai.retrieval import normalise
from akinai.worlds.qa import actions as a
from akinai.worlds.qa.data import read_data, read_seen
from akinai.worlds.qa.players import PLAYERS
from akinai.worlds.qa.scores import facts, score
from akinai.worlds.qa.setup import Question, Setup, sheet_of
from akinai.worlds.qa.state import State

__all__ = ["SOLVER", "Qa", "Question", "Setup", "State"]

SOLVER = "solver"
OVER = "all questions were asked"


class Qa(World[State]):
    """The rules: each question is asked once, in order, and nobody says whether an answer was right."""

    name = "qa@1"
    setup = Setup
    files: ClassVar = {"data": read_data, "seen": read_seen}
    verbs = a.VERBS
    scorers = (score,)
    players = PLAYERS

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
        told = f"Question {state.place + 1} of {len(state.sheet)}\n{asked(question)}"
        return View(told, a.VERBS.classes, news=told if state.place else "")

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

    def facts(self, state: State) -> Mapping[str, Json]:
        return facts(state)


def asked(question: Question) -> str:
    """A question as a solver reads it: the text on a line, and the numbered choices, each on its own."""
    lines = [question.question, *(f"{n}. {choice}" for n, choice in enumerate(question.choices, 1))]
    return "\n".join(" ".join(line.split()) for line in lines)


def answer(state: State, question: Question, action: a.Answer) -> tuple[State, Outcome]:
    """Note an answer and go on. Nothing tells whether it was right.

    Refused as `no_such_choice` for a number or a text that is none of the question's.
    """
    place = place_of(question, action.choice)
    if place is None:
        return state, Outcome.refused("no_such_choice", _no_such(question, action.choice))
    told = f"Answered {place + 1}. {question.choices[place]}"
    return state.next(place), Outcome(told, data={"question": question.id, "choice": place + 1})


def place_of(question: Question, choice: int | str) -> int | None:
    """The place of a choice from 0, by its text (letters' width and case do not matter) or its number from 1."""
    texts = [normalise(one).strip() for one in question.choices]
    said = normalise(str(choice)).strip()
    if isinstance(choice, str) and said in texts:
        return texts.index(said)
    number = int(said) if said.isascii() and said.isdecimal() and len(said) < 4 else 0
    return number - 1 if 1 <= number <= len(texts) else None


def _no_such(question: Question, choice: int | str) -> str:
    close = get_close_matches(str(choice)[:100], question.choices, n=1)
    meant = f"did you mean {close[0]!r}?" if close else f"give a number from 1 to {len(question.choices)}"
    return f"no choice {choice!r:.60} here; {meant}"
