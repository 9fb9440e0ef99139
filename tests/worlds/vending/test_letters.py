"""Letters are understood: the corpus of letters, and what suppliers do about them."""

import hashlib

import pytest
from letters_for_tests import HERE, SETUP, corpus, judged, read, share_right

from akinai.worlds.vending.letters.meaning import kinds, roles
from akinai.worlds.vending.letters.meaning.kinds import CHARGING, KINDS, kinds_of, rows_of
from akinai.worlds.vending.letters.meaning.numbers import ROLES, Row, find_numbers
from akinai.worlds.vending.letters.scan import scan
from akinai.worlds.vending.letters.text import clauses
from akinai.worlds.vending.rules.suppliers.answers import understand


@pytest.mark.slow
def test_what_letters_want_is_read() -> None:
    """No letter is read as an order or a confirmation unless it is one by hand; intents are read right: kind, goods, prices
    and numbers. `letters/README.md` has what each set had when first read."""
    examples = corpus()
    innocent = [example for example in examples if not example.orders and not example.held_out]
    assert len(innocent) > 9000
    charged = [example.body for example in innocent if {i.kind for i in read(example)} & set(CHARGING)]
    assert charged == []
    for held_out, least in ((False, 0.93), (True, 0.92)):
        judgements = {example: judged(example) for example in examples if example.held_out is held_out}
        assert len(judgements) > 700
        assert share_right(judgements) >= least


@pytest.mark.parametrize("address", ["", "\nAkinai Vending, 88 Harbor Street, Alameda. Account AV-20418."])
def test_words_of_orders_alone_charge_nothing(address: str) -> None:
    """Questions, hearsay, receipts and conditions in the words of an order or a confirmation move no money."""
    lines = (HERE / "innocent.txt").read_text(encoding="utf-8").splitlines()
    sentences = [line.partition("| ")[2] for line in lines]
    assert len(sentences) > 40
    kinds = {
        sentence: {intent.kind for intent in understand(SETUP, "", sentence + address)[0]} for sentence in sentences
    }
    assert [sentence for sentence, charging in kinds.items() if charging & set(CHARGING)] == []


def test_the_networks_add_whole_numbers() -> None:
    """Scores are sums of integers, never of floats, and the same on every machine; a letter is read alike alone and
    beside others."""
    names = SETUP.catalog.good_names
    parts = list(clauses("Thank you for the water.\nPlease send us:\n- Cola: 48\nWhen does it come?", names))
    of_kinds, _ = kinds.scores_of(rows_of("order", parts), kinds.weights())
    rows = [Row((), "none", subject=True), Row(scan("Of 24 cola from 311 only 20 came.", names), "claim")]
    of_roles = roles.scores(rows, find_numbers(rows), roles.weights())
    digests: list[str] = []
    for table in (of_kinds, of_roles):
        assert table.dtype.kind == "i"  # a float among weights or sums would make them floats
        assert abs(table).max() < 2**40
        digest = hashlib.sha256(" ".join(str(int(score)) for row in table for score in row).encode()).hexdigest()
        digests.append(digest[:16])
    assert (of_kinds.shape, of_roles.shape) == ((5, len(KINDS)), (3, len(ROLES) + 1))
    assert digests == ["f701a2bb5183cb1c", "cc770205c2e9a405"]


def test_rows_of_goods_are_of_one_kind() -> None:
    """Rows of a list that hold goods alone are judged together: none of them is ordered while another is not."""
    parts = list(clauses("- Water: 48\n- Cola: 24\n- Chips: 12\nAkinai Vending", SETUP.catalog.good_names))
    assert len(set(kinds_of("24 cola, 48 water", parts)[1][:3])) == 1


@pytest.mark.parametrize(
    "letter",
    [
        "Please send us these:\nitem,cases,units\nwater,2,48\ncola,1,24",
        "Please order this:\nproduct\tqty\tnote\nwater\t48\tcold\ncola\t24\tcold",
        "次の品を発注します。\n品名／本数／備考\n水／48／なし\nコーラ／24／なし",
        "We order:\n\nProduct     Cases ordered   Note\nWater       2               cold\nCola        1               cold",
    ],
)
def test_a_table_without_bars_is_one(letter: str) -> None:
    """Its cells stand between commas, tabs, slashes or wide gaps, below their headings."""
    (intent,), _ = understand(SETUP, "", letter)
    assert (intent.kind, dict(intent.items.units)) == ("order", {"water": 48, "cola": 24})


