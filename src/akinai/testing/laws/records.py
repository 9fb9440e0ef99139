"""Laws of recorded runs: they replay, fork, survive a crash, and are the same bytes everywhere."""

import base64
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from akinai.core.canonical import canonical
from akinai.core.errors import ReplayMismatch
from akinai.core.ledger import Entry, Genesis, check_chain
from akinai.core.worlds import Step, read_turn, walk
from akinai.runtime.play.driver import Driver
from akinai.stores.memory import MemoryStore
from akinai.testing.laws import replay_process
from akinai.testing.laws.case import MAX_ACTIONS, RUN, RandomRun, WorldCase, for_all, header_of, play, random_run
from akinai.testing.laws.sample_runs import read_entries

FORK = "fork"


def replay_restores_everything(case: WorldCase[Any]) -> None:
    """A ledger read back from its text gives every action, every outcome and every state again."""

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        genesis = Genesis(**json.loads(case.genesis.text))
        entries = [Entry.parse(entry.seq, entry.at, entry.text, entry.digest) for entry in run.entries]
        assert check_chain(genesis, entries) == run.session.digest, "the digest of what was read back is another"
        for action, entry in zip(run.handed_in, entries, strict=True):
            read_back = read_turn(case.world, entry).action
            assert read_back == action, f"entry {entry.seq} was {action!r:.300} and is read back as {read_back!r:.300}"
        _replay(case, genesis, entries, run.states)

    for_all(case, check)


def _replay(case: WorldCase[Any], genesis: Genesis, entries: Sequence[Entry], states: Sequence[object]) -> None:
    assert case.world.begin(genesis) == states[0], "the opening state differs once the genesis is read back"
    try:
        for number, step in enumerate(walk(case.world, genesis, entries, check=True), 1):
            assert step.after == states[number], f"the state after entry {number}, {step.entry.name}, is another"
    except ReplayMismatch as error:
        raise AssertionError(f"replayed, {error}") from error


def fork_agrees_with_its_past(case: WorldCase[Any]) -> None:
    """A fork has the digests of its origin up to the cut; later actions in it change only the fork."""

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        cut = data.draw(st.integers(0, len(run.entries)))
        note(f"forked after entry {cut} of {len(run.entries)}")
        await run.store.create(header_of(case.genesis, FORK))
        await run.store.append(FORK, run.entries[:cut])
        forked = await _resume(case, run.store, FORK)
        assert forked.session.state == run.states[cut], f"the fork after entry {cut} begins in another state"
        assert [entry.digest for entry in forked.entries] == [entry.digest for entry in run.entries[:cut]], (
            "its past is another"
        )
        for _ in range(3):
            await forked.act_randomly(data)
        assert _texts(await read_entries(run.store, RUN)) == _texts(run.entries), (
            "a move in the fork changed its origin"
        )
        _replay(case, case.genesis, run.entries, run.states)

    for_all(case, check)


async def _resume(case: WorldCase[Any], store: MemoryStore, run_id: str) -> RandomRun[Any]:
    run = RandomRun(case, case.new_session(store, run_id), store)
    async for entry in store.read(run_id):
        before, turn = run.session.state, read_turn(case.world, entry)
        outcome = run.session.recall(entry)
        run.steps.append(Step(before, entry, turn, outcome, run.session.state))
    return run


class Killed(BaseException):
    """The simulated end of the process: nothing may catch it."""


class _CrashingStore(MemoryStore):
    """Raises Killed at the append that would take a run past entry `last`. Nothing of that append is kept."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last: int | None = last

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        if self.last is not None and entries and entries[-1].seq > self.last:
            raise Killed
        await super().append(run_id, entries)


def crash_and_resume_reach_the_same_end(case: WorldCase[Any]) -> None:
    """A player's run that is killed at any entry and resumed has the same bytes as the uninterrupted run."""

    async def check(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(case.runs)))
        whole, batch = case.runs[name].entries, data.draw(st.sampled_from((1, 2, 7)))
        last = data.draw(st.integers(0, max(len(whole) - 1, 0)))
        store = _CrashingStore(last)
        await store.create(header_of(case.genesis))
        session = case.new_session(store, batch=batch)
        try:
            await Driver(session, case.all_players[name], max_actions=MAX_ACTIONS).play()
        except Killed:
            store.last = None
        count = len(await read_entries(store, RUN))
        note(f"{name} was killed with {count} of {len(whole)} entries kept, batches of {batch}")
        session = case.new_session(store, batch=batch)
        driver = Driver(session, case.all_players[name], max_actions=MAX_ACTIONS)
        await driver.recall(store.read(RUN))
        await driver.play()
        _expect_equal(whole, await read_entries(store, RUN), "the run that was killed and resumed")

    for_all(case, check)


def same_actions_give_the_same_bytes(case: WorldCase[Any]) -> None:
    """The same genesis and actions give the same ledger to the byte; so does the same player."""

    async def check(data: st.DataObject) -> None:
        run, repetition = await random_run(case, data), await RandomRun[Any].start(case)
        for step in run.steps:
            await repetition.act(step.turn.actor, step.turn.action, step.turn.said)
        _expect_equal(run.entries, repetition.entries, "the same run played again")

    for_all(case, check)
    for name, ledger in case.runs.items():
        repetition = play(case, case.all_players[name], case.genesis)
        _expect_equal(ledger.entries, repetition.entries, f"the run of {name} played again")


def another_python_gives_the_same_bytes(case: WorldCase[Any]) -> None:
    """A new interpreter with other hashes, time zone, locale and folder gives the same ledgers to the byte."""
    for (name, ledger), repetition in zip(case.runs.items(), _replay_elsewhere(case), strict=True):
        _expect_equal(ledger.entries, repetition, f"the run of {name} in another interpreter")


def _replay_elsewhere(case: WorldCase[Any]) -> list[list[Entry]]:
    """The entries of each run, all replayed in one interpreter."""
    document = {
        "path": [os.path.abspath(folder) for folder in sys.path],
        "world": base64.b64encode(pickle.dumps(case.world)).decode(),
        "runs": [
            {
                "genesis": ledger.genesis.text,
                "entries": [[entry.seq, entry.at, entry.text, entry.digest] for entry in ledger.entries],
            }
            for ledger in case.runs.values()
        ],
    }
    env = {**os.environ, "PYTHONHASHSEED": "4242", "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONUTF8": "1"}
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.run(
            [sys.executable, "-P", replay_process.__file__],
            input=canonical(document).encode(),
            capture_output=True,
            cwd=folder,
            env=env,
            timeout=case.timeout_s,
            check=False,
        )
    assert child.returncode == 0, (
        f"another interpreter could not play it:\n{child.stderr.decode(errors='replace')[-2000:]}"
    )
    return [[Entry.parse(*fields) for fields in run] for run in json.loads(child.stdout)]


def _texts(entries: Sequence[Entry]) -> list[tuple[int, int, str, str]]:
    return [(entry.seq, entry.at, entry.text, entry.digest) for entry in entries]


def _expect_equal(expected: Sequence[Entry], actual: Sequence[Entry], subject: str) -> None:
    for old, new in zip(expected, actual, strict=False):
        assert (old.at, old.text) == (new.at, new.text), (
            f"{subject} differs at entry {old.seq}:\n  {old.at} {old.text:.600}\nand\n  {new.at} {new.text:.600}"
        )
        assert old.digest == new.digest, f"{subject} has another digest at entry {old.seq}"
    assert len(expected) == len(actual), f"{subject} has {len(actual)} entries, not {len(expected)}"
