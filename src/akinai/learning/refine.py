"""Grow and refine: duplicates become one bullet, and bullets that were seldom right can go. Pure; nothing is written.

`PlaybookFile.change("dedup", dedup)` carries a refinement out, and its journal can restore every bullet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from akinai.core.statistics import proportion_interval
from akinai.learning.opposites import say_different_things
from akinai.learning.playbook import Bullet, Playbook
from akinai.retrieval import Embedder, HashedTermVectors, normalise, tokenize
from akinai.retrieval.vectors import rounded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR = 0.9
"""The cosine from which two bullets of a section are near duplicates."""

PRUNE_BELOW = 0.5
"""The confidence that a bullet must have been able to reach: that of one which nobody has used."""

PRUNE_AFTER_USES = 5

_CELLS = 1 << 22  # cosines at once: 16 MB
_ENDINGS = " .。!！"


@dataclass(frozen=True, slots=True)
class Merge:
    """Bullets that became one."""

    kept: str
    """The id that stays: of the one with the best record."""
    merged: tuple[str, ...]
    similarity: float
    """The lowest cosine of a merged bullet with the kept one; 1 for equal texts."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A bullet that the evidence speaks against."""

    id: str
    uses: int
    confidence: float
    upper: float
    """The upper end of the 95 % Wilson interval of its confidence."""


@dataclass(frozen=True, slots=True)
class Refinement:
    """What refining would make of a playbook."""

    playbook: Playbook
    reason: str
    evidence: tuple[str, ...]
    merges: tuple[Merge, ...] = ()
    removals: tuple[Removal, ...] = ()


