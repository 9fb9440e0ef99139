"""Where a text says that goods have come. Plans, questions, doubts and conditions say no such thing."""

import re
from collections.abc import Iterator, Sequence
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


_FINALLY = r"(?: (?:now|just|already|finally|all|safely|also|both|been))*"
_STORAGE = r"(?:in|to|at) (?:our |the |my )?(?:storage|warehouse|stock ?room|store ?room|back ?room)"
_COME = (
    r"(?:arrived|come|come in|shown up|turned up|landed|made it|reached (?:us|our|the|my)|got here|gotten here|"
    r"delivered|received|dropped off|unloaded|fulfilled|completed|brought in)"
)
_READY = r"ready (?:to (?:be )?(?:stock|restock|load|sell|put|sold)\w*|for (?:the machine|stocking|restocking|sale))"
_LIES_THERE = any_of(
    rf"(?<!\bwe )(?<!\byou )\b(?:is|are|it's|they're){_FINALLY} "
    r"(?:here|there|in hand|on site|with us|on the premises|in our possession|ours)\b",
    rf"\b(?:is|are|'s|'re){_FINALLY} (?:(?:sitting|waiting|lying|stored|stacked|piled|ready|safely) )?{_STORAGE}\b",
    rf"\b(?:is|are){_FINALLY} (?:{_READY}|at (?:our|the|my) door(?:step)?)\b|\b(?:sits?|lies?|waits?) {_STORAGE}\b",
).pattern
_GOT = r"(?:received|got (?:the|our|my|all|today's)|picked up|unpacked|collected|unloaded|accepted)"
_CAME = any_of(
    rf"\b(?:has|have|had|'ve|'s){_FINALLY} "
    rf"(?:{_COME}|here|stored|stocked|put away|put {_STORAGE}|taken place|and gone)\b(?! by)",
    r"\b(?:brought|dropped off|supplied) (?:us|our|the|my|all)\b",
    r"\b(?:i|we) (?:finally have|have finally got) (?:the|our|all)\b",
    r"\b(?:arrived|showed up|turned up|landed|got here|dropped off|unloaded|signed for|took delivery|took place)\b",
    r"\bcame(?! (?:up|back|from|to|across|out|with|down|along)\b)\b",
    r"\bmade (?:it (?:here|in|to)|its way)\b|\breached (?:us|our|the|my)\b",
    rf"\b(?:was|were|got){_FINALLY} (?:delivered|dropped off|unloaded|brought in|here)\b",
    r"\b(?:delivery|shipment|goods|stock|products|units|package)(?: (?:was|were|is|are))? received\b",
    rf"\b(?:is|are){_FINALLY} in(?= ?[.!,;]| now\b| today\b| ?$)",
    r"\bdelivery (?:is |was |went )?(?:complete|completed|done|on time|early|punctual|well|smoothly)\b",
    r"\b(?:delivery|arrival|receipt) of\b.{1,40} confirmed\b(?! for)",
    r"\bthank(?:s| you)(?: very much| so much)? for (?:the|your|this|that) (?:\w+ )?(?:delivery|shipment)\b",
    r"\b(?:the|our|these) (?:newly |just |freshly )?(?:delivered|arrived)\b",
    r"\bdelivered (?:our|my|the|all)\b|\bdelivered:",
    r"\bdelivered(?= (?:today|now|already|this morning|yesterday|on time|early|successfully|as)\b| ?[.!)]| ?$)",
    rf"\bdelivered(?= {_STORAGE}\b)",
    _LIES_THERE,
    rf"\b(?:i|we|i've|we've)(?: have)?{_FINALLY} {_GOT}\b(?=.)|^\W*(?:just |finally |also )?{_GOT} (?=.)",
)
_HERE = re.compile(_LIES_THERE)
_GOODS = any_of(
    phrases(
        "order, orders, delivery, deliveries, shipment, shipments, goods, product, products, stock, units, supplies"
    ),
    phrases(
        "supplier, package, packages, parcel, parcels, merchandise, items, everything, it, they, drinks, beverages"
    ),
    phrases(
        "cases, boxes, pallets, crates, consignment, load, truck, van, driver, courier, bottles, cans, bags, supply"
    ),
)
_PAPER = any_of(
    phrases(
        "list, lists, quote, quotes, quotation, reply, replies, response, e-?mail, e-?mails, letter, letters, mail"
    ),
    phrases("message, messages, confirmation, invoice, notice, notification, news, information, info, answer, payment"),
    phrases("catalog, catalogue, prices, pricing, money, cash, customer, customers, report, terms, offer, no idea"),
    phrases("date, schedule, update"),
)
_NOT_YET = any_of(
    phrases(
        "not, never, no, nothing, none, neither, nor, yet to, waiting, wait, awaiting, without, before, after, tell"
    ),
    phrases("know, claim, claims, unless, let me, which, to be, being, be, doubt, unlikely, imagine, pretend"),
    r"n't\b",
)
"""Before the words of arrival they take these back, or leave them open."""
_ONLY_THEN = re.compile(
    phrases(
        "once, if, unless, tomorrow, next week, later today, on order, on the way, on its way, on their way, in transit"
    )
)
"""Behind the words of arrival they make a plan of them."""
_ORDER_NUMBER = re.compile(r"\border (?:number |no\.? ?|\#)?\#?(\d{1,5})\b")
_TURNS = re.compile(
    r"[,;(]\s*|:\s+(?!deliver|arriv|receiv|came|here)"
    r"|\b(?:because|since|but|so|now that|therefore)\b|\band (?=(?:i|we|now|it|they)\b)"
    r"|\bas (?=(?:the|our|my|it)\b)"
)
_SUPPOSES = re.compile(r"\W*(?:if|when|once|unless|until|assuming|as soon as|in case|before|after|whenever)\b")


