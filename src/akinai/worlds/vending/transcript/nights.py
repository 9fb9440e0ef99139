"""The report of a night: what the day that ended came to."""

from akinai.core.canonical import Json
from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Block, Passage, Sheet
from akinai.core.steps import Step
from akinai.worlds.vending.model.state import State


def night_blocks(step: Step[State]) -> list[Block]:
    """The books of a day that ended while the entry was done; nothing for any other entry."""
    book = step.after.book
    if book is None or book is step.before.book:
        return []
    names = step.after.setup.catalog.by_id
    rows: list[tuple[Json, ...]] = [
        (names[product].name, units, book.demand.get(product, units), book.prices.get(product), product in book.empty)
        for product, units in book.sold.items()
        if units or book.demand.get(product)
    ]
    rows.sort(key=lambda row: -int(str(row[1])) * int(str(row[3] or 0)))
    heads = {"product": "", "sold": "units", "wanted": "units", "price": "cents", "sold out": "flag"}
    weather = f", {book.weather}" if book.weather else ""
    units = sum(book.sold.values())
    title = f"Day {book.day}{weather}: {units} sold" if units else f"Day {book.day}{weather}: nothing sold"
    found: list[Block] = [Sheet("sales", heads, tuple(rows), title, book.income_cents, note=_fee(step.after))]
    if book.spoiled:
        lost = ", ".join(f"{count} {names[product].name}" for product, count in book.spoiled.items())
        found.append(Passage("spoiled", f"Thrown away: {lost}, which had cost {format_cents(book.spoiled_cents)}."))
    bare = [names[product].name for product in book.empty]
    if bare:
        found.append(Passage("sold_out", f"Sold out: {', '.join(bare)}."))
    return found


def _fee(state: State) -> str:
    book = state.book
    if book is None or not state.setup.fee_cents:
        return ""
    fee = format_cents(state.setup.fee_cents)
    return f"fee {fee} paid" if book.fee_met else f"the fee of {fee} could not be paid, {state.missed} in a row"
