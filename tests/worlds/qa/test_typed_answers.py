"""Answers that a person types: the number alone will do."""

import pytest

from akinai.agents.human import help_text
from akinai.agents.typed_lines import read_line
from akinai.core.actions import Action
from akinai.core.presentation.voice import Voice
from akinai.worlds.qa.model import Answer, Skip
from akinai.worlds.qa.world import Qa

VERBS = Qa.verbs


@pytest.mark.parametrize(
    ("line", "action"),
    [("5", Answer(choice=5)), ("answer 5", Answer(choice=5)), ("傘", Answer(choice="傘")), ("skip", Skip())],
)
def test_a_line_is_read_as_it_is_meant(line: str, action: Action) -> None:
    """The only value that is needed is the answer."""
    assert read_line(VERBS, line, VERBS.classes) == action


def test_help_speaks_of_answers() -> None:
    """The examples are actions that can be taken here."""
    assert "  answer CHOICE\n  skip\n" in help_text(VERBS.classes, Voice())
