"""Transcript: an entry, and the place after it, as data that a page or a terminal shows.

A world's presentation facet makes them. All text in them may be written by agents: show it as text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from akinai.core.canonical import Json, JsonRecord

ItemKind = Literal[
    "search", "letter", "inbox", "look", "order", "goods", "restock", "price", "cash", "note", "wait", "night", "task",
    "report", "message", "proposal", "payment", "enter", "leave", "answer", "unreadable", "other",
]  # fmt: skip
"""The kind of an entry; pages choose its look by it."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter or a message, whole."""

    sender: str
    to: str
    subject: str
    body: str
    number: int = 0
    """Its number in a mailbox that numbers letters; 0 elsewhere."""
    at: str = ""
    """When it was sent, in words."""
    entry: int = 0
    """The entry that sent it, where that entry shows it in full; 0 where only this one does."""
    block: Literal["letter"] = field(default="letter", init=False)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows under heads: a receipt, what was put into slots, new prices, a day's sales, results of a search."""

    name: str
    """The kind, in snake_case: "receipt", "restock", "prices", "sales", "results", "delivery", "proposal"."""
    columns: Mapping[str, str]
    """Heads with their units: "cents", "units", "count" or "" for words."""
    rows: tuple[tuple[Json, ...], ...]
    title: str = ""
    total_cents: int | None = None
    entry: int = 0
    """The entry that led to it, such as that of the letter which ordered the goods of a receipt; 0: this entry."""
    note: str = ""
    """A further sentence, such as when goods are promised."""
    block: Literal["sheet"] = field(default="sheet", init=False)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text: a note, a task, a report, a question."""

    name: str
    """The kind, in snake_case."""
    text: str
    block: Literal["passage"] = field(default="passage", init=False)


Block: TypeAlias = Letter | Sheet | Passage


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry as a transcript shows it."""

    kind: ItemKind
    summary: str
    """The action in one line."""
    blocks: tuple[Block, ...] = ()
    touched: tuple[str, ...] = ()
    """Keys of the slots that it changed by hand, as in `Shelf.slots`."""
    outcome: bool = True
    """Whether the words of the outcome add to summary and blocks."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the place."""

    name: str
    label: str
    value: int | float
    unit: str
    """"cents", or what is counted."""


@dataclass(frozen=True, slots=True)
class SlotView:
    """The content of a slot."""

    item: str
    """The id of the product."""
    units: int
    price_cents: int | None = None
    """None without a price."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Slots in rows: a machine."""

    name: str
    """Its location; empty for the only one."""
    columns: int
    capacities: tuple[int, ...]
    """The most units of each slot, row by row."""
    slots: Mapping[str, SlotView | None]
    """By key, row by row; None is an empty slot. Keys such as "A1" name row and column; with several shelves
    the shelf's number stands before: "2:A1"."""
    state: str = ""
    """An unusual state, such as "sealed"."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Things of the place, each a row under its key: goods in storage, lorries on their way, participants."""

    name: str
    title: str
    columns: Mapping[str, str]
    """Heads with their units, as in a sheet."""
    rows: Mapping[str, tuple[Json, ...]]


class Comparison(Listing):
    """A listing whose columns are compared: it is drawn under its heads, and the least of several amounts in a row is
    marked."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Place:
    """The place at a moment: what a page draws beside the transcript."""

    figures: tuple[Figure, ...] = ()
    shelves: tuple[Shelf, ...] = ()
    listings: tuple[Listing, ...] = ()


@dataclass(frozen=True, slots=True)
class Street(Place):
    """The places of several seats side by side; what it holds itself is about all of them."""

    parts: Mapping[str, Place] = field(default_factory=dict[str, Place])
    """The place of each, by its name."""


@dataclass(frozen=True, slots=True)
class Dealing(JsonRecord):
    """What one seat sent another: a letter, money, an offer of goods or its acceptance, or the goods."""

    entry: int
    """The entry that brought it."""
    sender: str
    to: str
    kind: Literal["letter", "payment", "offer", "goods"]
    text: str
    """Its first line, or what was handed over."""

    def concerns(self, seat: str) -> bool:
        return seat in (self.sender, self.to)


@dataclass(frozen=True, slots=True)
class Item:
    """A product, as pages name it."""

    id: str
    name: str
    category: str = ""
    size: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """A participant in a world of several sides."""

    id: str
    name: str
    side: str
    about: str
    wants: tuple[tuple[str, int], ...] = ()
    """Items with cents: a buyer's willingness to pay, a seller's price."""
    needs: tuple[str, ...] = ()
    """Features that a buyer requires beside the items, or that a seller has."""
    figures: tuple[Figure, ...] = ()
    """This participant's results of the run."""


TalkState = Literal["asked", "offered", "paid"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message in a conversation."""

    entry: int
    at: int
    """Microseconds since the epoch."""
    sender: str
    kind: Literal["text", "proposal", "payment"]
    text: str
    deal: str = ""
    """The id of the deal that it proposes or pays."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An offer of a seller, as its buyer sees it."""

    deal: str
    entry: int
    seller: str
    buyer: str
    lines: tuple[tuple[str, int, int], ...]
    """Item, units, cents for a unit."""
    total_cents: int
    rank: int
    """Its rank by arrival among those that the buyer got, from 1."""
    of: int
    """The number of proposals that the buyer got."""
    status: str
    """Its status for the buyer: "unread", "pending", "accepted", "expired"."""
    fits: bool
    """Whether it has all that the buyer wants and needs."""
    surplus_cents: int
    """The buyer's gain: its willingness to pay, doubled as in the score, less the total."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of two participants."""

    buyer: str
    seller: str
    state: TalkState
    utterances: tuple[Utterance, ...]
    proposals: tuple[Proposal, ...] = ()


@dataclass(frozen=True, slots=True)
class Crowd:
    """The participants of a run, and their conversations."""

    people: tuple[Person, ...] = ()
    talks: tuple[Talk, ...] = ()
    """Paid ones first, then offered, then asked."""
    verdict: str = ""
    """The result in a sentence or two."""
