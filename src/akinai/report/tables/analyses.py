"""Analyses as terminal text: a table of the groups, the figures of each group, and their seeds and runs."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from akinai.analysis.analyse import Analysis
from akinai.analysis.comparison import ALL_FINDINGS
from akinai.analysis.records import FindingsSummary, Group, PassRate, Scale, ScoreSummary, WorldRanking
from akinai.analysis.verdicts import opening_sentences, ranking_sentences
from akinai.core.presentation.sentences import coverage_warning
from akinai.core.presentation.words import ABSENT, figure, label, percent, ranges
from akinai.report.language import translate
from akinai.report.presentation import presentation_of
from akinai.report.tables.accounts import account_of, account_over
from akinai.report.tables.columns import Column, fit_table, plain, translate_line, translate_result
from akinai.report.tables.findings import findings_table, timeline
from akinai.report.tables.runs import ending_words, run_page, runs_table, statistics_table
from akinai.runtime.runs.records import Run

MOST_RUNS = 20
"""Runs that a table lists singly."""


def analysis_page(analysis: Analysis, width: int) -> RenderableType:
    """The page of an analysis: the result in a sentence and a row a group, then the runs, where they are few, and what
    was measured beside it in every group.
    """
    if not analysis.runs:
        return Text("no runs")
    sentences = Text(translate_result(opening_sentences(analysis.groups, analysis.standings)), "bold")
    if len(analysis.runs) == 1:
        parts = [sentences, *_single_run(analysis.runs[0], width), *_notes(analysis.groups[0])]
        return Parts(*_space(parts if analysis.groups[0].scores else parts[1:]))
    parts = [sentences, groups_table(analysis.groups, width, analysis.standings)]
    parts += [Text(translate_line(ranking_sentences(ranking))) for ranking in analysis.standings]
    if len(analysis.runs) <= MOST_RUNS:
        parts.append(runs_table(analysis.runs, width))
    for group in analysis.groups:
        ids = set(group.runs)
        parts += _group(group, [run for run in analysis.runs if run.id in ids], width)
        if rates := analysis.pass_rates.get(group.name):
            parts.append(fit_table(pass_columns(rates), width, f"{group.name}: passing a threshold"))
    return Parts(*_space(parts))


def _space(parts: Iterable[RenderableType]) -> list[RenderableType]:
    """Parts with an empty line between them."""
    return [line for part in parts for line in (Text(""), part)][1:]


def _single_run(run: Run, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = [run_page(run)]
    if run.usage:
        usage = run.usage
        price = f", ${usage.dollars:,.2f}" if usage.dollars is not None else ""
        took = f"{usage.calls:,} calls of {', '.join(usage.models)}: {usage.tokens.input:,} tokens read, "
        parts.append(Text(plain(f"{took}{usage.tokens.output:,} written, {usage.minutes:,.1f} minutes{price}.")))
    return [*parts, *_thread(run, width), *account_of(run, width)]


def _thread(run: Run, width: int) -> list[RenderableType]:
    """The tables of coherence and of findings of a run."""
    parts: list[RenderableType] = []
    if run.coherence:
        names = [translate(label(score.name)) for score in run.coherence]
        values = [figure(score.value, score.unit) for score in run.coherence]
        parts.append(fit_table([Column("how the thread was kept", names, words=True), Column("value", values)], width))
    if run.findings and run.began is not None:
        parts.append(timeline(run.findings, run.days, width, start=run.began))
        opening = f"akinai show {run.id}"
        parts.append(findings_table(run.findings, width, start=run.began, names=run.names, command=opening))
    return parts


def _group(group: Group, runs: Sequence[Run], width: int) -> list[RenderableType]:
    """What was measured of a group beside the first score, its findings, and sentences without which they mislead."""
    title = f"{group.name}: {_run_count(group)}"
    parts: list[RenderableType] = []
    if group.left_out == len(group.runs):
        parts.append(Text(translate_line(f"{title}: no figures"), "bold"))
    elif not group.scores:
        parts.append(Text(plain(f"{title}: no scores"), "bold"))
    elif also := _also_measured(group):
        parts.append(_scores_table(also, width, f"{title}, also measured"))
    if group.findings:
        parts.append(findings_over(group.findings.values(), width))
    return [*parts, *_notes(group), *account_over(group, runs, width)]


def _run_count(group: Group) -> str:
    n = len(group.runs)
    runs = f"{n:,} run{'s' if n != 1 else ''}"
    return runs if group.seeds == n else f"{runs} on {group.seeds:,} seed{'s' if group.seeds != 1 else ''}"


def _also_measured(group: Group) -> dict[str, ScoreSummary]:
    """The scores but the first, and the figures of coherence; none that is the same number as another."""
    same = same_numbers(group.scores)
    scores = {name: score for name, score in list(group.scores.items())[1:] if name not in same}
    return scores | {name: score for name, score in group.coherence.items() if name != ALL_FINDINGS}


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


def same_sentence(same: Mapping[str, str]) -> str:
    """ "The same number here: bank balance, cash."; empty for none."""
    sentences = [
        f"The same number here: {', '.join(label(name) for name in (twin, *same) if same.get(name, twin) == twin)}."
        for twin in dict.fromkeys(same.values())
    ]
    return " ".join(sentences)


def _scores_table(scores: Mapping[str, ScoreSummary], width: int, title: str) -> Table:
    units = {name: score.unit for name, score in scores.items()}
    visible = Column("smallest visible", [figure(score.mde, score.unit) for score in scores.values()], drop=4)
    summary = {name: score.summary for name, score in scores.items()}
    return statistics_table(summary, units, width, title, [visible])


def groups_table(groups: Sequence[Group], width: int, rankings: Sequence[WorldRanking] = ()) -> Table:
    """One row per group: the states of its runs and its first score, then findings and usage where there is room."""
    firsts = [next(iter(group.scores.values()), None) for group in groups]
    names = {score.name for score in firsts if score}
    head = label(names.pop()) if len(names) == 1 else "first score"
    states = {state for group in groups for state in group.states}
    compared = dict.fromkeys(name for group in groups for name in presentation_of(group.world).compared)
    columns = [Column("group", [group.name for group in groups], words=True)]
    if any(ranking.order.places for ranking in rankings):
        columns.append(place_column([group.name for group in groups], rankings))
    columns += [Column("runs", [figure(len(group.runs), "") for group in groups])]
    columns += [
        Column({"open": "not over"}.get(state, state), [figure(group.states.get(state, 0), "") for group in groups])
        for state in ("failed", "open", "unreadable", "damaged")
        if state in states
    ]
    columns += [
        Column(f"mean {head}", [_mean(score) for score in firsts]),
        Column("95 % from", [_end(score, 0) for score in firsts]),
        Column("to", [_end(score, 1) for score in firsts]),
        Column(
            "idle to reference",
            [percent(score.share) if score and score.share is not None else ABSENT for score in firsts],
            drop=1,
        ),
        Column("of the best possible", [_of_best(group) for group in groups], drop=1),
        *(Column(label(name), [_with_interval(group, name) for group in groups], drop=1) for name in compared),
        Column("coherence", [_mean(group.coherence.get("coherence")) for group in groups], drop=2),
        Column("findings a month", [_findings_rate(group) for group in groups], drop=3),
        *_effort_columns(groups),
    ]
    optional = {*WHERE_KNOWN, *map(label, compared)}
    columns = [
        column for column in columns if column.head not in optional or any(cell != ABSENT for cell in column.cells)
    ]
    return fit_table(columns, width, "Groups of runs that were played alike")


WHERE_KNOWN = ("idle to reference", "of the best possible", "coherence", "findings a month")
"""Columns that are left out where no group has a value."""


def _of_best(group: Group) -> str:
    best = presentation_of(group.world).best
    share = group.figures.get(best.share) if best else None
    return percent(share.summary.mean) if share and share.summary.mean is not None else ABSENT


def _with_interval(group: Group, name: str) -> str:
    """The mean of one of the world's figures, with its interval in brackets."""
    score = group.figures.get(name)
    if score is None or score.summary.mean is None:
        return ABSENT
    ends = score.summary.ci95 or (score.summary.mean, score.summary.mean)
    if score.unit != "share":
        mean, low, high = (figure(value, score.unit) for value in (score.summary.mean, *ends))
        return f"{mean} ({low} to {high})"
    low, high = map(percent, ends)
    return f"{percent(score.summary.mean)} ({low.removesuffix(' %')} to {high})"


