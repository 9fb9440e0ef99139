"""Shoppers have the biases that they state: an experiment finds what was planted, and nothing where nothing was."""

import math
from statistics import fmean
from typing import Any

import pytest

import akinai
from akinai.core.errors import UsageError
from akinai.core.worlds import replay
from akinai.testing.endpoint import ByModel, Endpoint, world_responder
from akinai.testing.endpoint.market import SHOPPERS, Biases, parse_shopper, shopper
from akinai.worlds.market import Market
from akinai.worlds.market.model.setup import Appeal

CUSTOMERS, SELLERS = 10, 3
slow = pytest.mark.slow
ALIKE: dict[str, Any] = {"customers": CUSTOMERS, "population.identical": True, "manipulation.sellers": "one_each"}


def shares(biases: Biases, figure: str, kind: Appeal = "none", seeds: int = 5, **more: Any) -> list[float]:
    """One figure of each seed's market, in which everybody shops with these biases."""
    settings = {**ALIKE, "manipulation.kind": kind, **more}
    runs = akinai.run("market", agent=shopper(biases), seeds=range(1, seeds + 1), settings=settings)
    figures = [
        {figure.name: figure.value for figure in Market.facets.judging.account(replay(Market(), run.ledger)).figures}
        for run in runs
    ]
    return [float(row[figure]) for row in figures]


def near(observed: list[float], expected: float) -> bool:
    """Within three standard errors of so many choices."""
    choices = CUSTOMERS * len(observed)
    return abs(fmean(observed) - expected) < 3 * math.sqrt(expected * (1 - expected) / choices)


@pytest.fixture(scope="module")
def control() -> list[float]:
    """The treated share where nobody says anything."""
    return shares(SHOPPERS["gullible"], "treated_share", seeds=3)


LATER = [pytest.param(kind, marks=slow) for kind in ("social_proof", "loss_aversion", "injection")]


@pytest.mark.parametrize("kind", ["authority", pytest.param("strong_injection", marks=pytest.mark.slow), *LATER])
def test_what_was_planted_is_found(kind: Appeal, control: list[float]) -> None:
    """The treated share of purchases is what the biases says, above blind choice seed by seed on the average."""
    biases = SHOPPERS["gullible"]
    treated = shares(biases, "treated_share", kind, seeds=3)
    assert near(treated, biases.expected(kind, 1, SELLERS))
    assert near(control, 1 / SELLERS)
    assert all(share >= other for share, other in zip(treated, control, strict=True))
    assert sum(treated) > sum(control)


@pytest.mark.slow
def test_who_has_no_biases_shows_none() -> None:
    """The sober one buys from the same sellers whatever one of them says of itself."""
    sober = SHOPPERS["sober"]
    control = shares(sober, "treated_share", seeds=2)
    for kind in ("authority", "strong_injection"):
        assert shares(sober, "treated_share", kind, seeds=2) == control


@pytest.mark.slow
def test_when_all_say_it_nobody_gains() -> None:
    """Against one another the weighing texts cancel out; an order is obeyed for whoever stands first in the results."""
    everybody = {"manipulation.sellers": "all"}
    biases = SHOPPERS["gullible"]
    assert shares(biases, "arrival_rank", "authority", 2, **everybody) == shares(biases, "arrival_rank", seeds=2)
    obeyed = biases.strong_injection
    top = shares(biases, "top_result_share", "strong_injection", **everybody)
    assert near(top, obeyed + (1 - obeyed) / SELLERS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "figure"),
    [("hasty", "first_proposal_share"), pytest.param("skimming", "top_result_share", marks=slow)],
)
def test_a_preferred_place_is_found(name: str, figure: str) -> None:
    """Of three alike the first is bought as often as its weight says."""
    first = math.exp(2)
    assert near(shares(SHOPPERS[name], figure), first / (first + SELLERS - 1))


@slow
def test_another_draw_is_another_sample() -> None:
    """The same markets, other choices, the same odds."""
    first, second = (shares(Biases(authority=1.0, draw=draw), "treated_share", "authority") for draw in (0, 1))
    assert first != second
    assert near(first + second, Biases(authority=1.0).expected("authority", 1, SELLERS))


SEALED = {"gates.sealed_bids": True, "gates.quote_window_s": 60}


@pytest.mark.parametrize(("name", "gates"), [("careful", {}), ("careful", SEALED), ("gullible", {})])
def test_over_the_wire_it_does_what_it_does_in_process(name: str, gates: dict[str, Any]) -> None:
    """Behind a model's endpoint a player of the market makes the same run, entry by entry."""
    pytest.importorskip("langchain_openai", reason="the extra 'models' is not installed")
    settings = {"customers": 2, "manipulation": "authority", "clock": "virtual", **gates}
    agent: Any = name if name in Market.players else shopper(SHOPPERS[name])
    (here,) = akinai.run("market", agent=agent, settings=settings)
    with Endpoint(world_responder("market")) as endpoint:
        (there,) = akinai.run("market", model=f"openai:{name}", base_url=endpoint.openai_url, settings=settings)
    assert there.ledger.digest == here.ledger.digest


def test_a_shopper_of_ones_own() -> None:
    """Its name and biases as the command line has them; what is none is told with what is."""
    assert parse_shopper("mild:authority=0.3,draw=2") == ("mild", Biases(authority=0.3, draw=2))
    with pytest.raises(UsageError, match="authority"):
        parse_shopper("mild:autority=0.3")
    with pytest.raises(UsageError, match="from 0 to 1"):
        parse_shopper("mild:injection=3")
    with pytest.raises(UsageError, match="authority no number"):
        parse_shopper("mild:authority=much")
    with pytest.raises(UsageError, match="name"):
        parse_shopper(":authority=1")
    brain = world_responder("market", "mild", [("mild", Biases())])
    assert isinstance(brain, ByModel)
    assert brain.models[0] == "mild"
    with pytest.raises(UsageError, match="--world market"):
        world_responder("vending", shoppers=[("mild", Biases())])
