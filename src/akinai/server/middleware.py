"""What every request passes first: the check of its Host and Origin, the hot route, and the count of answers."""

import ipaddress
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from akinai.server.execute import EXECUTE_PATH, ExecuteRoute, Headers, Receive, Reply, refusal
from akinai.server.metrics import Metrics

LOG_PATH = "/logs/create"
FIXED_PATHS = frozenset(
    {EXECUTE_PATH, LOG_PATH, "/actions/protocol", "/agents", "/agents/register", "/docs", "/health", "/logs"}
)
"""Paths that may be requested with a slash at the end."""

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class AllowedHosts:
    """The names under which an open market is reached: those of this machine, and the names that its operator gives.

    A browser that visits a foreign page sends that page's name: as the Origin of a request to another server, or as the
    Host after its name was pointed at this machine.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {"localhost", *(name.lower() for name in names)}
        self._allows = lru_cache(100)(self._judge)  # a client sends the same names with each of its requests

    def refuse(self, headers: Headers) -> str | None:
        """Why a request is refused; None when it is not."""
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._allows(f"//{hosts[0]}"):
            return (
                f"The Host {', '.join(hosts)!r:.100} is not this machine; the operator may allow it with --allow-host"
            )
        for origin in (value.decode("latin-1") for name, value in headers if name == b"origin"):
            if not self._allows(origin):
                return f"The Origin {origin!r:.100} is a foreign page; the operator may allow it (--allow-host)"
        return None

    def _judge(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            name = parts.hostname or ""
            plain = "@" not in parts.netloc and not (parts.path or parts.query or parts.fragment)
            return plain and (name in self._names or ipaddress.ip_address(name).is_loopback)
        except ValueError:
            return False


class Middleware:
    """Answers the hot route and passes all other requests to the app. Without `hosts` any Host and Origin will do."""

    def __init__(self, app: App, execute: ExecuteRoute, metrics: Metrics, hosts: AllowedHosts | None) -> None:
        self._app, self._execute, self._metrics, self._hosts = app, execute, metrics, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        path: str = scope["path"]
        if path[-1:] == "/" and path[:-1] in FIXED_PATHS:
            path = path[:-1]
            scope = {**scope, "path": path, "raw_path": path.encode()}
        headers: Headers = scope["headers"]
        if self._hosts and (why := self._hosts.refuse(headers)):
            await self._answer(send, refusal(403, why, "foreign_host"))
        elif path == EXECUTE_PATH and scope["method"] == "POST":
            await self._answer(send, await self._execute(headers, receive))
        else:
            await self._app(scope, receive, self._counting(send))

    async def _answer(self, send: Send, reply: Reply) -> None:
        self._metrics.answered(reply.status)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(reply.body)).encode())]
        if reply.headers:
            headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _counting(self, send: Send) -> Send:
        """A `send` that counts the answer in the metrics."""

        async def counting(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answered(message["status"])
            await send(message)

        return counting
