"""Restocks before the promised hour, and what only looks like one."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    DELIVERIES,
    INBOX,
    INVENTORY,
    NORTHBAY,
    STORAGE,
    by_hands,
    clear,
    here,
    next_day,
    open_shop,
    order,
    order_letter,
    price,
    refused,
    restock,
    saying,
    until,
)
from labelled.mutator import beside, insert

of = Table("schedule_confusion")
EARLY = "Goods come at the promised hour of that day and not in the morning."

CASES = (
    of.mistake(
        "Restocks at eight what is promised for fourteen the same day",
        script(
            order("northbay", water=24, cola=24),
            next_day(3),
            here(refused("not_there_yet", restock((0, 0, "water", 12), (0, 1, "cola", 12)))),
        ),
        EARLY,
    ),
    of.mistake(
        "Waits until noon and restocks two hours too soon",
        script(
            order("northbay", chips=24),
            next_day(3),
            until(12),
            here(refused("not_there_yet", saying("Time to fill the machine.", restock((2, 0, "chips", 8))))),
            seed=2,
        ),
        EARLY,
    ),
    of.mistake(
        "Restocks on the day before the delivery",
        script(
            order_letter(NORTHBAY, candy=30, cookies=20),
            next_day(),
            INBOX,
            next_day(),
            here(refused("not_there_yet", restock((0, 0, "candy", 12)))),
            seed=3,
        ),
        "The order of day 1 is promised for day 4, and it is day 3.",
    ),
    of.mistake(
        "Reads that the order is delayed and restocks before the new hour",
        script(
            order("northbay", water=36),
            next_day(4),
            INBOX,
            here(refused("not_there_yet", restock((0, 0, "water", 12)))),
            seed=9,
        ),
        "The delay letter named day 6, and it is day 5.",
    ),
    of.mistake(
        "Restocks in the morning where the clock only knows mornings",
        script(
            order("ggbev", cola=40),
            next_day(2),
            here(refused("not_there_yet", saying("Restocking.", restock((0, 0, "cola", 12))))),
            next_day(),
            restock((0, 0, "cola", 12)),
            price((0, 0, 200)),
            sets=("tool_time=false",),
        ),
        "On a pure day clock the goods of a day are usable the next morning.",
    ),
    of.mistake(
        "The reference player is made to restock water three hours before it comes",
        reference(1, 20, insert(4, here(refused("not_there_yet", restock((1, 0, "water", 12)))))),
        EARLY,
    ),
    of.mistake(
        "The naive player is made to fill the machine on the morning of its first delivery",
        naive(2, 20, insert(4, here(refused("not_there_yet", restock((0, 0, "water", 12), (2, 0, "chips", 8)))))),
        EARLY,
    ),
    of.mistake(
        "Orders popcorn beside the naive player's goods and restocks it a day too soon",
        naive(
            4,
            24,
            insert(13, order("northbay", popcorn=24)),
            insert(15, here(refused("not_there_yet", restock((2, 2, "popcorn", 24))))),
            insert(17, restock((2, 2, "popcorn", 24)), price((2, 2, 225))),
        ),
        "What is ordered on day 13 is promised for day 16.",
    ),
    of.mistake(
        "Sends the sub-agent to the machine before the delivery hour",
        reference(
            5,
            22,
            insert(
                4,
                by_hands(
                    "Please put 12 cola into row 0, column 0.",
                    here(refused("not_there_yet", restock((0, 0, "cola", 12)))),
                    report="I could not restock: storage holds no cola.",
                ),
            ),
            preset="paper",
        ),
        EARLY,
    ),
    of.mistake(
        "Restocks more popcorn than has come while the rest is on its way",
        reference(
            3,
            25,
            insert(3, order("northbay", popcorn=24)),
            insert(4, order("northbay", popcorn=10, cup_noodles=10)),
            insert(7, here(refused("not_there_yet", restock((3, 1, "popcorn", 30))))),
            insert(8, restock((3, 1, "popcorn", 30)), price((3, 1, 225))),
            sets=("large_capacity=30",),
        ),
        "24 have come, ten more are promised for fourteen o'clock, and 30 are to go into the slot at eight.",
    ),
    of.near_miss(
        "Waits for the delivery hour and restocks",
        script(
            order("northbay", water=24, cola=24),
            next_day(3),
            until(14),
            here(restock((0, 0, "water", 12), (0, 1, "cola", 12))),
            price((0, 0, 150), (0, 1, 200)),
        ),
        "At fourteen o'clock the goods are there.",
    ),
    of.near_miss(
        "Looks at the deliveries in the morning and plans to come back",
        script(
            order("northbay", chips=24),
            next_day(3),
            here(saying("The chips are due at 14:00 today. I will wait and restock then.", DELIVERIES)),
            until(15),
            restock((2, 0, "chips", 8)),
            price((2, 0, 225)),
            seed=2,
        ),
        "A look is no restock, and the plan is right.",
    ),
    of.near_miss(
        "Puts more into a slot than fits, after the delivery",
        script(
            open_shop(water=36),
            here(refused("full", restock((0, 0, "water", 12)))),
            restock((0, 1, "water", 12)),
            seed=3,
        ),
        "The goods are there; the slot is full.",
    ),
    of.near_miss(
        "Restocks what storage holds while more of it is on its way",
        script(
            open_shop(cola=30),
            order("northbay", cola=24),
            next_day(),
            here(restock((0, 1, "cola", 12))),
            seed=4,
        ),
        "Eighteen colas lie in storage, so twelve can be moved whatever else is coming.",
    ),
    of.near_miss(
        "Puts chips into a slot for small items while chips are on their way",
        script(
            open_shop(chips=12, water=24),
            order("northbay", chips=12, cola=12),
            here(refused("wrong_size", restock((0, 1, "chips", 4)))),
            restock((2, 1, "chips", 4)),
            seed=5,
        ),
        "The refusal is about the size of the slot; four chips lie in storage.",
    ),
    of.near_miss(
        "The reference player says what it waits for",
        reference(
            1, 20, beside("WaitUntil", 5, "The truck should be here this afternoon, so I wait before I restock.")
        ),
        "It waits for the hour and restocks then.",
    ),
    of.near_miss(
        "Waits until eleven for the drinks and restocks at once",
        reference(
            2, 20, insert(4, until(11), here(restock((1, 0, "water", 12), (0, 0, "cola", 12))), price((1, 0, 160)))
        ),
        "The drinks are promised for eleven and have come.",
    ),
    of.near_miss(
        "Tries a slot that another product holds while its goods lie in storage",
        naive(
            10,
            24,
            insert(14, order("northbay", popcorn=24)),
            insert(
                18,
                STORAGE,
                here(refused("slot_taken", restock((2, 0, "popcorn", 24)))),
                INVENTORY,
                restock((2, 2, "popcorn", 24)),
                price((2, 2, 225)),
            ),
        ),
        "The popcorn came the day before; the slot is the chips'.",
    ),
    of.near_miss(
        "Sends the sub-agent after the delivery hour",
        naive(
            15,
            20,
            insert(
                4,
                until(14),
                by_hands(
                    "Put 12 water into row 0, column 0.",
                    here(restock((0, 0, "water", 12))),
                    report="Put 12 Water into row 0, column 0.",
                ),
            ),
            preset="paper",
        ),
        "The hour has come, and so have the goods.",
    ),
    of.near_miss(
        "Takes chocolate out of a slot and puts it back while an order is on its way",
        naive(19, 24, insert(14, here(clear(0, 2)), here(restock((0, 2, "chocolate_bar", 5))))),
        "The units come from the slot that was cleared, not from the delivery.",
    ),
)
