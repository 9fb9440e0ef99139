"""A person at the terminal: plain commands, a clock, no typing error that costs a message."""

from pathlib import Path

import pytest

import akinai
from akinai.agents.human import HumanAgent, read_line
from akinai.core.actions import Unreadable
from akinai.worlds.vending.model.actions import VERBS, AdvanceDay, PlaceOrder, SendEmail, SetPrice, WaitUntil


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("advance_day", AdvanceDay()),
        ("WAIT_UNTIL hour=15", WaitUntil(hour=15)),
        (
            'send_email to=a@b.com subject="Hi there" body="50 \\"water\\""',
            SendEmail(to="a@b.com", subject="Hi there", body='50 "water"'),
        ),
        ('place_order supplier_id=northbay items={"cola": 24}', PlaceOrder(supplier_id="northbay", items={"cola": 24})),
        ("set_price row=0 column=1 price=$1.75", SetPrice(prices=(SetPrice.Tag(row=0, column=1, price_cents=175),))),
        ('{"action": "ADVANCE_DAY"}', AdvanceDay()),
    ],
)
def test_a_line_is_read_as_it_is_meant(line: str, action: akinai.Action) -> None:
    """Names with key=value, quotes where there are spaces, JSON where there is structure."""
    assert read_line(VERBS, line) == action


@pytest.mark.parametrize(
    "line", ["fly", "wait_until 15", "wait_until hour=noon", 'search_web query="open', "{", "=", "set_price price=ten"]
)
def test_a_line_that_cannot_be_read_says_why(line: str) -> None:
    """It is no action, and the reason is a sentence."""
    action = read_line(VERBS, line)
    assert isinstance(action, Unreadable)
    assert len(action.why) > 15


def play(lines: list[str], tmp_path: Path, days: int = 2) -> tuple[akinai.Run, list[str], list[str]]:
    texts: list[str] = []
    prompts: list[str] = []
    typed, seconds = iter(lines), iter(range(0, 10_000, 65))

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    (run,) = akinai.run(
        "vending", agent=lambda role: HumanAgent(VERBS, texts.append, ask, now=lambda: next(seconds)), days=days
    )
    return run, texts, prompts


def test_typing_errors_cost_no_message_and_help_is_near(tmp_path: Path) -> None:
    """Misspelt lines, help, tools and view are not moves; the clock stands in every prompt."""
    lines = [
        "",
        "help",
        "tools",
        "tools wait_until",
        "view",
        "wait hour=1",
        "get_money_balance",
        "advance_day",
        "advance_day",
    ]
    run, texts, prompts = play(lines, tmp_path)
    assert [entry.name for entry in run.ledger.entries] == ["GetMoneyBalance", "AdvanceDay", "AdvanceDay"]
    assert run.header.ending == "horizon"
    assert any('"hour"' in text for text in texts)
    assert any("did you mean" in text for text in texts)
    assert prompts[0].startswith("[01:05, move 1]")


@pytest.mark.parametrize("last", [["quit"], []])
def test_a_person_may_leave_at_any_time(last: list[str], tmp_path: Path) -> None:
    """`quit`, or the end of the input, ends the run as `stopped`, with all that was played."""
    run, _, _ = play(["advance_day", *last], tmp_path)
    assert (run.header.ending, len(run.ledger.entries)) == ("stopped", 1)
