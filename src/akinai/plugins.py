"""What installed packages add to Akinai, through groups of entry points."""

import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points, version


def akinai_version() -> str:
    """The version of Akinai that is installed."""
    return version("akinai")


def plugins(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group, by name; of two with one name the first on the path."""
    return _plugins(group, tuple(sys.path))


@lru_cache(maxsize=32)
def _plugins(group: str, _: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Those of the packages on this path: reading what is installed takes longer than many a run."""
    return {point.name: point for point in reversed([*entry_points(group=group)])}
