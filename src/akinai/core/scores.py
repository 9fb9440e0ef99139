"""Score: a number with a unit and the entries that earned it. Account: more figures and tables about one run."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from akinai.core.canonical import Json
from akinai.core.statistics import BOUNDLESS, Better, Bounds
from akinai.core.steps import Steps


@dataclass(frozen=True, slots=True)
class Score:
    """One figure about one run."""

    name: str
    value: int | float
    unit: str
    """"cents", "units", "days", "messages", "share" ..."""
    because: tuple[int, ...] = ()
    """Numbers of the entries that earned it, in rising order."""
    better: Better | None = None
    """Whether higher or lower values are better; None where neither is, so that no comparison counts wins."""

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {"value": self.value, "unit": self.unit}
        if self.better:
            document["better"] = self.better
        if self.because:
            document["because"] = list(self.because)
        return document


def bounds(unit: str) -> Bounds:
    """The range of a unit's values: shares from 0 to 1, money and indices without bounds, counts from 0."""
    match unit:
        case "share":
            return 0.0, 1.0
        case "cents" | "index":
            return BOUNDLESS
        case _:
            return 0.0, math.inf


Scorer = Callable[[Steps[Any]], Sequence[Score]]
"""Reads a ledger that was folded once for all scorers."""


WORDS = "words"
"""The unit of a column that holds text."""


About = Literal["run", "agent", "conversation", "deal"]
SUBJECTS: tuple[About, ...] = get_args(About)
"""The subject of a table's rows: the run as a whole, one agent each, two agents that talked, or one deal each."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows about one run, each as long as `columns`."""

    name: str
    """In snake_case: "proposal_errors"."""
    columns: Mapping[str, str]
    """Names of the columns and their units; WORDS for text."""
    rows: Sequence[Sequence[Json]]
    keys: int = 0
    """Number of key columns, the first ones, in which no two rows of a run agree; 0 for a list. Keyed rows are
    aggregated over seeds; a run without a row counts as one of zeros, except in the units "place" and "index"."""
    about: About = "run"
    """The subject of its rows."""

    def to_json(self) -> list[Json]:
        """Its rows as objects."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Account:
    """Figures and tables about one run."""

    figures: Sequence[Score] = ()
    """A figure with the name of a score replaces it. One without a value is left out."""
    tables: Sequence[Table] = ()
    more: Callable[[About], Sequence[Table]] = lambda _: ()
    """Makes the further tables of a subject, such as those that can be as long as the ledger."""
    cast: str = ""
    """Equal for runs in which the keys of the tables mean the same, so that rows may be aggregated over seeds."""

    def tables_about(self, subjects: Sequence[About]) -> list[Table]:
        """Its tables with these subjects."""
        own = [table for table in self.tables if table.about in subjects]
        return own + [table for subject in subjects for table in self.more(subject)]
