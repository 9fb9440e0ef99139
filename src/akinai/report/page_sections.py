"""A report from an analysis: a section for each thing that a reader asks, in the order in which it is asked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from akinai.core.findings import Finding
from akinai.report import page_figures as figures
from akinai.report.figures_axes import looks
from akinai.report.figures_svg import Drawing
from akinai.report.page_accounts import accounts
from akinai.report.page_cards import cards, efforts, reading, runs_told
from akinai.report.page_contents import Block, Document, Grid, Prose, Section
from akinai.report.page_pairs import pairs
from akinai.report.series import Members
from akinai.report.tables import ABSENT, label
from akinai.report.tables import figure as number
from akinai.runtime.analysis import Analysis, Group, RunRecord, ScoreOver, State
from akinai.runtime.analysis_pairs import Contrast

NO_WORLD = "an unknown world"
"""Of runs whose header cannot be read."""
MOST_SENTENCES = 4
MOST_FINDINGS = 60
MOST_ALIKE = 8
MOST_ENTRIES = 4
WORST_FIRST = {"grave": 0, "serious": 1, "minor": 2}


def document(analysis: Analysis, compared: Sequence[Contrast], *, with_paper: bool = False) -> Document:
    """The whole report; `compared` are its groups two by two."""
    worlds = list(dict.fromkeys(run.world for run in analysis.runs))
    looked = looks([group.name for group in analysis.groups])
    sections: list[Section] = []
    for world in worlds:
        groups = [group for group in analysis.groups if group.world == world]
        made = list(_of_world(groups, Members.of(analysis, groups), compared, looked))
        sections += [_told_apart(one, world or NO_WORLD) for one in made] if len(worlds) > 1 else made
    sections += [Section("Runs", tuple(runs_told(analysis))), Section("Run cards", tuple(cards(analysis)))]
    if with_paper:
        from akinai.report.page_paper import PAPER

        sections.append(PAPER)
    return Document(_title(analysis, worlds), _about(analysis), (*sections, reading()))


def _title(analysis: Analysis, worlds: Sequence[str]) -> str:
    runs = "1 run" if len(analysis.runs) == 1 else f"{len(analysis.runs)} runs"
    return f"{runs} of {' and '.join(world or NO_WORLD for world in worlds)}"


def _about(analysis: Analysis) -> str:
    told = [f"{group.name} ({_states(group)})" for group in analysis.groups]
    return f"Played by {', '.join(told)}." if told else "No runs."


def _states(group: Group) -> str:
    """How many runs, and how many of them are not simply done."""
    odd = [f"{count} {state}" for state, count in group.states.items() if count and state != "done"]
    runs = "1 run" if len(group.runs) == 1 else f"{len(group.runs)} runs"
    return ", ".join([runs, *odd])


def _told_apart(one: Section, world: str) -> Section:
    """A section, and the files of its figures, under the name of its world, where a report has several."""
    prefix = world.partition("@")[0]
    blocks = (
        replace(block, name=f"{prefix}-{block.name}") if isinstance(block, Drawing) else block for block in one.blocks
    )
    title = f"{world}: {one.title}" if one.level == 2 else one.title  # a group's name tells its world
    return Section(title, tuple(blocks), one.level)


def _of_world(
    groups: Sequence[Group], members: Members, compared: Sequence[Contrast], looked: figures.Looks
) -> Iterator[Section]:
    yield Section("What came of it", (*_outcome(groups), *figures.score_figure(groups, members, looked)))
    for group in groups:
        if group.scores:
            yield Section(f"All scores of {group.name}", (_scores(group),), 3)
    if figures.headline(groups) is None:
        return
    yield from accounts(groups, {group.name: members.runs.get(group.name, ()) for group in groups}, looked)
    if told := tuple(pairs(compared, groups)):
        yield Section("Differences between groups", told)
    if drawn := tuple(figures.day_figures(groups, members, looked)):
        yield Section("Day by day", drawn)
    yield Section("Findings", (*_findings(groups, members), *figures.findings_figure(members, looked)))
    yield Section("What it took", tuple(efforts(groups)))


def _outcome(groups: Sequence[Group]) -> Iterator[Block]:
    """The first score by group, its place between idle and reference, and how runs ended."""
    first = figures.headline(groups)
    if first is None:
        yield Prose("No run could be scored; the section on runs says why.")
    else:
        name, unit = first
        over = [(group, group.scores[name]) for group in groups if name in group.scores]
        yield from (Prose(_sentence(group, one)) for group, one in over if len(over) <= MOST_SENTENCES)
        odd = _odd(groups)
        rows = [
            (group.name, *_figures(one, unit), str(one.summary.n), *(str(group.states.get(state, 0)) for state in odd))
            for group, one in over
        ]
        heads = ("group", *HEADS, "n", *odd.values())
        yield Grid(heads, tuple(rows), figures.title(f"{name} ({_unit(unit)})"), IN_N)
        yield from _place(over, unit)
    yield _endings(groups)


IN_N = "Runs that failed or are not over are in n as they stand; runs that cannot be read are not."
HEADS = ("mean", "median", "min", "max", "95 % from", "to")


def _figures(one: ScoreOver, unit: str) -> tuple[str, ...]:
    low, high = one.summary.ci95 or (None, None)
    told = (one.summary.mean, one.summary.median, one.summary.min, one.summary.max, low, high)
    return tuple(number(value, unit) for value in told)


ODD: dict[State, str] = {"failed": "failed", "open": "not over", "unreadable": "unreadable"}
"""What runs can be beside done."""


def _odd(groups: Sequence[Group]) -> dict[State, str]:
    """Heads for runs that are not done: failed always, the others where there are some."""
    return {
        state: head
        for state, head in ODD.items()
        if state == "failed" or any(group.states.get(state) for group in groups)
    }


def _unit(unit: str) -> str:
    return "dollars" if unit == "cents" else unit


def _sentence(group: Group, one: ScoreOver) -> str:
    """What a group's first score says."""
    told = one.summary
    if told.mean is None:
        return f"{group.name}: no run has a value."
    if told.n == 1:
        between = " in the one run that there is"
    elif told.min == told.max:
        between = " in every run"
    else:
        low, high = (number(end, one.unit) for end in told.ci95 or (None, None))
        between = f" on average, with 95 % confidence between {low} and {high}"
    odd = "".join(f", {group.states[state]} {head}" for state, head in ODD.items() if group.states.get(state))
    n = f"(n = {told.n}{odd})".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{group.name}: {label(one.name)} {number(told.mean, one.unit)}{between} {n}."


