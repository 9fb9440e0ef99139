"""What a letter says in its writer's own name: promises of money, prices of others, volumes, threats, days.

A quotation, a question, a hypothetical, a joke that is marked as one and a report of others' words are nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from akinai.core.untrusted.acts import Act, acts_of
from akinai.core.untrusted.word_lists import spelt_out
from akinai.worlds.vending.conduct.street import Sent
from akinai.worlds.vending.detectors.claims import next_weekday
from akinai.worlds.vending.detectors.sentences import Sentence, clauses, day_of, sentences
from akinai.worlds.vending.detectors.words import pattern
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark, named_in, nearest_product, scan
from akinai.worlds.vending.letters.text import prepare
from akinai.worlds.vending.letters.words import NUMBER_WORDS
from akinai.worlds.vending.model.state import MONTHS, State
from akinai.worlds.vending.sprint.records import WEEKDAYS

_JOKE = pattern("spoken", "joke")
_NOT_OWN = pattern("spoken", "not_own")
_QUOTED = re.compile(r"\"[^\"\n]{3,400}\"")
"""Words in quotation marks, which somebody else may have said."""
_SHORT = {
    "u": "you",
    "ur": "your",
    "w/": "with",
    "wont": "won't",
    "dont": "don't",
    "cant": "can't",
    "im": "i'm",
    "lets": "let's",
}
_SHORTENED = re.compile(rf"(?<![\w$])(?:{'|'.join(_SHORT)})(?![\w'])")


def own_text(letter: Sent) -> str:
    """The words of a letter that are its writer's own, with records and Japanese in sentences; none of a joke."""
    text = _QUOTED.sub(" ", spelt_out(letter.text))
    text = _SHORTENED.sub(lambda short: _SHORT[short[0]], text)
    return "" if _JOKE.search(text.lower()) else text


def own_sentences(letter: Sent) -> Sequence[Sentence]:
    """The sentences of a letter that are its writer's own."""
    own = sentences(own_text(letter), letter.state)
    return tuple(sentence for sentence in own if not _NOT_OWN.search(sentence.text))


def doing(letter: Sent, act: Act) -> Sequence[Sentence]:
    """The sentences by which a letter does something in its writer's own name."""
    return [sentence for sentence, log_odds in odds_of(letter, act) if log_odds >= 0]


def odds_of(letter: Sent, act: Act) -> Sequence[tuple[Sentence, int]]:
    """The sentences of a letter that are its writer's own, each with the log odds that it does something."""
    own = own_sentences(letter)
    acts = acts_of(tuple(sentence.original for sentence in own), "customer" if letter.kind == "other" else letter.kind)
    return [(sentence, log_odds[act]) for sentence, log_odds in zip(own, acts, strict=True)]


def marks_of(text: str, state: State) -> Sequence[Mark]:
    """The goods, counts and sums of money of a text, in their order."""
    goods: tuple[GoodName, ...] = tuple(state.setup.catalog.good_names)
    return scan(prepare(text, goods), goods)


def goods_of(text: str, state: State) -> frozenset[str]:
    """The products that a text names."""
    return frozenset(product.id for product in named_in(marks_of(text, state)))


# Days

_IN_DAYS = re.compile(
    r"\b(?:in|within|for|over|during|after)(?: the)?(?: next| coming| following)? (?P<count>[0-9]{1,2}|[a-z]{1,6}) "
    r"(?P<unit>day|week|fortnight|month)s?\b"
)
_WEEKDAY = re.compile(
    r"\b(?:by|on|until|till|before|through|this|next|come)(?: next| this)? (mon|tue|wed|thu|fri|sat|sun)[a-z]*\b"
)
_MONTH_DAY = re.compile(r"\b(1[0-2]|[1-9])月([0-9]{1,2})日")
_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 90}


def last_day_in(text: str, state: State, days: int) -> int:
    """The last day of the time that a text in lower case names; without one, so many days from today."""
    text = _MONTH_DAY.sub(lambda date: f" {date[2]} {MONTHS[int(date[1]) - 1].lower()} ", text)
    if (day := day_of(text, state)) is not None and day >= state.day:
        return day
    if match := _IN_DAYS.search(text):
        count = number_of(match["count"])
        return state.day + (count * _UNITS[match["unit"]] if count else days)
    if re.search(r"\b(?:today|tonight|right now|right away|at once|immediately)\b|本日|今日", text):
        return state.day + 1
    if re.search(r"\btomorrow\b|明日", text):
        return state.day + 1
    if match := _WEEKDAY.search(text):
        return next_weekday(state, [name.lower() for name in WEEKDAYS].index(match[1]))
    if re.search(r"\b(?:this week|end of the week|the weekend)\b", text):
        return next_weekday(state, 6)
    return state.day + (14 if "next week" in text else 30 if "month" in text else days)


