"""Laws of a business of several sites: what is drawn, what is paid, what must be signed for, counted and claimed."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import mean, stdev

import pytest
from business import WORLD, business, do, done, genesis, refused

from akinai.core.chance import Chance
from akinai.core.errors import UsageError
from akinai.core.ledger import Genesis
from akinai.core.money import format_cents
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.bound import bound_cents
from akinai.worlds.vending.model.setup import Catalog
from akinai.worlds.vending.model.state import DAY_MINUTES, Lot, Slot, State
from akinai.worlds.vending.model.town import Town, Trader
from akinai.worlds.vending.players.habits import LADDER, REFERENCE
from akinai.worlds.vending.rules.books import day_text, supplier_today
from akinai.worlds.vending.rules.customers import complain
from akinai.worlds.vending.rules.deliveries import extra_units
from akinai.worlds.vending.rules.orders import unit_cents
from akinai.worlds.vending.rules.trade import bank_balance_cents
from faults import faults
from together import together
from validity import interval, play, rung

STREET = (a.GetPriceLists, a.MakeOffer, a.VisitSite, a.ChangePrices, a.Pay, a.TakePitch, a.ReadNews)


def town_of(state: State) -> Town:
    town = state.economy.town
    assert town is not None
    return town


def of_character(state: State, *characters: str) -> str:
    """The first supplier of a character that is in business."""
    traders = town_of(state).traders
    return next(id for id, trader in traders.items() if trader.character in characters and trader.opens == 1)


def with_trader(state: State, id: str, **changes: object) -> State:
    """The state with another hidden side of a supplier."""
    town = town_of(state)
    trader = town.traders[id]._replace(**changes)
    return replace(state, economy=replace(state.economy, town=replace(town, traders={**town.traders, id: trader})))


def sound(trader: Trader) -> dict[str, object]:
    """Terms under which everything comes in time and in full."""
    return {"terms": trader.terms.model_copy(update={"late_permille": 0, "lost_permille": 0, "short_permille": 0})}


def ordered(state: State, id: str, units: int = 24) -> State:
    products = state.setup.catalog.supplier_by_id[id].products[:3]
    return done(state, a.PlaceOrder(supplier_id=id, items=dict.fromkeys(products, units)))


def delivered(state: State, id: str) -> State:
    """An order of a supplier, signed for."""
    state = ordered(state, id)
    days, minute = divmod(state.orders[-1].due, DAY_MINUTES)
    return done(state, *[a.AdvanceDay()] * (days + 1 - state.day), a.WaitUntil(hour=minute // 60))


@pytest.fixture
def quarter() -> State:
    """A quarter in which the owner knows every supplier."""
    state = business(3, preset="quarter", days=90)
    return replace(state, known_suppliers=tuple(state.setup.catalog.supplier_by_id))


@pytest.mark.parametrize(("preset", "has"), [("classic", False), ("paper", False), ("quarter", True), ("year", True)])
def test_a_setup_offers_the_verbs_of_its_mechanisms(preset: str, has: bool) -> None:
    """A business with one machine does not see the tools of several sites, and the other way round."""
    verbs = WORLD.view(business(1, preset=preset), "owner").verbs
    assert all((verb in verbs) == has for verb in STREET)
    assert (a.RestockSlot in verbs) == (preset == "classic")
    assert (a.CheckDeliveries in verbs) != has


def test_a_setup_without_a_street_says_nothing_of_it() -> None:
    """A ledger of the other presets holds no setting of it."""
    assert not {"street", "order_book", "closing_hour", "counterfactual"} & set(genesis().setup)


def test_seeds_share_no_suppliers_prices_and_tastes_beyond_chance() -> None:
    """Goods are chosen from sixty; the rest is drawn anew."""
    towns = [town_of(business(seed, preset="quarter")) for seed in range(1, 9)]
    first = [set(town.traders) for town in towns]
    assert all(len(x & y) <= 4 for at, x in enumerate(first) for y in first[at + 1 :])
    tastes = [tuple(sorted(taste.worth_cents for taste in town.tastes.values())) for town in towns]
    assert len(set(tastes)) == len(towns)
    goods = [set(town.tastes) for town in towns]
    assert all(len(x & y) < 13 for at, x in enumerate(goods) for y in goods[at + 1 :])
    assert all(len(town.tastes) == 16 for town in towns)


def test_a_counterfactual_redraws_the_noise_alone() -> None:
    """Hidden parameters and the days before stay; the days after differ."""
    plain = genesis(5, preset="quarter", days=90)
    other = Genesis(plain.world, 5, {**plain.setup, "counterfactual": {"after": 30, "salt": 1}})
    one_town, another = town_of(WORLD.begin(plain)), town_of(WORLD.begin(other))
    assert (one_town.tastes, one_town.traders, one_town.events) == (another.tastes, another.traders, another.events)
    left, right = WORLD.begin(plain).economy, WORLD.begin(other).economy
    crowds = [(left.noise(day, "crowd", day), right.noise(day, "crowd", day)) for day in range(1, 61)]
    assert all(x == y for x, y in crowds[:30])
    assert all(x != y for x, y in crowds[30:])


def test_a_counterfactual_shares_the_past(quarter: State) -> None:
    """The same actions have the same outcomes up to its day, and others later."""
    plain = genesis(3, preset="quarter", days=90)
    others = [Genesis(plain.world, 3, {**plain.setup, "counterfactual": {"after": 6, "salt": salt}}) for salt in (1, 2)]

    def mornings(start: Genesis) -> list[str]:
        state = ordered(WORLD.begin(start), of_character(quarter, "honest"))
        (order,) = state.orders
        goods = tuple(line.product for line in order.lines)
        state = done(state, a.ChangePrices(prices_cents=dict.fromkeys(state.setup.catalog.by_id, 150)))
        texts: list[str] = []
        for _ in range(20):
            hour = state.setup.catalog.supplier_by_id[order.supplier].hour
            state = done(state, a.WaitUntil(hour=hour), a.VisitSite(site=1, products=goods))
            state, outcome = do(state, a.AdvanceDay())
            texts.append(outcome.text)
        return texts

    usual, first, second = (mornings(start) for start in (plain, *others))
    assert usual[:5] == first[:5] == second[:5]
    assert usual[6:] != first[6:] != second[6:] != usual[6:]


def test_draws_do_not_depend_on_actions(quarter: State) -> None:
    """The weather, the events and the crowds of a day are what they are, whatever was done before."""
    idle = done(quarter, *[a.AdvanceDay()] * 10)
    busy = done(quarter, a.GetPriceLists(), a.ReadNews(), *[a.AdvanceDay()] * 10)
    assert [idle.economy.today(day) for day in range(1, 40)] == [busy.economy.today(day) for day in range(1, 40)]


def test_an_order_is_charged_as_quoted_with_freight(quarter: State) -> None:
    id = of_character(quarter, "honest")
    after = ordered(quarter, id)
    (order,) = after.orders
    assert quarter.cash_cents - after.cash_cents == order.total_cents + 200
    _, lists = do(quarter, a.GetPriceLists(suppliers=(id, quarter.setup.catalog.supplier_by_id[id].name)))
    assert isinstance(lists.data, dict)
    (shown,) = lists.data["suppliers"]  # type: ignore[misc]
    assert all(shown["prices_cents"][line.product] == line.cost_cents for line in order.lines)  # type: ignore[index,call-overload]


def test_no_offer_buys_below_what_a_supplier_accepts(quarter: State) -> None:
    """Whatever is offered, day after day."""
    id = of_character(quarter, "haggler")
    trader = town_of(quarter).traders[id]
    for percent in (5, 15, 20, 25, 30, 40, 60, 90):
        state = quarter
        for _ in range(7):
            state, _ = do(state, a.MakeOffer(supplier_id=id, discount_percent=percent))
            state = done(state, a.AdvanceDay())
        talk = state.talks[id]
        assert trader.accept_permille <= talk.ask_permille <= state.setup.catalog.supplier_by_id[id].price_permille


def test_a_supplier_answers_one_offer_a_day(quarter: State) -> None:
    id = of_character(quarter, "haggler")
    state = done(quarter, a.MakeOffer(supplier_id=id, discount_percent=15))
    assert state.talks[id].ask_permille < quarter.setup.catalog.supplier_by_id[id].price_permille
    refused(state, a.MakeOffer(supplier_id=id, discount_percent=15), "offered_today")


def test_an_agreed_price_holds_for_thirty_days(quarter: State) -> None:
    id = of_character(quarter, "haggler")
    state = done(quarter, a.MakeOffer(supplier_id=id, discount_percent=15))
    agreed = ordered(done(state, *[a.AdvanceDay()] * 29), id, units=20).orders[-1].lines
    later = ordered(done(state, *[a.AdvanceDay()] * 31), id, units=20).orders[-1].lines
    listed = ordered(quarter, id, units=20).orders[-1].lines
    assert later == listed
    assert all(x.cost_cents < y.cost_cents for x, y in zip(agreed, listed, strict=True))


def test_a_false_rival_quote_is_found_out_half_of_the_time() -> None:
    """And then the list price holds, and there is no talk for thirty days."""
    found = 0
    for seed in range(1, 21):
        state = business(seed, preset="quarter")
        id = of_character(state, "haggler")
        product = state.setup.catalog.supplier_by_id[id].products[0]
        offer = a.MakeOffer(supplier_id=id, discount_percent=15, rival_product=product, rival_cents=1)
        state = done(state, letter(state, id, "Your prices, please."))
        found += done(state, offer).talks[id].left == 0
    assert 4 <= found <= 16


def test_goods_that_nobody_signs_for_wait_at_the_depot(quarter: State) -> None:
    """Fetching them costs; after two days they go back at a loss."""
    id = of_character(quarter, "honest")
    state = with_trader(quarter, id, **sound(town_of(quarter).traders[id]))
    state = ordered(state, id)
    (order,) = state.orders
    state = done(state, *[a.AdvanceDay()] * (quarter.setup.catalog.supplier_by_id[id].lead_days + 1))
    assert [parcel.at_depot for parcel in state.parcels] == [True]
    assert not state.storage
    fetched = done(state, a.FetchDepot(order=order.number))
    assert fetched.storage
    assert state.cash_cents - fetched.cash_cents == 1200 + order.total_cents * 7 // 100
    gone = done(state, *[a.AdvanceDay()] * 5)
    assert not gone.parcels
    assert gone.accounts["returns"] == order.total_cents * 40 // 100


def test_what_is_missing_can_be_claimed_once_and_never_more(quarter: State) -> None:
    id = of_character(quarter, "honest")
    terms = (
        town_of(quarter)
        .traders[id]
        .terms.model_copy(update={"late_permille": 0, "short_permille": 1000, "short_part": (500, 500)})
    )
    state = delivered(with_trader(quarter, id, terms=terms), id)
    (parcel,) = state.parcels
    product, cost = parcel.order.lines[0].product, parcel.order.lines[0].cost_cents
    assert sum(lot.units for lot in state.storage[product]) == 12
    refused(state, a.Claim(order=1, missing={product: 12}), "not_counted")
    state, counted = do(state, a.CountDelivery(order=1))
    assert isinstance(counted.data, dict)
    assert counted.data["missing"][product] == 12  # type: ignore[index,call-overload]
    refused(state, a.Claim(order=1, missing={product: 13}), "above_count")
    paid = done(state, a.Claim(order=1, missing={product: 12}))
    assert paid.cash_cents - state.cash_cents == 12 * cost
    refused(paid, a.Claim(order=1, missing={product: 1}), "claimed")
    refused(done(state, *[a.AdvanceDay()] * 5), a.Claim(order=1, missing={product: 12}), "too_late")


def test_a_box_too_many_comes_and_is_not_billed() -> None:
    """A line of the order comes twice; whoever counts knows, and nothing of it can be claimed."""
    quarter = business(3, "street.deliveries.over_permille=1000", preset="quarter", days=90)
    quarter = replace(quarter, known_suppliers=tuple(quarter.setup.catalog.supplier_by_id))
    id = of_character(quarter, "honest")
    state = delivered(with_trader(quarter, id, **sound(town_of(quarter).traders[id])), id)
    (order,) = [parcel.order for parcel in state.parcels]
    (extra,) = extra_units(order).items()
    assert extra[1] == 24
    assert sum(lot.units for lot in state.storage[extra[0]]) == 48
    assert sum(state.stored.values()) == 24 * (len(order.lines) + 1)
    state, counted = do(state, a.CountDelivery(order=1))
    assert isinstance(counted.data, dict)
    assert (counted.data["missing"], counted.data["extra"]) == ({}, dict([extra]))
    assert " too many." in counted.text
    refused(state, a.Claim(order=1, missing={extra[0]: 1}), "above_count")


def test_splitting_an_order_draws_nothing_new(quarter: State) -> None:
    """Lateness, loss and shortness are the supplier's on that day."""
    id = of_character(quarter, "cheat")
    for day in range(1, 15):
        state = done(quarter, *[a.AdvanceDay()] * day)
        halves = ordered(ordered(state, id, 20), id, 20).orders
        assert len({(order.due, order.lost, bool(order.missing)) for order in halves}) == 1


