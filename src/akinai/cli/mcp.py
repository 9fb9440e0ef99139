"""The commands that serve a run's seats to clients of other protocols: MCP and A2A."""

import sys
from typing import TYPE_CHECKING, Annotated, Unpack, cast

from akinai.cli.options import argument, store_address, with_flags
from akinai.runtime.options import McpOptions, ServeSeatsOptions

if TYPE_CHECKING:
    from akinai.adapters.seat_paths import SeatsServer

WorldName = Annotated[str | None, argument("WORLD", "The world to play; 'akinai worlds' lists them.")]


@with_flags(McpOptions)
def mcp(world: WorldName = None, **options: Unpack[McpOptions]) -> None:
    """Let an MCP client play a run: its tools are the world's actions."""
    from akinai.adapters.mcp.serving import mcp as serve

    serve(world, **{**options, "store": store_address(cast("str | None", options["store"])), "ready": _print_start})


@with_flags(ServeSeatsOptions)
def a2a(world: WorldName = None, **options: Unpack[ServeSeatsOptions]) -> None:
    """Let A2A clients play a run: each of its seats is an agent whose skills are the world's actions."""
    from akinai.adapters.a2a.serving import a2a as serve

    serve(world, **{**options, "store": store_address(cast("str | None", options["store"])), "ready": _print_start})


def _print_start(server: "SeatsServer") -> None:
    """Say where to connect, on stderr: over stdio, stdout is the client's."""
    seats = (f"{seat.actor}  {seat.url or 'stdio'}{seat.token and f'  token {seat.token}'}" for seat in server.seats)
    lines = [f"run {server.run_id}", *seats]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
