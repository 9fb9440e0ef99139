"""What one action costs, in things that can be counted: lines that ran, bytes that were allocated, text to be read.

Seconds are measured in `bench/`; a law that times is a law that fails on a busy machine.
"""

import gc
import sys
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from types import FrameType
from typing import Any

from akinai.core.ledger import Entry, Ledger
from akinai.core.worlds import World, read_turn, step

MOST_GROWTH = 3
"""How much dearer the last quarter of a run may be than its first, beside the slack below."""
SLACK: Mapping[str, int] = {"lines": 200, "bytes": 8_000, "characters": 400}
"""What a cost may grow by however small it was: the price of a larger number of decimals, of a tree that is deeper."""
FEWEST_ENTRIES = 100
FEWEST_OF_A_KIND = 8

Costs = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Growth:
    """How the cost of one kind of action changed along a run."""

    kind: tuple[str, str | None]
    """Action and code."""
    cost: str
    early: float
    """Median over the first quarter of these actions."""
    late: float

    @property
    def unbounded(self) -> bool:
        return self.late > MOST_GROWTH * self.early + SLACK[self.cost]

    def __str__(self) -> str:
        name, code = self.kind
        told = f"{name} ({code})" if code else name
        return f"{told} costs {self.late:,.0f} {self.cost} late in the run and {self.early:,.0f} early"


def growth(world: World[Any], ledger: Ledger) -> list[Growth]:
    """How every cost of every kind of action that is frequent enough grew along a run."""
    lines = list(_costs(world, ledger, _lines_of))
    several = list(_costs(world, ledger, _bytes_and_text_of))
    by_kind: dict[tuple[str, str | None], list[Costs]] = defaultdict(list)
    for entry, one, other in zip(ledger.entries, lines, several, strict=True):
        by_kind[entry.name, entry.outcome.code].append({**one, **other})
    return [
        Growth(kind, cost, *_ends([one[cost] for one in costs]))
        for kind, costs in by_kind.items()
        if len(costs) >= FEWEST_OF_A_KIND
        for cost in SLACK
    ]


def _ends(values: Sequence[int]) -> tuple[float, float]:
    quarter = len(values) // 4
    return median(values[:quarter]), median(values[-quarter:])


Act = Callable[[], tuple[object, str]]
"""Applies one entry: the state after, and the text that its actor reads of outcome and view."""


def _costs(
    world: World[Any], ledger: Ledger, measure: Callable[[Act], tuple[object, Costs]]
) -> Iterator[Mapping[str, int]]:
    state: object = world.begin(ledger.genesis)
    with _quiet():
        for entry in ledger.entries:
            state, costs = measure(_act(world, state, entry))
            yield costs


def _act(world: World[Any], state: object, entry: Entry) -> Act:
    turn = read_turn(world, entry)

    def act() -> tuple[object, str]:
        after, outcome = step(world, state, turn)
        return after, outcome.text + world.view(after, turn.actor).text

    return act


def _lines_of(act: Act) -> tuple[object, Costs]:
    """Lines of Python that ran, each turn of a loop included."""
    count = 0

    def trace(_: FrameType, event: str, __: object) -> Any:
        nonlocal count
        count += event in ("line", "call")
        return trace

    sys.settrace(trace)
    try:
        after, _ = act()
    finally:
        sys.settrace(None)
    return after, {"lines": count}


def _bytes_and_text_of(act: Act) -> tuple[object, Costs]:
    """The most memory that it held beyond what was there, and how much text came of it."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    after, text = act()
    _, peak = tracemalloc.get_traced_memory()
    return after, {"bytes": peak - before, "characters": len(text)}


@contextmanager
def _quiet() -> Iterator[None]:
    """Nobody else traces and nothing is collected meanwhile; memory is watched."""
    tracer, collecting, watching = sys.gettrace(), gc.isenabled(), tracemalloc.is_tracing()
    sys.settrace(None)
    gc.disable()
    if not watching:
        tracemalloc.start()
    try:
        yield
    finally:
        if not watching:
            tracemalloc.stop()
        if collecting:
            gc.enable()
        sys.settrace(tracer)
