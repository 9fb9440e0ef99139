"""A letter as it is read: its clauses with their kinds, and the goods and numbers that some of them name."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from akinai.worlds.vending.letters.goods import read_items
from akinai.worlds.vending.letters.intents import Items
from akinai.worlds.vending.letters.meaning.kinds import CHARGING, NOTHING, TAKING_BACK
from akinai.worlds.vending.letters.meaning.numbers import Number, Row
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark
from akinai.worlds.vending.letters.text import Clause
from akinai.worlds.vending.letters.words import word_set

_KEEPING = word_set(
    "stay stays stand stands remain remains keep keeps kept planned unchanged unaffected proceed intended"
)
"""Words about an order that is not cancelled, beside one that is."""
_STILL_WANTED = re.compile(
    r"\bstill (?:need|want|require)|\bis (?:correct|right|fine|good|valid)\b"
    r"|\bshould (?:be delivered|come|go)\b|\bcan come\b"
    r"|\blast order was\b|\bonly\b(?= #?[0-9]+ *$)|予定通り|予定どおり|そのまま"
)
"""Phrases about an order that is not cancelled."""
_LIKEWISE = re.compile(
    r"(?:and|also|plus|as well)\b|.*\b(?:too|as well|likewise|either|same|both|stop|(?:not|n't) (?:ship|send))\b|.*も"
)
"""A clause that takes back what it names as the clause before does."""
_NOT_CHOSEN = word_set("not than over replaces")
"""Words before the quote that is not taken up, where another is."""
_CHOOSING = re.compile(r"\b(?:choose|prefer|decided (?:on|for)|go with|select(?:ed)?|accept|take)\b|結果")
_COMPARING = re.compile(r"\bcompar|\bno longer\b|\b(?:instead|rather)\b|比較")
_GOES_ON = re.compile(
    rf"which (?:\S+ ){{0,3}}?(?:go(?:es)? (?:ahead|through|out|on)|{'|'.join(sorted(_KEEPING))})\b", re.IGNORECASE
)
"""A clause about an order that is not cancelled: "..., which should go ahead as planned"."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause with its kind and its marks."""

    clause: Clause
    kind: str
    marks: Sequence[Mark]

    @property
    def line(self) -> str:
        """The clause as a line, an item of a list as such."""
        return ("- " if self.clause.listed else "") + self.clause.text


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter's statements, with the numbers in them."""

    names: tuple[GoodName, ...]
    subject: str
    rows: Sequence[Row]
    """The subject, then the clauses; numbers refer to them by index."""
    numbers: Sequence[Number]
    """The numbers with their roles."""
    statements: Sequence[Statement]

    @property
    def subject_kind(self) -> str:
        """The kind of the subject."""
        return self.rows[0].kind

    @property
    def subject_marks(self) -> Sequence[Mark]:
        """The marks of the subject."""
        return self.rows[0].marks

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

    def items(self, kind: str, any_mood: bool = True) -> Items:
        """The items of all clauses of a kind, read together; else those of the subject if it is of that kind."""
        items = read_items(self.names, "\n".join(statement.line for statement in self.of(kind)), any_mood)
        if not items.has_quantities and self.subject_kind == kind:
            return read_items(self.names, self.subject, any_mood)
        return items

    def listed_after(self, kind: str) -> list[Statement]:
        """The items of lists directly below a clause of a kind, where they have no kind themselves."""
        listed: list[Statement] = []
        within = False
        for statement in self.statements:
            within = statement.kind == kind or (within and statement.kind == NOTHING and statement.clause.listed)
            if within and statement.kind == NOTHING:
                listed.append(statement)
        return listed

    def orders(self, kind: str) -> tuple[int, ...]:
        """The numbers of the orders that clauses of a kind are about."""
        return self._numbers("order", kind)

    def quotes(self, kind: str) -> tuple[int, ...]:
        """The numbers of the quotes that clauses of a kind are about."""
        return self._numbers("quote", kind)

    def names_own(self, which: Literal["order", "quote"], kind: str) -> bool:
        """Whether the clauses of a kind, or a subject of that kind, hold a number of an order or a quote themselves."""
        return bool(self._own(which, kind))

    def _own(self, which: Literal["order", "quote"], kind: str) -> list[int]:
        own = [statement.marks for statement in self.of(kind)]
        if kind == "cancel":
            indexes = [
                at for at, statement in enumerate(self.statements) if statement.kind == kind and not self._is_kept(at)
            ]
            own = [_of_listed(self.statements[at].marks) for at in indexes] or own
            worded = [
                _of_listed(self.statements[at].marks) for at in indexes if _takes_back(self.statements[at].clause.low)
            ]
            own = worded if _values(which, worded) else own
        if kind == "confirm" and which == "quote":
            own = _without_passed_over(self.of(kind))
        numbers = _values(which, own)
        if not numbers and self.subject_kind == kind:
            numbers = self._unclaimed(which, kind, _values(which, [self.subject_marks]))
        return numbers

    def _is_kept(self, at: int) -> bool:
        """Whether a clause is about an order that is kept beside a cancelled one, itself or by a "which" after it."""
        statement, then = self.statements[at], self.statements[at + 1 : at + 2]
        goes_on = any(
            following.clause.sentence == statement.clause.sentence and _GOES_ON.match(following.clause.low) is not None
            for following in then
        )
        stays = _STILL_WANTED.search(statement.clause.low) is not None or any(
            mark.text in _KEEPING for mark in statement.marks
        )
        taken = next(
            (at for at, mark in enumerate(statement.marks) if TAKING_BACK.search(mark.text)), len(statement.marks)
        )
        keeping = next((at for at, mark in enumerate(statement.marks) if mark.text in _KEEPING), -1)
        return goes_on or (stays and taken >= keeping)  # "drop 122 and keep 121" is not kept

    def _unclaimed(self, which: Literal["order", "quote"], kind: str, numbers: list[int]) -> list[int]:
        """The numbers that no clause of another kind names, if there are any."""
        taken = set(
            _values(which, [statement.marks for statement in self.statements if statement.kind not in (kind, NOTHING)])
        )
        return [number for number in numbers if number not in taken] or numbers

    def _numbers(self, which: Literal["order", "quote"], kind: str) -> tuple[int, ...]:
        """The numbers in clauses of a kind; else in the clause nearest before them, the subject, or the rest."""
        if own := self._own(which, kind):
            return tuple(own)
        start = next((at for at, statement in enumerate(self.statements) if statement.kind == kind), 0)
        staying = [kind == "cancel" and self._is_kept(at) for at in range(len(self.statements))]
        before = [
            statement.marks for statement, keeps in zip(self.statements[:start], staying, strict=False) if not keeps
        ]
        after = [
            statement.marks
            for statement, keeps in zip(self.statements[start:], staying[start:], strict=True)
            if not keeps
        ]
        for marks in (*reversed(before), self.subject_marks, *after):
            if numbers := _values(which, [marks]):
                return tuple(self._unclaimed(which, kind, numbers))
        return ()


