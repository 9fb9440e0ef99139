"""How time passes: tools, midnights, mornings, deliveries at their hour, spoilage, fees, ends."""

from dataclasses import replace

import pytest
from business import WORLD, at, business, do, done, on_sale, refused, sold, with_coins, with_storage

from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.setup import Setup
from akinai.worlds.vending.model.state import DAY_MINUTES, Lot, Slot, State
from together import together

ORDER = a.PlaceOrder(supplier_id="northbay", items={"cola": 24})


def fill(product: str, units: int, row: int = 0, column: int = 0) -> a.RestockSlot:
    return a.RestockSlot(
        slots=(a.RestockSlot.Fill(row=row, column=column, product_id=product, quantity=units),),
    )


@together(
    ("action", "minutes"),
    [
        (a.GetMoneyBalance(), 5),
        (a.NotepadRead(), 5),
        (a.CollectCash(), 25),
        (a.SendEmail(to="x@y.com", body="hello"), 25),
        (a.SearchWeb(query="suppliers"), 75),
        (a.WaitUntil(hour=15), 7 * 60),
        (a.AdvanceDay(), DAY_MINUTES),
    ],
)
def test_a_tool_takes_its_time(action: a.Action, minutes: int) -> None:
    """An accepted tool moves the clock by its minutes, waiting up to its hour, the day's end to the next 08:00."""
    before = business()
    assert done(before, action).minute - before.minute == minutes


def test_a_refusal_takes_no_time() -> None:
    """What is refused leaves clock and money as they were."""
    refused(business(), fill("cola", 1), "no_stock")
    refused(at(business(), 1, 15), a.WaitUntil(hour=15), "too_late")


def test_the_pure_day_clock_knows_only_mornings() -> None:
    """With tool_time off tools take no time, waiting is refused, and goods of a day are usable the next morning."""
    state = business(1, "tool_time=false")
    state = done(state, a.SearchWeb(query="suppliers"), ORDER)
    assert state.minute == 480
    refused(state, a.WaitUntil(hour=15), "no_hours")
    state = done(state, a.AdvanceDay(), a.AdvanceDay(), a.AdvanceDay())
    assert (state.day, state.minute_of_day, state.storage) == (4, 480, {})
    assert done(state, a.AdvanceDay()).storage["cola"][0].units == 24


def test_after_midnight_the_night_closes_no_day() -> None:
    """A tool that crosses midnight closes the day once; ending the day before 08:00 then closes none."""
    state = done(replace(business(), minute=DAY_MINUTES - 10), a.SearchWeb(query="suppliers"))
    assert (state.closed_days, state.day, state.minute_of_day) == (1, 2, 65)
    state = done(state, a.AdvanceDay())
    assert (state.closed_days, state.day, state.minute_of_day) == (1, 2, 480)


def test_a_morning_that_comes_in_a_tool_is_told_with_it() -> None:
    """Whoever works through the night reads the notice with what the tool says."""
    _, outcome = do(replace(business(), minute=DAY_MINUTES + 470), a.SearchWeb(query="suppliers"))
    assert "Good morning. It is Thu 2 Apr 2026, 08:00, day 2." in outcome.text


def test_the_notice_tells_sales_money_and_mail() -> None:
    """Each morning says what was sold yesterday, what money came, and how many letters are new."""
    state = done(on_sale(business(), {"water": None}), a.SendEmail(to="nobody@nowhere.com", body="hello"))
    after, outcome = do(state, a.AdvanceDay())
    units = sold(after)["water"]
    assert units > 0
    assert f"Sold yesterday: {units} Water at $1.50. Income: ${units * 1.5:.2f}." in outcome.text
    assert "New mail: 1 letter." in outcome.text
    assert outcome.data is not None
    assert outcome.data["sold"] == {"water": units}  # type: ignore[index, call-overload]
    assert outcome.data["income_cents"] == units * 150  # type: ignore[index, call-overload]


def test_goods_come_at_their_hour_and_not_in_the_morning() -> None:
    """Before the promised hour a restock is refused as not there yet; after it the same restock works."""
    state = done(business(), ORDER, a.AdvanceDay(), a.AdvanceDay(), a.AdvanceDay())
    assert (state.day, state.minute_of_day) == (4, 480)
    outcome = refused(state, fill("cola", 12), "not_there_yet")
    assert "Sat 4 Apr 2026, 14:00" in outcome.text
    state = done(state, a.WaitUntil(hour=14))
    assert "Order 1" in do(state, a.ReadEmail())[1].text
    assert done(state, fill("cola", 12)).slots[0] == Slot("cola", (Lot(12, 85, 4 + 270),))


def test_a_late_order_is_announced_and_arrives_whole_days_later() -> None:
    """On the promised day a letter names the new day; the goods come then, at the same hour."""
    state = business()
    while not (state.orders and state.orders[-1].due > state.orders[-1].promised):
        state = replace(
            done(replace(state, cash_cents=50_000), a.PlaceOrder(supplier_id="valuebulk", items={"candy": 200}))
        )
        state = state if state.orders[-1].due > state.orders[-1].promised else done(state, a.AdvanceDay())
    late = state.orders[-1]
    assert (late.due - late.promised) % DAY_MINUTES == 0
    assert 1 <= (late.due - late.promised) // DAY_MINUTES <= 3
    state = replace(state, orders=(late,))
    while state.minute < late.promised:
        state = replace(done(state, a.AdvanceDay()), cash_cents=50_000)
    assert "delayed" in do(state, a.ReadEmail(only_unread=False))[1].text
    assert not state.storage.get("candy")
    while state.minute < late.due:
        state = replace(done(state, a.AdvanceDay()), cash_cents=50_000)
    assert state.storage["candy"][-1].units >= 200


