"""Laws of the records that a store keeps beside the ledgers: the trace of model calls, and scores."""

from dataclasses import replace

from pydantic import JsonValue

from akinai.core.errors import SequenceConflict, UnknownName
from akinai.core.stores import Forgets, KeepsScores, ScoreRecord, TraceRecord
from akinai.testing.laws.sample_runs import (
    AWKWARD_TEXTS,
    OpenStore,
    expect_error,
    read_entries,
    sample_entries,
    sample_genesis,
    sample_header,
)


async def trace_reads_back_equal(open_store: OpenStore) -> None:
    """Trace records read back equal, by actor and number, whatever the order they came in; entries are untouched."""
    store = await open_store()
    for run_id in ("r", "other"):
        await store.create(sample_header(run_id))
    contents = [
        *AWKWARD_TEXTS,
        "half a pair \ud83d and NUL \0 from a model",
        {"tokens": 12, "latency_s": 0.25, "hit": None},
    ]
    owner = [TraceRecord("owner", call, 1000 - call, data) for call, data in enumerate(contents, 1)]
    many = [TraceRecord("a 商", call, call, {"prompt": ["x"] * call}) for call in range(1, 161)]
    await store.add_trace("r", owner[3:])
    await store.add_trace("r", [*many, *owner[:3]])
    await store.add_trace("r", [])
    await store.add_trace("other", owner[:1])
    assert [record async for record in store.read_trace("r")] == many + owner
    assert [record async for record in store.read_trace("r", "owner")] == owner
    assert [record async for record in store.read_trace("r", "a 商")] == many
    assert [record async for record in store.read_trace("r", "nobody")] == []
    assert [record async for record in store.read_trace("other")] == owner[:1]
    assert await read_entries(store, "r") == []
    await store.close()


async def trace_number_is_used_once(open_store: OpenStore) -> None:
    """A record under a number that its actor has used is refused, together with the rest of its call."""
    store = await open_store()
    await store.create(sample_header("r"))
    first = TraceRecord("a", 1, 5, "first")
    await store.add_trace("r", [first])
    for again in (
        [TraceRecord("a", 1, 6, "second")],
        [TraceRecord("a", 2, 6, "new"), TraceRecord("a", 1, 6, "second")],
        [TraceRecord("a", 3, 6, "new"), TraceRecord("a", 3, 6, "twice")],
    ):
        await expect_error(SequenceConflict, store.add_trace("r", again))
    assert [record async for record in store.read_trace("r")] == [first]
    await store.add_trace("r", [TraceRecord("b", 1, 6, "another actor's")])
    await store.close()


async def trace_keeps_what_was_handed_in(open_store: OpenStore) -> None:
    """When the caller changes the data of a record later, the record stays as it was."""
    store = await open_store()
    await store.create(sample_header("r"))
    messages: list[JsonValue] = ["first"]
    await store.add_trace("r", [TraceRecord("a", 1, 1, messages)])
    messages.append("second")
    assert [record.data async for record in store.read_trace("r")] == [["first"]]
    await store.close()


async def scores_cover_sound_records(open_store: OpenStore) -> None:
    """A record covers its run exactly where its digest is that of the last entry of an unbroken chain."""
    store = await open_store()
    if isinstance(store, KeepsScores):
        entries = sample_entries(600, "é 😀")  # more than a store reads at a time
        ends = {"none": (), "all": entries, "grown": entries[:-1], "broken": [*entries[:1], replace(entries[1], at=1)]}
        for run_id, covered in ends.items():
            await store.create(sample_header(run_id))
            await store.append(run_id, entries if run_id == "grown" else covered)
            end = covered[-1].digest if covered else sample_genesis().digest
            await store.keep_scores([ScoreRecord(run_id, end, "v", "{}")])
        await store.create(sample_header("without"))
        await store.add_trace("none", [TraceRecord("a", 1, 1, [])])
        starts = dict.fromkeys([*ends, "without", "nobody"], sample_genesis().digest)
        covering = await store.covering_scores(starts)
        assert {scores.record.run_id: (scores.entries, scores.traced) for scores in covering} == {
            "none": (0, True),
            "all": (600, False),
        }
        assert not await store.covering_scores({"all": "another genesis"})
    await store.close()


async def scores_are_kept_by_run(open_store: OpenStore) -> None:
    """A store that keeps scores returns the newest record of each run, and None for a run without one."""
    store = await open_store()
    if isinstance(store, KeepsScores):
        for run_id in ("r", "other", AWKWARD_TEXTS[-1]):
            await store.create(sample_header(run_id))
        old, new = (ScoreRecord("r", digest, "v1", '{"days":1.0,"text":"\\u0000\\ud83d"}') for digest in ("a", "b"))
        odd = ScoreRecord(AWKWARD_TEXTS[-1], "c", "v2", "{}")
        assert await store.kept_scores("r") is None
        await store.keep_scores([old, odd])
        await store.keep_scores([new])
        await store.keep_scores([])
        assert [await store.kept_scores(id) for id in ("r", "other", odd.run_id)] == [new, None, odd]
        await expect_error(UnknownName, store.keep_scores([ScoreRecord("nobody", "a", "v1", "{}")]))
        assert await store.kept_scores("nobody") is None
    await store.close()


async def forgotten_runs_leave_nothing(open_store: OpenStore) -> None:
    """A store that removes runs removes all their records and no others; their names are free again."""
    store = await open_store()
    if isinstance(store, Forgets):
        for run_id in ("r", "other", AWKWARD_TEXTS[2]):
            await store.create(sample_header(run_id))
            await store.append(run_id, sample_entries(3))
            await store.add_trace(run_id, [TraceRecord("owner", 1, 5, {"reply": "x"})])
            if isinstance(store, KeepsScores):
                await store.keep_scores([ScoreRecord(run_id, "a", "v1", "{}")])
        await expect_error(UnknownName, store.forget(["r", "nobody"]))
        assert len(await read_entries(store, "r")) == 3
        await store.forget([])
        await store.forget(["r", AWKWARD_TEXTS[2]])
        assert [header.run_id for header in await store.runs()] == ["other"]
        await expect_error(UnknownName, store.header("r"))
        await expect_error(UnknownName, store.append("r", sample_entries(1)))
        assert len(await read_entries(store, "other")) == 3
        assert len([record async for record in store.read_trace("other")]) == 1
        await store.create(sample_header("r"))
        assert await read_entries(store, "r") == []
        assert [record async for record in store.read_trace("r")] == []
        if isinstance(store, KeepsScores):
            assert await store.kept_scores("r") is None
            assert await store.kept_scores("other") is not None
        await store.append("r", sample_entries(2))
        assert len(await read_entries(store, "r")) == 2
    await store.close()
