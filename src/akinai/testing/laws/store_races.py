"""Laws of concurrent writers, and of stores that outlive the process."""

import asyncio
from collections.abc import Sequence

from akinai.core.errors import SequenceConflict, UnknownName
from akinai.core.ledger import Entry, check_chain
from akinai.core.stores import Books, TraceRecord
from akinai.testing.laws.sample_runs import (
    OpenStore,
    expect_error,
    read_entries,
    sample_entries,
    sample_genesis,
    sample_header,
)


async def concurrent_runs_all_land(open_store: OpenStore) -> None:
    """Fifty coroutines that write fifty runs at once all land, each in order."""
    store = await open_store()
    entries = sample_entries(8)

    async def play(run_id: str) -> None:
        await store.create(sample_header(run_id))
        for start in (0, 1, 2, 5):
            await store.append(run_id, entries[start : {0: 1, 1: 2, 2: 5, 5: 8}[start]])

    await asyncio.gather(*(play(f"r{number}") for number in range(50)))
    for number in range(50):
        assert await read_entries(store, f"r{number}") == entries, f"run r{number}"
    assert len(await store.runs()) == 50
    await store.close()


async def one_of_two_racing_appends_lands(open_store: OpenStore) -> None:
    """Of two appends with the same numbers exactly one lands, whole; the other is a SequenceConflict."""
    store = await open_store()
    await store.create(sample_header("r"))
    for _ in range(10):
        before = await read_entries(store, "r")
        both = [sample_entries(3, text, before) for text in ("one", "two")]
        answers = await asyncio.gather(*(store.append("r", new) for new in both), return_exceptions=True)
        await _one_landed(store, before, both, answers)
    await store.close()


async def refusal_spares_its_neighbours(open_store: OpenStore) -> None:
    """Appends that arrive together with refused ones land nevertheless."""
    store = await open_store()
    for number in range(20):
        await store.create(sample_header(f"r{number}"))
    appends = [store.append(f"r{number}", sample_entries(4)[number % 2 :]) for number in range(20)]
    answers = await asyncio.gather(*appends, store.append("unknown", sample_entries(1)), return_exceptions=True)
    for number, answer in enumerate(answers[:20]):
        assert isinstance(answer, SequenceConflict if number % 2 else type(None)), f"r{number}: {answer!r}"
        assert await read_entries(store, f"r{number}") == ([] if number % 2 else sample_entries(4))
    assert isinstance(answers[20], UnknownName)
    await store.close()


async def cancelled_append_lands_whole_or_not(open_store: OpenStore) -> None:
    """An append whose caller is cancelled leaves all of its entries or none, and the run goes on from there."""
    store = await open_store()
    await store.create(sample_header("r"))
    for pauses in range(12):
        before = await read_entries(store, "r")
        new = sample_entries(5, before=before)
        task = asyncio.ensure_future(store.append("r", new))
        for _ in range(pauses):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # Once a later change is answered, the append has either landed or not.
        await store.update(sample_header("r", entries=pauses))
        read = await read_entries(store, "r")
        assert read in (before, before + new), f"half of an append is there: {len(read)} entries"
    stored = await read_entries(store, "r")
    await store.append("r", sample_entries(1, before=stored))
    check_chain(sample_genesis(), await read_entries(store, "r"))
    await store.close()


async def reader_sees_a_growing_prefix(open_store: OpenStore) -> None:
    """While a writer appends, a reader sees a prefix of the run, complete and in order."""
    store = await open_store()
    await store.create(sample_header("r"))
    entries = sample_entries(300)

    async def write() -> None:
        for start in range(0, 300, 10):
            await store.append("r", entries[start : start + 10])

    async def watch() -> None:
        seen = 0
        while seen < 300:
            read = await read_entries(store, "r")
            assert read == entries[: len(read)], "what is read is no prefix"
            assert len(read) >= seen, "an entry that was seen is gone"
            seen = len(read)
            await asyncio.sleep(0)

    await asyncio.gather(write(), watch())
    await store.close()


async def reopened_store_has_everything(open_store: OpenStore) -> None:
    """After a store is closed and opened again, runs, entries and trace are there, and the run goes on."""
    store = await open_store()
    await store.create(sample_header("r", card={"a": 1}))
    await store.append("r", sample_entries(5))
    await store.add_trace("r", [TraceRecord("a", 1, 1, "thought")])
    await store.close()
    store = await open_store()
    assert list(await store.runs()) == [sample_header("r", card={"a": 1})]
    assert await read_entries(store, "r") == sample_entries(5)
    assert [record.data async for record in store.read_trace("r")] == ["thought"]
    await expect_error(SequenceConflict, store.append("r", sample_entries(5)[4:]))
    await store.append("r", sample_entries(2, before=sample_entries(5)))
    check_chain(sample_genesis(), await read_entries(store, "r"))
    await store.close()


async def close_loses_nothing(open_store: OpenStore) -> None:
    """Appends that are pending when the store is closed are finished and answered."""
    store = await open_store()
    runs = [f"r{number}" for number in range(30)]
    await asyncio.gather(*(store.create(sample_header(run_id)) for run_id in runs))
    waiting = [asyncio.ensure_future(store.append(run_id, sample_entries(20))) for run_id in runs]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*waiting)
    store = await open_store()
    for run_id in runs:
        assert await read_entries(store, run_id) == sample_entries(20), f"run {run_id!r} lost entries"
    await store.close()


async def two_openings_agree(open_store: OpenStore) -> None:
    """Two openings of a store are the same store: each sees the other's entries, and of a race one append lands."""
    stores = [await open_store(), await open_store()]
    await stores[0].create(sample_header("r"))
    for turn in range(10):
        before = await read_entries(stores[turn % 2], "r")
        both = [sample_entries(3, text, before) for text in ("one", "two")]
        appends = [store.append("r", new) for store, new in zip(stores, both, strict=True)]
        answers = await asyncio.gather(*appends, return_exceptions=True)
        for store in stores:
            await _one_landed(store, before, both, answers)
    for store in stores:
        await store.close()


async def _one_landed(
    store: Books, before: list[Entry], both: Sequence[list[Entry]], answers: Sequence[BaseException | None]
) -> None:
    landed = [new for new, answer in zip(both, answers, strict=True) if answer is None]
    assert len(landed) == 1, f"{len(landed)} of two appends with the same numbers were accepted"
    assert any(isinstance(answer, SequenceConflict) for answer in answers), f"the other got {answers}"
    assert await read_entries(store, "r") == before + landed[0]
