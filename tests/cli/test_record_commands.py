"""replay, verify and export: the record is checked, and handed out as it is."""

import csv
import io
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from akinai import run as play
from akinai.core.ledger import Entry, Genesis, entry_digest
from akinai.core.stores import RunHeader
from akinai.runtime.config.settings import prepare
from akinai.runtime.runs.records import Run
from akinai.runtime.sync import wait
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import sample_header
from akinai.worlds.vending import Vending
from command_line import Akinai


@pytest.fixture
def script(folder: Path) -> str:
    """Replies of which the second is refused and the third holds markup and control characters."""
    (folder / "s.jsonl").write_text(
        '{"action": "ADVANCE_DAY"}\n{"action": "COLLECT"}\n'
        '{"action": "SEND_EMAIL", "to": "[red]x@y.z[/red]", "body": "\\u001b[31mhello, \\"you\\""}\n'
    )
    return "script:s.jsonl"


def edit(statement: str, *values: object) -> None:
    """Change the store behind everybody's back."""
    with closing(sqlite3.connect("akinai.db")) as connection:
        connection.execute(statement, values)
        connection.commit()


def test_replay_counts_the_outcomes(akinai: Akinai) -> None:
    """`replay` applies every entry again and says how many."""
    akinai("run", "vending", "--preset", "classic", "--agent", "naive", "--days", "4", "--name", "a")
    entries = len(akinai("export", "a-1").out.splitlines())
    answer = akinai("replay", "a-1")
    assert answer.code == 0
    assert f"replayed {entries} entries: every outcome as recorded" in answer.out


def test_replay_names_the_entry_that_differs(akinai: Akinai) -> None:
    """An outcome that the rules do not give is named by entry and run; exit code 1, no traceback."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "4", "--name", "a")
    edit("UPDATE actions SET data = replace(data, '$2.00 paid', '$3.00 paid') WHERE seq = 3")
    answer = akinai("replay", "a-1")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("akinai: entry 3: AdvanceDay gave ok")
    assert "in run 'a-1'" in answer.err


@pytest.mark.parametrize("words", [("replay", "old"), ("resume", "old"), ("fork", "old", "--after", "0")])
def test_ledger_of_another_version_is_refused_by_name(akinai: Akinai, words: tuple[str, ...]) -> None:
    """A run of rules that are not here is refused, and the sentence names both versions; listings tell it too."""

    async def write() -> None:
        store = await open_store("akinai.db")
        await store.create(
            sample_header("old", genesis=Genesis("vending@0", 1, prepare(Vending(), preset="classic").setup))
        )
        await store.close()

    wait(write())
    answer = akinai(*words)
    assert (answer.code, answer.out) == (2, "")
    assert "vending@0" in answer.err
    assert "vending@3" in answer.err
    (run,) = akinai("runs", "--json").json["runs"]
    assert (run["world"], "scores" in run) == ("vending@0", False)


def older(run: Run, id: str, *, entries: int | None = None) -> tuple[RunHeader, list[Entry]]:
    """The same record under the rules of vending@2, with digests that hold; with fewer entries it is not over."""
    genesis, kept = replace(run.ledger.genesis, world="vending@2"), list[Entry]()
    before = genesis.digest
    for entry in run.ledger.entries[:entries]:
        before = entry_digest(before, entry.seq, entry.at, entry.text)
        kept.append(replace(entry, digest=before))
    header = replace(run.header, run_id=id, genesis=genesis, group="old", digest=before, entries=len(kept))
    return (header if entries is None else replace(header, status="open", ending=None)), kept


@pytest.fixture
def two_rules(akinai: Akinai) -> Akinai:
    """A store with the runs new-1 and new-2 of today's rules, the second not over, and old-1 and old-2 of vending@2."""
    runs = play("vending", preset="classic", agent="naive", days=4, seeds=[1, 2], name="new", store="akinai.db")
    other = play("vending", preset="classic", agent="naive", days=4, seeds=[3], name="open", store="memory:")[0]

    async def write() -> None:
        store = await open_store("akinai.db")
        half = replace(other.header, run_id="new-3", group="new", status="open", ending=None)
        half = replace(half, digest=other.ledger.entries[4].digest, entries=5)
        for header, entries in (
            older(runs[0], "old-1"),
            older(runs[1], "old-2", entries=5),
            (half, [*other.ledger.entries[:5]]),
        ):
            await store.create(replace(header, status="open", ending=None))
            await store.append(header.run_id, entries)
            await store.update(header)
        await store.close()

    wait(write())
    return akinai


