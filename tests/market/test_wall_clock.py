"""The shipped laws under the wall clock, where all may act at any time.

Left out are those of one driver and one order: a crash there resumes with another order of turns, and a sleeper with a
timer may act before anybody asks it to.
"""

import pytest

from akinai.testing import world_laws
from akinai.testing.world_case import Case
from akinai.testing.world_laws import Law
from akinai.worlds.market import Market

OF_ONE_ORDER = {
    "crash_and_resume_reach_the_same_end",
    "another_python_gives_the_same_bytes",
    "same_actions_give_the_same_bytes",
    "cost_of_an_action_stays_level",
    "scores_are_known",
    "failed_runs_stay_in_every_denominator",
    "who_may_act_sees_verbs",
}
CASE = Case(
    Market(),
    {"customers": {"count": 1, "purchases": 0}, "businesses": {"agent": "same"}, "clock": "wall"},
    {},
    lambda before, after, outcome: (
        sum(one.paid_cents for one in after.members.values())
        == sum(one.received_cents for one in after.members.values())
        == after.booked_cents
    ),
    examples=6,
)


@pytest.mark.parametrize(
    "law", [law for law in world_laws.ALL if law.__name__ not in OF_ONE_ORDER], ids=lambda law: law.__name__
)
def test_laws_hold_when_all_may_act(law: Law) -> None:
    """A law that does not speak of one order of turns holds under the wall clock as well."""
    world_laws.judge(law, CASE)