def test_storage_has_limits_and_costs(quarter: State) -> None:
    """What finds no room goes back at 60 %; a unit costs a cent a night."""
    id = of_character(quarter, "honest")
    full = replace(quarter, storage={quarter.setup.catalog.products[0].id: (Lot(350, 50, 999),)})
    state = delivered(with_trader(full, id, **sound(town_of(quarter).traders[id])), id)
    assert sum(lot.units for lots in state.storage.values() for lot in lots) == 360
    assert state.accounts["returns"] > 0
    after = done(state, a.AdvanceDay())
    assert state.accounts.get("storage", 0) - after.accounts["storage"] == 360


def test_a_rent_that_is_not_paid_seals_the_machine(quarter: State) -> None:
    """Twice the rent, and two mornings until it opens; after 21 days the site is lost."""
    on_day_28 = done(quarter, *[a.AdvanceDay()] * 27)
    paid = done(on_day_28, a.Pay(bill="rent", number=1))
    rent = on_day_28.cash_cents - paid.cash_cents
    sealed = done(on_day_28, a.AdvanceDay(), a.AdvanceDay())
    assert sealed.sites[0].sealed
    late = done(sealed, a.Pay(bill="rent", number=1))
    assert sealed.cash_cents - late.cash_cents == 2 * rent
    assert done(late, a.AdvanceDay()).sites[0].sealed
    assert not done(late, a.AdvanceDay(), a.AdvanceDay()).sites[0].sealed
    assert done(on_day_28, *[a.AdvanceDay()] * 22).sites[0].lost
    refused(quarter, a.Pay(bill="rent", number=2), "no_site")


