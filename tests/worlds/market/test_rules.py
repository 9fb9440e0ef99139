"""The rules of messages, proposals and payments, each with its code and its sentence."""

from collections.abc import Mapping
from typing import Any

import pytest
from trading import Desk, business, customer, offer

from akinai.core.actions import Unreadable
from akinai.core.ledger import Outcome
from akinai.worlds.market import Market, registered
from akinai.worlds.market.model.actions import FetchMessages, Leave, Payment, Register, Search, SendMessage, Text, Wait
from together import together

TWO_OF_EACH: Mapping[str, Any] = {
    "businesses": [business(), business("diner")],
    "customers": [customer(), customer("bob")],
}


@pytest.fixture
def desk() -> Desk:
    return Desk(**TWO_OF_EACH)


def refused(outcome: Outcome, code: str, text: str) -> bool:
    return (outcome.ok, outcome.code, outcome.text) == (False, code, text)


def test_a_deal_goes_from_proposal_to_payment(desk: Desk) -> None:
    """A proposal that is paid is booked for both sides, and both messages are delivered."""
    assert desk.propose("grill", "ann", offer()).ok
    paid = desk.pay("ann", "grill", "p")
    assert paid.text == "Paid $12.00 to grill."
    assert [FetchMessage["message"]["type"] for FetchMessage in desk.hears("ann", FetchMessages())["messages"]] == [
        "order_proposal"
    ]
    assert [FetchMessage["message"]["type"] for FetchMessage in desk.hears("grill", FetchMessages())["messages"]] == [
        "payment"
    ]
    ann, grill = desk.state.members["ann"], desk.state.members["grill"]
    assert (ann.paid_cents, ann.purchases, grill.received_cents, desk.state.booked_cents) == (1200, 1, 1200, 1200)


@pytest.mark.parametrize(
    ("payer", "to", "id", "reason", "sentence"),
    [
        ("ann", "grill", "q", "unknown", "No valid proposal found with this ID"),
        ("ann", "diner", "p", "other_business", "Proposal is not from this business"),
        ("bob", "grill", "p", "other_customer", "Proposal was made to another customer"),
        ("ann", "grill", "old", "expired", "Proposal has expired"),
        ("ann", "grill", "sold", "paid", "Proposal is already paid"),
    ],
)
def test_every_rule_of_payment_has_its_sentence(
    desk: Desk, payer: str, to: str, id: str, reason: str, sentence: str
) -> None:
    """A payment that breaks a rule is refused with that rule's sentence, is not delivered, and is an entry."""
    desk.propose("grill", "ann", offer())
    desk.propose("grill", "ann", offer("old", expiry_time="2001-01-01T00:00:00Z"))
    desk.sell(offer("sold"))
    delivered, entries = desk.state.delivered, len(desk.entries)
    outcome = desk.pay(payer, to, id)
    assert refused(outcome, "invalid_proposal", sentence)
    assert outcome.data == {"reason": reason}
    assert (desk.state.delivered, len(desk.entries)) == (delivered, entries + 1)


def test_payment_counts_from_its_proposal_on(desk: Desk) -> None:
    """The same payment is refused before its proposal and taken after it."""
    assert refused(desk.pay("ann", "grill", "p"), "invalid_proposal", "No valid proposal found with this ID")
    desk.propose("grill", "ann", offer())
    assert desk.pay("ann", "grill", "p").ok


@pytest.mark.parametrize(
    ("expiry_time", "ok"),
    [
        ("2025-06-15T15:06:40Z", True),
        ("2025-06-15T15:06:39.999999Z", False),
        ("2025-06-15T15:06:40", True),  # without a zone it is UTC
        ("2025-06-16T00:06:40+09:00", True),
        ("2025-06-16T00:06:39+09:00", False),
        ("tomorrow", True),  # no time at all counts as none
    ],
)
def test_expiry_is_judged_by_the_markets_clock(desk: Desk, expiry_time: str, ok: bool) -> None:
    """A proposal can be paid up to its expiry and at it; a time without a zone is UTC."""
    desk.at = 1_750_000_000
    desk.propose("grill", "ann", offer(expiry_time=expiry_time))
    assert desk.pay("ann", "grill", "p").ok == ok


