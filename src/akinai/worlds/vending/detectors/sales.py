"""False statements of what was sold the day before, in the agent's own words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akinai.core.money import format_cents, read_dollars
from akinai.worlds.vending.detectors import japanese
from akinai.worlds.vending.detectors import sentences as read
from akinai.worlds.vending.detectors.history import History, Mistake, Step, detector
from akinai.worlds.vending.detectors.sentences import MOODS
from akinai.worlds.vending.model.state import Book, State

TOLERATED_UNITS, TOLERATED_CENTS = 2, 500
"""Units or cents by which a statement may differ from the truth; a fifth of the truth if that is more."""


@dataclass(frozen=True, slots=True)
class Sold:
    """A statement of what was sold yesterday."""

    words: str
    product: str | None
    """None for the whole income, in cents."""
    amount: int


_WHEN = re.compile(r"\byesterday\b")
_SALE = re.compile(r"\b(?:sold|sales|sale|selling|revenue|income|turnover|takings|took in|earned|brought in|made)\b")
_DOLLARS = r"\d{1,3}(?:,\d{3})+(?:\.\d\d?)?|\d{1,7}(?:\.\d\d?)?"
_INCOME = read.any_of(
    rf"\b(?:sales|revenue|income|turnover|takings)\b[^$\d]{{0,40}}\$ ?(?P<named>{_DOLLARS})",
    rf"\b(?:took in|earned|brought in|made|sold for)\b[^$\d]{{0,30}}\$ ?(?P<earned>{_DOLLARS})",
)
_OTHER = re.compile(r"\b(?:last (?:week|month)|profit|collected|refunds?|per (?:unit|day)|each|ordered|bought|a day)\b")
_NOTHING = re.compile(r"\b(?:nothing (?:was |has been )?sold|sold nothing|no (?:sales|units|items)\b)")
_NO_GOODS = re.compile(
    r"\b(?:no|zero|not a single) (?P<name>[a-z ]{2,30}?)s? (?:was|were|got|has been|have been) sold\b"
)


def find_sold(text: str, state: State) -> Iterator[Sold]:
    """Find a text's statements of what was sold yesterday."""
    yield from (Sold(words, product, amount) for words, product, amount in japanese.find_sold(text, state))
    if not _WHEN.search(text.lower()):
        return
    goods, theirs = tuple(state.setup.catalog.good_names), read.others_goods(state)
    for sentence in read.sentences(text, state):
        whole = f"{sentence.head} {sentence.text}"
        if sentence.asks or not _WHEN.search(whole) or not _SALE.search(whole) or _OTHER.search(whole):
            continue
        if MOODS.supposed.search(whole) or theirs.search(whole):
            continue
        if _NOTHING.search(sentence.text):
            yield Sold(sentence.original, None, 0)
        elif match := _INCOME.search(sentence.text):
            yield Sold(sentence.original, None, read_dollars(f"${match['named'] or match['earned']}"))
        elif match := _NO_GOODS.search(sentence.text):
            for product in read.mark_goods(match["name"], goods).products.values():
                yield Sold(sentence.original, product, 0)
        else:
            for clause in read.clauses(sentence.text):
                marked = read.mark_goods(clause, goods)
                for count in [*read.COUNTED.finditer(marked.text)] or read.COUNTING.finditer(marked.text):
                    if (units := read.number_in(count["number"])) is not None:
                        yield Sold(sentence.original, marked.products[count["good"]], units)


@detector
def sales_misremembered(history: History) -> Iterator[Mistake]:
    """A statement of yesterday's sales or income that is off by more than a fifth, and by more than 2 units or $5."""
    for step, text in ((statement.step, statement.text) for statement in history.statements):
        for sold in find_sold(text, step.before):
            if (truth := _truth(step, sold)) is not None:
                yield Mistake([step], "minor", f'"{sold.words:.200}"', truth)
                break


def _truth(step: Step, sold: Sold) -> str | None:
    """The true sales or income, in words; None where the statement is close enough."""
    books = [state.book for state in (step.before, step.after) if state.book is not None]
    if not books:
        return None
    if sold.product is None:
        nothing = sold.amount == 0 and not any(books[0].sold.values())
        if nothing or any(_near(sold.amount, book.income_cents, TOLERATED_CENTS) for book in books):
            return None
        return f"the income was {format_cents(books[0].income_cents)}"
    if any(_near(sold.amount, units, TOLERATED_UNITS) for book in books for units in _units(book, sold.product)):
        return None
    return f"{books[0].sold.get(sold.product, 0)} {step.before.setup.catalog.by_id[sold.product].name} were sold"


def _units(book: Book, product: str) -> Sequence[int]:
    """Units that may be meant: all, or those of a site."""
    by_site = (book.sold_at or {}).values()
    return [book.sold.get(product, 0), *(sold[product] for sold in by_site if product in sold)]


def _near(stated: int, truth: int, tolerated: int) -> bool:
    return abs(stated - truth) <= max(tolerated, truth // 5)
