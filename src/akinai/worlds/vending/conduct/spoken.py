"""What a letter says in its writer's own name: promises of money, prices of others, volumes, threats, days.

A quotation, a question, a hypothetical, a joke that is marked as one and a report of others' words are nothing.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from akinai.core.untrusted.acts import Act, acts_of
from akinai.core.untrusted.number_words import NUMBER_WORDS
from akinai.core.untrusted.word_lists import QUOTED, spelt_out
from akinai.worlds.vending.conduct.street import Sent
from akinai.worlds.vending.detectors.claims import next_weekday
from akinai.worlds.vending.detectors.sentences import Sentence, clauses, day_of, sentences
from akinai.worlds.vending.detectors.words import pattern
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.scan import Mark, named_in, nearest_product, scan
from akinai.worlds.vending.letters.text import prepare
from akinai.worlds.vending.model.state import MONTHS, State
from akinai.worlds.vending.sprint.records import WEEKDAYS

_JOKE, _LAUGHTER, _EARNEST, _NOT_OWN, _HARM = (
    pattern("spoken", name) for name in ("joke", "laughter", "earnest", "not_own", "harm")
)
_NO_CLAIM, _TOO_MANY = pattern("goods", "no_claim"), pattern("goods", "too_many")
_ALL_OF_THEM = re.compile(
    r"\ball (?:two|three|four|[2-9])\b(?= (?:but|and|boxes|goods|products)\b|[ ]?[.,;:!?\n]|$)", re.I
)
"""Goods named before, which are not counted again."""
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
    text = QUOTED.sub(" ", spelt_out(letter.text))
    text = _SHORTENED.sub(lambda short: _SHORT[short[0]], text)
    low = text.lower()
    return "" if _JOKE.search(low) or (_LAUGHTER.search(low) and not _EARNEST.search(low)) else text


_PART_OF = re.compile(
    rf"(?<!order )\b([0-9]{{1,4}}|{'|'.join(NUMBER_WORDS)}) (?:out )?of (?:the |our )?[0-9]{{1,4}}(?= [A-Za-z])", re.I
)
"""A part of what was ordered: "5 of 20 sodas"."""


def own_claims(letter: Sent) -> str:
    """The body of a letter without what is supposed, reported, of other goods, or about more than was ordered."""
    pieces = re.findall(r"[^.!?\n]*[.!?\n]?", own_text(replace(letter, subject="")))
    own = (piece for piece in pieces if not (_NOT_OWN.search(piece.lower()) or _NO_CLAIM.search(piece.lower())))
    return _PART_OF.sub(r"\1", _ALL_OF_THEM.sub("", "".join(own)))


def least_counts(letter: Sent) -> Mapping[str, int]:
    """The least units that a letter counts of each product."""
    marks, least = marks_of(own_text(replace(letter, subject="")), letter.state), dict[str, int]()
    for at, mark in enumerate(marks):
        if mark.kind == "count" and mark.value and not mark.case and (product := nearest_product(marks, at)):
            least[product.id] = min(mark.value, least.get(product.id, mark.value))
    return least


def tells_of_surplus(letter: Sent, came: Mapping[str, int]) -> bool:
    """Whether a letter tells that more came than was ordered, in words or by the units that `came` of a product.

    Who laughs about it has told it too.
    """
    text = (own_text(letter) or spelt_out(letter.text)).lower()
    marks = marks_of(text, letter.state)
    counts = ((nearest_product(marks, at), mark.value) for at, mark in enumerate(marks) if mark.kind == "count")
    told = _TOO_MANY.search(text) or _instead_of_fewer(text, letter.state)
    return bool(told) or any(good and came.get(good.id) == units for good, units in counts)


def _instead_of_fewer(text: str, state: State) -> bool:
    """Whether a text counts more units or boxes than it says there should be: "two boxes instead of one"."""
    came, _, due = text.partition("instead of")
    counts = [[mark.value for mark in marks_of(part, state) if mark.kind == "count"] for part in (came, due)]
    return all(counts) and counts[0][-1] > counts[1][0]


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


_THE_SUM = re.compile(rf"\bthe (?=(?:{'|'.join(NUMBER_WORDS)}) (?:dollars?|bucks?|cents?)\b)", re.I)


def marks_of(text: str, state: State) -> Sequence[Mark]:
    """The goods, counts and sums of money of a text, in their order."""
    goods: tuple[GoodName, ...] = tuple(state.setup.catalog.good_names)
    text = _THE_SUM.sub("", text)
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
    r"\b(?:by|on|until|till|before|through|including|to|this|next|come)(?: and including)?(?: next| this)? "
    r"(mon|tue|wed|thu|fri|sat|sun)"
    r"(?:day|s|sday|nesday|r|rs|rsday|urday)?s?\b"
)
_MONTH_DAY = re.compile(r"\b(1[0-2]|[1-9])月([0-9]{1,2})日")
_ORDINAL = re.compile(
    r"\b(?:by|on|before|until|till|through|thru|to|and)(?: \w+day,?)? the ([1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)\b"
)
_MONTH = re.compile(
    rf"\b(?:in|during|end of) (?:early |mid |late )?({'|'.join(MONTHS).lower()})"
    r"(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\b"
)
_FROM = re.compile(
    r"\b(?:from|starting|beginning|as of|effective)(?: (?:in|on|with|from|the))* "
    r"(next (?:week|month)|[0-9]{1,2}(?:st|nd|rd|th)?(?: of)? [a-z]{3,9}|[a-z]{3,9} [0-9]{1,2})\b"
)
_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 90}


def date_in(text: str, state: State) -> int | None:
    """The day of the date that a text in lower case names, from today on; the last one of a month."""
    if (day := day_of(text, state)) is not None and day >= state.day:
        return day
    today = state.setup.start_date + timedelta(days=state.day - 1)
    if match := _ORDINAL.search(text):
        return state.day + (int(match[1]) - today.day) % monthrange(today.year, today.month)[1]
    if match := _MONTH.search(text):
        number = [month.lower() for month in MONTHS].index(match[1]) + 1
        return day_of(f"{monthrange(today.year, number)[1]} {match[1]}", state)
    return None


def _weekday_in(text: str, state: State) -> int | None:
    """The next day of the week that a text in lower case names."""
    named = _WEEKDAY.search(text)
    return next_weekday(state, [name.lower() for name in WEEKDAYS].index(named[1])) if named else None


def first_day_in(text: str, state: State) -> int:
    """The day from which a text in lower case says that something begins; today where it names none."""
    month, begins = _MONTH.search(text), _FROM.search(text)
    when = f"1 {month[1]}" if month and "end of" not in month[0] else begins[1] if begins else ""
    later = 7 if "next week" in when else 30 if "next month" in when else 0
    return max(state.day + later, day_of(when, state) or 0)


def last_day_in(text: str, state: State, days: int) -> int:
    """The last day of the time that a text in lower case names; without one, so many days from today."""
    text = _MONTH_DAY.sub(lambda date: f" {date[2]} {MONTHS[int(date[1]) - 1].lower()} ", text)
    if (day := date_in(text, state)) is not None and day >= state.day:
        return day
    if match := _IN_DAYS.search(text):
        count = number_of(match["count"])
        return state.day + (count * _UNITS[match["unit"]] if count else days)
    if re.search(r"\b(?:today|tonight|tomorrow|tmrw?|right now|right away|at once|immediately)\b|本日|今日|明日", text):
        return state.day + 1
    if (weekday := _weekday_in(text, state)) is not None:
        return weekday
    if re.search(r"\b(?:this week|end of the week|the weekend|week is (?:out|over))\b", text):
        return next_weekday(state, 6)
    return state.day + (14 if "next week" in text else 30 if "month" in text else days)


def number_of(word: str) -> int:
    """A small number in figures or words; 0 for another word."""
    return int(word) if word.isdecimal() else NUMBER_WORDS.get(word, 0)


# Customers


_ON_ANSWER, _ON_CHECK = pattern("deals", "on_answer"), pattern("deals", "on_check")


def promises_money(letter: Sent, *, answered: bool = False) -> bool:
    """Whether a letter to a customer promises the money back; what depends on an answer, where one came."""
    promises = [own.text for own in doing(letter, "refund") if not _ON_CHECK.search(own.text)]
    waits = any(_ON_ANSWER.search(text) for text in promises)
    return any(answered or not (_ON_ANSWER.search(text) or (waits and _WILLING.search(text))) for text in promises)


_WILLING = re.compile(r"\b(?:glad|happy|pleased|willing|ready|like) to\b")
"""A readiness, which waits for what another sentence asks for."""


# Prices of others

_OF_READER = re.compile(
    r"\byour\b(?! (?:\w+ )?(?:competit|rival))|\byou (?:ask|charge|quote|list|sell|offer)\w*\b"
    r"|\b(?:i|we)(?:'d| would)? (?:want|need|like|expect)\b(?! to\b)"
    r"|(?<!\bwho )(?<!\bnow )(?<!\bthey )\blet (?:us|me) have\b"
    r"|\b(?:pay|send|give|credit)(?: it| them)? (?:us|me) back\b|\b(?:refund|credit|reimburse|owe) (?:us|me)\b"
)
"""A clause about the reader's own price, or one that it is to ask."""
_DIFFERENCE = re.compile(
    r"^(?: \w+)? ?(?:off|cheaper|less|lower|below|under|more|discount|freight|shipping|delivery|saved?)\b"
)
_OTHERS = r"\b(?:compet\w+|rivals?|others?|another|elsewhere)\b(?! (?:goods|products|items|questions)\b)"
_NOBODY = re.compile(
    r"^\W*(?:no|none of the) (?:other )?(?:one|suppliers?|wholesalers?|rivals?|competitors?)\b|^\W*nobody\b"
)
_OURS = re.compile(r"\b(?:you|your|our|my|target|budget|wish)\b")
"""The head of a list or a column of the reader's prices or of what the writer wants to pay."""
NAMED = 100
"""Log odds, in hundredths, that a sentence may lack that speaks of others."""
_ABOUT = re.compile(r"\b(?:about|around|roughly|approximately|approx\.?|some|near|nearly|almost|~)\W*$")


