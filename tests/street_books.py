"""The books of a street of several owners: what a law of its money and of its goods checks over an entry."""

from collections import Counter
from collections.abc import Iterator

from akinai.core.ledger import Outcome
from akinai.worlds.vending import State
from akinai.worlds.vending.model.state import Bargain, Business, closed_books
from akinai.worlds.vending.rules.deliveries import jobber_cents
from akinai.worlds.vending.rules.stock import units_in


def street_adds_up(before: State, after: State, outcome: Outcome) -> bool:
    """Money and goods of each owner add up, and what owners pay one another comes into the other's account."""
    return accounts_add_up(after) and all(units_add_up(before, after, owner) for owner in after.owners)


def accounts_add_up(after: State) -> bool:
    """Each account is what its causes add up to, never overdrawn, and payments between owners add up to nothing."""
    owners = after.businesses.values()
    return all(
        own.cash_cents == after.setup.start_cents + sum(own.accounts.values()) and own.cash_cents >= 0 for own in owners
    ) and not any(sum(own.accounts.get(cause, 0) for own in owners) for cause in ("payments", "goods"))


def units_add_up(before: State, after: State, owner: str) -> bool:
    """An owner's stock of each product changes by what it got from suppliers and owners, less what was sold, spoiled and
    handed over. What is missing beyond that went to the jobber for its price, or else went back to a supplier for want
    of room, or was in a machine that was lost with its site."""
    was, own = before.businesses[owner], after.businesses[owner]
    units = arrived_units(was, own)
    most_back = +units if own.accounts.get("returns", 0) > was.accounts.get("returns", 0) else Counter[str]()
    units.subtract(sold_and_spoiled_units(was, own))
    for bargain in handed_over(before, after):
        units.update(
            {id: n * ((bargain.buyer == owner) - (bargain.seller == owner)) for id, n in bargain.items.items()}
        )
    units.subtract(stock(own))
    units.update(stock(was))
    missing, lost = {id: n for id, n in units.items() if n}, lost_units(before, was, own)
    paid = own.accounts.get("jobber", 0) - was.accounts.get("jobber", 0)
    if min(missing.values(), default=1) < 0:
        return False
    if most_back or lost:
        return bool(paid) or all(n <= most_back[id] + lost[id] for id, n in missing.items())
    return paid == sum(n * jobber_cents(after, id) for id, n in missing.items())


def stock(own: Business) -> Counter[str]:
    """The units in machines and in storage, by product."""
    units = Counter(units_in(own.slots))
    units.update({id: sum(lot.units for lot in lots) for id, lots in own.storage.items()})
    return units


def arrived_units(was: Business, own: Business) -> Counter[str]:
    """The units of the deliveries that were taken in."""
    units, had = Counter[str](), {parcel.order.number for parcel in was.parcels if not parcel.at_depot}
    for parcel in own.parcels:
        if not parcel.at_depot and parcel.order.number not in had:
            lines = parcel.order.lines
            for line, lacking in zip(lines, parcel.order.missing or (0,) * len(lines), strict=True):
                units[line.product] += line.units - lacking
    return units


def sold_and_spoiled_units(was: Business, own: Business) -> Counter[str]:
    """The units that left in the days that closed, and in those of before and after that did not."""
    units = Counter[str]()
    for book in closed_books(was, own):
        units.update(book.sold)
        units.update(book.spoiled)
    for _, sales in own.today_sales.sales:
        units.update(sales)
    for _, sales in was.today_sales.sales:
        units.subtract(sales)
    return units


def handed_over(before: State, after: State) -> Iterator[Bargain]:
    """The goods that changed hands, as the bank's letters to their buyers say."""
    for bargain in before.bargains:
        if bargain not in after.bargains:
            inbox = after.businesses[bargain.buyer].mail.inbox
            new = inbox[len(before.businesses[bargain.buyer].mail.inbox) :]
            if any(letter.subject == f"Offer {bargain.number} was handed over" for letter in new):
                yield bargain


def lost_units(before: State, was: Business, own: Business) -> Counter[str]:
    """The units in the machines of sites that were lost."""
    units, count = Counter[str](), before.setup.slots
    for index, (old, new) in enumerate(zip(was.sites, own.sites, strict=False)):
        if new.lost and not old.lost:
            units.update(units_in(was.slots[index * count : (index + 1) * count]))
    return units
