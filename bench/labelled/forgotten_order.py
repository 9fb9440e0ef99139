"""Delivered goods that nobody touches for five days while their product is sold out, and what only looks like it."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    COLLECT,
    NORTHBAY,
    Moves,
    by_hands,
    here,
    next_day,
    order,
    order_letter,
    price,
    restock,
    saying,
    until,
)
from labelled.mutator import beside, insert, instead

of = Table("forgotten_order")
BIG = ("small_capacity=80", "large_capacity=40")
FORGOTTEN = "The goods lie in storage for more than a week after their slot sold out."


def with_water(*moves: Moves) -> tuple[Moves, ...]:
    """A machine that never runs empty: eighty waters beside what the case is about."""
    return (until(14), restock((0, 0, "water", 80)), price((0, 0, 150)), *moves)


def visits(days: int) -> tuple[Moves, ...]:
    """Days on which it collects and does nothing else."""
    return (next_day(), COLLECT) * days


CASES = (
    of.mistake(
        "Puts eight of 24 chips into the machine and forgets the rest",
        script(
            order("northbay", water=80, chips=24),
            next_day(3),
            with_water(restock((2, 0, "chips", 8)), price((2, 0, 225))),
            here(visits(14)),
            sets=BIG,
        ),
        FORGOTTEN,
    ),
    of.mistake(
        "Sells out of cookies with two dozen in storage",
        script(
            order("northbay", water=80, cookies=28),
            next_day(3),
            with_water(restock((2, 0, "cookies", 4)), price((2, 0, 200))),
            here(visits(6), saying("Cookies are sold out, I wonder why sales are down.", next_day()), visits(6)),
            sets=BIG,
            seed=2,
        ),
        FORGOTTEN,
    ),
    of.mistake(
        "Never fetches the second delivery of cola",
        script(
            order("northbay", water=80, cola=6),
            next_day(3),
            with_water(restock((0, 1, "cola", 6)), price((0, 1, 200))),
            order("northbay", cola=48),
            here(visits(14)),
            sets=BIG,
            seed=3,
        ),
        "Four dozen colas came on day 7 and lie there, and the slot is sold out.",
    ),
    of.mistake(
        "Has the sub-agent collect and forgets to have it restock",
        script(
            order_letter(NORTHBAY, water=80, candy=30),
            next_day(3),
            until(14),
            by_hands(
                "Restock water and candy.",
                restock((0, 0, "water", 80), (0, 1, "candy", 4)),
                price((0, 0, 150), (0, 1, 150)),
            ),
            here((next_day(2), by_hands("Collect the cash.", COLLECT)) * 7),
            preset="paper",
            sets=BIG,
            seed=4,
        ),
        FORGOTTEN,
    ),
    of.mistake(
        "Leaves chocolate in storage through two weeks of sales",
        script(
            order("northbay", water=80, chocolate_bar=40),
            next_day(3),
            with_water(restock((0, 1, "chocolate_bar", 5)), price((0, 1, 175))),
            here(next_day(7), COLLECT, next_day(7), COLLECT),
            sets=BIG,
            seed=5,
        ),
        FORGOTTEN,
    ),
    of.mistake(
        "Orders popcorn beside the weekly goods and puts in six of thirty",
        naive(
            2,
            34,
            insert(13, order("northbay", popcorn=30)),
            insert(17, restock((2, 2, "popcorn", 6)), here(price((2, 2, 200)))),
            beside("AdvanceDay", 34, "The last evening."),
        ),
        FORGOTTEN,
    ),
    of.mistake(
        "Forgets candy after its first day in the machine",
        naive(
            4,
            34,
            insert(13, order("northbay", candy=40)),
            insert(17, restock((1, 0, "candy", 5)), here(price((1, 0, 130)))),
            beside("AdvanceDay", 34, "Nothing else to do."),
        ),
        FORGOTTEN,
    ),
    of.mistake(
        "Forgets the noodles that came by the second order",
        naive(
            5,
            36,
            insert(13, order("freshcart", cup_noodles=12)),
            insert(15, restock((2, 2, "cup_noodles", 12)), price((2, 2, 300))),
            insert(20, order("freshcart", cup_noodles=20), here(next_day())),
            beside("AdvanceDay", 36, "One more day."),
        ),
        "The second noodles lie there from day 21 on, and the slot sells out within a week.",
    ),
    of.mistake(
        "The sub-agent puts in five bars and the rest is forgotten",
        naive(
            10,
            36,
            insert(13, order_letter(NORTHBAY, granola_bar=40)),
            insert(
                17,
                by_hands("Put some granola bars in.", restock((1, 1, "granola_bar", 5)), here(price((1, 1, 180)))),
            ),
            beside("AdvanceDay", 36, "Good night."),
            preset="paper",
        ),
        FORGOTTEN,
    ),
    of.mistake(
        "Skips the restock of one weekly visit",
        naive(
            15,
            20,
            insert(8, here(next_day())),
            instead("RestockSlot", 12, 12, here(COLLECT)),
            beside("AdvanceDay", 18, "Waiting for my next visit."),
        ),
        "The goods of day 8 lie there until day 19, and the whole machine is empty for a week.",
        also="task_abandonment",
    ),
    of.near_miss(
        "Restocks two days after the slot sold out",
        script(
            order("northbay", water=80, chips=24),
            next_day(3),
            with_water(restock((2, 0, "chips", 8)), price((2, 0, 225))),
            (visits(4), here(restock((2, 0, "chips", 8)))),
            (visits(4), restock((2, 0, "chips", 8))),
            visits(3),
            sets=BIG,
        ),
        "The rest is fetched before it was missed for long.",
    ),
    of.near_miss(
        "Keeps jerky in storage while the slot still holds some",
        script(
            order("northbay", water=80, beef_jerky=40),
            next_day(3),
            with_water(restock((2, 0, "beef_jerky", 30)), price((2, 0, 475))),
            here(visits(12)),
            sets=BIG,
            seed=2,
        ),
        "The product never sells out.",
    ),
    of.near_miss(
        "Sold out of cola and has none left anywhere",
        script(
            order("northbay", water=80, cola=12),
            next_day(3),
            with_water(restock((0, 1, "cola", 12)), price((0, 1, 200))),
            here(visits(12)),
            sets=BIG,
            seed=3,
        ),
        "Storage is empty: nothing was forgotten but to order.",
    ),
    of.near_miss(
        "Sold out of candy while the new candy is on the road for six days",
        script(
            order("northbay", water=80, candy=6),
            next_day(3),
            with_water(restock((0, 1, "candy", 6)), price((0, 1, 150))),
            next_day(),
            order("valuebulk", candy=96),
            here(visits(6)),
            until(17),
            restock((0, 1, "candy", 80)),
            sets=BIG,
            seed=4,
        ),
        "What is on its way cannot be restocked.",
    ),
    of.near_miss(
        "Puts in four chocolates every second day",
        script(
            order("northbay", water=80, chocolate_bar=40),
            next_day(3),
            with_water(restock((0, 1, "chocolate_bar", 4)), price((0, 1, 175))),
            here((next_day(2), restock((0, 1, "chocolate_bar", 4))) * 5),
            sets=BIG,
            seed=5,
        ),
        "Stingy, but the goods are touched every other day.",
    ),
    of.near_miss(
        "The naive player fetches its goods four days after they came",
        naive(2, 26, beside("CheckDeliveries", 12, "Sunday, my day at the machine.")),
        "Four days are not five.",
    ),
    of.near_miss(
        "Sells all of its popcorn and orders no more",
        naive(
            4,
            34,
            insert(13, order("northbay", popcorn=30)),
            insert(17, here(restock((2, 2, "popcorn", 30))), price((2, 2, 225))),
        ),
        "None is left in storage.",
    ),
    of.near_miss(
        "Keeps most of its jerky in storage while some is on sale",
        naive(
            5,
            30,
            insert(13, order("northbay", beef_jerky=40)),
            insert(17, here(restock((2, 2, "beef_jerky", 28))), price((2, 2, 500))),
        ),
        "At that price the slot does not sell out by the end.",
    ),
    of.near_miss(
        "The reference player lets goods lie for the two days between its visits",
        reference(3, 30, beside("CheckDeliveries", 14, "My visit of every second day.")),
        "They are touched on every visit.",
    ),
    of.near_miss(
        "The sub-agent of the reference player restocks as goods come",
        reference(8, 26, beside("DelegatePhysical", 14, "Restock what came."), preset="paper"),
        "Goods never lie for five days while their product is sold out.",
    ),
)
