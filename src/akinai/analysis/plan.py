"""Plans of studies: how many seeds show a gain, by the spread of a pilot, and what they cost."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from akinai.analysis.comparison import LEAST_GAIN, compare_runs
from akinai.analysis.groups import seed_values
from akinai.analysis.readers import open_readers
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.models import Usage
from akinai.core.presentation.words import counted, figure, label
from akinai.core.statistics import cautious_sd, clustered, seeds_needed, summarise, welch_seeds_needed
from akinai.core.stores import Books
from akinai.runtime.config.addresses import StoreRef, in_store, resolve_store
from akinai.runtime.models.budget import known_prices
from akinai.runtime.play.repeats import UNREADABLE
from akinai.runtime.runs.reading import Detail, find_runs
from akinai.runtime.runs.records import Run
from akinai.runtime.runs.sweep import names_of
from akinai.runtime.runs.unreadable import advice

AT_ONCE = 64
"""Runs that wait for models at the same time, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A study of two groups that shows a gain with 80 % power, as planned from a pilot."""

    score: str
    unit: str
    gain: float
    """In the unit of the score: cents for money."""
    pilot: tuple[str, ...]
    """The group whose runs were looked at, or the two."""
    paired: bool
    """Whether both sides of the pilot were seen on common seeds; if not, seeds are counted as if they had nothing in
    common, which is rather many."""
    pilot_seeds: int
    sd: float
    """The spread of the differences seed by seed; of one group, of the score."""
    seeds: int
    """Seeds that each side needs if the true spread is the pilot's: too few after about half of all pilots."""
    cautious: int
    """Seeds to take: enough after four of five pilots, though a pilot of this size knows its spread badly."""
    runs: int
    """Runs of both sides together on the cautious number of seeds, those of the pilot included."""
    tokens: Usage | None
    """The tokens of all these runs, at the rate of the pilot; None where no model was asked."""
    hours: float | None
    dollars: float | None
    """None where the price is not known."""
    unreadable: int = 0
    """Runs of the pilot that were unreadable: they show no spread, and a study has to expect as many."""
    pilot_runs: int = 0

    def to_json(self) -> dict[str, Json]:
        tokens: Json = {"input": self.tokens.input, "output": self.tokens.output} if self.tokens else None
        return {**asdict(self), "pilot": list(self.pilot), "tokens": tokens}

    def __str__(self) -> str:
        """The plan in a few lines; the first is what to play."""
        gain, sd = figure(self.gain, self.unit), figure(self.sd, self.unit)
        name, n = label(self.score), self.pilot_seeds
        seeds = f"{counted(self.cautious, 'seed')} on each side"
        lines = [
            f"{seeds} show a gain of {gain} in {name}, four times in five: {counted(self.runs, 'run')}.",
            f"The pilot of {counted(n, 'seed')} has a spread of {sd}"
            + (f" between {self.pilot[0]} and {self.pilot[1]}, seed by seed." if self.paired else "."),
        ]
        if not self.sd:
            lines = [
                f"The pilot of {counted(n, 'seed')} shows no spread of {name}, and cannot tell how many show a gain of "
                f"{gain}: {seeds} at the least. Play a pilot of more seeds or days."
            ]
        if self.cautious > self.seeds:
            lines.append(
                f"So few seeds know a spread badly, and the number allows for it: {self.seeds:,} would do if the true "
                "spread is the pilot's, which is as often too little as enough."
            )
        if self.unreadable:
            lines.append(
                f"{self.unreadable} of {self.pilot_runs} runs of the pilot are unreadable: expect as many, "
                "and play more."
            )
        if not self.paired:
            lines.append(
                "Counted as if the sides had no luck in common; a pilot of both, on common seeds, often needs fewer."
            )
        if self.tokens is None:
            lines.append("No model was asked in the pilot: no tokens.")
        else:
            took = f"{self.tokens.input:,} tokens read and {self.tokens.output:,} written"
            price = "" if self.dollars is None else f", ${self.dollars:,.2f}"
            lines.append(f"As the pilot's runs went: {took}, {self.hours:,.2f} hours{price}.")
        return "\n".join(lines)


