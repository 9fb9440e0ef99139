"""A text of an agent as sentences and clauses, and the words by which a clause claims, wishes, tells or plans.

Bounded patterns, so linear in the length of a text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Literal

from akinai.worlds.vending.state import DAY_MINUTES, MONTHS, State

Place = Literal["machine", "storage", "slot"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A line or a sentence, whichever is shorter."""

    said: str
    """As it was written."""
    text: str
    """In lower case."""
    asks: bool
    """It is a question."""
    day: int | None
    """The day it speaks of, where it or the head of its list names one."""
    head: str = ""
    """The head of the list it stands in: "inventory:"."""


def any_of(*patterns: str) -> re.Pattern[str]:
    """Finds one of them in a text in lower case."""
    return re.compile("|".join(patterns))


_CUT = re.compile(r"(?<=[.!?])(?<!\bno\.)(?=[\s\"')])")
_DAY = re.compile(r"\bday (\d{1,4})\b")
_DAY_FIRST = re.compile(r"\W*(?:on )?day (\d{1,4})\b")
_MONTH = "|".join(MONTHS).lower()
_TH = r"(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b(?:(\d{{1,2}}){_TH} (?:of )?({_MONTH})[a-z]{{0,6}}|({_MONTH})[a-z]{{0,6}}\.? (\d{{1,2}}){_TH})\b"
)
_HEAD = re.compile(r"[^:]{1,60}:\s*$|\W*day \d{1,4}\b[^.]{0,20}$|#{1,6} ")
_BULLET = re.compile(r"\s*(?:[-*+•|>]|\d{1,2}[.)])\s")
_ROW = re.compile(r"\s*\|(.{1,400})\|\s*$")
_AFFIRMS = re.compile(
    r"\b(i|we)(?: can| am| are|'m|'re| happy| pleased| to| hereby| also| now){0,5} (?:confirm|report)(?:ing)?\b"
)
"""It vouches for what follows, unlike "please confirm"."""
_MARKS = str.maketrans("_", " ", "*`")
"""Of Markdown, and of keys."""


def sentences(text: str, state: State) -> Iterator[Sentence]:
    """The sentences of a text in plain characters, "
    "each cell of a table being one; `state` says which day a date means.

    A sentence ends where it goes on to quote somebody else.
    """
    quoting = _quoting(_suppliers(state))
    head, head_day, listed = "", None, False
    headings: list[str] | None = None
    lines = text.split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        lower, bullet = line.strip().lower().translate(_MARKS), _BULLET.match(line) is not None
        if not lower or (listed and not bullet):
            head, head_day = "", None
        listed = bullet
        if row := _ROW.match(line):
            cells = [cell.strip() for cell in row[1].split("|")]
            for heading, said in _told_by_row(headings or [""] * len(cells), cells):
                told = said.lower().translate(_MARKS)
                yield Sentence(said, told, said.endswith("?"), day_of(told, state) or head_day, f"{head} {heading}")
            headings = headings or [cell.lower() for cell in cells]
            continue
        headings = None
        begins = _DAY_FIRST.match(lower)
        day = int(begins[1]) if begins else None
        if _HEAD.match(lower) or (_BULLET.match(after) and not bullet):
            head, head_day = lower, head_day if day is None else day
        for piece in _CUT.split(line):
            if said := piece.strip(" \t-*•|>"):
                told = _AFFIRMS.sub(r"\1 acknowledge", said.lower().translate(_MARKS))
                own = day_of(told, state)
                meant = own if own is not None else day if day is not None else head_day
                yield Sentence(said, quoting.split(told, maxsplit=1)[0], said.endswith("?"), meant, head)


