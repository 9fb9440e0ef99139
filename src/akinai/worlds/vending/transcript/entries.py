"""The entries of a vending run in words, with letters, receipts, goods, prices and nights as blocks."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from akinai.core.actions import Action, Unreadable
from akinai.core.canonical import Json
from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Block, EntryView, Letter, Passage, Sheet
from akinai.core.steps import Step, Steps
from akinai.worlds.vending.detectors.history import own_steps
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import OVERSEER, Book, Order, State, clock, closed_books
from akinai.worlds.vending.model.verb import Sending
from akinai.worlds.vending.rules.books import site_name
from akinai.worlds.vending.sprint import verbs as weekly
from akinai.worlds.vending.transcript.place import slot_key

MOST_NAMED = 3
"""The most products or slots that a summary names."""


def letter_entries(steps: Steps[State]) -> Mapping[int, int]:
    """The entries that sent letters, by the letter's number."""
    return {
        step.before.mail.letters + 1: step.entry.seq
        for step in steps
        if isinstance(step.turn.action, Sending) and step.outcome.ok
    }


def sides(steps: Steps[State]) -> Mapping[int, tuple[Steps[State], Step[State]]]:
    """Each entry of an owner as that owner lived it, up to its next one, among the steps of this owner."""
    lives = (own_steps(steps, owner) for owner in steps.opening.owners)
    return {step.entry.seq: (own, step) for own in lives for step in own}


def show(steps: Steps[State], index: int) -> EntryView:
    """An entry, with the receipts, deliveries and books of days that came to its owner until it acted again."""
    seq = steps[index].entry.seq
    if seq not in steps.derive(sides):
        return _verb(steps[index], steps[index].turn.action)
    steps, step = steps.derive(sides)[seq]
    rendered = _verb(step, step.turn.action)
    nights = [block for book in closed_books(step.before, step.after) for block in _book_blocks(step, book)]
    more = [*nights, *_receipts(step, steps), *_deliveries(step)]
    if not more:
        return rendered
    return EntryView(rendered.kind, rendered.summary, (*rendered.blocks, *more), rendered.touched, rendered.outcome)


def summary_of(step: Step[State]) -> str:
    """A summary of an entry in one line; its actor's business is in front before it."""
    return _verb(step, step.turn.action).summary


