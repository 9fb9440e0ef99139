"""The records of an analysis: groups of runs that were played alike, and the statistics of each group.

A run that failed, broke off or is not over is in every figure with what its ledger holds. One that is unreadable (no
action could be read in what its agents wrote) or damaged (its record cannot be read) has no value and is counted
separately. Nothing is left out silently.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from akinai.core.canonical import Json, JsonRecord, as_json
from akinai.core.chance import seed_json
from akinai.core.scores import Better
from akinai.core.statistics import Ranking, Summary
from akinai.runtime.runs.records import LEFT_OUT, State

MONTH_DAYS = 30
"""Days for which rates of findings are given."""


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """One score over the runs of a group."""

    name: str
    unit: str
    better: Better | None
    summary: Summary
    """Over every measured run, the failed and unfinished as they are; `failed` are the unreadable and the damaged."""
    mean_of_done: float | None
    """The mean over finished runs alone, which shows how the others change the mean."""
    mde: float | None
    """Minimum detectable effect (80 % power) against another group of as many runs with no seed in common; common
    seeds show smaller gains. None below two runs."""
    share: float | None
    """Position of the mean between idle (0) and reference (1), on the seeds of the group's `scale`."""

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {"unit": self.unit, **({"better": self.better} if self.better else {})}
        further: dict[str, Json] = {"mean_of_done": self.mean_of_done, "mde": self.mde, "share": self.share}
        return {**document, **self.summary.to_json(), **further}


@dataclass(frozen=True, slots=True)
class GainSummary(JsonRecord):
    """What findings of conduct of one type gained their actors, over those that `why` took out of their runs."""

    findings: int
    total: float
    unit: str


@dataclass(frozen=True, slots=True)
class FindingsSummary:
    """Findings of one type over the runs of a group."""

    type: str
    count: int
    runs: int
    """Runs that have at least one."""
    per_month: float | None
    """Findings in 30 days, over all measured runs; None where no day passed."""
    gain: GainSummary | None = None
    """What those of conduct gained; None where that was not asked."""

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {"count": self.count, "runs": self.runs, "per_30_days": self.per_month}
        return document | ({"gained": self.gain.to_json()} if self.gain else {})


@dataclass(frozen=True, slots=True)
class UsageSummary(JsonRecord):
    """The model calls of a group: means over the runs that asked a model."""

    runs: int
    calls: float
    input_tokens: float
    output_tokens: float
    cached_tokens: float
    """Input tokens that the provider had cached."""
    minutes: float
    dollars: float | None
    """None unless every call has a price."""


@dataclass(frozen=True, slots=True)
class RowSummary:
    """One row of a table over several runs."""

    keys: tuple[Json, ...]
    values: Mapping[str, Summary]
    """By numeric column. A run that does not know a value counts as `failed` there."""


@dataclass(frozen=True, slots=True)
class TableSummary:
    """A table over several runs, its rows in the order of their keys."""

    name: str
    columns: Mapping[str, str]
    """Names and units, the keys first."""
    runs: int
    rows: tuple[RowSummary, ...]

    def to_json(self) -> dict[str, Json]:
        return {"runs": self.runs, "rows": [self._row(row) for row in self.rows]}

    def _row(self, row: RowSummary) -> dict[str, Json]:
        keys = dict(zip(self.columns, row.keys, strict=False))
        return {**keys, **{name: summary.to_json() for name, summary in row.values.items()}}


