"""The same refused or fruitless action four times running, and what only looks like it."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    BALANCE,
    COLLECT,
    DELIVERIES,
    INBOX,
    INVENTORY,
    NORTHBAY,
    NOTEPAD,
    by_mail_assistant,
    clear,
    here,
    letter,
    next_day,
    note,
    open_shop,
    order,
    price,
    refused,
    restock,
    saying,
    search,
    until,
)
from labelled.mutator import insert

of = Table("loop_behavior")

CASES = (
    of.mistake(
        "Prices an empty slot five times in a row",
        script(here(refused("empty_slot", (price((0, 0, 150)),) * 5))),
        "Five times the same refusal, with nothing done about it.",
    ),
    of.mistake(
        "Puts snacks into a row for drinks again and again",
        script(
            open_shop(chips=24),
            here(
                refused(
                    "wrong_size",
                    saying("Restocking chips.", restock((0, 0, "chips", 4))),
                    (restock((0, 0, "chips", 4)),) * 3,
                    saying("It must work now.", restock((0, 0, "chips", 4))),
                )
            ),
            seed=2,
        ),
        "The refusal says each time that the row is for small items.",
    ),
    of.mistake(
        "Reads its empty mail box six times on one afternoon",
        script(order("northbay", water=36), here((INBOX,) * 6), seed=3),
        "Answers come the next morning: five of the looks could show nothing new.",
    ),
    of.mistake(
        "Asks for the balance four times without doing anything",
        script(open_shop(cola=24), here((BALANCE,) * 4), next_day(), seed=4),
        "Nothing happened in between that could have changed it.",
    ),
    of.mistake(
        "Clears the same empty slot over and over",
        script(open_shop(water=36), here(refused("empty_slot", (clear(3, 2),) * 4)), INVENTORY, seed=5),
        "The slot holds nothing, and four refusals say so.",
    ),
    of.mistake(
        "The reference player is caught looking at the deliveries eight times",
        reference(1, 20, insert(9, here((DELIVERIES,) * 8))),
        "Nothing is on its way on day 9, and eight looks within forty minutes find the same.",
    ),
    of.mistake(
        "The naive player is made to overfill a slot five times",
        naive(2, 24, insert(16, here(refused("full", (restock((0, 0, "water", 40)),) * 5)))),
        "Each time the refusal tells how many units still fit.",
    ),
    of.mistake(
        "Tries a supplier that does not sell noodles four times",
        naive(4, 24, insert(13, here(refused("not_sold", (order("ggbev", cup_noodles=24),) * 4)))),
        "The refusal lists what the supplier sells.",
    ),
    of.mistake(
        "Searches the web for the same words five times running",
        reference(6, 20, insert(11, here((search("how to sell more snacks from a vending machine"),) * 5))),
        "The same query always finds the same pages.",
    ),
    of.mistake(
        "Collects from the empty till four times on one morning",
        reference(3, 24, insert(12, COLLECT, here((COLLECT,) * 4))),
        "The first took all there was; before midnight no more comes.",
    ),
    of.near_miss(
        "Meets four different refusals in a row",
        script(
            open_shop(water=36),
            here(
                refused("full", restock((0, 0, "water", 12))),
                refused("wrong_size", restock((2, 0, "water", 8))),
                refused("empty_slot", price((0, 1, 150))),
                refused("no_slot", clear(7, 0)),
            ),
            restock((0, 1, "water", 12)),
        ),
        "Clumsy, but each time something else is tried.",
    ),
    of.near_miss(
        "Tries the same three times and then reads what was said",
        script(
            open_shop(chips=24),
            here(refused("wrong_size", (restock((0, 0, "chips", 4)),) * 3)),
            INVENTORY,
            restock((2, 1, "chips", 4)),
            seed=2,
        ),
        "Three times running are not four.",
    ),
    of.near_miss(
        "Lets seven days pass while the machine sells",
        script(open_shop(water=12, cola=12, chips=8), here(next_day(7)), COLLECT, seed=3),
        "Each day is a new one, with sales and a notice; waiting is what there is to do.",
    ),
    of.near_miss(
        "Reads its mail every morning for a week",
        script(open_shop(cola=12, candy=12, water=12), here((next_day(), INBOX) * 6), seed=4),
        "There is a day between two looks.",
    ),
    of.near_miss(
        "Writes four letters to one supplier, each about something else",
        script(
            here(
                letter(NORTHBAY, "Hello, please send us your price list."),
                letter(NORTHBAY, "Could you quote 48 units of water and 48 units of cola?"),
                letter(NORTHBAY, "And could you quote 24 units of chips, please?"),
                letter(NORTHBAY, "Do you sell popcorn, and what would 24 units cost?"),
            ),
            next_day(),
            INBOX,
            seed=5,
        ),
        "Four letters with four questions.",
    ),
    of.near_miss(
        "Fills four slots by four actions",
        reference(
            1,
            20,
            insert(
                4,
                until(11),
                here(
                    restock((0, 0, "cola", 12)),
                    restock((0, 1, "energy_drink", 12)),
                    restock((1, 0, "water", 12)),
                    restock((1, 1, "cola", 12)),
                ),
            ),
        ),
        "The same verb, four slots, and every one takes effect.",
    ),
    of.near_miss(
        "The naive player waits from one weekly visit to the next",
        naive(5, 35, insert(20, here(saying("Nothing to do until the next delivery.", next_day())))),
        "Days pass and goods are sold: no action of these is fruitless.",
    ),
    of.near_miss(
        "Looks four times, at something else each time",
        reference(2, 20, insert(10, here(BALANCE, DELIVERIES, INVENTORY, NOTEPAD, BALANCE, DELIVERIES))),
        "A round of looks in the morning, no two of them in a row the same.",
    ),
    of.near_miss(
        "Adds four different lines to the notepad",
        naive(
            10,
            20,
            insert(
                8,
                here(
                    note("Northbay delivers three days after the letter, at 14:00."),
                    note("Visit the machine on Sundays.", append=True),
                    note("Small items go into rows 0 and 1.", append=True),
                    note("Large items go into rows 2 and 3.", append=True),
                ),
            ),
        ),
        "Each note is new.",
    ),
    of.near_miss(
        "The mail assistant is called three times with the same task",
        reference(
            4,
            25,
            insert(9, here(by_mail_assistant("Read the mail.", INBOX, report="No letter asks for anything."))),
            insert(12, here(by_mail_assistant("Read the mail.", INBOX, report="No letter asks for anything."))),
            insert(15, here(by_mail_assistant("Read the mail.", INBOX, report="No letter asks for anything."))),
        ),
        "Days lie between the tasks, and the mail box is another each time.",
    ),
)
