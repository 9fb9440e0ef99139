"""Turn a letter into clauses: one kind of space and dash, no Markdown, no quotations, tables as lists."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from akinai.core.untrusted.number_words import NUMBER_WORDS
from akinai.worlds.vending.letters.names import GoodName, known_names, mark_names, plain
from akinai.worlds.vending.letters.words import NAME

_EARLIER = re.compile(r"^(?:-+ ?original message ?-+|on [^\n]{1,120} wrote:) *$", re.IGNORECASE | re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|^ *```\w* *$|^ *#{1,6} +|`", re.MULTILINE)
_DOTS = re.compile(r" ?(?:\.{3,60}|…{1,9}|(?: \.){2,60}) ?(?=[0-9])|(?<=[a-z]) \.(?= [0-9])")
_KEY = re.compile(r"\"(?P<name>[\w -]{1,40})\" ?: ?(?=[0-9])")
"""A name with a number, as in an object: "water": 24."""
_ASIDE = re.compile(
    r"\((?:and )?(?:not|instead of|previously|formerly|was|were|before|up from|down from) [^)\n]{1,40}\)"
    r"|\((?:currently|now|presently|we (?:have|hold)) [^()\n]{1,80}\)"
    r"|\([^()\n]{0,40}\b(?:left|remaining|in stock|on hand|in storage|available)\b[^()\n]{0,20}\)",
    re.IGNORECASE,
)
_TWICE = re.compile(r"\b(?P<word>[A-Za-z-]{3,15}) \((?P<digits>[0-9]{1,5})\)")
"""A number in words and in digits: "thirty (30)"."""
_PACKS = re.compile(
    r"(?<![\w.,$-])(?P<many>[1-9]|1[0-9]|20) ?"
    r"(?:x ?(?P<size>6|12|24)[- ]?(?:packs?|count|ct)\b|packs of (?P<size2>6|12|24)\b)",
    re.IGNORECASE,
)
"""Packs of so many: "2 x 24-pack"."""
_PAIR = re.compile(r"\ba (?:pair|couple) of (?=cases|boxes|cartons|crates|trays)", re.IGNORECASE)
_DOZEN = re.compile(
    r"\b(?P<many>half an?|(?:a )?half|an?|one|two|three|four|five|six|[0-9]{1,3})[ -]dozen(?:s of)?\b", re.IGNORECASE
)
_DOZENS = {
    "a": 12,
    "an": 12,
    "one": 12,
    "two": 24,
    "three": 36,
    "four": 48,
    "five": 60,
    "six": 72,
}
_PARTS = "|".join(sorted((word for word in NUMBER_WORDS if len(word) > 2), key=len, reverse=True)).replace("-", "[- ]")
_HUNDREDS = re.compile(
    rf"\b(?P<many>an?|one|two|three|four|five) hundred(?:(?: and)?[ -](?P<rest>{_PARTS}))?(?![\w-])", re.IGNORECASE
)
_DOLLARS = re.compile(
    rf"\b(?P<dollars>a|{_PARTS}) dollars?(?: and)? (?P<cents>{_PARTS})(?: cents)?(?![\w-])", re.IGNORECASE
)
"""A price in words: "two dollars sixty"."""
_SUBJECT = re.compile(r"^ *(?:subject|件名) ?[:：] *(?P<subject>[^\n]*)\n?", re.IGNORECASE)


def unquoted(text: str) -> str:
    """The text without the earlier letter that it quotes.

    That is every line marked with ">", or all below a heading such as "On Monday X wrote:" where no line is marked.
    """
    if (heading := _EARLIER.search(text)) and not re.search(r"^>", text[heading.end() :], re.MULTILINE):
        text = text[: heading.start()]
    text = _EARLIER.sub("", text)
    return "\n".join(line for line in text.split("\n") if not line.startswith(">"))


def prepare(text: str, names: Sequence[GoodName]) -> str:
    """Plain characters, without quotations and Markdown, with Japanese goods and counters in their English form."""
    text = _tabled(plain(text))
    text = _SLIP.sub(lambda match: _SLIPS[match[0].lower()], _DOZEN.sub(_units_of_dozens, _PAIR.sub("2 ", text)))
    text = _PACKS.sub(lambda match: f"{int(match['many']) * int(match['size'] or match['size2'])} units", text)
    text = _HUNDREDS.sub(_hundreds, _DOLLARS.sub(_dollars, text))
    text = _TWICE.sub(lambda match: match["digits"] if match["word"].lower() in NUMBER_WORDS else match[0], text)
    text = _digits(tuple(names)).sub(lambda match: str(_number(match["word"])) if match["word"] else "2", text)
    text = _ASIDE.sub("", _DOTS.sub(" : ", _EMPHASIS.sub("", _KEY.sub(r"\g<name>: ", unquoted(text)))))
    return _localised(text, names)


def _tabled(text: str) -> str:
    """Rows of cells between tabs, commas, slashes or gaps below a heading without figures, as rows between bars."""
    lines = text.split("\n")
    for parting in ("\t", "/", ",", "  "):
        at = 0
        while at < len(lines):
            cells = _cells(lines[at], parting)
            end = at + 1
            while end < len(lines) and cells > 2 and _cells(lines[end], parting) == cells:
                end += 1
            if end - at > 1 and not re.search("[0-9]", lines[at]):
                lines[at:end] = [f"| {' | '.join(_parted(line, parting))} |" for line in lines[at:end]]
            at = end
    return "\n".join(lines)


def _parted(line: str, parting: str) -> list[str]:
    return re.split(" {2,}" if parting == "  " else parting, line.strip())


def _cells(line: str, parting: str) -> int:
    """The number of short cells of a line; 0 where a blank follows a separator, as after commas in a sentence."""
    cells = _parted(line, parting)
    return len(cells) if all(0 < len(cell) <= 40 and not cell[0].isspace() for cell in cells) else 0


_AFTER_A_COUNT = (
    r"(?:[a-z]+ )?(?:units?|bottles?|cans?|bags?|pack(?:et)?s?|pieces?|pcs|bars?|cups?|items?)\b|"
    r"(?:of|more|each|extra)\b|"
    r"cents?\b|dollars?\b|per ?cent\b|%|"
    r"(?:is|are|was|were|will|would|should|have|had|came|arrived|please|instead|rather)\b"
)


@lru_cache(maxsize=64)
def _digits(names: tuple[GoodName, ...]) -> re.Pattern[str]:
    """A pattern of numbers in words, before goods, units, money or a verb or at the end of a phrase."""
    words = sorted((word for word in NUMBER_WORDS if len(word) > 2 and word != "one"), key=len, reverse=True)
    firsts = {re.split("[ _-]", name)[0] for good in names for name in (good.id, *good.names) if name.isascii()}
    goods = "|".join(sorted(map(re.escape, firsts), key=len, reverse=True))
    return re.compile(
        rf"(?<![\w$-])(?<!\bthe )(?P<word>{'|'.join(words).replace('-', '[- ]')})"
        rf"(?= (?:{_AFTER_A_COUNT}|(?:[a-z]+ )?(?:{goods}))|[.,;:!?)]|\n|$)"
        rf"|\ba (?:pair|couple) of(?= (?:(?:the|your|our) )?(?:{goods}))",
        re.IGNORECASE,
    )


_SLIPS = {
    "pls": "please", "plz": "please", "plase": "please", "snd": "send", "oder": "order", "cancle": "cancel",
    "thx": "thanks", "u": "you", "ur": "your", "delivry": "delivery", "recieved": "received", "adress": "address",
    "wheres": "where is", "whats": "what is", "qoute": "quote", "quantitiy": "quantity", "anymor": "anymore",
    "wich": "which", "tomorow": "tomorrow",
}  # fmt: skip
_SLIP = re.compile(rf"\b(?:{'|'.join(_SLIPS)})\b", re.IGNORECASE)
"""Slips and abbreviations that are no other word."""


def _units_of_dozens(match: re.Match[str]) -> str:
    many = match["many"].lower()
    return "6" if "half" in many else str(_DOZENS.get(many) or 12 * int(many))


def _number(word: str) -> int:
    return NUMBER_WORDS[word.lower().replace(" ", "-")]


def _hundreds(match: re.Match[str]) -> str:
    return str(100 * _number(match["many"]) + (_number(match["rest"]) if match["rest"] else 0))


def _dollars(match: re.Match[str]) -> str:
    return f"${_number(match['dollars'])}.{_number(match['cents']):02}"


def split_subject(text: str) -> tuple[str, str]:
    """The subject that a first line "Subject: ..." gives, or "", and the text after that line."""
    match = _SUBJECT.match(text)
    return (match["subject"], text[match.end() :]) if match else ("", text)


_KANA = r"[\u3040-\u30ff\u3400-\u9fff]"
_KANJI_DIGITS = {digit: number for number, digit in enumerate("〇一二三四五六七八九")}
_KANJI_NUMBER = re.compile(r"[一二三四五六七八九十百]{1,5}(?= ?(?:本|個|袋|缶|枚|点|箱|ケース|ダース|食))")
_COUNTERS = re.compile(r"(?<=[0-9]) ?(?:本|個|袋|缶|枚|点|食|つ)(?:ずつ)?(?!目)")
_EACH = re.compile(r"(?<=[0-9]) ?(?:本|個|袋|缶|枚|点|食|つ)ずつ")
_CASES = re.compile(r"(?<=[0-9]) ?(?:ケース|箱|カートン|トレー?イ?)")
_DOZENS_JA = re.compile(r"(?P<many>[0-9]{1,3}) ?ダース")
_WATER = re.compile(r"(?<![ァ-ヴー])ウォーター(?![ァ-ヴー])")
_MATTERS = re.compile(r"(?<![0-9十])[1-4一二三四] ?点(?!目)")
"""A few points that a letter makes: "水について二点"."""
_A_UNIT = re.compile(
    r"[1一] ?(?:本|個|袋|缶|枚|点|食|つ)"
    r"(?= ?(?:あたり|当たり|当り|につき|いくら|おいくら|[0-9]|(?:の)?(?:価格|単価|値段)))"
)
"""A unit whose price is meant: "1本55セント"."""


def _localised(text: str, names: Sequence[GoodName]) -> str:
    if not re.search(_KANA, text):
        return text
    text = _WATER.sub("水", text)
    text = text.translate({ord("、"): ", ", ord("。"): ". ", ord("・"): "- ", ord("「"): '"', ord("」"): '"'})
    text = re.sub(rf"(?<=[!?])(?={_KANA})", " ", text)
    text = re.sub(r"\s*を(?=\s*[0-9])", " ", text)
    text = _MATTERS.sub("点", _A_UNIT.sub("", text))
    text = _DOZENS_JA.sub(lambda match: f"{12 * int(match['many'])} units", text)
    text = _KANJI_NUMBER.sub(lambda match: str(_kanji_number(match[0])), text)
    text = _EACH.sub(" units each ", text)
    text = _CASES.sub(" cases ", _COUNTERS.sub(" units ", text))
    for name, id in known_names(tuple(names)).foreign:
        kind = r"[\u30a0-\u30ff]" if re.fullmatch(r"[\u30a0-\u30ff]+", name) else r"[\u3400-\u9fff]"
        pattern = rf"(?<!{kind}){re.escape(name)}(?!{kind})(?: ?(?:を|:|は|が|も)(?=\s*[0-9]))?"
        text = re.sub(pattern, f" {id} ", text)
    text = re.sub(r"(?<=units) *と|(?<=cases) *と", ", ", text)
    text = re.sub(r"(units|cases)(?=[\u3040-\u9fff])", r"\1 ", text)
    text = re.sub(r"(units|cases) (?=[のでをにはが])", r"\1 , ", text)
    return re.sub(r"(units|cases) +(?=[.,])", r"\1", text)


def _kanji_number(numeral: str) -> int:
    total = last = 0
    for digit in numeral:
        if digit in _KANJI_DIGITS:
            last = _KANJI_DIGITS[digit]
        else:
            total += (last or 1) * (10 if digit == "十" else 100)
            last = 0
    return total + last


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a letter that says one thing."""

    text: str
    """As it was written."""
    low: str
    """In lower case, with a section sign for the name of each product."""
    listed: bool
    """Whether it is an item of a list, a row of a table, or a line such as "Water: 24"."""
    asks: bool
    """Whether its sentence is a question."""
    sentence: int
    """The number of its sentence in the letter, from 1."""
    last: bool
    """Whether it ends its sentence."""
    table: bool = False
    """Whether it is a row of a table."""


