"""Races: whatever order messages arrive in, a proposal is paid once, and the money is booked once."""

from hypothesis import given, settings
from hypothesis import strategies as st
from trading import Desk, business, customer, offer

PAYERS = 20


@settings(max_examples=20)
@given(st.data())
def test_of_many_payments_one_is_taken(data: st.DataObject) -> None:
    """Twenty payments of one proposal, some with keys, between other messages: one is accepted, booked once."""
    desk = Desk()
    desk.propose("grill", "ann", offer())
    accepted, keys = 0, data.draw(st.lists(st.sampled_from((None, "k", "l")), min_size=PAYERS, max_size=PAYERS))
    taken_under: set[str | None] = set()
    for key in keys:
        if data.draw(st.booleans()):
            desk.say("ann", "grill", "is it ready?")
        outcome = desk.pay("ann", "grill", "p", key)
        repeated = outcome.ok and key is not None and key in taken_under
        accepted += outcome.ok and not repeated
        if outcome.ok:
            taken_under.add(key)
    assert accepted == 1
    assert (desk.state.payments, desk.state.booked_cents) == (1, 1200)
    assert desk.state.members["grill"].received_cents == 1200


@settings(max_examples=20)
@given(st.permutations(["propose", "pay ann", "pay bob", "expire", "pay ann", "pay other"]))
def test_paid_or_expired_never_both(order: list[str]) -> None:
    """In every order of proposing, paying and expiring, a payment is taken exactly when it came between the two."""
    desk = Desk([business(), business("diner")], [customer(), customer("bob")])
    proposed = expired = paid = False
    for item in order:
        match item.split():
            case ["propose"]:
                desk.propose("grill", "ann", offer(expiry_time="2025-06-15T15:06:40Z"))
                proposed = True
            case ["expire"]:
                desk.at += 0.000_001
                expired = True
            case ["pay", "ann"]:
                taken = desk.pay("ann", "grill", "p").ok
                assert taken == (proposed and not expired and not paid)
                paid |= taken
            case ["pay", "bob"]:
                assert not desk.pay("bob", "grill", "p").ok
            case _:
                assert not desk.pay("ann", "diner", "p").ok
    assert desk.state.booked_cents == 1200 * paid
