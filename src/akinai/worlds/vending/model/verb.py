"""The base of the verbs of the vending world."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from akinai.core.actions import Action

SubAgentKind = Literal["email", "research", "physical"]
Switch = Literal[
    "full_view", "structured_orders", "machine_by_sub_agent", "order_book", "errands", "weekly", "forecast"
]
"""A setting of `Setup` that decides whether the owner is offered a verb."""
Minutes = Literal[
    "look", "search", "do", "mail", "letter", "price_lists", "news", "pay", "prices", "count", "fetch", "contract"
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
