"""An entry of a transcript as terminal text: what was done and answered, with letters, receipts and model calls."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from akinai.core.canonical import Json
from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Block, ItemKind, Letter, Passage, Sheet
from akinai.core.untrusted.spelling import plain, printable, short_repr
from akinai.report.language import fill, translate, translate_record
from akinai.report.tables.columns import translate_record_line
from akinai.views.model import CallView, TranscriptItem

INDENT = 9
"""Columns to the left of an entry, which hold its time."""
STORY_LINES = 8
"""Lines of a letter, a note or an outcome in a story; an entry that is shown alone has all."""
STORY_ROWS = 12
FEW_ROWS = 3
"""Goods and prices that the summary of an entry names; of more, the story has a table."""
SUMMED_UP = ("restock", "prices", "goods")
IN_A_LINE = ("sales", "choices", *SUMMED_UP)
"""Sheets that a story prints in one line."""
WORDED = ("spoiled", "sold_out", "state", "mark", "side", "expected")
"""Passages and columns whose words are the world's own. In others somebody wrote the words, or they are names."""
LEAST = "▾"
"""Stands before the least amount of a row."""
STYLES: dict[ItemKind, str] = {
    "look": "dim", "wait": "dim", "night": "bold", "letter": "cyan", "inbox": "cyan", "message": "cyan",
    "order": "green", "proposal": "green", "payment": "bold green", "restock": "green", "price": "green",
    "cash": "green", "unreadable": "red",
}  # fmt: skip


def item_parts(
    item: TranscriptItem, *, full: bool, calls: bool, with_actor: bool, uncut: Collection[str] = ()
) -> Iterator[RenderableType]:
    """Yield an entry's line, then the parts below it.

    `full` leaves nothing out; `with_actor` prints the actor; `uncut` are lines of calls that are never cut.
    """
    indent = INDENT + 4 * item.depth
    if calls or full:
        for call in item.calls:
            yield from (Padding(part, (0, 0, 0, indent), expand=False) for part in _call_parts(call, full, uncut))
    if item.thoughts and (calls or full) and not item.calls:  # a call has all of its thoughts
        thoughts = f"{translate('thoughts')}: {item.thoughts}"
        yield Padding(_cut(thoughts, "dim italic", full), (0, 0, 0, indent), expand=False)
    if item.said:
        yield Padding(_cut(f"“{item.said}”", "italic", full), (0, 0, 0, indent), expand=False)
    yield _line(item, with_actor)
    for part in _below(item, full):
        yield Padding(part, (0, 0, 0, indent), expand=False)


def _line(item: TranscriptItem, with_actor: bool) -> RenderableType:
    """The time, and beside it the action."""
    style = STYLES.get(item.shown.kind, "")
    prefix = f"{item.name or item.actor}: " if with_actor or item.depth else ""
    time = Text(f"{plain(item.time):>7}  {'    ' * item.depth}", "dim")
    line = Text(plain(prefix), "dim")
    line.append(translate_record_line(item.shown.summary), "red" if not item.ok else style)
    line.append(f"  #{item.seq}", "dim")
    if item.calls:
        line.append(plain(f"  {_tokens(item.calls)}"), "dim")
    return put_beside(time, line)


def put_beside(lead: Text, text: Text) -> RenderableType:
    """Put a text beside a lead, so that its further lines begin below its first."""
    table = Table.grid(padding=0)
    table.add_column(width=lead.cell_len, no_wrap=True)
    table.add_column()
    table.add_row(lead, text)
    return table


def _tokens(calls: Sequence[CallView]) -> str:
    input, output = sum(call.input for call in calls), sum(call.output for call in calls)
    seconds = f"{sum(call.seconds for call in calls):.1f}"
    return fill("{taken} in, {given} out, {seconds} s", taken=f"{input:,}", given=f"{output:,}", seconds=seconds)


def _below(item: TranscriptItem, full: bool) -> Iterator[RenderableType]:
    for block in item.shown.blocks:
        if full or not _summed_up(block, item.shown.summary):
            yield from _block_parts(block, full)
    if not item.ok:
        yield _cut(fill("refused ({code}): {text}", code=item.code, text=item.text), "red", full)
    elif item.text and (full or (item.shown.outcome and item.shown.kind != "look")):
        yield _cut(item.text, "dim", full)


def _summed_up(block: Block, summary: str) -> bool:
    match block:
        case Sheet():
            return block.name in SUMMED_UP and len(block.rows) <= FEW_ROWS
        case Passage():
            return block.text in summary
        case _:
            return False


def _block_parts(block: Block, full: bool) -> Iterator[RenderableType]:
    match block:
        case Letter(entry=entry) if entry and not full:
            yield Text(plain(fill("from {sender}, #{entry}", sender=block.sender, entry=entry)), "dim")
        case Letter():
            at = f"{translate_record(block.at)}  " if block.at else ""
            subject = f"{block.subject}  " if block.subject else ""
            ends = fill("{sender} to {addressee}", sender=block.sender, addressee=block.to)
            yield Text(plain(f"{at}{subject}{ends}"), "dim")
            yield Padding(_cut(block.body, "", full), (0, 0, 0, 2), expand=False)
        case Passage():
            text = translate_record(block.text) if block.name in WORDED else block.text
            yield _cut(text, "italic", full)
        case Sheet(name="results"):
            if not full:  # the words of the outcome have them all
                yield Text(fill("found: {results}", results="; ".join(_first_words(block))), "dim")
        case _:
            yield from _sheet_parts(block, full)


def _first_words(sheet: Sheet) -> Iterator[str]:
    """The first cell of words in each row."""
    index = next((index for index, unit in enumerate(sheet.columns.values()) if not unit), 0)
    yield from (plain(str(row[index])) for row in sheet.rows[:STORY_ROWS])