def test_only_a_business_proposes_and_only_a_customer_pays(desk: Desk) -> None:
    """A role keeps to its side of a deal."""
    assert refused(desk.propose("ann", "grill", offer()), "wrong_role", "Only a business may make a proposal")
    desk.propose("diner", "grill", offer())
    assert refused(desk.pay("grill", "diner", "p"), "wrong_role", "Only a customer may pay")


def test_ids_belong_to_their_sender(desk: Desk) -> None:
    """Two businesses may use one id, one business only once; a payment pays the one it is sent to."""
    assert desk.propose("grill", "ann", offer()).ok
    assert desk.propose("diner", "ann", offer(total=13)).ok
    assert refused(desk.propose("grill", "bob", offer()), "invalid_proposal", "Proposal id is already used")
    assert desk.pay("ann", "diner", "p").text == "Paid $13.00 to diner."
    assert desk.pay("ann", "grill", "p").text == "Paid $12.00 to grill."


def test_nobody_speaks_for_another(desk: Desk) -> None:
    """The sender is who acts; naming oneself is fine."""
    result = {"to_agent_id": "grill", "message": Text(content="hi")}
    assert desk.act("ann", SendMessage(from_agent_id="ann", **result)).ok
    assert desk.act("ann", SendMessage(from_agent_id="bob", **result)).code == "wrong_sender"


def test_a_recipient_has_registered(desk: Desk) -> None:
    """A message to nobody is refused in the words of the public system."""
    outcome = desk.say("ann", "carl", "hi")
    assert refused(outcome, "unknown_recipient", "to_agent_id carl not found")


def test_a_large_message_is_refused(desk: Desk) -> None:
    """64 KiB of JSON is the most that one message holds, counted in bytes."""
    assert desk.say("ann", "grill", "x" * 65_000).ok
    assert desk.say("ann", "grill", "x" * 66_000).code == "too_large"
    assert desk.say("ann", "grill", "商" * 30_000).code == "too_large"


@together("text", ["it's", "100%", "😀", "x' OR '1'='1", '"', "\\", "%s", "商い\n"])
def test_awkward_text_is_plain_text(text: str) -> None:
    """Ids and contents with quotes, percent signs and emoji are what they are."""
    desk = Desk([business(f"b{text}")], [customer(f"c{text}")])
    desk.sell(offer(f"p{text}"), f"b{text}", f"c{text}")
    desk.say(f"b{text}", f"c{text}", text)
    mine = desk.hears(f"c{text}", FetchMessages(from_agent_id=f"b{text}"))["messages"]
    assert [item["message"].get("content") or item["message"]["id"] for item in mine] == [f"p{text}", text]


def test_a_key_is_done_once_and_answered_the_same(desk: Desk) -> None:
    """The same key from the same agent gives the first answer again; another agent's key is another."""
    desk.propose("grill", "ann", offer())
    desk.propose("grill", "bob", offer("q"))
    first = desk.pay("ann", "grill", "p", key="k")
    assert first.ok
    assert desk.pay("ann", "grill", "p", key="k") == first
    assert desk.pay("ann", "grill", "p", key="k2").text == "Proposal is already paid"
    assert desk.pay("bob", "grill", "q", key="k").ok
    assert (desk.state.payments, desk.state.booked_cents) == (2, 2400)


def test_a_key_stands_for_one_message(desk: Desk) -> None:
    """Used again with another message, or to another agent, it is refused; the first message can still be repeated."""
    desk.propose("grill", "ann", offer())
    first = desk.pay("ann", "grill", "p", key="k")
    for other in (desk.pay("ann", "grill", "q", key="k"), desk.send("ann", "bob", Text(content="hi"), key="k")):
        assert (other.ok, other.code) == (False, "idempotency_mismatch")
    assert desk.pay("ann", "grill", "p", key="k") == first
    assert desk.state.delivered == 2


def test_a_refused_key_is_still_unused(desk: Desk) -> None:
    """A refusal did nothing, so its key may be tried again, and counts when it is taken."""
    assert not desk.pay("ann", "grill", "p", key="k").ok
    desk.propose("grill", "ann", offer())
    assert desk.pay("ann", "grill", "p", key="k").ok
    assert desk.act("ann", SendMessage(to_agent_id="grill", message=Text(content=""), metadata={"idempotency_key": 1})
    ).code == "bad_key"  # fmt: skip


