"""A small policy learns to plan the weeks of `sprint`: what the machine holds, and at which prices.

Two linear functions of a product's numbers are found by the cross-entropy method, on games of the pool `train`, through
Gymnasium's vector environment. A clerk orders, claims and pays by rules. Games of the pool `test` compare the policy
with the player `naive`, and with a control that is trained in the same way, on shuffled rewards.
"""

import json
import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt

import akinai
from akinai.core.chance import pooled_seed
from akinai.core.statistics.intervals import mean_interval

Array = npt.NDArray[np.float64]

START_CENTS = 50_000
KEPT_CENTS = 3_000
RENT_CENTS = 10_000
KINDS = 4
"""Products of each size that the machine holds."""
NUMBERS = 5
"""Numbers of a product that the policy reads."""
GUIDES = ("Price guide: drink candy dairy products", "Price guide: snack bakery fresh products")
SUPPLIERS = ("wholesale suppliers for vending machines", "distributors of snacks and drinks", "candy wholesaler")
PAGE = re.compile(
    r"\((\w+)\)\nCategory: .*\nSize: (\w+), .*\nTypical retail price: \$([\d.]+)\nTypical sales: ([\d.]+) units.*\n"
    r"Wholesale price: about \$([\d.]+) .*\nShelf life: (\d+) days"
)
SEARCHES = [{"action": "search_web", "query": query} for query in SUPPLIERS]


class Page(NamedTuple):
    """A product as the price guide has it; money in dollars."""

    size: str
    retail: float
    units_a_day: float
    trade: float
    shelf_days: int


class Order(NamedTuple):
    """An order on its way."""

    supplier: str
    promised: int
    """The day."""
    units: dict[str, int]


@dataclass
class Clerk:
    """Does by rules what the policy does not: finds suppliers, orders what sells, claims what is missing, pays."""

    guide: dict[str, Page]
    offers: Sequence[Any] = ()
    coming: list[Order] = field(default_factory=list[Order])
    rates: dict[str, float] = field(default_factory=dict[str, float])
    """Units that sell a day."""
    out: dict[str, float] = field(default_factory=dict[str, float])
    """The share of evenings on which a product was sold out."""

    def read_lists(self, offers: Sequence[Any]) -> None:
        """Take note of the suppliers that are not too good to be true."""
        for offer in offers:
            offer["prices_cents"] = {id: cents for id, cents in offer["prices_cents"].items() if id in self.guide}
        self.offers = [
            offer
            for offer in offers
            if sum(cents / self.guide[id].trade - 95 for id, cents in offer["prices_cents"].items()) > 0
        ]

    def read_report(self, report: Any) -> None:
        """Learn what came, what sells, and which supplier does not deliver."""
        for row in report["counted"]:
            self.coming.remove(next(order for order in self.coming if order.supplier == row["supplier"]))
        late = {order.supplier for order in self.coming if report["day"] > order.promised + 7}
        self.offers = [offer for offer in self.offers if offer["supplier"] not in late]
        self.coming = [order for order in self.coming if order.supplier not in late]
        for id in report["sites"][0]["units"]:
            out = sum(id in day["out"].get("1", ()) for day in report["days"]) / 7
            sold = sum(day["sold"].get("1", {}).get(id, 0) for day in report["days"]) / 7
            self.rates[id] = 0.5 * self.rates.get(id, sold) + 0.5 * max(sold, sold / (1.2 - out))
            self.out[id] = 0.5 * self.out.get(id, 0.0) + 0.5 * out

    def rate(self, id: str) -> float:
        """Units that a product is expected to sell a day."""
        return self.rates.get(id, 0.7 * self.guide[id].units_a_day)

    def cheapest(self) -> dict[str, Any]:
        """The offer of each product that asks least."""
        return {
            id: min(
                (offer for offer in self.offers if id in offer["prices_cents"]),
                key=lambda offer: offer["prices_cents"][id],
            )
            for id in self.guide
            if any(id in offer["prices_cents"] for offer in self.offers)
        }

    def plan(self, policy: Array) -> dict[str, int]:
        """The products that the machine is to hold by a policy, with their prices in cents."""
        costs = {id: offer["prices_cents"][id] for id, offer in self.cheapest().items()}
        numbers = {id: self.numbers(id, cost) for id, cost in costs.items()}
        worth, markup = policy.reshape(2, NUMBERS)
        best = sorted(costs, key=lambda id: -float(worth @ numbers[id]))
        sizes = [[id for id in best if self.guide[id].size == size][:KINDS] for size in ("small", "large")]
        return {id: int(np.clip(costs[id] * np.exp(markup @ numbers[id]), 20, 2_000)) for ids in sizes for id in ids}

    def numbers(self, id: str, cost: int) -> Array:
        """What the policy reads of a product: its margin at the typical price, how it sells, whether it spoils."""
        page = self.guide[id]
        margin, gain = np.log(100 * page.retail / cost), self.rate(id) * (page.retail - cost / 100)
        return np.array([1.0, margin, gain / 4, self.out.get(id, 0.0), page.shelf_days < 12])

    def week(self, report: Any, products: Sequence[str]) -> dict[str, Any]:
        """The orders, claims and bills of a week."""
        day, cash, cheapest = report["day"], report["cash_cents"] - KEPT_CENTS, self.cheapest()
        orders: list[dict[str, Any]] = []
        if day % 28 in (15, 22):
            cash -= RENT_CENTS
        for offer in self.offers:
            prices, units = offer["prices_cents"], dict[str, int]()
            for id in products:
                days = offer["lead_days"] + min(10, self.guide[id].shelf_days)
                there = report["storage"].get(id, 0) + report["sites"][0]["units"].get(id, 0)
                coming = sum(order.units.get(id, 0) for order in self.coming)
                lacks = self.rate(id) * days + 3 - there - coming
                count = int(min(lacks, cash / prices[id])) if cheapest[id] is offer else 0
                if count > 0:
                    units[id] = count
                    cash -= count * prices[id]
            cost = sum(count * prices[id] for id, count in units.items())
            if cost >= offer["minimum_cents"]:
                orders.append({"supplier_id": offer["supplier"], "items": units})
                self.coming.append(Order(offer["supplier"], day + offer["lead_days"], units))
            else:
                cash += cost
        claims = [{"order": row["order"], "missing": row["missing"]} for row in report["counted"] if row["missing"]]
        payments = [{"bill": "rent", "number": 1}] if day % 28 == 22 else []
        return {"orders": orders, "claims": claims, "payments": payments}


