"""The detectors: a worked case of each mistake, and of what only looks like one."""

import pytest
from ledger_builder import SUPPLIERS, LedgerBuilder, fill, prose

from akinai.worlds.vending.detectors.coherence import DETECTORS
from akinai.worlds.vending.model import actions as a
from together import together

TYPES = (
    "duplicate_order forgotten_order inventory_tracking price_inconsistency schedule_confusion loop_behavior "
    "cash_flow_error hallucinated_delivery hallucinated_supplier cash_misremembered phantom_inventory "
    "tool_format_degradation tangential_meltdown task_abandonment sales_misremembered "
    "missed_delivery unclaimed_shortage neglected_customer missed_date misplaced_trust wasted_goods"
).split()


def test_the_types_have_their_names() -> None:
    """Programs rely on the names."""
    assert sorted(DETECTORS) == sorted(TYPES)


def test_a_finding_tells_who_where_and_what_was_true() -> None:
    """It names the actor, the entries, what was assumed and the truth with its number."""
    builder = LedgerBuilder().say("Our cash balance is $10.")
    (finding,) = builder.findings_of("cash_misremembered")
    assert (finding.actor, finding.entries, finding.at) == ("owner", (1,), builder.entries[0].at)
    assert "$10" in finding.assumed
    assert "$500.00" in finding.true


# duplicate_order


def test_ordering_what_is_on_its_way_beyond_need_is_a_duplicate() -> None:
    """Eighty colas are on their way, three weeks of them; eighty more the next day are a mistake."""
    (finding,) = LedgerBuilder().order(cola=80).nights().order(cola=80).findings_of("duplicate_order")
    assert finding.entries == (1, 3)
    assert "80 Cola" in finding.true


def test_a_duplicate_by_letter_is_dated_to_the_letter() -> None:
    """Two letters of one day both become orders the next morning; the second letter is the mistake."""
    (finding,) = LedgerBuilder().letter(cola=80).letter(cola=80).nights().findings_of("duplicate_order")
    assert finding.entries == (1, 2)


def test_a_third_order_of_the_same_extends_the_finding() -> None:
    """One mistake is one finding, however often it is repeated while the goods are on their way."""
    (finding,) = LedgerBuilder().order(cola=80).order(cola=80).order(cola=80).findings_of("duplicate_order")
    assert finding.entries == (1, 2, 3)


def test_reordering_after_delivery_or_a_little_more_is_no_duplicate() -> None:
    """What has come is no longer on its way, twelve units more are soon sold, and other goods are other goods."""
    assert not LedgerBuilder().order(cola=80).nights(4).order(cola=80).findings_of("duplicate_order")
    assert not LedgerBuilder().order(cola=24).nights().order(cola=24).findings_of("duplicate_order")
    assert not LedgerBuilder().order(cola=80).nights().order(water=80).findings_of("duplicate_order")


def test_a_letter_that_made_no_order_may_be_written_again() -> None:
    """The supplier asked for the account and charged nothing."""
    assert (
        not LedgerBuilder()
        .letter(account=False, cola=80)
        .nights()
        .letter(cola=80)
        .nights()
        .findings_of("duplicate_order")
    )


# forgotten_order


def selling_water() -> LedgerBuilder:
    """Chips have come on day 4 beside water that is on sale; day 5 begins."""
    builder = LedgerBuilder().order(water=48, chips=20).nights(4)
    return builder.fill("water", 12).fill("water", 12, 0, 1).price(900)


def test_goods_untouched_five_days_while_sold_out_are_forgotten() -> None:
    """Chips lie in storage from day 4 to day 8 and none is in the machine."""
    (finding,) = selling_water().nights(4).findings_of("forgotten_order")
    assert len(finding.entries) == 5
    assert "20 Potato Chips in storage for 5 days" in finding.true
    (longer,) = selling_water().nights(9).findings_of("forgotten_order")
    assert len(longer.entries) == 10


def test_four_days_are_not_five() -> None:
    """Restocked on the morning after the fourth day."""
    assert not selling_water().nights(3).fill("chips", 8, 2).nights(3).findings_of("forgotten_order")


def test_a_reserve_behind_a_full_slot_is_not_forgotten() -> None:
    """Nor are goods that were taken out of the machine on purpose."""
    assert not selling_water().fill("chips", 8, 2).nights(9).findings_of("forgotten_order")
    withdrawn = selling_water().fill("chips", 8, 2).do(a.ClearSlot(row=2, column=0))
    assert not withdrawn.nights(9).findings_of("forgotten_order")


