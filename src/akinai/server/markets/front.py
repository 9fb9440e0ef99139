"""The process that accepts connections for many markets, and answers for what belongs to none or to all of them."""

import asyncio
import hmac
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from akinai.core.canonical import Json, keepable
from akinai.core.errors import StoreError, UsageError
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.listening import listening_socket
from akinai.runtime.runs.planning import checked_name
from akinai.server import wire
from akinai.server.authentication import Credentials, Unauthorized, digest, new_token
from akinai.server.event_log import log_event
from akinai.server.execute import Reply, read_body, refusal, reply_or_refusal
from akinai.server.markets.handover import Channel, RoutedConnection
from akinai.server.markets.listening import AdoptingServer, Endpoint
from akinai.server.markets.metrics import page_of_all
from akinai.server.markets.paths import FRONT_PATHS, market_in, root_of
from akinai.server.markets.runs import find_or_create_runs
from akinai.server.markets.settings import MOST_MARKETS, ServeConfig, ServerInfo, expect_safe
from akinai.server.markets.supervisor import Owner
from akinai.server.metrics import Metrics
from akinai.server.middleware import Middleware
from akinai.server.routing import responds, response_of
from akinai.stores import open_store

LIST_PATHS = ("/m", "/m/")


class Front:
    """The markets of a server, by name. That at `/` has the name of the config's run."""

    def __init__(self, config: ServeConfig, url: str) -> None:
        assert config.run is not None
        self.owners = dict[str, Owner]()
        self.root = config.run
        self._config, self._url = config, url
        self._making = asyncio.Lock()
        self.server = AdoptingServer(_app(self), Endpoint([], url, partial(RoutedConnection, self.route)))

    @property
    def operator_token(self) -> str:
        """The operator's token; empty where none is required."""
        return self._config.operator_token or "" if self._config.auth == "token" else ""

    @property
    def hosts(self) -> AllowedHosts | None:
        """The names that requests may be addressed to; None for any."""
        return AllowedHosts(self._config.allow_host) if self._config.auth == "open" else None

    def owner(self, path: str) -> Owner | None:
        """The owner of a path; None for a path of all markets, or of a market that is not there."""
        name = market_in(path)
        return None if path in FRONT_PATHS else self.owners.get(self.root if name is None else name)

    def route(self, path: str) -> Channel | None:
        """The way to the owner of a path; None for what this process answers."""
        owner = self.owner(path)
        return owner.channel if owner else None

    async def start(self, name: str) -> ServerInfo:
        """Start the process of a market whose run is in the store. StoreError when it does not come to serve."""
        owner = self.owners[name] = Owner(name, self._config, self._url, self.server.adopt)
        try:
            return await owner.start()
        except StoreError:
            del self.owners[name]
            raise

    async def add(self, name: str) -> None:
        """Open a market while the others are served. UsageError for a name that is no name or is another run's."""
        checked_name(name)
        async with self._making:
            if name in self.owners:
                raise UsageError(f"there is a market {name!r} already; choose another name")
            if len(self.owners) >= MOST_MARKETS:
                raise UsageError(f"this server has its {MOST_MARKETS} markets; start another server")
            await _make_runs([replace(self._config, run=name, data=None, markets={})])
            await self.start(name)

    async def stop(self) -> None:
        """End all processes; they answer and commit what they accepted."""
        await asyncio.gather(*(owner.stop() for owner in self.owners.values()))

    def expect_operator(self, request: Request) -> None:
        """Unauthorized (401) when tokens are required and this is not the operator's."""
        token = Credentials.of(request.scope["headers"]).token
        if self.operator_token and not hmac.compare_digest(digest(self.operator_token), digest(token)):
            raise Unauthorized(401, "Authorization: Bearer with the operator's token is required")


@dataclass(frozen=True, slots=True)
class RunningMarkets:
    """A server of many markets."""

    info: ServerInfo
    front: Front
    _task: asyncio.Task[None]

    def stop(self) -> None:
        """Accept no more requests."""
        self.front.server.should_exit = True
        log_event("stopping", markets=len(self.front.owners))

    async def ended(self) -> None:
        """Wait until no more requests are accepted. What was accepted is answered when the block is left."""
        await asyncio.shield(self._task)


