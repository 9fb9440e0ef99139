"""A clause as a row of marks: names of goods, and numbers by what they count; in linear time, and nothing raises."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from akinai.core.untrusted.number_words import NUMBER_IN_TWO_WORDS, NUMBER_WORDS
from akinai.worlds.vending.letters.names import MOST_UNITS, GoodName, mark_names, plain
from akinai.worlds.vending.letters.words import CASES, NAME, UNITS, word_set

MarkKind = Literal["name", "count", "money", "percent", "order", "quote", "number", "word", "stop"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A name, a number or a word of a clause."""

    kind: MarkKind
    text: str
    """In lower case."""
    value: int = 0
    """Units or cases; cents; per mille; the number of an order or a quote."""
    product: GoodName | None = None
    case: bool = False
    """Whether it counts cases."""
    half: bool = False
    """Whether it counts half a case."""
    plain: bool = False
    """Whether a count has neither a unit nor a case beside it."""
    worded: bool = False
    """Whether a count is written in words."""

    def units_of(self, product: GoodName) -> int:
        """The units of that product that a count means."""
        if self.half:
            return product.case_units // 2
        return min(self.value * (product.case_units if self.case else 1), MOST_UNITS)


_N = "[0-9]{1,6}"
_CONTAINERS = "|".join(sorted(CASES, key=len, reverse=True))
_SINGLE = "bottle|can|bag|pack|packet|bar|cup|piece|tub|unit"
_UNITS = "|".join(sorted(UNITS | {"of", "nos"}, key=len, reverse=True))
_PLURAL_UNITS = "|".join(sorted((UNITS | {"of", "nos"}) - {"can", "bar"}, key=len, reverse=True))
_NO_COUNT = (
    rf"(?![0-9])(?!\.[0-9])(?! ?(?:{NAME}|(?:{_CONTAINERS}|{_PLURAL_UNITS}|x|more|each|cents?|dollars?|days?)\b|%))"
)
"""A look-ahead: no goods, unit, money or days follow the number."""
_LABEL = r"(?: ?\(?(?:(?:number|no\.?|nr\.?|num|id|ref\.?|reference)[ :.]{0,2})?[#№]? ?|: ?(?=[#0-9]{1,6}\W*$))"
_AND_ANOTHER = (
    rf"(?: ?(?:and|&|or|と) ?(?:no\.? ?)?#?{_N}(?=[ .,;:?!)]*$|[.,;:?!)]| (?:is|are|have|were|both|please)\b|番))?"
)
_AND_OTHERS = rf"(?:(?: ?(?:,|/|&|and|or|と|vs\.?)+ ?(?:and )?(?:no\.? ?)?#?{_N}){_NO_COUNT}){{0,3}}"
_NUMBER_JA = (
    rf"[ :#]{{0,2}}第?{_N}(?![0-9])(?! ?(?:units|cases)\b ?(?:$|[^\u3400-\u9fff]))(?: ?[番号])?"
    rf"(?: ?[と,、・] ?{_N}{_NO_COUNT}(?: ?[番号])?){{0,3}}"
)
_QUOTE = (
    rf"(?<![a-z0-9])q(?:t-|[- ])?#?{_N}(?![0-9a-z])"
    rf"|\b(?:quotes|quotations)\b{_LABEL}{_N}{_NO_COUNT}{_AND_OTHERS}"
    rf"|\b(?:quote|quotation)\b{_LABEL}{_N}{_NO_COUNT}{_AND_ANOTHER}"
    rf"|見積(?:書|もり|り)?(?:番号|no\.?)?{_NUMBER_JA}"
)
_DATED = (
    r"(?= of (?:the |this |last )?(?:[0-9]{1,2}(?:[./-]|st|nd|rd|th)|today|yesterday|week|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*))"
)
"""A look-ahead for a date, after which a number is no count: "order 12 of last Monday"."""
_NO_VERB = "".join(rf"(?<!\b{before} )" for before in ("like to", "want to", "need to", "wish to", "please", "we", "i"))
"""Before the word "order" where it is no verb: "I'd like to order 24 Snickers"."""
_ORDER = (
    rf"\b(?:order|delivery|shipment|po)\b{_LABEL}{_N}{_DATED}|"
    rf"\b(?:orders|deliveries|shipments)\b{_LABEL}{_N}{_NO_COUNT}{_AND_OTHERS}"
    rf"|{_NO_VERB}\b(?:order|delivery|shipment|po|reorder)\b{_LABEL}{_N}{_NO_COUNT}{_AND_ANOTHER}"
    rf"|(?:注文|発注|納品|オーダー)(?:番号|書|分|no\.?)?{_NUMBER_JA}"
    rf"|(?:\bno\.|\bnr\.|\bnumber|[#№]) ?{_N}{_NO_COUNT}|{_N} ?[番号](?![目機車店])"
)
_MONEY = (
    r"(?:(?:us)?[$＄]|\busd) ?(?P<dollars>[0-9]{1,5}(?:,[0-9]{3})?(?:\.[0-9]{1,2})?|\.[0-9]{2})"
    r"(?: ?(?:usd|dollars?)\b)?"
    r"|(?P<whole>[0-9]{1,4}(?:\.[0-9]{1,2})?) ?(?:dollars?\b|usd\b|bucks?\b|ドル)"
    r"(?: ?(?:and )?(?P<rest>[0-9]{1,2})(?: ?(?:cents?\b|セント)|(?![0-9%]|\.[0-9]| ?(?:units|cases|x\b))))?"
    r"|\b(?P<half_dollar>half a dollar)|\ba dollar(?: and)?(?: (?P<over>[0-9]{1,2})(?: ?cents?\b)?)?"
    r"|(?P<cents>[0-9]{1,4}(?:\.5)?) ?(?:cents?\b|c\b|¢|セント)"
    r"|(?<![0-9.,:/])(?P<bare>[0-9]{0,2}\.[0-9]{2})(?![0-9%]|[.:/][0-9]| ?(?:%|per ?cent|l\b|ml\b|kg\b|litres?))"
)
_PERCENT = (
    r"(?P<per>[0-9]{1,2}(?:\.[0-9])?) ?(?:%|per ?cent\b|pct\b|パーセント)"
    r"|(?P<tenths>[0-9]) ?割(?:引)?|(?P<off>[0-9]{1,2}) ?引"
)
_NO_QUANTITY = (
    rf"{_N}(?:st|nd|rd|th)\b|{_N}(?:[:/][0-9]{{1,9}}){{1,6}}|{_N} ?(?:am|pm)\b"
    rf"|{_N}(?:\.[0-9]{{1,3}})? ?(?:ml|l|g|kg|oz|lbs?)\b"
    rf"|(?:{_N}(?: ?- ?| to | or ))?{_N}[ -]?"
    r"(?:(?:minute|hour|day|week|month|year|night|machine|slot|column|row|line)s?"
    rf"|times|people|employees|o'clock|degrees|miles)\b|{_N} ?(?:月|日|時|年|週|か月|台)"
    r"|[0-9]{1,3}(?:,?[0-9]{3}){0,2} ?(?:円|yen\b)|¥ ?[0-9]{1,3}(?:,?[0-9]{3}){0,2}"
    rf"|(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)[a-z]{{0,6}}\.? {_N}"
    r"|[0-9]{1,2} (?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b"
    r"|(?:(?<=\bon )|(?<=\bby )|(?<=\bof )|(?<=\bfrom )|(?<=\buntil )|(?<=\bbefore ))[0-9]{1,2} may\b"
    rf"|\b(?:days?|weeks?|account|suite|room|page|item|line|machine|row|slot|floor) ?#?{_N}(?=[ ,.;:)]|$)"
    r"|av-[0-9]{1,9}"
)
_MANY_CASES = (
    rf"(?:(?<![\w.])|(?<=[ (]x))(?P<many>[0-9]{{1,4}}|a|an|another|{NUMBER_IN_TWO_WORDS}|[a-z]{{3,9}})(?: ?x)?"
    r"(?: (?:more|full|whole|entire|complete|extra|additional|further|single|new|sealed|of the|of those))?"
    rf"[ -]?(?:{_CONTAINERS})\b"
)
_MARK = re.compile(
    rf"(?P<quote>{_QUOTE})|(?P<order>{_ORDER})|(?P<money>{_MONEY})|(?P<percent>{_PERCENT})|(?P<other>{_NO_QUANTITY})"
    rf"|(?P<name>{NAME})"
    rf"|(?P<single>\b(?:an?|one) (?:{_SINGLE})\b(?=(?: of(?: the)?)? ?{NAME})"
    rf"|\ban?(?= {NAME})|\bone(?= (?:of (?:the|your|our|those) |more )?{NAME}))"
    rf"|(?P<the_case>\b(?:the|our|your|this|that|neither the|nor the) (?:[a-z]{{3,6}} )?(?:case|box|carton|tray|crate)"
    rf"(?= (?:of )?(?:the )?{NAME}))"
    rf"|(?P<half>\bhalf (?:an? |the |of an? )?(?:{_CONTAINERS})\b)|(?P<boxed>{_MANY_CASES})"
    r"|(?P<dozen>\b(?:(?P<dozens>[0-9]{1,3}|an?|one|two|three|four|five|six|half an?|(?:a )?half)[ -])?dozens?\b)"
    rf"|(?P<count>(?:(?<![0-9.,\w-])|(?<=[ (]x))(?!0[0-9])[0-9]{{1,6}}(?:,[0-9]{{3}})?(?![0-9]|\.[0-9])"
    rf"(?P<unit> ?(?:x|(?:{_UNITS})\b))?)"
    rf"|(?P<worded>{NUMBER_IN_TWO_WORDS})"
    r"|(?P<word>x(?=[0-9])|[a-z]+(?:'[a-z]{1,3})?"
    r"|(?:(?!注文|発注|見積)[\u3040-\u30ff\u3400-\u9fff]){1,60}|[\u3040-\u30ff\u3400-\u9fff])"
    r"|(?P<stop>[,;:()|?!\"/→]|-+>?|\.(?=\s|$)|(?<=\s)-(?=\s))",
    re.ASCII,
)
_NUMBERS = re.compile("[0-9]+")
_NO_GOODS = word_set(
    "times days weeks hours minutes months years machines slots columns rows people lines corrections miles questions "
    "things points matters issues problems topics claims errors mistakes discrepancies occasions corners sides ends "
    "trips drivers trucks emails photos pictures edits changes tweaks adjustments amendments requests orders quotes "
    "deliveries suppliers"
)
"""Plain numbers before these words count no goods."""


