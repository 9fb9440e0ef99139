"""The machine, the storage and the money: what may be moved where, and what must never change."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from business import WORLD, business, do, done, on_sale, refused, traded, with_coins, with_storage, worth
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.actions import Unreadable
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import Lot, Slot, State
from akinai.worlds.vending.scores import stock_cents, transit_cents
from together import together


def fill(product: str, units: int, row: int = 0, column: int = 0) -> a.RestockSlot:
    return a.RestockSlot(slots=(a.RestockSlot.Fill(row=row, column=column, product_id=product, quantity=units),))


def parsed(name: str, **parameters: object) -> a.Action:
    return WORLD.verbs.parse(name, parameters, json.dumps({"action": name}))


def price(cents: int, row: int = 0, column: int = 0) -> a.SetPrice:
    return a.SetPrice(prices=(a.SetPrice.Tag(row=row, column=column, price_cents=cents),))


@given(
    st.lists(st.tuples(st.sampled_from(["water", "cola", "gum"]), st.integers(1, 12), st.integers(0, 5)), max_size=12),
    st.integers(0, 100_000),
)
def test_moving_goods_and_collecting_money_keep_net_worth(moves: list[tuple[str, int, int]], coins: int) -> None:
    """Restocking, clearing, pricing and collecting change nobody's wealth, whether they are accepted or refused."""
    state = with_coins(with_storage(business(1, "tool_time=false"), {"water": 40, "cola": 40, "chewing_gum": 9}), coins)
    before = worth(state)
    for product, units, place in moves:
        row, column = divmod(place, 3)
        state, _ = do(state, fill(product, units, row, column))
        state, _ = do(state, price(100 + units, row, column))
        if units % 3 == 0:
            state, _ = do(state, a.ClearSlot(row=row, column=column))
        assert worth(state) == before
    assert worth(done(state, a.CollectCash())) == before


def test_sizes_are_kept_apart() -> None:
    """A small item is refused in a large row and a large one in a small row."""
    state = with_storage(business(), {"water": 5, "chips": 5})
    refused(state, fill("water", 1, row=2), "wrong_size")
    refused(state, fill("chips", 1, row=1), "wrong_size")
    done(state, fill("water", 1, row=1), fill("chips", 1, row=3))


def test_a_slot_never_holds_more_than_its_capacity() -> None:
    """Twelve small or eight large units fit; one more is refused, and the refusal says how many do."""
    state = with_storage(business(), {"water": 50, "chips": 50})
    state = done(state, fill("water", 10), fill("chips", 8, row=2))
    outcome = refused(state, fill("water", 3), "full")
    assert "2 more fit" in outcome.text
    refused(state, fill("chips", 1, row=2), "full")


def test_a_slot_can_be_cleared_and_given_another_product() -> None:
    """While units of one product are in it a slot takes no other; cleared, or sold out, it does."""
    state = done(with_storage(business(), {"water": 12, "cola": 12}), fill("water", 12))
    refused(state, fill("cola", 1), "slot_taken")
    cleared = done(state, a.ClearSlot(row=0, column=0), fill("cola", 12))
    assert cleared.storage["water"] == (Lot(12, 60, 10**6),)
    assert cleared.slots[0] == Slot("cola", (Lot(12, 85, 10**6),))
    sold_out = replace(state, slots=(Slot("water", ()), *state.slots[1:]))
    assert done(sold_out, fill("cola", 5)).slots[0] == Slot("cola", (Lot(5, 85, 10**6),))


def test_restocking_several_slots_is_all_or_nothing() -> None:
    """One fill that cannot be done refuses them all, and the goods of the others stay in storage."""
    state = with_storage(business(), {"water": 20})
    both = a.RestockSlot(
        slots=(
            a.RestockSlot.Fill(row=0, column=0, product_id="water", quantity=12),
            a.RestockSlot.Fill(row=0, column=1, product_id="water", quantity=12),
        )
    )
    refused(state, both, "no_stock")


def test_products_are_found_by_name_but_never_by_a_part_of_it() -> None:
    """Case, spaces and plural do not matter; an empty name, a letter or a longer word is no product."""
    state = with_storage(business(), {"energy_drink": 5})
    done(state, fill("Energy Drinks", 2))
    for name in ("", "e", "drink", "energy drink deluxe"):
        refused(state, fill(name, 1), "unknown_product")
    assert "did you mean 'water'?" in refused(state, fill("watter", 1), "unknown_product").text


def test_a_product_has_one_price_in_all_its_slots() -> None:
    """A price set on one slot is the price of its twin; two prices for one product at once are refused."""
    state = done(with_storage(business(), {"water": 24}), fill("water", 12), fill("water", 12, column=1), price(175))
    assert state.prices == {"water": 175}
    tags = tuple(a.SetPrice.Tag(row=0, column=column, price_cents=100 + column) for column in (0, 1))
    refused(state, a.SetPrice(prices=tags), "two_prices")
    refused(state, price(100, column=2), "empty_slot")
    refused(state, price(100, row=9), "no_slot")


