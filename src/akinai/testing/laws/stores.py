"""The laws of a store: its ledgers, concurrent writers, and the traces and scores that it keeps beside the ledgers.

A test file joins with one line: `test_laws = store_laws(open_my_store)`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import JsonValue

from akinai.core.errors import SequenceConflict, StoreError, UnknownName, UsageError
from akinai.core.ledger import Entry, check_chain
from akinai.core.stores import Books, Forgets, KeepsScores, ScoreRecord, TraceRecord
from akinai.testing.laws.sample_runs import (
    AWKWARD_TEXTS,
    OpenStore,
    StoreLaw,
    expect_error,
    read_entries,
    sample_entries,
    sample_genesis,
    sample_header,
)

T = TypeVar("T")
PATIENCE_S = 30.0
"""Limit of each law."""


async def appended_entries_read_back_equal(open_store: OpenStore) -> None:
    """Entries read back equal in every field, in order, and their chain holds."""
    store = await open_store()
    await store.create(sample_header("r"))
    appended: list[Entry] = []
    for text in AWKWARD_TEXTS:
        new = sample_entries(4, text, before=appended)
        await store.append("r", new)
        appended += new
    read = await read_entries(store, "r")
    assert read == appended, "the entries read are not those appended"
    assert [entry.text for entry in read] == [entry.text for entry in appended], "their canonical text differs"
    assert check_chain(sample_genesis(), read) == appended[-1].digest
    await store.close()


def any_json_reads_back_equal(open_store: OpenStore) -> None:
    """Whatever JSON an agent sends or a world answers reads back equal, and its digest holds."""
    from hypothesis import given, settings
    from hypothesis import strategies as st

    texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
    number = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    json = st.recursive(
        st.none() | st.booleans() | number | texts | st.sampled_from(AWKWARD_TEXTS),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=12,
    )
    with asyncio.Runner() as runner:
        store = runner.run(_in_time(open_store()))
        number_of_runs = 0

        async def check(text: str, data: JsonValue) -> None:
            nonlocal number_of_runs
            number_of_runs += 1
            run_id, entries = f"r{number_of_runs}", sample_entries(3, text, data=data)
            await store.create(sample_header(run_id))
            await store.append(run_id, entries)
            read = await read_entries(store, run_id)
            assert read == entries, f"{read} is not {entries}"
            check_chain(sample_genesis(), read)

        @settings(deadline=None, max_examples=min(60, settings().max_examples))
        @given(text=texts, data=json)
        def holds(text: str, data: JsonValue) -> None:
            runner.run(_in_time(check(text, data)))

        try:
            holds()
        finally:
            runner.run(_in_time(store.close()))


async def headers_keep_every_field(open_store: OpenStore) -> None:
    """A header reads back equal, alone and in the list, with its optional fields empty or full."""
    store = await open_store()
    bare = sample_header("bare")
    full = sample_header(
        "full 商 'x'",
        agents={"owner": "scripted:a b", "顧客": "idle"},
        created_at=bare.created_at + 1,
        status="failed",
        parent="bare#41",
        group="g",
        ending="message_cap",
        entries=41,
        digest="ab" * 32,
        error="the model said: 'no'",
        card={"versions": {"akinai": "0.1"}, "temperature": 0.7, "tools": [1, None]},
    )
    for run in (bare, full):
        await store.create(run)
        assert await store.header(run.run_id) == run, f"the header of {run.run_id!r} changed"
    assert list(await store.runs()) == [bare, full]
    assert (await store.header("bare")).genesis.digest == bare.genesis.digest
    await store.close()


async def after_skips_what_is_known(open_store: OpenStore) -> None:
    """`read(after=n)` gives exactly the entries after n, across chunks of any size."""
    store = await open_store()
    await store.create(sample_header("r"))
    entries = sample_entries(1203)
    await store.append("r", entries)
    for after in (0, 1, 2, 499, 500, 501, 1000, 1202, 1203, 9999):
        assert await read_entries(store, "r", after) == entries[after:], f"after={after}"
    await store.close()


async def runs_do_not_mix(open_store: OpenStore) -> None:
    """Entries of one run are not seen in another, whatever their ids have in common."""
    store = await open_store()
    ids = ["r", "R", "r-1", "r-10", "r_1", "r%", "r "]
    for number, run_id in enumerate(ids, 1):
        await store.create(sample_header(run_id))
        await store.append(run_id, sample_entries(number, run_id))
    for number, run_id in enumerate(ids, 1):
        assert await read_entries(store, run_id) == sample_entries(number, run_id), f"run {run_id!r}"
    await store.close()


async def runs_come_oldest_first(open_store: OpenStore) -> None:
    """`runs` lists by the time of creation; of the same time, the first created first."""
    store = await open_store()
    times = {"c": 5, "a": 9, "e": 1, "d": 5, "b": 5}
    for run_id, at in times.items():
        await store.create(sample_header(run_id, created_at=at))
    assert [run.run_id for run in await store.runs()] == ["e", "c", "d", "b", "a"]
    await store.close()


async def runs_are_chosen(open_store: OpenStore) -> None:
    """`runs` filters by group or sweep, by status, by agents, and takes the newest, in the order oldest first."""
    store = await open_store()
    sweep: dict[str, JsonValue] = {"sweep": {"name": "s", "values": {}}}
    await store.create(sample_header("a", created_at=4, group="g"))
    await store.create(sample_header("b", created_at=3, group="g", status="done"))
    await store.create(sample_header("c", created_at=2, group="s-1", card=sweep))
    await store.create(sample_header("d", created_at=1, status="done", agents={"a": "it's", "b": "x"}))

    async def selected(**filters: Any) -> str:
        return "".join([run.run_id for run in await store.runs(**filters)])

    assert await selected() == "dcba"
    assert (await selected(group="g"), await selected(group="s"), await selected(group="a")) == ("ba", "c", "")
    assert (await selected(status="done"), await selected(status="failed")) == ("db", "")
    assert (await selected(limit=2), await selected(limit=9)) == ("ba", "dcba")
    assert await selected(group="g", status="open", limit=1) == "a"
    assert (await selected(agents=["it's"]), await selected(agents=["reference", "x"]), await selected(agents=[])) == (
        "d",
        "dcba",
        "",
    )
    await store.close()


async def gap_is_refused(open_store: OpenStore) -> None:
    """An append that leaves a gap, before it or inside it, is refused and leaves nothing."""
    store = await open_store()
    await store.create(sample_header("r"))
    entries = sample_entries(6)
    await expect_error(SequenceConflict, store.append("r", entries[1:2]))
    await store.append("r", entries[:2])
    await expect_error(SequenceConflict, store.append("r", entries[3:]))
    await expect_error(SequenceConflict, store.append("r", [entries[2], entries[4]]))
    assert await read_entries(store, "r") == entries[:2]
    await store.append("r", entries[2:])
    assert await read_entries(store, "r") == entries
    await store.close()


async def repeat_is_refused(open_store: OpenStore) -> None:
    """An entry under an existing number is refused, together with the rest of its append."""
    store = await open_store()
    await store.create(sample_header("r"))
    entries, other = sample_entries(4), sample_entries(4, "something else")
    await store.append("r", entries[:3])
    for again in (other[2:3], other[:3], other[2:], [entries[3], entries[3]], other[:1]):
        await expect_error(SequenceConflict, store.append("r", again))
    assert await read_entries(store, "r") == entries[:3]
    await store.close()


async def empty_append_changes_nothing(open_store: OpenStore) -> None:
    """An append of no entries is accepted and leaves the run as it was."""
    store = await open_store()
    await store.create(sample_header("r"))
    await store.append("r", [])
    await store.append("r", sample_entries(2))
    await store.append("r", [])
    assert await read_entries(store, "r") == sample_entries(2)
    await store.close()


async def unknown_run_is_named(open_store: OpenStore) -> None:
    """Every operation on an unknown run raises UnknownName with close matches."""
    store = await open_store()
    await store.create(sample_header("quiet-otter"))

    async def read_trace() -> list[TraceRecord]:
        return [record async for record in store.read_trace("quiet-ottr")]

    questions: list[Callable[[], Awaitable[object]]] = [
        lambda: store.header("quiet-ottr"),
        lambda: read_entries(store, "quiet-ottr"),
        lambda: read_entries(store, "quiet-ottr", 5),
        lambda: store.append("quiet-ottr", sample_entries(1)),
        lambda: store.append("quiet-ottr", []),
        lambda: store.update(sample_header("quiet-ottr")),
        lambda: store.add_trace("quiet-ottr", [TraceRecord("a", 1, 1, None)]),
        read_trace,
    ]
    for ask in questions:
        error = await expect_error(UnknownName, ask())
        assert isinstance(error, UnknownName)
        assert error.close == ("quiet-otter",), f"the close matches are {error.close}"
    assert [run.run_id for run in await store.runs()] == ["quiet-otter"]
    await store.close()


async def taken_id_is_refused(open_store: OpenStore) -> None:
    """A second run of the same id is a UsageError, and the first stays as it was."""
    store = await open_store()
    first = sample_header("r")
    await store.create(first)
    await store.append("r", sample_entries(2))
    await expect_error(UsageError, store.create(sample_header("r", genesis=sample_genesis(8), status="done")))
    assert await store.header("r") == first
    assert await read_entries(store, "r") == sample_entries(2)
    await store.close()


async def update_keeps_genesis(open_store: OpenStore) -> None:
    """An update replaces the header of a run except its genesis, and no other run."""
    store = await open_store()
    for run_id in ("r", "other"):
        await store.create(sample_header(run_id))
    fields: dict[str, Any] = {
        "status": "done",
        "ending": "time",
        "entries": 3,
        "digest": "d",
        "error": None,
        "card": {"a": [1.5]},
    }
    await store.update(sample_header("r", **fields))
    assert await store.header("r") == sample_header("r", **fields)
    await store.update(sample_header("r", genesis=sample_genesis(8), status="open"))
    assert await store.header("r") == sample_header("r"), "the genesis changed, or an old field stayed"
    assert await store.header("other") == sample_header("other")
    await store.close()


async def closed_store_answers_nothing(open_store: OpenStore) -> None:
    """After close everything is a StoreError; closing again is allowed."""
    store = await open_store()
    await store.create(sample_header("r"))
    await store.append("r", sample_entries(2))
    reading = store.read("r")
    assert await anext(reading) == sample_entries(2)[0]
    await store.close()
    await store.close()
    questions: list[Callable[[], Awaitable[object]]] = [
        store.runs,
        lambda: store.header("r"),
        lambda: store.create(sample_header("s")),
        lambda: store.update(sample_header("r")),
        lambda: store.append("r", sample_entries(1)),
        lambda: store.add_trace("r", [TraceRecord("a", 1, 1, None)]),
        lambda: read_entries(store, "r"),
    ]
    for ask in questions:
        await expect_error(StoreError, ask())


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
    """Exactly one of two appends with the same numbers lands, whole; the other is a SequenceConflict."""
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


async def _in_time(answer: Awaitable[T]) -> T:
    """The store's answer. AssertionError when it takes too long, so that the tests go on."""
    try:
        return await asyncio.wait_for(answer, PATIENCE_S)
    except TimeoutError:
        raise AssertionError(f"the store did not answer within {PATIENCE_S:.0f} s") from None