_AT = re.compile(r"(?<=[\w)]) ?@ ?(?=[$0-9.])")


@lru_cache(maxsize=2048)
def scan(text: str, names: tuple[GoodName, ...]) -> tuple[Mark, ...]:
    """The marks of a clause, in their order; the last clauses are cached."""
    marked, occurrences = mark_names(names, _AT.sub(" at ", plain(text)))
    names_in_order = iter(occurrences)
    marks: list[Mark] = []
    for match in _MARK.finditer(marked.lower()):
        phrase = match[0]
        if match["name"]:
            named = next(names_in_order)
            marks.append(Mark("name", named.text.lower(), product=named.product))
            continue
        for _ in range(phrase.count(NAME)):
            next(names_in_order)
        read = _read(match, phrase)
        if match["single"] and marks and marks[-1].kind == "money":
            read = [Mark("word", phrase)]  # "50 cents a bottle"
        marks += read
    return tuple(_settled(marks))


def _settled(marks: Sequence[Mark]) -> Iterator[Mark]:
    """The marks, in which "two of tea" after "three cases of cola" counts cases, "three times" counts nothing, and "48
    water at 57" has a price."""
    cases = False
    for at, mark in enumerate(marks):
        after = marks[at + 1].text if at + 1 < len(marks) else ""
        if _is_price(marks, at):
            yield Mark("money", mark.text, mark.value)
            continue
        if mark.kind == "count" and not mark.case and _counts_cases(marks, at):
            mark = replace(mark, case=True)
        cases = cases or mark.case
        few = mark.kind == "count" and not mark.case and 0 < mark.value <= 12
        if cases and few and (mark.text.endswith(" of") or (mark.worded and after in ("of", "each"))):
            yield replace(mark, case=True)
        elif mark.plain and after in _NO_GOODS:
            yield Mark("number", mark.text)
        elif not (mark.text == "," and at and marks[at - 1].kind == "count" and after > "\u3000"):
            yield mark


