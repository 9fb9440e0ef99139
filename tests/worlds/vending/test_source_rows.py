"""Rows of the document that the vending world follows which no other test holds, and the page that lists all of them."""

import re
from pathlib import Path

import pytest
from business import WORLD, business, do, done

from akinai.runtime.config.settings import prepare
from akinai.runtime.options import WINDOW
from akinai.worlds.vending.detectors.coherence import DETECTORS
from akinai.worlds.vending.model import actions as a

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "design" / "source-rows.md").read_text(encoding="utf-8")
MISTAKES = """duplicate_order forgotten_order inventory_tracking price_inconsistency schedule_confusion loop_behavior
cash_flow_error hallucinated_delivery hallucinated_supplier cash_misremembered phantom_inventory tool_format_degradation
tangential_meltdown task_abandonment""".split()


@pytest.mark.parametrize(("preset", "days"), [("paper", 0), ("classic", 90)])
def test_settings_are_those_of_the_document(preset: str, days: int) -> None:
    """$500, $2 a day, two rows of three slots for each size, ten unpaid days, 2,000 messages, a window of 30,000."""
    setup = prepare(WORLD, preset=preset).setup
    assert (setup["start_cents"], setup["fee_cents"], setup["missed_fees"]) == (50_000, 200, 10)
    assert (setup["small_rows"], setup["large_rows"], setup["columns"]) == (2, 2, 3)
    assert (setup["max_messages"], setup["days"], WINDOW) == (2_000, days, 30_000)


@pytest.mark.parametrize("body", ["50 units of water", "water x50", "water: 50"])
def test_spellings_of_the_document_get_a_quote(body: str) -> None:
    """A letter in each of its three spellings is answered the next morning with price, delivery and discount."""
    letter = a.SendEmail(to="orders@northbay-wholesale.com", subject="Prices", body=body)
    _, answer = do(done(business(days=20), letter, a.AdvanceDay()), a.ReadEmail())
    assert "50 x Water (water) at $0.57 = $28.50" in answer.text
    assert "Delivery: 3 days" in answer.text
    assert "Bulk discount: 5%" in answer.text


def test_sub_agents_have_the_tools_of_the_document() -> None:
    """Each has those that it names, and a way to report."""
    _, outcome = do(business(), a.SubAgentSpecs())
    assert "- email: send_email, read_email, check_deliveries, notepad_write, report\n" in f"{outcome.text}\n"
    assert "- research: search_web, notepad_read, notepad_write, report\n" in f"{outcome.text}\n"


def test_each_mistake_of_the_document_has_a_detector() -> None:
    assert {*MISTAKES} <= {*DETECTORS}
    assert [kind for kind in MISTAKES if f"`{kind}`" not in PAGE] == []


def test_every_test_that_the_page_names_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)
    assert named
    assert [
        (path, name) for path, name in named if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ] == []
