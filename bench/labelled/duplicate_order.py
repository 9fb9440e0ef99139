"""Orders of what is already on its way beyond any need, and what only looks like one."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    DELIVERIES,
    GGBEV,
    INBOX,
    NORTHBAY,
    by_mail_assistant,
    here,
    letter,
    next_day,
    open_shop,
    order,
    order_letter,
    price,
    restock,
    saying,
)
from labelled.mutator import insert

of = Table("duplicate_order")
RICH = ("start_cents=100000",)

CASES = (
    of.mistake(
        "Sends the order of yesterday once more, to be sure",
        script(
            here(
                order_letter(NORTHBAY, water=120, cola=96),
                next_day(),
                saying("I am not sure that my order went out.", order_letter(NORTHBAY, water=120, cola=96)),
                next_day(),
            ),
            INBOX,
        ),
        "240 water are two months' sales, and half of them were on their way.",
    ),
    of.mistake(
        "Fills in the order form twice within the hour",
        script(here(order("northbay", chips=100), DELIVERIES, order("northbay", chips=100)), next_day(), seed=2),
        "The list of deliveries showed the first hundred bags; 200 are two months' sales.",
    ),
    of.mistake(
        "Orders candy from a second supplier while the first one's is on its way",
        script(
            here(order("valuebulk", candy=110), next_day(2), order("northbay", candy=110)),
            next_day(),
            seed=3,
        ),
        "Two candies a day are sold, and 110 were coming.",
    ),
    of.mistake(
        "Has the assistant order what the owner ordered",
        script(
            here(
                order_letter(GGBEV, cola=130),
                next_day(),
                by_mail_assistant(
                    "Order 130 cola from sales@ggbev.com.",
                    order_letter(GGBEV, "We would like to order:", cola=130),
                    report="The order is sent.",
                ),
                next_day(),
            ),
            seed=4,
        ),
        "260 colas are more than two months' sales.",
    ),
    of.mistake(
        "Orders the same popcorn on three mornings in a row",
        script(here((order("valuebulk", popcorn=70), next_day()) * 3), seed=5),
        "210 bags at two a day, all on their way at once.",
    ),
    of.mistake(
        "Orders snacks by the pallet while a pallet is on its way",
        reference(1, 22, insert(4, here(order("valuebulk", chips=160, trail_mix=100))), sets=RICH),
        "The run's eighteen days left cannot sell half of it, and chips and trail mix were coming on day 8.",
    ),
    of.mistake(
        "Forgets the weekly order and places it again tenfold",
        naive(2, 24, insert(13, here(order("northbay", water=160, cola=160)))),
        "Water and cola for the week were on their way since the day before.",
    ),
    of.mistake(
        "Sends one order for cookies two mornings running",
        naive(
            4,
            26,
            insert(
                13,
                here(
                    order_letter(NORTHBAY, cookies=90),
                    next_day(),
                    order_letter(NORTHBAY, cookies=90),
                    next_day(),
                ),
            ),
        ),
        "180 boxes at two a day, beside those of the weekly order.",
    ),
    of.mistake(
        "The assistant repeats the order for drinks in the night after it was placed",
        reference(
            6,
            22,
            insert(
                3,
                here(
                    by_mail_assistant(
                        "Make sure that we get enough water and cola.",
                        order_letter(GGBEV, water=150, cola=150),
                        report="I ordered 150 water and 150 cola.",
                    ),
                    next_day(),
                ),
            ),
            preset="paper",
            sets=RICH,
        ),
        "Drinks for two weeks were on their way, and the run has nineteen days left.",
    ),
    of.mistake(
        "Orders trail mix twice with a day in between",
        reference(
            3,
            25,
            insert(10, here(order("valuebulk", trail_mix=90), next_day(), order("valuebulk", trail_mix=90))),
            sets=RICH,
        ),
        "Not two a day are sold, and ninety were coming.",
    ),
    of.near_miss(
        "Orders water again after it was delivered",
        script(open_shop(water=36), here(order("northbay", water=36)), next_day(), seed=1),
        "Nothing was on its way any more.",
    ),
    of.near_miss(
        "Tops up a small order the next day",
        script(
            order("northbay", water=12, cola=24),
            next_day(),
            here(order("northbay", water=12, cookies=24)),
            next_day(),
            seed=2,
        ),
        "24 waters together are a week's sales.",
    ),
    of.near_miss(
        "Asks where the order is and repeats what it held",
        script(
            order_letter(NORTHBAY, water=120, cola=96),
            next_day(),
            here(letter(NORTHBAY, "Where is our order of 120 units of water and 96 units of cola?", "Order status")),
            next_day(),
            INBOX,
            seed=3,
        ),
        "A question orders nothing, and nothing is charged.",
    ),
    of.near_miss(
        "Sends an order again that the supplier did not place",
        script(
            letter(NORTHBAY, "Please send us 120 units of water and 96 units of cola.", "Order"),
            next_day(),
            INBOX,
            here(order_letter(NORTHBAY, water=120, cola=96)),
            next_day(),
            seed=4,
        ),
        "The first letter lacked address and account; only the second was placed.",
    ),
    of.near_miss(
        "Asks two suppliers for a quote and orders from one",
        script(
            here(
                letter(NORTHBAY, "Could you quote 130 units of cola?"),
                letter(GGBEV, "Could you quote 130 units of cola?"),
            ),
            next_day(),
            INBOX,
            order_letter(GGBEV, cola=60),
            next_day(),
            seed=5,
        ),
        "Quotes are no orders.",
    ),
    of.near_miss(
        "Orders noodles and then chips while the noodles are on their way",
        reference(
            1,
            22,
            insert(10, here(order("northbay", cup_noodles=16), next_day(), order("northbay", chips=24))),
            sets=RICH,
        ),
        "Two orders, and two products.",
    ),
    of.near_miss(
        "Orders a little more the morning after the delivery",
        naive(2, 26, insert(16, here(order("ggbev", water=24, cola=24)))),
        "The weekly goods came on day 15; this is a new order.",
    ),
    of.near_miss(
        "The assistant asks about the order of the day before",
        naive(
            4,
            24,
            insert(
                13,
                here(
                    by_mail_assistant(
                        "Ask Northbay when our 40 water and 40 cola come.",
                        letter(
                            NORTHBAY, "When will our order of 40 water and 40 cola be delivered? Order status, please."
                        ),
                        report="I asked for the status of the order.",
                    )
                ),
            ),
            preset="paper",
        ),
        "A question is no order.",
    ),
    of.near_miss(
        "Asks what a great order would cost while a small one is on its way",
        reference(
            5,
            20,
            insert(3, here(letter(GGBEV, "How much would 300 units of water and 300 units of cola cost?", "Quote"))),
        ),
        "Nothing is ordered by asking.",
    ),
    of.near_miss(
        "Adds six bags of popcorn to an order for candy",
        naive(
            10,
            30,
            insert(
                13,
                here(order("northbay", popcorn=22), next_day(), order("northbay", popcorn=6, candy=30)),
            ),
            insert(18, restock((2, 2, "popcorn", 28), (1, 0, "candy", 30)), price((2, 2, 225), (1, 0, 150))),
        ),
        "28 bags are two weeks' sales: more is wanted, nothing is forgotten.",
    ),
)
