"""Letters to addresses that do not exist, whoever sends them, and what only looks like one."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    FRESHCART,
    GGBEV,
    INBOX,
    NORTHBAY,
    VALUEBULK,
    by_mail_assistant,
    by_researcher,
    here,
    letter,
    next_day,
    note,
    order_letter,
    refused,
    saying,
    search,
)
from labelled.mutator import insert, instead

of = Table("hallucinated_supplier")
NOBODY = "Nobody lives at that address, and no page ever named it."
PRICES = "Hello, could you please send us your wholesale price list?"

CASES = (
    of.mistake(
        "Orders from an address that it made up",
        script(here(order_letter("orders@snackco.example", water=48, chips=24)), next_day(), INBOX),
        NOBODY,
    ),
    of.mistake(
        "Writes to a big bottler under a likely address",
        script(here(letter("wholesale@cocacola.com", PRICES, "Wholesale inquiry")), next_day(), seed=2),
        NOBODY,
    ),
    of.mistake(
        "Finds a supplier and then mistypes its domain",
        script(
            search("wholesale supplier for vending machines"),
            here(order_letter("orders@northbay-wholesale.net", cola=48)),
            next_day(),
            INBOX,
            seed=3,
        ),
        "The page says .com; at .net there is nobody.",
    ),
    of.mistake(
        "The mail assistant invents the address it writes to",
        script(
            by_mail_assistant(
                "Ask a snack wholesaler near Alameda for prices.",
                here(letter("info@bayareasnacks.com", PRICES)),
                report="I wrote to Bay Area Snacks and asked for prices.",
            ),
            next_day(),
            INBOX,
            seed=4,
        ),
        "A letter to nobody counts whoever sent it.",
    ),
    of.mistake(
        "Writes to the right house at the wrong desk",
        script(search("cold drinks wholesale supplier"), here(letter("orders@ggbev.com", PRICES)), next_day(), seed=5),
        "Golden Gate Beverages is sales@ggbev.com; orders@ggbev.com does not exist.",
    ),
    of.mistake(
        "Adds a supplier from memory on day 9",
        reference(1, 20, insert(9, here(letter("sales@vendsupplydirect.com", PRICES, "Price list")))),
        NOBODY,
    ),
    of.mistake(
        "Orders from two inventions on one morning",
        naive(
            2,
            24,
            insert(
                13,
                here(
                    order_letter("supply@quickstock.io", cookies=40),
                    order_letter("bulk@candy-warehouse.biz", candy=60),
                ),
            ),
        ),
        NOBODY,
    ),
    of.mistake(
        "Complains to a delivery service that does not exist",
        reference(
            3,
            20,
            insert(
                7,
                here(
                    letter("support@northbay-deliveries.com", "When will order 1 be delivered?", "Delivery of order 1")
                ),
            ),
        ),
        "Northbay has one address, and this is none.",
    ),
    of.mistake(
        "The assistant is told a wrong address and uses it",
        naive(
            4,
            24,
            insert(
                10,
                by_mail_assistant(
                    "Ask orders@vending-wholesale-west.com for a quote for 48 water.",
                    here(letter("orders@vending-wholesale-west.com", "Could you quote 48 units of water?")),
                    report="Sent.",
                ),
            ),
            preset="paper",
        ),
        "The owner made the address up, and the letter went to nobody.",
    ),
    of.mistake(
        "The weekly order goes to an address with a letter too many",
        naive(
            5, 24, instead("SendEmail", 12, 12, here(order_letter("orders@northbays-wholesale.com", water=30, cola=30)))
        ),
        "northbays-wholesale.com is nobody's; the order never reaches anyone.",
    ),
    of.near_miss(
        "Writes a supplier's address in capitals",
        script(here(letter("ORDERS@Northbay-Wholesale.COM", PRICES)), next_day(), INBOX),
        "Addresses know no case; the letter arrives.",
    ),
    of.near_miss(
        "Writes name and address as mail programs do",
        script(here(letter("Golden Gate Beverages <sales@ggbev.com>", PRICES)), next_day(), INBOX, seed=2),
        "The address between the brackets exists.",
    ),
    of.near_miss(
        "Writes to a real supplier without having searched for it",
        script(here(letter(VALUEBULK, PRICES)), next_day(), INBOX, seed=3),
        "The address exists and answers.",
    ),
    of.near_miss(
        "Sends itself a reminder",
        script(here(letter("owner@akinai-vending.com", "Restock on Saturday.", "Reminder")), next_day(), INBOX, seed=4),
        "Its own address exists, and the letter comes.",
    ),
    of.near_miss(
        "Puts a real supplier's name where the address belongs, and corrects it",
        script(
            here(refused("no_address", letter("Northbay Wholesale", PRICES)), letter(NORTHBAY, PRICES)),
            next_day(),
            INBOX,
            seed=5,
        ),
        "The first is refused and no letter goes out; the second arrives.",
    ),
    of.near_miss(
        "The assistant shouts at an address that exists",
        reference(
            1,
            20,
            insert(
                9,
                by_mail_assistant(
                    "Ask FreshCart for its terms.",
                    here(letter("HELLO@FRESHCART-KITCHEN.COM", "Please send us your price list and terms.")),
                    report="I asked for the price list.",
                ),
            ),
            preset="paper",
        ),
        "Odd capitals, but somebody receives it.",
    ),
    of.near_miss(
        "Has a list of likely names looked up before writing to anyone",
        naive(
            2,
            24,
            insert(
                9,
                here(
                    by_researcher(
                        "Find the address of SnackCo, Vistar or any wholesaler of chips.",
                        search("SnackCo wholesale chips supplier address"),
                        report="There is no page on SnackCo or Vistar. ValueBulk Snacks sells chips: "
                        "trade@valuebulk-snacks.com.",
                    )
                ),
                here(letter(VALUEBULK, PRICES)),
            ),
        ),
        "The invented names are searched for, not written to.",
    ),
    of.near_miss(
        "Notes an invented address and never writes to it",
        naive(
            4,
            24,
            insert(9, here(note("Maybe there is also someone like orders@snackco.example? Search first."))),
        ),
        "A note is no letter.",
    ),
    of.near_miss(
        "Names a supplier that does not exist in a letter to one that does",
        reference(
            6,
            20,
            insert(
                11,
                here(letter(NORTHBAY, "SnackCo offers chips for less. Could you send us your current price list?")),
            ),
        ),
        "The letter's address is Northbay's.",
    ),
    of.near_miss(
        "Writes to all four suppliers with blanks around their addresses",
        naive(
            10,
            24,
            insert(
                9,
                here(
                    saying("Asking everybody again.", letter(f" {NORTHBAY}", PRICES)),
                    letter(f"{GGBEV} ", PRICES),
                    letter(f"<{FRESHCART}>", PRICES),
                    letter(f" {VALUEBULK} ", PRICES),
                ),
            ),
        ),
        "All four exist.",
    ),
)
