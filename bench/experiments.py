"""The tables of docs/experiments.md: markets under one treatment after another, played by rules and by models.

Run: `python bench/experiments.py [SEEDS] [WORD] [--models]`, by default 8 seeds and every table, else those with a word
in their title. With `--models` customers are also played by
scripted shoppers, asked over HTTP like any model (`akinai.testing.endpoint.market`): their biases are planted, so
what the tables should show is known. They are no real models. Every table is the same on every machine.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import akinai
from akinai.core.money import format_cents
from akinai.core.statistics import summarise
from akinai.core.worlds import replay
from akinai.runtime.runs.sweep import swept_values
from akinai.testing.endpoint import Endpoint, world_responder
from akinai.testing.endpoint.market import SHOPPERS
from akinai.worlds.market import Market

SEEDS = 8
AGENTS = ("careful", "first")
VIRTUAL = {"clock": "virtual"}
EVEN = {"latency.customers_ms": 1_000, "latency.businesses_ms": 1_000}
ALIKE = {"customers": 10, "population.identical": True}
KINDS = ("none", "authority", "social_proof", "loss_aversion", "injection", "strong_injection")

Runs = Sequence[akinai.Run]
Figure = Callable[[Runs, Runs], list[str]]
"""The cells that runs come to, beside those of the first value that was swept: the control."""


def account(run: akinai.Run) -> Mapping[str, float]:
    """Every figure of a run's analysis that it has, by name."""
    return {figure.name: figure.value for figure in Market.facets.judging.account(replay(Market(), run.ledger)).figures}


def share(name: str) -> Figure:
    """A share of purchases: the mean over seeds and its interval."""
    return lambda runs, _: in_percent([account(run).get(name) for run in runs], "")


def moved(name: str) -> Figure:
    """The difference from the control: the mean over paired seeds, and its interval."""

    def figure(runs: Runs, control: Runs) -> list[str]:
        if runs == control:
            return ["", ""]
        pairs = zip(runs, control, strict=True)
        return in_percent([account(first)[name] - account(other)[name] for first, other in pairs], "+")

    return figure


def in_percent(values: Sequence[float | None], sign: str) -> list[str]:
    summary = summarise(values)
    if summary.mean is None:
        return ["-", "-"]
    low, high = summary.ci95 or (summary.mean, summary.mean)
    return [f"{summary.mean:{sign}.0%}", f"{low:{sign}.0%} to {high:{sign}.0%}"]


def welfare(runs: Runs, _: Runs) -> list[str]:
    return [format_cents(round(sum(run.score("welfare") for run in runs) / len(runs)))]


def bought(runs: Runs, _: Runs) -> list[str]:
    return [f"{sum(run.score('purchases') for run in runs) / len(runs):.2f}"]


def arm(run: akinai.Run) -> str:
    """A key that is equal for runs of the same swept values."""
    return str(dict(swept_values(run.header.card)))


def planted(runs: Runs, _: Runs) -> list[str]:
    """The treated share that a shopper's bias causes; of others nothing is planted."""
    how = runs[0].ledger.genesis.setup["manipulation"]
    biases = SHOPPERS.get(str(runs[0].header.card.get("model") or "").partition(":")[2])
    return ["" if biases is None else f"{biases.expected(how['kind'], 1, 3):.0%}"]


GAINS: Mapping[tuple[str, ...], Figure] = {("welfare",): welfare, ("purchases",): bought}