def test_prices_and_goods_moved_between_blocks_change_nothing(quarter: State) -> None:
    """Customers see the stock and the prices of their hour alone."""
    small = [product.id for product in quarter.setup.catalog.products if product.size == "small"][:6]
    slots = tuple(Slot(id, (Lot(11, 50, 999),)) for id in small) + (None,) * 6
    state = replace(quarter, slots=slots, prices=dict.fromkeys(small, 200))
    plain = done(state, a.WaitUntil(hour=13), a.WaitUntil(hour=18))
    moved = done(
        state,
        a.ChangePrices(prices_cents=dict.fromkeys(small, 1)),
        a.ChangePrices(prices_cents=dict.fromkeys(small, 200)),
        a.VisitSite(site=1, products=()),
        a.VisitSite(site=1, products=tuple(small)),
        a.WaitUntil(hour=13),
        a.WaitUntil(hour=18),
    )
    assert plain.today_sales == moved.today_sales
    assert plain.today_sales.income_cents


def test_complaints_are_answered_or_remembered(quarter: State) -> None:
    """Paying costs the price and pleases; silence and broken promises cost goodwill."""
    site = quarter.sites[0]._replace(goodwill=900_000)
    product = quarter.setup.catalog.products[0].id
    state = complain(replace(quarter, sites=(site,)), 0, product, 250, Chance.of(1))
    paid = done(state, a.AnswerCustomer(complaint=1, answer="pay"))
    assert (state.cash_cents - paid.cash_cents, paid.sites[0].goodwill) == (250, 901_000)
    assert done(state, a.AnswerCustomer(complaint=1, answer="refuse")).sites[0].goodwill == 887_000
    silent, answered = done(state, *[a.AdvanceDay()] * 4), done(paid, *[a.AdvanceDay()] * 4)
    assert silent.sites[0].goodwill < answered.sites[0].goodwill
    promised = done(state, a.AnswerCustomer(complaint=1, answer="promise"))
    broken, kept = done(promised, *[a.AdvanceDay()] * 6), done(promised, a.Pay(bill="refund", number=1))
    assert broken.sites[0].goodwill < done(kept, *[a.AdvanceDay()] * 6).sites[0].goodwill
    refused(broken, a.Pay(bill="refund", number=1), "no_complaint")


