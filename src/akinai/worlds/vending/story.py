"""A ledger folded once into what the detectors ask: steps, closed days, letters with their answers, goods, words."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from akinai.core.actions import Unreadable
from akinai.core.findings import Finding, Severity
from akinai.core.ledger import Ledger
from akinai.core.worlds import Step, World, walk
from akinai.worlds.vending import actions as a
from akinai.worlds.vending.setup import Product, Setup
from akinai.worlds.vending.state import Book, Letter, Order, State
from akinai.worlds.vending.words import plain

__all__ = [
    "Answer",
    "Close",
    "Delivery",
    "Purchase",
    "Story",
    "Words",
    "found",
    "has_room",
    "lying",
    "standing",
    "told",
]

Scene = Step[State]


@dataclass(frozen=True, slots=True)
class Close:
    """A day that was closed."""

    book: Book
    scene: Scene
    """The entry in whose course midnight came."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """An order that was placed and charged."""

    order: Order
    asked: Scene
    """The letter or the form that asked for it."""
    placed: Scene
    """The entry in whose course it was charged: for a letter, the one that brought the next morning."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A letter to a supplier and what came back."""

    asked: Scene
    answered: Scene
    body: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """An order that came."""

    order: Order
    scene: Scene


@dataclass(frozen=True, slots=True)
class Words:
    """What an actor wrote of its own accord, in one entry."""

    scene: Scene
    text: str
    """With one kind of space, dash and line end, as `plain` makes it."""


@dataclass(frozen=True)
class Story:
    """A run as its detectors read it. Everything here follows from the ledger alone."""

    setup: Setup
    scenes: Sequence[Scene]
    closes: Sequence[Close]
    purchases: Sequence[Purchase]
    """In the order of asking."""
    answers: Sequence[Answer]
    deliveries: Sequence[Delivery]
    words: Sequence[Words]

    @staticmethod
    def of(ledger: Ledger, world: World[State]) -> "Story":
        """Fold a ledger, once. Raises as `walk` does."""
        return Story.told(walk(world, ledger.genesis, ledger.entries), Setup.model_validate(ledger.genesis.setup))

    @staticmethod
    def told(steps: Iterable[Scene], setup: Setup) -> "Story":
        """The story in steps that somebody has walked already."""
        gathering = _Gathering(setup)
        for scene in steps:
            gathering.add(scene)
        purchases = sorted(gathering.purchases, key=lambda one: (one.asked.entry.seq, one.order.number))
        return Story(
            setup,
            gathering.scenes,
            gathering.closes,
            purchases,
            gathering.answers,
            gathering.deliveries,
            gathering.words,
        )

    @cached_property
    def by_actor(self) -> Mapping[str, Sequence[Scene]]:
        """Each actor's own entries."""
        kept: dict[str, list[Scene]] = {}
        for scene in self.scenes:
            kept.setdefault(scene.entry.actor, []).append(scene)
        return kept

    def delivered_before(self, scene: Scene) -> Iterator[Delivery]:
        """What had come when an entry began."""
        for one in self.deliveries:
            if one.scene.entry.seq >= scene.entry.seq:
                return
            yield one

    def on_its_way(self, scene: Scene) -> Iterator[Purchase]:
        """What was asked for before an entry and had not come when it began, letters not yet answered included."""
        there = {order.number for order in scene.before.orders}
        for one in self.purchases:
            if one.asked.entry.seq >= scene.entry.seq:
                return
            if one.placed.entry.seq >= scene.entry.seq or one.order.number in there:
                yield one


