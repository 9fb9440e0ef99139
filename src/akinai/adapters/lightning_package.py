"""The gate to agent-lightning's 0.3 line: whether it is here, and what must be set before it is imported."""

import os
from importlib.metadata import PackageNotFoundError, version

from akinai.core.errors import UsageError
from akinai.learning.errors import MissingExtra

PACKAGE = "agentlightning"
LINE = "0.3"
EXTRA = "lightning"


def make_ready() -> None:
    """To be called before the package is imported. MissingExtra without it; UsageError for another line of it."""
    try:
        found = version(PACKAGE)
    except PackageNotFoundError:
        raise MissingExtra("the adapter of agent-lightning", PACKAGE, EXTRA) from None
    if not f"{found}.".startswith(f"{LINE}."):
        raise UsageError(
            f"agent-lightning {found} is installed, and this adapter's algorithm runs under the Trainer of its {LINE} "
            f"line; install 'akinai[{EXTRA}]' on Python 3.11, or use akinai.adapters.lightning_gateway with 1.x"
        )
    # The package imports LiteLLM, which else fetches a list of prices from the network while it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
