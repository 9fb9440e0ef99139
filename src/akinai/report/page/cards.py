"""Sections that let a reader check a report: every run, what the models took, the cards, how to read it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from akinai.analysis.analyse import Analysis
from akinai.analysis.records import Group
from akinai.core.canonical import Json
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import ABSENT, label
from akinai.core.stores import RunHeader
from akinai.report.page.charts import headline
from akinai.report.page.document import PRACTICE_NOTE, WORDS, Addresses, Block, Link, Section, entry_link
from akinai.report.terms import terms_in

MAX_RUNS = 200
MAX_VALUES = 6
"""Values of a field that are listed in full."""
SHOWN_ELSEWHERE = ("digests", "calls")
"""Fields of a run card that other tables show."""


ANCHOR = "practice-seeds"
PRACTICE_SECTION = Section("Practice seeds", (PRACTICE_NOTE,), anchor=ANCHOR)


def practice_link(seeds: str) -> str:
    """Practice seeds as a cell, with a link to the section that says what they are."""
    return Link(f"practice {seeds}", f"#{ANCHOR}")


def game_cell(header: RunHeader) -> str:
    """The game of a run as a cell of a table."""
    return header.game if header.sealed else practice_link(header.game)


def practice_section(headers: Iterable[RunHeader]) -> tuple[Section, ...]:
    """The section on practice seeds; none where every game is sealed."""
    return () if all(header.sealed for header in headers) else (PRACTICE_SECTION,)


def run_blocks(analysis: Analysis, addresses: Addresses) -> Iterator[Block]:
    """A table of every run, then a table of errors."""
    group_of = {run: group.name for group in analysis.groups for run in group.runs}
    runs = analysis.runs[:MAX_RUNS]
    left_out = len(analysis.runs) - len(runs)
    more = f"{left_out} more runs are in results.json. " if left_out else ""
    note = f"{more}A digest stands for the whole record; 'akinai verify RUN' checks it. All 64 digits: results.json."
    columns = [
        Column("run", [entry_link(run.id, addresses, run.id) for run in runs], words=True, names=True),
        Column("group", [group_of.get(run.id) for run in runs], words=True, names=True),
        Column("seed", [game_cell(run.header) for run in runs]),
        Column("status", [run.state for run in runs], words=True),
        Column("ending", [label(run.ending) if run.ending else None for run in runs], words=True),
        Column("days", [run.days or None for run in runs]),
        Column("entries", [run.entries for run in runs]),
        Column("digest", [run.digest[:12] for run in runs], words=True),
    ]
    if score := headline(analysis.groups):
        columns.append(Column(label(score[0]), [run.value(score[0]) for run in runs], unit=score[1]))
    yield Grid(columns, note=note)
    if broke := [(run.id, run.error) for run in runs if run.error]:
        yield Grid.of_rows(("run", "what broke"), broke, words=frozenset({0, 1}))


def card_blocks(analysis: Analysis) -> Iterator[Block]:
    """The card of all runs, then the cards of the groups."""
    common = {name: value for name, value in analysis.runs.card().items() if name not in SHOWN_ELSEWHERE}
    models = sorted({model for run in analysis.runs if run.usage for model in run.usage.models})
    if models:
        common["model ids as returned"] = cast("Json", models)
    rows = [(label(name), _text(value)) for name, value in common.items()]
    yield Grid.of_rows(("field", "value"), rows, "All runs", words=frozenset({0, 1}))
    if len(analysis.groups) > 1:
        yield _cards_by_group(analysis.groups)


def _cards_by_group(groups: Sequence[Group]) -> Grid:
    heads = list(dict.fromkeys(name for group in groups for name in group.card))
    rows = [
        (
            *(group.name, group.world, *(_text(group.card.get(name)) for name in heads)),
            ", ".join(f"{name} = {_text(value)}" for name, value in group.settings.items()) or ABSENT,
        )
        for group in groups
    ]
    columns = ("group", "world", *map(label, heads), "settings that set it apart")
    return Grid.of_rows(columns, rows, "By group", words=frozenset(range(len(columns))))


def _text(value: Json) -> str:
    match value:
        case None:
            return "none"
        case str():
            return value
        case list() if len(value) > MAX_VALUES:
            return f"{_text(value[0])} ... {_text(value[-1])} ({len(value)} values)"
        case list():
            return "; ".join(map(_text, value))
        case _:
            return json.dumps(value, ensure_ascii=False, sort_keys=True)


def words_section(sections: Sequence[Section]) -> Section:
    """The section that says what the heads of a report's tables mean."""
    grids = [block for section in sections for block in section.blocks if isinstance(block, Grid)]
    terms = terms_in(head for grid in grids for head in grid.heads)
    words = Grid.of_rows(("word", "meaning"), [*terms.items()], words=frozenset({0, 1}))
    return Section("Words", (words,), anchor=WORDS)


def how_to_read() -> Section:
    """The section that explains groups, n and intervals."""
    return Section(
        "How to read this",
        (
            (
                "A group is the runs that were played alike: one world, settings, agent, model and playbook. n is the "
                "number of runs that a figure stands on. Runs that failed or are not over count with what their record "
                "holds; runs whose record cannot be read have no value and are counted beside the figures."
            ),
            (
                "Intervals in tables hold the mean with 95 % confidence: Student's t and its correction for skewness, "
                "of passed runs Clopper and Pearson's; runs of one seed enter them together. Bands in figures are "
                "Student's t, day by day. All of it can be made again from the records: 'akinai export RUN' writes "
                "them, "
                "'akinai verify RUN' checks their chain, and results.json beside this page holds the numbers."
            ),
        ),
    )