@pytest.mark.parametrize(
    ("letter", "units"),
    [
        ("Cola sells well. Please send another 50 cans.", {"cola": 50}),
        ("Right, energy drinks it is: eighteen of them. Charge the account.", {"energy_drink": 18}),
        ("Cola and water sell well. Please send another 50 cans.", {}),
        ("Please send us a dozen water and twenty-four cola.", {"water": 12, "cola": 24}),
    ],
)
def test_a_bare_quantity_means_the_goods_spoken_of_last(letter: str, units: dict[str, int]) -> None:
    """A quantity without goods is of the product named last; of two products it is of neither."""
    assert dict(understand(SETUP, "", letter)[0][0].items.units) == units


@pytest.mark.parametrize(
    ("letter", "units"),
    [
        ("Please send 48 water.\nSorry, 24 water.", {"water": 24}),
        ("PO 12:\nwater - 4 cases (96)\nchips - 2 boxes (24)\nPlease send these.", {"water": 96, "chips": 24}),
        ("We would like to order 48 water, please deliver as soon as possible.", {"water": 48}),
        ("トレイルミックス、ビーフジャーキーを各1ケース送ってください。", {"trail_mix": 12, "beef_jerky": 12}),
    ],
)
def test_an_order_is_of_what_it_says_in_the_end(letter: str, units: dict[str, int]) -> None:
    """Counts give way to those that correct them; boxes and shared counts are goods of the order."""
    intents = understand(SETUP, "", letter)[0]
    assert [(intent.kind, dict(intent.items.units)) for intent in intents] == [("order", units)]


@pytest.mark.parametrize(
    ("letter", "units"),
    [
        ("Please send 48 cola. No, make that 36.", {"cola": 36}),
        ("Please send 48 cola and 24 water. Sorry, 36 cola.", {"cola": 36, "water": 24}),
        ("Order: 48 cola\nWait, I meant 84.", {"cola": 84}),
        ("We order 24 water.\nActually, make it 48 water instead.", {"water": 48}),
        ("We order 24 water and 24 gum. Please forget the gum.", {"water": 24}),
        ("Please ship:\n- candy: 24\n- chips: 12\nRevision: chips: remove", {"candy": 24}),
        ("水を48本お願いします。いえ、やはり24本でお願いします。", {"water": 24}),
        ("Please send 48 cola.\nNo rush, we have 30 cola left.", {"cola": 48}),
        ("Please send 48 cola.\nSorry for the short notice, our van comes at 5.", {"cola": 48}),
    ],
)
def test_what_a_letter_takes_back_is_not_charged(letter: str, units: dict[str, int]) -> None:
    """Later clauses of a letter correct its own order; words of correction beside other matters leave it alone."""
    intents = understand(SETUP, "", letter)[0]
    assert [(intent.kind, dict(intent.items.units)) for intent in intents if intent.kind != "other"] == [
        ("order", units)
    ]


def test_a_correction_that_names_no_goods_is_asked_about() -> None:
    """Where it is not plain which count is replaced, the goods are unclear, and nothing is charged for them."""
    (order,) = understand(SETUP, "", "Please send 48 cola and 24 water.\nCorrection: 36.")[0]
    assert {goods.product for goods in order.items.unclear} == {"cola", "water"}


def test_an_address_below_a_list_does_not_speak_for_its_rows() -> None:
    """Rows of goods are judged together, and without the line of the address that follows them."""
    goods = "Our order this week:\n- 60 chips at $0.82\n- 36 popcorn at $0.74\n"
    alone, signed = (understand(SETUP, "", goods + end)[0] for end in ("", "\nAkinai Vending, AV-20418"))
    assert [intent.kind for intent in alone] == [intent.kind for intent in signed] == ["order"]


def test_what_stays_is_neither_cancelled_nor_changed() -> None:
    """An order that can stay is not cancelled beside another; goods that do not change are not in the change."""
    assert [intent.orders for intent in understand(SETUP, "", "Please cancel order 4. Order 5 can stay.")[0]] == [(4,)]
    twice = "Please cancel order 203. I placed it by mistake right after order 202, which should go ahead as normal."
    assert [intent.orders for intent in understand(SETUP, "", twice)[0]] == [(203,)]
    change = "Order 60, please change:\n- cola: 72 instead of 48\n- candy: no change, 24"
    assert [dict(intent.items.units) for intent in understand(SETUP, "", change)[0]] == [{"cola": 72}]
    change = "Order 72, of 96 water and 48 iced tea: please increase the water to 144. The iced tea remains as ordered."
    assert [dict(intent.items.units) for intent in understand(SETUP, "", change)[0]] == [{"water": 144}]


