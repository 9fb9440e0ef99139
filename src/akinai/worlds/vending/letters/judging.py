"""Judge clauses by all their words: integer weights of words, meanings and neighbours, learned from labelled letters.

The rules of `acts` come first; the weights speak where the rules know nothing, and overrule them where they are sure.
An order or a confirmation that only the weights see must be certain, without condition, doubt or question beside it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from akinai.worlds.vending.letters import cues
from akinai.worlds.vending.letters.acts import Said
from akinai.worlds.vending.letters.intents import Topic
from akinai.worlds.vending.letters.meaning.features import before, features, surroundings, turns_of
from akinai.worlds.vending.letters.meaning.weights import SCALE, WEIGHTS

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
_WILLING = -SCALE // 2

_ASIDE = frozenset((NOTHING, "thank"))
_DOUBTING = frozenset(("later", "refuse", "revoke", "unreal", "tells", "lack", "whereabouts", "elsewhere"))
"""Turns of speech beside which a faint order or confirmation counts for nothing."""

_PENDING = re.compile(
    r"\b(?:before (?:we|i)|unable|under review|review(?:ing)?|reject\w*|declin\w*|elsewhere|"
    r"(?:some|any)(?:body|one) else|another (?:supplier|wholesaler)|"
    r"would have|had (?:we|i)|regret|undecided|discuss\w*|hold (?:it|the|on)|pass on|"
    r"got everything|everything (?:arrived|came|is here)|turn down|too (?:high|expensive)|time to (?:decide|"
    r"think))\b|協議|辞退|お時間|見送|断"
)
"""What is put off, refused, or done with somebody else."""
_WEIGHED = re.compile(
    r"\b(?:quot\w*|prices?|pricing|estimate|enquir\w*|inquir\w*|stock|inventory|sold|sales|report|ordered|received|"
    r"missing|cancel\w*|order #?[0-9]+)\b|\?|見積|価格|在庫|注文[0-9]"
)
"""What makes a bare list of goods something other than an order."""
_NO_CONSENT = re.compile(
    r"\b(?:apolog\w*|still valid|under review|acknowledge(?:s|d)? (?:the )?receipt|except|exceeds?|"
    r"confirm(?:ed|ing)? (?:the )?receipt|(?:got|acknowledge) your quote|already|twice|"
    r"understood that|automatically|who|on my desk|last (?:week|month))\b"
)
"""What makes a confirmation something other than consent."""
_HEARSAY = re.compile(
    r"\b(?:on (?:the|their|its) way|driver's name)\b|迷って|べきか|\"(?:\.\.\.)?\" ?と|と言われ|と書かれ"
)
"""What makes an order a question or another's words."""
_POLITE_JA = re.compile(r"(?:お願い|頼め|もらえ|いただけ|くれ).{0,12}(?:ます|せん|でしょう|る)")
_MAY_I = re.compile(r"\b(?:can|could|would|will|may) (?:you|we|i)\b")
_OTHERS = re.compile(
    r"\b(?:said|says|told|tells|talk\w*|called|mention\w*|suggest\w*|recommend\w*|heard|asked|thinks?|wants|"
    r"he|she|they|"
    r"dream\w*|jok\w*|wish|draft|example|test|template|someone|somebody|everybody|wrote|budget|candidates?|"
    r"idea)\b|\[ \]"
)
"""What others say, and what is no more than a thought."""
_NOT_NOW = re.compile(
    r"\bthank(?:s| you)?(?: (?:so|very) much)? for (?!us\b)|\b(?:know|tell me|see|check) (?:when|whether|"
    r"if)\b|\btracking\b|"
    r"\b(?:another|other) (?:supplier|wholesaler)|\binvoice (?:for|lists)\b|\b(?:came|come) in\b|\b(?:we|"
    r"i) (?:bought|paid)\b|"
    r"\b(?:one|some) day\b|\bin (?:principle|theory)\b|\b(?:old|former|previous) (?:supplier|wholesaler)|"
    r"\bwould simply\b|"
    r"\bstatus\b|\bevery (?:week|day|month|monday|tuesday|wednesday|thursday|friday)\b|\btake back\b|"
    r"\b(?:willing|prepared) to\b|\bstill (?:valid|on schedule|coming)\b|\bnext (?:week|month|monday|tuesday|"
    r"wednesday|"
    r"thursday|friday|saturday|sunday|time|year)\b|\bon (?:monday|tuesday|wednesday|thursday|friday|saturday|"
    r"sunday)$|"
    r"\b(?:invoiced|delivered|sent us|shipped us|received|paid for|under order|it contains|hold the)\b|"
    r"\b(?:we|i) (?:ordered|(?:shall|will) place)\b|在庫|見送"
)
"""What makes goods that are named those of another order: thanks, a state, a later day, another supplier."""
_REASSURING = re.compile(
    r"\b(?:no (?:rush|hurry|problem|later than)|not later than|nothing else|without (?:delay|further)|if not)\b"
)
_REPORTS_JA = re.compile(r"報告|売上|相談|の件")
_THESE = re.compile(
    r"\b(?:these|those|that|them|it|this|following|below|above|each|total|quote|quotation|offer|estimate|cost|"
    r"costs|"
    r"how much|price for)\b|見積|いくら|合計"
)
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
    delivered = "Ldelivery goods" in shared or any("bring" in turns_of(low) for low in lows)
    pending = any(_PENDING.search(low) for low in lows)
    quoting = any(kind_of(said) == "ask_price" and _asks_prices(said) for said in letter)
    for _, said in spoken:
        kind = max(KINDS[1:], key=said.margins.__getitem__)
        barred = (kind == "confirm" and pending) or (kind == "order" and quoting)
        if kind not in _CHARGING or not (barred or _doubted(said, kind, delivered)):
            _decide(said, kind)
    if not quoting and all(kind_of(said) in _ASIDE for said in letter):
        _agree([said for _, said in spoken], letter, delivered, pending)
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


