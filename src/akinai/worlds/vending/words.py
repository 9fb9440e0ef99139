"""A letter as segments of names, amounts and other words: what `items` pairs up. Bounded look-ahead, so linear time."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from akinai.worlds.vending.setup import Catalog, Product, plain_name

MOST_UNITS = 100_000
"""Of one product in one letter."""

_NAME = "\ue000"  # stands for a product's name while a text is cut into tokens


@dataclass(frozen=True, slots=True)
class Named:
    """A product's name."""

    product: Product
    said: str


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that can be a quantity."""

    said: str
    count: int | None
    """None: no whole number ("2.5", "50-60")."""
    case: bool = False
    """Counted in cases, not in units."""
    pack: int | None = None
    """Units in a case, where the letter says so ("2 cases of 24 cola")."""
    each: bool = False
    marked: bool = False
    """A unit, an x, a colon or a label such as "quantity" says that it is one."""
    times: bool = False
    of: bool = False
    loose: bool = False
    """Some other word follows: "12 slots"."""

    def units_of(self, product: Product) -> int | None:
        """The units of that product; None when they are no whole number from 1 to 100,000."""
        if self.count is None or (self.pack is not None and self.pack != product.case_units):
            return None
        units = self.count * product.case_units if self.case else self.count
        return units if 0 < units <= MOST_UNITS else None


Element = Named | Amount | str
"""A `str` is a word in lower case that is neither."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A line or a sentence, whichever is shorter."""

    runs: tuple[tuple[Element, ...], ...]
    """What stands between commas, "and", bars."""
    listed: bool
    """It stands in a list, a table or an object."""
    words: frozenset[str]

    @property
    def asks(self) -> bool:
        """It says that something is wanted."""
        return not _ASKING.isdisjoint(self.words)

    @property
    def tells(self) -> bool:
        """It only tells of the past."""
        return not self.asks and not _TELLING.isdisjoint(self.words)

    @property
    def totals(self) -> bool:
        """It gives a sum."""
        return not _TOTALS.isdisjoint(self.words)


def no_goods(word: str) -> bool:
    """Whether a word can be no name of goods: "12 slots", "Delivery: 3"."""
    return word in _NO_GOODS or word in _PARTICLES or len(word) < 2


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UNITS = _set(
    "unit units piece pieces pc pcs pce bottle bottles can cans packet packets pack packs bag bags bar bars cup cups "
    "item items serving servings portion portions ea count ct each"
)
_CASES = _set("case cases")
_UNCLEAR_UNITS = _set("box boxes carton cartons crate crates pallet pallets tray trays dozen dozens half multipack bundle")
_LABELS = _set("quantity quantities qty amount amounts count units unit number needed required requested wanted")
_ADJECTIVES = _set(
    "more additional extra fresh cold chilled cool assorted standard regular individual single whole new full small "
    "large big good best great cheap of the your our my any some those these such product products item items sku id "
    "name following please pls thanks thank kindly about approximately approx around roughly only just exactly is are be"
)
_TRANSPARENT = _UNITS | _CASES | _LABELS | _ADJECTIVES
_PARTICLES = _set(
    "for to in on by at as from with if into via asap today tomorrow next this that will would should can could may "
    "or per a an i we you it they delivered shipped sent paid when once until within before after altogether apiece so"
)
_JOINING = _set("and plus also then")
_ASKING = _set(
    "please need needs want like order send ship deliver purchase buy require request quote supply provide charge get "
    "take confirm price pricing cost"
)
_TELLING = _set("sold sells selling sales received ordered remaining left yesterday previously used stocked")
_TOTALS = _set("total totals totalling totaling altogether subtotal sum")
_NO_GOODS = _TOTALS | _LABELS | _UNITS | _CASES | _UNCLEAR_UNITS | _set(
    "order orders delivery deliver address account zip phone tel fax date day days week weeks month months hour hours "
    "minute minutes year years budget minimum maximum price prices cost discount slot slots row rows column columns "
    "machine machines customer customers people person persons employee employees product products items line lines "
    "dollar dollars cent cents percent location locations time times business lead step quote quotes invoice reference "
    "email street suite floor room building supplier suppliers type types kind kinds different variety varieties sizes "
    "everything something anything stock version page letter letters small large am pm usd store stores visits trips"
)  # fmt: skip
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {word: 10 * (at + 3) for at, word in enumerate("thirty forty fifty sixty seventy eighty ninety hundred".split())}
_NUMBER_WORDS |= {"a": 1, "an": 1}