def test_the_columns_of_a_table_say_what_they_count() -> None:
    """What was and what is to be, by order; what was billed and what came; the difference of two columns is no third."""
    change = (
        "Please change:\n| Order | Line | Old | New |\n|---|---|---|---|\n| 7 | Gum | 24 | 48 |\n| 8 | Cola | 48 | 0 |"
    )
    assert [(intent.orders, dict(intent.items.units)) for intent in understand(SETUP, "", change)[0]] == [
        ((7,), {"chewing_gum": 48}),
        ((8,), {"cola": 0}),
    ]
    claim = (
        "Order 9, goods missing:\n| Item | Invoiced | Received good | Difference |\n|---|---|---|---|\n"
        "| Water | 48 | 42 | -6 |\n| Cola | 24 | 24 | 0 |"
    )
    assert [dict(intent.items.units) for intent in understand(SETUP, "", claim)[0]] == [{"water": 6}]
    order = "下記、発注いたします。\n| 商品 | ケース数 |\n|---|---|\n| ポテトチップス | 4 |\n| クッキー | 2 |"
    assert [dict(intent.items.units) for intent in understand(SETUP, "", order)[0]] == [{"chips": 48, "cookies": 24}]


ITEMS = '[{"sku": "cola", "qty": 48}, {"sku": "chips", "qty": 12}]'


def test_an_object_that_says_it_orders_is_an_order() -> None:
    """In JSON, of goods with a name and a count each; its notes are read, and an object of anything else orders nothing."""
    for form in ('{"type": "purchase_order", "items": %s}', '{"to": "You", "action": "place_order", "items": %s}'):
        intents = [(intent.kind, dict(intent.items.units)) for intent in understand(SETUP, "", form % ITEMS)[0]]
        assert intents == [("order", {"cola": 48, "chips": 12})]
    for form in (
        '{"action": "restock", "items": %s}',
        '{"type": "order", "status": "draft, do not ship", "items": %s}',
        '{"type": "order_status", "items": %s}',
        '{"type": "order", "items": [{"sku": "cola", "qty": 48, "max_price": 60}]}',
    ):
        letter = form.replace("%s", ITEMS)
        assert not {intent.kind for intent in understand(SETUP, "", letter)[0]} & {"order", "confirm"}, letter


def test_an_object_that_says_what_it_is_is_read_as_its_lines() -> None:
    """A program that cancels, claims or asks in JSON does so; our own actions, sent by mistake, do nothing."""
    cancel = '{"action": "cancel", "order_id": 44, "reason": "duplicate"}'
    assert [(intent.kind, intent.orders) for intent in understand(SETUP, "", cancel)[0]] == [("cancel", (44,))]
    claim = (
        '{"type": "claim", "order": 61, "items": [{"product": "cola", "ordered": 48, "received": 40}], "other": null}'
    )
    assert [(intent.orders, dict(intent.items.units)) for intent in understand(SETUP, "", claim)[0]] == [
        ((61,), {"cola": 8})
    ]
    ask = '{"action": "inquiry", "questions": ["What does cola cost?", "Is there a minimum order?"], "to": {"name": "You"}}'
    assert [intent.topic for intent in understand(SETUP, "", ask)[0]] == ["prices", "terms"]
    action = '{"action": "RESTOCK_SLOT", "product_id": "water", "quantity": 12}'
    assert [intent.kind for intent in understand(SETUP, "", action)[0]] == ["other"]


def test_a_question_of_other_goods_is_answered_beside_a_quote() -> None:
    """Whether goods are sold, beside the counts of others: prices and a quote."""
    letter = "Do you stock trail mix? Also, please quote us for 72 granola bars."
    assert [intent.topic for intent in understand(SETUP, "", letter)[0]] == ["prices", "quote"]