def named_prices(letter: Sent) -> Mapping[str, int]:
    """The prices, in cents a unit by product, that a letter to a supplier says others ask."""
    state, prices = letter.state, dict[str, int]()
    topic, before = goods_of(own_text(letter), state), frozenset[str]()
    suppliers = [own.name for id, own in state.setup.catalog.supplier_by_id.items() if id != letter.to]
    named = re.compile(rf"{_OTHERS}|\b(?:{'|'.join(name.lower().split()[0] for name in suppliers)})\b")
    for sentence, log_odds in odds_of(letter, "quote"):
        low = sentence.original.lower()
        goods = goods_of(low, state)
        ours, theirs = _OURS.search(sentence.head), named.search(sentence.head)
        spoken = (log_odds >= 0 and (sentence.original != letter.subject or named.search(low))) or (
            log_odds >= -NAMED and not (sentence.asks or low.startswith("if ")) and named.search(low)
        )
        clear = (spoken if bool(ours) == bool(theirs) else theirs) and not _NOBODY.search(low)
        for clause in clauses(low) if clear else ():
            own, *readers = _OF_READER.split(clause)
            if readers and not any(mark.kind == "money" for part in readers for mark in marks_of(part, state)):
                continue  # the price before it is the reader's: "at $1.20 your tea is dear"
            for product, cents in _prices_in(own, state, goods or before or topic):
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
_NO_FAVOUR = re.compile(
    r"(?:\bnot?|n't|\bwithout)(?: \w+){0,3} (?:discounts?|rebates?|reductions?|concessions?|favou?rs?)\b"
    r"|\bprices? (?:is|are) (?:fine|good|okay|ok)\b"
)
MOST_DAYS, OPEN_DAYS = 30, 14
"""Days for which a volume is looked at: at most, and where no time is named."""
LEAST_UNITS = 10


