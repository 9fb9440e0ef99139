"""Adapters are tested where their framework is installed. `make test-autogen` makes such an environment and sets
AKINAI_ADAPTER: then that framework must be there, and no other's tests are collected."""

import os
from importlib.metadata import version
from importlib.util import find_spec

FRAMEWORKS = {
    "a2a": "a2a",
    "autogen": "autogen_agentchat",
    "gymnasium": "gymnasium",
    "inspect": "inspect_ai",
    "lightning": "agentlightning",
    "mcp": "mcp",
    "openenv": "openenv",
    "pettingzoo": "pettingzoo",
    "ray": "ray",
    "verifiers": "verifiers",
}

ADAPTER = os.environ.get("AKINAI_ADAPTER")

collect_ignore_glob = [
    pattern.format(name)
    for name, package in FRAMEWORKS.items()
    for pattern in (("test_{}*.py", "test_without_{}.py") if ADAPTER else ("test_{}*.py",))
    if (name != ADAPTER if ADAPTER else find_spec(package) is None)
]

OTHER_LINE = {"0.3.": "test_lightning_gateway.py", "1.": "test_lightning_training.py"}
"""The tests of the other line of agent-lightning: the Python version decides which line is installed."""

if find_spec("agentlightning"):
    installed = version("agentlightning")
    collect_ignore = [tests for line, tests in OTHER_LINE.items() if installed.startswith(line)]
