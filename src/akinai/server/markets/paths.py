"""The paths of a server of many markets."""

FRONT_PATHS = frozenset({"/m", "/m/", "/metrics"})
"""Answered for all markets together, by the process that accepts connections."""


def root_of(name: str) -> str:
    """The path under which a market is mounted."""
    return f"/m/{name}"


def market_in(path: str) -> str | None:
    """The name of the market in a path; None for a path of the market at `/`."""
    return path.split("/", 3)[2] if path.startswith("/m/") else None
