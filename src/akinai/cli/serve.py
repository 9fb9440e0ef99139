"""Commands that serve: a market or sessions of a world over HTTP, a game in a folder, seats over MCP and A2A."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

from akinai.cli.options import argument, fill_in_place, with_flags
from akinai.cli.output import command_line, print_next_steps, print_page, print_sentence
from akinai.core.errors import UsageError
from akinai.runtime.options import FolderOptions, McpOptions, ServeOptions, ServeSeatsOptions

if TYPE_CHECKING:
    from akinai.adapters.seat_paths import SeatsServer
    from akinai.server.folder.serving import GameServer
    from akinai.server.serving import ServerInfo

WorldName = Annotated[str | None, argument("WORLD", "The world to play; 'akinai worlds' lists them.")]
ServedWorld = Annotated[
    str | None, argument("WORLD", "Serve sessions of this world instead of a market; 'akinai worlds' lists them.")
]


@with_flags(ServeOptions)
def serve(world: ServedWorld = None, **options: Unpack[ServeOptions]) -> None:
    """Serve a market over HTTP, where anybody's agents can register and trade; or sessions of a world.

    Without WORLD the server is a market, and has sessions of every world beside it.
    """
    from akinai.report.language import translate_sentence

    try:
        from akinai.server.event_log import write_within
        from akinai.server.serving import serve as serve_market
    except ImportError as error:
        if (error.name or "").startswith("akinai"):  # a fault of ours, which no extra mends
            raise
        raise UsageError(
            f'serving needs more than is installed ({error}); pip install "akinai[server]" brings it'
        ) from error
    store = fill_in_place(options)

    def print_start(server: "ServerInfo") -> None:
        words = [world] if world else ["--run", server.run_id]
        words += _listening_words(options["host"], options["port"], options["auth"], options["allow_host"])
        _print_start(server, command_line(store, "serve", *words), world)

    serve_market(world, **{**options, "ready": print_start})
    write_within(sys.stdout, f"\n{translate_sentence('stopped; all that was answered is kept')}\n")


def _listening_words(host: str, port: int, auth: str, allow_host: Sequence[str]) -> list[str]:
    """The flags that say where the server listens and whom it admits, without those that have their default."""
    flags = {"--host": host, "--port": str(port), "--auth": auth}
    defaults = {"--host": "127.0.0.1", "--port": "8000", "--auth": "open"}
    words = [word for flag, value in flags.items() if value != defaults[flag] for word in (flag, value)]
    return words + [word for name in allow_host for word in ("--allow-host", name)]


def _print_start(server: "ServerInfo", resume: str, world: str | None) -> None:
    """Print the address and commands to try next. Nobody need read it: the server serves all the same."""
    try:
        if world is None:
            _print_address(server, resume)
        else:
            _print_sessions(server, resume, world)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _print_sessions(server: "ServerInfo", again: str, world: str) -> None:
    print_sentence(f"sessions of {world} on {server.url}")
    if server.operator_token:
        print_sentence(f"operator's token, shown once: {server.operator_token}")
    print_next_steps(
        {
            f"curl -X POST {server.url}/sessions": "open a session",
            f"curl {server.url}/openapi.json": "every route",
            again: "after a stop, serve again; POST /sessions/RUN/resume goes on with a run",
        }
    )


def _print_address(server: "ServerInfo", resume: str) -> None:
    on = f", going on from entry {server.entries:,}" if server.entries else ""
    print_sentence(f"market {server.run_id} on {server.url}{on}")
    if server.operator_token:
        print_sentence(f"operator's token, shown once: {server.operator_token}")
    claims = f"curl {server.url}/claims -H 'Authorization: Bearer OPERATOR_TOKEN'"
    me = '{"agent": {"id": "me", "metadata": {"type": "customer"}}}'
    print_next_steps(
        {
            f"curl {server.url}/agents/register -d '{me}'": "register an agent",
            f"curl {server.url}/actions/protocol": "what agents can do",
            **({claims: "the tokens with which the population's agents register"} if server.claims else {}),
            resume: "after a stop, go on with this market",
        }
    )


@with_flags(FolderOptions)
def game(
    folder: Annotated[Path, argument("DIR", "A new folder, or that of a game to go on with.")],
    world: Annotated[str | None, argument("[WORLD]", "The world to play; 'akinai worlds' lists them.")] = None,
    **options: Unpack[FolderOptions],
) -> None:
    """Write a folder for a coding agent, and serve its game to the program ./play there.

    What is told stands in AGENTS.md; seed, key and store are not in the folder. The same command goes on with the run,
    and so does 'akinai game DIR'.
    """
    from akinai.report.tables.runs import runs_page
    from akinai.runtime.runs.lifecycle import can_resume
    from akinai.runtime.runs.records import Runs
    from akinai.server.folder.serving import game as serve_game

    store = fill_in_place(options)
    run = serve_game(folder, world, **{**options, "ready": _print_game})
    print_page(lambda width: runs_page(Runs([run]), width))
    if can_resume(run.header):
        words = ["game", str(folder), *(["--key", str(options["key"])] if options["key"] else [])]
        print_next_steps({command_line(store, *words): "go on where you stopped"})


def _print_game(server: "GameServer") -> None:
    """Print where the agent begins, for people: the program in the folder finds the server by itself."""
    standing = "going on" if server.resumed else "new"
    print_sentence(f"run {server.run_id} ({standing}) on {server.url}")
    print_sentence(f"start your agent in {server.folder}; Ctrl-C stops, and what was played is kept")
    sys.stdout.flush()


@with_flags(McpOptions)
def mcp(world: WorldName = None, **options: Unpack[McpOptions]) -> None:
    """Let an MCP client play a run: its tools are the world's actions."""
    from akinai.adapters.mcp.serving import mcp as serve_mcp

    fill_in_place(options)
    serve_mcp(world, **{**options, "ready": _print_seats})


@with_flags(ServeSeatsOptions)
def a2a(world: WorldName = None, **options: Unpack[ServeSeatsOptions]) -> None:
    """Let A2A clients play a run: each of its seats is an agent whose skills are the world's actions."""
    from akinai.adapters.a2a.serving import a2a as serve_a2a

    fill_in_place(options)
    serve_a2a(world, **{**options, "ready": _print_seats})


def _print_seats(server: "SeatsServer") -> None:
    """Print the run and where to connect; over stdio on stderr, since stdout is the client's."""
    seats = (f"{seat.actor}  {seat.url or 'stdio'}{seat.token and f'  token {seat.token}'}" for seat in server.seats)
    stream = sys.stdout if all(seat.url for seat in server.seats) else sys.stderr
    standing = ", going on" if server.resumed else ""
    if server.ending is not None:
        standing = f" is over ({server.ending}); another --name or --seed begins another run"
    stream.write("\n".join([f"run {server.run_id}{standing}", *seats]) + "\n")
    stream.flush()
