"""A letter as it is read: its clauses with their kinds, and the goods and numbers that some of them name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from akinai.worlds.vending.letters.meaning.kinds import CHARGING, NOTHING
from akinai.worlds.vending.letters.meaning.numbers import Number, Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark
from akinai.worlds.vending.letters.text import Clause


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause with its kind and its marks."""

    clause: Clause
    kind: str
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter's statements, with the numbers in them."""

    names: tuple[GoodName, ...]
    text: str
    """The subject and the letter, in lower case, with a section sign for the name of each product."""
    rows: Sequence[Row]
    """The subject, then the clauses; numbers refer to them by index."""
    numbers: Sequence[Number]
    """The numbers with their roles."""
    statements: Sequence[Statement]
    references: int
    """How many orders and quotes the letter names."""

    @property
    def subject_kind(self) -> str:
        """The kind of the subject."""
        return self.rows[0].kind

    def of(self, kind: str) -> list[Statement]:
        """The clauses of a kind."""
        return [statement for statement in self.statements if statement.kind == kind]

    def has(self, kind: str) -> bool:
        """Whether a clause is of this kind, or the subject where no clause has any. A subject alone charges only if the
        letter is empty."""
        if any(statement.kind == kind for statement in self.statements):
            return True
        silent = all(statement.kind == NOTHING for statement in self.statements)
        return silent and kind == self.subject_kind and not (self.statements and kind in CHARGING)

    def holds_only(self, *kinds: str) -> bool:
        """Whether every clause is of one of these kinds, thanks, or says nothing of the matter."""
        return all(statement.kind in (*kinds, NOTHING, "thank") for statement in self.statements)

    def named(self, which: Literal["order", "quote"]) -> tuple[int, ...]:
        """The numbers of all orders or quotes in the letter."""
        return tuple(_values(which, [row.marks for row in self.rows]))

    def orders(self, kind: str) -> tuple[int, ...]:
        """The numbers of the orders that clauses of a kind are about."""
        return self._numbers("order", kind)

    def quotes(self, kind: str) -> tuple[int, ...]:
        """The numbers of the quotes that clauses of a kind are about."""
        return self._numbers("quote", kind)

    def _numbers(self, which: Literal["order", "quote"], kind: str) -> tuple[int, ...]:
        """The numbers in clauses of a kind; else in the clause nearest before them, the subject, or any other."""
        if own := _values(which, [statement.marks for statement in self.of(kind)]):
            return tuple(own)
        start = next((at for at, statement in enumerate(self.statements) if statement.kind == kind), 0)
        before, after = self.statements[:start], self.statements[start:]
        rows = (*(line.marks for line in reversed(before)), self.rows[0].marks, *(line.marks for line in after))
        return next((tuple(numbers) for marks in rows if (numbers := _values(which, [marks]))), ())


def _values(which: str, rows: Iterable[Sequence[Mark]]) -> list[int]:
    """The numbers of orders or quotes in rows; bare ones ("today is 43") only where none has the word beside it."""
    numbers = [mark for marks in rows for mark in marks if mark.kind == which]
    called = [mark for mark in numbers if not mark.text.replace(",", "").isdecimal()]
    return list(dict.fromkeys(mark.value for mark in called or numbers))
