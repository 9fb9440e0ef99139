"""Two analysed sides against one another: paired by seed where seeds are common, by their means where none is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from akinai.core.canonical import Json
from akinai.core.errors import UsageError
from akinai.core.statistics import Comparison, compare, seeds_needed, summarise
from akinai.core.unpaired import Apart, compare_apart, seeds_needed_apart
from akinai.runtime.analysis import MONTH_DAYS, Analysis, Group, RunRecord
from akinai.runtime.analysis_groups import Kind, group_of

ALL_FINDINGS = "findings"
"""The name under which findings of all types are compared together."""
FINDINGS_UNIT = "a month"
"""Findings for 30 days of a run."""
PLAIN_UNIT = "a run"
"""Findings of a run, in a world in which no day passes."""
LEAST_GAIN = 1e-5
"""Of the spread: a smaller gain is not reckoned with."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: a group, or runs that were played alike."""

    name: str
    """As it was asked for."""
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
            "copies": group.copies,
        }


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of b against a: a score, or findings for 30 days. One of `paired` and `apart` is there."""

    unit: str
    paired: Comparison | None
    apart: Apart | None
    of_done: float | None
    """The difference over the pairs, or the runs, in which nothing failed or was unfinished."""
    needed: int | None = None
    """Seeds, on each side, that would show the gain that was asked about; None where none was, or no spread is known.
    """

    @property
    def difference(self) -> float | None:
        return self._one.difference

    @property
    def ci95(self) -> tuple[float, float] | None:
        return self._one.ci95

    @property
    def smallest_visible(self) -> float | None:
        return self._one.smallest_visible

    @property
    def _one(self) -> Comparison | Apart:
        one = self.paired or self.apart
        assert one is not None
        return one

    def to_json(self) -> dict[str, Json]:
        told = self._one.to_json() | {"unit": self.unit, "of_done": self.of_done}
        return told | ({"seeds_needed": self.needed} if self.needed is not None else {})


@dataclass(frozen=True, slots=True)
class Contrast:
    """b against a."""

    a: Side
    b: Side
    seeds: tuple[int, ...]
    """That both played: the pairs. Without any the sides are compared by their means."""
    only_a: tuple[int, ...]
    """Seeds that only a played: they are in no figure of a paired comparison."""
    only_b: tuple[int, ...]
    unfinished: tuple[int, ...]
    """Seeds among the pairs on which a run failed or is not over: in the figures as they stand."""
    unreadable: tuple[int, ...]
    """Seeds among the pairs on which a side has no record that can be read: in no figure."""
    repeated: bool
    """Some seed stands several times on a side: its runs count as one, by their mean."""
    scores: Mapping[str, Measure]
    findings: Mapping[str, Measure]
    """For 30 days: all together, then each type that a side has. Empty where neither side has a finding."""
    coherence: Mapping[str, Measure]
    """How well the thread was kept; a run that lacks a figure makes no pair."""
    figures: Mapping[str, Measure]
    """What the world tells beyond the scores, likewise."""
    card: Mapping[str, Json]

    @property
    def paired(self) -> bool:
        return bool(self.seeds)

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai compare --json` prints."""
        told: dict[str, Json] = {
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "paired": self.paired,
            "seeds": {
                "common": list(self.seeds),
                "only_a": list(self.only_a),
                "only_b": list(self.only_b),
                "unfinished": list(self.unfinished),
                "unreadable": list(self.unreadable),
                "repeated": self.repeated,
            },
            "scores": {name: one.to_json() for name, one in self.scores.items()},
            "findings": {name: one.to_json() for name, one in self.findings.items()},
            "coherence": {name: one.to_json() for name, one in self.coherence.items()},
            "card": dict(self.card),
        }
        if self.figures:
            told["figures"] = {name: one.to_json() for name, one in self.figures.items()}
        return told


Value = Callable[[RunRecord], float | None]


def contrast(
    both: Analysis, names: tuple[str, str], runs: tuple[Sequence[str], Sequence[str]], gain: float | None
) -> Contrast:
    """One side against the other, from an analysis that holds the runs of both; `gain` is in dollars for money.

    UsageError where a side holds runs that were not played alike, or the two have no score in common.
    """
    by_id = {run.id: run for run in both.runs}
    a, b = ([by_id[run] for run in side] for side in runs)
    sides = [Side(name, _group(both, name, side)) for name, side in zip(names, (a, b), strict=True)]
    a, b = ([run for run in side if run.world] for side in (a, b))  # of a damaged header not even the seed is known
    scores = [name for name in _scores(a) if name in set(_scores(b))]
    if not scores:
        raise UsageError("the two have no score in common; compare runs that are scored, of one world")
    seeds_a, seeds_b = {run.seed for run in a}, {run.seed for run in b}
    common = seeds_a & seeds_b
    units = {score.name: score.unit for run in (*a, *b) for score in (*run.scores, *run.coherence, *run.figures)}
    kept = [name for name in _coherence(a) if name in set(_coherence(b))]
    more = [name for name in _figures(a) if name in set(_figures(b))]
    types = _finding_types((*a, *b))
    on = [run for run in (*a, *b) if run.seed in common]
    return Contrast(
        *sides,
        seeds=tuple(sorted(common)),
        only_a=tuple(sorted(seeds_a - common)),
        only_b=tuple(sorted(seeds_b - common)),
        unfinished=_seeds_of(run for run in on if run.state in ("failed", "open")),
        unreadable=tuple(seed for seed in sorted(common) if not (_readable(a, seed) and _readable(b, seed))),
        repeated=len(seeds_a) < len(a) or len(seeds_b) < len(b),
        scores={name: _measure(a, b, _score(name), units[name], _amount(gain, units[name])) for name in scores},
        findings={name: _findings(a, b, name) for name in types},
        coherence={name: _where_told(a, b, name, units[name]) for name in kept},
        figures={name: _where_told(a, b, name, units[name]) for name in more},
        card=both.card,
    )


