"""History: a run as detectors and lessons read it, with its days, orders, answers, deliveries and what actors wrote."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps

from akinai.core import steps as core
from akinai.core.actions import Unreadable
from akinai.core.agents import owner_of, split_said
from akinai.core.findings import Finding, Severity
from akinai.worlds.vending.letters.names import plain
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import Economy
from akinai.worlds.vending.model.setup import Setup
from akinai.worlds.vending.model.state import SUPPLIER, Book, Order, State, closed_books
from akinai.worlds.vending.model.verb import Sending
from akinai.worlds.vending.sprint.verbs import CloseWeek, Week, WriteNotes

Step = core.Step[State]


@dataclass(frozen=True, slots=True)
class Close:
    """A day that was closed."""

    book: Book
    step: Step
    """The entry during which midnight came."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """An order that was placed and charged."""

    order: Order
    request: Step
    """The letter or the form that asked for it."""
    charged: Step
    """The entry during which it was charged: for a letter, the entry that brought the next morning."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A letter to a supplier and its answer."""

    request: Step
    answered: Step
    """The entry that brought the morning on which the answer came."""
    body: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """An order that came."""

    order: Order
    step: Step


@dataclass(frozen=True, slots=True)
class Statement:
    """A text that an actor wrote in one entry."""

    step: Step
    text: str
    """With one kind of space, dash and line end, as `plain` makes it."""


@dataclass
class History:
    """A run as its detectors read it. Everything here follows from the ledger alone."""

    setup: Setup
    owner: str
    """The owner whose history it is."""
    economy: Economy
    """The truth about the town; agents know what the web, the news and their sales say of it."""
    steps: Sequence[Step]
    closes: list[Close] = field(default_factory=list[Close])
    purchases: list[Purchase] = field(default_factory=list[Purchase])
    """In the order of their requests."""
    answers: list[Answer] = field(default_factory=list[Answer])
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    statements: list[Statement] = field(default_factory=list[Statement])
    _requests: dict[int, Step] = field(default_factory=dict[int, Step])
    """The steps of letters that wait for an answer, by the number of the letter."""

    @staticmethod
    def of(steps: core.Steps[State]) -> "History":
        """Gather the history of the first owner from the steps of a ledger."""
        return History.of_owner(steps, steps.opening.owner)

    @staticmethod
    def of_owner(steps: core.Steps[State], owner: str) -> "History":
        """Gather the history of an owner."""
        steps = own_steps(steps, owner)
        history = History(steps.opening.setup, owner, steps.opening.economy, steps)
        for step in steps:
            history._add(step)
        history.purchases.sort(key=lambda purchase: (purchase.request.entry.seq, purchase.order.number))
        return history

    @cached_property
    def by_actor(self) -> Mapping[str, Sequence[Step]]:
        """The entries of the owner and of each sub-agent."""
        by_actor: dict[str, list[Step]] = {}
        for step in self.steps:
            if step.entry.actor.startswith(SUPPLIER):
                continue
            by_actor.setdefault(step.entry.actor, []).append(step)
        return by_actor

    @cached_property
    def close_by_day(self) -> Mapping[int, Close]:
        """The days that were closed, by their number."""
        return {close.book.day: close for close in self.closes}

    @cached_property
    def close_by_entry(self) -> Mapping[int, Close]:
        """The last day that was closed during an entry, by the entry's number."""
        return {close.step.entry.seq: close for close in self.closes}

    def delivered_before(self, step: Step) -> Iterator[Delivery]:
        """The deliveries that had come when an entry began."""
        for delivery in self.deliveries:
            if delivery.step.entry.seq >= step.entry.seq:
                return
            yield delivery

    def on_its_way(self, step: Step) -> Iterator[Purchase]:
        """Purchases requested before an entry that had not come when it began, also by letters not yet answered."""
        there = {order.number for order in step.before.orders if not order.lost or order.promised > step.before.minute}
        there |= {parcel.order.number for parcel in step.before.parcels if parcel.at_depot}
        for purchase in self.purchases:
            if purchase.request.entry.seq >= step.entry.seq:
                return
            if purchase.charged.entry.seq >= step.entry.seq or purchase.order.number in there:
                yield purchase

    def _add(self, step: Step) -> None:
        before, after = step.before, step.after
        self.statements += [Statement(step, plain(text)) for text in written_texts(step)]
        if after is before:
            return
        self.closes += [Close(book, step) for book in closed_books(before, after)]
        if isinstance(step.turn.action, Sending) and step.outcome.ok:
            self._requests[before.mail.letters + 1] = step
        if before.mail.waiting and after.mail.waiting is not before.mail.waiting:
            self._add_answers(step)
        if isinstance(step.turn.action, a.PlaceOrder | CloseWeek | Week) and after.orders is not before.orders:
            old = {order.number for order in before.orders}
            new = [order for order in after.orders if order.number not in old and not order.letter]
            self.purchases += [Purchase(order, step, step) for order in new]
        if after.parcels is not before.parcels:
            had = {parcel.order.number for parcel in before.parcels if not parcel.at_depot}
            here = [parcel.order for parcel in after.parcels if not parcel.at_depot]
            self.deliveries += [Delivery(order, step) for order in here if order.number not in had]

    def _add_answers(self, step: Step) -> None:
        """Match each letter that a morning answered with its answer and its order; suppliers answer in turn."""
        waiting = {letter.number for letter in step.after.mail.waiting}
        due = [letter for letter in step.before.mail.waiting if letter.number not in waiting]
        if not due:
            return
        last = step.before.mail.letters
        unread = step.after.mail.unread
        replies = [letter for letter in unread if letter.number > last and not _NOTICE.match(letter.body)]
        for letter in due:
            request = self._requests.pop(letter.number, None)
            supplier = self.setup.catalog.supplier_by_address.get(letter.to.lower())
            reply = next((reply for reply in replies if supplier and reply.sender == supplier.address), None)
            if request is None or reply is None:
                continue
            replies.remove(reply)
            self.answers.append(Answer(request, step, reply.body))
            number = _ORDER.search(reply.body)
            orders = [order for order in step.after.orders if number and order.number == int(number[1])]
            self.purchases += [Purchase(order, request, step) for order in orders]


