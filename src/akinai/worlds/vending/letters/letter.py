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
"""Words of what is not cancelled, beside what is."""
_STILL_WANTED = re.compile(
    r"\bstill (?:need|want|require)|\bis (?:correct|right|fine|good|valid)\b"
    r"|\bshould (?:be delivered|come|go)\b|\bcan come\b"
    r"|\blast order was\b|\bonly\b(?= #?[0-9]+ *$)|予定通り|予定どおり|そのまま"
)
"""Words of the same in a row."""
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
"""A clause of what is not cancelled: "..., which should go ahead as planned"."""


@dataclass(frozen=True, slots=True)
class Said:
    """A clause with its kind."""

    clause: Clause
    kind: str
    marks: Sequence[Mark]

    @property
    def line(self) -> str:
        """The clause as a line, an item of a list as such."""
        return ("- " if self.clause.listed else "") + self.clause.text


@dataclass(frozen=True, slots=True)
class Letter:
    """The clauses of a letter with their kinds."""

    names: tuple[GoodName, ...]
    subject: str
    rows: Sequence[Row]
    """The subject and the clauses, as numbers are judged in them."""
    numbers: Sequence[Number]
    """With their roles."""
    said: Sequence[Said]

    @property
    def subject_kind(self) -> str:
        """The kind of the subject."""
        return self.rows[0].kind

    @property
    def subject_marks(self) -> Sequence[Mark]:
        """The marks of the subject."""
        return self.rows[0].marks

    def of(self, kind: str) -> list[Said]:
        """The clauses of a kind."""
        return [said for said in self.said if said.kind == kind]

    def has(self, kind: str) -> bool:
        """Whether a clause is of this kind, or the subject where no clause has any. A subject alone charges only if the
        letter is empty."""
        if any(said.kind == kind for said in self.said):
            return True
        silent = all(said.kind == NOTHING for said in self.said)
        return silent and kind == self.subject_kind and not (self.said and kind in CHARGING)

    def items(self, kind: str, any_mood: bool = True) -> Items:
        """The items of all clauses of a kind, read together; else those of the subject if it is of that kind."""
        items = read_items(self.names, "\n".join(said.line for said in self.of(kind)), any_mood)
        if not items.found and self.subject_kind == kind:
            return read_items(self.names, self.subject, any_mood)
        return items

    def rows_after(self, kind: str) -> list[Said]:
        """The items of lists that bear no kind themselves and directly follow a clause of a kind."""
        found: list[Said] = []
        within = False
        for said in self.said:
            within = said.kind == kind or (within and said.kind == NOTHING and said.clause.listed)
            if within and said.kind == NOTHING:
                found.append(said)
        return found

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
        own = [said.marks for said in self.of(kind)]
        if kind == "cancel":
            places = [at for at, said in enumerate(self.said) if said.kind == kind and not self._is_kept(at)]
            own = [_of_listed(self.said[at].marks) for at in places] or own
            worded = [_of_listed(self.said[at].marks) for at in places if _takes_back(self.said[at].clause.low)]
            own = worded if _values(which, worded) else own
        if kind == "confirm" and which == "quote":
            own = _chosen(self.of(kind))
        numbers = _values(which, own)
        if not numbers and self.subject_kind == kind:
            numbers = self._unclaimed(which, kind, _values(which, [self.subject_marks]))
        return numbers

    def _is_kept(self, at: int) -> bool:
        """Whether a clause speaks of what stays beside what is cancelled: itself, or by a "which" that follows it."""
        said, then = self.said[at], self.said[at + 1 : at + 2]
        goes_on = any(
            each.clause.place == said.clause.place and _GOES_ON.match(each.clause.low) is not None for each in then
        )
        kept = _STILL_WANTED.search(said.clause.low) is not None or any(mark.text in _KEEPING for mark in said.marks)
        taken = next((at for at, mark in enumerate(said.marks) if TAKING_BACK.search(mark.text)), len(said.marks))
        keeping = next((at for at, mark in enumerate(said.marks) if mark.text in _KEEPING), -1)
        return goes_on or (kept and taken >= keeping)  # "drop 122 and keep 121" is not kept

    def _unclaimed(self, which: Literal["order", "quote"], kind: str, numbers: list[int]) -> list[int]:
        """The numbers that no clause of another kind names, if there are any."""
        taken = set(_values(which, [said.marks for said in self.said if said.kind not in (kind, NOTHING)]))
        return [number for number in numbers if number not in taken] or numbers

    def _numbers(self, which: Literal["order", "quote"], kind: str) -> tuple[int, ...]:
        """The numbers in clauses of a kind; else in the clause nearest before them, the subject, or the rest."""
        if own := self._own(which, kind):
            return tuple(own)
        start = next((at for at, said in enumerate(self.said) if said.kind == kind), 0)
        kept = [kind == "cancel" and self._is_kept(at) for at in range(len(self.said))]
        before = [said.marks for said, keeps in zip(self.said[:start], kept, strict=False) if not keeps]
        after = [said.marks for said, keeps in zip(self.said[start:], kept[start:], strict=True) if not keeps]
        for marks in (*reversed(before), self.subject_marks, *after):
            if numbers := _values(which, [marks]):
                return tuple(self._unclaimed(which, kind, numbers))
        return ()


