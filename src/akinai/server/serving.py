"""The server of a market or of sessions: listens, and answers every accepted request before it stops."""

import asyncio
import logging
import os
import resource
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Unpack

import uvloop

from akinai.core.errors import StoreError, UsageError
from akinai.core.stores import Books
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.config.calls import with_options
from akinai.runtime.config.settings import DEFAULT_STORE, setting
from akinai.runtime.garbage import collect_less_for_good
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.front import Front, Guard, Listener, Serving
from akinai.runtime.options import ServeOptions
from akinai.runtime.seal import load_optional
from akinai.server.app import Services, make_app, make_session_app
from akinai.server.authentication import Authentication, new_token
from akinai.server.event_log import log_event, logging_to_stderr
from akinai.server.log_sink import LogSink
from akinai.server.market import HostedMarket
from akinai.server.metrics import Metrics
from akinai.server.middleware import Middleware
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
        key=options["key"],
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
        import_module("numpy")  # otherwise the first search, and every request meanwhile, would wait for it
        collect_less_for_good()
        ready(server.info)
        await server.until_signal()


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that runs in this event loop."""

    info: ServerInfo
    sessions: SessionHost
    hosted: HostedMarket | None
    _serving: Serving

    @property
    def market(self) -> HostedMarket:
        """The market. UsageError on a server of sessions alone."""
        if self.hosted is None:
            raise UsageError("this server has no market")
        return self.hosted

    def stop(self) -> None:
        """Accept no more requests. A second call does not wait for requests that are being answered."""
        self._serving.stop()
        self.sessions.wake_all()
        if self.hosted is not None:
            self.hosted.wake_all()
        log_event("stopping", waiting=self.hosted.waiting if self.hosted else 0)

    async def ended(self) -> None:
        """Wait until every accepted request is answered."""
        await self._serving.ended()

    async def until_signal(self) -> None:
        """Serve until SIGTERM or SIGINT, and until every accepted request is answered."""
        await self._serving.until_signal(self.stop)


@asynccontextmanager
async def running_server(config: ServeConfig) -> AsyncGenerator[RunningServer]:
    """A server of this event loop, which stops when the block is left. UsageError as for `serve`."""
    expect_safe(config)
    world = load(config.world) if config.world is not None else None
    for name in config.playbooks:
        read_playbook(name, empty=True)  # refused before anything is written
    key = load_optional(config.key)
    token = (config.operator_token or new_token()) if config.auth == "token" else ""
    listener = Listener.MARKET if world is None else Listener.SESSIONS
    with Front.at(listener, config.host, config.port) as front:
        store = await open_store(config.store)
        host = SessionHost(store, world, key=key)
        access = SessionAccess(host, tokens=config.auth == "token", operator_token=token)
        sessions = SessionServices(host, access, config.playbooks)
        serving = _serving_market if world is None else _serving_sessions
        try:
            async with serving(config, store, front, sessions, token) as server:
                yield server
        finally:
            await store.close()


@asynccontextmanager
async def _serving_market(
    config: ServeConfig, store: Books, front: Front, sessions: SessionServices, token: str
) -> AsyncGenerator[RunningServer]:
    header = await find_or_create_run(config, store)
    metrics = Metrics()
    market, log_sink = HostedMarket(header, store, metrics=metrics), LogSink(store, header.run_id)
    await market.open()
    authentication = Authentication(market, tokens=config.auth == "token", operator_token=token)
    app = make_app(Services(market, authentication, log_sink, metrics, sessions))
    try:
        async with _serving_at(front, app, config, sessions.host, market) as serving:
            head, claims = market.committed, len(authentication.claims())
            issued_token = "" if config.operator_token else token
            info = ServerInfo(front.url, header.run_id, head.seq, len(head.state.joined), issued_token, claims)
            facts = {"url": info.url, "entries": info.entries, "agents": info.agents}
            log_event("listening", run=header.run_id, auth=config.auth, pid=os.getpid(), **facts)
            yield RunningServer(info, sessions.host, market, serving)
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
    config: ServeConfig, store: Books, front: Front, sessions: SessionServices, token: str
) -> AsyncGenerator[RunningServer]:
    app = make_session_app(sessions, Metrics())
    async with _serving_at(front, app, config, sessions.host, None) as serving:
        info = ServerInfo(front.url, "", 0, 0, "" if config.operator_token else token, 0)
        log_event("listening", world=config.world, auth=config.auth, url=info.url)
        yield RunningServer(info, sessions.host, None, serving)
    log_event("stopped", world=config.world)


@asynccontextmanager
async def _serving_at(
    front: Front, app: Middleware, config: ServeConfig, host: SessionHost, market: HostedMarket | None
) -> AsyncGenerator[Serving]:
    """A server that takes requests until the block is left. Sessions are closed at the end.

    Its routes count bodies and check tokens themselves: whose token it is stands in the ledger.
    """
    hosts = AllowedHosts(config.allow_host, pages=config.allow_host) if config.auth == "open" else None
    guard = Guard(hosts, max_body_bytes=None)
    async with front.serving(app, guard, hot=app.execute, grace_s=GRACE_S, keep_alive_s=KEEP_ALIVE_S) as serving:
        try:
            yield serving
        finally:
            serving.server.should_exit = True
            host.wake_all()
            if market is not None:
                market.wake_all()
            await serving.ended()
            await host.close_all()


def _raise_file_limit() -> None:
    """Allow as many open files as the system permits. The soft limit is often 1,024, and each agent needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
