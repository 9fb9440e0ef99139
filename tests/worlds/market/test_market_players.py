"""The players without a model, and the virtual time they play in."""

from decimal import Decimal
from pathlib import Path

import pytest
from trading import POPULATIONS, needs_populations

import akinai
from akinai.core.ledger import Genesis
from akinai.core.worlds import fold
from akinai.runtime.runs.records import Run
from akinai.worlds.market import Market
from akinai.worlds.market.model.setup import Population, read_setup
from akinai.worlds.market.model.units import prices
from akinai.worlds.market.players.observations import orders_in
from akinai.worlds.market.rules.members import population
from together import together


def play(agent: str = "careful", seed: int = 1, **settings: object) -> Run:
    (run,) = akinai.run("market", agent=agent, seeds=seed, settings=settings)
    assert run.header.error is None
    return run


def scores(run: Run) -> dict[str, int | float]:
    return {score.name: score.value for score in run.scores}


def best_cents(people: Population) -> int:
    """What customers could gain at menu prices, each at the cheapest business that has everything."""
    total = 0
    for customer in people.customers:
        costs = [
            sum(prices(house.model_dump())[item] for item in customer.menu_features)
            for house in people.businesses
            if customer.menu_features.keys() <= house.menu_features.keys()
            and all(house.amenity_features.get(need) for need in customer.amenity_features)
        ]
        worth = 2 * sum(prices(customer.model_dump()).values())
        total += max(0, round(100 * (worth - min(costs)))) if costs else 0
    return total


@needs_populations
@pytest.mark.parametrize(
    ("size", "best"), [("3x9", 6_378), ("10x30", 18_561), pytest.param("33x99", 76_253, marks=pytest.mark.slow)]
)
def test_careful_customers_reach_the_published_optimum(size: str, best: int) -> None:
    """On the public populations `careful` gains what can be gained, and `first` gains less."""
    data = str(POPULATIONS / size)
    careful, first = play(data=data), play("first", data=data)
    assert (careful.header.ending, scores(careful)["welfare"]) == ("all_done", best)
    assert scores(careful)["invalid_proposals"] == 0
    assert scores(first)["welfare"] < best


@pytest.mark.parametrize("seed", range(1, 6))
def test_careful_customers_reach_the_best_of_made_populations(seed: int) -> None:
    """The optimum by another way: looked up in the population, without messages."""
    run = play(seed=seed, customers=3)
    genesis = run.ledger.genesis
    assert scores(run)["welfare"] == best_cents(population(read_setup(genesis.setup), genesis))


def test_players_differ_as_their_tastes_do() -> None:
    """Over a few markets a strict budget buys less than careful does, cheapest ignores amenities, first takes worse."""
    welfare = dict.fromkeys(Market.players, 0)
    bought = dict(welfare)
    for seed in range(5, 9):
        for name in Market.players:
            got = scores(play(name, seed, customers=3))
            welfare[name] += int(got["welfare"])
            bought[name] += int(got["purchases"])
    assert welfare["careful"] > welfare["cheapest"] > welfare["first"]
    assert bought["strict_budget"] < bought["careful"]


def test_the_same_run_has_the_same_bytes() -> None:
    """Two runs of one genesis end with one digest; another latency is another order, and another digest."""
    first, again = play(customers=3), play(customers=3)
    assert first.ledger.digest == again.ledger.digest
    assert play(customers=3, **{"latency.customers_ms": 1}).ledger.digest != first.ledger.digest


def test_no_customer_starts_before_all_businesses_are_in() -> None:
    """Every business has registered before the first customer does, however slow it is."""
    run = play(customers=3, **{"latency.businesses_ms": 60_000, "latency.customers_ms": 0})
    names = [(entry.actor.split("_")[0], entry.name) for entry in run.ledger.entries]
    assert names[:9] == [("business", "Register")] * 9
    assert names[9] == ("customer", "Register")


def test_latency_is_a_treatment() -> None:
    """With `first` customers, who answers sooner sells: a slowed seller loses the order that it won."""
    (paid, *_) = [entry for entry in play("first", customers=1).ledger.entries if _pays(entry)]
    seller = paid.parameters["to_agent_id"]
    slowed = play("first", customers=1, latency={"agents": {seller: 30_000}})
    (now, *_) = [entry for entry in slowed.ledger.entries if _pays(entry)]
    assert now.parameters["to_agent_id"] != seller


