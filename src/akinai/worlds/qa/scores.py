"""What a sheet came to. Whatever was not answered, by a skip or because the run ended before, is not right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.core.canonical import Json
from akinai.core.ledger import Ledger
from akinai.core.scores import Score
from akinai.core.worlds import walk
from akinai.worlds.qa.data import marks
from akinai.worlds.qa.setup import Question, Setup
from akinai.worlds.qa.state import State


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of a record that was answered."""

    question: Question
    choice: int
    """The place of the choice, from 0."""
    seq: int
    """The entry that did it."""

    @property
    def right(self) -> bool:
        return self.choice == self.question.label


def answered(ledger: Ledger) -> list[Answered]:
    """The questions of a record that were answered, in their order."""
    from akinai.worlds.qa import Qa

    found: list[Answered] = []
    for step in walk(Qa(), ledger.genesis, ledger.entries):
        place = step.before.place
        if place in step.after.answers and place not in step.before.answers:
            found.append(Answered(step.before.sheet[place], step.after.answers[place], step.entry.seq))
    return found


def score(ledger: Ledger) -> Sequence[Score]:
    """Accuracy over all questions of the sheet; `clean_accuracy` over those that `seen` does not know, by their text
    or by the set of their choices (1 question of the sheet at least, else 0).
    """
    from akinai.worlds.qa import Qa

    sheet = Qa().begin(ledger.genesis).sheet
    seen = frozenset(Setup.model_validate(ledger.genesis.setup).seen)
    clean = {one.id for one in sheet if seen.isdisjoint(marks(one.question, one.choices))}
    found = answered(ledger)
    right = [one for one in found if one.right]
    clean_right = [one for one in right if one.question.id in clean]
    return [
        Score("accuracy", len(right) / len(sheet), "share", _entries(right)),
        Score("correct", len(right), "questions", _entries(right)),
        Score("answered", len(found), "questions", _entries(found)),
        Score("clean_accuracy", len(clean_right) / len(clean) if clean else 0, "share", _entries(clean_right)),
        Score("clean_questions", len(clean), "questions"),
    ]


def _entries(found: Sequence[Answered]) -> tuple[int, ...]:
    return tuple(one.seq for one in found)


def facts(state: State) -> Mapping[str, Json]:
    """The truth about a sheet in a few numbers."""
    right = sum(state.sheet[place].label == choice for place, choice in state.answers.items())
    return {"asked": state.place, "answered": len(state.answers), "correct": right, "questions": len(state.sheet)}