def _of_listed(marks: Sequence[Mark]) -> Sequence[Mark]:
    """The marks of a clause without a list to choose from: "of 31, 32 and 33 please cancel 31" leaves 31."""
    return _after_word(marks, TAKING_BACK) if "of" in [mark.text for mark in marks[:2]] else marks


def _after_word(marks: Sequence[Mark], words: re.Pattern[str]) -> Sequence[Mark]:
    """The marks from the first such word on, if numbers are named both before and after it; else all."""
    at = next((at for at, mark in enumerate(marks) if words.search(mark.text)), 0)
    numbered = [any(mark.kind in ("order", "quote") for mark in part) for part in (marks[:at], marks[at:])]
    return marks[at:] if all(numbered) else marks


def _takes_back(low: str) -> bool:
    """Whether a clause takes something back in its own words, or likewise: not "order 30 remains valid"."""
    return TAKING_BACK.search(low) is not None or _LIKEWISE.match(low) is not None


def _without_passed_over(confirmed: Sequence[Statement]) -> list[Sequence[Mark]]:
    """The marks of clauses that take up quotes, without the quotes that they only compare: "Q-19, not Q-18"."""
    taken: list[Sequence[Mark]] = []
    for statement in confirmed:
        marks = [
            mark
            for at, mark in enumerate(statement.marks)
            if mark.kind != "quote"
            or not _is_passed_over([before.text for before in statement.marks[max(0, at - 2) : at]])
        ]
        taken.append(_after_word(marks, _CHOOSING))
    several = len({mark.value for marks in taken for mark in marks if mark.kind == "quote"}) > 1
    if several:
        firm = [
            marks
            for statement, marks in zip(confirmed, taken, strict=True)
            if not _COMPARING.search(statement.clause.low)
        ]
        taken = firm if any(mark.kind == "quote" for marks in firm for mark in marks) else taken
    return taken


def _is_passed_over(before: Sequence[str]) -> bool:
    """Whether words pass over the quote after them: "not", "instead of", "rather than"."""
    return bool(before) and (before[-1] in _NOT_CHOSEN or list(before) == ["instead", "of"])


def _values(which: str, rows: Iterable[Sequence[Mark]]) -> list[int]:
    """The numbers of orders or quotes in rows; bare ones ("today is 43") only where none has the word beside it."""
    numbers = [mark for marks in rows for mark in marks if mark.kind == which]
    called = [mark for mark in numbers if not mark.text.replace(",", "").isdecimal()]
    return list(dict.fromkeys(mark.value for mark in called or numbers))
