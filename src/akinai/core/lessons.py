"""Lessons, which a record teaches to later players: a sentence for people and models, and a record, a kind and its
numbers, by which rule-based players are configured.

Advice follows from its own numbers, so two records about one thing merge into a third.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from itertools import chain, zip_longest
from operator import attrgetter, itemgetter
from string import Formatter
from typing import Annotated, Any, ClassVar, Protocol, Self, TypeVar, cast, get_type_hints

from pydantic import TypeAdapter, ValidationError

from akinai.core.canonical import Json, JsonRecord, canonical
from akinai.core.money import format_cents, read_dollars


@dataclass(frozen=True, slots=True)
class Lesson(JsonRecord):
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
    record: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Kind and numbers, for rule-based players; empty for a lesson in words alone."""

    @property
    def bullet(self) -> str:
        """The lesson as players are given it."""
        return with_record(self.content, self.record)

    @classmethod
    def of(cls, section: str, about: str, advice: "Advice", entries: Iterable[int], *keywords: str) -> Self:
        """A lesson that says one piece of advice; `entries` in any order."""
        return cls(section, advice.sentence(), keywords, about, tuple(sorted(set(entries))), advice.record())


RECORD = "lesson"
"""The field of a bullet that holds the record of its lesson."""
_TEXT = "text"


def with_record(sentence: str, record: Mapping[str, Json]) -> str:
    """A bullet as players are given it: the sentence, with its record where it has one as canonical JSON."""
    return canonical({RECORD: record, _TEXT: sentence}) if record else sentence


def split_record(bullet: str) -> tuple[str, Mapping[str, Json]]:
    """The sentence and the record of a bullet that `with_record` made; any other text has no record."""
    if bullet.startswith(f'{{"{RECORD}":'):
        try:
            match cast("Json", json.loads(bullet)):
                case {"lesson": dict() as record, "text": str(sentence)}:
                    return sentence, record
                case _:
                    pass
        except ValueError:
            pass
    return bullet, {}


def sentence_of(bullet: str) -> str:
    """The sentence of a bullet, for people and models."""
    return split_record(bullet)[0]


class Advice(Protocol):
    """One kind of lesson."""

    @classmethod
    def kind(cls) -> str:
        """The name of the kind in records."""
        ...

    def record(self) -> Mapping[str, Json]:
        """Kind and numbers, the numbers rounded as the sentence has them."""
        ...

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
    """The kinds of lessons of a world."""

    def __init__(self, *kinds: type[Advice]) -> None:
        self._kinds = {kind.kind(): kind for kind in kinds}

    def read(self, bullet: str) -> Advice | None:
        """The advice of a bullet, by its record; None for a bullet in other words.

        Without a record, as in playbooks of before, and where the sentence is no longer that of the record, as after
        an edit, the sentence is read.
        """
        sentence, record = split_record(bullet)
        kind = self._kinds.get(str(record.get(_KIND)))
        if kind is not None:
            try:
                advice = _adapter(kind).validate_python({k: v for k, v in record.items() if k != _KIND})
                if advice.sentence() == sentence:
                    return advice
            except (ValidationError, ValueError, ArithmeticError, LookupError):  # numbers that somebody wrote by hand
                pass
        parsed = (kind.parse(sentence) for kind in self._kinds.values())
        return next((advice for advice in parsed if advice is not None), None)

    def migrated(self, bullet: str) -> str:
        """The bullet with the record that its sentence has; as it is where that says nothing to these kinds."""
        advice = self.read(bullet)
        return bullet if advice is None else with_record(sentence_of(bullet), advice.record())

    def merge(self, old: str, new: str) -> str:
        """A bullet merged with another about the same thing; the new one alone where they do not merge."""
        a, b = self.read(old), self.read(new)
        if a is None or b is None or type(a) is not type(b):
            return new
        both = a.merge(b)
        return with_record(both.sentence(), both.record())


_KIND = "kind"


@cache
def _adapter(kind: type[Advice]) -> TypeAdapter[Advice]:
    return TypeAdapter(kind)


