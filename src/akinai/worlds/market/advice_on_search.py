"""Sentences on how to search and whom to write to; and the order to try."""

from dataclasses import dataclass
from typing import Self

from akinai.core.advice import Worded, Wording, listed, one_of


@dataclass(frozen=True, slots=True)
class MenuAdvice(Worded):
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

    WORDS = Wording(
        "{checks}: of {lacking:int} that lacked one and were asked, {lacking_whole:int} proposed all of it; of "
        "{having:int} that had all, {having_whole:int} did.",
        checks=one_of(
            {
                True: "Read the menus, and write only to businesses that have every item you want",
                False: "Write to businesses whatever their menus hold",
                None: "Read the menus before you write to a business",
            }
        ),
    )

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
class SearchAdvice(Worded):
    """Which search to use, and how many results to read."""

    ranked: tuple[Ranked, ...]
    """By the name of the algorithm."""

    @property
    def best(self) -> Ranked:
        """The one that most often has it among its first ten, then among its first three."""
        return max(self.ranked, key=lambda one: (one.top10 / one.searches, one.top3 / one.searches))

    @property
    def results(self) -> int:
        """How many to read."""
        return max(self.best.last, 1)

    WORDS = Wording(
        "Search for the names of your items with the algorithm {best.algorithm:word} and read at least {results:int} "
        "results: the cheapest business that fits stood among the first 3 and the first 10 with {ranked}.",
        ranked=listed(
            Wording("{algorithm:word} {top3:int} and {top10:int} times of {searches:int}, at place {last:int} at most"),
            lambda rows: tuple(Ranked(**one) for one in rows if one["searches"] > 0),
            between="; ",
        ),
    )

    def plus(self, other: Self) -> Self:
        both = {one.algorithm: one for one in self.ranked}
        for one in other.ranked:
            both[one.algorithm] = both[one.algorithm].plus(one) if one.algorithm in both else one
        return type(self)(tuple(both[name] for name in sorted(both)))


@dataclass(frozen=True, slots=True)
class Experiment(Worded):
    """An order to try things out, so that there is something to learn from; no lesson."""

    number: int
    """Another one tries other things."""

    WORDS = Wording(
        "Experiment {number:int}: try other searches, write to businesses with and without all you want, and wait for "
        "one proposal or for several."
    )

    def plus(self, other: Self) -> Self:
        return other
