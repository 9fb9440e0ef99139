"""Checks that the vending world's benchmark presets measure what they should: a ladder of players, and single faults.

    python bench/validity.py [--preset quarter] [--seeds 1-20] [--only NAME,NAME] [--coherence] [--cheap N]
                             [--beside year] [--results FILE] [--report] [--jobs 1]

Each row plays paired seeds. A rung's step is over the rung before it, a fault's loss is against the reference player,
in per cent of the distance from idle to reference, each with its 95 % interval. With --coherence the ledgers are
judged as well, and the rank correlation of coherence with the bank balance is printed. With --cheap N the three best of
56 cheap strategies, found on the first N seeds, are played too. With --beside PRESET the rows that both presets have
are played there as well, and the rank correlation of their means is printed. The world was tuned on seeds 501-512, and
`sprint` on 11-14; nothing was tuned on 581-620.

Every run is a line of the file of results as soon as it is over, seed by seed. The same command reads what is there
and plays the rest; --report plays nothing and prints the table of the seeds on which all rows were played. A change of
rules or players makes old lines void.
"""

import argparse
import asyncio
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

import akinai.worlds.vending
from akinai.core.actions import Action
from akinai.core.agents import AgentFactory, Role
from akinai.core.canonical import Json
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.statistics import t_quantile
from akinai.core.steps import Step, Steps
from akinai.runtime.config.settings import prepare
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.bound import bound_cents
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.players.days import Trading
from akinai.worlds.vending.players.habits import LADDER, Habits
from akinai.worlds.vending.rules.trade import bank_balance_cents
from akinai.worlds.vending.sprint.verbs import CloseWeek
from faults import LAPSES, MARKUPS, cheap_strategies, exploits, faults, slacks, weekly_faults

WORLD = Vending()
LEAST = {"forgets open orders": 10, "trusts anyone": 15, "memory wiped weekly": 15}
"""Per cent that a fault loses at least; 5 for the others."""
IDLE = "idle"
SOURCES = Path(akinai.worlds.vending.__file__).parent
PLAYED_BY = ("model", "rules", "players", "sprint")
"""The folders of the world that decide a rule-based run."""


@dataclass(frozen=True)
class Played:
    """A run's result."""

    cents: int
    messages: int
    sites: int
    ending: str
    coherence: float | None = None
    replies: int = 0
    """Where the owner decides by the week: calls that it made without having read an outcome between count as one."""


def play(genesis: Genesis, factory: AgentFactory) -> State:
    """Play a run in memory; the final state."""
    return asyncio.run(_play(genesis, factory, None)).state


@dataclass
class _Run:
    """A run under way: its state and the number of its messages."""

    state: State
    messages: int = 0
    replies: int = 0


async def _play(genesis: Genesis, factory: AgentFactory, steps: list[Step[State]] | None) -> _Run:
    """Play a run; its steps are gathered where they are wanted."""
    run = _Run(WORLD.begin(genesis))
    agent = factory(Role("owner", WORLD.verbs.classes, genesis=genesis))
    last: Outcome | None = None
    previous: Action | None = None
    digest = genesis.digest
    while not run.state.ending:
        before = run.state
        run.messages += 1
        move = await agent.act(WORLD.view(before, "owner"), last)
        run.replies += new_reply(previous, move.action)
        previous = move.action
        turn = Turn(run.messages, WORLD.now(before), "owner", move.action)
        run.state, last = WORLD.apply(before, turn)
        if steps is not None:
            entry = Entry.of(digest, turn, last)
            digest = entry.digest
            steps.append(Step(before, entry, turn, last, run.state))
    return run


READ = (a.SearchWeb, a.GetPriceLists, a.MakeOffer, a.TakePitch)
"""Actions whose outcomes decide what other actions follow."""


def new_reply(previous: Action | None, action: Action) -> bool:
    """Whether a reply begins with an action: with a week, or after outcomes that were read to decide it."""
    if previous is None or isinstance(previous, CloseWeek):
        return True
    return isinstance(previous, READ) and not isinstance(action, (type(previous), CloseWeek))


def result(genesis: Genesis, name: str, *, judge: bool = False) -> Played:
    """Play a row on a seed."""
    steps: list[Step[State]] | None = [] if judge else None
    run = asyncio.run(_play(genesis, factory_of(name, genesis.setup), steps))
    coherence = None
    if steps is not None:
        record = Steps(genesis, WORLD.begin(genesis), steps)
        judging = WORLD.facets.judging
        scores = judging.coherence(record, judging.detect(record))
        coherence = next((float(score.value) for score in scores if score.name == "coherence"), None)
    state = run.state
    return Played(bank_balance_cents(state), run.messages, len(state.sites), state.ending or "", coherence, run.replies)


