"""Differences of two runs: the first entry in which they differ, and the facts of their worlds day by day."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.ledger import Ledger, midnights
from akinai.core.worlds import fold, walk
from akinai.runtime.export.lines import entry_json
from akinai.runtime.runs.records import Run


@dataclass(frozen=True, slots=True)
class DayDiff:
    """The facts of two worlds when a day ended; None for a run that did not reach the day's end."""

    day: int
    a: Mapping[str, Json] | None
    b: Mapping[str, Json] | None

    @property
    def differs(self) -> bool:
        return self.a != self.b


@dataclass(frozen=True, slots=True)
class Diff:
    """The first entry in which two runs differ, and their days."""

    a: str
    b: str
    entry: int | None
    """The first entry that differs, 0 when the genesis does; None when the runs are equal."""
    at_a: Mapping[str, Json] | None
    """The entry of the first run there; None when the run is over."""
    at_b: Mapping[str, Json] | None
    days: tuple[DayDiff, ...]
    end_a: Mapping[str, Json]
    """The facts of the first run at the end of its record."""
    end_b: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai diff --json` prints."""
        return {
            "a": self.a,
            "b": self.b,
            "equal": self.entry is None,
            "entry": self.entry,
            "at": {"a": self.at_a, "b": self.at_b},
            "days": [{"day": day.day, "a": day.a, "b": day.b} for day in self.days],
            "end": {"a": self.end_a, "b": self.end_b},
        }


def diff_runs(a: Run, b: Run) -> Diff:
    """Compare two ledgers entry by entry, and their worlds day by day."""
    days_a, days_b = dict(facts_by_day(a.ledger)), dict(facts_by_day(b.ledger))
    days = tuple(DayDiff(day, days_a.get(day), days_b.get(day)) for day in sorted(days_a.keys() | days_b.keys()))
    entry, at_a, at_b = _first_difference(a, b)
    return Diff(a.id, b.id, entry, at_a, at_b, days, _final_facts(a.ledger), _final_facts(b.ledger))


def _first_difference(a: Run, b: Run) -> tuple[int | None, Mapping[str, Json] | None, Mapping[str, Json] | None]:
    """The number of the first entry that differs, and what each run has there."""
    if a.ledger.genesis.digest != b.ledger.genesis.digest:
        return 0, _genesis_json(a, b), _genesis_json(b, a)
    entries_a, entries_b = a.ledger.entries, b.ledger.entries
    for i in range(max(len(entries_a), len(entries_b))):
        entry_a = entries_a[i] if i < len(entries_a) else None
        entry_b = entries_b[i] if i < len(entries_b) else None
        if entry_a is None or entry_b is None or entry_a.digest != entry_b.digest:
            at_a = entry_json(a.id, entry_a) if entry_a else None
            return i + 1, at_a, entry_json(b.id, entry_b) if entry_b else None
    return None, None, None


def _genesis_json(run: Run, other: Run) -> dict[str, Json]:
    """World and seed, and the settings in which a genesis differs from the other."""
    mine, theirs = run.ledger.genesis.setup, other.ledger.genesis.setup
    setup = {name: value for name, value in mine.items() if name not in theirs or theirs[name] != value}
    return {"world": run.world, **run.header.game_json(), "setup": setup}


def _final_facts(ledger: Ledger) -> Mapping[str, Json]:
    world = worlds.load(ledger.genesis.world)
    return world.facets.judging.facts(fold(world, ledger))


def facts_by_day(ledger: Ledger) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """The world's facts when each day ended, by its number from 1; nothing in a world without a clock of its own."""
    world = worlds.load(ledger.genesis.world)
    start = world.now(world.begin(ledger.genesis))
    if start is None:
        return
    day = 0
    for step in walk(world, ledger.genesis, ledger.entries):
        now = world.now(step.after)
        if now is not None and (passed := midnights(start, now)) > day:
            day = passed
            yield day, world.facets.judging.facts(step.after)
