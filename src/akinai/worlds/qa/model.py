"""The verbs of the questions world, and its state: the sheet and the answers so far."""

import re
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

from immutables import Map
from pydantic import Field, StringConstraints

from akinai.core.actions import Action, ParameterAlias, Verbs
from akinai.core.canonical import Json
from akinai.core.untrusted.spelling import short_repr
from akinai.worlds.qa.questions import Question

_NUMBER = re.compile(r"[(（]?([0-9]{1,3})[)）.．、]?")


def _parse_choice(value: object) -> Json:
    """Parse a choice: its number, also as "(3)" or "3.", or its text."""
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value.strip())) and value.strip() != match[1]:
        return int(match[1])
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"choice is {short_repr(value, 40)}; give the number of a choice, or its text")
    return value


class Answer(Action):
    """Answer the current question with the number of a choice or its exact text."""

    aliases: ClassVar = ("choose", "select", "answer_question")
    parameter_aliases: ClassVar = {
        "choice": ParameterAlias(
            "choice",
            _parse_choice,
            {"type": "integer", "minimum": 1, "description": "The number that stands before the choice, from 1."},
        )
    }

    choice: Annotated[int, Field(strict=True)] | Annotated[str, StringConstraints(max_length=500)]
    """A number from 1, or the text of a choice."""


class Skip(Action):
    """Skip the question and go on to the next. A skipped question counts as wrong."""

    aliases: ClassVar = ("pass", "no_answer")


VERBS = Verbs([Answer, Skip])


def _none() -> Map[int, int]:
    return Map()


@dataclass(frozen=True, slots=True)
class State:
    """A sheet of questions and the answers so far."""

    sheet: tuple[Question, ...]
    question_index: int = 0
    """The index of the current question, from 0; the length of the sheet when all have been asked."""
    answers: Map[int, int] = field(default_factory=_none)
    """The index of the choice, from 0, by the index of the question; skipped questions are left out."""

    @property
    def question(self) -> Question | None:
        """The current question; None when all have been asked."""
        return self.sheet[self.question_index] if self.question_index < len(self.sheet) else None

    @property
    def correct(self) -> int:
        """The number of right answers so far."""
        return sum(self.sheet[index].label == choice for index, choice in self.answers.items())

    def next(self, choice: int | None = None) -> "State":
        """The state at the next question, after this answer or a skip."""
        answers = self.answers if choice is None else self.answers.set(self.question_index, choice)
        return replace(self, question_index=self.question_index + 1, answers=answers)
