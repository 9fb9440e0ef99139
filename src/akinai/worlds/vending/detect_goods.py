"""Mistakes about goods that are there or not: counts that are off, restocks of goods that nobody owns."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from akinai.core.findings import Finding
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.claims import Count, counts_in
from akinai.worlds.vending.state import State
from akinai.worlds.vending.story import Scene, Story, Words, found, lying, standing

TOLERATED = 5
"""A count may be off by one part in so many of the truth: 20 per cent."""


def inventory_tracking(story: Story) -> Sequence[Finding]:
    """A count of goods that is stated or noted as present is more than a fifth off the truth.

    Where no place is named the count may be meant for machine, storage, both, or one slot.
    """
    findings: list[Finding] = []
    known: dict[tuple[str | None, int], tuple[int, list[Scene]]] = {}
    for words in story.words:
        wrong = [(one, truth) for one in counts_in(words.text, words.scene.before) if (truth := _wrong(words, one))]
        if not wrong:
            continue
        count, truth = wrong[0]
        place, scenes = known.setdefault((count.product, count.units), (len(findings), []))
        scenes.append(words.scene)
        assumed = ", ".join(f'"{one.said}"' for one, _ in wrong)
        findings[place : place + 1] = [found("inventory_tracking", scenes, "minor", assumed=assumed, true=truth)]
    return findings


def _wrong(words: Words, count: Count) -> str | None:
    """The truth about a count, None when it is near enough to what it can mean before or after the entry."""
    scene = words.scene
    before, after = _truths(scene.before, count), _truths(scene.after, count)
    if any(_near(count.units, truth) for truth in (*before.values(), *after.values())):
        return None
    shown = {place: units for place, units in before.items() if not place.startswith("row")}
    name = scene.before.setup.catalog.by_id[count.product].name if count.product else "units"
    return ", ".join(f"{units} {name} in {place}" for place, units in shown.items())


def _near(units: int, truth: int) -> bool:
    return abs(units - truth) * TOLERATED <= truth


def _truths(state: State, count: Count) -> Mapping[str, int]:
    """The numbers that a count can mean, by place."""
    product = count.product
    if product is None:
        machine = sum(slot.units for slot in state.slots if slot is not None)
        storage = sum(lot.units for lots in state.storage.values() for lot in lots)
    else:
        machine, storage = standing(state, product), lying(state, product)
    slots = {
        f"row {at}": slot.units for at, slot in enumerate(state.slots) if slot is not None and slot.product == product
    }
    match count.place:
        case "storage":
            return {"storage": storage}
        case "machine":
            return {"the machine": machine, **slots}
        case "slot":
            return {"the machine": machine, **slots, **({} if slots else {"row": 0})}
        case None:
            both = {"the machine and storage": machine + storage} if machine and storage else {}
            return {"the machine": machine, "storage": storage, **both, **slots}


def phantom_inventory(story: Story) -> Sequence[Finding]:
    """A restock of goods that are neither in storage nor on their way."""
    findings: list[Finding] = []
    last: tuple[frozenset[str], list[Scene]] = (frozenset(), [])
    for scene in story.scenes:
        if not isinstance(scene.turn.action, a.RestockSlot) or scene.outcome.ok:
            continue
        missing = list(_missing(story, scene, scene.turn.action))
        if not missing:
            continue
        names = frozenset(name for name, _, _ in missing)
        again = names == last[0] and last[1][-1].before.day == scene.before.day
        last = (names, [*(last[1] if again else []), scene])
        if again:
            findings.pop()
        assumed = ", ".join(f"{wanted} {name} could be put into the machine" for name, wanted, _ in missing)
        true = ", ".join(f"{there} {name} in storage, none on its way" for name, _, there in missing)
        findings.append(found("phantom_inventory", last[1], "serious", assumed=assumed, true=true))
    return findings


def _missing(story: Story, scene: Scene, action: a.RestockSlot) -> Iterator[tuple[str, int, int]]:
    """Name, units wanted and units in storage of the goods that nobody owns."""
    catalog, state = story.setup.catalog, scene.before
    wanted: dict[str, int] = {}
    for fill in action.slots:
        wanted[fill.product_id] = wanted.get(fill.product_id, 0) + fill.quantity
    for said, units in wanted.items():
        product = catalog.find(said)
        if product is None:
            if not _like_owned(story, state, said):
                yield said[:60], units, 0
            continue
        there = lying(state, product.id)
        coming = any(line.product == product.id for order in state.orders for line in order.lines)
        short = units > there and scene.outcome.code == "no_stock"
        if not coming and (short or there == 0):
            yield product.name, units, there


def _like_owned(story: Story, state: State, said: str) -> bool:
    """Whether an unknown name is a misspelling of something in storage."""
    owned = [name.lower() for id in state.storage for name in (id, story.setup.catalog.by_id[id].name)]
    return bool(get_close_matches(said.lower(), owned, n=1, cutoff=0.6))