def test_each_unpaid_complaint_of_a_month_makes_the_next_dearer(quarter: State) -> None:
    """A refusal costs 1.3 points, and 0.02 more for every other complaint refused or ignored in the 28 days before."""
    state = replace(quarter, sites=(quarter.sites[0]._replace(goodwill=900_000),))
    product = quarter.setup.catalog.products[0].id
    for number in range(3):
        state = complain(state, 0, product, 250 + number, Chance.of(number))
    losses: list[int] = []
    for number in (1, 2, 3):
        before, state = state, done(state, a.AnswerCustomer(complaint=number, answer="refuse"))
        losses.append(before.sites[0].goodwill - state.sites[0].goodwill)
    assert losses == [13_000, 13_200, 13_400]
    later = replace(state, minute=state.minute + 28 * DAY_MINUTES)
    later = complain(later, 0, product, 250, Chance.of(9))
    assert (
        later.sites[0].goodwill - done(later, a.AnswerCustomer(complaint=4, answer="refuse")).sites[0].goodwill
        == 13_000
    )


def test_nearly_half_of_the_deliveries_come_at_another_hour_of_their_day(quarter: State) -> None:
    """A letter of that morning names the hour, and the goods come at that hour and no other."""
    id = of_character(quarter, "honest")
    supplier = quarter.setup.catalog.supplier_by_id[id]
    moved = 0
    for day in range(1, 31):
        state = with_trader(quarter, id, **sound(town_of(quarter).traders[id]))
        state = ordered(replace(state, minute=state.minute + (day - 1) * DAY_MINUTES), id)
        (order,) = state.orders
        assert order.due // DAY_MINUTES == order.promised // DAY_MINUTES
        hour = order.due % DAY_MINUTES // 60
        assert 9 <= hour <= 18 if order.due != order.promised else hour == supplier.hour
        morning = done(state, *[a.AdvanceDay()] * supplier.lead_days)
        _, mail = do(morning, a.ReadEmail())
        assert ("Order 1 is moved" in mail.text) == (order.due != order.promised)
        assert (f"New delivery: {day_text(morning, morning.day)}, {hour:02d}:00" in mail.text) == (
            order.due != order.promised
        )
        early = done(morning, a.WaitUntil(hour=hour - 1)) if hour > 9 else morning
        assert early.orders
        assert not early.storage
        assert done(early, a.WaitUntil(hour=hour)).storage
        moved += order.due != order.promised
    assert 6 <= moved <= 20


