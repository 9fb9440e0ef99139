"""An agent that asks a language model: views and outcomes become a conversation, its replies become moves."""

import json
import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from akinai.agents.protocols import (
    ActionProtocol,
    JsonProtocol,
    RequestedMove,
    ToolCallProtocol,
    describe_verbs,
    form_of_reply,
    outcome_text,
)
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Lookup, Move, RetrievedBullets, View
from akinai.core.errors import ContextLimit, EndRun, ToolsRefused
from akinai.core.ledger import Outcome
from akinai.core.lessons import sentence_of
from akinai.core.models import NO_TOOLS, Asker, Message, Request, Tools, estimate_tokens

Memory = Literal["trim", "summary"]

WINDOW_TOKENS = 30_000
"""The size of the window in Vending-Bench (arXiv 2502.15840, section 2.3)."""
STRIDE = 0.25
"""The share of a full window that is dropped at once. The remaining messages then stay the same for many calls, so that
a provider's prompt cache keeps hitting."""

OPENING = "Begin."
PLACEHOLDERS = ("situation", "actions")
"""What instructions may hold in braces: the first view, and the actions as text where no tools are offered."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
SUMMARY_SHARE = 0.2
"""The largest part of the window that a summary fills, at four characters a token; a longer summary is cut."""
PLAYBOOK = "Playbook, learned from earlier runs; follow what fits your situation:"
"""Heading of the bullets: in the system message before the first view, or, where they are looked up, in the message
after it."""
WEEK_US = 7 * 86_400_000_000
"""A week of the world's time in microseconds. A playbook is searched at the beginning and again in each week."""
REPEATED = "(The same action with the same answer, {times} times in a row.)"
"""Follows an outcome whose exchange stands once in the conversation for several: a small model that sees itself repeat
something goes on repeating it, and each repetition is paid for in all later calls."""
RECENT_MESSAGES = 8
"""The newest messages that are part of a playbook query."""
QUERY_LIMIT = 4_000
"""Characters of a playbook query; of a longer one the last are used."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The protocol between a chat agent and its model, and the memory of the conversation."""

    protocol: Literal["tools", "json"] = "tools"
    memory: Memory = "trim"
    """Messages that no longer fit are dropped ("trim"), or dropped and summarised by the model ("summary")."""
    window_tokens: int = WINDOW_TOKENS
    instructions: str = ""
    """The text before the first view, with `{situation}` where the view goes if not at the end, and `{actions}` for the
    list of actions; empty for the package's own."""
    max_replies: int = 0
    """Replies of the model before the run ends as `message_cap`; 0 is no cap."""