_BULLET = re.compile(r"^\s*(?:[-*+•‣]|\(?[0-9]{1,2}[.)]|[0-9]{1,2}\.[0-9]{1,2}(?=\s+[A-Z]))(?:\s+|$)")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bno\.)(?<!\bnr\.)(?<!\bnos\.)(?<!\bapprox\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bst\.)(?<!\bqty\.)"
    r"(?<! \.)[\"')]?\s+(?!\.)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r";\s+"
    r"|,\s+(?=(?:so|but|although|though|because|however|which|while|where|who|whereas|or else|please(?!\W*$)|kindly)\b)"
    r"|,?\s+(?=(?:but|although|though|because|so) (?:please|could|we|i|they|it|our|the|your|that|got|just|only|not)\b)"
    r"|,?\s+and\s+(?=(?:please|could|can|would|will|i|we|i'm|we're|i'd|we'd|what|how|when|where|charge|is|do|does|are|"
    r"kindly|let|ship|send|deliver|bill|invoice|put|"
    r"(?:cancel|withdraw) (?:(?:the|my|our) )?(?:order|quote|q-?[0-9]+|#?[0-9]+)|quote (?:me|us))\b)"
    r"|(?:ですが|ましたが|ますが|ので|ため|たし|し)\s*,\s*|,\s*(?=あわせて|また)",
    re.IGNORECASE,
)
_SPEECH = re.compile(r"(?<![^\s(])\"[^\"\n {}:]{1,30} [^\"\n {}:]{1,30} [^\"\n{}]{1,200}\"")
"""At least three words in quotation marks, which somebody said."""


