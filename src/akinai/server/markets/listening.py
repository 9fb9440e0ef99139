"""How a process takes connections: from a socket on which it listens, or from the process that accepted them."""

import asyncio
import gc
import resource
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import uvicorn

from akinai.core.errors import UsageError
from akinai.server.connections import LimitedConnection
from akinai.server.markets.settings import ServeConfig

KEEP_ALIVE_S = 60
GRACE_S = 30
"""How long a stop waits for requests that are being answered."""
BACKLOG = 4_096


def _unchanged(app: Any) -> Any:
    return app


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is."""

    sockets: Sequence[socket.socket]
    """On which it listens; none where it takes connections from another process."""
    url: str
    connection: Callable[..., asyncio.Protocol] = LimitedConnection
    mount: Callable[[Any], Any] = _unchanged
    """What the app is there, such as an app under a prefix."""

    @staticmethod
    def at(sock: socket.socket, connection: Callable[..., asyncio.Protocol] = LimitedConnection) -> "Place":
        """The address of a socket."""
        host, port = sock.getsockname()[:2]
        return Place([sock], f"http://{f'[{host}]' if ':' in host else host}:{port}", connection)


class UvicornServer(uvicorn.Server):
    """Without uvicorn's signal handlers, which would end the process before the run is closed."""

    def __init__(self, app: Any, place: Place) -> None:
        super().__init__(_uvicorn_config(place.mount(app), place))
        self._adoptions = set[asyncio.Task[Any]]()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

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


def _uvicorn_config(app: Any, place: Place) -> uvicorn.Config:
    connection: Any = place.connection
    return uvicorn.Config(
        app,
        http=connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
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


def raise_file_limit() -> None:
    """Allow as many open files as the system permits. The soft limit is often 1,024, and each agent needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def collect_garbage_less_often() -> None:
    """Avoid pauses: present objects stay for good, and states are frozen records without cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
