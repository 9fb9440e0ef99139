"""Requests that are repeated until a reply can be read. Each unreadable reply is counted with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from akinai.core.canonical import Json
from akinai.core.errors import EndRun
from akinai.core.models import Asker, Message, Request, Usage
from akinai.core.replies.objects import UnreadableReply
from akinai.learning.roles.protocols import ModelUsage, RoleName
from akinai.learning.roles.templates import PromptTemplates

T = TypeVar("T")
Parser: TypeAlias = Callable[[str], T]
"""Parses a reply, or raises UnreadableReply."""

TRIES = 3
"""Requests before an unreadable reply is given up."""
UNREADABLE_LIMIT = 20
"""Unreadable replies in a row that stop a learning."""
CUT = "length"
"""The reason of a reply that the provider cut off at its limit of tokens."""
_CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_length"})
"""The finish reasons that providers report for such a reply."""


class TooManyUnreadable(EndRun):
    """Too many replies in a row could not be read."""

    def __init__(self, count: int, why: str, cut: int, role: str = "") -> None:
        super().__init__("unreadable")
        advice = f"; {cut} of them were cut off at the limit of tokens: raise --reply-tokens" if cut else ""
        whose = f" of the {role}" if role else ""
        self.why = f"{count} replies{whose} in a row could not be read, the last because {why}{advice}"


class UnreadableStreak:
    """Counts unreadable replies in a row, of each role and over all roles of a learning. A limit of 0 is no limit."""

    def __init__(self, limit: int = UNREADABLE_LIMIT) -> None:
        self._limit = limit
        self._counts: dict[str, tuple[int, int]] = {}
        """By role, "" for all together: the replies in a row, and how many of them were cut off."""

    def end(self, role: RoleName) -> None:
        """End the streak, since a reply of the role was read."""
        self._counts.pop("", None)
        self._counts.pop(role, None)

    def add(self, role: RoleName, why: str, code: str) -> None:
        """Count an unreadable reply of the role. TooManyUnreadable at the limit."""
        for counter in (role, ""):
            count, cut = self._counts.get(counter, (0, 0))
            self._counts[counter] = count, cut = count + 1, cut + (code == CUT)
            if self._limit and count >= self._limit:
                raise TooManyUnreadable(count, why, cut, counter)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """The result of a request."""

    value: T | None
    """None where no reply could be read."""
    failed: str
    """Why there is no value."""
    usage: ModelUsage
    messages: tuple[Message, ...]
    """The conversation, the last reply included."""


class ModelRole:
    """A role that asks a model, again and again until a reply can be parsed.

    `tries` are requests before an unreadable reply is given up; the roles of a learning share a `streak`.
    """

    role: RoleName = "curator"
    prompt: str
    """The name of its prompt."""
    schema: Mapping[str, Json] | None = None
    """Providers with structured output keep to it; a reply is parsed in the same way whether they do or not."""

    def __init__(
        self, asker: Asker, templates: PromptTemplates, *, tries: int = TRIES, streak: UnreadableStreak | None = None
    ) -> None:
        self._asker, self._templates, self._tries = asker, templates, tries
        self._streak = streak or UnreadableStreak()

    async def ask(self, values: Mapping[str, str], parse: Parser[T]) -> Parsed[T]:
        """Ask with the values of the prompt's placeholders."""
        return await self.ask_on(self._templates.messages(self.prompt, values), parse, self._tries)

    async def ask_on(self, messages: tuple[Message, ...], parse: Parser[T], tries: int) -> Parsed[T]:
        """Go on with a conversation. Each further request holds the unreadable reply and the reason."""
        usage, why, count, several = ModelUsage(), "", 0, 0
        while count < tries and several < 2:  # a reply of several answers is asked for again once
            count += 1
            reply = await self._asker.ask(Request(messages, schema=self.schema))
            usage = usage + ModelUsage(1, tokens=Usage() if reply.from_cache else reply.usage)
            try:
                value = parse(reply.text)
            except UnreadableReply as error:
                code = CUT if reply.finish in _CUT_OFF and error.code != "bad_field" else error.code
                several += code == "several"
                tokens = reply.usage.output or "its"
                why = f"it was cut off at the limit of {tokens} tokens ({error})" if code == CUT else str(error)
                usage = usage + ModelUsage(unreadable=1, reasons={code: 1})
                self._streak.add(self.role, why, code)
                again = Message("user", self._templates.filled("unreadable", why=why))
                messages = (*messages, reply.message, again)
            else:
                self._streak.end(self.role)
                return Parsed(value, "", usage, (*messages, reply.message))
        return Parsed(None, f"{why} ({count} replies)", usage, messages)
