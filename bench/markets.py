"""Many markets on one server: actions a second of one market and of two, in turns, and CPU an action.

Run with `python bench/markets.py [--quick]`. One market alone is `akinai serve --run`, which has one process; one and
two markets are at `/m/NAME` of one server. Each market has a driver of its own, so that two are driven by two
processes: on two cores drivers and markets share them, and the CPU an action tells more than the rate. SQLite.
"""

import argparse
import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import uvloop

from market import TICKS, drive

NAMES = ("north", "south")


@dataclass(frozen=True, slots=True)
class Address:
    """A market as a driver finds it."""

    port: int
    root: str
    bare: bool = False
    cpu_s: float = 0.0


class Markets:
    """`akinai serve` with the markets of NAMES, or with one market alone."""

    def __init__(self, folder: str, *, alone: bool) -> None:
        name = "alone" if alone else "many"
        words = [sys.executable, "-m", "akinai", "serve", "--port", "0", "--store", f"{name}.db", "--run", name]
        words += [] if alone else [word for market in NAMES for word in ("--market", f"{market}=")]
        log = (Path(folder) / "log.jsonl").open("a")
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline().split("127.0.0.1:")[1].split(",")[0])
        self.roots = [""] if alone else [f"/m/{market}" for market in NAMES]

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the server and of its markets."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sum(map(_cpu_s, [str(pid), *children]))

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def _cpu_s(pid: str) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def trade(port: int, root: str, agents: int, purchases: int, prefix: str) -> tuple[int, float]:
    """The actions of one driver and its seconds."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        tally, seconds, _ = runner.run(drive(Address(port, root), agents, purchases, prefix))
    return len(tally.latencies), seconds


def rate(server: Markets, roots: Sequence[str], pool: ProcessPoolExecutor, purchases: int, prefix: str) -> list[float]:
    """Actions, actions a second of all markets together, and CPU milliseconds an action."""
    cpu = server.cpu_s
    works = [pool.submit(trade, server.port, root, 100, purchases, prefix) for root in roots]
    done = [work.result() for work in works]
    actions = sum(count for count, _ in done)
    return [actions, sum(count / seconds for count, seconds in done), 1000 * (server.cpu_s - cpu) / actions]


def main() -> None:
    """Print a line for each, and the ratios."""
    parser = argparse.ArgumentParser(description="Actions a second of one market and of two on one server.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the load")
    quick: bool = parser.parse_args().quick
    rounds, purchases = (2, 2) if quick else (6, 8)
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2, mp_context=spawn) as pool:
        alone, many = Markets(folder, alone=True), Markets(folder, alone=False)
        kinds = {
            "one market alone": (alone, alone.roots),
            "one of many": (many, many.roots[:1]),
            "two markets": (many, many.roots),
        }
        rows_by_kind: dict[str, list[list[float]]] = {name: [] for name in kinds}
        for number in range(rounds):
            for name in kinds if number % 2 else reversed(kinds):
                rows_by_kind[name].append(rate(*kinds[name], pool, purchases, f"{number}{name[:5].replace(' ', '')}-"))
        alone.end()
        many.end()
    base = rows_by_kind["one market alone"]
    for name, rows in rows_by_kind.items():
        rates, costs = (sum(row[column] for row in rows) / rounds for column in (1, 2))
        ratios = [row[1] / other[1] for row, other in zip(rows, base, strict=True)]
        print(
            f"{name:18} {rates:7,.0f} actions/s, {costs:5.2f} ms CPU an action; "
            f"{sum(ratios) / rounds:4.2f} times one alone (rounds {min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
