"""Tests against the public package itself, from its wheel: `make test-magentic` makes an environment with it and sets
AKINAI_ADAPTER, so that the package must be there. Elsewhere these tests are not collected."""

import os
from importlib.util import find_spec

if os.environ.get("AKINAI_ADAPTER") != "magentic" and find_spec("magentic_marketplace") is None:
    collect_ignore_glob = ["test_*.py"]