def test_a_few_after_many_cases_are_cases() -> None:
    """ "10 cases of water and 5 cola" is of five cases; a count that could be of units is of units."""
    (order,) = understand(SETUP, "", "Please send 10 cases of water and 5 cola.")[0]
    assert dict(order.items.units) == {"water": 240, "cola": 120}
    (order,) = understand(SETUP, "", "Please send 10 cases of water and 12 cola.")[0]
    assert dict(order.items.units) == {"water": 240, "cola": 12}


@pytest.mark.parametrize(
    "letter",
    [
        "Please send us 48 cola and 24 Sprite.",
        "Please ship 24 Sprite and 48 cola.",
        "Please send 2 cases of cola and 3 cases of Sprite.",
        "Please order:\n- Cola: 48\n- Sprite: 24",
        "We order:\n| Product | Qty |\n|---|---|\n| Cola | 48 |\n| Sprite | 24 |",
        "コーラとスプライトを注文します。\n・コーラ　48本\n・スプライト　24本",
    ],
)
def test_counts_of_goods_that_nobody_sells_are_of_no_others(letter: str) -> None:
    """An order of them beside cola is of the cola alone, and names them, so that the supplier can say so."""
    (order,) = understand(SETUP, "", letter)[0]
    assert (order.kind, dict(order.items.units)) == ("order", {"cola": 48})
    assert order.items.unknown in (("sprite",), ("スプライト",))


def test_what_an_order_lacks_is_not_claimed_of_the_next_too() -> None:
    """Goods that a last line asks for again are those of the order that lacks them."""
    letter = (
        "Order 48: 20 of the 24 energy drinks are here.\n\nOrder 49: 2 packs of cookies were crushed.\n\n"
        "Please send the four energy drinks with the next delivery and credit the rest."
    )
    claims = [(intent.orders, dict(intent.items.units)) for intent in understand(SETUP, "", letter)[0]]
    assert claims == [((48,), {"energy_drink": 4}), ((49,), {"cookies": 2})]


def test_what_a_sentence_wants_first_is_no_confirmation_yet() -> None:
    """ "I'd like to go with quote 93, but before I do ..." takes up nothing, and takes nothing back."""
    for question in ("the noodles are listed at 162. Could you match 150?", "could you do the noodles at 150?"):
        letter = f"I'd like to go with quote 93, but before I do: {question}"
        assert [intent.kind for intent in understand(SETUP, "hello", letter)[0]] == ["negotiate"]


def test_several_offers_are_for_as_many_goods_in_their_order() -> None:
    """Prices after the goods that they are for go with them one by one."""
    letter = "For iced tea and gum, we offer $0.92 and $0.41."
    assert [dict(intent.offers) for intent in understand(SETUP, "", letter)[0]] == [{"iced_tea": 92, "chewing_gum": 41}]


def test_a_price_behind_counted_goods_is_no_count() -> None:
    """ "48 water at 57" is of 48 units, whatever else is said."""
    (order,) = understand(SETUP, "", "Please send us 48 water at 57.")[0]
    assert (order.kind, dict(order.items.units)) == ("order", {"water": 48})
    marks = scan("48 water at 57, and 24 cola at 3 cases", SETUP.catalog.good_names)
    assert [(mark.kind, mark.value) for mark in marks if mark.value] == [
        ("count", 48), ("money", 57), ("count", 24), ("count", 3),
    ]  # fmt: skip


def test_what_a_claim_lacks_is_no_order() -> None:
    """Goods that are to be sent since they did not come are claimed; those that are bought beside a claim are ordered."""
    letter = (
        "Hi Sam,\nre order 66 - I've 38 iced teas here where there ought to be 48.\nChecked the sealed boxes twice.\n"
        "One had 14 in it, the other 24.\nNothing sold yet, the machine was down for 2 days.\npls send 10 more"
    )
    assert [intent.kind for intent in understand(SETUP, "", letter)[0]] == ["claim"]
    letter = (
        "38 of the 48 iced teas on order 66 came, please refund the rest.\nPlease send 10 iced teas as a new order."
    )
    assert [intent.kind for intent in understand(SETUP, "", letter)[0]] == ["order", "claim"]


