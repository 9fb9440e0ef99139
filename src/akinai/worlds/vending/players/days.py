"""A trader's days: when it works, and in which order it does things."""

from akinai.core.agents import Agent, Move, Plan, Routine, View
from akinai.core.errors import AgentError
from akinai.core.ledger import Genesis, Outcome
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import economy_of
from akinai.worlds.vending.players.buying import order, review, talk
from akinai.worlds.vending.players.habits import Habits
from akinai.worlds.vending.players.memory import Memory
from akinai.worlds.vending.players.trader import EVENING, Trader


class ByBusiness:
    """An agent that learns from its first view whether its business has one machine or several sites."""

    def __init__(self, single: Agent, several: Agent) -> None:
        self._single, self._several = single, several

    async def act(self, view: View, last: Outcome | None) -> Move:
        agent = self._several if a.VisitSite in view.verbs else self._single
        return await agent.act(view, last)


def trader(habits: Habits, genesis: Genesis | None = None) -> Agent:
    """A trader with some habits; an informed one knows the hidden parameters of a genesis. AgentError without it."""
    return Routine(lambda me: trade(me, habits, genesis))


def trade(me: Routine, habits: Habits, genesis: Genesis | None = None) -> Plan:
    """Every day until the end."""
    if habits.informed and genesis is None:
        raise AgentError("this player knows the hidden parameters of its run, and it was given none: play it here")
    truth = economy_of(genesis) if habits.informed and genesis is not None else None
    trader = Trader(me, habits, truth)
    if truth is not None and truth.town is not None:
        trader.memory.events = [(event.kind, event.first, event.last) for event in truth.town.events]
    while True:
        if works(trader):
            yield from _work(trader)
        morning = yield a.AdvanceDay()
        trader.wake(morning)


def works(trader: Trader) -> bool:
    """Whether the trader does anything today."""
    habits, day = trader.habits, trader.day
    if habits.stops and day > habits.stops:
        return False
    if habits.coma and habits.coma[0] <= day < habits.coma[0] + habits.coma[1]:
        return False
    return day == 1 or not day % habits.every


def _work(trader: Trader) -> Plan:
    """A working day: mail, bills, prices, orders, visits, deliveries."""
    habits, day = trader.habits, trader.day
    if habits.wipe and day % habits.wipe == 0:
        trader.memory = Memory()
    again = False
    if trader.unread:
        again = yield from trader.read_mail()
    yield from trader.look()
    trader.learn()
    yield from trader.pay_rents()
    if habits.reads_news and day % 3 == 1:
        yield from trader.read_news()
    yield from talk(trader)
    if again or day >= trader.memory.next_review:
        yield from review(trader)
    yield from trader.festival_prices()
    yield from trader.sell_leftovers()
    yield from order(trader)
    yield from trader.visits()
    if habits.waits:
        yield from trader.wait_for_goods(until=24)
    yield from trader.count()
    if trader.minute < EVENING and any(trader.worth(machine) for machine in trader.machines):
        yield from trader.visits()
    trader.memory.fresh = False
