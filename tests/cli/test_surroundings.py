"""Where a command runs may be hostile: its folder gone, its output full, closed or in another encoding."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WORLDS = [sys.executable, "-m", "akinai", "worlds"]


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_a_working_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    """One sentence and exit code 2."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'rmdir "$1"; shift; exec "$@"'
    done = subprocess.run(["sh", "-c", script, "sh", str(gone), *WORLDS], cwd=gone, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "akinai: the working folder is gone; change to a folder that is there\n"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_full_output_is_told() -> None:
    """One sentence and exit code 1."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(WORLDS, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "akinai: the output cannot be written: no space left on device; free some space\n"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["ja", "en"])
def test_output_in_another_encoding_spells_what_it_cannot_show(language: str) -> None:
    """No traceback in a pipe of cp1252."""
    env = {**os.environ, "PYTHONIOENCODING": "cp1252", "AKINAI_LANG": language}
    done = subprocess.run(WORLDS, capture_output=True, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"vending" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="closed by the shell")
def test_closed_output_is_no_error() -> None:
    """Nobody reads it, so nothing is said."""
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *WORLDS], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
