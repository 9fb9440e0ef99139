"""The corpus of letters with their intents by hand; `letters/README.md` explains the notation."""

import re
import tomllib
from collections.abc import Iterator, Mapping
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
    marks: tuple[tuple[str, str], ...] = ()
    """The lines that hold words, a subject first, each with its kind; none where the lines are not marked."""

    @property
    def held_out(self) -> bool:
        """Whether the reader was written, and last changed, without it."""
        return self.file == "held_out"

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
_MARKED = re.compile(
    r"^(?P<kind>none|order|confirm|change|cancel|claim|negotiate|ask_(?:price|terms|order|other)|complain|thank)"
    r"\| ?(?P<text>.*)$",
    re.MULTILINE,
)
"""A line of a letter with its kind before it."""


@cache
def corpus() -> tuple[Example, ...]:
    """All letters of the corpus."""
    return tuple(_examples())


def fresh() -> tuple[Example, ...]:
    """The letters of `fresh`, from which nothing was learned yet."""
    return tuple(_examples("fresh/*.yaml"))


def _examples(files: str = "*.yaml") -> Iterator[Example]:
    for path in sorted(HERE.glob(files)):
        for entry in yaml.load(path.read_text(encoding="utf-8"), LOADER):
            marks = tuple((line["kind"], line["text"]) for line in _MARKED.finditer(entry["text"]))
            text = _MARKED.sub(r"\g<text>", entry["text"]) if marks else entry["text"]
            yield Example(path.stem, *split_subject(text), tuple(entry["is"]), marks)


@cache
def read(example: Example) -> tuple[Intent, ...]:
    return understand(SETUP, example.subject, example.body)[0]


def judged(example: Example) -> tuple[int, int]:
    """How many intents of a letter were read right, and how many there are, with those that were read beside them."""
    left = list(read(example))
    right = 0
    for label in map(parse_label, example.labels):
        match = next((intent for intent in left if label.matches(intent)), None)
        if match is not None:
            left.remove(match)
            right += 1
    missed = len(example.labels) - right
    return right, len(example.labels) + max(0, len(left) - missed)


def share_right(examples: Mapping[Example, tuple[int, int]]) -> float:
    return sum(right for right, _ in examples.values()) / sum(total for _, total in examples.values())
