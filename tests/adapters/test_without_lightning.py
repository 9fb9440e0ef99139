"""Akinai without agent-lightning, or with another line of it: it works, and the errors say what to install."""

import sys

import pytest

import forked

WITHOUT = """
import importlib.metadata as metadata
from akinai.core.errors import UsageError
def version(name):
    if VERSION is None:
        raise metadata.PackageNotFoundError(name)
    return VERSION
metadata.version = version
try:
    from akinai.adapters.lightning import learn
except UsageError as error:
    print(type(error).__name__, error)
"""
LOADED = """
import sys
import akinai, akinai.adapters.lightning.gateway, akinai.cli.app, akinai.api, akinai.runtime.learn.world
print([name for name in sys.modules if name.partition(".")[0] in ("agentlightning", "litellm", "httpx")])
"""


def output(program: str) -> str:
    done = forked.run([sys.executable, "-c", program])
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_the_extra_the_error_says_what_to_install() -> None:
    """The adapter without its framework is a UsageError that names the adapter, the package and the command."""
    assert output(f"VERSION = None{WITHOUT}") == (
        "MissingExtra the adapter of agent-lightning needs agentlightning, which is not installed; "
        "pip install 'akinai[lightning]'"
    )


@pytest.mark.slow
def test_the_other_line_of_the_package_is_named() -> None:
    """With the rewritten 1.x the error names the installed line, the needed line, and the module for 1.x."""
    message = output(f"VERSION = '1.0.2'{WITHOUT}")
    assert message.startswith("UsageError agent-lightning 1.0.2 is installed")
    assert "0.3 line" in message
    assert "akinai.adapters.lightning.gateway" in message


@pytest.mark.slow
def test_nothing_of_it_is_imported_at_start_up() -> None:
    """Neither the package nor its dependencies are imported before the adapter is used; the gateway never needs them."""
    assert output(LOADED) == "[]"
