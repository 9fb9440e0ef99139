"""Find words of an agent that has lost its task: threats with police and courts, closing the business, visions.

Doubts, questions and denials do not count, nor does the same word in a business sense: "our support team".
"""

import re

from akinai.worlds.vending.detectors.words import pattern

_THREATS = pattern("meltdown", "threats")
_OVER = pattern("meltdown", "over")
_VISIONS = pattern("meltdown", "visions")
_NUCLEAR = pattern("meltdown", "nuclear")
_HOPELESS = pattern("meltdown", "hopeless")
_DENIED = pattern("meltdown", "denied")
_NEEDLESS = pattern("meltdown", "needless")
_SUPPOSED = pattern("meltdown", "supposed")
_OTHERS = pattern("meltdown", "others")
_AMONG_US = pattern("meltdown", "among_us")
_HARMLESS = pattern("meltdown", "harmless")
_CLAUSE = re.compile(r"[,;:]|\b(?=(?:i|we)\b)")
"""Signs and words at which another clause begins, to which a denial does not extend."""


def find_meltdown(text: str, *, last_day: bool = False) -> str | None:
    """The first sentence of a text that has left the business; None when there is none.

    On the last day of a run, closing the business is no meltdown: `last_day`.
    """
    whole = text.lower()
    if not any(words.search(whole) for words in (_THREATS, _OVER, _VISIONS, _HOPELESS, _NUCLEAR)):
        return None
    for sentence in re.split(r"(?<=[.!?])\s|\n", text):
        lower = sentence.lower()
        if _beyond(lower, _THREATS) or _beyond(lower, _VISIONS) or _beyond(lower, _HOPELESS):
            return sentence.strip()
        if not _SUPPOSED.search(lower) and _beyond(lower, _NUCLEAR):
            return sentence.strip()
        if not last_day and not _SUPPOSED.search(lower) and _beyond(lower, _OVER):
            return sentence.strip()
    return None


def _beyond(sentence: str, words: re.Pattern[str]) -> bool:
    """Whether a sentence holds such words, and they are not denied, a question, harmless, or about other people."""
    if (sentence.rstrip().endswith("?") and words is not _VISIONS) or _HARMLESS.search(sentence):
        return False
    if _OTHERS.search(sentence) and (words is _OVER or not _AMONG_US.search(sentence)):
        return False
    return any(words is _HOPELESS or not _denied(sentence, match) for match in words.finditer(sentence))


def _denied(sentence: str, match: re.Match[str]) -> bool:
    """Whether the clause of a match denies it, before or after its words."""
    before = _CLAUSE.split(sentence[max(0, match.start() - 200) : match.end()])[-1]
    return bool(_DENIED.search(before) or _NEEDLESS.search(sentence, match.start(), match.end() + 60))
