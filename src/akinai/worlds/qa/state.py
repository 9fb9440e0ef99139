"""The state of a sheet: which question is asked now, and what was answered so far."""

from __future__ import annotations  # rpds classes take no parameters at run time

from dataclasses import dataclass, field, replace

from rpds import HashTrieMap

from akinai.worlds.qa.setup import Question


def _none() -> HashTrieMap[int, int]:
    return HashTrieMap()


@dataclass(frozen=True, slots=True)
class State:
    """A sheet and the answers on it."""

    sheet: tuple[Question, ...]
    place: int = 0
    """Of the question that is asked, from 0; that of no question when all were."""
    answers: HashTrieMap[int, int] = field(default_factory=_none)
    """The place of the choice, from 0, by the place of the question; skipped ones are not there."""

    @property
    def question(self) -> Question | None:
        """The question that is asked now."""
        return self.sheet[self.place] if self.place < len(self.sheet) else None

    def next(self, choice: int | None = None) -> State:
        """The next question, after this answer or none."""
        answers = self.answers if choice is None else self.answers.insert(self.place, choice)
        return replace(self, place=self.place + 1, answers=answers)