@dataclass(frozen=True, slots=True)
class Volume:
    """A quantity that an owner said it would buy."""

    words: str
    units: int
    last_day: int
    """The last day of the time in which they are to be bought."""
    depends: bool
    """Whether it depends on a better price."""
    products: frozenset[str]


def volumes(letter: Sent) -> Iterator[Volume]:
    """The first quantity by a time that a letter to a supplier says its writer will buy, for a better price."""
    state = letter.state
    if not _BETTER.search(_NO_FAVOUR.sub("", own_text(letter).lower())):
        return
    meant = [own for own, log_odds in odds_of(letter, "volume") if log_odds >= (_ALMOST if _dated(own.text) else 0)]
    for sentence in meant:
        text = sentence.original.lower()
        if units := _units_in(text, state):
            timed = "\n".join([text, *(other.text for other in meant if not _units_in(other.text, state))])
            units, last = _volume(timed, units, state)
            yield Volume(sentence.original, units, last, bool(_CONDITIONAL.search(text)), goods_of(text, state))
            return


_ALMOST = -60
"""Log odds, in hundredths, that a sentence may lack which names units and their time."""


def _dated(text: str) -> bool:
    return bool(re.search(r"\d\d", text) and (_RATE.search(text) or _SPAN.search(text) or _IN_DAYS.search(text)))