def _verb(step: Step[State], action: Action) -> EntryView:  # noqa: C901 - one arm a verb
    # fmt: off
    match action:
        case a.AdvanceDay(): return EntryView("night", "Closed for the day", outcome=False)
        case a.WaitUntil(): return EntryView("wait", f"Waited until {action.hour:02d}:00", outcome=False)
        case Sending(): return _sent(step, action)
        case a.ReadEmail(): return _read(step, action)
        case a.SearchWeb(): return _searched(step, action)
        case a.PlaceOrder(): return _ordered(step, action)
        case a.RestockSlot(): return _restock(step, action)
        case a.ClearSlot(): return _cleared(step, action)
        case a.SetPrice(): return _priced(step, action)
        case a.ChangePrices(): return _prices_changed(step, action)
        case a.VisitSite(): return _visited(step, action)
        case a.CollectCash():
            collected = f"Collected {format_cents(step.before.machine_cents)} from the machine"
            return EntryView("cash", collected if step.outcome.ok else "Collect cash", outcome=not step.outcome.ok)
        case a.NotepadWrite(): return _noted("Wrote in the notepad", action.text)
        case a.UpdateNotes(): return _noted(f"Noted \"{action.key}\"", action.content)
        case a.AddMemory(): return _noted("Kept a memory", action.text)
        case a.NotepadErase() | a.DeleteNote(): return EntryView("note", _plain(action))
        case a.Delegation(): return _task(f"Gave the {action.kind} assistant a task", action.task)
        case a.ChatWithSubAgent(): return _task("Asked the assistant again", action.message)
        case a.Report():
            return EntryView("report", "Reported to the owner", (Passage("report", action.text),), (), False)
        case a.WriteReply():
            return EntryView("letter", "Answered the owner", (Passage("letter", action.text),), (), False)
        case a.ReviewLetter(): return _reviewed(step, action)
        case a.MakeOffer():
            supplier = supplier_name(step.before, action.supplier_id)
            return EntryView("order", f"Asked {supplier} for {action.discount_percent} % off")
        case a.CountDelivery(): return EntryView("goods", f"Counted order {action.order}")
        case a.Claim():
            return EntryView("goods", f"Claimed for order {action.order}", (_goods_sheet(step, action.missing),))
        case a.FetchDepot(): return EntryView("goods", f"Fetched order {action.order} from the depot")
        case a.SellToJobber(): return EntryView("goods", "Sold to the jobber", (_goods_sheet(step, action.items),))
        case a.AnswerCustomer(): return EntryView("letter", f"Complaint {action.complaint}: {action.answer}")
        case a.Pay(): return EntryView("cash", f"Paid {action.bill} {action.number}")
        case weekly.CloseWeek() | weekly.Week():
            decided = _plain(action) if isinstance(action, weekly.CloseWeek) else f"Decided a week: {_parts(action)}"
            return EntryView("night", decided, (Passage("report", step.outcome.text),), outcome=False)
        case weekly.SetPlan(): return EntryView("price", "Changed the plan")
        case weekly.AnswerCustomers(): return EntryView("letter", "Answered customers")
        case weekly.ReadLetter(): return EntryView("inbox", f"Read letter {action.number}")
        case weekly.WriteNotes(): return _noted("Wrote the page of notes", action.text)
        case weekly.Forecast(): return EntryView("note", "Forecast the balance", outcome=False)
        case a.SendMoney():
            reasons = (Passage("letter", action.reason),) if action.reason else ()
            return EntryView("cash", f"Sent {format_cents(action.cents)} to {action.to}", reasons)
        case a.OfferGoods():
            summary = f"Offered goods to {action.to} for {format_cents(action.cents)}"
            return EntryView("goods", summary, (_goods_sheet(step, action.items),))
        case a.AcceptGoods(): return EntryView("goods", f"Accepted offer {action.offer}")
        case a.LeaveStreet():
            left = "Reads letters no more" if step.entry.actor == OVERSEER else "Left the street"
            return EntryView("night", left, (Passage("reply", action.why),) if action.why else ())
        case a.TakePitch(): return EntryView("order", f"Took the pitch {action.place}")
        case Unreadable():
            return EntryView("unreadable", "Wrote what holds no action", (Passage("reply", action.text),))
        case _: return EntryView("look", _plain(action))
    # fmt: on


def _searched(step: Step[State], action: a.SearchWeb) -> EntryView:
    results = _results(step)
    return EntryView("search", f'Searched the web for "{action.query}"', results, outcome=not results)


def _visited(step: Step[State], action: a.VisitSite) -> EntryView:
    names = {n: site_name(step.before, site.place_index) for n, site in enumerate(step.before.sites, 1)}
    return EntryView("restock", f"Visited {names.get(action.site, f'site {action.site}')}")


def _noted(summary: str, text: str) -> EntryView:
    return EntryView("note", summary, (Passage("note", text),), outcome=False)


def _task(summary: str, text: str) -> EntryView:
    return EntryView("task", summary, (Passage("task", text),))


def _plain(action: Action) -> str:
    words = action.tool_name().replace("_", " ")
    values = [str(value) for value in action.encode().values() if isinstance(value, str | int)]
    return f"{words[0].upper()}{words[1:]}{': ' if values else ''}{', '.join(values)}"


def _parts(form: weekly.Week) -> str:
    rows = {"orders": form.orders, "prices": form.prices, "sites": form.sites, "offers": form.offers}
    rows |= {"claims": form.claims, "payments": form.payments}
    parts = [f"{len(row)} {name}" for name, row in rows.items() if row]
    parts += [name for name, value in (("answers", form.answers), ("notes", form.notes)) if value]
    return ", ".join(parts) or "nothing"


