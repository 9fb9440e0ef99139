"""The laws of a world. A test file joins with one line: `test_laws = world_laws(MyWorld(), ...)`.

They run the world's own players and random runs; docs/write-a-world.md explains what each law detects.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol, TypeVar

from akinai.core.canonical import Json
from akinai.core.worlds import World
from akinai.testing.laws.case import Books, WorldCase
from akinai.testing.laws.records import (
    another_python_gives_the_same_bytes,
    crash_and_resume_reach_the_same_end,
    fork_agrees_with_its_past,
    replay_restores_everything,
    same_actions_give_the_same_bytes,
)
from akinai.testing.laws.results import (
    cost_of_an_action_stays_level,
    every_ledger_has_its_scores,
    failed_runs_stay_in_every_denominator,
    scores_are_known,
)
from akinai.testing.laws.rules import (
    actors_see_verbs,
    books_balance,
    nothing_an_agent_sends_raises,
    outcomes_are_json,
    refusal_changes_nothing,
    states_compare_by_value,
    time_never_falls,
    unoffered_actions_are_refused,
    verbs_can_be_shown,
    views_change_nothing,
)

S = TypeVar("S")


class WorldLaw(Protocol):
    """A check of a world. It raises AssertionError, or the exception that the world raised."""

    @property
    def __name__(self) -> str: ...

    def __call__(self, case: WorldCase[Any], /) -> None: ...


WORLD_LAWS: tuple[WorldLaw, ...] = (
    states_compare_by_value,
    verbs_can_be_shown,
    replay_restores_everything,
    refusal_changes_nothing,
    nothing_an_agent_sends_raises,
    outcomes_are_json,
    fork_agrees_with_its_past,
    crash_and_resume_reach_the_same_end,
    same_actions_give_the_same_bytes,
    another_python_gives_the_same_bytes,
    time_never_falls,
    books_balance,
    cost_of_an_action_stays_level,
    scores_are_known,
    every_ledger_has_its_scores,
    failed_runs_stay_in_every_denominator,
    views_change_nothing,
    actors_see_verbs,
    unoffered_actions_are_refused,
)
"""The laws of every world."""


def world_laws(
    world: World[S],
    *,
    scores: Mapping[str, Mapping[str, int | float]],
    books: Books,
    setup: Mapping[str, Json] | None = None,
    skip: Collection[str] = (),
    **more: Any,
) -> Callable[..., None]:
    """A pytest test that checks all laws of a world, each under its own name.

    `setup` is for short runs: ten to a hundred actions by the world's players. `scores` are known scores of players.
    `books(before, after, outcome)` says whether money and goods add up over an action; for a world without either, pass
    `no_books`. `skip` names laws that do not apply. `more` are further fields of `WorldCase`.
    """
    import pytest

    case = WorldCase(world, setup or {}, scores, books, **more)
    laws = [law for law in WORLD_LAWS if law.__name__ not in skip]

    @pytest.mark.parametrize("law", [pytest.param(law, id=law.__name__) for law in laws])
    def test(law: WorldLaw) -> None:
        law(case)

    return test
