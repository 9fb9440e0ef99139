"""uvicorn, configured for Akinai."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn


class UvicornServer(uvicorn.Server):
    """A server without uvicorn's signal handlers, which would end the process before runs are closed.

    Set `should_exit` to stop it.
    """

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def uvicorn_config(app: Any, *, grace_s: int, **options: Any) -> uvicorn.Config:
    """A configuration without uvicorn's log, lifespan and headers. A stop waits `grace_s` seconds for open answers."""
    return uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=grace_s,
        **options,
    )


async def serve_until_interrupted(app: Any, sock: socket.socket) -> None:
    """Serve an app until SIGINT or SIGTERM; uvicorn logs its warnings."""
    config = uvicorn.Config(app, lifespan="off", log_level="warning", timeout_graceful_shutdown=2)
    await uvicorn.Server(config).serve([sock])
