"""Judge clauses by all their words: integer weights of words, meanings and neighbours, learned from labelled letters.

The rules of `acts` come first; the weights speak where the rules know nothing, and overrule them where they are sure.
An order or a confirmation that only the weights see must be certain, without condition, doubt or question beside it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from akinai.worlds.vending.letters import cues
from akinai.worlds.vending.letters.acts import Said
from akinai.worlds.vending.letters.features import before, features, surroundings
from akinai.worlds.vending.letters.intents import Topic
from akinai.worlds.vending.letters.weights import SCALE, WEIGHTS

NOTHING = "none"
KINDS = (
    NOTHING, "order", "confirm", "change", "cancel", "claim", "negotiate",
    "ask_price", "ask_terms", "ask_order", "ask_other", "complain", "thank",
)  # fmt: skip
_TOPICS: Mapping[str, tuple[Topic, ...]] = {
    "ask_price": ("prices",), "ask_terms": ("terms",), "ask_order": ("order",), "ask_other": (),
}  # fmt: skip
_KIND_OF_TOPIC: Mapping[Topic, str] = {
    "prices": "ask_price", "quote": "ask_price", "terms": "ask_terms", "order": "ask_order", "other": "ask_other",
}  # fmt: skip
_CHARGING = ("order", "confirm")

# Margins over "none", in units of the weights.
_CLEAR = {"order": 3 * SCALE // 2, "confirm": 3 * SCALE // 2, "negotiate": 4 * SCALE // 5}
_SURE = 3 * SCALE
_LIKELY = -SCALE // 5
_OVERRULES = 5 * SCALE // 2
_DENIES = 7 * SCALE // 2
_LAST_GUESS = -SCALE

_PENDING = re.compile(
    r"\b(?:before (?:we|i)|unable|under review|review(?:ing)?|reject\w*|declin\w*|elsewhere|"
    r"(?:some|any)(?:body|one) else|another (?:supplier|wholesaler)|"
    r"would have|had (?:we|i)|regret|undecided|discuss\w*|hold (?:it|the|on)|pass on|"
    r"turn down|too (?:high|expensive)|time to (?:decide|think))\b|協議|辞退|お時間|見送|断"
)
"""What is put off, refused, or done with somebody else."""
_WEIGHED = re.compile(
    r"\b(?:quot\w*|prices?|pricing|estimate|enquir\w*|inquir\w*|stock|inventory|sold|sales|report|ordered|received|"
    r"missing|cancel\w*|order #?[0-9]+)\b|\?|見積|価格|在庫|注文[0-9]"
)
"""What makes a bare list of goods something other than an order."""
_NO_CONSENT = re.compile(
    r"\b(?:except|exceeds?|confirm(?:ed|ing)? (?:the )?receipt|(?:got|acknowledge) your quote|already|twice|"
    r"understood that|automatically|who|on my desk|last (?:week|month))\b"
)
"""What makes a confirmation something other than consent."""
_HEARSAY = re.compile(
    r"\b(?:on (?:the|their|its) way|driver's name)\b|迷って|べきか|\"(?:\.\.\.)?\" ?と|と言われ|と書かれ"
)
"""What makes an order a question or another's words."""
_ADDRESSED = re.compile(r"\bto the address\b|\bdeliver\b|\border\b")
_NO_WORDS = re.compile(
    r"\b(?:the address|the account|units?|of|cases?|x|each|and|qty|quantity|bottles|bags|cans|packs)\b"
)
_WORD = re.compile(r"[a-z]{2,}|[\u3040-\u9fff]")


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, tuple[tuple[int, int], ...]]:
    """By feature: pairs of the place of a kind and its weight."""
    table: dict[str, tuple[tuple[int, int], ...]] = {}
    for row in WEIGHTS.replace("\n", "").rstrip("|").split("|"):
        feature, _, listed = row.partition("/")
        table[feature] = tuple((ord(part[0]) - 97, int(part[1:])) for part in listed.split(","))
    return table


def margins(said: Said, beside: Sequence[str]) -> Mapping[str, int]:
    """By kind, how much more the words of a clause speak for it than for nothing."""
    table, sums = _weights(), [0] * len(KINDS)
    for feature in {*features(said.clause, said.goods), *beside}:
        for kind, weight in table.get(feature, ()):
            sums[kind] += weight
    return {kind: total - sums[0] for kind, total in zip(KINDS, sums, strict=True)}


def wordless(said: Said) -> bool:
    """Whether a clause holds goods, numbers and units alone."""
    return _WORD.search(_NO_WORDS.sub(" ", said.clause.low)) is None