def test_suppliers_are_met_by_search_letter_or_news() -> None:
    """Nobody tells prices to an owner who has not met them; a search shows three, and other words show others."""
    state = business(3, preset="quarter", days=90)
    refused(state, a.GetPriceLists(), "unknown_supplier")
    everybody = state.economy.town.open_suppliers(1) if state.economy.town else []
    refused(state, a.GetPriceLists(suppliers=(everybody[0],)), "unknown_supplier")
    refused(state, a.MakeOffer(supplier_id=everybody[0], discount_percent=5), "unknown_supplier")
    queries = ("wholesale suppliers", "cheap snacks in bulk", "drinks wholesaler", "who sells dairy to shops?")
    by_query = {query: set(done(state, a.SearchWeb(query=query)).known_suppliers) for query in queries}
    assert all(0 < len(suppliers) <= 3 for suppliers in by_query.values())
    assert len({frozenset(suppliers) for suppliers in by_query.values()}) > 1
    again = done(state, a.SearchWeb(query=queries[0]), a.SearchWeb(query="Suppliers, wholesale"))
    assert set(again.known_suppliers) == by_query[queries[0]]
    _, lists = do(again, a.GetPriceLists())
    assert isinstance(lists.data, dict)
    assert [row["supplier"] for row in lists.data["suppliers"]] == list(again.known_suppliers)  # type: ignore[index,call-overload,union-attr]
    stranger = state.setup.catalog.supplier_by_id[next(id for id in everybody if id not in again.known_suppliers)]
    assert stranger.name not in "".join(do(state, a.SearchWeb(query=query))[1].text for query in queries[:1])
    by_letter = done(state, letter(state, stranger.id, "Prices?"), a.GetPriceLists(suppliers=(stranger.id,)))
    assert by_letter.known_suppliers == (stranger.id,)
    by_name = done(state, a.SearchWeb(query=f"{stranger.name} reviews"))
    assert stranger.id in by_name.known_suppliers
    assert len(by_name.known_suppliers) <= 3
    later = done(state, *[a.AdvanceDay()] * 50)
    assert later.day == 51
    news = done(later, a.ReadNews())
    named = {
        id
        for id in news.known_suppliers
        if news.setup.catalog.supplier_by_id[id].name in do(later, a.ReadNews())[1].text
    }
    assert named == set(news.known_suppliers)
    opened = [id for id, trader in town_of(state).traders.items() if trader.opens > 1]
    shown = [done(later_on(state, town_of(state).traders[id].opens), a.ReadNews()).known_suppliers for id in opened]
    assert all(id in known for id, known in zip(opened, shown, strict=True))


def later_on(state: State, day: int) -> State:
    return replace(state, minute=state.minute + (day - state.day) * DAY_MINUTES)


def test_a_pitch_is_taken_once_it_is_on_offer(quarter: State) -> None:
    refused(quarter, a.TakePitch(place="Mission Street"), "not_yet")
    rich = replace(done(quarter, *[a.AdvanceDay()] * 31), cash_cents=100_000)
    state = done(rich, a.TakePitch(place="mission street"))
    assert (len(state.sites), len(state.slots), state.cash_cents) == (2, 24, 40_000)
    refused(state, a.TakePitch(place="Mission Street"), "no_place")


def test_a_visit_fills_a_machine_and_brings_the_cash(quarter: State) -> None:
    """All or nothing of a choice that does not fit; what leaves a slot comes back to storage."""
    products = quarter.setup.catalog.products
    small, large = ([p.id for p in products if p.size == size] for size in ("small", "large"))
    goods = {id: (Lot(20, 50, 999),) for id in (*small[:7], *large[:2])}
    state = replace(quarter, storage=goods, sites=(quarter.sites[0]._replace(box_cents=500),))
    refused(state, a.VisitSite(site=1, products=tuple(small[:7])), "too_many")
    filled = done(state, a.VisitSite(site=1, products=(*small[:6], large[0])))
    assert {slot.product: slot.units for slot in filled.slots if slot} == {**dict.fromkeys(small[:6], 14), large[0]: 10}
    assert (filled.cash_cents - state.cash_cents, filled.machine_cents) == (500, 0)
    swapped = done(filled, a.VisitSite(site=1, products=(*small[1:7], large[0])))
    assert sum(lot.units for lot in swapped.storage[small[0]]) == 20
    assert filled.minute - state.minute == 25 + 7 * 3 + 5


def test_the_day_ends_at_its_closing_hour(quarter: State) -> None:
    """No tool lasts beyond it, and after it only notes and sleep are left."""
    late = done(quarter, a.WaitUntil(hour=21), a.ReadNews(), a.ReadNews(), a.ReadNews())
    assert late.minute_of_day == 22 * 60
    refused(late, a.ReadNews(), "too_late")
    done(late, a.NotepadRead(), a.AdvanceDay())


def letter(state: State, id: str, body: str) -> a.SendEmail:
    """A letter to a supplier with the address and the account in it."""
    setup = state.setup
    address = setup.catalog.supplier_by_id[id].address
    text = f"{body}\nDelivery address: {setup.delivery_address}\nPlease charge account {setup.account}."
    return a.SendEmail(to=address, subject="Order", body=text)


def test_an_order_by_letter_is_the_order_by_tool(quarter: State) -> None:
    """It costs the same, comes at the same time and lacks the same; only the letter is noted."""
    id = of_character(quarter, "honest")
    by_tool = done(ordered(quarter, id, 20), a.AdvanceDay())
    names = quarter.setup.catalog.by_id
    goods = "\n".join(f"- 20 units of {names[line.product].name}" for line in by_tool.orders[0].lines)
    by_letter = done(quarter, letter(quarter, id, f"Please send us:\n{goods}"), a.AdvanceDay())
    assert [replace(order, letter=0) for order in by_letter.orders] == list(by_tool.orders)
    assert by_letter.cash_cents == by_tool.cash_cents


