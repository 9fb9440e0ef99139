"""Refinement: duplicates are merged, and bullets that were seldom right can be removed. Pure; nothing is written.

`PlaybookFile.change("dedup", dedup)` applies a refinement, and its journal can restore every bullet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from akinai.core.statistics import proportion_interval
from akinai.learning.playbook.bullets import Bullet, Playbook
from akinai.learning.playbook.deltas import Edit
from akinai.learning.search.embedders import EmbedderFitter
from akinai.retrieval import Embedder, HashedTermVectors, normalise, tokenize
from akinai.retrieval.vectors import round_scores, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
NEAR = 0.9
"""The lowest cosine of near duplicates within a section."""

LONG, LONG_ALLOWANCE = 30, 0.14
"""Texts of at least `LONG` words are near at a cosine lower by the allowance: a few different words matter less."""

PRUNE_BELOW = 0.5
"""A bullet is removed when its confidence is below this with 95 % confidence; an unused bullet has this confidence."""

PRUNE_AFTER_USES = 5

_CELLS = 1 << 22  # cosines at once: 16 MB
_ENDINGS = " .。!！"


@dataclass(frozen=True, slots=True)
class Merge:
    """Bullets that were merged into one."""

    kept: str
    """The id of the bullet with the best record, which stays."""
    merged: tuple[str, ...]
    similarity: float
    """The lowest cosine between a merged bullet and the kept bullet; 1 for equal texts."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A bullet that is removed because it was seldom right."""

    id: str
    uses: int
    confidence: float
    upper: float
    """The upper bound of its confidence, which holds with 95 %."""


@dataclass(frozen=True, slots=True)
class Refinement(Edit):
    """A refined playbook, and the changes."""

    merges: tuple[Merge, ...] = ()
    removals: tuple[Removal, ...] = ()


Refiner: TypeAlias = Callable[[Playbook], Edit]
"""Refines a playbook at the end of an epoch, by name in the entry point group `akinai.refiners`. Pure; an equal
playbook is not written."""


def dedup(
    playbook: Playbook, *, threshold: float | None = NEAR, embedder: Embedder | EmbedderFitter | None = None
) -> Refinement:
    """Merge equal bullets, then near duplicates unless `threshold` is None.

    Equal contents, in any section, differ at most in the width of letters, case, white space or a full stop. Near
    duplicates are contents of one section with a cosine of at least `threshold` that do not `differ_in_meaning`. The
    bullet with the best record stays, with the sums of the counters, all sources and all keywords. Each bullet is
    merged at most once, into a bullet that stays, so neither the order of the bullets nor a second run changes the
    result. Without `embedder`, words and pairs of words are hashed, and two texts of at least 30 words are near
    duplicates from a cosine 0.14 lower, where they do not `differ_in_substance`. ValueError for a threshold
    outside 0 to 1.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"a threshold of {threshold!r} for near duplicates; give a cosine from 0 to 1")
    merges = _equal(playbook)
    refined = _merged(playbook, merges)
    if threshold is not None:
        if isinstance(embedder, EmbedderFitter):
            embedder = embedder.fit([bullet.content for bullet in refined])
        lowered = 0.0 if embedder else LONG_ALLOWANCE
        vectors = embedder or HashedTermVectors(tokenizer=_words_and_pairs)
        near = [merge for section in refined.sections for merge in _near(section.bullets, threshold, vectors, lowered)]
        refined, merges = _merged(refined, near), _joined(merges, near)
    count = sum(len(merge.merged) for merge in merges)
    evidence = tuple(f"{merge.kept} takes in {', '.join(merge.merged)}" for merge in merges)
    return Refinement(refined, f"{count} duplicates merged", evidence, merges=tuple(merges))


def _most_right(bullet: Bullet) -> float:
    """The upper bound of a bullet's confidence that holds with 95 %: 90 % between two ends leave 5 % above."""
    return proportion_interval(bullet.helpful, bullet.uses, confidence=0.90)[1]


