"""Laws of the results of runs: known scores, costs that stay level, failed runs that stay in every denominator.

Costs are counts of lines that ran, bytes that were allocated, and characters to be read. A law that measured seconds
would fail on a busy machine; `bench/` measures seconds.
"""

import gc
import sys
import tracemalloc
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from types import FrameType
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from akinai import api
from akinai.core.agents import Agent, AgentFactory, Move, View
from akinai.core.canonical import canonical
from akinai.core.errors import RunFailedWarning
from akinai.core.ledger import Entry, Ledger, Outcome
from akinai.core.scores import Score
from akinai.core.worlds import World, read_turn, replay, step
from akinai.runtime.runs.records import Runs
from akinai.testing.laws.case import WorldCase, for_all, play, random_run

MOST_GROWTH = 3
"""The last quarter of a run may cost this many times as much as the first, and the slack below in addition."""
SLACK: Mapping[str, int] = {"lines": 200, "bytes": 8_000, "characters": 400}
"""Growth that is allowed even for small costs: numbers get longer and trees deeper."""
FEWEST_ENTRIES = 100
FEWEST_OF_A_KIND = 8

Costs = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Growth:
    """The change of the cost of a kind of action during a run."""

    kind: tuple[str, str | None]
    """The action's name and the outcome's code."""
    cost: str
    early: float
    """Median over the first quarter of these actions."""
    late: float

    @property
    def unbounded(self) -> bool:
        return self.late > MOST_GROWTH * self.early + SLACK[self.cost]

    def __str__(self) -> str:
        name, code = self.kind
        kind = f"{name} ({code})" if code else name
        return f"{kind} costs {self.late:,.0f} {self.cost} late in the run and {self.early:,.0f} early"


def growth(world: World[Any], ledger: Ledger) -> list[Growth]:
    """The growth of each cost for each kind of action that is frequent enough."""
    lines = list(_costs(world, ledger, _lines_of))
    sizes = list(_costs(world, ledger, _bytes_and_text_of))
    by_kind: dict[tuple[str, str | None], list[Costs]] = defaultdict(list)
    for entry, line_costs, size_costs in zip(ledger.entries, lines, sizes, strict=True):
        by_kind[entry.name, entry.outcome.code].append({**line_costs, **size_costs})
    return [
        Growth(kind, cost, *_ends([entry_costs[cost] for entry_costs in costs]))
        for kind, costs in by_kind.items()
        if len(costs) >= FEWEST_OF_A_KIND
        for cost in SLACK
    ]


def _ends(values: Sequence[int]) -> tuple[float, float]:
    quarter = len(values) // 4
    return median(values[:quarter]), median(values[-quarter:])


