"""The account of a market: its figures, and its tables, from a run's record alone."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from akinai.core.canonical import canonical
from akinai.core.money import half_even_cents
from akinai.core.scores import Account, Better, Score
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.choices import figures
from akinai.worlds.market.analysis.deals import deal_tables
from akinai.worlds.market.analysis.proposal_errors import KINDS
from akinai.worlds.market.analysis.scores import is_seated, scores_of
from akinai.worlds.market.analysis.tables import MarketReport, group_by, market_tables
from akinai.worlds.market.analysis.welfare import Sale, attainable_welfare, gini
from akinai.worlds.market.model.state import State
from akinai.worlds.market.model.units import prices


def account(steps: Steps[State], fuzzy: int = 0) -> Account:
    """The account of a run that came to a state. docs/market-analysis.md says what each figure means."""
    market = MarketReport(steps.final, steps.entries, fuzzy)
    tables = [*market_tables(market), *deal_tables(steps)]
    return Account(_figures(market), tables, _population_digest(steps.final))


def _population_digest(state: State) -> str:
    sellers = [state.members[id].own for id in sorted(state.members)]
    return hashlib.sha256(canonical(sellers).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _figures(market: MarketReport) -> list[Score]:
    state, bought = market.state, sum(bool(buyer.purchases) for buyer in market.buyers)
    counts = Counter(type(error).__name__ for _, error in market.errors)
    wrong = {offer.index for offer, _ in market.errors}
    return [
        *scores_of(state, market.fuzzy),
        *_place(market),
        Score("needs_met", sum(buyer.needs_met for buyer in market.buyers), "customers", better="higher"),
        *_ratio("completion_rate", bought, len(market.buyers), "share", "higher"),
        *_ratio("proposals_per_customer", len(market.proposals), len(market.buyers), "proposals"),
        Score("messages", state.delivered, "messages"),
        Score("searches", sum(n for (_, verb), n in market.action_counts.items() if verb == "Search"), "searches"),
        Score(
            "refused", sum(n for (_, verb), n in market.action_counts.items() if not verb), "actions", better="lower"
        ),
        *figures(market.state, market.chosen),
        *(Score(name, counts[kind], "errors", _of_kind(market, kind), better="lower") for kind, name in KINDS.items()),
        Score("invalid_purchases", sum(sale.offer.index in wrong for sale in market.sales), "payments", better="lower"),
        *_surplus(market),
    ]


def _of_kind(market: MarketReport, kind: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(offer.index for offer, error in market.errors if type(error).__name__ == kind))


def _ratio(name: str, part: int, whole: int, unit: str, better: Better | None = None) -> list[Score]:
    """A figure that nothing can be said of where there is nothing to divide by."""
    return [Score(name, part / whole, unit, better=better)] if whole else []


def _place(market: MarketReport) -> list[Score]:
    """How near the welfare came to the best possible, and what is between."""
    known = attainable_welfare(market.state.members.values())
    welfare = sum(buyer.utility_cents for buyer in market.buyers)
    return [
        *([Score("of_best", welfare / known.best_possible, "share", better="higher")] if known.best_possible else []),
        Score("best_possible", known.best_possible, "cents"),
        Score("pick_any_with_amenities", known.pick_any_with_amenities, "cents"),
        Score("pick_cheapest", known.pick_cheapest, "cents"),
        Score("pick_any", known.pick_any, "cents"),
    ]


def _surplus(market: MarketReport) -> list[Score]:
    """Both sides' gains. Sales of unknown cost are left out of the sellers', and counted."""
    worth = sum(_willing(market.state, buyer.id) for buyer in market.buyers if buyer.needs_met)
    consumers = worth - sum(buyer.paid_cents for buyer in market.buyers)
    known = [sale for sale in market.sales if sale.cost_cents is not None]
    costs, fees = sum(sale.cost_cents or 0 for sale in known), sum(sale.fee_cents for sale in market.sales)
    producers = sum(sale.paid_cents for sale in known) - costs
    sold = group_by(market.sales, lambda sale: sale.offer.business)
    sellers = {*market.sellers, *sold}
    spread = gini([sum(sale.paid_cents for sale in sold.get(id, [])) for id in sellers])
    return [
        Score("consumer_surplus", consumers, "cents", better="higher"),
        Score("seller_cost", costs, "cents"),
        Score("producer_surplus", producers, "cents", better="higher"),
        Score("total_surplus", consumers + producers, "cents", better="higher"),
        Score("platform_fees", fees, "cents"),
        Score("business_profit", sum(sale.profit_cents or 0 for sale in known), "cents", better="higher"),
        *_seats(market, known),
        *([Score("revenue_gini", spread, "share", better="lower")] if spread is not None else []),
        Score("unknown_costs", len(market.sales) - len(known), "payments"),
    ]


def _seats(market: MarketReport, known: Sequence[Sale]) -> list[Score]:
    """The profit of the businesses that the run's agent may play, and of the others, where only a share is its."""
    state = market.state
    if "agent_share" not in state.setup.model_fields_set:
        return []
    mine = sum(sale.profit_cents or 0 for sale in known if is_seated(state, sale.offer.business))
    others = sum(sale.profit_cents or 0 for sale in known) - mine
    return [
        Score("agent_profit", mine, "cents", better="higher"),
        Score("rival_profit", others, "cents", better="higher"),
    ]


def _willing(state: State, customer: str) -> int:
    """What a customer is willing to pay for all that it wants."""
    return half_even_cents(sum(prices(state.members[customer].data).values(), Decimal(0)))
