"""Leaderboards that can be audited: rows with ties, their runs, and a check that computes them again from ledgers."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any, cast

from akinai import worlds
from akinai.analysis.groups import (
    first_header,
    flat_settings,
    group_runs,
    name_groups,
    settings_key,
    settings_keys,
    summarise_group,
)
from akinai.analysis.ranking import rank_groups
from akinai.analysis.readers import Readers
from akinai.analysis.records import Group, Scale, WorldRanking
from akinai.analysis.tables import groups_table
from akinai.analysis.verdicts import opening_sentences
from akinai.core.canonical import Json, canonical
from akinai.core.chance import SEALED, SHORT, Sealed
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Entry
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import ranges
from akinai.core.stores import Books, RunHeader
from akinai.runtime.config.settings import preset_setup
from akinai.runtime.play.agent_spec import spec_of
from akinai.runtime.play.driver import is_reproducible, play_run
from akinai.runtime.play.repeats import UNREADABLE
from akinai.runtime.runs.reading import Detail, read_usage
from akinai.runtime.runs.records import Run
from akinai.runtime.runs.verification import verify
from akinai.runtime.runs.work import Monitor
from akinai.runtime.seal import gap_in
from akinai.stores.memory import MemoryStore

FORMAT = 1
"""The version of the document."""
NO_SCALE = Scale(why_not="it was not asked for")


@dataclass(frozen=True, slots=True)
class RowRun:
    """A run of a row."""

    run: str
    seed: int
    score: float | None
    ending: str | None
    status: str
    digest: str
    """The final digest: genesis and all entries."""
    sealed: Sealed | None = None
    """Index and commitment of a sealed game; `seed` is a stand-in then."""


@dataclass(frozen=True, slots=True)
class Row:
    """One group of a leaderboard."""

    place: int | None
    """One more than the number of groups that are shown to be better; None for a score without a direction."""
    group: str
    agent: str
    model: str | None
    playbook: str | None
    rules: bool
    """Whether the group is played by rules alone, so that a check plays it again."""
    mean: float | None
    ci95: tuple[float, float] | None
    mde: float | None
    """Minimum detectable effect against another row of as many runs with no seed in common."""
    input_tokens: float | None
    """The mean over the runs; None where no model was asked."""
    output_tokens: float | None
    dollars: float | None
    """The mean over the runs; None where a price is not known."""
    runs: tuple[RowRun, ...]

    @property
    def unreadable(self) -> int:
        """Runs that ended as unreadable: they have no score and are in no mean."""
        return sum(run.ending == UNREADABLE for run in self.runs)


@dataclass(frozen=True, slots=True)
class Board:
    """Groups that played one world under the same settings, by its first score."""

    world: str
    preset: str
    settings: Mapping[str, Json]
    """The settings that are not the preset's, by dotted name, and the days."""
    score: str
    unit: str
    better: str | None
    rows: tuple[Row, ...]
    """By place; within a place the better mean first, then those played by rules, then by name."""
    standings: WorldRanking | None
    """Every two rows compared, corrected by Holm; None for a single row."""
    sentences: str
    """Who leads and how sure that is, for people."""
    groups: tuple[Group, ...]
    """The groups of the rows, in their order."""
    commitment: str | None = None
    """The commitment of the key under which all games are sealed; None for practice seeds."""
    begun: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many runs of this preset were begun under the key, by agent and model, as its log says."""

    @property
    def games_words(self) -> str:
        """What is played: "practice seeds", or the games of a key."""
        return f"sealed games of {self.commitment[:SHORT]}..." if self.commitment else "practice seeds"

    def to_json(self) -> dict[str, Json]:
        document: dict[str, Json] = {
            name: getattr(self, name) for name in ("world", "preset", "score", "unit", "better")
        }
        pairs: Json = self.standings.to_json()["pairs"] if self.standings else []
        rows = [_row_json(row) for row in self.rows]
        key: dict[str, Json] = (
            {"commitment": self.commitment, "begun": dict(self.begun)} if self.commitment is not None else {}
        )
        return {**document, **key, "settings": dict(self.settings), "rows": rows, "pairs": pairs}


def _row_json(row: Row) -> Json:
    runs: Json = [_run_json(run) for run in row.runs]
    return {**_fields_of(row), "ci95": list(row.ci95) if row.ci95 else None, "runs": runs}


def _fields_of(record: Row | RowRun) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _run_json(run: RowRun) -> Json:
    document = {name: value for name, value in _fields_of(run).items() if name != SEALED}
    if run.sealed is None:
        return document
    return {**document, "seed": None, SEALED: {"index": run.sealed.index, "commitment": run.sealed.commitment}}


def board_key(header: RunHeader) -> tuple[str, str | None]:
    """Equal for runs that one board may hold: of one world, under the same settings and the same key, or none."""
    return settings_key(header.genesis), header.sealed.commitment if header.sealed else None


def expect_one_key(headers: Sequence[RunHeader]) -> None:
    """UsageError where runs under the same settings are of several keys, or some of a key and some of none."""
    firsts: dict[str, RunHeader] = {}
    for key, header in zip(settings_keys(headers), headers, strict=True):
        first = firsts.setdefault(key, header)
        if (first.sealed and first.sealed.commitment) != (header.sealed and header.sealed.commitment):
            raise UsageError(
                f"one board has one key, or none: {first.run_id!r} is on {first.game_words} and {header.run_id!r} on "
                f"{header.game_words}; write a leaderboard for each"
            )


async def make_boards(
    readers: Readers,
    headers: Sequence[RunHeader],
    log: Sequence[Mapping[str, Any]] = (),
    *,
    reuse_scores: bool = True,
) -> list[Board]:
    """Make the boards of some runs, from kept scores where they fit, unless `reuse_scores` is False. `log` has the
    lines of the key's log where the games are sealed.

    UsageError for a run that cannot be read or scored, for one that is not over, and for runs under several keys.
    """
    expect_one_key(headers)
    in_order = sorted(headers, key=lambda header: header.run_id)
    runs = await readers.read(in_order, Detail(False, False, judged=True, use_stored=reuse_scores))
    for run in runs:
        if run.trouble or not run.scores:
            why = run.trouble or "its world gives no score"
            raise UsageError(f"run {run.id} cannot be on a leaderboard: {why}")
        if run.status == "open":
            raise UsageError(f"run {run.id} is not over; 'akinai resume {run.id}' plays it to its end")
        if run.header.parent:
            raise UsageError(
                f"run {run.id} is a fork, whose past another player made; it has no place on a leaderboard"
            )
    by_settings: dict[str, list[Run]] = {}
    for key, run in zip(settings_keys(run.header for run in runs), runs, strict=True):
        by_settings.setdefault(key, []).append(run)
    return [make_board(alike, log) for alike in by_settings.values()]


def make_board(runs: Sequence[Run], log: Sequence[Mapping[str, Any]] = ()) -> Board:
    """The board of scored runs that were played under the same settings and key, whose `log` is given."""
    members = group_runs(runs)
    names = name_groups({key: first_header(alike) for key, alike in members.items()})
    groups = [summarise_group(names[key], alike, NO_SCALE, headline=True) for key, alike in members.items()]
    by_name = {group.name: alike for group, alike in zip(groups, members.values(), strict=True)}
    first = next(iter(groups[0].scores.values()))
    rankings = rank_groups(groups, runs)
    places = rankings[0].order.places if rankings else dict.fromkeys(by_name, 1)
    sign = -1 if first.better == "higher" else 1
    groups.sort(
        key=lambda group: (
            places.get(group.name) or 0,
            _mean_first(group, sign),
            not _by_rules(by_name[group.name]),
            group.name,
        )
    )
    header = runs[0].header
    preset = str(header.card.get("preset") or "")
    return Board(
        world=header.genesis.world,
        preset=preset,
        settings=own_settings(header, preset),
        score=first.name,
        unit=first.unit,
        better=first.better,
        rows=tuple(_row(group, by_name[group.name], places.get(group.name), first.name) for group in groups),
        groups=tuple(groups),
        standings=rankings[0] if rankings else None,
        sentences=opening_sentences(groups, rankings),
        commitment=header.sealed.commitment if header.sealed else None,
        begun=_begun(log, header.genesis.world, preset),
    )


def board_table(board: Board) -> Grid:
    """A row for each group, by place."""
    seeds = [ranges(sorted({run.seed for run in row.runs})) for row in board.rows]
    players = [row.model or ("rules" if row.rules else None) for row in board.rows]
    more = [Column("seeds", seeds, words=True, drop=1), Column("model", players, words=True, drop=2)]
    table = groups_table(board.groups, [board.standings] if board.standings else [], more)
    return replace(table, title=f"{board.world}, preset {board.preset}")


def _begun(log: Sequence[Mapping[str, Any]], world: str, preset: str) -> dict[str, int]:
    """The runs of a preset that a log holds, by agent and model."""
    players = [
        " ".join(filter(None, (line["agent"], line["model"])))
        for line in log
        if (line["world"], line["preset"]) == (world, preset)
    ]
    return dict(sorted(Counter(players).items()))


def _mean_first(group: Group, sign: int) -> float:
    mean = next(iter(group.scores.values())).summary.mean
    return inf if mean is None else sign * mean


def _by_rules(runs: Sequence[Run]) -> bool:
    header = runs[0].header
    return is_reproducible(worlds.load(header.genesis.world), spec_of(header))


def _row(group: Group, runs: Sequence[Run], rank: int | None, score: str) -> Row:
    summary, usage, card = group.scores[score], group.usage, group.card
    return Row(
        place=rank,
        group=group.name,
        agent=group.agent,
        model=str(card["model"]) if card.get("model") else None,
        playbook=str(card["playbook"]) if card.get("playbook") else None,
        rules=_by_rules(runs),
        mean=summary.summary.mean,
        ci95=summary.summary.ci95,
        mde=summary.mde,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        dollars=usage.dollars if usage else None,
        runs=tuple(
            RowRun(run.id, run.seed, run.value(score), run.ending, run.status, run.digest, run.header.sealed)
            for run in sorted(runs, key=lambda run: (run.seed, run.id))
        ),
    )


def own_settings(header: RunHeader, preset: str) -> dict[str, Json]:
    """The settings of a run that are not those of a preset, and its days; all of them where the preset is not known."""
    own = flat_settings(header.genesis.setup)
    try:
        shipped = flat_settings(preset_setup(worlds.load(header.genesis.world), preset))
    except UsageError:
        shipped = {}
    return {name: value for name, value in own.items() if name == "days" or shipped.get(name) != value}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a row of a leaderboard is not believed."""

    row: str
    """The group that it is about."""
    kind: str
    """"edited score", "edited ledger", "another seed", "another preset", "other settings", "edited figure",
    "missing ledger", "dropped run", "repeated run", "no model asked", "not what the player plays", "edited page"; of
    sealed games "another key", "forged key", "swapped index", "not in the log", "left out of the log", "forged log"."""
    why: str