FIRST_REPORT = {"day": 1, "cash_cents": START_CENTS, "counted": (), "storage": {}, "sites": [{"units": {}}]}


def monday(clerk: Clerk, report: Any, policy: Array) -> str:
    """The reply of a Monday: the policy's plan, then the clerk's week."""
    plan = clerk.plan(policy)
    sites = [{"site": 1, "products": [*plan]}]
    prices = [{"product": id, "price_cents": cents} for id, cents in plan.items()]
    week = clerk.week(report, [*plan])
    return json.dumps([{"action": "set_plan", "sites": sites, "prices": prices}, {"action": "week", **week}])


def environment(n: int, split: str, days: int) -> Any:
    """As many games of a pool, played side by side."""
    name = "akinai.adapters.gymnasium:akinai/vending"
    return gymnasium.make_vec(name, n, preset="sprint", split=split, days=days).unwrapped


def play(envs: Any, policies: Sequence[Array], seeds: Sequence[int]) -> Array:
    """What each policy gains in a game, in cents."""
    envs.reset(seed=seeds)
    games, pages = [*envs.batch.games], [dict[str, Page]() for _ in seeds]
    for query in GUIDES:
        texts = envs.step([json.dumps({"action": "search_web", "query": query})] * len(seeds))[0]
        for guide, text in zip(pages, texts, strict=True):
            for id, size, retail, rate, trade, days in PAGE.findall(text):
                guide[id] = Page(size, float(retail), float(rate), float(trade), int(days))
    envs.step([json.dumps([*SEARCHES, {"action": "get_price_lists"}])] * len(seeds))
    clerks, reports = [Clerk(guide) for guide in pages], [FIRST_REPORT] * len(seeds)
    for clerk, game in zip(clerks, games, strict=True):
        clerk.read_lists(game.outcome.data["suppliers"])
    gains, over = np.zeros(len(seeds)), np.zeros(len(seeds), np.bool_)
    while not over.all():
        playing = zip(clerks, reports, policies, over, strict=True)
        replies = ["" if done else monday(clerk, report, policy) for clerk, report, policy, done in playing]
        _, rewards, ended, _, _ = envs.step(replies)
        gains += np.where(over, 0.0, rewards)  # a game that is over is followed by another, which does not count
        over |= ended
        for i in np.flatnonzero(~over):
            reports[i] = games[i].outcome.data
            clerks[i].read_report(reports[i])
    return gains


def train(
    shuffled: bool = False, generations: int = 12, policies: int = 16, games: int = 2, days: int = 364, seed: int = 1
) -> Array:
    """The policy that cross-entropy finds. `shuffled`: each gets the rewards of another."""
    random = np.random.default_rng(seed)
    envs = environment(policies * games, "train", days)
    mean, spread = np.zeros(2 * NUMBERS), np.ones(2 * NUMBERS)
    for generation in range(generations):
        tried = mean + spread * random.standard_normal((policies, 2 * NUMBERS))
        seeds = [*range(generation * games, (generation + 1) * games)] * policies
        gains = play(envs, np.repeat(tried, games, axis=0), seeds).reshape(policies, games).mean(axis=1)
        if shuffled:
            gains = random.permutation(gains)
        best = tried[np.argsort(-gains)[: policies // 4]]
        mean, spread = 0.3 * mean + 0.7 * best.mean(axis=0), 0.3 * spread + 0.7 * best.std(axis=0) + 0.1
    return mean


def judge(policy: Array, n: int = 64, days: int = 364, split: str = "test") -> Array:
    """What a policy gains in games that it has not seen."""
    return play(environment(n, split, days), [policy] * n, range(n))


def gains_of_naive(n: int = 64, days: int = 364) -> Array:
    """What the player `naive` gains in the same games."""
    seeds = [pooled_seed("test", number) for number in range(n)]
    played = akinai.run("vending", preset="sprint", agent="naive", seeds=seeds, days=days, ledgers=False)
    return np.array([run.scores[0].value - START_CENTS for run in played])


def dollars(cents: Array) -> str:
    """A mean with its interval."""
    low, high = mean_interval(cents.tolist()) or (np.nan, np.nan)
    return f"${cents.mean() / 100:,.0f} ({low / 100:,.0f} to {high / 100:,.0f})"


def main() -> None:
    """Train policy and control on a core each, and print what they gain."""
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        policies = [*processes.map(train, (False, True))]
        policy, control = processes.map(judge, policies)
    naive = gains_of_naive()
    print(f"naive    gains {dollars(naive)}")
    for name, gains in {"policy": policy, "control": control}.items():
        print(f"{name:8} gains {dollars(gains)}, beyond naive {dollars(gains - naive)}")


if __name__ == "__main__":
    main()
