"""Score: a number with a unit and the entries that earned it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from akinai.core.canonical import Json
from akinai.core.ledger import Ledger
from akinai.core.statistics import BOUNDLESS, Bounds


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


def bounds(unit: str) -> Bounds:
    """Between what the values of a unit lie: shares from 0 to 1, money anywhere, and what is counted from 0."""
    match unit:
        case "share":
            return 0.0, 1.0
        case "cents":
            return BOUNDLESS
        case _:
            return 0.0, math.inf


Scorer = Callable[[Ledger], Sequence[Score]]
