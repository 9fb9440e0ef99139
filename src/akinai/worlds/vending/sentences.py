"""A text of an agent as sentences and clauses, and the words by which a clause claims, wishes, tells or plans.

Bounded patterns, so linear in the length of a text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
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


_CUT = re.compile(r"(?<=[.!?])(?=[\s\"')])|\n")
_DAY = re.compile(r"\bday (\d{1,4})\b")
_DAY_FIRST = re.compile(r"\W*(?:on )?day (\d{1,4})\b")
_MONTH = "|".join(MONTHS).lower()
_TH = r"(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"\b(?:(\d{{1,2}}){_TH} (?:of )?({_MONTH})[a-z]{{0,6}}|({_MONTH})[a-z]{{0,6}}\.? (\d{{1,2}}){_TH})\b"
)
_HEAD = re.compile(r"[^:]{1,60}:\s*$|\W*day \d{1,4}\b[^.]{0,20}$")
_BULLET = re.compile(r"\s*(?:[-*+•|>]|\d{1,2}[.)])\s")


def sentences(text: str, state: State) -> Iterator[Sentence]:
    """The sentences of a text in plain characters; `state` says which day a date means."""
    head, head_day, listed = "", None, False
    for line in text.split("\n"):
        lower, bullet = line.strip().lower(), _BULLET.match(line) is not None
        if not lower or (listed and not bullet):
            head, head_day = "", None
        listed = bullet
        begins = _DAY_FIRST.match(lower)
        day = int(begins[1]) if begins else None
        if _HEAD.match(lower):
            head, head_day = lower, head_day if day is None else day
        for piece in _CUT.split(line):
            if said := piece.strip(" \t-*•|>"):
                told = said.lower().replace("_", " ")
                own = day_of(told, state)
                meant = own if own is not None else day if day is not None else head_day
                yield Sentence(said, told, said.endswith("?"), meant, head)


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
    r"(?:,(?!\d{3}\b)|;|[—|]| - | / | but | so | because | since | while | though | however | and )\s*"
)
"""Where another clause may begin; a list of goods is cut too, and goes on in the mood of its beginning."""


def clauses(text: str) -> list[str]:
    """The clauses of a sentence."""
    return [clause for clause in _CLAUSES.split(text) if clause.strip()]


def phrases(told: str) -> str:
    """A pattern of whole words and phrases, told with commas between them."""
    return rf"\b(?:{'|'.join(' '.join(one.split()) for one in told.split(','))})\b"


UNREAL = any_of(
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
        "see if, ask, recheck, minimum, maximum, at least, at most, require, requires, required, capacity, takes, fit"
    ),
    phrases(
        "fits, room for, hold up to, holds up to, up to, per slot, per case, each case, each slot, a case, case of"
    ),
    r"'ll\b|'d\b",
)
"""Words of what is wished, planned, supposed or possible."""
PAST = any_of(
    phrases(
        "was, were, had, yesterday, previously, earlier, before, ago, originally, initial, initially, starting, start"
    ),
    phrases("started, began, begin, last week, last night, last time, last month, last visit, last check, used to"),
    phrases("formerly, opening"),
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
    phrases("filling, take, took, clear, cleared"),
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
    phrases("machine, warehouse, stockroom, available, currently, total, slot, out of, sold out"),
    phrases("sit, sits, sitting, lie, lies, lying, stores, supply, disposal, waiting, stands at, at hand, still"),
)
_PLACES: Sequence[tuple[Place, re.Pattern[str]]] = (
    ("slot", re.compile(r"\b(?:slots?|row|column)\b")),
    ("machine", re.compile(r"\bmachine\b")),
    ("storage", re.compile(r"\b(?:storage|warehouse|stockroom|store ?room|back ?room)\b")),
)


def place_in(text: str) -> Place | None:
    """Where goods are said to be."""
    return next((place for place, pattern in _PLACES if pattern.search(text)), None)
