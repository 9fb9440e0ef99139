"""The gates of a market: what has to be before a proposal is taken or a payment is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trading import Desk, business, customer, offer

import akinai
from akinai.core.canonical import canonical
from akinai.core.errors import UsageError
from akinai.core.ledger import Outcome
from akinai.runtime.config.settings import prepare
from akinai.worlds.market import Market
from akinai.worlds.market.model.actions import FetchMessages

THREE = [business(id) for id in ("grill", "diner", "bar")]


def reason(outcome: Outcome) -> tuple[str | None, str]:
    assert not outcome.ok
    data: Any = outcome.data
    return outcome.code, data["reason"]


def desk(**gates: Any) -> Desk:
    return Desk(THREE, [customer(), customer("bob")], gates=gates)


def test_payment_opens_with_proposals_of_so_many_businesses() -> None:
    """Two proposals of one business count once; another customer's count for it alone."""
    market = desk(proposals=2)
    for id in ("p", "q"):
        assert market.propose("grill", "ann", offer(id)).ok
    assert market.propose("diner", "bob", offer("b")).ok
    refused = market.pay("ann", "grill", "p")
    assert reason(refused) == ("not_yet", "too_few_proposals")
    assert refused.text == "Payment opens with proposals of 2 businesses; you have 1"
    assert market.propose("diner", "ann", offer("d")).ok
    assert market.pay("ann", "grill", "p").ok


def test_payment_opens_when_the_quote_window_closes() -> None:
    """From the first proposal on, to the second, by the market's clock; what is left is told."""
    market = desk(quote_window_s=30)
    assert market.propose("grill", "ann", offer()).ok
    market.at += 12.5
    refused = market.pay("ann", "grill", "p")
    assert reason(refused) == ("not_yet", "window_open")
    assert refused.text == "Payment opens 30 s after your first proposal; 18 s are left"
    assert refused.data == {"reason": "window_open", "seconds": 18}
    market.at += 17.5
    assert market.pay("ann", "grill", "p").ok


@pytest.mark.parametrize(
    ("proposal", "why"),
    [
        (offer(A=7.99, B=4.0, total=11.99), "price"),
        (offer(A=8.0, C=4.0), "item"),
        (offer(total=11.0), "total"),
    ],
)
def test_posted_prices_hold_a_proposal_to_the_menu(proposal: Any, why: str) -> None:
    """Another price, another item and another total are refused; the menu's are taken."""
    market = desk(posted_prices=True)
    assert reason(market.propose("grill", "ann", proposal)) == ("not_posted", why)
    assert market.propose("grill", "ann", offer()).ok
    assert market.pay("ann", "grill", "p").ok


def test_a_sealed_bid_is_one_and_in_time() -> None:
    """A second bid is refused, one after the window too; others may bid until it closes."""
    market = desk(sealed_bids=True, quote_window_s=30)
    assert market.propose("grill", "ann", offer()).ok
    assert reason(market.propose("grill", "ann", offer("cheaper", total=11))) == ("sealed", "second_bid")
    assert market.propose("grill", "bob", offer("b")).ok
    market.at += 29
    assert market.propose("diner", "ann", offer("d")).ok
    assert reason(market.pay("ann", "diner", "d")) == ("not_yet", "window_open")
    market.at += 1
    assert reason(market.propose("bar", "ann", offer("late"))) == ("sealed", "window_over")
    assert market.pay("ann", "diner", "d").ok


FETCHES = [
    FetchMessages(),
    FetchMessages(limit=1),
    FetchMessages(from_agent_id="grill"),
    FetchMessages(after_index=0, offset=1),
]


@pytest.mark.parametrize("fetch", FETCHES, ids=lambda item: canonical(item.encode()))
def test_a_sealed_bid_is_read_when_the_bidding_is_over(fetch: FetchMessages) -> None:
    """Before, a customer is told that it came and from whom, and nothing of what it holds; then it is as it was sent."""
    market = desk(sealed_bids=True, quote_window_s=30)
    assert market.propose("grill", "ann", offer("grills", total=11.5)).ok
    market.at += 10
    assert market.propose("diner", "ann", offer("diners")).ok
    market.at += 19.5
    fetched = market.hears("ann", fetch)
    assert fetched["sealed_s"] == 1
    assert {item["message"]["type"] for item in fetched["messages"]} == {"text"}
    assert {item["from_agent_id"] for item in fetched["messages"]} <= {"grill", "diner"}
    assert not any(secret in canonical(fetched) for secret in ("Item", "grills", "diners", "11.5"))
    sealed = market.entries[-1].outcome.data
    market.at += 0.5
    fetched = market.hears("ann", fetch)
    assert "sealed_s" not in fetched
    assert {item["message"]["type"] for item in fetched["messages"]} == {"order_proposal"}
    assert market.entries[-1].outcome.data != sealed