def test_an_offer_by_letter_is_the_offer_by_tool(quarter: State) -> None:
    """The same discount moves the price as far; a morning later."""
    id = of_character(quarter, "haggler")
    by_tool = done(quarter, a.MakeOffer(supplier_id=id, discount_percent=15))
    to = quarter.setup.catalog.supplier_by_id[id].address
    text = "We would like to buy from you regularly. Could you give us a discount of 15% on your prices?"
    by_letter = done(quarter, a.SendEmail(to=to, subject="Your prices", body=text), a.AdvanceDay())
    assert by_letter.talks[id].ask_permille == by_tool.talks[id].ask_permille
    assert by_letter.cash_cents == quarter.cash_cents - quarter.setup.fee_cents


def test_a_price_no_lower_than_the_suppliers_is_no_offer(quarter: State) -> None:
    """The answer names the goods that the letter is about, and nobody's patience is spent."""
    id = of_character(quarter, "haggler")
    supplier = supplier_today(quarter, quarter.setup.catalog.supplier_by_id[id])
    product = quarter.setup.catalog.by_id[supplier.products[-1]]
    cents = unit_cents(supplier, product)
    for price in (cents, cents + 10):
        body = f"Could you do {product.name} at {price} cents?"
        after = done(quarter, a.SendEmail(to=supplier.address, subject="Offer", body=body), a.AdvanceDay())
        said = f"We ask no more than that: {product.name} is {format_cents(cents)}."
        assert any(said in letter.body for letter in after.mail.unread)
        assert id not in after.talks


def test_a_name_that_two_goods_share_is_that_of_neither(quarter: State) -> None:
    """ "Tea" and 「お茶」 are the only tea of a catalogue; a product's own name comes before the short name of another."""
    by_id = {product.id: product for product in quarter.setup.catalog.products}
    teas = {
        id: by_id[next(iter(by_id))].model_copy(update={"id": id, "name": name, "other_names": names})
        for id, name, names in TEAS
    }
    both = Catalog(products=tuple(teas.values()), suppliers=())
    assert [both.find(name) for name in ("tea", "お茶")] == [None, None]
    assert both.find("麦茶") is teas["barley_tea"]
    assert both.find("milk") is teas["milk"]
    alone = Catalog(products=(teas["barley_tea"],), suppliers=())
    assert alone.find("tea") is alone.find("お茶") is teas["barley_tea"]
    assert [good.names for good in both.good_names] == [("Iced Tea",), ("Barley Tea", "麦茶"), ("Milk",)]


TEAS = (
    ("iced_tea", "Iced Tea", ("tea", "お茶", "milk")),
    ("barley_tea", "Barley Tea", ("tea", "お茶", "麦茶")),
    ("milk", "Milk", ()),
)


def test_a_claim_by_letter_is_the_claim_by_tool(quarter: State) -> None:
    """It is paid after counting, once, and never above what was counted."""
    id = of_character(quarter, "honest")
    changes = {"late_permille": 0, "short_permille": 1000, "short_part": (500, 500)}
    terms = town_of(quarter).traders[id].terms.model_copy(update=changes)
    state = done(delivered(with_trader(quarter, id, terms=terms), id), a.CountDelivery(order=1))
    line = state.parcels[0].order.lines[0]
    name = state.setup.catalog.by_id[line.product].name
    to = state.setup.catalog.supplier_by_id[id].address
    body = f"Order 1 arrived short: 12 {name} are missing. Please refund them."
    claim = a.SendEmail(to=to, subject="Order 1 is short", body=body)
    paid = done(state, claim, a.AdvanceDay())
    assert paid.accounts["claims"] == 12 * line.cost_cents
    assert done(paid, claim, a.AdvanceDay()).accounts["claims"] == 12 * line.cost_cents


