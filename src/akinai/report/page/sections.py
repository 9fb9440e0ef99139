"""Reports made from analyses: a section for each question of a reader, in the order in which it is asked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from akinai.analysis.analyse import Analysis
from akinai.analysis.comparison import Comparison
from akinai.analysis.records import Group, ScoreSummary, WorldRanking
from akinai.analysis.verdicts import opening_sentences, ranking_sentences
from akinai.core.findings import WORST_FIRST, Finding
from akinai.core.presentation.words import ABSENT, label, unit_word
from akinai.core.presentation.words import figure as number
from akinai.report.figures.series import Members
from akinai.report.figures.style import looks
from akinai.report.figures.svg import Drawing
from akinai.report.page import charts
from akinai.report.page.boards.groups import group_kinds
from akinai.report.page.cards import card_blocks, how_to_read, practice_section, run_blocks, usage_blocks, words_section
from akinai.report.page.document import Addresses, Block, Document, Grid, Prose, Section, entry_link
from akinai.report.page.groups import accounts, pairs
from akinai.report.presentation import presentation_of
from akinai.runtime.runs.records import Run, State

NO_WORLD = "an unknown world"
"""The name of the world of runs whose header cannot be read."""
MAX_SENTENCES = 4
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
    group_looks = looks([group.name for group in analysis.groups], group_kinds(analysis))
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
        yield Section(paper.title, (Prose(paper.text), Grid(paper.heads, paper.rows, note=paper.note)))


def _title(analysis: Analysis, worlds: Sequence[str]) -> str:
    runs = "1 run" if len(analysis.runs) == 1 else f"{len(analysis.runs)} runs"
    return f"{runs} of {' and '.join(world or NO_WORLD for world in worlds)}"


def _about(analysis: Analysis) -> str:
    groups = [f"{group.name} ({_states(group)})" for group in analysis.groups]
    odd = [group for group in analysis.groups if group.advice]
    advice = "".join(f" For the unreadable runs of {group.name}, {group.advice}." for group in odd)
    return f"Played by {', '.join(groups)}.{advice}" if groups else "No runs."


def _states(group: Group) -> str:
    """The number of runs, and of those that are not done."""
    odd = [f"{count} {state}" for state, count in group.states.items() if count and state != "done"]
    runs = "1 run" if len(group.runs) == 1 else f"{len(group.runs)} runs"
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
    presentation = presentation_of(world)
    yield Section("What came of it", (*_outcome(groups, rankings), *charts.score_figure(groups, members, group_looks)))
    for group in groups:
        if group.scores:
            yield Section(f"All scores of {group.name}", (_scores(group),), 3)
    if charts.headline(groups) is None:
        return
    runs = {group.name: members.runs.get(group.name, ()) for group in groups}
    yield from accounts(groups, runs, presentation, group_looks)
    if differences := tuple(pairs(compared, groups, presentation)):
        yield Section("Differences between groups", differences)
    if drawn := tuple(charts.day_figures(groups, members, presentation, group_looks)):
        yield Section("Day by day", drawn)
    yield Section("Findings", (*_findings(groups, members, addresses), *charts.findings_figure(members, group_looks)))
    yield Section("What it took", tuple(usage_blocks(groups)))


def _outcome(groups: Sequence[Group], rankings: Sequence[WorldRanking]) -> Iterator[Block]:
    """The first score by group, its place between idle and reference, and how runs ended."""
    first = charts.headline(groups)
    if first is None:
        yield Prose("No run could be scored; the section on runs says why.")
    else:
        name, unit = first
        scored = [(group, group.scores[name]) for group in groups if name in group.scores]
        yield from (
            Prose(_sentence(group, score), on_cards=True) for group, score in scored if len(scored) <= MAX_SENTENCES
        )
        yield from (Prose(ranking_sentences(ranking)) for ranking in rankings)
        states = _states_to_count(groups)
        rows = [
            (
                *(group.name, *_statistics(score, unit), number(score.mde, unit), str(score.summary.n)),
                *_counts(group, states),
            )
            for group, score in scored
        ]
        heads = ("group", *HEADS, "smallest visible", "n", *states.values())
        yield Grid(heads, tuple(rows), charts.title(f"{name} ({unit_word(unit)})"), IN_N)
        yield from _between_idle_and_reference(scored, unit)
    yield _endings(groups)


IN_N = (
    "The smallest visible difference is one against another group of as many runs with no seed in common, found four "
    "times in five; common seeds show smaller ones. Runs that failed or are not over are in n as they stand; runs that "
    "are unreadable or damaged are not."
)
HEADS = ("mean", "median", "min", "max", "95 % from", "to")


def _statistics(score: ScoreSummary, unit: str) -> tuple[str, ...]:
    summary = score.summary
    low, high = summary.ci95 or (None, None)
    return tuple(number(value, unit) for value in (summary.mean, summary.median, summary.min, summary.max, low, high))


NOT_DONE: dict[State, str] = {"failed": "failed", "open": "not over", "unreadable": "unreadable", "damaged": "damaged"}
"""The states of runs that are not done, in words."""


def _states_to_count(groups: Sequence[Group]) -> dict[State, str]:
    """The states that have a column: failed always, the others if a run is in them."""
    return {
        state: head
        for state, head in NOT_DONE.items()
        if state == "failed" or any(group.states.get(state) for group in groups)
    }


def _counts(group: Group, states: Iterable[State]) -> list[str]:
    return [str(group.states.get(state, 0)) for state in states]


def _sentence(group: Group, score: ScoreSummary) -> str:
    """A group's first score in a sentence."""
    summary = score.summary
    if summary.mean is None:
        return f"{group.name}: no run has a value."
    if summary.n == 1:
        between = " in the one run that there is"
    elif summary.min == summary.max:
        between = " in every run"
    else:
        low, high = (number(end, score.unit) for end in summary.ci95 or (None, None))
        between = f" on average, with 95 % confidence between {low} and {high}"
    not_done = "".join(f", {group.states[state]} {head}" for state, head in NOT_DONE.items() if group.states.get(state))
    n = f"(n = {summary.n}{not_done})".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{group.name}: {label(score.name)} {number(summary.mean, score.unit)}{between} {n}."


