"""Snapshots of a served market: a restart folds what came since, and one that is wrong in any way costs time alone."""

import asyncio
import hashlib
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_hosted import HEADER, enter, payment, proposal, respond, text

from akinai.core.errors import ReplayMismatch
from akinai.core.ledger import Entry, Genesis
from akinai.core.stores import RunHeader, Store
from akinai.runtime.runs import marking
from akinai.server import market as hosted
from akinai.server.market import HostedMarket
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.stores.snapshots import SnapshotFile
from akinai.worlds.market.model.actions import Register


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A snapshot after every ten entries."""
    monkeypatch.setattr(hosted, "SNAPSHOT_FEWEST", 10)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


@pytest.fixture
async def store(store_address: str) -> AsyncIterator[Any]:
    store = await open_store(store_address)
    await store.create(HEADER)
    yield store
    await store.close()


def file_of(store: Store, header: RunHeader = HEADER) -> SnapshotFile:
    file = SnapshotFile.of(store, header)
    assert file is not None
    return file


async def trade(market: HostedMarket, purchases: int, first: int = 0) -> None:
    for number in range(first, first + purchases):
        await market.act("b", proposal("c", f"p{number}"), respond)
        assert (await market.act("c", payment("b", f"p{number}"), respond)).ok
    await market.act("c", text("b", "thanks"), respond)


class Reads:
    """A store, and the numbers of the entries that are read from it; with `entries`, those of another."""

    def __init__(self, store: Any, entries: Sequence[Entry] | None = None) -> None:
        self.store, self.entries, self.numbers = store, entries, list[int]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        entries = self.entries if self.entries is not None else [entry async for entry in self.store.read(run_id)]
        for entry in entries[after:]:
            self.numbers.append(entry.seq)
            yield entry


async def opened(store: Any, entries: Sequence[Entry] | None = None) -> tuple[HostedMarket, list[int]]:
    """A market that was opened, and the numbers of the entries that it read."""
    reads: Any = Reads(store, entries)
    market = HostedMarket(HEADER, reads)
    await market.open()
    return market, reads.numbers


async def made(store: Store) -> HostedMarket:
    """A market that was stopped at entry 13, with a snapshot of entry 10, and one that went on to 18 and was killed."""
    market = HostedMarket(HEADER, store)
    await market.open()
    await market.act("b", proposal("c", "too early"), respond)
    await enter(market, "b", "c")
    await trade(market, 4)
    await market.act("c", text("b"), respond, new_token_digest="")
    await market.close()
    killed, _ = await opened(store)
    await trade(killed, 2, 10)
    assert (market.committed.seq, killed.committed.seq) == (13, 18)
    follower = killed._follower  # pyright: ignore[reportPrivateUsage]
    if follower is not None:  # the dead follow nobody, and make no snapshot
        follower.cancel()
    return killed


async def follows(store: Store, market: HostedMarket) -> None:
    """Everything about a market that was opened again is as its ledger says, and it takes the next purchase."""
    memory = MemoryStore()
    await memory.create(HEADER)
    whole, _ = await opened(memory, [entry async for entry in store.read("r")])
    assert market.committed == whole.committed
    await whole.close()  # it shares the file of snapshots with a store that is no file
    await trade(market, 1, market.committed.seq)
    assert (await market.act("c", payment("b", "p0"), respond)).data == {"reason": "paid"}


async def test_a_restart_folds_what_came_since(store: Store) -> None:
    """It reads the last entry of the snapshot, to compare its digest, and those after it; what it makes is the same."""
    await made(store)
    market, numbers = await opened(store)
    assert min(numbers) == 10
    await follows(store, market)
    assert file_of(store).path.stat().st_mode & 0o777 == 0o600


async def test_a_token_is_still_bound_after_a_snapshot(store: Store) -> None:
    """The tokens of agents and what ids look like are as they were."""
    market = HostedMarket(HEADER, store)
    await market.open()
    register = Register(profile={"id": "b", "metadata": {"type": "business"}, "business": {}})
    await market.act("b", register, respond, new_token_digest="t")
    for number in range(12):
        await market.act("b", text("b", str(number)), respond)
    await market.close()
    again, numbers = await opened(store)
    assert min(numbers) == 10
    assert again.committed == market.committed
    assert dict(again.committed.token_digests) == {"b": "t"}


def sealed(lines: list[bytes]) -> bytes:
    body = b"".join(line + b"\n" for line in lines)
    return body + hashlib.sha256(body).hexdigest().encode()


def with_facts(data: bytes, **facts: object) -> bytes:
    """The same snapshot with other facts, under a digest that fits."""
    first, *lines, _ = data.split(b"\n")
    return sealed([json.dumps({**json.loads(first), **facts}).encode(), *lines])


def with_lines(data: bytes, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    first, *lines, _ = data.split(b"\n")
    return sealed([first, *change(lines)])


WRONG: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half written": lambda data: data[: len(data) // 2],
    "without its digest": lambda data: data[:-64],
    "without its last line": lambda data: data[: data[:-65].rindex(b"\n") + 1] + data[-64:],
    "a changed byte": lambda data: data.replace(b'"Tea"', b'"Pea"', 1),
    "noise": lambda data: os.urandom(500),
    "another version of the rules": lambda data: with_facts(data, version="0" * 32),
    "another format": lambda data: with_facts(data, format=0),
    "facts left out": lambda data: sealed([b'{"format":1}']),
    "another record's": lambda data: with_facts(data, digest="0" * 64),
    "an entry that never was": lambda data: with_facts(data, seq=10_000),
    "an entry before the first": lambda data: with_facts(data, seq=0),
    "a line of another kind": lambda data: with_lines(data, lambda lines: [*lines, b"x[]"]),
    "no JSON": lambda data: with_lines(data, lambda lines: [*lines, b"m[" + b"[" * 5_000]),
    "a message that is missing": lambda data: with_lines(data, lambda lines: [x for x in lines if b"p3" not in x]),
}


async def test_a_wrong_snapshot_costs_time_alone(store: Store) -> None:
    """Damaged, of another record or other code, or full of what no market wrote: the ledger is folded from its begin."""
    await made(store)
    path = file_of(store).path
    whole = path.read_bytes()
    for name, change in WRONG.items():
        path.write_bytes(change(whole))
        assert path.read_bytes() != whole, name
        market, numbers = await opened(store)
        assert 1 in numbers, name
        await follows(store, market)
        await market.close()


async def test_a_snapshot_whose_entries_do_not_follow_is_left(store: Store) -> None:
    """A state that the entries after it contradict is not believed, though its digest fits; a damaged ledger still is."""
    await made(store)
    path = file_of(store).path
    data = path.read_bytes()
    path.write_bytes(with_lines(data, lambda lines: [x for x in lines if not x.startswith(b'm["c"')]))
    market, numbers = await opened(store)
    assert {1, 10} <= set(numbers)
    await follows(store, market)


async def test_a_store_that_was_put_back_has_a_stale_snapshot(store: Store) -> None:
    """An older copy of the store, grown in another way: the entry under the snapshot's number has another digest."""
    await made(store)
    other = MemoryStore()
    await other.create(HEADER)
    market = HostedMarket(HEADER, other)
    await market.open()
    await enter(market, "b", "c")
    for number in range(15):
        await market.act("c", text("b", f"otherwise {number}"), respond)
    again, numbers = await opened(store, [entry async for entry in other.read("r")])
    assert numbers[0] == 10
    assert 1 in numbers
    assert again.committed == market.committed


