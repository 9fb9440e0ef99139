"""The server of a market or of sessions: listens, and answers every accepted request before it stops."""

import asyncio
import gc
import logging
import os
import re
import resource
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

import uvicorn
import uvloop

from akinai.api.playbook import open_playbook
from akinai.core.errors import StoreError, UsageError
from akinai.core.ledger import Genesis
from akinai.core.stores import Books, RunHeader
from akinai.runtime.config.allowed_hosts import AllowedHosts
from akinai.runtime.config.settings import DEFAULT_STORE, prepare, setting
from akinai.runtime.play.agent_registry import HTTP_AGENT
from akinai.runtime.play.session import clock_us
from akinai.runtime.runs.planning import checked_name, expect_free, fresh_name, run_card
from akinai.server.agent_ids import fault_in
from akinai.server.app import Services, make_app, make_session_app
from akinai.server.authentication import Authentication, new_token
from akinai.server.connections import LimitedConnection
from akinai.server.event_log import log_event, logging_to_stderr
from akinai.server.log_sink import LogSink
from akinai.server.market import HostedMarket
from akinai.server.metrics import Metrics
from akinai.server.sessions.access import SessionAccess
from akinai.server.sessions.hosting import SessionHost
from akinai.server.sessions.routes import SessionServices
from akinai.stores import open_store
from akinai.worlds import load
from akinai.worlds.market import Market

KEEP_ALIVE_S = 60
GRACE_S = 30
"""How long a stop waits for requests that are being answered."""
BACKLOG = 4_096
OPEN_MARKET = {"open": True, "clock": "wall", "customers.purchases": 0, "customers.max_turns": 0}
"""A market in which anybody may register and trade as often as they like."""

Auth = Literal["open", "token"]


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """The settings of a server."""

    data: str | None = None
    """A folder with a population; None for an empty market."""
    run: str | None = None
    """The name of the run. An existing run continues."""
    store: str = "akinai.db"
    host: str = "127.0.0.1"
    port: int = 8000
    auth: Auth = "open"
    operator_token: str | None = None
    """Used with `auth="token"`; None makes one."""
    allow_host: Sequence[str] = ()
    """With `auth="open"`: names besides this machine's under which the market may be reached."""
    world: str | None = None
    """The world whose sessions are served; None for a market, beside which sessions of every world are."""
    playbooks: Sequence[str] = ()
    """Names or paths of the playbooks that are served as JSON."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of a new market, besides those of every served market."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The address and the run of a server that listens."""

    url: str
    run_id: str
    """The run of the market; empty for a server of sessions alone."""
    entries: int
    """The number of entries when it started; 0 for a new run."""
    agents: int
    operator_token: str
    """Empty when the config names it or no token is needed."""
    claims: int
    """The number of known agents that register with a token of the operator's."""


OPERATOR_TOKEN = "AKINAI_OPERATOR_TOKEN"
"""The variable of the environment that holds the operator's token."""


def serve(
    world: str | None = None,
    *,
    market: str | None = None,
    run: str | None = None,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    auth: Auth = "open",
    allow_host: Sequence[str] = (),
    playbook: Sequence[str] = (),
    ready: Callable[[ServerInfo], None] | None = None,
) -> None:
    """Serve a market, or sessions of a world, over HTTP until SIGTERM or SIGINT; as `akinai serve --help` says.

    `ready` is called when requests are taken. UsageError as for `run_server`.
    """
    address = setting("store", store, DEFAULT_STORE)
    token = os.environ.get(OPERATOR_TOKEN)
    config = ServeConfig(market, run, address, host, port, auth, token, allow_host, world=world, playbooks=playbook)
    run_server(config, ready or (lambda _: None))


