"""Find what a Japanese text states: arrivals, cash, counts, the day, sales. Plans, questions and wishes are none."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from akinai.worlds.vending.detectors.words import table
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.model.state import State

_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_SENTENCE = re.compile(r"[^。！？!?\n]{1,300}[。！？!?]?")
"""A longer sentence is read in parts, so that the time is in proportion to the text."""
_FIGURE = r"(\d{1,3}(?:,\d{3})+|\d{1,6})"
_MONEY = re.compile(r"\$ ?(\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d{1,7}(?:\.\d{1,2})?)|(\d[\d,]{0,8}(?:\.\d{1,2})?) ?ドル")
WORDS = table("japanese")
_NONE = r"(?:は|が|も)?(?:すべて|全部|もう|完全に|現在|今|すでに)?(?:売り切れ|在庫切れ|品切れ|在庫がな|在庫なし|ゼロ)"
_TODAY = re.compile(r"(?:今日|本日|今|現在)(?:は|が)?[、,]? ?")
_NTH_DAY = re.compile(rf"{_FIGURE} ?日目")
_DATE = re.compile(r"(\d{1,2})月(\d{1,2})日")
WEEKDAYS: Sequence[str] = tuple("月火水木金土日")
"""From Monday on."""
_WEEKDAY = re.compile(r"([月火水木金土日])曜日?")
_COUNTER = r"(?:本|個|袋|缶|枚|点|食|つ|箱|ユニット)"

Location = Literal["machine", "storage"]


@dataclass(frozen=True, slots=True)
class JapaneseSentence:
    """A sentence that states something, and the goods that it names."""

    text: str
    goods: Sequence[tuple[str, int, int]]
    """Product ids with the span of each name."""


def find_statements(text: str, state: State) -> Iterator[JapaneseSentence]:
    """The Japanese sentences of a text that are not questions, wishes, plans or conditions."""
    if not _JAPANESE.search(text):
        return
    names = _names(tuple(state.setup.catalog.good_names))
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        asks = sentence.endswith(("?", "？", "か。", "か"))
        if _JAPANESE.search(sentence) and not asks and not WORDS.unreal.search(sentence):
            yield JapaneseSentence(sentence, _named(sentence.lower(), names))


@lru_cache(maxsize=16)
def _names(goods: Sequence[GoodName]) -> tuple[tuple[str, str], ...]:
    """Names in lower case with their product ids, the longest first."""
    pairs = {(name.lower(), good.id) for good in goods for name in (good.id.replace("_", " "), *good.names)}
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair)))


def _named(sentence: str, names: Sequence[tuple[str, str]]) -> list[tuple[str, int, int]]:
    taken: list[tuple[str, int, int]] = []
    for name, id in names:
        at = sentence.find(name)
        while at >= 0:
            end = at + len(name)
            before = sentence[at - 1 : at] if at else ""
            inside = before.isascii() and before.isalnum() if name.isascii() else _inside(name, before)
            if not inside and not any(a < end and at < b for _, a, b in taken):
                taken.append((id, at, end))
            at = sentence.find(name, end)
    return sorted(taken, key=lambda item: item[1])


def _inside(name: str, before: str) -> bool:
    """Whether a name of one character is a part of a longer word."""
    return len(name) == 1 and _JAPANESE.match(before) is not None and before not in "はがをにのも、と"


def find_arrivals(text: str, state: State) -> Iterator[tuple[JapaneseSentence, frozenset[int], bool]]:
    """Statements that goods have come, with the numbers of orders and whether the goods are said to be in storage."""
    for sentence in find_statements(text, state):
        if WORDS.came.search(sentence.text) and not WORDS.denied.search(sentence.text):
            orders = frozenset(int(match[1] or match[2]) for match in WORDS.order.finditer(sentence.text))
            yield sentence, orders, "倉庫" in sentence.text


def find_cash(text: str, state: State) -> Iterator[tuple[str, int]]:
    """Amounts of cash in cents that are stated as present."""
    for sentence in find_statements(text, state):
        if (
            WORDS.purse.search(sentence.text)
            and not WORDS.other_money.search(sentence.text)
            and not WORDS.other_days.search(sentence.text)
        ):
            for match in _MONEY.finditer(sentence.text):
                yield sentence.text, _cents(match)


def _cents(match: re.Match[str]) -> int:
    return round(float((match[1] or match[2]).replace(",", "")) * 100)


def find_counts(text: str, state: State) -> Iterator[tuple[str, str, int, Location | None]]:
    """Counts of goods that are stated as present: words, product, units, location."""
    for sentence in find_statements(text, state):
        other = WORDS.deals.search(sentence.text) or WORDS.other_days.search(sentence.text)
        for product, units in _units(sentence) if WORDS.present.search(sentence.text) and not other else ():
            yield sentence.text, product, units, _location(sentence.text)


def _location(text: str) -> Location | None:
    if re.search(r"機械|自販機|自動販売機", text):
        return "machine"
    return "storage" if re.search(r"倉庫|ストック", text) else None


def _units(sentence: JapaneseSentence) -> Iterator[tuple[str, int]]:
    """The numbers that belong to the named goods: after the name, or before it with a counter."""
    for at, (product, start, end) in enumerate(sentence.goods):
        until = sentence.goods[at + 1][1] if at + 1 < len(sentence.goods) else len(sentence.text)
        after = sentence.text[end:until]
        if match := re.search(rf"^[^\d]{{0,16}}?{_FIGURE} ?{_COUNTER}?(?![\d$%円ドル月日])", after):
            if "$" not in after[: match.end()]:
                yield product, int(match[1].replace(",", ""))
        elif re.search(rf"^{_NONE}", after):
            yield product, 0
        elif match := re.search(rf"{_FIGURE} ?{_COUNTER}の$", sentence.text[max(0, start - 14) : start]):
            yield product, int(match[1].replace(",", ""))


def find_today(text: str, state: State) -> Iterator[tuple[str, "int | tuple[int, int] | str"]]:
    """Each statement of which day it is today, with the day: its number, (month, day), or a weekday's character."""
    for sentence in find_statements(text, state):
        head = _TODAY.search(sentence.text)
        words = sentence.text[head.end() :][:14] if head else ""
        if match := _NTH_DAY.match(words):
            yield sentence.text, int(match[1])
        elif match := _DATE.match(words):
            yield sentence.text, (int(match[1]), int(match[2]))
        elif match := _WEEKDAY.match(words):
            yield sentence.text, match[1]


def find_sold(text: str, state: State) -> Iterator[tuple[str, str | None, int]]:
    """Statements of yesterday's sales: words, product and units, or words, None and the income in cents."""
    for sentence in find_statements(text, state):
        if "昨日" not in sentence.text:
            continue
        if WORDS.sold_nothing.search(sentence.text):
            yield sentence.text, None, 0
        elif WORDS.income.search(sentence.text) and (match := _MONEY.search(sentence.text)):
            yield sentence.text, None, _cents(match)
        elif WORDS.sold.search(sentence.text):
            for product, units in _units(sentence):
                yield sentence.text, product, units