_N = "[0-9]{1,9}"
_DECIMAL = rf"{_N}(?:[.,]{_N}){{0,3}}"
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?)"
)
_SOME_UNIT = "(?:units?|pieces?|pcs|bottles?|cans?|bags?|packets?|count|ct)"
_STREET = "(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Way|Court|Place|Square|Highway|Hwy|Parkway|Pkwy)"
_NO_QUANTITY = "|".join(
    (
        rf"(?-i:[0-9]{{1,6}}[A-Z]?(?:[ ](?:[A-Z][A-Za-z.'-]{{0,30}}|{_NAME})){{1,3}}[ ]{_STREET})\b",
        rf"(?-i:{_NAME}[ ]{_STREET})\b|{_NAME}[ ](?:street|avenue|ave|road|rd|boulevard|blvd)\b",
        rf"{_MONTH}\.?[ ][0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:,?[ ](?:19|20)[0-9]{{2}}\b)?",
        rf"[0-9]{{1,2}}(?:st|nd|rd|th)?[ ](?:of[ ])?{_MONTH}\b(?:,?[ ](?:19|20)[0-9]{{2}}\b)?",
        r"\(?[0-9]{3}\)?[ .-]{1,2}[0-9]{3}[ .-][0-9]{4}(?![0-9])",
        r"\+[0-9]{1,3}(?:[ .-]\(?[0-9]{2,5}\)?){2,5}|\+[0-9]{8,15}(?![0-9])",
        r"[0-9]{3}-[0-9]{4}(?![0-9-])|[0-9]{5}-[0-9]{4}(?![0-9-])",
        rf"{_N}(?:[-/:.]{_N}){{2,6}}|{_N}[/:]{_N}",
        rf"(?:[$€£¥]|usd\b|us\$)[ ]?-?{_DECIMAL}",
        rf"{_DECIMAL}[ ]?(?:[%¢€]|(?:usd|dollars?|cents?|bucks|percent|per[ ]cent|pct)\b)",
        rf"{_N}[ -]?{_SOME_UNIT}?[ ]?(?:per|/|to[ ]an?)[ ]?(?:case|box|carton|pack|tray)\b",
        rf"{_N}(?:\.[0-9]{{1,3}})?[ -]?(?:ml|cl|l|lit(?:er|re)s?|(?:fl\.?[ ]?)?oz|ounces?|g|grams?|kg|lbs?|pounds?|cm|mm)\b",
        r"[0-9]{1,4}(?:st|nd|rd|th)\b|[0-9]{1,2}[ ]?(?:am|pm|a\.m\.|p\.m\.|o'clock)(?![^\W_])",
        r"(?:\#|№)[ ]?[0-9]+",
        r"\b(?:no|nr|number|num|account|acct|invoice|po|p\.o\.|quote|quotation|ref|reference|phone|tel|telephone|mobile|"
        r"cell|fax|zip|zipcode|postcode|id|q)[ ]?(?:number|no|code|\#|is)?[ ]?[.:#-]{0,2}[ ]?[0-9]+",
        r"\b(?:suite|ste|apt|room|floor|box|slot|row|column|page|version|letter)[ ]\#?[0-9]+",
        r"(?-i:\b[A-Z]{2}[ ][0-9]{5}\b)",
        r"[^\W\d_]{1,30}-[0-9][^\W_]*",
    )
)
_TOKEN = re.compile(
    rf"(?P<bullet>^[ ]*(?:[-*+•>][ ]|[0-9]{{1,2}}[.)][ ]|[|\"']))|(?P<skip>{_NO_QUANTITY})|(?P<name>{_NAME})"
    r"|(?P<vague>[0-9]{1,6}(?:-|[ ](?:to|or)[ ])[0-9]{1,6}(?![0-9-])|[0-9]{1,5}-(?:packs?|count|ct|pieces?|units?)\b)"
    rf"|(?P<times>(?<![^\W_{_NAME}])x(?=[ ]?[0-9])|(?<=[0-9])x(?![^\W_])|(?<=[0-9][ ])x(?![^\W_])|(?<={_NAME})x(?=[0-9]))"
    rf"|(?P<number>(?:(?<![\w{_NAME}-])-)?(?:[0-9]{{1,3}}(?:,[0-9]{{3}}){{1,3}}(?![0-9])|[0-9]+(?:\.[0-9]+)?))"
    r"|(?P<word>(?:approx|qty|pcs|ea|ct)\.|[^\W_]+(?:'[^\W_]{1,3}(?![^\W_]))?)"
    r"|(?P<stop>\n|[;!?{}\]]|\.(?=\s|$))|(?P<split>[,|&+/\t]|[ ]{3,})|(?P<mark>[^\w\s])",
    re.IGNORECASE | re.MULTILINE,
)
_ADDRESS = re.compile(r"[^\s@]{1,64}@[^\s@]{1,63}\.[A-Za-z]{2,}|(?:https?://|www\.)\S+", re.IGNORECASE)
_RUN = re.compile(r"[^\W_]+")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_LOOKALIKES = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_LOOKALIKES |= dict.fromkeys(map(ord, "\u3000\xa0\u2007\u2009\u202f"), ord(" "))
_LOOKALIKES |= dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\xad" + _NAME), None)
_SPELT = {"×": " x ", "✕": " x ", "−": "-", "–": " - ", "—": " - ", "―": " - ", "’": "'", "‘": "'", "“": '"', "”": '"'}
_PLAIN = str.maketrans({**{chr(code): to for code, to in _LOOKALIKES.items()}, **_SPELT})


