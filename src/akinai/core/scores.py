"""Score: a number with a unit and the entries that earned it. Account: more figures and tables about one run."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
    """Between what the values of a unit lie: shares from 0 to 1, money anywhere, and what is counted from 0."""
    match unit:
        case "share":
            return 0.0, 1.0
        case "cents":
            return BOUNDLESS
        case _:
            return 0.0, math.inf


Scorer = Callable[[Steps[Any]], Sequence[Score]]
"""Reads a ledger that was folded once for all scorers."""


WORDS = "words"
"""The unit of a column that holds text."""


About = Literal["run", "agent", "conversation", "deal"]
"""What the rows of a table are about: the run as a whole, one agent each, two agents that talked, or one deal each."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows about one run, each as long as `columns`."""

    name: str
    """In snake_case: "proposal_errors"."""
    columns: Mapping[str, str]
    """Names of the columns and their units; WORDS for text."""
    rows: Sequence[Sequence[Json]]
    keys: int = 0
    """The first so many columns name what a row is about, and no two rows of a run have the same. Such rows are also
    told over seeds; a run without a row counts as one of zeros, and of no "place". 0 for a list."""
    about: About = "run"
    """How far it goes into detail."""

    def to_json(self) -> list[Json]:
        """Its rows as objects."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Account:
    """What a world makes of one run."""

    figures: Sequence[Score] = ()
    """A figure that has the name of a score stands in its place. One without a value is left out."""
    tables: Sequence[Table] = ()
    cast: str = ""
    """Equal for runs in which the keys of the tables mean the same, so that rows may be told over seeds."""