@together(
    "wrong",
    [
        float("nan"),
        float("inf"),
        -1,
        -0.01,
        0,
        "-2",
        "1.755",
        1.755,
        "ten",
        "",
        None,
        True,
        [1.5],
        {"usd": 2},
        1000.01,
        1e308,
        "1e3",
    ],
)
def test_absurd_prices_are_refused_with_the_state_unchanged(wrong: object) -> None:
    """NaN, infinities, negatives, zero, words, a third decimal, more than $1,000: no such price is read as an action."""
    action = parsed("SET_PRICE", row=0, column=0, price=wrong)
    assert isinstance(action, Unreadable)
    assert action.code == "bad_parameters"


@pytest.mark.parametrize("spelling", ["1.75", 1.75, "$1.75", "1.75 USD", "175 cents"])
def test_dollars_are_read_in_every_plain_spelling(spelling: object) -> None:
    """Agents write dollars; the ledger holds cents."""
    assert parsed("set_prices", row=0, column="0", price=spelling) == price(175)


@together("wrong", [float("nan"), float("inf"), -1, 0, 1.5, "ten", None, True, [3], 10**30, "1e1"])
def test_absurd_quantities_are_refused_with_the_state_unchanged(wrong: object) -> None:
    """Only whole units from one on are a quantity."""
    action = parsed("RESTOCK_SLOT", row=0, column=0, product_id="water", quantity=wrong)
    assert isinstance(action, Unreadable)
    assert action.code == "bad_parameters"


def test_one_slot_and_many_are_two_spellings_of_one_action() -> None:
    """Row, column and the rest may stand alone or in a list under slots."""
    slot = {"row": 0, "column": 1, "product_id": "water", "quantity": 3}
    assert parsed("STOCK_PRODUCTS", **slot) == parsed("restock_slot", slots=[slot]) == fill("water", 3, column=1)


def test_cash_is_never_negative() -> None:
    """An order that cash does not cover is refused and charges nothing; money in the machine does not count."""
    state = with_coins(replace(business(), cash_cents=2_000), 100_000)
    order = a.PlaceOrder(supplier_id="northbay", items={"cola": 48})
    outcome = refused(state, order, "no_cash")
    assert outcome.data == {"total_cents": 48 * 81, "cash_cents": 2_000}
    assert done(state, a.CollectCash(), order).cash_cents == 102_000 - 48 * 81


@together(
    ("action", "code"),
    [
        (a.PlaceOrder(supplier_id="acme", items={"cola": 48}), "unknown_supplier"),
        (a.PlaceOrder(supplier_id="ggbev", items={"chips": 48}), "not_sold"),
        (a.PlaceOrder(supplier_id="ggbev", items={"kola": 48}), "unknown_product"),
        (a.PlaceOrder(supplier_id="ggbev", items={"cola": 5}), "below_minimum"),
        (a.SendEmail(to="ggbev", body="hello"), "no_address"),
        (a.SendEmail(to="a@b.com, c@d.com", body="hello"), "no_address"),
        (a.ClearSlot(row=0, column=0), "empty_slot"),
        (a.GetNotes(key="nothing"), "no_note"),
        (a.DeleteNote(key="nothing"), "no_note"),
        (a.ChatWithSubAgent(message="hello"), "no_sub_agent"),
        (a.Report(text="hello"), "not_yours"),
        (a.DelegatePhysical(task="restock"), "not_yours"),
    ],
)
def test_each_refusal_has_its_code(action: a.Action, code: str) -> None:
    """What cannot be done is refused by a stable code and a sentence, and changes nothing."""
    assert len(refused(business(), action, code).text) > 20


def test_notes_are_kept_and_found_by_meaning() -> None:
    """A notepad, notes by key, and memories of which the fitting one is found first."""
    state = done(
        business(),
        a.NotepadWrite(text="first"),
        a.NotepadWrite(text="second", append=True),
        a.UpdateNotes(key="cash", content="$10"),
        a.AddMemory(text="Northbay delivers at two in the afternoon"),
        a.AddMemory(text="Chocolate melts in July"),
    )
    assert do(state, a.NotepadRead())[1].text.startswith("first\nsecond")
    assert do(state, a.GetNotes(key="cash"))[1].data == {"content": "$10"}
    found = do(state, a.SearchMemory(query="when does northbay deliver"))[1]
    assert found.text.startswith("- Northbay delivers at two")
    state = done(state, a.DeleteNote(key="cash"), a.NotepadErase())
    assert do(state, a.GetNotes())[1].text.startswith("There are no notes")


