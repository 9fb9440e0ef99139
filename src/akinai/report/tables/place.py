"""A place as terminal text: figures, machines slot by slot, goods in storage and on their way."""

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Figure, Place, Shelf
from akinai.report.language import fill, translate, translate_record
from akinai.report.tables.columns import plain, translate_record_line
from akinai.report.tables.items import sheet_table

MOST_ROWS = 40
HIDDEN = ("minute",)
"""Figures that are not printed here."""


def place_parts(snapshot: Place, names: Mapping[str, str]) -> Iterator[RenderableType]:
    """Yield the parts of a place; `names` are those of products."""
    figures = translate(", ").join(_figure(figure) for figure in snapshot.figures if figure.name not in HIDDEN)
    if figures:
        yield Text(plain(figures))
    for shelf in snapshot.shelves:
        yield Text("")
        if shelf.name:
            yield Text(plain(f"{shelf.name}{f' ({translate_record(shelf.state)})' if shelf.state else ''}"), "bold")
        yield _machine(shelf, names)
    for listing in snapshot.listings:
        yield Text("")
        if not listing.rows:
            yield Text(plain(fill("{place}: nothing", place=translate_record(listing.title))), "dim")
            continue
        yield Text(translate_record_line(listing.title), "bold")
        yield Padding(sheet_table(listing.columns, list(listing.rows.values())[:MOST_ROWS]), (0, 0, 0, 2), expand=False)
        if len(listing.rows) > MOST_ROWS:
            yield Text(f"  {fill('and {count} more', count=len(listing.rows) - MOST_ROWS)}", "dim")


def _figure(figure: Figure) -> str:
    amount = format_cents(round(figure.value)) if figure.unit == "cents" else f"{figure.value:,}"
    return f"{translate(figure.label)} {amount}"


def _machine(shelf: Shelf, names: Mapping[str, str]) -> Table:
    """The slots of a machine in their rows: product, units of capacity, price."""
    table = Table(box=None, show_header=False, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0))
    cells: list[Text] = []
    for (key, slot), capacity in zip(shelf.slots.items(), shelf.capacities, strict=True):
        cell = Text(f"{key.rpartition(':')[2]} ", "dim")
        if slot is None:
            cell.append(translate("empty"), "dim")
        else:
            cell.append(plain(names.get(slot.item, slot.item)))
            cell.append(f" {slot.units}/{capacity}", "red" if not slot.units else "")
            price = translate("no price") if slot.price_cents is None else format_cents(slot.price_cents)
            cell.append(f" {price}", "dim")
        cells.append(cell)
    for start in range(0, len(cells), shelf.columns):
        table.add_row(*cells[start : start + shelf.columns])
    return table
