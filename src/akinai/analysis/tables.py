"""Tables and sentences on groups of runs and on differences, the same for a terminal, a page, a file and `print`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from akinai.analysis.presentation import presentation_of
from akinai.analysis.records import GainSummary, Group, PassRate, Scale, ScoreSummary, TableSummary, WorldRanking
from akinai.core.canonical import Json
from akinai.core.presentation.sentences import coverage_warning
from akinai.core.presentation.tables import Column, Grid
from akinai.core.presentation.words import ABSENT, capitalized, counted, figure, label, percent, ranges
from akinai.core.scores import WORDS
from akinai.core.statistics import PairedComparison, Summary, WelchComparison
from akinai.core.untrusted.spelling import shorten, with_name
from akinai.runtime.runs.records import LEFT_OUT, Run, State

Part: TypeAlias = str | Grid
"""A paragraph, or a table."""
MAX_CELL = 40
"""Characters of a cell of a world's table."""
NOT_DONE: dict[State, str] = {"failed": "failed", "open": "not over", **{state: state for state in LEFT_OUT}}
"""The states of runs that are not done, in words."""


def groups_table(groups: Sequence[Group], rankings: Sequence[WorldRanking] = (), more: Sequence[Column] = ()) -> Grid:
    """A row for each group, by place: the states of its runs, its first score, then findings and what it took."""
    firsts = [next(iter(group.scores.values()), None) for group in groups]
    names = {score.name for score in firsts if score}
    units = [score.unit if score else "" for score in firsts]
    ends = [(score.summary.ci95 if score else None) or (None, None) for score in firsts]
    head = label(names.pop()) if len(names) == 1 else "first score"
    places = {name: place for ranking in rankings for name, place in ranking.order.places.items()}
    compared = dict.fromkeys(name for group in groups for name in presentation_of(group.world).compared)
    optional = [
        Column("idle to reference", [score.share if score else None for score in firsts], drop=1, unit="percent"),
        Column("of the best possible", [_of_best(group) for group in groups], drop=1, unit="percent"),
        *(_compared([group.figures.get(name) for group in groups], name) for name in compared),
        Column("coherence", [_mean_of(group.coherence.get("coherence")) for group in groups], drop=2),
        Column("findings a month", [_findings_rate(group) for group in groups], drop=3),
        *_conduct_columns(groups),
        Column("smallest visible", [score.mde if score else None for score in firsts], drop=4, unit=units),
        *usage_columns(groups),
    ]
    ranks = {name: rank for rank, name in enumerate(places)}
    order = sorted(range(len(groups)), key=lambda at: (groups[at].world, ranks.get(groups[at].name, len(ranks))))
    table = Grid(
        [
            Column("group", [group.name for group in groups], words=True, names=True),
            *([Column("place", [places.get(group.name) for group in groups])] if places else []),
            Column("runs", [len(group.runs) for group in groups]),
            *_states(groups),
            Column(f"mean {head}", [*map(_mean_of, firsts)], unit=units),
            Column("95 % from", [low for low, _ in ends], unit=units),
            Column("to", [high for _, high in ends], unit=units),
            *more,
            *(column for column in optional if any(cell != ABSENT for cell in column.cells)),
        ],
        "Groups of runs that were played alike",
    )
    return table.in_order(order)


def _states(groups: Sequence[Group]) -> Iterator[Column]:
    for state, head in NOT_DONE.items():
        counts = [group.states.get(state, 0) for group in groups]
        if any(counts):
            yield Column(head, counts)


def _of_best(group: Group) -> float | None:
    best = presentation_of(group.world).best
    return _mean_of(group.figures.get(best.share)) if best else None


def _mean_of(score: ScoreSummary | None) -> float | None:
    return score.summary.mean if score else None


def _compared(scores: Sequence[ScoreSummary | None], name: str) -> Column:
    """The means of one of the world's figures, each with its interval."""
    units = ["percent" if score.unit == "share" else score.unit for score in scores if score]
    summaries = [score.summary if score else None for score in scores]
    return _means(label(name), summaries, unit=next(iter(units), ""), drop=1)


def _means(head: str, summaries: Sequence[Summary | None], unit: str, drop: int = 0) -> Column:
    means = [summary and summary.mean for summary in summaries]
    return Column(head, means, drop=drop, unit=unit, ends=[summary and summary.ci95 for summary in summaries])


def _findings_rate(group: Group) -> float | None:
    return sum(summary.per_month or 0.0 for summary in group.findings.values()) if group.days else None


