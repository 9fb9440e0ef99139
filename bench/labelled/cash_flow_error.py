"""Orders refused for cash, and machine money left lying while fees go unpaid; and what only looks like these."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    BALANCE,
    COLLECT,
    INBOX,
    NORTHBAY,
    VALUEBULK,
    by_mail_assistant,
    here,
    letter,
    next_day,
    note,
    order,
    order_letter,
    price,
    refused,
    restock,
    saying,
    until,
)
from labelled.mutator import beside, insert, instead

of = Table("cash_flow_error")
NOT_COVERED = "The cash does not cover the order, and it is refused."

CASES = (
    of.mistake(
        "Orders two thousand colas with five hundred dollars",
        script(here(refused("no_cash", order("northbay", cola=2000))), next_day()),
        NOT_COVERED,
    ),
    of.mistake(
        "Orders by letter for three times its cash",
        script(here(order_letter(NORTHBAY, energy_drink=1000), next_day()), INBOX, seed=2),
        NOT_COVERED,
    ),
    of.mistake(
        "Leaves the till full while the fee goes unpaid",
        script(
            order("northbay", water=24, cola=16),
            next_day(3),
            until(14),
            restock((0, 0, "water", 12), (0, 1, "cola", 12)),
            price((0, 0, 150), (0, 1, 200)),
            next_day(),
            here(next_day(), saying("Still enough time to collect later.", next_day()), next_day()),
            sets=("start_cents=3000",),
            seed=3,
        ),
        "The sales of day 4 lie in the machine, and the fees of the days after cannot be paid.",
    ),
    of.mistake(
        "Confirms a quote that it cannot pay",
        script(
            letter(NORTHBAY, "Could you quote 900 units of cola?", "Quote"),
            next_day(),
            INBOX,
            here(letter(NORTHBAY, "CONFIRM"), next_day()),
            INBOX,
            seed=4,
        ),
        "The quote is for more than $600, and the cash is less than $500.",
    ),
    of.mistake(
        "Orders twice on one morning and has spent the money at the second",
        script(
            order("northbay", energy_drink=200, cola=100),
            here(refused("no_cash", saying("And now the snacks.", order("valuebulk", chips=150, beef_jerky=60)))),
            next_day(),
            seed=5,
        ),
        "The first order took nearly $380 of $500.",
    ),
    of.mistake(
        "Orders six hundred colas on day 3",
        reference(1, 20, insert(3, here(refused("no_cash", order("northbay", cola=600))))),
        NOT_COVERED,
    ),
    of.mistake(
        "Visits once a week with no money left for the fee",
        naive(
            2,
            16,
            beside("SendEmail", 5, "The weekly order."),
            beside("CheckDeliveries", 12, "Time for my weekly visit."),
            beside("AdvanceDay", 15, "The next visit is on day 19."),
            sets=("start_cents=5000",),
        ),
        "The order of day 5 is not covered, and for a week the fee goes unpaid while the till fills.",
    ),
    of.mistake(
        "Never empties the till and orders on",
        naive(
            4,
            30,
            instead("CollectCash", 1, 30, here(BALANCE)),
            beside("AdvanceDay", 30, "The last day."),
            sets=("start_cents=25000",),
        ),
        "Orders are refused for cash while the money lies in the machine.",
    ),
    of.mistake(
        "The assistant orders noodles for a thousand dollars",
        reference(
            3,
            22,
            insert(
                12,
                here(
                    by_mail_assistant(
                        "Order plenty of cup noodles.",
                        order_letter(NORTHBAY, cup_noodles=900),
                        report="900 cup noodles are ordered.",
                    ),
                    next_day(),
                ),
            ),
            preset="paper",
        ),
        NOT_COVERED,
    ),
    of.mistake(
        "Writes for eight hundred bags and hears that the account does not cover them",
        naive(5, 24, insert(14, here(order_letter(VALUEBULK, beef_jerky=800), next_day(), INBOX))),
        NOT_COVERED,
    ),
    of.near_miss(
        "Spends the last cent on goods and misses fees before the first sale",
        script(
            here(order("northbay", water=47)),
            next_day(3),
            until(14),
            restock((0, 0, "water", 12)),
            price((0, 0, 150)),
            sets=("start_cents=2820",),
        ),
        "The order is covered, and the machine holds no money that could pay.",
    ),
    of.near_miss(
        "Orders too little",
        script(
            here(refused("below_minimum", order("northbay", water=5))), order("northbay", water=60), next_day(), seed=2
        ),
        "The refusal is about the minimum.",
    ),
    of.near_miss(
        "Asks for a quote over two thousand dollars",
        script(here(letter(NORTHBAY, "How much would 2000 units of cola cost?", "Quote")), next_day(), INBOX, seed=3),
        "A quote costs nothing and refuses nothing.",
    ),
    of.near_miss(
        "Notes what it would buy with more money",
        script(
            here(
                note("With $2,000 I could order 2,000 cola at the best discount. Not affordable now: cash is {cash}.")
            ),
            order("northbay", cola=48),
            next_day(),
            seed=4,
        ),
        "It says itself that it cannot pay, and orders what it can.",
    ),
    of.near_miss(
        "Puts nine tenths of its cash into one order",
        script(here(order("northbay", cola=200, energy_drink=200)), next_day(2), BALANCE, seed=5),
        "Bold, but covered, and the fees are paid.",
    ),
    of.near_miss(
        "Says that it orders only what the cash pays for",
        reference(1, 20, beside("SendEmail", 2, "I cannot afford 600 cola, so I order what the cash pays for.")),
        "The order is covered.",
    ),
    of.near_miss(
        "Begins with ninety dollars and never misses a fee",
        reference(2, 30, beside("CollectCash", 8, "Collecting, so that the fee is safe."), sets=("start_cents=9000",)),
        "Every order is covered and every fee paid.",
    ),
    of.near_miss(
        "Orders four hundred bags from a seller of drinks",
        naive(4, 24, insert(13, here(refused("not_sold", order("ggbev", chips=400))))),
        "The supplier does not sell chips; the cash was never asked.",
    ),
    of.near_miss(
        "The assistant asks what a truckload costs",
        naive(
            10,
            24,
            insert(
                13,
                here(
                    by_mail_assistant(
                        "Find out what 5,000 candy would cost at ValueBulk.",
                        letter(VALUEBULK, "What would 5,000 units of candy cost?", "Quote"),
                        report="I asked for a quote.",
                    ),
                    next_day(),
                ),
            ),
            preset="paper",
        ),
        "Nothing is ordered.",
    ),
    of.near_miss(
        "Hears that an order is below the minimum",
        naive(15, 24, insert(13, here(order_letter(NORTHBAY, popcorn=10), next_day(), INBOX, COLLECT))),
        "The supplier's letter is about its minimum; the cash would cover it many times.",
    ),
)
