"""The goods in machines and in storage: how many there are, what is sold of them, and what spoils."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from akinai.worlds.vending.model.state import Lot, Slot, lot_of, remove_units, slot_of

Slots = tuple[Slot | None, ...]
Storage = Mapping[str, tuple[Lot, ...]]


def units_in(slots: Sequence[Slot | None]) -> dict[str, int]:
    """Units by product with a slot, in the order of the slots; 0 where it is sold out."""
    found: dict[str, int] = {}
    for slot in slots:
        if slot is not None:
            product, lots = slot
            units = found.get(product, 0)
            for lot in lots:
                units += lot[0]
            found[product] = units
    return found


def take_out(slots: list[Slot | None], machine: Iterable[int], sold: Mapping[str, int]) -> None:
    """Take what was sold out of the slots of a machine, oldest last day first."""
    left = dict(sold)
    for place in machine:
        if (slot := slots[place]) is None:
            continue
        product, lots = slot
        if not lots or not (take := left.get(product)):
            continue
        there, cost_cents, last_day = lots[0]
        if take < there:  # mostly, for which the general way is too slow
            slots[place] = slot_of((product, (lot_of((there - take, cost_cents, last_day)), *lots[1:])))
            left[product] = 0
        else:
            lots, taken = remove_units(lots, take)
            slots[place] = slot_of((product, lots))
            left[product] = take - taken


class Unspoiled(NamedTuple):
    """The goods after the end of a day."""

    slots: Slots
    storage: Storage
    spoiled: dict[str, int]
    """Units by product."""
    spoiled_cents: int
    """What these had cost."""


def unspoiled(slots: Sequence[Slot | None], storage: Storage, day: int) -> Unspoiled:
    """Throw away the lots that could be sold up to that day."""
    spoiled: dict[str, int] = {}
    cents = 0

    def fresh(product: str, lots: tuple[Lot, ...]) -> tuple[Lot, ...]:
        nonlocal cents
        for lot in lots:
            if lot.last_day <= day:
                spoiled[product] = spoiled.get(product, 0) + lot.units
                cents += lot.units * lot.cost_cents
        return tuple([lot for lot in lots if lot.last_day > day])

    kept = tuple(
        [
            slot_of((slot[0], fresh(*slot))) if slot is not None and slot[1] and slot[1][0][2] <= day else slot
            for slot in slots
        ]
    )
    if any(lots[0].last_day <= day for lots in storage.values()):
        storage = {id: left for id, lots in storage.items() if (left := fresh(id, lots))}
    return Unspoiled(kept, storage, spoiled, cents)
