"""Run and Runs: one run with its ending and scores, and several runs with their summary."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from typing import Any, Literal, overload

from akinai.core.canonical import Json, JsonRecord, as_json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.findings import Finding
from akinai.core.ledger import Ledger
from akinai.core.models import Usage
from akinai.core.presentation.words import counted
from akinai.core.scores import Score, Table, bounds
from akinai.core.statistics import Summary, summarise
from akinai.core.stores import RunHeader, Status
from akinai.runtime.play.repeats import STUCK, UNREADABLE
from akinai.runtime.runs.sweep import sweep_of
from akinai.runtime.why.explanation import ConductCredit

TRACEBACK = "traceback"
"""The key of a run card that holds the traceback of code that failed the run."""
ENDED_BY_AGENT = "ended_by_agent"
"""The key of a run card that says that an agent, not the world, named the ending."""
INTERRUPTED = ("stopped", "budget")
"""Endings of a run that a person stopped, or whose budget is spent: nobody who plays it came to an end."""
ALL_WAIT = "all_wait"
"""Ending of a run in which nobody may act, and no time that is to come lets somebody."""
RESUMABLE = (None, *INTERRUPTED, "script_over", "message_cap", STUCK, UNREADABLE)
"""Endings after which a run can be resumed: its world is not over, or only stands still ("stuck")."""

State = Literal["done", "failed", "open", "unreadable", "of other rules", "damaged"]
"""done: the run ended; failed: its agent or model broke; open: it can go on; unreadable: it ended since no action could
be read in what its agents wrote; of other rules: its world, or that version, is not here; damaged: its record cannot be
read."""


@dataclass(frozen=True, slots=True)
class Series(JsonRecord):
    """A run day by day; every sequence has one value for each of `days`. Empty in a world without its own clock."""

    days: tuple[int, ...] = ()
    """The days that ended, from 1, rising."""
    facts: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict[str, tuple[float | None, ...]])
    """The world's numbers at the end of each day, by name, such as "net_worth_cents"; None where there is none."""
    tables: Mapping[str, Mapping[str, tuple[float, ...]]] = field(
        default_factory=dict[str, Mapping[str, tuple[float, ...]]]
    )
    """The same by name and item, such as "sold" by product; 0 where an item is missing."""
    tools: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """How often each tool was used on each day, refusals and sub-agents included."""
    refused: tuple[int, ...] = ()
    """Actions that were refused on each day."""


@dataclass(frozen=True, slots=True)
class ModelUsage(JsonRecord):
    """Usage of a run's model calls. Tokens, minutes and dollars count only calls that were sent."""

    calls: int
    """All calls, those that the response cache answered included."""
    cache_hits: int
    tokens: Usage
    minutes: float
    """Time that the models took to answer."""
    dollars: float | None
    """None if the price of a model is not known."""
    models: tuple[str, ...]
    """Model ids as the providers returned them."""


