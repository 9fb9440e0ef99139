"""A trader's days: when it works, and in which order it does things."""

from akinai.core.actions import Action
from akinai.core.agents import Agent, Move, Plan, Routine, View
from akinai.core.errors import AgentError
from akinai.core.ledger import Genesis, Outcome
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import economy_of
from akinai.worlds.vending.model.terms import Effect as EventTerms
from akinai.worlds.vending.players.beliefs import Effect
from akinai.worlds.vending.players.buying import bargain_today, order_goods, review
from akinai.worlds.vending.players.habits import Habits
from akinai.worlds.vending.players.memory import Memory
from akinai.worlds.vending.players.trader import EVENING, Trader
from akinai.worlds.vending.sprint.verbs import CloseWeek


class ByBusiness:
    """An agent that learns from its first view what it runs: one machine, several sites, or several by the week."""

    def __init__(self, single: Agent, several: Agent, weekly: Agent) -> None:
        self._single, self._several, self._weekly = single, several, weekly

    async def act(self, view: View, last: Outcome | None) -> Move:
        agent = self._several if a.VisitSite in view.verbs else self._single
        if CloseWeek in view.verbs:
            agent = self._weekly
        return await agent.act(view, last)

    def watch(self, action: Action, outcome: Outcome) -> None:
        """Take note of an action of its owner that it did not decide."""
        if isinstance(self._several, Trading):
            self._several.watch(action, outcome)

    def copied(self) -> Agent | None:
        """Another agent that knows and does the same, between two days of several sites; None at any other time."""
        several = self._several.copied() if isinstance(self._several, Trading) else None
        return None if several is None else ByBusiness(self._single, several, self._weekly)


class Trading(Routine):
    """An agent that trades."""

    def __init__(self, habits: Habits, genesis: Genesis | None) -> None:
        self._settings = habits, genesis
        self.trader: Trader | None = None
        self.between_days = False
        """Whether it waits for a morning: then nothing but the trader holds what it knows."""
        super().__init__(lambda _: trade(self, habits, genesis))

    def watch(self, action: Action, outcome: Outcome) -> None:
        """Take note of an action of its owner that it did not decide."""
        if self.trader is not None and outcome.ok:
            self.trader.watch(action, outcome)

    def copied(self) -> "Trading | None":
        """Another agent that knows and does the same, between two days; None at any other time."""
        trader = self.trader
        if trader is None or not self.between_days:
            return None
        copy = Trading(*self._settings)
        copy.trader = trader.copied(copy)
        copy.view, copy._plan = self.view, _days(copy, copy.trader, waiting=True)
        next(copy._plan)
        copy._begun = copy.between_days = True
        return copy


def trading_agent(habits: Habits, genesis: Genesis | None = None) -> Agent:
    """A trader with some habits; an informed one knows the hidden parameters of a genesis. AgentError without it."""
    return Trading(habits, genesis)


def trade(me: Trading, habits: Habits, genesis: Genesis | None = None) -> Plan:
    """Trade every day until the end."""
    if habits.informed and genesis is None:
        raise AgentError("this player knows the hidden parameters of its run, and it was given none: play it here")
    truth = economy_of(genesis) if habits.informed and genesis is not None else None
    trader = me.trader = Trader(me, habits, truth)
    if truth is not None:
        effects = truth.setup.street.events.kinds
        trader.memory.events = [
            (event.first, event.last, effect_of(effects[event.kind])) for event in truth.town.events
        ]
    yield from _days(me, trader, waiting=False)


def effect_of(terms: EventTerms) -> Effect:
    """What the news will say of an event."""
    times = {id: terms.permille_of(id) / 1000 for id in ("", *terms.categories)}
    return Effect(times, terms.worth_permille / 1000)


def _days(me: Trading, trader: Trader, *, waiting: bool) -> Plan:
    """Day after day; `waiting` for a morning first."""
    while True:
        if not waiting and works(trader):
            yield from _work(trader)
        me.between_days = True
        morning = yield a.AdvanceDay()
        me.between_days = waiting = False
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
    if trader.unread and (day == 1 or day % habits.mail_every == 0):
        again = yield from trader.read_mail()
    yield from trader.look()
    trader.learn()
    yield from trader.pay_rents()
    if habits.reads_news and day % 3 == 1:
        yield from trader.read_news()
    yield from bargain_today(trader)
    if again or day >= trader.memory.next_review:
        yield from review(trader)
    yield from trader.festival_prices()
    yield from trader.sell_leftovers()
    yield from order_goods(trader)
    yield from trader.visits()
    if habits.waits:
        yield from trader.wait_for_goods(until=24)
    yield from trader.count()
    if trader.minute < EVENING and any(trader.is_worth_visiting(machine) for machine in trader.machines):
        yield from trader.visits()
    trader.memory.fresh = False
