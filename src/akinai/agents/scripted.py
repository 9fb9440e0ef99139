"""A player that reads its replies from the lines of a script, such as one attached to a bug report."""

import json
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

from akinai.core.actions import Unreadable, Verbs
from akinai.core.agents import Move, View
from akinai.core.errors import EndRun, UsageError
from akinai.core.ledger import Outcome
from akinai.core.replies.moves import read_moves, read_object
from akinai.core.untrusted.documents import DocumentError, parse_json


class ScriptedAgent:
    """Replies with one line after another, whatever it sees. After the last line the run ends as `script_over`."""

    def __init__(self, lines: Sequence[str], verbs: Verbs) -> None:
        self._lines, self._verbs, self._next = lines, verbs, 0
        self._moves = deque[Move]()
        """Moves of the last line that are still to be made."""

    async def act(self, view: View, last: Outcome | None) -> Move:
        if self._moves:
            return self._moves.popleft()
        if self._next >= len(self._lines):
            raise EndRun("script_over")
        line = self._lines[self._next]
        self._next += 1
        self._moves.extend(_moves(self._verbs, line))
        return self._moves.popleft()


def script_lines(text: str, name: str) -> list[str]:
    """The replies of a script: JSON lines, blank ones left out.

    A line is an object in the structured-action format, or a JSON string: a reply as a model wrote it, readable or not.
    UsageError names the first line that is not JSON.
    """
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            parse_json(line)
        except DocumentError as error:
            raise UsageError(
                f"{name}, line {number} cannot be read: {error}; each line is one reply such as "
                '{"action": "ADVANCE_DAY"}, or a JSON string for a reply that holds no action'
            ) from error
        lines.append(line)
    return lines


def _moves(verbs: Verbs, line: str) -> Sequence[Move]:
    value: object = json.loads(line)
    if isinstance(value, dict):
        return [read_object(verbs, cast("dict[str, Any]", value), line)]
    if isinstance(value, str):
        return read_moves(verbs, value)
    return [Move(Unreadable.of(line, "the reply is no JSON object with an action"))]
