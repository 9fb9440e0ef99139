"""The life of a run: resumed it ends as if nothing had happened, forked it agrees with its past, edited it shows."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from akinai.analysis.diff import diff_runs, facts_by_day
from akinai.core.errors import ReplayMismatch, SequenceConflict, UsageError
from akinai.core.ledger import Entry, Ledger, Outcome
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import fold, replay
from akinai.runtime.config.settings import prepare
from akinai.runtime.play.agent_spec import AgentSpec, spec_of
from akinai.runtime.play.driver import SINCE, play_run
from akinai.runtime.runs.lifecycle import begin_forks, can_resume, plan_fork
from akinai.runtime.runs.planning import begin_all, plan
from akinai.runtime.runs.reading import read_ledger, read_run
from akinai.runtime.runs.records import Run
from akinai.runtime.runs.verification import verify
from akinai.stores.memory import MemoryStore
from akinai.worlds.vending import Vending
from together import together

WORLD = Vending()
DAYS = 12


def header_of(agent: str, *, seed: int = 1, days: int = DAYS, group: str = "a") -> RunHeader:
    return plan(WORLD, prepare(WORLD, preset="classic", days=days), AgentSpec(agent), [seed], group)[0]


async def played(store: Store, header: RunHeader) -> Run:
    """The run, begun and played to its end."""
    await begin_all(store, [header])
    return await read_run(store, await play_run(store, header))


async def left_after(store: Store, whole: Run, entries: int, name: str = "a-1") -> RunHeader:
    """A run that was killed when so many entries of another one had been committed."""
    header = replace(whole.header, run_id=name, group=None, status="open", ending=None, entries=None, digest=None)
    await store.create(header)
    await store.append(name, whole.ledger.entries[:entries])
    return header


async def test_resumed_run_ends_as_the_uninterrupted_one() -> None:
    """Killed behind any entry and resumed, a run has the digest of the one that was never killed."""
    whole = await played(MemoryStore(), header_of("naive"))
    for entries in range(whole.entries + 1):
        store = MemoryStore()
        run = await read_run(store, await play_run(store, await left_after(store, whole, entries)))
        assert (run.digest, run.status, run.ending) == (whole.digest, "done", "horizon")
        assert (await verify(store, run.header)).ok


async def test_resumed_fork_ends_as_the_uninterrupted_one() -> None:
    """The same for a fork that another agent plays: its own past begins behind the entries that it shares."""
    store = MemoryStore()
    origin = await played(store, header_of("naive"))
    fork = await plan_fork(store, origin.header, "fork", at_day=6, spec=AgentSpec("reference"))
    await begin_forks(store, [fork])
    whole = await read_run(store, await play_run(store, fork.header))
    assert whole.entries > len(fork.past)
    for entries in range(len(fork.past), whole.entries, 3):
        other = MemoryStore()
        run = await read_run(other, await play_run(other, await left_after(other, whole, entries)))
        assert run.digest == whole.digest


async def test_fork_agrees_with_its_past() -> None:
    """A fork's entries before its point are the origin's, digest by digest; with the same agent so are the rest."""
    store = MemoryStore()
    origin = await played(store, header_of("reference"))
    for point in (0, 1, 17, origin.entries):
        same = await plan_fork(store, origin.header, f"same-{point}", after=point, spec=spec_of(origin.header))
        other = await plan_fork(store, origin.header, f"other-{point}", after=point, spec=AgentSpec("idle"))
        await begin_forks(store, [same, other])
        runs = [await read_run(store, await play_run(store, fork.header)) for fork in (same, other)]
        assert runs[0].digest == origin.digest
        assert list(runs[1].ledger.entries[:point]) == list(origin.ledger.entries[:point])
        assert all(entry.name == "AdvanceDay" for entry in runs[1].ledger.entries[point:])
        assert runs[1].header.parent == f"a-1#{point}"
        assert [(await verify(store, run.header)).ok for run in runs] == [True, True]


async def test_fork_at_a_day_begins_that_morning() -> None:
    """A fork at day D has closed the D - 1 days before, and nothing was done on day D."""
    store = MemoryStore()
    origin = await played(store, header_of("naive"))
    for day in range(1, DAYS + 1):
        past = (await plan_fork(store, origin.header, "f", at_day=day, spec=AgentSpec("naive"))).past
        state = fold(WORLD, Ledger(origin.ledger.genesis, past))
        assert (state.day, state.closed_days) == (day, day - 1)


async def test_fork_of_a_fork_knows_its_own_past() -> None:
    """A fork remembers behind which entry its agent began: at its point for a new one, else where its origin's did."""
    store = MemoryStore()
    await played(store, header_of("naive"))
    since: dict[str, object] = {}
    for name, parent, day, agent in (
        ("lazy", "a-1", 5, "idle"),
        ("lazier", "lazy", 8, "idle"),
        ("before", "lazy", 3, "idle"),
        ("keen", "lazier", 10, "naive"),
    ):
        fork = await plan_fork(store, await store.header(parent), name, at_day=day, spec=AgentSpec(agent))
        await begin_forks(store, [fork])
        run = await read_run(store, await play_run(store, fork.header))
        assert (run.status, (await verify(store, run.header)).ok) == ("done", True)
        since[name] = fork.header.card.get(SINCE)

    async def begun(name: str, day: int) -> int:
        return len((await plan_fork(store, await store.header(name), "f", at_day=day, spec=AgentSpec("idle"))).past)

    assert since["lazy"] == since["lazier"] == await begun("a-1", 5)
    assert since["before"] == await begun("a-1", 3)
    assert since["keen"] == await begun("lazier", 10)


