"""The commands that serve a run's seats to clients of other protocols: MCP and A2A."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from akinai.cli import model_options as m
from akinai.cli.options import Store, argument, option, store_address, whole_number
from akinai.cli.play import Days, Preset, Sets

if TYPE_CHECKING:
    from akinai.adapters.seat_paths import SeatsServer

WorldName = Annotated[str | None, argument("WORLD", "The world to play; 'akinai worlds' lists them.")]
Seed = Annotated[int, typer.Option(metavar="SEED", help="Seed of the run.")]
Name = Annotated[
    str | None,
    option("--name", metavar="NAME", help="Name of the run, which is called NAME-SEED.", default="two random words"),
]
Resume = Annotated[str | None, option("--resume", metavar="RUN", help="Go on with this run, in the place of WORLD.")]
Hold = Annotated[
    list[str] | None,
    option(
        "--hold",
        metavar="ACTOR",
        help="An actor, or a group of actors, that clients play. May be repeated.",
        default="all without a player of the world's own",
    ),
]
Rest = Annotated[
    str | None, option("--rest", metavar="A", help="Who plays the others.", default="the world's first player")
]
Host = Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")]
Port = Annotated[
    int,
    option(
        "--port", metavar="PORT", help="Port to listen on; 0 picks a free one.", default="8000", parser=whole_number
    ),
]
Auth = Annotated[
    Literal["open", "token"],
    typer.Option(help="open: anybody who reaches the port plays. token: each seat has a token of its own."),
]


def mcp(
    world: WorldName = None,
    preset: Preset = None,
    seed: Seed = 1,
    days: Days = None,
    sets: Sets = None,
    store: Store = None,
    name: Name = None,
    resume: Resume = None,
    hold: Hold = None,
    rest: Rest = None,
    max_actions: m.MaxActions = 0,
    max_repeats: m.MaxRepeats = 20,
    playbook: Annotated[
        Path | None,
        option("--playbook", metavar="FILE", help="A playbook that clients may read as a resource.", default="none"),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over streamable HTTP instead of stdio.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    auth: Auth = "open",
) -> None:
    """Let an MCP client play a run: its tools are the world's actions."""
    from akinai.adapters.mcp.serving import mcp as serve

    serve(
        world, preset=preset, seed=seed, days=days, settings=sets, store=store_address(store), name=name, resume=resume,
        hold=hold, rest=rest, max_actions=max_actions, max_repeats=max_repeats, playbook=playbook, http=http,
        host=host, port=port, auth=auth, ready=_print_start,
    )  # fmt: skip


def a2a(
    world: WorldName = None,
    preset: Preset = None,
    seed: Seed = 1,
    days: Days = None,
    sets: Sets = None,
    store: Store = None,
    name: Name = None,
    resume: Resume = None,
    hold: Hold = None,
    rest: Rest = None,
    max_actions: m.MaxActions = 0,
    max_repeats: m.MaxRepeats = 20,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    auth: Auth = "open",
) -> None:
    """Let A2A clients play a run: each of its seats is an agent whose skills are the world's actions."""
    from akinai.adapters.a2a.serving import a2a as serve

    serve(
        world, preset=preset, seed=seed, days=days, settings=sets, store=store_address(store), name=name, resume=resume,
        hold=hold, rest=rest, max_actions=max_actions, max_repeats=max_repeats, host=host, port=port, auth=auth,
        ready=_print_start,
    )  # fmt: skip


def _print_start(server: "SeatsServer") -> None:
    """Say where to connect, on stderr: over stdio, stdout is the client's."""
    seats = (f"{seat.actor}  {seat.url or 'stdio'}{seat.token and f'  token {seat.token}'}" for seat in server.seats)
    lines = [f"run {server.run_id}", *seats]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