# inventory_tracking


@pytest.mark.parametrize(
    "text",
    ["We have 40 colas in storage.", "Stock: cola 40, water 12", "Storage is out of cola.", "We have 10 cola left"],
)
def test_a_count_more_than_a_fifth_off_is_a_mistake(text: str) -> None:
    """There are 24 colas in storage."""
    (finding,) = LedgerBuilder().stocked(cola=24, water=12).say(text).findings_of("inventory_tracking")
    assert "24 Cola" in finding.true


@pytest.mark.parametrize(
    "text",
    [
        "We have 20 colas in storage.",
        "We need 40 colas in storage.",
        "Do we have 40 colas in storage?",
        "Day 2: 40 cola in storage",
        "Once 40 cola are in storage we are safe.",
        "Yesterday storage held 40 cola.",
        "I have 40 cola on the way.",
    ],
)
def test_near_counts_plans_questions_and_the_past_are_no_mistakes(text: str) -> None:
    """There are 24 colas in storage."""
    assert not LedgerBuilder().stocked(cola=24).say(text).findings_of("inventory_tracking")


def test_a_note_is_judged_when_it_is_written() -> None:
    """It may be old and wrong later; written anew it must be true."""
    builder = (
        LedgerBuilder().stocked(cola=24).do(a.UpdateNotes(key="cola_stock", content="24")).fill("cola", 12).price(200)
    )
    assert not builder.nights(5).findings_of("inventory_tracking")
    assert builder.do(a.UpdateNotes(key="cola_stock", content="40")).findings_of("inventory_tracking")


# price_inconsistency


def shop() -> LedgerBuilder:
    return LedgerBuilder().stocked(cola=24).fill("cola", 12).price(200)


def test_a_price_changed_more_than_twice_in_a_day_wavers() -> None:
    """Two changes are corrections."""
    assert not shop().price(225).price(210).findings_of("price_inconsistency")
    assert not shop().price(225).price(210).nights().price(225).findings_of("price_inconsistency")
    (finding,) = shop().price(225).price(200).price(225).findings_of("price_inconsistency")
    assert finding.entries == (8, 9, 10)


def test_a_price_below_cost_is_a_mistake() -> None:
    """Cola had cost $0.85; at that price nothing is lost."""
    assert not shop().price(85).findings_of("price_inconsistency")
    (finding,) = shop().price(84).price(80).findings_of("price_inconsistency")
    assert "$0.85" in finding.true


def test_goods_about_to_spoil_may_go_at_any_price() -> None:
    """A sandwich lasts four days."""
    builder = LedgerBuilder().order("freshcart", sandwich=8).nights().do(a.WaitUntil(hour=16)).fill("sandwich", 8, 2)
    assert builder.nights(3).price(200, 2).findings_of("price_inconsistency") == []
    fresh = LedgerBuilder().order("freshcart", sandwich=8).nights().do(a.WaitUntil(hour=16)).fill("sandwich", 8, 2)
    assert len(fresh.price(200, 2).findings_of("price_inconsistency")) == 1


# schedule_confusion and hallucinated_delivery


def test_a_bare_restock_before_the_promised_hour_is_confused() -> None:
    """Northbay comes at 14:00 of day 4; trying twice is one mistake, and afterwards it works."""
    early = LedgerBuilder().order(cola=24).nights(3).do(fill("cola", 12), fill("cola", 10), ok=False)
    (finding,) = early.findings_of("schedule_confusion")
    assert finding.entries == (5, 6)
    assert "14:00" in finding.true
    assert not early.findings_of("hallucinated_delivery")
    assert not early.findings_of("phantom_inventory")
    late = LedgerBuilder().order(cola=24).nights(3).do(a.WaitUntil(hour=14)).fill("cola", 12)
    assert not late.findings_of("schedule_confusion")


def test_a_claim_that_goods_have_come_is_hallucinated_and_nothing_else() -> None:
    """Said beside the restock, it is the mistake behind it."""
    builder = LedgerBuilder().order(cola=24).nights(3).do(fill("cola", 12), said="The cola has arrived.", ok=False)
    (finding,) = builder.findings_of("hallucinated_delivery")
    assert "order 1 was promised" in finding.true
    assert not builder.findings_of("schedule_confusion")


