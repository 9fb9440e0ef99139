"""Measures whether `akinai why` finds a planted mistake, and how often it blames what does not matter.

python bench/why.py [planted] [nulls] [jobs]       by default 50 planted runs, 24 nulls and 2 processes

Planted: the reference player with one bad decision on a day that the seed draws: 200 units of the slowest product, an
order from a cheat, a week of silence, a price at half cost. Found: among the first three rows that cost. Nulls: a look
more, or one cent more on a product's price; they must not be called costly. The preset is `quarter`, on seeds that
nothing was tuned on.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import akinai
from akinai.core.actions import Action
from akinai.core.agents import Agent, Move, Role, View
from akinai.core.chance import Chance
from akinai.core.ledger import DAY_US, Genesis, Outcome
from akinai.runtime.why.explanation import Explanation
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.economy import economy_of
from akinai.worlds.vending.players.days import Trading
from akinai.worlds.vending.players.habits import REFERENCE

FIRST_SEED = 201
SILENT_DAYS = 7
BUDGET = 160
"""Branches of a run: the candidates that cost most have all their futures, others of a long list may lack them."""
BUDGET_S = 120


@dataclass
class Planted:
    """The reference player with a mistake at the end of a day, which it is aware of."""

    kind: str
    day: int
    genesis: Genesis
    inner: Trading = field(default_factory=lambda: Trading(REFERENCE, None))
    start: int | None = None
    done: Action | None = None
    """The mistake once it was made."""
    held: Move | None = None

    async def act(self, view: View, last: Outcome | None) -> Move:
        now = (view.now or 0) // DAY_US
        self.start = now if self.start is None else self.start
        today = now - self.start + 1
        if self.kind == "silence":
            silent = self.day <= today < self.day + SILENT_DAYS
            return Move(a.AdvanceDay()) if silent else await self.inner.act(view, last)
        if self.held is not None and last is not None and self.done is not None:
            move, self.held = self.held, None
            if last.ok:
                self.inner.watch(self.done, last)
            else:  # not enough money: another day
                self.done, self.day = None, self.day + 1
            return move
        move = await self.inner.act(view, last)
        if today == self.day and self.done is None and isinstance(move.action, a.AdvanceDay):
            mistake = MISTAKES[self.kind](self)
            if mistake is not None:
                self.held, self.done = move, mistake
                return Move(mistake)
            self.day += 1  # another day
        return move

    def priced(self) -> str:
        """The product that it sells most of."""
        trader = self.inner.trader
        assert trader is not None
        rates = trader.memory.rates
        return max((id for id in trader.prices if id in rates), key=lambda id: (rates[id], id))

    def price(self) -> int:
        assert self.inner.trader is not None
        return self.inner.trader.prices[self.priced()]


def slow_product(player: Planted) -> Action:
    """200 units of the slowest product, from the first honest trader that sells it."""
    economy = economy_of(player.genesis)
    assert economy.town is not None
    tastes, town = economy.town.tastes, economy.town
    for id in sorted(tastes, key=lambda id: tastes[id].base * tastes[id].by_period[0]):
        for supplier in economy.setup.catalog.suppliers:
            fair = town.traders[supplier.id].character in ("honest", "haggler")
            if fair and id in supplier.products and supplier.id in town.open_suppliers(player.day):
                return a.PlaceOrder(supplier_id=supplier.id, items={id: 200})
    raise LookupError("nobody sells it")


def cheat(player: Planted) -> Action | None:
    """Goods for three fifths of its cash and at most $400, from a cheat whose prices it knows; None for no such."""
    economy, trader = economy_of(player.genesis), player.inner.trader
    assert economy.town is not None
    assert trader is not None
    offers, traders = trader.memory.offers, economy.town.traders
    open_suppliers = economy.town.open_suppliers(player.day)
    cheats = [id for id in open_suppliers if traders[id].character == "cheat" and id in offers]
    if not cheats:
        return None
    prices = offers[cheats[0]].prices
    goods = [id for id in trader.layout if id in prices] or list(prices)[:6]
    units = max(1, min(trader.cash * 3 // 5, 40_000) // sum(prices[id] for id in goods))
    return a.PlaceOrder(supplier_id=cheats[0], items=dict.fromkeys(goods, units))


def half_cost(player: Planted) -> Action:
    """The best seller at half of the trade price."""
    product = economy_of(player.genesis).setup.catalog.by_id[player.priced()]
    return a.ChangePrices(prices_cents={product.id: max(1, product.wholesale_cents // 2)})


def look(_: Planted) -> Action:
    return a.ReadNews()


def cent(player: Planted) -> Action:
    return a.ChangePrices(prices_cents={player.priced(): player.price() + 1})


MISTAKES: dict[str, Callable[[Planted], Action | None]] = {
    "slow product": slow_product, "cheat": cheat, "half cost": half_cost, "a look": look, "one cent": cent,
}  # fmt: skip
PLANTED = ("slow product", "cheat", "silence", "half cost")
NULLS = ("a look", "one cent")


@dataclass(frozen=True)
class ExplainedRun:
    """An explained run."""

    kind: str
    day: int
    explanation: Explanation
    seconds: float

    @property
    def rank(self) -> int:
        """The rank of the first row that covers the mistake, from 1; 0 for none."""
        last = self.day + (SILENT_DAYS - 1 if self.kind == "silence" else 0)
        covers = [row.first <= last and row.last >= self.day for row in self.explanation.cost]
        return covers.index(True) + 1 if True in covers else 0

    @property
    def blamed(self) -> bool:
        return any(row.shown for row in self.explanation.cost)


def explain_planted(kind: str, seed: int, jobs: int, folder: str) -> ExplainedRun:
    players: list[Planted] = []

    def factory(role: Role) -> Agent:
        assert role.genesis is not None
        players.append(Planted(kind, Chance.of(seed)("planted").between(10, 75), role.genesis))
        return players[-1]

    factory.__dict__["yardstick"] = True
    store = str(Path(folder, f"{seed}.db"))
    run = akinai.run("vending", preset="quarter", agent=factory, seeds=seed, store=store)[0]
    assert run.status == "done", run.reason
    begun = time.perf_counter()
    explanation = akinai.why(run.id, store=store, jobs=jobs, budget=BUDGET)
    return ExplainedRun(kind, players[-1].day, explanation, time.perf_counter() - begun)


def main() -> None:
    planted, nulls, jobs = [int(word) for word in sys.argv[1:]] + [50, 24, 2][len(sys.argv) - 1 :]
    kinds = [PLANTED[index % len(PLANTED)] for index in range(planted)]
    kinds += [NULLS[index % len(NULLS)] for index in range(nulls)]
    explained_runs: list[ExplainedRun] = []
    with tempfile.TemporaryDirectory() as folder:
        for index, kind in enumerate(kinds):
            row = explain_planted(kind, FIRST_SEED + index, jobs, folder)
            explained_runs.append(row)
            top = row.explanation.cost[0] if row.explanation.cost else None
            name = f"{FIRST_SEED + index} {kind:13} day {row.day:2}"
            worth = f"{top.made / 100:8,.0f} {'shown' if top.shown else 'not shown'}  {top.words[:60]}" if top else "-"
            print(
                f"{name}  rank {row.rank}  {row.explanation.branches:3} branches  {row.seconds:5.1f} s  {worth}",
                flush=True,
            )
    mistakes = [row for row in explained_runs if row.kind in PLANTED]
    for kind in PLANTED:
        rows = [row for row in mistakes if row.kind == kind]
        print(f"{kind:13} {sum(0 < row.rank <= 3 for row in rows)} of {len(rows)} among the first three")
    hits = sum(0 < row.rank <= 3 for row in mistakes)
    blamed = sum(row.blamed for row in explained_runs if row.kind in NULLS)
    if mistakes:
        print(f"planted: {hits} of {len(mistakes)} found, {hits / len(mistakes):.0%} (at least 90 %)")
    if nulls:
        print(f"nulls: {blamed} of {nulls} called costly, {blamed / nulls:.0%} (at most 5 %)")
    slowest = max(row.seconds for row in explained_runs)
    print(f"slowest: {slowest:.0f} s with {jobs} processes (at most {BUDGET_S}: {slowest / BUDGET_S:.2f})")


if __name__ == "__main__":
    main()
