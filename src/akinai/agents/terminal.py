"""A terminal at which a person plays: line editing, history and completion; plain lines where there is no terminal."""

import asyncio
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from akinai.agents.human import COMMANDS
from akinai.agents.typed_lines import Parameter, SeenValues, parameters_of, read_verb, usage
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

    translate: Callable[[str], str] = str
    """Puts what is printed into the person's language."""

    def show(self, text: str) -> None:
        _show(self.translate(text))

    def remember(self, line: str) -> None:
        pass

    async def ask(self, prompt: str, offered: Sequence[type[Action]], seen: SeenValues) -> str:
        sys.stderr.write(printable(prompt))
        sys.stderr.flush()
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            raise EOFError
        return line


class EditedLines:
    """Lines typed at a terminal. Ctrl-C and Ctrl-D leave, Tab completes, the bottom line shows the usage."""

    translate: Callable[[str], str] = str
    """Puts what is printed into the person's language."""

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
                for completion, about in completions(text, terminal.offered, terminal.seen):
                    yield Completion(completion, -len(word), display_meta=about)

        self.offered: Sequence[type[Action]] = ()
        self.seen = SeenValues()
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
        _show("\n".join(_wrapped(line, width) for line in self.translate(text).split("\n")))

    def remember(self, line: str) -> None:
        self._history.append_string(line)

    async def ask(self, prompt: str, offered: Sequence[type[Action]], seen: SeenValues) -> str:
        async with self._asking:
            self.offered, self.seen = offered, seen
            try:
                return await self._session.prompt_async(printable(prompt))
            except KeyboardInterrupt:
                raise EOFError from None

    def _toolbar(self) -> str:
        verb = read_verb(self._session.default_buffer.text.strip().partition(" ")[0], self.offered)
        return usage(verb, self.seen.voice) if verb else self.translate("Tab completes  -  help, tools, view, quit")


def _wrapped(line: str, width: int) -> str:
    """A line wrapped between words. The further lines are indented like the first."""
    if len(line) < width:
        return line
    margin = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line.strip(), width - 1, initial_indent=margin, subsequent_indent=margin)


def completions(text: str, offered: Sequence[type[Action]], seen: SeenValues) -> Iterator[tuple[str, str]]:
    """Completions of the last word of a line, each with a short description."""
    *before, word = text.lstrip().split(" ")
    if not before:
        names = {verb.tool_name(): str(verb.tool()["description"]).splitlines()[0] for verb in offered}
        yield from ((name, about) for name, about in (names | COMMANDS).items() if _fits(word, name))
    elif before == ["tools"]:
        yield from ((verb.tool_name(), "") for verb in offered if _fits(word, verb.tool_name()))
    elif verb := read_verb(before[0], offered):
        values = _values(parameters_of(verb), [item for item in before[1:] if item], word, seen)
        plain = word.strip('"').casefold()
        names = seen.voice.names
        named = {names[value]: about for value, about in values.items() if value in names}
        named = {f'"{name}"' if " " in name else name: about for name, about in named.items()}
        yield from (
            (value, about) for value, about in (named | values).items()
            if value.strip('"').casefold().startswith(plain) and value != word
        )  # fmt: skip


def _values(parameters: Sequence[Parameter], typed: Sequence[str], word: str, seen: SeenValues) -> dict[str, str]:
    """Suggestions for the next value, and then for the names of parameters that are not typed yet."""
    name, equals, _ = word.partition("=")
    if equals:
        named = [item for item in parameters if item.name == name]
        values = [value for item in named for value in [*_choices(item), *seen.values([item])]]
        return {f"{name}={value}": "" for value in values or seen.words}
    left = [item for item in parameters if item.name not in {text.partition("=")[0] for text in typed}]
    left = left[len([text for text in typed if "=" not in text]) :]
    suggestions: dict[str, str] = {}
    if left:
        suggestions |= dict.fromkeys([*_choices(left[0]), *left[0].kinds, *seen.values(left)], left[0].name)
    tables = [item for item in parameters if item.is_table]
    ending = "=" if tables else ""
    suggestions |= {f"{value}{ending}": "" for value in seen.words if word or tables}
    return suggestions | {f"{item.name}=": str(item.schema.get("description", "")) for item in left}


def _fits(word: str, name: str) -> bool:
    return name.startswith(word.lower()) or any(part.startswith(word.lower()) for part in name.split("_"))


def _choices(parameter: Parameter) -> Sequence[str]:
    """All values of a parameter that has few: an enumeration, a small range of numbers, true and false."""
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