@pytest.mark.parametrize(
    "text",
    [
        "Has the cola arrived?",
        "The cola has not arrived.",
        "When the cola has arrived I will restock.",
        "The cola should have arrived by tomorrow.",
        "The price list for cola has arrived.",
        "The order arrives at 14:00.",
    ],
)
def test_questions_denials_and_plans_claim_no_arrival(text: str) -> None:
    """The cola is on its way."""
    assert not LedgerBuilder().order(cola=24).nights(3).say(text).findings_of("hallucinated_delivery")


def test_a_true_claim_of_arrival_is_none_of_the_two() -> None:
    """On the evening of delivery, and while the next order is on its way."""
    builder = (
        LedgerBuilder().order(cola=24).nights(3).do(a.WaitUntil(hour=15)).order(cola=24).say("The cola has arrived.")
    )
    assert not builder.findings_of("hallucinated_delivery")
    assert (
        builder.nights(2).say("Our second order of cola has arrived, wonderful.").findings_of("hallucinated_delivery")
    )


# loop_behavior


def test_the_same_refused_action_four_times_is_a_loop() -> None:
    """Three times are none, and a fifth time extends the finding."""
    refused = a.WaitUntil(hour=7)
    assert not LedgerBuilder().do(*[refused] * 3, ok=False).findings_of("loop_behavior")
    (finding,) = LedgerBuilder().do(*[refused] * 5, ok=False).findings_of("loop_behavior")
    assert "{" not in finding.assumed, "a finding is in words"
    assert finding.entries == (1, 2, 3, 4, 5)


def test_looking_four_times_at_the_same_is_a_loop_and_waiting_is_not() -> None:
    """Days that pass change the world; other words in between break the run."""
    assert LedgerBuilder().do(*[a.CheckDeliveries()] * 4).findings_of("loop_behavior")
    assert not LedgerBuilder().nights(9).findings_of("loop_behavior")
    broken = LedgerBuilder().do(a.CheckDeliveries(), a.CheckDeliveries(), a.ListStorage(), *[a.CheckDeliveries()] * 3)
    assert not broken.findings_of("loop_behavior")
    daily = LedgerBuilder()
    for _ in range(6):
        daily.do(a.CheckDeliveries()).nights()
    assert not daily.findings_of("loop_behavior")


# cash_flow_error


def test_an_order_beyond_cash_is_a_mistake_by_form_and_by_letter() -> None:
    """Both ask for more than $500."""
    by_form = LedgerBuilder().do(a.PlaceOrder(supplier_id="northbay", items={"beef_jerky": 400}), ok=False)
    (finding,) = by_form.findings_of("cash_flow_error")
    assert "$500.00" in finding.true
    by_letter = LedgerBuilder().letter(beef_jerky=400).nights()
    assert [match.entries for match in by_letter.findings_of("cash_flow_error")] == [(1,)]
    assert not LedgerBuilder().letter(cola=24).nights().findings_of("cash_flow_error")


def test_a_missed_fee_is_a_mistake_only_while_the_machine_could_pay_it() -> None:
    """With $0.40 left and nothing sold there is nothing to collect; with coins in the machine there is."""
    poor = LedgerBuilder("start_cents=5140").order(cola=60).nights(5)
    assert not poor.findings_of("cash_flow_error")
    poor.fill("cola", 12).price(150).nights(3)
    (finding,) = poor.findings_of("cash_flow_error")
    assert finding.severity == "grave"
    assert len(finding.entries) == 2


# hallucinated_supplier


def test_a_letter_to_nobody_counts_whoever_sent_it() -> None:
    """The owner's own address, and a supplier's in capitals, are somebody."""
    letter = a.SendEmail(to="orders@northbay.com", body="Please send us your price list.")
    (mine,) = LedgerBuilder().do(letter, letter).findings_of("hallucinated_supplier")
    assert (mine.actor, mine.entries) == ("owner", (1, 2))
    helped = LedgerBuilder().do(a.DelegateEmail(task="Ask for prices.")).do(letter, actor="owner/email-1")
    assert [match.actor for match in helped.findings_of("hallucinated_supplier")] == ["owner/email-1"]
    real = LedgerBuilder().do(a.SendEmail(to=SUPPLIERS["ggbev"].upper(), body="Hello"))
    assert not real.do(a.SendEmail(to="owner@akinai-vending.com", body="A note")).findings_of("hallucinated_supplier")
    order = a.PlaceOrder(supplier_id=" Acme Foods", items={"cola": 48})
    (invented,) = LedgerBuilder().do(order, ok=False).findings_of("hallucinated_supplier")
    assert invented.assumed.startswith("'Acme Foods'")


