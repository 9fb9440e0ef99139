"""The hosted run: commits in groups, commits that fail, and two servers on one run."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from akinai.core.actions import Action
from akinai.core.errors import StoreError
from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn, check_chain
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import fold
from akinai.server.market import HostedMarket, Overloaded, WrongToken
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.worlds.market import Market, State
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.model.actions import Item, OrderProposal, Payment, Register, SendMessage, Text

SETUP = Market.setup.model_validate(
    {"open": True, "clock": "wall", "customers": {"purchases": 0, "max_turns": 0}}
).model_dump(mode="json")
HEADER = RunHeader("r", Genesis("market@2", 1, SETUP), {"agents": "http"}, created_at=1)
SECOND = 1_000_000


def respond(state: State, turn: Turn, outcome: Outcome) -> Outcome:
    return outcome


async def market_on(store: Store, **more: Any) -> HostedMarket:
    market = HostedMarket(HEADER, store, **more)
    await market.open()
    return market


async def enter(market: HostedMarket, *ids: str) -> None:
    for id in ids:
        kind = "business" if id.startswith("b") else "customer"
        await market.act(id, Register(profile={"id": id, "metadata": {"type": kind}, kind: {}}), respond)


def text(to: str, content: str = "hello") -> SendMessage:
    return SendMessage(to_agent_id=to, message=Text(content=content))


def proposal(to: str, id: str, **more: Any) -> SendMessage:
    items = [Item(item_name="Tea", quantity=1, unit_price=3)]
    return SendMessage(to_agent_id=to, message=OrderProposal(id=id, items=items, total_price=3, **more))


def payment(to: str, id: str) -> SendMessage:
    return SendMessage(to_agent_id=to, message=Payment(proposal_message_id=id))


async def stored_ledger(store: Store) -> Ledger:
    entries = [entry async for entry in store.read("r")]
    ledger = Ledger(HEADER.genesis, entries)
    assert check_chain(ledger.genesis, entries) == ledger.digest
    return ledger


class Slow(MemoryStore):
    """Commits when its gate is open, and fails as often as `failures` says."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.failures, self.sizes = asyncio.Event(), 0, list[int]()
        self.gate.set()

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        self.sizes.append(len(entries))
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full; make room")
        await super().append(run_id, entries)


async def slow_market(**more: Any) -> tuple[Slow, HostedMarket]:
    store = Slow()
    await store.create(HEADER)
    market = await market_on(store, **more)
    await enter(market, "b", "c")
    store.sizes.clear()
    store.gate.clear()
    return store, market


async def test_requests_that_arrive_during_a_commit_share_the_next() -> None:
    """One commit is under way, and one follows for all waiting requests; no request is answered before its own."""
    store, market = await slow_market()
    first = asyncio.create_task(market.act("c", text("b", "0"), respond))
    await asyncio.sleep(0.01)
    later = [asyncio.create_task(market.act("c", text("b", str(n)), respond)) for n in range(1, 50)]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in (first, *later))
    assert market.committed.seq == 2
    store.gate.set()
    answers = [(await task).data for task in (first, *later)]
    assert store.sizes == [1, 49]
    assert answers == [{"index": seq} for seq in range(3, 53)]


async def test_a_commit_that_fails_leaves_nothing_half_done() -> None:
    """Its requests fail and nothing of them is kept; later requests are applied to the durable state."""
    store, market = await slow_market()
    before = market.committed
    lost = [asyncio.create_task(market.act("b", proposal("c", f"p{n}"), respond)) for n in range(3)]
    await asyncio.sleep(0.01)
    unsure = asyncio.create_task(market.act("c", payment("b", "p0"), respond))
    sure = asyncio.create_task(market.act("c", text("b"), respond))
    await asyncio.sleep(0.01)
    store.failures = 1
    store.gate.set()
    for task in lost:
        with pytest.raises(StoreError, match="disk is full"):
            await task
    assert (await unsure).text == "No valid proposal found with this ID"
    assert (await sure).ok
    assert store.sizes == [3, 2]
    assert market.committed.seq == before.seq + 2
    assert fold(Market(), await stored_ledger(store)) == market.committed.state


async def test_too_many_requests_are_refused() -> None:
    """Above the limit a request is refused before anything is done; below it requests are accepted again."""
    store, market = await slow_market(max_waiting=5)
    tasks = [asyncio.create_task(market.act("c", text("b"), respond)) for _ in range(20)]
    await asyncio.sleep(0.01)
    refused = [task for task in tasks if task.done()]
    assert refused
    for task in refused:
        with pytest.raises(Overloaded):
            await task
    store.gate.set()
    done = [await task for task in tasks if task not in refused]
    assert market.committed.seq == 2 + len(done)
    assert (await market.act("c", text("b"), respond)).ok


async def test_closing_answers_accepted_requests() -> None:
    """Waiting requests are committed and answered; later requests are refused."""
    store, market = await slow_market()
    task = asyncio.create_task(market.act("c", text("b"), respond))
    await asyncio.sleep(0.01)
    closing = asyncio.create_task(market.close())
    await asyncio.sleep(0.01)
    with pytest.raises(Overloaded):
        await market.act("c", text("b"), respond)
    store.gate.set()
    await closing
    assert (await task).ok
    header = await store.header("r")
    assert (header.entries, header.digest) == (3, market.committed.digest)