def usage_columns(groups: Sequence[Group]) -> Iterator[Column]:
    """Yield what the models of a run took, on average; nothing where none was asked."""
    usages = [group.usage for group in groups]
    if any(usages):
        yield Column("calls", [round(usage.calls, 1) if usage else None for usage in usages], drop=9)
        yield Column("tokens read", [round(usage.input_tokens) if usage else None for usage in usages], drop=5)
        yield Column("of them cached", [round(usage.cached_tokens) if usage else None for usage in usages], drop=8)
        yield Column("tokens written", [round(usage.output_tokens) if usage else None for usage in usages], drop=6)
        yield Column("minutes", [round(usage.minutes, 1) if usage else None for usage in usages], drop=7)
        yield Column("dollars", [usage and usage.dollars for usage in usages], drop=4, unit="dollars")


def statistics_table(
    summaries: Mapping[str, Summary], units: Mapping[str, str], title: str = "", mdes: Sequence[float | None] = ()
) -> Grid:
    """A row for each score; `mdes` are the smallest visible differences."""
    rows, of = list(summaries.values()), [units[name] for name in summaries]
    ends = [row.ci95 or (None, None) for row in rows]
    return Grid(
        [
            Column("score", [label(name) for name in summaries], words=True),
            Column("mean", [row.mean for row in rows], unit=of),
            Column("median", [row.median for row in rows], drop=3, unit=of),
            Column("min", [row.min for row in rows], drop=1, unit=of),
            Column("max", [row.max for row in rows], drop=2, unit=of),
            Column("95 % from", [low for low, _ in ends], unit=of),
            Column("to", [high for _, high in ends], unit=of),
            *([Column("smallest visible", mdes, drop=4, unit=of)] if mdes else []),
            Column("n", [row.n for row in rows], drop=6),
            *(
                [Column("in no figure", [row.failed for row in rows], drop=7)]
                if any(row.failed for row in rows)
                else []
            ),
        ],
        title,
    )


def scores_table(scores: Mapping[str, ScoreSummary], title: str = "") -> Grid:
    """The statistics of scores over the runs of a group."""
    summaries, units = {name: score.summary for name, score in scores.items()}, _units(scores)
    return statistics_table(summaries, units, title, [score.mde for score in scores.values()])


def _units(scores: Mapping[str, ScoreSummary]) -> dict[str, str]:
    return {name: score.unit for name, score in scores.items()}


def findings_table(groups: Sequence[Group]) -> Grid:
    """Mistakes by type over the runs of each group."""
    rows = [(group, findings) for group in groups for findings in group.findings.values()]
    daily = any(findings.per_month is not None for _, findings in rows)
    return Grid(
        [
            *([Column("group", [group.name for group, _ in rows], words=True, names=True)] if len(groups) > 1 else []),
            Column("finding", [label(findings.type) for _, findings in rows], words=True),
            *([Column("a month", [findings.per_month for _, findings in rows])] if daily else []),
            Column("in all", [findings.count for _, findings in rows]),
            Column("runs with it", [findings.runs for _, findings in rows]),
        ],
        findings_title(daily=daily),
    )


def _conduct_columns(groups: Sequence[Group]) -> list[Column]:
    """Findings of conduct and the runs that have one, where a group has any; beside the score, never within it."""
    if not any(group.conduct for group in groups):
        return []
    counts = [sum(summary.count for summary in group.conduct.values()) for group in groups]
    return [
        Column("conduct", counts, drop=2),
        Column("runs with conduct", [group.conduct_runs for group in groups], drop=3),
    ]


def conduct_table(groups: Sequence[Group]) -> Grid:
    """Findings of conduct by type over the runs of each group: 3 in 2 of 11 runs."""
    rows = [(group, findings) for group in groups for findings in group.conduct.values()]
    return Grid(
        [
            *([Column("group", [group.name for group, _ in rows], words=True, names=True)] if len(groups) > 1 else []),
            Column("conduct", [label(findings.type) for _, findings in rows], words=True),
            Column("in all", [findings.count for _, findings in rows]),
            Column("runs with it", [findings.runs for _, findings in rows]),
            Column("of runs", [len(group.runs) for group, _ in rows]),
            *(_gain_columns([findings.gain for _, findings in rows])),
        ],
        "Conduct",
        NOT_ASKED if any(not findings.gain or findings.gain.findings < findings.count for _, findings in rows) else "",
    )


NOT_ASKED = "What it gained its actors is told where it was asked for, with 'akinai why RUN --conduct'."


