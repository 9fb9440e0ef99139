"""Serves a run to A2A clients until it is stopped, with an agent for each seat."""

from contextlib import suppress
from typing import Any, Unpack

from akinai.adapters import seat_paths
from akinai.adapters.seat_paths import Application, SeatsServer
from akinai.api.opening import aopen
from akinai.core.errors import MissingExtra
from akinai.core.options import part_of
from akinai.core.worlds import World
from akinai.runtime.config.addresses import resolve_store
from akinai.runtime.config.calls import with_options
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.listening import listening_socket, url_of
from akinai.runtime.options import OpenOptions, ServeSeatsOptions
from akinai.runtime.sync import wait


@with_options(ServeSeatsOptions)
def a2a(world: str | World[Any] | None = None, **options: Unpack[ServeSeatsOptions]) -> None:
    """Serve a run to A2A clients until SIGINT comes.

    The run is that of `akinai.open` with the same options, kept in the store of the command line. Its agent is at
    /a2a/RUN, and where several actors are held, each is at /a2a/RUN/ACTOR. `ready` is called when clients can connect.
    """
    try:
        from akinai.adapters.a2a.seat import make_app
        from akinai.runtime.http.uvicorn_server import serve_until_interrupted
    except ImportError as error:
        raise MissingExtra("serving over A2A", "a2a-sdk", "a2a") from error
    host, auth, ready = options["host"], options["auth"], options["ready"]
    seat_paths.expect_safe(host, auth)
    opened = part_of(OpenOptions, {**options, "store": resolve_store(options["store"])})

    async def serve() -> None:
        with listening_socket(host, options["port"]) as sock:
            async with await aopen(world, **opened) as session:
                seats = seat_paths.seats_at(session, url_of(sock, host), "a2a", auth)
                app: Application = make_app(session, seats)
                if auth == "open":
                    app = _from_this_machine(app)
                if ready:
                    ready(SeatsServer(session.id, seats))
                await serve_until_interrupted(app, sock)

    with suppress(KeyboardInterrupt):
        wait(serve())


def _from_this_machine(app: Application) -> Application:
    """An application that refuses the Host and Origin of foreign pages."""
    hosts = AllowedHosts()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        why = hosts.refuse(scope.get("headers", ()))
        await (seat_paths.refuse(send, 403, why) if why else app(scope, receive, send))

    return application
