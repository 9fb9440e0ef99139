"""Deals as the marketplace document describes them: what each side keeps, and one proposal followed by its id."""

import json
from typing import Any

import pytest
from keeping import Shell, keep
from trading import Desk, business, customer, offer

import akinai
from akinai.core.steps import Steps
from akinai.core.worlds import replay
from akinai.worlds.market import State, business_deals, customer_deals
from akinai.worlds.market.model.actions import FetchMessages, Search

PARTIES: dict[str, Any] = {"business_id": "grill", "customer_id": "ann"}


def confirmation(total: float, id: str) -> str:
    return f"Payment received! Your order for ${total} is confirmed. Order ID: {id}. Thank you for your business!"


def steps(desk: Desk) -> Steps[State]:
    return replay(desk.world, desk.ledger)


def whole_deal() -> Desk:
    """From the search to the confirmation, a second after each other, with a payment that is refused."""
    desk = Desk([business(), business("diner")])
    for sender, action in (("ann", Search(query="Item A")), ("ann", Search(query="Item B"))):
        desk.act(sender, action)
    desk.say("ann", "grill", "One A and one B, please.")
    desk.propose("grill", "ann", offer())
    desk.at += 1
    desk.act("ann", FetchMessages())
    desk.at += 1
    assert not desk.pay("ann", "diner", "p").ok
    assert desk.pay("ann", "grill", "p").ok
    desk.at += 1
    desk.act("grill", FetchMessages())
    desk.say("grill", "ann", confirmation(12.0, "p"))
    desk.act("ann", FetchMessages())
    desk.say("ann", "grill", "Thank you!")
    return desk


def test_both_sides_of_a_deal_keep_it() -> None:
    """The customer keeps the proposal from its fetch on and has paid it; the business's order is confirmed."""
    desk = whole_deal()
    own, books = customer_deals(steps(desk), "ann"), business_deals(steps(desk), "grill")
    begun = round((desk.at - 3) * 1e6)
    (bought,), (sold,) = own.proposal_storage.items(), books.proposal_storage.items()
    assert bought[0] == sold[0] == "p"
    for stored, at in ((bought[1], begun + 1_000_000), (sold[1], begun)):
        assert (stored.business_id, stored.customer_id) == ("grill", "ann")
        assert (stored.proposal, stored.created_at, stored.status) == (offer(), at, "accepted")
    paid_at = begun + 2_000_000
    assert own.completed_transactions == {"p": paid_at}
    (paid,), (order,) = own.transaction_history, books.confirmed_orders
    assert (paid.proposal_id, paid.business_id, paid.amount_cents, paid.timestamp) == ("p", "grill", 1200, paid_at)
    assert (order.proposal_id, order.customer_id, order.amount_cents) == ("p", "ann", 1200)
    assert order.items == offer().items


def test_each_side_knows_what_it_has_read() -> None:
    """A proposal is unread until its customer fetches it; the business takes a paid one for pending until it reads the
    payment; one that is too old to be paid is expired for both."""
    desk = Desk()
    desk.propose("grill", "ann", offer("p"))
    desk.propose("grill", "ann", offer("old", expiry_time="2025-06-15T00:00:00Z"))
    assert customer_deals(steps(desk), "ann").proposal_storage == {}
    desk.act("ann", FetchMessages())
    seen = [customer_deals(steps(desk), "ann").proposal_storage[id].status for id in ("p", "old")]
    assert seen == ["pending", "expired"]
    assert desk.pay("ann", "grill", "p").ok
    books = business_deals(steps(desk), "grill")
    assert customer_deals(steps(desk), "ann").proposal_storage["p"].status == "accepted"
    assert [stored.status for stored in books.proposal_storage.values()] == ["pending", "expired"]
    assert books.confirmed_orders == []


def test_a_sealed_bid_is_unread_until_it_is_opened() -> None:
    """A fetch that tells only that a bid came does not store the proposal."""
    desk = Desk(gates={"sealed_bids": True, "quote_window_s": 60})
    desk.propose("grill", "ann", offer())
    desk.act("ann", FetchMessages())
    assert customer_deals(steps(desk), "ann").proposal_storage == {}
    desk.at += 60
    desk.act("ann", FetchMessages())
    assert customer_deals(steps(desk), "ann").proposal_storage["p"].status == "pending"


def test_a_business_adds_up_what_it_confirmed(shell: Shell) -> None:
    """The document's example: payments of 12, 15 and 8 are confirmed orders of 35.00."""
    desk = Desk(customers=[customer("ann"), customer("bob"), customer("eve")])
    for buyer, total in (("ann", 12), ("bob", 15), ("eve", 8)):
        desk.sell(offer(f"{buyer}-1", total), buyer=buyer)
        desk.act("grill", FetchMessages())
        desk.say("grill", buyer, confirmation(total, f"{buyer}-1"))
    amounts = [order.amount_cents for order in business_deals(steps(desk), "grill").confirmed_orders]
    assert (amounts, sum(amounts)) == ([1200, 1500, 800], 3500)
    keep("hand", desk)
    tables = shell.analyzed("hand", "--deals")["runs"][0]["tables"]
    assert [row["amount"] for row in tables["confirmed_orders"]] == amounts
    assert [row["amount"] for row in tables["transaction_history"]] == amounts
    assert [row["proposal"] for row in tables["completed_transactions"]] == ["ann-1", "bob-1", "eve-1"]
    statuses = {(row["customer_status"], row["business_status"]) for row in tables["proposal_storage"]}
    assert statuses == {("accepted", "accepted")}


