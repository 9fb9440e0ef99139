"""The rows of `validity.py` beside the ladder: single faults, cheap strategies and exploits of the reference player."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from akinai.worlds.vending.players.habits import REFERENCE, Habits
from akinai.worlds.vending.players.weekly import SLACK_DAYS

MARKUPS = (0.9, 1.1, 1.2, 1.3, 1.4, 1.5)
"""Constant markups beside that of list prices, which is 1."""


def faults(days: int) -> Mapping[str, Habits]:
    """The reference player with one fault each, for runs of so many days."""
    middle = days * 4 // 10
    return {
        "forgets open orders": replace(REFERENCE, remembers=0.0),
        "overlooks a third of them": replace(REFERENCE, remembers=0.67),
        "never waits for deliveries": replace(REFERENCE, waits=False),
        "trusts anyone": replace(REFERENCE, trust="anyone", research=False),
        "never haggles": replace(REFERENCE, haggles=False),
        "never counts or claims": replace(REFERENCE, claims=False),
        "ignores customers": replace(REFERENCE, complaints="ignore"),
        "promises and never pays": replace(REFERENCE, complaints="promise"),
        "list prices": replace(REFERENCE, learns_prices=False),
        "half of the products": replace(REFERENCE, products=6),
        "every second day": replace(REFERENCE, every=2),
        "weekly": replace(REFERENCE, every=7),
        "coma of 10 days": replace(REFERENCE, coma=(middle, 10)),
        "coma of 30 days": replace(REFERENCE, coma=(middle, 30)),
        "memory wiped weekly": replace(REFERENCE, wipe=7),
        "stops after a third": replace(REFERENCE, stops=120 if days > 120 else 30),
        "overstocks": replace(REFERENCE, cover=3.0),
        "forgets the rent": replace(REFERENCE, pays_rent_in_time=False),
        "ignores events": replace(REFERENCE, reads_news=False),
        "collects no cash": replace(REFERENCE, collects=False),
        "never grows": replace(REFERENCE, sites=1),
        "mail every third day": replace(REFERENCE, mail_every=3),
        "every fifth day": replace(REFERENCE, every=5),
        "refuses every refund": replace(REFERENCE, complaints="refuse"),
        "never renegotiates": replace(REFERENCE, renegotiates=False),
        **{f"markup of {markup}": replace(REFERENCE, learns_prices=False, markup=markup) for markup in MARKUPS},
        "one supplier only": replace(REFERENCE, suppliers=1),
        "undercuts": replace(REFERENCE, shade=0.8),
        "perishables x3": replace(REFERENCE, fresh_cover=3.0),
        "doubles orders": replace(REFERENCE, doubles=True),
    }


NOT_BY_THE_WEEK = (
    "never waits for deliveries", "every second day", "weekly", "coma of 10 days", "coma of 30 days",
    "collects no cash", "mail every third day", "every fifth day",
)  # fmt: skip
"""The faults that cannot be had where the owner decides on Mondays and an employee runs the days."""


def weekly_faults(days: int) -> Mapping[str, Habits]:
    """The same for a business of weekly decisions, with faults of its own."""
    return {
        **{name: habits for name, habits in faults(days).items() if name not in NOT_BY_THE_WEEK},
        "every second Monday": replace(REFERENCE, every=14),
        "orders on Mondays alone": replace(REFERENCE, dates_orders=False),
        "coma of three weeks": replace(REFERENCE, coma=(days * 4 // 10, 21)),
    }


SLACKS = (4, 10)
"""Days that an order of the weekly player covers beyond the next delivery, beside the 7 of the reference player."""


def slacks() -> Mapping[str, tuple[Habits, Habits]]:
    """By the slack of its orders: the weekly reference player, and the same with open orders forgotten."""
    rows = {f"slack of {days} days": replace(REFERENCE, slack_days=days - SLACK_DAYS + 1.6) for days in SLACKS}
    return {name: (habits, replace(habits, remembers=0.0)) for name, habits in rows.items()}


def cheap_strategies() -> Mapping[str, Habits]:
    """The reference player with three of eight simplifications, each of which saves work."""
    simple: Mapping[str, Mapping[str, Any]] = {
        "constant markup": {"learns_prices": False, "markup": 1.1},
        "mail every third day": {"mail_every": 3},
        "refuses every refund": {"complaints": "refuse"},
        "haggles once": {"renegotiates": False},
        "one supplier": {"suppliers": 1},
        "no news": {"reads_news": False},
        "no tastes": {"explores": False},
        "every second day": {"every": 2},
    }
    return {
        " + ".join(names): replace(REFERENCE, **{key: value for name in names for key, value in simple[name].items()})
        for names in combinations(simple, 3)
    }


LAPSES = (
    "forgets open orders", "overlooks a third of them", "never waits for deliveries", "never counts or claims",
    "promises and never pays", "coma of 10 days", "coma of 30 days", "memory wiped weekly", "forgets the rent",
    "collects no cash",
)  # fmt: skip
"""The faults that are incoherence, not poor business."""


def exploits() -> Mapping[str, Habits]:
    """The reference player with one trick each that is no business."""
    return {
        "all money into goods at the end": replace(REFERENCE, hoards=True),
        "last rents unpaid": replace(REFERENCE, pays_last_rent=False),
        "false rival quotes": replace(REFERENCE, lies=True),
    }
