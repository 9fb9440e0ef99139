"""Two sides compared: paired by seed where seeds are common, by their means where none is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from akinai.analysis.groups import first_header, group_runs, name_groups, score_names, summarise_group
from akinai.analysis.records import MONTH_DAYS, Group, Scale
from akinai.analysis.tables import difference_columns, needed_column, same_numbers
from akinai.core.canonical import Json, as_json
from akinai.core.chance import seed_json
from akinai.core.errors import UsageError
from akinai.core.presentation.sentences import amount_in, difference_sentences
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import ABSENT, label
from akinai.core.scores import Better
from akinai.core.statistics import (
    LEVEL,
    PairedComparison,
    WelchComparison,
    compare,
    seeds_needed,
    seeds_to_show,
    summarise,
    welch_compare,
    welch_seeds_needed,
)
from akinai.runtime.runs.records import Run, Runs

ALL_FINDINGS = "findings"
"""The name under which findings of all types are compared together."""
FINDINGS_UNIT = "a month"
"""Findings in 30 days of a run."""
PLAIN_UNIT = "a run"
"""Findings of a run, in a world in which no day passes."""
LEAST_GAIN = 1e-5
"""Smallest gain that seeds are computed for, as a share of the spread."""

Winner = Literal["a", "b"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: a group, or runs that were played alike."""

    name: str
    """As the caller named it."""
    group: Group

    def to_json(self) -> dict[str, Json]:
        group = self.group
        return {
            "name": self.name,
            "agents": [group.agent],
            "runs": list(group.runs),
            "model": group.card.get("model"),
            "playbook": group.card.get("playbook"),
            "settings": dict(group.settings),
            "seeds": group.seeds,
            "states": {str(state): count for state, count in group.states.items()},
            "endings": dict(group.endings),
            "copies": group.copies,
        }


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """One figure of b against a: a score, or findings in 30 days. One of `paired` and `welch` is there."""

    unit: str
    better: Better | None
    paired: PairedComparison | None
    welch: WelchComparison | None
    of_done: float | None
    """The difference over the pairs, or the runs, in which nothing failed or was unfinished."""
    needed: int | None = None
    """Seeds that each side needs to show the gain that was asked about; None where no gain or no spread is known."""
    to_show: int | None = None
    """Seeds that each side needs to show the difference that was seen, with 80 % power; None where nothing differs."""
    means: tuple[float | None, float | None] = (None, None)
    """The means of a and of b over the pairs, or over all runs."""

    @property
    def statistic(self) -> PairedComparison | WelchComparison:
        """The paired comparison, or Welch's where no seed is common."""
        statistic = self.paired or self.welch
        assert statistic is not None
        return statistic

    @property
    def difference(self) -> float | None:
        """Mean of b less mean of a, over the pairs or over all runs."""
        return self.statistic.difference

    @property
    def ci95(self) -> tuple[float, float] | None:
        return self.statistic.ci95

    @property
    def mde(self) -> float | None:
        return self.statistic.mde

    @property
    def winner(self) -> Winner | None:
        """The better side, where a test shows it at 5 %; None for a figure of which neither way is better."""
        if self.better is None or not self.shown:
            return None
        return "b" if ((self.difference or 0.0) > 0) == (self.better == "higher") else "a"

    @property
    def shown(self) -> bool:
        """Whether a test shows at 5 % that the sides differ."""
        return self.statistic.p is not None and self.statistic.p < LEVEL

    def sentences(self, a: str, b: str, name: str) -> str:
        """The difference of b and a in this score, with its uncertainty."""
        amount = amount_in(self.unit)
        return difference_sentences(a, b, name, self.statistic, self.better, self.to_show, amount=amount)

    def to_json(self) -> dict[str, Json]:
        document = self.statistic.to_json() | {"unit": self.unit, "better": self.better, "winner": self.winner}
        document |= {"of_done": self.of_done, "seeds_to_show": self.to_show, "fewest": self.statistic.fewest}
        return document | ({"seeds_needed": self.needed} if self.needed is not None else {})


