"""Analyses and comparisons of the runs of a store: reads them, groups them, and places them on scales."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

from akinai.analysis.comparison import Comparison, compare_runs
from akinai.analysis.groups import first_header, group_runs, name_groups, summarise_group
from akinai.analysis.ranking import parse_thresholds, pass_rates, rank_groups
from akinai.analysis.readers import Readers, open_readers, progress_of
from akinai.analysis.records import Group, PassRate, WorldRanking
from akinai.analysis.scale import read_scales
from akinai.analysis.tables import groups_table
from akinai.analysis.verdicts import opening_sentences
from akinai.core.canonical import Json, as_json
from akinai.core.errors import UsageError
from akinai.core.presentation.tables import Grid
from akinai.core.scores import About
from akinai.core.stores import Books, RunHeader
from akinai.runtime.config.addresses import in_store, resolve_store, shared_url
from akinai.runtime.config.calls import with_options
from akinai.runtime.models.budget import known_prices
from akinai.runtime.options import AnalyzeOptions, CompareOptions
from akinai.runtime.play.driver import Progress
from akinai.runtime.runs.marking import list_runs
from akinai.runtime.runs.reading import Detail, find_runs, judge_run
from akinai.runtime.runs.records import Run, Runs
from akinai.runtime.runs.sweep import names_of


@dataclass(frozen=True, slots=True)
class Analysis:
    """Runs, in the order in which they were named, and the groups that they form."""

    runs: Runs
    groups: tuple[Group, ...]
    standings: tuple[WorldRanking, ...] = ()
    """The rankings of the worlds that have several groups."""
    pass_rates: Mapping[str, tuple[PassRate, ...]] = field(default_factory=dict[str, tuple[PassRate, ...]])
    """By group, where thresholds were asked about."""

    @property
    def troubled(self) -> list[Run]:
        """Runs whose record cannot be read."""
        return self.runs.troubled

    def __str__(self) -> str:
        """The result in a sentence, and a row for each group with its first score."""
        opening = opening_sentences(self.groups, self.standings)
        return f"{opening}\n\n{self.table.always}"

    @property
    def table(self) -> Grid:
        """A row for each group, by place."""
        return groups_table(self.groups, self.standings)

    def to_json(self) -> dict[str, Json]:
        """The document that `akinai analyze --json` prints."""
        document = self.runs.to_json()
        groups = {group.name: group for group in self.groups}
        rates = {"pass_rates": self.pass_rates} if self.pass_rates else {}
        more = as_json({"groups": groups, "standings": self.standings, **rates})
        more["table"] = self.table.to_json()
        return {"runs": document["runs"], "summary": document["summary"], **more, "card": document["card"]}


@with_options(AnalyzeOptions)
def analyze(*names: str, **options: Unpack[AnalyzeOptions]) -> Analysis:
    """Analyse runs and groups by name, or all runs of a store, in groups of runs that were played alike: scores with
    their intervals, endings, findings, what the models took, and how far each group is from idle to reference.

    Idle and reference come from the store where it has them under the same settings; else they are played in memory,
    on at most 20 seeds; `scale` True asks for all seeds, False for none. `by_agent`, `by_conversation` and `deals` add
    a world's tables, `by_day` the days of every run; names that agents wrote may be `fuzzy_match_distance` edits off.
    `threshold`, such as {"net_worth": 1000} (dollars for money), asks how often a seed that is played k times passes
    it at least once (`pass@k`) and every time (`pass^k`). `evidence` False leaves out the entries that earned each
    score, and of several runs each finding but for the counts. `jobs` processes read at a time, or the engine `on`, as
    in `run`; `progress` is called for every run, as there. A run that cannot be read has its `trouble` and stops
    nothing. What was made of a run is kept beside it, and used as long as its record and the code that made it stay as
    they are.
    """
    fuzzy, evidence = options["fuzzy_match_distance"], options["evidence"]
    if fuzzy < 0:
        raise UsageError(f"fuzzy_match_distance is a number of edits from 0, not {fuzzy}")
    included: dict[About, bool] = {
        "run": True, "agent": options["by_agent"], "conversation": options["by_conversation"], "deal": options["deals"],
    }  # fmt: skip
    tables: tuple[About, ...] = tuple(about for about, include in included.items() if include)
    detail = Detail(
        False, evidence, judged=True, findings=evidence, series=options["by_day"], tables=tables, fuzzy=fuzzy
    )
    address, thresholds = resolve_store(options["store"]), parse_thresholds(options["threshold"])

    async def work(books: Books) -> Analysis:
        headers = await find_runs(books, names, damaged=True) if names else await list_runs(books)
        engine = (shared_url(address), options["jobs"], known_prices(), options["on"])
        async with open_readers(books, *engine) as readers:
            detailed = replace(detail, findings=evidence or len(headers) == 1)
            return await _analyse(
                readers, books, headers, detailed, scale=options["scale"], progress=options["progress"]
            )

    analysis = in_store(address, work)
    return replace(analysis, pass_rates=_pass_rates(analysis, thresholds)) if thresholds else analysis


def _pass_rates(analysis: Analysis, thresholds: Mapping[str, float]) -> dict[str, tuple[PassRate, ...]]:
    runs = {run.id: run for run in analysis.runs}
    return {
        group.name: tuple(pass_rates(group, [runs[id] for id in group.runs], thresholds)) for group in analysis.groups
    }


@with_options(CompareOptions)
def compare(a: str | Run | Runs, b: str | Run | Runs, **options: Unpack[CompareOptions]) -> Comparison:
    """Compare run or group b with a: every score and the findings, paired by seed, or by their means where no seed is
    common; the winner is the side that is surely better.

    A side is a name, or runs at hand; those are judged from their ledgers, and their findings left out where the
    ledgers were not kept. `gain`, in dollars for money, asks how many seeds would show it. `jobs` and `on` are as in
    `analyze`. UsageError where a side holds runs that were not played alike, or the two have no score in common.
    """
    if a == b and isinstance(a, str):
        raise UsageError(f"{a!r} against itself differs in nothing; name two")
    names = [side for side in (a, b) if isinstance(side, str)]
    address = resolve_store(options["store"])

    async def work(books: Books) -> Sequence[Run]:
        headers = await find_runs(books, names, damaged=True)
        engine = (shared_url(address), options["jobs"], known_prices(), options["on"])
        async with open_readers(books, *engine) as readers:
            sound = [header for header in headers if not header.damage]
            watch = progress_of(sound, options["progress"])
            return await readers.read(headers, Detail(False, False, judged=True), watch)

    read = in_store(address, work) if names else ()
    sides: list[tuple[str, list[Run]]] = []
    for side in (a, b):
        if isinstance(side, str):
            sides.append((side, [run for run in read if side in names_of(run.header)]))
        else:
            runs = side if isinstance(side, Runs) else Runs([side])
            sides.append((runs.name, [judge_run(run) for run in runs]))
    (name_a, runs_a), (name_b, runs_b) = sides
    return compare_runs((name_a, name_b), runs_a, runs_b, options["gain"])


async def _analyse(
    readers: Readers,
    books: Books,
    headers: Sequence[RunHeader],
    detail: Detail,
    *,
    scale: bool | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Read the runs of `headers`, and summarise the groups that they form.

    `scale` True places every seed between idle and reference, playing what the store does not have, False none; None
    takes a bounded number of seeds.
    """
    sound = [header for header in headers if not header.damage]
    runs = await readers.read(headers, detail, progress_of(sound, progress))
    groups = group_runs(runs)
    scales = await read_scales(readers, books, groups, scale, by_day=detail.series)
    names = name_groups({key: first_header(members) for key, members in groups.items()})
    summaries = tuple(summarise_group(names[key], members, scales[key]) for key, members in groups.items())
    return Analysis(Runs(runs), summaries, tuple(rank_groups(summaries, runs)))
