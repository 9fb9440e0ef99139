"""Findings as people see them: a table, lines in a narrow place, and a timeline by day."""

import pytest
from rich.console import Console, RenderableType

from akinai.core.findings import Finding
from akinai.core.ledger import DAY_US
from akinai.report.tables.findings import listed_findings, short_entries, timeline

START = 20_000 * DAY_US + DAY_US // 3
FOUND = (
    Finding("loop_behavior", "owner", (1, 2, 3, 4, 5), "minor", "it would help", "nothing changed", START + 60),
    Finding("cash_misremembered", "owner/email-1", (9,), "serious", '"cash: $10"', "cash was $260.00", START + DAY_US),
    Finding(
        "cash_misremembered", "owner", (12,), "grave", '"cash: \x1b[31m$1"', "cash was $90.00", START + 88 * DAY_US
    ),
)


def printed_lines(renderable: RenderableType, width: int) -> list[str]:
    console = Console(width=width, record=True, quiet=False, file=None, force_terminal=False)
    with console.capture() as caught:
        console.print(renderable)
    return caught.get().splitlines()


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_findings_fit_the_width(width: int) -> None:
    """No line is longer, no control character of an agent reaches the terminal, and all three are there."""
    table, line = listed_findings(FOUND, width, start=START), timeline(FOUND, 90, width, start=START)
    lines = printed_lines(table, width) + printed_lines(line, width)
    assert max(map(len, lines)) <= width
    assert "\x1b" not in "".join(lines)
    text = " ".join(" ".join(lines).split())
    assert "loop behavior" in text
    assert "serious" in text


def test_a_table_tells_the_day_and_both_sides() -> None:
    """Days are counted from 1."""
    first, second, third = printed_lines(listed_findings(FOUND, 160, start=START), 160)[2:]
    assert first.split()[0] == "1"
    assert "1, 2, 3 +2" in first
    assert second.split()[0] == "2"
    assert "cash was $260.00" in second
    assert third.split()[0] == "89"
    assert printed_lines(listed_findings((), 80, start=START), 80) == ["no findings"]


def test_a_timeline_marks_each_day_by_its_worst() -> None:
    """One row a type, one mark a day while days fit, several days a mark where they do not."""
    wide = printed_lines(timeline(FOUND, 90, 160, start=START), 160)
    assert wide[1].split() == ["loop", "behavior", "1", "o" + "." * 89]
    assert wide[2].split()[-1] == "." + "#" + "." * 86 + "X" + "."
    narrow = printed_lines(timeline(FOUND, 90, 60, start=START), 60)
    assert narrow[2].split()[-1][0] == "#"
    assert "3 days" in narrow[-1]


def test_entries_are_told_briefly() -> None:
    """The first three, and how many more."""
    assert short_entries((4,)) == "4"
    assert short_entries((4, 5, 6, 7)) == "4, 5, 6 +1"


@pytest.mark.parametrize("width", [80, 160])
def test_each_finding_names_the_command_that_opens_it(width: int) -> None:
    """Below what was true stands how to read the last of its entries."""
    lines = printed_lines(listed_findings(FOUND, width, start=START, command="akinai show a"), width)
    words = " ".join(" ".join(lines).split())
    for finding in FOUND:
        assert f"--entry {finding.entries[-1]}" in words
