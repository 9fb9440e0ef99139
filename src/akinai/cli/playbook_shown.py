"""How playbooks are shown: tables for people, JSON for programs. Records in, renderables and mappings out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from akinai.report.columns import Column, fitted, plain, shortened

if TYPE_CHECKING:
    from rich.console import RenderableType

    from akinai.learning.index import SearchResult
    from akinai.learning.journal import Change
    from akinai.learning.patches import Difference
    from akinai.learning.playbook import Bullet, Playbook, Section
    from akinai.learning.refine import Refinement

LEAST = 24
"""Columns of a content, at least."""


def overview(playbook: Playbook, sections: Sequence[Section], rows: int, width: int) -> RenderableType:
    """The sections, and the bullets with the most uses first."""
    every = [bullet for section in sections for bullet in section.bullets]
    best = sorted(every, key=lambda one: (-one.uses, -one.helpful, one.id))
    many = "1 bullet" if len(playbook) == 1 else f"{len(playbook):,} bullets"
    where = "1 section" if len(playbook.sections) == 1 else f"{len(playbook.sections)} sections"
    title = f"{many} in {where}, changed {playbook.updated_at or 'never'}"
    table = fitted(
        [
            Column("section", [section.name for section in sections], words=True),
            Column("bullets", [f"{len(section.bullets):,}" for section in sections]),
            Column("about", [shortened(section.description, 60) for section in sections], words=True, drop=1),
        ],
        width,
    )
    parts: list[RenderableType] = [Text(title, "bold"), Text(""), table]
    if best:
        shown = best[:rows] if rows else best
        left = len(best) - len(shown)
        parts += [Text(""), bullets(shown, width)]
        parts += [Text(f"and {left:,} more: --rows 0 shows all", "dim")] if left else []
    return Group(*parts)


def bullets(some: Sequence[Bullet], width: int) -> RenderableType:
    """A row a bullet, its content on one line."""
    used = max(len(one.id) for one in some) + len("helpful harmful") + 7
    return fitted(
        [
            Column("bullet", [one.id for one in some], words=True),
            Column("helpful", [f"{one.helpful:,}" for one in some]),
            Column("harmful", [f"{one.harmful:,}" for one in some]),
            Column("content", _cut((one.content for one in some), width - used), words=True),
        ],
        width,
    )


def one_bullet(bullet: Bullet) -> RenderableType:
    """All there is to one bullet."""
    told = {
        "section": bullet.section,
        "keywords": ", ".join(bullet.keywords) or "-",
        "helpful, harmful": f"{bullet.helpful}, {bullet.harmful}",
        "confidence": f"{bullet.confidence_score:.2f}",
        "learned from": bullet.source_trajectory or "-",
        **{name: str(value) for name, value in bullet.extra.items()},
    }
    lines = [f"{name:<23}{plain(value)}" for name, value in told.items()]
    return Group(Text(bullet.id, "bold"), Text(bullet.content), Text(""), Text("\n".join(lines)))


def hits(found: Sequence[SearchResult], width: int) -> RenderableType:
    """A row a bullet that was found."""
    used = max(len(one.bullet.id) for one in found) + 26
    rest = max(LEAST, width - used)
    return fitted(
        [
            Column("bullet", [one.bullet.id for one in found], words=True),
            Column("score", [f"{one.combined_score:.3f}" for one in found]),
            Column("vector", [f"{one.vector_score:.3f}" for one in found], drop=1),
            Column("words", [f"{one.bm25_score:.3f}" for one in found], drop=2),
            Column("content", _cut((one.bullet.content for one in found), rest * 2 // 3), words=True),
            Column("matched", _cut((" ".join(one.matched) for one in found), rest // 3), words=True, drop=3),
        ],
        width,
    )


def changes(some: Sequence[Change], rows: int, width: int) -> RenderableType:
    """A row a change; of many the last."""
    shown = some[-rows:] if rows else some
    title = f"the last {len(shown)} of {len(some):,} changes" if len(shown) < len(some) else ""
    return fitted(
        [
            Column("change", [f"{one.n:,}" for one in shown]),
            Column("at", [one.at.replace("T", " ").removesuffix("Z") for one in shown], words=True, drop=2),
            Column("what", [one.kind if one.to is None else f"{one.kind} to {one.to}" for one in shown], words=True),
            Column("bullets put", [f"{len(one.put):,}" for one in shown]),
            Column("removed", [f"{len(one.removed_ids):,}" for one in shown]),
            Column("refused", [f"{len(one.refused):,}" for one in shown], drop=3),
            Column("reason", [shortened(one.reason or one.id or "-", 50) for one in shown], words=True, drop=1),
        ],
        width,
        title,
    )


def differences(found: Difference, rows: int, width: int) -> RenderableType:
    """Bullets with a sign before each: + added, - removed, ~ changed, with what it says now."""
    if found.empty:
        return Text("no difference")
    signed = [*(("+", one) for one in found.added), *(("-", one) for one in found.removed)]
    signed += [("~", after) for _, after in found.changed]
    shown = signed[:rows] if rows else signed
    parts: list[RenderableType] = [
        Text(f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed", "bold"),
        *(Text(f"section {name} added") for name in found.sections_added),
        *(Text(f"section {name} removed") for name in found.sections_removed),
        Text(""),
    ]
    styles = {"+": "green", "-": "red", "~": "yellow"}
    for sign, bullet in shown:
        counts = f"({bullet.helpful}/{bullet.harmful}) "
        room = max(LEAST, width - len(bullet.id) - len(counts) - 4)
        parts.append(Text(f"{sign} {bullet.id} {counts}{_cut([bullet.content], room)[0]}", styles[sign]))
    if len(shown) < len(signed):
        parts.append(Text(f"and {len(signed) - len(shown):,} more: --rows 0 shows all", "dim"))
    return Group(*parts)


def refinement(before: Playbook, found: Refinement, width: int) -> RenderableType:
    """What is merged into what, and what is left out on which evidence."""
    room = max(LEAST, width - 40)
    if found.merges:
        kept = [before[one.kept] for one in found.merges]
        return fitted(
            [
                Column("kept", [one.id for one in kept], words=True),
                Column("merged into it", [shortened(", ".join(one.merged), 40) for one in found.merges], words=True),
                Column("cosine", [f"{one.similarity:.3f}" for one in found.merges]),
                Column("content", _cut((one.content for one in kept), room // 2), words=True),
            ],
            width,
        )
    return fitted(
        [
            Column("left out", [one.id for one in found.removals], words=True),
            Column("uses", [str(one.uses) for one in found.removals]),
            Column("confidence", [f"{one.confidence:.2f}" for one in found.removals]),
            Column("at most", [f"{one.upper:.2f}" for one in found.removals]),
            Column("content", _cut((before[one.id].content for one in found.removals), room), words=True),
        ],
        width,
    )


def _cut(texts: Iterable[str], columns: int) -> list[str]:
    """Each on one line of at most so many columns of a terminal, where Japanese letters take two."""
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
                "name": one.name,
                "description": one.description,
                "bullets": [bullet_json(bullet) for bullet in one.bullets],
            }
            for one in sections
        ],
    }


def bullet_json(bullet: Bullet) -> dict[str, Any]:
    from akinai.learning.formats import bullet_json as told

    return {**told(bullet), "confidence_score": bullet.confidence_score}


def hit_json(hit: SearchResult) -> dict[str, Any]:
    scores = {
        "vector_score": hit.vector_score,
        "bm25_score": hit.bm25_score,
        "combined_score": hit.combined_score,
        "matched": list(hit.matched),
    }
    return {"bullet": bullet_json(hit.bullet), **scores}


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
        "refused": [dict(one) for one in change.refused],
    }


def difference_json(found: Difference) -> dict[str, Any]:
    return {
        "added": [bullet_json(one) for one in found.added],
        "removed": [bullet_json(one) for one in found.removed],
        "changed": [{"before": bullet_json(a), "after": bullet_json(b)} for a, b in found.changed],
        "sections_added": list(found.sections_added),
        "sections_removed": list(found.sections_removed),
    }


def refinement_json(found: Refinement, change: int | None) -> dict[str, Any]:
    return {
        "done": change is not None,
        "change": change,
        "reason": found.reason,
        "bullets": len(found.playbook),
        "merges": [
            {"kept": one.kept, "merged": list(one.merged), "similarity": one.similarity} for one in found.merges
        ],
        "removals": [
            {"id": one.id, "uses": one.uses, "confidence": one.confidence, "upper": one.upper} for one in found.removals
        ],
    }
