"""Ratings of players who meet in games: the model of Bradley and Terry (1952, Biometrika 39:324), with intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, cast

from akinai.core.canonical import JsonRecord
from akinai.core.chance import Chance
from akinai.core.statistics.summaries import Bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS = 400 / math.log(10)
"""Points for a factor e in the odds: 400 points are odds of ten to one, as in chess."""
MIDDLE = 1000
"""The mean of all ratings."""
RESAMPLES = 500
FEWEST_ROUNDS = 5
"""With fewer rounds no interval is given."""
CLOSE, MOST_STEPS = 1e-9, 100
"""When the iteration ends."""

Game = Mapping[str, float]
"""What each player had at the end; more is better."""
Wins = Mapping[tuple[str, str], float]
"""How often the first of two players was ahead of the second; a tie is half of one for each."""


@dataclass(frozen=True, slots=True)
class Rating(JsonRecord):
    """How strong a player is beside the others."""

    points: float
    ci95: Bounds | None
    """Between resampled rounds; None for fewer than five rounds."""
    ahead: float
    """The share of the others, over all games, that it was ahead of; a tie is half."""


def rate(rounds: Sequence[Sequence[Game]]) -> dict[str, Rating]:
    """The rating of each player from rounds of games, in the order in which the players first occur; nobody's without
    a game.

    Every two of a game are a comparison. One tie of every two players is added, so that who always wins has a rating.
    Intervals come from rounds drawn again with replacement, since the games of a round are not independent.
    """
    players = list(dict.fromkeys(player for games in rounds for game in games for player in game))
    if not players:
        return {}
    wins, middle = [_wins(games) for games in rounds], _strengths(players, [_wins(games) for games in rounds])
    drawn = list[Mapping[str, float]]()
    if len(rounds) >= FEWEST_ROUNDS:
        for number in range(RESAMPLES):
            chance = Chance.of(number)("rounds")
            drawn.append(_strengths(players, [wins[chance(at).below(len(wins))] for at in range(len(wins))]))
    return {
        player: Rating(
            MIDDLE + POINTS * middle[player],
            _middle_95([MIDDLE + POINTS * strengths[player] for strengths in drawn]),
            _ahead(player, wins),
        )
        for player in players
    }


def _wins(games: Sequence[Game]) -> Wins:
    wins = dict[tuple[str, str], float]()
    for game in games:
        for a, b in combinations(game, 2):
            share = 0.5 if game[a] == game[b] else float(game[a] > game[b])
            wins[a, b] = wins.get((a, b), 0) + share
            wins[b, a] = wins.get((b, a), 0) + 1 - share
    return wins


def _ahead(player: str, rounds: Sequence[Wins]) -> float:
    own = sum(n for wins in rounds for (winner, _), n in wins.items() if winner == player)
    lost = sum(n for wins in rounds for (_, loser), n in wins.items() if loser == player)
    return own / (own + lost) if own + lost else 0.5


def _strengths(players: Sequence[str], rounds: Sequence[Wins]) -> dict[str, float]:
    """The logarithms of the strengths, 0 on average: the greatest likelihood, by Newton's method."""
    import numpy as np

    won = np.full((len(players), len(players)), 0.5)
    np.fill_diagonal(won, 0)
    at = {player: index for index, player in enumerate(players)}
    for wins in rounds:
        for (a, b), count in wins.items():
            won[at[a], at[b]] += count
    met = won + won.T
    strengths: NDArray[np.float64] = np.zeros(len(players))
    for _ in range(MOST_STEPS):
        chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        weights = met * chance * (1 - chance)
        curve = np.diag(weights.sum(1)) - weights + 1 / len(players)  # the last term holds the mean at 0
        move = cast("NDArray[np.float64]", np.linalg.solve(curve, (won - met * chance).sum(1)))
        strengths = strengths + np.clip(move, -1, 1)
        if np.abs(move).max() < CLOSE:
            break
    level = float(np.mean(strengths))
    return {player: float(strengths[index]) - level for player, index in at.items()}


def _middle_95(values: Sequence[float]) -> Bounds | None:
    """The middle 95 % of drawn values."""
    if not values:
        return None
    ascending, left_out = sorted(values), round(len(values) * 0.025)
    return ascending[left_out], ascending[-1 - left_out]
