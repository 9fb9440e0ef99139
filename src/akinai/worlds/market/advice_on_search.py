"""Sentences on how to search and whom to write to; and the order to try."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from akinai.worlds.market.seen import Leads


@dataclass(frozen=True, slots=True)
class MenuAdvice:
    """Whether to write only to businesses that have all items."""

    lacking: int
    """Businesses that were asked and whose menu lacked an item."""
    lacking_whole: int
    """Those of them that proposed all that was wanted."""
    having: int
    having_whole: int

    @property
    def checks(self) -> bool | None:
        """None where one kind of business was not asked."""
        if not (self.lacking and self.having):
            return None
        return self.lacking_whole * self.having < self.having_whole * self.lacking

    _LEADS: ClassVar[Leads] = {
        True: "Read the menus, and write only to businesses that have every item you want",
        False: "Write to businesses whatever their menus hold",
        None: "Read the menus before you write to a business",
    }

    def said(self) -> str:
        return (
            f"{self._LEADS[self.checks]}: of {self.lacking} that lacked one and were asked, {self.lacking_whole} "
            f"proposed all of it; of {self.having} that had all, {self.having_whole} did."
        )

    _PATTERN = re.compile(
        rf"(?:{'|'.join(_LEADS.values())}): "
        r"of (\d+) that lacked one and were asked, (\d+) proposed all of it; of (\d+) that had all, "
        r"(\d+) did\."
    )

    @classmethod
    def read(cls, text: str) -> Self | None:
        found = cls._PATTERN.fullmatch(text)
        return cls(*map(int, found.groups())) if found else None

    def plus(self, other: Self) -> Self:
        return type(self)(
            self.lacking + other.lacking,
            self.lacking_whole + other.lacking_whole,
            self.having + other.having,
            self.having_whole + other.having_whole,
        )


@dataclass(frozen=True, slots=True)
class Ranked:
    """Where one search had the best business."""

    algorithm: str
    searches: int
    top3: int
    """Among the first three results, in so many searches."""
    top10: int
    last: int
    """The last place where it stood; 0 where it was never found."""

    def plus(self, other: Self) -> Self:
        return type(self)(
            self.algorithm,
            self.searches + other.searches,
            self.top3 + other.top3,
            self.top10 + other.top10,
            max(self.last, other.last),
        )


@dataclass(frozen=True, slots=True)
class SearchAdvice:
    """Which search to use, and how many results to read."""

    ranked: tuple[Ranked, ...]
    """By the name of the algorithm."""

    @property
    def best(self) -> Ranked:
        """The one that most often has it among its first ten, then among its first three."""
        return max(self.ranked, key=lambda one: (one.top10 / one.searches, one.top3 / one.searches))

    def said(self) -> str:
        told = "; ".join(
            f"{one.algorithm} {one.top3} and {one.top10} times of {one.searches}, at place {one.last} at most"
            for one in self.ranked
        )
        return (
            f"Search for the names of your items with the algorithm {self.best.algorithm} and read "
            f"at least {max(self.best.last, 1)} results: the cheapest business that fits stood among the first 3 and "
            f"the first 10 with {told}."
        )

    _PATTERN = re.compile(
        r"Search for the names of your items with the algorithm \w+ and read at least \d+ results: the cheapest "
        r"business that fits stood among the first 3 and the first 10 with (.+)\."
    )
    _RANKED = re.compile(r"(\w+) (\d+) and (\d+) times of ([1-9]\d*), at place (\d+) at most")

    @classmethod
    def read(cls, text: str) -> Self | None:
        if not (found := cls._PATTERN.fullmatch(text)):
            return None
        rows = cls._RANKED.findall(found[1])
        ranked = tuple(Ranked(name, int(n), int(top3), int(top10), int(last)) for name, top3, top10, n, last in rows)
        return cls(ranked) if ranked else None

    def plus(self, other: Self) -> Self:
        both = {one.algorithm: one for one in self.ranked}
        for one in other.ranked:
            both[one.algorithm] = both[one.algorithm].plus(one) if one.algorithm in both else one
        return type(self)(tuple(both[name] for name in sorted(both)))


@dataclass(frozen=True, slots=True)
class Experiment:
    """An order to try things out, so that there is something to learn from; no lesson."""

    number: int
    """Another one tries other things."""

    def said(self) -> str:
        return (
            f"Experiment {self.number}: try other searches, write to businesses with and without all you want, and "
            "wait for one proposal or for several."
        )

    @classmethod
    def read(cls, text: str) -> Self | None:
        found = re.match(r"Experiment (\d+): ", text)
        return cls(int(found[1])) if found else None

    def plus(self, other: Self) -> Self:
        return other
