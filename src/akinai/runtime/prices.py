"""Prices: what a model's tokens cost, as the user's own table says; nothing here guesses one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from akinai.core.errors import UnknownName, UsageError
from akinai.core.models import Usage

PRICES = "prices"
"""The table of `akinai.toml` that holds them."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of one model."""

    input_per_million: float
    output_per_million: float
    cached_input_per_million: float | None = None
    """Of input that the provider had read before; None where it costs as much as any other."""

    def dollars(self, usage: Usage) -> float:
        """What these tokens cost."""
        cached = self.input_per_million if self.cached_input_per_million is None else self.cached_input_per_million
        new = usage.input - usage.cached
        return (new * self.input_per_million + usage.cached * cached + usage.output * self.output_per_million) / 1e6


Prices = Mapping[str, Price]
"""By the name that a model is asked for with: "openai:NAME"."""


def read_prices(table: object) -> Prices:
    """The prices in a parsed TOML table. UsageError names what does not fit in it."""
    return {name: _price(name, given) for name, given in _table(table, f"[{PRICES}]").items()}


def expect_price(model: str, prices: Prices) -> Price:
    """The price of a model. UsageError that says how to add one."""
    if model not in prices:
        raise UsageError(
            f"no price is known for {model!r}, so no budget in dollars can be kept; add it to akinai.toml: "
            f'[{PRICES}."{model}"] with input_per_million = ... and output_per_million = ... in dollars, '
            "or give --max-tokens"
        )
    return prices[model]


def _price(model: str, given: object) -> Price:
    where, names = f'[{PRICES}."{model}"]', [field.name for field in fields(Price)]
    table = _table(given, where)
    for name, value in table.items():
        if name not in names:
            raise UnknownName("price", name, names, f"in {where}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise UsageError(f"{name} in {where} is dollars for a million tokens, not {value!r:.60}")
    for name in names[:2]:
        if name not in table:
            raise UsageError(f"{where} has no {name}; a price has input_per_million and output_per_million")
    return Price(**table)


def _table(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where} should be a table, not {value!r:.60}")
    return cast("Mapping[str, Any]", value)
