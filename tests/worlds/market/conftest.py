"""A working folder of its own and a command line, for tests that ask for them."""

import os
from pathlib import Path

import pytest
from keeping import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A command line in an empty folder, without settings from around it."""
    for name in [name for name in os.environ if name.startswith("AKINAI_") or name in ("COLUMNS", "FORCE_COLOR")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AKINAI_JOBS", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)
