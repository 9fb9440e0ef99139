"""Restocks of goods that are not owned, and what only looks like one."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    DELIVERIES,
    INVENTORY,
    STORAGE,
    by_hands,
    clear,
    here,
    next_day,
    open_shop,
    order,
    price,
    refused,
    restock,
    saying,
    until,
)
from labelled.mutator import insert

of = Table("phantom_inventory")
NONE = "Storage holds none, none is in the machine and none is on its way."

CASES = (
    of.mistake(
        "Restocks cola on the first morning without having bought any",
        script(here(refused("no_stock", restock((0, 0, "cola", 12)))), next_day()),
        NONE,
    ),
    of.mistake(
        "Bought water and restocks candy",
        script(open_shop(water=36), here(refused("no_stock", restock((0, 1, "candy", 12)))), seed=2),
        NONE,
    ),
    of.mistake(
        "Puts in twelve where eight are left",
        script(open_shop(cola=32), here(refused("no_stock", restock((0, 1, "cola", 12), (0, 2, "cola", 12)))), seed=3),
        "Twenty are left in storage: four of the 24 that are to go in nobody ever bought.",
    ),
    of.mistake(
        "The sub-agent is sent to restock jerky that nobody bought",
        script(
            by_hands(
                "Fill row 2, column 0 with 8 beef jerky.",
                here(refused("no_stock", restock((2, 0, "beef_jerky", 8)))),
                report="Storage holds no beef jerky.",
            ),
            next_day(),
            preset="paper",
            seed=4,
        ),
        NONE,
    ),
    of.mistake(
        "Fills the machine twice with the same goods",
        script(
            open_shop(chips=24),
            here(
                saying("Next slot.", restock((2, 1, "chips", 8))),
                restock((2, 2, "chips", 8)),
                refused("no_stock", saying("And the last row.", restock((3, 0, "chips", 8)))),
            ),
            seed=5,
        ),
        "All 24 chips are in the machine by then; storage holds none.",
    ),
    of.mistake(
        "The reference player is made to restock sandwiches it never ordered",
        reference(1, 20, insert(6, here(refused("no_stock", restock((3, 1, "sandwich", 4)))))),
        NONE,
    ),
    of.mistake(
        "Restocks gum and granola in the belief that they were delivered last week",
        naive(
            2,
            24,
            insert(14, here(refused("no_stock", restock((1, 0, "chewing_gum", 20), (1, 1, "granola_bar", 20))))),
        ),
        NONE,
    ),
    of.mistake(
        "Orders forty, puts in a hundred",
        naive(
            4,
            24,
            insert(13, order("northbay", popcorn=40)),
            insert(
                17,
                here(refused("no_stock", restock((2, 2, "popcorn", 40), (3, 0, "popcorn", 40), (3, 1, "popcorn", 20)))),
                restock((2, 2, "popcorn", 40)),
                price((2, 2, 225)),
            ),
        ),
        "Forty came, and nothing more is on its way.",
    ),
    of.mistake(
        "The sub-agent restocks salads out of nothing",
        reference(
            3,
            22,
            insert(
                6,
                by_hands(
                    "Put 6 salad into row 3, column 1.",
                    here(refused("no_stock", restock((3, 1, "salad", 6)))),
                    report="There is no salad in storage.",
                ),
            ),
            preset="paper",
        ),
        NONE,
    ),
    of.mistake(
        "Believes that candy of two weeks ago is still in storage",
        naive(
            5,
            30,
            insert(13, order("northbay", candy=36)),
            insert(17, restock((1, 0, "candy", 36)), price((1, 0, 75))),
            insert(27, here(refused("no_stock", restock((1, 1, "candy", 36))))),
        ),
        "All candy went into the machine ten days ago.",
    ),
    of.near_miss(
        "Restocks exactly what storage holds",
        script(open_shop(water=36), here(restock((0, 1, "water", 12), (0, 2, "water", 12))), STORAGE, seed=1),
        "Twenty-four were there, and 24 were moved.",
    ),
    of.near_miss(
        "Clears a slot and restocks its goods elsewhere",
        script(
            open_shop(chips=8, water=12, cola=12),
            clear(2, 0),
            here(restock((3, 0, "chips", 8))),
            price((3, 0, 225)),
            seed=2,
        ),
        "The chips went back to storage and came from there.",
    ),
    of.near_miss(
        "Restocks too early what it has bought",
        script(
            order("northbay", candy=40),
            next_day(3),
            here(refused("not_there_yet", restock((0, 0, "candy", 12)))),
            until(14),
            restock((0, 0, "candy", 12)),
            price((0, 0, 150)),
            seed=3,
        ),
        "The goods are owned and on their way: that is a matter of the schedule.",
        holds="schedule_confusion",
    ),
    of.near_miss(
        "Overfills a slot with goods that it has",
        script(
            open_shop(cola=36), here(refused("full", restock((0, 1, "cola", 24)))), restock((0, 1, "cola", 12)), seed=4
        ),
        "Storage holds 24; the slot takes twelve.",
    ),
    of.near_miss(
        "Writes a product's name in another way",
        script(
            open_shop(chocolate_bar=24, chips=24),
            here(restock((0, 1, "Chocolate Bars", 12), (2, 1, "Potato Chips", 8))),
            seed=5,
        ),
        "Names are understood in any spelling, and the goods are there.",
    ),
    of.near_miss(
        "Restocks drinks an hour after they came, without looking first",
        reference(
            1,
            20,
            insert(4, until(12), here(saying("The drinks were due at 11.", restock((1, 0, "water", 12))))),
        ),
        "They have come indeed.",
    ),
    of.near_miss(
        "Tries a slot for small items with noodles that lie in storage",
        reference(
            2,
            20,
            insert(4, DELIVERIES, here(refused("wrong_size", restock((0, 2, "cup_noodles", 4))))),
        ),
        "The noodles came the day before; the refusal is about the slot.",
    ),
    of.near_miss(
        "Moves cookies between slots by way of the storage",
        naive(10, 24, insert(14, clear(2, 1), here(restock((3, 0, "cookies", 5))), INVENTORY)),
        "What was cleared is in storage and can be put in again.",
    ),
    of.near_miss(
        "Sends the sub-agent for goods that came yesterday",
        naive(
            15,
            24,
            insert(
                5,
                by_hands(
                    "Put 12 cola into row 1, column 1 and price it at $2.00.",
                    here(restock((1, 1, "cola", 12))),
                    price((1, 1, 200)),
                    report="Done: 12 Cola, priced $2.00.",
                ),
            ),
            preset="paper",
        ),
        "Storage holds twelve colas since yesterday afternoon.",
    ),
    of.near_miss(
        "Plans to restock what it does not have",
        naive(
            19,
            24,
            insert(
                9,
                here(
                    saying(
                        "Next month I want to restock salads in row 3, 8 of them. I must order some first.", INVENTORY
                    )
                ),
            ),
        ),
        "A plan is no restock.",
    ),
)