def _pays(entry: akinai.Entry) -> bool:
    return entry.outcome.ok and entry.parameters.get("message", {}).get("type") == "payment"


def test_a_payment_is_confirmed_in_the_documents_words() -> None:
    """The business answers each payment once, with the amount and the order's id, and then the market is done."""
    run = play(customers=2)
    entries = list(run.ledger.entries)
    texts = [entry.parameters["message"]["content"] for entry in entries if entry.name == "SendMessage"
             and entry.parameters["message"]["type"] == "text" and "confirmed" in entry.parameters["message"]["content"]]  # fmt: skip
    assert len(texts) == 2
    payment = next(entry for entry in entries if _pays(entry))
    id = payment.parameters["message"]["proposal_message_id"]
    amount = payment.outcome.text.split()[1]
    assert (
        f"Payment received! Your order for {amount} is confirmed. Order ID: {id}. Thank you for your business!" in texts
    )


def test_nobody_is_paid_for_empty_polls() -> None:
    """In virtual time every fetch of a rule-based player brings mail, unless its patience ran out."""
    entries = play(customers=4).ledger.entries
    fetches = [entry for entry in entries if entry.name == "FetchMessages"]
    assert fetches
    assert all(entry.outcome.data["count"] for entry in fetches)


@pytest.mark.parametrize(
    ("settings", "ending"),
    [
        ({"customers": 2}, "all_done"),
        ({"customers": 2, "time_limit_s": 5}, "time"),
        ({"customers": 2, "customers.max_turns": 3}, "all_done"),
        ({"customers": 0, "businesses": 2}, "all_done"),
        ({"customers": 2, "businesses": 0}, "all_done"),
        ({"customers": 2, "max_messages": 3}, "message_cap"),
    ],
)
def test_a_market_ends(settings: dict[str, object], ending: str) -> None:
    """When all are done, when its time is over, or at the cap of messages; also with nobody on one side."""
    if "customers.max_turns" in settings:
        settings = {"customers": {"count": 2, "max_turns": 3}}
    run = play(**settings)
    assert run.header.ending == ending
    state = fold(Market(), run.ledger)
    assert not Market().actors(state) or ending == "message_cap"


def test_time_goes_by_latency() -> None:
    """The clock begins at midnight of the start date, and an entry's time is when its turn came."""
    run = play(
        customers=1, businesses=1, start_date="2026-04-01", **{"latency.low_ms": 1_000, "latency.high_ms": 1_000}
    )
    begin = 1_775_001_600_000_000
    assert [(entry.at - begin) // 1_000_000 for entry in run.ledger.entries[:5]] == [1, 2, 2, 3, 4]
    assert isinstance(run.ledger.genesis, Genesis)


def test_businesses_live_on_in_a_fork(tmp_path: Path) -> None:
    """In a fork with other customers the businesses are the same: they go on where they were, and repeat no id."""
    store = str(tmp_path / "akinai.db")
    akinai.run("market", settings={"customers": 2}, name="m", store=store)
    (fork,) = akinai.fork("m-1", after=40, agent="first", store=store)
    refused = [entry for entry in fork.ledger.entries if not entry.outcome.ok]
    assert fork.header.ending == "all_done"
    assert not [entry for entry in refused if entry.actor.startswith("business")]


def test_customers_may_have_a_player_of_their_own() -> None:
    """`customers.agent` and `businesses.agent` go before the agent of the run."""
    by_setup = play("careful", customers={"count": 3, "agent": "first"})
    assert scores(by_setup) == scores(play("first", customers=3))


@together(
    ("text", "orders"),
    [
        ("1 x Green Tea, 2 x Rice", {"Green Tea": 1, "Rice": 2}),
        ("a 'Green Tea' (3) and Rice", {"Green Tea": 3, "Rice": 1}),
        ("2 Green Teas", {}),
        ("Tea x 4, please; RICE", {"Tea": 4, "Rice": 1}),
        ("“Green Tea” (1 each) and 12 Rice", {"Green Tea": 1, "Rice": 12}),
        ("Pricey things", {}),
        ("0 x Rice", {"Rice": 1}),
        ("", {}),
    ],
)
def test_a_business_reads_what_is_ordered(text: str, orders: dict[str, int]) -> None:
    """Items by their names, the longest first, with their numbers before or behind them."""
    menu = dict.fromkeys(("Tea", "Green Tea", "Rice"), Decimal(1))
    assert orders_in(text, menu) == orders