async def check_boards(
    books: Books, readers: Readers, claimed: Sequence[Mapping[str, Any]], log: Sequence[Mapping[str, Any]] = ()
) -> tuple[list[Refusal], list[Board]]:
    """Replay every ledger of a leaderboard and compute each figure again; refuse, by row, what is not as claimed.

    Returns the refusals, and the boards as they were computed.

    Groups that are played by rules alone are played again. Where a seed is withheld, its ledger is not replayed and its
    scores are claims. Raises KeyError and TypeError for a document of another
    shape.
    """
    headers = {header.run_id: header for header in await books.runs()}
    checks = [_check_of(board, row, run) for board in claimed for row in board["rows"] for run in row["runs"]]
    stored = [header for check in checks if (header := headers.get(check.run))]
    refused = [*_listed_wrongly(headers, checks)]
    broken: set[str] = set()
    for checked in await readers.work(checks, stored):
        refused += checked.refusals
        if any(refusal.kind in ("edited ledger", "missing ledger") for refusal in checked.refusals):
            broken.add(checked.run)
    refused += log_refusals(log, claimed, headers)
    if broken:
        return refused, []  # figures that stand on a record that is not to be had are not made again
    sound = [headers[run] for run in dict.fromkeys(check.run for check in checks)]
    try:
        expect_one_key(sound)
    except UsageError as error:
        return [*refused, Refusal("", "another key", str(error))], []
    boards = await make_boards(readers, sound, log, reuse_scores=False)
    documents = [cast("dict[str, Any]", board.to_json()) for board in boards]
    return refused + _differences(claimed, documents, refused), boards