def _sent(step: Step[State], action: Sending) -> EntryView:
    supplier = step.before.setup.catalog.supplier_by_address.get(action.to.strip().lower())
    to = supplier.name if supplier else action.to
    number = step.before.mail.letters + 1 if step.outcome.ok else 0
    at = clock(step.before.setup, step.before.minute)
    letter = Letter(step.before.contact.email, action.to, action.subject, action.body, number, at)
    return EntryView("letter", f"Wrote to {to}", (letter,), (), not step.outcome.ok)


def _reviewed(step: Step[State], action: a.ReviewLetter) -> EntryView:
    notes = (Passage("reply", action.note),) if action.note else ()
    if not step.outcome.ok:
        return EntryView("letter", _plain(action), notes)
    owner, sent = step.before.outgoing[0]
    verb = {"pass": "Passed", "revise": "Asked to rewrite", "veto": "Vetoed"}[action.verdict]
    letter = Letter(sent.sender, sent.to, sent.subject, sent.body, sent.number, clock(step.before.setup, sent.at))
    return EntryView("letter", f"{verb} a letter of {owner} to {sent.to}", (letter, *notes), outcome=False)


def _read(step: Step[State], action: a.ReadEmail) -> EntryView:
    letters = tuple(
        Letter(letter["from"], letter["to"], letter["subject"], letter["body"], letter["number"], letter["date"])
        for letter in step.entry.outcome.fields.get("letters", ())
    )
    count = f"{len(letters) or 'no'} letter{'' if len(letters) == 1 else 's'}"
    summary = f"Looked at {count} sent" if action.folder == "sent" else f"Read {count}"
    return EntryView("inbox", summary, letters, outcome=not (letters and step.outcome.ok))


def _results(step: Step[State]) -> tuple[Block, ...]:
    pages = step.entry.outcome.fields.get("results")
    rows: list[tuple[Json, ...]] = []
    for result in cast("Sequence[Any]", pages) if isinstance(pages, list) else ():
        if isinstance(result, Mapping):
            page = cast("Mapping[str, Json]", result)
            rows.append((str(page.get("title", "")), str(page.get("text", page.get("url", "")))))
    return (Sheet("results", {"title": "", "text": ""}, tuple(rows)),) if rows else ()


def _ordered(step: Step[State], action: a.PlaceOrder) -> EntryView:
    verb = "Ordered" if step.outcome.ok else "Tried to order"
    goods = _listed([f"{units} {_product(step.before, id)}" for id, units in action.items.items()]) or "nothing"
    summary = f"{verb} from {supplier_name(step.before, action.supplier_id)}: {goods}"
    return EntryView("order", summary, (_goods_sheet(step, action.items),))


def _goods_sheet(step: Step[State], units: Mapping[str, int]) -> Sheet:
    rows = tuple((_product(step.before, id), count) for id, count in units.items())
    return Sheet("goods", {"product": "", "units": "units"}, rows)


def _restock(step: Step[State], action: a.RestockSlot) -> EntryView:
    columns = step.before.setup.columns
    keys = [slot_key(columns, fill.row * columns + fill.column) for fill in action.slots]
    rows = tuple(
        (_product(step.before, fill.product_id), fill.quantity, key)
        for fill, key in zip(action.slots, keys, strict=True)
    )
    ok = step.outcome.ok
    total = sum(fill.quantity for fill in action.slots)
    goods = list(dict.fromkeys(str(row[0]) for row in rows))
    summary = f"{'Put' if ok else 'Tried to put'} {total} units into the machine: {_listed(goods)}"
    sheet = Sheet("restock", {"product": "", "units": "units", "slot": ""}, rows)
    return EntryView("restock", summary, (sheet,), tuple(keys) if ok else (), not ok)


def _cleared(step: Step[State], action: a.ClearSlot) -> EntryView:
    columns = step.before.setup.columns
    key = slot_key(columns, action.row * columns + action.column)
    return EntryView("restock", f"Cleared slot {key}", (), (key,) if step.outcome.ok else ())


def _priced(step: Step[State], action: a.SetPrice) -> EntryView:
    state, columns = step.before, step.before.setup.columns
    prices: dict[str, int] = {}
    touched: list[str] = []
    for tag in action.prices:
        index = tag.row * columns + tag.column
        slot = state.slots[index] if tag.column < columns and index < len(state.slots) else None
        prices[slot.product if slot else f"slot {slot_key(columns, index)}"] = tag.price_cents
        touched.append(slot_key(columns, index))
    return _price_tags(step, prices, tuple(touched) if step.outcome.ok else ())


