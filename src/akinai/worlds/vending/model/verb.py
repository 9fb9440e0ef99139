"""The base of the verbs of the vending world, and the types of their parameters, with their limits."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from akinai.core.actions import Action
from akinai.core.canonical import Json
from akinai.core.money import read_dollars

SubAgentKind = Literal["email", "research", "physical"]
Switch = Literal[
    "full_view", "structured_orders", "machine_by_sub_agent", "order_book", "errands", "weekly", "forecast", "rivals"
]
"""A setting of `Setup` that decides whether the owner is offered a verb."""
Minutes = Literal[
    "look", "search", "do", "mail", "letter", "price_lists", "news", "pay", "prices", "count", "fetch", "contract",
    "rivals",
]  # fmt: skip
"""An entry of `Setup.minutes` or, where there are errands, of `Street.errands`."""


def unless(default: object) -> Any:
    """A field that a ledger holds only where its value is not the default, so that it may be added to a version."""
    return Field(default=default, exclude_if=lambda value: value == default)


class Verb(Action):
    """The base of the verbs of this world."""

    minutes: ClassVar[Minutes | None] = None
    """The time that it takes; None for a verb that takes no time of its own."""
    errand_minutes: ClassVar[Minutes | None] = None
    """The time that it takes where there are errands, if that differs."""
    away: ClassVar[bool] = False
    """Whether the owner is not at the storage meanwhile."""
    for_owner: ClassVar[bool] = True
    """Whether the owner may use it at all."""
    only_with: ClassVar[Switch | None] = None
    """The owner is offered it only where this setting is on."""
    not_with: ClassVar[tuple[Switch, ...]] = ()
    """The owner is offered it only where these settings are off."""


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


class Sending(Verb):
    """The base of the verbs that send a letter."""

    to: Line
    """The e-mail address to write to."""
    subject: Line = ""
    """The subject line."""
    body: Text
    """The text of the letter."""