def _mean(score: ScoreSummary | None) -> str:
    return figure(score.summary.mean, score.unit) if score else ABSENT


def _end(score: ScoreSummary | None, end: int) -> str:
    return figure(score.summary.ci95[end], score.unit) if score and score.summary.ci95 else ABSENT


def _findings_rate(group: Group) -> str:
    return figure(sum(summary.per_month or 0.0 for summary in group.findings.values()), "") if group.days else ABSENT


def _effort_columns(groups: Sequence[Group]) -> list[Column]:
    usages = [group.usage for group in groups]
    if not any(usages):
        return []
    dollars = [usage.dollars if usage else None for usage in usages]
    return [
        Column("tokens read", [figure(round(usage.input_tokens), "") if usage else ABSENT for usage in usages], drop=5),
        Column(
            "tokens written", [figure(round(usage.output_tokens), "") if usage else ABSENT for usage in usages], drop=6
        ),
        Column("minutes", [f"{usage.minutes:,.1f}" if usage else ABSENT for usage in usages], drop=7),
        Column("dollars", [ABSENT if amount is None else f"${amount:,.2f}" for amount in dollars], drop=4),
    ]


def findings_over(findings: Iterable[FindingsSummary], width: int) -> Table:
    """Findings by type over the runs of a group."""
    rows = list(findings)
    daily = any(row.per_month is not None for row in rows)
    return fit_table(
        [
            Column("finding", [label(row.type) for row in rows], words=True),
            *([Column("a month", [figure(row.per_month, "") for row in rows])] if daily else []),
            Column("in all", [figure(row.count, "") for row in rows]),
            Column("runs with it", [figure(row.runs, "") for row in rows]),
        ],
        width,
        "Findings, for 30 days of a run" if daily else "Findings",
    )


