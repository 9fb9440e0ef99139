"""Lessons, which a record teaches to later players, and advice, worded so that its numbers can be read back.

A sentence's advice follows from its own numbers, so two sentences about one thing merge into a third.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain, zip_longest
from operator import attrgetter, itemgetter
from string import Formatter
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast

from akinai.core.canonical import Json
from akinai.core.money import format_cents, read_dollars


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing learned from one ledger, worded so that a person, a model and a rule-based player can follow it."""

    section: str
    """The name of the section of the playbook."""
    content: str
    """The sentence. Its numbers are estimated from that ledger."""
    keywords: tuple[str, ...] = ()
    """Words by which it should be found beside those of the content; none: the learner picks some."""
    about: str = ""
    """The subject: "price of cola". A later lesson of the same section on the same subject changes the bullet that the
    earlier one made; an empty subject makes a bullet of its own."""
    entries: tuple[int, ...] = ()
    """Numbers of the entries that show it, in rising order."""

    @classmethod
    def of(cls, section: str, about: str, advice: "Advice", entries: Iterable[int], *keywords: str) -> Self:
        """A lesson that says one piece of advice; `entries` in any order."""
        return cls(section, advice.sentence(), keywords, about, tuple(sorted(set(entries))))

    def to_json(self) -> Mapping[str, Json]:
        return {
            "section": self.section,
            "content": self.content,
            "keywords": list(self.keywords),
            "about": self.about,
            "entries": list(self.entries),
        }