def _sheet_parts(sheet: Sheet, full: bool) -> Iterator[RenderableType]:
    total = format_cents(sheet.total_cents) if sheet.total_cents is not None else ""
    source = fill("ordered by entry #{entry}", entry=sheet.entry) if sheet.entry else ""
    head = translate(", ").join(
        filter(None, (translate_record(sheet.title), total, translate_record(sheet.note), source))
    )
    if head:
        yield Text(plain(head), "bold" if sheet.name == "sales" else "")
    if not sheet.rows:
        return
    if not full and sheet.name in IN_A_LINE:
        yield put_beside(Text("  "), Text("; ".join(filter(None, (_in_a_line(sheet, row) for row in sheet.rows)))))
        return
    rows = sheet.rows if full else sheet.rows[:STORY_ROWS]
    if rows:
        yield Padding(sheet_table(sheet.columns, rows), (0, 0, 0, 2), expand=False)
    if len(rows) < len(sheet.rows):
        yield Text(f"  {fill('and {count} more', count=len(sheet.rows) - len(rows))}", "dim")


def _in_a_line(sheet: Sheet, row: Sequence[Json]) -> str:
    """A row in a few words: "8 Cola at $2.25, 9 wanted", "12 Cola in A1", "Cola $2.25, was $2.00"."""
    cells = dict(zip(sheet.columns, row, strict=False))
    words = {head: cell_text(cell, sheet.columns[head], head) for head, cell in cells.items()}
    product = words.get("product", "")
    match sheet.name:
        case "sales":
            short = fill(", {count} wanted", count=words["wanted"]) if cells["wanted"] != cells["sold"] else ""
            sold = fill("{count} {product} at {price}", count=words["sold"], product=product, price=words["price"])
            return sold + short
        case "restock":
            return fill("{count} {product} in {slot}", count=words["units"], product=product, slot=words["slot"])
        case "prices":
            was = "" if cells["before"] is None else fill(", was {price}", price=words["before"])
            return f"{product} {words['price']}{was}"
        case "choices":
            return f"{words['number']} {words['choice']}" + (f" ({words['mark']})" if cells["mark"] else "")
        case _:
            return f"{words['units']} {product}"


def sheet_table(heads: Mapping[str, str], rows: Sequence[Sequence[Json]], *, compared: bool = False) -> Table:
    """Rows under heads; numbers are aligned right, in their units. The least amount of a row that is `compared` is
    marked."""
    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head, unit in heads.items():
        table.add_column(Text(plain(translate(head)), "dim"), justify="right" if unit not in ("", "flag") else "left")
    for row in rows:
        least = _least(heads, row) if compared else None
        cells = zip(row, heads.items(), strict=False)
        table.add_row(*(_cell(cell, unit, head, least) for cell, (head, unit) in cells))
    return table


def _cell(cell: Json, unit: str, head: str, least: float | None) -> Text:
    text = cell_text(cell, unit, head)
    return Text(f"{LEAST} {text}", "bold") if unit == "cents" and cell == least is not None else Text(text)


def _least(heads: Mapping[str, str], row: Sequence[Json]) -> float | None:
    """The least of several amounts in a row; None where they are all the same."""
    cells = zip(row, heads.values(), strict=False)
    amounts = [cell for cell, unit in cells if unit == "cents" and isinstance(cell, int | float)]
    return min(amounts) if len({*amounts}) > 1 else None


def cell_text(cell: Json, unit: str, head: str) -> str:
    """The text of a cell, in its unit."""
    if unit == "flag":
        return plain(translate(head)) if cell else ""
    if cell is None:
        return "-"
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return translate_record_line(str(cell)) if head in WORDED or unit == "cents" else plain(str(cell))
    return format_cents(round(cell)) if unit == "cents" else f"{cell:,}"


def _call_parts(call: CallView, full: bool, uncut: Collection[str]) -> Iterator[RenderableType]:
    cached = fill(" ({count} cached)", count=f"{call.cached:,}") if call.cached else ""
    source = (
        translate(", from Akinai's cache") if call.from_cache else fill(", {seconds} s", seconds=f"{call.seconds:.1f}")
    )
    tries = fill(", {count} tries", count=call.tries) if call.tries > 1 else ""
    head = fill(
        "call {number} of {model}: {taken} tokens in{cached}, {given} out{more}",
        number=call.number, model=call.model, taken=f"{call.input:,}", cached=cached, given=f"{call.output:,}",
        more=source + tries,
    )  # fmt: skip
    yield Text(plain(head), "magenta")
    for speaker, text in call.new:
        yield Padding(_cut(f"{speaker}: {text}", "dim", full, uncut), (0, 0, 0, 2), expand=False)
    if call.reply:
        yield Padding(_cut(fill("reply: {text}", text=call.reply), "", full), (0, 0, 0, 2), expand=False)
    for name, arguments in call.tools:
        yield Padding(
            Text(plain(fill("calls {tool}", tool=f"{name} {short_repr(arguments, 400)}"))), (0, 0, 0, 2), expand=False
        )


def _cut(text: str, style: str, full: bool, uncut: Collection[str] = ()) -> Text:
    """The whole text, or its first lines, how many more there are, and those of them that are kept."""
    lines = printable(text).rstrip().split("\n")
    if full or len(lines) <= STORY_LINES + 1:
        return Text("\n".join(lines), style)
    first_lines = Text("\n".join(lines[:STORY_LINES]), style)
    more = [line for line in lines[STORY_LINES:] if line.strip() in uncut]
    first_lines.append(f"\n... {fill('{count} more lines', count=len(lines) - STORY_LINES - len(more))}", "dim")
    return first_lines.append("".join(f"\n{line}" for line in more))