def dedup(playbook: Playbook, *, threshold: float | None = NEAR, embedder: Embedder | None = None) -> Refinement:
    """Merge equal bullets, then near duplicates; None for `threshold` leaves the latter.

    Equal are contents that differ in width of letters, case, white space or a full stop, wherever they stand. Near are
    contents of one section with a cosine of at least `threshold`, unless they `say_different_things`. The bullet with
    the best record stays, with the sum of the counters, all sources and all keywords. Each bullet is merged at most
    once, into one that stays itself, so neither the order of the bullets nor a second run changes the result.
    `embedder` left out: hashed words and pairs of words. ValueError for a threshold outside 0 to 1.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"a threshold of {threshold!r} for near duplicates; give a cosine from 0 to 1")
    merges = _equal(playbook)
    refined = _merged(playbook, merges)
    if threshold is not None:
        near = _near(refined, threshold, embedder or HashedTermVectors(tokenizer=_words_and_pairs))
        refined, merges = _merged(refined, near), _joined(merges, near)
    count = sum(len(merge.merged) for merge in merges)
    evidence = tuple(f"{merge.kept} takes in {', '.join(merge.merged)}" for merge in merges)
    return Refinement(refined, f"{count} duplicates merged", evidence, merges=tuple(merges))


def prune(playbook: Playbook, *, below: float = PRUNE_BELOW, min_uses: int = PRUNE_AFTER_USES) -> Refinement:
    """Leave out the bullets that were used often and seldom right.

    That is: called helpful or harmful at least `min_uses` times, and even the upper end of the 95 % Wilson interval of
    the confidence lies under `below`. ValueError for `below` outside 0 to 1 or `min_uses` under 1.
    """
    if not 0 <= below <= 1 or min_uses < 1:
        raise ValueError(
            f"pruning below {below!r} after {min_uses!r} uses; give a confidence from 0 to 1 and 1 or more"
        )
    judged = [
        Removal(bullet.id, bullet.uses, bullet.confidence_score, proportion_interval(bullet.helpful, bullet.uses)[1])
        for bullet in playbook
        if bullet.uses >= min_uses
    ]
    removals = tuple(removal for removal in judged if removal.upper < below)
    evidence = tuple(
        f"{r.id}: right {r.confidence:.0%} of {r.uses} times, at most {r.upper:.0%} with 95 % confidence"
        for r in removals
    )
    left = playbook.with_bullets({removal.id: None for removal in removals}) if removals else playbook
    return Refinement(left, f"{len(removals)} bullets seldom right", evidence, removals=removals)


def _equal(playbook: Playbook) -> list[Merge]:
    groups: dict[str, list[Bullet]] = {}
    for bullet in playbook:
        groups.setdefault(" ".join(normalise(bullet.content).split()).rstrip(_ENDINGS), []).append(bullet)
    ranked = (sorted(group, key=_rank) for text, group in groups.items() if text and len(group) > 1)
    return [Merge(group[0].id, tuple(bullet.id for bullet in group[1:]), 1.0) for group in ranked]


def _near(playbook: Playbook, threshold: float, embedder: Embedder) -> list[Merge]:
    return [
        merge
        for section in playbook.sections
        if len(section.bullets) > 1
        for merge in _near_in(sorted(section.bullets, key=_rank), threshold, embedder)
    ]


def _near_in(bullets: Sequence[Bullet], threshold: float, embedder: Embedder) -> Iterable[Merge]:
    """Merges among bullets, the best record first: each that still stands takes in those after it that are near."""
    neighbours = _pairs(embedder.embed([bullet.content for bullet in bullets]), threshold)
    gone: set[int] = set()
    for place, bullet in enumerate(bullets):
        if place in gone:
            continue
        taken = {
            other: cosine
            for other, cosine in neighbours.get(place, {}).items()
            if other not in gone and not say_different_things(bullet.content, bullets[other].content)
        }
        if taken:
            gone |= taken.keys()
            yield Merge(bullet.id, tuple(bullets[other].id for other in taken), min(taken.values()))


def _pairs(vectors: NDArray[np.float32], threshold: float) -> Mapping[int, Mapping[int, float]]:
    """For each row, the later rows with a cosine of at least `threshold`, to six decimals."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    found: dict[int, dict[int, float]] = {}
    block = max(1, _CELLS // len(unit))
    for start in range(0, len(unit), block):
        cosines = unit[start : start + block] @ unit[start:].T
        rows, columns = np.nonzero(cosines >= threshold - 1e-6)
        exact = rounded(cosines[rows, columns].astype(np.float64))
        for row, column, cosine in zip(rows.tolist(), columns.tolist(), exact.tolist(), strict=True):
            if column > row and cosine >= threshold:
                found.setdefault(start + row, {})[start + column] = min(cosine, 1.0)
    return found


def _rank(bullet: Bullet) -> tuple[int, int, str, str]:
    """The order in which bullets may stay: by record, then by text, so that it does not matter which came first."""
    return (bullet.harmful - bullet.helpful, -bullet.helpful, bullet.content, bullet.id)


def _merged(playbook: Playbook, merges: Sequence[Merge]) -> Playbook:
    changed: dict[str, Bullet | None] = {}
    for merge in merges:
        kept, others = playbook[merge.kept], [playbook[id] for id in merge.merged]
        changed |= dict.fromkeys(merge.merged)
        changed[kept.id] = replace(
            kept,
            keywords=tuple(dict.fromkeys(word for bullet in (kept, *others) for word in bullet.keywords)),
            helpful=sum(bullet.helpful for bullet in (kept, *others)),
            harmful=sum(bullet.harmful for bullet in (kept, *others)),
            neutral=sum(bullet.neutral for bullet in (kept, *others)),
            extra={name: value for bullet in (*reversed(others), kept) for name, value in bullet.extra.items()},
        ).with_sources(source for bullet in others for source in bullet.sources)
    return playbook.with_bullets(changed) if changed else playbook


def _joined(equal: Sequence[Merge], near: Sequence[Merge]) -> list[Merge]:
    """Merges after merges, as one: what an equal text had taken in goes with it."""
    earlier = {merge.kept: merge for merge in equal}
    joined: list[Merge] = []
    for merge in near:
        first = earlier.pop(merge.kept, None)
        inner = [id for other in merge.merged if other in earlier for id in earlier.pop(other).merged]
        joined.append(replace(merge, merged=(*(first.merged if first else ()), *merge.merged, *inner)))
    return [*earlier.values(), *joined]


def _words_and_pairs(text: str) -> list[str]:
    """Words and pairs of neighbours, so that one other word in a short text is enough to be far."""
    words = tokenize(text)
    return [*words, *(f"{a} {b}" for a, b in pairwise(words))]
