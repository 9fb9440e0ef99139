"""A market player behind the wire, for tests: it hears words alone, as a model does."""

from akinai.testing.endpoint import PlayerBrain
from akinai.testing.endpoint_market import by_reading, read
from akinai.worlds.market import Market

__all__ = ["brain", "read"]


def brain(player: str = "careful") -> PlayerBrain:
    """Plays a player of the market, customer or business, in each conversation."""
    return PlayerBrain(by_reading(Market.players[player]), Market.verbs)
