"""Advice on selling in a market: sentences that hold their numbers, from which their advice follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Any, Self

from akinai.core.lessons import (
    SUM,
    AdviceKinds,
    Mergeable,
    SentenceTemplate,
    TemplateAdvice,
    Total,
    choice,
    mean_by,
)
from akinai.worlds.market.lessons.buying.advice import ComparisonAdvice

ERRORS = 2.0
"""Standard errors beyond which a difference of shares counts as shown."""


@dataclass(frozen=True, slots=True)
class Paid(Mergeable):
    """Proposals of one kind, and how many of them were paid."""

    sent: Total
    paid: Total

    @property
    def share(self) -> float:
        return self.paid / self.sent if self.sent else 0.0

    def beats(self, other: "Paid") -> bool:
        """Whether its share is larger, beyond what chance explains."""
        if not (self.sent and other.sent):
            return False
        both = self.merge(other).share
        error = sqrt(both * (1 - both) * (1 / self.sent + 1 / other.sent))
        return self.share - other.share > ERRORS * error


class PartsAdvice(ComparisonAdvice):
    """Whether to propose a part of an order, by the profits of paid parts and of paid whole orders.

    Only customers count to whom somebody offered all that they want.
    """

    __slots__ = ()
    TEMPLATE = SentenceTemplate(
        "{checks}: where somebody offered the whole of an order, {lacking.count:int} payments for a part left their "
        "sellers with {lacking.cents:money} each on average, {having.count:int} for the whole with "
        "{having.cents:money}.",
        checks=choice(
            {
                True: "Propose an order only when you have every item of it",
                False: "Propose what you have of an order, whole or not",
                None: "See whether you have every item of an order before you propose",
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class PairAdvice(TemplateAdvice):
    """Two kinds of proposals and how many of each were paid."""

    with_it: Paid
    without: Paid

    @property
    def checks(self) -> bool:
        return self.with_it.beats(self.without)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self | None:
        both = (Paid(values[f"{kind}.sent"], values[f"{kind}.paid"]) for kind in ("with_it", "without"))
        return cls(*both)


class SpeedAdvice(PairAdvice):
    """Whom to answer first: whether the first proposal that a customer gets is paid more often than later ones."""

    __slots__ = ()
    TEMPLATE = SentenceTemplate(
        "{checks}: of {with_it.sent:int} proposals that were the first their customers got, {with_it.paid:int} were "
        "paid, of {without.sent:int} later ones {without.paid:int}.",
        checks=choice(
            {
                True: "Propose before you do anything else, the largest orders first, and say no and thank you after",
                False: "Answer your mail in the order in which it came",
            }
        ),
    )


class WordingAdvice(PairAdvice):
    """Whether to name in a proposal the amenities that its customer asked for, of whole orders from such places."""

    __slots__ = ()
    TEMPLATE = SentenceTemplate(
        "{checks}: of {with_it.sent:int} proposals that named them {with_it.paid:int} were paid, of "
        "{without.sent:int} that could have and did not {without.paid:int}.",
        checks=choice(
            {
                True: "Name in a proposal the amenities that its customer asked for and you have",
                False: "Keep a proposal to items and prices, for naming amenities in it made no difference",
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class UndercutAdvice(TemplateAdvice):
    """Whether to ask less than the cheapest rival that has an order, by the payments of customers with a choice."""

    customers: Total
    """Customers that could choose among several proposals that fit."""
    cheapest: Total
    """Those among them that paid the cheapest."""
    by_chance: Annotated[float, SUM]
    """Those that would have paid the cheapest if all chose at random."""
    lost: Total
    """Proposals that lost to a cheaper one although their seller could have asked less still."""
    cents: Annotated[int, mean_by("lost")]
    """The mean profit of such a seller had it asked a cent less than the cheaper one."""
    won: Total
    """Proposals that were paid although a cheaper one was at hand."""
    cost_cents: Annotated[int, mean_by("won")]
    """The mean revenue that such a seller would have given up by asking a cent less than the cheaper one."""

    @property
    def by_price(self) -> float:
        """The share of customers who choose by price, if the others choose at random."""
        free = self.customers - self.by_chance
        return max(0.0, (self.cheapest - self.by_chance) / free) if free > 0 else 0.0

    @property
    def checks(self) -> bool:
        """Whether the profit of the sales that it would win exceeds the revenue that it would give up."""
        return self.by_price * self.lost * self.cents > self.won * self.cost_cents

    TEMPLATE = SentenceTemplate(
        "{checks}: of {customers:int} customers who could choose among several that fit {cheapest:int} paid the "
        "cheapest, where {by_chance:.1} would have by chance; {lost:int} sellers who lost to a cheaper one could have "
        "asked less still, for {cents:money} each, and {won:int} were paid beside a cheaper one, whom that would have "
        "cost {cost_cents:money} each.",
        checks=choice(
            {
                True: "Read the other menus, and ask a cent less for an order than the cheapest who has it, down to "
                "your floor",
                False: "Ask your menu's prices, whatever others ask",
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class StockAdvice(TemplateAdvice):
    """The cost of missing items: requests that a menu could not fill, and the profit that rivals made of them."""

    requests: Total
    filled: Total
    """Requests whose items were all on the menu of the business that was asked."""
    lost: Total
    """The other requests whose customer paid another business for the whole order."""
    cents: Annotated[int, mean_by("lost")]
    """The mean profit of that business from such a sale."""

    @property
    def checks(self) -> bool:
        return self.lost > 0 and self.cents > 0

    TEMPLATE = SentenceTemplate(
        "{checks}: of {requests:int} requests {filled:int} could be filled from the menu of the business that was "
        "asked, and {lost:int} of the others went to one that had it all, which was left with {cents:money} each.",
        checks=choice(
            {
                True: "Stock what customers ask you for and you lack, if you can",
                False: "Keep your menu as it is",
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class SellingExperiment(TemplateAdvice):
    """An instruction to try ways of selling, so that the runs teach more; it is no lesson."""

    number: int
    """Another one tries other things."""

    TEMPLATE = SentenceTemplate(
        "Experiment {number:int} as a business: hold parts of orders back or propose them, answer in another order, "
        "name amenities or not, and ask less than others or not."
    )


KINDS = AdviceKinds(
    PartsAdvice, SpeedAdvice, WordingAdvice, UndercutAdvice, StockAdvice, SellingExperiment,
)  # fmt: skip

read_selling_advice = KINDS.read
