"""Rankings of a world's groups by its headline score, how often seeds that were played again pass a threshold, and the
standings of players who met."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, nan
from statistics import fmean

from akinai.analysis.groups import seed_values
from akinai.analysis.records import Group, PassRate, WorldRanking
from akinai.analysis.verdicts import ranking_sentences
from akinai.core.agents import owner_of
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import counted, label
from akinai.core.statistics import Bounds, Rating, mean_interval, pass_at_k, pass_hat_k, rank, rate, summarise
from akinai.core.statistics.ratings import Game
from akinai.core.stores import RunHeader
from akinai.runtime.runs.records import INTERRUPTED, Run, Runs

MOST_GROUPS = 30
"""Groups of one world that are ranked: 435 pairs."""
MOST_TRIES = 8
"""The largest k of pass@k and pass^k that is computed."""


def rank_groups(groups: Sequence[Group], runs: Iterable[Run]) -> list[WorldRanking]:
    """Rank the groups of each world that has two or more by its first score; a world with more than `MOST_GROUPS` has
    no ranking."""
    by_id = {run.id: run for run in runs}
    rankings: list[WorldRanking] = []
    for world in dict.fromkeys(group.world for group in groups if group.world):
        rivals = [group for group in groups if group.world == world and group.scores]
        if not 2 <= len(rivals) <= MOST_GROUPS:
            continue
        first = next(iter(rivals[0].scores.values()))
        values = {group.name: seed_means((by_id[id] for id in group.runs), first.name) for group in rivals}
        ranking = rank(values, better=first.better)
        seeds = min(sum(mean is not None for mean in means.values()) for means in values.values())
        rankings.append(WorldRanking(world, first.name, first.unit, first.better, ranking, seeds))
    return rankings


def seed_means(runs: Iterable[Run], score: str) -> dict[int, float | None]:
    """The mean of each seed's runs; None where none of them is measured."""
    return {seed: fmean(values) if values else None for seed, values in seed_values(runs, score).items()}


def pass_rates(group: Group, runs: Sequence[Run], thresholds: Mapping[str, float]) -> list[PassRate]:
    """pass@k and pass^k of each score that has a threshold, for k from 1 to the tries of the seed that was tried most.

    A run passes where its score is no worse than the threshold, which is in dollars for money. UnknownName for a score
    that the group's world does not have; UsageError for one of which neither higher nor lower values are better.
    """
    rates: list[PassRate] = []
    for name, amount in thresholds.items():
        if name not in group.scores:
            raise UnknownName("score", name, group.scores)
        score = group.scores[name]
        if score.better is None:
            raise UsageError(f"neither higher nor lower values of {name!r} are better, so no run passes; name another")
        threshold = amount * 100 if score.unit == "cents" else amount
        sign = 1 if score.better == "higher" else -1
        tries = [
            (len(values), sum(sign * value >= sign * threshold for value in values))
            for values in seed_values(runs, name).values()
        ]
        for k in range(1, min(MOST_TRIES, max((n for n, _ in tries), default=0)) + 1):
            enough = [(passed, n) for n, passed in tries if n >= k]
            once, always = (
                summarise([rate(passed, n, k) for passed, n in enough], bounds=(0.0, 1.0))
                for rate in (pass_at_k, pass_hat_k)
            )
            rates.append(PassRate(name, score.unit, threshold, k, once, always))
    return rates


def parse_thresholds(texts: Mapping[str, float] | Sequence[str] | None) -> dict[str, float]:
    """Thresholds by score, from such a mapping or from texts like "net_worth=1000". UsageError for any other text."""
    if isinstance(texts, Mapping):
        return dict(texts)
    return dict(_threshold(text) for text in texts or ())


def _threshold(text: str) -> tuple[str, float]:
    name, _, amount = text.partition("=")
    try:
        value = float(amount.replace("$", "").replace(",", ""))
    except ValueError:
        value = nan
    if not name.strip() or not isfinite(value):
        raise UsageError(f"--threshold wants SCORE=VALUE, such as net_worth=1000, not {text!r:.100}")
    return name.strip().replace(" ", "_"), value


def is_over(header: RunHeader) -> bool:
    """Whether a game needs no more play: neither its budget, a person nor an error ended it."""
    return header.status == "done" and header.ending not in (None, *INTERRUPTED)