def _of_listed(marks: Sequence[Mark]) -> Sequence[Mark]:
    """The marks of a clause, without the orders of which some are taken back: "of 31, 32 and 33 please cancel 31"."""
    return _after_word(marks, TAKING_BACK) if "of" in [mark.text for mark in marks[:2]] else marks


def _after_word(marks: Sequence[Mark], words: re.Pattern[str]) -> Sequence[Mark]:
    """The marks after such a word, if they name a number and those before it do too."""
    at = next((at for at, mark in enumerate(marks) if words.search(mark.text)), 0)
    numbered = [any(mark.kind in ("order", "quote") for mark in part) for part in (marks[:at], marks[at:])]
    return marks[at:] if all(numbered) else marks


def _takes_back(said: str) -> bool:
    """Whether a clause takes something back in its own words, or likewise: not "order 30 remains valid"."""
    return TAKING_BACK.search(said) is not None or _LIKEWISE.match(said) is not None


def _chosen(confirmed: Sequence[Said]) -> list[Sequence[Mark]]:
    """The marks of clauses that take up quotes, without the quotes that they only compare: "Q-19, not Q-18"."""
    taken: list[Sequence[Mark]] = []
    for said in confirmed:
        marks = [
            mark
            for at, mark in enumerate(said.marks)
            if mark.kind != "quote" or not _is_passed_over([each.text for each in said.marks[max(0, at - 2) : at]])
        ]
        taken.append(_after_word(marks, _CHOOSING))
    several = len({mark.value for marks in taken for mark in marks if mark.kind == "quote"}) > 1
    if several:
        firm = [marks for said, marks in zip(confirmed, taken, strict=True) if not _COMPARING.search(said.clause.low)]
        taken = firm if any(mark.kind == "quote" for marks in firm for mark in marks) else taken
    return taken


def _is_passed_over(before: Sequence[str]) -> bool:
    """Whether these are the words before a quote that is not taken up: "not", "instead of", "rather than"."""
    return bool(before) and (before[-1] in _NOT_CHOSEN or list(before) == ["instead", "of"])


def _values(which: str, rows: Iterable[Sequence[Mark]]) -> list[int]:
    """The numbers of orders or quotes in rows; bare ones ("today is 43") only where none is called so."""
    found = [mark for marks in rows for mark in marks if mark.kind == which]
    called = [mark for mark in found if not mark.text.replace(",", "").isdecimal()]
    return list(dict.fromkeys(mark.value for mark in called or found))
