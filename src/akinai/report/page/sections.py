"""Reports made from analyses: a section for each question of a reader, in the order in which it is asked."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from akinai.analysis.analyse import Analysis
from akinai.analysis.comparison import Comparison
from akinai.analysis.presentation import presentation_of
from akinai.analysis.records import Group, WorldRanking
from akinai.analysis.tables import (
    account_of,
    best_sentence,
    conduct_table,
    findings_table,
    group_notes,
    groups_table,
    scores_table,
    usage_columns,
    without_same,
)
from akinai.analysis.verdicts import opening_sentences, ranking_sentences
from akinai.core.findings import WORST_FIRST, Family, Finding
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import counted, label
from akinai.report.figures.series import Members
from akinai.report.figures.style import looks
from akinai.report.figures.svg import Drawing
from akinai.report.page import charts
from akinai.report.page.boards.groups import hues_of
from akinai.report.page.cards import card_blocks, how_to_read, practice_section, run_blocks, words_section
from akinai.report.page.document import Addresses, Block, Document, Section, entry_link
from akinai.report.page.groups import pairs
from akinai.runtime.runs.records import Run

NO_WORLD = "an unknown world"
"""The name of the world of runs whose header cannot be read."""
MAX_ROWS = 60
"""Rows of a world's table."""
MAX_FINDINGS = 60
MAX_ALIKE = 8
"""Findings of one group and type that are listed."""
MAX_ENTRIES = 4


def document(
    analysis: Analysis,
    compared: Sequence[Comparison],
    *,
    with_paper: bool = False,
    addresses: Addresses = MappingProxyType({}),
) -> Document:
    """The whole report; `compared` are the comparisons of its groups, two by two."""
    worlds = list(dict.fromkeys(run.world for run in analysis.runs))
    group_looks = looks([group.name for group in analysis.groups], hues_of(analysis))
    sections: list[Section] = []
    for world in worlds:
        groups = [group for group in analysis.groups if group.world == world]
        rankings = [ranking for ranking in analysis.standings if ranking.world == world]
        members = Members.of(analysis, groups)
        of_world = _world_sections(world, groups, members, compared, group_looks, rankings, addresses)
        sections += (_with_world(section, world or NO_WORLD) for section in of_world) if len(worlds) > 1 else of_world
    sections += [
        Section("Runs", tuple(run_blocks(analysis, addresses))),
        Section("Run cards", tuple(card_blocks(analysis))),
    ]
    if with_paper:
        sections += [section for world in worlds for section in _published(world)]
    verdict = opening_sentences(analysis.groups, analysis.standings)
    return Document(
        _title(analysis, worlds),
        _about(analysis),
        (*sections, *practice_section(run.header for run in analysis.runs), words_section(sections), how_to_read()),
        verdict,
    )


def _published(world: str) -> Iterator[Section]:
    """Yield a section on results that others published about the world."""
    if paper := presentation_of(world).published:
        yield Section(paper.title, (paper.text, Grid.of_rows(paper.heads, paper.rows, note=paper.note)))


def _title(analysis: Analysis, worlds: Sequence[str]) -> str:
    runs = counted(len(analysis.runs), "run")
    return f"{runs} of {' and '.join(world or NO_WORLD for world in worlds)}"


def _about(analysis: Analysis) -> str:
    groups = [f"{group.name} ({_states(group)})" for group in analysis.groups]
    odd = [group for group in analysis.groups if group.advice]
    advice = "".join(f" For the unreadable runs of {group.name}, {group.advice}." for group in odd)
    return f"Played by {', '.join(groups)}.{advice}" if groups else "No runs."


def _states(group: Group) -> str:
    """The number of runs, and of those that are not done."""
    odd = [f"{count} {state}" for state, count in group.states.items() if count and state != "done"]
    runs = counted(len(group.runs), "run")
    return ", ".join([runs, *odd])


def _with_world(section: Section, world: str) -> Section:
    """A section of a report on several worlds: its title and the files of its figures name the world."""
    prefix = world.partition("@")[0]
    blocks = (
        replace(block, name=f"{prefix}-{block.name}") if isinstance(block, Drawing) else block
        for block in section.blocks
    )
    title = f"{world}: {section.title}" if section.level == 2 else section.title  # a group's name tells its world
    return Section(title, tuple(blocks), section.level)


def _world_sections(
    world: str,
    groups: Sequence[Group],
    members: Members,
    compared: Sequence[Comparison],
    group_looks: charts.Looks,
    rankings: Sequence[WorldRanking],
    addresses: Addresses,
) -> Iterator[Section]:
    yield Section("What came of it", (*_outcome(groups, rankings), *charts.score_figure(groups, members, group_looks)))
    for group in groups:
        if group.scores:
            table = scores_table(without_same(group.scores))
            yield Section(f"All scores of {group.name}", (table, *group_notes(group)), 3)
    if charts.headline(groups) is None:
        return
    yield from _accounts(groups, members, group_looks)
    if differences := tuple(pairs(compared, groups)):
        yield Section("Differences between groups", differences)
    if drawn := tuple(charts.day_figures(groups, members, presentation_of(world), group_looks)):
        yield Section("Day by day", drawn)
    findings = (*_findings(groups, members, addresses), *charts.findings_figure(members, group_looks))
    yield Section("Findings", findings)
    yield Section("What it took", (_usage(groups),))