LEFT_OUT: tuple[State, ...] = ("unreadable", "of other rules", "damaged")
"""The states of runs that are in no figure."""


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """One run, read from its ledger and scored."""

    header: RunHeader
    entries: int = 0
    digest: str = ""
    """Digest of the last entry, or of the genesis: it identifies the whole record."""
    days: int = 0
    """Midnights that passed in the world; 0 where the world has no clock of its own."""
    scores: tuple[Score, ...] = ()
    """Empty where `trouble` says why."""
    trouble: str | None = None
    """Why the record cannot be read or scored here."""
    other_rules: bool = False
    """Whether that is since its world, or that version, is not here: its chain of digests holds."""
    record: Ledger | None = None
    """The ledger, if it was requested."""
    judged: bool = False
    """Whether findings, coherence and the world's own figures were read."""
    finding_types: Mapping[str, int] = field(default_factory=dict[str, int])
    """Mistakes of each type, in order of first occurrence."""
    severities: Mapping[str, int] = field(default_factory=dict[str, int])
    """Mistakes of each severity."""
    conduct: Mapping[str, int] = field(default_factory=dict[str, int])
    """Findings of conduct of each type, in order of first occurrence."""
    conduct_gains: tuple[ConductCredit, ...] | None = None
    """What findings of conduct gained their actors, as far as `why` with `conduct` was asked; None where it was not."""
    findings: tuple[Finding, ...] | None = None
    """Every finding, if requested."""
    coherence: tuple[Score, ...] = ()
    """Coherence scores; a run may lack some or all of them."""
    replaced: tuple[Score, ...] = ()
    """Original scores, as the scorers gave them, that the world's figures replaced in `scores`."""
    figures: tuple[Score, ...] = ()
    """The world's figures beyond the scores; a run may lack some of these."""
    tables: tuple[Table, ...] = ()
    """The world's tables, if requested."""
    roster: str = ""
    """Equal for runs whose tables are about the same agents."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of agents for people, by id; an agent may have none."""
    began: int | None = None
    """The world's time at the beginning, in microseconds since the epoch; None without a clock of its own."""
    usage: ModelUsage | None = None
    """None for a run that asked no model, or whose trace was not read or cannot be."""
    series: Series | None = None
    """The days of the run, if requested."""

    def __repr__(self) -> str:
        score = f", {self.scores[0].name} {self.scores[0].value} {self.scores[0].unit}" if self.scores else ""
        outcome = self.reason or self.ending or self.status
        return f"<Run {self.id}: {self.world} by {self.agent}, {self.header.game_words}, {outcome}{score}>"

    @property
    def ledger(self) -> Ledger:
        """The whole record. UsageError where it was not kept, as in a command that plays a thousand runs."""
        if self.record is None:
            raise UsageError(f"the ledger of run {self.id!r} was not kept here; akinai.runs({self.id!r}) reads it")
        return self.record

    @property
    def id(self) -> str:
        """The name by which every command finds it."""
        return self.header.run_id

    @property
    def world(self) -> str:
        """Name and version, such as "vending@3"; empty where the header is damaged."""
        return self.header.genesis.world

    @property
    def seed(self) -> int:
        """The seed; of a sealed game a number in its place, which tells only which runs are of one game."""
        return self.header.seed

    @property
    def agent(self) -> str:
        """The name of its agent, as given to the command or told by a client that played from outside."""
        return self.header.agent

    @property
    def model(self) -> str | None:
        """The model, as it was asked for or as a client named it; None by rules."""
        return self.header.model

    @property
    def label(self) -> str | None:
        """What a person calls the player in tables; None where nobody named it."""
        return self.header.label

    @property
    def card(self) -> Mapping[str, Json]:
        """Versions, preset, model and other provenance."""
        return self.header.card

    @property
    def group(self) -> str | None:
        """The name that stands for all runs of one command."""
        return self.header.group

    @property
    def parent(self) -> str | None:
        """The origin of a fork, as "RUN#ENTRY"."""
        return self.header.parent

    @property
    def status(self) -> Status:
        """ "open" can go on, "done" ended, "failed" broke and can be resumed."""
        return self.header.status

    @property
    def state(self) -> State:
        """The status; or "damaged", "of other rules" or "unreadable"."""
        if self.other_rules:
            return "of other rules"
        return "damaged" if self.trouble else UNREADABLE if self.ending == UNREADABLE else self.status

    @property
    def measured(self) -> bool:
        """Whether its figures count: its record can be read, and what its agents wrote could be."""
        return not self.trouble and self.header.ending != UNREADABLE

    @property
    def ending(self) -> str | None:
        """Why it is over, such as "horizon", "budget" or "stopped" (docs/glossary.md has all); None when it is not."""
        return self.header.ending

    @property
    def headline_by_day(self) -> Sequence[float]:
        """The first score at the end of each day; empty unless it is a fact of the world and `series` is there. Days
        over which one step passed, as a week's, have the value at its end."""
        series, by_day = self.headline_series, list[float]()
        for values in series.facts.values() if series else ():
            for day, value in zip(series.days if series else (), values, strict=True):
                by_day += [value] * (day - len(by_day)) if value is not None else []
        return by_day

    @property
    def headline_series(self) -> Series | None:
        """The days with the first score alone; a list of many runs has room for that."""
        if self.series is None or not self.scores:
            return None
        facts, name = self.series.facts, self.scores[0].name
        fact = next((fact for fact in (f"{name}_cents", name) if facts.get(fact)), "")
        return Series(self.series.days, {fact: facts[fact]} if fact else {})

    @property
    def error(self) -> str | None:
        """Why the run failed, with the traceback where code raised an exception; or why its record cannot be read."""
        return f"{self.reason}\n\n{self.traceback}" if self.traceback else self.reason

    @property
    def reason(self) -> str | None:
        """The error in a sentence, without a traceback."""
        return self.header.error or self.trouble

    @property
    def traceback(self) -> str | None:
        """The traceback of the code that failed the run, an agent's or a world's; None for any other error."""
        text = self.card.get(TRACEBACK)
        return text if isinstance(text, str) else None

    def score(self, name: str) -> int | float:
        """The value of one score. UnknownName when the world has none of that name."""
        for score in self.scores:
            if score.name == name:
                return score.value
        raise UnknownName("score", name, (score.name for score in self.scores))

    def value(self, name: str) -> int | float | None:
        """The value of a score, a coherence score or another figure; None where the run lacks it or is not measured.

        All means and comparisons take their values from here.
        """
        if not self.measured:
            return None
        for score in chain(self.scores, self.coherence, self.figures):
            if score.name == name:
                return score.value
        return None

    def to_json(self) -> dict[str, Json]:
        """The run as `--json` prints it, with the details that were read."""
        document: dict[str, Json] = {
            "run": self.id,
            "world": self.world,
            "preset": self.card.get("preset"),
            "agent": self.agent,
            "model": self.model,
            "label": self.label,
            **self.header.game_json(),
            "status": self.status,
            "ending": self.ending,
            "days": self.days,
            "entries": self.entries,
            "digest": self.digest,
            "scores": _by_name(self.scores),
        }
        more: dict[str, Any] = {"group": self.group, "parent": self.parent, "error": self.reason}
        more |= {"traceback": self.traceback, "figures": _by_name(self.figures), "tables": _by_name(self.tables)}
        more |= {"names": self.names, "usage": self.usage, "series": self.series}
        if self.judged:
            findings: dict[str, Any] = {"types": self.finding_types, "severities": self.severities}
            findings |= {"conduct": self.conduct, "conduct_gains": self.conduct_gains} if self.conduct else {}
            listed = {} if self.findings is None else {"list": self.findings}
            document |= {"findings": as_json(findings | listed), "coherence": _by_name(self.coherence)}
        return document | {name: as_json(part) for name, part in more.items() if part}


