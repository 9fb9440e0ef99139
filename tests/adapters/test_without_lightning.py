"""Akinai without agent-lightning, or with another line of it: nothing misses it, and the errors say what to install."""

import subprocess
import sys

WITHOUT = """
import importlib.metadata as metadata
from akinai.adapters import lightning_package
from akinai.core.errors import UsageError
def version(name):
    if VERSION is None:
        raise metadata.PackageNotFoundError(name)
    return VERSION
lightning_package.version = version
try:
    import akinai.adapters.lightning
except UsageError as error:
    print(type(error).__name__, error)
"""
LOADED = """
import sys
import akinai, akinai.adapters.lightning_gateway, akinai.cli.app, akinai.runtime.api, akinai.runtime.learn_world
print([name for name in sys.modules if name.partition(".")[0] in ("agentlightning", "litellm", "httpx")])
"""


def said(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_the_extra_the_error_says_what_to_install() -> None:
    """The adapter without its framework is a wrong use that names the part, the package and the command."""
    assert said(f"VERSION = None{WITHOUT}") == (
        "MissingExtra the adapter of agent-lightning needs agentlightning, which is not installed; "
        "pip install 'akinai[lightning]'"
    )


def test_the_other_line_of_the_package_is_named() -> None:
    """Where pip gave the rewritten 1.x, the error says which is here, which is wanted, and what serves this one."""
    told = said(f"VERSION = '1.0.2'{WITHOUT}")
    assert told.startswith("UsageError agent-lightning 1.0.2 is installed")
    assert "0.3 line" in told
    assert "akinai.adapters.lightning_gateway" in told


def test_nothing_of_it_is_imported_at_start_up() -> None:
    """Neither the package nor what it brings is there before the adapter is asked for; the gateway never needs it."""
    assert said(LOADED) == "[]"