def test_only_bids_are_sealed() -> None:
    """Texts are read as ever, without the gate proposals too, and so is what a business writes in the form of a seal."""
    market = desk(sealed_bids=True, quote_window_s=30)
    assert market.say("grill", "ann", "A sealed bid, opened when the bidding closes.").ok
    assert "sealed_s" not in market.hears("ann", FetchMessages())
    assert market.propose("grill", "ann", offer()).ok
    assert market.say("grill", "ann", "It is a good one.").ok
    fetched = market.hears("ann", FetchMessages())
    assert [item["message"]["content"] for item in fetched["messages"]][2] == "It is a good one."
    open_bids = desk(quote_window_s=30)
    assert open_bids.propose("grill", "ann", offer()).ok
    assert open_bids.hears("ann", FetchMessages())["messages"][0]["message"]["total_price"] == 12


def test_a_wrong_payment_is_told_what_is_wrong_with_it_first() -> None:
    """The rules of every market come before the gates."""
    market = desk(proposals=3)
    assert market.propose("grill", "ann", offer()).ok
    assert reason(market.pay("ann", "grill", "nothing")) == ("invalid_proposal", "unknown")
    assert reason(market.pay("bob", "grill", "p")) == ("invalid_proposal", "other_customer")


def test_sealed_bids_want_a_window() -> None:
    """A setup that could never open its bids is refused before anything is played."""
    with pytest.raises(UsageError, match="quote_window_s"):
        prepare(Market(), settings=["gates.sealed_bids=true"])


GATES = [
    {"proposals": 3},
    {"proposals": 9},
    {"quote_window_s": 45},
    {"posted_prices": True},
    {"sealed_bids": True, "quote_window_s": 40},
    {"proposals": 3, "quote_window_s": 90, "posted_prices": True, "sealed_bids": True},
]


def paid(agent: str, **setup: Any) -> tuple[dict[str, int | float], akinai.Run]:
    (run,) = akinai.run("market", agent=agent, settings={"customers": 3, **setup})
    assert (run.header.error, run.header.ending) == (None, "all_done")
    return {score.name: score.value for score in run.scores}, run


@pytest.mark.parametrize("gates", GATES, ids=str)
@pytest.mark.parametrize("agent", ["careful", pytest.param("first", marks=pytest.mark.slow)])
def test_rule_based_customers_get_through_the_gates(gates: dict[str, Any], agent: str) -> None:
    """Who can wait buys all the same, and the careful gain what they gain without gates; who cannot goes home."""
    free, _ = paid(agent, population={"identical": True})
    got, run = paid(agent, population={"identical": True}, gates=gates)
    if gates.get("proposals") == 9:
        assert got["purchases"] == 0
    else:
        assert got["purchases"] == free["purchases"] == 3
    if agent == "careful" and got["purchases"]:
        assert got["welfare"] == free["welfare"]
    refused = {entry.outcome.code for entry in run.ledger.entries if not entry.outcome.ok}
    assert refused <= {"not_yet"}


@given(
    st.lists(
        st.tuples(st.sampled_from(["propose", "pay", "wait"]), st.integers(0, 2), st.integers(0, 3), st.integers(0, 20))
    ),
    st.integers(0, 3),
    st.integers(0, 30),
    st.booleans(),
)
def test_no_payment_goes_round_a_gate(
    moves: list[tuple[str, int, int, int]], proposals: int, window: int, sealed: bool
) -> None:
    """Whatever is tried, a payment that was taken had enough proposals before it and the window behind it."""
    sealed = sealed and window > 0
    market = desk(proposals=proposals, quote_window_s=window, sealed_bids=sealed)
    proposed: list[tuple[float, str]] = []
    for kind, seller, id, wait in moves:
        name = THREE[seller]["id"]
        if kind == "wait":
            market.at += wait
        elif kind == "propose":
            if market.propose(name, "ann", offer(f"p{id}")).ok:
                proposed.append((market.at, name))
        elif market.pay("ann", name, f"p{id}").ok:
            assert len({name for _, name in proposed}) >= proposals
            assert market.at - proposed[0][0] >= window
    if sealed:
        assert len(proposed) == len({name for _, name in proposed})
        assert all(at - proposed[0][0] < window for at, _ in proposed)


def test_everybody_is_told_of_the_gates() -> None:
    """A view says which gates there are, and says nothing where there are none."""
    plain, gated = desk(), desk(proposals=3, quote_window_s=60, posted_prices=True, sealed_bids=True)
    words = ("proposals of 3 businesses", "60 seconds after its first proposal", "Prices are posted", "Bids are sealed")
    for actor in ("ann", "grill"):
        assert all(word in gated.world.view(gated.state, actor).text for word in words)
        assert not any(word in plain.world.view(plain.state, actor).text for word in words)