@pytest.mark.parametrize(
    ("letter", "units"),
    [
        ("Please send 24 cola. Deliver to 415 Oak Ave.", {"cola": 24}),
        ("Please send 24 cola. Ship to zip 94105, please.", {"cola": 24}),
        ("Please send us 48 drinks in total: 24 water and 24 cola.", {"water": 24, "cola": 24}),
        ("Please send 24 cola. If you are out of it, send 24 water.", {"cola": 24}),
        ("48 water and 24 cola please, or 24 iced tea if the cola is sold out.", {"water": 48, "cola": 24}),
        ("I'd like to order:\n\nCola: 48 units at $0.65\nWater: 24 units at $0.40", {"cola": 48, "water": 24}),
        ("Please send one case per product: cola, water, chips.", {"cola": 24, "water": 24, "chips": 12}),
        ("以下を発注します。\n- 水:48本(売れ筋)\n- コーラ:24本(通常通り)", {"water": 48, "cola": 24}),
        ("以下を発注します。\n水:48本\nサラダ:0個", {"water": 48}),
        ("Please send 48 water, and 12 sandwiches if they cost less than $2.", {"water": 48}),
        ("Please send 72 water. We'll order the 48 cola next week.", {"water": 72}),
        ("Please send 24 water and 24 cola. Acme sells me 48 water for $20.", {"water": 24, "cola": 24}),
        (
            "Please ship 48 water and 24 cola. Our machine can hold at most 60 water and 40 cola.",
            {"water": 48, "cola": 24},
        ),
        ("Please send 24 cola to bring our stock from 6 to 30.", {"cola": 24}),
        ("Please ship:\n- Water: 12 in stock, need 24\n- Cola: 6 in stock, need 48", {"water": 24, "cola": 48}),
        (
            "We order:\n| Product | Previous order | New order |\n|---|---|---|\n| Water | 24 | 48 |\n| Cola | 36 | 24 |",
            {"water": 48, "cola": 24},
        ),
        (
            "Please order:\n| Item | Qty | Unit |\n|---|---|---|\n| Water | 2 | case |\n| Cola | 1 | case |",
            {"water": 48, "cola": 24},
        ),
        ("Please send in cases:\n- Water: 2\n- Cola: 1", {"water": 48, "cola": 24}),
        ("Please send 2 x 24-pack of water and 3 packs of 24 cola.", {"water": 48, "cola": 72}),
        (
            "Please ship water, cola and chips: 48, 24 and 36 units respectively.",
            {"water": 48, "cola": 24, "chips": 36},
        ),
        ("PO 5521\n- Energy Drink, 10 cases @ 157\n- Water, 20 cases @ 55", {"energy_drink": 240, "water": 480}),
    ],
)
def test_what_is_no_part_of_an_order_is_not_ordered(letter: str, units: dict[str, int]) -> None:
    """Addresses, totals, substitutes, later orders, other people's goods, room and stock are not; packs and columns of
    cases count what they hold."""
    (order,) = understand(SETUP, "", letter)[0]
    assert (order.kind, dict(order.items.units)) == ("order", units)
    assert not order.items.unclear
    assert not order.items.unknown


@pytest.mark.parametrize(
    ("letter", "expected"),
    [
        ("Please proceed with Q-19 instead of Q-18.", [("confirm", (), (19,))]),
        ("We compared quotes Q-18 and Q-19. We would like to go with Q-19.", [("confirm", (), (19,))]),
        ("Of quotes 18, 19 and 20 we choose 19.", [("confirm", (), (19,))]),
        ("Please proceed with Q-19 and cancel Q-18.", [("confirm", (), (19,)), ("cancel", (), (18,))]),
        ("Of the orders 31, 32 and 33 please cancel 31 and 33.", [("cancel", (31, 33), ())]),
        ("Cancel order 31. We still need order 32.", [("cancel", (31,), ())]),
        (
            "Order 91 was a mistake, please cancel it. Order 90 is correct and should be delivered.",
            [("cancel", (91,), ())],
        ),
        ("Please cancel our last order. Order 133 can come as planned.", [("cancel", (), ())]),
        ("注文84は届きました。注文85をキャンセルしてください。", [("cancel", (85,), ())]),
    ],
)
def test_of_several_numbers_those_are_meant_that_are_chosen(
    letter: str, expected: list[tuple[str, tuple[int, ...], tuple[int, ...]]]
) -> None:
    """Quotes that are only compared are not taken up, and orders that are kept are not cancelled."""
    assert [(intent.kind, intent.orders, intent.quotes) for intent in understand(SETUP, "", letter)[0]] == expected


