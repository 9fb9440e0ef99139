"""Our worlds under the shipped laws, a line each."""

from lemonade import CUP_CENTS, Lemonade, Stand

from akinai.core import Outcome
from akinai.testing import world_laws


def lemonade_adds_up(before: Stand, after: Stand, outcome: Outcome) -> bool:
    """Cups at what they cost and cash together change by what was sold and what was poured away."""
    told = outcome.data or {"sold": 0, "income_cents": 0, "poured_away": 0}
    gone = told["sold"] + told["poured_away"]
    worth = (after.cash_cents + after.cups * CUP_CENTS) - (before.cash_cents + before.cups * CUP_CENTS)
    return worth == told["income_cents"] - gone * CUP_CENTS and after.cash_cents >= 0


test_lemonade = world_laws.laws_for(
    Lemonade(),
    setup={"days": 5},
    long={"days": 100},
    scores={"idle": {"profit": 0}, "frugal": {"profit": 0}},
    books=lemonade_adds_up,
)
