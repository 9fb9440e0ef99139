"""Amounts beside the goods of an order: prices in an offer, units that are missing, and the units after a change."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from akinai.core.money import half_up
from akinai.worlds.vending.letters.goods import read_items
from akinai.worlds.vending.letters.intents import Items
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.tokens import mark_names
from akinai.worlds.vending.letters.words import NAME, NUMBER_WORDS

ORDER_NUMBER = re.compile(
    r"\borders? (?:number |no\.? ?|nr\.? ?|id )?#?(?P<number>[0-9]{1,6})(?: (?:and|&) #?(?P<second>[0-9]{1,6}))?\b(?! "
    r"§| units| of\b| x\b)|#(?P<hash>[0-9]{1,6})(?=,? (?:our|my|the) order)|"
    r"注文(?:番号)?\s?(?P<ja>[0-9]{1,6})|\border: (?P<labelled>[0-9]{1,6})$"
)
QUOTE_NUMBER = re.compile(
    r"(?<![a-z0-9])q[- ]?#?(?P<number>[0-9]{1,9})(?![0-9])|\bquot(?:e|ation) ?(?:number |no\.? ?|id ?|#)?#?"
    r"(?P<worded>[0-9]{1,9})\b(?! §| units)|見積(?:書|もり|り)?(?:番号)?\s?(?P<ja>[0-9]{1,9})"
)
_MONEY = re.compile(
    r"(?:[$＄]|usd ?|us\$ ?)(?P<dollars>[0-9]{1,4}(?:\.[0-9]{1,2})?)(?![0-9])"
    r"|(?P<cents>[0-9]{1,4}) ?(?:cents?\b|c\b|¢|セント)"
    r"|(?P<worded>[0-9]{1,4}(?:\.[0-9]{1,2})?) ?(?:dollars?\b|usd\b|ドル)",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"(?P<percent>[0-9]{1,2}(?:\.[0-9])?) ?(?:%|per ?cent\b)|(?P<tenths>[0-9]) ?割|(?P<off>[0-9]{1,2}) ?引",
    re.IGNORECASE,
)
_BARE_PRICE = re.compile(
    r"\b(?P<verb>do|at|accept|say|pay|offer|make it|meet (?:me|us) at) (?P<price>[0-9]{2,3})(?=[?.!,]|$)", re.IGNORECASE
)
"""A price without its unit, beside others in cents."""
_MOST_CENTS = 10_000
"""More than this is no price of a unit."""
_NO_PRICE = re.compile(
    r"\b(?:spent|balance|budget|total|in sales|revenue|retail|(?:we|i) sell|sold for|cash|profit)\b[^,;]{0,40}$|"
    r"\b(?:retail|selling) price\b",
    re.IGNORECASE,
)
_RIVAL = re.compile(
    r"\b(?:another|other|different|rival|competing) (?:\w+ )?(?:suppliers?|wholesalers?|"
    r"vendors?|compan(?:y|ies)|sources?)\b|\b(?:is|are) (?:currently |now )?(?:selling|offering|asking|charging)\b"
    r"|\b(?:been|was|were) (?:offered|quoted)\b"
    r"|\b(?:competitors?|competition|elsewhere|rivals?|cheapest of them|one of them)\b"
    r"|\b(?:quote|offer|price) from (?!you)|\banother (?:\w+ )?seller\b"
    r"|(?<!price )(?<!priced )(?<!it )\bis at \$?[0-9]"
    r"|(?<!\byou )(?<!\bwe )(?<!\bi )(?<!\bplease )\b(?:sells?|offered (?:me|us)|charges|offers|quotes|asks|"
    r"quoted|has (?:offered|quoted))\b(?! (?:me|us) (?:a |an )?(?:discount|better))"
    r"|他社|他の(?:業者|会社)|別の(?:業者|会社)|競合",
    re.IGNORECASE,
)
_THEIRS = re.compile(
    r"\byour (?:current |list |quoted |asking )?(?:price|offer|quote|rate)|\btoo (?:much|"
    r"expensive|high|dear)\b|\bleaves? us\b"
    r"|\b(?:more|higher|above|over) (?:than )?(?:what )?(?:we|i|our|my)\b"
    r"|\bnot [$]?[0-9.]+ ?(?:cents)?$|\binstead of\b|\b(?:at|from) [$][0-9.]+ (?:leaves?|is|are)\b|\bcurrently\b",
    re.IGNORECASE,
)
_OURS = re.compile(
    r"\b(?:offer|counter-?offer|propos|pay|accept|afford|agree|could (?:you|we)|can you|"
    r"would|do|closer to|target|how about|say|"
    r"make it|for)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Bargain:
    """Prices in a letter."""

    offers: dict[str, int] = field(default_factory=dict[str, int])
    rivals: dict[str, int] = field(default_factory=dict[str, int])
    off_permille: int | None = None


def read_prices(texts: Sequence[str], names: Sequence[GoodName]) -> Bargain:
    """The prices of some clauses: each goes with the nearest product of its clause, else the last that was named."""
    bargain = Bargain()
    last = ""
    rival_before = False
    in_cents = any(found["cents"] for text in texts for found in _MONEY.finditer(text))
    for text in texts:
        text = _BARE_PRICE.sub(r"\g<verb> \g<price> cents", text) if in_cents else text
        marked, found = mark_names(names, text)
        ids = [named.product.id for named in found]
        places = [at for at, char in enumerate(marked) if char == NAME]
        for match in _MONEY.finditer(marked):
            cents = _cents(match)
            before = marked[max(0, match.start() - 60) : match.end()]
            after = re.match(
                rf" ?(?:(?:for|per|on|a|an|each|apiece) ){{1,2}}(?:[a-z]+ ){{0,3}}{NAME}", marked[match.end() :]
            )
            where = (
                places.index(match.end() + after.end() - 1)
                if after
                else min(range(len(places)), key=lambda at: _distance(places[at], match), default=None)
            )
            product = last if where is None else ids[where]
            around = _piece(marked, match.start())
            if cents > _MOST_CENTS or _NO_PRICE.search(around[: around.find(match[0])]):
                continue
            if re.search(
                r"\bnot $|\binstead of $|(?<!price )(?<!prices )(?<!offer )\bof $",
                marked[max(0, match.start() - 12) : match.start()],
            ):
                continue
            if _RIVAL.search(around) or (rival_before and re.match(r"\s*(?:at|for)\b", around)):
                bargain.rivals.setdefault(product, cents)
            elif not _THEIRS.search(around) or re.search(r"\bour offer\b", before, re.IGNORECASE):
                bargain.offers[product] = cents
        if percent := _PERCENT.search(marked):
            bargain.off_permille = half_up(int(float(percent["percent"] or percent["off"] or 0) * 10), 1) or (
                100 * int(percent["tenths"] or 0)
            )
        rival_before = _RIVAL.search(marked) is not None and not _MONEY.search(marked)
        last = ids[-1] if ids else last
    if not last or "" not in {**bargain.offers, **bargain.rivals}:
        return bargain
    for prices in (bargain.offers, bargain.rivals):  # a price before the first name is that of the goods named later
        if "" in prices:
            cents = prices.pop("")
            prices.setdefault(last, cents)
    return bargain


def _cents(match: re.Match[str]) -> int:
    if match["cents"]:
        return int(match["cents"])
    whole, _, rest = (match["dollars"] or match["worded"]).partition(".")
    return int(whole) * 100 + int((rest + "00")[:2])


def _distance(place: int, match: re.Match[str]) -> int:
    """How far a name is from an amount; a name before it is a little nearer."""
    return match.start() - place if place < match.start() else place - match.end() + 4


def _piece(text: str, at: int) -> str:
    """The part between commas around a place."""
    start = max(text.rfind(mark, 0, at) for mark in (", ", ": ", "; ", "|", "\n"))
    end = min((place for mark in (", ", "; ", "|", "\n") if (place := text.find(mark, at)) >= 0), default=len(text))
    return text[max(start, 0) : end]


_OF = re.compile(rf"\b(?P<got>[0-9]{{1,5}}) (?:out )?of (?:the )?(?P<all>[0-9]{{1,5}}) (?:units of )?(?={NAME})")
_PART = re.compile(
    r"(?<=[^\d])[,;](?=\s)|\s:\s|[()]|\b(?:but|although|though|while|where|instead|whereas)\b"
    r"|\band(?= (?:only |just )?(?:delivered|received|got|sent|shipped|counted)\b)|(?:はずですが|のところ|ですが)"
)
_CAME = re.compile(
    r"\b(?:only|just|you sent|received|counted|count|got|came|arrived|found|there (?:are|were)|"
    r"delivered|contained|we have|held|in (?:the|our) (?:box|boxes|crate|truck|carton|delivery))\b|しか|届いた",
    re.IGNORECASE,
)
_LACK = re.compile(
    r"\b(?:missing|short|lacking|lacked|absent|were not|was not|not in|damaged?|torn|ripped|stale|"
    r"past (?:its|their)|broken|"
    r"spoiled|bad|leak\w*|crushed|expired|"
    r"claim(?:ing)?|refund|reimburse|credit|defective|unusable|mould\w*|opened|replace|dent\w*|burst|melt\w*|"
    r"without|wilt\w*|brown|in pieces|holes?|crack\w*|squash\w*|soggy|rotten|unsellable|cannot be sold|can't be sold|"
    r"not (?:been )?included|aren't|weren't|isn't|wasn't|not fit|unfit|not good|turned|smashed|ruined|wet|soaked)\b|"
    r"潰|つぶ|傷|割れ|漏れ|溶け|"
    r"へこ|破れ|入って(?:い|お|な)|足り|不足|破損|壊れ|欠品|返金|腐",
    re.IGNORECASE,
)
_DUE = re.compile(
    r"\b(?:ordered|paid for|charged for|should (?:have|include|contain)|says|invoiced|instead of|"
    r"billed|supposed to|meant to|delivery note|packing slip|i paid|we paid|note says)\b|はず|注文した",
    re.IGNORECASE,
)
_WORDED = re.compile(
    rf"\b(?P<number>{'|'.join(word for word in sorted(NUMBER_WORDS, key=len, reverse=True) if len(word) > 2)})\b"
    rf"(?=(?: \w+){{0,2}} (?:{NAME}|missing|are missing|of))",
    re.IGNORECASE,
)
_LONE = re.compile(r"(?<![0-9A-Za-z_#.$-])(?P<number>[0-9]{1,5})(?![\w%-]|\.\d)")


_MEANT_JA = re.compile(r" *,? *のはず(?:ですが|なのに|が) *")
_NOTHING_CAME = re.compile(r"\b(?:not (?:a single|1|one)|none of|nothing of)\b", re.IGNORECASE)


@dataclass(slots=True)
class Shortage:
    """What a claim counts."""

    missing: dict[str, int] = field(default_factory=dict[str, int])
    received: dict[str, int] = field(default_factory=dict[str, int])
    ordered: dict[str, int] = field(default_factory=dict[str, int])


def read_shortage(texts: Sequence[str], names: Sequence[GoodName]) -> Shortage:
    """The units that some clauses say are missing or came; what was ordered less what came is missing."""
    shortage, last, role = Shortage(), "", "missing"
    outside = role
    for text in texts:
        text = _MEANT_JA.sub("はず, ", text)
        for opener, part in _parts(without_orders(text)):
            outside = role if opener == "(" else outside
            role = _role(part, outside if opener == ")" else role)
            marked, found = mark_names(names, part)
            if (pair := _OF.search(marked)) and found:
                for pair, named in zip(_OF.finditer(marked), found, strict=False):
                    shortage.received[named.product.id] = int(pair["got"])
                    shortage.ordered[named.product.id] = int(pair["all"])
                continue
            worded = _WORDED.sub(lambda said: str(NUMBER_WORDS[said["number"].lower()]), marked)
            plain = _unmarked(worded, [named.said for named in found])
            units = dict(_items_anyway(plain, names).units)
            lone = _LONE.search(worded)
            if not units and len(found) == 1 and lone:
                units = {found[0].product.id: int(lone["number"])}
            elif not units and not found and last and lone and (_role(part, "") or role == "ordered"):
                units = {last: int(lone["number"])}
            counts = {"missing": shortage.missing, "received": shortage.received, "ordered": shortage.ordered}[role]
            for id, count in units.items():
                counts.setdefault(id, count)
            last = found[-1].product.id if found else last
    if shortage.ordered and not shortage.received and any(map(_NOTHING_CAME.search, texts)):
        shortage.missing |= shortage.ordered
    for id, count in shortage.received.items():
        if shortage.ordered.get(id, 0) > count:
            shortage.missing[id] = shortage.ordered[id] - count
    return shortage


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a clause, each with what stands before it."""
    opener, at = "", 0
    for found in _PART.finditer(text):
        yield opener, text[at : found.start()]
        opener, at = found[0], found.end()
    yield opener, text[at:]