def _where_told(a: Sequence[RunRecord], b: Sequence[RunRecord], name: str, unit: str) -> Measure:
    """Over the runs that have the figure."""
    return _measure(_having(a, name), _having(b, name), _score(name), unit, None)


def _having(runs: Sequence[RunRecord], name: str) -> list[RunRecord]:
    return [run for run in runs if run.trouble or run.value(name) is not None]


def _group(both: Analysis, name: str, side: Sequence[RunRecord]) -> Group:
    found = [group for group in both.groups if any(run.id in set(group.runs) for run in side)]
    if len(found) > 1:
        raise UsageError(
            f"{name!r} holds runs that were not played alike ({', '.join(group.name for group in found)}); "
            "compare one kind with another"
        )
    # The other side may have been played alike: a side's figures are of its own runs.
    return group_of(Kind(found[0].name, found[0].settings), side, found[0].scale)


def _measure(a: Sequence[RunRecord], b: Sequence[RunRecord], value: Value, unit: str, gain: float | None) -> Measure:
    one, two = _by_seed(a, value), _by_seed(b, value)
    if not one.keys() & two.keys():
        apart = compare_apart(one.values(), two.values())
        done = [fmean(known) for side in (a, b) if (known := _known((r for r in side if r.state == "done"), value))]
        of_done = done[1] - done[0] if len(done) == 2 else None
        return Measure(unit, None, apart, of_done, _needed_apart(one.values(), two.values(), gain))
    paired = compare(one, two)
    ended = {seed: all(run.state == "done" for run in (*a, *b) if run.seed == seed) for seed in one.keys() & two.keys()}
    differences = [
        y - x for seed, fine in ended.items() if fine and (x := one[seed]) is not None and (y := two[seed]) is not None
    ]
    return Measure(unit, paired, None, fmean(differences) if differences else None, _needed(paired.sd_difference, gain))


def _by_seed(runs: Sequence[RunRecord], value: Value) -> dict[int, float | None]:
    """The mean of each seed's runs; None where none of them can be read."""
    same: dict[int, list[RunRecord]] = {}
    for run in runs:
        same.setdefault(run.seed, []).append(run)
    return {seed: fmean(known) if (known := _known(some, value)) else None for seed, some in same.items()}


def _known(runs: Iterable[RunRecord], value: Value) -> list[float]:
    return [told for run in runs if (told := value(run)) is not None]


def _score(name: str) -> Value:
    return lambda run: run.value(name)


def _findings(a: Sequence[RunRecord], b: Sequence[RunRecord], name: str) -> Measure:
    daily = any(run.days for run in (*a, *b))
    return _measure(a, b, _rate(name, daily=daily), FINDINGS_UNIT if daily else PLAIN_UNIT, None)


def _rate(name: str, *, daily: bool) -> Value:
    """Findings of a type for 30 days of a run, or of the run where the world has no days; None for a run that cannot be
    read or in which no day passed."""

    def value(run: RunRecord) -> float | None:
        if run.trouble or (daily and not run.days):
            return None
        count = sum(run.finding_types.values()) if name == ALL_FINDINGS else run.finding_types.get(name, 0)
        return count * MONTH_DAYS / run.days if daily else float(count)

    return value


def _needed(spread: float | None, gain: float | None) -> int | None:
    return None if spread is None or gain is None else seeds_needed(spread, max(gain, spread * LEAST_GAIN))


def _needed_apart(a: Iterable[float | None], b: Iterable[float | None], gain: float | None) -> int | None:
    one, two = summarise(a), summarise(b)
    if gain is None or one.sd is None or two.sd is None:
        return None
    return seeds_needed_apart(one, two, max(gain, (one.sd + two.sd) * LEAST_GAIN))


def _amount(gain: float | None, unit: str) -> float | None:
    return gain * 100 if gain is not None and unit == "cents" else gain


def _scores(runs: Iterable[RunRecord]) -> list[str]:
    return list(dict.fromkeys(score.name for run in runs for score in run.scores))


def _coherence(runs: Iterable[RunRecord]) -> list[str]:
    return list(dict.fromkeys(score.name for run in runs for score in run.coherence))


def _figures(runs: Iterable[RunRecord]) -> list[str]:
    return list(dict.fromkeys(score.name for run in runs for score in run.figures))


def _finding_types(runs: Iterable[RunRecord]) -> list[str]:
    types = list(dict.fromkeys(name for run in runs for name in run.finding_types))
    return [ALL_FINDINGS, *types] if types else []


def _seeds_of(runs: Iterable[RunRecord]) -> tuple[int, ...]:
    return tuple(sorted({run.seed for run in runs}))


def _readable(runs: Iterable[RunRecord], seed: int) -> bool:
    return any(run.seed == seed and not run.trouble for run in runs)
