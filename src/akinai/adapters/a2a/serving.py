"""Serves a run to A2A clients until it is stopped, with an agent for each seat."""

from contextlib import suppress
from typing import Any, Unpack

from akinai.api.opening import open_session
from akinai.core.errors import MissingExtra
from akinai.core.options import part_of
from akinai.core.worlds import World
from akinai.runtime.config.addresses import resolve_store
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import OpenOptions, ServeSeatsOptions
from akinai.runtime.sync import wait


@with_options(ServeSeatsOptions)
def a2a(world: str | World[Any] | None = None, **options: Unpack[ServeSeatsOptions]) -> None:
    """Serve a run to A2A clients until SIGINT comes.

    The run is that of `akinai.open` with the same options, kept in the store of the command line. Its agent is at
    /a2a/RUN, and where several actors are held, each is at /a2a/RUN/ACTOR. A run that is over is served too: every
    action is answered so. `ready` is called when clients can connect.
    """
    try:
        from akinai.adapters import seat_paths
        from akinai.adapters.a2a.seat import CARD, make_app
        from akinai.runtime.http.front import Front, Listener, expect_safe
    except ImportError as error:
        raise MissingExtra("serving over A2A", "a2a-sdk", "a2a") from error
    host, auth, ready = options["host"], options["auth"], options["ready"]
    expect_safe(host, auth, "play")
    opened: OpenOptions = part_of(OpenOptions, {**options, "store": resolve_store(options["store"])})

    async def serve() -> None:
        with Front.at(Listener.A2A, host, options["port"]) as front:
            async with await open_session(world, opened, over=True) as session:
                seats = seat_paths.seats_at(session, front.url, "a2a", auth)
                guard = seat_paths.guard_of(seats, auth, public=CARD)
                async with front.serving(make_app(session, seats), guard) as serving:
                    if ready:
                        ready(seat_paths.SeatsServer.of(session, seats))
                    await serving.until_signal()

    with suppress(KeyboardInterrupt):
        wait(serve())
