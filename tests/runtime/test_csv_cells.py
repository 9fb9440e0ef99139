"""Cells of a CSV: text that a spreadsheet would calculate is marked, numbers are not."""

import csv
import io

from akinai.core.untrusted.spelling import csv_line
from together import together


@together("text", ["=1+1", "+1", "-2+3", "@SUM(A1)", "\t=1", "=1\n2", '=HYPERLINK("x")'])
def test_formula_is_marked_as_text(text: str) -> None:
    """An apostrophe stands before it, and whoever takes that away has the exact text."""
    assert next(csv.reader(io.StringIO(csv_line([text]), newline=""))) == [f"'{text}"]


def test_a_control_character_is_spelled() -> None:
    """A return before a formula is no longer one, and neither is what follows it."""
    assert next(csv.reader(io.StringIO(csv_line(["\r=1"]), newline=""))) == ["\\x0d=1"]


def test_numbers_and_other_text_stay() -> None:
    """Numbers below zero, and text that begins otherwise, are as they were."""
    assert csv_line([-5, -0.5, "1-2", " =1", "a", True]) == "-5,-0.5,1-2, =1,a,True"
