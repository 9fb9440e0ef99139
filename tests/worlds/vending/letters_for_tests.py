"""The corpus of letters with their intents by hand; `letters/README.md` explains the notation."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

import akinai.worlds.vending as vending
from akinai.worlds.vending.letters.intents import Intent
from akinai.worlds.vending.letters.text import split_subject
from akinai.worlds.vending.model.setup import Catalog, Setup
from akinai.worlds.vending.rules.suppliers.answers import understand

HERE = Path(__file__).parent / "letters"
CATALOG = Catalog.model_validate(tomllib.loads(Path(vending.__file__).with_name("catalog.toml").read_text()))
SETUP = Setup(catalog=CATALOG)


@dataclass
class Label:
    """An intent as it was written by hand."""

    kind: str
    topic: str = "other"
    orders: set[int] = field(default_factory=set)
    quotes: set[int] = field(default_factory=set)
    numbers: dict[str, dict[str, int]] = field(default_factory=lambda: {sign: {} for sign in "=@~-"})
    """By sign: units, offered cents, received units, missing units; each by product."""
    rival: int | None = None
    off: int | None = None

    def matches(self, intent: Intent) -> bool:
        """Whether a reading is right in all that the label says; it cannot speak of an offer without goods."""
        units, received, missing = (self.numbers[sign] for sign in "=~-")
        exact = self.kind in ("order", "change") or bool(units)
        lacking = {id: count for id, count in intent.items.units.items() if id not in received}
        came = {id: count for id, count in intent.received.items() if id not in missing}
        return (
            self.kind == intent.kind
            and (self.kind != "ask" or self.topic == intent.topic)
            and (not exact or units == dict(intent.items.units))
            and (not self.orders or self.orders == set(intent.orders))
            and (not self.quotes or self.quotes == set(intent.quotes))
            and (self.kind != "negotiate" or self._offers(intent))
            and (self.rival is None or self.rival in intent.rivals.values())
            and (self.off is None or self.off * 10 == intent.off_permille)
            and (not (missing or received) or missing == lacking)
            and (not received or received == came)
        )

    def _offers(self, intent: Intent) -> bool:
        """Whether the prices offered are those of the label; to name a rival's price is to offer it where no other is,
        as suppliers take it."""
        offers, read = self.numbers["@"], {id: cents for id, cents in intent.offers.items() if id}
        return offers == read or (
            self.rival is not None and not (offers and read) and (offers or read) == intent.rivals
        )


@dataclass(frozen=True)
class Example:
    """A letter of the corpus."""

    file: str
    subject: str
    body: str
    labels: tuple[str, ...]

    @property
    def orders(self) -> bool:
        """Whether it orders or confirms anything."""
        return any(label.startswith(("order", "confirm")) for label in self.labels)


def parse_label(text: str) -> Label:
    kind, *parts = text.split()
    label = Label(kind)
    for part in parts:
        if match := re.fullmatch(r"(order|quote)=(\d+)", part):
            (label.orders if match[1] == "order" else label.quotes).add(int(match[2]))
        elif match := re.fullmatch(r"(rival|off)=(\d+)", part):
            setattr(label, match[1], int(match[2]))
        elif match := re.fullmatch(r"(\w+)([=@~-])(\d+)", part):
            label.numbers[match[2]][match[1]] = int(match[3])
        elif kind == "ask":
            label.topic = part
    return label


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def corpus() -> tuple[Example, ...]:
    """All letters of the corpus."""
    return tuple(_examples())


def _examples() -> Iterator[Example]:
    for path in sorted(HERE.glob("*.yaml")):
        for entry in yaml.load(path.read_text(encoding="utf-8"), LOADER):
            yield Example(path.stem, *split_subject(entry["text"]), tuple(entry["is"]))


@cache
def read(example: Example) -> tuple[Intent, ...]:
    return understand(SETUP, example.subject, example.body)[0]


def kinds_right(examples: Sequence[Example]) -> tuple[int, int]:
    """How many intents by hand are read by kind and, of questions, topic; and how many there are."""
    right = total = 0
    for example in examples:
        kinds = [(intent.kind, intent.topic if intent.kind == "ask" else None) for intent in read(example)]
        for label in map(parse_label, example.labels):
            kind = (label.kind, label.topic if label.kind == "ask" else None)
            total += 1
            if kind in kinds:
                kinds.remove(kind)
                right += 1
    return right, total


def set_aside() -> tuple[Example, ...]:
    """The letters that were written before the reader: those that order nothing, then clear orders with their goods."""
    innocent, orders = ((HERE / name).read_text("utf-8") for name in ("nothing_ordered.txt", "clear_orders.txt"))
    examples = [Example("nothing_ordered", *split_subject(text), ("other",)) for text in innocent.split("\n%%\n")]
    for entry in orders.split("\n%%\n"):
        text, _, goods = entry.rpartition("\n== ")
        examples.append(Example("clear_orders", *split_subject(text), (f"order {goods.strip()}",)))
    return tuple(examples)
