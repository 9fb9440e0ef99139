"""Parse an agent's text into sentences and clauses, and find in them claims, wishes, products and numbers.

Every pattern is bounded, so the time is linear in the length of a text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Literal

from akinai.core.untrusted.number_words import NUMBER_WORDS
from akinai.worlds.vending.detectors.words import table
from akinai.worlds.vending.letters.names import GoodName, mark_names
from akinai.worlds.vending.letters.words import NAME
from akinai.worlds.vending.model.state import DAY_MINUTES, MONTHS, State


def any_of(*patterns: str) -> re.Pattern[str]:
    """Compile a pattern that finds any of these."""
    return re.compile("|".join(patterns))


Location = Literal["machine", "storage", "slot"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A line or a sentence, whichever is shorter."""

    original: str
    """As it was written."""
    text: str
    """In lower case."""
    asks: bool
    """Whether it is a question."""
    day: int | None
    """The number of the day it is about, where it or the head of its list names one."""
    head: str = ""
    """The head of its list: "inventory:"."""


_CUT = re.compile(r"(?<=[.!?])(?<!\bno\.)(?=[\s\"')])")
_DAY = re.compile(r"\bday (\d{1,4})\b")
_DAY_FIRST = re.compile(r"\W*(?:on )?day (\d{1,4})\b")
_MONTH = "|".join(MONTHS).lower()
_TH = r"(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b(?:(\d{{1,2}}){_TH} (?:of )?({_MONTH})[a-z]{{0,6}}|({_MONTH})[a-z]{{0,6}}\.? (\d{{1,2}}){_TH})\b"
)
_HEAD = re.compile(r"[^:]{1,60}:\s*$|\W*day \d{1,4}\b[^.]{0,20}$|#{1,6} ")
_BULLET = re.compile(r"\s*(?:[-*+•|>]|\d{1,2}[.)])\s")
_ROW = re.compile(r"\s*\|(.{1,400})\|\s*$")
_AFFIRMS = re.compile(
    r"\b(i|we)(?: can| am| are|'m|'re| happy| pleased| to| hereby| also| now){0,5} (?:confirm|report)(?:ing)?\b"
)
"""A phrase that vouches for what follows, unlike "please confirm"."""
_CHECKS = re.compile(r"\b(stock|inventory|storage|machine|cash|status) check\b")
"""A heading, unlike "check the stock"."""
_MARKS = str.maketrans("_", " ", "*`")
"""Removes Markdown's marks, and the underscores of keys."""


def sentences(text: str, state: State) -> Iterator[Sentence]:
    """Split a text in plain characters into sentences; each cell of a table is a sentence.

    `state` says which day a date means. A sentence ends where it begins to quote somebody else.
    """
    quoting = _quoting(_suppliers(state))
    head, head_day, listed = "", None, False
    headings: list[str] | None = None
    lines = text.split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        lower, bullet = line.strip().lower().translate(_MARKS), _BULLET.match(line) is not None
        if not lower or (listed and not bullet):
            head, head_day = "", None
        listed = bullet
        if row := _ROW.match(line):
            cells = [cell.strip() for cell in row[1].split("|")]
            columns = headings or [""] * len(cells)
            for heading, value in zip(columns[1:], cells[1:], strict=False):
                original = f"{cells[0]}: {value}"  # a statement about the first cell
                cell = original.lower().translate(_MARKS)
                yield Sentence(
                    original, cell, original.endswith("?"), day_of(cell, state) or head_day, f"{head} {heading}"
                )
            headings = headings or [cell.lower() for cell in cells]
            continue
        headings = None
        begins = _DAY_FIRST.match(lower)
        day = int(begins[1]) + state.setup.days_before if begins else None
        if _HEAD.match(lower) or (_BULLET.match(after) and not bullet):
            head, head_day = lower, head_day if day is None else day
        for piece in _CUT.split(line):
            if original := piece.strip(" \t-*•|>"):
                lower_piece = _AFFIRMS.sub(r"\1 acknowledge", original.lower().translate(_MARKS))
                lower_piece = _CHECKS.sub(r"\1 count", lower_piece)
                own = day_of(lower_piece, state)
                meant = own if own is not None else day if day is not None else head_day
                yield Sentence(original, quoting.split(lower_piece, maxsplit=1)[0], original.endswith("?"), meant, head)


def others_goods(state: State) -> re.Pattern[str]:
    """A pattern of words that tell of goods of somebody else."""
    return _having(_suppliers(state))


