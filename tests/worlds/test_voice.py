"""A voice for people: names, slots and dates where a model reads ids, rows and times; actions and ledgers are the same."""

from typing import Any

import pytest

import akinai
from akinai import worlds
from akinai.agents.human import HumanAgent
from akinai.agents.typed_lines import SeenValues, read_line
from akinai.core.actions import Action, Unreadable
from akinai.core.agents import Role
from akinai.core.presentation.complaints import complaint_about
from akinai.core.presentation.desk import Choice, Desk, Pick
from akinai.core.presentation.transcript import Passage, Sheet
from akinai.core.presentation.voice import Voice
from akinai.core.worlds import World
from akinai.report.language import translate_lines
from akinai.worlds.market.model.actions import SendMessage
from akinai.worlds.vending.model.actions import ChangePrices, PlaceOrder, SetPrice, WaitUntil
from together import together

DESK = Desk(
    picks=(
        Pick(("row", "column"), "Slot", ()),
        Pick(("supplier_id",), "Supplier", ()),
        Pick(("items",), "Product", (Choice(("cola",), "Cola"),)),
    )
)


def voice_of(name: str, preset: str | None = None) -> tuple[World[Any], Voice]:
    """The voice of the first actor of a world, and the world."""
    world = worlds.load(name)
    session = akinai.open(name, preset=preset)
    genesis, actor = session.run().header.genesis, session.actor or ""
    session.close()
    return world, world.facets.presentation.voice(world.begin(genesis), actor)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("row 1, column 1 holds no product to price", "slot B2 holds no product to price"),
        ("Water is small, and row 2 is for large items (rows 0-1 take small items, rows 2-3 large ones)",
         "Water is small, and row C is for large items (rows A-B take small items, rows C-D large ones)"),
        ("columns 0-2", "columns 1-3"),
        ("Rows 0-1 take small items", "Rows A-B take small items"),
        ("- Chocolate Bar (chocolate_bar): 3 units", "- Chocolate Bar: 3 units"),
        ("Northbay Wholesale (northbay, a@b.com) has opened", "Northbay Wholesale (a@b.com) has opened"),
        ("no price is set for chocolate_bar, water", "no price is set for Chocolate Bar, Water"),
        ("Site 1, Bay Street: iced_tea x2, cola x2, water.", "Site 1, Bay Street: Iced Tea x2, Cola x2, Water."),
        ("Prices: cola 1.60, chips $1.70 from Tue.\n- 14 water\n1 Bay: cola 2 (out Tue) 0; chips 0 1",
         "Prices: Cola 1.60, Potato Chips $1.70 from Tue.\n- 14 Water\n1 Bay: Cola 2 (out Tue) 0; Potato Chips 0 1"),
        ("no product 'colla' in the catalog; did you mean 'cola'?", "no product 'colla' in the catalog; did you mean 'Cola'?"),
        ("Is the water warm? a-water, water.com or water, as in 50 units of water", "Is the water warm? a-water, water.com or water, as in 50 units of water"),
        ("write to chocolate_bar@shop.com or http://x.com/chocolate_bar", "write to chocolate_bar@shop.com or http://x.com/chocolate_bar"),
    ],
)  # fmt: skip
def test_a_machine_has_slots_and_goods_have_names(text: str, words: str) -> None:
    """Addresses and words that only look like ids stay."""
    assert voice_of("vending", "classic")[1].tell(text) == words


def test_a_market_has_shops_and_dates_and_a_profile_is_a_card() -> None:
    """Names for ids, days for times, and no JSON in the briefing."""
    _, voice = voice_of("market")
    shop = voice.names["business_0003"]
    assert voice.tell("[37] from business_0003: Sorry") == f"From {shop}: Sorry"
    assert voice.tell(f"- business_0003: {shop}, rating 1.9.") == f"- {shop}, rating 1.9."
    assert voice.tell("expires 2026-04-04T08:00:04.659000+00:00") == "expires 4 April, 08:00"
    assert voice.tell("Refused; wait_until it", {"wait_until": "Wait"}) == "Refused; \u201cWait\u201d it"
    text, card = voice.brief
    assert isinstance(text, Passage)
    assert isinstance(card, Sheet)
    assert not [word for word in ("{", "_", "register") if word in text.text]
    assert list(card.columns.values()) == ["", "cents"]
    assert all(isinstance(cents, int) and cents > 0 for _, cents in card.rows)
    assert card.note.startswith("The place needs to have: ")


LABELS = {"close_week": "End the week", "week": "A whole week in one form", "pay": "Pay"}
SOLD = "Good morning. Weather: cold.\n{}Bank balance: $5.00.\nSold yesterday: 2 Cola at $2.20. Income: $4.40."


def test_a_week_is_decided_in_a_form() -> None:
    """The briefing names it by its button, or at a terminal as it is typed; and never speaks of objects and tools."""
    world, voice = voice_of("vending", "sprint")
    genesis = akinai.open("vending", preset="sprint").run().header.genesis
    state = world.begin(genesis)
    text = world.view(state, "owner").text
    assert "week carries out all your decisions in one object, and then does the same" in text
    assert "“week” carries out all your decisions, and then does the same" in voice.tell(text)
    told = voice.tell(text, LABELS)
    assert "“End the week” ends the week and brings its report; “A whole week in one form” carries out all" in told
    assert not [word for word in ("tools", "object", "_") if word in told]
    assert "in one form, and end it." in world.facets.presentation.desk(state, "owner").abouts["week"]