async def test_fork_without_its_past_is_not_played() -> None:
    """A fork whose entries were lost between two commits is refused, not played on from the wrong point."""
    store = MemoryStore()
    origin = await played(store, header_of("naive"))
    fork = await plan_fork(store, origin.header, "f", at_day=4, spec=AgentSpec("naive"))
    await store.create(fork.header)
    await store.append("f", fork.past[:-1])
    header = await play_run(store, fork.header)
    assert header.status == "failed"
    assert f"entry {len(fork.past)}: it is missing" in (header.error or "")
    assert len((await read_ledger(store, fork.header)).entries) == len(fork.past) - 1


async def test_another_player_cannot_go_on() -> None:
    """A player that does not do what is recorded fails at that entry, and the record is not touched."""
    store = MemoryStore()
    whole = await played(MemoryStore(), header_of("naive"))
    header = replace(await left_after(store, whole, 20), agents={"owner": "idle"})
    failed = await play_run(store, header)
    assert failed.status == "failed"
    assert "at entry 1 the player now does AdvanceDay" in (failed.error or "")
    assert (await read_ledger(store, header)).entries == whole.ledger.entries[:20]


async def test_rules_that_changed_are_noticed_on_resume() -> None:
    """A recorded outcome that the rules no longer give stops a resume at that entry."""
    store = MemoryStore()
    whole = await played(MemoryStore(), header_of("idle"))
    header = await left_after(store, whole, 0)
    lie = replace(whole.ledger.entries[0], outcome=Outcome("It rained money."))
    await store.append(header.run_id, [lie, *whole.ledger.entries[1:5]])
    failed = await play_run(store, header)
    assert failed.status == "failed"
    assert (failed.error or "").startswith("entry 1: AdvanceDay gave ok 'It rained money.', now ok 'Good morning")


class ReadEarlier(MemoryStore):
    """A store as a process saw it that read a run before another process went on with it."""

    def __init__(self, now: MemoryStore, seen: Sequence[Entry]) -> None:
        super().__init__()
        self._runs, self._seen = now._runs, seen

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        for entry in self._seen:
            yield entry


async def test_two_processes_do_not_mix_in_one_run() -> None:
    """Of two processes that resume a run one is refused, and that one changes neither entries nor header."""
    store = MemoryStore()
    whole = await played(MemoryStore(), header_of("naive"))
    header = await left_after(store, whole, 10)
    done = await play_run(store, header)
    with pytest.raises(SequenceConflict):
        await play_run(ReadEarlier(store, whole.ledger.entries[:10]), header)
    assert await store.header(header.run_id) == done
    assert (await read_ledger(store, header)).digest == whole.digest