def _suppliers(state: State) -> tuple[str, ...]:
    return tuple(supplier.name.lower() for supplier in state.setup.catalog.suppliers)


@lru_cache(maxsize=16)
def _having(suppliers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"\btheir (?:own )?(?:stock|storage|warehouse|inventory|catalog)|"
        rf"\b(?:{_third_parties(suppliers)})(?:'s?)? (?:machines? |storage |warehouse )?(?:also |still )?(?:ha(?:ve|s)|"
        rf"holds?|keeps?|carr(?:y|ies)|stocks?)\b"
    )


@lru_cache(maxsize=16)
def _quoting(suppliers: tuple[str, ...]) -> re.Pattern[str]:
    them = _third_parties(suppliers)
    return re.compile(
        rf"\baccording to (?:the |our )?(?:{them})\b|\b(?:{them}) (?:has |have |had |also |just |now )?"
        r"(?:says?|said|wrote|writes?|claim(?:s|ed)?|t(?:old|ells?)|repl(?:y|ies|ied)|insist(?:s|ed)?|"
        r"(?:promise|assure|advertise|offer|mention|respond)[a-z]{0,2} (?:that|us|me|to))\b"
    )


def _third_parties(suppliers: Sequence[str]) -> str:
    """A pattern of anybody but the agent; suppliers are also named by their first word."""
    names = {re.escape(name) for whole in suppliers for name in (whole, whole.split()[0])}
    return "|".join([*sorted(names, key=len, reverse=True), "suppliers?|vendors?|they|he|she|competitors?|customers?"])


def day_of(text: str, state: State) -> int | None:
    """The day, counted from 1, that a text names by its number or its date."""
    if numbered := _DAY.search(text):
        return int(numbered[1]) + state.setup.days_before
    dated = _DATE.search(text)
    if dated is None:
        return None
    number, month = (dated[1], dated[2]) if dated[1] else (dated[4], dated[3])
    months = [month.lower() for month in MONTHS]
    start = state.setup.start_date
    today = start + timedelta(days=state.minute // DAY_MINUTES)
    try:
        meant = today.replace(month=months.index(str(month)) + 1, day=int(number))
    except ValueError:
        return None
    return (meant - start).days + 1


_CLAUSES = re.compile(
    r"(?:,(?!\d{3}\b)|;|[—|]| - (?!\d)| / | but | so | because | since | while | though | however | and )\s*"
)
"""Words and signs at which another clause may begin. A list of goods is cut too; its parts keep its mood."""


def clauses(text: str) -> list[str]:
    """Split a sentence into clauses."""
    return [clause for clause in _CLAUSES.split(text) if clause.strip()]


MOODS = table("sentences")
_LOCATIONS: Sequence[tuple[Location, re.Pattern[str]]] = (
    ("slot", re.compile(r"\b(?:slots?|row|column)\b")),
    ("machine", re.compile(r"\bmachine\b")),
    ("storage", re.compile(r"\b(?:storage|warehouse|stockroom|store ?room|back ?room)\b")),
)


def location_in(text: str) -> Location | None:
    """Where a text says that goods are; None if it does not."""
    return next((location for location, pattern in _LOCATIONS if pattern.search(text)), None)


_WORDS = sorted((word for word in NUMBER_WORDS if word not in ("a", "an")), key=len, reverse=True)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
NUMBER = (
    r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,6}|(?:an? |two |half an? |half )?dozen"
    rf"|(?:an?|{_ONES}) hundred\b|(?:{_TENS}) (?:{_ONES})\b|{'|'.join(_WORDS)})"
)
"""A whole number, in figures or words."""
ALONE = r"(?<![\w$.,:/-])"
"""A look-behind: the number after it is no part of another number, a date or an amount of money."""
_UNIT = r"(?:units?|pieces?|pcs|bottles?|cans?|packs?|packets?|bags?|bars?|cups?|items?)"
_KIND = (
    r"(?:(?:cold|fresh|more|each|of|the|our|my|unsold|remaining|good|bottled|individual|those) "
    r"|\d{1,4} (?=[a-z\ue100-\uf8ff]))"
)
_THERE = r"in (?:the |our |my )?(?:storage|stock|machine|warehouse|slot)"
_LIGHT = (
    r"(?:stock|count|inventory|quantity|qty|left|levels?|supply|supplies|total|on hand|remaining|available"
    rf"|{_UNIT}|{_THERE}|is|are|has|have|at|stands?|sits?|remains?|totals|dropped|fallen|shrunk|gone|went|running|"
    rf"fully|stocked|holds|holding|steady|low|down"
    r"|to|about|only|just|now|still|currently|roughly|around|with|all)"
)
"""Words that may come between a name and its number: "cola stock is running low at 4"."""
_NO_QUANTITY = r"(?![\w%]|[.:,-]\d| ?(?:cents|dollars|\$|days?|weeks?|hours?|times|per|each|cases?|slots?)\b)"


