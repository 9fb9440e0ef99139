"""What a sheet teaches without a model: "concept -> answer", gathered answer by answer. Pure."""

import re
from collections.abc import Sequence

from akinai.core.ledger import Ledger
from akinai.core.lessons import Lesson
from akinai.core.worlds import walk
from akinai.retrieval import normalise
from akinai.worlds.qa.setup import Question

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


def lessons(ledger: Ledger) -> Sequence[Lesson]:
    """What every question that was asked teaches, answered rightly or not: its record holds the right answer."""
    from akinai.worlds.qa import Qa

    return [
        lesson_of(question, (step.entry.seq,))
        for step in walk(Qa(), ledger.genesis, ledger.entries)
        if step.after.place != step.before.place and (question := step.before.question)
    ]


def lesson_of(question: Question, entries: tuple[int, ...] = ()) -> Lesson:
    """What one question teaches: "what it describes -> the right choice", about that choice."""
    answer = _one_line(question.answer)
    return Lesson(SECTION, concept(question.question) + ARROW + answer, (answer,), normalise(answer), entries)


def merged(said: str, lesson: Lesson) -> str:
    """A bullet after one more lesson about its answer: the concepts side by side, each once."""
    known, _, answer = said.rpartition(ARROW)
    new = lesson.content.rpartition(ARROW)[0]
    return BETWEEN.join(dict.fromkeys([*known.split(BETWEEN), new])) + ARROW + answer


def concept(question: str) -> str:
    """What a question describes: its text on one line, without the words that only ask."""
    text = _one_line(question).strip(_MARKS)
    return (_ASKING.sub("", text) or text).replace(BETWEEN, ", ").replace(ARROW, " to ")


def _one_line(text: str) -> str:
    return " ".join(text.split())