def _listed_wrongly(headers: Mapping[str, RunHeader], checks: Sequence["_RunCheck"]) -> Iterator[Refusal]:
    """Yield refusals of runs whose ledger is there and which no row has, and of runs that stand there again."""
    listed = Counter(check.run for check in checks)
    yield from (
        Refusal("", "dropped run", f"run {run} has a ledger here and stands in no row")
        for run in headers.keys() - listed
    )
    for run, times in listed.items():
        if times > 1:
            yield Refusal("", "repeated run", f"run {run} is on the leaderboard twice")
    for group, run, first in repeats((check.group, check.run, check.digest) for check in checks):
        yield Refusal(group, "repeated run", f"run {run} repeats run {first} entry by entry")


def repeats(runs: Iterable[tuple[str, str, object]]) -> Iterator[tuple[str, str, str]]:
    """Yield the group, a run, and the earlier run of that group whose record is the same; `runs` are groups, names and
    digests."""
    firsts: dict[tuple[str, object], str] = {}
    for group, run, digest in runs:
        first = firsts.setdefault((group, digest), run)
        if first != run:
            yield group, run, first


@dataclass(frozen=True, slots=True)
class _CheckedRun:
    run: str
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class _RunCheck:
    """A run of a leaderboard to replay, and the claims about it."""

    run: str
    seed: Any
    sealed: Any
    commitment: Any
    digest: Any
    group: str
    agent: Any
    world: Any
    preset: Any
    settings: Any

    @property
    def run_ids(self) -> tuple[str, ...]:
        return ()

    async def do(self, books: Books, monitor: Monitor) -> list[_CheckedRun]:
        """Replay the run, and refuse what differs from the claim."""
        try:
            header = await books.header(self.run)
        except UnknownName:
            missing = Refusal(self.group, "missing ledger", f"run {self.run} has no ledger here")
            return [_CheckedRun(self.run, (missing,))]
        return [_CheckedRun(self.run, tuple([refusal async for refusal in _refusals(books, self, header)]))]


