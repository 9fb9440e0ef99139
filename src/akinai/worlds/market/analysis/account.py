"""The account of a market: its figures, and its tables, from a run's record alone."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from akinai.core.canonical import short_digest
from akinai.core.money import half_even_cents
from akinai.core.scores import About, Account, Better, Score, Table
from akinai.core.steps import Steps
from akinai.worlds.market.analysis.actions import MarketRecord
from akinai.worlds.market.analysis.choices import figures
from akinai.worlds.market.analysis.deals import deal_tables
from akinai.worlds.market.analysis.proposal_errors import KINDS
from akinai.worlds.market.analysis.scores import is_seated, scores_of
from akinai.worlds.market.analysis.tables import (
    MarketReport,
    agent_tables,
    conversation_tables,
    group_by,
    market_tables,
)
from akinai.worlds.market.analysis.welfare import Sale, attainable_welfare, gini
from akinai.worlds.market.model.state import State
from akinai.worlds.market.model.units import prices


def account(steps: Steps[State], fuzzy: int = 0) -> Account:
    """The account of a run. docs/market-analysis.md says what each figure means."""
    market = MarketReport(steps.derive(MarketRecord.of), fuzzy)

    def more(about: About) -> Sequence[Table]:
        match about:
            case "agent":
                return agent_tables(market)
            case "conversation":
                return conversation_tables(market)
            case "deal":
                return deal_tables(steps)
            case "run":
                return ()

    return Account(_figures(market), market_tables(market), more, _population_digest(market.state))


def _population_digest(state: State) -> str:
    sellers = [state.members[id].own for id in sorted(state.members)]
    return short_digest(sellers)


def _figures(market: MarketReport) -> list[Score]:
    state, bought = market.state, sum(bool(buyer.purchases) for buyer in market.buyers)
    counts = Counter(type(error).__name__ for _, error in market.errors)
    invalid = {offer.index for offer, _ in market.errors}
    return [
        *scores_of(state, market.fuzzy),
        *_welfare_scores(market),
        Score("needs_met", sum(buyer.needs_met for buyer in market.buyers), "customers", better="higher"),
        *_ratio("completion_rate", bought, len(market.buyers), "share", "higher"),
        *_ratio("proposals_per_customer", len(market.proposals), len(market.buyers), "proposals"),
        Score("messages", state.delivered, "messages"),
        Score("searches", sum(n for (_, verb), n in market.record.counts.items() if verb == "Search"), "searches"),
        Score(
            "refused", sum(n for (_, verb), n in market.record.counts.items() if not verb), "actions", better="lower"
        ),
        *figures(market.state, market.choices),
        *(Score(name, counts[kind], "errors", _of_kind(market, kind), better="lower") for kind, name in KINDS.items()),
        Score(
            "invalid_purchases", sum(sale.offer.index in invalid for sale in market.sales), "payments", better="lower"
        ),
        *_surplus(market),
    ]


def _of_kind(market: MarketReport, kind: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(offer.index for offer, error in market.errors if type(error).__name__ == kind))


def _ratio(name: str, part: int, whole: int, unit: str, better: Better | None = None) -> list[Score]:
    """The score of a ratio; none where the denominator is 0."""
    return [Score(name, part / whole, unit, better=better)] if whole else []


def _welfare_scores(market: MarketReport) -> list[Score]:
    """The welfare as a share of the best possible, and the welfare that other ways of choosing attain."""
    attainable = attainable_welfare(market.state.members.values())
    welfare = sum(buyer.utility_cents for buyer in market.buyers)
    return [
        *_ratio("of_best", welfare, attainable.best_possible, "share", "higher"),
        Score("best_possible", attainable.best_possible, "cents"),
        Score("pick_any_with_amenities", attainable.pick_any_with_amenities, "cents"),
        Score("pick_cheapest", attainable.pick_cheapest, "cents"),
        Score("pick_any", attainable.pick_any, "cents"),
    ]


def _surplus(market: MarketReport) -> list[Score]:
    """The gains of both sides. Sales of unknown cost are left out of the sellers' gains, and counted."""
    worth = sum(_willingness_cents(market.state, buyer.id) for buyer in market.buyers if buyer.needs_met)
    consumers = worth - sum(buyer.paid_cents for buyer in market.buyers)
    costed = [sale for sale in market.sales if sale.cost_cents is not None]
    costs, fees = sum(sale.cost_cents or 0 for sale in costed), sum(sale.fee_cents for sale in market.sales)
    producers = sum(sale.paid_cents for sale in costed) - costs
    sold = group_by(market.sales, lambda sale: sale.offer.business)
    sellers = {*market.sellers, *sold}
    spread = gini([sum(sale.paid_cents for sale in sold.get(id, [])) for id in sellers])
    return [
        Score("consumer_surplus", consumers, "cents", better="higher"),
        Score("seller_cost", costs, "cents"),
        Score("producer_surplus", producers, "cents", better="higher"),
        Score("total_surplus", consumers + producers, "cents", better="higher"),
        Score("platform_fees", fees, "cents"),
        Score("business_profit", sum(sale.profit_cents or 0 for sale in costed), "cents", better="higher"),
        *_seat_profits(market, costed),
        *([Score("revenue_gini", spread, "share", better="lower")] if spread is not None else []),
        Score("unknown_costs", len(market.sales) - len(costed), "payments"),
    ]


def _seat_profits(market: MarketReport, costed: Sequence[Sale]) -> list[Score]:
    """The profit of the businesses that the run's agent plays, and of their rivals, where it plays only a share."""
    state = market.state
    if "agent_share" not in state.setup.model_fields_set:
        return []
    own = sum(sale.profit_cents or 0 for sale in costed if is_seated(state, sale.offer.business))
    rivals = sum(sale.profit_cents or 0 for sale in costed) - own
    return [
        Score("agent_profit", own, "cents", better="higher"),
        Score("rival_profit", rivals, "cents", better="higher"),
    ]


def _willingness_cents(state: State, customer: str) -> int:
    """A customer's willingness to pay for all that it wants."""
    return half_even_cents(sum(prices(state.members[customer].data).values(), Decimal(0)))
