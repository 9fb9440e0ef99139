"""Comparisons of two logs of scores as terminal text."""

from collections.abc import Mapping, Sequence

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.text import Text

from akinai.analysis.log_comparison import LogComparison, LogScore
from akinai.core.presentation.words import figure, label, p_value
from akinai.report.tables.columns import Column, fit_table, translate_line, translate_result


def log_comparison_page(comparison: LogComparison, gain: str, width: int) -> RenderableType:
    """The page: every score with its difference and interval, then notes. `gain` is as typed, empty for none."""
    (first, *others) = comparison.scores.items()
    notes = Text("\n".join(translate_line(note) for note in _notes(comparison) if note))
    parts: list[RenderableType] = [
        Text(translate_result(comparison.sentences), "bold"),
        fit_table(_columns(comparison, [first], gain), width, _title(comparison)),
        *([fit_table(_columns(comparison, others, gain), width, "Also measured")] if others else []),
        notes,
    ]
    return Parts(*[line for part in parts for line in (Text(""), part)][1:])


def _columns(comparison: LogComparison, rows: Sequence[tuple[str, LogScore]], gain: str) -> list[Column]:
    scores = [score for _, score in rows]
    columns = [
        Column("score", [label(name) for name, _ in rows], words=True),
        Column("a", [figure(score.mean_a, "") for score in scores], drop=3),
        Column("b", [figure(score.mean_b, "") for score in scores], drop=3),
        Column("difference", [figure(score.paired.difference, "", sign=True) for score in scores]),
        Column("95 % from", [figure(_end(score, 0), "", sign=True) for score in scores]),
        Column("to", [figure(_end(score, 1), "", sign=True) for score in scores]),
        Column("smallest visible", [figure(score.paired.mde, "") for score in scores], drop=1),
        Column("p (Holm)", [p_value(score.p_holm) for score in scores], drop=2),
    ]
    if gain:
        unit = "clusters" if comparison.cluster else "samples"
        columns.append(Column(f"{unit} for +-{gain}", [figure(score.needed, "") for score in scores], drop=2))
    return columns


def _end(score: LogScore, end: int) -> float | None:
    return score.paired.ci95[end] if score.paired.ci95 else None


def _title(comparison: LogComparison) -> str:
    a, b = comparison.a, comparison.b
    pairs = max(score.paired.pairs for score in comparison.scores.values())
    task = f" in {a.task}" if a.task else ""
    return f"{b.name} (b) against {a.name} (a){task}: {pairs} {'pair' if pairs == 1 else 'pairs'} by sample id"


def _notes(comparison: LogComparison) -> list[str]:
    a, b = comparison.a, comparison.b
    first = next(iter(comparison.scores.values()))
    paired, epochs = first.paired, max(sample.epochs for log in (a, b) for sample in log.samples.values())
    lost = {
        f"{paired.only_a} only in {a.name}": paired.only_a,
        f"{paired.only_b} only in {b.name}": paired.only_b,
        f"{paired.failed_a} without a score in {a.name} alone": paired.failed_a,
        f"{paired.failed_b} without a score in {b.name} alone": paired.failed_b,
        f"{paired.failed_both} without a score in both": paired.failed_both,
    }
    left_out = ", ".join(text for text, count in lost.items() if count)
    return [
        f"a is {a.model}, b is {b.model}.",
        "Smallest visible: the difference that these samples would show with a power of 80 %.",
        f"Samples in {first.clusters} clusters, by {comparison.cluster!r}." if first.clusters else "",
        "The epochs of a sample count as one, by their mean." if epochs > 1 else "",
        f"Samples in no figure: {left_out}." if left_out else "",
        *(f"Rows of {log.name} in no figure: {_counts(log.lost)}." for log in (a, b) if log.lost),
        *(f"{log.name} is not complete: {log.status}." for log in (a, b) if log.status != "success"),
    ]


def _counts(lost: Mapping[str, int]) -> str:
    """ "3 failed, 2 of another task"."""
    return ", ".join(f"{count:,} {reason}" for reason, count in lost.items())
