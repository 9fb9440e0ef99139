"""The command that serves a run to MCP clients."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from akinai.cli import model_options as m
from akinai.cli.options import Store, argument, option, store_address, whole_number
from akinai.cli.play import Days, Preset, Sets

if TYPE_CHECKING:
    from akinai.adapters.mcp.serving import McpServer


def mcp(
    world: Annotated[str | None, argument("WORLD", "The world to play; 'akinai worlds' lists them.")] = None,
    preset: Preset = None,
    seed: Annotated[int, typer.Option(metavar="SEED", help="Seed of the run.")] = 1,
    days: Days = None,
    sets: Sets = None,
    store: Store = None,
    name: Annotated[
        str | None,
        option(
            "--name", metavar="NAME", help="Name of the run, which is called NAME-SEED.", default="two random words"
        ),
    ] = None,
    resume: Annotated[
        str | None, option("--resume", metavar="RUN", help="Go on with this run, in the place of WORLD.")
    ] = None,
    hold: Annotated[
        list[str] | None,
        option(
            "--hold",
            metavar="ACTOR",
            help="An actor, or a group of actors, that clients play. May be repeated.",
            default="all without a player of the world's own",
        ),
    ] = None,
    rest: Annotated[
        str | None, option("--rest", metavar="A", help="Who plays the others.", default="the world's first player")
    ] = None,
    max_actions: m.MaxActions = 0,
    max_repeats: m.MaxRepeats = 20,
    http: Annotated[bool, typer.Option("--http", help="Serve over streamable HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        option(
            "--port", metavar="PORT", help="Port to listen on; 0 picks a free one.", default="8000", parser=whole_number
        ),
    ] = 8000,
    auth: Annotated[
        Literal["open", "token"],
        typer.Option(help="open: anybody who reaches the port plays. token: each seat has a token of its own."),
    ] = "open",
) -> None:
    """Let an MCP client play a run: its tools are the world's actions."""
    from akinai.adapters.mcp.serving import mcp as serve

    serve(
        world, preset=preset, seed=seed, days=days, settings=sets, store=store_address(store), name=name, resume=resume,
        hold=hold, rest=rest, max_actions=max_actions, max_repeats=max_repeats, http=http, host=host, port=port,
        auth=auth, ready=_print_start,
    )  # fmt: skip


def _print_start(server: "McpServer") -> None:
    """Say where to connect, on stderr: over stdio, stdout is the client's."""
    seats = (f"{seat.actor}  {seat.url or 'stdio'}{seat.token and f'  token {seat.token}'}" for seat in server.seats)
    lines = [f"run {server.run_id}", *seats]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
