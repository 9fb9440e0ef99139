"""Letters are understood: what is charged, what is quoted, and what else a letter wants."""

import hashlib
from collections.abc import Iterable
from itertools import pairwise

import pytest
from letters_for_tests import HERE, SETUP, Example, corpus, kinds_right, parse_label, read, set_aside

from akinai.worlds.vending.letters.intents import Intent
from akinai.worlds.vending.letters.meaning import kinds, network, roles
from akinai.worlds.vending.letters.meaning.kinds import CHARGING, KINDS, kinds_of, rows_of
from akinai.worlds.vending.letters.meaning.numbers import ROLES, Row, find_numbers
from akinai.worlds.vending.letters.scan import scan
from akinai.worlds.vending.letters.text import clauses
from akinai.worlds.vending.rules.suppliers.answers import understand
from together import together

WHERE = "\nDeliver to Akinai Vending, 88 Harbor Street, Alameda. Account AV-20418."
BOTH = {"water": 48, "cola": 24}


def is_charged(intents: Iterable[Intent]) -> bool:
    """Whether suppliers charge for one of these."""
    return any(intent.kind in CHARGING and intent.clear for intent in intents)


@pytest.mark.parametrize("every", [29, pytest.param(1, marks=pytest.mark.slow)])
def test_what_letters_want_is_read(every: int) -> None:
    """No letter is charged unless it orders or confirms by hand, and then for its goods; kinds are read right."""
    examples = corpus()[::every]
    charged = [example for example in examples if is_charged(read(example))]
    assert [example.body for example in charged if not example.orders] == []
    assert [example.body for example in charged if not orders_goods(example)] == []
    right, total = kinds_right(examples)
    assert right >= 0.94 * total > 90 // every * 29


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_letters_that_were_set_aside_are_charged_for_what_they_order(every: int) -> None:
    """Written before the reader: none that orders nothing is charged, and two thirds of the clear orders are placed."""
    examples = set_aside()[::every]
    charged = [example for example in examples if is_charged(read(example))]
    assert [example.body for example in charged if not (example.orders and orders_goods(example))] == []
    assert len(charged) > 40 / 60 * sum(example.orders for example in examples)


def orders_goods(example: Example) -> bool:
    """Whether what is charged for a letter is what it orders by hand."""
    labels = [parse_label(label) for label in example.labels]
    return all(
        any(label.matches(intent) for label in labels)
        for intent in read(example)
        if intent.kind in CHARGING and intent.clear
    )


@pytest.mark.parametrize("address", ["", WHERE])
def test_words_of_orders_alone_charge_nothing(address: str) -> None:
    """Questions, hearsay, receipts and conditions in the words of an order or a confirmation move no money."""
    lines = (HERE / "innocent.txt").read_text(encoding="utf-8").splitlines()
    sentences = [line.partition("| ")[2] for line in lines]
    assert len(sentences) > 40
    assert [text for text in sentences if is_charged(understand(SETUP, "", text + address)[0])] == []


