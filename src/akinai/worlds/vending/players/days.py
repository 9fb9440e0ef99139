"""The agent of a business, and a trader's days: when it works, and in which order it does things."""

from collections.abc import Sequence

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.ledger import Genesis, Outcome
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.players.buying import bargain_today, order_goods, review
from akinai.worlds.vending.players.following import Guide
from akinai.worlds.vending.players.habits import Habits
from akinai.worlds.vending.players.machine import run_machine
from akinai.worlds.vending.players.trader import EVENING, Memory, Trader
from akinai.worlds.vending.players.weekly import WeeklyOwner, run_weeks
from akinai.worlds.vending.sprint.verbs import CloseWeek


class Trading(Routine):
    """An owner that trades by its habits; with one machine and no plans, by a playbook.

    One that is informed knows the hidden parameters of a genesis, and without it raises AgentError at its first action.
    """

    def __init__(self, habits: Habits, genesis: Genesis | None = None, bullets: Sequence[str] = ()) -> None:
        self._settings = habits, genesis, bullets
        self.trader: Trader | None = None
        self.between_days = False
        """Whether it waits for a morning: then nothing but the trader holds what it knows."""
        super().__init__(lambda _: _run(self, habits, genesis, bullets))

    @property
    def goes_on(self) -> bool:
        """Whether its plan goes on after an action that it did not decide; otherwise it cannot be told."""
        return self.trader is not None

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


def _run(me: Trading, habits: Habits, genesis: Genesis | None, bullets: Sequence[str]) -> Plan:
    """Run what the first view shows: several sites, several by the week, or one machine."""
    if CloseWeek in me.view.verbs:
        yield from run_weeks(WeeklyOwner(me, habits, genesis))
    elif a.VisitSite in me.view.verbs:
        me.trader = Trader(me, habits, genesis)
        yield from _days(me, me.trader, waiting=False)
    else:
        yield from run_machine(me, None if habits.plans else Guide.of(bullets))


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
    return not trader.rests() and (trader.day == 1 or not trader.day % trader.habits.every)


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
