"""A person's mistake is one sentence and exit code 2, and leaves everything as it was."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Akinai

RUN = ("run", "vending", "--days", "2")

BAD = {
    "unknown world": (("run", "vendin"), "no world 'vendin'; did you mean 'vending'?"),
    "world of another version": (("run", "vending@7"), "no world 'vending@7' here: this Akinai plays vending@1"),
    "unknown agent": ((*RUN, "--agent", "refrence"), "no agent 'refrence'; did you mean 'reference'?"),
    "unknown preset": ((*RUN, "--preset", "papr"), "no preset 'papr'; did you mean 'paper'?"),
    "missing preset file": ((*RUN, "--preset", "my.toml"), "no preset file 'my.toml'"),
    "unknown key": ((*RUN, "--set", "fee_cent=3"), "no setting 'fee_cent'; did you mean 'fee_cents'"),
    "unknown key inside": ((*RUN, "--set", "demand.footfal=3"), "no setting 'demand.footfal'; did you mean"),
    "key without a value": ((*RUN, "--set", "fee_cents"), "--set wants name=value, not 'fee_cents'"),
    "value that does not fit": ((*RUN, "--set", "fee_cents=-1"), "fee_cents: input should be greater than or equal"),
    "value that no ledger keeps": ((*RUN, "--set", "account=\udcff"), "hold what no ledger keeps"),
    "missing catalogue": ((*RUN, "--set", "catalog=no.toml"), "the setting catalog names 'no.toml'"),
    "seeds backwards": ((*RUN, "--seeds", "5-1"), "the seeds '5-1' run backwards; write 1-5"),
    "seeds in words": ((*RUN, "--seeds", "all"), "seeds are like 7, 1-5 or 1,3,10-12, not 'all'"),
    "no seeds": ((*RUN, "--seeds", ""), "seeds are like 7, 1-5 or 1,3,10-12, not ''"),
    "a seed twice": ((*RUN, "--seeds", "1-3,2"), "seed 2 is there twice"),
    "too many seeds": ((*RUN, "--seeds", "1-100001"), "more seeds than the 100,000"),
    "a seed beyond 63 bits": ((*RUN, "--seeds", "9223372036854775808"), "a seed is a whole number from 0 to 2^63 - 1"),
    "days below zero": (("run", "vending", "--days", "-1"), "do not fit: days: input should be greater than or equal"),
    "days in words": (("run", "vending", "--days", "ten"), "a whole number is expected, not 'ten'"),
    "no jobs": ((*RUN, "--jobs", "0"), "jobs is a whole number of at least 1, not 0"),
    "jobs on memory": ((*RUN, "--jobs", "2", "--store", "memory:"), "a store in memory belongs to one process"),
    "name with spaces": ((*RUN, "--name", "a b"), "a run's name is letters, digits"),
    "missing script": ((*RUN, "--agent", "script:no.jsonl"), "the script 'no.jsonl' cannot be read"),
    "missing program": ((*RUN, "--agent", "stdio:./no-such --fast"), "there is no program './no-such'; check its path"),
    "program in open quotes": ((*RUN, "--agent", "stdio:play 'it"), "is no command: No closing quotation"),
    "unreadable script line": ((*RUN, "--agent", "script:bad.jsonl"), "bad.jsonl, line 2 is not JSON"),
    "store in no folder": ((*RUN, "--store", "no/such/a.db"), "no folder"),
    "store that is a folder": ((*RUN, "--store", "."), "it is a folder; name a file in it"),
    "store that is a text": ((*RUN, "--store", "bad.jsonl"), "'bad.jsonl' is no database"),
    "store of unknown kind": ((*RUN, "--store", "redis://host"), "no store 'redis'"),
    "store that cannot be written": ((*RUN, "--store", "/dev/full"), "the store '/dev/full' does not work"),
    "unknown command": (("rum",), "no such command 'rum'"),
    "population of nobody": (("market", "generate", "-o", "pop", "--customers", "0"), "at least one customer, not 0"),
    "close command": (("rnu",), "no such command 'rnu'; did you mean 'run'? ('akinai --help' tells more)"),
    "unknown option": ((*RUN, "--speed", "9"), "no such option: --speed"),
    "close option": ((*RUN, "--seed", "9"), "--seed; did you mean --seeds"),
    "no world": (("run",), "missing argument 'WORLD'; 'akinai run --help' tells more"),
    "runs of no store": (("runs",), "no store at 'akinai.db'; a first run makes one"),
    "resume in no store": (("resume", "x"), "no store at 'akinai.db'"),
    "export in no store": (("export", "x", "-o", "x.jsonl"), "no store at 'akinai.db'"),
    "export to an unknown format": (("export", "x", "--format", "xlsx"), "no format 'xlsx'; there is csv, jsonl"),
}


def everything(folder: Path) -> Mapping[str, bytes]:
    """All files in a folder, the store with its journal folded in, without those in which SQLite keeps its locks."""
    if (store := folder / "akinai.db").exists():
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return {path.name: path.read_bytes() for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))}


def assert_refused(akinai: Akinai, folder: Path, words: tuple[str, ...], told: str) -> None:
    before = everything(folder)
    answer = akinai(*words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("akinai: ")
    assert answer.err.count("\n") == 1
    assert told in answer.err
    assert everything(folder) == before


@pytest.mark.parametrize(("words", "told"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_and_writes_nothing(
    akinai: Akinai, folder: Path, words: tuple[str, ...], told: str
) -> None:
    """Whatever is wrong with a command line: one sentence on stderr, exit 2, nothing on stdout, no file made."""
    (folder / "bad.jsonl").write_text('{"action": "ADVANCE_DAY"}\n{"action": \n')
    assert_refused(akinai, folder, words, told)


@pytest.mark.parametrize("words", [("runs",), RUN, ("verify", "x"), ("resume", "x")], ids=lambda words: words[0])
def test_newer_store_is_refused(akinai: Akinai, folder: Path, words: tuple[str, ...]) -> None:
    """A store that a newer Akinai wrote is left as it is."""
    akinai(*RUN, "--agent", "idle", "--name", "a")
    with closing(sqlite3.connect("akinai.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert_refused(akinai, folder, words, "has schema version 99")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*RUN, "--name", "a"), "there is a run 'a-1' already; choose another --name, or 'akinai resume a-1'"),
        ((*RUN, "--name", "a", "--seeds", "1-5"), "there is a run 'a-1' already"),
        ((*RUN, "--name", "a-1"), "there is a run 'a-1' already"),
        ((*RUN, "--name", "a", "--seeds", "9", "--agent", "naive"), "the group 'a' was played by 'idle'"),
        (("run", "vending", "--days", "3", "--agent", "idle", "--name", "a", "--seeds", "9"), "other settings"),
        (("resume", "b"), "no run 'b'"),
        (("fork", "a-1"), "give one of them"),
        (("fork", "a-1", "--at-day", "1", "--after", "1"), "give one of them"),
        (("fork", "a-1", "--at-day", "3"), "a-1 was played on days 1 to 2; it cannot be forked at day 3"),
        (("fork", "a-1", "--at-day", "0"), "it cannot be forked at day 0"),
        (("fork", "a-1", "--after", "3"), "a-1 has entries 1 to 2; it cannot be forked after 3"),
        (("fork", "a-1", "--after", "1", "--agent", "nobody"), "no agent 'nobody'"),
        (("fork", "a-1", "--after", "1", "--name", "a-2"), "there is a run 'a-2' already"),
        (("fork", "a-1", "--after", "1", "--name", "a"), "there is a group of runs 'a' already"),
        (("diff", "a", "a-1"), "'a' stands for 2 runs; name one, such as 'a-1'"),
        (("compare", "a", "a"), "'a' against itself differs in nothing; name two"),
        (("compare", "a-1", "a-2", "--gain", "much"), "--gain wants an amount above 0"),
        (("export", "a", "-o", "no/folder"), "cannot write 'no/folder'"),
    ],
)
def test_bad_input_leaves_a_store_as_it_was(akinai: Akinai, folder: Path, words: tuple[str, ...], told: str) -> None:
    """A command that is refused changes no byte of a store that is there."""
    akinai(*RUN, "--agent", "idle", "--seeds", "1-2", "--name", "a")
    assert_refused(akinai, folder, words, told)


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("stor = 'x.db'", "no setting 'stor'; did you mean 'store'? (in akinai.toml"),
        ("store = ['x.db']", "store in akinai.toml should be text or a number"),
        (
            "[vending]\nfee_cent = 3",
            "no setting 'fee_cent'; did you mean 'fee_cents'? (of vending@1, in",
        ),
        ("[vending]\nfee_cents = 'much'", "do not fit, in akinai.toml: fee_cents: input should be a valid integer"),
        ("vending = 3", "[vending] in akinai.toml should be a table"),
        ("[vending", "akinai.toml' cannot be read"),
    ],
)
def test_bad_settings_file_is_named(akinai: Akinai, folder: Path, toml: str, told: str) -> None:
    """What is wrong in akinai.toml is told with its name."""
    (folder / "akinai.toml").write_text(toml)
    assert_refused(akinai, folder, RUN, told)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("AKINAI_VENDING__FEE_CENT", "3", "AKINAI_VENDING__FEE_CENT: no setting 'fee_cent'"),
        ("AKINAI_VENDING__DEMAND__FOOTFALL", "many", "do not fit, in the environment: demand.footfall"),
        ("AKINAI_JOBS", "two", "the setting jobs is a whole number of at least 1, not 'two'"),
        ("AKINAI_PRESET", "papr", "no preset 'papr'"),
    ],
)
def test_bad_environment_is_named(
    akinai: Akinai, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    """What is wrong in the environment is told as such."""
    monkeypatch.setenv(name, value)
    assert_refused(akinai, folder, RUN, told)