def plan(
    *,
    gain: float,
    from_: str,
    against: str | None = None,
    score: str | None = None,
    at_once: int = AT_ONCE,
    store: StoreRef = None,
) -> StudyPlan:
    """Plan a study of two groups from the runs of a pilot: the seeds that show a gain, in dollars for money, with 80 %
    power, and what they would take.

    `from_` is a run or group by name. With `against`, a pilot of the other side, seeds that both played show how much
    pairing saves. `score` is the world's first unless it is named. `at_once` runs wait for models at the same time.
    UsageError for a pilot of fewer than two seeds, and for a gain that is not above 0.
    """
    if not 0 < gain < 1e12:
        raise UsageError(f"a gain is an amount above 0, such as 50 or 12.5, not {gain!r}")
    if at_once < 1:
        raise UsageError(f"at least one run is played at once, not {at_once!r}")
    names = (from_,) if against is None else (from_, against)
    address = resolve_store(store)

    async def work(books: Books) -> Sequence[Run]:
        headers = await find_runs(books, names)
        async with open_readers(books, None, 1, known_prices()) as readers:
            return await readers.read(headers, Detail(False, False, judged=True))

    read = in_store(address, work)
    sides = [[run for run in read if name in names_of(run.header)] for name in names]
    return _planned(names, sides, gain, score, at_once)


def _planned(
    names: tuple[str, ...], sides: Sequence[Sequence[Run]], gain: float, score: str | None, at_once: int
) -> StudyPlan:
    score_records = {record.name: record for run in sides[0] for record in run.scores}
    name = score or next(iter(score_records), "")
    if name not in score_records:
        if score is None:
            raise UsageError(f"no run of {names[0]!r} could be scored; 'akinai analyze {names[0]}' says why")
        raise UnknownName("score", name, score_records)
    unit = score_records[name].unit
    amount = gain * 100 if unit == "cents" else gain
    paired, seeds, sd, needed = _spread(names, sides, name, amount)
    upper = cautious_sd(sd, seeds) * (1 if paired else 2**0.5)
    cautious = max(needed, seeds_needed(upper, amount)) if sd else needed
    runs = 2 * cautious
    usages = [run.usage for run in (*sides[0], *(sides[1] if len(sides) > 1 else ())) if run.usage]
    scaling = runs / len(usages) if usages else 0.0  # runs of the study for each run of the pilot
    tokens = Usage(
        round(sum(usage.tokens.input for usage in usages) * scaling),
        round(sum(usage.tokens.output for usage in usages) * scaling),
    )
    dollars = [usage.dollars for usage in usages if usage.dollars is not None]
    minutes = sum(usage.minutes for usage in usages) * scaling
    return StudyPlan(
        score=name,
        unit=unit,
        gain=amount,
        pilot=names,
        paired=paired,
        pilot_seeds=seeds,
        sd=sd,
        seeds=needed,
        cautious=cautious,
        runs=runs,
        tokens=tokens if usages else None,
        unreadable=sum(run.state == UNREADABLE for side in sides for run in side),
        pilot_runs=sum(len(side) for side in sides),
        hours=minutes / 60 / min(at_once, runs) if usages else None,
        dollars=sum(dollars) * scaling if usages and len(dollars) == len(usages) else None,
    )


def _spread(
    names: tuple[str, ...], sides: Sequence[Sequence[Run]], score: str, gain: float
) -> tuple[bool, int, float, int]:
    """Whether seeds are common, how many, the spread, and the seeds needed."""
    if len(sides) > 1:
        compared = compare_runs((names[0], names[1]), sides[0], sides[1])
        if score not in compared.scores:
            raise UnknownName("score", score, compared.scores)
        paired = compared.scores[score].paired
        if paired and paired.sd_difference is not None:
            least = max(gain, paired.sd_difference * LEAST_GAIN)
            return True, paired.pairs, paired.sd_difference, seeds_needed(paired.sd_difference, least)
    groups = [summarise(clustered(seed_values(side, score)).values()) for side in sides]
    if any(group.sd is None for group in groups):
        unread = [run for side in sides for run in side if run.state == UNREADABLE]
        why = f" ({counted(len(unread), 'run')} unreadable: {advice(unread[0].header)})" if unread else ""
        raise UsageError(
            f"a pilot of {counted(min(group.n for group in groups), 'seed')} shows no spread; play at least 2{why}"
        )
    sds = [group.sd or 0.0 for group in groups]
    spread = (sum(sd * sd for sd in sds) / len(sds)) ** 0.5
    needed = welch_seeds_needed(groups[0], groups[-1], max(gain, spread * 2 * LEAST_GAIN)) or 2
    return False, min(group.n for group in groups), spread, needed