_GREETING = re.compile(
    r"\s*(?:hi|hey|hello|dear|good (?:morning|afternoon|evening|day)|morning|yo)(?: [\w.'-]+){0,4}[,!:] +"
    r"(?=\S)(?![^.!?]*\?)",
    re.IGNORECASE,
)
"""A greeting before a sentence on the same line, unless that sentence is a question ("how are you?")."""


def clauses(text: str, names: Sequence[GoodName]) -> Iterator[Clause]:
    """Split a prepared text into clauses."""
    number = 0
    for line, table in _lines(text):
        listed = _BULLET.match(line) is not None
        body = _BULLET.sub("", line)
        greeting = _GREETING.match(body)
        cut = greeting.end() if greeting else 0
        for sentence in (body[:cut], *_SENTENCE_END.split(body[cut:])):
            if not sentence.strip():
                continue
            number += 1
            asks = (
                "?" in sentence[-3:]
                or re.search(r"(?:ですか|ますか|ましたか|ませんか|でしょうか)\W*$", sentence) is not None
            )
            parts = [part for part in _CLAUSE_END.split(sentence) if part.strip()]
            for at, part in enumerate(parts):
                yield Clause(part, marked(part, names), listed, asks, number, at + 1 == len(parts), table)


def marked(text: str, names: Sequence[GoodName]) -> str:
    """The text in lower case, with a section sign for the name of each product."""
    return mark_names(names, _SPEECH.sub('"..."', text))[0].lower().replace(NAME, "§").strip()