@dataclass(frozen=True, slots=True)
class Standing:
    """A player of an arena."""

    player: str
    place: int
    """One more than the number of players that are shown to have more money, round by round."""
    rating: Rating
    money: float
    """Its mean of the headline score, in the score's unit."""
    money_ci95: Bounds | None
    conduct: int
    """Findings of conduct about it, over all games that are over."""
    conduct_games: int
    """Games that have one."""
    games: int
    left: int
    """Games in which it left, since its agent broke or was done, and others played on."""

    def to_json(self) -> dict[str, Json]:
        return {
            "player": self.player, "place": self.place, "rating": self.rating.to_json(), "mean": self.money,
            "ci95": list(self.money_ci95) if self.money_ci95 else None,
            "conduct": {"findings": self.conduct, "games": self.conduct_games, "of": self.games}, "left": self.left,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Leaving:
    """A player who left a game that others went on with."""

    player: str
    run: str
    seat: str
    why: str

    def to_json(self) -> dict[str, Json]:
        return {"player": self.player, "run": self.run, "seat": self.seat, "why": self.why}


@dataclass(frozen=True)
class Standings:
    """The result of an arena."""

    name: str
    players: Sequence[str]
    rounds: int
    """Rounds whose games are all over; only these count."""
    planned: int
    """Rounds that were asked for."""
    ranking: WorldRanking | None
    """The players by their money; None before a round is over."""
    rows: Sequence[Standing]
    """Best rating first; empty before a round is over."""
    runs: Runs
    """Round by round."""
    leavings: Sequence[Leaving] = ()

    @property
    def unfinished(self) -> Sequence[Run]:
        """The games that are not over."""
        return [run for run in self.runs if not is_over(run.header)]

    @property
    def answer(self) -> str:
        """Who has more money than whom, and how sure that is."""
        return ranking_sentences(self.ranking) if self.ranking else "No round is over yet."

    @property
    def score(self) -> str:
        return self.ranking.score if self.ranking else ""

    @property
    def unit(self) -> str:
        return self.ranking.unit if self.ranking else ""

    @cached_property
    def table(self) -> Grid:
        """A row for each player; a column of who left only where somebody did."""
        rows = self.rows
        left = [Column("games left", [row.left for row in rows])] if any(row.left for row in rows) else []
        return Grid(
            [
                Column("player", [row.player for row in rows], words=True, names=True),
                Column("place", [row.place for row in rows]),
                Column(
                    "rating", [round(row.rating.points) for row in rows],
                    ends=[(round(ends[0]), round(ends[1])) if (ends := row.rating.ci95) else None for row in rows],
                ),
                Column("ahead", [row.rating.ahead for row in rows], unit="percent"),
                Column(
                    f"mean {label(self.score)}".rstrip(), [row.money for row in rows], unit=self.unit,
                    ends=[row.money_ci95 for row in rows],
                ),
                Column("conduct", [row.conduct for row in rows]),
                Column("games with it", [row.conduct_games for row in rows], drop=1),
                *left,
            ],
            f"{self.name}: {counted(len(self.players), 'player')}, {counted(self.rounds, 'round')}",
            note=f"{missing} of {self.planned} rounds are not over" if (missing := self.planned - self.rounds) else "",
        )  # fmt: skip

    def to_json(self) -> dict[str, Json]:
        return {
            "name": self.name, "answer": self.answer, "players": [*self.players], "rounds": self.rounds,
            "planned": self.planned,
            "score": self.score, "unit": self.unit, "standings": [row.to_json() for row in self.rows],
            "runs": [run.id for run in self.runs],
            "unfinished": [
                {"run": run.id, "status": run.status, "ending": run.ending, "error": run.reason}
                for run in self.unfinished
            ],
            "left": [leaving.to_json() for leaving in self.leavings],
        }  # fmt: skip

    def __repr__(self) -> str:
        places = ", ".join(f"{row.place} {row.player}" for row in self.rows)
        return f"<Standings of {self.name}: {places}>"


@dataclass(frozen=True, slots=True)
class SeatedGame:
    """A game of an arena: who sat where, and how it ended."""

    run: Run
    players: Mapping[str, str]
    """Players by seat."""
    left: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why the player of a seat left, by seat."""

    @property
    def result(self) -> Game | None:
        """What each player had at the end; None for a game that is not over."""
        if not is_over(self.run.header) or not self.run.scores:
            return None
        scores = {score.name: score.value for score in self.run.scores}
        headline = self.run.scores[0].name
        return {player: scores[f"{headline}_{seat}"] for seat, player in self.players.items()}

    @property
    def conduct(self) -> Mapping[str, int]:
        """The findings of conduct about each player."""
        actors = Counter(owner_of(finding.actor) for finding in self.run.findings or () if finding.is_conduct)
        return {player: actors[seat] for seat, player in self.players.items()}


def standings(name: str, players: Sequence[str], games: Sequence[SeatedGame]) -> Standings:
    """The standings after games, of which those of a seed are a round."""
    rounds = dict[int, list[SeatedGame]]()
    for game in games:
        rounds.setdefault(game.run.header.number, []).append(game)
    over = {
        number: [game.result for game in seated if game.result is not None]
        for number, seated in rounds.items()
        if all(game.result is not None for game in seated)
    }
    money = {
        player: {number: fmean([game[player] for game in played if player in game]) for number, played in over.items()}
        for player in players
    }
    first = next((game.run.scores[0] for game in games if game.run.scores), None)
    ranking = None
    if over and first:
        order = rank(money, better="higher")
        ranking = WorldRanking(games[0].run.world, first.name, first.unit, "higher", order, len(over))
    conduct = [game.conduct for game in games if game.result is not None]
    of_player = {player: [counts[player] for counts in conduct if player in counts] for player in players}
    leavings = [
        Leaving(game.players[seat], game.run.id, seat, why) for game in games for seat, why in game.left.items()
    ]
    left = Counter(leaving.player for leaving in leavings)
    rows = [
        Standing(
            player, ranking.order.places[player] if ranking else 1, rating, fmean([*money[player].values()]),
            mean_interval([*money[player].values()]), sum(of_player[player]), sum(map(bool, of_player[player])),
            len(of_player[player]), left[player],
        )
        for player, rating in rate([*over.values()]).items()
    ]  # fmt: skip
    by_rating = sorted(rows, key=lambda row: -row.rating.points)
    runs = Runs([game.run for game in games])
    return Standings(name, players, len(over), len(rounds), ranking, by_rating, runs, leavings)
