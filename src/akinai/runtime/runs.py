"""Runs as people and programs read them: what was played, how it ended, what it scored, what many say together."""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName
from akinai.core.ledger import Genesis, Ledger
from akinai.core.scores import Score
from akinai.core.statistics import Summary, summarise
from akinai.core.stores import RunHeader, Store
from akinai.core.worlds import World, fold

DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run, scored from its ledger."""

    header: RunHeader
    ledger: Ledger
    days: int
    """Midnights that passed in the world; 0 where the world has no clock of its own."""
    scores: tuple[Score, ...]

    @property
    def id(self) -> str:
        return self.header.run_id

    @property
    def seed(self) -> int:
        return self.header.genesis.seed

    def score(self, name: str) -> int | float:
        """The value of one score. UnknownName when the world has none of that name."""
        for one in self.scores:
            if one.name == name:
                return one.value
        raise UnknownName("score", name, (one.name for one in self.scores))

    def to_json(self) -> dict[str, Json]:
        """The run as `--json` prints it."""
        header = self.header
        told: dict[str, Json] = {
            "run": header.run_id,
            "world": header.genesis.world,
            "preset": header.card.get("preset"),
            "agent": next(iter(header.agents.values()), None),
            "seed": header.genesis.seed,
            "status": header.status,
            "ending": header.ending,
            "days": self.days,
            "entries": len(self.ledger.entries),
            "digest": self.ledger.digest,
            "scores": {score.name: score.to_json() for score in self.scores},
        }
        if header.parent:
            told["parent"] = header.parent
        if header.error:
            told["error"] = header.error
        return told


class Runs(Sequence[Run]):
    """Runs of one command, in the order of their seeds."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = tuple(runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, index: Any) -> Any:
        return Runs(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __repr__(self) -> str:
        return f"<Runs: {', '.join(run.id for run in self._runs[:5])}{' ...' if len(self) > 5 else ''}>"

    def values(self, score: str) -> list[int | float | None]:
        """One score of every run; None for a run that is not done, which statistics count as failed."""
        return [run.score(score) if run.header.status == "done" else None for run in self._runs]

    def score_names(self) -> list[str]:
        """The names of all scores, in the order in which the world gives them."""
        return list(dict.fromkeys(score.name for run in self._runs for score in run.scores))

    def summary(self) -> dict[str, Summary]:
        """Mean, median, extremes and interval of every score over the runs."""
        return {name: summarise(self.values(name)) for name in self.score_names()}

    def frame(self) -> Any:
        """A table with a row a run, as a pandas or else a polars frame. ImportError when neither is installed."""
        rows = [
            {"run": run.id, "seed": run.seed, "agent": next(iter(run.header.agents.values()), None)}
            | {"status": run.header.status, "ending": run.header.ending, "days": run.days}
            | {score.name: score.value for score in run.scores}
            for run in self._runs
        ]
        try:
            import pandas  # pyright: ignore[reportMissingImports] - the reader's own
        except ImportError:
            import polars  # pyright: ignore[reportMissingImports] - the reader's own

            return polars.DataFrame(rows)
        return pandas.DataFrame(rows)

    def to_json(self) -> dict[str, Json]:
        """The document that `--json` prints: runs, summary, card."""
        return {
            "runs": [run.to_json() for run in self._runs],
            "summary": {name: summary.to_json() for name, summary in self.summary().items()},
            "card": card_of(self._runs),
        }


def days_of(world: World[Any], genesis: Genesis, state: object) -> int:
    """Midnights between the begin and a state on the world's own clock."""
    begin, now = world.now(world.begin(genesis)), world.now(state)
    return 0 if begin is None or now is None else now // DAY_US - begin // DAY_US


async def read_ledger(store: Store, header: RunHeader) -> Ledger:
    """The whole record of a run."""
    return Ledger(header.genesis, tuple([entry async for entry in store.read(header.run_id)]))


async def read_run(store: Store, header: RunHeader) -> Run:
    """A run from the store, scored."""
    world, ledger = worlds.load(header.genesis.world), await read_ledger(store, header)
    scores = tuple(score for scorer in world.scorers for score in scorer(ledger))
    return Run(header, ledger, days_of(world, header.genesis, fold(world, ledger)), scores)


async def resolve(store: Store, names: Sequence[str]) -> list[RunHeader]:
    """The runs that names stand for: a run's id, or the name of a group. UnknownName for neither."""
    known = await store.runs()
    found: dict[str, RunHeader] = {}
    for name in names:
        meant = [run for run in known if name in (run.run_id, run.group)]
        if not meant:
            ids = [run.run_id for run in known] + [run.group for run in known if run.group]
            raise UnknownName("run", name, ids, "'akinai runs' lists them")
        found |= {run.run_id: run for run in meant}
    return list(found.values())


def run_card(world: str, agent: str, preset: str, preset_sha256: str) -> dict[str, Json]:
    """What a reader needs to trust a run, beside its ledger."""
    return {
        "akinai": version("akinai"),
        "python": platform.python_version(),
        "world": world,
        "preset": preset,
        "preset_sha256": preset_sha256,
        "agent": agent,
        "model": None,
        "sampling": None,
        "playbook": None,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def card_of(runs: Sequence[Run]) -> dict[str, Json]:
    """The card of several runs: what they agree on, what they differ in, and their final digests."""
    cards = [run.header.card for run in runs]
    names = dict.fromkeys(name for card in cards for name in card)
    card: dict[str, Json] = {}
    for name in names:
        values = list({str(one.get(name)): one.get(name) for one in cards}.values())
        card[name] = values[0] if len(values) == 1 else values
    card["digests"] = {run.id: run.ledger.digest for run in runs}
    return card