def _prices_changed(step: Step[State], action: a.ChangePrices) -> EntryView:
    catalog = step.before.setup.catalog
    prices: dict[str, int] = {}
    for name, cents in action.prices_cents.items():
        product = catalog.find(name)
        prices[product.id if product else name] = cents
    return _price_tags(step, prices, ())


def _price_tags(step: Step[State], prices: Mapping[str, int], touched: tuple[str, ...]) -> EntryView:
    before = step.before.prices
    rows = tuple((_product(step.before, id), cents, before.get(id)) for id, cents in prices.items())
    tags = [_tag(_product(step.before, id), cents, before.get(id)) for id, cents in prices.items()]
    sheet = Sheet("prices", {"product": "", "price": "cents", "before": "cents"}, rows)
    verb = "Priced" if step.outcome.ok else "Tried to price"
    return EntryView("price", f"{verb} {_listed(tags)}", (sheet,), touched, not step.outcome.ok)


def _tag(name: str, cents: int, was: int | None) -> str:
    change = format_cents(cents) if was in (None, cents) else f"{format_cents(was or 0)} to {format_cents(cents)}"
    return f"{name} {change}"


def _product(state: State, id: str) -> str:
    product = state.setup.catalog.find(id)
    return product.name if product else id


def supplier_name(state: State, id: str) -> str:
    """The supplier's name, or what stands for it where there is no such supplier."""
    supplier = state.setup.catalog.find_supplier(id)
    return supplier.name if supplier else id


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _receipts(step: Step[State], steps: Steps[State]) -> list[Block]:
    """Receipts of what was charged during an entry. An order by letter is charged the next morning: its receipt names
    the letter's entry."""
    if step.after.orders is step.before.orders:
        return []
    old = {order.number for order in step.before.orders}
    new = [order for order in step.after.orders if order.number not in old]
    return [_order_sheet(step.after, order, "receipt", steps) for order in sorted(new, key=lambda order: order.number)]


def _deliveries(step: Step[State]) -> list[Block]:
    if step.after.orders is step.before.orders:
        return []
    still = {order.number for order in step.after.orders}
    gone = [order for order in step.before.orders if order.number not in still and order.due <= step.after.minute]
    return [_order_sheet(step.after, order, "delivery", None) for order in gone if not order.lost]


def _order_sheet(state: State, order: Order, name: str, steps: Steps[State] | None) -> Sheet:
    rows = tuple((_product(state, line.product), line.units, line.cost_cents) for line in order.lines)
    title = f"Order {order.number} from {supplier_name(state, order.supplier)}"
    heads = {"product": "", "units": "units", "unit cost": "cents"}
    if steps is None:
        return Sheet(name, heads, rows, f"{title} came", order.total_cents)
    entry = steps.derive(letter_entries).get(order.letter, 0) if order.letter else 0
    promised = f"promised for {clock(state.setup, order.promised)}"
    return Sheet(name, heads, rows, f"{title} charged", order.total_cents, entry, promised)


def _book_blocks(step: Step[State], book: Book) -> list[Block]:
    """The books of a day that ended during an entry."""
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
    blocks: list[Block] = [Sheet("sales", heads, tuple(rows), title, book.income_cents, note=_fee(step.after, book))]
    if book.spoiled:
        lost = ", ".join(f"{count} {names[product].name}" for product, count in book.spoiled.items())
        blocks.append(Passage("spoiled", f"Thrown away: {lost}, which had cost {format_cents(book.spoiled_cents)}."))
    bare = [names[product].name for product in book.empty]
    if bare:
        blocks.append(Passage("sold_out", f"Sold out: {', '.join(bare)}."))
    return blocks


def _fee(state: State, book: Book) -> str:
    if not state.setup.fee_cents:
        return ""
    fee = format_cents(state.setup.fee_cents)
    return f"fee {fee} paid" if book.fee_met else f"the fee of {fee} could not be paid, {state.missed} in a row"