def _role(part: str, before: str) -> str:
    if _LACK.search(part) and not re.search(r"\bonly\b", part):
        return "missing"
    if _DUE.search(part):
        return "ordered"
    return "received" if _CAME.search(part) else before


def _unmarked(text: str, said: Sequence[str]) -> str:
    names = iter(said)
    return "".join(next(names) if char == NAME else char for char in text)


def _items_anyway(text: str, names: Sequence[GoodName]) -> Items:
    """The items of a part of a sentence, also where it is about the past."""
    quiet = re.sub(r"\b(?:received|ordered|arrived|sold|stock|left|remaining|used)\b", " ; ", text, flags=re.IGNORECASE)
    return read_items(names, quiet)


_ORDER_REF = re.compile(
    r"(?:(?:in|of|to|for|with|from) )?(?:(?:the|my|our|your) )?\borders? (?:number |no\.? ?|"
    r"nr\.? ?|id )?\#?[0-9]{1,6}(?: and [0-9]{1,6}(?! (?:of|units|cases|more)\b))?(?: to contain| to)?"
    r"|(?:(?:in|of|to) )?\bquot(?:e|ation) (?:no\.? ?)?(?:q[- ]?)?\#?[0-9]{1,6}|\bq[- ]?[0-9]{1,6}\b|"
    r"注文(?:番号)?\s?[0-9]{1,6}(?:の)?",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"\b(?:instead of|rather than|and not|not|replace|we wrote|in place of) (?:the |our |"
    r"my )?(?P<former>[0-9]{1,6}(?: units| cases)?(?: of)?(?: [a-z][a-z_-]{2,20}){0,2}?)(?= with\b|"
    r" but\b|[,.;)!]| *$| please\b| each\b| to\b| from\b)"
    r"|(?P<ja>[0-9]{1,6} (?:units|cases)) *,? *(?:で(?:は)?なくて?|じゃなくて?|の代わりに)"
    r"|\b(?:wrote|put|typed|entered|asked for|ordered) "
    r"(?P<slip>[0-9]{1,6}(?: units| cases)?(?: of)?(?: [a-z][a-z_-]{2,20})?)"
    r"(?=,? (?:but|correct|instead|when|though|it should|should)\b)",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    r"\bfrom [0-9]{1,6}(?: units| cases)?(?: [a-z_]{3,20})? to (?P<to>[0-9]{1,6})|(?P<ja>[0-9]{1,6}) units *,? "
    r"*(?:から|を|→)? *(?P<ja_to>[0-9]{1,6})(?= units *,? *[へに])|"
    r"(?P<ja_from>[0-9]{1,6}) units *,? *から *(?P<ja_then>[0-9]{1,6})",
    re.IGNORECASE,
)
_WROTE = re.compile(r"\b(?:i|we) wrote\b.{0,60}?\bmeant\b", re.IGNORECASE)
_WITH = re.compile(r"\breplace\b.{0,60}? with\b|.{0,80}\bso that (?:it|the order)\b", re.IGNORECASE)