@pytest.mark.parametrize(
    ("sites", "left"),
    [
        ("Sold yesterday, Bay Street: 2 Cola.\n", ""),
        *[(text, text) for text in ("Sold yesterday, Bay Street (sealed): nothing.\n",
                                    "Sold yesterday, Bay: 1 Cola.\nSold yesterday, Park: 1 Cola.\n")],
    ],
)  # fmt: skip
def test_sales_of_one_site_are_told_once(sites: str, left: str) -> None:
    """With prices; those of several sites are told by site too."""
    assert voice_of("vending")[1].tell(SOLD.format(sites)) == SOLD.format(left)


@pytest.mark.parametrize(
    ("name", "preset", "typed", "given"),
    [
        ("vending", "classic", "price A2 1.75", "price 0 1 1.75"),
        ("vending", "classic", "restock d3 cola 4", "restock 3 2 cola 4"),
        ("vending", "classic", "place_order northbay wholesale Iced Tea=24 cola=12", "place_order northbay iced_tea=24 cola=12"),
        ("market", None, "send_message heron hearth text Hello Heron Hearth", "send_message business_0003 text Hello Heron Hearth"),
        ("market", None, 'send_message "Heron Hearth" payment P-1', "send_message business_0003 payment P-1"),
    ],
)  # fmt: skip
def test_a_typed_name_is_the_same_action(name: str, preset: str | None, typed: str, given: str) -> None:
    """As its id; in a text that is sent it stays what was typed."""
    world, voice = voice_of(name, preset)
    offered = world.verbs.classes
    action = read_line(world.verbs, typed, offered, voice)
    assert not isinstance(action, Unreadable), action.why
    assert action == read_line(world.verbs, given, offered)


@together(
    ("verb", "values", "text", "paths"),
    [
        (PlaceOrder, {}, "Give supplier, product.", [("supplier_id",), ("items",)]),
        (PlaceOrder, {"supplier_id": "n", "items": {"cola": ""}}, "Cola: give a number.", [("items", "cola")]),
        (PlaceOrder, {"supplier_id": "n", "items": {"cola": 0}}, "Cola: at least 1, not 0.", [("items", "cola")]),
        (SetPrice, {"prices": [{"row": 0, "column": 1, "price": 2}, {"price": 1}]}, "Row 2: Give slot.",
         [("prices", 1, "row"), ("prices", 1, "column")]),
        (SetPrice, {"prices": [{"row": 0, "column": 1, "price": -1}]}, "-1 is below zero; give 0 or more.", [("prices", 0)]),
        (ChangePrices, {"prices": {"cola": 1, "tea": "dear"}}, "no amount of money in 'dear'", [("prices", "tea")]),
        (WaitUntil, {"hour": 33}, "Hour: at most 23, not 33.", [("hour",)]),
        (SendMessage, {"to_agent_id": "b", "message": {"type": "text"}}, "Give content.", [("message", "content")]),
    ],
)  # fmt: skip
def test_a_refusal_is_in_the_words_of_the_form(
    verb: type[Action], values: dict[str, object], text: str, paths: list[tuple[str | int, ...]]
) -> None:
    """It names the fields that a person sees, and the value at fault."""
    complaint = complaint_about(verb, values, DESK)
    assert complaint
    assert text in complaint.text
    assert list(complaint.paths) == paths


@pytest.mark.parametrize(
    ("english", "japanese"),
    [
        ("Give supplier, product.", "仕入れ先、商品を入れてください。"),
        ("Hour: at most 23, not 33.", "時：23 以下にしてください（33 ではなく）。"),
        ("Price in row 3: at least 1, not 0.", "3 行目の値段：1 以上にしてください（0 ではなく）。"),
        ("The place needs to have: Live Music.", "店に必要なもの：Live Music。"),
        ("Refused: slot A2 is already empty", "断られました：棚 A2 はもう空です"),
        (
            "“End the week” ends the week and brings its report; “A whole week in one form” carries out all your decisions, and then does the same.",
            "「一週間を終える」は週を終えて報告を届け、「一週間をひとつの欄で」はすべての決定を行ってから同じことをします。",
        ),
        ("Sold yesterday: 2 Cola at $2.20. Income: $4.40.", "きのう売れたもの：2 Cola at $2.20。収入：$4.40。"),
        ("Decide a whole week in one form, and end it.", "一週間のすべてをひとつの欄で決め、週を終える。"),
        ("  - a letter, as it was written", "  - a letter, as it was written"),
    ],
)
def test_a_person_reads_japanese(english: str, japanese: str) -> None:
    """The words of forms, cards and refusals; what somebody wrote stays."""
    assert translate_lines(english, "ja") == japanese


def test_the_ledger_of_a_person_is_that_of_an_agent() -> None:
    """Typed by names, the same entries as by ids: equal digests."""

    class Typed:
        def __init__(self, *lines: str) -> None:
            self.lines, self.texts = list(lines), list[str]()

        def show(self, text: str) -> None:
            self.texts.append(text)

        def remember(self, line: str) -> None: ...

        async def ask(self, prompt: str, offered: object, seen: SeenValues) -> str:
            if not self.lines:
                raise EOFError
            return self.lines.pop(0)

    def play(terminal: Typed, *, person: bool) -> akinai.Run:
        world = worlds.load("vending")

        def factory(role: Role) -> HumanAgent:
            return HumanAgent(world.verbs, terminal, role.voice)

        factory.__dict__["person"] = person
        (run,) = akinai.run("vending", agent=factory, days=2, preset="classic")
        return run

    by_names = Typed("order northbay wholesale Cola=24", "price A1 2", "inventory")
    by_ids = Typed("order northbay cola=24", "price 0 0 2", "inventory")
    digests = {play(by_names, person=True).ledger.digest, play(by_ids, person=False).ledger.digest}
    assert len(digests) == 1
    assert any("slot A1" in text for text in by_names.texts)
    assert any("row 0, column 0" in text for text in by_ids.texts)
    assert not any("row 0, column 0" in text for text in by_names.texts)
