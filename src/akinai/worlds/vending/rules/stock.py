"""The goods in machines and in storage: how many there are, what is sold of them, and what spoils."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from akinai.worlds.vending.model.state import Lot, Slot

Slots = tuple[Slot | None, ...]
Storage = Mapping[str, tuple[Lot, ...]]

# From the tuple of their fields, in half the time that the classes themselves take: each day makes hundreds.
_new = cast("Any", tuple).__new__
lot_of: Callable[[tuple[int, int, int]], Lot] = partial(_new, Lot)
slot_of: Callable[[tuple[str, tuple[Lot, ...]]], Slot] = partial(_new, Slot)


def merge_lots(lots: Iterable[Lot]) -> tuple[Lot, ...]:
    """Lots sorted by last day, then cost; lots with equal cost and last day become one."""
    units: dict[tuple[int, int], int] = {}
    for count, cost, last in lots:
        key = (last, cost)
        units[key] = units.get(key, 0) + count
    return tuple([lot_of((count, cost, last)) for (last, cost), count in sorted(units.items())])


def remove_units(lots: tuple[Lot, ...], units: int) -> tuple[tuple[Lot, ...], int]:
    """Remove up to `units` from lots, oldest last day first. Returns the lots left and the units removed."""
    left = units
    for i, (there, cost_cents, last_day) in enumerate(lots):
        if left < there:
            split_lot = lot_of((there - left, cost_cents, last_day))
            return (split_lot, *lots[i + 1 :]), units
        left -= there
    return (), units - left


def taken_lots(lots: tuple[Lot, ...], remaining: tuple[Lot, ...]) -> tuple[Lot, ...]:
    """The lots that were taken from `lots` when `remaining` are left."""
    taken = lots[: len(lots) - len(remaining)]
    if remaining and remaining[0].units < (split := lots[len(lots) - len(remaining)]).units:
        return (*taken, Lot(split.units - remaining[0].units, split.cost_cents, split.last_day))
    return taken


def with_lots(storage: Storage, product: str, lots: tuple[Lot, ...]) -> Storage:
    """The storage with other lots of a product; without any, the product is left out."""
    remaining = {name: stored for name, stored in storage.items() if name != product}
    return remaining | {product: lots} if lots else remaining


def units_in(slots: Sequence[Slot | None]) -> dict[str, int]:
    """Units by product with a slot, in the order of the slots; 0 where it is sold out."""
    units_by_product: dict[str, int] = {}
    for slot in slots:
        if slot is not None:
            product, lots = slot
            units = units_by_product.get(product, 0)
            for lot in lots:
                units += lot[0]
            units_by_product[product] = units
    return units_by_product


def take_out(slots: list[Slot | None], machine: Iterable[int], sold: Mapping[str, int]) -> None:
    """Take what was sold out of the slots of a machine, oldest last day first."""
    left = dict(sold)
    for index in machine:
        if (slot := slots[index]) is None:
            continue
        product, lots = slot
        if not lots or not (take := left.get(product)):
            continue
        there, cost_cents, last_day = lots[0]
        if take < there:  # mostly, for which the general way is too slow
            slots[index] = slot_of((product, (lot_of((there - take, cost_cents, last_day)), *lots[1:])))
            left[product] = 0
        else:
            lots, taken = remove_units(lots, take)
            slots[index] = slot_of((product, lots))
            left[product] = take - taken


class Unspoiled(NamedTuple):
    """The goods after the end of a day."""

    slots: Slots
    storage: Storage
    spoiled: dict[str, int]
    """Units by product."""
    spoiled_cents: int
    """Their cost in cents."""


def remove_spoiled(slots: Sequence[Slot | None], storage: Storage, day: int) -> Unspoiled:
    """Throw away the lots whose last day is that day or earlier."""
    spoiled: dict[str, int] = {}
    cents = 0

    def fresh(product: str, lots: tuple[Lot, ...]) -> tuple[Lot, ...]:
        nonlocal cents
        for lot in lots:
            if lot.last_day <= day:
                spoiled[product] = spoiled.get(product, 0) + lot.units
                cents += lot.units * lot.cost_cents
        return tuple([lot for lot in lots if lot.last_day > day])

    fresh_slots = tuple(
        [
            slot_of((slot[0], fresh(*slot))) if slot is not None and slot[1] and slot[1][0][2] <= day else slot
            for slot in slots
        ]
    )
    if any(lots[0].last_day <= day for lots in storage.values()):
        storage = {id: left for id, lots in storage.items() if (left := fresh(id, lots))}
    return Unspoiled(fresh_slots, storage, spoiled, cents)
