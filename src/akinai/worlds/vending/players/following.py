"""Habits that follow a playbook: what each kind of advice changes in a trader, and what an experiment tries."""

from collections.abc import Iterable
from dataclasses import replace

from akinai.core.chance import Chance
from akinai.core.lessons import Advice, of_kind
from akinai.worlds.vending.lessons.advice import (
    BargainAdvice,
    ClaimAdvice,
    CustomerAdvice,
    Experiment,
    NewsAdvice,
    ShelfAdvice,
    SignAdvice,
    SiteAdvice,
    TasteAdvice,
    TrustAdvice,
    read_advice,
)
from akinai.worlds.vending.players.habits import Habits

LEAST_SPREAD = 0.1
"""From this distance between popularity and sales on, tastes are worth learning."""


def follow(habits: Habits, bullets: Iterable[str]) -> Habits:
    """The habits of a player that reads a playbook; unchanged where nothing in it can be read."""
    playbook = [advice for text in bullets if (advice := read_advice(text)) is not None]
    for experiment in of_kind(playbook, Experiment):
        habits = _try_experiment(habits, Chance.of(experiment.number)("habits"))
    for advice in playbook:
        habits = _follow(habits, advice)
    return habits


def _follow(habits: Habits, advice: Advice) -> Habits:
    match advice:
        case SignAdvice(missed=missed) if missed:
            return replace(habits, every=1, waits=True)
        case ClaimAdvice(short=short) if short:
            return replace(habits, claims=True)
        case CustomerAdvice():
            return replace(habits, complaints="pay")
        case NewsAdvice():
            return replace(habits, reads_news=True)
        case TrustAdvice(orders=orders, came=came, others_came=others_came) if orders and came < others_came:
            return replace(habits, research=True, trust="learn", suppliers=max(habits.suppliers, 3))
        case BargainAdvice(off=off) if off > 0:
            return replace(habits, haggles=True)
        case ShelfAdvice():
            return replace(habits, products=max(habits.products, min(advice.best, 12)))
        case SiteAdvice() if advice.pays:
            return replace(habits, sites=4)
        case TasteAdvice(spread=spread) if spread > LEAST_SPREAD:
            return replace(habits, learns_prices=True, explores=True)
        case _:
            return habits


def _try_experiment(habits: Habits, chance: Chance) -> Habits:
    """Other products, suppliers, offers and days, drawn from the number of an experiment."""
    return replace(
        habits,
        products=chance("products").between(5, 12),
        suppliers=chance("suppliers").between(1, 3),
        trust="anyone" if chance("trust").below(2) else habits.trust,
        haggles=bool(chance("haggles").below(2)),
        every=1 + chance("every").below(2),
    )
