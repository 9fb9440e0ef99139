"""What an analysis of runs says, as records: runs, groups of like runs, and what each figure stands on.

A run that failed, broke off or is not over is in every figure with what its ledger holds; one whose record cannot be
read has no value and is counted beside the figures. Nothing is left out in silence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from akinai.core.accounts import About, Table
from akinai.core.canonical import Json
from akinai.core.findings import Finding
from akinai.core.models import Usage
from akinai.core.scores import Score
from akinai.core.statistics import Summary
from akinai.core.stores import Status
from akinai.runtime.analysis_tables import TableOver

MONTH_DAYS = 30
"""Findings are told for so many days."""

State = Literal["done", "failed", "open", "unreadable"]
"""How a run stands: it ended; its agent or model broke; it is not over, or was killed; its record cannot be read."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is kept of each run beside its figures. All of it, for a thousand runs, takes memory."""

    because: bool = False
    """The entries that earned each score."""
    findings: bool = False
    """Each finding, and not only how many of each type."""
    series: bool = False
    """The days of the run."""
    about: tuple[About, ...] = ()
    """The tables that a world makes of a run, by what they are about."""
    fuzzy: int = 0
    """Edits between a name that an agent wrote and a right one that still make them one."""


@dataclass(frozen=True, slots=True)
class Series:
    """A run day by day; every sequence has a place for each of `days`. Empty in a world without a clock of its own."""

    days: tuple[int, ...] = ()
    """The days that ended, from 1, rising."""
    facts: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict[str, tuple[float | None, ...]])
    """By name, at the end of each day: the world's facts ("net_worth_cents", "cash_cents", "machine_cents",
    "stock_cents", "transit_cents") and what the day came to ("income_cents", "sold_out"); None where it is not told."""
    tables: Mapping[str, Mapping[str, tuple[float, ...]]] = field(
        default_factory=dict[str, Mapping[str, tuple[float, ...]]]
    )
    """The same by name and item: "sold", "wanted" and "price_cents" by product. 0 where an item is not there."""
    tools: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """How often each tool was used on each day, refusals and sub-agents included."""
    refused: tuple[int, ...] = ()
    """Actions that were refused on each day."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Effort:
    """What a run's model calls took. Tokens, minutes and dollars are of calls that were sent."""

    calls: int
    """Those that the response cache answered included."""
    cache_hits: int
    tokens: Usage
    minutes: float
    """That the models took to answer."""
    dollars: float | None
    """None where the price of a model is not known."""
    models: tuple[str, ...]
    """Ids as the providers returned them."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run, read once."""

    id: str
    world: str
    agent: str
    seed: int
    status: Status
    ending: str | None
    entries: int
    digest: str
    days: int
    """Midnights that passed in its world; 0 where the world has no clock of its own."""
    scores: tuple[Score, ...]
    """None of them where `trouble` says why."""
    ground: str
    """Equal for runs of one world under the same settings."""
    kind: str
    """Equal for runs that were played alike: on the same ground, by the same agent with the same model, sampling and
    playbook, and forked by the same command if at all."""
    card: Mapping[str, Json] = field(default_factory=dict[str, Json], repr=False)
    group: str | None = None
    parent: str | None = None
    broke: str | None = None
    """What ended it while it was played."""
    trouble: str | None = None
    """Why its record cannot be read or scored here."""
    finding_types: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many findings of each type, in the order in which they first came."""
    severities: Mapping[str, int] = field(default_factory=dict[str, int])
    findings: tuple[Finding, ...] | None = None
    """Where they were wanted."""
    coherence: tuple[Score, ...] = ()
    """How well the thread was kept; a run may lack some of these figures, or all."""
    figures: tuple[Score, ...] = ()
    """What the world tells beyond the scores; a run may lack some of these."""
    tables: tuple[Table, ...] = ()
    """Where they were wanted."""
    cast: str = ""
    """Equal for runs whose tables have the same rows in mind."""
    began: int | None = None
    """The world's time at the beginning, in microseconds since the epoch; None without a clock of its own."""
    effort: Effort | None = None
    """None for a run that asked no model, or whose trace cannot be read."""
    series: Series | None = None
    """Where it was wanted."""

    @property
    def error(self) -> str | None:
        """What broke, or why the record cannot be read."""
        return self.broke or self.trouble

    @property
    def state(self) -> State:
        return "unreadable" if self.trouble else self.status

    def value(self, score: str) -> int | float | None:
        """One score, or another figure, as its ledger holds it; None where it has none."""
        return next((one.value for one in (*self.scores, *self.coherence, *self.figures) if one.name == score), None)

    def to_json(self) -> dict[str, Json]:
        """The run as every `--json` prints one, with findings and effort."""
        told: dict[str, Json] = {
            "run": self.id,
            "world": self.world,
            "preset": self.card.get("preset"),
            "agent": self.agent,
            "seed": self.seed,
            "status": self.status,
            "ending": self.ending,
            "days": self.days,
            "entries": self.entries,
            "digest": self.digest,
            "scores": {score.name: score.to_json() for score in self.scores},
        }
        more = {"group": self.group, "parent": self.parent, "error": self.error}
        told |= {name: value for name, value in more.items() if value}
        if not self.trouble:
            told["findings"] = self._findings_told()
            told["coherence"] = {one.name: one.to_json() for one in self.coherence}
        if self.figures:
            told["figures"] = {one.name: one.to_json() for one in self.figures}
        if self.tables:
            told["tables"] = {one.name: one.to_json() for one in self.tables}
        if self.effort:
            told["effort"] = self.effort.to_json()
        if self.series:
            told["series"] = self.series.to_json()
        return told

    def _findings_told(self) -> dict[str, Json]:
        told: dict[str, Json] = {"types": dict(self.finding_types), "severities": dict(self.severities)}
        if self.findings is not None:
            told["list"] = [one.to_json() for one in self.findings]
        return told