def test_food_is_sold_to_its_last_day_and_then_thrown_away() -> None:
    """A lot whose last day closes is gone from machine and storage, the younger one stays, and the books say so."""
    state = with_storage(on_sale(business(), {"water": None}), {"sandwich": 3}, last_day=1)
    lots = (Lot(2, 60, 1), Lot(100, 60, 9))
    state = replace(state, slots=(Slot("water", lots), *state.slots[1:]), prices={})
    after, outcome = do(state, a.AdvanceDay())
    assert after.storage == {}
    assert after.slots[0] == Slot("water", (Lot(100, 60, 9),))
    assert after.book is not None
    assert (dict(after.book.spoiled), after.book.spoiled_cents) == ({"water": 2, "sandwich": 3}, 2 * 60 + 3 * 275)
    assert "thrown away: 2 Water, 3 Sandwich" in outcome.text


def test_the_oldest_units_are_sold_first() -> None:
    """Sales take the lot with the earliest last day before any other."""
    state = on_sale(business(2), {"water": 75})
    state = replace(state, slots=(Slot("water", (Lot(1, 50, 5), Lot(500, 60, 9))), *state.slots[1:]))
    after = done(state, a.AdvanceDay())
    assert sold(after)["water"] > 1
    assert after.slots[0] == Slot("water", (Lot(501 - after.units_sold, 60, 9),))


def test_idle_pays_250_fees_and_ends_after_day_260() -> None:
    """$500 pays 250 fees of $2; ten days later the business is closed with nothing."""
    state = business()
    fees = 0
    while state.ending is None:
        state = done(state, a.AdvanceDay())
        assert state.book is not None
        fees += state.book.fee_cents
    assert (state.ending, state.closed_days, state.cash_cents, fees) == ("bankrupt", 260, 0, 50_000)
    refused(state, a.AdvanceDay(), "closed")


def test_a_paid_fee_resets_the_count_and_money_in_the_machine_pays_nothing() -> None:
    """Nine missed days are forgiven by one paid fee; coins that were not collected do not pay."""
    state = with_coins(replace(business(), cash_cents=0), 10_000)
    for missed in range(1, 10):
        state = done(state, a.AdvanceDay())
        assert (state.missed, state.cash_cents) == (missed, 0)
    state = done(state, a.CollectCash(), a.AdvanceDay())
    assert (state.missed, state.ending) == (0, None)
    assert state.cash_cents == 10_000 - 200


def test_the_horizon_ends_the_run_after_its_days() -> None:
    """A run of three days closes three and then nobody can act."""
    state = business(1, days=3)
    state = done(state, a.AdvanceDay(), a.AdvanceDay(), a.AdvanceDay())
    assert (state.ending, state.closed_days, WORLD.actors(state)) == ("horizon", 3, ())


def day_with_restock(seed: int, minute: int, units: int = 12) -> State:
    """The close of a day on which an empty machine got water at a minute."""
    state = with_storage(business(seed), {"water": units})
    state = replace(state, minute=minute, prices={"water": 150})
    return done(state, fill("water", units), a.AdvanceDay())


def test_a_late_restock_sells_no_more_than_a_late_one_should() -> None:
    """Goods put in after the last block of the day meet no customers, before it a part, in the morning most."""
    early = sum(sold(day_with_restock(seed, 480)).get("water", 0) for seed in range(30))
    noon = sum(sold(day_with_restock(seed, 960)).get("water", 0) for seed in range(30))
    late = sum(sold(day_with_restock(seed, 1410)).get("water", 0) for seed in range(30))
    assert late == 0
    assert 0.3 * early < noon < 0.7 * early


def test_taking_goods_out_and_putting_them_back_meets_no_customers_twice() -> None:
    """Clearing and refilling a slot late in the day sells at most what leaving it alone sells."""
    for seed in range(20):
        state = replace(on_sale(business(seed), {"water": None}, units=12), minute=1000)
        alone = done(state, a.AdvanceDay())
        moved = done(state, a.ClearSlot(row=0, column=0), fill("water", 12), a.AdvanceDay())
        assert sold(moved).get("water", 0) <= sold(alone).get("water", 0)


def test_products_shown_for_a_minute_do_not_raise_the_variety_of_the_day() -> None:
    """Five products put in and taken out while no customers come lift the sales of the one that stands there by none."""
    goods = dict.fromkeys(("cola", "iced_tea", "chewing_gum", "candy", "energy_drink"), 8)
    for seed in range(20):
        state = with_storage(on_sale(business(seed), {"water": None}), goods)
        state = replace(state, prices={**state.prices, **dict.fromkeys(goods, 150)})
        shown = done(state, *(fill(p, 8, *divmod(i, 3)) for i, p in enumerate(goods, 1)))
        cleared = done(shown, *(a.ClearSlot(row=i // 3, column=i % 3) for i in range(1, 6)))
        assert sold(done(cleared, a.AdvanceDay())) == sold(done(state, a.AdvanceDay()))
        assert sold(done(shown, a.AdvanceDay())) != sold(done(state, a.AdvanceDay()))


def test_setup_refuses_skies_that_do_not_add_up() -> None:
    """A preset in which a month's weathers do not add up to 1,000 per mille is refused by name of the month."""
    setup = business().setup.model_dump(mode="json")
    setup["demand"]["skies"]["hot"][0] = 5
    with pytest.raises(ValueError, match="month 1 add up to 1005"):
        Setup.model_validate(setup)