def test_a_claim_by_letter_of_more_than_was_counted_is_paid_as_counted(quarter: State) -> None:
    """What a letter names beside it, or above it, costs the owner nothing of the claim that is right."""
    id = of_character(quarter, "honest")
    changes = {"late_permille": 0, "short_permille": 1000, "short_part": (500, 500)}
    terms = town_of(quarter).traders[id].terms.model_copy(update=changes)
    state = done(delivered(with_trader(quarter, id, terms=terms), id), a.CountDelivery(order=1))
    lines = state.parcels[0].order.lines
    line, catalog = lines[0], state.setup.catalog
    name = catalog.by_id[line.product].name
    other = next(product.name for product in catalog.products if product.id not in {each.product for each in lines})
    to = catalog.supplier_by_id[id].address
    body = f"Order 1 arrived short: 15 {name} are missing, and 6 {other} are missing. Please refund them."
    paid = done(state, a.SendEmail(to=to, subject="Order 1 is short", body=body), a.AdvanceDay())
    assert paid.accounts["claims"] == 12 * line.cost_cents
    assert any(f"you name more of {name}, {other}." in letter.body for letter in paid.mail.unread)
    body = f"In order 1, 6 {other} are missing."
    nothing = done(state, a.SendEmail(to=to, subject="Order 1", body=body), a.AdvanceDay())
    assert "claims" not in nothing.accounts
    body = f"In order 77, 6 {name} are missing."
    unknown = done(state, a.SendEmail(to=to, subject="Order 77", body=body), a.AdvanceDay())
    assert any("Order 77 has not come, or it came too long ago" in letter.body for letter in unknown.mail.unread)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("catalog.products=[]", "seeds draw 8 small products, and the catalogue has 0"),
        ("street.drawn.large=40", "seeds draw 40 large products, and the catalogue has"),
        ("street.drawn.suppliers=[]", "street.drawn.suppliers: give at least 1 item, not"),
        (f"street.drawn.suppliers={['honest'] * 31}".replace("'", '"'), "give at most 30 items, not"),
    ],
)
def test_a_town_that_cannot_be_drawn_is_refused(setting: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        business(1, setting, preset="quarter")


def test_a_letter_to_a_supplier_out_of_business_comes_back(quarter: State) -> None:
    id = next(id for id, trader in town_of(quarter).traders.items() if trader.opens > 5)
    state = done(quarter, letter(quarter, id, "Please send us your price list."), a.AdvanceDay())
    assert any(found.sender.startswith("mailer-daemon@") for found in state.mail.unread)


def runs(seeds: range) -> Iterator[tuple[str, State]]:
    """The end of runs of several players."""
    few = {"naive": LADDER["naive"], "reference": REFERENCE, **faults(90)}
    names = (
        "naive",
        "reference",
        "forgets open orders",
        "never waits for deliveries",
        "overstocks",
        "forgets the rent",
    )
    for name in names:
        for seed in seeds:
            yield name, play(genesis(seed, preset="quarter", days=90), rung(few[name]))


@pytest.mark.slow
def test_every_cent_in_the_bank_has_a_cause() -> None:
    """The bank account is the start and what moved it; collected cash and card money are what was sold."""
    for name, state in runs(range(1, 3)):
        assert state.cash_cents == 50_000 + sum(state.accounts.values()), name
        taken = state.accounts.get("cards", 0) + state.accounts.get("collected", 0)
        assert taken >= 0, name


@pytest.mark.slow
def test_a_player_reaches_no_more_than_the_bound() -> None:
    for seed in range(1, 4):
        start = genesis(seed, preset="quarter", days=90)
        assert bank_balance_cents(play(start, rung(LADDER["informed"]))) < bound_cents(start)


def test_intervals_use_the_quantile_of_their_number_of_seeds() -> None:
    """Sixteen paired seeds have fifteen degrees of freedom: 2.131 standard errors either way."""
    differences = [float(i) for i in range(16)]
    middle, low, high = interval(differences)
    half = 2.1314 * stdev(differences) / 4
    assert (low, high) == pytest.approx((middle - half, middle + half), rel=1e-4)


@pytest.mark.slow
def test_the_ladder_is_ordered_and_faults_cost() -> None:
    """On a few seeds; `bench/validity.py` has the table with intervals."""

    def result(name: str) -> float:
        habits = {**LADDER, **faults(90)}[name]
        return mean(
            bank_balance_cents(play(genesis(seed, preset="quarter", days=90), rung(habits))) for seed in range(1, 6)
        )

    ladder = [result(name) for name in LADDER]
    assert ladder == sorted(ladder)
    reference = result("reference")
    grave = ("forgets open orders", "trusts anyone", "memory wiped weekly", "never waits for deliveries")
    assert all(result(name) < 0.92 * reference for name in grave)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("When is the rent due?", "Bay Street: $86.36, due on Tue 28 Apr 2026"),
        ("家賃の期限はいつですか。", "Bay Street: $86.36, due on Tue 28 Apr 2026"),
        ("Could we pay a week later?", "DEFER 1"),
        ("When is rent due? May I defer?", "Bay Street: $86.36, due on Tue 28 Apr 2026\n\nOnce, we defer a rent"),
        (
            "家賃はいつまでですか。延期できますか。",
            "Bay Street: $86.36, due on Tue 28 Apr 2026\n\nOnce, we defer a rent",
        ),
        ("May I defer the rent that is due soon?", "Re: A question\n\nOnce, we defer a rent"),
        ("Is there another pitch?", "Mission Street: rent "),
        ("Good morning!", "We can tell you when rent is due, defer it, or name pitches."),
    ],
)
def test_the_landlord_answers(quarter: State, body: str, says: str) -> None:
    """When rent is due, a deferral, pitches on offer; nothing is charged for asking."""
    asked = done(quarter, a.SendEmail(to="landlord@street.com", subject="A question", body=body), a.AdvanceDay())
    assert says in do(asked, a.ReadEmail())[1].text
    assert (asked.sites, asked.deferred) == (done(quarter, a.AdvanceDay()).sites, False)
    assert asked.cash_cents == done(quarter, a.AdvanceDay()).cash_cents