@dataclass(frozen=True, slots=True)
class ScoreOver:
    """One score over the runs of a group."""

    name: str
    unit: str
    summary: Summary
    """Over every run whose record can be read, the failed and unfinished as they stand; `failed` are the unreadable."""
    mean_of_done: float | None
    """Of those that ended alone, so that it shows what the others do to the mean."""
    smallest_visible: float | None
    """The gain that another group of as many runs would have to show, four times in five, if no seeds were common.
    Common seeds see smaller gains. None below two runs."""
    share: float | None
    """How far the mean is on the way from idle (0) to reference (1), on the seeds of the group's `scale`."""

    def to_json(self) -> dict[str, Json]:
        more = {"mean_of_done": self.mean_of_done, "smallest_visible": self.smallest_visible, "share": self.share}
        return {"unit": self.unit, **self.summary.to_json(), **more}


@dataclass(frozen=True, slots=True)
class FindingsOver:
    """Findings of one type over the runs of a group."""

    type: str
    count: int
    runs: int
    """That have at least one."""
    per_month: float | None
    """For 30 days of all its readable runs; None where no day passed."""

    def to_json(self) -> dict[str, Json]:
        return {"count": self.count, "runs": self.runs, "per_30_days": self.per_month}


@dataclass(frozen=True, slots=True)
class EffortOver:
    """What the model calls of a group took: means over the runs that asked a model."""

    runs: int
    calls: float
    input_tokens: float
    output_tokens: float
    cached_tokens: float
    """Of the input."""
    minutes: float
    dollars: float | None
    """None unless every call has a price."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where idle and reference stand on seeds of a group, under its settings."""

    seeds: tuple[int, ...] = ()
    """Those it stands on: the group's means of `own` are taken on them alone."""
    of: int = 0
    """Distinct seeds of the group's readable runs."""
    played: tuple[int, ...] = ()
    """Seeds on which idle or reference, not being in the store, were played for this."""
    idle: Mapping[str, float] = field(default_factory=dict[str, float])
    """Mean of each score."""
    reference: Mapping[str, float] = field(default_factory=dict[str, float])
    own: Mapping[str, float] = field(default_factory=dict[str, float])
    why_not: str | None = None
    """Why there is none."""

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that were played alike: one world, settings, agent, model and playbook."""

    name: str
    """What sets it apart from the other groups: "reference", "chat openai:gpt-x, fee_cents=400"."""
    world: str
    agent: str
    card: Mapping[str, Json]
    """Preset, model, sampling and playbook, as the run cards tell them."""
    settings: Mapping[str, Json]
    """Those in which it differs from another group of its world, by dotted names."""
    runs: tuple[str, ...]
    seeds: int
    """Distinct ones."""
    states: Mapping[State, int]
    """How many of its runs are done, failed, open, unreadable; these add up to all."""
    copies: int
    """Runs that repeat another one of the group, entry by entry: they say nothing new."""
    endings: Mapping[str, int]
    days: int
    """Played by all its readable runs together."""
    scores: Mapping[str, ScoreOver]
    findings: Mapping[str, FindingsOver]
    """By type, the most frequent first."""
    coherence: Mapping[str, ScoreOver]
    """How well the thread was kept, over the runs that have the figure."""
    effort: EffortOver | None
    scale: Scale
    figures: Mapping[str, ScoreOver] = field(default_factory=dict[str, ScoreOver])
    """What the world tells beyond the scores, over the runs that have the figure."""
    tables: Mapping[str, TableOver] = field(default_factory=dict[str, TableOver])
    """Those of the world's tables that can be told over runs, and were wanted."""

    @property
    def unfinished(self) -> int:
        """Runs that failed or are not over: in the figures as they stand."""
        return self.states.get("failed", 0) + self.states.get("open", 0)

    def to_json(self) -> dict[str, Json]:
        told: dict[str, Json] = {
            "world": self.world,
            "agent": self.agent,
            **self.card,
            "settings": dict(self.settings),
            "runs": list(self.runs),
            "n": len(self.runs),
            "seeds": self.seeds,
            "states": {str(state): count for state, count in self.states.items()},
            "copies": self.copies,
            "endings": dict(self.endings),
            "days": self.days,
            "scores": {name: one.to_json() for name, one in self.scores.items()},
            "findings": {name: one.to_json() for name, one in self.findings.items()},
            "coherence": {name: one.to_json() for name, one in self.coherence.items()},
            "effort": self.effort.to_json() if self.effort else None,
            "scale": self.scale.to_json(),
        }
        if self.figures:
            told["figures"] = {name: one.to_json() for name, one in self.figures.items()}
        if self.tables:
            told["tables"] = {name: one.to_json() for name, one in self.tables.items()}
        return told


@dataclass(frozen=True, slots=True)
class Analysis:
    """Runs, in the order in which they were named, and the groups they fall into."""

    runs: tuple[RunRecord, ...]
    groups: tuple[Group, ...]
    summary: Mapping[str, Summary]
    """Every score over all runs whose world has it, whoever played."""
    card: Mapping[str, Json]
    """What the run cards agree on and differ in, and the final digests."""

    @property
    def troubled(self) -> Sequence[RunRecord]:
        """Runs whose record cannot be read."""
        return [run for run in self.runs if run.trouble]

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai analyze --json` prints."""
        return {
            "runs": [run.to_json() for run in self.runs],
            "summary": {name: one.to_json() for name, one in self.summary.items()},
            "groups": {group.name: group.to_json() for group in self.groups},
            "card": dict(self.card),
        }
