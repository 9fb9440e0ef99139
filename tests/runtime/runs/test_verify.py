"""verify: what was changed in a store behind everybody's back, and what only a published digest shows."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import akinai
from akinai import run
from akinai.core.agents import Move, Role
from akinai.core.errors import EndRun, UsageError
from akinai.core.ledger import Entry, Ledger, Outcome, Turn
from akinai.core.stores import Books, RunHeader
from akinai.runtime.play.driver import PlayContext, play_run
from akinai.runtime.runs.reading import read_ledger
from akinai.runtime.runs.verification import Verdict, verify
from akinai.runtime.sync import wait
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model.actions import AdvanceDay

DAYS = 4
IDLE = run(Vending(), preset="classic", agent="idle", days=DAYS)[0]


class Edited(MemoryStore):
    """A store in whose file one character of one entry was changed."""

    def __init__(self, entries: Sequence[Entry], seq: int, index: int) -> None:
        super().__init__()
        self._entries, self._seq, self._index = entries, seq, index

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        for entry in self._entries:
            yield self._edited(entry) if entry.seq == self._seq else entry

    def _edited(self, entry: Entry) -> Entry:
        at = self._index % len(entry.text)
        other = "x" if entry.text[at] != "x" else "y"
        return Entry.parse(entry.seq, entry.at, entry.text[:at] + other + entry.text[at + 1 :], entry.digest)


@given(st.integers(1, 4), st.integers(0, 10_000))
async def test_any_edited_character_is_found(seq: int, index: int) -> None:
    """Whatever character of whatever entry is changed, `verify` names that entry."""
    verdict = await verify(Edited(IDLE.ledger.entries, seq, index), IDLE.header)
    assert (verdict.ok, verdict.entry) == (False, seq)


async def test_lost_tail_is_found() -> None:
    """A record with its last entries cut off is as sound a chain as any: the header that closed the run tells."""
    store = MemoryStore()
    header = replace(IDLE.header, run_id="b", group=None)
    await store.create(header)
    await store.append("b", IDLE.ledger.entries[:-2])
    verdict = await verify(store, header)
    assert (verdict.ok, verdict.entry) == (False, DAYS - 1)
    assert (await verify(store, replace(header, status="open", entries=None, digest=None))).ok


async def test_other_record_under_a_name_is_found() -> None:
    """A whole sound chain that is not the one with which the run was closed is no untouched record."""
    store = MemoryStore()
    naive = run(Vending(), preset="classic", agent="naive", days=DAYS)[0]
    header = replace(naive.header, run_id="b", group=None, entries=DAYS)
    await store.create(header)
    await store.append("b", IDLE.ledger.entries)
    verdict = await verify(store, header)
    assert (verdict.ok, verdict.entry) == (False, DAYS)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with two runs of one seed, of an idle player and a naive one."""
    store = str(tmp_path / "akinai.db")
    for agent in ("idle", "naive"):
        akinai.run("vending", agent=agent, days=DAYS, name=agent, store=store, preset="classic")
    return store


def edit(store: str, *statements: str) -> Verdict:
    """The verdict on the idle run, once the store was changed in SQL."""
    with closing(sqlite3.connect(store)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return akinai.verify("idle-1", store=store)["idle-1"]


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("""UPDATE actions SET data = replace(data, '"is_error":false', '"is_error":true,"is_error":false')
            WHERE run_id = 'idle-1' AND seq = 2""", "the key 'is_error' is there twice"),
        ("""UPDATE actions SET data = '{"agent_id":"me",' || substr(data, 2) WHERE run_id = 'idle-1' AND seq = 2""",
            "the key 'agent_id' is there twice"),
        ("UPDATE runs SET card = replace(card, '\"seal\":', '\"agent\":\"x\",\"agent\":\"y\",\"seal\":')",
            "the key 'agent' is there twice"),
        ("UPDATE runs SET genesis = replace(genesis, '\"seed\":', '\"seed\":9,\"seed\":')", "the key 'seed' is there twice"),
        ("UPDATE runs SET card = json_set(card, '$.preset', 'paper')", "its card is not the one that was written"),
        ("UPDATE runs SET agents = '{\"owner\":\"gpt\"}'", "its header is not the one that was written"),
        ("UPDATE runs SET created_at = created_at + 1", "its header is not the one that was written"),
        ("UPDATE runs SET ending = 'bankrupt'", "the header says 'bankrupt', and with this entry the run ended as 'horizon'"),
        ("UPDATE runs SET entries = NULL", "its header does not say with which entry"),
        ("UPDATE runs SET created_at = 'x'", "its created_at is 'x'"),
        ("UPDATE actions SET created_at = 'x' WHERE seq = 2", "the time 'x'"),
        ("UPDATE actions SET data = replace(data, 'Day', '\\ud800') WHERE seq = 2", "no JSON that a ledger keeps"),
    ],
)  # fmt: skip
def test_careless_edit_is_found(store: str, statement: str, why: str) -> None:
    """Every edit that leaves the digests as they were shows, in entries, header and card."""
    verdict = edit(store, statement)
    assert not verdict.ok
    assert why in str(verdict.why)


def forge(store: str, change: Callable[[Books, RunHeader, Ledger], Awaitable[None]]) -> Verdict:
    """The verdict on the idle run after somebody who has Akinai's own code changed it."""

    async def work() -> None:
        books = await open_store(store)
        header = await books.header("idle-1")
        await change(books, header, await read_ledger(books, header))
        await books.close()

    wait(work())
    return akinai.verify("idle-1", store=store)["idle-1"]