def _outcome(groups: Sequence[Group], rankings: Sequence[WorldRanking]) -> Iterator[Block]:
    """The groups by their first score, and how far they are told apart."""
    if charts.headline(groups) is None:
        yield "No run could be scored; the section on runs says why."
    used = {column.head for column in usage_columns(groups)}
    table = groups_table(groups, rankings)
    yield Grid([column for column in table.columns if column.head not in used], table.title, IN_N)
    yield from map(ranking_sentences, rankings)
    for reason in dict.fromkeys(group.scale.why_not for group in groups if group.scale.why_not):
        names = [group.name for group in groups if group.scale.why_not == reason]
        yield f"{'Each group' if len(names) == len(groups) > 1 else '; '.join(names)}: {reason}."


IN_N = (
    "The smallest visible difference is one against another group of as many runs with no seed in common, found four "
    "times in five; common seeds show smaller ones. Runs that failed or are not over are in n as they stand; runs that "
    "are unreadable or damaged are not."
)


def _usage(groups: Sequence[Group]) -> Block:
    if not (columns := [*usage_columns(groups)]):
        return "No model was asked: these players go by rules."
    note = "Means of a run that asked a model; dollars by the prices in akinai.toml, where all of them are known."
    return Grid([Column("group", [group.name for group in groups], words=True, names=True), *columns], note=note)


def _accounts(groups: Sequence[Group], members: Members, group_looks: charts.Looks) -> Iterator[Section]:
    """A section for all groups that have figures beside the scores, and one for each."""
    having = [group for group in groups if group.figures]
    sentences = [f"{group.name}: {sentence}" for group in having if (sentence := best_sentence(group))]
    if having:
        yield Section("Beside the scores", (*sentences, *charts.account_figures(having, group_looks)))
    for group in having:
        parts = account_of(group, members.runs.get(group.name, ()), MAX_ROWS, "results.json")
        yield Section(f"Beside the scores: {group.name}", tuple(parts), 3)


def _findings(groups: Sequence[Group], members: Members, addresses: Addresses) -> Iterator[Block]:
    if not any(group.findings or group.conduct for group in groups):
        yield "None: nobody lost the thread, or the world has no detectors."
        return
    if any(group.findings for group in groups):
        yield findings_table(groups)
        yield from _listed(members, addresses, "mistake")
    if any(group.conduct for group in groups):
        yield conduct_table(groups)
        yield from _listed(members, addresses, "conduct")


TITLES: Mapping[Family, str] = {"mistake": "Findings, the worst first", "conduct": "Conduct, the worst first"}


def _listed(members: Members, addresses: Addresses, family: Family) -> Iterator[Block]:
    """A table of the findings of a family, the worst first, each with the entries that show it."""
    findings = [
        (group, run, finding)
        for group, runs in members.runs.items()
        for run in runs
        for finding in run.findings or ()
        if finding.family == family
    ]
    findings.sort(key=lambda row: WORST_FIRST.index(row[2].severity))
    listed, alike = list[tuple[Run, Finding]](), Counter[tuple[str, str]]()
    for group, run, finding in findings:
        alike[group, finding.type] += 1
        if alike[group, finding.type] <= MAX_ALIKE:
            listed.append((run, finding))
    if not findings:
        return
    thoughts = any(finding.thought for _, finding in listed[:MAX_FINDINGS])
    rows = [_finding(run.id, finding, addresses, thoughts) for run, finding in listed[:MAX_FINDINGS]]
    less = f"{MAX_ALIKE} of a group and type at most; all {len(findings)} findings are in results.json."
    heads = ("entries", "type", "severity", "what was assumed", "what was true", "what was thought")
    note = less if len(rows) < len(findings) else ""
    yield Grid.of_rows(heads[: 5 + thoughts], rows, TITLES[family], note, frozenset(range(5 + thoughts)))


def _finding(run: str, finding: Finding, addresses: Addresses, thoughts: bool) -> tuple[str, ...]:
    """A row, with what was thought where the table has it; its first cell opens the transcript, or names the command
    that does."""
    entries = entry_link(_entries(run, finding.entries), addresses, run, entry=finding.entries[-1])
    if run not in addresses:
        entries = f"{entries} (akinai show {run} --entry {finding.entries[-1]})"
    row = (entries, label(finding.type), finding.severity, finding.assumed, finding.true)
    return (*row, finding.thought) if thoughts else row


def _entries(run: str, entries: Sequence[int]) -> str:
    """The entries that show a finding, such as "run#3 #5"; of many the first and the last."""
    if len(entries) > MAX_ENTRIES:
        return f"{run}#{entries[0]} ... #{entries[-1]}"
    return " ".join([f"{run}#{entries[0]}", *(f"#{entry}" for entry in entries[1:])])
