"""What a market is varied by, as records of its setup: who is made, what a search shows, gates, manipulation.

A setup keeps them only where they were set, so a market without them is what it was before there were any.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from akinai.worlds.market.generated_words import Kind, Language

Whole = Annotated[int, Field(ge=0, le=1_000_000)]


class _Treatment(BaseModel, frozen=True):
    model_config = ConfigDict(extra="forbid")


class _Named(_Treatment, frozen=True):
    """One whose bare name stands for its `kind`."""

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, given: Any) -> Any:
        return {"kind": given} if isinstance(given, str) else given


class Made(_Named, frozen=True):
    """The population that is made where there is no data. A bare name stands for its kind."""

    kind: Kind = "restaurants"
    language: Language = "en"
    identical: bool = False
    """All businesses that are made for a customer have one menu, one price and all that it needs."""


class Searching(_Treatment, frozen=True):
    """What a search shows."""

    limit: Whole = 0
    """Results of a search on all its pages together, the set that is considered; 0 is all."""


class Gates(_Treatment, frozen=True):
    """Rules that a deal has to pass beside those of every market."""

    proposals: Whole = 0
    """Businesses whose proposals a customer has before it may pay; 0 and 1 ask for none beside the one paid."""
    quote_window_s: Whole = 0
    """Seconds from the first proposal that a customer gets until it may pay; 0 lets it pay at once."""
    posted_prices: bool = False
    """A proposal holds items of the menu at the prices of the menu, and their sum."""
    sealed_bids: bool = False
    """A business makes one proposal to a customer, final and closed until the quote window is over, and none later."""

    @model_validator(mode="after")
    def _bids_close(self) -> "Gates":
        if self.sealed_bids and not self.quote_window_s:
            raise ValueError("sealed bids are opened when the quote window closes: set gates.quote_window_s too")
        return self


Appeal = Literal["none", "authority", "social_proof", "loss_aversion", "injection", "strong_injection"]


class Manipulation(_Named, frozen=True):
    """A text that sellers put into their description. A bare name stands for its kind."""

    kind: Appeal = "none"
    sellers: Literal["one", "one_each", "all"] = "one"
    """Who uses it: the first business, the first that was made for each customer, or everybody."""
    language: Language | None = None
    """Of the text; null is the population's."""
