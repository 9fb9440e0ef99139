"""Default keywords of a bullet: the terms that distinguish its content from other bullets."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from akinai.learning.playbook.bullets import Playbook
from akinai.retrieval import normalise, tokenize
from akinai.retrieval.bm25 import inverse_document_frequency

KEYWORDS = 5
"""Keywords of a bullet, at most."""

CORPUS = 2_000
"""Bullets that terms are compared with, at most, spread evenly: this bounds the cost in a large playbook."""

_COMMON = frozenset(
    "about after all also and any are because been before being both but can could did does each every for from had "
    "has have her him his how into its just may might more most must not now off one only other our out over shall she "
    "should some such than that the their them then there these they this those through too under until upon use used "
    "using very was were what when where which while who whom whose why will with would you your".split()
)
# A word with its joints, a run of Han characters, a run of katakana. Hiragana alone is mostly grammar.
_TERM = re.compile(r"[0-9a-z\u00c0-\u024f]+(?:[-_'][0-9a-z\u00c0-\u024f]+)*|[\u4e00-\u9fff々]{2,}|[ァ-ヺー]{2,}")


class TermCounts:
    """Document frequencies of terms."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = 0
        self._containing: Counter[str] = Counter()
        for text in texts:
            self._texts += 1
            self._containing.update(_terms(text).keys())

    @classmethod
    def of(cls, playbook: Playbook) -> "TermCounts":
        """The frequencies in the contents of a playbook; in a large one, of every n-th bullet."""
        contents = [bullet.content for bullet in playbook]
        return cls(contents[:: len(contents) // CORPUS + 1])

    def top(self, content: str) -> tuple[str, ...]:
        """The terms of `content` with the highest TF-IDF, highest first, ties in the order of the text.

        Terms are words of three letters or more without the commonest English words, and runs of two or more Han or
        katakana characters; a text without such terms gives the tokenizer's words. The content counts as one more text.
        """
        counts = _terms(content)
        weights = {
            term: times * inverse_document_frequency(self._texts + 1, self._containing[term] + 1)
            for term, times in counts.items()
        }
        return tuple(sorted(weights, key=lambda term: -weights[term])[:KEYWORDS])


@lru_cache(maxsize=1 << 14)
def _terms(text: str) -> Counter[str]:
    terms = [term for term in _TERM.findall(normalise(text)) if not term.isascii() or len(term) >= 3]
    distinctive = [term for term in terms if term not in _COMMON and not term.isdigit()]
    return Counter(distinctive or terms or tokenize(text))


def with_keywords(playbook: Playbook) -> Playbook:
    """The playbook with default keywords for bullets without keywords, as after an import of plain texts."""
    bare = [bullet for bullet in playbook if not bullet.keywords]
    counts = TermCounts.of(playbook)
    return playbook.with_bullets({b.id: replace(b, keywords=counts.top(b.content)) for b in bare}) if bare else playbook
