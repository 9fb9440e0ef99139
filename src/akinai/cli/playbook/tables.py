"""Tables of playbooks for people, and JSON documents of them for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from akinai.core.canonical import as_json
from akinai.core.presentation.tables import Column
from akinai.core.presentation.words import counted
from akinai.core.untrusted.spelling import plain, shorten
from akinai.report.language import fill, translate, translate_sentence
from akinai.report.language.lines import columns as columns_of
from akinai.report.tables.columns import fit_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from akinai.learning.playbook.bullets import Bullet, Playbook, Section
    from akinai.learning.playbook.journal import Change
    from akinai.learning.playbook.patches import Difference
    from akinai.learning.search.dedup import Refinement
    from akinai.learning.search.index import SearchResult

LEAST = 24
"""Minimum width of a content, in columns."""


def overview(playbook: Playbook, sections: Sequence[Section], rows: int, width: int) -> RenderableType:
    """The sections, and the bullets with the most uses first."""
    bullets = [bullet for section in sections for bullet in section.bullets]
    ranked = sorted(bullets, key=lambda bullet: (-bullet.uses, -bullet.helpful, bullet.id))
    bullet_count = counted(len(playbook), "bullet")
    section_count = counted(len(playbook.sections), "section")
    title = fill(
        "{bullets} in {sections}, changed {when}",
        bullets=translate_sentence(bullet_count), sections=translate_sentence(section_count),
        when=playbook.updated_at or translate("never"),
    )  # fmt: skip
    table = fit_table(
        [
            Column("section", [section.name for section in sections], words=True),
            Column("bullets", [f"{len(section.bullets):,}" for section in sections]),
            Column("about", [shorten(section.description, 60) for section in sections], words=True, drop=1),
        ],
        width,
    )
    parts: list[RenderableType] = [Text(title, "bold"), Text(""), table]
    if ranked:
        visible = ranked[:rows] if rows else ranked
        parts += [Text(""), bullet_rows(visible, width)]
        if len(visible) < len(ranked):
            parts.append(_more(len(ranked) - len(visible)))
    return Group(*parts)


def bullet_rows(bullets: Sequence[Bullet], width: int) -> RenderableType:
    """One row for each bullet, with its content on one line."""
    used = max(len(bullet.id) for bullet in bullets) + len("helpful harmful") + 7
    return fit_table(
        [
            Column("bullet", [bullet.id for bullet in bullets], words=True),
            Column("helpful", [f"{bullet.helpful:,}" for bullet in bullets]),
            Column("harmful", [f"{bullet.harmful:,}" for bullet in bullets]),
            Column("content", _cut((bullet.content for bullet in bullets), width - used), words=True),
        ],
        width,
    )


def bullet_details(bullet: Bullet) -> RenderableType:
    """All fields of a bullet."""
    fields = {
        "section": bullet.section,
        "keywords": ", ".join(bullet.keywords) or "-",
        "helpful, harmful": f"{bullet.helpful}, {bullet.harmful}",
        "confidence": f"{bullet.confidence_score:.2f}",
        "learned from": bullet.source_trajectory or "-",
        **{name: str(value) for name, value in bullet.extra.items()},
    }
    heads = {name: translate(name) for name in fields}
    lines = [f"{heads[name]}{' ' * (23 - columns_of(heads[name]))}{plain(value)}" for name, value in fields.items()]
    return Group(Text(bullet.id, "bold"), Text(bullet.content), Text(""), Text("\n".join(lines)))


def hit_rows(hits: Sequence[SearchResult], width: int) -> RenderableType:
    """One row for each search result."""
    used = max(len(hit.bullet.id) for hit in hits) + 26
    free = max(LEAST, width - used)
    return fit_table(
        [
            Column("bullet", [hit.bullet.id for hit in hits], words=True),
            Column("score", [f"{hit.combined_score:.3f}" for hit in hits]),
            Column("vector", [f"{hit.vector_score:.3f}" for hit in hits], drop=1),
            Column("words", [f"{hit.bm25_score:.3f}" for hit in hits], drop=2),
            Column("content", _cut((hit.bullet.content for hit in hits), free * 2 // 3), words=True),
            Column("matched", _cut((" ".join(hit.matched) for hit in hits), free // 3), words=True, drop=3),
        ],
        width,
    )


def change_rows(changes: Sequence[Change], rows: int, width: int) -> RenderableType:
    """One row for each change; at most the last `rows`."""
    visible = changes[-rows:] if rows else changes
    title = ""
    if len(visible) < len(changes):
        title = fill("the last {count} of {all} changes", count=len(visible), all=f"{len(changes):,}")
    return fit_table(
        [
            Column("change", [f"{change.n:,}" for change in visible]),
            Column("at", [change.at.replace("T", " ").removesuffix("Z") for change in visible], words=True, drop=2),
            Column("what", [_kind(change) for change in visible], words=True),
            Column("bullets put", [f"{len(change.put):,}" for change in visible]),
            Column("removed", [f"{len(change.removed_ids):,}" for change in visible]),
            Column("refused", [f"{len(change.refused):,}" for change in visible], drop=3),
            Column(
                "reason", [shorten(change.reason or change.id or "-", 50) for change in visible], words=True, drop=1
            ),
        ],
        width,
        title,
    )


def difference_rows(difference: Difference, rows: int, width: int) -> RenderableType:
    """One line for each bullet: + added, - removed, ~ changed, with its new content."""
    if difference.empty:
        return Text(translate("no difference"))
    signed = [*(("+", bullet) for bullet in difference.added), *(("-", bullet) for bullet in difference.removed)]
    signed += [("~", after) for _, after in difference.changed]
    visible = signed[:rows] if rows else signed
    by_change = {"added": difference.added, "removed": difference.removed, "changed": difference.changed}
    parts: list[RenderableType] = [
        Text(", ".join(translate_sentence(f"{len(bullets):,} {name}") for name, bullets in by_change.items()), "bold"),
        *(Text(fill("section {name} added", name=name)) for name in difference.sections_added),
        *(Text(fill("section {name} removed", name=name)) for name in difference.sections_removed),
        Text(""),
    ]
    styles = {"+": "green", "-": "red", "~": "yellow"}
    for sign, bullet in visible:
        counts = f"({bullet.helpful}/{bullet.harmful}) "
        room = max(LEAST, width - len(bullet.id) - len(counts) - 4)
        parts.append(Text(f"{sign} {bullet.id} {counts}{_cut([bullet.content], room)[0]}", styles[sign]))
    if len(visible) < len(signed):
        parts.append(_more(len(signed) - len(visible)))
    return Group(*parts)


def _more(count: int) -> Text:
    return Text(fill("and {count} more: --rows 0 shows all", count=f"{count:,}"), "dim")


def _kind(change: Change) -> str:
    kind = translate(change.kind)
    return kind if change.to is None else fill("{change} to {point}", change=kind, point=change.to)


def refinement_rows(before: Playbook, refinement: Refinement, width: int) -> RenderableType:
    """The merges, or the removals with their records."""
    room = max(LEAST, width - 40)
    if refinement.merges:
        survivors = [before[merge.kept] for merge in refinement.merges]
        return fit_table(
            [
                Column("kept", [bullet.id for bullet in survivors], words=True),
                Column(
                    "merged into it", [shorten(", ".join(merge.merged), 40) for merge in refinement.merges], words=True
                ),
                Column("cosine", [f"{merge.similarity:.3f}" for merge in refinement.merges]),
                Column("content", _cut((bullet.content for bullet in survivors), room // 2), words=True),
            ],
            width,
        )
    return fit_table(
        [
            Column("left out", [removal.id for removal in refinement.removals], words=True),
            Column("uses", [str(removal.uses) for removal in refinement.removals]),
            Column("confidence", [f"{removal.confidence:.2f}" for removal in refinement.removals]),
            Column("at most", [f"{removal.upper:.2f}" for removal in refinement.removals]),
            Column("content", _cut((before[removal.id].content for removal in refinement.removals), room), words=True),
        ],
        width,
    )


def _cut(texts: Iterable[str], columns: int) -> list[str]:
    """Each text on one line of at most `columns` terminal columns, where Japanese letters take two."""
    from rich.cells import cell_len, set_cell_size

    lines = [" ".join(plain(text).split()) for text in texts]
    columns = max(LEAST, columns)
    return [line if cell_len(line) <= columns else f"{set_cell_size(line, columns - 4).rstrip()}..." for line in lines]


def playbook_json(playbook: Playbook, sections: Sequence[Section]) -> dict[str, Any]:
    return {
        "bullets": len(playbook),
        "created_at": playbook.created_at,
        "updated_at": playbook.updated_at,
        "sections": [
            {
                "name": section.name,
                "description": section.description,
                "bullets": [bullet_json(bullet) for bullet in section.bullets],
            }
            for section in sections
        ],
    }


def bullet_json(bullet: Bullet) -> dict[str, Any]:
    from akinai.learning.playbook.formats import bullet_json as file_json

    return {**file_json(bullet), "confidence_score": bullet.confidence_score}


def hit_json(hit: SearchResult) -> dict[str, Any]:
    return {**as_json(hit), "bullet": bullet_json(hit.bullet)}


def change_json(change: Change) -> dict[str, Any]:
    return {
        "change": change.n,
        "at": change.at,
        "kind": change.kind,
        "id": change.id,
        "reason": change.reason,
        "evidence": list(change.evidence),
        "to": change.to,
        "put": [bullet.id for bullet in change.put],
        "removed": list(change.removed_ids),
        "refused": [dict(refusal) for refusal in change.refused],
    }


def difference_json(difference: Difference) -> dict[str, Any]:
    return {
        "added": [bullet_json(bullet) for bullet in difference.added],
        "removed": [bullet_json(bullet) for bullet in difference.removed],
        "changed": [{"before": bullet_json(a), "after": bullet_json(b)} for a, b in difference.changed],
        "sections_added": list(difference.sections_added),
        "sections_removed": list(difference.sections_removed),
    }


def refinement_json(refinement: Refinement, change: int | None) -> dict[str, Any]:
    return {
        "done": change is not None,
        "change": change,
        "reason": refinement.reason,
        "bullets": len(refinement.playbook),
        "merges": as_json(refinement.merges),
        "removals": as_json(refinement.removals),
    }
