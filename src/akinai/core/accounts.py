"""Account: what a world makes of one run beyond its scores: more figures, and tables that go into detail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from akinai.core.canonical import Json
from akinai.core.scores import Score

WORDS = "words"
"""The unit of a column that holds text."""


About = Literal["run", "agent", "conversation"]
"""What the rows of a table are about: the run as a whole, one agent each, or two agents that talked."""


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
    """A figure that has the name of a score stands in its place. One without a value is left out. `of_best`, where
    there is one, tells how near the first score came to the best possible, which is `best_possible`."""
    tables: Sequence[Table] = ()
    cast: str = ""
    """Equal for runs in which the keys of the tables mean the same, so that rows may be told over seeds."""
