"""What an analysis says, for people: groups side by side, each group's figures, and what each figure stands on."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from akinai.report.accounts import account_of, account_over, percent
from akinai.report.columns import Column, fitted, plain
from akinai.report.findings import findings_table, timeline
from akinai.report.tables import ABSENT, figure, label, one_run, runs_table, statistics_table
from akinai.runtime.analysis import Analysis, FindingsOver, Group, RunRecord, Scale, ScoreOver

MOST_RUNS = 20
"""That a table lists one by one."""
MOST_SEEDS = 8
"""Ranges of seeds that a sentence names."""


def analysis(told: Analysis, width: int) -> RenderableType:
    """One run: its page. Several: the groups side by side where there are two or more, the runs where they are few,
    then every group.
    """
    if not told.runs:
        return Text("no runs")
    if len(told.runs) == 1:
        return Parts(*_apart([*_one(told.runs[0], width), *_notes(told.groups[0])]))
    parts: list[RenderableType] = [groups_table(told.groups, width)] if len(told.groups) > 1 else []
    if len(told.runs) <= MOST_RUNS:
        parts.append(runs_table(told.runs, width))
    for group in told.groups:
        here = set(group.runs)
        parts += _group(group, [run for run in told.runs if run.id in here], width)
    return Parts(*_apart(parts))


def _apart(parts: Iterable[RenderableType]) -> list[RenderableType]:
    """Parts with an empty line between them."""
    return [line for part in parts for line in (Text(""), part)][1:]


def _one(run: RunRecord, width: int) -> list[RenderableType]:
    shown: list[RenderableType] = [one_run(run)]
    if run.effort:
        one = run.effort
        price = f", ${one.dollars:,.2f}" if one.dollars is not None else ""
        took = f"{one.calls:,} calls of {', '.join(one.models)}: {one.tokens.input:,} tokens read, "
        shown.append(Text(plain(f"{took}{one.tokens.output:,} written, {one.minutes:,.1f} minutes{price}.")))
    return [*shown, *_thread(run, width), *account_of(run, width)]


def _thread(run: RunRecord, width: int) -> list[RenderableType]:
    """How well the thread was kept, and where it was lost."""
    shown: list[RenderableType] = []
    if run.coherence:
        names = [label(one.name) for one in run.coherence]
        values = [figure(one.value, one.unit) for one in run.coherence]
        shown.append(fitted([Column("how the thread was kept", names, words=True), Column("value", values)], width))
    if run.findings and run.began is not None:
        shown.append(timeline(run.findings, run.days, width, start=run.began))
        shown.append(findings_table(run.findings, width, start=run.began))
    return shown


def _group(group: Group, runs: Sequence[RunRecord], width: int) -> list[RenderableType]:
    """A group's figures, its findings, and the sentences without which they mislead."""
    title = f"{group.name}: {_counted(group)}"
    shown: list[RenderableType] = []
    if group.scores:
        shown.append(_scores_table(group, width, title))
    else:
        shown.append(Text(plain(f"{title}: no scores"), "bold"))
    if group.findings:
        shown.append(findings_over(group.findings.values(), width))
    return [*shown, *_notes(group), *account_over(group, runs, width)]


def _counted(group: Group) -> str:
    n = len(group.runs)
    runs = f"{n:,} run{'s' if n != 1 else ''}"
    return runs if group.seeds == n else f"{runs} on {group.seeds:,} seed{'s' if group.seeds != 1 else ''}"


def _scores_table(group: Group, width: int, title: str) -> Table:
    scores = {**group.scores, **group.coherence}
    units = {name: one.unit for name, one in scores.items()}
    visible = Column("smallest visible", [figure(one.smallest_visible, one.unit) for one in scores.values()], drop=4)
    summary = {name: one.summary for name, one in scores.items()}
    return statistics_table(summary, units, width, title, [visible])


def _share(one: ScoreOver) -> str:
    return ABSENT if one.share is None else f"{100 * one.share:,.0f} %"


def groups_table(groups: Sequence[Group], width: int) -> Table:
    """A row a group: how its runs stand and its first score, with findings and effort where there is room."""
    firsts = [next(iter(group.scores.values()), None) for group in groups]
    names = {one.name for one in firsts if one}
    head = label(names.pop()) if len(names) == 1 else "first score"
    some = {state for group in groups for state in group.states}
    columns = [Column("group", [group.name for group in groups], words=True)]
    columns += [Column("runs", [figure(len(group.runs), "") for group in groups])]
    columns += [
        Column({"open": "not over"}.get(state, state), [figure(group.states.get(state, 0), "") for group in groups])
        for state in ("failed", "open", "unreadable")
        if state in some
    ]
    columns += [
        Column(f"mean {head}", [_mean(one) for one in firsts]),
        Column("95 % from", [_end(one, 0) for one in firsts]),
        Column("to", [_end(one, 1) for one in firsts]),
        Column("idle to reference", [_share(one) if one else ABSENT for one in firsts], drop=1),
        Column("of the best possible", [_of_best(group) for group in groups], drop=1),
        Column(TREATED, [_treated(group) for group in groups], drop=1),
        Column("coherence", [_mean(group.coherence.get("coherence")) for group in groups], drop=2),
        Column("findings a month", [_findings_rate(group) for group in groups], drop=3),
        *_effort_columns(groups),
    ]
    columns = [
        column for column in columns if column.head not in WHERE_KNOWN or any(cell != ABSENT for cell in column.cells)
    ]
    return fitted(columns, width, "Groups of runs that were played alike")


