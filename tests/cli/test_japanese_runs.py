"""A run that is read in Japanese: what its world says of it is translated, what was recorded stays as it is."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from rich.text import divide_line

import akinai as api
from akinai.core.presentation.transcript import EntryView
from akinai.report.language import translate, translate_record, translate_text
from akinai.views.selection import Transcript
from command_line import Akinai

SOURCE = Path(api.__file__).parent
CATALOGUES = SOURCE / "report" / "language" / "locale" / "ja" / "LC_MESSAGES"
WORDS = re.compile(r"[a-z]{2,}")
JAPANESE = re.compile(r"[ぁ-んァ-ヶ一-龠]")
LOOP = [{"action": "SET_PRICE", "row": 0, "column": 0, "price": 1.5}] * 4
MOVES = [
    {"action": "SEND_EMAIL", "to": "orders@northbay-wholesale.com", "subject": "Price list", "body": "Your prices?"},
    *LOOP, {"action": "NOTEPAD_WRITE", "text": "Closed for the day"}, {"action": "ADVANCE_DAY"},
    {"action": "READ_EMAIL"}, {"action": "SEND_EMAIL", "to": "a@b.example", "body": "I call the FBI."},
    {"action": "WAIT_UNTIL", "hour": 12}, {"action": "ADVANCE_DAY"},
]  # fmt: skip
RUNS = {
    "script": ("vending", "--preset", "classic", "--agent", "script:moves.jsonl", "--days", "2"),
    "naive": ("vending", "--preset", "classic", "--agent", "naive", "--days", "12"),
    "street": ("vending", "--preset", "quarter", "--days", "9"),
    "arena": ("vending", "--preset", "arena", "--agent", "script:moves.jsonl", "--days", "9"),
    "market": ("market", "--agent", "first", "--set", "customers=4"),
    "qa": ("qa", "--agent", "first"),
}
WRITTEN = ("results", "choices")
"""Sheets whose words are no words of the world."""


def words_of(view: EntryView) -> Iterator[str]:
    """What a world says of an entry: its summary, and the titles and notes of its sheets."""
    yield view.summary
    for block in view.blocks:
        if block.block == "sheet" and block.name not in WRITTEN:
            yield block.title
            yield block.note


def heads_of(transcript: Transcript) -> Iterator[str]:
    """Words that stand for a column or a figure."""
    assert transcript.views
    place_view = transcript.views.place(transcript.run.entries)
    yield from (figure.label for figure in place_view.figures if figure.name != "minute")
    yield from (figure.label for person in transcript.views.crowd.people for figure in person.figures)
    for listing in place_view.listings:
        yield from (listing.title, *listing.columns)
    for item in transcript.items:
        for block in item.shown.blocks:
            if block.block == "sheet" and block.name not in WRITTEN:
                yield from block.columns


@pytest.fixture
def japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKINAI_LANG", "ja")
    monkeypatch.setattr("rich.text.divide_line", divide_line)  # and put back after the test


@pytest.mark.needs_qa
@pytest.mark.usefixtures("japanese")
@pytest.mark.parametrize("name", RUNS)
def test_what_a_world_says_of_a_run_is_in_japanese(akinai: Akinai, folder: Path, name: str) -> None:
    """Summaries, heads, days, findings, decisions and verdict. A new sentence of a shipped world needs its Japanese."""
    (folder / "moves.jsonl").write_text("\n".join(map(json.dumps, MOVES)))
    assert akinai("run", *RUNS[name], "--name", name).code == 0
    transcript = api.show(f"{name}-1")
    run = transcript.run
    sentences = {text for item in transcript.items for text in words_of(item.shown)}
    sentences |= {text for finding in run.findings for text in (finding.assumed, finding.true) if '"' not in text}
    sentences |= {text for day in run.days for text in (day.title, day.note)}
    assert not [text for text in sentences if text and not JAPANESE.search(translate_record(text))]
    assert not [
        head
        for head in heads_of(transcript)
        if not JAPANESE.search(translate(head)) and not re.match("id$|owner_", head)
    ]
    titles = [finding.title for finding in run.findings]
    verdict = akinai("show", f"{name}-1").out.partition("\n\n")[0].partition("\n")[2]
    assert all(map(JAPANESE.search, map(translate_text, titles)))
    assert not re.search(r"[a-z]{3,} [a-z]{3,}", verdict)
    assert name != "script" or len(titles) > 1


@pytest.mark.needs_qa
@pytest.mark.parametrize("name", ["script", "market"])
def test_records_and_documents_are_the_same_in_both_languages(
    akinai: Akinai, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest of the ledger, and what `show` and `worlds` write for programs, which models read as the names of their tools."""
    (folder / "moves.jsonl").write_text("\n".join(map(json.dumps, MOVES)))
    documents: list[object] = []
    for language in ("en", "ja"):
        monkeypatch.setenv("AKINAI_LANG", language)
        words = (*RUNS[name], "--name", name, "--store", f"{language}.db")
        assert akinai("run", *words).code == 0
        transcript = akinai("show", f"{name}-1", "--store", f"{language}.db", "--json").json
        documents.append((transcript["run"]["digest"], transcript, akinai("worlds", RUNS[name][0], "--json").out))
    assert documents[0] == documents[1]


