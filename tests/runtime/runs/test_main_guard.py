"""A script that asks for several jobs begins again in each process unless it has a main guard: it is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

import akinai

PLAY = 'akinai.run("vending", agent="idle", days=1, seeds="1-2", jobs=2, name="a", store="a.db")'
GUARD = 'if __name__ == "__main__":'


def script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "study.py").write_text(f"import akinai\n\n{text}\n")
    return subprocess.run([sys.executable, "study.py"], cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_script_without_a_guard_writes_nothing(tmp_path: Path) -> None:
    """One error, which says what to write, where a function of the script asks for the jobs too."""
    ended = script(tmp_path, f"def study():\n    {PLAY}\n\nstudy()")
    assert ended.returncode == 1
    assert ended.stderr.count("would begin again in each process") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["study.py"]


@pytest.mark.slow
def test_script_with_a_guard_plays(tmp_path: Path) -> None:
    """Its runs, and no others."""
    ended = script(tmp_path, f"def study():\n    {PLAY}\n\n{GUARD}\n    study()")
    assert ended.returncode == 0, ended.stderr
    assert [run.id for run in akinai.runs(store=str(tmp_path / "a.db"))] == ["a-1", "a-2"]