def _gain_columns(gains: Sequence[GainSummary | None]) -> list[Column]:
    """What misconduct of each type gained, and the findings that were taken out for that; none where none was."""
    if not any(gains):
        return []
    units = [gain.unit if gain else "" for gain in gains]
    return [
        Column("gained", [gain.total if gain else None for gain in gains], unit=units),
        Column("by findings", [gain.findings if gain else None for gain in gains]),
    ]


def findings_title(*, daily: bool) -> str:
    """The title of a table of findings."""
    return "Findings, for 30 days of a run" if daily else "Findings"


def difference_columns(
    statistics: Sequence[PairedComparison | WelchComparison],
    units: Sequence[str],
    p_holm: Sequence[float | None] = (),
    *,
    counts: bool = True,
) -> Iterator[Column]:
    """Yield the columns of differences with what shows them; `counts` adds pairs, wins, losses and ties, and `p_holm`
    the p corrected for all rows."""
    ends = [statistic.ci95 or (None, None) for statistic in statistics]
    yield Column("difference", [statistic.difference for statistic in statistics], unit=units, sign=True)
    yield Column("95 % from", [low for low, _ in ends], unit=units, sign=True)
    yield Column("to", [high for _, high in ends], unit=units, sign=True)
    paired = [statistic if isinstance(statistic, PairedComparison) else None for statistic in statistics]
    if counts and any(paired):
        yield Column("pairs", [pair.pairs if pair else None for pair in paired], drop=5)
        yield Column("wins", [pair.wins if pair else None for pair in paired], drop=1)
        yield Column("losses", [pair.losses if pair else None for pair in paired], drop=1)
        yield Column("ties", [pair.ties if pair else None for pair in paired], drop=3)
    yield Column("smallest visible", [statistic.mde for statistic in statistics], drop=1, unit=units)
    yield Column("p", [statistic.p for statistic in statistics], drop=4, unit="p")
    if p_holm:
        yield Column("p (Holm)", p_holm, drop=2, unit="p")


def needed_column(nouns: str, needed: Sequence[int | None]) -> Iterator[Column]:
    """The column of the seeds or samples that show the gain that was asked about; none without one."""
    if any(needed):
        yield Column(f"{nouns} for the gain", needed, drop=2)


def pass_table(rates: Sequence[PassRate], title: str) -> Grid:
    """A row for each score and k: pass@k and pass^k, each with its interval."""
    columns = [
        Column("score", [f"{label(rate.score)} {figure(rate.threshold, rate.unit)}" for rate in rates], words=True),
        Column("tries", [rate.k for rate in rates]),
        _means("pass@k: at least once", [rate.at_least_once for rate in rates], unit="percent"),
        _means("pass^k: every time", [rate.every_time for rate in rates], unit="percent"),
        Column("seeds", [rate.every_time.n for rate in rates]),
    ]
    return Grid(columns, title)


def same_numbers(first: Mapping[str, ScoreSummary], *others: Mapping[str, ScoreSummary]) -> dict[str, str]:
    """Scores that are the same number as an earlier one, as a balance without other accounts is, with that one's name.

    `others` are the scores of further groups, in which they are the same too. Zeros are no such number.
    """
    earlier: dict[object, str] = {}
    same: dict[str, str] = {}
    for name, score in first.items():
        if score.summary.min or score.summary.max:
            key = (score.unit, *(scores[name].summary for scores in (first, *others) if name in scores))
            if (twin := earlier.setdefault(key, name)) != name:
                same[name] = twin
    return same


def without_same(scores: Mapping[str, ScoreSummary]) -> dict[str, ScoreSummary]:
    """The scores, none of which is the same number as an earlier one."""
    same = same_numbers(scores)
    return {name: score for name, score in scores.items() if name not in same}


def same_sentence(same: Mapping[str, str]) -> str:
    """ "The same number here: bank balance, cash."; empty for none."""
    sentences = [
        f"The same number here: {', '.join(label(name) for name in (twin, *same) if same.get(name, twin) == twin)}."
        for twin in dict.fromkeys(same.values())
    ]
    return " ".join(sentences)


def group_notes(group: Group) -> list[str]:
    """The sentences without which a group's figures mislead."""
    notes = [_how_they_ended(group), _copies(group), same_sentence(same_numbers(group.scores)), _floor(group)]
    return [note for note in (*notes, _scale(group)) if note]