def faults_of(setup: Mapping[str, Json]) -> Mapping[str, Habits]:
    """The faults that can be had in a game."""
    days = int(str(setup["days"]))
    return weekly_faults(days) if setup.get("weekly") else faults(days)


def habits_of(setup: Mapping[str, Json]) -> Mapping[str, Habits]:
    """All rows but idle: rungs, faults, exploits, orders of more and of less slack, and cheap strategies."""
    return {**LADDER, **faults_of(setup), **exploits(), **slack_rows(setup), **cheap_strategies()}


def slack_rows(setup: Mapping[str, Json]) -> Mapping[str, Habits]:
    """The players of other slack, where the owner decides by the week."""
    pairs = slacks().items() if setup.get("weekly") else ()
    return {
        row: habits
        for name, (remembers, forgets) in pairs
        for row, habits in ((name, remembers), (forgetting(name), forgets))
    }


def forgetting(slack: str) -> str:
    """The row of a slack that forgets its open orders."""
    return f"forgets open orders at a {slack}"


def factory_of(name: str, setup: Mapping[str, Json]) -> AgentFactory:
    """The factory of a row."""
    if name == IDLE:
        return WORLD.players[IDLE]
    habits = habits_of(setup)[name]
    return rung(habits)


def code_digest() -> str:
    """A digest of the code of rules and players, on which results depend."""
    files = sorted(path for folder in PLAYED_BY for path in (SOURCES / folder).rglob("*.py"))
    files = [path for path in files if path.name != "bound.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


class Results:
    """Results by genesis and row, kept in a file where one is named."""

    def __init__(self, path: Path | None, *, judge: bool) -> None:
        self._path, self._judge, self._code = path, judge, code_digest()
        self._by_run: dict[tuple[str, str], Played] = {}
        text = path.read_text() if path is not None and path.exists() else ""
        self._cut = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            self._read(line)

    def _read(self, line: str) -> None:
        try:
            row = json.loads(line)
        except ValueError:  # the last line of an interrupted run
            return
        if row["code"] == self._code and (row["coherence"] is not None or not self._judge):
            played = Played(
                row["cents"], row["messages"], row["sites"], row["ending"], row["coherence"], row["replies"]
            )
            self._by_run[row["genesis"], row["row"]] = played

    def get(self, genesis: Genesis, name: str) -> Played | None:
        return self._by_run.get((genesis.digest, name))

    def add(self, genesis: Genesis, name: str, played: Played) -> None:
        self._by_run[genesis.digest, name] = played
        if self._path is not None:
            head = {"code": self._code, "genesis": genesis.digest, "seed": genesis.seed, "row": name}
            with self._path.open("a") as file:
                file.write("\n" * self._cut + json.dumps(head | asdict(played)) + "\n")
            self._cut = False


def play_all(geneses: Sequence[Genesis], names: Sequence[str], results: Results, *, judge: bool, jobs: int) -> None:
    """Play the missing runs, seed by seed, in `jobs` processes."""
    left = [(genesis, name) for genesis in geneses for name in names if results.get(genesis, name) is None]
    if jobs == 1:
        for genesis, name in left:
            results.add(genesis, name, result(genesis, name, judge=judge))
        return
    with ProcessPoolExecutor(jobs) as pool:
        runs = {pool.submit(result, genesis, name, judge=judge): (genesis, name) for genesis, name in left}
        for done in as_completed(runs):
            results.add(*runs[done], done.result())


def rung(habits: Habits) -> AgentFactory:
    """The factory of a player with some habits."""
    return lambda role: Trading(habits, role.genesis)


def interval(differences: Sequence[float]) -> tuple[float, float, float]:
    """The mean and the 95 % interval of paired differences."""
    middle = mean(differences)
    half = t_quantile(0.975, len(differences) - 1) * stdev(differences) / sqrt(len(differences))
    return middle, middle - half, middle + half


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks, ties sharing their mean."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's."""
    a, b = ranks(x), ranks(y)
    ma, mb = mean(a), mean(b)
    spread = sqrt(sum((i - ma) ** 2 for i in a) * sum((j - mb) ** 2 for j in b))
    return sum((i - ma) * (j - mb) for i, j in zip(a, b, strict=True)) / spread if spread else 0.0


@dataclass
class Table:
    """Rows of results on the same seeds."""

    geneses: Sequence[Genesis]
    rows: Mapping[str, Sequence[Played]]

    @staticmethod
    def of(geneses: Sequence[Genesis], names: Sequence[str], results: Results) -> "Table":
        """The rows, on the seeds on which all of them were played."""
        by_seed = {genesis.seed: {name: results.get(genesis, name) for name in names} for genesis in geneses}
        complete = [genesis for genesis in geneses if all(by_seed[genesis.seed].values())]
        rows = {
            name: [played for genesis in complete if (played := by_seed[genesis.seed][name]) is not None]
            for name in names
        }
        return Table(complete, rows)

    def cents(self, name: str) -> list[float]:
        return [played.cents / 100 for played in self.rows[name]]

    @property
    def scale(self) -> float:
        return mean(self.cents("reference")) - mean(self.cents("idle"))

    def step(self, name: str, before: str) -> tuple[float, float, float]:
        pairs = zip(self.cents(name), self.cents(before), strict=True)
        return interval([new - old for new, old in pairs])

    def loss(self, name: str, against: str = "reference") -> tuple[float, float, float]:
        """The loss against a row, in per cent of the distance from idle to reference, with its interval."""
        pairs = zip(self.cents(against), self.cents(name), strict=True)
        middle, low, high = interval([reference - row for reference, row in pairs])
        return 100 * middle / self.scale, 100 * low / self.scale, 100 * high / self.scale


def seeds_of(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def geneses_of(preset: str, seeds: Iterable[int], settings: Mapping[str, object] | None = None) -> list[Genesis]:
    setup = prepare(WORLD, preset=preset, settings=settings or {}).setup
    return [Genesis(WORLD.name, seed, setup) for seed in seeds]


def print_rung(table: Table, name: str, before: str) -> None:
    cents, rows = table.cents(name), table.rows[name]
    line = f"{name:34}{mean(cents):9,.0f} (sd {stdev(cents):6,.0f})  {mean(r.messages for r in rows):6,.0f} messages"
    line += f"  {mean(r.sites for r in rows):.1f} sites"
    if any(row.replies < row.messages for row in rows):
        line += f"  {mean(r.replies for r in rows):.0f} replies"
    if before:
        middle, low, high = table.step(name, before)
        line += f"  step {middle:8,.0f} ({low:,.0f} to {high:,.0f})"
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="quarter")
    parser.add_argument("--seeds", default="1-20")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--coherence", action="store_true")
    parser.add_argument(
        "--cheap", type=int, default=0, metavar="N", help="search cheap strategies on the first N seeds"
    )
    parser.add_argument("--beside", default="", metavar="PRESET", help="correlate with a preset on the same seeds")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    start = time.perf_counter()
    settings = {key: int(value) for key, value in (text.split("=", 1) for text in args.set)}
    geneses = geneses_of(args.preset, seeds_of(args.seeds), settings)
    setup = geneses[0].setup
    only = {name for name in args.only.split(",") if name}
    if unknown := only - {IDLE, *habits_of(setup)}:
        sys.exit(f"no row {', '.join(sorted(unknown))}; there are {', '.join((IDLE, *habits_of(setup)))}")
    results = Results(args.results, judge=args.coherence)
    cheap = best_cheap(geneses[: args.cheap], results, jobs=args.jobs) if args.cheap and not args.report else []
    rows = [name for name in (IDLE, *habits_of(setup)) if name not in cheap_strategies() or name in only]
    names = [name for name in rows if not only or name in {IDLE, "reference", *only}] + cheap
    if not args.report:
        play_all(geneses, names, results, judge=args.coherence, jobs=args.jobs)
    besides = geneses_of(args.beside, seeds_of(args.seeds)) if args.beside else []
    shared = [name for name in names if name == IDLE or (besides and name in habits_of(besides[0].setup))]
    shared = [name for name in shared if name not in {*exploits(), "overlooks a third of them"}]
    if besides and not args.report:
        play_all(besides, shared, results, judge=False, jobs=args.jobs)
    table = Table.of(geneses, names, results)
    if len(table.geneses) < 2:
        sys.exit(f"all {len(names)} rows were played on {len(table.geneses)} of these seeds; a table needs two")
    seeds = [genesis.seed for genesis in table.geneses]
    print(f"{args.preset}, {setup['days']} days, {len(seeds)} seeds from {seeds[0]} to {seeds[-1]}; dollars")
    print_ladder(table)
    print_losses(table, setup)
    print_slacks(table)
    print_bars(table, cheap)
    if besides:
        print_beside(table, Table.of(besides, shared, results), args.beside)
    if args.coherence:
        print_correlation(table)
    print(f"{time.perf_counter() - start:,.0f} seconds")


def print_ladder(table: Table) -> None:
    """Print the rungs, with their positions between idle and informed and below the bound."""
    before = ""
    for name in (IDLE, *LADDER):
        if name in table.rows:
            print_rung(table, name, before)
            before = name
    if "informed" in table.rows:
        bounds = [bound_cents(genesis) / 100 for genesis in table.geneses]
        zero, top = mean(table.cents(IDLE)), mean(table.cents("informed"))
        print(f"{'bound':34}{mean(bounds):9,.0f}  {mean(bounds) / top:.3f} times informed")
        for name in (name for name in (IDLE, *LADDER) if name in table.rows):
            print(f"  {name:30} {100 * (mean(table.cents(name)) - zero) / (top - zero):5.1f} % of idle to informed")
        above = [n for n in table.rows if any(c > b for c, b in zip(table.cents(n), bounds, strict=True))]
        print("above the bound:", ", ".join(above) or "nobody")


def print_losses(table: Table, setup: Mapping[str, Json]) -> None:
    """Print the losses of single faults and exploits."""
    print(f"loss in per cent of idle to reference, ${table.scale:,.0f}, with 95 % interval")
    for name in (*faults_of(setup), *exploits()):
        if name in table.rows:
            middle, low, high = table.loss(name)
            verdict = "" if name in exploits() else "ok" if middle >= LEAST.get(name, 5) and low > 0 else "<<<"
            ends = sum(row.ending == "bankrupt" for row in table.rows[name])
            print(f"{name:34}{middle:6.1f} ({low:5.1f} to {high:5.1f}) {verdict} {f'{ends} bankrupt' if ends else ''}")


def print_slacks(table: Table) -> None:
    """Print, by the slack of orders, what the slack costs and what forgetting open orders then costs."""
    for name in slacks():
        if {name, forgetting(name)} <= table.rows.keys():
            own, loss = table.loss(name), table.loss(forgetting(name), name)
            line = f"{name:34}{own[0]:6.1f} ({own[1]:5.1f} to {own[2]:5.1f})"
            print(f"{line}; forgetting open orders costs it {loss[0]:.1f} ({loss[1]:.1f} to {loss[2]:.1f})")


def print_beside(table: Table, beside: Table, preset: str) -> None:
    """Print the rank correlation with a preset over the rungs and faults that both have, a partial lapse aside, and the
    reference's earnings in both."""
    names = list(beside.rows)
    correlation = rank_correlation([mean(table.cents(n)) for n in names], [mean(beside.cents(n)) for n in names])
    seeds, here, there = len(beside.geneses), mean(table.cents("reference")), mean(beside.cents("reference"))
    print(f"rank correlation with {preset} over {len(names)} rows, {seeds} seeds there: {correlation:.3f}")
    print(f"the reference makes ${here:,.0f}, {100 * here / there:.0f} % of ${there:,.0f} in {preset}")
    for name in names:
        if name not in LADDER and name != IDLE:
            print(f"  {name:34}{table.loss(name)[0]:6.1f} here {beside.loss(name)[0]:6.1f} in {preset}")


def best_cheap(geneses: Sequence[Genesis], results: Results, *, jobs: int) -> list[str]:
    """The three best of all cheap strategies on a few seeds."""
    names = list(cheap_strategies())
    play_all(geneses, names, results, judge=False, jobs=jobs)
    means = {name: mean(run.cents for g in geneses if (run := results.get(g, name))) for name in names}
    return sorted(names, key=lambda name: -means[name])[:3]


def print_bars(table: Table, cheap: Sequence[str]) -> None:
    """Print the best constant markup, over all seeds and in hindsight for each, and the best cheap strategies."""
    markups = {"list prices": "1.0", **{f"markup of {markup}": str(markup) for markup in MARKUPS}}
    if markups.keys() <= table.rows.keys():
        best = max(markups, key=lambda name: mean(table.cents(name)))
        middle, low, high = table.loss(best)
        print(f"best markup for all seeds, {markups[best]}: loss {middle:.1f} ({low:.1f} to {high:.1f})")
        by_seed = [max(markups, key=lambda name: table.cents(name)[index]) for index in range(len(table.geneses))]
        cents = [table.cents(name)[index] for index, name in enumerate(by_seed)]
        loss = 100 * (mean(table.cents("reference")) - mean(cents)) / table.scale
        print(f"best markup of each seed in hindsight: loss {loss:.1f}; {', '.join(markups[name] for name in by_seed)}")
    for name in cheap:
        middle, low, high = table.loss(name)
        print(f"{100 - middle:5.1f} % of the reference ({100 - high:.1f} to {100 - low:.1f}): {name}")


def print_correlation(table: Table) -> None:
    judged = {name: [row.coherence or 0.0 for row in rows] for name, rows in table.rows.items()}
    for name, values in judged.items():
        print(f"  coherence {mean(values):.3f}  {name}")
    lapses = ["reference", *[name for name in LAPSES if name in judged]]
    for kind, names in (("all rows", list(judged)), ("lapses", lapses)):
        correlation = rank_correlation([mean(judged[n]) for n in names], [mean(table.cents(n)) for n in names])
        print(f"rank correlation of coherence and bank balance over {kind}: {correlation:.2f}")


if __name__ == "__main__":
    main()