@together(
    "letter",
    [
        "Please cancel order 12 and send 24 cola.",
        "Cancel order 12. Send 48 water instead.",
        "We need 96 water in total: 48 today and 48 on Thursday.",
        "Please send 96 water: half now, half on Friday.",
        "Mon: 24 water\nWed: 24 cola\nPlease deliver.",
        "Please send 24 cola. Actually, make it 48.",
        "Please send 24 cola.\nActually 48.",
        "Please send 48 water. Actually, never mind.",
        "Please send 48 water.\nOn second thought, forget it.",
        "Order: 48 water, 24 cola. No, 24 water.",
        "Please send 48 water, not 24.",
        "ORDER FORM\nWater: 48\nCola: 24\nTo be signed by my partner first.",
        'Our letters read like this:\n"Please send 48 water and 24 cola."',
        "> Please send 48 water.\nThat is what I sent you.",
        "DRAFT\nPlease send 48 water and 24 cola.",
        "Template:\nPlease send 48 water and 24 cola.",
        "【下書き】\n水 48本、コーラ 24本をお願いします。",
        "Please send 48 water only if it can be here by Friday.",
        "If it is below $30, please send 48 water.",
        "Before I commit, I want to see 48 water and 24 cola on paper.",
        "My partner says: please send 48 water.",
        "Please send 24 or 48 cola.",
        "Please send 24-48 cola.",
        "Please send about 48 cola.",
        "Next week we will order 48 water.",
        "Should we order 48 water?",
        "Please send 48 water once the quote is approved.",
        "Please send 48 water every Monday.",
        "Please send water: 48\nTotal: 96",
        "水を48本お願いします。いえ、やはり24本でお願いします。",
        "水を48本お願いします。ただし金曜までに届く場合のみ。",
        "水を48本お願いしようかと考えています。",
        "水を48本お願いします。社長の承認後に正式に発注します。",
        "例：「水を48本送ってください」",
        "Please send 48 water. We want a discount on it.",
        "Please send 48 water. Your prices are too high, please go lower.",
        "Please send 48 water. The cola leaked and we want our money for it.",
    ],
)
def test_a_letter_in_which_anything_is_in_doubt_is_not_charged(letter: str) -> None:
    """Taken back, corrected, negated, split, totalled, conditional, heard, a draft, a sample, a plan, a question."""
    assert not is_charged(understand(SETUP, "", letter + WHERE)[0])


@together(
    "letter",
    [
        "Please send 48 Water and 24 Cola.",
        "Order: 48 water, 24 cola",
        "We would like to order:\n- Water: 48\n- Cola: 24",
        "| Product | Quantity |\n|---|---|\n| Water | 48 |\n| Cola | 24 |\n\nPlease ship these.",
        "Please order:\n| Item | Cases | Units per case | Total units |\n|---|---|---|---|\n"
        "| Water | 2 | 24 | 48 |\n| Cola | 1 | 24 | 24 |",
        "Please send 2 cases of water and 1 case of cola.",
        "Please send 2 cases of water (48 units) and one case of cola (24 units).",
        "Please deliver water x48 and cola x24.",
        "Could you please send us 48 water and 24 cola?",
        "I need 48 units of Water and 24 units of Cola.",
        "We'll take 48 water and 24 cola.",
        "Please ship 48 water, 24 cola. Let me know when it arrives.",
        "Please process this order:\n\nProduct: Water\nQuantity: 48\n\nProduct: Cola\nQuantity: 24\n\nThank you",
        "Please send:\n1. Water - 48\n2. Cola - 24",
        "Send 48 water and 24 cola, please. Thanks for the quick delivery.",
        "Purchase order\n48 x Water\n24 x Cola",
        "I would like to buy 48 bottles of water and 24 cans of cola.",
        "Please send forty-eight water and twenty-four cola.",
        "Please send 48 water at $0.60 and 24 cola at $0.85.",
        "Please send 48 water and 24 cola. If you have any questions, please write.",
        "send me 48 water 24 cola",
        "水を48本、コーラを24本お願いします。",
        "下記の通り発注いたします。\n・水 48本\n・コーラ 24本",
        "以下を注文します。\n| 商品 | 数量 |\n|---|---|\n| 水 | 48 |\n| コーラ | 24 |",
        "水2ケースとコーラ1ケースを注文します。",
        "水48本とコーラ24本をお送りいただけますでしょうか。",
    ],
)
def test_a_clear_order_is_placed_at_once(letter: str) -> None:
    """Sentences, lists, tables, labels and Japanese, with polite words and prices beside them."""
    (order,) = understand(SETUP, "", letter + WHERE)[0]
    assert (order.kind, dict(order.items.units), order.clear) == ("order", BOTH, True)


@pytest.mark.parametrize(
    "where",
    [
        "配達先：Akinai Vending, 88 Harbor Street, Alameda\n口座：AV-20418",
        "お届け先: 88 Harbor Street, Alameda\n請求先: AV-20418",
    ],
)
@pytest.mark.parametrize(
    "letter",
    [
        "水48本とコーラ24本を注文します。",
        "下記の通り発注いたします。\n・水 48本\n・コーラ 24本",
        "水：48本\nコーラ：24本\n以上、注文いたします。",
    ],
)
def test_a_japanese_order_with_japanese_labels_is_placed(letter: str, where: str) -> None:
    """Where address and account stand behind their Japanese names."""
    (order,) = understand(SETUP, "", f"{letter}\n{where}")[0]
    assert (order.kind, dict(order.items.units), order.clear) == ("order", BOTH, True)


