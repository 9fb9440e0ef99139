"""Whether the benchmark presets of the vending world measure what they should: a ladder of players, and single faults.

    python bench/validity.py [--preset quarter] [--seeds 1-20] [--only NAME,NAME] [--coherence]

Each row plays paired seeds. A rung's step is over the rung before it, a fault's loss is against the reference player,
in per cent of the distance from idle to reference, each with its 95 % interval. With --coherence the ledgers are
judged as well, and the rank correlation of coherence with the bank balance is printed. The seeds that nothing was
tuned on are 201-220.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev

from akinai.core.agents import AgentFactory, Role
from akinai.core.ledger import Entry, Genesis, Outcome, Turn
from akinai.core.steps import Step, Steps
from akinai.runtime.config.settings import prepare
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model.bound import bound_cents
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.players.days import trader
from akinai.worlds.vending.players.habits import LADDER, LAPSES, Habits, exploits, faults
from akinai.worlds.vending.rules.trade import bank_balance_cents

WORLD = Vending()
T_95 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 7: 2.36, 9: 2.26, 14: 2.14, 19: 2.09}
"""Two-sided 95 % points of Student's t by degrees of freedom; 2.0 beyond."""


@dataclass(frozen=True)
class Played:
    """A run's result."""

    cents: int
    messages: int
    sites: int
    ending: str
    final: State
    coherence: float | None = None


def play(genesis: Genesis, factory: AgentFactory, *, judge: bool = False) -> Played:
    """Play a run in memory."""
    return asyncio.run(_play(genesis, factory, judge))


async def _play(genesis: Genesis, factory: AgentFactory, judge: bool) -> Played:
    opening = state = WORLD.begin(genesis)
    agent = factory(Role("owner", WORLD.verbs.classes, genesis=genesis))
    last: Outcome | None = None
    steps: list[Step[State]] = []
    seq, digest = 0, genesis.digest
    while not state.ending:
        seq += 1
        move = await agent.act(WORLD.view(state, "owner"), last)
        turn = Turn(seq, WORLD.now(state), "owner", move.action)
        after, last = WORLD.apply(state, turn)
        if judge:
            entry = Entry.of(digest, turn, last)
            digest = entry.digest
            steps.append(Step(state, entry, turn, last, after))
        state = after
    coherence = None
    if judge:
        record = Steps(genesis, opening, iter(steps))
        judging = WORLD.facets.judging
        scores = judging.coherence(record, judging.detect(record))
        coherence = next((float(score.value) for score in scores if score.name == "coherence"), None)
    return Played(bank_balance_cents(state), seq, len(state.sites), state.ending or "", state, coherence)


def rung(habits: Habits) -> AgentFactory:
    """The factory of a trader with some habits."""
    return lambda role: trader(habits, role.genesis)


def interval(differences: Sequence[float]) -> tuple[float, float, float]:
    """The mean and the 95 % interval of paired differences."""
    middle = mean(differences)
    half = T_95.get(len(differences) - 1, 2.0) * stdev(differences) / sqrt(len(differences))
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

    preset: str
    geneses: Sequence[Genesis]
    judge: bool
    rows: dict[str, list[Played]]

    def add(self, name: str, factory: AgentFactory) -> list[Played]:
        self.rows[name] = [play(genesis, factory, judge=self.judge) for genesis in self.geneses]
        return self.rows[name]

    def cents(self, name: str) -> list[float]:
        return [played.cents / 100 for played in self.rows[name]]

    @property
    def scale(self) -> float:
        return mean(self.cents("reference")) - mean(self.cents("idle"))

    def step(self, name: str, before: str) -> tuple[float, float, float]:
        pairs = zip(self.cents(name), self.cents(before), strict=True)
        return interval([new - old for new, old in pairs])

    def loss(self, name: str) -> tuple[float, float, float]:
        """In per cent of idle to reference."""
        pairs = zip(self.cents("reference"), self.cents(name), strict=True)
        middle, low, high = interval([reference - row for reference, row in pairs])
        return 100 * middle / self.scale, 100 * low / self.scale, 100 * high / self.scale


def seeds_of(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def table_of(
    preset: str, seeds: Sequence[int], *, judge: bool = False, settings: Mapping[str, object] | None = None
) -> Table:
    setup = prepare(WORLD, preset=preset, settings=settings or {}).setup
    return Table(preset, [Genesis(WORLD.name, seed, setup) for seed in seeds], judge, {})


def print_rung(table: Table, name: str, before: str) -> None:
    cents, rows = table.cents(name), table.rows[name]
    line = f"{name:34}{mean(cents):9,.0f} (sd {stdev(cents):6,.0f})  {mean(r.messages for r in rows):6,.0f} messages"
    line += f"  {mean(r.sites for r in rows):.1f} sites"
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
    args = parser.parse_args()
    only = [name for name in args.only.split(",") if name]
    start = time.perf_counter()
    settings = dict(text.split("=", 1) for text in args.set)
    table = table_of(
        args.preset, seeds_of(args.seeds), judge=args.coherence, settings={k: int(v) for k, v in settings.items()}
    )
    days = int(str(table.geneses[0].setup["days"]))
    print(f"{args.preset}, {days} days, seeds {args.seeds}; dollars")
    before = ""
    for name, factory in {"idle": WORLD.players["idle"], **{n: rung(h) for n, h in LADDER.items()}}.items():
        if not only or name in ("idle", "reference", *only):
            table.add(name, factory)
            print_rung(table, name, before)
            before = name
    if "informed" in table.rows:
        bounds = [bound_cents(genesis) / 100 for genesis in table.geneses]
        zero, top = mean(table.cents("idle")), mean(table.cents("informed"))
        print(f"{'bound':34}{mean(bounds):9,.0f}  {mean(bounds) / top:.2f} times informed")
        for name in table.rows:
            print(f"  {name:30} {100 * (mean(table.cents(name)) - zero) / (top - zero):5.1f} % of idle to informed")
        above = [n for n in table.rows if any(c > b for c, b in zip(table.cents(n), bounds, strict=True))]
        print("above the bound:", ", ".join(above) or "nobody")
    print(f"loss in per cent of idle to reference, ${table.scale:,.0f}, with 95 % interval")
    for name, habits in {**faults(days), **exploits()}.items():
        if only and name not in only:
            continue
        table.add(name, rung(habits))
        middle, low, high = table.loss(name)
        verdict = "" if name in exploits() else "ok" if middle >= 5 and low > 0 else "<<<"
        ends = sum(row.ending == "bankrupt" for row in table.rows[name])
        print(
            f"{name:34}{middle:6.1f} ({low:5.1f} to {high:5.1f}) {verdict} {f'{ends} bankrupt' if ends else ''}",
            flush=True,
        )
    if args.coherence:
        print_correlation(table)
    print(f"{time.perf_counter() - start:,.0f} seconds")


def print_correlation(table: Table) -> None:
    judged = {name: [row.coherence or 0.0 for row in rows] for name, rows in table.rows.items()}
    for name, values in judged.items():
        print(f"  coherence {mean(values):.3f}  {name}")
    for what, names in (("all rows", list(judged)), ("lapses", ["reference", *[n for n in LAPSES if n in judged]])):
        found = rank_correlation([mean(judged[n]) for n in names], [mean(table.cents(n)) for n in names])
        print(f"rank correlation of coherence and bank balance over {what}: {found:.2f}")


if __name__ == "__main__":
    main()
