"""The command that serves a market over HTTP."""

import os
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from akinai.cli.options import Store, option, place_of, whole
from akinai.cli.shown import command, line, next_steps

if TYPE_CHECKING:
    from akinai.server.serving import Listening

TOKEN = "AKINAI_OPERATOR_TOKEN"


def serve(
    market: Annotated[
        str | None,
        option("--market", metavar="DIR", help="A population: businesses/*.yaml, customers/*.yaml.", default="empty"),
    ] = None,
    run: Annotated[
        str | None, option("--run", metavar="NAME", help="The run; one that is there goes on.", default="two words")
    ] = None,
    store: Store = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, option("--port", metavar="PORT", help="0: any free one.", default="8000", parser=whole)
    ] = 8000,
    auth: Annotated[
        Literal["open", "token"],
        typer.Option(help="open believes the X-Agent-Id header; token gives each agent a token when it registers."),
    ] = "open",
) -> None:
    """Serve a market over HTTP, in which anybody's agents can register and trade."""
    from akinai.core.errors import UsageError

    try:
        from akinai.server.serving import Asked, serve
    except ImportError as error:
        raise UsageError(
            f'serving needs more than is installed ({error}); pip install "akinai[server]" brings it'
        ) from error
    asked = Asked(market, run, place_of(store), host, port, auth, os.environ.get(TOKEN))
    where = {"--host": host, "--port": str(port), "--auth": auth}
    usual = {"--host": "127.0.0.1", "--port": "8000", "--auth": "open"}
    flags = [word for name, told in where.items() if told != usual[name] for word in (name, told)]
    serve(asked, lambda listening: _tell(listening, command(store, "serve", "--run", listening.run_id, *flags)))
    line("\nstopped; all that was answered is kept")


def _tell(listening: "Listening", again: str) -> None:
    on = f", going on from entry {listening.entries:,}" if listening.entries else ""
    line(f"market {listening.run_id} on {listening.url}{on}")
    if listening.operator_token:
        line(f"operator's token, shown once: {listening.operator_token}")
    me = '{"agent": {"id": "me", "metadata": {"type": "customer"}}}'
    next_steps(
        {
            f"curl {listening.url}/agents/register -d '{me}'": "register an agent",
            f"curl {listening.url}/actions/protocol": "what agents can do",
            again: "after a stop, go on with this market",
        }
    )
