"""Split a letter into segments of names, amounts and other words, in linear time by bounded look-ahead."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akinai.worlds.vending.letters.names import GoodName, known_names, plain_word
from akinai.worlds.vending.letters.words import (
    ADJECTIVES,
    ASKING,
    CASES,
    JOINING,
    LABELS,
    NAME,
    NO_GOODS,
    NO_QUANTITY,
    NUMBER_IN_MORE_WORDS,
    NUMBER_IN_TWO_WORDS,
    NUMBER_WORDS,
    PARTICLES,
    SUPPOSING,
    TELLING,
    TOTALS,
    TRANSPARENT,
    UNCLEAR_UNITS,
    UNITS,
)

MOST_UNITS = 100_000
"""The most units of a product in a letter."""


@dataclass(frozen=True, slots=True)
class Named:
    """A product's name."""

    product: GoodName
    text: str


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that can be a quantity."""

    text: str
    count: int | None
    """None where it is not a whole number: "2.5", "50-60"."""
    case: bool = False
    """Whether it counts cases, not units."""
    pack: int | None = None
    """Units in a case, where the letter says so ("2 cases of 24 cola")."""
    apiece: bool = False
    """Whether "each" or "apiece" follows."""
    marked: bool = False
    """Whether a unit, an x, a colon or a label such as "quantity" marks it as a quantity."""
    times: bool = False
    of: bool = False
    half: bool = False
    """Whether it is half a case."""
    loose: bool = False
    """Whether another word follows: "12 slots"."""

    def units_of(self, product: GoodName) -> int | None:
        """The units of that product; None unless they are a whole number from 1 to 100,000."""
        if self.count is None or (self.pack is not None and self.pack != product.case_units):
            return None
        units = self.count * product.case_units if self.case else self.count
        if self.half:
            units //= 2
        return units if 0 < units <= MOST_UNITS else None


Element = Named | Amount | str
"""A `str` is any other word, in lower case."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A line or a sentence, whichever is shorter."""

    runs: tuple[tuple[Element, ...], ...]
    """The parts between commas, "and" and bars."""
    listed: bool
    """Whether it is part of a list, a table or an object."""
    words: frozenset[str]

    @property
    def asks(self) -> bool:
        """Whether it asks for something."""
        return not ASKING.isdisjoint(self.words)

    @property
    def reports(self) -> bool:
        """Whether it is only about the past, or about what might be."""
        if "if" in self.words and not SUPPOSING.isdisjoint(self.words):
            return True
        return not self.asks and not TELLING.isdisjoint(self.words)

    @property
    def totals(self) -> bool:
        """Whether it states a total."""
        return not TOTALS.isdisjoint(self.words)


def no_goods(word: str) -> bool:
    """Whether a word cannot name goods: "12 slots", "Delivery: 3"."""
    return word in NO_GOODS or len(word) < 2


