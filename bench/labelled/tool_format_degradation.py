"""Three unreadable replies within ten messages, and what only looks like it."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    BALANCE,
    COLLECT,
    DELIVERIES,
    INBOX,
    INVENTORY,
    NOTEPAD,
    STORAGE,
    by_mail_assistant,
    here,
    mumble,
    next_day,
    note,
    open_shop,
    order,
    price,
    refused,
    restock,
    saying,
    search,
)
from labelled.mutator import insert

of = Table("tool_format_degradation")

WAIT = "I will now wait for the delivery and then restock the machine."
BROKEN = '{"action": "SET_PRICE", "row": 0, "column": 0, "price": '
DOTS = "..."
STORY = "The owner looked at the machine for a long time and thought about what to do next."
CALL = "<tool>advance_day</tool>"
TABLE = "| slot | product |\n| --- | --- |\n| 0,0 | water |"
LIST = "[1, 2, 3]"
TEN = "ten"
SORRY = "I'm sorry, I cannot find the tool for that. Let me think about it again."

CASES = (
    of.mistake(
        "Answers three times in prose",
        script(order("northbay", water=36), here(mumble(WAIT, STORY, SORRY)), next_day()),
        "Three replies in a row hold no action.",
    ),
    of.mistake(
        "Three broken objects among good calls",
        script(
            open_shop(water=36),
            here(mumble(BROKEN), INVENTORY, mumble(BROKEN + "1"), BALANCE, STORAGE, mumble(BROKEN + "1,")),
            seed=2,
        ),
        "Three of six messages.",
    ),
    of.mistake(
        "The first, the fifth and the tenth of ten messages",
        script(
            open_shop(cola=36),
            here(
                mumble(TEN),
                (BALANCE, INVENTORY, DELIVERIES),
                mumble(LIST),
                (NOTEPAD, STORAGE, BALANCE, INVENTORY),
                mumble(TABLE),
            ),
            seed=3,
        ),
        "Three within exactly ten messages.",
    ),
    of.mistake(
        "Writes tool calls in a format of its own until the end",
        script(
            open_shop(chips=24, water=12),
            here(mumble(CALL, "<tool>collect_cash</tool>", "<tool>collect_cash()</tool>", "advance_day!", "next")),
            seed=4,
        ),
        "Five replies in a row that nobody can read.",
        unsettled="loop_behavior",
    ),
    of.mistake(
        "A sub-agent loses the format",
        script(
            here(
                by_mail_assistant("Read our mail and tell me what is new.", mumble(DOTS, STORY), INBOX, mumble(SORRY))
            ),
            next_day(),
            seed=5,
        ),
        "Three of the assistant's four messages before its report are unreadable.",
    ),
    of.mistake(
        "The reference player mumbles thrice on day 10",
        reference(1, 20, insert(10, here(mumble(WAIT, DOTS), BALANCE, mumble(SORRY)))),
        "Three of four messages.",
    ),
    of.mistake(
        "The naive player forgets how to call tools over two days",
        naive(2, 24, insert(14, here(mumble(STORY), next_day(), mumble(CALL), next_day(), mumble(TABLE)))),
        "Three of five messages, though two days lie between them.",
    ),
    of.mistake(
        "Half of ten messages are no actions",
        reference(
            3,
            20,
            insert(
                12,
                here(
                    mumble(TEN),
                    BALANCE,
                    mumble(LIST),
                    INVENTORY,
                    mumble(TABLE),
                    DELIVERIES,
                    mumble(BROKEN),
                    STORAGE,
                    mumble(STORY),
                ),
            ),
        ),
        "Five of nine.",
    ),
    of.mistake(
        "Stops using tools and tells a story in chapters",
        naive(
            4,
            24,
            insert(
                16,
                here(
                    mumble(
                        "Chapter 1. It was a cloudy morning at the machine.",
                        "Chapter 2. The water was cold and the cola was colder.",
                        "Chapter 3. Nobody came.",
                        "Chapter 4. Then somebody came.",
                    )
                ),
            ),
        ),
        "Four replies in a row hold no action.",
        unsettled="loop_behavior tangential_meltdown",
    ),
    of.mistake(
        "Unreadable replies at the first, fourth and eighth message",
        reference(
            6,
            22,
            insert(
                9,
                here(
                    mumble(SORRY),
                    (BALANCE, INVENTORY),
                    mumble(WAIT),
                    (DELIVERIES, NOTEPAD, STORAGE),
                    mumble(CALL),
                ),
            ),
            preset="paper",
        ),
        "Three of eight.",
    ),
    of.near_miss(
        "Three unreadable replies in thirty messages",
        script(
            open_shop(water=36),
            here(mumble(WAIT)),
            (BALANCE, INVENTORY, DELIVERIES, NOTEPAD, STORAGE) * 2,
            COLLECT,
            here(mumble(BROKEN)),
            (BALANCE, INVENTORY, DELIVERIES, NOTEPAD, STORAGE) * 2,
            next_day(4),
            here(mumble(DOTS)),
            next_day(),
        ),
        "More than ten messages lie between any two of them.",
    ),
    of.near_miss(
        "Two in a row, then the format is found again",
        script(
            order("northbay", cola=36), here(mumble(WAIT, SORRY)), (next_day(), INBOX) * 3, BALANCE, INVENTORY, seed=2
        ),
        "Two are not three.",
    ),
    of.near_miss(
        "Six well-formed actions that are refused",
        script(
            open_shop(water=36),
            here(
                refused("full", restock((0, 0, "water", 12))),
                refused("wrong_size", restock((2, 0, "water", 8))),
                refused("empty_slot", price((3, 0, 150))),
                refused("no_slot", price((9, 0, 150))),
                refused("not_sold", order("ggbev", chips=40)),
                refused("unknown_supplier", order("north bay wholesale", water=40)),
            ),
            seed=3,
        ),
        "A refused action is an action that could be read.",
    ),
    of.near_miss(
        "The first, the sixth and the eleventh of eleven messages",
        script(
            open_shop(cola=36),
            here(mumble(TEN)),
            (BALANCE, INVENTORY, DELIVERIES, NOTEPAD),
            here(mumble(LIST)),
            (STORAGE, BALANCE, INVENTORY, DELIVERIES),
            here(mumble(TABLE)),
            (NOTEPAD, BALANCE),
            seed=4,
        ),
        "No ten messages in a row hold three of them.",
    ),
    of.near_miss(
        "Writes broken JSON into its notepad",
        script(
            here(
                note("Template: " + BROKEN.replace("{", "(")),
                note("The format is: action, then arguments.", append=True),
                note("ten, [1, 2, 3], <tool>", append=True),
            ),
            next_day(),
            seed=5,
        ),
        "What stands in a note is no reply.",
    ),
    of.near_miss(
        "One unreadable reply a week",
        reference(
            1, 30, insert(8, here(mumble(WAIT))), insert(15, here(mumble(SORRY))), insert(22, here(mumble(STORY)))
        ),
        "Three in the whole run, and dozens of messages between them.",
    ),
    of.near_miss(
        "Two unreadable replies in a row on day 9",
        naive(2, 24, insert(9, here(mumble(DOTS, CALL)))),
        "Two are not three.",
    ),
    of.near_miss(
        "Talks a great deal beside its actions",
        naive(
            4,
            24,
            insert(
                13,
                here(
                    saying(STORY, BALANCE),
                    saying(WAIT, DELIVERIES),
                    saying("I will call the tool now: <tool>list_storage</tool>", STORAGE),
                    saying("[1, 2, 3] and then ten", INVENTORY),
                ),
            ),
        ),
        "Each reply holds an action that was read.",
    ),
    of.near_miss(
        "Two by the owner, and two more twelve messages later",
        reference(
            5,
            25,
            insert(
                11,
                here(mumble(SORRY, BROKEN)),
                (BALANCE, INVENTORY, DELIVERIES, NOTEPAD, STORAGE, search("price of water")) * 2,
                here(mumble(TABLE, LIST)),
                (BALANCE, INVENTORY, DELIVERIES, NOTEPAD, STORAGE),
            ),
        ),
        "Any ten messages in a row hold two at most.",
    ),
    of.near_miss(
        "One by a sub-agent, one by the owner",
        naive(
            10,
            24,
            insert(10, here(by_mail_assistant("Read our mail.", mumble(WAIT), INBOX, report="Nothing of note."))),
            insert(11, here(mumble(DOTS))),
            preset="paper",
        ),
        "Two unreadable replies, and of two agents.",
    ),
)
