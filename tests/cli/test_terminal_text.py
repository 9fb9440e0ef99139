"""Words of agents, playbooks and files on a terminal and in a spreadsheet: text, never a command to either."""

import csv
import io
import json
import shutil
import sys
from pathlib import Path

import pytest

import akinai as api
from akinai.cli.output import print_error, print_traceback
from akinai.core.untrusted.spelling import printable
from command_line import Akinai

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m safe\rsudo \u202egpj.exe"
COMMANDS = (
    ["runs"], ["replay", "a-1"], ["verify", "a-1"], ["analyze", "a-1"], ["diff", "a-1", "b-1"], ["show", "a-1"],
    ["show", "a-1", "--entry", "1", "--calls"], ["show", "a-1", "--json"], ["show", "a-1", "--grep", EVIL],
    ["export", "a-1"],
    ["export", "a-1", "--format", "csv"], ["runs", "--json"], ["playbook", "show", "p"], ["playbook", "search", "p", "sell"],
    ["playbook", "show", "p", "--json"], ["playbook", "history", "p"], ["playbook", "dedup", "p", "--dry-run"],
    ["run", EVIL], ["runs", "--store", EVIL], ["playbook", "show", EVIL], ["playbook", "add", "p", EVIL, "--section", EVIL],
    ["run", "vending", "--preset", "classic", "--agent", f"script:{EVIL}"], ["resume", EVIL], [EVIL], ["run", "vending", "--preset", "classic", f"--{EVIL}"],
)  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a playbook, whose writers hoped for a terminal."""
    folder = tmp_path_factory.mktemp("written")
    mail = {"action": "SEND_EMAIL", "to": f"x@y.z {EVIL}", "subject": EVIL, "body": EVIL}
    script = folder / "s.jsonl"
    script.write_text("\n".join([json.dumps(mail), json.dumps({"action": "ADVANCE_DAY"})]))
    options = {"preset": "classic", "days": 2, "store": str(folder / "akinai.db")}
    for name in ("a", "b"):
        assert api.run("vending", agent=f"script:{script}", name=name, **options)[0].status == "done"
    bullets = [f"Sell more {word} {EVIL.replace(chr(13), ' ')}" for word in ("coke", "cokes")]
    for bullet in bullets:
        api.playbook.add(folder / "data" / "playbooks" / "p.json", bullet, section="sales")
    return folder


@pytest.fixture(autouse=True)
def copied(written: Path, folder: Path) -> None:
    """They are in the working folder."""
    shutil.copytree(written, folder, dirs_exist_ok=True)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(printable(word)[:12] for word in words))
def test_no_command_prints_what_a_terminal_obeys(
    akinai: Akinai, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal, answers and errors hold no escape, no control character and no mark that turns text round."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")  # so that tables have no styles of their own
    answer = akinai(*words)
    assert answer.out + answer.err
    assert printable(answer.out) == answer.out
    assert printable(answer.err) == answer.err


def test_error_and_traceback_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    """The words with which an agent fails are spelled; a sentence of a megabyte is cut."""
    print_error(EVIL)
    print_traceback(f"Traceback:\n  {EVIL}\n")
    print_error("x" * 10**6)
    _, err = capsys.readouterr()
    assert printable(err) == err
    assert err.count("owned") == 2
    assert len(err) < 2_500


def test_person_who_plays_sees_text(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view and an outcome that quote others are spelled for a person."""
    typed = [f'send_email to=a@b.com subject="x" body={json.dumps(EVIL)}', "quit"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(typed)))
    answer = akinai("run", "vending", "--preset", "classic", "--days", "2", "--agent", "human")
    assert printable(answer.err) == answer.err


def test_spreadsheet_calculates_no_text(akinai: Akinai, folder: Path) -> None:
    """In a CSV, text that begins as a formula has an apostrophe, numbers have none; JSON Lines keep the exact text."""
    mail = {"action": "SEND_EMAIL", "to": '=HYPERLINK("http://x")', "subject": "x", "body": "x"}
    (folder / "f.jsonl").write_text(json.dumps(mail))
    akinai("run", "vending", "--preset", "classic", "--agent", "script:f.jsonl", "--days", "2", "--name", "f")
    rows = list(csv.reader(io.StringIO(akinai("export", "f-1", "--format", "csv").out)))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert '"to": "=HYPERLINK' in rows[1][5]