@pytest.mark.parametrize(
    "letter",
    [
        "Please do not cancel order 31.",
        "Don't cancel order 32, only 31.",
        "注文31のキャンセルは不要になりました。",
        "If you cannot ship order 31 before the weekend, we will have to cancel it.",
        "If order 168 can't arrive by Friday, please cancel it.",
        "Please ship order 168 before Monday or cancel it.",
        "Please disregard my previous email. Order 153 stands.",
        "注文51のキャンセルは不要です。予定通り配送をお願いします。",
        "注文52はキャンセルできますか?",
        "Please repeat order 31.",
        "注文31と同じ内容でもう一度お願いします。",
        "If Q-18 includes delivery, we'll accept it.",
        "Could you lower the chips to $0.90? If yes, we accept Q-121.",
        "承認が下り次第、Q-43を発注いたします。",
        "発注内容は以下の通りで間違いないでしょうか。\n水 48本\nコーラ 24本",
        "Does Q-18 include delivery? If so, please go ahead.",
        "Please hold Q-18 for us until Friday; my partner has to approve it.",
    ],
)
def test_what_is_only_spoken_of_is_neither_placed_nor_taken_back(letter: str) -> None:
    """Cancellations that are denied or threatened, repetitions, and quotes that are taken up only if."""
    kinds = {intent.kind for intent in understand(SETUP, "", letter)[0]}
    assert not kinds & {"order", "confirm", "cancel", "change"}


@pytest.mark.parametrize(
    ("letter", "units", "more"),
    [
        ("Please increase the cola on order 31 by 24.", {"cola": 24}, {"cola": 24}),
        ("Please add one more case of cola to order 31.", {"cola": 24}, {"cola": 24}),
        ("Please reduce the cola on order 31 by 24.", {}, {"cola": -24}),
        ("Please cancel the cola on order 31.", {"cola": 0}, {}),
        ("I don't need the 48 iced tea in order 31.", {"iced_tea": 0}, {}),
        ("Please cancel 24 of the 48 colas on order 31.", {"cola": 24}, {}),
        ("注文31のガムをキャンセルしてください。", {"chewing_gum": 0}, {}),
        ("Please change order 31: cola 72 instead of 48.", {"cola": 72}, {}),
    ],
)
def test_a_change_says_how_many_or_how_many_more(letter: str, units: dict[str, int], more: dict[str, int]) -> None:
    """Units that come or go are told from those that there are to be; goods cancelled out of an order are a change."""
    (change,) = understand(SETUP, "", letter)[0]
    assert (change.kind, change.orders) == ("change", (31,))
    assert (dict(change.items.units), dict(change.more)) == (units, more)


def test_each_order_gets_its_own_change() -> None:
    """Goods that a sentence adds to an order come to that one, wherever its number stands."""
    letter = "Please add 24 cola to order 31.\nPlease add one more case of gum to order 32."
    changes = [(intent.orders, dict(intent.more)) for intent in understand(SETUP, "", letter)[0]]
    assert changes == [((31,), {"cola": 24}), ((32,), {"chewing_gum": 24})]


@pytest.mark.parametrize(
    "letter", ["Please send me your price list | Dana", "Please send 48 cola.\nDana | Akinai | Bay"]
)
def test_a_line_with_bars_is_no_heading_of_nothing(letter: str) -> None:
    """Where no row of a table follows, a line with bars says what it says."""
    (intent,) = understand(SETUP, "", letter)[0]
    assert (intent.kind, dict(intent.items.units)) in [("ask", {}), ("order", {"cola": 48})]


@pytest.mark.parametrize(
    "letter",
    [
        "Order 64, please credit the difference:\n\nProduct | Ordered | Received\nWater | 48 | 40\nCola | 24 | 24",
        "Order 64\n- 48 water ordered, 40 received\n- 24 cola ordered, 24 received\nPlease credit the difference.",
        "注文64、不足がありました。\n- 水 注文48本／納品40本\n- コーラ 注文24本／納品24本",
    ],
)
def test_a_claim_is_of_what_was_ordered_less_what_came(letter: str) -> None:
    """In tables without bars at their sides, in lists with words behind the counts, and in Japanese."""
    (claim,) = understand(SETUP, "", letter)[0]
    assert (claim.kind, claim.orders, dict(claim.items.units)) == ("claim", (64,), {"water": 8})
