"""The shipped laws under the wall clock, where all may act at any time.

Left out are those of one driver and one order: a crash there resumes with another order of turns, and a sleeper with a
timer may act before anybody asks it to.
"""

import pytest

from akinai.core.ledger import Outcome
from akinai.testing.laws import world_laws
from akinai.worlds.market import Market, State

OF_ONE_ORDER = {
    "crash_and_resume_reach_the_same_end",
    "another_python_gives_the_same_bytes",
    "same_actions_give_the_same_bytes",
    "cost_of_an_action_stays_level",
    "scores_are_known",
    "failed_runs_stay_in_every_denominator",
    "actors_see_verbs",
}


def payments_are_booked(before: State, after: State, outcome: Outcome) -> bool:
    """What customers paid is what businesses received."""
    members = after.members.values()
    paid, received = sum(member.paid_cents for member in members), sum(member.received_cents for member in members)
    return paid == received == after.booked_cents


test_laws_hold_when_all_may_act = pytest.mark.slow(
    world_laws(
        Market(),
        setup={"customers": {"count": 1, "purchases": 0}, "businesses": {"agent": "same"}, "clock": "wall"},
        scores={},
        books=payments_are_booked,
        examples=6,
        skip=OF_ONE_ORDER,
    )
)