def test_deals_are_in_the_tables_where_asked_for(shell: Shell) -> None:
    """`analyze --deals` adds four tables; a time is ISO 8601, and one that did not come is absent."""
    desk = Desk()
    desk.propose("grill", "ann", offer())
    keep("hand", desk)
    names = {"proposal_storage", "completed_transactions", "transaction_history", "confirmed_orders"}
    assert not names & shell.analyzed("hand")["runs"][0]["tables"].keys()
    tables = shell.analyzed("hand", "--deals")["runs"][0]["tables"]
    assert names <= tables.keys()
    (row,) = tables["proposal_storage"]
    assert (row["sent_at"], row["read_at"]) == ("2025-06-15T15:06:40+00:00", None)
    assert (row["customer_status"], row["total"]) == ("unread", 1200)
    assert "Proposal storage" in shell("analyze", "hand", "--deals")


def test_a_deal_is_followed_by_its_id(shell: Shell) -> None:
    """From the search before the first message to the confirmation; refused payments stand in it with their code."""
    keep("hand", whole_deal())
    deal = akinai.deal("hand", "p", store="akinai.db")
    stages = [
        (4 + 1, "search"), (6, "message"), (7, "proposal"), (8, "proposal read"), (9, "payment refused"),
        (10, "payment"), (11, "payment read"), (12, "confirmation"), (13, "confirmation read"),
    ]  # fmt: skip
    assert [(step.entry, step.stage) for step in deal.steps] == stages
    assert [step.code for step in deal.steps if step.code] == ["invalid_proposal"]
    assert (deal.seller, deal.buyer, deal.amount_cents) == ("grill", "ann", 1200)
    assert deal.status == {"customer": "accepted", "business": "accepted"}
    assert json.loads(shell("analyze", "hand", "--deal", "p", "--json")) == deal.to_json()
    page = shell("analyze", "hand", "--deal", "p")
    assert page.startswith(
        "p  grill (Grill) to ann (Ann), $12.00\naccepted by the customer, accepted by the business\n"
    )
    assert "Proposal is not from this business (invalid_proposal)" in page
    assert all(f"#{entry} " in page for entry, _ in stages)


def test_a_second_deal_of_two_begins_after_the_first() -> None:
    """What the two said about an earlier purchase is not repeated; a confirmation is found without its id too, and an
    id is not found inside another."""
    desk = Desk()
    for id, words in (("p-1", "Thanks, on its way."), ("p-10", confirmation(12, "p-10"))):
        desk.say("ann", "grill", f"My order {id}")
        desk.sell(offer(id))
        desk.act("grill", FetchMessages())
        desk.say("grill", "ann", words)
    first, second = desk.world.facets.judging.deals(steps(desk))
    assert [step.entry for step in first.steps] == [3, 4, 5, 6, 7]
    assert [step.entry for step in second.steps] == [8, 9, 10, 11, 12]
    assert [step.stage for step in second.steps][-1] == "confirmation"


def test_an_id_that_two_businesses_use_has_its_business(shell: Shell) -> None:
    """As in the exported database, such a deal is "business/id"; a refused payment belongs to the business it named."""
    desk = Desk([business(), business("diner")], [customer(), customer("bob")])
    for seller in ("grill", "diner"):
        desk.propose(seller, "ann", offer())
    assert not desk.pay("bob", "grill", "p").ok
    deals = {deal.id: deal for deal in desk.world.facets.judging.deals(steps(desk))}
    assert list(deals) == ["grill/p", "diner/p"]
    assert [step.stage for step in deals["grill/p"].steps] == ["proposal", "payment refused"]
    assert [step.stage for step in deals["diner/p"].steps] == ["proposal"]
    keep("hand", desk)
    assert "there is diner/p, grill/p" in shell.error("analyze", "hand", "--deal", "p")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("hand", "--deal", "q"), "no deal 'q'"),
        (("hand", "hand-1", "--deal", "p"), "--deal 'p' follows a deal of one run; name that run, and no other"),
        (("two", "--deal", "p"), "'two' stands for 2 runs; name one"),
    ],
)
def test_a_deal_that_cannot_be_followed(shell: Shell, words: tuple[str, ...], message: str) -> None:
    """One line says why, exit 2."""
    keep("hand", whole_deal())
    keep("two", whole_deal(), whole_deal())
    assert message in shell.error("analyze", *words)