def _between_idle_and_reference(scored: Sequence[tuple[Group, ScoreSummary]], unit: str) -> Iterator[Block]:
    beyond = len(_beyond_heads(scored)) > 0
    rows = [_on_scale(group, score, unit, beyond=beyond) for group, score in scored if not group.scale.why_not]
    notes = [f"{group.name}: {group.scale.why_not}." for group, _ in scored if group.scale.why_not]
    if any(group.scale.played for group, _ in scored):
        notes.append("Where the players of the scale were not among the runs, they were played for this table.")
    notes.append("0 % is a player that does nothing, 100 % the rule-based reference player, on the same seeds.")
    if rows:
        heads = ("group", "idle", "own mean", "reference", "place", *_beyond_heads(scored), "seeds")
        yield Grid(heads, tuple(rows), charts.title(f"{scored[0][1].name} between idle and reference"), " ".join(notes))


def _beyond_heads(scored: Sequence[tuple[Group, ScoreSummary]]) -> Sequence[str]:
    """The columns on what is above reference, where a world knows of anything."""
    return ("informed", "bound") if any(group.scale.informed for group, _ in scored) else ()


def _on_scale(group: Group, score: ScoreSummary, unit: str, *, beyond: bool) -> tuple[str, ...]:
    scale = group.scale
    ends = (number(side.get(score.name), unit) for side in (scale.idle, scale.own, scale.reference))
    share = ABSENT if score.share is None else f"{score.share:.0%}".replace("%", " %")
    above = (number(scale.informed.get(score.name), unit), number(scale.bound, unit)) if beyond else ()
    return (group.name, *ends, share, *above, f"{len(scale.seeds)} of {scale.of}")


