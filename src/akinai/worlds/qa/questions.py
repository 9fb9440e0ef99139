"""The settings of a run of questions, the sheet that follows from them, and the parsing of files of questions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from akinai.core.canonical import Json
from akinai.core.ledger import Genesis
from akinai.core.untrusted.documents import TABLES, DocumentError, parse_json, parse_lines, parse_rows
from akinai.core.untrusted.spelling import short_repr
from akinai.retrieval import normalise

TRIES = 3
"""Actions allowed for each question, unless `max_messages` is set."""


class Question(BaseModel):
    """A question, its choices, and the right choice."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    question: str
    choices: Annotated[tuple[str, ...], Field(min_length=2)]
    label: Annotated[int, Field(ge=0)]
    """The index of the right choice, from 0; the solver never sees it."""

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if self.label >= len(self.choices):
            raise ValueError(f"label {self.label} of {len(self.choices)} choices; count from 0")
        return self

    @property
    def answer(self) -> str:
        """The right choice."""
        return self.choices[self.label]


class Setup(BaseModel):
    """The settings of a sheet of questions; `--set name=value` sets any of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: Annotated[tuple[Question, ...], Field(min_length=1)]
    """The questions, or the file that holds them: JSON lines, CSV or TSV."""
    draw: Annotated[int, Field(ge=0)] = 0
    """The number of questions that the seed draws from the data; 0: all of them, in their order."""
    seen: tuple[str, ...] = ()
    """Marks of questions that were learned from, or the file that holds these questions; clean scores omit them."""
    max_messages: Annotated[int, Field(ge=0)]
    """Entries before the run ends: three for each question unless it is set; 0: no cap."""

    @model_validator(mode="before")
    @classmethod
    def _room_for_tries(cls, settings: object) -> object:
        if not isinstance(settings, dict) or "max_messages" in settings:
            return cast("object", settings)
        table = cast("dict[str, Any]", settings)
        data: Any = table.get("data")
        drawn: Any = table.get("draw", 0)
        available = len(cast("list[Any]", data)) if isinstance(data, list | tuple) else 0
        question_count = min(drawn, available) if isinstance(drawn, int) and drawn > 0 else available
        return {**table, "max_messages": TRIES * question_count}

    @field_validator("data")
    @classmethod
    def _ids_differ(cls, data: tuple[Question, ...]) -> tuple[Question, ...]:
        if len({question.id for question in data}) < len(data):
            raise ValueError("two questions have the same id")
        return data

    @field_validator("draw")
    @classmethod
    def _draws_what_exists(cls, draw: int, info: ValidationInfo) -> int:
        available = len(info.data.get("data", ()))
        if draw > available > 0:
            raise ValueError(f"the data holds {available} questions; draw fewer")
        return draw


def sheet_of(genesis: Genesis) -> tuple[Question, ...]:
    """The questions of a run, in the order in which they are asked."""
    setup = Setup.model_validate(genesis.setup)
    if not setup.draw:
        return setup.data
    chance = genesis.chance("draw")
    ordered = sorted(setup.data, key=lambda question: (chance(question.id).uniform(), question.id))
    drawn = {question.id for question in ordered[: setup.draw]}
    return tuple(question for question in setup.data if question.id in drawn)


_CHOICE = re.compile(r"choice(\d{1,2})")
_LINES = (".jsonl", ".json", ".ndjson")


def read_data(texts: Mapping[str, str]) -> Json:
    """The questions of one file as [{"id", "question", "choices", "label"}], in its order.

    JSON lines, a JSON list, CSV or TSV (by the name's ending) with q_id, question, choice0, choice1 ... and label, as
    JCommonsenseQA has them; `choices` may be a list, and q_id a number or text. ValueError names the record at fault.
    """
    if len(texts) != 1:
        raise ValueError(f"{len(texts)} files where one belongs; name a single file")
    ((name, text),) = texts.items()
    seen: dict[str, int] = {}
    questions: list[Json] = []
    for number, record in _records(name, text.removeprefix("\ufeff")):
        question = _question(record, number)
        id = str(question["id"])
        if id in seen:
            raise ValueError(f"record {number} has the q_id {id!r} of record {seen[id]}; give each its own")
        seen[id] = number
        questions.append(question)
    if not questions:
        raise ValueError("it holds no question; give one a line")
    return questions


def read_seen(texts: Mapping[str, str]) -> Json:
    """The marks by which a file's questions are recognised, sorted."""
    questions = cast("Sequence[Mapping[str, Json]]", read_data(texts))
    pairs = (marks(str(question["question"]), cast("Sequence[str]", question["choices"])) for question in questions)
    return sorted({mark for pair in pairs for mark in pair})


def marks(question: str, choices: Sequence[str]) -> tuple[str, str]:
    """Marks of a question's text and of the set of its choices in any order: 16 hex digits each."""
    return _mark("question", question), _mark("choices", *sorted(map(normalise, choices)))


def _mark(*parts: str) -> str:
    return sha256("\0".join(normalise(part) for part in parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _records(name: str, text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The records of a file, numbered from 1 (in JSON lines and CSV by line)."""
    ending = f".{name.rpartition('.')[2].lower()}"
    if ending in TABLES:
        yield from parse_rows(text, TABLES[ending])
    elif ending in _LINES:
        yield from _json_records(text)
    else:
        endings = ", ".join([*_LINES, *TABLES])
        raise ValueError(f"its name ends in {ending!r}; questions come in files that end in {endings}")


def _json_records(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    listed = text.lstrip().startswith("[")
    try:
        for number, record in enumerate(parse_json(text), 1) if listed else parse_lines(text):
            if not isinstance(record, Mapping):
                raise ValueError(f"record {number} is {short_repr(record, 40)}; write one object a line")
            yield number, cast("Mapping[str, object]", record)
    except DocumentError as error:
        raise ValueError(f"the list: {error}" if listed else str(error)) from error


def _question(record: Mapping[str, object], number: int) -> dict[str, Json]:
    """A checked question from a record."""
    where = f"record {number}"
    id, question = record.get("q_id", record.get("id", number)), record.get("question")
    if isinstance(id, bool) or not isinstance(id, int | str) or not str(id).strip():
        raise ValueError(f"{where} has the q_id {short_repr(id, 40)}; give a number or a text")
    if not isinstance(question, str) or not question.strip():
        raise ValueError(f"{where} has the question {short_repr(question, 40)}; give a text")
    choices = _choices(record, where)
    return {"id": str(id), "question": question, "choices": [*choices], "label": _label(record, choices, where)}


def _choices(record: Mapping[str, object], where: str) -> list[str]:
    numbered = {int(match[1]): value for key, value in record.items() if (match := _CHOICE.fullmatch(str(key)))}
    listed = record.get("choices")
    texts = cast("list[object]", listed) if isinstance(listed, list) else [numbered[n] for n in sorted(numbered)]
    if len(texts) < 2:
        raise ValueError(f"{where} has {len(texts)} choices; give choice0, choice1 and so on, at least two")
    if unfit := next((text for text in texts if not isinstance(text, str) or not text.strip()), None):
        raise ValueError(f"{where} has the choice {short_repr(unfit, 40)}; give a text")
    return [str(text) for text in texts]


def _label(record: Mapping[str, object], choices: Sequence[str], where: str) -> int:
    """The index of the right choice, from 0."""
    label = record.get("label")
    index = int(label) if isinstance(label, str) and label.strip().isdecimal() else label
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(choices):
        last = len(choices) - 1
        raise ValueError(
            f"{where} has the label {short_repr(label, 40)}; give the place of the right choice, 0 to {last}"
        )
    return index
