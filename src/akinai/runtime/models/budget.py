"""Budgets and prices: limits for the model calls of a run, their usage so far, and its cost."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from akinai.core.errors import AgentError, EndRun, UnknownName, UsageError
from akinai.core.models import Usage
from akinai.core.untrusted.spelling import short_repr
from akinai.runtime.config.settings import SETTINGS_FILE, settings_file

BUDGET = "budget"
"""The ending of a run whose budget is spent."""
PRICES = "prices"
"""The table of `akinai.toml` that holds the prices."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of one model."""

    input_per_million: float
    output_per_million: float
    cached_input_per_million: float | None = None
    """The price of input in the provider's prompt cache; None if it costs as much as other input."""

    def dollars(self, usage: Usage) -> float:
        """The price of these tokens."""
        cached = self.input_per_million if self.cached_input_per_million is None else self.cached_input_per_million
        new = usage.input - usage.cached
        return (new * self.input_per_million + usage.cached * cached + usage.output * self.output_per_million) / 1e6


Prices = Mapping[str, Price]
"""Prices by the name of a model, such as "openai:NAME"."""


def known_prices() -> Prices:
    """The prices in `akinai.toml`. UsageError names what does not fit."""
    settings = settings_file()
    prices = read_prices(settings.get(PRICES, {}))
    if PRICES in settings and not prices:
        raise UsageError(f"[{PRICES}] in {SETTINGS_FILE} holds no price; add one, or leave the table out")
    return prices


def read_prices(table: object) -> Prices:
    """The prices in a parsed TOML table. UsageError names what does not fit."""
    return {name: _price(name, price) for name, price in _table(table, f"[{PRICES}]").items()}


def expect_price(model: str, prices: Prices) -> Price:
    """The price of a model. UsageError says how to add one."""
    if model not in prices:
        raise UsageError(
            f"no price is known for {model!r}, so no budget in dollars can be kept; add it to akinai.toml: "
            f'[{PRICES}."{model}"] with input_per_million = ... and output_per_million = ... in dollars, '
            "or give --max-tokens"
        )
    return prices[model]


def _price(model: str, value: object) -> Price:
    key, names = f'[{PRICES}."{model}"]', [field.name for field in fields(Price)]
    table = _table(value, key)
    for name, number in table.items():
        if name not in names:
            raise UnknownName("price", name, names, f"in {key}")
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:
            raise UsageError(f"{name} in {key} is dollars for a million tokens, not {short_repr(number)}")
    for name in names[:2]:
        if name not in table:
            raise UsageError(f"{key} has no {name}; a price has input_per_million and output_per_million")
    return Price(**table)


def _table(value: object, key: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{key} should be a table, not {short_repr(value)}")
    return cast("Mapping[str, Any]", value)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; 0 for no limit."""

    actions: int = 0
    """Actions of each actor. The driver keeps this limit; its ending is `message_cap`."""
    tokens: int = 0
    """Input and output of all model calls, including those before a resume."""
    minutes: float = 0
    """Counted from the creation of the meter, so anew in each command."""
    dollars: float = 0
    """Cost of all model calls, including those before a resume."""
    repeats: int = 20
    """How often in a row an actor may repeat an action without effect; the ending is `stuck`."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < math.inf:
                raise UsageError(f"--max-{field.name} is a number from 0 (no limit), not {value!r}")


NO_BUDGET = Budget()


class Meter:
    """Counts the usage of a run. A reply from the response cache costs nothing and is not counted."""

    def __init__(
        self, budget: Budget = NO_BUDGET, prices: Prices | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`now` returns seconds that never fall."""
        self.budget = budget
        self._prices = prices or {}
        self._now, self._begun = now, now()
        self._used: dict[str, Usage] = {}
        self._uncounted: str | None = None
        """A model whose provider reported no token counts."""

    @property
    def usage(self) -> Usage:
        """Tokens of all calls."""
        return sum(self._used.values(), Usage())

    @property
    def dollars(self) -> float | None:
        """The cost of all calls; None if the price of a called model is not known."""
        if not self._used.keys() <= self._prices.keys():
            return None
        return sum(self._prices[model].dollars(usage) for model, usage in self._used.items())

    def expect_price(self, model: str) -> None:
        """Raise UsageError if the budget is in dollars and the model has no price; checked before a run begins."""
        if self.budget.dollars:
            expect_price(model, self._prices)

    def check(self, model: str) -> None:
        """Raise EndRun("budget") if nothing is left for another call of the model.

        AgentError if the budget cannot be kept because the provider reports no token counts.
        """
        self.expect_price(model)
        budget, usage = self.budget, self.usage
        if self._uncounted and (budget.tokens or budget.dollars):
            raise AgentError(
                f"{self._uncounted} tells no token counts, so --max-tokens and --max-dollars cannot be kept; "
                "use --max-actions or --max-minutes"
            )
        spent = (
            0 < budget.tokens <= usage.input + usage.output
            or 0 < budget.minutes * 60 <= self._now() - self._begun
            or 0 < budget.dollars <= (self.dollars or 0)
        )
        if spent:
            raise EndRun(BUDGET)

    def count(self, model: str, usage: Usage) -> None:
        """Add the usage of an answered call, also of one before a resume."""
        self._used[model] = self._used.get(model, Usage()) + usage
        if not usage.input and not usage.output:
            self._uncounted = model
