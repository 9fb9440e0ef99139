"""The section of a report on the decisions that made and cost most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from akinai.report.page.document import Block, Document, Grid, Prose, Section
from akinai.report.why.tables import HEADS, columns, reading_sentences, summary_sentences
from akinai.runtime.why.explanation import Credit, Explanation


def with_explanations(report: Document, explained: Sequence[Explanation]) -> Document:
    """The report with a section for each run that was explained, before its last one."""
    sections = [Section(f"Why {each.run} ended as it did", tuple(_blocks(each))) for each in explained]
    return replace(report, sections=(*report.sections[:-1], *sections, *report.sections[-1:]))


def _blocks(explanation: Explanation) -> Iterator[Block]:
    yield Prose(" ".join(summary_sentences(explanation)))
    for name, title in HEADS.items():
        rows: Sequence[Credit] = getattr(explanation, name)
        if rows:
            found = columns(explanation, rows)
            words = frozenset(place for place, column in enumerate(found) if column.words)
            cells = tuple(zip(*(column.cells for column in found), strict=True))
            yield Grid(tuple(column.head for column in found), cells, title, words=words)
    if sentences := " ".join(reading_sentences(explanation)):
        yield Prose(sentences)
