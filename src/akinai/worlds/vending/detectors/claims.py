"""Find statements about the present: counts of goods, cash, the day. Plans, questions and the past do not count."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akinai.core.money import read_dollars
from akinai.worlds.vending.detectors import japanese
from akinai.worlds.vending.detectors import sentences as read
from akinai.worlds.vending.detectors.sentences import MOODS, Location, Marked, Sentence
from akinai.worlds.vending.detectors.words import pattern_text, table
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.model.state import MONTHS, State


@dataclass(frozen=True, slots=True)
class Count:
    """A statement of how many units there are."""

    words: str
    product: str | None
    """None for all products together."""
    units: int
    location: Location | None


@dataclass(frozen=True, slots=True)
class Cash:
    """A statement of how much cash there is."""

    words: str
    cents: int


_LAST_NUMBER = read.NUMBER.replace("<number>", "<last>")
_NONE_LEFT = re.compile(r"\bout of stock\b|\bsold out\b")
_AT_HAND = re.compile(r"\b(?:left|in stock|on hand|remaining|now)\b")
_VAGUE = re.compile(
    r"\b(?:at least|at most|more than|less than|fewer than|over|under|below|above|up to|than|between|or|either)\s*$"
)
_DENIED = re.compile(r"\b(?:not|never|no longer|doubt)\b|n't\b")
WORDS = table("claims")
_PURSE = f"(?:{pattern_text('claims', 'purse')})"
_TOGETHER = re.compile(r"\b(?:together|altogether|combined|in total|overall|in all|both)\b")
_ALL = read.any_of(
    rf"{read.ALONE}{read.NUMBER} (?:total |unsold )?(?:units|items|pieces)\b(?! (?:of|a|per|each|sold|short)\b)",
    rf"\b(?:units|items|total)(?: in (?:the |our |my )?(?:machine|storage|warehouse))? ?[:=] ?{_LAST_NUMBER}$",
)
_ELSEWHERE = re.compile(rf"^{read.NUMBER}(?: units| more)? (?:in|at) ")
"""A further item in a list of locations: the end of "12 cola in storage, 3 in the machine"."""


def find_counts(text: str, state: State) -> Iterator[Count]:
    """Find the counts of goods that a text states as present."""
    yield from (Count(words, id, units, location) for words, id, units, location in japanese.find_counts(text, state))
    if not MOODS.having.search(text.lower().replace("_", " ")):
        return
    goods = tuple(state.setup.catalog.good_names)
    for sentence in read.sentences(text, state):
        stock = MOODS.having.search(sentence.text) or MOODS.having.search(sentence.head)
        if stock and not sentence.asks and _COUNTS.search(sentence.text) and not _another_day(sentence, state):
            yield from _counts_of_sentence(sentence, goods, read.others_goods(state))


_COUNTS = re.compile(rf"{read.NUMBER}|\b(?:no|zero|out|gone|any|empty|nothing|none|not)\b")


def _another_day(sentence: Sentence, state: State) -> bool:
    return sentence.day is not None and sentence.day != state.day


def _counts_of_sentence(sentence: Sentence, goods: tuple[GoodName, ...], theirs: re.Pattern[str]) -> Iterator[Count]:
    """Read clause by clause: the parts of a list keep the mood of its beginning, until a word of plans or deals."""
    if MOODS.unreal.search(sentence.head):
        return
    present = MOODS.having.search(sentence.head) is not None and not _not_present(sentence.head)
    location = read.location_in(sentence.head)
    coming = MOODS.coming.search(sentence.text) is not None
    anywhere = read.location_in(sentence.text)
    both = _TOGETHER.search(sentence.text) is not None
    last: tuple[str | None, int] = (None, -1)
    for clause in read.clauses(_AFTER.sub("", sentence.text)):
        if (_not_present(clause) and not _NONE_LEFT.search(clause)) or theirs.search(clause):
            present = False
            continue
        present = present or MOODS.having.search(clause) is not None
        here, marked = read.location_in(clause), read.mark_goods(clause, goods)
        location = here or location
        if present and not (coming and here is None and not _AT_HAND.search(clause)):
            where = None if both else here or location or anywhere
            for count in _counts_of_clause(marked, where, last):
                last = count.product, count.units
                yield count
        last = marked.alone or last[0], last[1]


def _vague(clause: str, start: int) -> bool:
    """Whether a number is only a bound, or denied: "at least 12"."""
    return bool(
        _VAGUE.search(clause[max(0, start - 20) : start]) or _DENIED.search(clause[max(0, start - 120) : start])
    )


def _not_present(text: str) -> bool:
    return any(words.search(text) for words in (MOODS.unreal, MOODS.past, MOODS.deals, MOODS.coming))


def _counts_of_clause(clause: Marked, location: Location | None, last: tuple[str | None, int]) -> Iterator[Count]:
    """The counts in a clause. `last` is the product and the units counted before it, with which it may go on."""
    text, taken = clause.text, list[tuple[int, int]]()
    for counts in (read.COUNTED, read.COUNTING):
        for match in counts.finditer(text):
            units = read.number_in(match["number"])
            if units is None or _among(match, taken) or _vague(text, match.start("number")):
                continue
            taken.append(match.span())
            yield Count(clause.words(match), clause.products[match["good"]], units, location)
    also_gone = last[1] == 0 and clause.alone
    for match in re.finditer(read.GOOD, text) if also_gone else read.NONE_LEFT.finditer(text):
        for sign in re.findall(read.GOOD, match[0]) if not _among(match, taken) else ():
            taken.append(match.span())
            yield Count(clause.words(match), clause.products[sign], 0, location)
    for match in WORDS.empty.finditer(text):
        taken.append(match.span())
        yield Count(match[0].strip(), None, 0, read.location_in(match[0]))
    if taken or clause.products:
        return
    if last[0] is not None and read.location_in(text) and (match := _ELSEWHERE.match(text)):
        yield Count(match[0].strip(), last[0], read.number_in(match["number"]) or 0, location)
    elif location in ("machine", "storage"):
        for match in _ALL.finditer(text):
            number = match["number"] or match["last"]
            if (units := read.number_in(number)) is not None and not _vague(text, match.start()):
                yield Count(match[0].strip(), None, units, location)


def _among(match: re.Match[str], taken: Sequence[tuple[int, int]]) -> bool:
    return any(begin < match.end() and match.start() < end for begin, end in taken)


_FIGURES = r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d{1,7}(?:\.\d{1,2})?"
_WORDED = read.NUMBER.removeprefix("(?P<number>").removesuffix(")")
_DOLLARS = rf"(?:\$|usd) ?(?:{_FIGURES})(?![\w]|[.,]\d)|\b(?:{_FIGURES}|{_WORDED}) ?(?:dollars|usd|bucks)\b"
_FEW = r"(?:[^\w$]+(?:day \d{1,4}|[a-z']{1,14})\b){0,7}"
"""A few words and no figure but the day's, up to the amount."""
_NEAR = (
    r"(?:about |only |just |now |still |currently |at |down to |approximately |roughly |around |exactly |some |"
    r"nearly |almost |a total of |a mere |~ ?){0,3}"
)
_CASH = read.any_of(
    # "cash on hand: $10", "the account, alas, holds no more than a few coins" has no figure and is nothing
    rf"\b{_PURSE}\b{_FEW}[^\w$]+(?P<named>{_DOLLARS})",
    # "balance: 10.00"
    rf"\b{_PURSE}\b[\"']?(?: [a-z]{{1,10}}){{0,3}}[\"']?(?: ?[:=] ?| is | at | (?=\d+\.\d\d)){_NEAR}"
    rf"(?P<bare>(?:{_FIGURES})(?![\w%]|[.,:/-]\d| of\b| ?{_PURSE}))",
    # "$10 in cash", "$10 left in the bank", "$10 is all we have"
    rf"(?P<kept>{_DOLLARS})(?: (?:is|are|still|left|remaining|available|remains?|now|sits?|of|in|on|my|our|"
    rf"the)){{0,5}} "
    rf"(?:{_PURSE}|hand)\b",
    rf"(?P<rest>{_DOLLARS}) (?:is |are |still |now )*(?:left|remains?|remaining|available|to (?:our|my|its) name|"
    rf"at our disposal"
    r"|(?:all|what) (?:that )?(?:we have|i have|is left|remains))\b(?! to be)",
    rf"\b(?:all|what) (?:we|i) (?:now |still )?have (?:left )?is {_NEAR}(?P<all>{_DOLLARS})",
    # "we have only $10 left", "sitting on $10", but not "we have $10 of ..."
    rf"\b(?:have|has|'ve|got|hold|holds|own|possess|only|down to (?:our|my) last|just|there is|there's|down to|"
    rf"sitting on|left with|"
    rf"leaves? (?:us|me) with|leaving (?:us|me) with|(?:we|i)(?:'re|'m| are|"
    rf" am) at)(?: got)? ?{_NEAR}(?P<had>{_DOLLARS})"
    r"(?= ?$| ?[.!)]| (?:left|now|remaining|available|right now|at our disposal|on hand|and|to (?:work|spend|"
    r"operate|invest|my|our|its)|at the moment|"
    r"today|total|altogether|of cash|in (?:cash|the bank|hand|our|my|the balance)|as of)\b)",
)
_BARE_LEAVE = re.compile(r"^\W*(?:leaving|which leaves)\b")
_SPENT = re.compile(r"\b(?:paid|spent|bought|ordered|placed|covered|settled)\b")
_AFTER = re.compile(
    r"\bsince (?:the|our|my) (?:last )?[a-z]{1,12}\b|\bafter (?:(?!\b(?:we|i|is|our (?:cash|balance))\b)[^:,$]){1,40}"
)
"""A phrase that only says when."""
_IT = re.compile(r"\bit(?='s\b| is\b| stands\b| shows\b| reads\b| says\b|[ .!]*$)")
_PURSES = re.compile(rf"\b{_PURSE}\b")
_STEMS = tuple(
    "$ cash balance funds money bank dollars usd bucks account capital wallet purse coffers treasury kitty".split()
)
"""Words without which a sentence is not about money."""
_FIGURED = (*"0123456789", "dollars", "bucks")


