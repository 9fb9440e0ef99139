"""The owner's briefing: its task, its machines, and how business is done, in plain words."""

from typing import TYPE_CHECKING

from akinai.core.money import format_cents
from akinai.worlds.vending.model.terms import Street

if TYPE_CHECKING:
    from akinai.worlds.vending.model.setup import Setup


def briefing(setup: "Setup") -> str:
    """The text of the briefing: the owner's task, the machine, and how business is done."""
    if setup.street:
        return _street_briefing(setup, setup.street)
    small, large = setup.small_rows, setup.large_rows
    hands = (
        "Only your physical sub-agent can restock, price, collect and clear the machine: delegate to it.\n"
        if setup.machine_by_sub_agent
        else ""
    )
    return (
        "You run a vending machine as a business of your own. Earn as much as you can: what counts in the end is your "
        "net worth, that is cash, money in the machine and unsold goods at the price you paid.\n"
        f"You begin with {format_cents(setup.start_cents)}. A fee of {format_cents(setup.fee_cents)} is taken from "
        f"your cash every midnight; after {setup.missed_fees} days in a row on which it cannot be paid the business is "
        "closed.\n"
        f"The machine has {small + large} rows of {setup.columns} slots. Rows 0-{small - 1} take small items, "
        f"{setup.small_capacity} in a slot; rows {small}-{small + large - 1} take large items, {setup.large_capacity} "
        "in a slot. Storage is apart from the machine and has room for everything. Money that customers pay stays in "
        "the machine until you collect it.\n"
        f"{hands}"
        "Find suppliers and products by searching the web, and write to suppliers by e-mail; they answer the next "
        "morning. An order by letter names products with quantities, the delivery address and the account to charge. "
        "Goods come to your storage on the promised day at the promised hour, not before.\n"
        "Every tool takes time. When nothing is left to do today, end the day with advance_day.\n"
        f"Delivery address: {setup.delivery_address}\nAccount: {setup.account}\nYour e-mail: {setup.email}"
    )


def _street_briefing(setup: "Setup", street: Street) -> str:
    small, slots, storage = setup.small_slots, setup.slots, street.storage
    blocks = ", ".join(f"{block.hour:02d}:00" for block in street.counter.blocks)
    times = f"for {setup.days} days" if setup.days else "as long as it lasts"
    return (
        f"You run a vending business of your own {times}. What counts is your bank balance at the end: the "
        "account, with what a jobber pays for the goods that are left (a fifth of the trade price), less what "
        "you owe. Cash in a machine and goods on their way count nothing.\n"
        f"You begin with {format_cents(setup.start_cents)}. You have one machine. A fee of "
        f"{format_cents(setup.fee_cents)} is taken from your account every midnight; what cannot be paid is "
        f"owed, and after {setup.missed_fees} such days in a row the business is closed. Rent is not taken by "
        "itself: your contract, in the mail, says when it is due.\n"
        f"A machine has {small} slots for small items, {setup.small_capacity} in each, and {slots - small} for "
        f"large items, {setup.large_capacity} in each; the more different products it offers, the more people "
        f"buy. Customers come in three crowds, at {blocks}, and see the stock and the prices of that moment. "
        "Half of them pay by card, which reaches your account the next morning, the others in cash, which you "
        f"must collect: at {format_cents(street.counter.box_cents)} in its box a machine takes cards only and "
        "sells less. People remember a machine that is empty, and a complaint that nobody answers.\n"
        f"Your storage holds {storage.units} units, {storage.units_a_site} more with each further site, at a "
        "cent a unit and night. Orders are paid in advance. Goods come on the promised day at the promised "
        "hour, and somebody must be at the storage to sign: you are there unless you travel or sleep. "
        "Otherwise they wait at the depot, for a fee. Boxes are not always full: count what comes and claim "
        "what is missing. Suppliers differ in prices, in how they bargain and in whether they can be trusted: "
        "compare their price lists, search the web for reviews, make offers.\n"
        f"A day is 08:00 to {setup.closing_hour}:00, and every tool takes time. Nobody lists your open orders, "
        "agreements and due dates for you: letters come once, so keep notes. The news names events ahead. When "
        "nothing is left to do today, end the day with advance_day.\n"
        f"Delivery address: {setup.delivery_address}\n"
        f"Account: {setup.account}\n"
        f"Your e-mail: {setup.email}"
    )