_STEMS = (
    *"arriv deliver receiv came come landed shown showed turned reached got dropped unload fulfil complet".split(),
    *"brought been finally".split(),
    *"signed took taken happened stored picked unpacked collected accepted thank possession premises ready".split(),
    *(
        "made it",
        " here",
        " there",
        " hand",
        " site",
        "with us",
        " ours",
        "storage",
        "warehouse",
        "room",
        "door",
        "put a",
    ),
    *("is in", "are in", "now in", "all in", "been in", "already in", "finally in", "safely in", "both in", "also in"),
)
"""A text that holds none of these tells of no arrival: a quick look before the long one."""


def arrivals_in(text: str, state: State) -> Iterator[Arrival]:
    """The goods that a text says have come."""
    whole = text.lower()
    if not any(stem in whole for stem in _STEMS):
        return
    suppliers = [name for one in state.setup.catalog.suppliers for name in (one.id, one.name.lower())]
    names = names_of(state.setup.catalog)
    for sentence in sentences(text, state):
        later = sentence.day is not None and sentence.day > state.day
        if not sentence.asks and not later and not _SUPPOSES.match(sentence.text) and _CAME.search(sentence.text):
            begin = 0
            for end in [*(turn.start() for turn in _TURNS.finditer(sentence.text)), len(sentence.text)]:
                clause, begin = sentence.text[begin:end], end
                if (came := _CAME.search(clause)) and _is_claim(clause, came, names, suppliers):
                    yield _arrival(sentence, clause, names, state)


def _is_claim(clause: str, came: re.Match[str], names: Names, suppliers: Sequence[str]) -> bool:
    before = clause[: came.end()]
    if UNREAL.search(before) or _NOT_YET.search(before) or _PAPER.search(clause):
        return False
    if _ONLY_THEN.search(clause, came.end()):
        return False
    return bool(_GOODS.search(clause) or names.name.search(clause) or any(one in clause for one in suppliers))


def _arrival(sentence: Sentence, clause: str, names: Names, state: State) -> Arrival:
    suppliers = frozenset(
        one.id
        for one in state.setup.catalog.suppliers
        if one.id in clause or one.name.lower() in clause or one.address in clause
    )
    orders = frozenset(int(found[1]) for found in _ORDER_NUMBER.finditer(clause))
    lies_there = _HERE.search(clause) is not None
    return Arrival(sentence.said, names.groups_in(clause), suppliers, orders, sentence.day, lies_there)
