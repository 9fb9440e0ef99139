"""Worlds by name, ours and those that others add through the entry point group `akinai.worlds`.

`akinai.worlds()` describes them, as the command does.
"""

import sys
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any

from akinai.callable_package import make_callable
from akinai.core.errors import UnknownName, UsageError
from akinai.core.worlds import World

make_callable(__name__)
GROUP = "akinai.worlds"


def names() -> list[str]:
    """The worlds that can be played, without their versions."""
    return sorted({entry.name for entry in _installed(tuple(sys.path))})


@lru_cache(maxsize=8)
def _installed(_: tuple[str, ...]) -> EntryPoints:
    """The worlds that packages on this path add: reading what is installed takes longer than many a run."""
    return entry_points(group=GROUP)


def load(name: str) -> World[Any]:
    """The world "vending", or in one version "vending@3".

    Raises UnknownName for a world that is not there, UsageError for a version that is not.
    """
    base, _, version = name.partition("@")
    entries = [entry for entry in _installed(tuple(sys.path)) if entry.name == base]
    if not entries:
        raise UnknownName("world", name, names(), "'akinai worlds' lists them")
    world: World[Any] = entries[0].load()()
    if version and world.name != name:
        release = world.facets.presentation.releases.get(name)
        raise UsageError(
            f"no world {name!r} here: this Akinai plays {world.name}, and other rules give other ledgers; "
            + (
                f"{release} plays it: install that beside this one"
                if release
                else f"install the Akinai that has {name!r}"
            )
        )
    return world