@dataclass(frozen=True)
class Bench:
    """The number of seeds, and the address of the models' server; None if no model plays."""

    seeds: int
    url: str | None
    word: str = ""
    """A part of the titles of the tables to print; empty for all."""

    def played(self, player: str, settings: Mapping[str, Any], sweep: Mapping[str, Sequence[Any]]) -> Runs:
        seeds = range(1, self.seeds + 1)
        if player in AGENTS:
            return akinai.run("market", agent=player, seeds=seeds, settings=settings, sweep=sweep)
        virtual = {**settings, **VIRTUAL}
        return akinai.run(
            "market", model=f"openai:{player}", base_url=self.url, seeds=seeds, settings=virtual, sweep=sweep
        )

    def table(
        self,
        title: str,
        sweep: Mapping[str, Sequence[Any]],
        settings: Mapping[str, Any],
        figures: Mapping[tuple[str, ...], Figure],
        models: Sequence[str],
    ) -> None:
        """Print a table with a row for each value and player."""
        if self.word not in title.lower():
            return
        players = [*AGENTS, *(models if self.url else ())]
        heads = [*sweep, "player", *(head for group in figures for head in group)]
        print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
        played = {player: self.played(player, settings, sweep) for player in players}
        arms = list(dict.fromkeys(map(arm, played[players[0]])))
        for swept_arm in arms:
            for player, runs in played.items():
                mine, control = ([run for run in runs if arm(run) == value] for value in (swept_arm, arms[0]))
                values = [str(value) for value in swept_values(mine[0].header.card).values()]
                label = [player if player in AGENTS else f"{player} (scripted)"]
                cells = [cell for figure in figures.values() for cell in figure(mine, control)]
                print(f"| {' | '.join([*values, *label, *cells])} |", flush=True)


def places(bench: Bench) -> None:
    """Print the effects of position: in search results and in the mail."""
    arms = {"population.identical": [True]}
    figures = {
        ("top of the results", "95 %"): share("top_result_share"),
        ("first proposal", "95 %"): share("first_proposal_share"),
    }
    bench.table("Place and arrival", arms, {"customers": 10}, figures, ("sober", "hasty", "skimming"))
    late = {"latency.agents.business_0001": [100, 1_000, 10_000]}
    control = {**ALIKE, **EVEN, "customers": 1, "manipulation.kind": "none"}
    seller = {("seller 1", "95 %"): share("treated_share")}
    replace(bench, seeds=3 * bench.seeds).table("Latency of seller 1", late, control, seller, ("sober", "hasty"))


def texts(bench: Bench) -> None:
    """Print the effects of what sellers say about themselves."""
    treated: dict[tuple[str, ...], Figure] = {("treated share", "95 %"): share("treated_share")}
    figures = {**treated, ("planted",): planted, ("against none", "95 %"): moved("treated_share")}
    one_each, pair = {**ALIKE, "manipulation.sellers": "one_each"}, ("sober", "gullible")
    bench.table("Manipulation by one seller of three", {"manipulation.kind": KINDS}, one_each, figures, pair)
    everybody, kinds = {**ALIKE, "manipulation.sellers": "all"}, ("none", "authority", "strong_injection")
    top = {("top of the results", "95 %"): share("top_result_share"), **GAINS}
    bench.table("The same by all sellers", {"manipulation.kind": kinds}, everybody, top, ("gullible",))
    differ, shares = {"customers": 10, "manipulation.sellers": "one_each"}, {**treated, **GAINS}
    bench.table("By one of three whose offers differ", {"manipulation.kind": kinds}, differ, shares, ("gullible",))


def gates(bench: Bench) -> None:
    """Print the effects of rules that a deal has to pass."""
    four, models = {"customers": 4}, ("sober",)
    bench.table("Proposals before payment", {"gates.proposals": [0, 2, 3, 4]}, four, GAINS, models)
    bench.table("Quote window", {"gates.quote_window_s": [0, 30, 120]}, four, GAINS, models)
    bench.table("Posted prices", {"gates.posted_prices": [False, True]}, four, GAINS, models)
    window = {**four, "gates.quote_window_s": 60}
    bench.table("Sealed bids", {"gates.sealed_bids": [False, True]}, window, GAINS, models)


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--models"]
    seeds = next((int(word) for word in words if word.isdigit()), SEEDS)
    title_part = " ".join(word for word in words if not word.isdigit()).lower()
    with ExitStack() as open_now:
        url = open_now.enter_context(Endpoint(world_responder("market"))).openai_url if "--models" in sys.argv else None
        bench = Bench(seeds, url, title_part)
        sizes = {"search.limit": [1, 3, 10, 30]}
        bench.table("Consideration set", sizes, {"customers": 10}, GAINS, ("sober", "skimming"))
        places(bench)
        texts(bench)
        gates(bench)


if __name__ == "__main__":
    main()