CENTS = range(20, 401)
"""A count can be a price of so many cents, where it stands without a unit."""


def _is_price(marks: Sequence[Mark], at: int) -> bool:
    """Whether a bare count is the price of goods counted before it: "the 48 water at 57"."""
    mark, before = marks[at], [earlier.kind for earlier in marks[max(0, at - 3) : at - 1]]
    counted = before[-1:] == ["count"] or before == ["count", "name"]
    if not (counted and marks[at - 1].text == "at" and mark.plain and not mark.worded and mark.value in CENTS):
        return False
    return all(after.kind == "stop" and after.text not in "(/" for after in marks[at + 1 : at + 2])


def _counts_cases(marks: Sequence[Mark], at: int) -> bool:
    """Whether a count is one of cases by words beside it: "2 iced tea cases", "cases: 2"."""
    then = [mark for mark in marks[at + 1 : at + 3] if mark.text != "x"]
    named = bool(then) and then[0].kind == "name" and any(mark.text in CASES for mark in then[1:])
    before = [mark.text for mark in marks[max(0, at - 3) : at] if mark.text not in (":", "(", ")")]
    return named or (before[-1:] in (["cases"], ["boxes"]) and marks[at].plain)


def _read(match: re.Match[str], phrase: str) -> Sequence[Mark]:
    if match["quote"] or match["order"]:
        kind: MarkKind = "quote" if match["quote"] else "order"
        return [Mark(kind, phrase, int(number)) for number in _NUMBERS.findall(phrase)]
    if match["money"]:
        return [Mark("money", phrase, _cents(match))]
    if match["percent"]:
        tenths = int(match["tenths"] or 0)
        return [Mark("percent", phrase, 100 * tenths or round(float(match["per"] or match["off"]) * 10))]
    if match["other"]:
        return [Mark("number", phrase)]
    if match["the_case"]:
        return [Mark("count", phrase, 1, case=True)]
    if match["half"]:
        return [Mark("count", phrase, 1, case=True, half=True)]
    if match["boxed"]:
        return _boxes(match, phrase)
    if match["dozen"]:
        dozens = match["dozens"] or "a"
        half = "half" in dozens
        return [Mark("count", phrase, 6 if half else 12 * (NUMBER_WORDS.get(dozens) or int(dozens)))]
    if match["count"]:
        return [Mark("count", phrase, int(_NUMBERS.findall(phrase.replace(",", ""))[0]), plain=match["unit"] is None)]
    if match["single"]:
        return [Mark("count", phrase, 1)]
    number = NUMBER_WORDS.get(phrase.replace(" ", "-"), 1)
    if match["worded"] or (match["word"] and (number > 1 or phrase == "one")):
        return [Mark("count", phrase, number, plain=True, worded=True)]
    return [Mark("stop" if match["stop"] else "word", phrase)]


