"""A person as a player: they see the same views as models, use the same tools, and see a clock."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from akinai.agents.typed_lines import SeenValues, parameters_of, read_line, read_verb, usage
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move, View
from akinai.core.canonical import Json
from akinai.core.errors import EndRun
from akinai.core.ledger import Outcome
from akinai.core.money import format_cents
from akinai.core.presentation.transcript import Block, Letter, Sheet
from akinai.core.presentation.voice import Voice

COMMANDS = {
    "tools": "what you can do now; 'tools NAME' explains one action",
    "view": "the briefing once more",
    "help": "how actions are typed",
    "quit": "stop; the run can be resumed",
}

BREAK = "\n" + " " * 40


class Terminal(Protocol):
    """The terminal at which a person reads and types."""

    def show(self, text: str) -> None:
        """Print a text."""
        ...

    def remember(self, line: str) -> None:
        """Add a line to the history of typed lines."""
        ...

    async def ask(self, prompt: str, offered: Sequence[type[Action]], seen: SeenValues) -> str:
        """The line typed after a prompt. EOFError when the person leaves.

        `offered` are the actions possible now and `seen` what was shown, for completion.
        """
        ...


class HumanAgent:
    """Asks a person for every move. A line that cannot be read is asked for again and is not an action."""

    remember_on_resume = True

    def __init__(
        self,
        verbs: Verbs,
        terminal: Terminal,
        voice: Voice | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._verbs, self._terminal, self._now = verbs, terminal, now
        self._voice = voice or Voice()
        self._begun: float | None = None
        self._is_live = False
        self._news = ""
        self._moves = 0
        self._seen = SeenValues(self._voice)

    async def act(self, view: View, last: Outcome | None) -> Move:
        self._begun = self._now() if self._begun is None else self._begun
        if last is not None:
            self.tell(last)
        if not self._is_live:
            self._is_live = True
            if last is not None:
                self._terminal.show("You go on here.")
            self._brief(view)
            self._terminal.show(help_text(view.verbs, self._voice))
        elif view.news and view.news != self._news:
            self._terminal.show(self._voice.tell(view.news))
        self._news = view.news
        action = await self._action(view)
        self._moves += 1
        return Move(action)

    def tell(self, outcome: Outcome) -> None:
        """Print the answer to an action."""
        self._tell(outcome.text if outcome.ok else f"Refused: {outcome.text}", outcome)

    async def remember(self, view: View, last: Outcome | None, move: Move) -> None:
        """Print a recorded move in short, so that a person who resumes knows what was done."""
        if last is not None:
            self._tell(last.text, last)
        line = f"{move.action.tool_name()} {json.dumps(move.action.encode(), ensure_ascii=False)}".removesuffix(" {}")
        self._terminal.remember(line)
        self._terminal.show(f"> {line}")
        self._moves += 1

    def _brief(self, view: View) -> None:
        for block in self._voice.brief:
            self._terminal.show(_block_text(block))
        if not self._voice.brief:
            self._terminal.show(self._voice.tell(view.text))

    def _tell(self, text: str, outcome: Outcome) -> None:
        self._terminal.show(self._voice.tell(text))
        self._seen.add(outcome.data)

    async def _action(self, view: View) -> Action:
        while True:
            try:
                line = (await self._terminal.ask(self._prompt(view), view.verbs, self._seen)).strip()
            except EOFError:
                raise EndRun("stopped") from None
            match line.split(maxsplit=1):
                case []:
                    continue
                case ["quit" | "exit"]:
                    raise EndRun("stopped")
                case ["help" | "?"]:
                    self._terminal.show(help_text(view.verbs, self._voice))
                case ["view"]:
                    self._brief(view)
                case ["tools", *names]:
                    self._terminal.show(_tools_text(view.verbs, names, self._voice))
                case _:
                    action = read_line(self._verbs, line, view.verbs, self._voice)
                    if not isinstance(action, Unreadable):
                        return action
                    self._terminal.show(action.why)

    def _prompt(self, view: View) -> str:
        """The world's time, the number of the move, and how long the person has played."""
        seconds = int(self._now() - (self._begun or 0))
        parts = [f"move {self._moves + 1}", f"{seconds // 60:02d}:{seconds % 60:02d}"]
        if view.now is not None:
            at = datetime.fromtimestamp(view.now / 1e6, UTC)
            parts.insert(0, f"{at:%a} {at.day} {at:%b %H:%M}")
        return f"[{', '.join(parts)}] > "


