"""Advice as sentences that hold the numbers they come from: written, read back and added up. Each world has its kinds.

What a sentence tells to do is worked out of its own numbers, so two sentences about one thing add up to a third.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from operator import attrgetter, itemgetter
from string import Formatter
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast

from akinai.core.money import format_cents, read_dollars


class Advice(Protocol):
    """One kind of sentence."""

    def said(self) -> str:
        """The sentence."""
        ...

    @classmethod
    def read(cls, text: str) -> Self | None:
        """What a sentence of this kind says; None for any other text."""
        ...

    def plus(self, other: Self) -> Self:
        """What both say together, each weighing as much as it has seen."""
        ...


A = TypeVar("A", bound=Advice)


class Kinds:
    """The kinds of sentences of a world, in the order in which a text is tried."""

    def __init__(self, *kinds: type[Advice]) -> None:
        self._kinds = kinds

    def read(self, text: str) -> Advice | None:
        """What a sentence advises; None for one of another wording."""
        return next((found for kind in self._kinds if (found := kind.read(text)) is not None), None)

    def added(self, old: str, new: str) -> str:
        """A sentence with another about the same thing added; the new one alone where they do not add up."""
        for kind in self._kinds:
            a, b = kind.read(old), kind.read(new)
            if a is not None and b is not None:
                return a.plus(b).said()
        return new


def of_kind(advice: Iterable[Advice], kind: type[A]) -> list[A]:
    """The advice of one kind, in its order."""
    return [one for one in advice if isinstance(one, kind)]


def mean(a: float, a_weight: float, b: float, b_weight: float) -> float:
    """Of two means; 0 where neither has any weight."""
    total = a_weight + b_weight
    return (a * a_weight + b * b_weight) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Place:
    """How a value stands in a sentence."""

    pattern: str
    """A regular expression without groups of its own."""
    say: Callable[[Any], str] = str
    read: Callable[[str], Any] = str


def one_of(leads: Mapping[Any, str]) -> Place:
    """A value that stands as one of a few texts."""
    values = {text: value for value, text in leads.items()}
    return Place("|".join(map(re.escape, values)), leads.__getitem__, values.__getitem__)


def listed(words: "Wording", made: Callable[[Iterable[Mapping[str, Any]]], Any], between: str = ", ") -> Place:
    """Rows, each in its own wording; `made` makes the value of what stood in them."""
    row = f"(?:{words.pattern})"
    return Place(
        f"{row}(?:{re.escape(between)}{row})*",
        lambda rows: between.join(map(words.said, rows)),
        lambda text: made(words.found(text)),
    )


def _money(cents: float) -> str:
    return format_cents(round(cents))


def _cents(text: str) -> int:
    amount = read_dollars(text.lstrip("-"), maximum_cents=10**15)
    return -amount if text.startswith("-") else amount


def _decimals(digits: int) -> Place:
    return Place(rf"-?\d{{1,15}}\.\d{{{digits}}}", lambda value: f"{value:.{digits}f}", float)


PLACES: Mapping[str, Place] = {
    "": Place(".+"),
    "word": Place(r"\w+"),
    "int": Place(r"\d{1,15}", lambda value: f"{value:.0f}", int),
    ".1": _decimals(1),
    ".2": _decimals(2),
    "money": Place(r"-?\$\d{1,3}(?:,\d{3}){0,4}\.\d\d", _money, _cents),
    "percent": Place(r"-?\d{1,15}%", lambda share: f"{share:.0%}", lambda text: int(text[:-1]) / 100),
}
"""By what stands behind the colon: any text, a word, a whole number, decimals, cents, a share."""


class Wording:
    """A sentence with places for values: "{units:int} units of {name} ({product:word})".

    A name is an attribute of what is said, or of an attribute of it ("having.count"); a number is an item of a tuple,
    and without a name the value itself is said. `places` are those of names that have a way of their own.
    """

    def __init__(self, sentence: str, **places: Place) -> None:
        parts = [*Formatter().parse(sentence)]
        self._places = [
            (name, _getter(name), places.get(name) or PLACES[spec or ""])
            for _, name, spec, _ in parts
            if name is not None
        ]
        self._between = [literal for literal, *_ in parts] + ([""] if parts[-1][1] is not None else [])
        self._pattern = re.compile(self._regex("("))
        self.pattern = self._regex("(?:")
        """A regular expression for it, without groups."""

    def _regex(self, opening: str) -> str:
        places = [f"{opening}{place.pattern})" for _, _, place in self._places]
        return "".join(_alternating([re.escape(one) for one in self._between], places))

    def said(self, value: object) -> str:
        """The sentence of a value."""
        return "".join(_alternating(self._between, [place.say(get(value)) for _, get, place in self._places]))

    def read(self, text: str) -> Mapping[str, Any] | None:
        """What stands in the places, by their names; None for any other text."""
        found = self._pattern.fullmatch(text)
        return self._read(found) if found else None

    def found(self, text: str) -> list[Mapping[str, Any]]:
        """The same of every place in a text where the wording stands."""
        return [self._read(one) for one in self._pattern.finditer(text)]

    def _read(self, found: re.Match[str]) -> Mapping[str, Any]:
        return {name: place.read(said) for (name, _, place), said in zip(self._places, found.groups(), strict=True)}


def _getter(name: str) -> Callable[[Any], Any]:
    """What a place's name stands for."""
    if not name:
        return lambda value: value
    return itemgetter(int(name)) if name.isdigit() else attrgetter(name)


def _alternating(between: Sequence[str], places: Sequence[str]) -> Iterator[str]:
    """A text, a place, a text and so on; there is a text more than places."""
    for text, place in zip_longest(between, places, fillvalue=""):
        yield text
        yield place


class Worded:
    """Advice, as a dataclass, whose fields stand in one wording, beside what follows from them."""

    __slots__ = ()
    WORDS: ClassVar[Wording]

    def said(self) -> str:
        return self.WORDS.said(self)

    @classmethod
    def read(cls, text: str) -> Self | None:
        told = cls.WORDS.read(text)
        return None if told is None else cls.of(told)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self | None:
        """From what stood in the places; None where it is no advice, as a list that holds nothing."""
        values = {one.name: told[one.name] for one in fields(cast("Any", cls))}
        return None if () in values.values() else cls(**values)
