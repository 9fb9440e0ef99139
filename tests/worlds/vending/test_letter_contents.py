"""The goods, prices and numbers of clauses whose kinds are known."""

import pytest
from letters_for_tests import SETUP

from akinai.worlds.vending.letters import reader
from akinai.worlds.vending.letters.intents import Intent
from akinai.worlds.vending.letters.text import clauses, prepare
from together import together


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch):
    """Read lines of "kind| text" as a letter whose clauses are of these kinds."""

    def read_lines(*lines: str, subject: str = "") -> tuple[Intent, ...]:
        parts = [line.partition("| ") for line in lines]
        names = SETUP.catalog.good_names
        kinds = tuple(kind for kind, _, text in parts for _ in clauses(prepare(text, names), names))
        monkeypatch.setattr(reader, "kinds_of", lambda *_: ("none", kinds))
        reader.forget()
        return reader.read_letter("\n".join(text for _, _, text in parts), names, subject or " ")

    yield read_lines
    reader.forget()


@together(
    ("lines", "offers", "rivals", "off"),
    [
        (["negotiate| Could you do water at $0.42 (today $0.48)?"], {"water": 42}, {}, None),
        (["none| Your cola is dear.", "negotiate| Could you do $0.55?"], {"cola": 55}, {}, None),
        (["negotiate| For cola a competitor advertises $1.08, against your $1.22.", "negotiate| Could you supply us at $1.05?"],
         {"cola": 105}, {"cola": 108}, None),
        (["none| FreshCart sells water at 44 cents.", "negotiate| Would you go to 42 cents?"], {"water": 42}, {"water": 44}, None),
        (["negotiate| On gum you say 56, I say 50."], {"chewing_gum": 50}, {}, None),
        (["negotiate| Chips: your 94 cents is steep, so 80 from us."], {"chips": 80}, {}, None),
        (["negotiate| We could do $0.48 for water, and ask 6% off the rest."], {"water": 48}, {}, 60),
        (["negotiate| Our retail price for cola is $1.50, so could you lower it?"], {}, {}, None),
        (["negotiate| Could you do $0.50?"], {"": 50}, {}, None),
        (["negotiate| Pricing: $1.05 for the cola would be fair."], {"cola": 105}, {}, None),
        (["negotiate| Cola: 68 cents is too high for us, and I'd suggest 62."], {"cola": 62}, {}, None),
        (["negotiate| Your 97 cents for chips compares with 85 cents at Harbor Foods."], {}, {"chips": 85}, None),
        (["negotiate| At 29 cents for candy I could list it at $1.00."], {"candy": 29}, {}, None),
        (["negotiate| A competitor of yours lists cola for 98 cents, whereas you charge $1.18."], {}, {"cola": 98}, None),
        (["negotiate| We now pay 46 cents for water elsewhere; with 44 cents you would win us over."],
         {"water": 44}, {"water": 46}, None),
        (["negotiate| 御社の水は55セントですが、49セントにしていただけますか。"], {"water": 49}, {}, None),
    ],
)  # fmt: skip
def test_a_bargain_tells_whose_price_is_whose(
    read, lines: list[str], offers: object, rivals: object, off: object
) -> None:
    """Offers, rivals' prices and the supplier's own are kept apart; a price without a name is that of the goods named last."""
    (intent,) = read(*lines)
    assert (dict(intent.offers), dict(intent.rivals), intent.off_permille) == (offers, rivals, off)