class ChatAgent:
    """Plays one actor by asking a model.

    The conversation begins with a system message that holds the instructions and the first view. The model's replies,
    the outcomes of its calls, and news follow. Several calls in a reply are several moves, in order; a reply without a
    call is an unreadable move, and its refusal tells the model to call a tool. Where its server takes no tools,
    it is asked for JSON from the first call on.

    `bullets` are put into the system message. With a `lookup`, a playbook is searched instead: at the beginning with
    the first view, and in each week of the world's time with the paragraphs that are new in the view and the newest
    messages. The result is shown after the system message, never leaves the window, and is replaced by the next one.
    """

    def __init__(
        self,
        asker: Asker,
        verbs: Verbs,
        options: ChatOptions = ChatOptions(),
        bullets: Sequence[str] = (),
        lookup: Lookup | None = None,
    ) -> None:
        self._asker, self._verbs, self._options, self._bullets = asker, verbs, options, bullets
        self._playbook = None if lookup is None else _PlaybookSearch(lookup)
        self._protocol: ActionProtocol = ToolCallProtocol() if options.protocol == "tools" else JsonProtocol()
        self._system: Message | None = None
        self._tools, self._tool_tokens = NO_TOOLS, 0
        self._window = Window(options.window_tokens)
        self._requested: deque[RequestedMove] = deque()
        self._unanswered: RequestedMove | None = None
        """The move whose outcome has not arrived yet."""
        self._latest: _Exchange | None = None
        self._news = ""
        self._summary = ""
        self._remembered = self._replies = 0

    async def act(self, view: View, last: Outcome | None) -> Move:
        self._take_outcome(view, last)
        if not self._requested:
            self._take_news(view)
            if self._playbook is not None:
                self._playbook.refresh(view, self._window.messages)
            reply = await self._ask(view)
            self._window.add(reply)
        self._unanswered = self._requested.popleft()
        return self._unanswered.move

    async def remember(self, view: View, last: Outcome | None, move: Move) -> None:
        """Add a move that another agent made to the conversation."""
        self._take_outcome(view, last)
        self._take_news(view)
        self._offer(view.verbs)
        self._window.overflow(self._reserved())
        self._remembered += 1
        message, self._unanswered = self._protocol.render_move(move, f"past_{self._remembered}")
        self._window.add(message)

    def _take_outcome(self, view: View, last: Outcome | None) -> None:
        """Begin the conversation, or add the outcome of the last move to it."""
        if self._system is None:
            self._system, self._news = self._opening(view), view.news
        if self._unanswered is not None and last is not None:
            text = outcome_text(last)
            if last.code == "no_action" and not self._protocol.offers_tools:
                why = f"Nothing was done: {last.text}"  # small models take a code, or the word "refused", for an action
                text = f"{why}. {form_of_reply(view.verbs)}"
            self._answer(self._unanswered, text)
            self._unanswered = None

    def _answer(self, requested: RequestedMove, text: str) -> None:
        """Add the outcome of a move. Where move and outcome are those of the exchange before, it is counted there."""
        latest, alone = self._latest, self._window.ends_with_one_move and not self._requested
        if alone and latest and latest.repeated_by(requested, text):
            requested, times = latest.requested, latest.times + 1
            self._window.drop_newest(2)  # the new reply and the outcome of the first
        else:
            times = 1
        self._latest = _Exchange(requested, text, times) if alone else None
        counted = f"{text}\n\n{REPEATED.format(times=times)}" if times > 1 else text
        self._window.add(self._protocol.render_outcome(requested, counted))

    def _take_news(self, view: View) -> None:
        if view.news and view.news != self._news:
            self._news, self._latest = view.news, None
            self._window.add(Message("user", view.news))

    async def _ask(self, view: View) -> Message:
        """The model's next reply; the moves in it are queued. EndRun where its replies are spent."""
        if 0 < self._options.max_replies <= self._replies:
            raise EndRun("message_cap")
        self._replies += 1
        self._offer(view.verbs)
        await self._summarise(self._window.overflow(self._reserved()))
        while True:
            try:
                reply = await self._asker.ask(Request((*self._head(), *self._window.messages), self._tools))
                break
            except ContextLimit as error:
                if error.window is not None:
                    dropped = self._window.resize(error.window, self._reserved())
                else:
                    dropped = self._window.drop_oldest(self._reserved())
                    if not dropped:
                        raise
                with suppress(ContextLimit):  # what was dropped may be too long for a summary as well
                    await self._summarise(dropped)
            except ToolsRefused:
                if self._window.messages:
                    raise
                self._protocol, self._tools, self._tool_tokens = JsonProtocol(), NO_TOOLS, 0
                self._system = self._opening(view)
        moves = _without_loops(self._protocol.read_moves(self._verbs, reply))
        self._requested.extend(moves)
        if reply.calls and not self._protocol.offers_tools:  # no result will answer them
            return _as_text([reply.message])[0]
        return replace(reply.message, calls=reply.message.calls[: len(moves)])

    def _offer(self, verbs: Sequence[type[Action]]) -> None:
        """Take these verbs for those of the next request, and of the reply to it."""
        self._verbs = self._verbs.offering(verbs)
        if self._protocol.offers_tools:
            self._tools, self._tool_tokens = tools_of(tuple(verbs)), tokens_of_tools(tuple(verbs))

    async def _summarise(self, dropped: Sequence[Message]) -> None:
        """Have the model summarise what was dropped, where its memory is a summary."""
        if not dropped or self._options.memory == "trim":
            return
        ask = Message("user", prompt("summary"))
        reply = await self._asker.ask(Request((*self._head(), *_as_text(dropped), ask)))
        self._summary = reply.text[: int(4 * SUMMARY_SHARE * self._options.window_tokens)]

    def _head(self) -> tuple[Message, Message]:
        """The messages that never leave the window: the system message, and a user message, which providers require."""
        assert self._system is not None
        notes = f"Your notes of what is no longer in sight:\n{self._summary}" if self._summary else OPENING
        bullets = self._playbook.latest.text.strip() if self._playbook else ""
        return self._system, Message("user", f"{PLAYBOOK}\n\n{bullets}\n\n{notes}" if bullets else notes)

    def _reserved(self) -> int:
        return sum(estimated_tokens(message) for message in self._head()) + self._tool_tokens

    def _opening(self, view: View) -> Message:
        actions = "" if self._protocol.offers_tools else describe_verbs(view.verbs)
        text = self._options.instructions or instructions(self._options.protocol)
        return Message("system", system_prompt(text, briefing(view, self._bullets), actions))


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A reply with a single move and the text of its outcome, so many times in a row."""

    requested: RequestedMove
    text: str
    times: int

    def repeated_by(self, requested: RequestedMove, text: str) -> bool:
        """Whether a move with this outcome is the same again. Unreadable replies are, however they are worded."""
        mine, other = self.requested.move.action, requested.move.action
        unread = isinstance(mine, Unreadable) and isinstance(other, Unreadable)
        return text == self.text and (unread or (type(mine) is type(other) and mine == other))


def _without_loops(moves: Sequence[RequestedMove]) -> Sequence[RequestedMove]:
    """The moves of a reply up to the third of equal ones in a row; what comes after it is not done."""
    for index in range(2, len(moves)):
        if moves[index].move.action == moves[index - 1].move.action == moves[index - 2].move.action:
            return moves[: index + 1]
    return moves


def instructions(protocol: Literal["tools", "json"]) -> str:
    """The package's own instructions for a model that acts by tool calls or by JSON."""
    return prompt("chat" if protocol == "tools" else "structured")