def plain(text: str) -> str:
    """The text with one kind of space, dash, quote, x and line end, and full-width letters in their usual width."""
    return _LINE_ENDS.sub("\n", text).translate(_PLAIN)


@dataclass(frozen=True, slots=True)
class _Names:
    products: dict[str, Product]
    starts: frozenset[str]
    """Everything that a name begins with."""


@lru_cache(maxsize=16)
def _names(catalog: Catalog) -> _Names:
    products: dict[str, Product] = {}
    for product in catalog.products:
        for name in (product.id, product.name, *product.other_names):
            products[plain_name(name)] = product
    products.pop("", None)
    return _Names(products, frozenset(name[:end] for name in products for end in range(1, len(name) + 1)))


def _marked_names(catalog: Catalog, text: str) -> tuple[str, list[Named]]:
    """The text with a mark in place of each product's name, longest name first; and the names in their order."""
    known, runs = _names(catalog), list(_RUN.finditer(text))
    pieces: list[str] = []
    found: list[Named] = []
    at = done = 0
    while at < len(runs):
        joined, product, end = "", None, at
        for upto in range(at, len(runs)):
            if upto > at and not _one_name(text, runs[upto - 1], runs[upto]):
                break
            joined += plain_name(runs[upto][0])
            if joined not in known.starts:
                break
            if joined in known.products:
                product, end = known.products[joined], upto
        start, stop = runs[at].start(), runs[end].end()
        if product is not None and not _compound(text, start, stop):
            pieces += [text[done:start], _NAME]
            found.append(Named(product, text[start:stop]))
            done = stop
            at = end
        at += 1
    return "".join((*pieces, text[done:])), found


