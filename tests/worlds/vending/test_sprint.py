"""The preset `sprint`: weekly decisions, the employee, the report, and the players that decide on Mondays."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from business import WORLD, business, do, done, genesis, refused

import akinai
from akinai.core.actions import Action, Unreadable
from akinai.core.agents import Plan, Routine, player
from akinai.core.ledger import Outcome, Turn
from akinai.core.worlds import walk
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import DAY_MINUTES, State
from akinai.worlds.vending.players.habits import REFERENCE, Habits
from akinai.worlds.vending.rules.books import rent_cents
from akinai.worlds.vending.rules.orders import know_suppliers
from akinai.worlds.vending.rules.trade import bank_balance_cents
from akinai.worlds.vending.sprint import verbs as weekly
from akinai.worlds.vending.sprint.employee import week_of
from akinai.worlds.vending.sprint.report import REPORT_CHARS
from faults import exploits, weekly_faults
from validity import play, rung


def sprint(seed: int = 12, *sets: str) -> State:
    """A first Monday on which the owner knows every supplier."""
    state = business(seed, *sets, preset="sprint", days=364)
    return know_suppliers(state, list(state.setup.catalog.supplier_by_id))


def supplier(state: State) -> str:
    """The first supplier, who sells most goods."""
    return next(iter(state.setup.catalog.supplier_by_id))


def goods(state: State, count: int = 2, units: int = 20) -> dict[str, int]:
    """Small goods that the first supplier sells."""
    ids = state.setup.catalog.supplier_by_id[supplier(state)].products
    return dict.fromkeys([id for id in ids if state.setup.catalog.by_id[id].size == "small"][:count], units)


def plan(state: State, *, cents: int = 150) -> weekly.SetPlan:
    ids = tuple(goods(state))
    prices = tuple(weekly.PriceFrom(product=id, price_cents=cents) for id in ids)
    return weekly.SetPlan(sites=(weekly.SitePlan(site=1, products=ids),), prices=prices)


def test_a_week_passes_at_once_and_monday_takes_no_time() -> None:
    """The owner's verbs leave the clock at Monday, 08:00; closing the week moves it by seven days."""
    state = sprint()
    after = done(state, a.SearchWeb(query="suppliers"), a.GetPriceLists(), plan(state))
    assert after.minute == state.minute == 8 * 60
    after = done(after, weekly.CloseWeek())
    assert (after.day, after.minute_of_day, after.closed_days) == (8, 8 * 60, 7)
    assert len(week_of(after).books) == 7


def test_only_the_tools_of_the_preset_are_offered() -> None:
    """Fourteen tools, the form `week`, and `forecast` where it is set; what needs hands is the employee's."""
    names = [verb.tool_name() for verb in a.VERB_CLASSES if verb in _offered(sprint())]
    assert len(names) == 15
    assert "week" in names
    assert "forecast" not in names
    assert weekly.Forecast in _offered(sprint(12, "forecast=true"))
    refused(sprint(), a.VisitSite(site=1), "not_yours")
    refused(sprint(), a.AdvanceDay(), "not_yours")


def _offered(state: State) -> tuple[type[Action], ...]:
    from akinai.worlds.vending.rules.actors import verbs_of

    return verbs_of(state, "owner")


def test_the_employee_takes_goods_in_fills_and_sells() -> None:
    """What is ordered comes, is counted, and is sold; nobody has to do anything but plan and wait."""
    state = sprint()
    state = done(state, a.PlaceOrder(supplier_id=supplier(state), items=goods(state)), plan(state))
    state = done(state, weekly.CloseWeek(), weekly.CloseWeek())
    counted = week_of(state).counted
    assert [row.order for row in counted] == [1]
    assert not [parcel for parcel in state.parcels if parcel.at_depot]
    assert state.units_sold > 0
    assert state.accounts.get("collected", 0) >= 0