def _check_of(board: Mapping[str, Any], row: Mapping[str, Any], run: Mapping[str, Any]) -> _RunCheck:
    whose = (str(row["group"]), row["agent"])
    game = (board["world"], board["preset"], board["settings"])
    key = (run.get(SEALED), board.get("commitment"))
    return _RunCheck(str(run["run"]), run["seed"], *key, run["digest"], *whose, *game)


async def _refusals(books: Books, claim: _RunCheck, header: RunHeader) -> AsyncIterator[Refusal]:
    name, group = claim.run, claim.group
    verdict = await verify(books, header)
    if not verdict.ok:
        where = f"entry {verdict.entry}: " if verdict.entry else ""
        yield Refusal(group, "edited ledger", f"run {name} is not as it was written: {where}{verdict.why}")
        return
    if verdict.digest != claim.digest:
        yield Refusal(group, "edited ledger", f"run {name} has another digest than the row claims")
    if refusal := _game_refusal(claim, header):
        yield refusal
    if header.genesis.world != claim.world:
        yield Refusal(group, "another preset", f"run {name} is of {header.genesis.world}, not {claim.world}")
    elif (own := own_settings(header, str(claim.preset))) != claim.settings:
        preset = str(header.card.get("preset") or "")
        kind = "another preset" if preset != claim.preset or len(own) > len(claim.settings) else "other settings"
        names = sorted(name for name in own.keys() | claim.settings.keys() if own.get(name) != claim.settings.get(name))
        yield Refusal(group, kind, f"run {name} was not played as the board claims: {', '.join(names[:5])} differ")
    elif header.card.get("preset") != claim.preset:
        yield Refusal(group, "another preset", f"run {name} is of preset {header.card.get('preset')!r}")
    if header.genesis.claimed is not None:
        return
    spec = spec_of(header)
    if is_reproducible(worlds.load(header.genesis.world), spec) and await _played_again(header) != verdict.digest:
        yield Refusal(group, "not what the player plays", f"run {name} is not what {claim.agent!r} plays on its seed")
    if spec.asks_model and verdict.entries and await read_usage(books, header, {}) is None:
        yield Refusal(group, "no model asked", f"run {name} holds no call of the model that its row names")


def _game_refusal(claim: _RunCheck, header: RunHeader) -> Refusal | None:
    """Why a run is not on the game that its row claims; None where it is."""
    name, group, sealed = claim.run, claim.group, header.sealed
    if sealed is None:
        if header.genesis.seed == claim.seed and claim.commitment is None:
            return None
        why = f"run {name} was played on seed {header.genesis.seed}, and the row claims {_claimed_game(claim)}"
        return Refusal(group, "another seed", why)
    if sealed.commitment != claim.commitment:
        why = f"run {name} is {sealed.label}, and the board is of {claim.commitment or 'practice seeds'}"
        return Refusal(group, "another key", why)
    if claim.sealed != {"index": sealed.index, "commitment": sealed.commitment}:
        return Refusal(
            group, "swapped index", f"run {name} is {sealed.label}, and the row claims {_claimed_game(claim)}"
        )
    return None