@pytest.mark.parametrize(
    ("payer", "clear"),
    [
        ("bill my brother's shop", False),
        ("the kiosk next door pays for it", False),
        ("charge it to Joe", False),
        ("bill our account", True),
        ("charge it to our account", True),
        ("invoice us", True),
    ],
)
def test_an_order_that_somebody_else_is_to_pay_is_quoted(payer: str, clear: bool) -> None:
    """Our own account below it does not make it clear who pays."""
    (order,) = understand(SETUP, "", f"Please send 48 water and {payer}.{WHERE}")[0]
    assert (order.kind, order.clear) == ("order", clear)


_LEADS = ("Please send us:\n", "We order the following.\n\n", "Order:\n")
_LINES = (
    "- {name}: {count}",
    "- {count} x {name}",
    "{name} - {count} units",
    "* {count} units of {name}",
    "| {name} | {count} |",
)


@pytest.mark.parametrize("line", _LINES)
def test_orders_of_every_product_and_count_are_placed(line: str) -> None:
    """Lists, tables and sentences of goods by any name, with counts from 1 to 1,000: every one placed, and no other."""
    goods = SETUP.catalog.products
    for at, (first, second) in enumerate(pairwise((*goods, goods[0]))):
        counts = 1 + 37 * at % 1000, 12 * (at + 1)
        lines = [
            line.format(name=name, count=count) for name, count in zip((first.name, second.id), counts, strict=True)
        ]
        table = ["| Product | Qty |", "|---|---|"] if line.startswith("|") else []
        letter = _LEADS[at % len(_LEADS)] + "\n".join([*table, *lines]) + "\n" + WHERE
        intents = understand(SETUP, "", letter)[0]
        units = dict(zip((first.id, second.id), counts, strict=True))
        assert [(intent.kind, dict(intent.items.units), intent.clear) for intent in intents] == [
            ("order", units, True)
        ], letter
        sentence = f"Please send {counts[0]} {first.name} and {counts[1]} {second.name}." + WHERE
        intents = understand(SETUP, "", sentence)[0]
        assert [(intent.kind, dict(intent.items.units), intent.clear) for intent in intents] == [
            ("order", units, True)
        ], sentence


@together(
    ("letter", "kind", "units", "more"),
    [
        ("Please increase the cola on order 31 by 24.", "change", {}, {"cola": 24}),
        ("Please add one more case of cola to order 31.", "change", {}, {"cola": 24}),
        ("Please reduce the cola on order 31 by 24.", "change", {}, {"cola": -24}),
        ("Please cancel the cola on order 31.", "change", {"cola": 0}, {}),
        ("Please change order 31: cola 72 instead of 48.", "change", {"cola": 72}, {}),
        ("Please change the cola in order 31 from 24 to 48.", "change", {"cola": 48}, {}),
        ("Order 31, please change:\n- cola: 72 instead of 48\n- gum: 24 instead of 48", "change",
         {"cola": 72, "chewing_gum": 24}, {}),
        ("注文31の水を24本から48本に変更してください。", "change", {"water": 48}, {}),
        ("注文31の水を72本に増やしてください。", "change", {"water": 72}, {}),
        ("注文31の水を24本増やしてください。", "change", {}, {"water": 24}),
        ("注文31のガムをキャンセルしてください。", "change", {"chewing_gum": 0}, {}),
        ("Please cancel order 31.", "cancel", {}, {}),
        ("We no longer need order 31, please cancel it.", "cancel", {}, {}),
        ("注文31をキャンセルしてください。", "cancel", {}, {}),
    ],
)  # fmt: skip
def test_a_letter_that_only_changes_one_order_does_so(
    letter: str, kind: str, units: dict[str, int], more: dict[str, int]
) -> None:
    """New units, units that come or go, goods taken off, or all of it, named by its number."""
    (change,) = understand(SETUP, "", letter)[0]
    assert (change.kind, change.orders, change.clear) == (kind, (31,), True)
    assert (dict(change.items.units), dict(change.more)) == (units, more)


