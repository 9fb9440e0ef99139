"""The command line in Japanese: its catalogue holds all help and every recorded error, with the values they name."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
import typer.main
from babel.messages.catalog import Message
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st
from rich.text import divide_line

from akinai import worlds
from akinai.cli.app import PANELS, app
from akinai.cli.help import FRAME, help_texts
from akinai.report.language import NAMES, translate, translate_sentence, translate_text
from akinai.report.language.lines import ENDS, columns, line_breaks, unbreakable
from akinai.runtime.describe import describe
from command_line import Akinai

ROOT = Path(__file__).parents[2]
FILES = ROOT / "src" / "akinai" / "report" / "language" / "locale" / "ja" / "LC_MESSAGES"
TABLE = tomllib.loads((ROOT / "tests" / "cli" / "bad_input.toml").read_text(encoding="utf-8"))
SENTENCES = [
    sentence
    for kind in TABLE["kinds"]
    for row in kind["rows"]
    for sentence in ([row["error"]] if isinstance(row.get("error", []), str) else row.get("error", []))
]
CATALOGUES = ("akinai", "report", "worlds")
QUOTED = re.compile(r"(?<!\w)'[^'{}]*'(?!\w)")
VALUES = re.compile(rf"{QUOTED.pattern}|(?<![\w-])--[a-z-]+|(?<![\w.,-])\d[\d,.]*\d|[\w.]+@\d|[A-Z]+_[A-Z_]+")
JAPANESE = re.compile(r"[ぁ-ん]")
ENGLISH = re.compile(r"\b(?:is|are|the|has|have|not|should|cannot|there|leave)\b")
"""Words of a sentence that was left as it is."""


PHRASE = re.compile(r"[A-Za-z]{3,} (?!horizon)[a-z]{3,}")
"""Two English words in a row: a name has none. The state `done` and an ending stand side by side."""
WORDS = re.compile(r"[A-Za-z]{2,}")
PAGES = tuple(
    ROOT / "src" / "akinai" / room
    for room in (
        "agents",
        "analysis",
        "api",
        "cli",
        "cli/playbook",
        "core",
        "core/presentation",
        "learning/roles",
        "report/tables",
        "report/why",
        "runtime",
        "runtime/models",
        "server/folder",
        "stores/sqlite",
    )
)
AMOUNTS = re.compile(r"\$\d[\d,.]*\d")
RESULTS = (
    ("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "3", "--seeds", "1-3", "--name", "a"),
    ("run", "vending", "--preset", "classic", "--agent", "naive", "--days", "3", "--seeds", "1-3", "--name", "b"),
    ("compare", "a", "b"),
    ("analyze", "a", "b"),
    ("analyze", "b-1"),
    ("plan", "--gain", "5", "--from", "b"),
    ("plan", "--gain", "5", "--from", "a", "--against", "b"),
    ("replay", "b-1"),
    ("verify", "a"),
)
"""Commands that fill a store, and commands whose results are read."""


def messages(name: str = "akinai") -> list[Message]:
    with (FILES / f"{name}.po").open("rb") as file:
        return [message for message in read_po(file, locale="ja") if message.id]


def texts() -> set[str]:
    """What must be in the catalogue."""
    return {*PANELS, *FRAME.values(), *help_texts(typer.main.get_command(app))} - {""}


@pytest.fixture
def japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKINAI_LANG", "ja")
    monkeypatch.setattr("rich.text.divide_line", divide_line)  # and put back after the test


def test_catalogue_is_complete() -> None:
    """Every text of the help has a translation, and none is empty."""
    translations = {message.id: message.string for message in messages()}
    assert not texts() - translations.keys()
    assert all(translations.values())


@pytest.mark.parametrize("name", CATALOGUES)
def test_catalogue_is_compiled(name: str) -> None:
    """`make messages` was called after the last change, and nothing is there twice."""
    with (FILES / f"{name}.mo").open("rb") as file:
        compiled = {message.id: message.string for message in read_mo(file) if message.id}
    assert compiled == {message.id: message.string for message in messages(name)}


@pytest.mark.parametrize("name", CATALOGUES)
def test_placeholders_agree(name: str) -> None:
    """A translation has the names in braces of its form, each once."""
    for message in messages(name):
        assert sorted(NAMES.findall(str(message.string))) == sorted(NAMES.findall(str(message.id)))


def fits(form: str, sentence: str) -> bool:
    """Whether a sentence, or a part of it, is of a form."""
    parts = NAMES.split(form)[::2]
    return all(part in sentence for part in parts) and bool(
        re.search(".+?".join(map(re.escape, parts)), sentence, re.DOTALL)
    )


def test_every_form_is_that_of_a_sentence() -> None:
    """It fits a sentence of the table of bad input, a part of one, or has the words of the pages of results and of
    what ends a learning."""
    forms = [str(message.id) for message in messages() if NAMES.search(str(message.id))]
    unmatched = [form for form in forms if not any(fits(form, sentence) for sentence in SENTENCES)]
    source = "".join(path.read_text(encoding="utf-8") for room in PAGES for path in room.glob("*.py"))
    words = {*WORDS.findall(source)}
    assert not [form for form in unmatched if not {*WORDS.findall(NAMES.sub("", form))} <= words]


@pytest.mark.usefixtures("japanese")
@pytest.mark.parametrize("name", worlds.names())
def test_what_a_world_says_of_itself_is_in_japanese(name: str) -> None:
    """A new action, setting, preset or player of a shipped world needs its Japanese."""
    world = describe(worlds.load(name))
    about = [part.about for part in (*world.actions, *world.settings, *world.presets, *world.agents)]
    assert not [text for text in about if text and not JAPANESE.search(translate_text(text))]


@pytest.mark.usefixtures("japanese")
def test_every_error_is_in_japanese_with_the_same_values() -> None:
    """Names, paths, numbers, options and commands are in the Japanese sentence as in the English one."""
    for sentence in SENTENCES:
        translation = translate_sentence(sentence)
        assert JAPANESE.search(translation), translation
        assert not [word for word in VALUES.findall(sentence) if word not in translation], translation
        assert not ENGLISH.search(QUOTED.sub("", translation)), translation


@pytest.mark.usefixtures("japanese")
def test_help_and_errors_are_in_japanese(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page, a command's page with its defaults, an error, the heads of a table."""
    monkeypatch.setenv("COLUMNS", "200")
    assert "\n遊ぶ\n" in akinai("--help").out
    page = " ".join(akinai("run", "--help").out.replace("│", "").split())
    assert "[既定: 無作為な二語]" in page
    assert "[必須]" in page
    assert "この説明を表示して終わる。" in page
    refused = akinai("run", "vendin")
    assert refused.err == "akinai: 世界 'vendin' はない。'vending' のことか？（'akinai worlds' が一覧を示す）\n"
    assert refused.code == 2
    assert (
        "得点"
        in akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1", "--seeds", "1-2").out
    )


