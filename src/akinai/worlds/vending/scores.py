"""What a vending run earned, each figure with the entries that show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from akinai.core.canonical import Json
from akinai.core.ledger import Ledger
from akinai.core.scores import Score
from akinai.core.worlds import walk
from akinai.worlds.vending.state import Book, State


def stock_cents(state: State) -> int:
    """Unsold goods in storage and machine at the price paid for them; arXiv 2502.15840, section 2.4."""
    slots = sum(lot.units * lot.cost_cents for slot in state.slots if slot for lot in slot.lots)
    return slots + sum(lot.units * lot.cost_cents for lots in state.storage.values() for lot in lots)


def transit_cents(state: State) -> int:
    """Goods paid for and on their way; beside net worth, not in it."""
    return sum(order.total_cents for order in state.orders)


def net_worth_cents(state: State) -> int:
    """Cash, money in the machine and stock at cost."""
    return state.cash_cents + state.machine_cents + stock_cents(state)


def facts(state: State) -> Mapping[str, Json]:
    """The truth about a state in a few numbers."""
    return {
        "day": state.day,
        "closed_days": state.closed_days,
        "net_worth_cents": net_worth_cents(state),
        "cash_cents": state.cash_cents,
        "machine_cents": state.machine_cents,
        "stock_cents": stock_cents(state),
        "transit_cents": transit_cents(state),
        "units_sold": state.units_sold,
        "products_on_sale": len({slot.product for slot in state.slots if slot and slot.lots}),
        "unread": len(state.mail.unread),
    }


def closed_day(state: State) -> Mapping[str, Json]:
    """The last closed day: what was sold, asked for and missing, and at which prices."""
    book = state.book
    if book is None:
        return {}
    return {
        "income_cents": book.income_cents,
        "fee_paid_cents": book.fee_cents,
        "spoiled_cents": book.spoiled_cents,
        "sold_out": len(book.empty),
        "sold": dict(book.sold),
        "wanted": dict(book.wanted),
        "price_cents": dict(book.prices),
    }


@dataclass
class _Tally:
    """What is counted along a ledger."""

    messages: list[int] = field(default_factory=list[int])
    moved_money: list[int] = field(default_factory=list[int])
    """Entries that changed cash beside the fee."""
    sales: list[int] = field(default_factory=list[int])
    stockouts: list[int] = field(default_factory=list[int])
    unpaid: list[int] = field(default_factory=list[int])
    closes: int = 0
    """The entry that closed the last day."""
    last_sale: tuple[int, int] = (0, 0)
    """Day and entry of the last day with a sale."""

    def close(self, book: Book, seq: int) -> None:
        self.closes = seq
        if book.income_cents:
            self.sales.append(seq)
            self.last_sale = (book.day, seq)
        if book.empty or not book.wanted:
            self.stockouts.append(seq)
        if not book.fee_met:
            self.unpaid.append(seq)


def score(ledger: Ledger) -> Sequence[Score]:
    """Net worth and what stands beside it; the names are the ones programs rely on.

    `days_until_sales_stop` is the last day with a sale, 0 when there was none; `stockout_days` counts the
    days that closed with nothing on sale, or with a product sold out that has a slot and a price; `fees_missed`
    those whose fee was not paid, which is not owed later.
    """
    from akinai.worlds.vending import Vending

    world = Vending()
    state, tally = world.begin(ledger.genesis), _Tally()
    for step in walk(world, ledger.genesis, ledger.entries):
        before, after, seq = state, step.after, step.entry.seq
        state = after
        if "/" not in step.entry.actor:
            tally.messages.append(seq)
        if after.book is not None and after.book is not before.book:
            tally.close(after.book, seq)
        fee = after.book.fee_cents if after.book is not None and after.book is not before.book else 0
        if after.cash_cents + fee != before.cash_cents:
            tally.moved_money.append(seq)
    return _scores(state, tally)


def _scores(state: State, tally: _Tally) -> list[Score]:
    cash, stock = state.cash_cents, stock_cents(state)
    last = (tally.closes,) if tally.closes else ()
    moved, sales = tuple(tally.moved_money), tuple(tally.sales)
    worth = tuple(sorted({*moved, *sales, *last}))
    last_day, last_seq = tally.last_sale
    return [
        Score("net_worth", net_worth_cents(state), "cents", worth),
        Score("cash", cash, "cents", tuple(sorted({*moved, *last}))),
        Score("machine_cash", state.machine_cents, "cents", sales),
        Score("stock_at_cost", stock, "cents", worth),
        Score("in_transit_at_cost", transit_cents(state), "cents", moved),
        Score("units_sold", state.units_sold, "units", sales),
        Score("days_until_sales_stop", last_day, "days", (last_seq,) if last_seq else ()),
        Score("stockout_days", len(tally.stockouts), "days", tuple(tally.stockouts)),
        Score("fees_missed", len(tally.unpaid), "days", tuple(tally.unpaid)),
        Score("messages", len(tally.messages), "messages", tuple(tally.messages[-1:])),
    ]
