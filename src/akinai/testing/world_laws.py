"""The laws of a world. A test file joins in one line: `test_laws = world_laws.laws_for(MyWorld(), ...)`.

They play the world's own players and runs that Hypothesis makes up; docs/write-a-world.md says what each law catches.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from akinai.core.canonical import Json
from akinai.core.worlds import World
from akinai.testing.world_case import Books, Case, nothing_to_keep
from akinai.testing.world_moves import moves
from akinai.testing.world_records import (
    another_python_gives_the_same_bytes,
    crash_and_resume_reach_the_same_end,
    fork_agrees_with_its_past,
    replay_restores_everything,
    same_actions_give_the_same_bytes,
)
from akinai.testing.world_rules import (
    books_balance,
    looking_changes_nothing,
    nothing_an_agent_sends_raises,
    refusal_changes_nothing,
    states_compare_by_value,
    time_never_falls,
    verbs_can_be_shown,
    what_is_not_offered_is_refused,
    what_is_told_is_json,
    who_may_act_sees_verbs,
)
from akinai.testing.world_sums import (
    cost_of_an_action_stays_level,
    every_record_has_its_scores,
    failed_runs_stay_in_every_denominator,
    scores_are_known,
)

__all__ = ["ALL", "Case", "judge", "laws_for", "moves", "nothing_to_keep"]

S = TypeVar("S")
Law = Callable[[Case[Any]], None]

ALL: tuple[Law, ...] = (
    states_compare_by_value,
    verbs_can_be_shown,
    replay_restores_everything,
    refusal_changes_nothing,
    nothing_an_agent_sends_raises,
    what_is_told_is_json,
    fork_agrees_with_its_past,
    crash_and_resume_reach_the_same_end,
    same_actions_give_the_same_bytes,
    another_python_gives_the_same_bytes,
    time_never_falls,
    books_balance,
    cost_of_an_action_stays_level,
    scores_are_known,
    every_record_has_its_scores,
    failed_runs_stay_in_every_denominator,
    looking_changes_nothing,
    who_may_act_sees_verbs,
    what_is_not_offered_is_refused,
)
"""The laws of every world."""


def judge(law: Law, case: Case[Any]) -> None:
    """Hold one law against a world. AssertionError, or what the world raised, says what is broken."""
    law(case)


def laws_for(
    world: World[S],
    *,
    scores: Mapping[str, Mapping[str, int | float]],
    books: Books,
    setup: Mapping[str, Json] | None = None,
    **more: Any,
) -> Callable[..., None]:
    """A pytest test that holds all laws against a world, each under its own name.

    `setup` is that of short runs, ten to a hundred actions by the world's players. `scores` is what players are known
    to score. `books(before, after, outcome)` says whether money and goods add up over one action; a world that has
    none of either says so with `nothing_to_keep`. What else can be said is in `Case`.
    """
    import pytest

    case = Case(world, setup or {}, scores, books, **more)

    @pytest.mark.parametrize("law", [pytest.param(law, id=getattr(law, "__name__", "law")) for law in ALL])
    def test(law: Law) -> None:
        judge(law, case)

    return test