def test_an_order_waits_for_its_day() -> None:
    """Supplier, goods and minimum are checked at once, money on the day; what was not placed stands in the report."""
    state = sprint()
    name, items = supplier(state), goods(state)
    refused(state, a.PlaceOrder(supplier_id="nobody", items=items, day="Wed"), "unknown_supplier")
    refused(state, a.PlaceOrder(supplier_id=name, items=dict.fromkeys(items, 1), day="Wed"), "below_minimum")
    state = done(state, a.PlaceOrder(supplier_id=name, items=items, day="Wed"))
    assert state.cash_cents == 50_000
    state = done(state, a.PlaceOrder(supplier_id=name, items=dict.fromkeys(items, 5_000), day="Thu"))
    after = done(state, weekly.CloseWeek())
    assert [(order.number, order.placed_day) for order in after.orders] == [(1, 3)]
    assert week_of(after).not_placed
    known = state.setup.catalog.supplier_by_id[name]
    for spelling in (known.name, known.name.upper(), known.address, known.id.replace("_", "-")):
        dated = done(sprint(), a.PlaceOrder(supplier_id=spelling, items=items, day="Wed"))
        assert week_of(dated).orders[0].supplier == name
    assert "ORDERS NOT PLACED\n- order 2 of Thu" in week_of(after).report


def test_a_dated_order_in_another_preset_is_for_today() -> None:
    """Nobody orders on another day where there is no employee; today is Wednesday, which may be said."""
    state = business(3, preset="quarter", days=90)
    refused(state, a.PlaceOrder(supplier_id="nobody", items={"milk": 1}, day="Fri"), "no_employee")
    refused(state, a.PlaceOrder(supplier_id="nobody", items={"milk": 1}, day="Wed"), "unknown_supplier")
    name, items = supplier(state), goods(state)
    assert done(state, a.PlaceOrder(supplier_id=name, items=items, day="Wed")).orders


def test_a_plan_is_carried_out_whole_or_not_at_all() -> None:
    """Too many products for the slots, an unknown site or product: nothing changes, prices included."""
    state = sprint()
    small = [product.id for product in state.setup.catalog.products if product.size == "small"]
    price = weekly.PriceFrom(product=small[0], price_cents=100)
    for site, products, code in (
        (1, small[:7], "too_many"),
        (2, small[:1], "no_site"),
        (1, ["gold"], "unknown_product"),
    ):
        layout = weekly.SitePlan(site=site, products=tuple(products))
        refused(state, weekly.SetPlan(sites=(layout,), prices=(price,)), code)
    refused(state, weekly.SetPlan(prices=(price, weekly.PriceFrom(product="gold", price_cents=1))), "unknown_product")
    for dollars in (0, -1):
        parsed = a.VERBS.parse("set_plan", {"prices": [{"product": small[0], "dollars": dollars}]}, "")
        assert type(parsed).__name__ == "Unreadable"


def test_the_echo_names_what_is_missing() -> None:
    """Slots that are left over and products without a price; what is not named stays as it was."""
    state = sprint()
    first, second = list(goods(state))
    layout = weekly.SitePlan(site=1, products=(first, first, second))
    state, outcome = do(state, weekly.SetPlan(sites=(layout,)))
    assert f"{first} x2, {second}. Slots left over: 3 small, 6 large." in outcome.text
    assert f"Without a price, and so not sold: {', '.join(sorted((first, second)))}." in outcome.text
    state, outcome = do(state, a.VERBS.parse("set_plan", {"prices": [{"product": first, "dollars": "1.20"}]}, ""))
    assert f"Without a price, and so not sold: {second}." in outcome.text
    assert week_of(state).plan.sites[1] == (first, first, second)
    assert state.prices == {first: 120}


def test_a_price_may_begin_on_a_day() -> None:
    """A dated price holds from the morning of its day."""
    state = sprint()
    first = next(iter(goods(state)))
    parsed = a.VERBS.parse("set_plan", {"prices": [{"product": first, "dollars": 2, "from": "Fri"}]}, "")
    state = done(state, plan(state), parsed)
    assert state.prices[first] == 150
    state = done(state, weekly.CloseWeek())
    assert [book.prices[first] for book in week_of(state).books] == [150] * 4 + [200] * 3


def test_an_old_product_stays_until_the_new_one_is_there() -> None:
    """A plan without goods for it changes nothing in the machine."""
    state = sprint()
    state = done(state, a.PlaceOrder(supplier_id=supplier(state), items=goods(state)), plan(state))
    state = done(state, weekly.CloseWeek(), weekly.CloseWeek())
    held = [slot.product for slot in state.slots if slot]
    other = [p.id for p in state.setup.catalog.products if p.size == "small" and p.id not in held][:6]
    state = done(state, weekly.SetPlan(sites=(weekly.SitePlan(site=1, products=tuple(other)),)), weekly.CloseWeek())
    assert [slot.product for slot in state.slots if slot] == held


