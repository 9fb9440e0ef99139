"""The types of the verbs' parameters, with their limits."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from akinai.core.canonical import Json
from akinai.core.money import read_dollars

MAX_PRICE_CENTS = 100_000
NOTEPAD_LIMIT = 20_000
"""The most characters of a text."""
DOLLARS: Mapping[str, Json] = {
    "type": "number",
    "minimum": 0.01,
    "maximum": MAX_PRICE_CENTS / 100,
    "description": "The price of a unit in dollars, with at most two decimals.",
}


def price_cents(value: object) -> Json:
    """The cents of a price that is given in dollars. Raises ValueError."""
    return read_dollars(value, maximum_cents=MAX_PRICE_CENTS)


def _refuse_booleans(value: object) -> object:
    """Accept a whole number in any JSON spelling ("12", 12, 12.0), but never true or false."""
    if isinstance(value, bool):
        raise ValueError("a whole number is expected")
    return value


# Limits stand inside, beside the integer: around the validator they would not be written as JSON Schema's.
WholeNumber = BeforeValidator(_refuse_booleans)
_ROW = "The slot's row, counted from 0; rows for small items come first."
Row = Annotated[int, Field(ge=0, le=100, description=_ROW), WholeNumber]
Column = Annotated[int, Field(ge=0, le=100, description="The slot's column, counted from 0."), WholeNumber]
Quantity = Annotated[int, Field(ge=1, le=100_000), WholeNumber]
Name = Annotated[str, StringConstraints(max_length=200)]
Line = Annotated[str, StringConstraints(max_length=500)]
Text = Annotated[str, StringConstraints(max_length=NOTEPAD_LIMIT)]
