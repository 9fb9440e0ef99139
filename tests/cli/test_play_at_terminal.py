"""A person who plays at a terminal, here through a pipe."""

import io
import sys
from collections.abc import Callable

import pytest

from command_line import Akinai

Play = Callable[..., str]
MISTYPED = ("Usage: ", "'help' shows how actions are typed", "Refused")


@pytest.fixture
def play(akinai: Akinai, monkeypatch: pytest.MonkeyPatch) -> Play:
    """What is printed for lines that are typed."""

    def typed(lines: str, *words: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        return akinai("play", "--terminal", *words).err

    return typed


def test_who_goes_on_is_told_what_was_done(play: Play) -> None:
    """The actions with their answers, and the prompt counts on; the answer to the last action is the end."""
    begun = play("get_money\norder delta cola\nadvance_day\nquit\n", "vending", "--days", "2", "--name", "me")
    assert "Items: names with values, not 'cola'. Usage: place_order" in begun
    assert "move 3" in begun
    further = play("advance_day\n", "--resume", "me-1")
    told, _, asked = further.partition("You go on here.")
    assert told.index("> get_money_balance\n") < told.index("Cash: $") < told.index("> advance_day\n")
    assert "Good morning. It is Thu 2 Apr 2026" in told
    assert "move 3," in asked
    assert "move 1," not in asked
    assert "Day 2 is over" in asked


def test_two_weeks_at_the_machine(play: Play) -> None:
    """A person finds a supplier, orders, signs, fills the machine, sets prices and sells, by words that the answers
    have."""
    lines = ["read_email", "search_web wholesale", "get_price_lists"]
    lines += ['order "delta provisions" "orange soda"=28 lemonade=28 "sour worms"=28', *["advance"] * 4]
    lines += ["wait 16", "count 1", "visit 1 orange soda, lemonade, sour worms"]
    lines += ['change_prices "orange soda"=2.20 lemonade=1.70 "sour worms"=1.60', *["advance"] * 3, "visit 1"]
    lines += ["advance"] * 7
    told = play("\n".join([*lines, "quit"]), "vending", "--name", "me")
    assert not [word for word in MISTYPED if word in told]
    assert "Signed for: order 1" in told
    assert "14 Orange Soda, 14 Lemonade, 14 Sour Worms" in told
    assert "Orange Soda at $2.20" in told
    assert "day 15 of 90" in told
    assert f"move {len(lines) + 1}," in told


def test_eight_weeks_by_plan(play: Play) -> None:
    """A person orders, writes the plan, pays the rent, and ends eight weeks."""
    order = 'order "canyon trading" "orange soda"=28 "sour worms"=28 lemonade=28'
    goods = (("orange soda", "2.2"), ("sour worms", "1.7"), ("lemonade", "1.6"))
    lines = ["search_web wholesale suppliers", "get_price_lists", order]
    lines += [f"set_plan sites=1 {', '.join(name for name, _ in goods)} prices={'; '.join(map(' '.join, goods))}"]
    for week in range(1, 9):
        lines += ["close", *([order] if week in (2, 4, 6) else []), *(["pay rent 1"] if week in (3, 7) else [])]
    told = play("\n".join([*lines, "quit"]), "vending", "--preset", "sprint", "--name", "me")
    assert not [word for word in MISTYPED if word in told]
    assert "Site 1, Bay Street: Orange Soda, Sour Worms, Lemonade." in told
    assert "Week 9 of 52." in told
    assert "SEALED" not in told
    assert "LOST" not in told


def test_a_customer_buys_at_the_terminal(play: Play) -> None:
    """From the gate to the payment, of which the end says what it was worth."""
    wish = "I would like 1 x Plum Egg Toast, 1 x Sesame Tofu Tart and 1 x Walnut Chicken Skewers."
    lines = ["register", "search", f'send_message "heron corner" text "{wish} Please send me a proposal."', "wait 60"]
    lines += ["fetch", 'send_message "heron corner" payment business_0005-1']
    told = play("\n".join(lines), "market", "--name", "me")
    assert not [word for word in MISTYPED if word in told]
    assert "Total $34.78" in told
    assert "Paid $34.78 to Heron Corner" in told
