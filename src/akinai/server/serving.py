"""Serving: a run is found or begun, the socket is opened, and what was accepted is answered before it ends."""

import asyncio
import gc
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

import uvicorn
import uvloop

from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import RunHeader
from akinai.core.trace import Books
from akinai.runtime.casting import SERVED
from akinai.runtime.config import prepare
from akinai.runtime.experiment import checked_name, expect_free, fresh_name
from akinai.runtime.runs import run_card
from akinai.runtime.session import clock_us
from akinai.server.app import House, make_app
from akinai.server.door import Door, digest, new_token
from akinai.server.logbook import Logbook
from akinai.server.market import HostedMarket
from akinai.server.watching import Watching, log_to_stderr, tell
from akinai.stores import open_store
from akinai.worlds.market import Market

KEEP_ALIVE_S = 60
GRACE_S = 30
"""What a stop waits for requests that are being answered."""
BACKLOG = 4_096
OPEN = {"open": True, "clock": "wall", "customers.purchases": 0, "customers.max_turns": 0}
"""A market in which anybody may register and trade as often as they like."""

Auth = Literal["open", "token"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a server is asked to be."""

    data: str | None = None
    """A folder with a population; None is an empty market."""
    run: str | None = None
    """Its name; one that is there goes on."""
    store: str = "akinai.db"
    host: str = "127.0.0.1"
    port: int = 8000
    auth: Auth = "open"
    operator_token: str | None = None
    """Under tokens; None makes one."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of a new market, beside those of one that is served."""


@dataclass(frozen=True, slots=True)
class Listening:
    """A server that has begun to listen."""

    url: str
    run_id: str
    entries: int
    """Of a run that goes on; 0 for a new one."""
    agents: int
    operator_token: str
    """Empty where none is asked for."""


def serve(asked: Asked, ready: Callable[[Listening], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is called when requests are taken.

    UsageError for a port that is taken, a folder that is not there, or a run that is no open market.
    """
    log_to_stderr()
    _allow_many_connections()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(asked, ready))


async def _serve(asked: Asked, ready: Callable[[Listening], None]) -> None:
    async with served(asked) as one:
        _stop_on_signals(one)
        import_module("numpy")  # the first search would wait for it, and with it all that come meanwhile
        _collect_seldom()
        ready(one.listening)
        await one.ended()


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs in this event loop."""

    listening: Listening
    market: HostedMarket
    _server: uvicorn.Server
    _task: asyncio.Task[None]

    def stop(self) -> None:
        """Take no more; a second call does not wait for those who are being answered."""
        tell("stopping", waiting=self.market.waiting)
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = True
        self.market.wake_all()

    async def ended(self) -> None:
        """Wait until all that was accepted is answered and no more is taken."""
        await asyncio.shield(self._task)


@asynccontextmanager
async def served(asked: Asked) -> AsyncIterator[Served]:
    """A server of this event loop, listening; it stops when the block is left. UsageError as for `serve`."""
    expect_safe(asked)
    with _listening(asked) as sock:
        store = await open_store(asked.store)
        try:
            async with _served_run(asked, store, sock) as one:
                yield one
        finally:
            await store.close()


@asynccontextmanager
async def _served_run(asked: Asked, store: Books, sock: socket.socket) -> AsyncIterator[Served]:
    header = await find_or_begin(asked, store)
    watching = Watching()
    market, logbook = HostedMarket(header, store, watching=watching), Logbook(store, header.run_id)
    await market.open()
    token = (asked.operator_token or new_token()) if asked.auth == "token" else ""
    door = Door(market, tokens=asked.auth == "token", operator=digest(token))
    server = _Server(_config(make_app(House(market, door, logbook, watching))))
    task = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        one = Served(_listens(sock, header, market, "" if asked.operator_token else token), market, server, task)
        facts = {"url": one.listening.url, "entries": one.listening.entries, "agents": one.listening.agents}
        tell("listening", run=header.run_id, auth=asked.auth, **facts)
        yield one
    finally:
        server.should_exit = True
        market.wake_all()
        await task
        await market.close()
        await logbook.close()
        tell("stopped", run=header.run_id, entries=market.committed.seq)


def _listens(sock: socket.socket, header: RunHeader, market: HostedMarket, token: str) -> Listening:
    host, port = sock.getsockname()[:2]
    place = market.committed
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    return Listening(url, header.run_id, place.seq, len(place.state.joined), token)


def _allow_many_connections() -> None:
    """As many open files as the system lets us have: often the first bound is 1,024, and each agent is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _collect_seldom() -> None:
    """What is there now stays, and a state is made of frozen records without cycles: looking for some is a pause."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


class _Server(uvicorn.Server):
    """Signals are ours: uvicorn's handlers would end the process before the run is closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )


def _stop_on_signals(one: Served) -> None:
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, one.stop)


def expect_safe(asked: Asked) -> None:
    """UsageError when other machines could come in and take any name."""
    if asked.auth == "open" and asked.host not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError(
            f"on --host {asked.host!r} anybody could act under any name; add --auth token, or listen on 127.0.0.1"
        )


@contextmanager
def _listening(asked: Asked) -> Iterator[socket.socket]:
    """The socket, bound before anything is written."""
    if not 0 <= asked.port <= 65_535:
        raise UsageError(f"a port is a number from 0 to 65535, not {asked.port}")
    family = socket.AF_INET6 if ":" in asked.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections take it over: else the end of an answer waits 40 ms for the other side to acknowledge its head.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            sock.bind((asked.host, asked.port))
            sock.listen(BACKLOG)
        except OSError as error:
            where, why = f"{asked.host}:{asked.port}", error.strerror or error
            raise UsageError(f"cannot listen on {where}: {why}; choose another --port or --host") from error
        sock.setblocking(False)
        yield sock


async def find_or_begin(asked: Asked, store: Books) -> RunHeader:
    """The run of the name that is asked for, or a new one. UsageError for a run that cannot be served."""
    known = await store.runs()
    found = next((run for run in known if asked.run is not None and run.run_id == asked.run), None)
    if found is not None:
        return _served_before(found, asked)
    header = _new_header(asked, checked_name(asked.run) if asked.run else fresh_name(known))
    expect_free(known, [header])
    await store.create(header)
    return header


def _new_header(asked: Asked, name: str) -> RunHeader:
    world = Market()
    prepared = prepare(world, settings={**OPEN, **asked.settings, **({"data": asked.data} if asked.data else {})})
    card = run_card(world.name, SERVED, prepared.preset, prepared.preset_sha256)
    genesis = Genesis(world.name, 1, prepared.setup)
    return RunHeader(name, genesis, agents={"agents": SERVED}, created_at=clock_us(), card=card)


def _served_before(run: RunHeader, asked: Asked) -> RunHeader:
    if run.damage:
        raise UsageError(f"the run {run.run_id!r} is damaged: {run.damage}; choose another --run")
    if run.genesis.world != Market.name or not run.genesis.setup.get("open"):
        raise UsageError(
            f"the run {run.run_id!r} is of {run.genesis.world} and not an open market; choose another --run"
        )
    if asked.data and _new_header(asked, run.run_id).genesis.setup["data"] != run.genesis.setup["data"]:
        raise UsageError(
            f"the run {run.run_id!r} began with another population than {asked.data!r}; leave --market out to go on "
            "with it, or choose another --run"
        )
    return replace(run, status="open", ending=None)
