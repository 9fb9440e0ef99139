"""Akinai without the package mcp: the command says what to install."""

import sys

import forked

PROGRAM = """
import sys
sys.modules |= dict.fromkeys(("mcp", "mcp_types"))
from akinai.cli import main
sys.argv = ["akinai", "mcp", "vending"]
sys.exit(main())
"""


def test_the_command_says_what_to_install() -> None:
    """In a sentence, with exit code 2."""
    done = forked.run([sys.executable, "-c", PROGRAM])
    assert done.stderr == "akinai: serving over MCP needs mcp, which is not installed; pip install 'akinai[mcp]'\n"
    assert done.returncode == 2
