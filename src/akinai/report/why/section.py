"""The section of a report on the decisions that made and cost most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from akinai.report.page.document import Addresses, Block, Document, Grid, Prose, Section, entry_link
from akinai.report.why.tables import HEADS, columns, reading_sentences, summary_sentences
from akinai.runtime.why.explanation import Credit, Explanation


def with_explanations(
    report: Document, explained: Sequence[Explanation], addresses: Addresses = MappingProxyType({})
) -> Document:
    """The report with a section for each run that was explained, before its last one; each row opens its day."""
    sections = [Section(f"Why {each.run} ended as it did", tuple(_blocks(each, addresses))) for each in explained]
    return replace(report, sections=(*report.sections[:-1], *sections, *report.sections[-1:]))


def _blocks(explanation: Explanation, addresses: Addresses) -> Iterator[Block]:
    yield Prose(" ".join(summary_sentences(explanation)))
    for name, title in HEADS.items():
        rows: Sequence[Credit] = getattr(explanation, name)
        if rows:
            found = columns(explanation, rows)
            words = frozenset(place for place, column in enumerate(found) if column.words)
            cells = zip(*(column.cells for column in found), strict=True)
            linked = tuple(
                (moment_link(str(first), addresses, explanation, row), *rest)
                for row, (first, *rest) in zip(rows, cells, strict=True)
            )
            yield Grid(tuple(column.head for column in found), linked, title, words=words)
    if sentences := " ".join(reading_sentences(explanation)):
        yield Prose(sentences)


def moment_link(text: str, addresses: Addresses, explanation: Explanation, row: Credit) -> str:
    """A text that opens the first decision of a row, or its first day, in the transcript."""
    entry = min((decision.entry for decision in row.decisions), default=0 if explanation.by_days else row.first)
    return entry_link(text, addresses, explanation.run, entry=entry, day=row.first if explanation.by_days else 0)
