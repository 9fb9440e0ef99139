"""Writes the files of a report: all in full in a folder of their own, then moved to their places together."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack, cast

from akinai.analysis.analyse import Analysis, analyze
from akinai.analysis.comparison import Comparison
from akinai.analysis.presentation import presentation_of
from akinai.core.canonical import Json, as_json
from akinai.core.errors import UsageError
from akinai.core.presentation.charts import ItemChart
from akinai.core.stores import Books
from akinai.report.figures.series import Members
from akinai.report.language import chosen_language
from akinai.report.page.boards.groups import games
from akinai.report.page.document import Addresses, translate_document
from akinai.report.page.groups import group_comparisons
from akinai.report.page.html import page, transcript_pages, transcript_paths
from akinai.report.page.markdown import markdown
from akinai.report.page.sections import document
from akinai.report.page.templating import Language, checked_language
from akinai.report.why.section import with_explanations
from akinai.runtime.config.addresses import in_store
from akinai.runtime.config.calls import with_options
from akinai.runtime.config.files import expect_writable, new_path, staged_folder, write_texts
from akinai.runtime.options import ReportOptions
from akinai.runtime.why.book import read_explanations
from akinai.runtime.why.explanation import Explanation

RESULTS = "results.json"
OURS = re.compile(r"figures/[a-z0-9-]+\.svg|runs/(run|market)-[^/\\]+\.html|runs/studio\.(css|js)")
"""Figures and transcripts of an earlier report, which are deleted if the new one lacks them."""


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report in its folder."""

    folder: Path
    files: tuple[str, ...]
    """Paths within the folder, the page first."""
    analysis: Analysis
    """The analysis that it shows."""

    @property
    def page(self) -> Path:
        return self.folder / self.files[0]


@dataclass(frozen=True, slots=True)
class Supplements:
    """The parts of a report beside its numbers: explanations and transcripts."""

    explained: Sequence[Explanation] = ()
    addresses: Addresses = field(default_factory=dict[str, str])
    """The address of each run's transcript."""
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    """The texts of the transcripts by path."""


@with_options(ReportOptions)
def report(*names: str, **options: Unpack[ReportOptions]) -> WrittenReport:
    """Write a report on runs and groups by name into the folder `output`: a page with figures, the same as Markdown,
    all numbers as JSON, and the transcripts of runs, which findings and decisive moments lead into.

    `with_paper` adds the results published for Vending-Bench, of another world and not comparable. At most
    `transcripts` runs are written, those with findings first. `language` is "en" or "ja", by default that of
    AKINAI_LANG or the locale. UsageError if the folder cannot be written.
    """
    language = checked_language(options["language"]) or chosen_language()
    store, folder = options["store"], new_path(options["output"])
    _expect_folder(folder)
    if options["transcripts"] < 0:
        raise UsageError(f"--transcripts is a number of runs from 0, not {options['transcripts']}")
    analysis = analyze(*names, by_agent=True, by_day=True, store=store, jobs=options["jobs"], on=options["on"])

    async def read(books: Books) -> Supplements:
        explained = await read_explanations(books, names)
        paths = transcript_paths(analysis, explained, options["transcripts"], language)
        pages = await transcript_pages(books, analysis, paths, language)
        return Supplements(explained, {run: path for run, path in paths.items() if path in pages}, pages)

    supplements = in_store(store, read)
    return write(analysis, folder, with_paper=options["with_paper"], supplements=supplements, language=language)


def write(
    analysis: Analysis,
    folder: Path,
    *,
    with_paper: bool = False,
    supplements: Supplements | None = None,
    language: Language = "en",
) -> WrittenReport:
    """Draw a report and write it into a folder, which is made if needed.

    Every file is written in full before the first one is moved to its place, so a report that cannot be written leaves
    an earlier one as it was. Other files in the folder are left alone. UsageError if the folder cannot be written.
    """
    _expect_folder(folder)
    compared = group_comparisons(analysis)
    files = _files(analysis, compared, supplements or Supplements(), with_paper=with_paper, language=language)
    old = _figures_of(folder)
    with staged_folder(folder, "the report") as staged:
        write_texts(staged, files)
    for name in old - files.keys():
        (folder / name).unlink(missing_ok=True)
    return WrittenReport(folder, tuple(files), analysis)


def _expect_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is a file, and a report is a folder of files; name another with -o")
    expect_writable(folder, "the report")


def _files(
    analysis: Analysis, compared: Sequence[Comparison], extra: Supplements, *, with_paper: bool, language: Language
) -> dict[str, str]:
    addresses, explained = extra.addresses, extra.explained
    report = document(analysis, compared, with_paper=with_paper, addresses=addresses)
    report = translate_document(with_explanations(report, explained, addresses), language)
    figures = {f"figures/{drawing.name}.svg": drawing.svg for drawing in report.drawings}
    numbers = dict(results(analysis, compared, files=("report.html", "report.md", RESULTS, *figures, *extra.pages)))
    if explained:
        numbers["why"] = [explanation.to_json() for explanation in explained]
    return {
        "report.html": page(report, games(analysis, addresses, explained, language), language),
        "report.md": markdown(report),
        RESULTS: f"{json.dumps(numbers, ensure_ascii=False, allow_nan=False)}\n",
        **figures,
        **extra.pages,
    }


def _figures_of(folder: Path) -> set[str]:
    """The figures that the results.json in a folder names."""
    try:
        results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
        names = cast("list[Any]", results["files"])
        return {name for name in names if isinstance(name, str) and OURS.fullmatch(name)}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def results(analysis: Analysis, compared: Sequence[Comparison], *, files: Sequence[str]) -> Mapping[str, Json]:
    """All numbers of a report: what `akinai analyze --json` prints, comparisons of groups, and curves by group.

    `files` are the paths of the report's files.
    """
    worlds = list(dict.fromkeys(group.world for group in analysis.groups))
    by_world = {world: [group for group in analysis.groups if group.world == world] for world in worlds}
    document: dict[str, Json] = dict(analysis.to_json())
    document["runs"] = [
        {name: value for name, value in run.to_json().items() if name != "series"} for run in analysis.runs
    ]
    document["comparisons"] = [
        {name: part for name, part in comparison.to_json().items() if name != "card"} for comparison in compared
    ]
    document["curves"] = {world: _curves(world, Members.of(analysis, groups)) for world, groups in by_world.items()}
    document["files"] = list(files)
    return document


def _curves(world: str, members: Members) -> dict[str, Json]:
    """Means and intervals by day from 1, by group under each fact, or under each item of a table."""
    curves: dict[str, Json] = {name: as_json(members.fact(name, carried=True)) for name in members.facts()}
    curves["actions"] = as_json(members.actions())
    for chart in presentation_of(world).charts:
        if isinstance(chart, ItemChart):
            items = members.items(chart.order or chart.table)
            curves[chart.table] = {item: as_json(members.item(chart, item)) for item in items}
    curves["uses_a_day"] = {group: dict(tools) for group, tools in members.tools().items()}
    return curves
