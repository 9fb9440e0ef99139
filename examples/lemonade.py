"""A lemonade stand for a few days of holidays.

A whole world, small enough to read; docs/write-a-world.md walks through it.
"""

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, Field

from akinai.core import (
    Action,
    Facets,
    Finding,
    Genesis,
    ItemChart,
    Json,
    Judging,
    Lesson,
    Outcome,
    Plan,
    Presentation,
    Routine,
    Score,
    Step,
    Steps,
    Teaching,
    Turn,
    Verbs,
    View,
    World,
    player,
)
from akinai.core.money import format_cents

CUP_CENTS = 30
PASSERS_BY = {"rain": 10, "clouds": 30, "sun": 60}


class Setup(BaseModel, frozen=True, extra="forbid"):
    days: Annotated[int, Field(ge=1, le=365)] = 7
    """Of holidays."""
    start_cents: Annotated[int, Field(ge=0, le=1_000_000)] = 2_000
    """In the cash box on the first morning."""


class MakeLemonade(Action):
    """Make cups of lemonade, 30 cents each. They keep until the evening."""

    cups: Annotated[int, Field(ge=1, le=1_000)]


class OpenStand(Action):
    """Sell in the street until the evening; then it is the next morning."""

    price_cents: Annotated[int, Field(ge=1, le=10_000)]


@dataclass(frozen=True)
class Stand:
    genesis: Genesis
    setup: Setup
    cash_cents: int
    cups: int = 0
    day: int = 1
    sold: int = 0
    """Cups sold on the day before."""
    poured_away: int = 0
    """Cups left over on the evening before."""

    @property
    def sky(self) -> str:
        return ("rain", "clouds", "sun")[self.genesis.chance("sky", self.day).below(3)]


def make_lemonade(stand: Stand, action: MakeLemonade) -> tuple[Stand, Outcome]:
    """Turn cash into cups. Refused as `no_cash`."""
    cost, cash = action.cups * CUP_CENTS, stand.cash_cents
    if cost > cash:
        return stand, Outcome.refused("no_cash", f"that costs {format_cents(cost)} and you have {format_cents(cash)}")
    stand = replace(stand, cash_cents=cash - cost, cups=stand.cups + action.cups)
    return stand, Outcome(f"You have {stand.cups} cups and {format_cents(stand.cash_cents)} left.")


def open_stand(stand: Stand, action: OpenStand) -> tuple[Stand, Outcome]:
    """Everybody who comes by buys a cup if it is worth the price to them, which is 50 to 250 cents."""
    chance, price = stand.genesis.chance("worth", stand.day), action.price_cents
    thirsty = sum(chance(who).between(50, 250) >= price for who in range(PASSERS_BY[stand.sky]))
    sold = min(stand.cups, thirsty)
    left = stand.cups - sold
    data = {"sold": sold, "income_cents": sold * price, "poured_away": left}
    stand = replace(
        stand, cash_cents=stand.cash_cents + sold * price, cups=0, day=stand.day + 1, sold=sold, poured_away=left
    )
    return stand, Outcome(f"You sold {sold} cups for {format_cents(sold * price)}.", data=data)


def profit(steps: Steps[Stand]) -> list[Score]:
    """What the stand earned beyond the money it began with."""
    stand = steps.final
    days = tuple(entry.seq for entry in steps.entries if entry.name == "OpenStand" and entry.outcome.ok)
    return [Score("profit", stand.cash_cents - stand.setup.start_cents, "cents", because=days, better="higher")]


@player
def frugal(me: Routine) -> Plan:
    """Makes what it is sure to sell."""
    while True:
        yield MakeLemonade(cups=30 if "sun" in me.view.text else 5)
        yield OpenStand(price_cents=120)


@player
def idle(_: Routine) -> Plan:
    """Stands in the street with nothing to sell."""
    while True:
        yield OpenStand(price_cents=100)


class LemonadeJudging(Judging[Stand]):
    """Waste, and the truth about a day."""

    def detect(self, steps: Steps[Stand]) -> list[Finding]:
        """Evenings on which more cups were poured away than sold."""
        return [
            Finding(
                type="too_many_cups",
                actor=step.entry.actor,
                entries=(step.entry.seq,),
                severity="minor",
                assumed=f"{step.before.cups} cups would sell",
                true=f"{step.after.sold} sold, {step.after.poured_away} were poured away",
                at=step.entry.at,
            )
            for step in steps
            if step.after.day > step.before.day and step.after.poured_away > step.after.sold
        ]

    def facts(self, state: Stand) -> dict[str, Json]:
        return {"profit_cents": state.cash_cents - state.setup.start_cents}

    def day_facts(self, state: Stand) -> dict[str, Json]:
        return {"cups": {"sold": state.sold, "poured away": state.poured_away}}


class LemonadeTeaching(Teaching[Stand]):
    """How many cups people buy under each sky."""

    def lessons(self, steps: Steps[Stand]) -> list[Lesson]:
        best: dict[str, Step[Stand]] = {}
        for step in steps:
            if step.after.day > step.before.day and step.after.sold > 0:
                best[step.before.sky] = max(best.get(step.before.sky, step), step, key=lambda step: step.after.sold)
        return [
            Lesson(
                "domain_knowledge",
                f"Under {sky} people buy {step.after.sold} cups.",
                about=sky,
                entries=(step.entry.seq,),
            )
            for sky, step in best.items()
        ]


class LemonadePresentation(Presentation[Stand]):
    """What became of the cups."""

    charts = (ItemChart("cups", "What became of the cups", "cups", "cups per day", table="cups"),)


class Lemonade(World[Stand]):
    name = "lemonade@1"
    setup = Setup
    verbs = Verbs([MakeLemonade, OpenStand])
    scorers = (profit,)
    players = {"frugal": frugal, "idle": idle}
    facets = Facets(judging=LemonadeJudging(), teaching=LemonadeTeaching(), presentation=LemonadePresentation())

    def begin(self, genesis: Genesis) -> Stand:
        setup = Setup.model_validate(genesis.setup)
        return Stand(genesis, setup, setup.start_cents)

    def actors(self, state: Stand) -> list[str]:
        return [] if self.ending(state) else ["seller"]

    def view(self, state: Stand, actor: str) -> View:
        closed = self.ending(state) or (None if actor == "seller" else "this is not your stand")
        text = f"Day {state.day}, {state.sky}. You have {state.cups} cups and {format_cents(state.cash_cents)}."
        return View(text, () if closed else self.verbs.classes, closed)

    def apply(self, state: Stand, turn: Turn) -> tuple[Stand, Outcome]:
        if closed := self.view(state, turn.actor).closed:
            return state, Outcome.refused("closed", closed)
        match turn.action:
            case MakeLemonade() as action:
                return make_lemonade(state, action)
            case OpenStand() as action:
                return open_stand(state, action)
            case _:
                raise TypeError(f"{turn.action!r} is no verb of a lemonade stand")

    def now(self, state: Stand) -> int:
        return state.day * 86_400_000_000

    def ending(self, state: Stand) -> str | None:
        return "horizon" if state.day > state.setup.days else None