@pytest.mark.parametrize(
    ("proposal", "flag", "sentence"),
    [
        (offer(total=11), "wrong_total", "Total price is not the sum of the items"),
        (offer(expiry_time="tomorrow"), "no_time", "Expiry time is not a time"),
    ],
)
def test_what_is_odd_is_flagged_or_in_a_strict_market_refused(proposal: Any, flag: str, sentence: str) -> None:
    """Research needs sellers that lie: the default policy accepts and flags what the strict one refuses."""
    outcome = Desk().propose("grill", "ann", proposal)
    assert outcome.ok
    assert outcome.data == {"index": 3, "flags": [flag]}
    assert refused(Desk(policy="strict").propose("grill", "ann", proposal), "invalid_proposal", sentence)


def test_totals_are_compared_as_decimals() -> None:
    """Three times 8.1 is 24.3, whatever binary fractions say; less than a cent is no difference."""
    desk = Desk(policy="strict")
    thrice = offer("p", 24.3, A=8.1, B=8.1, C=8.1)
    assert desk.propose("grill", "ann", thrice).ok
    assert desk.propose("grill", "ann", offer("q", 24.309, A=8.1, B=8.1, C=8.1)).ok
    assert not desk.propose("grill", "ann", offer("r", 24.31, A=8.1, B=8.1, C=8.1)).ok


@together(("total", "cents"), [(0, 0), (0.005, 0), (0.015, 2), (12.345, 1234), (12.355, 1236), (7, 700)])
def test_booking_rounds_half_to_even(total: float, cents: int) -> None:
    """A total is kept as it was sent and booked to the cent, a half to the even one."""
    desk = Desk()
    desk.sell(offer(total=total))
    assert desk.state.booked_cents == cents
    total_price: Any = desk.hears("ann", FetchMessages())["messages"][0]["message"]["total_price"]
    assert total_price == total


def test_who_is_done_may_do_nothing(desk: Desk) -> None:
    """An agent that left is closed; so is a customer that bought what it came for, where it came for one thing."""
    desk.act("ann", Leave())
    assert desk.say("ann", "grill", "hi").code == "closed"
    assert desk.say("grill", "ann", "we miss you").ok
    once = Desk(purchases=1)
    once.sell(offer())
    assert once.say("ann", "grill", "thank you").code == "closed"


def test_strangers_enter_an_open_market_alone() -> None:
    """In a closed market a stranger has no part; in an open one it registers under its own id, and may change it."""
    profile = {"id": "zoe", "metadata": {"type": "customer"}, "customer": {"menu_features": {}}}
    assert Desk().act("zoe", Register(profile=profile)).code == "closed"
    desk = Desk(open=True)
    assert desk.act("zoe", Register()).code == "wrong_profile"
    assert desk.act("zoe", Register(profile={**profile, "id": "ann"})).code == "wrong_profile"
    assert desk.act("zoe", Register(profile=profile)).ok
    assert desk.say("grill", "zoe", "hi").ok
    assert desk.act("zoe", Register(profile={**profile, "customer": {"name": "Zoe"}})).ok
    assert [item["id"] for item in registered(desk.state)] == ["grill", "ann", "zoe"]
    assert registered(desk.state, 2, 5)[0]["customer"] == {"name": "Zoe"}
    assert [item["id"] for item in registered(desk.state, 1, 1)] == ["ann"]


def test_profiles_without_a_role_may_do_both() -> None:
    """Who says not what it is may propose and pay."""
    desk = Desk(open=True)
    for id in ("x", "y"):
        assert desk.act(id, Register(profile={"id": id})).ok
    desk.sell(offer(), "x", "y")


@pytest.mark.parametrize(
    "business_data", [None, 1, "x", [], {"rating": "x", "menu_features": 3, "amenity_features": [1]}]
)
def test_strange_profiles_break_nothing(business_data: Any) -> None:
    """Whatever JSON a profile holds, it can be registered, found and scored."""
    desk = Desk(open=True)
    assert desk.act("odd", Register(profile={"id": "odd", "metadata": 3, "business": business_data})).ok
    for algorithm in ("simple", "lexical", "filtered", "optimal", "rnr"):
        assert desk.hears("ann", Search(query="food", search_algorithm=algorithm)) is not None
    desk.sell(offer(), "odd")
    assert desk.scores["purchases"] == 1