def system_prompt(text: str, situation: str, actions: str = "") -> str:
    """The first message to a model: instructions, the actions as text where no tools are offered, and what it sees.

    The last two go where the instructions have `{actions}` and `{situation}`, else after them.
    """
    values = {"actions": f"Actions:\n\n{actions}" if actions else "", "situation": situation}
    after = [value for name, value in values.items() if value and f"{{{name}}}" not in text]
    return "\n\n".join([_PLACEHOLDER.sub(lambda match: values[match[1]], text), *after])


def checked_instructions(text: str) -> str:
    """The text, if it can be a model's instructions. ValueError, a clause about it, otherwise."""
    if not text.strip():
        raise ValueError("is empty; write what the model is to do, or leave it out")
    for name in _PLACEHOLDER.findall(text):
        if name not in PLACEHOLDERS:
            raise ValueError(f"holds {{{name}}}, which stands for nothing; there is {{situation}} and {{actions}}")
    return text


class _PlaybookSearch:
    """A playbook and the result of its latest search."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._begun_us: int | None = None
        self._week = -1
        self._seen: frozenset[str] = frozenset()
        """The paragraphs of the view at the latest search."""
        self.latest = RetrievedBullets("")

    def refresh(self, view: View, messages: Sequence[Message]) -> None:
        """Search at the beginning, and once in each week."""
        self._begun_us = view.now if self._begun_us is None else self._begun_us
        week = 0 if view.now is None or self._begun_us is None else (view.now - self._begun_us) // WEEK_US
        if week <= self._week:
            return
        self._week = week
        paragraphs = view.text.split("\n\n")
        new = [paragraph for paragraph in paragraphs if paragraph not in self._seen]
        recent = [message.text for message in messages[-RECENT_MESSAGES:]]
        self._seen = frozenset(paragraphs)
        self.latest = self._lookup("\n\n".join([*new, *recent])[-QUERY_LIMIT:])


def briefing(view: View, bullets: Sequence[str]) -> str:
    """The text of a first view, after the bullets of a playbook where there are any."""
    lessons = "\n".join(f"- {sentence_of(bullet)}" for bullet in bullets)
    return f"{PLAYBOOK}\n\n{lessons}\n\n{view.text}" if lessons else view.text


def estimated_tokens(message: Message) -> int:
    """An estimate of the tokens of a message: those of its texts, and four for its frame."""
    return 4 + estimate_tokens(
        message.text + message.thinking + "".join(f"{call.name}{call.arguments}" for call in message.calls)
    )


@lru_cache(maxsize=256)
def tokens_of_tools(verbs: tuple[type[Action], ...]) -> int:
    """An estimate of the tokens of the tools of these verbs, as for a message."""
    return estimate_tokens(json.dumps(tools_of(verbs), ensure_ascii=False))


class Window:
    """The newest messages of a conversation, up to a limit of tokens."""

    def __init__(self, tokens: int) -> None:
        self._limit = tokens
        self._messages: list[Message] = []
        self._sizes: list[int] = []
        self._total = 0

    def add(self, message: Message) -> None:
        """Append a message."""
        self._messages.append(message)
        self._sizes.append(estimated_tokens(message))
        self._total += self._sizes[-1]

    @property
    def messages(self) -> Sequence[Message]:
        """All messages in the window, oldest first."""
        return self._messages

    @property
    def ends_with_one_move(self) -> bool:
        """Whether the newest message is a reply with a single move."""
        newest = self._messages[-1] if self._messages else None
        return newest is not None and newest.speaker == "assistant" and len(newest.calls) <= 1

    def drop_newest(self, count: int) -> None:
        """Remove so many of the newest messages."""
        self._total -= sum(self._sizes[-count:])
        del self._messages[-count:], self._sizes[-count:]

    def overflow(self, reserved: int = 0) -> list[Message]:
        """Remove and return the oldest messages when the window and `reserved` tokens exceed the limit; usually none.

        A quarter of the window is removed, up to the beginning of an exchange: a call never stays without its result,
        nor a result without its call. The last exchange always stays.
        """
        limit = self._limit - reserved
        return [] if self._total <= limit else self._drop(limit)

    def resize(self, tokens: int, reserved: int) -> list[Message]:
        """Give it another limit; remove and return the oldest messages, as `overflow` does."""
        self._limit = tokens
        return self.overflow(reserved)

    def drop_oldest(self, reserved: int) -> list[Message]:
        """Remove and return the oldest quarter of what is there, after a server refused all of it as too long.

        So much never comes together again: the limit is lowered below what was refused.
        """
        refused = self._total
        dropped = self._drop(refused)
        if dropped:
            self._limit = min(self._limit, refused + reserved - 1)
        return dropped

    def _drop(self, limit: int) -> list[Message]:
        """Remove and return the oldest messages until three quarters of a limit remain."""
        borders = [i for i, message in enumerate(self._messages) if i and message.speaker == "assistant"]
        cut, remaining = 0, self._total
        for border in borders:
            if remaining <= limit * (1 - STRIDE):
                break
            remaining -= sum(self._sizes[cut:border])
            cut = border
        removed = self._messages[:cut]
        del self._messages[:cut], self._sizes[:cut]
        self._total = remaining
        return removed


def _as_text(messages: Sequence[Message]) -> Sequence[Message]:
    """Messages with their calls as plain text.

    Where a request offers no tools, some providers refuse messages with calls.
    """
    texts: list[Message] = []
    for message in messages:
        calls = "".join(f"\n[{call.name} {call.arguments}]" for call in message.calls)
        speaker = "user" if message.speaker == "tool" else message.speaker
        texts.append(Message(speaker, (message.text + calls).strip() or "(nothing)"))
    return texts


@lru_cache(maxsize=256)
def tools_of(verbs: tuple[type[Action], ...]) -> Tools:
    """The tools of these verbs, built once."""
    return Tools(verb.tool() for verb in verbs)


@lru_cache
def prompt(name: str) -> str:
    """The text of a prompt of this package."""
    return (files("akinai.agents") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