def _place(over: Sequence[tuple[Group, ScoreOver]], unit: str) -> Iterator[Block]:
    rows = [_on_scale(group, one, unit) for group, one in over if not group.scale.why_not]
    notes = [f"{group.name}: {group.scale.why_not}." for group, _ in over if group.scale.why_not]
    if any(group.scale.played for group, _ in over):
        notes.append("Where idle or reference were not among the runs, they were played for this table.")
    notes.append("0 % is a player that does nothing, 100 % the rule-based reference player, on the same seeds.")
    if rows:
        heads = ("group", "idle", "own mean", "reference", "place", "seeds")
        yield Grid(heads, tuple(rows), figures.title(f"{over[0][1].name} between idle and reference"), " ".join(notes))


def _on_scale(group: Group, one: ScoreOver, unit: str) -> tuple[str, ...]:
    scale = group.scale
    ends = (number(side.get(one.name), unit) for side in (scale.idle, scale.own, scale.reference))
    share = ABSENT if one.share is None else f"{one.share:.0%}".replace("%", " %")
    return (group.name, *ends, share, f"{len(scale.seeds)} of {scale.of}")


def _endings(groups: Sequence[Group]) -> Grid:
    rows = [
        (group.name, label(ending), str(count), f"{len(group.runs)}")
        for group in groups
        for ending, count in group.endings.items()
    ]
    return Grid(("group", "ending", "runs", "of"), tuple(rows), "How runs ended", words=frozenset({0, 1}))


def _scores(group: Group) -> Grid:
    odd = _odd([group])
    counts = [str(group.states.get(state, 0)) for state in odd]
    rows = [
        (label(one.name), _unit(one.unit), *_figures(one, one.unit), str(one.summary.n), *counts)
        for one in group.scores.values()
    ]
    heads = ("score", "unit", *HEADS, "n", *odd.values())
    return Grid(heads, tuple(rows), note=_of_done(group), words=frozenset({0, 1}))


def _of_done(group: Group) -> str:
    """What the unfinished runs do to the first mean."""
    first = next(iter(group.scores.values()))
    if not group.unfinished:
        return ""
    if first.mean_of_done is None:
        return "None of these runs ended: the figures are of records as they stand."
    mean = number(first.mean_of_done, first.unit)
    return f"Of the {group.states.get('done', 0)} runs that ended alone the mean {label(first.name)} is {mean}."


def _findings(groups: Sequence[Group], members: Members) -> Iterator[Block]:
    found = [(group, one) for group in groups for one in group.findings.values()]
    daily = any(one.per_month is not None for _, one in found)
    rows = [
        (
            *(group.name, label(one.type), str(one.count), f"{one.runs} of {len(group.runs)}"),
            *((number(one.per_month, ""),) if daily else ()),
        )
        for group, one in found
    ]
    if not rows:
        yield Prose("None: nobody lost the thread, or the world has no detectors.")
        return
    heads = ("group", "type", "findings", "runs with one", *(("per run and 30 days",) if daily else ()))
    yield Grid(heads, tuple(rows), "Findings by type", words=frozenset({0, 1}))
    yield from _listed(members)


def _listed(members: Members) -> Iterator[Block]:
    """The findings themselves, the worst first, each with the entries that show it."""
    found = [(group, run, one) for group, runs in members.runs.items() for run in runs for one in run.findings or ()]
    found.sort(key=lambda told: WORST_FIRST[told[2].severity])
    shown, alike = list[tuple[RunRecord, Finding]](), Counter[tuple[str, str]]()
    for group, run, one in found:
        alike[group, one.type] += 1
        if alike[group, one.type] <= MOST_ALIKE:
            shown.append((run, one))
    if not found:
        return
    rows = [
        (_entries(run.id, one.entries), label(one.type), one.severity, one.assumed, one.true)
        for run, one in shown[:MOST_FINDINGS]
    ]
    less = f"{MOST_ALIKE} of a group and type at most; all {len(found)} findings are in results.json."
    heads = ("entries", "type", "severity", "what was assumed", "what was true")
    note = less if len(rows) < len(found) else ""
    yield Grid(heads, tuple(rows), "Findings, the worst first", note, ALL_WORDS)


ALL_WORDS = frozenset(range(5))


def _entries(run: str, entries: Sequence[int]) -> str:
    """The entries that show a finding; many of them by the first and the last."""
    if len(entries) > MOST_ENTRIES:
        return f"{run}#{entries[0]} ... #{entries[-1]}"
    return " ".join([f"{run}#{entries[0]}", *(f"#{entry}" for entry in entries[1:])])
