"""The endpoint as a process of its own: `python -m akinai.testing.endpoint`."""

import argparse
import signal
import sys
from collections.abc import Sequence
from threading import Event
from types import FrameType

from akinai.core.errors import UsageError
from akinai.testing.endpoint.faults import EVERY_KIND, KINDS, FaultKind, Faults
from akinai.testing.endpoint.market import SHOPPERS, parse_shopper
from akinai.testing.endpoint.responders import world_responder
from akinai.testing.endpoint.server import Endpoint


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM or Ctrl-C. The first line on stdout is the URL."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        responder = world_responder(options.world, options.player, [parse_shopper(text) for text in options.shopper])
    except UsageError as error:
        parser.error(str(error))
    faults = Faults(options.fault_rate, tuple(options.fault_kinds), options.fault_seed, slow_s=options.slow)
    stop = Event()

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with Endpoint(responder, faults=faults, latency_s=options.latency, log=options.log, port=options.port) as endpoint:
        sys.stdout.write(f"{endpoint.url}\n")
        sys.stdout.flush()
        stop.wait()


def make_parser() -> argparse.ArgumentParser:
    """The reader of the command line."""
    parser = argparse.ArgumentParser(prog="python -m akinai.testing.endpoint", description=__doc__)
    parser.add_argument("--world", default="vending", help="the world whose players answer")
    parser.add_argument(
        "--player", help="the player for any model name that is not a player's; by default the world's first"
    )
    parser.add_argument(
        "--shopper",
        action="append",
        default=[],
        metavar="NAME:BIAS=N,...",
        help=f"a customer of the market with these biases, besides {', '.join(SHOPPERS)}",
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free port")
    parser.add_argument("--log", help="a file to which every exchange is appended as a line of JSON")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="delay of every answer")
    parser.add_argument("--slow", type=float, default=2.0, metavar="SECONDS", help="further delay of the fault 'slow'")
    parser.add_argument("--fault-rate", type=float, default=0.0, metavar="SHARE", help="share of requests with a fault")
    parser.add_argument("--fault-seed", type=int, default=0, help="decides which requests have a fault")
    parser.add_argument(
        "--fault-kinds",
        type=_kinds,
        default=KINDS,
        metavar="A,B",
        help=f"untidy, or any of the default: {', '.join(KINDS)}",
    )
    return parser


def _kinds(text: str) -> tuple[FaultKind, ...]:
    by_name: dict[str, FaultKind] = {kind: kind for kind in EVERY_KIND}
    names = text.split(",")
    if unknown := [name for name in names if name not in by_name]:
        raise argparse.ArgumentTypeError(f"no fault {unknown[0]!r}; there is {', '.join(EVERY_KIND)}")
    return tuple(by_name[name] for name in names)


if __name__ == "__main__":
    main()
