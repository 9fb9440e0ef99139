"""Comparisons as terminal text: the result in a sentence and a row, what was measured beside it, and notes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from akinai.analysis.comparison import FINDINGS_UNIT, Comparison, ScoreComparison
from akinai.analysis.groups import CARD
from akinai.analysis.log_comparison import LogComparison
from akinai.analysis.tables import findings_title, join_counts, same_sentence
from akinai.core.presentation.sentences import floor_sentences
from akinai.core.presentation.tables import Grid
from akinai.core.presentation.words import counted, figure, label, ranges
from akinai.core.statistics import PairedComparison
from akinai.report.tables.columns import note_lines, page_of, translate_result
from akinai.runtime.runs.records import RESUMABLE

OF_THE_FIRST = ("wins", "losses", "ties", "winner", "for the gain")
"""Ends of heads of columns that the page has for the first score alone."""


def comparison_page(comparison: Comparison | LogComparison, width: int) -> RenderableType:
    """The result in a sentence, the row of the first score, and the other rows with what shows their differences."""
    if isinstance(comparison, LogComparison):
        title, notes, findings = _log_title(comparison), _log_notes(comparison), dict[str, ScoreComparison]()
    else:
        title, notes, findings = _title(comparison), _notes(comparison), comparison.findings
    table = comparison.table
    scores = len(table.rows) - len(findings)
    names, a, b, *further = table.columns
    further = [column for column in further if column.head != "pairs"]  # the title has them
    beside = [a, b, *(column for column in further if not column.head.endswith(OF_THE_FIRST))]
    of_findings = findings_title(daily=any(score.unit == FINDINGS_UNIT for score in findings.values()))
    parts = [
        Grid([names, a, b, *further], title).in_order([0]),
        Grid([names, *beside], "Also measured").in_order(range(1, scores)),
        Grid([replace(names, head="finding"), *beside], of_findings).in_order(range(scores, len(table.rows))),
    ]
    sentences = Text(translate_result(comparison.sentences), "bold")
    return page_of([sentences, *(part for part in parts if part.rows), *note_lines(notes)], width)


def _title(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    if not comparison.paired:
        sides = f"{counted(len(a.group.runs), 'run')} against {len(b.group.runs)}"
        return f"{b.name} against {a.name}: no seed in common, {sides}"
    paired = next((score.paired for score in comparison.scores.values() if score.paired), None)
    pairs = paired.pairs if paired else 0
    left_out = _left_out(comparison, paired)
    title = f"{b.name} against {a.name}: {counted(pairs, 'pair')} by seed"
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


def _notes(comparison: Comparison) -> list[str]:
    name, first = next(iter(comparison.scores.items()))
    a, b, paired = comparison.a.name, comparison.b.name, comparison.paired
    without = ""
    if first.of_done is not None:
        without = f"; without them {label(name)} differs by {figure(first.of_done, first.unit, sign=True)}"
    return [
        *_what_could_show(first),
        same_sentence(comparison.same_numbers),
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
    yield from floor_sentences(score.mde, score.unit, _seed_count(score))
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


def _log_title(comparison: LogComparison) -> str:
    a, b = comparison.a, comparison.b
    pairs = max(score.paired.pairs for score in comparison.scores.values())
    task = f" in {a.task}" if a.task else ""
    return f"{b.name} (b) against {a.name} (a){task}: {counted(pairs, 'pair')} by sample id"


def _log_notes(comparison: LogComparison) -> list[str]:
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
        *(f"Rows of {log.name} in no figure: {join_counts(log.lost)}." for log in (a, b) if log.lost),
        *(f"{log.name} is not complete: {log.status}." for log in (a, b) if log.status != "success"),
    ]
