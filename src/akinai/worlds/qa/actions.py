"""What a solver can do: answer the question that is asked, or skip it."""

import re
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from akinai.core.actions import Action, Spoken, Verbs
from akinai.core.canonical import Json

_NUMBER = re.compile(r"[(（]?([0-9]{1,3})[)）.．、]?")


def _read_choice(said: object) -> Json:
    """A choice as people name it: its number, "(3)" or "3." too, or its text."""
    if isinstance(said, str) and (match := _NUMBER.fullmatch(said.strip())) and said.strip() != match[1]:
        return int(match[1])
    if isinstance(said, bool) or not isinstance(said, int | str):
        raise ValueError(f"choice is {said!r:.40}; give the number of a choice, or its text")
    return said


class Answer(Action):
    """Answer the question that is asked, with the number of a choice or its exact text."""

    aliases: ClassVar = ("choose", "select", "answer_question")
    spoken: ClassVar = {
        "choice": Spoken(
            "choice",
            _read_choice,
            {"type": "integer", "minimum": 1, "description": "The number that stands before the choice, from 1."},
        )
    }

    choice: Annotated[int, Field(strict=True)] | Annotated[str, StringConstraints(max_length=500)]
    """A number from 1, or the text of a choice."""


class Skip(Action):
    """Leave the question unanswered and go on to the next; it counts as not right."""

    aliases: ClassVar = ("pass", "no_answer")


VERBS = Verbs([Answer, Skip])
