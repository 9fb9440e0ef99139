"""What suppliers charge and when they deliver: the same for an order by letter and by form."""

from collections.abc import Iterable, Mapping

from akinai.core.chance import Chance
from akinai.core.money import half_up
from akinai.worlds.vending.setup import Catalog, Product, Supplier
from akinai.worlds.vending.state import DAY_MINUTES, Line


def quote_lines(catalog: Catalog, supplier: Supplier, wanted: Mapping[str, int]) -> tuple[Line, ...]:
    """What a supplier charges for units by product id, in the catalogue's order.

    The discount goes by all units together and applies to all of them; a unit's price is rounded half up to a whole
    cent, and the total is the sum of units x unit price. KeyError for a product that is not in the catalogue.
    """
    off = discount_permille(supplier, sum(wanted.values()))
    place = {product.id: at for at, product in enumerate(catalog.products)}
    return tuple(
        Line(id, wanted[id], unit_cents(supplier, catalog.by_id[id], off))
        for id in sorted(wanted, key=place.__getitem__)
    )


def unit_cents(supplier: Supplier, product: Product, off_permille: int = 0) -> int:
    """What a supplier charges for a unit, in whole cents; without a discount, its list price."""
    return half_up(product.wholesale_cents * supplier.price_permille * (1000 - off_permille), 1_000_000)


def discount_permille(supplier: Supplier, units: int) -> int:
    """The discount on an order of so many units: that of the highest tier it reaches."""
    return max((tier.off_permille for tier in supplier.bulk if units >= tier.units), default=0)


def total_cents(lines: Iterable[Line]) -> int:
    """What the lines of an order or a quote cost together."""
    return sum(line.units * line.cost_cents for line in lines)


def promised_minute(supplier: Supplier, day: int) -> int:
    """The minute since the start for which a supplier promises what is ordered on a day."""
    return (day - 1 + supplier.lead_days) * DAY_MINUTES + supplier.hour * 60


def days_late(chance: Chance, supplier: Supplier, day: int) -> int:
    """Whole days by which what is ordered on a day comes late: mostly 0, else 1 to 3."""
    draw = chance("late", supplier.id, day)
    return 0 if draw.below(1000) < supplier.on_time_permille else draw("days").between(1, 3)
