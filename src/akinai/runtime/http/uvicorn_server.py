"""uvicorn as Akinai runs it."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn


class UvicornServer(uvicorn.Server):
    """Without uvicorn's signal handlers, which would end the process before runs are closed.

    Set `should_exit` to stop it.
    """

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def uvicorn_config(app: Any, *, grace_s: int, **options: Any) -> uvicorn.Config:
    """Without a log, a lifespan or headers of uvicorn's own. A stop waits `grace_s` seconds for unfinished answers."""
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
    """Serve an app alone until SIGINT or SIGTERM; uvicorn's own log says what goes wrong."""
    config = uvicorn.Config(app, lifespan="off", log_level="warning", timeout_graceful_shutdown=2)
    await uvicorn.Server(config).serve([sock])