def reports(said: Said) -> bool:
    """Whether a line of goods reports or plans, and its words speak neither for an order nor a question for prices."""
    low = said.clause.low
    faint = bool(said.margins) and max(said.margins["order"], said.margins["ask_price"]) < -2 * SCALE
    return faint and (_uncertain(low) or _REPORTS_JA.search(low) is not None)


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
    polite = cues.POLITE.search(clause.low) or _POLITE_JA.search(clause.low)
    if clause.asks and not (polite or (delivered and _MAY_I.search(clause.low))):
        return True
    doubts = (cues.NEGATION_JA, cues.PLANS, _PENDING)
    if kind == "confirm" and cues.WANTS_CONFIRMATION.search(clause.low):
        return True
    if kind == "order" and (
        cues.PLANS.search(clause.sentence)
        or _NOT_NOW.search(clause.low)
        or cues.NEGATION.search(_REASSURING.sub("", clause.low))
    ):
        return True
    return said.margins[kind] < _SURE and any(pattern.search(clause.low) for pattern in (cues.NEGATION, *doubts))


def _decide(said: Said, kind: str) -> None:
    now, margin = kind_of(said), said.margins[kind]
    if now == NOTHING or now == "ask_other":
        if margin > _CLEAR.get(kind, _LIKELY) and (now == NOTHING or margin > said.margins[now]):
            _set(said, kind)
    elif now != kind and margin - said.margins[now] > _OVERRULES:
        _set(said, kind)
    elif said.margins[now] < -_DENIES and now != "order":
        said.act = "report" if said.goods else "say"


def _asks_prices(said: Said) -> bool:
    """Whether a clause asks for the prices of what is listed beside it, more than it asks for anything else."""
    if not said.goods and not _THESE.search(said.clause.low):
        return False
    return all(said.margins.get("ask_price", 0) >= said.margins.get(kind, 0) for kind in ("ask_terms", "ask_other"))


def _agree(spoken: Sequence[Said], letter: Sequence[Said], delivered: bool, pending: bool) -> None:
    """Where a letter seems to want nothing, take its best clause for an order or a consent if nothing doubts it."""
    if pending or any(said.clause.asks or _uncertain(said.clause.low) for said in letter):
        return
    best = max(spoken, key=lambda said: max(said.margins[kind] for kind in _CHARGING), default=None)
    if best is None:
        return
    kind = max(_CHARGING, key=best.margins.__getitem__)
    margin = best.margins[kind]
    if kind == "order" and not (best.goods and len(_WORD.findall(_NO_WORDS.sub(" ", best.clause.low))) > 2):
        return
    if (
        margin > _WILLING
        and margin == max(best.margins[kind] for kind in KINDS[1:])
        and not _doubted(best, kind, delivered)
    ):
        best.act = kind


def _uncertain(low: str) -> bool:
    """Whether a clause puts off, refuses, supposes, reports or speaks of others."""
    doubts = (
        cues.HYPOTHESIS,
        cues.NEGATION,
        cues.NEGATION_JA,
        cues.PLANS,
        cues.REPORTS,
        _HEARSAY,
        _NO_CONSENT,
        _OTHERS,
    )
    return not _DOUBTING.isdisjoint(turns_of(low)) or any(pattern.search(low) for pattern in doubts)


def _guess(spoken: Sequence[Said]) -> None:
    """Where a letter seems to want nothing, take what its words speak for most, if it moves no money."""
    guesses = [(said.margins[kind], -at, kind) for at, said in enumerate(spoken) for kind in KINDS[1:]]
    best = max(guesses, default=(_LAST_GUESS, 0, ""))
    if best[0] > _LAST_GUESS and best[2] not in _CHARGING:
        _set(spoken[-best[1]], best[2])


def _set(said: Said, kind: str) -> None:
    if kind in _TOPICS:
        said.act, said.topics = "ask", ("quote",) if kind == "ask_price" and said.goods else _TOPICS[kind]
    else:
        said.act = kind
