"""Our worlds under the shipped laws, a line each."""

from akinai.core import Outcome
from akinai.runtime.config import prepare
from akinai.testing import world_laws
from akinai.worlds.vending import State, Vending
from akinai.worlds.vending.scores import net_worth_cents, transit_cents
from lemonade import CUP_CENTS, Lemonade, Stand


def lemonade_adds_up(before: Stand, after: Stand, outcome: Outcome) -> bool:
    """Cash and cups at what they cost change by what was sold and what was poured away."""
    told = outcome.data or {"sold": 0, "income_cents": 0, "poured_away": 0}
    gone = told["sold"] + told["poured_away"]
    worth = (after.cash_cents + after.cups * CUP_CENTS) - (before.cash_cents + before.cups * CUP_CENTS)
    return worth == told["income_cents"] - gone * CUP_CENTS and after.cash_cents >= 0


def vending_adds_up(before: State, after: State, outcome: Outcome) -> bool:
    """Money and goods at cost stay the same while a day lasts; at its end they grow by no more than it earned."""
    worth = net_worth_cents(after) + transit_cents(after) - net_worth_cents(before) - transit_cents(before)
    if after.book is before.book or after.book is None:
        return worth == 0
    return worth <= after.book.income_cents - after.book.fee_cents - after.book.spoiled_cents and after.cash_cents >= 0


test_lemonade = world_laws.laws_for(
    Lemonade(),
    setup={"days": 5},
    long={"days": 100},
    scores={"idle": {"profit": 0}, "frugal": {"profit": 6_750}},
    books=lemonade_adds_up,
)
test_vending = world_laws.laws_for(
    Vending(),
    setup=prepare(Vending(), days=4).setup,
    long={"days": 60},
    scores={
        "idle": {
            "net_worth": 49_200,
            "cash": 49_200,
            "machine_cash": 0,
            "stock_at_cost": 0,
            "in_transit_at_cost": 0,
            "units_sold": 0,
            "days_until_sales_stop": 0,
            "stockout_days": 4,
            "messages": 4,
        }
    },
    books=vending_adds_up,
)