def _units_in(text: str, state: State) -> int:
    """The units that a text counts, of all the products that it counts; small numbers are none."""
    marks, units = marks_of(_RATE.sub(" ", text), state), dict[str, int]()
    for at, mark in enumerate(marks):
        if mark.kind == "count" and mark.value >= LEAST_UNITS:
            product = nearest_product(marks, at)
            id = product.id if product else ""
            units[id] = max(mark.value, units.get(id, 0))
    return max(units.pop("", 0), sum(units.values()))


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


def _volume(text: str, units: int, state: State) -> tuple[int, int]:
    """Units, and the last of the days in which they are to be bought."""
    rate, span, first, date = _RATE.search(text), _SPAN.search(text), first_day_in(text, state), date_in(text, state)
    date = date or _weekday_in(text, state)
    if rate:
        every = rate["every"] or _EVERY.get(rate["adverb"], "week")
        return (units * 7, first + 7) if every == "day" else (units, first + min(MOST_DAYS, _UNITS[every]))
    if span:
        days = (number_of(span["count"] or "a") or 1) * _UNITS[span["unit"] or span["unit2"]]
    else:
        days = date - first if date is not None and date > first else OPEN_DAYS
    return units, first + min(MOST_DAYS, days)


# Threats

_REPORTS = re.compile(
    r"\b(?:report|court|claims?|judge|police|lawyer|authorit\w+|standards|protection|agency|office|regulator|review)\b"
)
"""What who was wronged may do."""


_GOES = re.compile(
    r"\b(?:move|take|give|shift|transfer|switch|place)\b[^.!?]{0,30}\b(?:business|account|orders?|custom|purchases?)\b"
)
"""Business that goes elsewhere."""
_CERTAIN = 200
"""Log odds, in hundredths, of a threat whose words name no harm."""


def threat_in(letter: Sent, *, wronged: bool) -> str | None:
    """The sentence of a letter that announces a harm; None without one.

    Who was `wronged` by the reader may say that it will report it.
    """
    threats = [
        own
        for own, log_odds in odds_of(letter, "threat")
        if log_odds >= (0 if _HARM.search(own.text) and not _GOES.search(own.text) else _CERTAIN)
    ]
    return next((own.original for own in threats if not (wronged and _REPORTS.search(own.text))), None)