def _one_name(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    """Whether two words can be parts of one name: "iced tea", "energy_drink", "Dr. Pepper"."""
    between = text[left.end() : right.start()]
    if len(between) > 3 or "\n" in between:
        return False
    return between.strip() in ("", "-", "_", "'", "&") or (between.strip() == "." and len(left[0]) <= 3)


def _compound(text: str, start: int, stop: int) -> bool:
    """Whether a name is part of a longer word: "water-cooler", "www.water.com", "non-water"."""
    before, after = text[max(start - 2, 0) : start], text[stop : stop + 2]
    glued_after = len(after) == 2 and after[0] in "-_." and after[1].isalpha() and (after[0] != "." or after[1].islower())
    return glued_after or (len(before) == 2 and before[1] in "-_" and before[0].isalpha())


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    said: str
    word: str
    """In lower case."""
    glued: bool
    """Without a space after the token before it."""


def segments(catalog: Catalog, text: str) -> Iterator[Segment]:
    """Cut a text into lines and sentences, and these into runs of names, amounts and words."""
    marked, names = _marked_names(catalog, _ADDRESS.sub(" ; ", plain(text)))
    named = iter(names)
    line: list[_Token] = []
    listed = False
    waiting: list[Named] = []
    end = -1
    for match in _TOKEN.finditer(marked):
        kind, said = match.lastgroup or "", match[0]
        glued = match.start() == end
        end = match.end()
        if kind == "skip":
            for _ in range(said.count(_NAME)):
                next(named)
            continue
        if kind == "bullet":
            listed = True
        elif kind == "stop":
            yield _segment(line, waiting, listed or said in "{}]")
            line, waiting = [], []
            listed = listed and said != "\n"
        else:
            if kind == "name":
                waiting.append(next(named))
            line.append(_Token(kind, said, said.lower(), glued))
    yield _segment(line, waiting, listed)


def _segment(tokens: Sequence[_Token], names: Sequence[Named], listed: bool) -> Segment:
    runs: list[tuple[Element, ...]] = []
    run: list[Element] = []
    named = iter(names)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.kind == "name":
            run.append(next(named))
        elif token.kind == "split" or token.word in _JOINING:
            runs.append(tuple(run))
            run = []
        elif token.kind in ("number", "vague") or (token.word in _NUMBER_WORDS and _counts(tokens, at)):
            amount, at = _amount(tokens, at - 1)
            run += [amount] if amount else []
        elif token.word == "@" or (token.kind == "word" and token.word not in _TRANSPARENT):
            run.append(token.word)
    runs.append(tuple(run))
    words = frozenset(token.word for token in tokens if token.kind == "word")
    return Segment(tuple(one for one in runs if one), listed, words)


def _counts(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a number in words is followed by what it counts: "two cases", "fifty units", "a case"."""
    if at >= len(tokens):
        return False
    article = tokens[at - 1].word in ("a", "an")
    return tokens[at].word in _CASES or (not article and tokens[at].word in _UNITS)


def _amount(tokens: Sequence[_Token], at: int) -> tuple[Amount | None, int]:
    """The amount that begins at a number, and the place after it; None when the number is no quantity after all."""
    number, before = tokens[at], tokens[at - 1] if at else None
    here = at + 1
    following = tokens[here] if here < len(tokens) else None
    if following and following.kind == "word" and following.glued and following.word not in _UNITS | _CASES:
        return None, here + 1
    if following and following.word == ":":
        return None, here
    unit = _unit_at(tokens, here)
    said = [number.said]
    pack = None
    if unit is not None:
        said += [token.said for token in tokens[here : unit + 1]]
        here = unit + 1
        pack, here = _pack(tokens, here) if tokens[unit].word in _CASES else (None, here)
    elif number.kind == "number" and re.fullmatch(r"[0-9]+\.[0-9]{2}", number.said):
        return None, here  # 0.60 is a price
    times = any(one is not None and one.kind == "times" for one in (before, following))
    labelled = before is not None and (before.word in (":", "=") or before.word in _LABELS)
    of, each, end = _of_each(tokens, here)
    nxt = tokens[end] if end < len(tokens) else None
    strange = nxt is not None and nxt.kind == "word" and nxt.word not in _TRANSPARENT | _PARTICLES | _JOINING
    unclear = unit is not None and tokens[unit].word in _UNCLEAR_UNITS
    return Amount(
        " ".join(said),
        None if unclear or number.kind == "vague" else _count(number.word),
        case=unit is not None and tokens[unit].word in _CASES,
        pack=pack,
        each=each,
        marked=times or labelled or unit is not None,
        times=times,
        of=of,
        loose=strange and unit is None and not times,
    ), end


def _unit_at(tokens: Sequence[_Token], here: int) -> int | None:
    """The place of the unit that follows a number, with up to two adjectives between: "50 single units"."""
    for place in range(here, min(here + 3, len(tokens))):
        word = tokens[place].word
        if word in _UNITS | _CASES | _UNCLEAR_UNITS:
            return None if word == "each" else place
        if word not in _ADJECTIVES or word == "of":
            return None
    return None


def _pack(tokens: Sequence[_Token], here: int) -> tuple[int | None, int]:
    """The size of a case in "2 cases of 24 cola", and the place after it."""
    if here + 1 < len(tokens) and tokens[here].word == "of" and tokens[here + 1].kind == "number":
        return _count(tokens[here + 1].word) or 0, here + 2
    return None, here


def _of_each(tokens: Sequence[_Token], here: int) -> tuple[bool, bool, int]:
    """Whether "of" and "each" follow an amount, and the place after them."""
    of = each = False
    while here < len(tokens) and (tokens[here].word in ("of", "each", "apiece")):
        of, each = of or tokens[here].word == "of", each or tokens[here].word != "of"
        here += 1
    return of, each, here


def _count(word: str) -> int | None:
    digits = word.replace(",", "").removesuffix(".0")
    if digits in _NUMBER_WORDS:
        return _NUMBER_WORDS[digits]
    return int(digits) if len(digits) <= 9 and digits.removeprefix("-").isdecimal() else MOST_UNITS + 1 if digits.isdecimal() else None
