"""A report as pages that need nothing else: the report itself, and beside it the transcripts of its runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from akinai.analysis.analyse import Analysis
from akinai.analysis.scale import HIGH, LOW
from akinai.core.errors import LedgerError, UsageError
from akinai.core.presentation.tables import Grid
from akinai.core.stores import Books
from akinai.report.figures.svg import Drawing
from akinai.report.page.boards.groups import Game
from akinai.report.page.document import WORDS, Addresses, Block, Document, Link, Section
from akinai.report.page.market_page import market_page
from akinai.report.page.run_page import run_page
from akinai.report.page.site import Site
from akinai.report.page.templating import Language, asset, render
from akinai.runtime.runs.records import Run
from akinai.runtime.why.explanation import Explanation
from akinai.views.reading import read_views

ASSETS = ("studio.css", "studio.js")
FOLDER = "runs"
"""The folder of the transcripts, within that of the report."""
LONGEST_NAME = 24
"""Characters up to which the cells of a column are kept on one line."""
CHARTED = "over-days"
"""The figure that a page shows as the chart of its groups."""


def page(report: Document, games: Sequence[Game] = (), language: Language = "en") -> str:
    """The text of the page; `games` open it, side by side."""
    site, layout = Site("report", language), _Layout(report, games)
    return str(render("report.html", language, site=site, report=report, games=games, layout=layout))


@dataclass(frozen=True, slots=True)
class _Layout:
    """Functions by which the template lays out a report."""

    report: Document
    games: Sequence[Game]

    def blocks(self, section: Section) -> list[tuple[str, Block]]:
        """The blocks of a section that its cards and charts do not show already, each with its kind."""
        charted = any(game.plot for game in self.games)
        return [
            ("prose" if isinstance(block, str) else type(block).__name__.lower(), block)
            for block in section.blocks
            if not (isinstance(block, Drawing) and charted and block.name.endswith(CHARTED))
        ]

    def meaning(self, head: str) -> str:
        """What a head means, as the section on words says; empty for a head without a term."""
        blocks = [block for section in self.report.sections if section.anchor == WORDS for block in section.blocks]
        rows = [row for block in blocks if isinstance(block, Grid) for row in block.rows]
        return next((row[1] for row in rows if row[0] == head), "")

    def classes(self, grid: Grid) -> list[str]:
        """The class of each column: numbers, names that stay on one line, or words."""
        longest = [max(map(len, column.cells), default=0) for column in grid.columns]
        return [
            "n" if not column.words else "words" if length > LONGEST_NAME else "words name"
            for column, length in zip(grid.columns, longest, strict=True)
        ]

    def linking(self, grid: Grid) -> set[int]:
        """The indices of the columns with a link."""
        return {at for at, column in enumerate(grid.columns) if any(isinstance(cell, Link) for cell in column.values)}

    def charted(self, game: Game) -> Grid | None:
        """The values of the chart of a world, for the first of its games."""
        first = next(other for other in self.games if other.world == game.world)
        names = (CHARTED, f"{game.world.partition('@')[0]}-{CHARTED}")
        chart = next((drawing for drawing in self.report.drawings if drawing.name in names), None)
        return chart.values if chart and game is first else None


def transcript_paths(
    analysis: Analysis, explained: Sequence[Explanation], most: int, language: Language
) -> dict[str, str]:
    """The runs that get a transcript, at most `most`, with its path: first the runs that something links to."""
    site = Site("beside", language)
    readable = (run.id for run in analysis.runs if not run.trouble)
    ids = list(dict.fromkeys([*_linked_runs(analysis, explained), *readable]))
    return {id: f"{FOLDER}/{site.run(id)}" for id in ids[: max(0, most)]}


def _linked_runs(analysis: Analysis, explained: Sequence[Explanation]) -> Iterator[str]:
    yield from (explanation.run for explanation in explained)
    yield from (run.id for run in analysis.runs if run.findings and not run.trouble)


async def transcript_pages(
    books: Books, analysis: Analysis, addresses: Addresses, language: Language
) -> Mapping[str, str]:
    """Make the pages of runs by path, and those of their markets; a run that cannot be opened has none."""
    site, pages = Site("beside", language), dict[str, str]()
    ghosts = {run: group.scale.days for group in analysis.groups for run in group.runs}
    for run in analysis.runs:
        if run.id not in addresses:
            continue
        try:
            views = await read_views(books, run.header)
        except (LedgerError, UsageError):
            continue
        pages[addresses[run.id]] = str(run_page(views, _ghosts(run, ghosts.get(run.id, {})), site))
        if views.crowd.talks:
            pages[f"{FOLDER}/{site.market(run.id)}"] = str(market_page(views, site))
    return {**pages, **{f"{FOLDER}/{name}": asset(name) for name in ASSETS}} if pages else {}


def _ghosts(run: Run, days: Mapping[str, Mapping[int, Sequence[float]]]) -> dict[str, Sequence[float]]:
    """Idle and reference on the seed of a run."""
    return {name: days[name][run.seed] for name in (LOW, HIGH) if run.seed in days.get(name, {})}
