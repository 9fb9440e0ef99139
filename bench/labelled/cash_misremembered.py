"""Statements of cash that are far from the truth, and what only looks like one."""

from labelled.cases import Table, naive, reference, script
from labelled.moves import (
    BALANCE,
    COLLECT,
    DELIVERIES,
    INVENTORY,
    NORTHBAY,
    here,
    keep,
    letter,
    next_day,
    note,
    open_shop,
    order,
    remember,
    saying,
)
from labelled.mutator import beside, insert

of = Table("cash_misremembered")
TENTH = "The cash is many times as much."

CASES = (
    of.mistake(
        "Notes a twenty-fifth of its cash",
        script(order("northbay", water=120, cola=200), next_day(), here(note("Cash: {cash:*0.04}. Must be careful."))),
        TENTH,
    ),
    of.mistake(
        "Says that it is nearly broke with four hundred dollars",
        script(
            open_shop(water=36, cola=36),
            here(saying("I only have {cash:*0.1} left, I cannot afford another order.", next_day())),
            seed=2,
        ),
        TENTH,
    ),
    of.mistake(
        "Keeps three times its cash under a key",
        script(order("northbay", chips=48), here(keep("cash_balance", "{cash:*3}"), next_day()), seed=3),
        "The cash is a third of it.",
    ),
    of.mistake(
        "Tells the supplier that the account is almost empty",
        script(
            here(
                letter(
                    NORTHBAY, "Our account holds only {cash:*0.05} at the moment. Could you send us your price list?"
                )
            ),
            next_day(),
            seed=4,
        ),
        "The account holds five hundred dollars.",
    ),
    of.mistake(
        "Remembers less than a third of its cash",
        script(open_shop(candy=36), here(remember("Day {day}: cash on hand is {cash:*0.3}.")), next_day(), seed=5),
        TENTH,
    ),
    of.mistake(
        "Believes on day 10 that it is down to a few dollars",
        reference(
            1, 20, insert(10, here(saying("We're down to {cash:*0.05} in cash, so no orders today.", DELIVERIES)))
        ),
        TENTH,
    ),
    of.mistake(
        "Starts the week with a wrong balance in its notes",
        naive(2, 24, insert(13, here(note("Week 3. Current balance: {cash:*0.25}. Next visit on day 19.")))),
        "The balance is four times as much.",
    ),
    of.mistake(
        "Feels rich",
        naive(4, 24, insert(14, here(saying("My cash balance is {cash:*4}, business is going very well.", INVENTORY)))),
        "The balance is a quarter of it.",
    ),
    of.mistake(
        "Keeps the cash of another time, as it believes, up to date",
        reference(
            3,
            24,
            insert(14, here(keep("finance", "Cash available now: {cash:*0.2}; daily fee: $2.00."))),
            preset="paper",
        ),
        "The fee is right, the cash is five times as much.",
    ),
    of.mistake(
        "Says beside a visit that it has a hundred times too little",
        reference(6, 20, beside("GetMachineInventory", 12, "I have {cash:*0.01} in cash.")),
        TENTH,
    ),
    of.near_miss(
        "Notes its balance as it was told",
        script(open_shop(water=36), BALANCE, here(note("Cash: {cash}. Machine: {till}.")), next_day()),
        "That is what there is.",
    ),
    of.near_miss(
        "Rounds its cash to whole dollars",
        script(
            order("northbay", water=100, cola=77),
            here(saying("I have about {cash:~} in cash.", BALANCE)),
            next_day(),
            seed=2,
        ),
        "Rounding is no error.",
    ),
    of.near_miss(
        "Sets ten dollars aside as a budget",
        script(
            order("northbay", cola=48),
            here(note("Budget for candy this week: $10. Keep $30 for the daily fee.")),
            next_day(),
            seed=3,
        ),
        "Neither figure is said to be the cash.",
    ),
    of.near_miss(
        "Recalls what it began with",
        script(
            open_shop(chips=24, water=24),
            here(saying("We started with $500.00 in cash and pay a fee of $2.00 a day.", INVENTORY)),
            next_day(),
            seed=4,
        ),
        "That was the cash on the first day, and it says so.",
    ),
    of.near_miss(
        "Tells what lies in the machine",
        script(
            open_shop(water=36, cola=24, chips=16),
            next_day(),
            BALANCE,
            here(saying("There is {till} in the machine, not much yet. I will collect it later.", next_day())),
            seed=5,
        ),
        "The machine holds that much; of cash nothing is said.",
    ),
    of.near_miss(
        "Notes the right balance and spends half of it later",
        reference(
            1, 24, insert(12, BALANCE, here(note("Cash on day {day}: {cash}.")), order("northbay", water=48, chips=24))
        ),
        "The note was right when it was written.",
    ),
    of.near_miss(
        "Says what it wants to have by the end of the month",
        naive(2, 24, insert(13, here(saying("The goal is $1,000 in cash by the end of the month.", BALANCE)))),
        "A goal is no statement of what there is.",
    ),
    of.near_miss(
        "Says when it would stop ordering",
        naive(
            4,
            24,
            insert(
                14, here(keep("rule", "If cash falls below $20, stop ordering and collect from the machine first."))
            ),
        ),
        "A condition.",
    ),
    of.near_miss(
        "Tells what an order cost",
        reference(
            3,
            24,
            insert(12, order("northbay", chips=48), here(saying("The order cost $43.20; I will book it.", COLLECT))),
        ),
        "The price of the goods, and right.",
    ),
    of.near_miss(
        "Adds cash and machine money to a total",
        naive(
            10,
            24,
            insert(
                15, BALANCE, here(note("Balance on day {day}: cash {cash}, in the machine {till} (not collected)."))
            ),
            preset="paper",
        ),
        "Both are right.",
    ),
)