def prune(playbook: Playbook, *, below: float = PRUNE_BELOW, min_uses: int = PRUNE_AFTER_USES) -> Refinement:
    """Remove the bullets that were used often and seldom right.

    Such a bullet has at least `min_uses` helpful and harmful tags, and the upper bound of its confidence, which holds
    with 95 %, is below `below`. ValueError for `below` outside 0 to 1 or `min_uses` under 1.
    """
    if not 0 <= below <= 1 or min_uses < 1:
        raise ValueError(
            f"pruning below {below!r} after {min_uses!r} uses; give a confidence from 0 to 1 and 1 or more"
        )
    judged = [
        Removal(bullet.id, bullet.uses, bullet.confidence_score, _most_right(bullet))
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


def _near(bullets: Sequence[Bullet], threshold: float, embedder: Embedder, lowered: float) -> Iterator[Merge]:
    """Merges among bullets, best record first: each remaining bullet absorbs the later bullets that are near."""
    bullets = sorted(bullets, key=_rank)
    if len(bullets) < 2:
        return
    least = max(0.0, threshold - lowered)
    neighbours = _pairs(embedder.embed([bullet.content for bullet in bullets]), least)
    long = {bullet.id for bullet in bullets if lowered and len(tokenize(bullet.content)) >= LONG}
    gone: set[int] = set()
    for index, bullet in enumerate(bullets):
        if index in gone:
            continue
        taken = {
            other: cosine
            for other, cosine in neighbours.get(index, {}).items()
            if other not in gone
            and (
                (cosine >= threshold and not differ_in_meaning(bullet.content, bullets[other].content))
                or (
                    {bullet.id, bullets[other].id} <= long
                    and not differ_in_substance(bullet.content, bullets[other].content)
                )
            )
        }
        if taken:
            gone |= taken.keys()
            yield Merge(bullet.id, tuple(bullets[other].id for other in taken), min(taken.values()))


def _pairs(vectors: NDArray[np.float32], threshold: float) -> Mapping[int, Mapping[int, float]]:
    """For each row, the later rows with a cosine of at least `threshold`, to six decimals."""
    import numpy as np

    unit = unit_rows(vectors)
    pairs: dict[int, dict[int, float]] = {}
    block = max(1, _CELLS // len(unit))
    for start in range(0, len(unit), block):
        cosines = unit[start : start + block] @ unit[start:].T
        rows, columns = np.nonzero(cosines >= threshold - 1e-6)
        exact = round_scores(cosines[rows, columns].astype(np.float64))
        for row, column, cosine in zip(rows.tolist(), columns.tolist(), exact.tolist(), strict=True):
            if column > row and cosine >= threshold:
                pairs.setdefault(start + row, {})[start + column] = min(cosine, 1.0)
    return pairs


def _rank(bullet: Bullet) -> tuple[int, int, str, str]:
    """The order of preference for bullets to keep: by record, then by text, whatever their order in the playbook."""
    return (bullet.harmful - bullet.helpful, -bullet.helpful, bullet.content, bullet.id)


def _merged(playbook: Playbook, merges: Sequence[Merge]) -> Playbook:
    changed: dict[str, Bullet | None] = {}
    for merge in merges:
        best, merged = playbook[merge.kept], [playbook[id] for id in merge.merged]
        changed |= dict.fromkeys(merge.merged)
        changed[best.id] = replace(
            best,
            keywords=tuple(dict.fromkeys(word for bullet in (best, *merged) for word in bullet.keywords)),
            helpful=sum(bullet.helpful for bullet in (best, *merged)),
            harmful=sum(bullet.harmful for bullet in (best, *merged)),
            neutral=sum(bullet.neutral for bullet in (best, *merged)),
            extra={name: value for bullet in (*reversed(merged), best) for name, value in bullet.extra.items()},
        ).with_sources(source for bullet in merged for source in bullet.sources)
    return playbook.with_bullets(changed) if changed else playbook


def _joined(equal: Sequence[Merge], near: Sequence[Merge]) -> list[Merge]:
    """Two rounds of merges as one: bullets that an equal text absorbed follow it."""
    earlier = {merge.kept: merge for merge in equal}
    joined: list[Merge] = []
    for merge in near:
        first = earlier.pop(merge.kept, None)
        inner = [id for other in merge.merged if other in earlier for id in earlier.pop(other).merged]
        joined.append(replace(merge, merged=(*(first.merged if first else ()), *merge.merged, *inner)))
    return [*earlier.values(), *joined]


def _words_and_pairs(text: str) -> list[str]:
    """Words and pairs of neighbours, so that a single different word makes short texts dissimilar."""
    words = tokenize(text)
    return [*words, *(f"{a} {b}" for a, b in pairwise(words))]


_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|nobody|nothing|cannot|without|unless|avoid(?:s|ed|ing)?|refus\w+|stop(?:s|ped|ping)?"
    r"|forbid\w*|prohibit\w*|instead|except|don'?t|doesn'?t|didn'?t|won'?t|can'?t|isn'?t|aren'?t|shouldn'?t|mustn'?t"
    r"|wouldn'?t|couldn'?t|wasn'?t|weren'?t)\b"
    r"|ない|なく|なかっ|なけれ|ません|まい\b|ずに|せず|禁止|厳禁|避け|不要|無用|やめ|止め|だめ|駄目|ダメ"
)

# Texts differ when one has one side of a pair and the other text has the other side.
_PAIRS = (
    "always never|more less|more fewer|most least|higher lower|high low|raise lower|raise cut|increase decrease|"
    "increase reduce|up down|before after|first last|early late|earlier later|buy sell|accept refuse|accept reject|"
    "accept decline|open close|open closed|start stop|begin end|add remove|enable disable|allow forbid|with without|"
    "oldest newest|older newer|earliest latest|"
    "above below|over under|max min|maximum minimum|in out|on off|true false|yes no|good bad|best worst|right wrong|"
    "left right|large small|big small|long short|fast slow|cheap expensive|many few|all none|helpful harmful|"
    "上げ 下げ|高い 低い|高く 低く|多い 少ない|多く 少なく|増や 減ら|前 後|買う 売る|買い 売り|開け 閉め|入れ 出し|"
    "早い 遅い|早く 遅く|大きい 小さい|必ず 決して|最大 最小|最初 最後|以上 以下|可 不可"
)
_SIDES = tuple(tuple(pair.split()) for pair in _PAIRS.split("|"))
_EXAMPLE = re.compile(r"\((?:e\.g\.|for example)[^()]*\)", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]+`|\"[^\"\n]+\"|「[^」\n]+」|\b\w*(?:_\w+)+\b|\b\w+(?:\.\w+)+\b|\b\w*\d[\w.,:/-]*")
_NAME = re.compile(r"(?<=[\w,;:)'\"] )[A-Z]\w*|[ァ-ヺー]{2,}")
_WORD = re.compile(r"[a-z]+")


def differ_in_meaning(a: str, b: str) -> bool:
    """Whether two texts that share nearly all words may say different things.

    True when they differ in numbers, names, code or quotes, negations, one side of a pair such as buy and sell, or the
    order of their common words. It compares words, not meaning, and errs towards True, which costs a missed merge.
    """
    words_a, words_b = tokenize(a := _straight(a)), tokenize(b := _straight(b))
    return (
        any(_own_names(a, b))
        or _marks(a) != _marks(b)
        or _common(words_a, words_b) != _common(words_b, words_a)
        or _take_sides(a, b)
    )


def differ_in_substance(a: str, b: str) -> bool:
    """Whether two long texts that share most words may say different things, examples in brackets aside.

    True when each has names or code that the other lacks, or they differ in numbers, negations, or one side of a pair.
    One may go into more detail, and order and wording may differ.
    """
    a, b = (_EXAMPLE.sub("", _straight(text)) for text in (a, b))
    (marks_a, negations_a), (marks_b, negations_b) = _marks(a), _marks(b)
    return (
        all(_own_names(a, b))
        or not (marks_a <= marks_b or marks_b <= marks_a)
        or any(mark[0].isdigit() for mark in ((marks_a - marks_b) | (marks_b - marks_a)) if mark)
        or negations_a != negations_b
        or _take_sides(a, b)
    )


def _straight(text: str) -> str:
    return text.replace("\u2019", "'")


def _own_names(a: str, b: str) -> tuple[set[str], set[str]]:
    """Capitalised words inside a sentence, and runs of katakana, that each text has and the other lacks."""
    names_a, names_b = ({normalise(name) for name in _NAME.findall(text)} for text in (a, b))
    return names_a - names_b - {*tokenize(b)}, names_b - names_a - {*tokenize(a)}


def _common(words: list[str], other_words: list[str]) -> list[str]:
    """The words that occur once in each text, in the order of the first."""
    counts, other_counts = Counter(words), Counter(other_words)
    return [word for word in words if counts[word] == 1 == other_counts[word]]


def _marks(text: str) -> tuple[Counter[str], int]:
    """Numbers and code with their counts, and the number of negations."""
    text = normalise(text)
    return Counter(mark.strip(".,:/-") for mark in _CODE.findall(text)), len(_NEGATION.findall(text))


def _take_sides(a: str, b: str) -> bool:
    """Whether the texts have different sides of a pair."""
    a, b = normalise(a), normalise(b)
    return any(_has(a, left) != _has(b, left) and _has(a, right) != _has(b, right) for left, right in _SIDES)


def _has(text: str, side: str) -> bool:
    """Whether a text has a side of a pair; English words also with an ending, such as raised for raise."""
    if not side.isascii():
        return side in text
    stem = side.removesuffix("e")
    return any(
        word == side or (len(stem) > 2 and word.startswith(stem) and len(word) <= len(side) + 3)
        for word in _WORD.findall(text)
    )