TREATED = "treated share"
WHERE_KNOWN = ("idle to reference", "of the best possible", TREATED, "coherence", "findings a month")
"""Columns of which some worlds know nothing."""


def _of_best(group: Group) -> str:
    one = group.figures.get("of_best")
    return percent(one.summary.mean) if one and one.summary.mean is not None else ABSENT


def _treated(group: Group) -> str:
    """The share of purchases from sellers under a treatment, with the interval of its mean."""
    one = group.figures.get("treated_share")
    if one is None or one.summary.mean is None:
        return ABSENT
    low, high = map(percent, one.summary.ci95 or (one.summary.mean, one.summary.mean))
    return f"{percent(one.summary.mean)} ({low.removesuffix(' %')} to {high})"


def _mean(one: ScoreOver | None) -> str:
    return figure(one.summary.mean, one.unit) if one else ABSENT


def _end(one: ScoreOver | None, end: int) -> str:
    return figure(one.summary.ci95[end], one.unit) if one and one.summary.ci95 else ABSENT


def _findings_rate(group: Group) -> str:
    return figure(sum(one.per_month or 0.0 for one in group.findings.values()), "") if group.days else ABSENT


def _effort_columns(groups: Sequence[Group]) -> list[Column]:
    told = [group.effort for group in groups]
    if not any(told):
        return []
    dollars = [one.dollars if one else None for one in told]
    return [
        Column("tokens read", [figure(round(one.input_tokens), "") if one else ABSENT for one in told], drop=5),
        Column("tokens written", [figure(round(one.output_tokens), "") if one else ABSENT for one in told], drop=6),
        Column("minutes", [f"{one.minutes:,.1f}" if one else ABSENT for one in told], drop=7),
        Column("dollars", [ABSENT if one is None else f"${one:,.2f}" for one in dollars], drop=4),
    ]


def findings_over(findings: Iterable[FindingsOver], width: int) -> Table:
    """Findings by type over the runs of a group."""
    told = list(findings)
    daily = any(one.per_month is not None for one in told)
    return fitted(
        [
            Column("finding", [label(one.type) for one in told], words=True),
            *([Column("a month", [figure(one.per_month, "") for one in told])] if daily else []),
            Column("in all", [figure(one.count, "") for one in told]),
            Column("runs with it", [figure(one.runs, "") for one in told]),
        ],
        width,
        "Findings, for 30 days of a run" if daily else "Findings",
    )


def _notes(group: Group) -> list[RenderableType]:
    """What a reader must know about a group's figures."""
    notes = [_how_they_ended(group), _copies(group), _scale(group)]
    told = "\n".join(plain(note) for note in notes if note)
    return [Text(told)] if told else []


def _how_they_ended(group: Group) -> str:
    if list(group.states) == ["done"]:
        return f"All ended: {_listed(group.endings)}." if len(group.runs) > 1 else ""
    sentence = f"{_listed({str(state): count for state, count in group.states.items()})}."
    if group.unfinished:
        sentence += " What failed or is not over counts as it stands, with what its ledger holds"
        first = next(iter(group.scores.values()), None)
        if first and first.mean_of_done is not None:
            sentence += f": without it the mean {label(first.name)} is {figure(first.mean_of_done, first.unit)}"
        sentence += "."
    if "unreadable" in group.states:
        sentence += " What cannot be read is in no figure."
    return sentence


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _copies(group: Group) -> str:
    if not group.copies:
        return ""
    return f"{group.copies:,} of the runs repeat another one entry by entry: they make the interval look too small."


def _scale(group: Group) -> str:
    """Where idle and reference stand, and on which seeds."""
    scale, first = group.scale, next(iter(group.scores.values()), None)
    if not scale.seeds or first is None or first.share is None:
        return ""
    idle, reference = (figure(side[first.name], first.unit) for side in (scale.idle, scale.reference))
    where = (
        f"{label(first.name)} is {100 * first.share:,.0f} % of the way from idle ({idle}) to reference ({reference})"
    )
    return f"{where[:1].upper()}{where[1:]}, on {_on_seeds(scale)}."


def _on_seeds(scale: Scale) -> str:
    seeds = f"seed{'s' if len(scale.seeds) > 1 else ''} {ranges(scale.seeds)}"
    some = f" of its {scale.of:,}, --scale takes all" if len(scale.seeds) < scale.of else ""
    played = f" (played for this on {ranges(scale.played)})" if scale.played else ""
    return f"{seeds}{played}{some}"


def ranges(numbers: Sequence[int]) -> str:
    """Rising whole numbers as people write them: "1-5, 8"; of many the first."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    told = [str(low) if low == high else f"{low}-{high}" for low, high in found[:MOST_SEEDS]]
    return ", ".join(told) + (" ..." if len(found) > MOST_SEEDS else "")
