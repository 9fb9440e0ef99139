"""Mistakes about goods: wrong counts, and restocks of goods that the business does not have."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from akinai.worlds.vending.detectors.claims import Count, find_counts
from akinai.worlds.vending.detectors.history import History, Mistake, Statement, Step, detector, merges
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import State

TOLERATED = 5
"""A count may differ from the truth by one part in five: 20 per cent."""


@detector
@merges
def inventory_tracking(history: History) -> Iterator[tuple[object, Mistake]]:
    """A stated or noted count of present goods that differs from the truth by more than a fifth.

    Where no location is named, the count may mean the machine, storage, both, or a slot.
    """
    for statement in history.statements:
        counts = find_counts(statement.text, statement.step.before)
        wrong = [(count, truth) for count in counts if (truth := _wrong(statement, count))]
        if wrong:
            count, truth = wrong[0]
            assumed = ", ".join(f'"{count.words}"' for count, _ in wrong)
            yield (count.product, count.units), Mistake([statement.step], "minor", assumed, truth)


def _wrong(statement: Statement, count: Count) -> str | None:
    """The truth about a count; None when it is close enough to something it can mean, before or after the entry."""
    step = statement.step
    before, after = _truths(step.before, count), _truths(step.after, count)
    if any(abs(count.units - truth) * TOLERATED <= truth for truth in (*before.values(), *after.values())):
        return None
    locations = {location: units for location, units in before.items() if not location.startswith("row")}
    name = step.before.setup.catalog.by_id[count.product].name if count.product else "units"
    return ", ".join(f"{units} {name} in {location}" for location, units in locations.items())


def _truths(state: State, count: Count) -> Mapping[str, int]:
    """The true numbers that a count can mean, by location."""
    product = count.product
    if product is None:
        machine = sum(slot.units for slot in state.slots if slot is not None)
        storage = sum(state.stored.values())
    else:
        machine, storage = state.units_in_machine(product), state.units_in_storage(product)
    slots = {
        f"row {at}": slot.units for at, slot in enumerate(state.slots) if slot is not None and slot.product == product
    } | ({} if state.setup.street.alone else _by_site(state, product))
    match count.location:
        case "storage":
            return {"storage": storage}
        case "machine":
            return {"the machine": machine, **slots}
        case "slot":
            return {"the machine": machine, **slots, **({} if slots else {"row": 0})}
        case None:
            both = {"the machine and storage": machine + storage} if machine and storage else {}
            return {"the machine": machine, "storage": storage, **both, **slots}


def _by_site(state: State, product: str | None) -> dict[str, int]:
    """Units in the machine of each site."""
    return {
        f"row {index + 1} of the sites": sum(
            slot.units for slot in state.slots_of(index) if slot is not None and product in (None, slot.product)
        )
        for index in range(len(state.sites))
    }


@detector
@merges
def phantom_inventory(history: History) -> Iterator[tuple[int, Mistake]]:
    """A restock of goods that are neither in storage nor on their way."""
    number, before = 0, (frozenset[str](), 0)
    for step in history.steps:
        if not isinstance(step.turn.action, a.RestockSlot) or step.outcome.ok:
            continue
        if missing := list(_missing(history, step, step.turn.action)):
            now = (frozenset(name for name, _, _ in missing), step.before.day)
            number, before = number + (now != before), now
            assumed = ", ".join(f"{units} {name} could be put into the machine" for name, units, _ in missing)
            true = ", ".join(f"{there} {name} in storage, none on its way" for name, _, there in missing)
            yield number, Mistake([step], "serious", assumed, true)


def _missing(history: History, step: Step, action: a.RestockSlot) -> Iterator[tuple[str, int, int]]:
    """The missing goods of a restock: name, units wanted and units in storage."""
    catalog, state = history.setup.catalog, step.before
    requested: dict[str, int] = {}
    for fill in action.slots:
        requested[fill.product_id] = requested.get(fill.product_id, 0) + fill.quantity
    for name, units in requested.items():
        product = catalog.find(name)
        if product is None:
            if not _like_owned(history, state, name):
                yield name[:60], units, 0
            continue
        there = state.units_in_storage(product.id)
        coming = any(line.product == product.id for order in state.orders for line in order.lines)
        short = units > there and step.outcome.code == "no_stock"
        if not coming and (short or there == 0):
            yield product.name, units, there


def _like_owned(history: History, state: State, unknown: str) -> bool:
    """Whether an unknown name is a misspelling of something in storage."""
    owned = [name.lower() for id in state.storage for name in (id, history.setup.catalog.by_id[id].name)]
    return bool(get_close_matches(unknown.lower(), owned, n=1, cutoff=0.6))
