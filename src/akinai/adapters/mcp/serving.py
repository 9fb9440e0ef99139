"""Serves a run to MCP clients until it is stopped: over stdio, or over HTTP with a path for each seat."""

import hmac
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Literal

from akinai.api.opening import aopen
from akinai.api.session import AsyncSession
from akinai.core.errors import UsageError
from akinai.core.worlds import World
from akinai.learning.playbook.errors import MissingExtra
from akinai.runtime.config.addresses import StoreRef, resolve_store
from akinai.runtime.sync import wait

try:
    import uvicorn
    from mcp.server.stdio import stdio_server

    from akinai.adapters.mcp.seat import SeatServer
except ImportError as error:
    raise MissingExtra("serving over MCP", "mcp", "mcp") from error

Auth = Literal["open", "token"]


@dataclass(frozen=True, slots=True)
class McpSeat:
    """A seat that clients can take."""

    actor: str
    url: str
    """Empty over stdio."""
    token: str
    """Sent as `Authorization: Bearer TOKEN`; empty where none is needed."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server that listens."""

    run_id: str
    seats: Sequence[McpSeat]


def mcp(
    world: str | World[Any] | None = None,
    *,
    preset: str | None = None,
    seed: int = 1,
    days: int | None = None,
    settings: Mapping[str, Any] | Sequence[str] | None = None,
    store: StoreRef = None,
    name: str | None = None,
    resume: str | None = None,
    hold: Sequence[str] | None = None,
    rest: str | None = None,
    max_actions: int = 0,
    max_repeats: int = 20,
    http: bool = False,
    host: str = "127.0.0.1",
    port: int = 8000,
    auth: Auth = "open",
    ready: Callable[[McpServer], None] | None = None,
) -> None:
    """Serve a run to MCP clients, until the client leaves (stdio) or SIGINT comes (`http`).

    The run is that of `akinai.open` with the same options, kept in the store of the command line. Over stdio a client
    plays every actor that is held; over HTTP it is at /mcp/RUN, and where several are held, each is at /mcp/RUN/ACTOR.
    `ready` is called when clients can connect.
    """
    options: dict[str, Any] = {
        "preset": preset, "seed": seed, "days": days, "settings": settings, "name": name, "resume": resume,
        "hold": list(hold) if hold else None, "rest": rest, "max_actions": max_actions, "max_repeats": max_repeats,
    }  # fmt: skip
    if auth == "token" and not http:
        raise UsageError("a program over stdio needs no token; add --http, or leave --auth out")
    if http and auth == "open" and host not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError(f"on --host {host!r} anybody could play; add --auth token, or listen on 127.0.0.1")

    async def serve() -> None:
        with _listen(host, port) if http else nullcontext() as listening:
            async with await aopen(world, store=resolve_store(store), **options) as session:
                if listening is not None:
                    await _serve_http(session, listening, host, auth, ready)
                else:
                    await _serve_stdio(session, ready)

    with suppress(KeyboardInterrupt):
        wait(serve())


def _actors(session: AsyncSession) -> Sequence[str]:
    return [actor for actor in session.held if "/" not in actor]


async def _serve_stdio(session: AsyncSession, ready: Callable[[McpServer], None] | None) -> None:
    server = SeatServer(session).server()
    if ready:
        ready(McpServer(session.id, [McpSeat(actor, "", "") for actor in _actors(session)]))
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _serve_http(
    session: AsyncSession, listening: socket.socket, host: str, auth: Auth, ready: Callable[[McpServer], None] | None
) -> None:
    address = f"http://{host}:{listening.getsockname()[1]}"
    apps: dict[str, Any] = {}
    seats: list[McpSeat] = []
    async with AsyncExitStack() as stack:
        actors = _actors(session)
        for actor in actors:
            token = secrets.token_urlsafe(24) if auth == "token" else ""
            path = f"/mcp/{session.id}" + (f"/{actor}" if len(actors) > 1 else "")
            app = SeatServer(session, actor).server().streamable_http_app(streamable_http_path=path, host=host)
            await stack.enter_async_context(app.router.lifespan_context(app))
            apps[path] = _guarded(app, token)
            seats.append(McpSeat(actor, address + path, token))
        config = uvicorn.Config(_by_path(apps), lifespan="off", log_level="warning", timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        if ready:
            ready(McpServer(session.id, seats))
        await server.serve([listening])


def _listen(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot listen on {host} port {port}: {why}; choose another") from error
    listening.listen(100)
    return listening


Application = Callable[[Any, Any, Any], Any]


def _by_path(apps: Mapping[str, Application]) -> Application:
    """An application that hands a request to the one at its path."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        app = apps.get(str(scope.get("path", "")).rstrip("/"))
        if app is None:
            await _refuse(send, 404, f"nothing is here; there is {', '.join(apps)}")
        else:
            await app(scope, receive, send)

    return application


def _guarded(app: Application, token: str) -> Application:
    """An application that answers only who has the token; everybody where it is empty."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"")
        if token and not hmac.compare_digest(sent, f"Bearer {token}".encode()):
            await _refuse(send, 401, "send the token of this seat as Authorization: Bearer TOKEN")
        else:
            await app(scope, receive, send)

    return application


async def _refuse(send: Any, status: int, why: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": why.encode()})