@pytest.mark.usefixtures("japanese")
def test_what_was_written_stays_as_it_is(akinai: Akinai, folder: Path) -> None:
    """A note whose words are those of a summary, a letter, the text of a refusal."""
    (folder / "moves.jsonl").write_text("\n".join(map(json.dumps, MOVES)))
    akinai("run", *RUNS["script"], "--name", "script")
    story = akinai("show", "script-1").out
    for text in ("Closed for the day", "Your prices?", "holds no product to price", "akinai show script-1 --entry"):
        assert text in story
    assert "一日を終えた" in story


ROOMS = ("cli", "report/tables", "report/why")
CALLS = [
    node
    for room in ROOMS
    for path in (SOURCE / room).rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Call)
]


def handed(*functions: str) -> Iterator[ast.expr]:
    """What the terminal's code hands these functions first; of two that it chooses between, either."""
    for call in CALLS:
        for node in call.args[:1] if ast.unparse(call.func) in functions else ():
            yield from (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)


def words_in(node: ast.expr) -> frozenset[str]:
    """The words that stand in a text of the code, beside the values in it."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return frozenset(
        word for part in parts if isinstance(part, ast.Constant) for word in WORDS.findall(str(part.value))
    )


def known_texts() -> set[str]:
    """What the catalogues translate."""
    texts: set[str] = set()
    for path in CATALOGUES.glob("*.po"):
        with path.open("rb") as file:
            texts |= {str(message.id) for message in read_po(file) if message.id}
    return texts


def test_what_is_translated_is_in_a_catalogue() -> None:
    """Every text that the code hands over as it stands, every phrase that it fills in, every head of a column."""
    constants = {node.value for node in handed("translate", "fill", "Column") if isinstance(node, ast.Constant)}
    texts = {str(text) for text in constants if WORDS.search(str(text))}
    assert len(texts) > 50
    assert not texts - known_texts()


def test_what_is_printed_has_its_japanese() -> None:
    """The words of sentences, of the purposes of next steps and of heads stand together in a text of a catalogue; and
    no line with words is printed past it."""
    catalogue = [frozenset(WORDS.findall(text)) for text in known_texts()]
    steps = [value for call in CALLS if ast.unparse(call.func) == "print_next_steps" for value in call.args[:1]]
    purposes = [value for step in steps if isinstance(step, ast.Dict) for value in step.values]
    printed = {*map(words_in, (*handed("print_sentence", "translate_sentence", "translate_line", "Column"), *purposes))}
    assert len(printed) > 100
    assert not [words for words in printed if not any(words <= text for text in catalogue)]
    assert not [words for words in map(words_in, handed("print_line")) if words - {"akinai"}]
