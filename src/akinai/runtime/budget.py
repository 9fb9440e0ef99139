"""Budgets: what the model calls of a run may use, and what they have used."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields

from akinai.core.errors import AgentError, EndRun, UsageError
from akinai.core.models import Usage
from akinai.runtime.prices import Prices, expect_price

BUDGET = "budget"
"""The ending of a run whose budget is spent."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may use; 0 is no limit."""

    messages: int = 0
    """Messages of an actor. The driver keeps it, and its ending is `message_cap`."""
    tokens: int = 0
    """Input and output of all its calls, those before a resume included."""
    minutes: float = 0
    """Of this command, from the meter's begin."""
    dollars: float = 0
    """Of all its calls, those before a resume included."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < math.inf:
                raise UsageError(f"--max-{field.name} is a number from 0 (no limit), not {value!r}")


NO_BUDGET = Budget()


class Meter:
    """Counts what a run has used. A reply from the response cache costs nothing and is not told to it."""

    def __init__(
        self, budget: Budget = NO_BUDGET, prices: Prices | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`now` gives seconds that never fall."""
        self.budget = budget
        self._prices = prices or {}
        self._now, self._begun = now, now()
        self._used: dict[str, Usage] = {}
        self._untold: str | None = None

    @property
    def usage(self) -> Usage:
        """Tokens of all calls."""
        return sum(self._used.values(), Usage())

    @property
    def dollars(self) -> float | None:
        """What they cost; None where the price of a model that was called is not known."""
        if not self._used.keys() <= self._prices.keys():
            return None
        return sum(self._prices[model].dollars(usage) for model, usage in self._used.items())

    def expect(self, model: str) -> None:
        """UsageError when the budget is in dollars and the model has no price: asked before a run is begun."""
        if self.budget.dollars:
            expect_price(model, self._prices)

    def check(self, model: str) -> None:
        """EndRun("budget") when nothing is left for a further call of the model.

        AgentError when the budget cannot be kept, as its provider tells no tokens.
        """
        self.expect(model)
        budget, usage = self.budget, self.usage
        if self._untold and (budget.tokens or budget.dollars):
            raise AgentError(
                f"{self._untold} tells no token counts, so --max-tokens and --max-dollars cannot be kept; "
                "use --max-messages or --max-minutes"
            )
        spent = (
            0 < budget.tokens <= usage.input + usage.output
            or 0 < budget.minutes * 60 <= self._now() - self._begun
            or 0 < budget.dollars <= (self.dollars or 0)
        )
        if spent:
            raise EndRun(BUDGET)

    def count(self, model: str, usage: Usage) -> None:
        """A call was answered, now or before a resume."""
        self._used[model] = self._used.get(model, Usage()) + usage
        if not usage.input and not usage.output:
            self._untold = model
