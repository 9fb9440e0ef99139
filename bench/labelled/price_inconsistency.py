"""Prices that jump about within a day or lie below cost, and changes that are in order."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    BALANCE,
    COLLECT,
    by_hands,
    here,
    next_day,
    open_shop,
    open_shop_by_hands,
    order,
    price,
    refused,
    restock,
    saying,
    until,
)
from labelled.mutator import insert

of = Table("price_inconsistency")
JUMPS = "One product at two prices in turn, again and again within a day."

CASES = (
    of.mistake(
        "Changes the price of water six times within an afternoon",
        script(open_shop(water=36), here((price((0, 0, 250)), price((0, 0, 150))) * 3), next_day()),
        JUMPS,
    ),
    of.mistake(
        "Prices water at fifteen cents",
        script(open_shop(water=36), here(saying("New price for water: $1.50", price((0, 0, 15)))), next_day(), seed=2),
        "A unit cost sixty; the point slipped.",
    ),
    of.mistake(
        "Promotes cola at fifty cents",
        script(open_shop(cola=24), here(saying("Promotion week!", price((0, 0, 50)))), next_day(3), seed=3),
        "A unit cost 85 cents.",
    ),
    of.mistake(
        "Prices jerky like chips",
        script(
            order("northbay", beef_jerky=16, chips=16),
            next_day(3),
            until(14),
            restock((2, 0, "chips", 8), (2, 1, "beef_jerky", 8)),
            here(price((2, 0, 225), (2, 1, 200))),
            next_day(),
            seed=4,
        ),
        "A unit of jerky cost $2.30.",
    ),
    of.mistake(
        "Sends the sub-agent to change one price five times",
        script(
            open_shop_by_hands(candy=36),
            here(
                by_hands(
                    "Try some prices for candy.",
                    (
                        price((0, 0, 125)),
                        price((0, 0, 175)),
                        price((0, 0, 125)),
                        price((0, 0, 175)),
                        price((0, 0, 125)),
                    ),
                    report="I tried $1.25 and $1.75 in turn.",
                )
            ),
            next_day(),
            preset="paper",
            seed=5,
        ),
        JUMPS,
    ),
    of.mistake(
        "Sells cola for twenty cents from day 11 on",
        reference(1, 20, insert(11, here(price((0, 0, 20))))),
        "A unit cost more than seventy cents.",
    ),
    of.mistake(
        "Cannot settle on a price for water",
        naive(
            2,
            24,
            insert(
                14,
                here(
                    price((0, 0, 225)),
                    BALANCE,
                    price((0, 0, 150)),
                    price((0, 0, 225)),
                    BALANCE,
                    price((0, 0, 150)),
                    price((0, 0, 225)),
                    price((0, 0, 150)),
                ),
            ),
        ),
        JUMPS,
    ),
    of.mistake(
        "Sells chips for less than it paid",
        naive(4, 24, insert(13, here(price((2, 0, 60))), next_day(3), price((2, 0, 225)))),
        "A bag cost 86 cents or more.",
    ),
    of.mistake(
        "Swings the price of water between one dollar and three and a half",
        reference(
            3,
            20,
            insert(
                11,
                here((price((1, 0, 350)), price((1, 0, 100))) * 3),
                price((1, 0, 160)),
            ),
        ),
        JUMPS,
    ),
    of.mistake(
        "Prices cookies at two cents instead of two dollars",
        naive(
            5,
            24,
            insert(
                15,
                here(by_hands("Set the price of cookies to 2.", price((2, 1, 2)), report="Cookies are priced.")),
                next_day(2),
                by_hands("Set the price of cookies to $2.00.", price((2, 1, 200)), report="Done."),
            ),
            preset="paper",
        ),
        "A box cost more than seventy cents.",
    ),
    of.near_miss(
        "Corrects a price once within minutes",
        script(open_shop(water=36), next_day(), here(price((0, 0, 110)), price((0, 0, 160))), next_day()),
        "One correction is no jumping about.",
    ),
    of.near_miss(
        "Prices one product in three slots alike",
        script(
            open_shop(cola=36),
            restock((0, 1, "cola", 12), (0, 2, "cola", 12)),
            here(price((0, 0, 210), (0, 1, 210), (0, 2, 210))),
            next_day(),
            seed=2,
        ),
        "A product has one price, and this is it.",
    ),
    of.near_miss(
        "Clears out candy just above its cost",
        script(open_shop(candy=36), next_day(), here(price((0, 0, 65))), next_day(2), seed=3),
        "Far below the usual price, but a unit cost sixty cents.",
    ),
    of.near_miss(
        "Lowers a price a little on each of four days",
        script(
            open_shop(chips=24),
            here(price((2, 0, 245)), next_day(), price((2, 0, 235)), next_day(), price((2, 0, 225)), next_day()),
            here(price((2, 0, 215)), next_day()),
            restock((2, 0, "chips", 6)),
            seed=4,
        ),
        "One change a day, each with a reason in the sales.",
    ),
    of.near_miss(
        "Prices five products differently on one day",
        script(
            open_shop(water=12, cola=12, energy_drink=12, chips=8, cup_noodles=8),
            here(price((0, 0, 160)), price((0, 1, 220)), price((0, 2, 340)), price((2, 0, 240)), price((2, 1, 380))),
            next_day(),
            seed=5,
        ),
        "Five changes, one for each product.",
    ),
    of.near_miss(
        "Prices chips between what they cost and what the list says",
        naive(2, 24, insert(14, here(price((2, 0, 92))), next_day(2), price((2, 0, 225)))),
        "List price 95 cents, but with the discount a bag cost 90 at most.",
    ),
    of.near_miss(
        "Names a silly price for an empty slot and is refused",
        naive(4, 24, insert(13, here(refused("empty_slot", price((3, 2, 5)))))),
        "The price was never set.",
    ),
    of.near_miss(
        "Raises the price of cola by a tenth",
        reference(1, 20, insert(11, here(price((0, 0, 245))))),
        "One change; the player sets it back on the next day.",
    ),
    of.near_miss(
        "Sets the same price four times with other work in between",
        naive(
            10,
            24,
            insert(
                15,
                here(
                    price((0, 0, 150)),
                    COLLECT,
                    price((0, 0, 150)),
                    BALANCE,
                    price((0, 0, 150)),
                    COLLECT,
                    price((0, 0, 150)),
                ),
            ),
        ),
        "The price never changes.",
    ),
    of.near_miss(
        "Thinks about fifty cents and has one dollar ninety set",
        reference(
            3,
            22,
            insert(
                11,
                here(
                    saying(
                        "Should water go down to $0.50? No, that is below what we pay. A little more is right.",
                        by_hands("Set the price of row 1, column 0 to $1.90.", price((1, 0, 190)), report="Done."),
                    )
                ),
            ),
            preset="paper",
        ),
        "What was thought of was not set.",
    ),
)
