"""The laws of a store that many write at a time, and of one that outlives the process. `store_laws` holds them all."""

import asyncio
from collections.abc import Sequence

from akinai.core.errors import SequenceConflict, UnknownName
from akinai.core.ledger import Entry, check_chain
from akinai.core.trace import Books, TraceRecord
from akinai.testing.runs import Opening, entries_in, entries_of, genesis_of, refused, run_of


async def concurrent_runs_all_land(opening: Opening) -> None:
    """Fifty coroutines that write fifty runs at once all land, each in order."""
    store = await opening()
    kept = entries_of(8)

    async def play(run_id: str) -> None:
        await store.create(run_of(run_id))
        for start in (0, 1, 2, 5):
            await store.append(run_id, kept[start : {0: 1, 1: 2, 2: 5, 5: 8}[start]])

    await asyncio.gather(*(play(f"r{number}") for number in range(50)))
    for number in range(50):
        assert await entries_in(store, f"r{number}") == kept, f"run r{number}"
    assert len(await store.runs()) == 50
    await store.close()


async def one_of_two_racing_appends_lands(opening: Opening) -> None:
    """Of two appends with the same numbers exactly one lands, whole; the other is a SequenceConflict."""
    store = await opening()
    await store.create(run_of("r"))
    for _ in range(10):
        before = await entries_in(store, "r")
        both = [entries_of(3, text, before) for text in ("one", "two")]
        answers = await asyncio.gather(*(store.append("r", new) for new in both), return_exceptions=True)
        await _one_landed(store, before, both, answers)
    await store.close()


async def refusal_spares_its_neighbours(opening: Opening) -> None:
    """Appends that arrive together with refused ones land all the same."""
    store = await opening()
    for number in range(20):
        await store.create(run_of(f"r{number}"))
    asked = [store.append(f"r{number}", entries_of(4)[number % 2 :]) for number in range(20)]
    answers = await asyncio.gather(*asked, store.append("unknown", entries_of(1)), return_exceptions=True)
    for number, answer in enumerate(answers[:20]):
        assert isinstance(answer, SequenceConflict if number % 2 else type(None)), f"r{number}: {answer!r}"
        assert await entries_in(store, f"r{number}") == ([] if number % 2 else entries_of(4))
    assert isinstance(answers[20], UnknownName)
    await store.close()


async def cancelled_append_lands_whole_or_not(opening: Opening) -> None:
    """An append whose caller is cancelled leaves all of its entries or none, and the run goes on from there."""
    store = await opening()
    await store.create(run_of("r"))
    for pauses in range(12):
        before = await entries_in(store, "r")
        new = entries_of(5, before=before)
        task = asyncio.ensure_future(store.append("r", new))
        for _ in range(pauses):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # An answered change behind it shows that its own fate is settled.
        await store.update(run_of("r", entries=pauses))
        read = await entries_in(store, "r")
        assert read in (before, before + new), f"half of an append is there: {len(read)} entries"
    kept = await entries_in(store, "r")
    await store.append("r", entries_of(1, before=kept))
    check_chain(genesis_of(), await entries_in(store, "r"))
    await store.close()


async def reader_sees_a_growing_prefix(opening: Opening) -> None:
    """A reader beside a writer sees a prefix of the run, whole and in order, and never an unanswered hole."""
    store = await opening()
    await store.create(run_of("r"))
    kept = entries_of(300)

    async def write() -> None:
        for start in range(0, 300, 10):
            await store.append("r", kept[start : start + 10])

    async def watch() -> None:
        seen = 0
        while seen < 300:
            read = await entries_in(store, "r")
            assert read == kept[: len(read)], "what is read is no prefix"
            assert len(read) >= seen, "an entry that was seen is gone"
            seen = len(read)
            await asyncio.sleep(0)

    await asyncio.gather(write(), watch())
    await store.close()


async def reopened_store_has_everything(opening: Opening) -> None:
    """After closing and opening again runs, entries and trace are there, and the run goes on."""
    store = await opening()
    await store.create(run_of("r", card={"a": 1}))
    await store.append("r", entries_of(5))
    await store.add_trace("r", [TraceRecord("a", 1, 1, "thought")])
    await store.close()
    store = await opening()
    assert list(await store.runs()) == [run_of("r", card={"a": 1})]
    assert await entries_in(store, "r") == entries_of(5)
    assert [record.data async for record in store.read_trace("r")] == ["thought"]
    await refused(SequenceConflict, store.append("r", entries_of(5)[4:]))
    await store.append("r", entries_of(2, before=entries_of(5)))
    check_chain(genesis_of(), await entries_in(store, "r"))
    await store.close()


async def close_loses_nothing(opening: Opening) -> None:
    """Appends that wait when the store is closed are finished and answered."""
    store = await opening()
    runs = [f"r{number}" for number in range(30)]
    await asyncio.gather(*(store.create(run_of(run_id)) for run_id in runs))
    waiting = [asyncio.ensure_future(store.append(run_id, entries_of(20))) for run_id in runs]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*waiting)
    store = await opening()
    for run_id in runs:
        assert await entries_in(store, run_id) == entries_of(20), f"run {run_id!r} lost entries"
    await store.close()


async def two_openings_agree(opening: Opening) -> None:
    """A store that is open twice is one store: each sees the other's entries, and of a race one side lands."""
    stores = [await opening(), await opening()]
    await stores[0].create(run_of("r"))
    for turn in range(10):
        before = await entries_in(stores[turn % 2], "r")
        both = [entries_of(3, text, before) for text in ("one", "two")]
        asked = [store.append("r", new) for store, new in zip(stores, both, strict=True)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
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
    assert await entries_in(store, "r") == before + landed[0]
