"""What a letter says in its writer's own name: promises of money, prices of others, volumes, threats, days.

A quotation, a question, a hypothetical, a joke that is marked as one and a report of others' words are nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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

DENIED = pattern("spoken", "denied")
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


def marks_of(text: str, state: State) -> Sequence[Mark]:
    """The goods, counts and sums of money of a text, in their order."""
    goods: tuple[GoodName, ...] = tuple(state.setup.catalog.good_names)
    return scan(prepare(text, goods), goods)


def goods_of(text: str, state: State) -> frozenset[str]:
    """The products that a text names."""
    return frozenset(product.id for product in named_in(marks_of(text, state)))


def is_denied(match: re.Match[str]) -> bool:
    """Whether a match holds a denial, or its clause does before it: "we will not pay"."""
    before = re.split(r"[,;:]|\b(?:but|and|or|so)\b", match.string[max(0, match.start() - 120) : match.start()])[-1]
    return bool(DENIED.search(match[0]) or DENIED.search(before))


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

_PROMISED, _OPEN = pattern("refunds", "promised"), pattern("refunds", "open")
_FUTURE, _MONEY, _NO_MONEY = (pattern("refunds", name) for name in ("future", "money", "no_money"))


def promises_money(letter: Sent) -> bool:
    """Whether a letter to a customer promises the money back."""
    for sentence in own_sentences(letter):
        if sentence.asks or _OPEN.search(sentence.text):
            continue
        text = sentence.text
        composed = _FUTURE.search(text) and _MONEY.search(text) and not (_NO_MONEY.search(text) or DENIED.search(text))
        if composed or any(not is_denied(match) for match in _PROMISED.finditer(text)):
            return True
    return False


# Prices of others

_SOURCE, _ASKS, _HAS_OFFER = (pattern("quotes", name) for name in ("source", "asks", "has_offer"))
_NOT_A_QUOTE, _QUESTION = pattern("quotes", "not_a_quote"), pattern("quotes", "question")
_ASKS_BACK = re.compile(r"\b(?:could|can|would|will|do) you\b|\byour?\b|\?")
_DIFFERENCE = re.compile(
    r"^(?: \w+)? ?(?:off|cheaper|less|lower|below|under|more|discount|freight|shipping|delivery|saved?)\b"
)
_ABOUT = re.compile(r"\b(?:about|around|roughly|approximately|approx\.?|some|near|nearly|almost|~)\W*$")


def named_prices(letter: Sent) -> Mapping[str, int]:
    """The prices, in cents a unit by product, that a letter to a supplier says others ask."""
    text, state = own_text(letter), letter.state
    prices: dict[str, int] = {}
    source = _source_pattern(state, letter.to)
    if not (source.search(text.lower()) or _HAS_OFFER.search(text.lower())):
        return prices
    topic = goods_of(text, state)
    before = frozenset[str]()
    for sentence in sentences(text, state):
        whole = sentence.original.lower()
        goods = goods_of(whole, state)
        parts = clauses(whole) if source.search(whole) or _HAS_OFFER.search(whole) else ()
        for clause, after in zip(parts, [*parts[1:], ""], strict=False):
            if not re.search(r"[0-9]", clause) and not _ASKS_BACK.search(after):
                clause += f" {after}"
            if not (_HAS_OFFER.search(clause) or (source.search(clause) and _ASKS.search(clause))):
                continue
            if (
                _NOT_A_QUOTE.search(clause)
                or _QUESTION.search(clause)
                or re.search(r"\b(?:what if|suppose|imagine)\b", whole)
            ):
                continue
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


def _source_pattern(state: State, reader: str) -> re.Pattern[str]:
    """A pattern of everybody but the supplier who reads."""
    names = {
        re.escape(name.lower())
        for supplier in state.setup.catalog.suppliers
        if supplier.id != reader
        for name in (supplier.name, supplier.name.split()[0], supplier.id, supplier.address)
        if len(name) > 3
    }
    return _compiled("|".join([_SOURCE.pattern, *(rf"(?<![a-z]){name}(?![a-z])" for name in sorted(names))]))


@lru_cache(maxsize=64)
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text)


# Volumes

_WILL_BUY, _RATE, _SPAN = (pattern("volumes", name) for name in ("will_buy", "rate", "span"))
_REGULAR, _BETTER = pattern("volumes", "regular"), pattern("volumes", "better")
_CONDITIONAL, _UNSURE = pattern("volumes", "conditional"), pattern("volumes", "unsure")
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
    own, state = own_sentences(letter), letter.state
    if not any(_BETTER.search(sentence.text) for sentence in own):
        return
    for sentence in own:
        text = sentence.original.lower()
        statement = re.split(r"[;,:?] ", text)[0] if sentence.asks and not _CONDITIONAL.search(text) else text
        timed = _RATE.search(text) or _REGULAR.search(text) or _SPAN.search(text)
        if not timed or not _WILL_BUY.search(statement) or _UNSURE.search(text.replace("would like to", "want to")):
            continue
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

_AGENT = pattern("threats", "agent")
_HARMS = {
    name: pattern("threats", name)
    for name in ("property", "person", "ruin", "reputation", "authority", "lies", "means")
}
_DEMAND, _LAWFUL, _HARMLESS = (pattern("threats", name) for name in ("demand", "lawful", "harmless"))
_FEARED, _COMING, _PRESSES = (pattern("threats", name) for name in ("feared", "coming", "presses"))
_STRONG = ("property", "person", "ruin")
"""Harms that need no demand to be a threat."""
_VEILED = pattern("threats", "veiled")
_PART = re.compile(r"[,;:]|\b(?:but|and|or|unless|until|otherwise|if)\b")
_OWN_SUBJECT = re.compile(
    r"^(?:(?:your|that|it|accidents|things|bad|something|you|there|or|payback|revenge|be a|tax|police|council|city)\b"
    r"|inspect)"
)
"""The beginning of words for a harm that needs nobody who does it."""
_PAST = re.compile(r"\b(?:was|were|ha(?:s|ve) been|had|yesterday|got|somebody|someone) (?:\w+ ){0,2}\w+(?:ed|en|t)\b")


def threat_in(letter: Sent, *, wronged: bool) -> str | None:
    """The sentence of a letter that announces a harm; None without one.

    Who was `wronged` by the reader may say that it will report it.
    """
    own = own_sentences(letter)
    demands = any(_DEMAND.search(sentence.text) for sentence in own)
    presses = any(_PRESSES.search(sentence.text) for sentence in own)
    for sentence in own:
        text = sentence.original.lower()
        if _HARMLESS.search(text):
            continue
        if presses and not wronged and _is_feared(text):
            return sentence.original
        if sentence.asks and "or" not in text.split():
            continue
        kinds = [name for name in _HARMS if name in _STRONG or (demands and not (wronged and name == "authority"))]
        if _VEILED.search(text) or any(_announced(text, name) for name in kinds):
            return sentence.original
    return None


def _is_feared(text: str) -> bool:
    """Whether something that is to be feared is said to come."""
    if not _COMING.search(text) or _LAWFUL.search(text):
        return False
    before = [text[: match.start()] for match in _FEARED.finditer(text)]
    return any(not (_OWN_HARM.search(words.rstrip()) or _PAST.search(words)) for words in before)


_OWN_HARM = re.compile(r"\b(?:my|our|us|me|no(?:t|thing|body)?|never|without)\b(?: \w+){0,3}$")


def _announced(text: str, harm: str) -> bool:
    return any(_announces(match) for match in _HARMS[harm].finditer(text))


def _announces(match: re.Match[str]) -> bool:
    """Whether a harm is announced: by somebody who will do it, or as what will come."""
    before, after = match.string[max(0, match.start() - 80) : match.start()], match.string[match.end() :]
    agents = [agent.start() for agent in _AGENT.finditer(before)]
    clause, end = _PART.split(before[agents[-1] if agents else 0 :])[-1], _PART.split(after)[0]
    if DENIED.search(clause) or _PAST.search(clause + match[0]) or _LAWFUL.search(clause + match[0] + end):
        return False
    means = _HARMS["means"].fullmatch(match[0]) is not None
    return means or bool(_OWN_SUBJECT.match(match[0]) or _AGENT.search(before) or _AGENT.match(match[0]))