def read_changed(text: str, names: Sequence[GoodName]) -> Items:
    """The items after a change: those of "36 instead of 24", "from 24 to 36", "replace the chips with 24 cookies"."""
    text = without_orders(text)
    text = _WITH.sub(" ", _WROTE.sub(lambda found: re.sub(r"[0-9]+", " ", found[0]), text))
    text = _FROM_TO.sub(lambda found: f": {found['to'] or found['ja_to'] or found['ja_then']} units", text)
    former = [found["former"] or found["slip"] or "" for found in _FORMER.finditer(text)]
    kept = _FORMER.sub(" ", text)
    kept = re.sub(r"\b(?:not|instead of|rather than) [0-9]+ (?:each|\w+)", " ", kept, flags=re.IGNORECASE)
    items = read_items(names, re.sub(r"\b(?:please |just |only |ordered |a total of )", " ", kept))
    if items.units:
        return items
    marked, found = mark_names(names, kept)
    before = [named.product for part in former for named in mark_names(names, part)[1]]
    goods = [named.product for named in found] or before
    lone = _LONE.search(marked)
    if lone and len(set(goods)) == 1:
        return Items({goods[0].id: int(lone["number"])})
    return items


_REPLACED = re.compile(r"\breplace (?P<former>.{1,60}?) (?:with|by)\b|(?P<former_ja>.{1,30}?)の代わりに", re.IGNORECASE)


def read_replaced(text: str, names: Sequence[GoodName]) -> tuple[str, ...]:
    """The products that a change replaces by others."""
    former = " ; ".join(found["former"] or found["former_ja"] for found in _REPLACED.finditer(text))
    return tuple(dict.fromkeys(named.product.id for named in mark_names(names, former)[1]))


def without_orders(text: str) -> str:
    """The text without numbers of orders and quotes."""
    return _ORDER_REF.sub(" ", text)