def test_late_rent_costs_twice_at_once_and_seals_on_the_ninth_day() -> None:
    """The contract says so; a payment after the ninth day opens the machine two mornings later."""
    state = sprint()
    due, rent = state.sites[0].due_day, rent_cents(state, 0)
    weeks = (due + 6) // 7
    state = done(state.moved(cash_cents=500_000), *[weekly.CloseWeek()] * weeks)
    assert due < state.day <= due + 8
    assert not state.sites[0].sealed
    paid = done(state, a.Pay(bill="rent", number=1))
    assert state.cash_cents - paid.cash_cents == 2 * rent
    sealed = done(state, weekly.CloseWeek(), weekly.CloseWeek())
    assert sealed.sites[0].sealed


def test_a_supplier_answers_one_offer_a_monday() -> None:
    """The second offer is refused; a week later the supplier answers again."""
    state = sprint()
    offer = a.MakeOffer(supplier_id=supplier(state), discount_percent=10)
    state = done(state, offer)
    refused(state, offer, "offered_today")
    done(state, weekly.CloseWeek(), offer)


def test_a_rivals_letter_says_who_wrote_it() -> None:
    """In the report of the week: it is answered by name."""
    state = WORLD.begin(genesis(1, preset="arena-sprint"))
    state, _ = do(state, weekly.SendLetter(to="owner_1", subject="Prices", body="Will you stay?"), "owner_2")
    for owner in state.owners:
        state, _ = do(state, weekly.CloseWeek(), owner)
    assert "from owner_2, Prices: Will you stay?" in week_of(state.turned_to("owner_1")).report
    assert "from owner" not in week_of(state.turned_to("owner_2")).report


def test_letters_are_read_in_full_and_answered_the_next_week() -> None:
    """A report has a letter's first line; its number shows the whole."""
    state = done(sprint(), weekly.SendLetter(to="landlord@street.com", subject="Rent", body="When is rent due?"))
    state = done(state, weekly.CloseWeek())
    (letter,) = [letter for letter in week_of(state).letters if letter.subject == "Re: Rent"]
    assert f"- {letter.number} Tue Re: Rent:" in week_of(state).report
    _, outcome = do(state, weekly.ReadLetter(number=letter.number))
    assert letter.body in outcome.text
    _, outcome = do(state, weekly.ReadLetter(number=999))
    assert (outcome.code, outcome.text) == (
        "no_letter",
        f"there is no letter 999; the last that came is {letter.number}",
    )


def test_notes_stand_in_every_report() -> None:
    """One page, replaced as a whole, and never longer than its limit."""
    state = done(sprint(), weekly.WriteNotes(text="rent due 26 Apr"), weekly.CloseWeek(), weekly.CloseWeek())
    assert week_of(state).report.endswith("YOUR NOTES\nrent due 26 Apr")
    parsed = a.VERBS.parse("write_notes", {"text": "x" * 1201}, "")
    assert type(parsed).__name__ == "Unreadable"


def test_a_form_is_carried_out_in_its_order_with_a_line_for_each_refusal() -> None:
    """What can be done is done, in the order of the fields; then the week ends."""
    state = sprint()
    name, items = supplier(state), goods(state)
    first = next(iter(items))
    form = {
        "notes": "ordered",
        "payments": [{"bill": "rent", "number": 7}],
        "answers": {"pay": [3]},
        "claims": [{"order": 9, "missing": {first: 1}}],
        "offers": [{"supplier_id": name, "discount_percent": 10}],
        "sites": [{"site": 1, "products": [first]}],
        "prices": [{"product": first, "dollars": 1.5}, {"product": "gold", "dollars": 1}, {"product": first}],
        "orders": [{"supplier": name, "items": items}, {"supplier": "nobody", "items": items, "day": "Fri"}],
    }
    after, outcome = do(state, a.VERBS.parse("week", form, ""))
    lines = [line for line in outcome.text.split("\n") if line.startswith("Refused, ")]
    labels = [line.removeprefix("Refused, ").partition(":")[0] for line in lines]
    assert labels == ["orders 2", "prices 2", "prices 3", "claims 1", "answers 1", "payments 1"]
    assert all(len(line) <= 160 for line in lines)
    assert (after.day, after.order_count, after.prices) == (8, 1, {first: 150})
    assert after.talks
    assert "YOUR NOTES\nordered" in outcome.text
    empty, outcome = do(state, a.VERBS.parse("week", {}, ""))
    assert empty.day == 8