def units_everywhere(state: State) -> Counter[str]:
    count: Counter[str] = Counter()
    for slot in state.slots:
        if slot:
            count[slot.product] += slot.units
    for product, lots in state.storage.items():
        count[product] += sum(lot.units for lot in lots)
    for order in state.orders:
        for line in order.lines:
            count[line.product] += line.units
    return +count


@pytest.mark.parametrize("player", ["reference", "naive"])
@pytest.mark.parametrize("seed", [1, 2])
async def test_each_days_books_balance(player: str, seed: int) -> None:
    """Cash moves by collections, orders and fees alone, machine money by sales and collections; no unit comes or goes
    but by purchase, sale and spoilage; net worth with goods on their way moves by profit, fee and loss alone.
    """
    from akinai.core.agents import Role

    world, state = WORLD, business(seed, days=60)
    agent, heard_last = world.players[player](Role("owner", world.verbs.classes)), None
    while state.ending is None:
        move = await agent.act(world.view(state, "owner"), heard_last)
        before = state
        state, heard_last = do(state, move.action)
        book = state.book if state.book is not before.book else None
        (units, income), fee = traded(before, state), book.fee_cents if book else 0
        collected = before.machine_cents if isinstance(move.action, a.CollectCash) else 0
        new = [order for order in (*state.orders,) if order.number > before.order_count]
        paid = sum(order.total_cents for order in new)
        assert state.cash_cents == before.cash_cents + collected - fee - paid
        assert state.machine_cents == before.machine_cents - collected + income
        gone = units + Counter(book.spoiled if book else {})
        bought: Counter[str] = Counter()
        for order in new:
            for line in order.lines:
                bought[line.product] += line.units
        assert units_everywhere(state) + gone == units_everywhere(before) + bought
        if not book and not units:
            total, total_before = (worth(s) + transit_cents(s) for s in (state, before))
            assert total == total_before
        elif book:
            assert stock_cents(state) <= stock_cents(before) + sum(o.total_cents for o in before.orders)


def test_full_shelves_view_tells_all_and_can_be_shut() -> None:
    """VIEW_BUSINESS_STATE tells money, machine and storage; preset paper offers neither it nor hands at the machine."""
    state = on_sale(business(), {"water": None})
    shown = do(state, a.ViewBusinessState())[1].text
    assert "Cash: $500.00" in shown
    assert "Water (water), 1000 units, price $1.50" in shown
    paper = business(preset="paper")
    refused(paper, a.ViewBusinessState(), "not_yours")
    refused(paper, a.CollectCash(), "not_yours")
    refused(paper, a.PlaceOrder(supplier_id="northbay", items={"cola": 48}), "not_yours")
    done(paper, a.GetMachineInventory())


@together(
    ("names", "verb"),
    [
        ("read_email READ_EMAILS read_emails", a.ReadEmail),
        ("send_email SEND_EMAIL", a.SendEmail),
        ("SEARCH_WEB ai_web_search research_products", a.SearchWeb),
        ("scratchpad scratchpad_read read_scratchpad NOTEPAD_READ", a.NotepadRead),
        ("scratchpad_write write_scratchpad NOTEPAD_WRITE", a.NotepadWrite),
        ("scratchpad_delete delete_scratchpad erase_scratchpad", a.NotepadErase),
        ("key_value_store set_key_value set_kw_value UPDATE_NOTES", a.UpdateNotes),
        ("get_key_value get_kw_value", a.GetNotes),
        ("delete_key_value delete_kw_value", a.DeleteNote),
        ("add_to_vector_db", a.AddMemory),
        ("search_vector_db", a.SearchMemory),
        ("wait_for_next_day ADVANCE_DAY", a.AdvanceDay),
        ("stock_products RESTOCK_SLOT", a.RestockSlot),
        ("set_prices SET_PRICE", a.SetPrice),
        ("collect_cash", a.CollectCash),
        ("get_machine_inventory", a.GetMachineInventory),
        ("get_money_balance", a.GetMoneyBalance),
        ("check_storage_quantities", a.CheckDeliveries),
        ("list_storage_products", a.ListStorage),
        ("VIEW_STATE view_business_state", a.ViewBusinessState),
        ("view_suppliers", a.ViewSuppliers),
        ("place_order", a.PlaceOrder),
        ("run_sub_agent_email DELEGATE_EMAIL", a.DelegateEmail),
        ("run_sub_agent_research DELEGATE_RESEARCH", a.DelegateResearch),
        ("run_sub_agent", a.DelegatePhysical),
        ("chat_with_sub_agent", a.ChatWithSubAgent),
        ("sub_agent_specs", a.SubAgentSpecs),
    ],
)
def test_every_name_of_the_source_document_is_known(names: str, verb: type[a.Verb]) -> None:
    """The structured actions and the paper's tools, each in its own spelling."""
    assert all(a.VERBS.find(name) is verb for name in names.split())
