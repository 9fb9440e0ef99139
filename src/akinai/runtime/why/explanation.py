"""Explanations of a run: its decisions with their worth and its uncertainty, as records with a JSON form."""

from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from akinai.core.canonical import Json, JsonRecord
from akinai.core.findings import Finding


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of a day, left out by itself."""

    entry: int
    words: str
    worth: float | None = None
    """Gain in one other future, in the headline's unit; None where it was not left out by itself."""


@dataclass(frozen=True, slots=True)
class Credit:
    """A day, or a span of days, replaced by what the continuation player would have done."""

    kind: Literal["day", "span"]
    first: int
    """The day, or the entry in a world without days."""
    last: int
    words: str
    """The decisions, in words."""
    instead: str
    """The decisions that the player would have taken and the run did not; empty for none."""
    decisions: tuple[Decision, ...]
    """Decisions that the player would not have taken, largest effect first."""
    own: float
    """Gain in the run's own future: with it less without it, in the headline's unit. Negative: it cost."""
    worth: float | None
    """Mean gain over the other futures; None where they were not played."""
    ci95: tuple[float, float] | None
    """95 % interval of `worth`, for this row by itself."""
    futures: int
    p_holm: float | None
    """The p of `worth` being 0, corrected for all rows that were tried (Holm)."""
    shown: bool
    """Whether the gain or cost is significant at 5 % for all rows together; without other futures, whether the two
    branches differ."""

    @property
    def made(self) -> float:
        """The best estimate of its gain."""
        return self.own if self.worth is None else self.worth


@dataclass(frozen=True, slots=True)
class ConductCredit:
    """What misconduct gained its actor: the run with it less the run without it, all else as recorded."""

    type: str
    actor: str
    entry: int
    """The first entry that was taken out, or replaced by what an honest actor would have done."""
    words: str
    unit: str
    own: float
    """Gain in the run's own future."""
    worth: float | None
    """Mean gain over other futures; None where there are none."""
    ci95: tuple[float, float] | None
    futures: int

    @property
    def gained(self) -> float:
        """The best estimate of its gain."""
        return self.own if self.worth is None else self.worth

    def is_of(self, finding: Finding) -> bool:
        """Whether it is what a finding gained."""
        return (self.type, self.actor) == (finding.type, finding.actor) and self.entry in finding.entries


@dataclass(frozen=True, slots=True)
class Explanation(JsonRecord):
    """The decisions that made and cost most."""

    run: str
    digest: str
    """The final digest of the record that is explained."""
    player: str
    """The player of the rest of every branch."""
    asked_model: bool
    """Whether the run was played by a model, which the continuation is not."""
    headline: str
    unit: str
    by_days: bool
    value: float
    """The headline of the run."""
    player_value: float | None
    """The headline if the player plays from the first day on; None where that was not played."""
    cost: tuple[Credit, ...]
    """Rows that cost, significant ones first, then by size."""
    made: tuple[Credit, ...]
    parted: int
    """Days on which run and player differ; the others are worth exactly 0."""
    days: int
    tried: int
    """Rows whose other futures were played; p is corrected for this number."""
    futures: int
    """Other futures of each row; 0 in a world without chance ahead."""
    branches: int
    """Branches played so far."""
    left: int
    """Branches that the budget left out."""
    several: bool = False
    """Whether several actors play, so that each row is one actor's decision at an entry."""
    actor: str | None = None
    """The actor whose decisions count, by its own gain; None for all."""
    conduct: tuple[ConductCredit, ...] | None = None
    """What each finding of conduct gained, where that was asked in place of the decisions."""

    def to_json(self) -> dict[str, Json]:
        """The fields; `conduct` only where it was asked for."""
        return {name: value for name, value in JsonRecord.to_json(self).items() if (name, value) != ("conduct", None)}

    @staticmethod
    def from_json(document: object) -> "Explanation":
        """The explanation of a document. Raises ValueError for any other."""
        return TypeAdapter(Explanation).validate_python(document)