def test_a_rent_is_deferred_once_by_a_week(quarter: State) -> None:
    """For $10, on a line with DEFER, in the last weeks before it is due."""

    def answered(state: State) -> State:
        return done(state, a.SendEmail(to="landlord@street.com", subject="Rent", body="DEFER 1"), a.AdvanceDay())

    early = answered(quarter)
    assert early.sites[0].due_day == quarter.sites[0].due_day
    later = later_on(quarter, 20)
    deferred = answered(later)
    assert deferred.sites[0].due_day - later.sites[0].due_day == 7
    assert done(later, a.AdvanceDay()).cash_cents - deferred.cash_cents == 1000
    again = answered(deferred)
    assert again.sites == deferred.sites
    assert again.accounts["rents"] == -1000
    refused(done(deferred, a.Pay(bill="rent", number=1)), a.Pay(bill="rent", number=1), "paid")
    overdue = answered(later_on(quarter, 28))
    assert not overdue.deferred


@together(
    ("body", "wish"),
    [
        ("Could we get the goods on credit?", "credit"),
        ("後払いはできますか。", "credit"),
        ("Can you deliver on Friday instead?", "later or other delivery days"),
        ("We would like to return unsold goods.", "returns"),
        ("Please set up a standing order every Monday.", "standing orders"),
        ("If we commit to 1000 units a month, would you lower your prices?", "prices for promised volumes"),
    ],
)
def test_suppliers_say_no_to_what_is_not_to_be_had(quarter: State, body: str, wish: str) -> None:
    """A short no that names what is possible; no price list, and nothing happens."""
    id = of_character(quarter, "honest")
    address = quarter.setup.catalog.supplier_by_id[id].address
    asked = done(quarter, a.SendEmail(to=address, subject="", body=body), a.AdvanceDay())
    answer = do(asked, a.ReadEmail())[1].text.split("Dear customer,")[1]
    assert f"we give no {wish}." in answer
    assert "What is possible" in answer
    assert "price list" not in answer
    assert not asked.orders


def test_a_refusal_tells_nothing_without_advice(quarter: State) -> None:
    """Prices, minimum orders, goods, pitches and dates are found by the tools for them; `advice` adds them."""
    id = of_character(quarter, "haggler")
    supplier = quarter.setup.catalog.supplier_by_id[id]
    own, no_good = supplier.products[0], next(p for p in quarter.setup.catalog.by_id if p not in supplier.products)
    tried = (
        (a.PlaceOrder(supplier_id=id, items={own: 1}), "below_minimum"),
        (a.PlaceOrder(supplier_id=id, items={own: 900}), "no_cash"),
        (a.PlaceOrder(supplier_id=id, items={no_good: 9}), "not_sold"),
        (a.PlaceOrder(supplier_id=id, items={"nothing": 9}), "unknown_product"),
        (a.PlaceOrder(supplier_id="nobody", items={own: 9}), "unknown_supplier"),
        (a.MakeOffer(supplier_id="nobody", discount_percent=9), "unknown_supplier"),
        (a.TakePitch(place="Mission Street"), "not_yet"),
        (a.TakePitch(place="Nowhere"), "no_place"),
    )
    told = business(3, "advice=true", preset="quarter", days=90)
    told = replace(told, known_suppliers=quarter.known_suppliers)
    assert "Advice" not in quarter.setup.briefing
    assert len(told.setup.briefing) > len(quarter.setup.briefing)
    strangers = [replace(state, known_suppliers=()) for state in (quarter, told)]
    cases = [(quarter, told, action, code) for action, code in tried]
    for without, advised, action, code in [*cases, (*strangers, a.GetPriceLists(), "unknown_supplier")]:
        plain, hint = refused(without, action, code), refused(advised, action, code)
        assert "$" not in plain.text
        assert " 2026" not in plain.text
        assert not plain.data
        assert len(hint.text) > len(plain.text)
        assert hint.text.startswith(plain.text) or code == "no_cash"


def test_a_preset_says_which_tools_it_offers() -> None:
    """Only those are offered and taken; a name that is no tool's offers none."""
    state = business(3, 'tools=["search_web", "advance_day"]', preset="quarter")
    assert [verb.tool_name() for verb in WORLD.view(state, "owner").verbs] == ["search_web", "advance_day"]
    refused(state, a.ReadEmail(), "not_yours")


def test_a_quote_at_agreed_prices_ends_with_the_agreement(quarter: State) -> None:
    """A quote holds for fourteen days, and not beyond the day until which its prices were agreed."""
    id = of_character(quarter, "haggler")
    products = quarter.setup.catalog.supplier_by_id[id].products
    ask = letter(
        quarter, id, f"Please quote 40 {products[0].replace('_', ' ')} and 40 {products[1].replace('_', ' ')}."
    )
    agreed = done(quarter, a.MakeOffer(supplier_id=id, discount_percent=10))
    last = agreed.talks[id].last_day
    for day, ends in ((2, 17), (last - 4, last)):
        quoted = done(later_on(agreed, day), ask, a.AdvanceDay())
        assert [quote.last_day for quote in quoted.mail.quotes.values()] == [ends]
