"""Work on runs of a store: several workers on one run, and models asked by many runs at once."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

import akinai
from akinai.core.stores import RunHeader
from akinai.runtime.config.addresses import in_store
from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice
from akinai.runtime.runs.planning import begin_all
from akinai.runtime.runs.playing import _processes_of
from akinai.runtime.runs.reading import Detail
from akinai.runtime.runs.work import PlayWork, do_work


class Patient:
    """A monitor that stops nothing until a run has played a number of days."""

    def __init__(self, until: int | None = None) -> None:
        self.until, self.days = until, dict[str, int]()
        self.every_s = 0.01 if until is None else 0  # at each turn of the loop, so that no run is over before it looks

    async def report(self, days: Mapping[str, int]) -> bool:
        self.days |= days
        return self.until is not None and max(days.values()) >= self.until


def begun(store: str, days: int) -> list[str]:
    """The ids of runs that are written and not played."""
    headers: list[RunHeader] = [
        akinai.run("vending", agent="naive", days=days, seeds=seed, name="a", preset="classic")[0].header
        for seed in (1, 2)
    ]
    fresh = [RunHeader(h.run_id, h.genesis, h.agents, h.created_at, group="a", card=h.card) for h in headers]
    in_store(store, lambda books: begin_all(books, fresh), create=True)
    return [header.run_id for header in fresh]


async def test_two_workers_on_one_run_end_it_once(tmp_path: Path) -> None:
    """Runs that two workers play at once end as if each had been alone: done, whole, with the same digest."""
    store = str(tmp_path / "akinai.db")
    item = PlayWork(tuple(await asyncio.to_thread(begun, store, 20)), Detail(ledger=False))
    first, second = await asyncio.gather(do_work(store, item, Patient()), do_work(store, item, Patient()))
    alone = await asyncio.to_thread(
        lambda: akinai.run("vending", agent="naive", days=20, seeds="1-2", name="a", preset="classic")
    )
    assert [run.digest for run in first] == [run.digest for run in second] == [run.digest for run in alone]
    assert {run.status for run in (*first, *second)} == {"done"}


async def test_stopped_work_keeps_what_was_played(tmp_path: Path) -> None:
    """A monitor stops an item: its runs are open, and a worker that comes later ends them with equal digests."""
    store = str(tmp_path / "akinai.db")
    item = PlayWork(tuple(await asyncio.to_thread(begun, store, 60)), Detail(ledger=False))
    left = await do_work(store, item, Patient(until=3))
    assert (left[0].status, left[0].ending) == ("open", "stopped")
    assert left[0].entries > 0
    ended = await do_work(store, item, Patient())
    alone = await asyncio.to_thread(
        lambda: akinai.run("vending", agent="naive", days=60, seeds="1-2", name="a", preset="classic")
    )
    assert [run.digest for run in ended] == [run.digest for run in alone]


def test_many_runs_of_models_get_processes() -> None:
    """Few runs that wait for models share a process; a limit of calls a minute keeps all of them in one."""
    spec = AgentSpec("chat", ModelChoice("openai:m"))
    limited = AgentSpec("chat", ModelChoice("openai:m"), calls_per_minute=60)
    assert _processes_of([spec] * 100, 64) == 1
    assert _processes_of([spec] * 4_000, 64) == 1
    assert _processes_of([spec] * 4_000, 4_000) == min(20, len(os.sched_getaffinity(0)))
    assert _processes_of([limited] * 4_000, 4_000) == 1


async def test_each_run_may_have_a_call_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that 256 runs share takes 256 calls at once, not 64."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    async with AgentSpec("chat", ModelChoice("openai:m")).open_model(ModelChoice("openai:m"), 256) as model:
        slots = [model._limit.slot() for _ in range(256)]
        for slot in slots:
            await asyncio.wait_for(slot.__aenter__(), 5)


def test_estimate_counts_all_runs_that_play_at_once() -> None:
    """256 runs take a quarter of the time where all of them play at once instead of 64."""
    hours = [
        akinai.estimate("vending", seeds="1-256", model="openai:m", jobs=jobs, preset="classic").hours
        for jobs in (64, 256)
    ]
    assert hours[0] == pytest.approx(4 * hours[1])
