"""A study in two stages: every day is replaced once in the run's own future, then candidates in many other futures."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from akinai.core.statistics import LEVEL, estimate_mean, holm, mean
from akinai.core.stores import RunHeader
from akinai.runtime.why.branches import Branch, Branches
from akinai.runtime.why.explanation import Credit, Decision, Explanation
from akinai.runtime.why.shadow import Divergence

CANDIDATES, SPANS = 8, 2
"""Days, and spans of days, of either sign that are tried in other futures."""
SCREENED = 24
"""Days that are screened in another future besides the run's own."""
LONGEST_SPAN = 14
LISTED = 10
ALL_PLAYED = 64
"""Most takeovers of a run of several actors that are all played; of more, about this many first, evenly spread."""
SCREEN_SALT = 1
"""The future of the screen. Intervals use later ones, so that no row is judged by the future that selected it."""
MOST_NAMED = 2

Values = Mapping[Branch, float]
Play = Callable[[Sequence[Branch]], Awaitable[Values]]
"""Plays branches as far as the budget goes, and returns all values so far."""
Need = Callable[[Iterable[Branch]], Awaitable[None]]
"""Plays branches that the study needs."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Units that are replaced together."""

    begin: int
    end: int
    """The unit after the last."""

    @property
    def kind(self) -> Literal["day", "span"]:
        return "day" if self.end == self.begin + 1 else "span"

    def pair(self, salt: int) -> tuple[Branch, Branch]:
        """The branches with and without these units, in another future.

        A day is redrawn too, and its actions are taken again, so that its luck does not count. A span stays as it was.
        """
        if self.kind == "day":
            return Branch(self.begin, self.end, self.begin, salt), Branch(self.begin, 0, self.begin, salt)
        return Branch(self.end, 0, self.end, salt), Branch(self.begin, 0, self.end, salt)


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean gain of a stretch over the other futures."""

    gain: float
    ci95: tuple[float, float] | None
    """Leaves 0 out exactly where p is below 5 %; None where every future has the same gain."""
    p: float | None
    """None for a single future."""


def effect_of(gains: Sequence[float]) -> Effect:
    """The effect that gains in several futures show, by Student's t corrected for skewness.

    A few redrawn futures are too few for exact tests of many rows; the gains are money of one run, which varies finely.
    Gains that are equal in every future are certain.
    """
    gain, estimate = mean(gains), estimate_mean(sorted(gains))
    if estimate is not None:
        return Effect(gain, estimate.interval(), estimate.p())
    return Effect(gain, None, None if len(gains) < 2 else 0.0 if gain else 1.0)


class Study:
    """The branches that explain a run, and the explanation that their values give."""

    def __init__(self, branches: Branches, divergences: Sequence[Divergence], futures: int) -> None:
        self.branches, self.divergences = branches, divergences
        self.futures = futures if branches.redraws and branches.by_days else 0
        self._usual = Counter(step.entry.name for divergence in divergences for step in divergence.missed)
        """Counts of missed decisions by verb: rare ones are named first."""
        self.parted = branches.differing_units()
        self.own: list[float] = []
        """The headline where the player takes over at the beginning of each unit, and at the end of the record."""
        self.values: Values = {}
        self.requested: set[Branch] = set()
        self._spared: set[int] = set()
        """Indices of takeovers between two of equal value, which are not played."""

    async def run(self, play: Play) -> None:
        """Play all stages."""

        async def need(requested: Iterable[Branch]) -> None:
            branches = list(dict.fromkeys(requested))
            self.requested.update(branches)
            self.values = await play(branches)

        await self._play_takeovers(need)
        self.own = list(self._own())
        if self.futures:
            screened = sorted(self.days(), key=lambda day: -abs(self.own_worth(day)))[:SCREENED]
            await need(branch for day in screened for branch in day.pair(SCREEN_SALT))
        candidates = self.candidates()
        for at in range(0, len(candidates), 4):
            salts = range(SCREEN_SALT + 1, SCREEN_SALT + 1 + self.futures)
            await need(branch for row in candidates[at : at + 4] for salt in salts for branch in row.pair(salt))
        await need(branch for row in candidates for branch in self._left_out(row))

    def _own(self) -> Iterator[float]:
        """The values of `own`. Where run and player act alike, taking over before or after makes no difference."""
        end = len(self.branches.units)
        value = self.branches.headline(self.branches.steps).value
        value = value if self.branches.ended else self.values.get(Branch(end), value)
        values = [value]
        for index in reversed(range(end)):
            value = self.values.get(Branch(index), value)
            values.append(value)
        return reversed(values)

    async def _play_takeovers(self, need: Need) -> None:
        """Play the branches in the run's own future.

        With several actors each entry has a branch before it and one after it, since the player may act at another
        entry instead. Of many entries, those between equal values are not played.
        """
        branches, end = self.branches, len(self.branches.units)
        await need([] if branches.ended else [Branch(end)])
        if not branches.several or not self.parted:
            return await need(map(Branch, self.parted))
        begins = [0, *(begin for index in self.parted for begin in (index, index + 1)), end]
        takeovers = sorted({branches.takeover_index(begin) for begin in begins})
        apart = max(1, len(takeovers) // ALL_PLAYED)
        grid = [*takeovers[:-1:apart], takeovers[-1]]
        await need(Branch(index) for index in grid if index < end)
        stretches = [takeovers[takeovers.index(a) : takeovers.index(b) + 1] for a, b in pairwise(grid)]
        while stretches := [stretch for stretch in stretches if len(stretch) > 2 and self._differ(stretch)]:
            middles = [len(stretch) // 2 for stretch in stretches]
            await need(Branch(stretch[at]) for stretch, at in zip(stretches, middles, strict=True))
            halves = zip(stretches, middles, strict=True)
            stretches = [half for stretch, at in halves for half in (stretch[: at + 1], stretch[at:])]

    def _differ(self, stretch: Sequence[int]) -> bool:
        """Whether the first and last takeover of a stretch differ in value; False if one was not played."""
        first, last = self._value(stretch[0]), self._value(stretch[-1])
        if first is not None and first == last:
            self._spared.update(stretch[1:-1])
        return first is not None and last is not None and first != last

    def _value(self, index: int) -> float | None:
        """The headline of a takeover; None where it was not played."""
        if index == len(self.branches.units) and self.branches.ended:
            return self.branches.headline(self.branches.steps).value
        return self.values.get(Branch(index))

    def _has_value(self, index: int) -> bool:
        """Whether the value of a takeover at the beginning of a unit was played or follows from others."""
        begin = self.branches.takeover_index(index)
        return begin in self._spared or self._value(begin) is not None

    def days(self) -> list[Stretch]:
        """The days on which run and player differ, as far as they were played."""
        several = self.branches.several
        return [
            Stretch(index, index + 1)
            for index in self.parted
            if self._has_value(index) and (not several or self._has_value(index + 1))
        ]

    def own_worth(self, row: Stretch) -> float:
        return self.own[row.end] - self.own[row.begin]

    def _estimate(self, row: Stretch) -> float:
        """The estimate that selects candidates: the mean gain over the run's own future and another one."""
        difference = self._difference(row, SCREEN_SALT) if row.kind == "day" else None
        return self.own_worth(row) if difference is None else (self.own_worth(row) + difference) / 2

    def _difference(self, row: Stretch, salt: int) -> float | None:
        with_it, without = (self.values.get(branch) for branch in row.pair(salt))
        return None if with_it is None or without is None else with_it - without

    def candidates(self) -> list[Stretch]:
        """The rows to try in other futures, largest effect first."""
        stretches: list[Stretch] = []
        for sign in (-1, 1):
            days = sorted(self.days(), key=lambda day: -sign * self._estimate(day))
            most = CANDIDATES if self.futures else LISTED
            stretches += [day for day in days[:most] if sign * self._estimate(day) > 0]
            stretches += [] if self.branches.several else self._spans(sign)
        return sorted(stretches, key=lambda row: -abs(self._estimate(row)))

    def _spans(self, sign: int) -> list[Stretch]:
        """The spans of largest gain or loss that do not overlap and owe it to no single day."""
        end, spans = len(self.branches.units), list[Stretch]()
        stretches = [Stretch(i, j) for i in range(end) for j in range(i + 2, min(end, i + LONGEST_SPAN) + 1)]
        ranked = sorted(stretches, key=lambda row: (-sign * self.own_worth(row), row.end - row.begin))
        for row in ranked:
            if sign * self.own_worth(row) <= 0 or len(spans) == SPANS:
                break
            days = [sign * self.own_worth(Stretch(index, index + 1)) for index in range(row.begin, row.end)]
            apart = all(row.end <= other.begin or other.end <= row.begin for other in spans)
            if apart and max(days) < 0.8 * sum(days) and days[0] and days[-1]:
                spans.append(row)
        return spans

    def _decided(self, row: Stretch) -> list[int]:
        """Entries of a stretch that are decisions which the player would not have taken."""
        decides = self.branches.world.facets.explaining.decides
        taken = [seq for index in range(row.begin, row.end) for seq in self.divergences[index].taken]
        steps = self.branches.steps
        return [seq for seq in taken if steps[seq - 1].outcome.ok and decides(steps[seq - 1].turn.action)]

    def _left_out(self, row: Stretch) -> list[Branch]:
        """The branches that leave out one decision each, for a day with several."""
        decided = self._decided(row)
        if row.kind == "span" or len(decided) < 2:
            return []
        whole = self._whole(row)
        return [whole, *(replace(whole, without=(seq,)) for seq in decided)]

    def _whole(self, row: Stretch) -> Branch:
        return row.pair(SCREEN_SALT)[0] if self.futures else Branch(row.begin, row.end)

    def explanation(self, header: RunHeader, digest: str, *, asked_model: bool) -> Explanation:
        """The explanation that the branches played so far give."""
        rows = self.candidates()
        tests = [self._compare(row) for row in rows]
        corrected = holm([test and test.p for test in tests])
        credits = [self._credit(row, test, p) for row, test, p in zip(rows, tests, corrected, strict=True)]
        headline = self.branches.headline(self.branches.steps)
        worse = 1 if headline.better == "lower" else -1
        ranked = sorted(credits, key=lambda credit: (not credit.shown, -abs(credit.made)))
        first = 0 if self.branches.several or not self.parted else self.parted[0]
        return Explanation(
            run=header.run_id,
            digest=digest,
            player=self.branches.player,
            asked_model=asked_model,
            headline=headline.name,
            unit=headline.unit,
            by_days=self.branches.by_days,
            value=headline.value,
            player_value=self.own[0] if not self.parted or self._has_value(first) else None,
            cost=tuple(credit for credit in ranked if credit.made * worse > 0)[:LISTED],
            made=tuple(credit for credit in ranked if credit.made * worse < 0)[:LISTED],
            parted=len(self.parted) if self.branches.several else sum(unit.parted for unit in self.divergences),
            days=len(self.branches.units),
            tried=sum(test is not None for test in tests),
            futures=self.futures,
            branches=len(self.values),
            left=len(self.requested - self.values.keys()),
            several=self.branches.several,
            actor=self.branches.followed,
        )

    def _compare(self, row: Stretch) -> Effect | None:
        """The effect of a row over the other futures; None unless all of them were played."""
        salts = range(SCREEN_SALT + 1, SCREEN_SALT + 1 + self.futures)
        gains = [gain for salt in salts if (gain := self._difference(row, salt)) is not None]
        return effect_of(gains) if gains and len(gains) == len(salts) else None

    def _credit(self, row: Stretch, test: Effect | None, p: float | None) -> Credit:
        units, decided = self.branches.units, self._decisions(row)
        missed = [step for index in range(row.begin, row.end) for step in self.divergences[index].missed]
        missed.sort(key=lambda step: self._usual[step.entry.name])
        words = self.branches.world.facets.explaining.words
        taken = {decision.words for decision in decided}
        left_out = [text for text in dict.fromkeys(map(words, missed)) if text not in taken]
        own = self.own_worth(row)
        exact = not self.futures
        return Credit(
            kind=row.kind,
            first=units[row.begin].number,
            last=units[row.end - 1].number,
            words=_join_words([decision.words for decision in decided] or ([] if left_out else self._idle_words(row))),
            instead=_join_words(left_out),
            decisions=tuple(decided) if row.kind == "day" else (),
            own=own,
            worth=test.gain if test else None,
            ci95=test.ci95 if test else None,
            futures=self.futures if test else 0,
            p_holm=p,
            shown=own != 0 if exact else p is not None and p < LEVEL,
        )

    def _idle_words(self, row: Stretch) -> list[str]:
        """What the run did in a stretch without decisions, each once: hours that were lost, or looks."""
        words, steps = self.branches.world.facets.explaining.words, self.branches.steps
        taken = (steps[seq - 1] for index in range(row.begin, row.end) for seq in self.divergences[index].taken)
        return list(dict.fromkeys(words(step) for step in taken if step.outcome.ok))

    def _decisions(self, row: Stretch) -> list[Decision]:
        """The decisions of a stretch; those of a day by their share in its effect, largest first."""
        steps, words = self.branches.steps, self.branches.world.facets.explaining.words
        whole = self._whole(row)
        decisions: list[Decision] = []
        for seq in self._decided(row):
            without = self.values.get(replace(whole, without=(seq,))) if row.kind == "day" else None
            with_it = self.values.get(whole)
            worth = None if without is None or with_it is None else with_it - without
            decisions.append(Decision(seq, words(steps[seq - 1]), worth))
        sign = 1 if self._estimate(row) > 0 else -1
        return sorted(decisions, key=lambda decision: -sign * (decision.worth or 0.0))


def _join_words(words: Sequence[str]) -> str:
    """The first two texts, and the number of the others."""
    more = f"; and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return f"{'; '.join(words[:MOST_NAMED])}{more}"
