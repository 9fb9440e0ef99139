"""How a run of questions reads: each question with its choices, the solver's answer and the right one."""

from akinai.core.canonical import Json
from akinai.core.facets import Explaining, Presentation
from akinai.core.presentation.transcript import EntryView, Figure, Listing, Passage, Place, Sheet
from akinai.core.steps import Step, Steps
from akinai.worlds.qa import model as a
from akinai.worlds.qa.model import State

LONGEST_QUESTION = 80
"""Characters of a question in a summary."""


class QaExplaining(Explaining[State]):
    """Each answer decides a question; nothing is left to chance."""

    def words(self, step: Step[State]) -> str:
        question, index = step.before.question, step.before.question_index
        answer = step.after.answers.get(index)
        if question is None or answer is None:
            return f"question {index + 1}: skipped"
        verdict = "right" if answer == question.label else "wrong"
        return f"question {index + 1}: {question.choices[answer]!r:.60}, {verdict}"


class QaPresentation(Presentation[State]):
    """Questions with their choices; the place is the sheet so far."""

    def show(self, steps: Steps[State], index: int) -> EntryView:
        step = steps[index]
        question = step.before.question
        if question is None:
            return super().show(steps, index)
        index = step.before.question_index
        answer = step.after.answers.get(index) if step.outcome.ok else None
        rows: list[tuple[Json, ...]] = []
        for number, choice in enumerate(question.choices, 1):
            marks = ("chosen",) if answer == number - 1 else ()
            marks += ("right",) if question.label == number - 1 else ()
            rows.append((number, choice, ", ".join(marks)))
        blocks = (
            Passage("question", question.question),
            Sheet("choices", {"number": "count", "choice": "", "mark": ""}, tuple(rows)),
        )
        text = " ".join(question.question.split())
        short = text if len(text) <= LONGEST_QUESTION else f"{text[: LONGEST_QUESTION - 3]}..."
        match step.turn.action:
            case a.Skip():
                return EntryView("answer", f"Question {index + 1}: skipped. {short}", blocks, outcome=False)
            case a.Answer() if answer is not None:
                verdict = "right" if answer == question.label else "wrong"
                return EntryView("answer", f"Question {index + 1}: {verdict}. {short}", blocks, outcome=False)
            case _:
                plain = super().show(steps, index)
                return EntryView(plain.kind, plain.summary, blocks)

    def place(self, state: State, before: State | None = None, previous: Place | None = None) -> Place:
        if previous is not None and before is not None and state.question_index == before.question_index:
            return previous
        figures = (
            Figure("asked", "asked", state.question_index, "questions"),
            Figure("answered", "answered", len(state.answers), "questions"),
            Figure("correct", "right", state.correct, "questions"),
            Figure("questions", "on the sheet", len(state.sheet), "questions"),
        )
        last = state.question_index - 1
        rows: dict[str, tuple[Json, ...]] = {}
        if last >= 0:
            question, choice = state.sheet[last], state.answers.get(last)
            answer = "" if choice is None else question.choices[choice]
            rows["last"] = (question.question, answer, question.answer)
        heads = {"question": "", "answered": "", "right": ""}
        return Place(figures, (), (Listing("sheet", "The question before", heads, rows),))
