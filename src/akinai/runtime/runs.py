"""Runs as people and programs read them: what was played, how it ended, what it scored, what many say together."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, overload

from akinai import worlds
from akinai.core import statistics
from akinai.core.canonical import Json
from akinai.core.errors import BrokenChain, LedgerError, UnknownName, UsageError
from akinai.core.ledger import Entry, Genesis, Ledger
from akinai.core.scores import Score, bounds
from akinai.core.statistics import Comparison, Summary, summarise
from akinai.core.stores import RunHeader, Status, Store
from akinai.core.worlds import World, fold, walked
from akinai.runtime.sweep import names_of

DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """One run, scored from its ledger."""

    header: RunHeader
    entries: int
    digest: str
    """Of the last entry, or of the genesis: it stands for the whole record."""
    days: int
    """Midnights that passed in the world; 0 where the world has no clock of its own."""
    scores: tuple[Score, ...]
    trouble: str | None = None
    """Why the record cannot be read or scored here; then there are no scores."""
    kept: Ledger | None = None

    def __repr__(self) -> str:
        scored = f", {self.scores[0].name} {self.scores[0].value} {self.scores[0].unit}" if self.scores else ""
        told = f"{self.world} by {self.agent}, seed {self.seed}, {self.error or self.ending or self.status}"
        return f"<Run {self.id}: {told}{scored}>"

    @property
    def ledger(self) -> Ledger:
        """The whole record. UsageError where it was not kept, as in a command that plays a thousand runs."""
        if self.kept is None:
            raise UsageError(f"the ledger of run {self.id!r} was not kept here; akinai.runs({self.id!r}) reads it")
        return self.kept

    @property
    def id(self) -> str:
        """The name by which every command finds it."""
        return self.header.run_id

    @property
    def world(self) -> str:
        return self.header.genesis.world

    @property
    def seed(self) -> int:
        return self.header.genesis.seed

    @property
    def agent(self) -> str:
        """Who plays, as it was asked for."""
        return next(iter(self.header.agents.values()), "")

    @property
    def card(self) -> Mapping[str, Json]:
        """Versions, preset, model and whatever else a reader needs to trust it."""
        return self.header.card

    @property
    def status(self) -> Status:
        """ "open" can go on, "done" ended, "failed" broke and can be resumed."""
        return self.header.status

    @property
    def ending(self) -> str | None:
        """Why it is over, such as "horizon", "budget" or "stopped" (docs/glossary.md has all); None when it is not."""
        return self.header.ending

    @property
    def error(self) -> str | None:
        """What broke, or why the record cannot be read."""
        return self.header.error or self.trouble

    def score(self, name: str) -> int | float:
        """The value of one score. UnknownName when the world has none of that name."""
        for one in self.scores:
            if one.name == name:
                return one.value
        raise UnknownName("score", name, (one.name for one in self.scores))

    def to_json(self) -> dict[str, Json]:
        """The run as `--json` prints it."""
        told: dict[str, Json] = {
            "run": self.id,
            "world": self.world,
            "preset": self.header.card.get("preset"),
            "agent": self.agent,
            "seed": self.seed,
            "status": self.status,
            "ending": self.ending,
            "days": self.days,
            "entries": self.entries,
            "digest": self.digest,
            "scores": {score.name: score.to_json() for score in self.scores},
        }
        more = {"group": self.header.group, "parent": self.header.parent, "error": self.error}
        return told | {name: value for name, value in more.items() if value}


class Runs(Sequence[Run]):
    """Runs of one command, in the order of their seeds."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = tuple(runs)

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> "Runs": ...
    def __getitem__(self, index: int | slice) -> "Run | Runs":
        return Runs(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __repr__(self) -> str:
        return f"<Runs: {', '.join(run.id for run in self._runs[:5])}{' ...' if len(self) > 5 else ''}>"

    def values(self, score: str) -> list[int | float | None]:
        """One score of every run of the worlds that have it; None for a run whose record cannot be read.

        A run that failed or is not over counts as it stands, with what its ledger holds.
        """
        worlds_with_it = {run.world for run in self._runs if any(one.name == score for one in run.scores)}
        return [_value(run, score) for run in self._runs if run.world in worlds_with_it]

    def score_names(self) -> list[str]:
        """The names of all scores, in the order in which the world gives them."""
        return list(dict.fromkeys(score.name for run in self._runs for score in run.scores))

    def units(self) -> dict[str, str]:
        """The unit of every score by its name."""
        return {score.name: score.unit for run in self._runs for score in run.scores}

    def summary(self) -> dict[str, Summary]:
        """Mean, median, extremes and interval of every score over the runs."""
        return {name: summarise(self.values(name), bounds=bounds(unit)) for name, unit in self.units().items()}

    def compare(self, other: "Runs") -> dict[str, Comparison]:
        """Every score of `other` against these runs', paired by seed.

        Raises UsageError when a seed stands twice on a side, or nothing can be paired.
        """
        a, b = self._by_seed(), other._by_seed()
        if not a.keys() & b.keys():
            raise UsageError(f"no seed was played by both: {_told(a)} and {_told(b)}")
        names = [name for name in self.score_names() if name in other.score_names()]
        if not names:
            raise UsageError("the two have no score in common; compare runs that are scored, of one world")
        return {name: statistics.compare(_values(a, name), _values(b, name)) for name in names}

    def _by_seed(self) -> dict[int, Run]:
        found: dict[int, Run] = {}
        for run in self._runs:
            if found.setdefault(run.seed, run) is not run:
                raise UsageError(
                    f"seed {run.seed} stands twice on one side, in {found[run.seed].id!r} and {run.id!r}; "
                    "name runs or a group with each seed once"
                )
        return found

    def frame(self) -> Any:
        """A table with a row a run, as a pandas or else a polars frame. UsageError when neither is installed."""
        rows = [
            {"run": run.id, "seed": run.seed, "agent": run.agent}
            | {"status": run.status, "ending": run.ending, "days": run.days}
            | {score.name: score.value for score in run.scores}
            for run in self._runs
        ]
        try:
            import pandas  # pyright: ignore[reportMissingImports] - the reader's own
        except ImportError:
            return self._polars(rows)
        return pandas.DataFrame(rows)

    @staticmethod
    def _polars(rows: Sequence[Mapping[str, object]]) -> Any:
        try:
            import polars  # pyright: ignore[reportMissingImports] - the reader's own
        except ImportError as error:
            raise UsageError("a frame needs pandas or polars, and neither is installed; pip install pandas") from error
        return polars.DataFrame(rows)

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
    """A run from the store, scored. LedgerError for a damaged record, UsageError for another version's world."""
    return scored(header, await read_ledger(store, header), worlds.load(header.genesis.world))


def scored(header: RunHeader, ledger: Ledger, world: World[Any], *, keep: bool = True) -> Run:
    """A run with the scores that its ledger earns; `keep` tells whether it holds the ledger."""
    expect_whole(header, len(ledger.entries))
    once = walked(world, ledger, check=True)
    scores = tuple(score for scorer in world.scorers for score in scorer(once))
    days = days_of(world, header.genesis, fold(world, once))
    return Run(header, len(ledger.entries), ledger.digest, days, scores, kept=ledger if keep else None)


def expect_whole(header: RunHeader, entries: int) -> None:
    """LedgerError when the record lost entries that it had when the run was closed."""
    if header.entries is not None and entries < header.entries:
        raise LedgerError(entries + 1, f"it is missing: the run had {header.entries} entries when it was closed")


async def read_what_can_be(
    store: Store, header: RunHeader, world: World[Any] | None = None, *, keep: bool = True
) -> Run:
    """The same for a listing: a run that cannot be scored here says why and is left without scores."""
    entries: list[Entry] = []
    ledger = Ledger(header.genesis, entries)
    if header.damage:
        return Run(header, 0, ledger.digest, 0, (), header.damage)
    try:
        async for entry in store.read(header.run_id):
            entries.append(entry)  # noqa: PERF401 - what was read before a broken entry is kept
        return scored(header, ledger, world or worlds.load(header.genesis.world), keep=keep)
    except (LedgerError, UsageError) as error:
        return Run(header, len(entries), ledger.digest, 0, (), str(error), ledger if keep else None)


async def resolve(store: Store, names: Sequence[str], *, damaged: bool = False) -> list[RunHeader]:
    """The runs of a store that names stand for, as `meant` has it."""
    return meant(await store.runs(), names, damaged=damaged)


def meant(known: Sequence[RunHeader], names: Sequence[str], *, damaged: bool = False) -> list[RunHeader]:
    """The runs that names stand for: a run's id, or the name of a group or a sweep. UnknownName for none of them.

    BrokenChain for a run whose header is damaged, unless `damaged` lets it through.
    """
    found: dict[str, RunHeader] = {}
    for name in names:
        runs = [run for run in known if name in names_of(run)]
        if not runs:
            ids = {one for run in known for one in names_of(run)}
            raise UnknownName("run", name, ids, "'akinai runs' lists them")
        found |= {run.run_id: run for run in runs}
    for run in [] if damaged else found.values():
        if run.damage:
            raise BrokenChain(0, run.damage)
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
    return agreed_card([run.header.card for run in runs], {run.id: run.digest for run in runs})


def agreed_card(cards: Sequence[Mapping[str, Json]], digests: Mapping[str, str]) -> dict[str, Json]:
    """What cards agree on as one value and differ in as a list, and the final digests of their runs."""
    names = dict.fromkeys(name for card in cards for name in card)
    card: dict[str, Json] = {}
    for name in names:
        values = list({str(one.get(name)): one.get(name) for one in cards}.values())
        card[name] = values[0] if len(values) == 1 else values
    card["digests"] = dict(digests)
    return card


def _value(run: Run, score: str) -> int | float | None:
    """A run that failed or is not over counts with what its ledger holds; one that cannot be read has no value."""
    return next((one.value for one in run.scores if one.name == score), None)


def _values(runs: Mapping[int, Run], score: str) -> dict[int, float | None]:
    return {seed: _value(run, score) for seed, run in runs.items()}


def _told(runs: Mapping[int, Run]) -> str:
    seeds = sorted(runs)
    return f"{', '.join(map(str, seeds[:10]))}{' ...' if len(seeds) > 10 else ''}"