_TOKEN = re.compile(
    rf"(?P<bullet>^[ ]*(?:[-*+•>][ ]|[0-9]{{1,2}}[.)][ ]|[|\"']))|(?P<skip>{NO_QUANTITY})|(?P<name>{NAME})"
    r"|(?P<vague>[0-9]{1,6}(?:-|[ ](?:to|or)[ ])[0-9]{1,6}(?![0-9-])|[0-9]{1,5}-(?:packs?|count|ct|pieces?|units?)\b"
    rf"|(?<![^\W_]){NUMBER_IN_MORE_WORDS})"
    r"|(?P<times>(?<![^\W_])x(?=[0-9])|(?<=[0-9])x(?![^\W_])|(?<![^\W_])x(?![^\W_]))"
    rf"|(?P<number>(?:(?<![\w{NAME}-])-)?(?:[0-9]{{1,3}}(?:,[0-9]{{3}}){{1,3}}(?![0-9])|[0-9]+(?:\.[0-9]+)?))"
    rf"|(?P<word>(?:approx|qty|pcs|ea|ct)\.|{NUMBER_IN_TWO_WORDS}|"
    r"[^\W_]+(?:'[^\W_]{1,3}(?![^\W_]))?)"
    r"|(?P<stop>[;!?{}\]]|(?<!\.)\.(?=\s|$))|(?P<split>[,|&+/\t]|[ ]{3,})|(?P<mark>[^\w\s])",
    re.IGNORECASE,
)
_LONGEST_NUMBER = 9
_WORTH_READING = re.compile(f"[0-9{NAME}]")
_ADDRESS = re.compile(r"[^\s@]{1,64}@[^\s@]{1,63}\.[A-Za-z]{2,}|(?:https?://|www\.)\S+", re.IGNORECASE)
_RUN = re.compile(r"[^\W_]+")
LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Every line end other than a newline."""
_PLAIN = str.maketrans(
    {
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
        **dict.fromkeys("\xa0\u2007\u2009\u202f", " "),
        "\u3000": "  ",
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\xad" + NAME, ""),
        **{"×": " x ", "✕": " x ", "−": "-", "–": " - ", "—": " - ", "―": " - "},
        **{"’": "'", "‘": "'", "“": '"', "”": '"'},
    }
)


def plain(text: str) -> str:
    """The text with one kind of space, dash, quote, x and line end, and full-width letters in their usual width."""
    return LINE_ENDS.sub("\n", text).translate(_PLAIN)


def mark_names(names: Sequence[GoodName], text: str) -> tuple[str, list[Named]]:
    """The text with a mark in place of each product's name, longest names first; and the names in their order."""
    catalog = known_names(tuple(names))
    runs = list(_RUN.finditer(text))
    pieces: list[str] = []
    occurrences: list[Named] = []
    at = done = 0
    while at < len(runs):
        joined, product, end = "", None, at
        for upto in range(at, len(runs)):
            if upto > at and not _one_name(text, runs[upto - 1], runs[upto]):
                break
            word = runs[upto][0]
            joined += plain_word(word) if len(word) <= catalog.longest + 3 else word  # a plural has up to 3 more
            if joined not in catalog.starts:
                break
            if joined in catalog.goods:
                product, end = catalog.goods[joined], upto
        start, stop = runs[at].start(), runs[end].end()
        if product is not None and not _compound(text, start, stop) and not _WET.match(text, start):
            pieces += [text[done:start], NAME]
            occurrences.append(Named(product, text[start:stop]))
            done = stop
            at = end
        at += 1
    return "".join((*pieces, text[done:])), occurrences


