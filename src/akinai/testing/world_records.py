"""Laws of what a run leaves behind: it replays, forks, survives a crash, and is the same bytes everywhere."""

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
from akinai.core.ledger import Entry, Genesis, Ledger, check_chain
from akinai.core.worlds import Step, read_turn, walk
from akinai.runtime.play import Driver
from akinai.stores.memory import MemoryStore
from akinai.testing import world_retold
from akinai.testing.world_case import MOST_MESSAGES, RUN, Case, Wandered, entries_in, for_all, header_of, played, wander

FORK = "fork"


def replay_restores_everything(case: Case[Any]) -> None:
    """A ledger read back from its text gives every action, every outcome and every state again."""

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        genesis = Genesis(**json.loads(case.genesis.text))
        entries = [Entry.parse(one.seq, one.at, one.text, one.digest) for one in run.entries]
        assert check_chain(genesis, entries) == run.session.digest, "the digest of what was read back is another"
        for said, entry in zip(run.said, entries, strict=True):
            again = read_turn(case.world, entry).action
            assert again == said, f"entry {entry.seq} was {said!r:.300} and is read back as {again!r:.300}"
        _replay(case, genesis, entries, run.states)

    for_all(case, check)


def _replay(case: Case[Any], genesis: Genesis, entries: Sequence[Entry], states: Sequence[object]) -> None:
    assert case.world.begin(genesis) == states[0], "the begin differs when the genesis was read back"
    try:
        for number, one in enumerate(walk(case.world, genesis, entries, check=True), 1):
            assert one.after == states[number], f"the state after entry {number}, {one.entry.name}, is another"
    except ReplayMismatch as error:
        raise AssertionError(f"replayed, {error}") from error


def fork_agrees_with_its_past(case: Case[Any]) -> None:
    """A fork has the past of its origin, digest by digest; what is done in it changes only the fork."""

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        cut = data.draw(st.integers(0, len(run.entries)))
        note(f"forked after entry {cut} of {len(run.entries)}")
        await run.store.create(header_of(case.genesis, FORK))
        await run.store.append(FORK, run.entries[:cut])
        forked = await _opened_again(case, run.store, FORK)
        assert forked.session.state == run.states[cut], f"the fork after entry {cut} begins in another state"
        assert [one.digest for one in forked.entries] == [one.digest for one in run.entries[:cut]], (
            "its past is another"
        )
        for _ in range(3):
            await forked.act_somehow(data)
        assert _texts(await entries_in(run.store)) == _texts(run.entries), "a move in the fork changed its origin"
        _replay(case, case.genesis, run.entries, run.states)

    for_all(case, check)


async def _opened_again(case: Case[Any], store: MemoryStore, run_id: str) -> Wandered[Any]:
    run = Wandered(case, case.new_session(store, run_id), store)
    async for entry in store.read(run_id):
        before, turn = run.session.state, read_turn(case.world, entry)
        outcome = run.session.recall(entry)
        run.steps.append(Step(before, entry, turn, outcome, run.session.state))
    return run


class Killed(BaseException):
    """The process is gone: nobody may catch it."""


class _DyingStore(MemoryStore):
    """Dies at the append that would bring a run's entry behind number `lives`; nothing of that append is kept."""

    def __init__(self, lives: int) -> None:
        super().__init__()
        self.lives: int | None = lives

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        if self.lives is not None and entries and entries[-1].seq > self.lives:
            raise Killed
        await super().append(run_id, entries)


def crash_and_resume_reach_the_same_end(case: Case[Any]) -> None:
    """A player's run that is killed at any entry and resumed ends with the bytes of the run that was not."""

    async def check(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(case.played)))
        whole, batch = case.played[name].entries, data.draw(st.sampled_from((1, 2, 7)))
        lives = data.draw(st.integers(0, max(len(whole) - 1, 0)))
        store = _DyingStore(lives)
        await store.create(header_of(case.genesis))
        session = case.new_session(store, batch=batch)
        try:
            await Driver(session, case.cast[name], max_messages=MOST_MESSAGES).play()
        except Killed:
            store.lives = None
        note(f"{name} was killed with {len(await entries_in(store))} of {len(whole)} entries kept, batches of {batch}")
        session = case.new_session(store, batch=batch)
        driver = Driver(session, case.cast[name], max_messages=MOST_MESSAGES)
        await driver.recall(store.read(RUN))
        await driver.play()
        _expect_equal(whole, await entries_in(store), "the run that was killed and resumed")

    for_all(case, check)


def same_actions_give_the_same_bytes(case: Case[Any]) -> None:
    """The same genesis and actions, played again, give the same ledger to the byte; so does the same player."""

    async def check(data: st.DataObject) -> None:
        run, again = await wander(case, data), await Wandered[Any].begun(case)
        for one in run.steps:
            await again.act(one.turn.actor, one.turn.action, one.turn.said)
        _expect_equal(run.entries, again.entries, "the same run played again")

    for_all(case, check)
    for name, ledger in case.played.items():
        again = played(case, case.cast[name], case.genesis)
        _expect_equal(ledger.entries, again.entries, f"what {name} played again")


def another_python_gives_the_same_bytes(case: Case[Any]) -> None:
    """A fresh interpreter with other hashes, time zone, locale and folder gives the players' ledgers to the byte."""
    for name, ledger in case.played.items():
        _expect_equal(ledger.entries, _retold(case, ledger), f"what {name} played, in another interpreter,")


def _retold(case: Case[Any], ledger: Ledger) -> list[Entry]:
    told = {
        "path": [os.path.abspath(one) for one in sys.path],
        "world": base64.b64encode(pickle.dumps(case.world)).decode(),
        "genesis": ledger.genesis.text,
        "entries": [[one.seq, one.at, one.text, one.digest] for one in ledger.entries],
    }
    env = {**os.environ, "PYTHONHASHSEED": "4242", "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONUTF8": "1"}
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.run(
            [sys.executable, "-P", world_retold.__file__],
            input=canonical(told).encode(),
            capture_output=True,
            cwd=folder,
            env=env,
            timeout=case.timeout_s,
            check=False,
        )
    assert child.returncode == 0, (
        f"another interpreter could not play it:\n{child.stderr.decode(errors='replace')[-2000:]}"
    )
    return [Entry.parse(*one) for one in json.loads(child.stdout)]


def _texts(entries: Sequence[Entry]) -> list[tuple[int, int, str, str]]:
    return [(one.seq, one.at, one.text, one.digest) for one in entries]


def _expect_equal(wanted: Sequence[Entry], found: Sequence[Entry], what: str) -> None:
    for one, two in zip(wanted, found, strict=False):
        assert (one.at, one.text) == (two.at, two.text), (
            f"{what} differs at entry {one.seq}:\n  {one.at} {one.text:.600}\nand\n  {two.at} {two.text:.600}"
        )
        assert one.digest == two.digest, f"{what} has another digest at entry {one.seq}"
    assert len(wanted) == len(found), f"{what} has {len(found)} entries, not {len(wanted)}"
