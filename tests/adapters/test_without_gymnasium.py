"""Akinai without Gymnasium: the environment says what to install."""

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["gymnasium"] = None
import akinai.adapters.gymnasium
"""


def test_the_environment_says_what_to_install() -> None:
    """In a sentence."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    sentence = "an environment of Gymnasium needs gymnasium, which is not installed; pip install 'akinai[gymnasium]'"
    assert done.stderr.splitlines()[-1].endswith(f"MissingExtra: {sentence}")