def _how_they_ended(group: Group) -> str:
    if list(group.states) == ["done"]:
        return f"All ended: {join_counts(group.endings)}." if len(group.runs) > 1 else ""
    sentence = f"{', '.join(f'{count:,} {state}' for state, count in group.states.items())}."
    if group.unfinished:
        sentence += " What failed or is not over counts as it stands, with what its ledger holds"
        first = next(iter(group.scores.values()), None)
        if first and first.mean_of_done is not None:
            sentence += f": without it the mean {label(first.name)} is {figure(first.mean_of_done, first.unit)}"
        sentence += "."
    if group.left_out > (others := group.states.get("of other rules", 0)):
        sentence += " What is unreadable or damaged is in no figure."
    if others:
        sentence += " What is of other rules is in no figure here."
    if group.advice:
        sentence += f" For the unreadable runs, {group.advice}."
    if ended := {ending: count for ending, count in group.endings.items() if not ending.startswith("(")}:
        sentence += f" Endings: {join_counts(ended)}."
    return sentence


def join_counts(counts: Mapping[str, int]) -> str:
    """Counts by name, such as "2 stuck, 1 horizon"."""
    return ", ".join(f"{count:,} {label(name)}" for name, count in counts.items())


def _copies(group: Group) -> str:
    if not group.copies:
        return ""
    return f"{group.copies:,} of the runs repeat another one entry by entry: they add no evidence."


def _floor(group: Group) -> str:
    """The smallest difference that the group could show against another, and how far its intervals can be trusted."""
    first = next(iter(group.scores.values()), None)
    if first is None or not first.summary.ci95:
        return ""
    floor = (
        f"Against another group of as many runs, a true difference in {label(first.name)} of "
        f"about {figure(first.mde, first.unit)} is found four times in five; on common seeds a smaller one is."
    )
    return " ".join(filter(None, (floor * bool(first.mde), coverage_warning(group.seeds))))


def _scale(group: Group) -> str:
    """The scores of idle and reference, and their seeds."""
    scale, first = group.scale, next(iter(group.scores.values()), None)
    if not scale.seeds or first is None or first.share is None:
        return ""
    idle, reference = (figure(side[first.name], first.unit) for side in (scale.idle, scale.reference))
    where = f"{label(first.name)} is {percent(first.share)} of the way from idle ({idle}) to reference ({reference})"
    return f"{capitalized(where)}, on {_on_seeds(scale)}.{_above_reference(scale, first)}"


def _above_reference(scale: Scale, score: ScoreSummary) -> str:
    """Sentences on the way from idle to a player that knows what is hidden, and on the score nobody can exceed."""
    own, low, high = (side.get(score.name) for side in (scale.own, scale.idle, scale.informed))
    sentence = ""
    if own is not None and low is not None and high is not None and high != low:
        share, top = percent((own - low) / (high - low)), figure(high, score.unit)
        sentence = f" It is {share} of the way to informed ({top}), a player that knows what is hidden."
    if scale.bound is not None:
        sentence += f" Nobody can expect more than {figure(scale.bound, score.unit)}."
    return sentence


def _on_seeds(scale: Scale) -> str:
    seeds = f"seed{'s' if len(scale.seeds) > 1 else ''} {ranges(scale.seeds)}"
    subset = f" of its {scale.of:,}, --scale takes all" if len(scale.seeds) < scale.of else ""
    played = f" (played for this on {ranges(scale.played)})" if scale.played else ""
    return f"{seeds}{played}{subset}"


def best_sentence(group: Group) -> str:
    """A sentence on how near a group's first score came to the best possible; empty if that is not known."""
    best, first = presentation_of(group.world).best, next(iter(group.scores), None)
    share = group.figures.get(best.share) if best else None
    amount = group.figures.get(best.amount) if best else None
    if share is None or amount is None or first is None or share.summary.mean is None:
        return ""
    sentence = f"{capitalized(label(first))} is {percent(share.summary.mean)} of the best possible, "
    sentence += figure(amount.summary.mean, "cents")
    if share.summary.ci95 and share.summary.min != share.summary.max:
        low, high = map(percent, share.summary.ci95)
        sentence += f" (on average, between {low} and {high} at 95 %)"
    return f"{sentence}."


