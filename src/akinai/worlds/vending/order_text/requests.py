"""Parse a letter to a supplier: its items, its intent, and whether it names the address and the account."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from akinai.worlds.vending.model.setup import Setup
from akinai.worlds.vending.order_text.items import Items, read_items
from akinai.worlds.vending.order_text.segments import plain

Intent = Literal["order", "quote", "price_list", "confirm", "question"]


@dataclass(frozen=True, slots=True)
class Request:
    """The meaning of a letter."""

    intent: Intent
    """A `question` is about an earlier order ("where is", "cancel") and orders nothing."""
    items: Items
    quote: int | None
    """The number of the quote that is confirmed; None when the letter holds no number."""
    addressed: bool
    """Whether it holds the delivery address."""
    account_named: bool
    """Whether it holds the account to charge."""


def read_request(setup: Setup, subject: str, body: str) -> Request:
    """Parse a letter to a supplier.

    The items are those of the body; those of the subject count only when the body holds no quantity. A letter that asks
    for a quote is never an order. A letter that lists items orders them when it says so, or when it holds address and
    account. Lines quoted from an earlier letter ("> ...") are ignored.
    """
    head, text = plain(subject), _unquoted(plain(body))
    place, account = _place(setup.delivery_address), _account(setup.account)
    whole = f"{head}\n{text}"
    addressed = all(part.search(whole) for part in place.needed)
    account_named = account.search(whole) is not None
    for known in (*place.parts, account):
        head, text = known.sub(" ; ", head), known.sub(" ; ", text)
    items = read_items(setup.catalog, text)
    if not items.found:
        in_subject = read_items(setup.catalog, head)
        items = in_subject if in_subject.found else items
    # The subject counts as the first sentence.
    wording = f"{head}\n{text}".lower()
    confirmed, quote = _confirmation(wording, items.found)
    intent: Intent = "confirm" if confirmed else _intent(wording, items.found, addressed and account_named)
    return Request(intent, items, quote, addressed, account_named)


_ORDERING = "order|buy|purchase|ship|send|deliver|supply|process|fulfill?|charge|bill|invoice|prepare|dispatch"
_WORDS_NOT_GOODS = (
    r"(?:me |us |over |back )?(?:an? |the |your |my |our |any |some )?"
    r"(?:full |current |latest |complete |updated |best |wholesale |price )?"
    r"(?:quotes?|quotation|prices?|pricing|list|catalog(?:ue)?|confirmation|status|update|tracking|invoice|receipt|"
    r"information|info|details|reply|response|e-?mail|letter|offer|estimate|terms|when|how|what|whether|if)\b"
)
_PRICES = r"(?:price ?lists?|catalog(?:ue)?s?|your (?:current |latest |wholesale |best )?(?:prices|pricing))\b"


def _any(*patterns: str) -> re.Pattern[str]:
    """Compile a pattern that finds any of these in lower case. Each is bounded, so a search takes linear time."""
    return re.compile("|".join(patterns), re.MULTILINE)


_ORDERS = _any(
    rf"\bplease,? (?:(?:also|kindly|now|then|just|immediately|urgently|promptly) ){{0,2}}(?:{_ORDERING})\b"
    rf"(?! {_WORDS_NOT_GOODS})",
    r"(?<!not )\b(?:place|placing|submit|submitting|make|making) [^.?!\n]{0,30}\border\b",
    r"\b(?:like|want|wish|need|going|ready) to (?:re-?)?(?:place|order|buy|purchase)\b",
    r"\b(?:i|we)(?:'ll| will| shall| hereby)? (?:take|buy|order|purchase)\b",
    r"\bcharge (?:it|this|the|my|our|to|account)\b",
    r"\b(?:send|ship) (?:me|us)\b(?! (?:an?|the|your|any) )",
)
_MENTIONS_AN_ORDER = _any(
    r"\border(?: for| of|:)|\b(?:new|purchase) order\b|\border (?:request|form)\b",
    rf"^ *(?:re-?)?order\b(?! {_WORDS_NOT_GOODS})",
)
_ASKS_FOR_PRICES = _any(
    r"\b(?:please|could you|can you|would you|will you|kindly)(?: please| kindly| also)? (?:quote|price)\b",
    r"(?<!your )(?<!the )(?<!this )(?<!per )\bquote (?:me|us|for|on|the following|please|request)\b",
    r"(?<!received )(?<!got )(?<!have )\b(?:a|an|any|your best|formal|price) (?:quote|quotation|estimate)\b",
    r"\b(?:quotes?|quotation|price|pricing) (?:request|inquiry|enquiry)\b",
    r"\brequest(?:ing)? (?:for )?(?:quotes?|quotation|pricing|prices)\b",
    r"\bhow much (?:would|do|does|is|are|for)\b|\bwhat would\b",
    r"\bwhat(?:'s|'re| is| are| will)\b[^.?!\n]{0,60}\b(?:prices?|pricing|costs?|total|charge)\b",
    r"\b(?:send|share|give|tell|provide|e-?mail|see|get|have|know|request|(?:need|like|want) (?:an?|the|your|to))\b"
    rf"(?:(?!\b(?:from|per|at|on|in|as|order|buy|purchase|place)\b)[^.?!\n]){{0,30}}\b{_PRICES}",
    r"^ *(?:price ?lists?|quotation|quote|pricing|prices|wholesale (?:prices?|pricing))\b",
    r"\bdo you (?:sell|carry|have|stock|offer)\b|\bbefore (?:i|we) order\b",
    r"\bdo(?:es)? not (?:constitute|mean) an order\b|\b(?:not an order|not ordering)\b",
    r"\b(?:do not|don't) (?:send|ship|order|charge|deliver)\b",
)
_ASKS_ABOUT_AN_ORDER = _any(
    r"\bwhere(?:'s| is| are) (?:my|our|the) |\border status\b|\bstatus of\b|\bstatus update\b|\btrack(?:ing)?\b",
    r"\bcancel(?:lation)?\b|\brefund\b|\bstill (?:waiting|missing)\b|\bfollow(?:ing)?[- ]up\b|\boverdue\b",
    r"\b(?:not|n't|never)(?: yet)? (?:arrived?|received?|been delivered|come)\b",
    r"\bthank(?:s| you) for (?:the|your|my|our) (?:quick |prompt |fast |recent )?(?:delivery|shipment)\b|\barrived\b",
    r"\b(?:i|we)(?:'ve| have)? (?:already )?(?:ordered|received)\b|\bmy (?:previous|last) order\b",
)
_CONSIDERS = _any(r"\b(?:interested in|considering|thinking (?:of|about)|planning (?:to|on)|might|not sure)\b")
_CONFIRMS_A_QUOTE = _any(
    r"(?<!not )(?<!n't )(?<!cannot )(?<!never )"
    r"\b(?:confirm|accept|approve|proceed with|go ahead with)(?:ed|ing|s)?:? +"
    r"(?:(?:the|your|our|my|this|purchase|order|for|of|on|with|number|per|no\.?|under|based) ){0,4}"
    r"(?:q[- ]?|quot(?:e|ation) (?:number |no\.? ?|id ?)?(?:\#|q)?[- ]?)\#?(?P<number>[0-9]{1,9})\b"
    r"(?! (?:is|are|still|remains|stands|includes|was|has|will|can|covers)\b)[^.?!\n]{0,200}(?P<asked>\?)?"
)
_CONFIRMS = _any(
    r"^ *(?:re: *)*(?:(?:i|we|yes,?|ok,?|hereby) )*confirm(?:ed)?"
    r"(?: (?:the|your|my|our|this|it|that))?(?: (?:quote|quotation|offer|order|purchase))? *[.!]* *$"
)
_ANY_QUOTE = _any(r"\b(?:q[- ]?|quot(?:e|ation) ?(?:number |no\.? ?|\#)(?:q-?)?)(?P<number>[0-9]{1,9})\b")


def _intent(wording: str, items: bool, chargeable: bool) -> Intent:
    orders = _ORDERS.search(wording) is not None
    if not orders and _ASKS_ABOUT_AN_ORDER.search(wording):
        return "question"
    may_order = _MENTIONS_AN_ORDER.search(wording) is not None or (items and chargeable)
    wants = orders or (may_order and not _CONSIDERS.search(wording))
    if wants and not _ASKS_FOR_PRICES.search(wording):
        return "order"
    return "quote" if items else "price_list"


def _confirmation(wording: str, items: bool) -> tuple[bool, int | None]:
    """Whether a letter confirms a quote, and the number of the quote; None when it holds no number."""
    for found in _CONFIRMS_A_QUOTE.finditer(wording):
        if not found["asked"]:
            return True, int(found["number"])
    if items:
        return False, None
    numbers = {int(found["number"]) for found in _ANY_QUOTE.finditer(wording)}
    number = numbers.pop() if len(numbers) == 1 else None
    if _CONFIRMS.search(wording):
        return True, number
    orders = number is not None and _ORDERS.search(wording) and not _ASKS_FOR_PRICES.search(wording)
    return (True, number) if orders else (False, None)


_EARLIER = re.compile(r"^(?:-+ ?original message ?-+|on [^\n]{1,120} wrote:) *$", re.IGNORECASE | re.MULTILINE)


def _unquoted(text: str) -> str:
    """The text without quotations from an earlier letter."""
    if found := _EARLIER.search(text):
        text = text[: found.start()]
    return "\n".join(line for line in text.split("\n") if not line.startswith(">"))


@dataclass(frozen=True, slots=True)
class _Place:
    parts: tuple[re.Pattern[str], ...]
    needed: tuple[re.Pattern[str], ...]
    """The parts from the street on; the name of the addressee may be left out."""


_SHORT = {
    "street": "st", "avenue": "ave", "road": "rd", "boulevard": "blvd", "drive": "dr", "lane": "ln", "suite": "ste",
}  # fmt: skip


@lru_cache(maxsize=64)
def _place(address: str) -> _Place:
    parts = [words for part in plain(address).split(",") if (words := _words(part))]
    patterns = tuple(_words_pattern(part, r"\W{1,4}") for part in parts)
    first = next((at for at, part in enumerate(parts) if any(word.isdecimal() for word in part)), 0)
    return _Place(patterns, patterns[first:])


@lru_cache(maxsize=64)
def _account(account: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W_]-){_words_pattern(_words(plain(account)), '[ ._-]{0,3}').pattern}(?!-[^\W_])", re.IGNORECASE
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _words_pattern(words: Sequence[str], between: str) -> re.Pattern[str]:
    """A pattern of whole words in a row; streets are also found by their short names."""
    patterns = [f"(?:{word}|{_SHORT[word]})" if word in _SHORT else re.escape(word) for word in words]
    return re.compile(rf"(?<![^\W_]){between.join(patterns)}(?![^\W_])", re.IGNORECASE)