async def test_a_full_disk_takes_the_snapshot_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The market goes on; nothing is left of a snapshot that could not be written, and the older one stays."""
    await made(store)
    path = file_of(store).path
    before = path.read_bytes()
    monkeypatch.setattr(SnapshotFile, "write", _until_full(SnapshotFile.write))
    market, _ = await opened(store)
    await trade(market, 8, 20)
    await market.close()
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    again, numbers = await opened(store)
    assert min(numbers) == 10
    await follows(store, again)


def _until_full(write: Any) -> Any:
    def full(self: SnapshotFile, lines: Any, hurried: Any) -> None:
        def some() -> Any:
            for number, line in enumerate(lines):
                if number == 3:
                    raise OSError(28, "No space left on device")
                yield line

        write(self, some(), hurried)

    return full


async def test_a_folder_that_cannot_be_made_is_no_matter(store: Store) -> None:
    """Where the folder would be is a file: there are no snapshots, and everything else is as ever."""
    folder = file_of(store).path.parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("")
    await made(store)
    market, numbers = await opened(store)
    assert 1 in numbers
    await follows(store, market)


async def test_a_server_makes_one_while_it_serves(store: Store) -> None:
    """Now and then, of what is durable; the next when the run has grown by a part of itself."""
    market = HostedMarket(HEADER, store)
    await market.open()
    await enter(market, "b", "c")
    await trade(market, 6)
    path = file_of(store).path
    for _ in range(200):
        if path.exists():
            break
        await asyncio.sleep(0.01)
    killed, numbers = await opened(store)
    assert 10 <= min(numbers) <= 15
    await follows(store, killed)


async def test_a_run_removed_for_good_takes_its_snapshot_along(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking, "LOOK_S", 0.01)
    await made(store)
    assert file_of(store).path.exists()
    await marking.delete_forever(store, [await store.header("r")])
    assert not [*file_of(store).path.parent.iterdir()]


async def test_a_damaged_ledger_is_refused_as_ever(store: Store) -> None:
    """Where entries do not follow from the begin either, the market does not open."""
    await made(store)
    entries = [entry async for entry in store.read("r")]
    entries[14] = replace(entries[14], outcome=entries[0].outcome)
    with pytest.raises(ReplayMismatch):
        await opened(store, entries)


def test_each_run_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Runs of one name in two stores, or made twice, share none."""

    class At:
        def __init__(self, path: str) -> None:
            self.path = path

    headers = [HEADER, RunHeader("s", HEADER.genesis, {}, 1), RunHeader("r", HEADER.genesis, {}, 2)]
    headers.append(RunHeader("r", Genesis("market@2", 2, HEADER.genesis.setup), {}, 1))
    stores: Any = [At("a.db"), At("b.db")]
    assert len({file_of(store, header).path for store in stores for header in headers}) == 8