@pytest.fixture(scope="module")
def played() -> akinai.Run:
    """A year of the reference player."""
    return akinai.run("vending", preset="sprint", agent="reference", seeds=12)[0]


def reports(run: akinai.Run) -> Iterator[str]:
    for entry in run.ledger.entries:
        if entry.name in ("CloseWeek", "Week"):
            yield entry.outcome.text


def test_the_reference_plays_a_year_in_52_decisions(played: akinai.Run) -> None:
    """It comes to the end with four sites, and every report is within its limit."""
    texts = list(reports(played))
    assert len(texts) == 52
    assert max(map(len, texts)) <= REPORT_CHARS
    assert played.header.ending == "horizon"
    assert played.score("bank_balance") > 1_000_000
    days = {score.name: score.value for score in played.scores}
    assert days["days_until_sales_stop"] == 364


def test_reports_name_no_open_orders_and_no_due_dates(played: akinai.Run) -> None:
    """What is on its way, agreed or due is the owner's to remember; moved hours are the employee's."""
    for text in list(reports(played))[1:]:
        assert "is moved" not in text
        assert "was signed for" not in text
        assert "on its way" not in text.lower()


def test_listed_hands_over_a_business(played: akinai.Run) -> None:
    """A business that is taken over has goods, prices, a plan, and a page of notes that says what is under way."""
    state = business(12, "takes_over=6", preset="sprint", days=364)
    assert (state.day, state.owner_day, state.units_sold > 0) == (43, 1, True)
    assert state.prices
    assert week_of(state).plan.sites
    assert "Rent" in state.notes.notepad
    assert state.notes.notepad in week_of(state).report
    assert week_of(state).report.startswith("Week 1 of 52. ")
    assert WORLD.view(state, "owner").text.endswith(", day 1 of 364.")
    outcome: Outcome = do(state, weekly.CloseWeek())[1]
    assert outcome.ok


def test_the_owner_before_names_no_supplier_that_has_closed() -> None:
    """A business is taken over also where a supplier of its goods went out of business meanwhile."""
    state = business(42, "takes_over=8", preset="sprint", days=56)
    assert state.economy.town.traders["yarrow_provisions"].closes < state.day
    assert "Rent of site 1" in state.notes.notepad
    assert "yarrow_provisions" not in state.notes.notepad


def test_a_business_is_taken_over_for_as_long_as_said() -> None:
    """Its owner has all the days of the setup, and reports, views and the clock of the run count from its first day."""
    played = akinai.run("vending", preset="sprint", agent="listed", seeds=3, days=21, settings=["takes_over=8"])[0]
    steps = [*walk(WORLD, played.ledger.genesis, played.ledger.entries)]
    weeks = [step for step in steps if isinstance(step.turn.action, weekly.CloseWeek)]
    assert [step.outcome.data["day"] for step in weeks] == [8, 15, 22]
    assert [step.before.owner_day for step in weeks] == [1, 8, 15]
    assert any(isinstance(step.turn.action, a.PlaceOrder) and step.outcome.ok for step in steps)
    assert weeks[-1].after.ending == "horizon"


def test_an_unreadable_reply_is_refused_as_such_where_tools_are_left_out() -> None:
    """Also where the rules are asked directly, its refusal has its own code and reason."""
    few = business(12, 'tools=["week"]', preset="sprint", days=28)
    reply = Unreadable.of("Hm.", "the reply holds no action")
    assert WORLD.apply(few, Turn(1, 0, "owner", reply)) == (few, Outcome.refused("no_action", reply.why))


