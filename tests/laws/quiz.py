"""A quiz for two: a world without money and without a clock, in which two actors take turns."""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, Field

from akinai.core import Action, Genesis, Outcome, Plan, Routine, Score, Turn, Verbs, View, World, player
from akinai.core.steps import Steps

ACTORS = ("left", "right")


class Question(BaseModel, frozen=True, extra="forbid"):
    asked: str
    answer: str


class Setup(BaseModel, frozen=True, extra="forbid"):
    questions: Annotated[tuple[Question, ...], Field(min_length=1)] = (
        Question(asked="The capital of Japan?", answer="Tokyo"),
        Question(asked="商い is read ...?", answer="akinai"),
        Question(asked="Six times seven?", answer="42"),
    )


class Answer(Action):
    """Answer the question that you were asked."""

    text: Annotated[str, Field(max_length=100)]


class Pass(Action):
    """Let the question go by."""


@dataclass(frozen=True)
class Sheet:
    setup: Setup
    answers: tuple[tuple[str, bool], ...] = ()
    """Who answered, and whether it was right; nobody for a question that went by."""


def right_answers(steps: Steps[Sheet]) -> list[Score]:
    """How many were right, of all, and how many of them were left's."""
    sheet = steps.final
    right = [actor for actor, good in sheet.answers if good]
    share = len(right) / len(sheet.setup.questions)
    return [Score("right", share, "share", better="higher"), Score("right_of_left", right.count("left"), "answers")]


@player
def silent(_: Routine) -> Plan:
    """Lets every question go by."""
    while True:
        yield Pass()


@player
def knowing(me: Routine) -> Plan:
    """Has the answers of the default setup by heart."""
    answers = {question.asked: question.answer for question in Setup().questions}
    while True:
        yield Answer(text=answers[me.view.text])


class Quiz(World[Sheet]):
    """The rules: left and right are asked in turns."""

    name = "quiz@1"
    setup = Setup
    verbs = Verbs([Answer, Pass])
    scorers = (right_answers,)
    players = {"silent": silent}

    def begin(self, genesis: Genesis) -> Sheet:
        return Sheet(Setup.model_validate(genesis.setup))

    def actors(self, state: Sheet) -> list[str]:
        return [] if self.ending(state) else [ACTORS[len(state.answers) % 2]]

    def view(self, state: Sheet, actor: str) -> View:
        if actor not in self.actors(state):
            return View("", closed=self.ending(state) or "it is not your turn")
        return View(state.setup.questions[len(state.answers)].asked, self.verbs.classes)

    def apply(self, state: Sheet, turn: Turn) -> tuple[Sheet, Outcome]:
        if closed := self.view(state, turn.actor).closed:
            return state, Outcome.refused("closed", closed)
        question = state.setup.questions[len(state.answers)]
        match turn.action:
            case Answer(text=text):
                right = text.strip().casefold() == question.answer.casefold()
                sheet = replace(state, answers=(*state.answers, (turn.actor, right)))
                return sheet, Outcome("Right." if right else f"No: {question.answer}.", data={"right": right})
            case _:
                return replace(state, answers=(*state.answers, ("", False))), Outcome("Next.")

    def ending(self, state: Sheet) -> str | None:
        return "all_asked" if len(state.answers) == len(state.setup.questions) else None
