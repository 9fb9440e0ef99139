"""Comparisons as terminal text: scores, winners, findings, and the seeds that count."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.text import Text

from akinai.analysis.comparison import ALL_FINDINGS, FINDINGS_UNIT, PLAIN_UNIT, Comparison, ScoreComparison
from akinai.analysis.groups import CARD
from akinai.core.presentation.sentences import coverage_warning
from akinai.core.presentation.words import ABSENT, figure, label, p_value, ranges
from akinai.core.statistics import PairedComparison
from akinai.report.language import translate_sentence
from akinai.report.tables.analyses import join_counts, same_numbers, same_sentence
from akinai.report.tables.columns import Column, fit_table, translate_line, translate_result
from akinai.runtime.runs.records import RESUMABLE


def comparison_page(comparison: Comparison, gain: str, width: int) -> RenderableType:
    """The page of a comparison: the result in a sentence and a row, then what was measured beside it, then notes.

    `gain` is the text of the option, empty without it.
    """
    name, first = next(iter(comparison.scores.items()))
    parts: list[RenderableType] = [
        Text(translate_result(comparison.sentences), "bold"),
        fit_table(_columns(comparison, {name: first}, "score", gain), width, _title(comparison)),
    ]
    if also := _also_measured(comparison):
        parts.append(fit_table(_columns(comparison, also, "figure"), width, "Also measured"))
    notes = Text("\n".join(translate_line(note) for note in _notes(comparison) if note))
    return Parts(*[line for part in [*parts, notes] for line in (Text(""), part)][1:])


def _also_measured(comparison: Comparison) -> dict[str, ScoreComparison]:
    """Every figure but the first score, by its name in words; none that is the same number as another."""
    same = _same_numbers(comparison)
    figures = {name: score for name, score in list(comparison.scores.items())[1:] if name not in same}
    figures |= {name: score for name, score in comparison.coherence.items() if name != ALL_FINDINGS}
    figures |= {name: figure for name, figure in comparison.figures.items() if figure.difference}
    for type, findings in comparison.findings.items():
        name = ALL_FINDINGS if type == ALL_FINDINGS else f"finding: {label(type)}"
        figures[f"{name}, a month" if findings.unit == FINDINGS_UNIT else name] = findings
    return figures


def _same_numbers(comparison: Comparison) -> dict[str, str]:
    """Scores that are the same number as an earlier one on both sides, as a balance without other accounts is."""
    return same_numbers(*(side.group.scores for side in (comparison.a, comparison.b)))


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
        Column(head, [translate_sentence(label(name)) for name, _ in rows], words=True),
        *(
            column(side.name, [row.means[at] for _, row in rows], sign=False)
            for at, side in enumerate((comparison.a, comparison.b))
            if head == "score"
        ),
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
        columns.append(Column(f"seeds for +-{gain}", [figure(row.needed, "seeds") for _, row in rows]))
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


def _notes(comparison: Comparison) -> list[str]:
    name, first = next(iter(comparison.scores.items()))
    a, b, paired = comparison.a.name, comparison.b.name, comparison.paired
    without = ""
    if first.of_done is not None:
        without = f"; without them {label(name)} differs by {figure(first.of_done, first.unit, sign=True)}"
    return [
        *_what_could_show(first),
        same_sentence(_same_numbers(comparison)),
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


def _what_could_show(score: ScoreComparison) -> Iterator[str]:
    """Yield what these seeds could have shown, how far intervals can be trusted, and what common seeds would do."""
    if score.mde:
        floor = figure(score.mde, score.unit)
        yield f"With this many runs a true difference of about {floor} is found four times in five."
        yield coverage_warning(_seed_count(score))
    if score.paired is None and score.difference is not None:
        yield "With common seeds the same runs would say more."


def _seed_count(score: ScoreComparison) -> int:
    """The number of seeds of a comparison; of two sides without a common seed, the smaller number."""
    if score.paired:
        return score.paired.pairs
    return min(score.welch.n_a, score.welch.n_b) if score.welch else 0


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
