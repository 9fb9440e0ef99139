"""A market player behind a model endpoint, for tests: it reads texts only, as a model does."""

from akinai.testing.endpoint import PlayerResponder
from akinai.testing.endpoint.market import parse_outcome, text_only
from akinai.worlds.market import Market

__all__ = ["brain", "parse_outcome"]


def brain(player: str = "careful") -> PlayerResponder:
    """Plays a player of the market, customer or business, in each conversation."""
    return PlayerResponder(text_only(Market.players[player]), Market.verbs)