def _notes(group: Group) -> list[RenderableType]:
    """The sentences without which a group's figures mislead."""
    notes = [_how_they_ended(group), _copies(group), same_sentence(same_numbers(group.scores)), _floor(group)]
    notes.append(_scale(group))
    text = "\n".join(translate_line(note) for note in notes if note)
    return [Text(text)] if text else []


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
    if group.left_out:
        sentence += " What is unreadable or damaged is in no figure."
    if group.advice:
        sentence += f" For the unreadable runs, {group.advice}."
    if ended := {ending: count for ending, count in group.endings.items() if not ending.startswith("(")}:
        sentence += f" Endings: {join_counts(ended)}."
    return sentence


def join_counts(counts: Mapping[str, int]) -> str:
    """Counts by name, such as "2 stuck, 1 horizon"."""
    return ", ".join(f"{count:,} {ending_words(name)}" for name, count in counts.items())


def _copies(group: Group) -> str:
    if not group.copies:
        return ""
    return f"{group.copies:,} of the runs repeat another one entry by entry: they add no evidence."


def _floor(group: Group) -> str:
    """The smallest difference that the group could show against another, and how far its intervals can be trusted."""
    first = next(iter(group.scores.values()), None)
    if first is None or not first.mde:
        return ""
    floor = (
        f"Against another group of as many runs, a true difference in {label(first.name)} of "
        f"about {figure(first.mde, first.unit)} is found four times in five; on common seeds a smaller one is."
    )
    return " ".join(filter(None, (floor, coverage_warning(group.seeds))))


def _scale(group: Group) -> str:
    """The scores of idle and reference, and their seeds."""
    scale, first = group.scale, next(iter(group.scores.values()), None)
    if not scale.seeds or first is None or first.share is None:
        return ""
    idle, reference = (figure(side[first.name], first.unit) for side in (scale.idle, scale.reference))
    where = (
        f"{label(first.name)} is {100 * first.share:,.0f} % of the way from idle ({idle}) to reference ({reference})"
    )
    return f"{where[:1].upper()}{where[1:]}, on {_on_seeds(scale)}.{_above_reference(scale, first)}"


def _above_reference(scale: Scale, score: ScoreSummary) -> str:
    """Sentences on the way from idle to a player that knows what is hidden, and on the score nobody can exceed."""
    own, low, high = (side.get(score.name) for side in (scale.own, scale.idle, scale.informed))
    sentence = ""
    if own is not None and low is not None and high is not None and high != low:
        share, top = 100 * (own - low) / (high - low), figure(high, score.unit)
        sentence = f" It is {share:,.0f} % of the way to informed ({top}), a player that knows what is hidden."
    if scale.bound is not None:
        sentence += f" Nobody can expect more than {figure(scale.bound, score.unit)}."
    return sentence


def _on_seeds(scale: Scale) -> str:
    seeds = f"seed{'s' if len(scale.seeds) > 1 else ''} {ranges(scale.seeds)}"
    subset = f" of its {scale.of:,}, --scale takes all" if len(scale.seeds) < scale.of else ""
    played = f" (played for this on {ranges(scale.played)})" if scale.played else ""
    return f"{seeds}{played}{subset}"


def place_column(names: Sequence[str], rankings: Sequence[WorldRanking]) -> Column:
    """The place of each group; groups that cannot be told apart share it."""
    places: Mapping[str, int] = {name: rank for ranking in rankings for name, rank in ranking.order.places.items()}
    return Column("place", [str(places[name]) if name in places else ABSENT for name in names])


def pass_columns(rates: Sequence[PassRate]) -> list[Column]:
    """A row for each score and k: pass@k and pass^k, each with its interval."""

    def cells(kind: str) -> list[str]:
        summaries = [getattr(rate, kind) for rate in rates]
        return [
            ABSENT
            if summary.mean is None
            else f"{100 * summary.mean:.0f} %"
            + (f" ({100 * summary.ci95[0]:.0f} to {100 * summary.ci95[1]:.0f} %)" if summary.ci95 else "")
            for summary in summaries
        ]

    return [
        Column("score", [f"{label(rate.score)} {figure(rate.threshold, rate.unit)}" for rate in rates], words=True),
        Column("tries", [str(rate.k) for rate in rates]),
        Column("pass@k: at least once", cells("at_least_once")),
        Column("pass^k: every time", cells("every_time")),
        Column("seeds", [str(rate.every_time.n) for rate in rates]),
    ]
