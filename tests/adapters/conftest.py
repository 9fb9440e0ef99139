"""An adapter is tested where its framework is installed: `make test-autogen` makes such an environment, and says by
AKINAI_ADAPTER that the framework must be there. Elsewhere its tests are not collected."""

import os
from importlib.metadata import version
from importlib.util import find_spec

FRAMEWORKS = {"autogen": "autogen_agentchat", "lightning": "agentlightning"}

collect_ignore_glob = [
    f"test_{name}*.py"
    for name, package in FRAMEWORKS.items()
    if os.environ.get("AKINAI_ADAPTER") != name and find_spec(package) is None
]

LINES = {"0.3.": "test_lightning_gateway.py", "1.": "test_lightning_trainer.py"}
"""Of agent-lightning: which line is here is a matter of Python, and what the other one is for is not tested then."""

if find_spec("agentlightning"):
    found = version("agentlightning")
    collect_ignore = [tests for line, tests in LINES.items() if found.startswith(line)]
