"""Akinai without a2a-sdk: the command says what to install."""

import sys

import pytest

import forked

PROGRAM = """
import sys
sys.modules["a2a"] = None
from akinai.cli import main
sys.argv = ["akinai", "a2a", "vending"]
sys.exit(main())
"""


@pytest.mark.slow
def test_the_command_says_what_to_install() -> None:
    """In a sentence, with exit code 2."""
    done = forked.run([sys.executable, "-c", PROGRAM])
    assert done.stderr == "akinai: serving over A2A needs a2a-sdk, which is not installed; pip install 'akinai[a2a]'\n"
    assert done.returncode == 2