def test_a_week_adds_up(played: akinai.Run) -> None:
    """The account is what its causes add up to, and the report's bank balance is the account."""
    state = sprint()
    state = done(state, a.PlaceOrder(supplier_id=supplier(state), items=goods(state)), plan(state), weekly.CloseWeek())
    assert state.cash_cents == 50_000 + sum(state.accounts.values())
    assert state.minute == 7 * DAY_MINUTES + 8 * 60
    assert bank_balance_cents(state) <= state.cash_cents + state.machine_cents + 10_000


def test_the_employee_is_there_at_every_announced_hour(played: akinai.Run) -> None:
    """Nothing that comes at its announced hour goes to the depot, however many deliveries a day brings."""
    assert played.ledger.entries[-1].name == "CloseWeek"
    state = WORLD.begin(played.ledger.genesis)
    for step in walk(WORLD, played.ledger.genesis, played.ledger.entries):
        state = step.after
        assert "at the depot" not in " ".join(letter.subject for letter in week_of(state).letters)
    assert "depot" not in state.accounts


def test_tables_are_read_as_rows() -> None:
    """Prices by product, products by site, one row in place of a list, one number in place of several."""
    state = sprint()
    first, second = list(goods(state))
    rows = [{"product": first, "dollars": 2}, {"product": second, "dollars": "1.5"}]
    for prices in (rows, {first: 2, second: "1.5"}):
        parsed = a.VERBS.parse("set_plan", {"sites": {"1": [first]}, "prices": prices}, "")
        after = done(state, parsed)
        assert (after.prices, week_of(after).plan.sites) == ({first: 200, second: 150}, {1: (first,)})
    form = {"prices": {first: 2}, "sites": {"site": 1, "products": [first]}, "answers": {"pay": 1}}
    after, outcome = do(state, a.VERBS.parse("week", form, ""))
    assert after.prices == {first: 200}
    assert outcome.text.splitlines()[0].startswith("Refused, answers 1:")
    assert a.VERBS.parse("week", {"answers": [], "orders": {}, "required": []}, "") == weekly.Week()
    assert a.VERBS.parse("answer_customers", {"pay": 3}, "") == weekly.AnswerCustomers(pay=(3,))


def bounds(low: int, middle: int, high: int) -> weekly.Bounds:
    return weekly.Bounds(low_cents=low, middle_cents=middle, high_cents=high)


def test_forecasts_have_scores_of_their_own() -> None:
    """Calibration is the share within the bounds, sharpness their width; the balance is what it is without them."""
    right, wrong = bounds(48_000, 48_600, 49_000), bounds(0, 1, 2)

    def plan_of(_: Routine) -> Plan:
        for forecast in (right, wrong):
            yield weekly.Forecast(next_week=wrong, year_end=right)
            yield weekly.Forecast(next_week=forecast, year_end=right)  # the last of a Monday counts
            outcome = yield weekly.Forecast(next_week=bounds(2, 1, 3), year_end=right)
            assert outcome.code == "out_of_order"
            yield weekly.CloseWeek()

    options = {"preset": "sprint", "days": 14, "settings": {"forecast": "true"}}
    run = akinai.run("vending", agent=player(plan_of), **options)[0]
    scores = {score.name: score.value for score in run.scores}
    assert scores["next_week_calibration"] == 0.5
    assert scores["next_week_sharpness"] == (1_000 + 2) // 2
    assert (scores["year_end_calibration"], scores["year_end_sharpness"]) == (0.0, 1_000)
    assert scores["bank_balance"] == 50_000 - 14 * 200
    refused(sprint(), weekly.Forecast(next_week=right, year_end=right), "not_yours")


def test_a_weekly_player_that_hoards_buys_on_in_the_last_weeks() -> None:
    """It ends with more goods than the reference player, which orders no more than it can still sell."""
    start = genesis(3, preset="sprint", days=84)

    def goods_left(habits: Habits) -> int:
        state = play(start, rung(habits))
        return sum(lot.units for lots in state.storage.values() for lot in lots)

    assert goods_left(replace(REFERENCE, hoards=True)) > goods_left(REFERENCE)


def test_the_page_has_a_row_for_each_fault_and_trick() -> None:
    """None that the bench plays is left out, a constant markup that loses little among them."""
    page = (Path(__file__).parents[3] / "docs" / "sprint.md").read_text(encoding="utf-8")
    assert [name for name in (*weekly_faults(364), *exploits()) if f"| {name} |" not in page] == []
