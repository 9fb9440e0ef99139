"""A rule-based player behind the wire: it plays from the HTTP messages alone, as a model would.

What the client must send, so that the player sees over the wire what it sees in process:

- The system message stays the same as long as the conversation lasts. It holds the instructions and the text of the
  first view; the view may also stand in user messages before the first reply.
- The outcome of a move comes back as its text, a refusal maybe behind "Refused (code): ": as the result of the call,
  or, where no tools are offered, as the first user message behind the reply. A reply without an action is answered so
  as well.
- What came otherwise (a report, a task, a changed view) is a user message behind the outcome. It replaces the view from
  the paragraph on that is the same or has the same label ("Now: ..."), and is added at its end where there is none.
- Replies come back as they were given, ids and white space included. A window may be trimmed anywhere, as long as the
  newest answered move of the player is in it.

Each move carries its number, in the id of its call or in the white space of its JSON: what has been heard is read from
the messages, never counted. So a request that is sent again gets the same reply, a reply that a fault took the place of
is given again, and a client that goes back to an earlier point (a fork, a new run) is followed there. Where tools were
offered, a request without any (for a summary) is answered and moves nothing on.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.errors import EndRun, UnknownName
from akinai.core.ledger import Outcome
from akinai.core.models import Message, Reply, Request, ToolCall
from akinai.testing import endpoint_speech as speech
from akinai.testing.endpoint_brains import Asked
from akinai.testing.endpoint_wires import Refused

SUB_AGENT = "sub"
LABEL_LIMIT = 40
"""Characters of the longest label of a paragraph."""

_REFUSED = re.compile(r"Refused \((\w+)\): ")


@dataclass(frozen=True, slots=True)
class Heard:
    """What a conversation told the player between two of its moves."""

    outcome: str | None
    """None before the first move."""
    news: tuple[str, ...]
    """The user's messages that answer nothing; before the first move the system message as well."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A move that was given, and what it was given for."""

    view: View
    outcome: str | None
    reply: Reply


@dataclass(slots=True)
class _Past:
    """One course that a conversation took."""

    moves: list[_Given]
    agent: Agent | None = None
    """None where it must be made anew: it is then played through the moves."""


@dataclass(slots=True)
class _Conversation:
    role: Role
    by_tools: bool
    pasts: list[_Past] = field(default_factory=list[_Past])
    """A client that went back has more than one; the last used is the last."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class PlayerBrain:
    """Plays a player of a world in each conversation.

    A conversation that is offered `report`, and not every verb there is, is a sub-agent's: its player is made for the
    actor "owner/sub". Any other is the owner's.
    """

    def __init__(self, factory: AgentFactory, verbs: Verbs, *, actor: str = "owner") -> None:
        self._factory, self._verbs, self._actor = factory, verbs, actor
        self._conversations: dict[str, _Conversation] = {}

    async def reply(self, asked: Asked) -> Reply:
        conversation = self._conversations.get(asked.key)
        if conversation is None:
            conversation = self._conversations[asked.key] = self._begun(asked.request)
        async with conversation.lock:
            if conversation.by_tools and not asked.request.tools:
                return Reply(f"So far: {len(conversation.pasts[-1].moves)} moves.")
            return await self._next(conversation, asked)

    def _begun(self, request: Request) -> _Conversation:
        verbs = verbs_in(request, self._verbs)
        sub_agent = verbs != self._verbs.classes and any(verb.tool_name() == "report" for verb in verbs)
        actor = f"{self._actor}/{SUB_AGENT}" if sub_agent else self._actor
        return _Conversation(Role(actor, self._verbs.classes), by_tools=bool(request.tools))

    async def _next(self, conversation: _Conversation, asked: Asked) -> Reply:
        """The move that follows the newest answered one."""
        tag, pasts = speech.tag_of(asked.key), conversation.pasts
        heard = heard_in(asked.request.messages, tag)
        newest = max(heard)
        if newest == 0 and pasts and any(one.speaker == "assistant" for one in asked.request.messages):
            return pasts[-1].moves[-1].reply  # its answered moves have left the window: it waits for the last answer
        verbs = verbs_in(asked.request, self._verbs)
        past = _past_of(pasts, heard, verbs)
        for number in range(len(past.moves), newest + 1):
            if number not in heard:
                raise Refused(
                    f"move {newest} of {asked.key} was answered, and this endpoint knows nothing of move {number}: the "
                    "window does not hold it; let one endpoint hear a conversation from its beginning"
                )
            view = _view(past.moves, number, heard[number], verbs)
            move = await self._act(conversation.role, past, view, heard[number].outcome)
            reply = _reply(move, conversation.by_tools, number + 1, tag)
            past.moves.append(_Given(view, heard[number].outcome, reply))
        conversation.pasts = [*(one for one in pasts if one is not past), past]
        return past.moves[newest].reply

    async def _act(self, role: Role, past: _Past, view: View, outcome: str | None) -> Move | None:
        """The player's move; None when its plan is over."""
        agent = past.agent or await self._again(role, past.moves)
        past.agent = None  # until it has answered: one that breaks is made anew
        move = await _move(agent, view, outcome)
        past.agent = agent
        return move

    async def _again(self, role: Role, moves: Sequence[_Given]) -> Agent:
        """A new player, played through the moves that were given."""
        agent = self._factory(role)
        for given in moves:
            await _move(agent, given.view, given.outcome)
        return agent


