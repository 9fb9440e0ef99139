"""Advice as sentences that hold the numbers they come from: written, read back and added up. Each world has its kinds.

What a sentence tells to do is worked out of its own numbers, so two sentences about one thing add up to a third.
"""

from collections.abc import Iterable
from typing import Protocol, Self, TypeVar

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


def money(cents: float) -> str:
    """As a sentence tells it."""
    return format_cents(round(cents))


def cents_in(text: str) -> int:
    """Of an amount as `money` tells it."""
    amount = read_dollars(text.lstrip("-"), maximum_cents=10**15)
    return -amount if text.startswith("-") else amount