@dataclass(frozen=True, slots=True)
class Comparison:
    """b against a."""

    a: Side
    b: Side
    seeds: tuple[int, ...]
    """Seeds that both played: the pairs. Without any the sides are compared by their means."""
    only_a: tuple[int, ...]
    """Seeds that only a played: they are in no figure of a paired comparison."""
    only_b: tuple[int, ...]
    unfinished: tuple[int, ...]
    """Seeds among the pairs on which a run failed or is not over: in the figures as they are."""
    unreadable: tuple[int, ...]
    """Seeds among the pairs on which a side has no measured run, since all are unreadable or damaged: in no figure."""
    repeated: bool
    """Whether a side played some seed several times: its runs count as one, by their mean."""
    scores: Mapping[str, ScoreComparison]
    findings: Mapping[str, ScoreComparison]
    """In 30 days: all together, then each type that a side has. Empty where neither side has a finding."""
    coherence: Mapping[str, ScoreComparison]
    """Figures of how well the agents kept track; a run that lacks a figure makes no pair."""
    figures: Mapping[str, ScoreComparison]
    """The world's figures beyond the scores, likewise."""
    card: Mapping[str, Json]

    @property
    def paired(self) -> bool:
        return bool(self.seeds)

    @property
    def winner(self) -> Winner | None:
        """The winner by the first score, which is the world's headline."""
        return next(iter(self.scores.values())).winner

    @property
    def sentences(self) -> str:
        """The result by the first score, with its uncertainty, for people."""
        name, score = next(iter(self.scores.items()))
        return score.sentences(self.a.name, self.b.name, name)

    def __str__(self) -> str:
        """The result in a sentence or two, and a row with the first score."""
        return f"{self.sentences}\n\n{self.table.in_order([0]).always}"

    @property
    def table(self) -> Grid:
        """A row for each figure, the first score first and findings last: the means of both sides, the difference, and
        what shows it. None that is the same number as an earlier one."""
        same = self.same_numbers
        figures = [
            *((name, score) for name, score in self.scores.items() if name not in same),
            *((name, score) for name, score in self.coherence.items() if name != ALL_FINDINGS),
            *((name, figure) for name, figure in self.figures.items() if figure.difference),
            *self.findings.items(),
        ]
        scores, units = [score for _, score in figures], [score.unit for _, score in figures]
        names = {"a": self.a.name, "b": self.b.name, None: ABSENT}
        return Grid(
            [
                Column("score", [label(name) for name, _ in figures], words=True),
                Column(self.a.name, [score.means[0] for score in scores], unit=units),
                Column(self.b.name, [score.means[1] for score in scores], unit=units),
                *difference_columns([score.statistic for score in scores], units),
                Column("winner", [names[score.winner] for score in scores], words=True, names=True, drop=1),
                *needed_column("seeds", [score.needed for score in scores]),
            ]
        )

    @property
    def same_numbers(self) -> dict[str, str]:
        """Scores that are the same number as an earlier one on both sides, as a balance without other accounts is."""
        return same_numbers(self.a.group.scores, self.b.group.scores)

    def __getitem__(self, score: str) -> ScoreComparison:
        """The comparison of one score, so that `compare(a, b)["net_worth"].difference` reads."""
        return self.scores[score]

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai compare --json` prints."""
        document: dict[str, Json] = {
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "paired": self.paired,
            "winner": self.winner,
            "seeds": {
                "common": [*map(seed_json, self.seeds)],
                "only_a": [*map(seed_json, self.only_a)],
                "only_b": [*map(seed_json, self.only_b)],
                "unfinished": [*map(seed_json, self.unfinished)],
                "unreadable": [*map(seed_json, self.unreadable)],
                "repeated": self.repeated,
            },
            "scores": as_json(self.scores),
            "findings": as_json(self.findings),
            "coherence": as_json(self.coherence),
            "table": self.table.to_json(),
            "card": dict(self.card),
        }
        return document | ({"figures": as_json(self.figures)} if self.figures else {})


Value = Callable[[Run], float | None]


def compare_runs(names: tuple[str, str], a: Sequence[Run], b: Sequence[Run], gain: float | None = None) -> Comparison:
    """Runs of b against runs of a; `gain`, in dollars for money, asks how many seeds would show it.

    UsageError where a side holds runs that were not played alike, or the two have no score in common.
    """
    groups = group_runs([*a, *b])
    group_names = name_groups({key: first_header(members) for key, members in groups.items()})
    sides: list[Side] = []
    for name, runs in zip(names, (a, b), strict=True):
        own = {id(run) for run in runs}
        keys = [key for key, members in groups.items() if any(id(run) in own for run in members)]
        if len(keys) > 1:
            raise UsageError(
                f"{name!r} holds runs that were not played alike ({', '.join(group_names[key].name for key in keys)}); "
                "compare one kind with another"
            )
        if not keys:
            raise UsageError(f"{name!r} holds no runs; give at least one on each side")
        sides.append(Side(name, summarise_group(group_names[keys[0]], runs, Scale(why_not="it was not asked for"))))
    return compare_sides((sides[0], sides[1]), a, b, gain)


def compare_sides(
    sides: tuple[Side, Side], a: Sequence[Run], b: Sequence[Run], gain: float | None = None
) -> Comparison:
    """The second side against the first; `a` and `b` are their runs."""
    card = Runs([*a, *b]).card()
    a, b = ([run for run in runs if run.world] for runs in (a, b))  # a damaged header does not even hold the seed
    scores = _common(*(score_names(run.scores for run in runs) for runs in (a, b)))
    if not scores:
        for run in (*a, *b):
            if run.trouble:
                advice = "" if run.other_rules else f"; 'akinai verify {run.id}' checks its record"
                raise UsageError(f"run {run.id} cannot be read: {run.trouble}{advice}")
        raise UsageError("the two have no score in common; compare runs that are scored, of one world")
    seeds_a, seeds_b = {run.seed for run in a}, {run.seed for run in b}
    common = seeds_a & seeds_b
    both = (*a, *b)
    judged = all(run.judged for run in both if not run.trouble)
    coherence = _common(*(score_names(run.coherence for run in runs) for runs in (a, b)))
    figures = _common(*(score_names(run.figures for run in runs) for runs in (a, b)))
    return Comparison(
        *sides,
        seeds=tuple(sorted(common)),
        only_a=tuple(sorted(seeds_a - common)),
        only_b=tuple(sorted(seeds_b - common)),
        unfinished=tuple(sorted({run.seed for run in both if run.seed in common and run.state in ("failed", "open")})),
        unreadable=tuple(seed for seed in sorted(common) if not (_measured(a, seed) and _measured(b, seed))),
        repeated=len(seeds_a) < len(a) or len(seeds_b) < len(b),
        scores={name: _compare_score(a, b, name, gain) for name in scores},
        findings={name: _compare_findings(a, b, name) for name in _finding_types(both)} if judged else {},
        coherence={name: _compare_score(_having(a, name), _having(b, name), name) for name in coherence},
        figures={name: _compare_score(_having(a, name), _having(b, name), name) for name in figures},
        card=card,
    )


def _common(a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [name for name in a if name in set(b)]


def _having(runs: Sequence[Run], name: str) -> list[Run]:
    """Runs that have a figure, and runs that are not measured: they may have had it."""
    return [run for run in runs if not run.measured or run.value(name) is not None]


def _compare_score(a: Sequence[Run], b: Sequence[Run], name: str, gain: float | None = None) -> ScoreComparison:
    scores = (score for run in (*a, *b) for score in (*run.scores, *run.coherence, *run.figures))
    example = next(score for score in scores if score.name == name)
    amount = gain * 100 if gain is not None and example.unit == "cents" else gain
    return _compare(a, b, lambda run: run.value(name), example.unit, example.better, amount)


def _compare_findings(a: Sequence[Run], b: Sequence[Run], name: str) -> ScoreComparison:
    daily = any(run.days for run in (*a, *b))
    return _compare(a, b, _findings_rate(name, daily=daily), FINDINGS_UNIT if daily else PLAIN_UNIT, "lower", None)


def _findings_rate(name: str, *, daily: bool) -> Value:
    """Findings of a type in 30 days of a run, or in the run where the world has no days; None for a run that is not
    measured or in which no day passed."""

    def rate(run: Run) -> float | None:
        if not run.measured or (daily and not run.days):
            return None
        types = {**run.finding_types, **run.conduct}
        count = sum(run.finding_types.values()) if name == ALL_FINDINGS else types.get(name, 0)
        return count * MONTH_DAYS / run.days if daily else float(count)

    return rate


def _compare(
    a: Sequence[Run], b: Sequence[Run], value: Value, unit: str, better: Better | None, gain: float | None
) -> ScoreComparison:
    by_seed_a, by_seed_b = _by_seed(a, value), _by_seed(b, value)
    shared = by_seed_a.keys() & by_seed_b.keys()
    if not shared:
        values = [*by_seed_a.values()], [*by_seed_b.values()]
        done = [_values((run for run in runs if run.state == "done"), value) for runs in (a, b)]
        of_done = fmean(done[1]) - fmean(done[0]) if all(done) else None
        needed = _needed_unpaired(*values, gain)
        apart = welch_compare(*values)
        to_show = seeds_to_show(apart, by_seed_a, by_seed_b)
        means = (summarise(values[0]).mean, summarise(values[1]).mean)
        return ScoreComparison(unit, better, None, apart, of_done, needed, to_show, means)
    paired = compare(by_seed_a, by_seed_b, better=better)
    finished = {seed for seed in shared if all(run.state == "done" for run in (*a, *b) if run.seed == seed)}
    differences = [
        y - x for seed in sorted(finished) if (x := by_seed_a[seed]) is not None and (y := by_seed_b[seed]) is not None
    ]
    of_done = fmean(differences) if differences else None
    needed, to_show = needed_seeds(paired.sd_difference, gain), seeds_to_show(paired, by_seed_a, by_seed_b)
    means = _means((by_seed_a[seed], by_seed_b[seed]) for seed in shared)
    return ScoreComparison(unit, better, paired, None, of_done, needed, to_show, means)


def _means(pairs: Iterable[tuple[float | None, float | None]]) -> tuple[float | None, float | None]:
    """The means of both sides over the pairs of which both values are known."""
    whole = [(x, y) for x, y in pairs if x is not None and y is not None]
    return (fmean(x for x, _ in whole), fmean(y for _, y in whole)) if whole else (None, None)


def _by_seed(runs: Sequence[Run], value: Value) -> dict[int, float | None]:
    """The mean of each seed's runs; None where none of them is measured."""
    same: dict[int, list[Run]] = {}
    for run in runs:
        same.setdefault(run.seed, []).append(run)
    return {seed: fmean(values) if (values := _values(repeats, value)) else None for seed, repeats in same.items()}


def _values(runs: Iterable[Run], value: Value) -> list[float]:
    return [number for run in runs if (number := value(run)) is not None]


def needed_seeds(spread: float | None, gain: float | None) -> int | None:
    """The pairs that show a gain, by the spread of their differences; None where either is not known."""
    return None if spread is None or gain is None else seeds_needed(spread, max(gain, spread * LEAST_GAIN))


def _needed_unpaired(a: Iterable[float | None], b: Iterable[float | None], gain: float | None) -> int | None:
    summary_a, summary_b = summarise(a), summarise(b)
    if gain is None or summary_a.sd is None or summary_b.sd is None:
        return None
    return welch_seeds_needed(summary_a, summary_b, max(gain, (summary_a.sd + summary_b.sd) * LEAST_GAIN))


def _finding_types(runs: Iterable[Run]) -> list[str]:
    runs = [*runs]
    types = list(dict.fromkeys(name for run in runs for name in run.finding_types))
    conduct = list(dict.fromkeys(name for run in runs for name in run.conduct))
    return [*([ALL_FINDINGS, *types] if types else []), *conduct]


def _measured(runs: Iterable[Run], seed: int) -> bool:
    return any(run.seed == seed and run.measured for run in runs)
