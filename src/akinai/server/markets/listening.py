"""Connections of a process: from a socket on which it listens, or from the process that accepted them."""

import asyncio
import resource
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from akinai.runtime.http.listening import url_of
from akinai.runtime.http.uvicorn_server import UvicornServer, uvicorn_config
from akinai.server.connections import LimitedConnection

KEEP_ALIVE_S = 60
GRACE_S = 30
"""Seconds that a stop waits for requests that are being answered."""


def _unchanged(app: Any) -> Any:
    return app


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's address, and how it takes connections there."""

    sockets: Sequence[socket.socket]
    """Sockets to listen on; none where another process hands over its connections."""
    url: str
    connection: Callable[..., asyncio.Protocol] = LimitedConnection
    mount: Callable[[Any], Any] = _unchanged
    """Wraps the app for this address, for example under a prefix."""

    @staticmethod
    def at(sock: socket.socket, connection: Callable[..., asyncio.Protocol] = LimitedConnection) -> "Endpoint":
        """The endpoint of a listening socket."""
        return Endpoint([sock], url_of(sock), connection)


class AdoptingServer(UvicornServer):
    """A server that also takes connections that another process accepted."""

    def __init__(self, app: Any, endpoint: Endpoint) -> None:
        http: Any = endpoint.connection
        config = uvicorn_config(endpoint.mount(app), grace_s=GRACE_S, http=http, timeout_keep_alive=KEEP_ALIVE_S)
        super().__init__(config)
        self._adoptions = set[asyncio.Task[Any]]()

    def adopt(self, sock: socket.socket, begun: bytes) -> None:
        """Serve a connection that another process accepted and of which it read `begun`; close it when stopping."""
        if self.should_exit:
            sock.close()
            return

        def protocol() -> asyncio.Protocol:
            kind: Any = self.config.http_protocol_class
            state = self.lifespan.state
            return kind(config=self.config, server_state=self.server_state, app_state=state, begun=begun)

        task = asyncio.create_task(_adopted(protocol, sock))
        self._adoptions.add(task)
        task.add_done_callback(self._adoptions.discard)


async def _adopted(protocol: Callable[[], asyncio.Protocol], sock: socket.socket) -> None:
    try:
        await asyncio.get_running_loop().connect_accepted_socket(protocol, sock)
    except OSError:
        sock.close()  # its client has gone


def raise_file_limit() -> None:
    """Allow as many open files as the system permits. The soft limit is often 1,024, and each agent needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
