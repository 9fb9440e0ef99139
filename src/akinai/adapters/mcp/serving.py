"""Serves a run to MCP clients until it is stopped: over stdio, or over HTTP with a path for each seat."""

from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext, suppress
from typing import Any, Unpack
from urllib.parse import urlsplit

from akinai import worlds
from akinai.api.opening import open_session, plan_session
from akinai.api.seat import Seat, own_actors
from akinai.api.session import AsyncSession
from akinai.core.canonical import short_digest
from akinai.core.errors import MissingExtra, UsageError
from akinai.core.options import part_of
from akinai.core.worlds import World
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.opening import read_playbook
from akinai.runtime.config.addresses import resolve_store
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import McpOptions, OpenOptions
from akinai.runtime.play.agent_registry import HELD, SESSION_AGENT
from akinai.runtime.sync import wait

try:
    from mcp.server.stdio import stdio_server

    from akinai.adapters import seat_paths
    from akinai.adapters.mcp.seat import SeatServer
    from akinai.adapters.seat_paths import SeatAddress, SeatsServer
    from akinai.runtime.http.front import Auth, Front, Listener, expect_safe
except ImportError as error:
    raise MissingExtra("serving over MCP", "mcp", "mcp") from error


@with_options(McpOptions)
def mcp(world: str | World[Any] | None = None, **options: Unpack[McpOptions]) -> None:
    """Serve a run to MCP clients, until the client leaves (stdio) or SIGINT comes (`http`).

    The run is that of `akinai.open` with the same options, kept in the store of the command line. Over stdio a client
    plays every actor that is held, and without a `name` the same options go on with the same run, since many clients
    start their server anew for each conversation or call. Over HTTP it is at /mcp/RUN, and where several actors are
    held, each is at /mcp/RUN/ACTOR. A run that is over is served too: every action is answered so.
    `playbook` is a resource that clients may read. `ready` is called when clients can connect.
    """
    http, playbook = options["http"], options["playbook"]
    host, auth, ready = options["host"], options["auth"], options["ready"]
    opened: OpenOptions = part_of(OpenOptions, {**options, "store": resolve_store(options["store"])})
    if auth == "token" and not http:
        raise UsageError("a program over stdio needs no token; add --http, or leave --auth out")
    if http:
        expect_safe(host, auth, "play")

    if world is not None and opened["name"] is None and not http:
        opened["name"] = _stdio_name(world, opened)
    bullets = None if playbook is None else read_playbook(playbook, empty=True)

    async def serve() -> None:
        with Front.at(Listener.MCP, host, options["port"]) if http else nullcontext() as front:
            async with await open_session(world, opened, over=True) as session:
                if front is not None:
                    await _serve_http(session, front, host, auth, bullets, ready)
                else:
                    await _serve_stdio(session, bullets, ready)

    with suppress(KeyboardInterrupt):
        wait(serve())


def _stdio_name(world: str | World[Any], options: OpenOptions) -> str:
    """The name of the run that servers with these options play, one after the other."""
    loaded = worlds.load(world) if isinstance(world, str) else world
    header = plan_session(loaded, SESSION_AGENT, options).header
    played = [header.genesis.settings_digest, header.card[HELD], header.agent, header.model, header.label]
    limits = [options["max_actions"], options["max_repeats"]]
    return f"mcp-{loaded.name.partition('@')[0]}-{short_digest([*played, *limits])[:6]}"


async def _serve_stdio(
    session: AsyncSession, playbook: Playbook | None, ready: Callable[[SeatsServer], None] | None
) -> None:
    server = SeatServer(Seat(session), playbook=playbook).server()
    if ready:
        ready(SeatsServer.of(session, [SeatAddress(actor, "", "") for actor in own_actors(session)]))
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _serve_http(
    session: AsyncSession,
    front: Front,
    host: str,
    auth: Auth,
    playbook: Playbook | None,
    ready: Callable[[SeatsServer], None] | None,
) -> None:
    apps: dict[str, Any] = {}
    addresses = seat_paths.seats_at(session, front.url, "mcp", auth)
    async with AsyncExitStack() as stack:
        for address in addresses:
            path = urlsplit(address.url).path
            server = SeatServer(Seat(session, address.actor), playbook=playbook).server()
            app = server.streamable_http_app(streamable_http_path=path, host=host)
            await stack.enter_async_context(app.router.lifespan_context(app))
            apps[path] = app
        guard = seat_paths.guard_of(addresses, auth)
        async with front.serving(seat_paths.by_path(apps), guard) as serving:
            if ready:
                ready(SeatsServer.of(session, addresses))
            await serving.until_signal()
