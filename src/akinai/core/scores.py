"""Score: a number with a unit and the entries that earned it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from akinai.core.canonical import Json
from akinai.core.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Score:
    """One figure about one run."""

    name: str
    value: int | float
    unit: str
    """"cents", "units", "days", "messages", "share" ..."""
    because: tuple[int, ...] = ()
    """Numbers of the entries that earned it, in rising order."""

    def to_json(self) -> dict[str, Json]:
        told: dict[str, Json] = {"value": self.value, "unit": self.unit}
        if self.because:
            told["because"] = list(self.because)
        return told


Scorer = Callable[[Ledger], Sequence[Score]]
