"""A person as a player: they see the views that models see and use the same tools, beside a clock."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence

from akinai.agents.protocols import outcome_text
from akinai.agents.structured import read_move, read_object
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move, View
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome

_KEY = re.compile(r"(\w+)=")

HELP = """\
An action is its name and its parameters:  wait_until hour=15
Values with spaces take quotes:            send_email to=a@b.com subject="Hello" body="50 units of water"
Lists and objects are JSON:                place_order supplier_id=northbay items={"cola":24}
A whole line may be JSON:                  {"action": "ADVANCE_DAY"}
tools          what you can do now         tools NAME   one of them in full
view           the briefing once more      quit         stop; the run can be resumed"""


class HumanAgent:
    """Asks a person for every move. A line that cannot be read is asked for again and is not an action."""

    remember_on_resume = True

    def __init__(
        self,
        verbs: Verbs,
        show: Callable[[str], None],
        ask: Callable[[str], str],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`show` prints a text, `ask` prompts and returns the line typed; EOFError ends the run as `stopped`."""
        self._verbs, self._show, self._ask, self._now = verbs, show, ask, now
        self._begun: float | None = None
        self._news = ""
        self._moves = 0

    async def act(self, view: View, last: Outcome | None) -> Move:
        if self._begun is None:
            self._begun = self._now()
            self._show(f"{view.text}\n\n{HELP}")
        if last is not None:
            self._show(outcome_text(last))
        if view.news and view.news != self._news:
            self._news = view.news
            self._show(view.news)
        action = await self._action(view)
        self._moves += 1
        return Move(action)

    async def remember(self, view: View, last: Outcome | None, move: Move) -> None:
        """Print a recorded move in short, so that a person who resumes knows what was done."""
        if self._begun is None:
            self._begun = self._now()
            self._show(f"{view.text}\n\n{HELP}")
        if last is not None:
            self._show(last.text)
        self._show(f"> {move.action.tool_name()} {json.dumps(move.action.encode(), ensure_ascii=False)}")
        self._moves += 1

    async def _action(self, view: View) -> Action:
        while True:
            seconds = int(self._now() - (self._begun or 0))
            prompt = f"[{seconds // 60:02d}:{seconds % 60:02d}, move {self._moves + 1}] > "
            try:
                line = (await asyncio.to_thread(self._ask, prompt)).strip()
            except EOFError:
                raise EndRun("stopped") from None
            match line.split(maxsplit=1):
                case []:
                    continue
                case ["quit" | "exit"]:
                    raise EndRun("stopped")
                case ["help" | "?"]:
                    self._show(HELP)
                case ["view"]:
                    self._show(view.text)
                case ["tools", *names]:
                    self._show(_tools_text(view.verbs, names))
                case _:
                    action = read_line(self._verbs, line)
                    if not isinstance(action, Unreadable):
                        return action
                    self._show(action.why)


def read_line(verbs: Verbs, line: str) -> Action:
    """An action as a person types it: `name key=value ...`, or JSON. An `Unreadable` says what is wrong."""
    if line.lstrip().startswith("{"):
        return read_move(verbs, line).action
    name, _, rest = line.strip().partition(" ")
    try:
        return read_object(verbs, {"action": name, "arguments": dict(_parameters(rest.strip()))}, line).action
    except ValueError as error:
        return Unreadable.of(line, f"{error}; 'help' shows how parameters are written")


def _parameters(text: str) -> Iterator[tuple[str, object]]:
    """The pairs of `key=value ...`; a value is JSON where it begins as JSON does, else text up to a space."""
    while text:
        found = _KEY.match(text)
        if not found:
            raise ValueError(f"{text.split()[0]!r} should be a parameter such as hour=15")
        text = text[found.end() :]
        if text[:1] in ('"', "{", "["):
            value, end = json.JSONDecoder().raw_decode(text)
        else:
            end = len(text.split(maxsplit=1)[0]) if text.strip() and not text[0].isspace() else 0
            value = _value(text[:end])
        yield found[1], value
        text = text[end:].lstrip()


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _tools_text(verbs: Sequence[type[Action]], names: Sequence[str]) -> str:
    chosen = [verb for verb in verbs if not names or verb.tool_name() == names[0].strip()]
    if not names:
        return "\n".join(f"{verb.tool_name():24} {verb.tool()['description'].splitlines()[0]}" for verb in chosen)
    return "\n".join(json.dumps(verb.tool(), indent=2, ensure_ascii=False) for verb in chosen) or "no such tool now"