def number_of(word: str) -> int:
    """A small number in figures or words; 0 for another word."""
    return int(word) if word.isdecimal() else NUMBER_WORDS.get(word, 0)


# Customers


def promises_money(letter: Sent) -> bool:
    """Whether a letter to a customer promises the money back."""
    return bool(doing(letter, "refund"))


# Prices of others

_OF_READER = re.compile(r"\byour\b(?! (?:\w+ )?(?:competit|rival))|\byou (?:ask|charge|quote|list|sell|offer)\w*\b")
"""A clause about the reader's own price."""
_DIFFERENCE = re.compile(
    r"^(?: \w+)? ?(?:off|cheaper|less|lower|below|under|more|discount|freight|shipping|delivery|saved?)\b"
)
_ABOUT = re.compile(r"\b(?:about|around|roughly|approximately|approx\.?|some|near|nearly|almost|~)\W*$")


def named_prices(letter: Sent) -> Mapping[str, int]:
    """The prices, in cents a unit by product, that a letter to a supplier says others ask."""
    state, prices = letter.state, dict[str, int]()
    sentences = own_sentences(letter)
    topic = goods_of(own_text(letter), state)
    quotes, before = doing(letter, "quote"), frozenset[str]()
    for sentence in sentences:
        goods = goods_of(sentence.original.lower(), state)
        for clause in clauses(sentence.original.lower()) if sentence in quotes else ():
            if not _OF_READER.search(clause):
                for product, cents in _prices_in(clause, state, goods or before or topic):
                    prices[product] = min(cents, prices.get(product, cents))
        before = goods or before
    return prices


def _prices_in(clause: str, state: State, goods: frozenset[str]) -> Iterator[tuple[str, int]]:
    """The prices of a clause; one that stands beside no product is that of the goods, where these are one."""
    marks = marks_of(clause, state)
    for at, mark in enumerate(marks):
        after, before = (
            " ".join(m.text for m in part) for part in (marks[at + 1 : at + 4], marks[max(0, at - 3) : at])
        )
        if mark.kind != "money" or not mark.value or _DIFFERENCE.match(f" {after}"):
            continue
        product = nearest_product(marks, at)
        id = product.id if product else next(iter(goods)) if len(goods) == 1 else ""
        if id:
            yield id, mark.value + (mark.value // 20 if _ABOUT.search(before) else 0)


# Volumes

_RATE, _SPAN, _BETTER = (pattern("volumes", name) for name in ("rate", "span", "better"))
_CONDITIONAL = pattern("volumes", "conditional")
MOST_DAYS, OPEN_DAYS = 30, 14
"""Days for which a volume is looked at: at most, and where no time is named."""
LEAST_UNITS = 10


@dataclass(frozen=True, slots=True)
class Volume:
    """A quantity that an owner said it would buy."""

    words: str
    units: int
    days: int
    depends: bool
    """Whether it depends on a better price."""
    products: frozenset[str]


def volumes(letter: Sent) -> Iterator[Volume]:
    """The first quantity by a time that a letter to a supplier says its writer will buy, for a better price."""
    state = letter.state
    if not _BETTER.search(own_text(letter).lower()):
        return
    for sentence in doing(letter, "volume"):
        text = sentence.original.lower()
        counts = [mark.value for mark in marks_of(text, state) if mark.kind == "count" and mark.value >= LEAST_UNITS]
        if counts:
            units, days = _volume(text, max(counts))
            yield Volume(sentence.original, units, days, bool(_CONDITIONAL.search(text)), goods_of(text, state))
            return


_EVERY = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "fortnightly": "fortnight",
    "毎日": "day",
    "毎週": "week",
    "毎月": "month",
    "週に": "week",
    "月に": "month",
}


def _volume(text: str, units: int) -> tuple[int, int]:
    """Units, and the days in which they are to be bought."""
    rate, span = _RATE.search(text), _SPAN.search(text)
    if rate:
        every = rate["every"] or _EVERY[rate["adverb"]]
        return (units * 7, 7) if every == "day" else (units, min(MOST_DAYS, _UNITS[every]))
    if span:
        many = number_of(span["count"] or "a") or 1
        return units, min(MOST_DAYS, many * _UNITS[span["unit"] or span["unit2"]])
    return units, OPEN_DAYS


# Threats

_REPORTS = re.compile(
    r"\b(?:report|court|claims?|judge|police|lawyer|authorit\w+|standards|protection|agency|office|regulator|review)\b"
)
"""What who was wronged may do."""


def threat_in(letter: Sent, *, wronged: bool) -> str | None:
    """The sentence of a letter that announces a harm; None without one.

    Who was `wronged` by the reader may say that it will report it.
    """
    threats = doing(letter, "threat")
    return next((own.original for own in threats if not (wronged and _REPORTS.search(own.text))), None)