def _endings(groups: Sequence[Group]) -> Grid:
    rows = [
        (group.name, label(ending), str(count), f"{len(group.runs)}")
        for group in groups
        for ending, count in group.endings.items()
    ]
    return Grid(("group", "ending", "runs", "of"), tuple(rows), "How runs ended", words=frozenset({0, 1}))


def _scores(group: Group) -> Grid:
    states = _states_to_count([group])
    counts = _counts(group, states)
    rows = [
        (
            *(label(score.name), unit_word(score.unit), *_statistics(score, score.unit)),
            *(number(score.mde, score.unit), str(score.summary.n), *counts),
        )
        for score in group.scores.values()
    ]
    heads = ("score", "unit", *HEADS, "smallest visible", "n", *states.values())
    return Grid(heads, tuple(rows), note=_note_on_unfinished(group), words=frozenset({0, 1}))


def _note_on_unfinished(group: Group) -> str:
    """A sentence on the first mean without the unfinished runs."""
    first = next(iter(group.scores.values()))
    if not group.unfinished:
        return ""
    if first.mean_of_done is None:
        return "None of these runs ended: the figures are of records as they stand."
    mean = number(first.mean_of_done, first.unit)
    return f"Of the {group.states.get('done', 0)} runs that ended alone the mean {label(first.name)} is {mean}."


def _findings(groups: Sequence[Group], members: Members, addresses: Addresses) -> Iterator[Block]:
    by_type = [(group, findings) for group in groups for findings in group.findings.values()]
    daily = any(findings.per_month is not None for _, findings in by_type)
    rows = [
        (
            *(group.name, label(findings.type), str(findings.count), f"{findings.runs} of {len(group.runs)}"),
            *((number(findings.per_month, ""),) if daily else ()),
        )
        for group, findings in by_type
    ]
    if not rows:
        yield Prose("None: nobody lost the thread, or the world has no detectors.")
        return
    heads = ("group", "type", "findings", "runs with one", *(("per run and 30 days",) if daily else ()))
    yield Grid(heads, tuple(rows), "Findings by type", words=frozenset({0, 1}))
    yield from _listed(members, addresses)


def _listed(members: Members, addresses: Addresses) -> Iterator[Block]:
    """A table of findings, the worst first, each with the entries that show it."""
    findings = [
        (group, run, finding) for group, runs in members.runs.items() for run in runs for finding in run.findings or ()
    ]
    findings.sort(key=lambda row: WORST_FIRST.index(row[2].severity))
    listed, alike = list[tuple[Run, Finding]](), Counter[tuple[str, str]]()
    for group, run, finding in findings:
        alike[group, finding.type] += 1
        if alike[group, finding.type] <= MAX_ALIKE:
            listed.append((run, finding))
    if not findings:
        return
    rows = [_finding(run.id, finding, addresses) for run, finding in listed[:MAX_FINDINGS]]
    less = f"{MAX_ALIKE} of a group and type at most; all {len(findings)} findings are in results.json."
    heads = ("entries", "type", "severity", "what was assumed", "what was true")
    note = less if len(rows) < len(findings) else ""
    yield Grid(heads, tuple(rows), "Findings, the worst first", note, ALL_WORDS)


ALL_WORDS = frozenset(range(5))


def _finding(run: str, finding: Finding, addresses: Addresses) -> tuple[str, ...]:
    """A row; its first cell opens the transcript, or names the command that does."""
    entries = entry_link(_entries(run, finding.entries), addresses, run, entry=finding.entries[-1])
    if run not in addresses:
        entries = f"{entries} (akinai show {run} --entry {finding.entries[-1]})"
    return (entries, label(finding.type), finding.severity, finding.assumed, finding.true)


def _entries(run: str, entries: Sequence[int]) -> str:
    """The entries that show a finding, such as "run#3 #5"; of many the first and the last."""
    if len(entries) > MAX_ENTRIES:
        return f"{run}#{entries[0]} ... #{entries[-1]}"
    return " ".join([f"{run}#{entries[0]}", *(f"#{entry}" for entry in entries[1:])])