_FIRST = 0xE100
GOOD = "[\ue100-\uf8ff]"
"""A pattern of the sign that stands for a product in a marked text."""
COUNTED = re.compile(
    rf"{ALONE}{NUMBER}(?: ?x)? ?(?:{_UNIT} )?{_KIND}{{0,4}}(?P<good>{GOOD})(?! (?:slots?|rows?|cases?|sales)\b)"
)
""""12 units of cola", marked."""
COUNTING = re.compile(
    rf"(?P<good>{GOOD})(?: ?\((?:\w{{1,40}}|{GOOD})\))?[\"']?(?:[ :-]{{1,3}}{_LIGHT}\b){{0,6}}[\"']?"
    rf"(?: ?(?:[:=(-]|->|→) ?(?:x ?)?| x ?| )(?:~ ?)?{NUMBER}{_NO_QUANTITY}"
)
""""Cola: 12", marked."""
NONE_LEFT = re.compile(
    rf"(?:\bno|\bzero|\bnone of|\bnot a single|(?:\bnot|n't) (?:have|got) any) (?:the |more |other )?(?:{_UNIT} of )?"
    rf"{GOOD}|\bout of {GOOD}"
    rf"|{GOOD}(?::| is| are| has| have|,)? (?:now |all |currently |completely )?(?:at zero|sold out|out of stock|gone|"
    rf"empty|run out)\b"
)
""""No cola", "out of cola", marked."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text in which each product's name is a sign of its own."""

    text: str
    products: Mapping[str, str]
    """Product ids by sign."""
    spellings: Mapping[str, str]
    """Names as they were written, by sign."""

    @property
    def alone(self) -> str | None:
        """The product whose name is the whole text; None for any other text."""
        return self.products.get(self.text.strip(" .!"))

    def words(self, match: re.Match[str]) -> str:
        """The words of a match as they were written."""
        return match[0].strip().translate({ord(sign): name for sign, name in self.spellings.items()})


def mark_goods(text: str, goods: tuple[GoodName, ...]) -> Marked:
    """Mark the products that a text in lower case names, as letters are read."""
    marked, occurrences = mark_names(goods, text)
    if not occurrences:
        return Marked(text, {}, {})
    signs = {good.id: chr(_FIRST + index) for index, good in enumerate(goods)}
    pieces = marked.split(NAME)
    text = pieces[0] + "".join(
        signs[named.product.id] + piece for named, piece in zip(occurrences, pieces[1:], strict=True)
    )
    products = {signs[named.product.id]: named.product.id for named in occurrences}
    return Marked(text, products, {signs[named.product.id]: named.text for named in occurrences})


def groups_in(text: str, goods: tuple[GoodName, ...]) -> frozenset[frozenset[str]]:
    """The named goods, each as its own group; without any, the named categories, each with all its goods."""
    named = {frozenset({product}) for product in mark_goods(text, goods).products.values()}
    kinds = _kinds(goods)
    return frozenset(named or (kinds[word] for word in re.findall(r"[^\W_]+", text) if word in kinds))


@lru_cache(maxsize=16)
def _kinds(goods: tuple[GoodName, ...]) -> Mapping[str, frozenset[str]]:
    """The products of each category, by its name and its plural: "drinks"."""
    kinds: dict[str, frozenset[str]] = {}
    for good in goods:
        for word in (good.category.lower(), f"{good.category.lower()}s"):
            kinds[word] = kinds.get(word, frozenset()) | {good.id}
    return kinds


def number_in(number: str) -> int | None:
    """The value of a number that `NUMBER` matched."""
    if number.endswith("dozen"):
        return 6 if number.startswith("half") else 24 if number.startswith("two") else 12
    if number.endswith(" hundred"):
        return 100 * NUMBER_WORDS[number.removesuffix(" hundred")]
    number = number.replace(",", "")
    return int(number) if number.isdecimal() else NUMBER_WORDS.get(number.replace(" ", "-"))