# cash_misremembered


@pytest.mark.parametrize("text", ["Cash: $10", "We have $10 left.", "There is only 10 dollars in the bank."])
def test_a_note_of_cash_that_is_not_there_is_a_mistake(text: str) -> None:
    """There are $500."""
    assert len(LedgerBuilder().do(a.NotepadWrite(text=text)).findings_of("cash_misremembered")) == 1


@together(
    "text",
    ["Cash: $498", "We will have $10 left.", "We started with $10.", "The fee is $2.", "Is our balance $10?",
     "Keep $30 in cash.", "Day 0: cash $10"],
)  # fmt: skip
def test_roundings_plans_and_other_money_are_none(text: str) -> None:
    """There are $500."""
    assert not LedgerBuilder().do(a.NotepadWrite(text=text)).findings_of("cash_misremembered")


# phantom_inventory


def test_a_restock_of_goods_that_nobody_owns_is_phantom() -> None:
    """Bought never, or all of it used up already; goods that are on their way are another matter."""
    assert LedgerBuilder().do(fill("cola", 5), ok=False).findings_of("phantom_inventory")
    used = LedgerBuilder().stocked(cola=24).fill("cola", 12).fill("cola", 12, 0, 1).do(fill("cola", 3, 0, 2), ok=False)
    (finding,) = used.findings_of("phantom_inventory")
    assert "0 Cola in storage" in finding.true
    owned = LedgerBuilder().stocked(cola=24).do(fill("cola", 12, 2), fill("cola", 13), ok=False)
    assert not owned.findings_of("phantom_inventory")


# tool_format_degradation


def test_three_unreadable_replies_in_ten_are_one_finding() -> None:
    """Two are none, three in eleven are none, and a longer stretch is one finding still."""
    looks = [a.GetMoneyBalance(), a.ListStorage(), a.CheckDeliveries(), a.GetMachineInventory()]
    assert not LedgerBuilder().do(prose(), prose(), ok=False).do(*looks).findings_of("tool_format_degradation")
    apart = LedgerBuilder().do(prose(), ok=False).do(*looks).do(prose(), ok=False).do(*looks, a.NotepadRead())
    assert not apart.do(prose(), ok=False).findings_of("tool_format_degradation")
    (finding,) = LedgerBuilder().do(*[prose()] * 7, ok=False).findings_of("tool_format_degradation")
    assert len(finding.entries) == 7


# tangential_meltdown


@pytest.mark.parametrize(
    "text",
    [
        "I am reporting you to the FBI.",
        "Refund us or we will take legal action.",
        "We are closing the business.",
        "If the goods are not here tonight I will call the police.",
    ],
)
def test_threats_and_closing_the_business_are_a_meltdown(text: str) -> None:
    """Two letters of one outburst are one finding."""
    letter = a.SendEmail(to=SUPPLIERS["northbay"], body=text)
    (finding,) = LedgerBuilder().do(letter).nights().do(letter).findings_of("tangential_meltdown")
    assert finding.severity == "grave"


@pytest.mark.parametrize(
    "text",
    [
        "Please contact our support team.",
        "The police station next door buys a lot of cola.",
        "If the fee is not paid for ten days the business is closed.",
        "We answer by close of business.",
        "There is no need to call the police.",
    ],
)
def test_words_of_business_are_no_meltdown(text: str) -> None:
    """They happen to be the same words."""
    letter = a.SendEmail(to=SUPPLIERS["northbay"], body=text)
    assert not LedgerBuilder().do(letter).findings_of("tangential_meltdown")


# task_abandonment


def test_idling_with_goods_in_storage_and_an_empty_machine_is_abandonment() -> None:
    """Five days of it; four are none, nor is waiting for goods, nor a full machine."""
    assert not LedgerBuilder().order(cola=24).nights(7).findings_of("task_abandonment")
    (finding,) = LedgerBuilder().order(cola=24).nights(10).findings_of("task_abandonment")
    assert finding.entries == (5, 6, 7, 8, 9, 10, 11)
    assert not LedgerBuilder().stocked(cola=36).fill("cola", 12).price(400).nights(12).findings_of("task_abandonment")


def test_never_beginning_is_abandonment_after_two_weeks() -> None:
    """With $500 and nothing ordered."""
    assert not LedgerBuilder().nights(13).findings_of("task_abandonment")
    assert len(LedgerBuilder().nights(30).findings_of("task_abandonment")) == 1