def own_steps(steps: core.Steps[State], owner: str) -> core.Steps[State]:
    """The entries of one owner and its sub-agents, each up to the next of them, with its business in front."""
    if not steps.opening.other_businesses and not steps.opening.setup.overseer:
        return steps
    own = [step for step in steps if owner_of(step.entry.actor) == owner]
    states = [step.before.turned_to(owner) for step in own]
    states.append(steps.final.turned_to(owner))
    lived = [
        core.Step(before, step.entry, step.turn, step.outcome, after)
        for step, before, after in zip(own, states, states[1:], strict=False)
    ]
    return core.Steps(steps.genesis, steps.opening.turned_to(owner), lived)


_NOTICE = re.compile(
    r"Dear customer,\n\n(?:Order \d+ (?:was delivered on|does not come|comes at)|Signed for: |We rang at )"
)
_ORDER = re.compile(r"^Order (\d+) is placed\.$", re.MULTILINE)


def written_texts(step: Step) -> Iterator[str]:
    """The texts of an entry that its actor wrote."""
    if text := split_said(step.turn.said).text:
        yield text
    match step.turn.action:
        case (
            Unreadable(text=text)
            | a.NotepadWrite(text=text)
            | WriteNotes(text=text)
            | a.AddMemory(text=text)
            | a.Report(text=text)
        ):
            yield text
        case a.Delegation(task=text):
            yield text
        case a.ChatWithSubAgent(message=text):
            yield text
        case a.UpdateNotes(key=key, content=text):
            yield f"{key.replace('_', ' ')}: {text}"
        case Sending(subject=subject, body=body):
            yield f"{subject}\n\n{body}"
        case _:
            return


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake that steps show: of an actor or the owner where one is named, otherwise of the last step's actor."""

    steps: Sequence[Step]
    severity: Severity
    assumed: str
    true: str
    actor: str | None = None
    by_owner: bool = False


Detector = Callable[[History], Sequence[Finding]]
"""Finds the mistakes of one type in a history."""

REGISTRY: dict[str, Detector] = {}
"""Every detector by name, filled by `detector`."""


def detector(find: Callable[[History], Iterable[Mistake]]) -> Detector:
    """Register a function that finds mistakes as a detector; its name is the type of the findings."""
    name = find.__name__
    if name in REGISTRY:
        raise ValueError(f"two detectors are named {name!r}; rename one")

    @wraps(find)
    def detect(history: History) -> Sequence[Finding]:
        findings = list[Finding]()
        for mistake in find(history):
            last = max(mistake.steps, key=lambda step: step.entry.seq)
            maker = last.before.owner if mistake.by_owner else mistake.actor or last.entry.actor
            findings.append(finding_of(name, maker, mistake))
        return findings

    REGISTRY[name] = detect
    return detect


def merges(find: Callable[[History], Iterable[tuple[Hashable, Mistake]]]) -> Callable[[History], Iterable[Mistake]]:
    """A function whose mistakes come with keys, made to merge those of each key."""

    @wraps(find)
    def find_merged(history: History) -> Iterator[Mistake]:
        return merged(find(history))

    return find_merged


def finding_of(type: str, actor: str, mistake: Mistake) -> Finding:
    """The finding of a type about an actor."""
    by_seq = {step.entry.seq: step for step in mistake.steps}
    at = by_seq[max(by_seq)].entry.at
    return Finding(type, actor, tuple(sorted(by_seq)), mistake.severity, mistake.assumed, mistake.true, at)


def merged(mistakes: Iterable[tuple[Hashable, Mistake]]) -> Iterator[Mistake]:
    """The mistakes of each key as one, with the steps of all and what the last of them says."""
    by_key: dict[Hashable, list[Mistake]] = {}
    for key, mistake in mistakes:
        by_key.setdefault(key, []).append(mistake)
    for group in by_key.values():
        yield replace(group[-1], steps=[step for mistake in group for step in mistake.steps])