def of_kind(advice: Iterable[Advice], kind: type[A]) -> list[A]:
    """The advice of one kind, in its order."""
    return [item for item in advice if isinstance(item, kind)]


def weighted_mean(a: float, a_weight: float, b: float, b_weight: float) -> float:
    """The weighted mean of two means, to the bit where they are equal; 0 where neither has any weight."""
    total = a_weight + b_weight
    if not total:
        return 0.0
    return a if a == b else (a * a_weight + b * b_weight) / total


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


Rule = Callable[[Any, Any, str], Any]
"""How a field of two records becomes one: from both records and the name of the field."""


@dataclass(frozen=True, slots=True)
class Merging:
    """Metadata of a field's type."""

    rule: Rule


SUM = Merging(lambda mine, other, name: getattr(mine, name) + getattr(other, name))
Total = Annotated[int, SUM]
Largest = Annotated[int, Merging(lambda mine, other, name: max(getattr(mine, name), getattr(other, name)))]


def mean_by(weight: str) -> Merging:
    """A mean, weighted by another field."""
    return Merging(
        lambda mine, other, name: weighted_mean(
            getattr(mine, name), getattr(mine, weight), getattr(other, name), getattr(other, weight)
        )
    )


class Mergeable:
    """A dataclass of which two become one, field by field: by the rule of its type, or else the other's value is taken.

    A field that is mergeable itself is merged; the mean of whole numbers is one.
    """

    __slots__ = ()

    def merge(self, other: Any) -> Self:
        return type(self)(**{name: rule(self, other, name) for name, rule in _merge_rules(type(self)).items()})


@cache
def _merge_rules(kind: type[Mergeable]) -> Mapping[str, Rule]:
    rules: dict[str, Rule] = dict.fromkeys((own_field.name for own_field in fields(cast("Any", kind))), _later)
    for name, hint in get_type_hints(kind, include_extras=True).items():
        for merging in (extra for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, Merging)):
            rules[name] = partial(_whole, merging.rule) if hint.__origin__ is int else merging.rule
    return rules


def _later(mine: Any, other: Any, name: str) -> Any:
    value, later = getattr(mine, name), getattr(other, name)
    return value.merge(later) if isinstance(value, Mergeable) else later


def _whole(rule: Rule, mine: Any, other: Any, name: str) -> int:
    return round(rule(mine, other, name))


M = TypeVar("M", bound=Mergeable)


def merge_nearest(points: Iterable[M], most: int, at: Callable[[M], float]) -> list[M]:
    """The points in rising order, equal ones as one, then the nearest two as one until `most` are left.

    Weighted means keep points on a straight line on it.
    """
    rows: list[M] = []
    for point in sorted(points, key=at):
        if rows and at(rows[-1]) == at(point):
            rows[-1] = rows[-1].merge(point)
        else:
            rows.append(point)
    while len(rows) > most:
        i = min(range(len(rows) - 1), key=lambda i: at(rows[i + 1]) - at(rows[i]))
        rows[i : i + 2] = [rows[i].merge(rows[i + 1])]
    return rows


class TemplateAdvice(Mergeable):
    """Advice, as a dataclass, whose fields are written by a template."""

    __slots__ = ()
    TEMPLATE: ClassVar[SentenceTemplate]

    def sentence(self) -> str:
        return self.TEMPLATE.format(self)

    @classmethod
    def kind(cls) -> str:
        return cls.__name__.removesuffix("Advice").lower()

    def bullet(self) -> str:
        """The advice as players are given it."""
        return with_record(self.sentence(), self.record())

    def record(self) -> Mapping[str, Json]:
        kind = cast("type[Advice]", type(self))
        rounded = kind.parse(self.sentence()) or cast("Advice", self)
        return {_KIND: self.kind(), **_adapter(kind).dump_python(rounded, mode="json")}

    @classmethod
    def parse(cls, text: str) -> Self | None:
        values = cls.TEMPLATE.parse(text)
        return None if values is None else cls.from_values(values)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self | None:
        """Advice from the values of the placeholders; None where they advise nothing, as an empty list does."""
        own = {own_field.name: values[own_field.name] for own_field in fields(cast("Any", cls))}
        return None if () in own.values() else cls(**own)