def _past_of(pasts: Sequence[_Past], heard: Mapping[int, Heard], verbs: tuple[type[Action], ...]) -> _Past:
    """The past in which all this was heard; or a new one that begins as the last that agrees with what came before."""
    newest = max(heard)
    known = [past for past in reversed(pasts) if len(past.moves) >= newest and _agrees(past.moves, heard, newest)]
    for past in known:
        if len(past.moves) == newest:
            return past
        given, now = past.moves[newest], heard[newest]
        if (given.view, given.outcome) == (_view(past.moves, newest, now, verbs), now.outcome):
            return past
    return _Past(known[0].moves[:newest]) if known else _Past([])


def _agrees(moves: Sequence[_Given], heard: Mapping[int, Heard], before: int) -> bool:
    """Whether what was heard before a move is what these moves were given for."""
    return all(moves[number].outcome == one.outcome for number, one in heard.items() if number < before)


def heard_in(messages: Sequence[Message], tag: str) -> Mapping[int, Heard]:
    """What the messages tell by the number of the move that it answers; 0 is the opening, always there."""
    outcomes: dict[int, str | None] = {0: None}
    news: dict[int, list[str]] = {0: []}
    newest = 0
    waiting: int | None = None  # the number of a text that is to be answered, 0 when it is none of the player's
    for message in messages:
        if message.speaker == "assistant":
            waiting = None if message.calls else speech.number_in_text(message.text, tag)
        elif message.speaker == "tool" or waiting is not None:
            number = waiting or speech.number_in_id(message.call_id, tag)
            waiting = None
            if number:
                newest = number
                outcomes[number], news[number] = message.text, []
        else:
            news[newest].append(message.text)
    return {number: Heard(outcome, tuple(news[number])) for number, outcome in outcomes.items()}


def with_news(view: str, news: Iterable[str]) -> str:
    """A view's text after the user's messages: each replaces it from the paragraph on that has the same beginning."""
    for told in news:
        paragraphs = view.split("\n\n") if view else []
        first = told.split("\n\n", 1)[0]
        label = _label(first)
        at = (i for i, one in enumerate(paragraphs) if one == first or (label and _label(one) == label))
        view = "\n\n".join([*paragraphs[: next(at, len(paragraphs))], told])
    return view


def verbs_in(request: Request, verbs: Verbs) -> tuple[type[Action], ...]:
    """The verbs that are offered: as tools, or else by name in the system message; all when it names none."""
    if request.tools:
        return tuple(verb for tool in request.tools if (verb := _verb(verbs, str(tool["name"]))))
    text = "\n".join(one.text for one in request.messages if one.speaker == "system")
    words = {word.lower() for word in speech.words_in(text)}
    return tuple(verb for verb in verbs.classes if verb.tool_name() in words) or verbs.classes


def _verb(verbs: Verbs, name: str) -> type[Action] | None:
    try:
        return verbs.find(name)
    except UnknownName:
        return None


def _view(moves: Sequence[_Given], number: int, heard: Heard, verbs: tuple[type[Action], ...]) -> View:
    before = moves[number - 1].view if number else View("")
    news = heard.news[-1] if number and heard.news else before.news
    return View(with_news(before.text, heard.news), verbs, news=news)


def _label(paragraph: str) -> str:
    """What stands before the colon in the first line of a paragraph; empty when that is no label."""
    label, colon, _ = paragraph.split("\n", 1)[0].partition(":")
    return label if colon and len(label) <= LABEL_LIMIT else ""


async def _move(agent: Agent, view: View, outcome: str | None) -> Move | None:
    try:
        return await agent.act(view, None if outcome is None else _outcome(outcome))
    except EndRun:
        return None


def _outcome(text: str) -> Outcome:
    refused = _REFUSED.match(text)
    return Outcome.refused(refused[1], text[refused.end() :]) if refused else Outcome(text)


def _reply(move: Move | None, by_tools: bool, number: int, tag: str) -> Reply:
    if move is None:
        return Reply("I have nothing more to do.")
    if isinstance(move.action, Unreadable):
        return Reply(move.action.text)
    if not by_tools:
        return Reply(speech.marked(speech.structured_text(move.action, move.said), number, tag))
    name, parameters = move.action.tool_name(), move.action.say()
    return Reply(move.said, (ToolCall(speech.call_id(number, tag), name, parameters),))