def _one_name(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    """Whether two words can be parts of one name: "iced tea", "energy_drink", "Dr. Pepper"."""
    between = text[left.end() : right.start()]
    if len(between) > 3 or "\n" in between:
        return False
    return between.strip() in ("", "-", "_", "'", "&") or (between.strip() == "." and len(left[0]) <= 3)


_WET = re.compile(
    r"water(?: damage\b|-damaged\b|[ -]stain|[ -]?logged|[ -]marks)|(?<=(?:ing|ked) in )water\b", re.IGNORECASE
)
""""Water" that names a damage to goods, not goods."""


def _compound(text: str, start: int, stop: int) -> bool:
    """Whether a name is part of a longer word: "water-cooler", "www.water.com", "non-water"."""
    before, after = text[max(start - 2, 0) : start], text[stop : stop + 2]
    glued_after = (
        len(after) == 2 and after[0] in "-_." and after[1].isalpha() and (after[0] != "." or after[1].islower())
    )
    return glued_after or (len(before) == 2 and before[1] in "-_" and before[0].isalpha())


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    word: str
    """In lower case."""
    glued: bool
    """Whether there is no space before it."""
    named: Named | None


def segments(names: Sequence[GoodName], text: str) -> Iterator[Segment]:
    """Split a text into lines and sentences, and these into runs of names, amounts and words.

    Lines without a name or a digit are left out.
    """
    marked, occurrences = mark_names(names, _ADDRESS.sub(" ; ", plain(text)))
    named_goods = iter(occurrences)
    for line in marked.split("\n"):
        if not _WORTH_READING.search(line):
            continue
        tokens: list[_Token] = []
        listed, end = False, -1
        for match in _TOKEN.finditer(line):
            kind, chars = match.lastgroup or "", match[0]
            if kind == "skip":
                for _ in range(chars.count(NAME)):
                    next(named_goods)
            elif kind == "bullet":
                listed = True
            elif kind == "stop":
                yield _segment(tokens, listed or chars in "{}]")
                tokens = []
            else:
                named = next(named_goods) if kind == "name" else None
                tokens.append(_Token(kind, chars, _word(chars), match.start() == end, named))
            end = match.end()
        yield _segment(tokens, listed)


def _word(text: str) -> str:
    return text.lower().rstrip(".").replace(" ", "-")  # "twenty four"


def _segment(tokens: Sequence[_Token], listed: bool) -> Segment:
    runs: list[tuple[Element, ...]] = []
    run: list[Element] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.named:
            run.append(token.named)
        elif token.word == "half" and (end := _half_case(tokens, at)) is not None:
            run.append(Amount("half a case", 1, case=True, marked=True, half=True))
            at = end
        elif token.kind == "split" or token.word in JOINING:
            runs.append(tuple(run))
            run = []
        elif token.kind in ("number", "vague") or (token.word in NUMBER_WORDS and _counts(tokens, at)):
            amount, at = _amount(tokens, at - 1)
            run += [amount] if amount else []
        elif token.word in CASES | UNCLEAR_UNITS:
            _, at = _pack(tokens, at)  # "case of 24" says how large a case is
        elif token.word == "@" or (token.kind == "word" and token.word not in TRANSPARENT):
            run.append(token.word)
    runs.append(tuple(run))
    words = frozenset(token.word for token in tokens if token.kind == "word")
    return Segment(tuple(run for run in runs if run), listed, words)


def _half_case(tokens: Sequence[_Token], at: int) -> int | None:
    """The index after "a case of" where these words follow "half"."""
    at += at < len(tokens) and tokens[at].word in ("a", "an")
    if at >= len(tokens) or tokens[at].word not in CASES:
        return None
    return at + 1


def _counts(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a unit follows a number in words: "two cases", "fifty units", "a case"."""
    if at >= len(tokens):
        return False
    article = tokens[at - 1].word in ("a", "an")
    named = tokens[at].named is not None and tokens[at - 1].word not in ("a", "an", "one", "zero")
    return named or tokens[at].word in CASES or (not article and tokens[at].word in UNITS)


def _amount(tokens: Sequence[_Token], at: int) -> tuple[Amount | None, int]:
    """The amount that begins at a number, and the index after it; None when the number is no quantity."""
    number, before = tokens[at], tokens[at - 1] if at else None
    here = at + 1
    following = tokens[here] if here < len(tokens) else None
    if following and following.kind == "word" and following.glued and following.word not in UNITS | CASES:
        return None, here + 1
    if following and following.word == ":":
        return None, here
    if following and following.kind == "times" and here + 1 < len(tokens) and tokens[here + 1].word in CASES:
        here += 1  # "2x case popcorn"
    unit = _unit_at(tokens, here)
    texts = [number.text]
    pack = None
    if unit is not None:
        texts += [token.text for token in tokens[here : unit + 1]]
        here = unit + 1
        pack, here = _pack(tokens, here) if tokens[unit].word in CASES else (None, here)
    elif number.kind == "number" and re.fullmatch(r"[0-9]+\.[0-9]{2}", number.text):
        return None, here  # 0.60 is a price
    times = any(token is not None and token.kind == "times" for token in (before, following))
    labelled = before is not None and (before.word in (":", "=") or before.word in LABELS)
    of, apiece, end = _of_each(tokens, here)
    then = tokens[end] if end < len(tokens) else None
    strange = then is not None and then.kind == "word" and then.word not in TRANSPARENT | PARTICLES | JOINING
    unclear = unit is not None and tokens[unit].word in UNCLEAR_UNITS
    return Amount(
        " ".join(texts),
        None if unclear or number.kind == "vague" else _count(number.word),
        case=unit is not None and tokens[unit].word in CASES,
        pack=pack,
        apiece=apiece,
        marked=times or labelled or unit is not None,
        times=times,
        of=of,
        loose=strange and unit is None and not times,
    ), end


def _unit_at(tokens: Sequence[_Token], here: int) -> int | None:
    """The index of the unit after a number, with up to two adjectives between: "50 single units"."""
    for index in range(here, min(here + 3, len(tokens))):
        word = tokens[index].word
        if word in UNITS | CASES | UNCLEAR_UNITS:
            return index
        if word not in ADJECTIVES or word == "of":
            return None
    return None


def _pack(tokens: Sequence[_Token], here: int) -> tuple[int | None, int]:
    """The size of a case in "2 cases of 24 cola", and the index after it."""
    if here + 1 < len(tokens) and tokens[here].word == "of" and tokens[here + 1].kind == "number":
        return _count(tokens[here + 1].word) or 0, here + 2
    return None, here


def _of_each(tokens: Sequence[_Token], here: int) -> tuple[bool, bool, int]:
    """Whether "of" and "each" follow an amount, and the index after them."""
    of = apiece = False
    while here < len(tokens) and (tokens[here].word in ("of", "each", "apiece")):
        of, apiece = of or tokens[here].word == "of", apiece or tokens[here].word != "of"
        here += 1
    return of, apiece, here


def _count(word: str) -> int | None:
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    digits = word.replace(",", "").removesuffix(".0")
    whole = digits.removeprefix("-").isdecimal() and len(digits) <= _LONGEST_NUMBER
    return int(digits) if whole else None
