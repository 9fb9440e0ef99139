"""Comparisons as terminal text: scores, winners, findings, and the seeds that count."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from akinai.analysis.comparison import FINDINGS_UNIT, PLAIN_UNIT, Comparison, ScoreComparison
from akinai.analysis.groups import CARD
from akinai.core.statistics import PairedComparison
from akinai.report.language import translate
from akinai.report.tables.analyses import join_counts, ranges
from akinai.report.tables.columns import Column, fit_table, translate_line
from akinai.report.tables.runs import ABSENT, figure, label, p_value
from akinai.report.tables.verdicts import better_by, cannot_tell, coverage_warning
from akinai.runtime.runs.records import RESUMABLE


def comparison_page(comparison: Comparison, gain: str, width: int) -> RenderableType:
    """The page of a comparison: scores with a verdict, then findings where there are any, then notes.

    `gain` is the text of the option, empty without it.
    """
    scores = dict(comparison.scores)
    name, first = next(iter(scores.items()))
    parts: list[RenderableType] = [
        fit_table(_columns(comparison, scores, "score", gain), width, _title(comparison)),
        Text(translate_line(verdict(comparison, name, first))),
    ]
    if comparison.findings:
        parts.append(_findings(comparison, width))
    if comparison.coherence:
        columns = _columns(comparison, comparison.coherence, "coherence")
        parts.append(fit_table(columns, width, "How well the thread was kept"))
    if moved := {name: figure for name, figure in comparison.figures.items() if figure.difference}:
        columns = _columns(comparison, moved, "figure")
        parts.append(fit_table(columns, width, "Beside the scores, where the two differ"))
    notes = Text("\n".join(translate_line(note) for note in _notes(comparison) if note))
    return Parts(*[line for part in [*parts, notes] for line in (Text(""), part)][1:])


def _title(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    if not comparison.paired:
        sides = f"{len(a.group.runs)} runs against {len(b.group.runs)}"
        return f"{b.name} against {a.name}: no seed in common, {sides}"
    paired = next((score.paired for score in comparison.scores.values() if score.paired), None)
    pairs = paired.pairs if paired else 0
    left_out = _left_out(comparison, paired)
    title = f"{b.name} against {a.name}: {pairs} {'pair' if pairs == 1 else 'pairs'} by seed"
    return title + (f" ({left_out})" if left_out else "")


def _left_out(comparison: Comparison, paired: PairedComparison | None) -> str:
    if paired is None:
        return ""
    a, b = comparison.a.name, comparison.b.name
    counts = {
        f"without a figure in {a} only": paired.failed_a,
        f"without a figure in {b} only": paired.failed_b,
        "without a figure in both": paired.failed_both,
        f"played by {a} only": paired.only_a,
        f"played by {b} only": paired.only_b,
    }
    return ", ".join(f"{count} {reason}" for reason, count in counts.items() if count)


def _columns(comparison: Comparison, figures: Mapping[str, ScoreComparison], head: str, gain: str = "") -> list[Column]:
    rows = list(figures.items())

    def column(head: str, values: Sequence[float | None], drop: int = 0, sign: bool = True) -> Column:
        units = ["" if row.unit in (FINDINGS_UNIT, PLAIN_UNIT) else row.unit for _, row in rows]
        return Column(
            head, [figure(value, unit, sign=sign) for value, unit in zip(values, units, strict=True)], drop=drop
        )

    columns = [
        Column(head, [translate(label(name)) for name, _ in rows], words=True),
        column("difference", [row.difference for _, row in rows]),
        column("95 % from", [row.ci95[0] if row.ci95 else None for _, row in rows]),
        column("to", [row.ci95[1] if row.ci95 else None for _, row in rows]),
    ]
    if head == "score":
        columns.append(Column("winner", [winner(comparison, row) for _, row in rows], words=True, drop=1))
    if head == "score" and all(row.paired for _, row in rows):
        pairs = [row.paired for _, row in rows if row.paired]
        columns += [
            Column("wins", [_count(pair.wins) for pair in pairs]),
            Column("losses", [_count(pair.losses) for pair in pairs]),
            Column("ties", [str(pair.ties) for pair in pairs], drop=3),
        ]
    columns += [
        column("smallest visible", [row.mde for _, row in rows], 1, sign=False),
        Column("p", [p_value(row.statistic.p) for _, row in rows], drop=4),
    ]
    if gain:
        columns.append(Column(f"seeds for +-{gain}", [figure(row.needed, "seeds") for _, row in rows], drop=2))
    return columns


def winner(comparison: Comparison, score: ScoreComparison) -> str:
    """The name of the side that wins a score, or "-"."""
    match score.winner:
        case "a":
            return comparison.a.name
        case "b":
            return comparison.b.name
        case None:
            return ABSENT


def _count(wins: int | None) -> str:
    return ABSENT if wins is None else str(wins)


def verdict(comparison: Comparison, name: str, score: ScoreComparison) -> str:
    """The comparison of one score in a sentence or two."""
    if score.difference is None:
        return f"{label(name)}: no seed with a value on both sides."
    if score.ci95 is None and not score.shown:
        return _open(name, score)
    return " ".join(
        filter(None, (*_settled(comparison, name, score), coverage_warning(_seed_count(score)) if score.mde else ""))
    )


def _open(name: str, score: ScoreComparison) -> str:
    """The sentence on a difference that has no interval and is not shown: of too few runs, or without any spread."""
    difference, seeds = figure(score.difference, score.unit, sign=True), _seed_count(score)
    sentence = f"{label(name)} differs by {difference} on average"
    if not score.difference:
        return f"{label(name)} does not differ in any pair." if score.paired else f"{sentence}."
    count = f"{seeds:,} seed{'' if seeds == 1 else 's'}"
    if score.paired and score.fewest:
        return f"{sentence}: with {count} no difference can be shown, {score.fewest} can."
    if score.fewest:
        return f"{sentence}: with so few runs no difference can be shown, {score.fewest} on each side can."
    return f"{sentence}, which no test shows."


def _settled(comparison: Comparison, name: str, score: ScoreComparison) -> Iterator[str]:
    """Yield which side is better, or that it is open; what these seeds could have shown; what common seeds would."""
    a, b, seeds = comparison.a.name, comparison.b.name, _seed_count(score)
    headline = label(name)[:1].upper() + label(name)[1:]
    assert score.difference is not None
    if score.winner:
        best, other = (b, a) if score.winner == "b" else (a, b)
        yield f"{headline}: {better_by(best, other, score.difference, score.ci95, score.unit)}, at 95 %."
    elif score.better is None or score.shown:
        low, high = (figure(end, score.unit, sign=True) for end in score.ci95 or (None, None))
        difference = figure(score.difference, score.unit, sign=True)
        yield f"{headline} differs by {difference}, between {low} and {high}, at 95 %."
    else:
        yield f"{headline}: {cannot_tell(a, b, seeds, score.fewest, score.to_show)}."
    if score.mde:
        floor = figure(score.mde, score.unit)
        yield f"With this many runs a true difference of about {floor} is found four times in five."
    if score.paired is None:
        yield "With common seeds the same runs would say more."


def _seed_count(score: ScoreComparison) -> int:
    """The number of seeds of a comparison; of two sides without a common seed, the smaller number."""
    if score.paired:
        return score.paired.pairs
    return min(score.welch.n_a, score.welch.n_b) if score.welch else 0


def _findings(comparison: Comparison, width: int) -> Table:
    daily = any(findings.unit == FINDINGS_UNIT for findings in comparison.findings.values())
    columns = _columns(comparison, comparison.findings, "finding")
    return fit_table(columns, width, f"Findings, {'for 30 days of' if daily else 'in'} a run")


def _notes(comparison: Comparison) -> list[str]:
    name, first = next(iter(comparison.scores.items()))
    a, b, paired = comparison.a.name, comparison.b.name, comparison.paired
    without = ""
    if first.of_done is not None:
        without = f"; without them {label(name)} differs by {figure(first.of_done, first.unit, sign=True)}"
    return [
        _played_differently(comparison),
        _endings(comparison),
        f"Only {a} played {_seeds(comparison.only_a)}, in no figure here." if paired and comparison.only_a else "",
        f"Only {b} played {_seeds(comparison.only_b)}, in no figure here." if paired and comparison.only_b else "",
        f"On {_seeds(comparison.unfinished)} a run failed or is not over and counts as it stands{without}."
        if comparison.unfinished
        else "",
        f"On {_seeds(comparison.unreadable)} a side is unreadable or damaged: no pair."
        if comparison.unreadable
        else "",
        *(
            f"{side.group.states['unreadable']} of {len(side.group.runs)} runs of {side.name} are unreadable, "
            f"in no figure; {side.group.advice}."
            for side in (comparison.a, comparison.b)
            if side.group.advice
        ),
        "Where a seed was played several times, its runs count as one, by their mean." if comparison.repeated else "",
    ]


def _endings(comparison: Comparison) -> str:
    """A sentence on the endings of each side, unless all runs ended alike and by the world's own rules."""
    sides = comparison.a, comparison.b
    endings = {ending for side in sides for ending in side.group.endings}
    if len(endings) == 1 and not endings & {*RESUMABLE}:
        return ""
    return f"Endings: {'; '.join(f'{side.name} {join_counts(side.group.endings)}' for side in sides)}."


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'s' if len(seeds) > 1 else ''} {ranges(seeds)}"


def _played_differently(comparison: Comparison) -> str:
    """A sentence on the differences of the two sides other than their seeds."""
    a, b = comparison.a.group, comparison.b.group
    differences = {f"agent {a.agent}": f"agent {b.agent}"} if a.agent != b.agent else {}
    for name in CARD:
        if a.card.get(name) != b.card.get(name):
            differences[f"{name} {a.card.get(name)}"] = f"{name} {b.card.get(name)}"
    if a.world == b.world:
        for name in dict.fromkeys([*a.settings, *b.settings]):
            differences[f"{name}={a.settings.get(name)}"] = f"{name}={b.settings.get(name)}"
    names = comparison.a.name, comparison.b.name
    if not differences:
        return f"{names[0]} and {names[1]} were played alike, as far as their cards tell; then what differs is chance."
    return f"{names[0]} has {', '.join(differences)}; {names[1]} has {', '.join(differences.values())}."
