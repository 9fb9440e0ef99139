"""The command that serves a market over HTTP."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from akinai.cli.options import Store, option, store_address, whole_number
from akinai.cli.output import command_line, print_line, print_next_steps

if TYPE_CHECKING:
    from akinai.server.serving import ServerInfo


def serve(
    market: Annotated[
        str | None,
        option(
            "--market",
            metavar="DIR",
            help="A folder with a population: businesses/*.yaml and customers/*.yaml.",
            default="nobody",
        ),
    ] = None,
    run: Annotated[
        str | None,
        option(
            "--run", metavar="NAME", help="Name of the run; an existing run is continued.", default="two random words"
        ),
    ] = None,
    store: Store = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        option(
            "--port", metavar="PORT", help="Port to listen on; 0 picks a free one.", default="8000", parser=whole_number
        ),
    ] = 8000,
    auth: Annotated[
        Literal["open", "token"],
        typer.Option(
            help="open: agents say who they are in the X-Agent-Id header. token: each agent gets a token when it "
            "registers and must send it."
        ),
    ] = "open",
) -> None:
    """Serve a market over HTTP, where anybody's agents can register and trade."""
    from akinai.core.errors import UsageError

    try:
        from akinai.server.serving import serve as serve_market
    except ImportError as error:
        raise UsageError(
            f'serving needs more than is installed ({error}); pip install "akinai[server]" brings it'
        ) from error
    given = {"--host": host, "--port": str(port), "--auth": auth}
    defaults = {"--host": "127.0.0.1", "--port": "8000", "--auth": "open"}
    flags = [word for name, value in given.items() if value != defaults[name] for word in (name, value)]

    def started(server: "ServerInfo") -> None:
        _print_start(server, command_line(store, "serve", "--run", server.run_id, *flags))

    serve_market(market=market, run=run, store=store_address(store), host=host, port=port, auth=auth, ready=started)
    print_line("\nstopped; all that was answered is kept")


def _print_start(server: "ServerInfo", resume: str) -> None:
    on = f", going on from entry {server.entries:,}" if server.entries else ""
    print_line(f"market {server.run_id} on {server.url}{on}")
    if server.operator_token:
        print_line(f"operator's token, shown once: {server.operator_token}")
    me = '{"agent": {"id": "me", "metadata": {"type": "customer"}}}'
    print_next_steps(
        {
            f"curl {server.url}/agents/register -d '{me}'": "register an agent",
            f"curl {server.url}/actions/protocol": "what agents can do",
            resume: "after a stop, go on with this market",
        }
    )
