"""The process of one market: `python -m akinai.server.markets.worker FD`, started by the server.

Its settings come as a line of JSON from stdin, its connections over the socket FD. It says on stdout that it serves.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any

import uvloop

from akinai.core.errors import AkinaiError
from akinai.runtime.garbage import collect_less_for_good
from akinai.server.event_log import logging_to_stderr
from akinai.server.execute import Receive, refusal
from akinai.server.markets.handover import Channel, RoutedConnection
from akinai.server.markets.listening import Endpoint, raise_file_limit
from akinai.server.markets.paths import FRONT_PATHS, market_in, root_of
from akinai.server.markets.settings import ServeConfig
from akinai.server.middleware import App, Scope, Send
from akinai.server.serving import running_server


class Mounted:
    """The app of a market under `/m/NAME`, and of that at `/` under both."""

    def __init__(self, app: App, owns: "Paths") -> None:
        self._app, self._owns = app, owns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if not self._owns(path):  # it came behind another request whose answer it did not await
            reply = refusal(421, "This connection is another market's; use one of its own", "other_market")
            headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            await send({"type": "http.response.body", "body": reply.body})
            return
        if market_in(path) is not None:
            own = path[len(self._owns.root) :] or "/"
            scope = {**scope, "path": own, "raw_path": own.encode(), "root_path": self._owns.root}
        await self._app(scope, receive, send)


class Paths:
    """The paths of a market."""

    def __init__(self, name: str, *, at_root: bool) -> None:
        self.root, self._name, self._at_root = root_of(name), name, at_root

    def __call__(self, path: str) -> bool:
        name = market_in(path)
        return name == self._name if name is not None else self._at_root and path not in FRONT_PATHS


async def _serve(settings: Mapping[str, Any], sock: socket.socket) -> None:
    config = ServeConfig(**settings["config"])
    assert config.run is not None
    paths = Paths(config.run, at_root=settings["at_root"])
    channels = list[Channel]()

    def route(path: str) -> Channel | None:
        return None if paths(path) else channels[0]

    endpoint = Endpoint([], settings["url"], partial(RoutedConnection, route), lambda app: Mounted(app, paths))
    async with running_server(config, endpoint) as server:
        channels.append(Channel(sock, server.adopt, server.stop))  # without the server there is nothing to serve
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, server.stop)
        loop.add_signal_handler(signal.SIGINT, lambda: None)
        import_module("numpy")  # otherwise the first search, and every request meanwhile, would wait for it
        collect_less_for_good()
        _report(asdict(server.info))
        await server.ended()


def _report(document: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main() -> int:
    """Own a market until SIGTERM, or until the server has ended."""
    raise_file_limit()
    settings: Any = json.loads(sys.stdin.readline())
    try:
        with (
            socket.socket(fileno=int(sys.argv[1])) as sock,
            logging_to_stderr(),
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(settings, sock))
    except AkinaiError as error:
        _report({"error": str(error)})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