STORE_LAWS: tuple[StoreLaw, ...] = (
    appended_entries_read_back_equal,
    any_json_reads_back_equal,
    headers_keep_every_field,
    after_skips_what_is_known,
    runs_do_not_mix,
    runs_come_oldest_first,
    runs_are_chosen,
    gap_is_refused,
    repeat_is_refused,
    empty_append_changes_nothing,
    unknown_run_is_named,
    taken_id_is_refused,
    update_keeps_genesis,
    closed_store_answers_nothing,
    concurrent_runs_all_land,
    one_of_two_racing_appends_lands,
    refusal_spares_its_neighbours,
    cancelled_append_lands_whole_or_not,
    reader_sees_a_growing_prefix,
    trace_reads_back_equal,
    trace_number_is_used_once,
    trace_keeps_what_was_handed_in,
    scores_are_kept_by_run,
    scores_cover_sound_records,
    forgotten_runs_leave_nothing,
)
"""The laws of every store."""

LASTING_STORE_LAWS: tuple[StoreLaw, ...] = (
    reopened_store_has_everything,
    close_loses_nothing,
    two_openings_agree,
)
"""Further laws of a store that outlives the process."""


def store_laws(open_in: Callable[[Path], Awaitable[Books]], *, lasting: bool = True) -> Callable[..., None]:
    """A pytest test that checks all laws of a store, each under its own name.

    `open_in(folder)` opens the store in a folder, which is empty at the start of each law. `lasting` means that the
    store outlives the process: when the folder is opened again, it still has the runs.
    """
    import pytest

    laws = STORE_LAWS + LASTING_STORE_LAWS if lasting else STORE_LAWS

    @pytest.mark.parametrize("law", [pytest.param(law, id=getattr(law, "__name__", "law")) for law in laws])
    def test(law: StoreLaw, tmp_path: Path) -> None:
        checking = law(partial(open_in, tmp_path))
        if checking is not None:
            asyncio.run(_in_time(checking))

    return test