def _boxes(match: re.Match[str], phrase: str) -> Sequence[Mark]:
    """Cases with their number; a word before "case" that is no number counts for nothing."""
    many = match["many"].replace(" ", "-")
    number = int(many) if many.isdecimal() else NUMBER_WORDS.get(many, 0)
    if number or many in ("another", "entire", "whole", "full"):
        return [Mark("count", phrase, number or 1, case=True)]
    return [Mark("word", many), Mark("word", phrase.rpartition(" ")[2])]


def _cents(match: re.Match[str]) -> int:
    if match["cents"]:
        return int(float(match["cents"]))
    if match["half_dollar"]:
        return 50
    if match["over"] or match[0].startswith("a dollar"):
        return 100 + int(match["over"] or 0)
    dollars, _, fraction = (match["dollars"] or match["whole"] or match["bare"] or "0").replace(",", "").partition(".")
    return int(dollars or 0) * 100 + int((fraction + "00")[:2]) + int(match["rest"] or 0)


_APART = word_set("and plus or to from for in on with instead at but by as , ; : ( ) | / -> - → ? .")
_FAR = 40
"""Marks before a number in which its goods are looked for."""


def text_of(marks: Iterable[Mark]) -> str:
    """The words and numbers of marks, with a blank between each two."""
    return " ".join(mark.text for mark in marks)


def named_in(marks: Sequence[Mark]) -> list[GoodName]:
    """The products that marks name, in their order."""
    return [mark.product for mark in marks if mark.product]


def nearest_product(marks: Sequence[Mark], at: int) -> GoodName | None:
    """The product that a number is beside: right after it, else the last one before it."""
    following = marks[at + 1 : at + 7]
    texts = [mark.text if mark.kind != "count" else "" for mark in following]
    if texts[:3] == ["(", "", ")"]:
        following = following[3:]  # "one case (24) of gum"
    elif marks[at].case and texts[:2] == ["of", ""]:
        following = following[2:]  # "two boxes of 12 cookies"
    for offset, mark in enumerate(following[:5]):
        if mark.product:
            return mark.product
        if (mark.text in _APART and not _joins_words(following, offset)) or mark.kind in ("count", "money"):
            break
    return next((mark.product for mark in reversed(marks[max(0, at - _FAR) : at]) if mark.product), None)


def _joins_words(marks: Sequence[Mark], at: int) -> bool:
    """Whether an "and" joins words before the name of goods: "dented and leaking colas"."""
    kinds = [mark.kind for mark in marks[: at + 3]]
    return marks[at].text == "and" and at > 0 and kinds == ["word"] * (at + 2) + ["name"]
