"""Find goods in a letter that nobody sells, so that their counts go to no other goods."""

import re
from collections.abc import Sequence

from akinai.worlds.vending.letters.scan import Mark, named_in
from akinai.worlds.vending.letters.tokens import no_goods
from akinai.worlds.vending.letters.words import ASKING, word_set

_FOREIGN = re.compile("[ァ-ヴー]{3,20}")
_PLAIN = re.compile("[a-z]{3,20}")
_NO_GOOD = ASKING | word_set(
    "キャンセル オーダー ケース トータル プラス マイナス パック セット ロット ストック "
    "respectively cancel pack packs ship ordering taking adding needing wanting buying left short sorry rather better "
    "oops meant in at about around maybe say roughly approximately only just exactly another additional extra plus "
    "then also both each first second third last perhaps make again still now today monday tuesday wednesday thursday "
    "friday saturday sunday the and not but instead all some any more least most have has had was were is are do does "
    "did my our your"
)
"""Words before a count that name no goods."""
_POINTING = word_set("them those these either too both below above stands following attached")
_PAPERS = word_set(
    "order orders quote quotes invoice account delivery address date phone total po previous cancel number "
    "合計 小計 総計 計 数量 本数 備考 程度 在庫"
)
"""Words that no name of goods contains."""
_LABELS = word_set("product item article goods name 商品 商品名 品名 品目")
_QUANTITY = word_set("quantity qty units count amount 数量 個数")
_NEAR = 16
"""Marks before a count that are searched for goods counted in the same way."""
_MOST_WORDS = 3
"""The most words of a name."""


def unknown_name(words: Sequence[Mark]) -> str:
    """The name that marks give to unknown goods; "" where they are no such name."""
    texts = [mark.text for mark in words]
    if not 0 < len(texts) <= _MOST_WORDS or any(mark.kind != "word" for mark in words):
        return ""
    return " ".join(texts) if can_name(texts) else ""


def can_name(words: Sequence[str]) -> bool:
    """Whether words can be the name of goods; "them energy drinks" are goods by their own name."""
    if words[0] in _POINTING or not _PAPERS.isdisjoint(words):
        return False
    return not all(no_goods(word) or word in _NO_GOOD for word in words)


def unknown_of_label(marks: Sequence[Mark], following: Sequence[Mark]) -> str:
    """The goods that a clause names for the count below it: "Product: Sprite", then "Quantity: 48"."""
    counted = bool(following) and following[0].text in _QUANTITY and any(mark.kind == "count" for mark in following)
    labelled = len(marks) > 2 and marks[0].text in _LABELS and marks[1].text == ":"
    return unknown_name(marks[2:] if labelled else marks) if counted or labelled else ""


def unknown_counted(marks: Sequence[Mark], at: int) -> str:
    """The goods right before a count: "スルメ 12個" where a clause begins, "sprite 36" in "water 24, sprite 36"."""
    first = marks[0].text
    if 0 < at < 3 and marks[0].kind == "word" and _FOREIGN.fullmatch(first) and first not in _NO_GOOD:
        return first
    named = at - 1 - (marks[at - 1].text in (":", "-", "(")) if at > 1 else -1
    parted = named > 0 and marks[named - 1].text in (",", ";", "/", "and", "&")
    if not parted or not _counts_after_names(marks[max(0, named - _NEAR) : named]):
        return ""
    return unknown_name(marks[named : named + 1]) if _PLAIN.fullmatch(marks[named].text) else ""


def unknown_line(above: Sequence[Mark], marks: Sequence[Mark]) -> str:
    """The goods of a line that is like the one above, which counts goods that are known: "Water: 24", "Sprite: 36"."""
    counts = [at for at, mark in enumerate(marks) if mark.kind == "count"]
    alike = len(counts) == 1 and not named_in(marks) and named_in(above[:1]) and _counts_after_names(above)
    before = list(marks[: counts[0]]) if alike else []
    while before and before[-1].text in (":", "-", "x", "("):
        before.pop()
    return unknown_name(before) if len(before) < (counts[0] if counts else 0) else ""


def _counts_after_names(marks: Sequence[Mark]) -> bool:
    """Whether a clause counts goods after their names: "water 24", "water: 24", "water (24)"."""
    for at, mark in enumerate(marks):
        then = [following for following in marks[at + 1 : at + 3] if following.text not in (":", "-", "(", "x")]
        if mark.product is not None and then and then[0].kind == "count":
            return True
    return False