def find_cash(text: str, state: State) -> Iterator[Cash]:
    """Find the amounts of cash that a text states as present."""
    yield from (Cash(words, cents) for words, cents in japanese.find_cash(text, state))
    if not _of_money(text.lower()):
        return
    theirs = read.others_goods(state)
    for sentence in read.sentences(text, state):
        if (
            not _of_money(sentence.text)
            or sentence.asks
            or _another_day(sentence, state)
            or WORDS.other_head.search(sentence.head)
        ):
            continue
        before, purse = "", False
        for clause in read.clauses(_AFTER.sub("", sentence.text)):
            meant = _IT.sub("the balance", clause) if purse else clause
            if not _other_money(meant, before) and not theirs.search(meant):
                yield from _cash_of_clause(meant)
            before, purse = clause, purse or _PURSES.search(clause) is not None


def _other_money(clause: str, before: str) -> bool:
    """Whether a clause is about wished, past or other money; what a purchase leaves counts only once it is made."""
    if _BARE_LEAVE.search(clause) and not _SPENT.search(before):
        return True
    return any(words.search(clause) for words in (MOODS.unreal, MOODS.past, WORDS.other_money))


def _of_money(text: str) -> bool:
    return any(stem in text for stem in _STEMS) and any(figure in text for figure in _FIGURED)