@together(
    "letter",
    [
        "Please do not cancel order 31.",
        "Don't cancel order 32, only 31.",
        "注文31のキャンセルは不要になりました。",
        "If you cannot ship order 31 before the weekend, we will have to cancel it.",
        "Please ship order 168 before Monday or cancel it.",
        "Please cancel order 4. Order 5 can stay.",
        "注文52はキャンセルできますか?",
        "Please cancel our last order.",
        "Please don't add 24 cola to order 31.",
        "If Q-18 includes delivery, we'll accept it.",
        "Please proceed with Q-19 instead of Q-18.",
        "承認が下り次第、Q-43を発注いたします。",
        "Please hold Q-18 for us until Friday; my partner has to approve it.",
    ],
)
def test_what_is_only_spoken_of_is_neither_placed_nor_taken_back(letter: str) -> None:
    """Cancellations that are denied or threatened, of several orders or without a number, and quotes taken up only if."""
    intents = understand(SETUP, "", letter)[0]
    assert not any(intent.clear for intent in intents if intent.kind in ("order", "confirm", "change", "cancel"))


def test_goods_that_nobody_sells_are_named() -> None:
    """An order of them beside cola is quoted for the cola alone, and says so."""
    for letter in ("Please send us 48 cola and 24 Sprite.", "Please order:\n- Cola: 48\n- Sprite: 24"):
        (order,) = understand(SETUP, "", letter)[0]
        assert (order.clear, dict(order.items.units), order.items.unknown) == (False, {"cola": 48}, ("sprite",))


def test_the_networks_add_whole_numbers() -> None:
    """Scores are sums of integers, never of floats, and the same on every machine; a letter is read alike alone and
    beside others."""
    names = SETUP.catalog.good_names
    parts = list(clauses("Thank you for the water.\nPlease send us:\n- Cola: 48\nWhen does it come?", names))
    of_kinds = network.scores(rows_of("order", parts), kinds.weights())
    rows = [Row((), "none", subject=True), Row(scan("Of 24 cola from 311 only 20 came.", names), "claim")]
    of_roles = roles.scores(rows, find_numbers(rows), roles.weights())
    digests: list[str] = []
    for table in (of_kinds, of_roles):
        assert table.dtype.kind == "i"  # a float among weights or sums would make them floats
        assert abs(table).max() < 2**40
        digest = hashlib.sha256(" ".join(str(int(score)) for row in table for score in row).encode()).hexdigest()
        digests.append(digest[:16])
    assert (of_kinds.shape, of_roles.shape) == ((5, len(KINDS)), (3, len(ROLES) + 1))
    assert digests == ["0a49708e8d6ab8bb", "e9d6657689e3ab0f"]


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
        assert not is_charged(understand(SETUP, "", letter)[0]), letter


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


def test_what_an_order_lacks_is_not_claimed_of_the_next_too() -> None:
    """Goods that a last line asks for again are those of the order that lacks them."""
    letter = (
        "Order 48: 20 of the 24 energy drinks are here.\n\nOrder 49: 2 packs of cookies were crushed.\n\n"
        "Please send the four energy drinks with the next delivery and credit the rest."
    )
    claims = [(intent.orders, dict(intent.items.units)) for intent in understand(SETUP, "", letter)[0]]
    assert claims == [((48,), {"energy_drink": 4}), ((49,), {"cookies": 2})]


def test_several_offers_are_for_as_many_goods_in_their_order() -> None:
    """Prices after the goods that they are for go with them one by one."""
    letter = "For iced tea and gum, we offer $0.92 and $0.41."
    assert [dict(intent.offers) for intent in understand(SETUP, "", letter)[0]] == [{"iced_tea": 92, "chewing_gum": 41}]


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
