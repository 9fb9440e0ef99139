"""The agent that asks a model: the view and what was heard become a conversation, its replies become moves."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from akinai.agents.memory import WINDOW_TOKENS, Window, estimated_tokens
from akinai.agents.speech import ByJson, ByTools, Speech, Wish, described
from akinai.core.actions import Action, Verbs
from akinai.core.agents import Found, Lookup, Move, View
from akinai.core.ledger import Outcome
from akinai.core.models import NO_TOOLS, Asker, Message, Request, Tools

Memory = Literal["trim", "summary"]

OPENING = "Begin."
SUMMARY_SHARE = 0.2
"""The part of the window that a summary may fill, at four characters a token; a longer one is cut."""


PLAYBOOK = "Playbook, learned from earlier runs; follow what fits your situation:"
"""Heads the bullets: in the system's message, between the instructions and the first view, or where they are looked up,
in the message behind it."""
WEEK_US = 7 * 86_400_000_000
"""Of the world's own time; a playbook is asked at the begin and again in each week of it."""
RECENT, SITUATION_AT_MOST = 8, 4_000
"""The newest messages that tell of the situation, and characters of what a playbook is asked with."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a chat agent speaks and remembers."""

    speech: Literal["tools", "json"] = "tools"
    memory: Memory = "trim"
    """What happens to messages that no longer fit: they are dropped, or dropped and summed up by the model."""
    window_tokens: int = WINDOW_TOKENS


class ChatAgent:
    """Plays one actor by asking a model.

    Its conversation begins with the instructions and the first view as the system's message; then come, in turn, the
    model's replies, the outcomes of their calls, and news that came otherwise. Several calls in a reply are several
    moves, in order; a reply without one is an unreadable move, and its refusal nudges the model on.

    `bullets` stand in the system's message. With a `lookup` a playbook is asked in their place: at the begin with the
    first view, and in each week of the world's time with what is new in the view and what was said last; what it
    answers stands behind the system's message, is always in sight, and makes way for the next answer.
    """

    def __init__(
        self,
        asker: Asker,
        verbs: Verbs,
        manner: Manner = Manner(),
        bullets: Sequence[str] = (),
        lookup: Lookup | None = None,
    ) -> None:
        self._asker, self._verbs, self._manner, self._bullets = asker, verbs, manner, bullets
        self._playbook = None if lookup is None else _Consulted(lookup)
        self._speech: Speech = ByTools() if manner.speech == "tools" else ByJson()
        self._system: Message | None = None
        self._window = Window(manner.window_tokens)
        self._wishes: deque[Wish] = deque()
        self._open: Wish | None = None
        """The move whose outcome has not been heard."""
        self._news = ""
        self._summary = ""
        self._retold = 0

    async def act(self, view: View, heard: Outcome | None) -> Move:
        self._listen(view, heard)
        if not self._wishes:
            self._hear_news(view)
            if self._playbook is not None:
                self._playbook.consult(view, self._window.messages)
            reply = await self._ask(view.verbs)
            self._window.add(reply)
        self._open = self._wishes.popleft()
        return self._open.move

    async def remember(self, view: View, heard: Outcome | None, move: Move) -> None:
        """Take a move that another agent made as one's own."""
        self._listen(view, heard)
        self._hear_news(view)
        self._retold += 1
        message, self._open = self._speech.retold(move, f"past_{self._retold}")
        self._window.add(message)
        self._window.overflow(self._reserved())

    def _listen(self, view: View, heard: Outcome | None) -> None:
        """Begin the conversation, or take in the outcome of the last move."""
        if self._system is None:
            self._system, self._news = self._opening(view), view.news
        if self._open is not None and heard is not None:
            told = heard.text if heard.ok else f"Refused ({heard.code}): {heard.text}"
            self._window.add(self._speech.answer(self._open, told))
            self._open = None

    def _hear_news(self, view: View) -> None:
        if view.news and view.news != self._news:
            self._news = view.news
            self._window.add(Message("user", view.news))

    async def _ask(self, verbs: Sequence[type[Action]]) -> Message:
        """The model's next reply, whose wishes then wait to be carried out."""
        await self._make_room()
        tools = tools_of(tuple(verbs)) if self._speech.offers_tools else NO_TOOLS
        reply = await self._asker.ask(Request((*self._head(), *self._window.messages), tools))
        self._wishes.extend(self._speech.wishes(self._verbs, reply))
        return reply.message

    async def _make_room(self) -> None:
        dropped = self._window.overflow(self._reserved())
        if not dropped or self._manner.memory == "trim":
            return
        ask = Message("user", prompt("summary"))
        reply = await self._asker.ask(Request((*self._head(), *_as_text(dropped), ask)))
        self._summary = reply.text[: int(4 * SUMMARY_SHARE * self._manner.window_tokens)]

    def _head(self) -> tuple[Message, Message]:
        """What never leaves the window: the system's message, and one of the user's as every provider wants it."""
        assert self._system is not None
        notes = f"Your notes of what is no longer in sight:\n{self._summary}" if self._summary else OPENING
        bullets = self._playbook.found.text.strip() if self._playbook else ""
        return self._system, Message("user", f"{PLAYBOOK}\n\n{bullets}\n\n{notes}" if bullets else notes)

    def _reserved(self) -> int:
        return sum(estimated_tokens(message) for message in self._head())

    def _opening(self, view: View) -> Message:
        lessons = "\n".join(f"- {bullet}" for bullet in self._bullets)
        told = f"{PLAYBOOK}\n\n{lessons}\n\n{view.text}" if lessons else view.text
        if self._speech.offers_tools:
            return Message("system", f"{prompt('chat')}\n\n{told}")
        return Message("system", f"{prompt('structured')}\n\nActions:\n\n{described(view.verbs)}\n\n{told}")


class _Consulted:
    """A playbook, and what it answered last."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._begun_us: int | None = None
        self._week = -1
        self._seen: frozenset[str] = frozenset()
        """The paragraphs of the view of the last time."""
        self.found = Found("")

    def consult(self, view: View, messages: Sequence[Message]) -> None:
        """Ask at the begin, and in a week that it was not asked in yet."""
        self._begun_us = view.now if self._begun_us is None else self._begun_us
        week = 0 if view.now is None or self._begun_us is None else (view.now - self._begun_us) // WEEK_US
        if week <= self._week:
            return
        self._week = week
        paragraphs = view.text.split("\n\n")
        new = [one for one in paragraphs if one not in self._seen]
        said = [message.text for message in messages[-RECENT:]]
        self._seen = frozenset(paragraphs)
        self.found = self._lookup("\n\n".join([*new, *said])[-SITUATION_AT_MOST:])


def _as_text(messages: Sequence[Message]) -> Sequence[Message]:
    """Messages as plain text: a conversation about to be summed up offers no tools, and some providers then take no
    calls in it."""
    told: list[Message] = []
    for message in messages:
        calls = "".join(f"\n[{call.name} {call.arguments}]" for call in message.calls)
        speaker = "user" if message.speaker == "tool" else message.speaker
        told.append(Message(speaker, (message.text + calls).strip() or "(nothing)"))
    return told


@lru_cache(maxsize=256)
def tools_of(verbs: tuple[type[Action], ...]) -> Tools:
    """The verbs as tools, made once."""
    return Tools(verb.tool() for verb in verbs)


@lru_cache
def prompt(name: str) -> str:
    """A prompt of this package."""
    return (files("akinai.agents") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
