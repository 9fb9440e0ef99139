"""Tests against the public package itself, from its wheel: `make test-magentic` makes an environment with it and sets
AKINAI_ADAPTER, so that the package must be there. Elsewhere these tests are not collected."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

if os.environ.get("AKINAI_ADAPTER") != "magentic" and find_spec("magentic_marketplace") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The public client writes its figures to a file in the working folder when it ends."""
    monkeypatch.chdir(tmp_path)
