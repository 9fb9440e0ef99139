"""Akinai without AutoGen: nothing misses it, and who asks for it is told what to install."""

import subprocess
import sys

import pytest

MISSING = "the AutoGen adapter needs autogen_agentchat, which is not installed; pip install 'akinai[autogen]'"
WITHOUT = """
import sys
sys.modules |= dict.fromkeys(("autogen_agentchat", "autogen_core", "autogen_ext"))
from akinai import worlds
from akinai.core.errors import UsageError
from akinai.learning.errors import MissingExtra
try:
    import akinai.adapters.autogen
except MissingExtra as error:
    assert isinstance(error, UsageError)
    print(error)
"""
ASKED = """
import sys
sys.modules |= dict.fromkeys(("autogen_agentchat", "autogen_core", "autogen_ext"))
from akinai import worlds
from akinai.core.errors import UsageError
from akinai.runtime.casting import casting, other_agents
try:
    casting(worlds.load("vending"), "autogen:gpt-5-mini") if "autogen" in other_agents() else print("unknown")
except UsageError as error:
    print(error)
"""
LOADED = """
import sys
import akinai, akinai.adapters, akinai.cli, akinai.learning, akinai.runtime.api, akinai.testing.endpoint
print([name for name in sys.modules if name.startswith(("autogen", "akinai.adapters."))])
"""


def said(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_the_extra_the_error_says_what_to_install() -> None:
    """The adapter without its framework is a wrong use that names the part, the package and the command."""
    assert said(WITHOUT) == MISSING


def test_the_agent_by_name_says_the_same() -> None:
    """`--agent autogen:MODEL` without the extra is a wrong use, told before anything is written."""
    told = said(ASKED)
    if told == "unknown":
        pytest.skip("Akinai was installed here before it had this agent; install it anew")
    assert told == MISSING


def test_nothing_of_a_framework_is_imported_before_it_is_asked_for() -> None:
    """What a user imports and what a command needs at its start bring in no adapter."""
    assert said(LOADED) == "[]"
