"""Worlds by name, ours and those that others add through the entry point group `akinai.worlds`.

`akinai.worlds()` describes them, as the command does.
"""

from typing import Any

from akinai.callable_package import make_callable
from akinai.core.errors import UnknownName, UsageError
from akinai.core.worlds import World
from akinai.plugins import akinai_version, plugins

make_callable(__name__)
GROUP = "akinai.worlds"


def names() -> list[str]:
    """The worlds that can be played, without their versions."""
    return sorted(plugins(GROUP))


def load(name: str) -> World[Any]:
    """The world "vending", or in one version "vending@3".

    Raises UnknownName for a world that is not there, UsageError for a version that is not.
    """
    base, _, version = name.partition("@")
    installed = plugins(GROUP)
    if base not in installed:
        raise UnknownName("world", name, names(), "'akinai worlds' lists them")
    world: World[Any] = installed[base].load()()
    if version and world.name != name:
        release = world.facets.presentation.releases.get(name)
        plays = f"Akinai {akinai_version()} plays {world.name}, and other rules give other ledgers"
        advice = (
            f"{release} plays it: install that beside this one" if release else f"install the Akinai that has {name!r}"
        )
        raise UsageError(f"no world {name!r} here: {plays}; {advice}")
    return world
