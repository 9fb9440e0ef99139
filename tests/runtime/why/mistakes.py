"""A reference player that makes one mistake, which it knows of; and its runs."""

from collections.abc import Callable
from pathlib import Path

import akinai
from akinai.core.actions import Action
from akinai.core.agents import Agent, Move, Role, View
from akinai.core.ledger import DAY_US, Outcome
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.players.days import Trading
from akinai.worlds.vending.players.habits import REFERENCE

Mistake = Callable[[Trading], Action]
DAYS, DAY = 24, 9


class Planted:
    """The reference player; at the end of a day it takes one more action."""

    def __init__(self, mistake: Mistake) -> None:
        self.inner, self.mistake = Trading(REFERENCE, None), mistake
        self.start = 0
        self.done: Action | None = None
        self.held: Move | None = None

    async def act(self, view: View, last: Outcome | None) -> Move:
        now = (view.now or 0) // DAY_US
        self.start = self.start or now
        if self.held is not None and self.done is not None and last is not None:
            assert last.ok, last.text
            move, self.held = self.held, None
            self.inner.watch(self.done, last)
            return move
        move = await self.inner.act(view, last)
        if now - self.start + 1 == DAY and self.done is None and isinstance(move.action, a.AdvanceDay):
            self.done, self.held = self.mistake(self.inner), move
            return Move(self.done)
        return move


def cheap(player: Trading) -> Action:
    """Its first product for five cents."""
    assert player.trader is not None
    return a.ChangePrices(prices_cents={player.trader.layout[0]: 5})


def look(_: Trading) -> Action:
    return a.ReadNews()


def play(store: Path, agent: str | Mistake = "reference", days: int = DAYS) -> str:
    """Play a run into a store; its id."""

    def planted(_: Role) -> Agent:
        assert not isinstance(agent, str)
        return Planted(agent)

    player = agent if isinstance(agent, str) else planted
    runs = akinai.run("vending", preset="quarter", agent=player, days=days, seeds=3, store=str(store), name="a")
    assert runs[0].status == "done", runs[0].reason
    return runs[0].id
