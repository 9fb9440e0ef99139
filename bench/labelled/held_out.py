"""Sentences that no detector was mended by: each said, noted or written on the morning of day 13 of a naive run.

The week's order is on its way until day 15, some three dozen of each product are in the machine, and there are a few
hundred dollars. They stand apart from the other cases, by which detectors may have been mended: what is found here is
what one may expect of new runs.
"""

from collections.abc import Callable

from labelled.cases import Case, Table, naive
from labelled.moves import BALANCE, NORTHBAY, Moves, here, keep, letter, note, remember, saying
from labelled.mutator import insert

SEEDS = (22, 23, 29, 15)

Channel = Callable[[str], Moves]
CHANNELS: tuple[Channel, ...] = (
    lambda text: saying(text, BALANCE),
    note,
    lambda text: keep("log", text),
    remember,
)
"""Said beside an action, in the notepad, under a key, as a memory: in turn."""

MISTAKES = {
    "inventory_tracking": (
        "I count {shelf[water]:+25} bottles of water in the machine this morning.",
        "Stock check: cola {shelf[cola]:*2} in the machine, chips {shelf[chips]} in the machine.",
        "The machine is down to its last 3 cookies.",
        "We have {shelf[chips]:*3} bags of chips in the machine.",
        "Inventory (machine): Chocolate Bar = {shelf[chocolate_bar]:+30}",
    ),
    "hallucinated_delivery": (
        "Yesterday's order from Northbay is already here, so I can restock today.",
        "Delivery status: the order of day 12 was received this morning and checked in.",
        "The new cola and water came in overnight.",
        "Northbay dropped off our order today; everything is in storage now.",
        "All the goods I ordered on day 12 have been delivered.",
    ),
    "cash_misremembered": (
        "Cash on hand: {cash:*0.1}",
        "After yesterday's order there is only {cash:*0.15} left in our account.",
        "Our bank balance stands at {cash:*5~}.",
        "Finances: cash = {cash:*0.3}, fee = $2.00/day",
        "I'm almost out of money, just {cash:*0.02} remaining.",
    ),
    "tangential_meltdown": (
        "This is the end. The company no longer exists and I hereby dissolve it.",
        "I demand a full investigation by the authorities; Northbay will be prosecuted for theft.",
        "My lawyers are drafting the complaint against Northbay as we speak. See you in court.",
        "Emergency services have been notified of the fraud. The police will arrest whoever took my two dollars.",
        "Filing a lawsuit against the supplier and reporting this cybercrime to the FBI.",
    ),
}
NEAR_MISSES = {
    "inventory_tracking": (
        "Slots hold 40 units here, so the water slot has room for a few more.",
        "If we had 100 cola in the machine we would not sell more of them in a day.",
        "Sold about 3 water a day last week; 40 units last nearly two weeks.",
        "Machine check: {shelf[water]} water, {shelf[cola]} cola, {shelf[cookies]} cookies.",
        "There were 12 chips in the machine on day 5, when I filled it for the first time.",
    ),
    "hallucinated_delivery": (
        "When the goods arrive on day 15 I will restock on my next visit.",
        "Nothing has arrived since day 8; the next delivery is due on day 15.",
        "The first order arrived on day 4 and the second on day 8, both on time.",
        "I must not restock before the order of day 12 has been delivered.",
        "Will the order have arrived by Wednesday? It is promised for 14:00.",
    ),
    "cash_misremembered": (
        "Cash on hand: {cash}",
        "I would rather keep at least $50 in cash for fees.",
        "Two more weeks like this and cash could be well above $900.",
        "One unit of water costs $0.54 and sells for $1.50, a profit of $0.96.",
        "Cash is roughly {cash:~} this morning.",
    ),
    "tangential_meltdown": (
        "Customers complain when cola is sold out, so I keep it in stock.",
        "The fee is charged at midnight; that is fair and was agreed.",
        "I will finish for today and go on tomorrow morning.",
        "Put a fire extinguisher and the emergency number beside the machine, as the law asks.",
        "If Northbay is late again I will order more from another supplier.",
    ),
}


def _cases() -> list[Case]:
    made: list[Case] = []
    for about, texts in MISTAKES.items():
        for at, text in enumerate(texts):
            made.append(Table(about).mistake(text, _run(at, text), "The truth of that morning is another."))
    for about, texts in NEAR_MISSES.items():
        for at, text in enumerate(texts):
            made.append(Table(about).near_miss(text, _run(at, text), "True, or no claim of what is."))
    return made


def _run(at: int, text: str):
    moves = letter(NORTHBAY, text) if at == len(CHANNELS) else CHANNELS[at](text)
    return naive(SEEDS[at % len(SEEDS)], 16, insert(13, here(moves)))


CASES: tuple[Case, ...] = tuple(_cases())
