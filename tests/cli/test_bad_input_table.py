"""Every row of `bad_input.toml`: a mistake on the command line gets this answer, and nothing is lost by it."""

import http.server
import json
import os
import re
import shutil
import socket
import sqlite3
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from command_line import Akinai
from together import judge_all

TABLE: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("bad_input.toml").read_text(encoding="utf-8"))
STORE = "akinai.db"
REFUSED = 2
LIMITS = {"deep": "[" * 20_000 + "]" * 20_000, "digits": "9" * 5_000, "long": "x" * 200_000}
"""What is beyond all bounds, by its placeholder in a file."""
HUGE = re.compile(r"\{(deep|digits|long)\}")


@dataclass(frozen=True)
class Row:
    """A command line and its answer; the head of the table explains the fields."""

    id: str
    args: list[str]
    error: str | list[str] = field(default_factory=list[str])
    code: int = REFUSED
    prints: list[str] = field(default_factory=list[str])
    writes: list[str] = field(default_factory=list[str])
    store: str = ""
    sql: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    bytes: Mapping[str, str] = field(default_factory=dict[str, str])
    folders: list[str] = field(default_factory=list[str])
    pipes: list[str] = field(default_factory=list[str])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    needs: str = ""
    without: str = ""

    @property
    def sentences(self) -> list[str]:
        """What is said on stderr, a sentence a line."""
        return [self.error] if isinstance(self.error, str) else self.error


ROWS = [Row(**row) for kind in TABLE["kinds"] for row in kind["rows"]]


class Refusing(http.server.BaseHTTPRequestHandler):
    """A model's server that answers each call with the status in its path, and one sentence."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"error": {"message": "no"}}'
        self.send_response(int(self.path.split("/")[1]))
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def refusing_server() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def port(*, listens: bool) -> Iterator[str]:
    """A port that is bound here; whoever connects is refused unless it listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        if listens:
            bound.listen()
        yield str(bound.getsockname()[1])


@contextmanager
def filling() -> Iterator[Callable[[str], str]]:
    """Puts values into the placeholders of a text; what they stand for is there until the test ends."""
    makers = {"server": refusing_server, "port": lambda: port(listens=False), "taken": lambda: port(listens=True)}
    values = {"byte": "\udcff", "here": str(Path.cwd())}
    with ExitStack() as stack:

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name not in values:
                values[name] = stack.enter_context(makers[name]())
            return values[name]

        yield lambda text: re.sub(r"\{(byte|here|server|port|taken)\}", value, text)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no address of a model from around the tests."""
    for name in [name for name in os.environ if re.search(r"_API_KEY$|_BASE_URL$|_proxy$", name, re.IGNORECASE)]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """Where the folders of [stores] are, and those that are filled already."""
    return tmp_path_factory.mktemp("stores"), set()


Prepare = Callable[[str, Path], None]


@pytest.fixture
def prepare(akinai: Akinai, prepared: tuple[Path, set[str]], monkeypatch: pytest.MonkeyPatch) -> Prepare:
    """Puts what a folder of [stores] holds into a folder; its commands run once."""
    stores, filled = prepared

    def call(name: str, folder: Path) -> None:
        if name not in filled:
            (stores / name).mkdir()
            with monkeypatch.context() as patch:
                patch.chdir(stores / name)
                for command in TABLE["stores"][name]:
                    assert akinai(*command).code == 0
            filled.add(name)
        shutil.copytree(stores / name, folder, dirs_exist_ok=True)

    return call


def lay_out(row: Row, folder: Path) -> None:
    """Make the row's files and folders, and change its store."""
    for name in row.folders:
        (folder / name).mkdir(parents=True)
    for name in row.pipes:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / name)
    contents = {name: HUGE.sub(lambda match: LIMITS[match[1]], text).encode() for name, text in row.files.items()}
    contents |= {name: bytes.fromhex(digits) for name, digits in row.bytes.items()}
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if row.sql:
        with closing(sqlite3.connect(folder / STORE)) as connection:
            connection.executescript(row.sql)


def everything(folder: Path) -> dict[str, bytes | None]:
    """All files and folders, the store with its journal folded in, without those in which SQLite keeps its locks."""
    if (folder / STORE).is_file():
        with closing(sqlite3.connect(folder / STORE)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    paths = [path for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))]
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in paths}


def changed(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> list[str]:
    same = {name for name in before.keys() & after.keys() if before[name] == after[name]}
    return sorted((before.keys() | after.keys()) - same)


def assert_says(text: str, pattern: str) -> None:
    """`text` is `pattern`, in which {any} stands for any text."""
    if "{any}" in pattern:
        assert re.fullmatch(".+".join(map(re.escape, pattern.split("{any}"))), text), f"{text}\n{pattern}"
    else:
        assert text == pattern


def needs_qa(row: Row) -> bool:
    """Whether a row plays, learns or lists the world of questions."""
    stored = [word for words in TABLE["stores"].get(row.store, ()) for word in words]
    return any("qa" in text for text in (*row.args, *row.sentences, *stored))


def batches() -> Iterator[ParameterSet]:
    """The rows of each kind, which one test judges: those that can be judged in the same places together."""
    for kind in TABLE["kinds"]:
        batches: dict[tuple[str, str, bool, bool], list[Row]] = {}
        for row in (Row(**row) for row in kind["rows"]):
            batches.setdefault((row.needs, row.without, bool(row.pipes), needs_qa(row)), []).append(row)
        for (*_, qa), rows in batches.items():
            yield pytest.param(rows, id=f"{kind['name']}: {rows[0].id}", marks=[pytest.mark.needs_qa] * qa)


@pytest.mark.parametrize("rows", [*batches()])
def test_bad_input_is_answered_as_the_table_says(
    akinai: Akinai, tmp_path: Path, prepare: Prepare, rows: Sequence[Row]
) -> None:
    """Exit code, stderr and stdout are those of the table, and nothing is written but what it names."""

    def judge(row: Row) -> None:
        folder = tmp_path / row.id
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            with filling() as fill:
                expect_answer(row, akinai, prepare, fill, patch)

    judge_all(rows, judge)


def expect_answer(
    row: Row, akinai: Akinai, prepare: Prepare, fill: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Type the row's command in the working folder."""
    folder = Path.cwd()
    if row.needs:
        pytest.importorskip(row.needs)
    if row.pipes and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    if row.without and find_spec(row.without):
        pytest.skip(f"{row.without} is installed")
    if row.store:
        prepare(row.store, folder)
    lay_out(row, folder)
    for name, value in row.env.items():
        monkeypatch.setenv(name, fill(value))
    before, args = everything(folder), [fill(word) for word in row.args]
    answer = akinai(*args)
    assert_says(answer.err, "".join(f"akinai: {fill(sentence)}\n" for sentence in row.sentences))
    assert answer.code == row.code
    assert bool(answer.out) == bool(row.prints)
    for text in row.prints:
        assert text in answer.out
    if "--json" in args and answer.out:
        json.loads(answer.out)
    assert changed(before, everything(folder)) == row.writes


def test_table_is_sound() -> None:
    """No id and no kind twice, an answer for all."""
    ids, kinds = Counter(row.id for row in ROWS), Counter(kind["name"] for kind in TABLE["kinds"])
    assert [name for name, times in (ids + kinds).items() if times > 1] == []
    assert [row.id for row in ROWS if not (row.sentences or row.prints)] == []
