"""How a person reads and types what an owner is given: slots as on the machine, goods and suppliers by name."""

import re
from collections.abc import Iterator, Mapping

from akinai.core.canonical import Json
from akinai.core.presentation.voice import Voice
from akinai.worlds.vending.model.state import State
from akinai.worlds.vending.transcript.place import ROWS, slot_key

SLOT = re.compile(r"\brow (\d+), column (\d+)")
LINES = re.compile(r"\b([Rr]ows?) (\d+)(?:-(\d+))?")
COLUMNS = re.compile(r"\bcolumns (\d+)-(\d+)")
WORDS = {"Every tool takes time and says what it does": "Every action takes time and says what it does"}


def voice_of(state: State) -> Voice:
    """The voice of a business; its machines' slots have one name each where there is a single machine."""
    setup = state.setup
    names = {product.id: product.name for product in setup.catalog.products}
    names |= {supplier.id: supplier.name for supplier in setup.catalog.suppliers}
    slots = range(0 if setup.street.errands else len(state.slots))
    spots: dict[str, Mapping[str, Json]] = {
        slot_key(setup.columns, at): {"row": at // setup.columns, "column": at % setup.columns} for at in slots
    }
    return Voice(names, spots, rewrite=lambda text: _rewrite(text, setup.columns))


def _rewrite(text: str, columns: int) -> str:
    for words, others in WORDS.items():
        text = text.replace(words, others)
    text = SLOT.sub(lambda match: f"slot {_key(int(match[1]), int(match[2]), columns)}", text)
    text = LINES.sub(lambda match: " ".join([match[1], "-".join(_letters(match))]), text)
    return COLUMNS.sub(lambda match: f"columns {int(match[1]) + 1}-{int(match[2]) + 1}", text)


def _key(row: int, column: int, columns: int) -> str:
    return slot_key(columns, row * columns + column) if column < columns else f"{ROWS[row % len(ROWS)]}{column + 1}"


def _letters(match: re.Match[str]) -> Iterator[str]:
    return (ROWS[int(number) % len(ROWS)] for number in match.groups()[1:] if number)
