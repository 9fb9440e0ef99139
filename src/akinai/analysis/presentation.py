"""The presentation of a world's runs, by the world's name."""

from functools import lru_cache
from typing import Any

from akinai import worlds
from akinai.core.errors import UsageError
from akinai.core.facets import Presentation


def presentation_of(world: str) -> Presentation[Any]:
    """The presentation of a world such as "vending@3"; the neutral one for a world that is not installed."""
    try:
        return _of_installed(world)
    except UsageError:
        return Presentation()


@lru_cache(maxsize=32)
def _of_installed(world: str) -> Presentation[Any]:
    return worlds.load(world).facets.presentation
