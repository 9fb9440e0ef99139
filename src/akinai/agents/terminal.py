"""A terminal at which a person plays: line editing, history and completion; plain lines where there is no terminal."""

import asyncio
import sys
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from akinai.agents.human import COMMANDS
from akinai.agents.typed_lines import Parameter, Seen, parameters_of, read_verb, usage
from akinai.core.actions import Action
from akinai.core.untrusted.spelling import printable

if TYPE_CHECKING:
    from prompt_toolkit.document import Document

MAX_NUMBERS = 30
"""The longest range of numbers that completion offers one by one."""


@cache
def open_terminal() -> "EditedLines | PlainLines":
    """The terminal of this process; lines of standard input where that is no terminal.

    Everything is written to standard error, so that standard output stays free for results.
    """
    return EditedLines() if sys.stdin.isatty() and sys.stderr.isatty() else PlainLines()


def _show(text: str) -> None:
    sys.stderr.write(f"{printable(text)}\n\n")
    sys.stderr.flush()


class PlainLines:
    """Lines from a pipe or a file."""

    def show(self, text: str) -> None:
        _show(text)

    def remember(self, line: str) -> None:
        pass

    async def ask(self, prompt: str, offered: Sequence[type[Action]], seen: Seen) -> str:
        sys.stderr.write(printable(prompt))
        sys.stderr.flush()
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            raise EOFError
        return line


class EditedLines:
    """Lines typed at a terminal: Ctrl-C and Ctrl-D leave, Tab completes, the foot of the screen shows the usage."""

    def __init__(self) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.output import create_output

        terminal = self

        class Words(Completer):
            def get_completions(self, document: "Document", complete_event: Any) -> Iterator[Completion]:
                text = document.text_before_cursor
                word = text.rsplit(" ", 1)[-1]
                for found, about in completions(text, terminal.offered, terminal.seen):
                    yield Completion(found, -len(word), display_meta=about)

        self.offered: Sequence[type[Action]] = ()
        self.seen = Seen()
        self._asking = asyncio.Lock()  # one prompt at a time, also where several actors are persons
        self._history = InMemoryHistory()
        self._session: PromptSession[str] = PromptSession(
            history=self._history,
            completer=Words(),
            complete_while_typing=False,
            bottom_toolbar=self._toolbar,
            output=create_output(sys.stderr),
        )

    def show(self, text: str) -> None:
        width = self._session.output.get_size().columns
        _show("\n".join(_wrapped(line, width) for line in text.split("\n")))

    def remember(self, line: str) -> None:
        self._history.append_string(line)

    async def ask(self, prompt: str, offered: Sequence[type[Action]], seen: Seen) -> str:
        async with self._asking:
            self.offered, self.seen = offered, seen
            try:
                return await self._session.prompt_async(printable(prompt))
            except KeyboardInterrupt:
                raise EOFError from None

    def _toolbar(self) -> str:
        verb = read_verb(self._session.default_buffer.text.strip().partition(" ")[0], self.offered)
        return usage(verb) if verb else "Tab completes  -  help, tools, view, quit"


def _wrapped(line: str, width: int) -> str:
    """A line broken between words, its further lines as far in as the first."""
    if len(line) < width:
        return line
    margin = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line.strip(), width - 1, initial_indent=margin, subsequent_indent=margin)


def completions(text: str, offered: Sequence[type[Action]], seen: Seen) -> Iterator[tuple[str, str]]:
    """What the last word of a line may become, each with a word about it."""
    *before, word = text.lstrip().split(" ")
    if not before:
        names = {verb.tool_name(): str(verb.tool()["description"]).splitlines()[0] for verb in offered}
        yield from ((name, about) for name, about in (names | COMMANDS).items() if _fits(word, name))
    elif before == ["tools"]:
        yield from ((verb.tool_name(), "") for verb in offered if _fits(word, verb.tool_name()))
    elif verb := read_verb(before[0], offered):
        found = _values(parameters_of(verb), [item for item in before[1:] if item], word, seen)
        yield from ((value, about) for value, about in found.items() if value.startswith(word) and value != word)


def _values(parameters: Sequence[Parameter], given: Sequence[str], word: str, seen: Seen) -> dict[str, str]:
    """The values that may come next, and then the names of parameters that are not given."""
    name, equals, _ = word.partition("=")
    if equals:
        named = [item for item in parameters if item.name == name]
        values = [value for item in named for value in [*_choices(item), *seen.values([item])]]
        return {f"{name}={value}": "" for value in values or seen.words}
    left = [item for item in parameters if item.name not in {text.partition("=")[0] for text in given}]
    left = left[len([text for text in given if "=" not in text]) :]
    found: dict[str, str] = {}
    if left:
        found |= dict.fromkeys([*_choices(left[0]), *left[0].kinds, *seen.values(left)], left[0].name)
    tables = [item for item in parameters if item.is_table]
    ending = "=" if tables else ""
    found |= {f"{value}{ending}": "" for value in seen.words if word or tables}
    return found | {f"{item.name}=": str(item.schema.get("description", "")) for item in left}


def _fits(word: str, name: str) -> bool:
    return name.startswith(word.lower()) or any(part.startswith(word.lower()) for part in name.split("_"))


def _choices(parameter: Parameter) -> Sequence[str]:
    """The values of a parameter that has few: those of a list, a small range of numbers, yes and no."""
    schema = parameter.schema
    if "enum" in schema:
        return [str(value) for value in schema["enum"]]
    if schema.get("type") == "boolean":
        return ["true", "false"]
    low: object = schema.get("minimum")
    high: object = schema.get("maximum")
    if isinstance(low, int) and isinstance(high, int) and high - low < MAX_NUMBERS:
        return [*map(str, range(low, high + 1))]
    return ()