Act = Callable[[], tuple[object, str]]
"""Applies an entry. Returns the state after it, and the text of outcome and view that its actor reads."""


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
    """Lines of Python that ran; each iteration of a loop counts."""
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
    """Peak memory above the level before, in bytes, and the length of the text in characters."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    after, text = act()
    _, peak = tracemalloc.get_traced_memory()
    return after, {"bytes": peak - before, "characters": len(text)}


@contextmanager
def _quiet() -> Generator[None]:
    """No other tracer, no garbage collection, and memory tracing switched on."""
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


def cost_of_an_action_stays_level(case: WorldCase[Any]) -> None:
    """Late in a long run an action costs no more code, memory and text than early."""
    ledger = play(case, next(iter(case.world.players.values())), case.long_genesis)
    count = len(ledger.entries)
    assert count >= FEWEST_ENTRIES, (
        f"the long run has {count} entries; lengthen it by `long`, to {FEWEST_ENTRIES} or more"
    )
    changes = growth(case.world, ledger)
    assert changes, "no action is frequent enough in the long run to be compared"
    grown = [str(change) for change in changes if change.unbounded]
    assert not grown, f"over {count} entries: {'; '.join(grown)}"


def scores_are_known(case: WorldCase[Any]) -> None:
    """Scorers give players their known scores: the idle player, a player that answers everything right."""
    named: set[str] = set()
    for player, expected in case.scores.items():
        assert player in case.all_players, (
            f"scores are given for {player!r}; the players are {', '.join(case.all_players)}"
        )
        ledger = case.runs[player]
        actual = {score.name: score.value for score in _scores(case, ledger)}
        for name, value in expected.items():
            assert name in actual, f"no score {name!r}; there is {', '.join(actual)}"
            assert actual[name] == value, f"{player} scores {name} {actual[name]!r}, and the known score is {value!r}"
        named |= expected.keys()
    missing = {score.name for score in _scores(case, Ledger(case.genesis))} - named
    assert not missing, (
        f"no known score for {', '.join(sorted(missing))}: give what a player scores, at least the idle player"
    )


def every_ledger_has_its_scores(case: WorldCase[Any]) -> None:
    """A ledger of any length, empty ones included, has all scores under the same names, each with its own entries.

    An index may be missing, where there was nothing to compare.
    """
    names = [score.name for score in _scores(case, Ledger(case.genesis))]
    assert names, "the world has no scores"
    assert len(set(names)) == len(names), f"two scores have one name: {names}"

    async def check(data: st.DataObject) -> None:
        run = await random_run(case, data)
        scores = _scores(case, run.ledger)
        names_now = [score.name for score in scores if score.name in names or score.unit != "index" or score.better]
        assert names_now == names, f"the scores of {len(run.entries)} entries are {names_now}, of none {names}"
        for score in scores:
            note(repr(score))
            assert list(score.because) == sorted(set(score.because)), f"the entries of {score.name} are not in order"
            assert set(score.because) <= set(range(1, len(run.entries) + 1)), (
                f"{score.name} names entries that are not there"
            )
            canonical(score.to_json())
        assert _scores(case, run.ledger) == scores, "scored twice, a ledger gives different scores"

    for_all(case, check)


def _scores(case: WorldCase[Any], ledger: Ledger) -> list[Score]:
    steps = replay(case.world, ledger)
    return [score for scorer in case.world.scorers for score in scorer(steps)]


class _Breaking:
    """Plays like another agent and raises at its n-th move."""

    def __init__(self, agent: Agent, move: int) -> None:
        self._agent, self._left = agent, move

    async def act(self, view: View, last: Outcome | None) -> Move:
        self._left -= 1
        if not self._left:
            raise ConnectionError("the model is gone")
        return await self._agent.act(view, last)


def failed_runs_stay_in_every_denominator(case: WorldCase[Any]) -> None:
    """A finished run, a failed run and a run that never began all count in every summary, each by its ledger.

    Where actors leave a game that others go on with, nothing but that stands in the last. An index has no value in a
    run in which there was nothing to compare, and neither a high nor a low one is better.
    """
    player = next(iter(case.all_players.values()))

    def breaking(move: int) -> AgentFactory:
        return lambda role: _Breaking(player(role), move)

    agents = (player, breaking(2), breaking(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunFailedWarning)
        runs = [api.run(case.world, agent=agent, seeds=case.seed, settings=case.setup)[0] for agent in agents]
    states = [(run.status, bool(run.ledger.entries)) for run in runs]
    opening, seating = case.world.begin(case.genesis), case.world.facets.seating
    leaves = any(seating.leaving_action(opening, actor, "") for actor in case.world.actors(opening))
    assert states[1:] == [("failed", True), ("failed", leaves)], (
        f"agents that fail at the second and first move leave {states[1:]}"
    )
    assert states[0][0] == "done", f"the player that does not fail leaves {states[0]}, {runs[0].error}"
    indices = {score.name for run in runs for score in run.scores if score.unit == "index" and not score.better}
    for name, summary in Runs(runs).summary().items():
        if name in indices:
            continue
        counted = (summary.n, summary.failed)
        assert counted == (3, 0), f"{name} counts {summary.n} values and leaves out {summary.failed} of 3 runs"
