"""The socket on which a server listens, and its address."""

import socket
from collections.abc import Generator
from contextlib import contextmanager

from akinai.core.errors import UsageError

BACKLOG = 4_096
"""Most connections that wait to be accepted."""


@contextmanager
def listening_socket(host: str, port: int) -> Generator[socket.socket]:
    """A listening socket that is closed on exit. Port 0 picks a free one. UsageError if it cannot be bound."""
    if not 0 <= port <= 65_535:
        raise UsageError(f"a port is a number from 0 to 65535, not {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Inherited by connections. Without it the end of an answer waits 40 ms for the client to acknowledge its head.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            sock.bind((host, port))
            sock.listen(BACKLOG)
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"cannot listen on {host}:{port}: {why}; choose another --port or --host") from error
        sock.setblocking(False)
        yield sock


def url_of(sock: socket.socket, host: str | None = None) -> str:
    """The URL of a listening socket, without a path; `host` is the name to show in place of its own."""
    bound, port = sock.getsockname()[:2]
    name = host or bound
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"
