"""Stored runs for the tests of the stores that outlive a process, and what both keep of damaged ones."""

import asyncio
from collections.abc import Sequence

import pytest

from akinai.core.errors import BrokenChain, StoreError
from akinai.core.ledger import Entry, check_chain
from akinai.stores import open_store
from akinai.testing.laws.sample_runs import read_entries, sample_entries, sample_genesis, sample_header


async def written(url: str, count: int = 20, text: str = "hello") -> None:
    """A closed store with one run."""
    store = await open_store(url)
    await store.create(sample_header("r"))
    await store.append("r", sample_entries(count, text))
    await store.close()


async def expect_break_at(url: str, seq: int) -> None:
    """The chain of the run breaks at an entry, after the entries before it were read."""
    store = await open_store(url)
    read: list[Entry] = []

    async def verify() -> None:
        async for entry in store.read("r"):
            read.append(entry)  # noqa: PERF401 - the entries before the break are checked
        check_chain(sample_genesis(), read)

    with pytest.raises(BrokenChain) as broken:
        await verify()
    assert broken.value.entry == seq
    assert read[: seq - 1] == sample_entries(seq - 1)
    await store.close()


async def expect_bad_append_fails_alone(url: str, text: str) -> StoreError:
    """Of six appends at once, the one with an entry of this text is a StoreError; the others are kept."""
    store = await open_store(url)
    for number in range(6):
        await store.create(sample_header(f"r{number}"))
    bad = sample_entries(4)
    object.__setattr__(bad[2], "text", text)
    appends = [store.append(f"r{number}", bad if number == 2 else sample_entries(4)) for number in range(6)]
    answers: Sequence[BaseException | None] = await asyncio.gather(*appends, return_exceptions=True)
    for number, answer in enumerate(answers):
        assert type(answer) is (StoreError if number == 2 else type(None)), answer
        assert await read_entries(store, f"r{number}") == ([] if number == 2 else sample_entries(4))
    await store.close()
    error = answers[2]
    assert isinstance(error, StoreError)
    return error
