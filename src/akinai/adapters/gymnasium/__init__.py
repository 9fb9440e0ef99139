"""Gymnasium: worlds as environments of text, such as `gymnasium.make("akinai.adapters.gymnasium:akinai/vending")`."""

from akinai import worlds
from akinai.core.errors import MissingExtra

try:
    import gymnasium

    from akinai.adapters.gymnasium.environment import WorldEnv
    from akinai.adapters.gymnasium.spaces import ReplySpace, TextSpace
    from akinai.adapters.gymnasium.vector import WorldVectorEnv
except ImportError as error:
    raise MissingExtra("an environment of Gymnasium", "gymnasium", "gymnasium") from error

__all__ = ["ReplySpace", "TextSpace", "WorldEnv", "WorldVectorEnv"]

for _name in worlds.names():
    gymnasium.register(  # pyright: ignore[reportUnknownMemberType] - its dictionary of options has no types
        f"akinai/{_name}",
        entry_point="akinai.adapters.gymnasium.environment:WorldEnv",
        vector_entry_point="akinai.adapters.gymnasium.vector:WorldVectorEnv",
        kwargs={"world": _name},
    )
