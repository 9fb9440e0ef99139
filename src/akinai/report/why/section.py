"""The section of a report on the decisions that made and cost most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from akinai.core.presentation.tables import Grid
from akinai.report.page.document import Addresses, Block, Document, Section, entry_link
from akinai.report.why.tables import HEADS, columns, reading_sentences, summary_sentences
from akinai.runtime.why.explanation import Credit, Explanation


def with_explanations(
    report: Document, explained: Sequence[Explanation], addresses: Addresses = MappingProxyType({})
) -> Document:
    """Add a section to a report for each run that was explained, before its last section; each row opens its day."""
    sections = [Section(f"Why {why.run} ended as it did", tuple(_blocks(why, addresses))) for why in explained]
    return replace(report, sections=(*report.sections[:-1], *sections, *report.sections[-1:]))


def _blocks(explanation: Explanation, addresses: Addresses) -> Iterator[Block]:
    yield " ".join(summary_sentences(explanation))
    for name, title in HEADS.items():
        rows: Sequence[Credit] = getattr(explanation, name)
        if rows:
            first, *further = columns(explanation, rows)
            cells = zip(first.cells, rows, strict=True)
            linked = [moment_link(cell, addresses, explanation, row) for cell, row in cells]
            yield Grid([replace(first, values=linked), *further], title)
    if sentences := " ".join(reading_sentences(explanation)):
        yield sentences


def moment_link(text: str, addresses: Addresses, explanation: Explanation, row: Credit) -> str:
    """Make a text a link to the first decision of a row, or to its first day, in the transcript."""
    entry = min((decision.entry for decision in row.decisions), default=0 if explanation.by_days else row.first)
    return entry_link(text, addresses, explanation.run, entry=entry, day=row.first if explanation.by_days else 0)
