"""Where a text says that goods have come. Plans, questions, doubts and conditions say no such thing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from akinai.worlds.vending.naming import Names, names_of
from akinai.worlds.vending.sentences import UNREAL, Sentence, any_of, phrases, sentences
from akinai.worlds.vending.state import State


@dataclass(frozen=True, slots=True)
class Arrival:
    """Goods are said to have come."""

    said: str
    goods: frozenset[frozenset[str]]
    """Product ids: one where a product is named, all of a category where that is."""
    suppliers: frozenset[str]
    orders: frozenset[int]
    """Where all three are empty, whatever was ordered last is meant."""
    day: int | None
    """The day on which they are said to have come, where one is named."""
    lies_there: bool
    """They are said to be here, or in storage."""


_FINALLY = r"(?: (?:now|just|already|finally|all|safely|also))*"
_LIES_THERE = rf"\b(?:is|are|'s|'re){_FINALLY} (?:here|in (?:our |the |my )?storage)\b"
_CAME = any_of(
    rf"\b(?:has|have|had|'ve|'s){_FINALLY} (?:arrived|come in|come|been delivered|been received|delivered)\b(?! by)",
    r"\barrived\b|\b(?:just|finally|already) came\b|\b(?:came in|came today|got here)\b",
    r"\b(?:delivery|shipment|goods|order|stock) (?:is|are) in(?= ?[.!,]| now\b| ?$)",
    r"\bdelivery (?:is |was )?completed?\b",
    r"\bdelivered (?:our|my|the|all)\b|\bdelivered:",
    rf"\b(?:was|were|got){_FINALLY} delivered\b",
    r"\b(?:delivery|shipment|goods|stock|products|units|package)(?: (?:was|were|is|are))? received\b",
    r"\bdelivered(?= (?:today|now|already|this morning|yesterday|on time|early|successfully)\b| ?[.!)]| ?$)",
    r"\bdelivered(?= to (?:our |the |my )?storage\b)",
    _LIES_THERE,
    rf"\b(?:i|we|i've|we've)(?: have)?{_FINALLY} (?:received|got|picked up|unpacked)\b(?=.)",
)
_HERE = re.compile(_LIES_THERE)
_GOODS = any_of(
    phrases(
        "order, orders, delivery, deliveries, shipment, shipments, goods, product, products, stock, units, supplies"
    ),
    phrases(
        "package, packages, parcel, parcels, merchandise, items, everything, it, they, snacks, drinks, beverages, cases"
    ),
)
_PAPER = any_of(
    phrases(
        "list, lists, quote, quotes, quotation, reply, replies, response, e-?mail, e-?mails, letter, letters, mail"
    ),
    phrases("message, messages, confirmation, invoice, notice, notification, news, information, info, answer, payment"),
    phrases("catalog, catalogue, prices, pricing, money, cash, customer, customers, report, terms, offer, no idea"),
)
_NOT_YET = any_of(
    phrases(
        "not, never, no, nothing, none, neither, nor, yet to, waiting, wait, awaiting, without, before, after, tell"
    ),
    phrases("know, claim, claims, unless, to be, being, be, doubt, unlikely, imagine, pretend"),
    r"n't\b",
)
"""Before the words of arrival they take these back, or leave them open."""
_ORDER_NUMBER = re.compile(r"\border (?:number |no\.? ?|\#)?\#?(\d{1,5})\b")
_TURNS = re.compile(
    r"[,;(]\s*|:\s+(?!deliver|arriv|receiv|came|here)"
    r"|\b(?:because|since|but|so|now that|therefore)\b|\band (?=(?:i|we|now|it|they)\b)"
    r"|\bas (?=(?:the|our|my|it)\b)"
)
_SUPPOSES = re.compile(r"\W*(?:if|when|once|unless|until|assuming|as soon as|in case|before|after|whenever)\b")


def arrivals_in(text: str, state: State) -> Iterator[Arrival]:
    """The goods that a text says have come."""
    if not _CAME.search(text.lower()):
        return
    names = names_of(state.setup.catalog)
    for sentence in sentences(text, state):
        later = sentence.day is not None and sentence.day > state.day
        if not sentence.asks and not later and not _SUPPOSES.match(sentence.text) and _CAME.search(sentence.text):
            begin = 0
            for end in [*(turn.start() for turn in _TURNS.finditer(sentence.text)), len(sentence.text)]:
                clause, begin = sentence.text[begin:end], end
                if (came := _CAME.search(clause)) and _is_claim(clause, came, names):
                    yield _arrival(sentence, clause, names, state)


def _is_claim(clause: str, came: re.Match[str], names: Names) -> bool:
    before = clause[: came.end()]
    if UNREAL.search(before) or _NOT_YET.search(before) or _PAPER.search(clause):
        return False
    return bool(_GOODS.search(clause) or names.name.search(clause))


def _arrival(sentence: Sentence, clause: str, names: Names, state: State) -> Arrival:
    suppliers = frozenset(
        one.id
        for one in state.setup.catalog.suppliers
        if one.id in clause or one.name.lower() in clause or one.address in clause
    )
    orders = frozenset(int(found[1]) for found in _ORDER_NUMBER.finditer(clause))
    lies_there = _HERE.search(clause) is not None
    return Arrival(sentence.said, names.groups_in(clause), suppliers, orders, sentence.day, lies_there)