async def test_names_are_taken_by_all_or_none() -> None:
    """When one name of a group is taken no run of it is begun."""
    store = MemoryStore()
    await begin_all(store, [header_of("idle", seed=3)])
    with pytest.raises(UsageError, match="there is a run 'a-3' already"):
        await begin_all(store, [header_of("idle", seed=seed) for seed in (1, 2, 3)])
    assert [run.run_id for run in await store.runs()] == ["a-3"]


@together(
    ("status", "ending", "goes_on"),
    [
        ("open", None, True),
        ("open", "stopped", True),
        ("failed", None, True),
        ("done", "script_over", True),
        ("done", "message_cap", True),
        ("done", "horizon", False),
        ("done", "bankrupt", False),
    ],
)
def test_what_ended_in_its_world_is_over(status: Any, ending: str | None, goes_on: bool) -> None:
    """A run goes on unless its world ended it."""
    assert can_resume(replace(header_of("idle"), status=status, ending=ending)) is goes_on


async def test_message_cap_ends_a_run_at_that_number() -> None:
    """A run ends as message_cap behind exactly so many messages, also when it was resumed on the way; 0 is no cap."""
    header = plan(WORLD, prepare(WORLD, preset="classic", settings=["max_messages=7"]), AgentSpec("naive"), [1], "a")[0]
    whole = await played(MemoryStore(), header)
    assert (whole.ending, whole.entries) == ("message_cap", 7)
    store = MemoryStore()
    assert (await play_run(store, await left_after(store, whole, 4))).entries == 7
    endless = plan(
        WORLD, prepare(WORLD, preset="classic", days=3, settings=["max_messages=0"]), AgentSpec("idle"), [1], "b"
    )[0]
    assert (await played(MemoryStore(), endless)).ending == "horizon"


async def test_replay_names_the_entry_that_differs() -> None:
    """Applying the actions again gives every outcome; one that was changed is named."""
    ledger = (await played(MemoryStore(), header_of("naive"))).ledger
    replay(WORLD, ledger, check=True)
    entries = list(ledger.entries)
    entries[6] = replace(entries[6], outcome=replace(entries[6].outcome, text="no"))
    with pytest.raises(ReplayMismatch) as mismatch:
        replay(WORLD, Ledger(ledger.genesis, entries), check=True)
    assert mismatch.value.entry == 7


async def test_two_runs_part_where_they_first_differ() -> None:
    """The difference of two runs is their first differing entry; days before it are equal, the last are not."""
    store = MemoryStore()
    origin = await played(store, header_of("naive"))
    fork = await plan_fork(store, origin.header, "f", at_day=7, spec=AgentSpec("idle"))
    await begin_forks(store, [fork])
    other = await read_run(store, await play_run(store, fork.header))
    difference = diff_runs(origin, other)
    assert difference.entry is not None
    assert difference.entry > len(fork.past)
    assert [day.day for day in difference.days] == list(range(1, DAYS + 1))
    assert not any(day.differs for day in difference.days[:6])
    assert difference.days[-1].differs
    assert diff_runs(origin, origin).entry is None
    entries = list(origin.ledger.entries)
    entries[4] = replace(entries[4], digest="0" * 64)
    assert diff_runs(origin, replace(origin, record=Ledger(origin.ledger.genesis, entries))).entry == 5
    assert (
        diff_runs(origin, replace(origin, record=Ledger(origin.ledger.genesis, fork.past))).entry == len(fork.past) + 1
    )


async def test_facts_are_told_for_each_day_once() -> None:
    """A world's facts are those of the moment when a day ended: as many days closed as its number."""
    run = await played(MemoryStore(), header_of("reference"))
    days = list(facts_by_day(run.ledger))
    assert [day for day, _ in days] == list(range(1, DAYS + 1))
    assert [facts["closed_days"] for _, facts in days] == list(range(1, DAYS + 1))
    assert days[-1][1]["net_worth_cents"] == run.score("net_worth")
