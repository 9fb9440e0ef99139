"""A person at the terminal: short forms, a clock, no typing error that costs a message."""

from collections.abc import Sequence

import pytest

import akinai
from akinai.agents.human import HumanAgent, help_text
from akinai.agents.terminal import completions
from akinai.agents.typed_lines import SeenValues, read_line
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.presentation.voice import Voice
from akinai.worlds import load
from akinai.worlds.market.model.actions import Payment, SendMessage, Text
from akinai.worlds.vending.model.actions import (
    VERBS,
    AdvanceDay,
    PlaceOrder,
    RestockSlot,
    SearchWeb,
    SendEmail,
    SetPrice,
    WaitUntil,
)
from together import together

MARKET = load("market").verbs
PRICE = SetPrice(prices=(SetPrice.Tag(row=0, column=1, price_cents=175),))


@together(
    ("verbs", "line", "action"),
    [
        (VERBS, "advance_day", AdvanceDay()),
        (VERBS, "WAIT_UNTIL hour=15", WaitUntil(hour=15)),
        (VERBS, "wait 15", WaitUntil(hour=15)),
        (
            VERBS,
            'send_email to=a@b.com subject="Hi there" body="50 \\"water\\""',
            SendEmail(to="a@b.com", subject="Hi there", body='50 "water"'),
        ),
        (VERBS, "send_email a@b.com 50 water, please", SendEmail(to="a@b.com", body="50 water, please")),
        (VERBS, "web drinks, wholesale", SearchWeb(query="drinks, wholesale")),
        (VERBS, 'place_order northbay items={"cola": 24}', PlaceOrder(supplier_id="northbay", items={"cola": 24})),
        (VERBS, "order northbay cola=24 tea=12", PlaceOrder(supplier_id="northbay", items={"cola": 24, "tea": 12})),
        (VERBS, "set_price row=0 column=1 price=$1.75", PRICE),
        (VERBS, "set_price 0 1 1.75", PRICE),
        (VERBS, "price 0 1 1.75", PRICE),
        (
            VERBS,
            "restock 0 1 cola 10",
            RestockSlot(slots=(RestockSlot.Fill(row=0, column=1, product_id="cola", quantity=10),)),
        ),
        (VERBS, '{"action": "ADVANCE_DAY"}', AdvanceDay()),
        (
            MARKET,
            "send_message b1 text Hello there",
            SendMessage(to_agent_id="b1", message=Text(content="Hello there")),
        ),
        (
            MARKET,
            "message b1 payment P-1",
            SendMessage(to_agent_id="b1", message=Payment(proposal_message_id="P-1")),
        ),
    ],
)
def test_a_line_is_read_as_it_is_meant(verbs: Verbs, line: str, action: Action) -> None:
    """Values in order or by name, quotes where there are spaces, JSON where there is structure, names in part."""
    assert read_line(verbs, line, verbs.classes) == action


@together(
    ("line", "again"),
    [
        ('order delta "orange soda"=12 melon=3', "place_order delta_provisions orange_soda=12 melon_bun=3"),
        ("order Delta Provisions soda=12", "place_order delta_provisions orange_soda=12"),
        ("order delta bun=12", "place_order delta_provisions bun=12"),
        ("visit_site 1 products=orange soda, melon collect=false", 'visit_site 1 ["orange_soda", "melon_bun"] false'),
        ("visit_site 1 soda, melon", 'visit_site 1 ["orange_soda", "melon_bun"]'),
        ("answer_customers pay=1, 2 refuse=3", "answer_customers pay=[1,2] refuse=[3]"),
        (
            "set_plan prices=orange soda 2.2; melon 1.5 from=Tue visit=Mon, Thu sites=1 soda, melon; 2 melon",
            'set_plan prices=[{"product":"orange_soda","dollars":2.2},{"product":"melon_bun","dollars":1.5,"from":"Tue"}] '
            'visit=["Mon","Thu"] sites=[{"site":1,"products":["orange_soda","melon_bun"]},{"site":2,"products":["melon_bun"]}]',
        ),
        ("week notes=Ask for two prices orders=delta soda=3", 'week notes="Ask for two prices" orders=[{"supplier_id":'
         '"delta_provisions","items":{"orange_soda":3}}]'),
    ],
)  # fmt: skip
def test_lists_rows_and_names_are_typed_as_words(line: str, again: str) -> None:
    """Commas part the items of a list, semicolons its rows, and a word of a name will do where no other has it."""
    voice = Voice(
        {
            "delta_provisions": "Delta Provisions",
            "orange_soda": "Orange Soda",
            "melon_bun": "Melon Bun",
            "red_bun": "Red Bun",
        }
    )
    verbs = load("vending").verbs
    assert read_line(verbs, line, verbs.classes, voice) == read_line(verbs, again, verbs.classes)


