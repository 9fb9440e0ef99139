"""The server of a market or of sessions: listens, and answers every accepted request before it stops."""

import asyncio
import logging
import os
import resource
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Unpack

import uvloop

from akinai.core.errors import StoreError, UsageError
from akinai.core.stores import Books
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.config.calls import with_options
from akinai.runtime.config.settings import DEFAULT_STORE, setting
from akinai.runtime.garbage import collect_less_for_good
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.connections import LimitedConnection
from akinai.runtime.http.listening import listening_socket, url_of
from akinai.runtime.http.uvicorn_server import UvicornServer, uvicorn_config
from akinai.runtime.options import ServeOptions
from akinai.server.app import Services, make_app, make_session_app
from akinai.server.authentication import Authentication, new_token
from akinai.server.event_log import log_event, logging_to_stderr
from akinai.server.log_sink import LogSink
from akinai.server.market import HostedMarket
from akinai.server.metrics import Metrics
from akinai.server.sessions.access import SessionAccess
from akinai.server.sessions.hosting import SessionHost
from akinai.server.sessions.routes import SessionServices
from akinai.server.settings import ServeConfig, ServerInfo, expect_safe, find_or_create_run
from akinai.stores import open_store
from akinai.worlds import load

OPERATOR_TOKEN = "AKINAI_OPERATOR_TOKEN"
"""The variable of the environment that holds the operator's token."""
KEEP_ALIVE_S = 60
GRACE_S = 30
"""Seconds that a stop waits for requests that are being answered."""


@with_options(ServeOptions)
def serve(world: str | None = None, **options: Unpack[ServeOptions]) -> None:
    """Serve a market, or sessions of a world, over HTTP until SIGTERM or SIGINT; as `akinai serve --help` says.

    `ready` is called when requests are taken. UsageError as for `run_server`.
    """
    address = setting("store", options["store"], DEFAULT_STORE)
    config = ServeConfig(
        options["market"], options["run"], address, options["host"], options["port"], options["auth"],
        os.environ.get(OPERATOR_TOKEN), options["allow_host"], world=world, playbooks=options["playbook"],
    )  # fmt: skip
    run_server(config, options["ready"] or (lambda _: None))


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
        _stop_on_signals(server.stop)
        import_module("numpy")  # otherwise the first search, and every request meanwhile, would wait for it
        collect_less_for_good()
        ready(server.info)
        await server.ended()


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that runs in this event loop."""

    info: ServerInfo
    sessions: SessionHost
    hosted: HostedMarket | None
    _server: UvicornServer
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
    """A server of this event loop, which stops when the block is left. UsageError as for `serve`."""
    expect_safe(config)
    world = load(config.world) if config.world is not None else None
    for name in config.playbooks:
        read_playbook(name, empty=True)  # refused before anything is written
    token = (config.operator_token or new_token()) if config.auth == "token" else ""
    with listening_socket(config.host, config.port) as sock:
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
        async with _serving_at(sock, app, sessions.host, market) as (server, task):
            head, claims = market.committed, len(authentication.claims())
            issued_token = "" if config.operator_token else token
            info = ServerInfo(url_of(sock), header.run_id, head.seq, len(head.state.joined), issued_token, claims)
            facts = {"url": info.url, "entries": info.entries, "agents": info.agents}
            log_event("listening", run=header.run_id, auth=config.auth, pid=os.getpid(), **facts)
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
    async with _serving_at(sock, app, sessions.host, None) as (server, task):
        info = ServerInfo(url_of(sock), "", 0, 0, "" if config.operator_token else token, 0)
        log_event("listening", world=config.world, auth=config.auth, url=info.url)
        yield RunningServer(info, sessions.host, None, server, task)
    log_event("stopped", world=config.world)


@asynccontextmanager
async def _serving_at(
    sock: socket.socket, app: Any, host: SessionHost, market: HostedMarket | None
) -> AsyncGenerator[tuple[UvicornServer, asyncio.Task[None]]]:
    """A server that takes requests until the block is left, and its task. Sessions are closed at the end."""
    http: Any = LimitedConnection
    server = UvicornServer(uvicorn_config(app, grace_s=GRACE_S, http=http, timeout_keep_alive=KEEP_ALIVE_S))
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


def _stop_on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop)


def _raise_file_limit() -> None:
    """Allow as many open files as the system permits. The soft limit is often 1,024, and each agent needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
