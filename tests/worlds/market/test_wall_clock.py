"""The shipped laws under the wall clock, where all may act at any time.

Left out are those of one driver and one order: a crash there resumes with another order of turns, and a sleeper with a
timer may act before anybody asks it to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

import akinai
from akinai import Run
from akinai.core.agents import Move, Role, View
from akinai.core.ledger import Outcome
from akinai.runtime.play import driver
from akinai.runtime.play.concurrent import seconds_to_alarm
from akinai.testing.laws import world_laws
from akinai.worlds.market import Market, State
from akinai.worlds.market.model import actions as a

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


class Sleeper:
    """A customer that registers, waits, and then thinks as long as `thinks` says."""

    def __init__(self, role: Role, seconds: float, thinks: Callable[[str], Awaitable[None]]) -> None:
        self._actor, self._thinks = role.actor, thinks
        self._moves = iter([a.Register(), a.Wait(seconds=seconds)])

    async def act(self, view: View, last: Outcome | None) -> Move:
        if move := next(self._moves, None):
            return Move(move)
        await self._thinks(self._actor)
        return Move(a.Leave())


def played_by(seconds: Mapping[str, float], thinks: Callable[[str], Awaitable[None]]) -> Run:
    settings = {"clock": "wall", "customers.count": len(seconds), "businesses.count": 1, "businesses.agent": "rules"}
    (run,) = akinai.run(
        "market", agent=lambda role: Sleeper(role, seconds[role.actor], thinks), settings=settings, raise_errors=True
    )
    assert run.ending == "all_done"
    return run


def test_a_sleeper_wakes_while_another_thinks() -> None:
    """Who is alone at first lets the others' timers run."""
    awake = set[str]()

    async def until_both_are_awake(actor: str) -> None:
        awake.add(actor)
        for _ in range(2_000):
            if len(awake) == 2:
                return
            await asyncio.sleep(0.001)
        raise AssertionError(f"{actor} thought alone")

    played_by({"customer_0001": 1, "customer_0002": 1.01}, until_both_are_awake)


def test_nothing_spins_while_who_was_woken_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    """An alarm that has rung is none to wait for."""
    waits = list[float | None]()

    def counted(alarms: Mapping[str, int], now_us: int) -> float | None:
        waits.append(seconds_to_alarm(alarms, now_us))
        return waits[-1]

    async def thousands_of_turns(actor: str) -> None:
        for _ in range(2_000):
            await asyncio.sleep(0)

    monkeypatch.setattr(driver, "seconds_to_alarm", counted)
    played_by({"customer_0001": 1, "customer_0002": 1}, thousands_of_turns)
    assert 0 < len(waits) < 20
