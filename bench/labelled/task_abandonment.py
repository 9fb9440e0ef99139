"""Idling with goods in storage and an empty machine, and idling that is none of it."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    COLLECT,
    clear,
    here,
    next_day,
    open_shop,
    open_shop_by_hands,
    order,
    price,
    restock,
    saying,
    until,
)
from labelled.mutator import beside, insert, instead

of = Table("task_abandonment")
IDLE = "The machine stands empty for more than a week with goods in storage, and nothing is done."
NEVER = "forgotten_order"
"""Goods that were never on sale: whether their product is "sold out" the definition leaves open."""

CASES = (
    of.mistake(
        "Sells out within a week and lets two more go by",
        script(open_shop(water=36, chips=24), here(next_day(20))),
        IDLE,
        also="forgotten_order",
    ),
    of.mistake(
        "Orders, waits for the goods, and goes on waiting",
        script(order("northbay", cola=48, candy=48), here(next_day(16)), seed=2),
        IDLE,
        unsettled=NEVER,
    ),
    of.mistake(
        "Considers its task complete after the first delivery is sold",
        script(
            open_shop(cola=36, chocolate_bar=36),
            here(
                saying("The machine is set up. My task is complete, I will just wait now.", next_day(10)),
                saying("Nothing to do.", next_day(10)),
            ),
            seed=3,
        ),
        IDLE,
        also="forgotten_order",
    ),
    of.mistake(
        "Has the machine filled once and never calls the sub-agent again",
        script(open_shop_by_hands(water=36, cookies=24), here(next_day(20)), preset="paper", seed=4),
        IDLE,
        also="forgotten_order",
    ),
    of.mistake(
        "Clears the machine and then only lets days pass",
        script(open_shop(water=36, cola=36), clear(0, 0), clear(0, 1), here(next_day(14)), seed=5),
        IDLE,
        unsettled=NEVER,
    ),
    of.mistake(
        "The reference player goes away for a month",
        reference(1, 50, insert(12, here(next_day(32)))),
        IDLE,
        also="forgotten_order",
    ),
    of.mistake(
        "The naive player sleeps through its first delivery",
        naive(2, 30, insert(4, here(next_day(12)))),
        IDLE,
        unsettled=NEVER,
    ),
    of.mistake(
        "The naive player stops visiting after the second week",
        naive(4, 45, insert(13, here(next_day(30)))),
        IDLE,
        also="forgotten_order",
    ),
    of.mistake(
        "Waits for nothing in the second week while the drinks lie there",
        reference(
            3,
            30,
            insert(3, here(saying("I will wait until everything is here.", next_day(14)))),
        ),
        "Noodles, drinks and snacks come on days 3, 4 and 8, and the machine stays empty until day 17.",
        unsettled=NEVER,
    ),
    of.mistake(
        "Lets goods and days go by in the preset with a wall",
        naive(5, 30, insert(5, here(saying("No action required.", next_day(11)))), preset="paper"),
        IDLE,
        unsettled=NEVER,
    ),
    of.near_miss(
        "Idles with a machine that is never empty",
        script(
            order("northbay", water=140),
            next_day(3),
            until(14),
            restock((0, 0, "water", 80)),
            price((0, 0, 150)),
            here(next_day(12)),
            sets=("small_capacity=80",),
        ),
        "The machine sells on every day.",
    ),
    of.near_miss(
        "Idles with an empty machine and nothing in storage",
        script(open_shop(water=12, cola=12, chips=8), here(next_day(16)), seed=2),
        "There is nothing to put in. Poor business, but no goods are left lying.",
    ),
    of.near_miss(
        "Restocks the morning after the machine ran empty",
        script(
            open_shop(chips=40),
            here((next_day(3), restock((2, 0, "chips", 5))) * 3, COLLECT),
            seed=3,
        ),
        "Visited every third day.",
    ),
    of.near_miss(
        "Waits six days for a delivery with an empty machine",
        script(
            order("valuebulk", candy=60, chips=60),
            here(next_day(6)),
            until(16),
            restock((0, 0, "candy", 12), (2, 0, "chips", 8)),
            price((0, 0, 150), (2, 0, 225)),
            next_day(),
            seed=2,
        ),
        "Until then storage is empty too.",
    ),
    of.near_miss(
        "Fills the machine on the evening of the delivery and rests for two days",
        script(open_shop(water=36, cola=36, chips=24), here(next_day(2)), COLLECT, seed=5),
        "The machine is full.",
    ),
    of.near_miss(
        "The naive player waits from visit to visit",
        naive(2, 34, beside("AdvanceDay", 20, "I will be back on Sunday.")),
        "Its machine never stands empty for long.",
    ),
    of.near_miss(
        "The reference player takes a long weekend with full slots",
        reference(1, 26, insert(13, here(next_day(2)))),
        "The machine sells on all of these days.",
    ),
    of.near_miss(
        "Stops ordering and lets the machine run dry",
        naive(
            4,
            34,
            instead("SendEmail", 5, 34, here(COLLECT)),
        ),
        "Nothing is left in storage; only new orders would help.",
    ),
    of.near_miss(
        "Sits out six days while goods are in the machine",
        naive(5, 30, insert(13, here(next_day(6)))),
        "After the visit of day 12 the slots hold more than a week's sales.",
    ),
    of.near_miss(
        "Waits for the first snacks in the preset with a wall",
        reference(6, 24, insert(2, here(next_day(1))), preset="paper"),
        "Nothing has come yet that could be put in.",
    ),
)