def _claimed_game(claim: _RunCheck) -> str:
    index = cast("Mapping[str, Any]", claim.sealed).get("index") if isinstance(claim.sealed, Mapping) else None
    return str(claim.seed) if index is None else f"sealed {index}"


def log_refusals(
    log: Sequence[Mapping[str, Any]], claimed: Sequence[Mapping[str, Any]], headers: Mapping[str, RunHeader]
) -> list[Refusal]:
    """Refusals of sealed runs that the log of their key lacks, and of a log from which a line was taken."""
    begun = {(line["run"], line["genesis"], line["index"]) for line in log}
    refused: list[Refusal] = []
    for row in (row for board in claimed if board.get("commitment") for row in board["rows"]):
        for run in row["runs"]:
            header = headers.get(str(run["run"]))
            if header is None or header.sealed is None:
                continue
            if (header.run_id, header.genesis.digest, header.sealed.index) not in begun:
                why = f"the log of the key does not hold run {header.run_id}"
                refused.append(Refusal(str(row["group"]), "not in the log", why))
    if gap := gap_in(log):
        refused.append(Refusal("", "left out of the log", gap))
    return refused


class _Unkept(MemoryStore):
    """A store of headers alone: what is played into it is known by its digest."""

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        pass


async def _played_again(header: RunHeader) -> str:
    """The final digest of a run of rules that is played once more."""
    memory = _Unkept()
    fresh = replace(header, status="open", ending=None, entries=None, digest=None, error=None)
    await memory.create(fresh)
    return (await play_run(memory, fresh)).digest or ""


def _differences(
    claimed: Sequence[Mapping[str, Any]], recomputed: Sequence[Mapping[str, Any]], earlier: Sequence[Refusal]
) -> list[Refusal]:
    """Refusals of rows whose figures are not those that were computed again."""
    refusals: list[Refusal] = []
    by_runs = {_runs_of(row): (board, row) for board in recomputed for row in board["rows"]}
    for board in claimed:
        for row in board["rows"]:
            if _runs_of(row) not in by_runs:
                if not any(refusal.row == row["group"] for refusal in earlier):
                    refusals.append(Refusal(str(row["group"]), "other settings", "its runs were not played alike"))
                continue
            own_board, own = by_runs[_runs_of(row)]
            refusals += _row_differences(row, own, [refusal.row for refusal in earlier])
            for name in ("score", "unit", "better", "begun"):
                if board.get(name) != own_board.get(name):
                    refusals.append(
                        Refusal(str(row["group"]), "edited figure", f"the board's {name} is {own_board.get(name)}")
                    )
    if not refusals and not earlier and canonical([*claimed]) != canonical([*recomputed]):
        why = "its comparisons of rows, their order or something beside them are not those of the runs"
        refusals.append(Refusal("", "edited figure", why))
    return refusals


def _runs_of(row: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(str(run["run"]) for run in row["runs"])


def _row_differences(row: Mapping[str, Any], own: Mapping[str, Any], refused: Iterable[str]) -> Iterator[Refusal]:
    group = str(row["group"])
    for claim, run in zip(_by_run(row), _by_run(own), strict=True):
        if claim["score"] != run["score"]:
            why = f"run {run['run']} scored {run['score']}, and the row claims {claim['score']}"
            yield Refusal(group, "edited score", why)
        elif any(claim[name] != run[name] for name in ("ending", "status")) and group not in refused:
            yield Refusal(group, "edited figure", f"run {run['run']} ended as {run['ending']!r} ({run['status']})")
    for name, value in own.items():
        if name not in ("runs", "place") and canonical(row.get(name)) != canonical(value):
            kind = "edited score" if name in ("mean", "ci95") else "edited figure"
            yield Refusal(group, kind, f"{name} is {value}, and the row claims {row.get(name)}")
    if row["place"] != own["place"] and group not in refused:
        yield Refusal(group, "edited figure", f"its place is {own['place']}, and the row claims {row['place']}")


def _by_run(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return sorted(row["runs"], key=lambda run: str(run["run"]))