def _told_by_row(headings: Sequence[str], cells: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What each cell says of the first one, under its heading."""
    for heading, cell in zip(headings[1:], cells[1:], strict=False):
        yield heading, f"{cells[0]}: {cell}"


def theirs_of(state: State) -> re.Pattern[str]:
    """Finds what somebody else is said to have."""
    return _having(_suppliers(state))


def _suppliers(state: State) -> tuple[str, ...]:
    return tuple(one.name.lower() for one in state.setup.catalog.suppliers)


@lru_cache(maxsize=16)
def _having(suppliers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"\btheir (?:own )?(?:stock|storage|warehouse|inventory|catalog)|"
        rf"\b(?:{_others(suppliers)})(?:'s?)? (?:machines? |storage |warehouse )?(?:also |still )?(?:ha(?:ve|s)|"
        rf"holds?|keeps?|carr(?:y|ies)|stocks?)\b"
    )


@lru_cache(maxsize=16)
def _quoting(suppliers: tuple[str, ...]) -> re.Pattern[str]:
    them = _others(suppliers)
    return re.compile(
        rf"\baccording to (?:the |our )?(?:{them})\b|\b(?:{them}) (?:has |have |had |also |just |now )?"
        r"(?:says?|said|wrote|writes?|claim(?:s|ed)?|t(?:old|ells?)|repl(?:y|ies|ied)|insist(?:s|ed)?|"
        r"(?:promise|assure|advertise|offer|mention|respond)[a-z]{0,2} (?:that|us|me|to))\b"
    )


def _others(suppliers: Sequence[str]) -> str:
    """A pattern of everybody but the agent, suppliers also by their first word."""
    names = {re.escape(name) for whole in suppliers for name in (whole, whole.split()[0])}
    return "|".join([*sorted(names, key=len, reverse=True), "suppliers?|vendors?|they|he|she|competitors?|customers?"])


def day_of(text: str, state: State) -> int | None:
    """The day that a text names by its number or its date."""
    if found := _DAY.search(text):
        return int(found[1])
    found = _DATE.search(text)
    if found is None:
        return None
    number, month = (found[1], found[2]) if found[1] else (found[4], found[3])
    months = [one.lower() for one in MONTHS]
    start = state.setup.start_date
    today = start + timedelta(days=state.minute // DAY_MINUTES)
    try:
        meant = today.replace(month=months.index(str(month)) + 1, day=int(number))
    except ValueError:
        return None
    return (meant - start).days + 1


_CLAUSES = re.compile(
    r"(?:,(?!\d{3}\b)|;|[—|]| - (?!\d)| / | but | so | because | since | while | though | however | and )\s*"
)
"""Where another clause may begin; a list of goods is cut too, and goes on in the mood of its beginning."""


def clauses(text: str) -> list[str]:
    """The clauses of a sentence."""
    return [clause for clause in _CLAUSES.split(text) if clause.strip()]


def phrases(told: str) -> str:
    """A pattern of whole words and phrases, told with commas between them."""
    return rf"\b(?:{'|'.join(' '.join(one.split()) for one in told.split(','))})\b"


SUPPOSED = any_of(
    phrases(
        "if, when, once, unless, until, till, whether, assuming, suppose, supposing, in case, as soon as, by the time"
    ),
    phrases("should, would, could, will, shall, may, might, must, can, cannot, can't, won't, going to"),
    phrases(
        "want, wants, wish, need, needs, hope, hoping, plan, plans, planning, planned, target, goal, ideal, ideally"
    ),
    phrases(
        "aim, aiming, expect, expected, expecting, forecast, projected, estimate, estimated, project, maybe, perhaps"
    ),
    phrases(
        "probably, let's, let us, please, todo, to-do, next, make sure, ensure, keep, verify, check, confirm, find out"
    ),
    phrases(
        "see if, ask, recheck, require, requires, required, what if, imagine, pretend, doubt, not true, proposed, "
        "proposal"
    ),
    r"'ll\b|'d\b|\brequest:|^\W*had (?:we|i|the|our|it)\b",
)
"""Words of what is wished, planned, supposed or possible."""
UNREAL = any_of(
    SUPPOSED.pattern,
    phrases(
        "minimum, maximum, at least, at most, capacity, takes, fit, fits, room for, hold up to, holds up to, up to"
    ),
    phrases("per slot, per case, each case, each slot, a case, case of, suggested, shopping, wishlist, allocation"),
)
"""These, and words of what there may be room for."""
PAST = any_of(
    phrases(
        "was, were, had, yesterday, previously, earlier, before, ago, originally, initial, initially, starting, start"
    ),
    phrases("started, began, begin, last week, last night, last time, last month, last visit, last check, used to"),
    phrases("formerly, opening, historical, historically, average"),
)
DEALS = any_of(
    phrases(
        "order, orders, ordering, reorder, re-order, ordered, buy, buying, bought, purchase, purchased, send, ship"
    ),
    phrases("deliver, delivered, quote, price, priced, sold, sell, sells, selling, sales, demand, per day, a day"),
    phrases("each day, daily, per week, a week, received, arrived, spoiled, restock, restocking, restocked, refill"),
    phrases(
        "stocking, put, putting, place, placed, move, moved, moving, load, loaded, add, added, adding, fill, fills"
    ),
    phrases("filling, take, took, clear, cleared, lost, lose"),
)
"""What is done with goods says nothing of how many there are."""
COMING = any_of(
    r"\bon (?:its|their|the) way\b|\barriv\w+",
    phrases("in transit, incoming, coming, pending, en route, due, expected, waiting for, wait for, awaiting"),
)
HAVING = any_of(
    phrases(
        "have, has, 've, hold, holds, holding, own, owns, contain, contains, containing, there is, there are, there's"
    ),
    phrases("got, show, shows, remain, remains, remaining, left, stock, inventory, on hand, count, counts, storage"),
    phrases("machine, warehouse, stockroom, available, currently, total, slot, slots, out of, sold out, own, possess"),
    phrases("down to, running low, dropped to, fallen to, leaves us, leaves me, leaving us, leaving me, stood at"),
    phrases(
        "sit, sits, sitting, see, find, found, counted, stored, levels, shrunk, at zero, run out, holds, lie, "
        "lies, lying, stores, supply, supplies, disposal, waiting, stands at, at hand, still"
    ),
)
_PLACES: Sequence[tuple[Place, re.Pattern[str]]] = (
    ("slot", re.compile(r"\b(?:slots?|row|column)\b")),
    ("machine", re.compile(r"\bmachine\b")),
    ("storage", re.compile(r"\b(?:storage|warehouse|stockroom|store ?room|back ?room)\b")),
)


def place_in(text: str) -> Place | None:
    """Where goods are said to be."""
    return next((place for place, pattern in _PLACES if pattern.search(text)), None)
