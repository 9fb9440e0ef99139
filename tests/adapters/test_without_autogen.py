"""Akinai without AutoGen: it works, and using the adapter says what to install."""

import sys

import pytest

import forked

MISSING = "the AutoGen adapter needs autogen_agentchat, which is not installed; pip install 'akinai[autogen]'"
WITHOUT = """
import sys
sys.modules |= dict.fromkeys(("autogen_agentchat", "autogen_core", "autogen_ext"))
from akinai import worlds
from akinai.core.errors import MissingExtra, UsageError
try:
    from akinai.adapters.autogen import autogen_agent
except MissingExtra as error:
    assert isinstance(error, UsageError)
    print(error)
"""
BY_NAME = """
import sys
sys.modules |= dict.fromkeys(("autogen_agentchat", "autogen_core", "autogen_ext"))
from akinai import worlds
from akinai.core.errors import MissingExtra, UsageError
from akinai.runtime.play.agent_registry import agent_factory, agent_plugins
try:
    agent_factory(worlds.load("vending"), "autogen:gpt-5-mini") if "autogen" in agent_plugins() else print("unknown")
except UsageError as error:
    print(error)
"""
LOADED = """
import sys
import akinai, akinai.adapters, akinai.cli, akinai.learning, akinai.api, akinai.testing.endpoint
print([name for name in sys.modules if name.startswith(("autogen", "akinai.adapters."))])
"""


def output(program: str) -> str:
    done = forked.run([sys.executable, "-c", program])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_the_extra_the_error_says_what_to_install() -> None:
    """The adapter without its framework is a UsageError that names the adapter, the package and the command."""
    assert output(WITHOUT) == MISSING


@pytest.mark.slow
def test_the_agent_by_name_says_the_same() -> None:
    """`--agent autogen:MODEL` without the extra is a UsageError before anything is written."""
    message = output(BY_NAME)
    if message == "unknown":
        pytest.skip("Akinai was installed here before it had this agent; install it anew")
    assert message == MISSING


def test_nothing_of_a_framework_is_imported_before_it_is_asked_for() -> None:
    """Neither the public modules nor the command line import an adapter at start."""
    assert output(LOADED) == "[]"