def judge(letter: Sequence[Said], subject: str) -> None:
    """Set the act of each clause of a letter; `subject` is in lower case with a section sign for each product."""
    lows = [said.clause.low for said in letter]
    shared = surroundings(subject, lows, any(said.goods for said in letter))
    spoken = [(at, said) for at, said in enumerate(letter) if not wordless(said)]
    for at, said in spoken:
        said.margins = margins(said, [*shared, *before(lows, at)])
    delivered = "Ldelivery goods" in shared
    pending = any(_PENDING.search(low) for low in lows)
    quoting = any(kind_of(said) == "ask_price" for said in letter)
    for _, said in spoken:
        kind = max(KINDS[1:], key=said.margins.__getitem__)
        barred = (kind == "confirm" and pending) or (kind == "order" and quoting)
        if kind not in _CHARGING or not (barred or _doubted(said, kind, delivered)):
            _decide(said, kind)
    for _, said in spoken:
        if (said.act == "confirm" and _NO_CONSENT.search(said.clause.low)) or (
            said.act == "order" and _HEARSAY.search(said.clause.low)
        ):
            said.act = "report"
    if all(kind_of(said) == NOTHING for said in letter) and not any(said.goods for said in letter if wordless(said)):
        _guess([said for _, said in spoken])


def addressed(letter: Sequence[Said], subject: str) -> bool:
    """Whether a bare list of goods names the address it goes to and the account, and neither price nor doubt."""
    whole = " ".join([*(said.clause.low for said in letter), subject])
    doubts = (cues.HYPOTHESIS, cues.NEGATION, cues.PLANS, _WEIGHED)
    named = _ADDRESSED.search(whole) and "the address" in whole and "the account" in whole
    return bool(named) and not any(pattern.search(whole) for pattern in doubts)


def claims_alone(said: Said, letter: Sequence[Said]) -> bool:
    """Whether a clause says itself that goods are missing or bad, and does not only want money back."""
    judged = said.margins.get("claim", 0) > 0 and all(other.act != "cancel" for other in letter)
    return judged or cues.CLAIM_ALONE.search(said.clause.low) is not None


def consents(letter: Sequence[Said]) -> bool:
    """Whether nothing in a letter keeps its quote from being taken up where it only says "deliver" and "charge"."""
    return not any(
        _NO_CONSENT.search(said.clause.low)
        or _PENDING.search(said.clause.low)
        or (said.clause.asks and said.act == "ask")
        for said in letter
    )


def orders_by_asking(said: Said) -> bool:
    """Whether a question names goods to order them, not to hear a price."""
    return said.margins.get("order", 0) > SCALE and "quote" not in said.topics


def wonders(said: Said) -> bool:
    """Whether a clause is surely a question about something other than prices, terms and orders."""
    margin = said.margins.get("ask_other", 0)
    return said.clause.asks and margin > _SURE and margin == max(said.margins.values())


def kind_of(said: Said) -> str:
    """The kind that a clause has by its act."""
    if said.act == "ask":
        return _KIND_OF_TOPIC[said.topics[0]] if said.topics else "ask_other"
    act = "order" if said.act == "support" else said.act
    return act if act in KINDS else NOTHING


def _doubted(said: Said, kind: str, delivered: bool) -> bool:
    """Whether a clause that seems to order or to confirm supposes, denies, plans, waits or asks."""
    clause = said.clause
    if cues.HYPOTHESIS.search(cues.IDLE_IF.sub("", clause.sentence)) or cues.TELLS.search(clause.sentence):
        return True
    if clause.asks and not (cues.POLITE.search(clause.low) or (delivered and cues.CAN_YOU.search(clause.low))):
        return True
    doubts = (cues.NEGATION, cues.NEGATION_JA, cues.PLANS, _PENDING)
    return said.margins[kind] < _SURE and any(pattern.search(clause.low) for pattern in doubts)


def _decide(said: Said, kind: str) -> None:
    now, margin = kind_of(said), said.margins[kind]
    if now == NOTHING or now == "ask_other":
        if margin > _CLEAR.get(kind, _LIKELY) and (now == NOTHING or margin > said.margins[now]):
            _set(said, kind)
    elif now != kind and margin - said.margins[now] > _OVERRULES:
        _set(said, kind)
    elif said.margins[now] < -_DENIES and now != "order":
        said.act = "report" if said.goods else "say"


def _guess(spoken: Sequence[Said]) -> None:
    """Where a letter seems to want nothing, take what its words speak for most, if it moves no money."""
    quiet = [kind for kind in KINDS[1:] if kind not in _CHARGING]
    guesses = [(said.margins[kind], -at, kind) for at, said in enumerate(spoken) for kind in quiet]
    best = max(guesses, default=(_LAST_GUESS, 0, ""))
    if best[0] > _LAST_GUESS:
        _set(spoken[-best[1]], best[2])


def _set(said: Said, kind: str) -> None:
    if kind in _TOPICS:
        said.act, said.topics = "ask", ("quote",) if kind == "ask_price" and said.goods else _TOPICS[kind]
    else:
        said.act = kind
