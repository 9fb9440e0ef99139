"""What a clause of a letter does: orders, asks, reports, and so on."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from akinai.worlds.vending.letters import cues
from akinai.worlds.vending.letters.asking import EXPECTATION, OWN_ORDER, REQUEST, topics
from akinai.worlds.vending.letters.goods import read_items
from akinai.worlds.vending.letters.intents import Kind, Topic
from akinai.worlds.vending.letters.names import GoodName
from akinai.worlds.vending.letters.text import Clause

Act = Kind | str
"""What a clause does: a kind of intent, "support" (an order without its goods), "report", or "" for a bare list."""


@dataclass(slots=True)
class Said:
    """A clause with what it does."""

    clause: Clause
    act: Act
    topics: tuple[Topic, ...] = ()
    goods: bool = False
    """Whether it names goods with quantities."""
    margins: Mapping[str, int] = field(default_factory=dict[str, int])
    """By kind, how much more its words speak for that kind than for none."""


def line_of(clause: Clause) -> str:
    """The clause as a line, an item of a list as such."""
    return ("- " if clause.listed else "") + clause.text


@dataclass(frozen=True, slots=True)
class _Clue:
    """A clause, and what is known of it before its kind."""

    clause: Clause
    low: str
    units: bool
    """Whether it names goods with quantities."""
    topics: tuple[Topic, ...]
    """What it asks about, if it asks."""
    supposed: bool
    """Whether its sentence holds a condition."""

    def has(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.low) is not None

    def whole_has(self, pattern: re.Pattern[str]) -> bool:
        """Whether the whole sentence has it."""
        return pattern.search(self.clause.sentence) is not None


def classified(clause: Clause, names: Sequence[GoodName]) -> Said:
    """The clause with what it does: the first rule that knows decides."""
    low = clause.low
    units = "§" in low and read_items(names, line_of(clause)).found
    asked = topics(low, clause.sentence, units)
    supposed = cues.HYPOTHESIS.search(cues.IDLE_IF.sub("", clause.sentence)) is not None
    clue = _Clue(clause, low, units, asked, supposed)
    act = next((act for rule in _RULES if (act := rule(clue)) is not None), "say")
    if act == "ask" and not asked and EXPECTATION.search(low):
        asked = ("order",)
    return Said(clause, act, asked, goods=units)


def _tells(clue: _Clue) -> Act | None:
    return "report" if clue.whole_has(cues.TELLS) else None


def _cancels(clue: _Clue) -> Act | None:
    if not clue.has(cues.CANCEL):
        return None
    if clue.has(cues.CANCELLED):
        return "ask"
    return "report" if clue.supposed or clue.has(cues.KEEPS) else "cancel"


def _claims(clue: _Clue) -> Act | None:
    if clue.has(cues.NO_CLAIM):
        return "ask" if "how" in clue.low else None
    if not clue.has(cues.CLAIM):
        return None
    return "ask" if clue.clause.asks and not clue.has(cues.CLAIM_ALONE) else "claim"


def _changes(clue: _Clue) -> Act | None:
    if clue.supposed or not clue.has(cues.CHANGE):
        return None
    return "ask" if clue.has(cues.NO_CHANGE) else "change"


def _confirms(clue: _Clue) -> Act | None:
    if cues.BARE_CONFIRM.match(clue.low) and not clue.clause.asks:
        return "confirm"
    if not clue.has(cues.CONFIRM):
        return None
    if clue.has(cues.WANTS_CONFIRMATION) or (clue.clause.asks and (clue.topics or clue.has(cues.CAN_YOU))):
        return "ask"
    if clue.supposed and clue.whole_has(cues.BARGAIN):
        return "negotiate"
    doubtful = clue.supposed or clue.clause.asks
    doubtful = doubtful or any(clue.has(words) for words in (cues.NEGATION, cues.NO_CONFIRM, cues.PLANS))
    return "report" if doubtful else "confirm"


def _bargains(clue: _Clue) -> Act | None:
    if clue.has(cues.DECLINES) and not clue.clause.asks and len(cues.MONEY.findall(clue.low)) < 2:
        return "report"
    money = clue.has(cues.MONEY) and not clue.has(cues.QUOTED_PRICE)
    if clue.has(cues.NO_BARGAIN) and not money:
        return None
    if clue.has(cues.PERCENT_OFF) and clue.has(cues.PLEADS):
        return "negotiate"
    if clue.has(cues.BARGAIN) and not (clue.has(cues.BEST_PRICE) and clue.has(cues.FOR_QUANTITY)):
        return "negotiate"
    offers = money and clue.whole_has(cues.PRICE_OFFER) and (clue.clause.asks or not clue.has(cues.SUMS))
    offers = offers or (money and clue.clause.asks and not clue.has(cues.ASKS_PRICE))
    return "negotiate" if offers else None


def _orders(clue: _Clue) -> Act | None:
    """An order: an imperative or a declaration, without condition, denial or a later time."""
    if clue.supposed:
        return None
    low, asks = clue.low, clue.clause.asks
    if not asks and (found := cues.IS_ORDER.search(low)) and not _names_no_goods(low) and not clue.has(cues.PRICES):
        return None if _denied(low, found) or clue.whole_has(cues.PLANS) else "order"
    if found := cues.IMPERATIVE.search(low):
        impolite = asks and not clue.has(cues.POLITE)
        return (
            None
            if impolite
            or not cues.OBJECT.search(low, found.start("verb"))
            or _denied(low, found)
            or clue.has(cues.PLANS_JA)
            else "order"
        )
    if not asks and (found := cues.DECLARES.search(low) or cues.WANTS_UNITS.search(low)):
        usual = _HABIT.search(low)
        return None if usual or _denied(low, found) or any(map(clue.whole_has, _LATER)) else "order"
    if asks and cues.MAY_HAVE.search(low) and not clue.has(cues.PRICES):
        return "order"
    if (found := cues.CHARGE.search(low)) and not _denied(low, found):
        return "order" if clue.units else "support"
    return None


_HABIT = re.compile(
    r"\b(?:buy|order|purchase|take) (?:around|about|roughly|some|up to|between|at least|usually)\b|"
    r"\bfrom you (?:every|each|per|a) (?:day|week|month|year)\b"
)
"""What the writer usually does: "We buy around 200 water from you every month"."""
_REASON = re.compile(r"\b(?:since|as|because|given that|although|even though|now that)\b[^,]{1,80}, ")
_LATER = (cues.PLANS, cues.NOT_NOW, cues.FUTURE)


def _denied(low: str, found: re.Match[str]) -> bool:
    """Whether a denial comes before an order, or, in Japanese, anywhere."""
    before = _REASON.sub("", cues.FIRST_NOT.sub("", low[: found.start()]))
    return cues.NEGATION.search(before) is not None or cues.NEGATION_JA.search(low) is not None


def _names_no_goods(low: str) -> bool:
    return cues.NOT_GOODS_JA.search(low) is not None and cues.ORDERS_JA.search(low) is None


def _awaits(clue: _Clue) -> Act | None:
    own = clue.whole_has(OWN_ORDER) or clue.whole_has(cues.ORDERED)
    return "ask" if clue.has(EXPECTATION) and own else None


def _asks(clue: _Clue) -> Act | None:
    asks = clue.clause.asks
    if not asks and not clue.has(REQUEST):
        return None
    if clue.supposed and not asks and not clue.topics:
        return "report"
    if not asks and clue.has(cues.THANK) and not clue.has(cues.POLITE):
        return None
    return "ask" if clue.topics or asks or clue.has(cues.ASKS_MORE) else None


def _thanks_or_complains(clue: _Clue) -> Act | None:
    if clue.has(cues.THANK) and not clue.has(cues.CLOSING):
        return "thank"
    return "complain" if clue.has(cues.COMPLAIN) and not clue.supposed else None


def _tells_or_lists(clue: _Clue) -> Act:
    if clue.has(cues.NEEDS_LIST) and not clue.has(cues.REPORTS_LIST):
        return ""
    if clue.supposed or clue.has(cues.PLANS):
        return "plan"
    if clue.has(cues.NEGATION) or clue.has(cues.REPORTS):
        return "report"
    if clue.clause.listed or _fragment(clue.low):
        return ""
    return "report" if clue.units else "say"


_RULES: Sequence[Callable[[_Clue], Act | None]] = (
    _tells, _cancels, _claims, _changes, _confirms, _bargains, _orders, _awaits, _asks, _thanks_or_complains,
    _tells_or_lists,
)  # fmt: skip


_FILLER = re.compile(
    r"§|(?:\bx)?[0-9]+x?\b|\b(?:units?|cases?|bottles?|cans?|bags?|x|of|and|each|plus|"
    r"please|thanks|thank|you|qty|quantity|product|item|for|the|it|is|to|on|all)\b|[^\w\s]"
)


def _fragment(low: str) -> bool:
    """Whether a line has no sentence in it: goods, numbers and at most a few other words."""
    return (
        low.startswith(("{", '"'))
        or len(_FILLER.sub(" ", low).split()) <= 3
        or re.match(r"^\W*[\w ]{2,30}: *\S", low) is not None
        or re.search(r":\W*$", low) is not None
    )
