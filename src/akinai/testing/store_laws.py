"""The laws of a store. A test file joins in one line: `test_laws = store_laws.laws_for(open_my_store)`.

`open_my_store(folder)` opens the store that lives in a folder, which is empty at the start of each law; where the
store outlives the process, opening the folder again finds what was kept.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue

from akinai.core.errors import SequenceConflict, StoreError, UnknownName, UsageError
from akinai.core.ledger import Entry, check_chain
from akinai.core.trace import Books, TraceRecord
from akinai.testing import store_races
from akinai.testing.runs import AWKWARD_TEXTS, Law, Opening, entries_in, entries_of, genesis_of, refused, run_of

T = TypeVar("T")
PATIENCE_S = 30.0
"""How long a law may take."""


async def appended_entries_read_back_equal(opening: Opening) -> None:
    """Entries read back equal in every field, in order, and their chain holds."""
    store = await opening()
    await store.create(run_of("r"))
    kept: list[Entry] = []
    for text in AWKWARD_TEXTS:
        new = entries_of(4, text, before=kept)
        await store.append("r", new)
        kept += new
    read = await entries_in(store, "r")
    assert read == kept, "the entries read are not those appended"
    assert [entry.text for entry in read] == [entry.text for entry in kept], "their canonical text differs"
    assert check_chain(genesis_of(), read) == kept[-1].digest
    await store.close()


def any_json_reads_back_equal(opening: Opening) -> None:
    """Whatever JSON an agent sends or a world answers reads back equal, and its digest holds."""
    from hypothesis import given, settings
    from hypothesis import strategies as st

    text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
    number = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    json = st.recursive(
        st.none() | st.booleans() | number | text | st.sampled_from(AWKWARD_TEXTS),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=12,
    )
    with asyncio.Runner() as runner:
        store = runner.run(_in_time(opening()))
        number_of_runs = 0

        async def check(said: str, data: JsonValue) -> None:
            nonlocal number_of_runs
            number_of_runs += 1
            run_id, kept = f"r{number_of_runs}", entries_of(3, said, data=data)
            await store.create(run_of(run_id))
            await store.append(run_id, kept)
            read = await entries_in(store, run_id)
            assert read == kept, f"{read} is not {kept}"
            check_chain(genesis_of(), read)

        @settings(deadline=None, max_examples=60)
        @given(said=text, data=json)
        def holds(said: str, data: JsonValue) -> None:
            runner.run(_in_time(check(said, data)))

        try:
            holds()
        finally:
            runner.run(_in_time(store.close()))


async def headers_keep_every_field(opening: Opening) -> None:
    """A header reads back equal, alone and in the list, with its optional fields empty or full."""
    store = await opening()
    bare = run_of("bare")
    full = run_of(
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


async def after_skips_what_is_known(opening: Opening) -> None:
    """`read(after=n)` gives exactly the entries behind n, across chunks of any size."""
    store = await opening()
    await store.create(run_of("r"))
    kept = entries_of(1203)
    await store.append("r", kept)
    for after in (0, 1, 2, 499, 500, 501, 1000, 1202, 1203, 9999):
        assert await entries_in(store, "r", after) == kept[after:], f"after={after}"
    await store.close()


async def runs_do_not_mix(opening: Opening) -> None:
    """Entries of one run are not seen in another, whatever their ids have in common."""
    store = await opening()
    ids = ["r", "R", "r-1", "r-10", "r_1", "r%", "r "]
    for number, run_id in enumerate(ids, 1):
        await store.create(run_of(run_id))
        await store.append(run_id, entries_of(number, run_id))
    for number, run_id in enumerate(ids, 1):
        assert await entries_in(store, run_id) == entries_of(number, run_id), f"run {run_id!r}"
    await store.close()


async def runs_come_oldest_first(opening: Opening) -> None:
    """`runs` lists by the time of creation; of the same time, the first created first."""
    store = await opening()
    times = {"c": 5, "a": 9, "e": 1, "d": 5, "b": 5}
    for run_id, at in times.items():
        await store.create(run_of(run_id, created_at=at))
    assert [run.run_id for run in await store.runs()] == ["e", "c", "d", "b", "a"]
    await store.close()


async def gap_is_refused(opening: Opening) -> None:
    """An append that leaves a gap, before it or inside it, is refused and leaves nothing."""
    store = await opening()
    await store.create(run_of("r"))
    kept = entries_of(6)
    await refused(SequenceConflict, store.append("r", kept[1:2]))
    await store.append("r", kept[:2])
    await refused(SequenceConflict, store.append("r", kept[3:]))
    await refused(SequenceConflict, store.append("r", [kept[2], kept[4]]))
    assert await entries_in(store, "r") == kept[:2]
    await store.append("r", kept[2:])
    assert await entries_in(store, "r") == kept
    await store.close()


async def repeat_is_refused(opening: Opening) -> None:
    """A number that is there is not written again, nor is what came with it."""
    store = await opening()
    await store.create(run_of("r"))
    kept, other = entries_of(4), entries_of(4, "something else")
    await store.append("r", kept[:3])
    for again in (other[2:3], other[:3], other[2:], [kept[3], kept[3]], other[:1]):
        await refused(SequenceConflict, store.append("r", again))
    assert await entries_in(store, "r") == kept[:3]
    await store.close()


async def empty_append_changes_nothing(opening: Opening) -> None:
    """An append of no entries is accepted and leaves the run as it was."""
    store = await opening()
    await store.create(run_of("r"))
    await store.append("r", [])
    await store.append("r", entries_of(2))
    await store.append("r", [])
    assert await entries_in(store, "r") == entries_of(2)
    await store.close()


async def unknown_run_is_named(opening: Opening) -> None:
    """A run that is not there is an UnknownName that offers close matches, whatever was asked of it."""
    store = await opening()
    await store.create(run_of("quiet-otter"))

    async def read_trace() -> list[TraceRecord]:
        return [record async for record in store.read_trace("quiet-ottr")]

    questions: list[Callable[[], Awaitable[object]]] = [
        lambda: store.header("quiet-ottr"),
        lambda: entries_in(store, "quiet-ottr"),
        lambda: entries_in(store, "quiet-ottr", 5),
        lambda: store.append("quiet-ottr", entries_of(1)),
        lambda: store.append("quiet-ottr", []),
        lambda: store.update(run_of("quiet-ottr")),
        lambda: store.add_trace("quiet-ottr", [TraceRecord("a", 1, 1, None)]),
        read_trace,
    ]
    for ask in questions:
        error = await refused(UnknownName, ask())
        assert isinstance(error, UnknownName)
        assert error.close == ("quiet-otter",), f"the close matches are {error.close}"
    assert [run.run_id for run in await store.runs()] == ["quiet-otter"]
    await store.close()


async def taken_id_is_refused(opening: Opening) -> None:
    """A second run of the same id is a UsageError, and the first stays as it was."""
    store = await opening()
    first = run_of("r")
    await store.create(first)
    await store.append("r", entries_of(2))
    await refused(UsageError, store.create(run_of("r", genesis=genesis_of(8), status="done")))
    assert await store.header("r") == first
    assert await entries_in(store, "r") == entries_of(2)
    await store.close()


async def update_keeps_genesis(opening: Opening) -> None:
    """An update replaces all that is known of a run except its genesis, and no other run."""
    store = await opening()
    for run_id in ("r", "other"):
        await store.create(run_of(run_id))
    told = {"status": "done", "ending": "time", "entries": 3, "digest": "d", "error": None, "card": {"a": [1.5]}}
    await store.update(run_of("r", **told))
    assert await store.header("r") == run_of("r", **told)
    await store.update(run_of("r", genesis=genesis_of(8), status="open"))
    assert await store.header("r") == run_of("r"), "the genesis changed, or an old field stayed"
    assert await store.header("other") == run_of("other")
    await store.close()


async def closed_store_answers_nothing(opening: Opening) -> None:
    """After close everything is a StoreError; closing again is allowed."""
    store = await opening()
    await store.create(run_of("r"))
    await store.append("r", entries_of(2))
    reading = store.read("r")
    assert await anext(reading) == entries_of(2)[0]
    await store.close()
    await store.close()
    questions: list[Callable[[], Awaitable[object]]] = [
        store.runs,
        lambda: store.header("r"),
        lambda: store.create(run_of("s")),
        lambda: store.update(run_of("r")),
        lambda: store.append("r", entries_of(1)),
        lambda: store.add_trace("r", [TraceRecord("a", 1, 1, None)]),
        lambda: entries_in(store, "r"),
    ]
    for ask in questions:
        await refused(StoreError, ask())


async def trace_reads_back_equal(opening: Opening) -> None:
    """Trace records read back equal, by actor and number, whatever the order they came in; entries are untouched."""
    store = await opening()
    for run_id in ("r", "other"):
        await store.create(run_of(run_id))
    said = [
        *AWKWARD_TEXTS,
        "half a pair \ud83d and NUL \0 from a model",
        {"tokens": 12, "latency_s": 0.25, "hit": None},
    ]
    owner = [TraceRecord("owner", call, 1000 - call, data) for call, data in enumerate(said, 1)]
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
    assert await entries_in(store, "r") == []
    await store.close()


async def trace_number_is_used_once(opening: Opening) -> None:
    """A record under a number that its actor has used is refused, with all that came with it."""
    store = await opening()
    await store.create(run_of("r"))
    first = TraceRecord("a", 1, 5, "first")
    await store.add_trace("r", [first])
    for again in (
        [TraceRecord("a", 1, 6, "second")],
        [TraceRecord("a", 2, 6, "new"), TraceRecord("a", 1, 6, "second")],
        [TraceRecord("a", 3, 6, "new"), TraceRecord("a", 3, 6, "twice")],
    ):
        await refused(SequenceConflict, store.add_trace("r", again))
    assert [record async for record in store.read_trace("r")] == [first]
    await store.add_trace("r", [TraceRecord("b", 1, 6, "another actor's")])
    await store.close()


async def trace_keeps_what_was_handed_in(opening: Opening) -> None:
    """What its caller does later to the data of a record does not change the record."""
    store = await opening()
    await store.create(run_of("r"))
    messages: list[JsonValue] = ["first"]
    await store.add_trace("r", [TraceRecord("a", 1, 1, messages)])
    messages.append("second")
    assert [record.data async for record in store.read_trace("r")] == [["first"]]
    await store.close()


async def _in_time(asked: Awaitable[T]) -> T:
    """A store that never answers breaks a law: it does not stop the tests."""
    try:
        return await asyncio.wait_for(asked, PATIENCE_S)
    except TimeoutError:
        raise AssertionError(f"the store did not answer within {PATIENCE_S:.0f} s") from None


ALL: tuple[Law, ...] = (
    appended_entries_read_back_equal,
    any_json_reads_back_equal,
    headers_keep_every_field,
    after_skips_what_is_known,
    runs_do_not_mix,
    runs_come_oldest_first,
    gap_is_refused,
    repeat_is_refused,
    empty_append_changes_nothing,
    unknown_run_is_named,
    taken_id_is_refused,
    update_keeps_genesis,
    closed_store_answers_nothing,
    store_races.concurrent_runs_all_land,
    store_races.one_of_two_racing_appends_lands,
    store_races.refusal_spares_its_neighbours,
    store_races.cancelled_append_lands_whole_or_not,
    store_races.reader_sees_a_growing_prefix,
    trace_reads_back_equal,
    trace_number_is_used_once,
    trace_keeps_what_was_handed_in,
)
"""The laws of every store."""

LASTING: tuple[Law, ...] = (
    store_races.reopened_store_has_everything,
    store_races.close_loses_nothing,
    store_races.two_openings_agree,
)
"""Further laws of a store that outlives the process."""


def judge(law: Law, opening: Opening) -> None:
    """Hold one law against a store. AssertionError says what is broken."""
    verdict = law(opening)
    if verdict is not None:
        asyncio.run(_in_time(verdict))


def laws_for(open_in: Callable[[Path], Awaitable[Books]], *, lasting: bool = True) -> Callable[..., None]:
    """A pytest test that holds all laws against the store that `open_in(folder)` opens.

    `lasting` says that a folder opened again holds what was kept.
    """
    import pytest

    laws = ALL + LASTING if lasting else ALL

    @pytest.mark.parametrize("law", [pytest.param(law, id=getattr(law, "__name__", "law")) for law in laws])
    def test(law: Law, tmp_path: Path) -> None:
        judge(law, partial(open_in, tmp_path))

    return test