_ROW = re.compile(r"^\s*\|?(?P<cells>[^|\n]{0,80}(?:\|[^|\n]{0,80}){1,9})\|?\s*$")
_RULE = re.compile(r"^[\s|:+-]*-{2}[\s|:+-]*$")
_OF_CASES = re.compile(r"^(?:cases|cartons|boxes) (?P<what>[a-z]+ed|sent)$")
"""The heading of a column that counts cases: "Cases ordered"."""
_IN_CASES = re.compile(r"^(?:ケース|箱)数?$|\((?:ケース|箱)数?\)$")
"""A heading in Japanese over counts of cases."""
_UNIT = re.compile(r"^(?:units?|uom|unit of measure|pack(?:ing|aging)?|単位)$")
"""The heading of a column that says whether the counts are of cases."""
_CASE = re.compile(r"^(?:cases?|box(?:es)?|cartons?|ケース|箱)$", re.IGNORECASE)
_COUNTED = re.compile(r"^(?:q(?:uanti)?ty|amount|count|no\. of units|order(?:ed)?(?: qty)?|数量|個数)$")
_TO_ORDER = re.compile(r"^(?:new|this|current|next) (?:order|week|purchase)|^(?:to order|order (?:now|today))$")
_ORDERED_BEFORE = re.compile(r"^(?:previous|prior|last|former|usual) (?:order(?:ed)?|week|qty|quantity|purchase)")
"""The headings of columns of what is ordered, and of what was ordered before."""
_IN_BRACKETS = re.compile(r"\([^()]{0,30}\)")
_NUMBERED = re.compile(r"^(?:#|line|no\.?|nr\.?|pos\.?|item no\.?|番号)$")
"""The heading of a column that numbers the rows."""
_DIFFERENCE = re.compile(r"^(?:diff(?:erence)?\.?|delta|variance)$")
"""The heading of a column that is the difference of others."""

