"""A long run is read in passes: what reads it holds its state, and few of its entries."""

import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from akinai.analysis import leaderboard
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.steps import Step
from akinai.core.stores import RunHeader
from akinai.core.worlds import step
from akinai.runtime.config.settings import prepare
from akinai.runtime.export.database import write_database
from akinai.runtime.export.eval_log import writing
from akinai.runtime.export.eval_log.writing import write_eval_log
from akinai.runtime.export.lines import export_lines
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.runtime.play.driver import play_run
from akinai.runtime.runs import reading
from akinai.runtime.runs.planning import plan
from akinai.runtime.runs.reading import Detail, read_run
from akinai.runtime.runs.verification import verify
from akinai.server.market import HostedMarket
from akinai.stores.memory import MemoryStore
from akinai.worlds.market import Market
from akinai.worlds.market.model import actions as a

HELD, CHUNK = 60, 20
MOST_HELD = HELD + 2 * CHUNK + 10
"""Entries that may be alive at once: those of a run that is still short, chunks on their way, and the one at hand."""
PURCHASES = 60
WHOLE = Detail(ledger=False, judged=True, findings=True, tables=("run", "agent", "conversation", "deal"))
Row = tuple[int, int, str, str]
"""An entry as a store keeps it: seq, time, text, digest."""
SETUP = Market.setup.model_validate(
    {"open": True, "clock": "wall", "customers": {"purchases": 0, "max_turns": 0}}
).model_dump(mode="json")


class CountingStore(MemoryStore):
    """Parses each entry anew when it is read, and counts those that are alive, and steps with them."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self.rows = [*rows]
        self.most = self.passes = 0

    async def read(self, run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        self.passes += 1
        for row in self.rows[after:]:
            if row[0] % 50 == 0:
                self.count()
            yield Entry.parse(*row)
        self.count()

    def count(self) -> None:
        """Count the entries that are alive now, of all objects that are not frozen."""
        self.most = max(self.most, sum(type(item) in (Entry, Step) for item in gc.get_objects()))


@cache
def market_rows() -> tuple[RunHeader, Sequence[Row]]:
    """A market of a few pairs that trade, refuse, repeat and leave."""
    world = Market()
    genesis = Genesis(world.name, 1, SETUP)
    state, entries, digest = world.begin(genesis), list[Entry](), genesis.digest

    def act(actor: str, action: Any) -> Outcome:
        nonlocal state, digest
        turn = Turn(len(entries) + 1, 1_000_000 * len(entries), actor, world.verbs.settled(action))
        state, outcome = step(world, state, turn)
        entries.append(Entry.of(digest, turn, outcome))
        digest = entries[-1].digest
        return outcome

    def send(actor: str, to: str, message: Any) -> Outcome:
        return act(actor, a.SendMessage(to_agent_id=to, message=message))

    for id in ("b0", "b1", "c0", "c1"):
        kind = "business" if id[0] == "b" else "customer"
        own = {
            "name": id,
            "rating": 3.0,
            "menu_features": {"Tea": 3.0},
            "amenity_features": {} if kind[0] == "b" else [],
        }
        assert act(id, a.Register(profile={"id": id, "metadata": {"type": kind}, kind: own})).ok
    for number in range(PURCHASES):
        customer, business = f"c{number % 2}", f"b{number % 3 % 2}"
        items = [a.Item(item_name="Tea" if number % 7 else "Coffee", quantity=1, unit_price=3)]
        act(customer, a.Search(query=f"house of {business}"))
        send(customer, business, a.Text(content="One Tea, please."))
        send(business, customer, a.OrderProposal(id=f"p{number}", items=items, total_price=3 + number % 5))
        act(customer, a.FetchMessages())
        send(customer, business, a.Payment(proposal_message_id=f"p{number}"))
        assert not send(customer, business, a.Payment(proposal_message_id=f"p{number}")).ok
        act(business, a.FetchMessages(after_index=len(entries) - 3))
        send(business, customer, a.Text(content=f"Thank you for p{number}."))
    act("c1", a.Leave())
    header = RunHeader("r", genesis, {"agents": "http"}, created_at=1, entries=len(entries), digest=digest)
    return header, [(entry.seq, entry.at, entry.text, entry.digest) for entry in entries]


@pytest.fixture
async def store(monkeypatch: pytest.MonkeyPatch) -> CountingStore:
    monkeypatch.setattr(reading, "HELD_ENTRIES", HELD)
    monkeypatch.setattr(reading, "CHUNK", CHUNK)
    header, rows = market_rows()
    store = CountingStore(rows)
    await store.create(header)
    assert len(rows) > 3 * MOST_HELD
    gc.collect()
    gc.freeze()  # so that each count walks what came since, not all that was there
    return store


async def restart(store: CountingStore) -> None:
    market = HostedMarket(await store.header("r"), store)
    await market.open()
    assert market.committed.seq == len(store.rows)


async def check(store: CountingStore) -> None:
    assert (await verify(store, await store.header("r"))).ok


async def score(store: CountingStore) -> None:
    run = await read_run(store, await store.header("r"), WHOLE)
    assert run.value("purchases") == PURCHASES


async def replay(store: CountingStore) -> None:
    run = await read_run(store, await store.header("r"), Detail(ledger=False, use_stored=False))
    assert run.entries == len(store.rows)


async def export(store: CountingStore) -> None:
    assert len([line async for line in export_lines(store, await store.header("r"), "jsonl")]) == len(store.rows)


async def export_rows(store: CountingStore) -> None:
    assert len([line async for line in export_lines(store, await store.header("r"), "csv")]) == len(store.rows)


@pytest.mark.parametrize("read", [restart, check, score, replay, export, export_rows])
async def test_a_reader_holds_few_entries(
    store: CountingStore, read: Callable[[CountingStore], Awaitable[None]]
) -> None:
    """A restart, a check, scores with every table, a replay and an export go through a run that they do not hold."""
    await read(store)
    assert store.passes
    assert store.most <= MOST_HELD


async def test_a_database_is_written_row_by_row(store: CountingStore, tmp_path: Path) -> None:
    """The export into the public system's database holds few entries too."""
    await write_database(store, await store.header("r"), "magentic", tmp_path / "market.db")
    assert (tmp_path / "market.db").stat().st_size > 100_000
    assert store.most <= MOST_HELD