@together(
    ("line", "why"),
    [
        ("fly", "no action 'fly'"),
        ("wait_until", "Give hour. Usage: wait_until HOUR"),
        ("wait_until hour=noon", "Hour: a whole number, not 'noon'."),
        ("wait_until 15 16", "'16' is one value too many"),
        ("email hello", "could be read_email or send_email"),
        ('search_web query="open', "should be JSON"),
        ("place_order northbay items=4 cola=24", "cola= belongs to items, which was given already"),
        ("{", "no JSON object"),
        ("=", "no action '='"),
        ("set_price price=ten", "amount of money"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(line: str, why: str) -> None:
    """It is no action, and the reason is a sentence."""
    action = read_line(VERBS, line, VERBS.classes)
    assert isinstance(action, Unreadable)
    assert why in action.why


def test_a_message_of_an_unknown_kind_names_the_kinds() -> None:
    """What may be sent is said in place of a validation error."""
    action = read_line(MARKET, "send_message b1 hello", MARKET.classes)
    assert isinstance(action, Unreadable)
    assert "text or order_proposal or payment" in action.why


class Typed:
    """A terminal at which these lines are typed."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.texts: list[str] = []
        self.prompts: list[str] = []
        self.remembered: list[str] = []
        self.seen = SeenValues()

    def show(self, text: str) -> None:
        self.texts.append(text)

    def remember(self, line: str) -> None:
        self.remembered.append(line)

    async def ask(self, prompt: str, offered: Sequence[type[Action]], seen: SeenValues) -> str:
        self.prompts.append(prompt)
        self.seen = seen
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def play(lines: Sequence[str], days: int = 2) -> tuple[akinai.Run, Typed]:
    terminal, seconds = Typed(lines), iter(range(0, 10_000, 65))
    (run,) = akinai.run(
        "vending",
        agent=lambda role: HumanAgent(VERBS, terminal, now=lambda: next(seconds)),
        days=days,
        preset="classic",
    )
    return run, terminal


def test_typing_errors_cost_no_message_and_help_is_near() -> None:
    """Misspelt lines, help, tools and view are not moves; the world's time and a clock stand in every prompt."""
    lines = ["", "help", "tools", "tools wait_until", "view", "wat hour=1", "balance", "advance_day", "advance_day"]
    run, terminal = play(lines)
    assert [entry.name for entry in run.ledger.entries] == ["GetMoneyBalance", "AdvanceDay", "AdvanceDay"]
    assert run.header.ending == "horizon"
    assert any("hour: integer from 0 to 23" in text for text in terminal.texts)
    assert terminal.prompts[0] == "[Wed 1 Apr 08:00, move 1, 01:05] > "


@pytest.mark.parametrize("last", [["quit"], []])
def test_a_person_may_leave_at_any_time(last: list[str]) -> None:
    """`quit`, or the end of the input, ends the run as `stopped`, with all that was played."""
    run, _ = play(["advance_day", *last])
    assert (run.header.ending, len(run.ledger.entries)) == ("stopped", 1)


@pytest.mark.parametrize("name", ["vending", "market"])
def test_help_speaks_of_the_actions_of_its_world(name: str) -> None:
    """The examples are actions that can be taken here."""
    verbs = load(name).verbs
    examples = [line.split()[0] for line in help_text(verbs.classes, Voice()).splitlines() if line.startswith("  ")]
    own = {verb.tool_name() for verb in verbs.classes}
    assert set(examples) - own == {"tools", "view", "help", "quit"}
    assert set(examples) & own


def test_an_unknown_action_is_answered_with_those_that_can_be_taken() -> None:
    """Not with actions of another form of the game, such as fetching from a depot that is not there."""
    answer = read_line(VERBS, "fly", [VERBS.find(name) for name in ("search_web", "wait_until")])
    assert isinstance(answer, Unreadable)
    assert answer.why.startswith("no action 'fly'; there is search_web, wait_until")


def test_names_slots_and_products_are_completed() -> None:
    """Names of actions and parameters, few values, and what an outcome has shown."""
    _, terminal = play(["get_machine_inventory", "view_suppliers"])
    terminal.seen.add({"supplier_id": "northbay", "items": [{"product_id": "cola"}]})

    def completed(text: str) -> list[str]:
        return [word for word, _ in completions(text, VERBS.classes, terminal.seen)]

    assert "set_price" in completed("pri")
    assert "tools" in completed("to")
    assert completed("read_email only_unread=") == ["only_unread=true", "only_unread=false"]
    assert completed("set_price ")[:3] == ["0 0", "0 1", "0 2"]
    assert completed("set_price 0 1 pr")[-1] == "price="
    assert completed("place_order nor")[0] == "northbay"
    assert "cola=" in completed("place_order northbay co")
