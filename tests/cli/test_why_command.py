"""akinai why: tables for people, one document for programs."""

import pytest

from command_line import Akinai


@pytest.mark.slow
def test_what_mattered_is_printed_and_kept(akinai: Akinai) -> None:
    """The tables name days and decisions and how sure they are; the transcript's head has the first rows."""
    akinai(
        "run", "vending", "--preset", "quarter", "--days", "8", "--agent", "careful", "--seeds", "3", "--name", "shop"
    )
    answer = akinai("why", "shop", "--futures", "4", "--budget", "60")
    assert (answer.code, answer.err) == (0, "")
    assert "reference in its place" in answer.out
    assert "Cost most" in answer.out or "Made most" in answer.out
    assert "akinai show shop-3 --day" in answer.out
    document = akinai("why", "shop", "--futures", "4", "--json").json
    assert document["player"] == "reference"
    assert document["left"] == 0
    assert {"first", "worth", "ci95", "shown", "decisions"} <= (document["cost"] + document["made"])[0].keys()
    assert "most: day" in akinai("show", "shop").out
