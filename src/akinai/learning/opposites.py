"""Whether two sentences that look alike say different things: other numbers, other names, one "not" more. Pure."""

import re
from collections import Counter

from akinai.retrieval import normalise, tokenize

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|nobody|nothing|cannot|without|unless|avoid(?:s|ed|ing)?|refus\w+|stop(?:s|ped|ping)?"
    r"|forbid\w*|prohibit\w*|instead|except|don'?t|doesn'?t|didn'?t|won'?t|can'?t|isn'?t|aren'?t|shouldn'?t|mustn'?t"
    r"|wouldn'?t|couldn'?t|wasn'?t|weren'?t)\b"
    r"|ない|なく|なかっ|なけれ|ません|まい\b|ずに|せず|禁止|厳禁|避け|不要|無用|やめ|止め|だめ|駄目|ダメ"
)

# Of each pair one side may stand where the other does not.
_PAIRS = (
    "always never|more less|more fewer|most least|higher lower|high low|raise lower|raise cut|increase decrease|"
    "increase reduce|up down|before after|first last|early late|earlier later|buy sell|accept refuse|accept reject|"
    "accept decline|open close|open closed|start stop|begin end|add remove|enable disable|allow forbid|with without|"
    "above below|over under|max min|maximum minimum|in out|on off|true false|yes no|good bad|best worst|right wrong|"
    "left right|large small|big small|long short|fast slow|cheap expensive|many few|all none|helpful harmful|"
    "上げ 下げ|高い 低い|高く 低く|多い 少ない|多く 少なく|増や 減ら|前 後|買う 売る|買い 売り|開け 閉め|入れ 出し|"
    "早い 遅い|早く 遅く|大きい 小さい|必ず 決して|最大 最小|最初 最後|以上 以下|可 不可"
)
_SIDES = tuple(tuple(pair.split()) for pair in _PAIRS.split("|"))
_CODE = re.compile(r"`[^`\n]+`|\"[^\"\n]+\"|「[^」\n]+」|\b\w*(?:_\w+)+\b|\b\w+(?:\.\w+)+\b|\b\w*\d[\w.,:/-]*")
_NAME = re.compile(r"(?<=[\w,;:)'\"] )[A-Z]\w*|[ァ-ヺー]{2,}")
_WORD = re.compile(r"[a-z]+")


def say_different_things(a: str, b: str) -> bool:
    """Whether two texts that share nearly all words must not stand for one another.

    True when they differ in numbers, names, what stands in code or quotes, negations, one side of a pair such as buy
    and sell, or the order of their common words. It sees words, not meaning, and errs towards True, which costs a merge
    that was not made.
    """
    a, b = a.replace("\u2019", "'"), b.replace("\u2019", "'")
    words_a, words_b = tokenize(a), tokenize(b)
    if _names(a) - {*words_b, *_names(b)} or _names(b) - {*words_a, *_names(a)}:
        return True
    a, b = normalise(a), normalise(b)
    return (
        _marks(a) != _marks(b)
        or _common(words_a, words_b) != _common(words_b, words_a)
        or any(_on_other_sides(a, b, left, right) for left, right in _SIDES)
    )


def _names(text: str) -> set[str]:
    """Words with a capital that do not begin a sentence, and runs of katakana, folded."""
    return {normalise(name) for name in _NAME.findall(text)}


def _common(words: list[str], others: list[str]) -> list[str]:
    """The words that stand once in each text, in the order of the first."""
    once, once_there = Counter(words), Counter(others)
    return [word for word in words if once[word] == 1 == once_there[word]]


def _marks(text: str) -> tuple[Counter[str], int]:
    """Numbers and code with their counts, and how many negations there are."""
    return Counter(mark.strip(".,:/-") for mark in _CODE.findall(text)), len(_NEGATION.findall(text))


def _on_other_sides(a: str, b: str, left: str, right: str) -> bool:
    return _has(a, left) != _has(b, left) and _has(a, right) != _has(b, right)


def _has(text: str, side: str) -> bool:
    """Whether a side of a pair stands in a text; of English words also with an ending, as raised for raise."""
    if not side.isascii():
        return side in text
    stem = side.removesuffix("e")
    return any(
        word == side or (len(stem) > 2 and word.startswith(stem) and len(word) <= len(side) + 3)
        for word in _WORD.findall(text)
    )