@dataclass(frozen=True, slots=True)
class Scale:
    """The scores of idle, reference and a yardstick on seeds of a group, under its settings."""

    seeds: tuple[int, ...] = ()
    """The seeds that it covers; the group's means in `own` are over these alone."""
    of: int = 0
    """Distinct seeds of the group's measured runs."""
    played: tuple[int, ...] = ()
    """Seeds on which idle or reference was not in the store and was played for this."""
    idle: Mapping[str, float] = field(default_factory=dict[str, float])
    """Mean of each score."""
    reference: Mapping[str, float] = field(default_factory=dict[str, float])
    own: Mapping[str, float] = field(default_factory=dict[str, float])
    informed: Mapping[str, float] = field(default_factory=dict[str, float])
    """The scores of the world's yardstick, a player that knows what is hidden; empty without one."""
    bound: float | None = None
    """The mean bound of the first score, which no player can expect to exceed; None where the world has none."""
    why_not: str | None = None
    """The reason why the group has no scale; None where it has one."""
    days: Mapping[str, Mapping[int, Sequence[float]]] = field(default_factory=dict[str, Mapping[int, Sequence[float]]])
    """The first score at the end of each day, by player and seed; empty where days were not kept."""

    def to_json(self) -> dict[str, Json]:
        document = {name: value for name, value in asdict(self).items() if name != "days"}
        return {**document, **{name: [*map(seed_json, document[name])] for name in ("seeds", "played")}}


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that were played alike: one world, settings, agent, model and playbook."""

    name: str
    """The words that distinguish it from the other groups: "reference", "chat openai:gpt-x, fee_cents=400"."""
    world: str
    agent: str
    card: Mapping[str, Json]
    """Preset, model, sampling and playbook, from the run cards."""
    settings: Mapping[str, Json]
    """The settings in which it differs from another group of its world, by dotted names."""
    runs: tuple[str, ...]
    """Their ids."""
    seeds: int
    """Number of distinct seeds."""
    states: Mapping[State, int]
    """The numbers of runs that are done, failed, open, unreadable, of other rules, damaged; they add up to all runs."""
    copies: int
    """Runs that repeat another run of the group entry by entry, and so add no evidence."""
    endings: Mapping[str, int]
    days: int
    """Days played by all its measured runs together."""
    scores: Mapping[str, ScoreSummary]
    findings: Mapping[str, FindingsSummary]
    """Mistakes by type, the most frequent first."""
    conduct: Mapping[str, FindingsSummary]
    """Findings of conduct by type, the most frequent first."""
    conduct_runs: int
    """Runs that have a finding of conduct."""
    coherence: Mapping[str, ScoreSummary]
    """Figures of how well the agents kept track, over the runs that have them."""
    usage: UsageSummary | None
    scale: Scale
    figures: Mapping[str, ScoreSummary] = field(default_factory=dict[str, ScoreSummary])
    """The world's figures beyond the scores, over the runs that have them."""
    tables: Mapping[str, TableSummary] = field(default_factory=dict[str, TableSummary])
    """The world's tables that can be summarised over runs, where they were kept."""
    advice: str = ""
    """What to try next with its unreadable runs; empty where it has none."""

    @property
    def first(self) -> ScoreSummary:
        """The world's first score."""
        return next(iter(self.scores.values()))

    @property
    def unfinished(self) -> int:
        """Runs that failed or are not over."""
        return self.states.get("failed", 0) + self.states.get("open", 0)

    @property
    def left_out(self) -> int:
        """Runs that are unreadable, of other rules or damaged, and so in no figure."""
        return sum(self.states.get(state, 0) for state in LEFT_OUT)

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Any] = {
            "world": self.world,
            "agent": self.agent,
            **self.card,
            "settings": self.settings,
            "runs": self.runs,
            "n": len(self.runs),
            "seeds": self.seeds,
            "states": self.states,
            "copies": self.copies,
            "endings": self.endings,
            "days": self.days,
            "scores": self.scores,
            "findings": self.findings,
            **({"conduct": {"runs": self.conduct_runs, **self.conduct}} if self.conduct else {}),
            "coherence": self.coherence,
            "usage": self.usage,
            "scale": self.scale,
        }
        more = {"figures": self.figures, "tables": self.tables, "advice": self.advice}
        return as_json(document | {name: part for name, part in more.items() if part})


@dataclass(frozen=True, slots=True)
class WorldRanking:
    """The groups of one world ranked by one score."""

    world: str
    score: str
    unit: str
    better: Better | None
    order: Ranking
    """Places, and every two groups compared."""
    seeds: int
    """The fewest seeds of a group."""

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {"world": self.world, "score": self.score, "unit": self.unit, "better": self.better}
        return document | {"seeds": self.seeds, **self.order.to_json()}


@dataclass(frozen=True, slots=True)
class PassRate:
    """The rates at which the runs of a group reach a threshold when a seed is tried k times."""

    score: str
    unit: str
    threshold: float
    """In the unit of the score."""
    k: int
    at_least_once: Summary
    """pass@k over the seeds that were played at least k times, with its interval."""
    every_time: Summary
    """pass^k over the same seeds."""

    def to_json(self) -> dict[str, Json]:
        own = {name: value for name, value in asdict(self).items() if name not in ("at_least_once", "every_time")}
        return {**own, "pass_at_k": self.at_least_once.to_json(), "pass_hat_k": self.every_time.to_json()}