@together(
    ("text", "missing", "received"),
    [
        ("5 of the 48 water bottles had leaked.", {"water": 5}, {}),
        ("Of the eighteen sandwiches, four were warm.", {"sandwich": 4}, {}),
        ("An entire case of cola was not delivered.", {"cola": 24}, {}),
        ("We ordered 24 candy but only 20 came.", {"candy": 4}, {"candy": 20}),
        ("I counted 44 energy drinks, not 48.", {"energy_drink": 4}, {"energy_drink": 44}),
        ("Only 36 water arrived.", {}, {"water": 36}),
        ("There were 9 sandwiches against the 12 on the invoice.", {"sandwich": 3}, {"sandwich": 9}),
        ("The slip has 48 colas on it, the floor has 40.", {"cola": 8}, {"cola": 40}),
        ("It arrived six candy packs light.", {"candy": 6}, {}),
        ("Popcorn: ordered 24, received 24. Candy: ordered 48, received 40.", {"candy": 8}, {"candy": 40}),
        ("Item: candy / ordered: 24 / delivered: 21", {"candy": 3}, {"candy": 21}),
        ("コーラ : 注文数 24 : 入荷数 21", {"cola": 3}, {"cola": 21}),
        ("水 : 請求 96 : 実数 96 , コーラ : 請求 24 : 実数 21", {"cola": 3}, {"cola": 21}),
        ("When I took it all inside, one case of water, that is 24 bottles, was missing.", {"water": 24}, {}),
        ("We ordered 24 water and were handed a case of tonic instead.", {"water": 24}, {}),
        ("The 24 chocolate bars in it have melted.", {"chocolate_bar": 24}, {}),
        ("キャンディは48個の注文でしたが、実際に入っていたのは40個でした。", {"candy": 8}, {"candy": 40}),
        ("サラダ6個中4個の葉が茶色く変色していました。", {"salad": 4}, {}),
        ("Three bags of popcorn and one salad were crushed.", {"popcorn": 3, "salad": 1}, {}),
        ("コーラ24本のうち、8本が欠けておりました。", {"cola": 8}, {}),
    ],
)
def test_a_claim_counts_what_is_missing_and_what_came(read, text: str, missing: object, received: object) -> None:
    """Missing or bad units are told from those that came and those that were ordered."""
    (intent,) = read(f"claim| {text}")
    assert (dict(intent.items.units), dict(intent.received)) == (missing, received)


@together(
    ("lines", "numbers"),
    [
        (["none| Order 14 was short.", "claim| 4 cola were missing.", "none| Now to order 15.", "ask_order| Where is it?"],
         [(14,), (15,)]),
        (["ask_order| Where are orders 14 and 15?"], [(14, 15)]),
        (["cancel| 注文14番を取り消してください。"], [(14,)]),
        (["change| For 33, could we have 12 salads?"], [(33,)]),
        (["none| Order 14 came.", "claim| Two waters from 14 were empty."], [(14,)]),
        (["none| About order 14:", "change| 24 water is the right size."], [(14,)]),
        (["change| Make the water on 23 two cases."], [(23,)]),
        (["cancel| 2号機用の注文83を取り消してください。"], [(83,)]),
    ],
)  # fmt: skip
def test_each_intent_has_its_own_number(read, lines: list[str], numbers: object) -> None:
    """The number of an order is that of the intent's own clause, else of the clause nearest before it."""
    assert [intent.orders for intent in read(*lines)] == numbers


def test_claims_of_two_orders_are_two(read) -> None:
    """Each has its own goods."""
    intents = read("claim| Order 14: 4 cola were missing.", "claim| Order 15: six salads were brown.")
    assert [(intent.orders, dict(intent.items.units)) for intent in intents] == [
        ((14,), {"cola": 4}),
        ((15,), {"salad": 6}),
    ]


def test_what_one_of_something_costs_is_a_price(read) -> None:
    """ "A sandwich" in such a question is no quantity."""
    (intent,) = read("ask_price| What does a salad cost, and what a sandwich?")
    assert (intent.topic, dict(intent.items.units)) == ("prices", {})
    (intent,) = read("ask_price| What does a case of cola cost?")
    assert (intent.topic, dict(intent.items.units), intent.items.bare) == ("prices", {}, ("cola",))
    (intent,) = read("ask_price| What do two cases of cola cost?")
    assert (intent.topic, dict(intent.items.units)) == ("quote", {"cola": 48})


@pytest.mark.parametrize("day", ["2 February", "on 30 May", "22 Nov"])
def test_a_day_of_a_month_is_no_number_of_an_order(read, day: str) -> None:
    """Nor a count."""
    (intent,) = read(f"ask_order| Order 87 was to come {day}. Where is it?")
    assert intent.orders == (87,)


@pytest.mark.parametrize("kind", ["order", "change", "claim", "negotiate", "cancel"])
def test_a_long_line_of_counts_is_read(read, kind: str) -> None:
    """Counts by the hundred in a line are read, and nothing raises; `bench/long_texts.py` measures how long it takes."""
    (intent,) = read(f"{kind}| {'and 24 water ' * 100}")
    assert intent.kind == ("change" if kind == "cancel" else kind)  # goods are taken out of an order
