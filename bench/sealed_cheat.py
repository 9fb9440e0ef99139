"""The cheat that looks a game up: what it earns on practice seeds, and on sealed games, beside `naive` and `informed`.

    python bench/sealed_cheat.py [SEEDS] [DAYS] [CANDIDATES]

It plays as `naive` does until what it hears has fitted the recorded game of exactly one small seed for a while, and
from there on as `informed`, which it hands that seed. Under a key nothing fits.
Budget: on sealed games no more than `naive`.
"""

import sys
import tempfile
from pathlib import Path
from statistics import fmean
from typing import Any

import akinai
from akinai import Genesis, Move, Outcome, View
from akinai.core.agents import AgentFactory, Role
from akinai.runtime.seal import new_key

HEADLINE = "net_worth"
SURE = 12
"""Answers that a last candidate has to fit, so that no other game is mistaken for it."""


class Cheat:
    """A player that looks for the seed of its game among recorded ones."""

    def __init__(self, role: Role, games: dict[int, list[str]], setup: Any) -> None:
        self._role, self._games, self._setup = role, dict(games), setup
        self._world = akinai.worlds.load("vending")
        self._player = self._world.players["naive"](role)
        self._turn = 0
        self._knows = False
        self._alone = 0
        """Answers that the last candidate has fitted."""

    async def act(self, view: View, last: Outcome | None) -> Move:
        if last is not None and not self._knows:
            turn = self._turn - 1
            fits = {seed: texts for seed, texts in self._games.items() if texts[turn : turn + 1] == [last.text]}
            self._alone = self._alone + 1 if len(fits) == 1 else 0
            if self._alone == SURE:
                self._knows = True
                genesis = Genesis(self._world.name, next(iter(fits)), self._setup)
                role = Role(self._role.actor, self._role.verbs, self._role.group, genesis=genesis)
                self._player = self._world.players["informed"](role)
            self._games = fits
        self._turn += 1
        return await self._player.act(view, last)


def cheat(candidates: int, **game: Any) -> AgentFactory:
    """The factory of cheats that know the games of the seeds from 1 on."""
    runs = akinai.run("vending", agent="naive", seeds=range(1, candidates + 1), **game)
    games = {run.seed: [entry.outcome.text for entry in run.ledger.entries] for run in runs}
    setup = runs[0].header.genesis.setup
    return lambda role: Cheat(role, games, setup)


def main(seeds: int = 20, days: int = 30, candidates: int = 40, preset: str = "quarter") -> None:
    """Print the mean of each player on practice seeds and on sealed games, and the ratio to the budget."""
    game: dict[str, Any] = {"preset": preset, "days": days, "jobs": 1}
    agents: dict[str, Any] = {"naive": "naive", "cheat": cheat(candidates, **game), "informed": "informed"}
    with tempfile.TemporaryDirectory() as place:
        key = new_key(Path(place) / "key.json").path
        for games, own in (("practice", {}), ("sealed", {"key": key})):
            means = {
                agent: fmean(
                    run.score(HEADLINE) for run in akinai.run("vending", agent=who, seeds=f"1-{seeds}", **own, **game)
                )
                for agent, who in agents.items()
            }
            ratio = means["cheat"] / means["naive"]
            words = ", ".join(f"{agent} ${mean / 100:,.2f}" for agent, mean in means.items())
            print(f"{games}: {words}; cheat / naive {ratio:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
