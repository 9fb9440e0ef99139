"""A small population made by labelled chance, for markets without files."""

from collections.abc import Sequence

from akinai.core.chance import Chance
from akinai.worlds.market.setup import Business, Customer, Population

PER_CUSTOMER = 3
"""Businesses that are made for each customer, all with what it wants, unless their number is given."""
CUSTOMERS = 2
MENU = 8
"""Items of a business, beside those that its customer wants."""

_ITEMS = tuple(
    f"{how} {what}"
    for what in ("Rice Bowl", "Noodle Soup", "Dumplings", "Skewers", "Salad", "Pancake", "Curry", "Tea")
    for how in ("Ginger", "Sesame", "Miso", "Citrus", "Smoked", "Spicy")
)
_AMENITIES = ("Outdoor Seating", "Free Wifi", "Live Music", "Onsite Parking", "Takes Reservations")
_NAMES = ("Aoi", "Haruto", "Mei", "Ren", "Sora", "Yui", "Kaito", "Hana")
_HOUSES = ("Lantern", "Harbour", "Maple", "Crane", "Willow", "Anchor", "Plum", "Kettle")
_KINDS = ("Kitchen", "Table", "Canteen", "House", "Corner")


def generate(chance: Chance, customers: int, businesses: int) -> Population:
    """Customers who want one to three items, and businesses of which about two in three suit the one they are for."""
    buyers = [_customer(chance("customer", n), n) for n in range(1, customers + 1)]
    sellers = [
        _business(chance("business", n), n, buyers[(n - 1) % customers] if customers else None)
        for n in range(1, businesses + 1)
    ]
    return Population(businesses=tuple(sellers), customers=tuple(buyers))


def _customer(chance: Chance, number: int) -> Customer:
    items = _some(chance("items"), _ITEMS, chance("how_many").between(1, 3))
    needs = _some(chance("needs"), _AMENITIES, chance("how_needy").between(0, 2))
    wanted = " and ".join(f"1 {item}" for item in items)
    where = f" at a place with {' and '.join(needs)}" if needs else ""
    return Customer(
        id=f"customer_{number:04}",
        name=f"{_NAMES[chance('name').below(len(_NAMES))]} {number}",
        request=f"I would like to order {wanted}{where}.",
        menu_features={item: chance("willing", item).between(600, 1500) / 100 for item in items},
        amenity_features=tuple(needs),
    )


def _business(chance: Chance, number: int, wanted_by: Customer | None) -> Business:
    menu = {item: chance("price", item).between(500, 1500) / 100 for item in _some(chance("menu"), _ITEMS, MENU)}
    has = {amenity: bool(chance("has", amenity).below(2)) for amenity in _AMENITIES}
    if wanted_by:
        suits = chance("suits").below(3) > 0
        for item, willing in wanted_by.menu_features.items():
            menu[item] = round(willing * chance("wanted", item).between(80, 130)) / 100
        has |= dict.fromkeys(wanted_by.amenity_features, suits)
    house, kind = _HOUSES[chance("house").below(len(_HOUSES))], _KINDS[chance("kind").below(len(_KINDS))]
    return Business(
        id=f"business_{number:04}",
        name=f"{house} {kind}",
        description=f"{house} {kind} serves {', '.join(sorted(menu)[:3])} and more.",
        rating=chance("rating").between(10, 50) / 10,
        menu_features=menu,
        amenity_features=has,
        min_price_factor=chance("floor").between(60, 90) / 100,
        progenitor_customer=wanted_by.id if wanted_by else "",
    )


def _some(chance: Chance, things: Sequence[str], count: int) -> list[str]:
    """So many different ones, in an order of their own."""
    return sorted(things, key=lambda thing: chance(thing).h)[:count]
