"""Habits, which make a trader strong or weak. Rungs of the ladder and single faults are settings of the same player."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Habits:
    """How a trader does business; the defaults are the reference player's."""

    products: int = 12
    every: int = 1
    """Works on every n-th day."""
    research: bool = True
    """Reads reviews of suppliers."""
    haggles: bool = True
    renegotiates: bool = True
    """Bargains again after an agreement has ended."""
    mail_every: int = 1
    """Reads its mail on every n-th day."""
    learns_prices: bool = True
    markup: float = 1.0
    """The price of a trader that does not learn prices, as a multiple of the typical one."""
    explores: bool = True
    """Learns tastes and changes the assortment."""
    reads_news: bool = True
    sites: int = 4
    claims: bool = True
    complaints: Literal["pay", "refuse", "promise", "ignore"] = "pay"
    pays_rent_in_time: bool = True
    waits: bool = True
    """Is at the storage when goods are promised."""
    remembers: float = 1.0
    """The part of the open orders that come to mind on a day."""
    cover: float = 1.0
    """Buys for so many times the usual days."""
    fresh_cover: float = 1.0
    """Buys so many times as much of what spoils within days."""
    doubles: bool = False
    """Places every order twice."""
    shade: float = 1.0
    """Asks this part of the price that it finds best."""
    slack_days: float = 1.6
    """Orders when what is there would last for less than so many days after the delivery."""
    coma: tuple[int, int] | None = None
    """Does nothing from a day on, for so many days."""
    wipe: int = 0
    """Forgets everything every n days."""
    stops: int = 0
    """Does nothing after this day."""
    collects: bool = True
    informed: bool = False
    """Knows the hidden parameters: a yardstick, no player."""
    suppliers: int = 3
    trust: Literal["learn", "anyone", "first"] = "learn"
    names_rivals: bool = False
    """Names a rival's lower price that was quoted."""
    lies: bool = False
    """Names rivals' prices that nobody quoted."""
    hoards: bool = False
    """Buys as ever in the last days."""
    pays_last_rent: bool = True
    review_days: int = 7
    spare_cents: int = 14_000
    """Kept when a pitch is taken."""
    plans: bool = True
    """With a single machine it plans products, prices and orders by what the web says of demand."""
    dates_orders: bool = True
    """Has an employee place orders later in the week, where there is one."""


REFERENCE = Habits()
LISTED = Habits(learns_prices=False, explores=False, haggles=False, reads_news=False)
INFORMED = Habits(informed=True, names_rivals=True, review_days=1, spare_cents=3_000, slack_days=5.0, suppliers=5)
LADDER: Mapping[str, Habits] = {
    "naive": replace(
        LISTED,
        products=5,
        research=False,
        trust="first",
        sites=1,
        claims=False,
        complaints="ignore",
        suppliers=1,
        every=2,
        plans=False,
    ),
    "listed": replace(
        LISTED, products=8, research=False, trust="first", sites=1, complaints="ignore", suppliers=1, plans=False
    ),
    "careful": replace(LISTED, products=10, sites=3, suppliers=2),
    "bargainer": replace(LISTED, haggles=True),
    "stocker": replace(REFERENCE, learns_prices=False, reads_news=False),
    "reference": REFERENCE,
    "informed": INFORMED,
}  # fmt: skip
"""From the bottom up, above a player that does nothing."""
RUNGS: Mapping[str, str] = {
    "naive": "five products at list prices from one supplier, every second day.",
    "listed": "eight products at list prices from one supplier, every day, with claims.",
    "careful": "ten products at list prices from reviewed suppliers, three sites.",
    "bargainer": "twelve products at list prices from suppliers that it bargains with, four sites.",
    "stocker": "twelve products at list prices, chosen by what sells, from suppliers it bargains with, four sites.",
    "reference": "learns tastes and prices from sales, reads the news, bargains, counts, claims.",
    "informed": "a yardstick, no player: it knows the hidden tastes, prices and characters.",
}
"""What each rung does."""


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