class Advice(Protocol):
    """One kind of sentence."""

    def sentence(self) -> str:
        """The sentence."""
        ...

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The advice in a sentence of this kind; None for any other text."""
        ...

    def merge(self, other: Self) -> Self:
        """The advice of both, each weighted by its observations."""
        ...


A = TypeVar("A", bound=Advice)


class AdviceKinds:
    """The kinds of sentences of a world, in the order in which a text is tried."""

    def __init__(self, *kinds: type[Advice]) -> None:
        self._kinds = kinds

    def parse(self, text: str) -> Advice | None:
        """The advice in a sentence; None for a sentence of another wording."""
        return next((advice for kind in self._kinds if (advice := kind.parse(text)) is not None), None)

    def merge(self, old: str, new: str) -> str:
        """A sentence merged with another about the same thing; the new sentence alone where they do not merge."""
        for kind in self._kinds:
            a, b = kind.parse(old), kind.parse(new)
            if a is not None and b is not None:
                return a.merge(b).sentence()
        return new


def of_kind(advice: Iterable[Advice], kind: type[A]) -> list[A]:
    """The advice of one kind, in its order."""
    return [item for item in advice if isinstance(item, kind)]


def weighted_mean(a: float, a_weight: float, b: float, b_weight: float) -> float:
    """The weighted mean of two means; 0 where neither has any weight."""
    total = a_weight + b_weight
    return (a * a_weight + b * b_weight) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Placeholder:
    """How a value is written in a sentence."""

    pattern: str
    """A regular expression without groups of its own."""
    format: Callable[[Any], Any] = str
    parse: Callable[[str], Any] = str


def choice(texts: Mapping[Any, str]) -> Placeholder:
    """A value that is written as one of a few texts."""
    values = {text: value for value, text in texts.items()}
    return Placeholder("|".join(map(re.escape, values)), texts.__getitem__, values.__getitem__)


def repeated(
    row: "SentenceTemplate", make: Callable[[Iterable[Mapping[str, Any]]], Any], separator: str = ", "
) -> Placeholder:
    """Rows, each written by its own template; `make` turns the values that were read in them into one."""
    pattern = f"(?:{row.pattern})"
    return Placeholder(
        f"{pattern}(?:{re.escape(separator)}{pattern})*",
        lambda rows: separator.join(map(row.format, rows)),
        lambda text: make(row.find_all(text)),
    )


def _money(cents: float) -> str:
    return format_cents(round(cents))


def _cents(text: str) -> int:
    amount = read_dollars(text.lstrip("-"), maximum_cents=10**15)
    return -amount if text.startswith("-") else amount


def _decimals(digits: int) -> Placeholder:
    return Placeholder(rf"-?\d{{1,15}}\.\d{{{digits}}}", lambda value: f"{value:.{digits}f}", float)


PLACEHOLDERS: Mapping[str, Placeholder] = {
    "": Placeholder(".+"),
    "word": Placeholder(r"\w+"),
    "int": Placeholder(r"\d{1,15}", lambda value: f"{value:.0f}", int),
    ".1": _decimals(1),
    ".2": _decimals(2),
    "money": Placeholder(r"-?\$\d{1,3}(?:,\d{3}){0,4}\.\d\d", _money, _cents),
    "percent": Placeholder(r"-?\d{1,15}%", lambda share: f"{share:.0%}", lambda text: int(text[:-1]) / 100),
}
"""By the format after the colon: any text, a word, a whole number, decimals, cents, a share."""


class SentenceTemplate:
    """A sentence with placeholders: "{units:int} units of {name} ({product:word})".

    A name is an attribute of the value, or an attribute of an attribute ("having.count"); a number is an item of a
    tuple, and without a name the placeholder holds the value itself. `placeholders` are those that names have of their
    own.
    """

    def __init__(self, sentence: str, **placeholders: Placeholder) -> None:
        parts = [*Formatter().parse(sentence)]
        self._placeholders = [
            (name, _getter(name), placeholders.get(name) or PLACEHOLDERS[spec or ""])
            for _, name, spec, _ in parts
            if name is not None
        ]
        self._literals = [literal for literal, *_ in parts] + ([""] if parts[-1][1] is not None else [])
        self._regex = re.compile(self._pattern("("))
        self.pattern = self._pattern("(?:")
        """A regular expression for the sentence, without groups."""

    def _pattern(self, opening: str) -> str:
        patterns = [f"{opening}{placeholder.pattern})" for _, _, placeholder in self._placeholders]
        return _interleave([re.escape(literal) for literal in self._literals], patterns)

    def format(self, value: object) -> str:
        """The sentence of a value."""
        texts = [placeholder.format(get(value)) for _, get, placeholder in self._placeholders]
        return _interleave(self._literals, texts)

    def parse(self, text: str) -> Mapping[str, Any] | None:
        """The values of the placeholders by name; None for any other text."""
        match = self._regex.fullmatch(text)
        return self._values(match) if match else None

    def find_all(self, text: str) -> list[Mapping[str, Any]]:
        """The values of the placeholders, for each place in a text where the sentence occurs."""
        return [self._values(match) for match in self._regex.finditer(text)]

    def _values(self, match: re.Match[str]) -> Mapping[str, Any]:
        pairs = zip(self._placeholders, match.groups(), strict=True)
        return {name: placeholder.parse(text) for (name, _, placeholder), text in pairs}


def _getter(name: str) -> Callable[[Any], Any]:
    """Reads the value of a placeholder."""
    if not name:
        return lambda value: value
    return itemgetter(int(name)) if name.isdigit() else attrgetter(name)


def _interleave(literals: Sequence[str], texts: Sequence[str]) -> str:
    """A literal, a text, a literal and so on; there is a literal more than texts."""
    return "".join(chain.from_iterable(zip_longest(literals, texts, fillvalue="")))


class TemplateAdvice:
    """Advice, as a dataclass, whose fields are written by a template."""

    __slots__ = ()
    TEMPLATE: ClassVar[SentenceTemplate]

    def sentence(self) -> str:
        return self.TEMPLATE.format(self)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        values = cls.TEMPLATE.parse(text)
        return None if values is None else cls.from_values(values)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self | None:
        """Advice from the values of the placeholders; None where they advise nothing, as an empty list does."""
        own = {field.name: values[field.name] for field in fields(cast("Any", cls))}
        return None if () in own.values() else cls(**own)
