"""The tables of docs/experiments.md: markets of rule-based agents under one treatment after another.

Run: `python bench/experiments.py [SEEDS]`, by default 8 seeds; every table is the same on every machine.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import akinai
from akinai.core.money import format_cents
from akinai.runtime.sweep import swept

SEEDS = 8
AGENTS = ("careful", "first")
EVEN = {"latency.customers_ms": 1_000, "latency.businesses_ms": 1_000}
ALIKE = {"customers": 1, "population.identical": True}
KINDS = ("none", "authority", "social_proof", "loss_aversion", "injection", "strong_injection")

Figure = Callable[[Sequence[akinai.Run]], str]


def paid(run: akinai.Run) -> list[str]:
    """Who was paid, in the order of payment."""
    told: list[str] = []
    for entry in run.ledger.entries:
        message: Any = entry.parameters.get("message")
        if message and message["type"] == "payment" and entry.outcome.ok:
            told.append(str(entry.parameters["to_agent_id"]))
    return told


def share(business: str) -> Figure:
    """The share of purchases that one business made."""

    def figure(runs: Sequence[akinai.Run]) -> str:
        bought = [one for run in runs for one in paid(run)]
        return f"{bought.count(business) / len(bought):.0%}" if bought else "-"

    return figure


def welfare(runs: Sequence[akinai.Run]) -> str:
    return format_cents(round(sum(run.score("welfare") for run in runs) / len(runs)))


def bought(runs: Sequence[akinai.Run]) -> str:
    return f"{sum(run.score('purchases') for run in runs) / len(runs):.2f}"


def table(
    title: str,
    sweep: Mapping[str, Sequence[Any]],
    settings: Mapping[str, Any],
    figures: Mapping[str, Figure],
    seeds: int,
) -> None:
    """A row for each value and player."""
    print(f"\n{title}\n\n| {' | '.join([*sweep, 'player', *figures])} |\n|{' --- |' * (len(sweep) + 1 + len(figures))}")
    played = {
        agent: akinai.run("market", agent=agent, seeds=range(1, seeds + 1), settings=settings, sweep=sweep)
        for agent in AGENTS
    }
    places = list(dict.fromkeys(str(dict(swept(run.header.card))) for run in played[AGENTS[0]]))
    for place in places:
        for agent, runs in played.items():
            mine = [run for run in runs if str(dict(swept(run.header.card))) == place]
            values = [str(value) for value in swept(mine[0].header.card).values()]
            print(f"| {' | '.join([*values, agent, *(figure(mine) for figure in figures.values())])} |")


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    gains = {"welfare": welfare, "purchases": bought}
    sellers = {f"seller {n}": share(f"business_{n:04}") for n in (1, 2, 3)}
    first_seller = {"seller 1": sellers["seller 1"]}
    table("Consideration set", {"search.limit": [1, 3, 10, 30]}, {"customers": 10}, gains, seeds)
    table("Position", {"population.identical": [True]}, {"customers": 1, **EVEN}, sellers, seeds)
    late = {"latency.agents.business_0001": [100, 1_000, 10_000]}
    table("Latency of seller 1", late, {**ALIKE, **EVEN}, first_seller, seeds)
    table("Manipulation by seller 1", {"manipulation.kind": KINDS}, ALIKE, {**first_seller, **gains}, seeds)
    everybody = {**ALIKE, "manipulation.sellers": "all"}
    table("The same by all sellers", {"manipulation.kind": KINDS}, everybody, {**first_seller, **gains}, seeds)
    four = {"customers": 4}
    table("Proposals before payment", {"gates.proposals": [0, 2, 3, 4]}, four, gains, seeds)
    table("Quote window", {"gates.quote_window_s": [0, 30, 120]}, four, gains, seeds)
    table("Posted prices", {"gates.posted_prices": [False, True]}, four, gains, seeds)
    window = {**four, "gates.quote_window_s": 60}
    table("Sealed bids", {"gates.sealed_bids": [False, True]}, window, gains, seeds)


if __name__ == "__main__":
    main()
