"""A report's folder: complete, replaced as one, alone in what it touches; and the command that writes it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from reports_for_tests import evil, played, report

from akinai.cli import main
from akinai.core.errors import UsageError
from akinai.report.page.boards.groups import games
from akinai.report.page.files import write
from akinai.report.page.html import page
from akinai.report.page.markdown import markdown


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(played(), tmp_path_factory.mktemp("written") / "deep" / "report").folder


def test_a_report_is_a_page_markdown_numbers_and_figures(written: Path) -> None:
    """The folder, made with its parents, holds what the record of the report says, and nothing else."""
    results = json.loads((written / "results.json").read_text())
    assert sorted(results["files"]) == sorted(bytes_of(written))
    assert results["files"][:3] == ["report.html", "report.md", "results.json"]
    linked = [line for line in (written / "report.md").read_text().splitlines() if line.startswith("![")]
    assert [f"figures/{line.rpartition('figures/')[2].rstrip(')')}" for line in linked] == results["files"][3:]


def test_the_numbers_are_the_analysis(written: Path) -> None:
    """results.json holds the groups, summary, card and runs of the analysis, and comparisons and curves beside."""
    results, analysis = json.loads((written / "results.json").read_text()), json.loads(json.dumps(played().to_json()))
    assert {name: results[name] for name in ("groups", "summary", "card")} == {
        name: analysis[name] for name in ("groups", "summary", "card")
    }
    assert [run["scores"] for run in results["runs"]] == [run["scores"] for run in analysis["runs"]]
    assert [run["findings"] for run in results["runs"]] == [run["findings"] for run in analysis["runs"]]
    pairs = {
        (numbers["a"]["name"], numbers["b"]["name"]): numbers["scores"]["net_worth"]["difference"]
        for numbers in results["comparisons"]
    }
    means = {name: group["scores"]["net_worth"]["mean"] for name, group in analysis["groups"].items()}
    assert pairs["idle", "reference"] == pytest.approx(means["reference"] - means["idle"])
    worth = results["curves"]["vending@3"]["net_worth_cents"]
    assert {name: curve["mean"][-1] for name, curve in worth.items()} == pytest.approx(means)


def test_the_same_runs_give_the_same_files(written: Path) -> None:
    """Drawn and set a second time, page, Markdown and figures are equal to the byte."""
    again = report("played")
    assert (written / "report.html").read_text(encoding="utf-8") == page(again, games(played(), {}, (), "en"))
    assert (written / "report.md").read_text(encoding="utf-8") == markdown(again)
    for drawing in again.drawings:
        assert (written / "figures" / f"{drawing.name}.svg").read_text(encoding="utf-8") == drawing.svg


@pytest.mark.slow
def test_a_report_replaces_the_one_before_and_leaves_other_files_alone(tmp_path: Path) -> None:
    """Files of the old report that the new one lacks go; those of others stay, beside it and among the figures."""
    before = write(played(4, 1, ("naive",)), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "figures" / "mine.svg").write_text("mine")
    after = write(evil(), tmp_path)
    gone = set(before.files) - set(after.files)
    assert gone
    assert set(bytes_of(tmp_path)) == {*after.files, "notes.txt", "figures/mine.svg"}


@pytest.mark.slow
def test_what_an_old_report_claims_is_not_trusted(tmp_path: Path) -> None:
    """A results.json that names files outside the figures makes nothing go."""
    (tmp_path / "keep.svg").write_text("mine")
    (tmp_path / "results.json").write_text('{"files": ["keep.svg", "../keep.svg", "figures/../keep.svg", 3, null]}')
    write(evil(), tmp_path)
    assert (tmp_path / "keep.svg").read_text() == "mine"


@pytest.mark.slow
def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    """What stands in the way of one file keeps all others as they were, and the message says what to do."""
    write(evil(), tmp_path)
    old = (tmp_path / "report.html").read_bytes()
    for path in (tmp_path / "figures").iterdir():
        path.unlink()
    (tmp_path / "figures").rmdir()
    (tmp_path / "figures").write_text("a file")
    with pytest.raises(UsageError, match=r"cannot write the report into .*; name another folder with -o"):
        write(evil(), tmp_path)
    assert (tmp_path / "report.html").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures", "report.html", "report.md", "results.json"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("AKINAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AKINAI_JOBS", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def akinai(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(words)
    return int(left.value.code or 0), *capsys.readouterr()


@pytest.mark.slow
def test_the_command_writes_and_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`akinai report RUN...` names its page and what to try next; with --json it prints one document with the card."""
    akinai(
        capsys,
        "run",
        "vending",
        "--preset",
        "classic",
        "--agent",
        "naive",
        "--seeds",
        "1-2",
        "--days",
        "4",
        "--name",
        "a",
        "--json",
    )
    code, out, err = akinai(capsys, "report", "a", "-o", "told")
    assert (code, err) == (0, "")
    assert out.startswith(f"wrote {Path('told', 'report.html')}\n")
    assert (folder / "told" / "report.html").as_uri() in out
    assert "akinai verify a\n" in out
    code, out, err = akinai(capsys, "report", "a-1", "--with-paper", "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    document = json.loads(out)
    assert document["folder"] == "akinai-report"
    assert document["runs"] == ["a-1"]
    assert document["card"]["digests"].keys() == {"a-1"}
    assert "not comparable" in (folder / "akinai-report" / "report.md").read_text()


def test_a_mistake_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that is not there, a folder that is a file: exit code 2, a sentence with what to do, nothing written."""
    akinai(capsys, "run", "vending", "--preset", "classic", "--days", "2", "--name", "a", "--json")
    (folder / "file").write_text("")
    for words, message in ((["b-1"], "no run 'b-1'"), (["a", "-o", "file"], "'file' is a file")):
        code, out, err = akinai(capsys, "report", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    assert not (folder / "akinai-report").exists()


def test_a_missing_extra_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Jinja2 the command says what to install, before it reads a run."""
    monkeypatch.setitem(sys.modules, "akinai.report.page.files", None)
    code, _, err = akinai(capsys, "report", "nothing")
    assert code == 2
    assert err.startswith("akinai: a report needs Jinja2 (")
    assert err.endswith('); pip install "akinai[report]" brings it\n')


def test_other_commands_load_no_templates() -> None:
    """Nobody waits for the templates of pages but who asks for one."""
    code = "import sys, akinai, akinai.cli.app, akinai.report.tables.runs; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