_ORDERS = re.compile(r"\b(?:re)?order$")
"""The end of a heading over quantities, where it is not the first column: "To order"."""


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines that are not empty, each with whether it is a row of a table; rows become items of a list."""
    headings: list[str] | None = None
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not line.strip() or _RULE.match(line):
            headings = headings if line.strip() else None
            continue
        row = (
            _ROW.match(line)
            if _has_bars(line) or (" | " in line and any(map(_has_bars, lines[at + 1 : at + 2])))
            else None
        )
        if row is None:
            headings = None
            yield line, False
            continue
        cells = [cell.strip() for cell in row["cells"].split("|")]
        if headings is None and not re.search(r"[0-9]", _IN_BRACKETS.sub("", line)):
            headings = [cell.lower() for cell in cells]
            continue
        yield "- " + _row(headings or [""] * len(cells), cells), True


def _has_bars(line: str) -> bool:
    """Whether a line is a row of a table by itself: one that begins with a bar, or has a number after one."""
    return line.lstrip().startswith("|") or re.search(r"\S\s+\|\s*\d", line) is not None


def _row(headings: Sequence[str], cells: Sequence[str]) -> str:
    """The cells of a row, those with digits after the heading of their column."""
    parts: list[str] = []
    in_cases = any(_UNIT.match(heading) and _CASE.match(cell) for heading, cell in zip(headings, cells, strict=False))
    ordered = any(_TO_ORDER.match(heading) for heading in headings)
    for at, (heading, cell) in enumerate(zip(headings, cells, strict=False)):
        if (in_cases and _UNIT.match(heading)) or (ordered and _ORDERED_BEFORE.match(heading)):
            continue
        if in_cases and cell.isdecimal() and _COUNTED.match(heading):
            heading, cell = "", f"{cell} cases"
        if at and _ORDERS.search(heading):
            heading += " quantity"
        if (counted := _OF_CASES.match(heading)) and cell.isdecimal():
            heading, cell = counted["what"], f"{cell} cases"
        elif _IN_CASES.search(heading) and cell.isdecimal():
            heading, cell = "", f"{cell} cases"
        numbered = _NUMBERED.match(heading) and not re.search(r"[a-z\u3040-\u9fff]{3}|§", cell, re.IGNORECASE)
        if cell and not numbered and not (at > 2 and _DIFFERENCE.match(heading)):
            parts.append(f"{heading} {cell}" if heading and re.search(r"[0-9]", cell) else cell)
    return " : ".join(parts)