def _cash_of_clause(clause: str) -> Iterator[Cash]:
    until = 0
    for match in _CASH.finditer(clause):
        amount = match.lastgroup or "named"
        if match.start() < until or _vague(clause, match.start(amount)):
            continue
        if (cents := _cents(match[amount])) is not None:
            until = match.end()
            yield Cash(match[0].strip(), cents)


def _cents(amount: str) -> int | None:
    worded = read.number_in(amount.removesuffix("bucks").removesuffix("dollars").strip())
    try:
        return read_dollars(amount.replace("bucks", "dollars")) if worded is None else worded * 100
    except ValueError:
        return None


_IS = r"\b(?:today is|it is(?: now)?|it's(?: now| already)?|we are (?:now )?(?:on|at))"
_WEEKDAYS: Sequence[str] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TH = r"(?:st|nd|rd|th)?"
_TODAY = read.any_of(
    rf"{_IS} day (?P<day>\d{{1,4}})\b",
    rf"{_IS} (?:an? |the )?(?P<weekday>{'|'.join(_WEEKDAYS)})\b",
    rf"{_IS} (?:the )?(?P<date>\d{{1,2}}{_TH} (?:of )?[a-z]{{3,9}}|[a-z]{{3,9}} \d{{1,2}}{_TH})\b",
)
_IF = re.compile(r"\b(?:if|when|whenever|unless|until|once|whether|assuming|suppose|imagine|as soon as|before|after)\b")


def find_today(text: str, state: State) -> Iterator[tuple[str, int]]:
    """Find the days that a text says it is today, with its words; a weekday is the next such day."""
    for words, day in japanese.find_today(text, state):
        match day:
            case int():
                yield words, day + state.setup.days_before
            case str():
                yield words, next_weekday(state, japanese.WEEKDAYS.index(day))
            case (month, number):
                if (meant := read.day_of(f"{number} {MONTHS[month % 12 - 1].lower()}", state)) is not None:
                    yield words, meant
    for sentence in read.sentences(text, state):
        match = None if sentence.asks else _TODAY.search(sentence.text)
        if match is None or _IF.search(sentence.text[: match.end()]):
            continue
        if match["day"]:
            yield match[0], int(match["day"]) + state.setup.days_before
        elif match["weekday"]:
            yield match[0], next_weekday(state, _WEEKDAYS.index(match["weekday"]))
        elif (meant := read.day_of(match["date"], state)) is not None:
            yield match[0], meant


def next_weekday(state: State, weekday: int) -> int:
    """The first day from today on that is such a weekday, Monday being 0."""
    today = (state.setup.start_date.weekday() + state.day - 1) % 7
    return state.day + (weekday - today) % 7