@pytest.mark.parametrize(("paid_at", "result"), [(9, "ok"), (10, "ok"), (11, "Proposal has expired")])
async def test_at_the_instant_of_expiry_a_payment_is_one_thing_or_the_other(paid_at: int, result: str) -> None:
    """Paid up to the instant, expired after it, never both; a payment before its proposal is refused."""
    now = SECOND
    store = MemoryStore()
    await store.create(HEADER)
    market = await market_on(store, clock=lambda: now)
    await enter(market, "b", "c")
    assert not (await market.act("c", payment("b", "p"), respond)).ok
    await market.act("b", proposal("c", "p", expiry_time="1970-01-01T00:00:10"), respond)
    now = paid_at * SECOND
    outcome = await market.act("c", payment("b", "p"), respond)
    assert ("ok" if outcome.ok else outcome.text) == result
    assert market.committed.state.payments == (1 if outcome.ok else 0)


async def twenty_payments(markets: Sequence[HostedMarket], store: Store, repetitions: int) -> None:
    """Of twenty payments at once exactly one is taken and booked."""
    await enter(markets[0], "b", "c")
    for market in markets:
        await market.refresh()
    for number in range(repetitions):
        assert (await markets[0].act("b", proposal("c", f"p{number}"), respond)).ok
        pays: Sequence[Action] = [payment("b", f"p{number}")] * 20
        requests = [markets[n % len(markets)].act("c", pay, respond) for n, pay in enumerate(pays)]
        taken = [outcome for outcome in await asyncio.gather(*requests) if outcome.ok]
        assert len(taken) == 1
    await asyncio.gather(*(market.refresh() for market in markets))
    state = fold(Market(), await stored_ledger(store))
    assert (state.payments, state.booked_cents) == (repetitions, repetitions * 300)
    assert all(market.committed.state == state for market in markets)


@pytest.mark.parametrize("repetitions", [3, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("servers", [1, 2])
async def test_of_twenty_payments_at_once_one_is_taken(store_address: str, servers: int, repetitions: int) -> None:
    """The money is booked once, on both databases, with one server and with two."""
    stores = [await open_store(store_address) for _ in range(servers)]
    await stores[0].create(HEADER)
    markets = [await market_on(store) for store in stores]
    await twenty_payments(markets, stores[0], repetitions)
    for market, store in zip(markets, stores, strict=True):
        await market.close()
        await store.close()


async def test_two_servers_see_each_others_agents_and_mail(store_address: str) -> None:
    """An agent registered at the first server may act at the second, and mail is fetched at either."""
    stores = [await open_store(store_address) for _ in range(2)]
    await stores[0].create(HEADER)
    first, second = [await market_on(store) for store in stores]
    await enter(first, "b")
    await second.refresh()
    await enter(second, "c")
    assert (await second.act("c", text("b", "from the second"), respond)).ok
    fetched = await first.act("b", a.FetchMessages(), respond)
    assert fetched.data is not None
    assert fetched.data["count"] == 1
    several = [
        market.act(sender, text(to), respond)
        for _ in range(25)
        for market, sender, to in ((first, "b", "c"), (second, "c", "b"))
    ]
    assert all(outcome.ok for outcome in await asyncio.gather(*several))
    await stored_ledger(stores[0])
    for market, store in zip((first, second), stores, strict=True):
        await market.close()
        await store.close()


async def test_a_token_is_given_once_whatever_the_server(store_address: str) -> None:
    """When two agents claim an id at two servers at once, one gets it; the other changes nothing."""
    stores = [await open_store(store_address) for _ in range(2)]
    await stores[0].create(HEADER)
    markets = [await market_on(store) for store in stores]
    profiles = [{"id": "c", "metadata": {}, "note": str(n)} for n in range(2)]
    claims = [
        market.act("c", Register(profile=profile), respond, token_digest="", new_token_digest=f"digest{n}")
        for n, (market, profile) in enumerate(zip(markets, profiles, strict=True))
    ]
    done = await asyncio.gather(*claims, return_exceptions=True)
    (winner,) = [n for n, result in enumerate(done) if isinstance(result, Outcome)]
    assert isinstance(done[1 - winner], WrongToken)
    for market in markets:
        await market.refresh()
        assert market.committed.token_digests["c"] == f"digest{winner}"
        assert market.committed.state.members["c"].profile["note"] == str(winner)
    for market, store in zip(markets, stores, strict=True):
        await market.close()
        await store.close()


async def test_a_reopened_run_continues(tmp_path: Path) -> None:
    """After a restart the state, the tokens and the digest are those of before."""
    store = await open_store(str(tmp_path / "m.db"))
    await store.create(HEADER)
    market = await market_on(store)
    await market.act("c", Register(profile={"id": "c", "metadata": {}}), respond, new_token_digest="digest")
    await market.act("c", text("c"), respond)
    again = await market_on(store)
    assert again.committed == market.committed
    assert again.committed.token_digests["c"] == "digest"
    await store.close()