@dataclass
class _Gathering:
    """A story as it is being told."""

    setup: Setup
    scenes: list[Scene] = field(default_factory=list[Scene])
    closes: list[Close] = field(default_factory=list[Close])
    purchases: list[Purchase] = field(default_factory=list[Purchase])
    answers: list[Answer] = field(default_factory=list[Answer])
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    words: list[Words] = field(default_factory=list[Words])
    letters: dict[int, Scene] = field(default_factory=dict[int, Scene])
    """By number, of those that wait for an answer."""

    def add(self, scene: Scene) -> None:
        before, after = scene.before, scene.after
        self.scenes.append(scene)
        self.words += [Words(scene, plain(text)) for text in told(scene)]
        if after is before:
            return
        if after.book is not None and after.book is not before.book:
            self.closes.append(Close(after.book, scene))
        if isinstance(scene.turn.action, a.SendEmail) and scene.outcome.ok:
            self.letters[before.mail.letters + 1] = scene
        if before.mail.waiting and after.mail.waiting is not before.mail.waiting:
            self._answer(scene)
        if after.order_count > before.order_count and isinstance(scene.turn.action, a.PlaceOrder):
            new = [order for order in after.orders if order.number == before.order_count + 1]
            self.purchases += [Purchase(order, scene, scene) for order in new]
        if after.orders is not before.orders:
            left = {order.number for order in after.orders}
            self.deliveries += [Delivery(one, scene) for one in before.orders if one.number not in left]

    def _answer(self, scene: Scene) -> None:
        """Each letter that a morning answered, with its answer and the order it made: a supplier answers in turn."""
        waiting = {letter.number for letter in scene.after.mail.waiting}
        due = [letter for letter in scene.before.mail.waiting if letter.number not in waiting]
        if not due:
            return
        last = scene.before.mail.letters
        replies = [one for one in scene.after.mail.unread if one.number > last and not _NOTICE.match(one.body)]
        for letter in due:
            asked = self.letters.pop(letter.number, None)
            supplier = self.setup.catalog.supplier_by_address.get(letter.to.lower())
            reply = next((one for one in replies if supplier and one.sender == supplier.address), None)
            if asked is None or reply is None:
                continue
            replies.remove(reply)
            self.answers.append(Answer(asked, scene, reply.body))
            if order := _placed(scene, reply):
                self.purchases.append(Purchase(order, asked, scene))


_NOTICE = re.compile(r"Dear customer,\n\nOrder \d+(?: was delivered on|, promised for )")
_ORDER = re.compile(r"^Order (\d+) is placed\.$", re.MULTILINE)


def _placed(scene: Scene, reply: Letter) -> Order | None:
    number = _ORDER.search(reply.body)
    return next((one for one in scene.after.orders if number and one.number == int(number[1])), None)


def told(scene: Scene) -> Iterator[str]:
    """The texts of an entry that are its actor's own."""
    if scene.turn.said:
        yield scene.turn.said
    match scene.turn.action:
        case Unreadable(text=text) | a.NotepadWrite(text=text) | a.AddMemory(text=text) | a.Report(text=text):
            yield text
        case a.DelegateEmail(task=text) | a.DelegateResearch(task=text) | a.DelegatePhysical(task=text):
            yield text
        case a.ChatWithSubAgent(message=text):
            yield text
        case a.UpdateNotes(key=key, content=text):
            yield f"{key.replace('_', ' ')}: {text}"
        case a.SendEmail(subject=subject, body=body):
            yield f"{subject}\n\n{body}"
        case _:
            return


def standing(state: State, product: str) -> int:
    """Units of a product in the machine."""
    return sum([slot.units for slot in state.slots if slot is not None and slot.product == product])


def lying(state: State, product: str) -> int:
    """Units of a product in storage."""
    return sum([lot.units for lot in state.storage.get(product, ())])


def has_room(state: State, product: Product) -> bool:
    """Whether a slot of its size holds nothing, or it has a slot of its own."""
    small = state.setup.small_slots
    slots = state.slots[:small] if product.size == "small" else state.slots[small:]
    return any(slot is None or not slot.lots or slot.product == product.id for slot in slots)


def found(
    type: str, scenes: Sequence[Scene], severity: Severity, *, assumed: str, true: str, actor: str | None = None
) -> Finding:
    """A finding from the entries that show it; unless told, the last one's actor made the mistake."""
    entries = {scene.entry.seq: scene for scene in scenes}
    last = entries[max(entries)].entry
    return Finding(type, actor or last.actor, tuple(sorted(entries)), severity, assumed, true, last.at)
