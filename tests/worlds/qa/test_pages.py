"""The pages about questions and playbooks are true: their commands run, in order, in an empty folder."""

import re
import shlex
import sys
from pathlib import Path

import pytest

import forked

DOCS = Path(__file__).parents[3] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["qa.md", "playbook.md"])
def test_every_command_of_a_page_runs_in_order(page: str, tmp_path: Path) -> None:
    """A reader who types a page's commands one after the other meets no error."""
    text = (DOCS / page).read_text(encoding="utf-8")
    commands = [line for kind, block in BLOCK.findall(text) if not kind for line in block.splitlines()]
    assert len(commands) > 5
    for line in commands:
        assert line.startswith("akinai ")
        words = [sys.executable, "-m", "akinai", *shlex.split(line)[1:]]
        done = forked.run(words, cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