async def test_a_log_is_written_in_passes(
    store: CountingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log of Inspect is the same whether the run is held or gone through for its messages and for its events."""
    header = await store.header("r")
    with monkeypatch.context() as short:
        short.setattr(writing, "HELD_ENTRIES", HELD)
        await write_eval_log(store, [header], tmp_path / "passes.eval")
    assert store.most <= MOST_HELD
    await write_eval_log(store, [header], tmp_path / "held.eval")
    assert store.most > MOST_HELD
    assert (tmp_path / "passes.eval").read_bytes() == (tmp_path / "held.eval").read_bytes()


async def test_a_kept_score_is_checked_in_passes(store: CountingStore) -> None:
    """A check computes the kept scores again, and holds few entries; one that was changed is noticed."""
    header = await store.header("r")
    await read_run(store, header, Detail(ledger=False))
    store.most = 0
    assert (await verify(store, header)).ok
    assert store.most <= MOST_HELD
    kept = await store.kept_scores("r")
    assert kept is not None
    document = json.loads(kept.text)
    document["scores"][0]["value"] += 1
    await store.keep_scores([replace(kept, text=json.dumps(document))])
    assert not (await verify(store, header)).ok


async def test_scores_of_passes_are_those_of_held_steps(store: CountingStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a run is read, its scores, findings and tables are the same."""
    header = await store.header("r")
    detail = replace(WHOLE, use_stored=False)
    in_passes = await read_run(store, header, detail)
    monkeypatch.setattr(reading, "HELD_ENTRIES", len(store.rows))
    held = await read_run(store, header, detail)
    assert in_passes == held
    assert {table.about for table in held.tables} == {*WHOLE.tables}
    assert held.findings


async def test_a_growing_run_is_read_to_where_it_was(store: CountingStore) -> None:
    """Entries that come while a run is read change nothing of what is read."""
    header = replace(await store.header("r"), entries=None, digest=None)
    rows = store.rows
    late = rows[-8:]
    del rows[-8:]
    detail = replace(WHOLE, use_stored=False)
    alone = await read_run(store, header, detail)
    read = store.read

    async def growing(run_id: str, after: int = 0) -> AsyncIterator[Entry]:
        async for entry in read(run_id, after):
            yield entry
        rows.extend(late)
        late.clear()

    store.read = growing
    assert await read_run(store, header, detail) == alone


async def test_damage_is_named_where_it_is(store: CountingStore) -> None:
    """A long run with a broken entry says where it breaks, and how many entries precede it."""
    header = await store.header("r")
    seq, at, _, digest = store.rows[199]
    store.rows[199] = (seq, at, "{", digest)
    run = await read_run(store, header, WHOLE, trouble=reading.DAMAGE)
    assert run.entries == 199
    assert "entry 200" in (run.trouble or "")
    verdict = await verify(store, header)
    assert (verdict.ok, verdict.entry) == (False, 200)


async def test_a_leaderboard_plays_again_without_holding(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a player plays again is compared by its digest; its entries are not kept."""
    world = Market()
    header = plan(world, prepare(world, settings=["customers=2"]), AgentSpec("careful"), [1], "a")[0]
    memory = MemoryStore()
    await memory.create(header)
    played = await play_run(memory, header)
    kept: list[int] = []
    update = MemoryStore.update

    async def counting(self: MemoryStore, run: RunHeader) -> None:
        kept.append(len([entry async for entry in self.read(run.run_id)]))
        await update(self, run)

    monkeypatch.setattr(MemoryStore, "update", counting)
    assert await leaderboard._played_again(played) == played.digest
    assert kept
    assert max(kept) == 0