def counts_of(findings: Sequence[Finding]) -> dict[str, Mapping[str, int]]:
    """The fields of a run that count its findings."""
    mistakes = [finding for finding in findings if not finding.is_conduct]
    return {
        "finding_types": dict(Counter(finding.type for finding in mistakes)),
        "severities": dict(Counter(finding.severity for finding in mistakes)),
        "conduct": dict(Counter(finding.type for finding in findings if finding.is_conduct)),
    }


def _by_name(parts: Iterable[Score | Table]) -> dict[str, Json]:
    return {part.name: part.to_json() for part in parts}


class Runs(Sequence[Run]):
    """Several runs, such as those of one command in the order of their seeds."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = tuple(runs)

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> "Runs": ...
    def __getitem__(self, index: int | slice) -> "Run | Runs":
        return Runs(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runs) and self._runs == other._runs

    def __hash__(self) -> int:
        return hash(tuple(run.id for run in self._runs))

    def __repr__(self) -> str:
        failed = sum(run.status == "failed" for run in self._runs)
        count = f"{counted(len(self), 'run')}{f', {failed} failed' if failed else ''}"
        names = f"{', '.join(run.id for run in self._runs[:5])}{' ...' if len(self) > 5 else ''}"
        return f"<Runs: {count}: {names}>" if names else f"<Runs: {count}>"

    @property
    def name(self) -> str:
        """The sweep or group that all runs share; else the id of the first, and the number of the others."""
        names = {sweep_of(run.card) or run.group for run in self._runs}
        shared = names.pop() if len(names) == 1 and len(self) > 1 else None
        more = f" and {len(self) - 1} more" if len(self) > 1 else ""
        return shared or (f"{self._runs[0].id}{more}" if self._runs else "no runs")

    @property
    def troubled(self) -> list[Run]:
        """Runs whose record cannot be read."""
        return [run for run in self._runs if run.trouble]

    @property
    def unreadable(self) -> list[Run]:
        """Runs that ended since no action could be read in what their agents wrote."""
        return [run for run in self._runs if run.state == UNREADABLE]

    def values(self, score: str) -> list[int | float | None]:
        """One score of every run of the worlds that have it; None for a run that is not measured.

        A run that failed or is not over counts as it stands, with what its ledger holds.
        """
        worlds_with_it = {run.world for run in self._runs if any(run_score.name == score for run_score in run.scores)}
        return [run.value(score) for run in self._runs if run.world in worlds_with_it]

    def score_names(self) -> list[str]:
        """The names of all scores, in the order in which the world gives them."""
        return list(dict.fromkeys(score.name for run in self._runs for score in run.scores))

    def units(self) -> dict[str, str]:
        """The unit of every score by its name."""
        return {score.name: score.unit for run in self._runs for score in run.scores}

    def summary(self) -> dict[str, Summary]:
        """Mean, median, extremes and interval of every score over the runs."""
        return {name: summarise(self.values(name), bounds=bounds(unit)) for name, unit in self.units().items()}

    def card(self) -> dict[str, Json]:
        """The run cards as one: shared values as they are, differing ones as lists; and the runs' final digests."""
        cards = [run.card for run in self._runs]
        shared: dict[str, Json] = {}
        for name in dict.fromkeys(name for card in cards for name in card if name != TRACEBACK):
            values = list({str(card.get(name)): card.get(name) for card in cards}.values())
            shared[name] = values[0] if len(values) == 1 else values
        shared["digests"] = {run.id: run.digest for run in self._runs}
        return shared

    def frame(self) -> Any:
        """A table with a row a run, as a pandas or else a polars frame. UsageError when neither is installed."""
        rows = [
            {"run": run.id, "seed": run.header.game if run.header.sealed else run.seed, "agent": run.agent}
            | {"status": run.status, "ending": run.ending, "days": run.days}
            | {score.name: run.value(score.name) for score in run.scores}
            for run in self._runs
        ]
        for name in ("pandas", "polars"):
            with suppress(ImportError):
                library: Any = import_module(name)
                return library.DataFrame(rows)
        raise UsageError("a frame needs pandas or polars, and neither is installed; pip install pandas")

    def to_json(self) -> dict[str, Json]:
        """The document that `--json` prints: runs, summary, card."""
        return {
            "runs": as_json(self._runs),
            "summary": as_json(self.summary()),
            "card": self.card(),
        }
