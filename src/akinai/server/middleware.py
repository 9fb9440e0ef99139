"""The middleware that every request of an app passes first: answers the hot route, counts answers."""

from collections.abc import MutableMapping
from typing import Any

from akinai.runtime.http.front import App, Receive, Scope, Send
from akinai.server.execute import EXECUTE_PATH, ExecuteRoute, Reply
from akinai.server.metrics import Metrics

LOG_PATH = "/logs/create"
FIXED_PATHS = frozenset({
    EXECUTE_PATH, LOG_PATH, "/actions/protocol", "/agents", "/agents/register", "/docs", "/health", "/logs",
    "/playbooks", "/sessions",
})  # fmt: skip
"""Paths that may be requested with a slash at the end."""


class Middleware:
    """Answers the hot route and passes all other requests to the app."""

    def __init__(self, app: App, execute: ExecuteRoute | None, metrics: Metrics) -> None:
        """`execute` is None on a server without a market."""
        self._app, self.execute, self._metrics = app, execute, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        path: str = scope["path"]
        if path[-1:] == "/" and path[:-1] in FIXED_PATHS:
            path = path[:-1]
            scope = {**scope, "path": path, "raw_path": path.encode()}
        if self.execute is not None and path == EXECUTE_PATH and scope["method"] == "POST":
            await self._answer(send, await self.execute(scope["headers"], receive))
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