@asynccontextmanager
async def running_markets(config: ServeConfig) -> AsyncGenerator[RunningMarkets]:
    """A listening server of many markets, each in a process of its own, until the block is left.

    UsageError as for `serve`, StoreError when a market does not come to serve.
    """
    expect_safe(config)
    for name in config.playbooks:
        read_playbook(name, empty=True)  # refused before anything is written
    token = (config.operator_token or new_token()) if config.auth == "token" else ""
    with listening_socket(config.host, config.port) as sock:
        further = [replace(config, run=name, data=folder) for name, folder in config.markets.items()]
        names = await _make_runs([config, *further])
        front = Front(replace(config, run=names[0], operator_token=token or None), Endpoint.at(sock).url)
        try:
            started = await asyncio.gather(*(front.start(name) for name in names), return_exceptions=True)
            infos = [_expect_info(outcome) for outcome in started]
            task = asyncio.create_task(front.server.serve(sockets=[sock]))
            issued_token, claims = "" if config.operator_token else token, sum(info.claims for info in infos)
            info = replace(infos[0], operator_token=issued_token, claims=claims, markets=tuple(names))
            log_event("listening", url=info.url, auth=config.auth, markets=names)
            try:
                yield RunningMarkets(info, front, task)
            finally:
                front.server.should_exit = True
                await asyncio.gather(task, front.stop())
        finally:
            await front.stop()
    log_event("stopped", markets=names)


def _expect_info(outcome: ServerInfo | BaseException) -> ServerInfo:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


async def _make_runs(configs: list[ServeConfig]) -> list[str]:
    """The names of the runs, which are made where they are not there. UsageError before any is made."""
    store = await open_store(configs[0].store)
    try:
        return [header.run_id for header in await find_or_create_runs(configs, store)]
    finally:
        await store.close()


def _app(front: Front) -> Middleware:
    """The routes that belong to no market, or to all of them."""
    app = FastAPI(title="Akinai markets", version="1", redirect_slashes=False, docs_url=None, redoc_url=None)

    async def markets() -> Response:
        """The markets and how each is doing."""
        items = [_describe(owner) for owner in front.owners.values()]
        return response_of(Reply(200, wire.encode(wire.listing(items, len(items), 0, None))))

    @responds(reply_or_refusal)
    async def add(request: Request) -> Reply:
        """Open a market."""
        return await _add(front, request)

    for path in LIST_PATHS:
        app.get(path)(markets)
        app.post(path)(add)

    @app.get("/metrics")
    async def metrics(request: Request) -> Response:
        """Figures of all markets for Prometheus."""
        try:
            front.expect_operator(request)
        except Unauthorized as error:
            return response_of(refusal(error.status, error.why))
        return Response(await page_of_all(front.owners, front.operator_token), media_type=CONTENT_TYPE_LATEST)

    async def elsewhere(request: Request, _: Exception) -> Response:
        """The answer for a market that is down, and for what is not there."""
        path: str = request.scope["path"]
        if (owner := front.owner(path)) is not None:
            why = f"The market {owner.name!r} is being started again; try again in a second"
            return response_of(refusal(503, why, "market_unavailable"))
        requested, name = keepable(f"{request.method} {path}"), market_in(path)
        why = f"there is no {requested:.200}" if name is None else f"there is no market {keepable(name)!r:.100}"
        return response_of(refusal(404, f"{why}; GET /m lists the markets"))

    for status in (404, 405):
        app.add_exception_handler(status, elsewhere)
    return Middleware(app, None, Metrics(), front.hosts)


async def _add(front: Front, request: Request) -> Reply:
    front.expect_operator(request)
    body = wire.read_json(await read_body(request.receive))
    name: Any = cast("dict[str, Any]", body).get("name") if isinstance(body, dict) else None
    if not isinstance(name, str):
        return refusal(422, 'the body is {"name": NAME}, the name of the new market')
    try:
        await front.add(name)
    except UsageError as error:
        return refusal(422, str(error))
    return Reply(201, wire.encode(_describe(front.owners[name])))


def _describe(owner: Owner) -> dict[str, Json]:
    return {"name": owner.name, "path": root_of(owner.name), "status": owner.status, "starts": owner.starts}