def test_entry_after_the_end_is_found(store: str) -> None:
    """A run that is done has no entry after the one with which it was closed, however well it is chained."""

    async def add(books: Books, header: RunHeader, ledger: Ledger) -> None:
        turn = Turn(DAYS + 1, ledger.entries[-1].at, "owner", AdvanceDay())
        await books.append(header.run_id, [Entry.of(ledger.digest, turn, Outcome("One day more."))])

    verdict = forge(store, add)
    assert (verdict.ok, verdict.entry) == (False, DAYS + 1)
    assert "it was added: the run was done with 4 entries" in str(verdict.why)


def test_ending_that_the_record_does_not_give_is_found(store: str) -> None:
    """Cut off, and closed anew with its own digests, a run says that it reached a horizon that it did not reach."""

    async def cut(books: Books, header: RunHeader, ledger: Ledger) -> None:
        await books.update(replace(header, entries=2, digest=ledger.entries[1].digest))

    forge(store, cut)
    verdict = edit(store, "DELETE FROM actions WHERE run_id = 'idle-1' AND seq > 2")
    assert (verdict.ok, verdict.entry) == (False, 2)
    assert "the header says 'horizon', and with this entry the run is not over" in str(verdict.why)


def test_swapped_runs_are_found(store: str) -> None:
    """Two runs of one seed that change names, entries and headers and all, are not what was written."""
    swap = "UPDATE {} SET run_id = CASE run_id WHEN 'idle-1' THEN '?' WHEN 'naive-1' THEN 'idle-1' ELSE 'naive-1' END"
    back = "UPDATE {} SET run_id = 'naive-1' WHERE run_id = '?'"
    verdict = edit(store, *(text.format(table) for table in ("runs", "actions") for text in (swap, back)))
    assert (verdict.ok, verdict.why) == (False, "its header is not the one that was written")


def test_published_digest_shows_what_a_chain_cannot(store: str) -> None:
    """Written anew with Akinai's own code, a record verifies by itself; not against a digest that was published."""
    published = akinai.verify("idle-1", store=store)["idle-1"]
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("DELETE FROM actions WHERE run_id = 'idle-1'")

    async def replace_all(books: Books, header: RunHeader, ledger: Ledger) -> None:
        other = run(Vending(), preset="classic", agent="naive", days=DAYS, seeds=1)[0]
        assert other.ledger.genesis == header.genesis
        await books.append(header.run_id, other.ledger.entries)
        await books.update(replace(header, entries=other.entries, digest=other.digest, card={"agent": "?"}))

    assert forge(store, replace_all).ok
    for digest in (published.digest, published.header_digest, published.card_digest):
        verdict = akinai.verify("idle-1", digest=digest, store=store)["idle-1"]
        assert (verdict.ok, verdict.why) == (False, f"none of its digests is {digest}")


def test_each_published_digest_is_known(store: str) -> None:
    """The final digest, the header's and the card's are each found, and the verdict says which it was."""
    verdict = akinai.verify("idle-1", store=store)["idle-1"]
    digests = {"final": verdict.digest, "header": verdict.header_digest, "card": verdict.card_digest}
    assert verdict.digest == akinai.runs("idle-1", store=store)[0].digest
    for covered, digest in digests.items():
        assert digest is not None
        again = akinai.verify("idle-1", digest=digest.upper(), store=store)["idle-1"]
        assert (again.ok, again.matches) == (True, covered)


@pytest.mark.parametrize("digest", ["", "abc", "0" * 63, "0" * 65, "g" * 64])
def test_text_that_is_no_digest_is_refused(store: str, digest: str) -> None:
    """A digest is 64 hexadecimal digits; part of one is refused, since a part can be met on purpose."""
    with pytest.raises(UsageError, match="give all 64 hexadecimal digits"):
        akinai.verify("idle-1", digest=digest, store=store)


def test_ending_of_an_agent_s_own_is_no_fault(tmp_path: Path) -> None:
    """An agent may end its run under a name of its own, which no world knows."""

    class Leaver:
        async def act(self, view: object, last: object) -> Move:
            raise EndRun("bored")

    def leave(role: Role) -> Leaver:
        return Leaver()

    store = str(tmp_path / "a.db")
    done = akinai.run("vending", agent=leave, days=DAYS, name="l", store=store, preset="classic")[0]
    assert (done.ending, akinai.verify("l-1", store=store)["l-1"].ok) == ("bored", True)


async def test_resumed_run_is_open_until_it_ends_again() -> None:
    """A run that had ended and is resumed is open meanwhile: wherever it is killed, no entry follows an end."""
    store = MemoryStore()
    ended = replace(IDLE.header, ending="script_over", entries=1, digest=IDLE.ledger.entries[0].digest)
    await store.create(ended)
    await store.append(ended.run_id, IDLE.ledger.entries[:1])
    seen: list[str] = []

    class Looks:
        async def act(self, view: object, last: object) -> Move:
            seen.append((await store.header(ended.run_id)).status)
            return Move(AdvanceDay())

    done = await play_run(store, ended, context=PlayContext(factory=lambda role: Looks()))
    assert (seen[-1], done.status, done.ending) == ("open", "done", "horizon")
    assert (await verify(store, done)).ok
