"""Questions as data sets write them, JSON lines or CSV, parsed. Texts in, JSON-native records out."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import cast

from akinai.core.canonical import Json
from akinai.retrieval import normalise

_CHOICE = re.compile(r"choice(\d{1,2})")
_LINES = (".jsonl", ".json", ".ndjson")
_TABLES = {".csv": ",", ".tsv": "\t"}
_LINE = re.compile("[^\n]*\n|[^\n]+")


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
    """What to know a file's questions by when they come up again: `marks` of each, sorted."""
    questions = cast("Sequence[Mapping[str, Json]]", read_data(texts))
    found = (marks(str(one["question"]), cast("Sequence[str]", one["choices"])) for one in questions)
    return sorted({mark for pair in found for mark in pair})


def marks(question: str, choices: Sequence[str]) -> tuple[str, str]:
    """Of a question's text, and of the set of its choices whatever their order: 16 hex digits each."""
    return _mark("question", question), _mark("choices", *sorted(map(normalise, choices)))


def _mark(*parts: str) -> str:
    return sha256("\0".join(normalise(part) for part in parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _records(name: str, text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The records of a file, numbered from 1 (in JSON lines and CSV by line)."""
    ending = f".{name.rpartition('.')[2].lower()}"
    if ending in _TABLES:
        rows = csv.DictReader(_LINE.findall(text), delimiter=_TABLES[ending], strict=True)
        try:
            yield from ((rows.line_num, row) for row in rows)
        except csv.Error as error:
            raise ValueError(f"line {rows.line_num} is no CSV ({error})") from error
    elif ending in _LINES:
        yield from _json_records(text)
    else:
        known = ", ".join([*_LINES, *_TABLES])
        raise ValueError(f"its name ends in {ending!r}; questions come in files that end in {known}")


def _json_records(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    if text.lstrip().startswith("["):
        found = enumerate(cast("list[object]", _parsed(text, "the list")), 1)
    else:
        lines = enumerate(text.split("\n"), 1)
        found = ((number, _parsed(line, f"line {number}")) for number, line in lines if line.strip())
    for number, record in found:
        if not isinstance(record, Mapping):
            raise ValueError(f"record {number} is {record!r:.40}; write one object a line")
        yield number, cast("Mapping[str, object]", record)


def _parsed(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is not JSON ({error})") from error


def _question(record: Mapping[str, object], number: int) -> dict[str, Json]:
    """One record, checked."""
    where = f"record {number}"
    id, question = record.get("q_id", record.get("id", number)), record.get("question")
    if isinstance(id, bool) or not isinstance(id, int | str) or not str(id).strip():
        raise ValueError(f"{where} has the q_id {id!r:.40}; give a number or a text")
    if not isinstance(question, str) or not question.strip():
        raise ValueError(f"{where} has the question {question!r:.40}; give a text")
    choices = _choices(record, where)
    return {"id": str(id), "question": question, "choices": [*choices], "label": _label(record, choices, where)}


def _choices(record: Mapping[str, object], where: str) -> list[str]:
    numbered = {int(match[1]): value for key, value in record.items() if (match := _CHOICE.fullmatch(str(key)))}
    listed = record.get("choices")
    found = cast("list[object]", listed) if isinstance(listed, list) else [numbered[at] for at in sorted(numbered)]
    if len(found) < 2:
        raise ValueError(f"{where} has {len(found)} choices; give choice0, choice1 and so on, at least two")
    if strange := next((one for one in found if not isinstance(one, str) or not one.strip()), None):
        raise ValueError(f"{where} has the choice {strange!r:.40}; give a text")
    return [str(one) for one in found]


def _label(record: Mapping[str, object], choices: Sequence[str], where: str) -> int:
    """The place of the right choice, from 0."""
    label = record.get("label")
    told = int(label) if isinstance(label, str) and label.strip().isdecimal() else label
    if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told < len(choices):
        last = len(choices) - 1
        raise ValueError(f"{where} has the label {label!r:.40}; give the place of the right choice, 0 to {last}")
    return told