def run_server(config: ServeConfig, ready: Callable[[ServerInfo], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is called when requests are taken.

    UsageError for a port that is in use, a missing folder, or a run that is no open market. StoreError at the stop when
    the store no longer keeps the run, as when its file was deleted.
    """
    _raise_file_limit()
    with logging_to_stderr(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(config, ready))


async def _serve(config: ServeConfig, ready: Callable[[ServerInfo], None]) -> None:
    async with running_server(config) as server:
        _stop_on_signals(server)
        import_module("numpy")  # otherwise the first search, and every request meanwhile, would wait for it
        _collect_garbage_less_often()
        ready(server.info)
        await server.ended()


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that runs in this event loop."""

    info: ServerInfo
    sessions: SessionHost
    hosted: HostedMarket | None
    _server: uvicorn.Server
    _task: asyncio.Task[None]

    @property
    def market(self) -> HostedMarket:
        """The market. UsageError on a server of sessions alone."""
        if self.hosted is None:
            raise UsageError("this server has no market")
        return self.hosted

    def stop(self) -> None:
        """Accept no more requests. A second call does not wait for requests that are being answered."""
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = True
        self.sessions.wake_all()
        if self.hosted is not None:
            self.hosted.wake_all()
        log_event("stopping", waiting=self.hosted.waiting if self.hosted else 0)

    async def ended(self) -> None:
        """Wait until every accepted request is answered."""
        await asyncio.shield(self._task)


@asynccontextmanager
async def running_server(config: ServeConfig) -> AsyncGenerator[RunningServer]:
    """A listening server of this event loop, which stops when the block is left. UsageError as for `serve`."""
    expect_safe(config)
    world = load(config.world) if config.world is not None else None
    for name in config.playbooks:
        open_playbook(name)  # UnknownName before anything is written
    token = (config.operator_token or new_token()) if config.auth == "token" else ""
    with listening_socket(config) as sock:
        store = await open_store(config.store)
        host = SessionHost(store, world)
        access = SessionAccess(host, tokens=config.auth == "token", operator_token=token)
        sessions = SessionServices(host, access, config.playbooks)
        serving = _serving_market if world is None else _serving_sessions
        try:
            async with serving(config, store, sock, sessions, token) as server:
                yield server
        finally:
            await store.close()


@asynccontextmanager
async def _serving_market(
    config: ServeConfig, store: Books, sock: socket.socket, sessions: SessionServices, token: str
) -> AsyncGenerator[RunningServer]:
    header = await find_or_create_run(config, store)
    metrics = Metrics()
    market, log_sink = HostedMarket(header, store, metrics=metrics), LogSink(store, header.run_id)
    await market.open()
    authentication = Authentication(market, tokens=config.auth == "token", operator_token=token)
    app = make_app(Services(market, authentication, log_sink, metrics, sessions, _hosts(config)))
    try:
        async with _listening(app, sock, sessions.host, market) as (server, task):
            head, claims = market.committed, len(authentication.claims())
            shown = "" if config.operator_token else token
            info = ServerInfo(_url(sock), header.run_id, head.seq, len(head.state.joined), shown, claims)
            facts = {"url": info.url, "entries": info.entries, "agents": info.agents}
            log_event("listening", run=header.run_id, auth=config.auth, **facts)
            yield RunningServer(info, sessions.host, market, server, task)
    finally:
        try:
            await market.close()
        except StoreError as error:
            log_event("stopped", logging.ERROR, run=header.run_id, entries=market.committed.seq, error=str(error))
            raise
        finally:
            await log_sink.close()
        log_event("stopped", run=header.run_id, entries=market.committed.seq)


@asynccontextmanager
async def _serving_sessions(
    config: ServeConfig, store: Books, sock: socket.socket, sessions: SessionServices, token: str
) -> AsyncGenerator[RunningServer]:
    app = make_session_app(sessions, Metrics(), _hosts(config))
    async with _listening(app, sock, sessions.host, None) as (server, task):
        info = ServerInfo(_url(sock), "", 0, 0, "" if config.operator_token else token, 0)
        log_event("listening", world=config.world, auth=config.auth, url=info.url)
        yield RunningServer(info, sessions.host, None, server, task)
    log_event("stopped", world=config.world)


@asynccontextmanager
async def _listening(
    app: Any, sock: socket.socket, host: SessionHost, market: HostedMarket | None
) -> AsyncGenerator[tuple[uvicorn.Server, asyncio.Task[None]]]:
    """A server that takes requests until the block is left, and its task. Sessions are closed at the end."""
    server = _UvicornServer(_uvicorn_config(app))
    task = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        yield server, task
    finally:
        server.should_exit = True
        host.wake_all()
        if market is not None:
            market.wake_all()
        await task
        await host.close_all()


def _hosts(config: ServeConfig) -> AllowedHosts | None:
    return AllowedHosts(config.allow_host) if config.auth == "open" else None


def _url(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _raise_file_limit() -> None:
    """Allow as many open files as the system permits. The soft limit is often 1,024, and each agent needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _collect_garbage_less_often() -> None:
    """Avoid pauses: present objects stay for good, and states are frozen records without cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


class _UvicornServer(uvicorn.Server):
    """Without uvicorn's signal handlers, which would end the process before the run is closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _uvicorn_config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=LimitedConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )


def _stop_on_signals(server: RunningServer) -> None:
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, server.stop)


def expect_safe(config: ServeConfig) -> None:
    """UsageError when other machines could act under any name, an allowed host is no name, or a server of sessions
    is asked for a market."""
    if config.world is not None and (config.data or config.run):
        given = "--market" if config.data else "--run"
        raise UsageError(f"{given} belongs to a market, which 'akinai serve' without a world serves; leave it out")
    for name in config.allow_host:
        if not re.fullmatch(r"[\w.-]+|[0-9a-fA-F:.]+", name):
            raise UsageError(f"--allow-host takes the name of a host, such as market.example, not {name!r:.100}")
    if config.auth == "open" and config.host not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError(
            f"on --host {config.host!r} anybody could act under any name; add --auth token, or listen on 127.0.0.1"
        )


@contextmanager
def listening_socket(config: ServeConfig) -> Generator[socket.socket]:
    """A listening socket, bound before anything is written. UsageError when it cannot be bound."""
    if not 0 <= config.port <= 65_535:
        raise UsageError(f"a port is a number from 0 to 65535, not {config.port}")
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Inherited by connections. Without it the end of an answer waits 40 ms for the client to acknowledge its head.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            sock.bind((config.host, config.port))
            sock.listen(BACKLOG)
        except OSError as error:
            where, why = f"{config.host}:{config.port}", error.strerror or error
            raise UsageError(f"cannot listen on {where}: {why}; choose another --port or --host") from error
        sock.setblocking(False)
        yield sock


async def find_or_create_run(config: ServeConfig, store: Books) -> RunHeader:
    """The named run, or a new one. UsageError for a run that cannot be served."""
    known = await store.runs()
    found = next((run for run in known if config.run is not None and run.run_id == config.run), None)
    if found is not None:
        return _resumed_header(found, config)
    header = _new_header(config, checked_name(config.run) if config.run else fresh_name(known))
    expect_free(known, [header])
    await store.create(header)
    return header


def _new_header(config: ServeConfig, name: str) -> RunHeader:
    world = Market()
    prepared = prepare(
        world, settings={**OPEN_MARKET, **config.settings, **({"data": config.data} if config.data else {})}
    )
    card = run_card(world.name, HTTP_AGENT, prepared.preset, prepared.preset_sha256)
    genesis = Genesis(world.name, 1, prepared.setup)
    for id in world.begin(genesis).roll:
        if fault := fault_in(id):
            raise UsageError(f"the id {id!r:.100} in the population {fault}")
    return RunHeader(name, genesis, agents={"agents": HTTP_AGENT}, created_at=clock_us(), card=card)


def _resumed_header(run: RunHeader, config: ServeConfig) -> RunHeader:
    if run.damage:
        raise UsageError(f"the run {run.run_id!r} is damaged: {run.damage}; choose another --run")
    if run.genesis.world != Market.name or not run.genesis.setup.get("open"):
        raise UsageError(
            f"the run {run.run_id!r} is of {run.genesis.world} and not an open market; choose another --run"
        )
    if config.data and _new_header(config, run.run_id).genesis.setup["data"] != run.genesis.setup["data"]:
        raise UsageError(
            f"the run {run.run_id!r} began with another population than {config.data!r}; leave --market out to go on "
            "with it, or choose another --run"
        )
    return replace(run, status="open", ending=None)