def help_text(verbs: Sequence[type[Action]], voice: Voice) -> str:
    """The help on how actions are typed, with examples from these verbs."""
    lines = ["Type an action and its values, in order or by name; a word of its name will do where it is plain:"]
    lines += [f"  {line}" for line in _examples(verbs, voice)]
    lines.append('A text may stand in quotes, "like this". A whole line may be JSON: an object with its "action".')
    lines += [f"  {name} {about}" for name, about in COMMANDS.items()]
    return "\n".join(lines)


def _examples(verbs: Sequence[type[Action]], voice: Voice) -> Iterator[str]:
    """The usage of up to three actions: the first with several values, with one, and with none."""
    by_count = {min(2, sum(item.required for item in parameters_of(verb))): verb for verb in reversed(verbs)}
    return (usage(by_count[count], voice) for count in (2, 1, 0) if count in by_count)


def _tools_text(verbs: Sequence[type[Action]], names: Sequence[str], voice: Voice) -> str:
    if not names:
        lines = [(usage(verb, voice), str(verb.tool()["description"]).splitlines()[0]) for verb in verbs]
        return "\n".join(
            f"{line:40} {about}" if len(line) <= 40 else f"{line}\n{'':40} {about}" for line, about in lines
        )
    verb = read_verb(names[0].strip(), verbs)
    return _tool_text(verb, voice) if verb else "no such action now; 'tools' lists those that there are"


def _tool_text(verb: type[Action], voice: Voice) -> str:
    lines = [usage(verb, voice), str(verb.tool()["description"]).partition("\n\n")[0]]
    parameters = parameters_of(verb)
    if voice.spots and {"row", "column"} <= {parameter.name for parameter in parameters}:
        lines.append(f"  slot: as on the machine, such as {next(iter(voice.spots))}.")
        parameters = [parameter for parameter in parameters if parameter.name not in ("row", "column")]
    for parameter in parameters:
        schema: Any = parameter.schema
        kind = (
            "one of " + ", ".join(map(str, schema["enum"]))
            if "enum" in schema
            else "a list, with commas between"
            if parameter.is_list
            else "rows, with semicolons between"
            if parameter.rows
            else str(schema.get("type", "object"))
        )
        limits = [f"{word} {schema[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in schema]
        about = str(schema.get("description", "")).replace("\n", " ")
        lines.append(f"  {parameter.name}: {' '.join([kind, *limits])}. {about}".rstrip())
    return "\n".join(lines)


def _block_text(block: Block) -> str:
    """A part of a briefing as lines."""
    if isinstance(block, Letter):
        return "\n".join(filter(None, [block.sender, block.subject, block.body]))
    if not isinstance(block, Sheet):
        return block.text
    rows = [tuple(block.columns), *(_cells(block, row) for row in block.rows)]
    width = max(len(row[0]) for row in rows)
    lines = [f"  {first:{width}}  {'  '.join(cells)}".rstrip() for first, *cells in rows]
    return "\n".join(filter(None, [block.title, *lines, block.note]))


def _cells(sheet: Sheet, row: Sequence[Json]) -> tuple[str, ...]:
    units = sheet.columns.values()
    return tuple(
        format_cents(value) if unit == "cents" and isinstance(value, int) else str(value)
        for value, unit in zip(row, units, strict=True)
    )
