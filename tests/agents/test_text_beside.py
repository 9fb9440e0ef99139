"""What an agent writes beside its JSON action is kept as its text, on every path."""

import json
import sys
from pathlib import Path

from akinai.agents.protocols import JsonProtocol
from akinai.agents.scripted import ScriptedAgent
from akinai.agents.stdio import ProgramAgent
from akinai.core.actions import Unreadable
from akinai.core.agents import Role, View
from akinai.core.models import Reply
from akinai.core.replies.moves import read_move
from akinai.worlds.vending import Vending
from together import together

VERBS = Vending.verbs
WAIT = '"action": "WAIT_UNTIL", "hour": 15'
REPLIES = [
    ("{%s}", ""),
    ("The water has come.\n{%s}", "The water has come."),
    ("{%s}\nI expect 24 cola.", "I expect 24 cola."),
    ("Before.\n```json\n{%s}\n```\nAfter.", "Before.\nAfter."),
    ('{"reasoning": "We have $10.", %s}', "We have $10."),
    ('{%s, "explanation": "So far so good.", "plan": ["restock", "wait"]}', "So far so good.\nrestock\nwait"),
    ('A {%s, "thought": "B"} C', "A\nB\nC"),
    ('{"thoughts": "B", "action": "WAIT_UNTIL", "arguments": {"hour": 15, "comment": "C"}}', "B\nC"),
    ('{%s} {"hour": 15} Twice the hour.', '{"hour": 15} Twice the hour.'),
]


@together(("form", "text"), REPLIES)
def test_text_beside_an_action_is_kept(form: str, text: str) -> None:
    """Prose before and after the object and its text fields are the move's text; the action is the same."""
    reply = form % WAIT if "%s" in form else form
    move = read_move(VERBS, reply)
    assert (move.action.tool_name(), move.action.encode(), move.said) == ("wait_until", {"hour": 15}, text)


def test_a_parameter_of_an_action_is_no_text_beside_it() -> None:
    """A field that the action itself has goes to the action; an unreadable reply keeps its text by itself."""
    assert read_move(VERBS, '{"action": "NOTEPAD_WRITE", "text": "24 cola", "note": "why"}').said == "why"
    move = read_move(VERBS, "I think we have 24 cola.")
    assert isinstance(move.action, Unreadable)
    assert (move.action.text, move.said) == ("I think we have 24 cola.", "")


async def test_every_path_keeps_the_text(tmp_path: Path) -> None:
    """A model's reply, a line of a script and a line of a program give the same move."""
    reply = f"We have $10.\n{{{WAIT}}}\nDone."
    expected = read_move(VERBS, reply)
    assert expected.said == "We have $10.\nDone."
    assert JsonProtocol().read_moves(VERBS, Reply(reply))[0].move == expected
    assert await ScriptedAgent([json.dumps(reply)], VERBS).act(View("", ()), None) == expected
    written = tmp_path / "player.py"
    written.write_text(f"input(); print({reply!r}.replace(chr(10), ' '))")
    program = ProgramAgent(f"{sys.executable} {written}", Role("owner", VERBS.classes), VERBS)
    move = await program.act(View("", ()), None)
    await program.close()
    assert (move.action, move.said) == (expected.action, expected.said)