def account_of(group: Group, runs: Sequence[Run], most: int, where: str) -> Iterator[Part]:
    """Yield the figures and tables of a group's runs beside the scores. A table has at most `most` rows, and `where` is
    what holds all of them."""
    best = presentation_of(group.world).best
    zeros = [name for name, score in group.figures.items() if not score.summary.min and not score.summary.max]
    moved = {
        name: score for name, score in group.figures.items() if name not in zeros and (not best or name != best.share)
    }
    if moved and len(runs) == 1:
        values = [score.summary.mean for score in moved.values()]
        yield Grid(
            [
                Column("beside the scores", [*map(label, moved)], words=True),
                Column("value", values, unit=[*_units(moved).values()]),
            ]
        )
    elif moved:
        yield scores_table(moved, "Beside the scores")
    if zeros:
        yield f"None at all: {', '.join(map(label, zeros))}." if moved else "Beside the scores every figure is 0."
    for name, (units, rows) in _lists(runs).items():
        yield _cut(_list_table(name, units, rows), most, where)
    for table in group.tables.values():
        if table.rows and len(runs) > 1:
            yield _cut(_mean_table(table, _names_of(runs)), most, where)
    if any(table.keys and table.rows and table.name not in group.tables for run in runs for table in run.tables):
        yield f"Each run has agents of its own: {where} tells them run by run."


def _lists(runs: Sequence[Run]) -> dict[str, tuple[Mapping[str, str], list[Sequence[Json]]]]:
    """The tables that have no means: by name their units, and the rows of all runs, each behind the id of its run where
    there are several."""
    lists: dict[str, tuple[Mapping[str, str], list[Sequence[Json]]]] = {}
    for run in runs:
        for table in run.tables:
            if table.rows and (not table.keys or len(runs) == 1):
                first = {"run": WORDS} if len(runs) > 1 else {}
                _, rows = lists.setdefault(table.name, (first | dict(table.columns), []))
                rows += [[*([run.id] if first else []), *_named(row, run.names)] for row in table.rows]
    return lists


def _named(row: Sequence[Json], names: Mapping[str, str]) -> list[Json]:
    return [with_name(value, names) if isinstance(value, str) else value for value in row]


def _names_of(runs: Sequence[Run]) -> Mapping[str, str]:
    """The names of the agents of runs by id; none for an id that has several."""
    names_by_id: dict[str, set[str]] = {}
    for run in runs:
        for id, name in run.names.items():
            names_by_id.setdefault(id, set()).add(name)
    return {id: names.pop() for id, names in names_by_id.items() if len(names) == 1}


def _cut(grid: Grid, most: int, where: str) -> Grid:
    """A table with its first rows, and a note on the others."""
    count = len(grid.columns[0].values)
    if count <= most:
        return grid
    columns = [replace(column, values=column.values[:most]) for column in grid.columns]
    return Grid(columns, grid.title, f"{most} of {count:,} rows; {where} holds all.")


def _list_table(name: str, units: Mapping[str, str], rows: Sequence[Sequence[Json]]) -> Grid:
    """Rows in the order of their first column of money, the largest first, unless the first column is a place."""
    money = next((at for at, unit in enumerate(units.values()) if unit == "cents"), None)
    if money is not None and next(iter(units.values())) != "place":
        rows = sorted(rows, key=lambda row: -value if isinstance(value := row[money], int | float) else 0)
    return Grid(
        [
            Column(
                label(head), [_cell(row[at]) for row in rows], unit == WORDS,
                0 if at < 4 else at + (unit == WORDS), unit,
            )
            for at, (head, unit) in enumerate(units.items())
        ],
        capitalized(label(name)),
    )  # fmt: skip


def _cell(value: Json) -> float | str | None:
    return value if value is None or isinstance(value, int | float) else shorten(str(value), MAX_CELL)


def _mean_table(table: TableSummary, names: Mapping[str, str]) -> Grid:
    """The keys, the first column with its interval, and the means of the others, in the order of `_list_table`."""
    rows = list(table.rows)
    keys, (first, *more) = list(table.columns)[: len(rows[0].keys)], rows[0].values
    worth = next((name for name in rows[0].values if table.columns[name] == "cents"), None)
    if worth and next(iter(table.columns.values())) != "place":
        rows.sort(key=lambda row: -(row.values[worth].mean or 0))
    ends = [row.values[first].ci95 or (None, None) for row in rows]
    unit = table.columns[first]
    columns = [
        *(
            Column(label(key), [with_name(str(row.keys[at]), names) for row in rows], table.columns[key] == WORDS)
            for at, key in enumerate(keys)
        ),
        Column(label(first), [row.values[first].mean for row in rows], unit=unit),
        Column("95 % from", [low for low, _ in ends], unit=unit),
        Column("to", [high for _, high in ends], unit=unit),
        *(Column(label(name), [row.values[name].mean for row in rows], unit=table.columns[name]) for name in more),
    ]
    columns = [replace(column, drop=max(0, at - 4)) for at, column in enumerate(columns)]
    runs = f", means over {counted(table.runs, 'run')}" if table.runs > 1 else ""
    return Grid(columns, f"{capitalized(label(table.name))}{runs}")
