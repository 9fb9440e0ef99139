"""Akinai without Inspect AI: its tasks say what to install, and nothing else misses it."""

import sys

import forked

PROGRAM = """
import sys
sys.modules["inspect_ai"] = None
import akinai.adapters.inspect.tasks
"""


def test_the_import_says_what_to_install() -> None:
    """In a sentence."""
    done = forked.run([sys.executable, "-c", PROGRAM])
    assert (
        "playing under Inspect AI needs inspect-ai, which is not installed; pip install 'akinai[inspect]'"
        in done.stderr
    )
