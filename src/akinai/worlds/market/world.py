"""market@2: customers and businesses find each other, bargain by message, and pay (after arXiv 2510.25779)."""

from collections.abc import Sequence

from akinai.core.agents import View
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.worlds import World
from akinai.worlds.market.analysis.scores import score
from akinai.worlds.market.facets import FACETS
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.setup import Setup
from akinai.worlds.market.model.state import State
from akinai.worlds.market.players.customers import PLAYERS
from akinai.worlds.market.rules import members, turns, views
from akinai.worlds.market.rules import verbs as rules
from akinai.worlds.market.rules.members import registered

__all__ = ["Market", "Setup", "State", "registered"]


class Market(World[State]):
    """A market of messages. Docs: docs/market.md."""

    name = "market@2"
    setup = Setup
    verbs = a.VERBS
    scorers = (score,)
    players = PLAYERS
    facets = FACETS

    def begin(self, genesis: Genesis) -> State:
        return turns.start(members.begin(genesis))

    def actors(self, state: State) -> Sequence[str]:
        return turns.actors(state)

    def view(self, state: State, actor: str) -> View:
        return views.view(state, actor)

    def apply(self, state: State, turn: Turn) -> tuple[State, Outcome]:
        if refused := views.refusal(state, turn.actor, type(turn.action)):
            return state, refused
        after, outcome = rules.apply(state, turn)
        return (turns.finish_turn(state, after, turn), outcome) if outcome.ok else (state, outcome)

    def now(self, state: State) -> int | None:
        return turns.now(state)

    def ending(self, state: State) -> str | None:
        return turns.ending(state)
