"""Habits, which make a trader strong or weak. The rungs of the ladder are settings of the same player."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal


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
ONE_SUPPLIER = replace(
    LISTED, products=8, research=False, trust="first", sites=1, complaints="ignore", suppliers=1, plans=False
)
INFORMED = Habits(informed=True, names_rivals=True, review_days=1, spare_cents=3_000, slack_days=5.0, suppliers=5)
LADDER: Mapping[str, Habits] = {
    "naive": replace(ONE_SUPPLIER, products=5, claims=False, every=2),
    "listed": ONE_SUPPLIER,
    "careful": replace(LISTED, products=10, sites=3, suppliers=2),
    "bargainer": replace(LISTED, haggles=True),
    "stocker": replace(REFERENCE, learns_prices=False, reads_news=False),
    "reference": REFERENCE,
    "informed": INFORMED,
}
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
