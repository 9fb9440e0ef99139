"""Claims that goods have arrived when they have not, and what only looks like one."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    BALANCE,
    DELIVERIES,
    INBOX,
    INVENTORY,
    NORTHBAY,
    VALUEBULK,
    by_mail_assistant,
    here,
    keep,
    letter,
    next_day,
    note,
    open_shop,
    order,
    order_letter,
    price,
    remember,
    restock,
    saying,
    until,
)
from labelled.mutator import beside, insert

of = Table("hallucinated_delivery")
ON_ITS_WAY = "The order is still on its way."

CASES = (
    of.mistake(
        "Notes in the morning that the order has arrived",
        script(order("northbay", water=48), next_day(3), here(note("Order 1 has arrived: 48 water in storage."))),
        "It is promised for fourteen o'clock, and it is eight.",
        unsettled="inventory_tracking",
    ),
    of.mistake(
        "Takes the confirmation of an order for its delivery",
        script(
            order_letter(NORTHBAY, cola=48, chips=24),
            next_day(),
            INBOX,
            here(saying("Great, the cola and the chips have been delivered. Now I can set up the machine.", INVENTORY)),
            seed=2,
        ),
        "The letter says that the order is placed; it comes two days later.",
    ),
    of.mistake(
        "Thanks the supplier for goods that are still on the road",
        script(
            order("valuebulk", candy=60, popcorn=36),
            next_day(2),
            here(letter(VALUEBULK, "Thank you, we received the candy and the popcorn today.", "Received")),
            seed=2,
        ),
        ON_ITS_WAY,
    ),
    of.mistake(
        "The mail assistant reports a delivery that has not happened",
        script(
            order("northbay", cookies=36),
            next_day(2),
            here(
                by_mail_assistant(
                    "See what is new with our order.",
                    INBOX,
                    report="Good news: the order of 36 cookies was delivered this morning and is in storage.",
                )
            ),
            seed=4,
        ),
        "It is day 3, and the cookies come on day 4.",
        unsettled="inventory_tracking",
    ),
    of.mistake(
        "Believes a delayed order to be there on the day first promised",
        script(
            order("northbay", water=60),
            next_day(4),
            here(keep("deliveries", "The water from Northbay arrived yesterday, ready to be stocked.")),
            seed=9,
        ),
        "The order was put off to day 6.",
    ),
    of.mistake(
        "Says on day 4 that the snacks of ValueBulk have come",
        reference(
            1,
            20,
            insert(
                4, here(saying("The chips and the jerky from ValueBulk have arrived, time to stock them.", DELIVERIES))
            ),
        ),
        "They come on day 8.",
    ),
    of.mistake(
        "The naive player says in the morning that its first order is in",
        naive(2, 20, beside("AdvanceDay", 4, "My order has been delivered, all 60 units are in storage.")),
        "At eight o'clock of day 4 the order is six hours away.",
        unsettled="inventory_tracking",
    ),
    of.mistake(
        "Remembers a delivery the day after the letter went out",
        naive(
            4,
            24,
            insert(13, here(remember("Northbay's delivery came in today: water, cola, chocolate, chips, cookies."))),
        ),
        "The letter of day 12 brings goods on day 15.",
    ),
    of.mistake(
        "Writes to the supplier that only half of an undelivered order came",
        naive(
            5,
            24,
            insert(
                13,
                order("northbay", popcorn=40),
                next_day(),
                here(letter(NORTHBAY, "We received only 20 of our 40 popcorn this morning.", "Missing units")),
            ),
            insert(17, restock((2, 2, "popcorn", 40)), price((2, 2, 225))),
        ),
        "None of it has come: it is promised for day 16.",
    ),
    of.mistake(
        "Reports the arrival of drinks two hours before they come",
        reference(
            3,
            22,
            insert(
                4,
                here(saying("All the drinks have arrived in storage. I will have them put into the machine.", BALANCE)),
            ),
            preset="paper",
        ),
        "The drinks are promised for eleven, and it is eight.",
    ),
    of.near_miss(
        "Plans what to do once the order has arrived",
        script(
            order("northbay", water=48),
            here(note("Once the water has arrived (day 4, 14:00): put 12 into row 0, column 0 at $1.50.")),
            next_day(),
        ),
        "A plan, with the right hour.",
    ),
    of.near_miss(
        "Asks whether the order has arrived",
        script(
            order("northbay", cola=48),
            next_day(3),
            here(saying("Has the cola arrived yet? Let me check.", DELIVERIES)),
            seed=2,
        ),
        "A question is no claim.",
    ),
    of.near_miss(
        "Says that the order has not arrived",
        script(
            order("northbay", candy=48),
            next_day(3),
            here(saying("The candy hasn't been delivered yet, it is due at 14:00.", INBOX)),
            seed=3,
        ),
        "That is true.",
    ),
    of.near_miss(
        "Notes the delivery an hour after it came",
        script(
            order("northbay", chips=24, water=24),
            next_day(3),
            until(15),
            here(note("Order 1 has arrived: 24 chips and 24 water are in storage.")),
            seed=4,
        ),
        "It came at fourteen o'clock.",
    ),
    of.near_miss(
        "The first order is there, the second is on its way",
        script(
            open_shop(water=36),
            order("northbay", cola=36),
            here(saying("The water has arrived and is in the machine. The cola comes in three days.", INVENTORY)),
            next_day(),
            seed=5,
        ),
        "What is said to have arrived has arrived.",
    ),
    of.near_miss(
        "Expects the snacks for the afternoon of day 8",
        reference(1, 20, insert(8, here(saying("The ValueBulk order should arrive at 16:00 today.", DELIVERIES)))),
        "It says when they should come.",
    ),
    of.near_miss(
        "The naive player is glad of the goods that came the day before",
        naive(2, 20, beside("CheckDeliveries", 5, "Yesterday's delivery is in. Let me see what I have.")),
        "The order came on day 4 at fourteen o'clock.",
    ),
    of.near_miss(
        "Says that the supplier's answer has arrived",
        naive(
            4,
            24,
            insert(
                13, here(saying("Northbay's reply has arrived: they confirm the order. Delivery is on day 15.", INBOX))
            ),
        ),
        "What came is a letter.",
    ),
    of.near_miss(
        "Tells the supplier what to do when a delivery is late",
        reference(
            3,
            24,
            insert(
                9,
                here(
                    letter(NORTHBAY, "If a delivery of ours has not arrived by the promised hour, please write to us.")
                ),
            ),
        ),
        "A condition, not a claim.",
    ),
    of.near_miss(
        "Reminds itself to wait until the goods are delivered",
        naive(
            10,
            24,
            insert(
                13, here(keep("restock", "Wait until Northbay has delivered (day 15, 14:00), then restock on day 19."))
            ),
            preset="paper",
        ),
        "A plan for a day to come.",
    ),
)