@pytest.mark.parametrize(
    ("variables", "japanese"),
    [
        ({"LANG": "ja_JP.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "ja_JP.UTF-8", "AKINAI_LANG": "en"}, False),
        ({"LANG": "C", "AKINAI_LANG": "ja"}, True),
        ({}, False),
    ],
)
def test_language_follows_the_environment(
    variables: dict[str, str], japanese: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AKINAI_LANG before the locale."""
    for name in ("AKINAI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (translate("Play") == "遊ぶ") is japanese


@pytest.mark.parametrize(("encoding", "named"), [("cp932", "cp932 (Shift JIS)"), ("euc_jp", "EUC-JP")])
def test_file_in_another_encoding_is_refused_by_its_name(
    akinai: Akinai, folder: Path, encoding: str, named: str
) -> None:
    """A settings file that an older editor saved."""
    (folder / "店.toml").write_bytes("# お店の設定です\nfee_cents = 300\n".encode(encoding))
    refused = akinai("run", "vending", "--preset", "店.toml")
    assert refused.code == 2
    assert re.fullmatch(rf"akinai: .*is no UTF-8 but {re.escape(named)}; save it as UTF-8\n", refused.err)


def test_results_are_in_japanese(akinai: Akinai, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Titles, verdicts, notes and next steps; names, amounts and commands are those of the English page."""
    for words in RESULTS[:2]:
        assert akinai(*words).code == 0
    english = [akinai(*words).out for words in RESULTS[2:]]
    monkeypatch.setenv("AKINAI_LANG", "ja")
    monkeypatch.setattr("rich.text.divide_line", divide_line)
    for words, page in zip(RESULTS[2:], english, strict=True):
        japanese = akinai(*words).out
        prose = re.sub(r"^  akinai .*", "", japanese, flags=re.M)
        assert not ENGLISH.search(prose), japanese
        assert not PHRASE.search(prose), japanese
        assert sorted(AMOUNTS.findall(japanese)) == sorted(AMOUNTS.findall(page))


@pytest.mark.usefixtures("japanese")
@pytest.mark.parametrize("command", ["run", "learn", "serve"])
def test_help_is_whole_in_a_narrow_terminal(akinai: Akinai, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Japanese has no spaces to break at; nothing is cut off for that, and no line is too long."""
    monkeypatch.setenv("COLUMNS", "80")
    page = akinai(command, "--help").out
    assert "…" not in page
    assert max(map(columns, re.sub("[─-╰]", "|", page).splitlines())) <= 80


@given(st.text("あ漢、。（」 ab-", max_size=40), st.integers(4, 20))
def test_lines_fit_and_begin_with_no_comma(text: str, width: int) -> None:
    """Cut where it says, a text is whole; a comma begins a line only where a longer word is cut."""
    ends = [0, *line_breaks(text, width), len(text)]
    lines = [text[a:b] for a, b in pairwise(ends)]
    assert "".join(lines) == text
    assert all(columns(line.rstrip()) <= width for line in lines)
    if all(columns(word) <= width for word in unbreakable(text)):
        assert not [line for line in lines[1:] if line[:1] in ENDS]


def test_a_warning_about_a_store_is_in_japanese(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others could read it."""
    run = ("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1", "--name", "a", "--store", "a.db")
    assert akinai(*run).code == 0
    Path("a.db").chmod(0o644)
    monkeypatch.setenv("AKINAI_LANG", "ja")
    assert "ストア 'a.db' はほかの人も読めたが、いまは持ち主だけが読める" in akinai("runs", "--store", "a.db").err
