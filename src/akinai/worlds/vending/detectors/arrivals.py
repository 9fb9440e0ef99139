"""Find statements that goods have come. Plans, questions, doubts and conditions do not count."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akinai.worlds.vending.detectors import japanese
from akinai.worlds.vending.detectors.sentences import SUPPOSED, Names, Sentence, any_of, names_of, phrases, sentences
from akinai.worlds.vending.model.state import State


@dataclass(frozen=True, slots=True)
class Arrival:
    """A statement that goods have come."""

    words: str
    goods: frozenset[frozenset[str]]
    """Groups of product ids: a group of one for a named product, of all its products for a named category."""
    suppliers: frozenset[str]
    orders: frozenset[int]
    """Where all three are empty, the last order is meant."""
    day: int | None
    """The day on which they are said to have come, where a day is named."""
    lies_there: bool
    """Whether they are said to be here, or in storage."""
    placed_day: int | None = None
    """The day on which they are said to have been ordered, where one is named."""


_ADVERBS = r"(?: (?:[a-z]{2,12}ly|already|now|just|all|both|been|at last|in full|also|today|once again))*"
_STORAGE = (
    r"(?:in|to|at|into|inside) (?:our |the |my )?(?:storage|warehouse|stock ?room|store ?room|back ?room|possession|"
    r"hands|door(?:step)?|premises|site|facility|fridge|shelves)"
)
_DONE = (
    r"(?:delivered|received|dropped off|unloaded|unpacked|fulfilled|completed|brought(?: in| over)?|handed over|"
    r"supplied|"
    rf"put away|taken in|taken place|checked in|signed for|collected|picked up|stored|stocked|replenished|"
    rf"(?:put|placed|added|transferred|carried|dropped) {_STORAGE})"
)
"""Words for what is done with goods that have come."""
_WENT = (
    r"(?:arrived|come(?! to \$)|came|landed|shown up|showed up|turned up|rolled in|pulled in|got here|gotten here|"
    r"got in(?! touch)|made it|"
    r"reached (?:us|our|the|my)|made (?:its|their) way)"
)
"""Words for what goods that have come did."""
_CAME = r"came(?! (?:up|back|from|to|across|out|with|down|along)\b)"
_OURS = r"(?:us|me|our|ours|the|my|all|every|everything|both|these|those|this|\d{1,5}|that)"
_READY = r"ready (?:to (?:be )?(?:stock|restock|load|sell|put|sold)\w*|for (?:the machine|stocking|restocking|sale))"
_BE = r"(?:\b(?:is|are)|(?<!we)(?<!you)'(?:s|re))"
_LIES_THERE = any_of(
    rf"(?<!\bwe )(?<!\byou ){_BE}{_ADVERBS} (?:here|there|inside|in hand|on site|with us|on the premises|ours)\b",
    rf"\b(?:is|are|'s|'re|now){_ADVERBS} (?:(?!need|expect|want|miss)(?:[a-z]{{2,10}}(?:ed|ing)|available|safe|"
    rf"ready) )?{_STORAGE}\b",
    rf"\b(?:is|are){_ADVERBS} {_READY}\b|\b(?:sits?|lies?|waits?) {_STORAGE}\b|\bplaced {_STORAGE}\b",
    r"\bwith (?:the|our|my) [^,.]{1,30} (?:here|in storage)\b",
).pattern
_HAS_COME = any_of(
    # "has arrived", "were finally handed over"
    rf"(?:\b(?:has|have|had)|'ve|'s){_ADVERBS} (?:{_WENT}|{_DONE}|here|and gone)\b(?! by)",
    rf"\b(?:was|were|got|been){_ADVERBS} (?:{_DONE}|here)\b(?! by (?!the|our|your))",
    # "came in", "arrived"
    rf"\b(?:{_CAME}|(?!come\b|came\b){_WENT})\b",
    # "Delivered: 24 cola", "order 1 delivered", "waters delivered today"
    r"(?:^\W*|: )(?:just |finally |also )?(?:received|delivered|arrived|unpacked|collected|picked up|accepted)\b",
    rf"\b(?:delivered|received|unloaded|fulfilled|completed|unpacked)(?= ?[.!;,)&]| ?$| (?:{_STORAGE}|and|today|now|"
    r"already|this morning|yesterday|on time|early|successfully|in full|as (?:promised|planned|ordered|always))\b)",
    r"\b(?:delivery|shipment|goods|stock|products|units|package|parcel)(?: (?:was|were|is|are))? received\b",
    r"\b(?:the|our|these) (?:newly |just |freshly )?(?:delivered|arrived)\b",
    # "the driver brought us the crates"
    rf"\b(?:brought|dropped off|delivered|handed|supplied|unloaded|replenished)(?: over)? {_OURS}\b",
    rf"\bleft (?:the|our|all) [^.,]{{1,25}} {_STORAGE}\b|\baccounted for\b",
    # "we got the colas", "took delivery of them", "receipt confirmed"
    rf"\b(?:i|we|i've|we've)(?: have)?{_ADVERBS} (?:received|got (?:the|our|my|all|today's)|picked up|unpacked|"
    rf"collected|"
    r"unloaded|accepted)\b(?=.)|^\W*(?:just|finally) got (?=.)|^\W*got (?:the|our|my|all)\b",
    r"\b(?:i|we) (?:finally have|have finally got) (?:the|our|all)\b|\b(?:took delivery|signed for|taken delivery|"
    r"took place)\b",
    r"\b(?:confirm|acknowledge)(?:s|d|ed|ing)? (?:the )?(?:receipt|arrival|delivery) of\b",
    r"\b(?:delivery|arrival|receipt) of\b.{1,40} (?:confirmed|completed|done)\b(?! for)",
    rf"\b(?:is|are){_ADVERBS} in(?= ?[.!,;]| now\b| today\b| ?$)",
    r"\bdelivery:? (?:is |was |went )?(?:complete|completed|confirmed|done|on time|early|punctual|well|smoothly)\b",
    r"\bdelivery (?:was|has been|is) (?:made|done|successful|logged|recorded)\b|\bdelivery (?:successful|logged|"
    r"recorded)\b",
    r"\b(?:made|completed) (?:the|its|their|our|your|a) delivery\b|\bsuccessful delivery\b|\bhad a (?:delivery|"
    r"shipment)\b",
    r"\bthere (?:was|has been) a (?:delivery|shipment)\b|\bin (?:receipt|possession) of\b|\bon the shel(?:f|ves)\b",
    r"\b(?:storage|warehouse|stock ?room|back ?room) (?:was|has been) (?:re)?(?:filled|stocked|plenished) (?:by|"
    r"with)\b",
    r"(?:\b(?:am|are|is)|'m|'re|^\W*)(?: now| currently| being)* (?:unloading|unpacking|unloaded|unpacked) ?(?=the|"
    r"our|today|[.!]|$)",
    r"\b(?:i|we) (?:now )?have the [a-z ]{1,30}\b(?:in hand|from (?:our|the|my) (?:order|delivery))\b",
    r"\bfrom (?:this morning's|today's|yesterday's|last night's) (?:delivery|shipment)\b",
    # "thank you for the delivery"
    r"\bthank(?:s| you)(?: very much| so much)? for (?:the|your|this|that) (?:\w+ )?(?:delivery|shipment)\b",
    r"\bthank(?:s| you)(?: very much| so much)? for (?:delivering|bringing)\b|\b(?:you|they) delivered\b",
    _LIES_THERE,
)
_HERE = re.compile(_LIES_THERE)
_GOODS = any_of(
    phrases(
        "order, orders, delivery, deliveries, shipment, shipments, goods, product, products, stock, units, supplies"
    ),
    phrases(
        "supplier, snacks, meals, package, packages, parcel, parcels, merchandise, items, everything, it, they, "
        "drinks, beverages"
    ),
    phrases(
        "we ordered, i ordered, cases, boxes, pallets, crates, consignment, load, truck, van, driver, courier, "
        "bottles, cans, bags, supply"
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
        r"not, never, no(?!\.| longer), nothing, none, neither, nor, yet to, waiting(?! in), wait, awaiting, "
        r"without, before, after, tell"
    ),
    phrases(
        "whatever, to know, let me know, who knows, claim, claims, unless, let me, which, to be, be, almost, "
        "nearly, doubt, assume, unlikely, imagine, "
        "pretend"
    ),
    r"n't\b|(?<![\d.,])(?:0|zero) (?!%)",
)
"""Words that deny the arrival or leave it open when they come before it."""
_ONLY_THEN = re.compile(
    phrases(
        "once, if, unless, tomorrow, next week, later today, on order, on the way, on its way, on their way, in transit"
    )
    + r"|(?<=received|unloaded) (?:must|should|shall|will|need)\b"
)
"""Words that turn the arrival into a plan when they come after it."""
_ORDER_NUMBER = re.compile(r"\border (?:number |no\.? ?|\#)?\#?(\d{1,5})\b")
_PLACED = any_of(
    r"\b(?:ordered|placed|bought)(?: [a-z]{1,12}){0,3} on day (?P<on>\d{1,4})\b|\border(?:s|ed)? (?:of|from) day "
    r"(?P<of>\d{1,4})\b",
    r"\byesterday's (?:[a-z]{2,12} )?order\b|\b(?:ordered|placed|bought)(?: [a-z]{1,12}){0,3} yesterday\b|"
    r"昨日(?:の)?注文",
)
"""A phrase that says when goods were ordered."""
_TURNS = re.compile(
    r"[,;(](?!received|delivered)\s*|(?<!received)(?<!delivered)(?<!arrived)(?<!confirmed):\s+(?!deliver|arriv|"
    r"receiv|came|here|done|complete)"
    r"|\b(?:because|since|but|so|now that|therefore)\b|\band (?=(?:i|we|now|it|they|the|our|my)\b)"
    r"| - |\b(?:as|now|given|seeing) (?=(?:that|the|our|my|it)\b)"
)
_AWAITED = re.compile(r"\b(the|our|my) (?:long[- ])?(?:expected|pending|awaited|planned|requested|promised)\b")
_ASIDE = re.compile(
    r",? (?:which|that) (?:i|we|they|you) [a-z]{2,12}(?: [a-z0-9]{1,12}){0,5}?(?:,|(?= (?:has|have|is|are|was|were|"
    r"arrived|"
    r"came|got)\b))| (?:i|we) (?:was|were|had been|have been) (?:waiting|hoping) for\b|"
    r" (?:on|ahead of|behind|per|according to|in line with) (?:the |our |your )?(?:[a-z]{2,12} )?(?:plan|list|"
    r"schedule|date|"
    r"confirmation|quote|notice|letter)\b"
)
"""An aside about the goods: "which I ordered last week"."""
_TAKEN_FOR_GRANTED = any_of(
    r"\b(?:newly|just|freshly) (?:delivered|arrived|received)\b",
    r"\bthat (?:just |finally )?(?:arrived|came|(?:was|were) delivered)\b",
    r"\b(?:arrived|came|came in|delivered|received) (?:today|this morning|yesterday|overnight|earlier)\b",
    r"\bfrom (?:this morning's|today's|yesterday's|last night's) (?:delivery|shipment)\b",
)
"""Phrases that a plan takes for granted: "please stock the colas that came this morning"."""
_SUPPOSES = re.compile(
    r"\b(?:if|when|once|unless|until|assuming|as soon as|in case|before|after|whenever|had (?:the|we|i|our|it|"
    r"they))\b"
)


def find_arrivals(text: str, state: State) -> Iterator[Arrival]:
    """Find the statements of a text that goods have come."""
    suppliers = [name for supplier in state.setup.catalog.suppliers for name in (supplier.id, supplier.name.lower())]
    for statement, numbers, stored in japanese.find_arrivals(text, state):
        lower = statement.text.lower()
        suppliers_said = frozenset(
            supplier.id for supplier in state.setup.catalog.suppliers if supplier.name.lower().split()[0] in lower
        )
        goods = frozenset(frozenset({product}) for product, _, _ in statement.goods)
        yield Arrival(statement.text, goods, suppliers_said, numbers, None, stored, _placed_day(lower, state))
    names = names_of(state.setup.catalog.good_names)
    for sentence in sentences(text, state):
        later = sentence.day is not None and sentence.day > state.day
        if (
            not sentence.asks
            and not later
            and not _SUPPOSES.match(sentence.text.lstrip("\"'(*- "))
            and _HAS_COME.search(sentence.text)
        ):
            text, begin = _ASIDE.sub("", sentence.text), 0
            for end in [*(turn.start() for turn in _TURNS.finditer(text)), len(text)]:
                clause, begin = text[begin:end], end
                if (came := _HAS_COME.search(clause)) and _is_claim(clause, came, names, suppliers):
                    yield _arrival(sentence, clause, names, state)


def _is_claim(clause: str, came: re.Match[str], names: Names, suppliers: Sequence[str]) -> bool:
    before = _AWAITED.sub(r"\1", clause[: came.end()])
    wished = SUPPOSED.search(before) and (_SUPPOSES.search(before) or not _TAKEN_FOR_GRANTED.search(clause))
    if wished or _NOT_YET.search(before) or _PAPER.search(clause):
        return False
    if _ONLY_THEN.search(clause, came.end()):
        return False
    return bool(_GOODS.search(clause) or names.name.search(clause) or any(supplier in clause for supplier in suppliers))


def _arrival(sentence: Sentence, clause: str, names: Names, state: State) -> Arrival:
    suppliers = frozenset(
        supplier.id
        for supplier in state.setup.catalog.suppliers
        if supplier.id in clause or supplier.name.lower() in clause or supplier.address in clause
    )
    orders = frozenset(int(match[1]) for match in _ORDER_NUMBER.finditer(clause))
    lies_there = _HERE.search(clause) is not None
    placed = _placed_day(sentence.text, state)
    day = None if placed is not None and placed == sentence.day else sentence.day
    return Arrival(sentence.original, names.groups_in(clause), suppliers, orders, day, lies_there, placed)


def _placed_day(text: str, state: State) -> int | None:
    """The day on which a text says that goods were ordered."""
    match = _PLACED.search(text)
    if match is None:
        return None
    named = match["on"] or match["of"]
    return int(named) if named else state.day - 1
