"""Questions as tasks for the learner, under the entry point "qa" of `akinai.tasks`, and the lessons that they teach."""

import re
from collections.abc import Sequence
from typing import Any, cast

from akinai.core.lessons import Lesson
from akinai.core.steps import Steps
from akinai.retrieval import Tokenizer, normalise, tokenize
from akinai.worlds.qa.model import State
from akinai.worlds.qa.players import best, overlap
from akinai.worlds.qa.questions import Question, read_data
from akinai.worlds.qa.world import question_text

SECTION = "concepts"
ARROW = " -> "
BETWEEN = "; "

# How a Japanese question ends once its mark is gone: は, とは, を何という, のことを何と言いますか, はどれ, といえば ...
_ASKING = re.compile(
    r"[、,]?(?:のこと)?"
    r"(?:(?:を|は|って|とは|で|が|に|へ|の)?[、,]?(?:一般的に|普通)?"
    r"(?:何|なん|なに|どれ|どこ|だれ|誰|いつ|どんな(?:もの|こと|人|場所)|何処)"
    r"(?:と(?:いう|言う|いいます|言います|呼ぶ|呼びます|いわれる|言われる|呼ばれる|呼ばれている)|になる|がある|をする|をしている)?"
    r"(?:でしょう|です|だろう)?か?"
    r"|と?(?:いえば|言えば|いったら|言ったら)|と?は|って|を)$"
)
_MARKS = " 　?？.。!！"


def lessons(steps: Steps[State]) -> Sequence[Lesson]:
    """A lesson from each question of the run, right or wrong: its record holds the right answer."""
    return [
        lesson_of(question, (step.entry.seq,))
        for step in steps
        if step.after.question_index != step.before.question_index and (question := step.before.question)
    ]


def lesson_of(question: Question, entries: tuple[int, ...] = ()) -> Lesson:
    """The lesson of a question, "description -> right choice", about that choice."""
    answer = _one_line(question.answer)
    return Lesson(SECTION, concept(question.question) + ARROW + answer, (answer,), normalise(answer), entries)


def merge_lesson(content: str, lesson: Lesson) -> str:
    """The content of a bullet after another lesson about its answer: all concepts, each once."""
    concepts, _, answer = content.rpartition(ARROW)
    new_concept = lesson.content.rpartition(ARROW)[0]
    return BETWEEN.join(dict.fromkeys([*concepts.split(BETWEEN), new_concept])) + ARROW + answer


def concept(question: str) -> str:
    """The description in a question: its text on one line, without the words that only ask."""
    text = _one_line(question).strip(_MARKS)
    return (_ASKING.sub("", text) or text).replace(BETWEEN, ", ").replace(ARROW, " to ")


def _one_line(text: str) -> str:
    return " ".join(text.split())


class QuestionTasks:
    """Multiple-choice questions for the learner, as `learning.choices.ChoiceTasks` describes them."""

    name = "qa"
    package = "akinai.worlds.qa"
    samples = ("sample_train.jsonl", "sample_eval.jsonl")
    sections = "jcommonsenseqa"
    language = "ja"
    text = staticmethod(question_text)
    lesson = staticmethod(lesson_of)
    merge = staticmethod(merge_lesson)

    def read(self, file: str, text: str) -> Sequence[Question]:
        """The questions in a file, by the ending of its name. ValueError names the record at fault."""
        return [Question.model_validate(record) for record in cast("list[Any]", read_data({file: text}))]

    def make(self, id: str, text: str, choices: Sequence[str], answer: str) -> Question:
        """A question from its parts; `answer` is one of the choices."""
        return Question(id=id, question=text, choices=tuple(choices), label=list(choices).index(answer))

    def concept(self, question: Question) -> str:
        """The description in the question, without the words that only ask."""
        return concept(question.question)

    def guess(self, question: str, choices: Sequence[str], tokenizer: Tokenizer = tokenize) -> int:
        """The choice that shares the most words with the question."""
        return best(overlap(question, choices, tokenizer))


TASKS = QuestionTasks()
