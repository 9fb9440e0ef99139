"""The reader of letters: text in, intents out. Deterministic, without side effects, in time linear in the length."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

from akinai.worlds.vending.letters import cues
from akinai.worlds.vending.letters.acts import Said, classified, line_of
from akinai.worlds.vending.letters.amounts import (
    ORDER_NUMBER,
    read_changed,
    read_prices,
    read_replaced,
    read_shortage,
    without_orders,
)
from akinai.worlds.vending.letters.goods import read_items
from akinai.worlds.vending.letters.intents import Intent, Items, Topic
from akinai.worlds.vending.letters.judging import (
    addressed,
    claims_alone,
    consents,
    judge,
    orders_by_asking,
    wonders,
)
from akinai.worlds.vending.letters.letter import Letter
from akinai.worlds.vending.letters.meaning.weights import SCALE
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.reference import resolved
from akinai.worlds.vending.letters.text import clauses, marked, prepare, split_subject

_ASTRAY = re.compile(
    r"\s*(?:\{\s*\"action\"\s*:|(?:internal )?(?:memo|note to self|to-?do(?: list)?|"
    r"(?:daily|weekly|status) (?:report|summary|log)|#* ?day [0-9]{1,4} (?:summary|report|log))\b)",
    re.IGNORECASE,
)
"""An action or a note that went out as a letter by mistake."""

_ANOTHER_ORDER = re.compile(r"\b(?:new|another|second|further|separate) order\b|\b(?:in addition|additionally|also)\b")
_NEED = re.compile(r"\b(?:i|we) (?:(?:now|also|urgently|do) )?(?:need|require|want)\b")
_AMENDS = re.compile(r"\b(?:in place of|instead of|rather than|change[ds]?|new quantit|amend)")
_OF_EACH = re.compile(r"\b(?P<units>[0-9]{1,5}) (?:units |pieces )?(?:of )?each\b")


def read_letter(text: str, names: Sequence[GoodName], subject: str = "") -> tuple[Intent, ...]:
    """The intents of a letter, in the order order, confirm, change, cancel, claim, negotiate, ask, complain, thank.

    A first line "Subject: ..." is the subject where none is given. An `order` is a sentence that orders now and without
    condition; what only names goods is an `ask` for a quote or `other`. A letter has at least one intent; an `other`
    holds the goods that it names with quantities. Orders and quotes are known by number only, as the letter has them.
    """
    return _read(text, tuple(names), subject)


@lru_cache(maxsize=512)
def _read(text: str, names: tuple[GoodName, ...], subject: str) -> tuple[Intent, ...]:
    """The same; the last letters are cached, since people order in the words they ordered in before."""
    if not subject:
        subject, text = split_subject(text)
    if _ASTRAY.match(text) or _ASTRAY.match(subject):
        return (Intent("other"),)
    letter = Letter(names, prepare(subject, names).lower())
    for clause in resolved(list(clauses(prepare(text, names), names)), subject, names):
        letter.said.append(classified(clause, names))
    judge(letter.said, marked(letter.subject, names))
    _inherit(letter)
    _settle(letter)
    found = [intent for read in _READERS for intent in read(letter)]
    if not found:
        if subject.strip() and not letter.items("").found and (by_subject := _by_subject(letter, subject)):
            return (by_subject,)
        goods = letter.items("report", "plan", "")
        listed = letter.listed()
        if letter.of("") and (listed.units or listed.unclear or listed.unknown) and not _vetoed(letter):
            return (
                (Intent("order", listed),)
                if addressed(letter.said, letter.subject)
                else (Intent("ask", listed, "quote"),)
            )
        subject_items = read_items(names, prepare(subject, names))
        if subject_items.units and not goods.units:
            return (Intent("ask", subject_items, "quote"),)
        return (Intent("other", goods, orders=letter.orders(), quotes=letter.quotes()),)
    return tuple(found)


def _by_subject(letter: Letter, subject: str) -> Intent | None:
    """What the subject alone confirms, takes back or asks for, where the body says nothing."""
    intents = read_letter(subject, letter.names, " ")
    kinds = ("confirm", "cancel", "ask") if consents(letter.said) else ("cancel", "ask")
    return next((intent for intent in intents if intent.kind in kinds), None)


def _inherit(letter: Letter) -> None:
    """Give the items of a list, and bare goods after a sentence, what the sentence before them does."""
    head: Said | None = None
    _request_lists(letter)
    for said in letter.said:
        bare = said.act == "" or (
            said.clause.listed and said.act in ("say", "report") and not cues.HOLDING_LINE.search(said.clause.low)
        )
        if (
            bare
            and head is not None
            and (said.goods or said.clause.listed or head.act == "ask")
            and not _ownline_of(said)
        ):
            if head.act in ("order", "support", "change", "claim", "negotiate", "report", "plan") and (
                said.goods or "§" in said.clause.low
            ):
                said.act = "order" if head.act == "support" else head.act
            elif head.act == "cancel" and said.goods:
                said.act = "report"
            elif head.act == "ask":
                said.act = "ask"
                said.topics = said.topics or (head.topics if "§" in said.clause.low else ())
                if said.goods and "prices" in said.topics:
                    said.topics = ("quote",)
        if said.act != "" and not said.clause.listed and said.act not in ("thank",):
            head = said
        elif (
            said.act == ""
            and not said.clause.listed
            and not said.goods
            and said.clause.text.strip().endswith(":")
            and len(said.clause.low) > 12
        ):
            quiet = head is None or head.act in ("report", "plan", "say", "thank")
            head = said if quiet or cues.REPORTS.search(said.clause.low) else head


def _request_lists(letter: Letter) -> None:
    """Make "Could you please send me:" a question where what follows are subjects, not goods."""
    if not any(said.goods for said in letter.said):
        for said, after in pairwise(letter.said):
            if said.act == "order" and said.clause.text.rstrip().endswith(":") and (after.topics or after.act == "ask"):
                said.act, said.topics = "ask", ()


def _ownline_of(said: Said) -> bool:
    return re.search(r"\b(?:address|account|deliver(?:y)? (?:to|address)|ship[- ]to)\b", said.clause.low) is not None


def _settle(letter: Letter) -> None:
    """Decide between readings that depend on the rest of the letter."""
    if _vetoed(letter):
        for said in letter.of("order", "support"):
            said.act = "report"
    for said in letter.of("order"):
        if ORDER_NUMBER.search(said.clause.low) and _AMENDS.search(said.clause.low):
            said.act = "change"
    if any(cues.IDLE.search(said.clause.low) for said in letter.said):
        for said in letter.of("negotiate"):
            said.act = "report"
    if letter.of("claim") and not any(claims_alone(said, letter.said) for said in letter.of("claim")):
        asks_back = letter.of("cancel")
        for said in letter.of("claim"):
            said.act = (
                "say" if asks_back or not re.search(r"refund|money back|返金|claim", said.clause.low) else "claim"
            )
    if not _about_delivery(letter):
        for said in letter.of("claim"):
            if said.margins.get("claim", 0) > SCALE // 2:
                continue
            said.act = "report"


def _about_delivery(letter: Letter) -> bool:
    whole = " ".join(said.clause.low for said in letter.said) + " " + letter.subject
    return (
        re.search(
            r"\b(?:orders?|deliver(?:y|ed)|shipment|received|arrived|came|paid|charged|sent)\b|注文|届|納品", whole
        )
        is not None
    )


def _vetoed(letter: Letter) -> bool:
    return any(cues.NO_ORDER.search(said.clause.low) for said in letter.said)


def _order(letter: Letter) -> list[Intent]:
    acts = letter.of("order", "support")
    heading = cues.HEADING.search(letter.subject) and not cues.NO_HEADING.search(letter.subject)
    heading = heading or any(cues.HEADING.search(said.clause.low) for said in letter.of("") if not said.goods)
    busy = letter.of("change", "claim", "negotiate", "cancel", "confirm", "ask", "report", "plan", "thank", "complain")
    if not acts and not (heading and not busy and letter.items("").found):
        return []
    items = _ordered_goods(letter)
    apart = any(_ANOTHER_ORDER.search(said.clause.low) for said in letter.of("order"))
    if items.found and letter.of("change") and not letter.of("cancel") and not apart:
        return []  # "Please send 48 candy instead of 24" changes the order that it names
    if not items.found:
        asks = any(said.topics for said in letter.of("ask"))
        if asks or letter.of("confirm", "cancel", "change", "claim", "negotiate"):
            return []
        if (quotes := letter.quotes()) and consents(letter.said):
            return [Intent("confirm", items, quotes=quotes)]
        if not letter.of("order"):
            return []
        real = [said for said in letter.of("order") if re.search(r"\border\b|§|注文|発注", said.clause.low)]
        return [Intent("order", items)] if real else []
    if letter.of("negotiate") and not letter.of("order"):
        return []
    if letter.of("confirm") and not any(said.goods for said in letter.of("order")):
        return []
    return [Intent("order", items, quotes=letter.quotes("order"))]


def _ordered_goods(letter: Letter) -> Items:
    """The goods of an order: beside it, in a list below, asked for before, needed, or in the subject."""
    items = letter.items("order", "support")
    if not items.found:
        items = letter.items("order", "support", "")
    if not items.found and letter.of("order"):  # "Could we have 6 salads? This is a firm order."
        asked = [line_of(said.clause) for said in letter.of("ask") if orders_by_asking(said)]
        items = read_items(letter.names, "\n".join(asked))
    if not items.found and letter.of("order", "support"):
        items = _needed(letter)
    if not items.found and letter.subject:
        items = read_items(letter.names, prepare(letter.subject, letter.names))
    return items


def _needed(letter: Letter) -> Items:
    """The goods of "We need 36 cola. Ship to ..." or of "Cola and chips sold out. Please send 16 of each"."""
    needs = [line_of(said.clause) for said in letter.of("report") if said.goods and _NEED.search(said.clause.low)]
    items = read_items(letter.names, "\n".join(needs), any_mood=True)
    each = next((found for said in letter.of("order") if (found := _OF_EACH.search(said.clause.low))), None)
    if items.found or each is None:
        return items
    named = read_items(
        letter.names, "\n".join(line_of(said.clause) for said in letter.of("report", "say")), any_mood=True
    )
    return Items(dict.fromkeys(named.bare, int(each["units"])))


def _confirm(letter: Letter) -> list[Intent]:
    confirms = letter.of("confirm")
    if any(said.goods for said in letter.of("order")):
        confirms = [said for said in confirms if not cues.GO_AHEAD.search(said.clause.low)]  # it goes ahead and orders
    if not confirms:
        return []
    return [Intent("confirm", letter.items("confirm", ""), quotes=letter.quotes("confirm"))]


def _change(letter: Letter) -> list[Intent]:
    if not letter.of("change"):
        return []
    apart = any(_ANOTHER_ORDER.search(said.clause.low) for said in letter.of("order"))
    bare = not any(said.goods for said in letter.of("change"))
    extra = ("order",) if bare or not (apart or letter.of("cancel")) else ()
    places = {said.clause.place for said in letter.of("change", *extra)}
    text = "\n".join(
        ", ".join(line_of(said.clause) for said in letter.said if said.clause.place == place)
        for place in sorted(places)
    )
    items = read_changed(text, letter.names)
    if not items.units:
        items = letter.items("")
    if not items.units:
        items = read_changed(", ".join(said.clause.text for said in letter.of("report", "say", "change")), letter.names)
    replaced = tuple(id for id in read_replaced(text, letter.names) if id not in items.units)
    orders, quotes = letter.orders("change"), letter.quotes("change")
    return [Intent("change", items, orders=orders, quotes=quotes, without=replaced)]


def _cancel(letter: Letter) -> list[Intent]:
    acts = letter.of("cancel")
    if not acts:
        return []
    text = "\n".join(without_orders(line_of(said.clause)) for said in acts)
    orders, quotes = letter.orders("cancel"), letter.quotes("cancel")
    return [Intent("cancel", read_items(letter.names, text), orders=orders, quotes=quotes)]


def _claim(letter: Letter) -> list[Intent]:
    acts = letter.of("claim")
    if not acts:
        return []
    extra = ("report",) if not letter.of("order") else ()
    texts = [line_of(said.clause) for said in letter.of("claim", *extra, "")]
    shortage = read_shortage(texts, letter.names)
    return [Intent("claim", Items(shortage.missing), orders=letter.orders("claim"), received=shortage.received)]


def _negotiate(letter: Letter) -> list[Intent]:
    if not letter.of("negotiate"):
        return []
    quiet = ("report", "plan", "say", "ask", "thank", "order", "")
    texts = [said.clause.text for said in letter.said if said.act == "negotiate" or (said.act in quiet)]
    bargain = read_prices(texts, letter.names)
    items = read_items(letter.names, "\n".join(line_of(said.clause) for said in letter.of("negotiate", "")))
    return [
        Intent(
            "negotiate", items, quotes=letter.quotes(), offers=bargain.offers, rivals=bargain.rivals,
            off_permille=bargain.off_permille,
        )
    ]  # fmt: skip


_TOPICS: Sequence[Topic] = ("prices", "quote", "terms", "order", "other")
"""In the order in which suppliers answer."""


def _ask(letter: Letter) -> list[Intent]:
    acts = letter.of("ask")
    busy = letter.of("order", "confirm", "change", "cancel", "claim", "negotiate")
    asked = [said for said in acts if not busy or said.clause.asks or said.clause.listed or not _belongs(said)]
    found: dict[Topic, None] = dict.fromkeys(topic for said in asked for topic in said.topics)
    calm = not letter.of("claim", "change", "cancel", "negotiate")
    also = any(
        (cues.ALSO_ASKS.search(said.clause.low) and said.clause.asks) or (calm and wonders(said)) for said in asked
    )
    if not found and (not busy or also):
        return _ask_otherwise(letter) if asked else []
    listed = letter.items("")
    if "prices" in found and any(cues.THAT_QUANTITY.search(said.clause.low) for said in asked):
        listed = letter.items("", "plan", "report", "say")
    if "prices" in found and not busy and listed.units:
        found["quote"] = None
    if "quote" in found or (
        letter.of("negotiate") and not any(cues.PRICE_LIST.search(said.clause.low) for said in acts)
    ):
        found.pop("prices", None)
    if letter.of("negotiate"):
        found.pop("quote", None)
    if letter.of("claim") and set(letter.orders("ask")) <= set(letter.orders("claim")):
        found.pop("order", None)
    intents: list[Intent] = []
    for topic in sorted(found, key=_TOPICS.index):
        items = letter.items("ask") if topic == "quote" else Items()
        items = listed if topic == "quote" and not items.found else items
        intents.append(Intent("ask", items, topic, orders=letter.orders("ask") if topic == "order" else ()))
    return intents


def _ask_otherwise(letter: Letter) -> list[Intent]:
    """A question about something else, or a form to be filled in."""
    if any(cues.FORM.search(said.clause.low) for said in letter.of("ask")):
        listed = letter.items("", "ask")
        return [Intent("ask", listed, "quote" if listed.units else "prices")]
    return [Intent("ask", letter.items("ask"), "other", quotes=letter.quotes("ask"))]


def _belongs(said: Said) -> bool:
    """Whether a request is about what the letter itself does: "please confirm the delivery date"."""
    return not re.search(
        r"\border #?[0-9]|\b(?:previous|last|earlier|price list|prices|catalog|quote)\b|価格", said.clause.low
    )


def _complain(letter: Letter) -> list[Intent]:
    if letter.of("claim") or not letter.of("complain"):
        return []
    return [Intent("complain", orders=letter.orders("complain"))]


def _thank(letter: Letter) -> list[Intent]:
    alone = any(cues.THANKS_ALONE.match(said.clause.low) for said in letter.said)
    came = any(cues.CAME_WELL.search(said.clause.low) for said in letter.of("report", "say"))
    others = letter.of("order", "ask", "claim", "cancel", "change", "negotiate", "confirm")
    return [Intent("thank")] if letter.of("thank") or (alone and came and not others) else []


_READERS: Sequence[Callable[[Letter], list[Intent]]] = (
    _order, _confirm, _change, _cancel, _claim, _negotiate, _ask, _complain, _thank,
)  # fmt: skip