RELEASE = (
    "no world 'vending@2' here: Akinai {version} plays vending@3, and other rules give other ledgers; akinai 0.2.0 plays "
    "it: install that beside this one"
).format(version=version("akinai"))


def test_records_of_other_rules_are_listed_exported_and_verified(two_rules: Akinai) -> None:
    """What needs no rules works: the list, every form of export, and the chain of digests."""
    worlds = {run["run"]: run["world"] for run in two_rules("runs", "--json").json["runs"]}
    assert worlds == dict.fromkeys(("new-1", "new-2", "new-3"), "vending@3") | {
        "old-1": "vending@2",
        "old-2": "vending@2",
    }
    for form in ("jsonl", "csv"):
        answer = two_rules("export", "old-1", "--format", form)
        assert answer.code == 0
        assert len(answer.out.splitlines()) >= 11
    answer = two_rules("verify", "old")
    assert answer.code == 0
    assert "old-1: ok, 11 entries\n  the rules of vending@2 are not here: its ending was not checked\n" in answer.out
    assert "old-2: ok, 5 entries" in answer.out


@pytest.mark.parametrize(
    "words",
    [
        ("show", "old-1"), ("replay", "old-1"), ("fork", "old-1", "--after", "3"), ("resume", "old-2"), ("resume", "old"),
        ("why", "old-1"), ("diff", "new-1", "old-1"), ("compare", "new", "old"), ("studio", "bundle", "old-1", "-o", "out"),
        ("studio", "bundle", "new", "old", "-o", "out"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_needs_the_rules_names_their_release(two_rules: Akinai, words: tuple[str, ...]) -> None:
    """A sentence says which release plays the run, and never that its record is damaged."""
    answer = two_rules(*words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.endswith(f"{RELEASE}\n")
    assert not Path("out").exists()


def test_analyze_lists_other_rules_apart(two_rules: Akinai) -> None:
    """They are a group without figures and no failure beside others; alone there is nothing to score."""
    answer = two_rules("analyze", "new", "old", "--no-scale")
    assert (answer.code, answer.err) == (0, f"akinai: 2 runs are of other rules: {RELEASE}\n")
    assert "damaged" not in answer.out
    groups = {group["world"]: group for group in two_rules("analyze", "new", "old", "--json").json["groups"].values()}
    assert groups["vending@2"]["states"] == {"of other rules": 2}
    assert groups["vending@3"]["states"] == {"done": 2, "open": 1}
    assert groups["vending@3"]["scores"]["net_worth"]["n"] == 3
    alone = two_rules("analyze", "old-1")
    assert (alone.code, alone.err) == (1, f"akinai: 1 run is of other rules: {RELEASE}\n")
    assert "1 of other rules. What is of other rules is in no figure here." in alone.out


def test_a_damaged_record_of_other_rules_is_damaged(two_rules: Akinai) -> None:
    """Its chain of digests is checked first."""
    edit("UPDATE actions SET data = replace(data, 'Good', 'good') WHERE seq = 4 AND run_id = ?", "old-2")
    edit("DELETE FROM actions WHERE seq = 2 AND run_id = ?", "old-1")
    answer = two_rules("analyze", "new", "old")
    assert answer.code == 1
    assert "of other rules" not in two_rules("analyze", "old-1").err
    assert "run old-1 cannot be scored: entry " in answer.err


def test_resume_leaves_other_rules_as_they_are(two_rules: Akinai) -> None:
    """A group goes on with the runs whose rules are here."""
    edit("UPDATE runs SET group_name = 'new' WHERE run_id = 'old-2'")
    answer = two_rules("resume", "new")
    assert (answer.code, answer.err) == (0, f"akinai: 1 run is of other rules: {RELEASE}\n")
    assert "1 of them of other rules and in no figure" in answer.out
    status = {run["run"]: run["status"] for run in two_rules("runs", "--json").json["runs"]}
    assert (status["new-3"], status["old-2"]) == ("done", "open")


def test_verify_proves_an_untouched_record(akinai: Akinai) -> None:
    """`verify` says ok for each run and prints its digests; --json has the document of one run, or one a run."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-2", "--days", "3", "--name", "a")
    digest = akinai("runs", "--json").json["runs"][0]["digest"]
    lines = akinai("verify", "a").out.splitlines()
    assert (lines[0], lines[1], lines[4]) == ("a-1: ok, 3 entries", f"  final digest  {digest}", "a-2: ok, 3 entries")
    alone, both = akinai("verify", "a-1", "--json").json, akinai("verify", "a", "--json").json
    assert (alone["ok"], alone["entries"], alone["digest"]) == (True, 3, digest)
    assert (both["ok"], both["runs"]["a-1"]) == (True, alone)


def test_verify_compares_a_digest(akinai: Akinai) -> None:
    """A published digest is found or not; it is of one run."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-2", "--days", "3", "--name", "a")
    header = akinai("verify", "a-1", "--json").json["header_digest"]
    assert "a-1: ok, 3 entries; the digest is its header\n" in akinai("verify", "a-1", "--digest", header).out
    other = akinai("verify", "a-2", "--digest", header)
    assert (other.code, other.out.splitlines()[0]) == (
        1,
        f"a-2: NOT as it was written: none of its digests is {header}",
    )
    assert "'a' stands for 2; name one, such as 'a-1'" in akinai("verify", "a", "--digest", header).err


@pytest.mark.parametrize(
    ("statement", "entry"),
    [
        ("UPDATE actions SET data = replace(data, 'Good', 'good') WHERE seq = 2", 2),
        ("UPDATE actions SET created_at = created_at + 1 WHERE seq = 3", 3),
        ("UPDATE actions SET digest = replace(digest, 'a', 'b') WHERE seq = 1", 1),
        ("DELETE FROM actions WHERE seq = 2", 2),
        ("DELETE FROM actions WHERE seq = 4", 4),
        ("UPDATE actions SET data = '{}' WHERE seq = 2", 2),
        ("UPDATE runs SET genesis = replace(genesis, '\"seed\":1', '\"seed\":2')", 1),
    ],
)
def test_verify_names_the_first_entry_at_fault(akinai: Akinai, statement: str, entry: int) -> None:
    """One edited byte, a lost entry, a lost tail: `verify` names the entry and exits 1."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "4", "--name", "a")
    edit(statement)
    answer = akinai("verify", "a-1", "--json")
    assert answer.code == 1
    assert (answer.json["ok"], answer.json["entry"]) == (False, entry)
    assert answer.json["why"]
    people = akinai("verify", "a-1")
    assert people.code == 1
    assert people.out.startswith(f"a-1: NOT as it was written: entry {entry}: " if entry else "a-1: NOT")


def test_damaged_run_hides_no_other(akinai: Akinai) -> None:
    """A listing shows a damaged record with the others; `analyze` tells what is wrong with it and exits 1."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-2", "--days", "4", "--name", "a")
    edit("UPDATE actions SET data = '{}' WHERE seq = 2 AND run_id = 'a-1'")
    assert len(akinai("runs", "--json").json["runs"]) == 2
    answer = akinai("analyze", "a", "--json")
    runs = answer.json["runs"]
    assert [bool(run["scores"]) for run in runs] == [False, True]
    assert runs[0]["error"].startswith("entry 2: its data is not an entry's")
    assert answer.code == 1
    assert (answer.json["summary"]["net_worth"]["n"], answer.json["summary"]["net_worth"]["failed"]) == (1, 1)
    assert akinai("runs").code == 0


def test_export_prints_the_ledger(akinai: Akinai, script: str) -> None:
    """`export` prints an entry a line in the ledger's shape, a refusal with its code and message."""
    akinai("run", "vending", "--preset", "classic", "--agent", script, "--name", "a")
    entries = [json.loads(line) for line in akinai("export", "a-1", "--format", "jsonl").out.splitlines()]
    assert [entry["seq"] for entry in entries] == [1, 2, 3]
    assert all(entry.keys() == {"run_id", "seq", "agent_id", "created_at", "data", "digest"} for entry in entries)
    assert entries[0]["data"]["request"] == {"name": "AdvanceDay", "parameters": {}}
    assert entries[0]["data"]["result"]["is_error"] is False
    refused = entries[1]["data"]["result"]
    assert refused["is_error"] is True
    assert refused["error"].keys() == {"code", "message"}
    assert refused["error"]["code"] == "no_action"


def test_csv_reads_back(akinai: Akinai, script: str) -> None:
    """A CSV has a head line and a row an entry, whatever is in the texts."""
    akinai("run", "vending", "--preset", "classic", "--agent", script, "--name", "a")
    rows = list(csv.DictReader(io.StringIO(akinai("export", "a", "--format", "csv").out)))
    assert [(row["action"], row["is_error"], row["code"]) for row in rows] == [
        ("AdvanceDay", "False", ""),
        ("Unreadable", "True", "no_action"),
        ("SendEmail", "False", ""),
    ]
    assert json.loads(rows[2]["parameters"])["body"] == '\x1b[31mhello, "you"'


def test_export_into_a_file(akinai: Akinai, folder: Path) -> None:
    """With -o the lines go into a file; an unknown run leaves what is there alone."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--seeds", "1-2", "--days", "2", "--name", "a")
    akinai("export", "a", "-o", "a.jsonl")
    text = (folder / "a.jsonl").read_text()
    assert text == akinai("export", "a").out
    assert text.count("\n") == 4
    assert akinai("export", "b", "-o", "a.jsonl").code == 2
    assert (folder / "a.jsonl").read_text() == text


def test_markup_of_agents_is_shown_as_text(akinai: Akinai, script: str) -> None:
    """Markup in an agent's texts is no markup of ours, and its control characters reach no terminal."""
    akinai("run", "vending", "--preset", "classic", "--agent", script, "--name", "a")
    akinai("fork", "a-1", "--after", "2", "--agent", "idle", "--name", "b")
    page = akinai("diff", "a-1", "b").out
    assert "[red]x@y.z[/red]" in page
    assert "\x1b" not in page


@pytest.mark.slow
def test_a_reader_that_has_enough_ends_an_export_quietly(akinai: Akinai) -> None:
    """`akinai export RUN | head` prints no error, and the program that called it in-process keeps its signals."""
    assert akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "250", "--name", "a").code == 0
    export = f"{sys.executable} -m akinai export a-1"
    done = subprocess.run(f"{export} | head -n 1", shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    akinai("export", "a-1")
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN


def test_delete_and_restore(akinai: Akinai) -> None:
    """A deleted run is listed with --deleted alone, and comes back; a name that there is not is bad input."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1", "--seeds", "1-2", "--name", "a")
    answer = akinai("delete", "a-1")
    assert (answer.code, answer.err) == (0, "")
    assert "deleted: a-1" in answer.out
    assert "akinai restore a-1" in answer.out
    assert [run["run"] for run in akinai("runs", "--json").json["runs"]] == ["a-2"]
    assert [run["run"] for run in akinai("runs", "--deleted", "--json").json["runs"]] == ["a-1"]
    assert akinai("delete", "a-1", "--json").json == {"deleted": []}
    assert akinai("restore", "a", "--json").json == {"restored": ["a-1"]}
    assert len(akinai("runs", "--json").json["runs"]) == 2
    assert akinai("runs", "--deleted").out == "no such runs\n"
    assert akinai("delete", "zebra").code == 2


def test_delete_forever(akinai: Akinai) -> None:
    """Where nobody can be asked it needs --yes: without, a line, exit 2, and nothing lost."""
    akinai("run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1", "--seeds", "1-2", "--name", "a")
    refused = akinai("delete", "a", "--forever")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "say --yes" in refused.err
    assert len(akinai("runs", "--json").json["runs"]) == 2
    assert akinai("delete", "a-1", "--forever", "--yes").out == "deleted for good: a-1\n"
    assert akinai("delete", "a-2", "--forever", "--yes", "--json").json == {"deleted": ["a-2"]}
    assert akinai("runs", "--json").json["runs"] == akinai("runs", "--deleted", "--json").json["runs"] == []