def test_secrets_of_the_population_are_not_published(desk: Desk) -> None:
    """Nobody is told what a customer would pay, what a business would take, or for whom it was made."""
    businesses = desk.hears("ann", Search())["businesses"]
    assert all(profile["business"]["menu_features"] for profile in businesses)
    assert {
        (profile["business"]["min_price_factor"], profile["business"]["progenitor_customer"]) for profile in businesses
    } == {(1.0, "")}
    assert "min_price_factor" not in str(desk.state.members["grill"].profile)
    assert "menu_features" not in str(desk.state.members["ann"].profile)
    assert "min_price_factor" in desk.world.view(desk.state, "grill").text


def test_waiting_under_the_wall_clock_waits_for_mail_or_its_alarm(desk: Desk) -> None:
    """Who waits is not among the actors until mail comes; with a time it has an alarm."""
    desk.act("ann", Wait())
    desk.act("bob", Wait(seconds=2.5))
    assert "ann" not in desk.world.actors(desk.state)
    assert desk.world.facets.seating.wake_times(desk.state) == {"bob": 1_750_000_002_500_000}
    assert desk.act("ann", Search()).code == "closed"
    desk.say("grill", "ann", "hi")
    assert "ann" in desk.world.actors(desk.state)
    assert desk.act("ann", Wait()).text == "There is mail."
    assert "ann" in desk.world.actors(desk.state)


def test_a_name_of_the_document_is_read_as_well() -> None:
    """Items may be told as {"name", "quantity", "unit_price"}; what a client adds is left out."""
    items = [{"name": "Item A", "quantity": 1, "unit_price": 8, "note": "hot"}]
    action = Market.verbs.parse(
        "SendMessage",
        {"to_agent_id": "ann", "message": {"type": "order_proposal", "id": "p", "items": items, "total_price": 8}},
        "",
    )
    assert isinstance(action, SendMessage)
    assert action.model_dump()["message"]["items"] == [
        {"id": "", "item_name": "Item A", "quantity": 1, "unit_price": 8}
    ]


@pytest.mark.parametrize("total", [-1, 10**12, True, None, "ten"])
def test_totals_are_amounts(total: Any) -> None:
    """A total below zero or beyond all markets, or none at all, is no proposal."""
    items = [{"name": "Item A", "quantity": 1, "unit_price": 8}]
    message = {"type": "order_proposal", "id": "p", "items": items, "total_price": total}
    action = Market.verbs.parse("SendMessage", {"to_agent_id": "ann", "message": message}, "")
    assert type(action).__name__ == "Unreadable"
    assert isinstance(Payment(proposal_message_id="p"), Payment)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Is it fresh?", "text"),
        ({"content": "Is it fresh?"}, "text"),
        ({"proposal_message_id": "p"}, "payment"),
        ({"id": "p", "items": [{"name": "Tea", "quantity": 1, "unit_price": 8}], "total_price": 8}, "order_proposal"),
    ],
)
def test_messages_without_a_type_are_what_their_fields_say(message: Any, kind: str) -> None:
    """A small model leaves the type out, or writes the words alone."""
    action = Market.verbs.parse("send_message", {"to_agent_id": "ann", "message": message}, "")
    assert isinstance(action, SendMessage)
    assert action.message.type == kind


def test_a_message_of_two_kinds_is_none() -> None:
    """Nothing is guessed where fields of two kinds stand in it."""
    message = {"content": "Here", "proposal_message_id": "p"}
    assert type(Market.verbs.parse("send_message", {"to_agent_id": "ann", "message": message}, "")) is Unreadable


def test_a_message_that_is_not_there_is_asked_for() -> None:
    """The refusal says what is required, not that null is no message."""
    action = Market.verbs.parse("send_message", {"to_agent_id": "ann"}, "")
    assert isinstance(action, Unreadable)
    assert "message: field required" in action.why
