"""The endpoint as a process of its own: `python -m akinai.testing.endpoint`."""

import argparse
import signal
import sys
from collections.abc import Sequence
from threading import Event
from typing import cast

from akinai import worlds
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Genesis
from akinai.runtime.config import prepare
from akinai.testing.endpoint import Brain, ByModel, Endpoint, FaultKind, Faults, PlayerBrain
from akinai.testing.endpoint_faults import KINDS
from akinai.testing.endpoint_market import by_reading
from akinai.testing.endpoint_shopper import SHOPPERS, Weakness, read_shopper, shopper
from akinai.worlds.market import Market


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM or Ctrl-C. The first line on stdout is the URL."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        brain = players_of(given.world, given.player, [read_shopper(one) for one in given.shopper])
    except UsageError as error:
        parser.error(str(error))
    faults = Faults(given.fault_rate, tuple(given.fault_kinds), given.fault_seed, slow_s=given.slow)
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with Endpoint(brain, faults=faults, latency_s=given.latency, log=given.log, port=given.port) as endpoint:
        sys.stdout.write(f"{endpoint.url}\n")
        sys.stdout.flush()
        stop.wait()


def players_of(world: str, player: str | None = None, shoppers: Sequence[tuple[str, Weakness]] = ()) -> Brain:
    """The players of a world, each under its name as a model; `player` for all other names, the first without one.

    A market's are its players and the shoppers, and hear words alone. UnknownName for a world or a player that is not
    there; UsageError for shoppers without a market.
    """
    played = worlds.load(world)
    players = dict(played.players)
    if isinstance(played, Market):
        players = {name: by_reading(one) for name, one in players.items()}
        players |= {name: shopper(one) for name, one in {**SHOPPERS, **dict(shoppers)}.items()}
    elif shoppers:
        raise UsageError(f"shoppers are customers of a market, and the world is {world!r}; add --world market")
    player = player or next(iter(players))
    if player not in players:
        raise UnknownName("player", player, players, f"there is {', '.join(players)}")
    actor = next(iter(played.actors(played.begin(Genesis(played.name, 0, prepare(played).setup)))), "player")
    names = [player, *(name for name in players if name != player)]
    return ByModel({name: PlayerBrain(players[name], played.verbs, actor=actor) for name in names})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m akinai.testing.endpoint", description=__doc__)
    parser.add_argument("--world", default="vending")
    parser.add_argument("--player", help="who plays under any model name that is no player's; the world's first")
    parser.add_argument(
        "--shopper",
        action="append",
        default=[],
        metavar="NAME:WEAKNESS=N,...",
        help=f"a market's customer with weaknesses of its own beside {', '.join(SHOPPERS)}",
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--log", help="a file that every exchange is appended to as a line of JSON")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument(
        "--slow", type=float, default=2.0, metavar="SECONDS", help="how much later the fault 'slow' answers"
    )
    parser.add_argument("--fault-rate", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--fault-seed", type=int, default=0)
    parser.add_argument(
        "--fault-kinds", type=_kinds, default=KINDS, metavar="A,B", help=f"of {', '.join(KINDS)}; all when not given"
    )
    return parser


def _kinds(text: str) -> tuple[FaultKind, ...]:
    kinds = tuple(text.split(","))
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise argparse.ArgumentTypeError(f"no fault {unknown[0]!r}; there is {', '.join(KINDS)}")
    return cast("tuple[FaultKind, ...]", kinds)
