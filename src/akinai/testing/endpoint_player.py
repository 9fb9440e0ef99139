"""A rule-based player behind the wire: it plays from the HTTP messages alone, as a model would.

What the client must send, so that the player sees over the wire what it sees in process:

- The system message stays the same as long as the conversation lasts. It holds the instructions and the text of the
  first view; the view may also stand in user messages before the first reply.
- The outcome of a move comes back as its text, unchanged: as the result of the call, or, where no tools are offered,
  as the first user message behind the reply.
- When the view has changed, a user message behind the outcome tells it: all of it, or all from the first paragraph that
  differs on. What is told replaces the player's view from the paragraph on that is the same or has the same label
  ("Now: ..."), and is added at its end when there is none. A nudge does no harm.
- Replies come back as they were given, ids and white space included. A window may be trimmed anywhere, as long as the
  newest answered move of the player is in it.

Each move carries its number, in the id of its call or in the white space of its JSON: what has been heard is read from
the messages, never counted. So a request that is sent again gets the same reply, a reply that a fault took the place of
is given again, and a client that goes back to an earlier point (a fork, a new run) is followed there.
"""

import asyncio
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


@dataclass(frozen=True, slots=True)
class Heard:
    """What a conversation told the player between two of its moves."""

    outcome: str | None
    """None before the first move."""
    news: tuple[str, ...]
    """The user's messages: changed views, nudges; before the first move the system message as well."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A move that was given, and what it was given for."""

    view: View
    outcome: str | None
    reply: Reply


@dataclass(slots=True)
class _Conversation:
    role: Role
    by_tools: bool
    moves: list[_Given] = field(default_factory=list["_Given"])
    agent: Agent | None = None
    """None where it must be made anew: it is then played through the moves."""
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
                return Reply(f"So far: {len(conversation.moves)} moves.")
            return await self._next(conversation, asked)

    def _begun(self, request: Request) -> _Conversation:
        verbs = verbs_in(request, self._verbs)
        sub_agent = verbs != self._verbs.classes and any(verb.tool_name() == "report" for verb in verbs)
        actor = f"{self._actor}/{SUB_AGENT}" if sub_agent else self._actor
        return _Conversation(Role(actor, self._verbs.classes), by_tools=bool(request.tools))

    async def _next(self, conversation: _Conversation, asked: Asked) -> Reply:
        """The move that follows the newest answered one."""
        tag, moves = speech.tag_of(asked.key), conversation.moves
        heard = heard_in(asked.request.messages, tag)
        newest = max(heard)
        if newest == 0 and moves and any(one.speaker == "assistant" for one in asked.request.messages):
            return moves[-1].reply  # what it was told of its moves has left the window: it waits for the last answer
        verbs = verbs_in(asked.request, self._verbs)
        if len(moves) > newest:
            if (_view(moves, newest, heard[newest], verbs), heard[newest].outcome) == _told(moves[newest]):
                return moves[newest].reply
            del moves[newest:]
            conversation.agent = None
        for number in range(len(moves), newest + 1):
            if number not in heard:
                raise Refused(
                    f"move {newest} of {asked.key} was answered, and this endpoint knows its moves up to {len(moves)}: "
                    "the window does not hold those between; let one endpoint hear a conversation from its beginning"
                )
            view = _view(moves, number, heard[number], verbs)
            move = await self._act(conversation, view, heard[number].outcome)
            moves.append(_Given(view, heard[number].outcome, _reply(move, conversation.by_tools, number + 1, tag)))
        return moves[-1].reply

    async def _act(self, conversation: _Conversation, view: View, outcome: str | None) -> Move | None:
        """The player's move; None when its plan is over."""
        agent = conversation.agent or await self._again(conversation)
        conversation.agent = None  # until it has answered: one that breaks is made anew
        move = await _move(agent, view, outcome)
        conversation.agent = agent
        return move

    async def _again(self, conversation: _Conversation) -> Agent:
        """A new player, played through the moves that were given."""
        agent = self._factory(conversation.role)
        for given in conversation.moves:
            await _move(agent, given.view, given.outcome)
        return agent


def heard_in(messages: Sequence[Message], tag: str) -> Mapping[int, Heard]:
    """What the messages tell by the number of the move that it answers; 0 is the opening, always there."""
    outcomes: dict[int, str | None] = {0: None}
    news: dict[int, list[str]] = {0: []}
    newest = waiting = 0
    nudged = False
    for message in messages:
        if message.speaker == "assistant":
            waiting = 0 if message.calls else speech.number_in_text(message.text, tag)
            ours = waiting or any(speech.number_in_id(call.id, tag) for call in message.calls)
            nudged = newest > 0 and not ours  # what follows answers a reply that a fault made
            continue
        number = speech.number_in_id(message.call_id, tag) if message.speaker == "tool" else waiting
        if number:
            newest, waiting = number, 0
            outcomes[number], news[number] = message.text, []
        elif message.speaker != "tool" and not nudged:
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
    before = moves[number - 1].view.text if number else ""
    return View(with_news(before, heard.news), verbs)


def _told(given: _Given) -> tuple[View, str | None]:
    return given.view, given.outcome


def _label(paragraph: str) -> str:
    """What stands before the colon in the first line of a paragraph; empty when that is no label."""
    label, colon, _ = paragraph.split("\n", 1)[0].partition(":")
    return label if colon and len(label) <= LABEL_LIMIT else ""


async def _move(agent: Agent, view: View, outcome: str | None) -> Move | None:
    try:
        return await agent.act(view, None if outcome is None else Outcome(outcome))
    except EndRun:
        return None


def _reply(move: Move | None, by_tools: bool, number: int, tag: str) -> Reply:
    if move is None:
        return Reply("I have nothing more to do.")
    if isinstance(move.action, Unreadable):
        return Reply(move.action.text)
    if not by_tools:
        return Reply(speech.marked(speech.structured_text(move.action, move.said), number, tag))
    name, parameters = move.action.tool_name(), move.action.say()
    return Reply(move.said, (ToolCall(speech.call_id(number, tag), name, parameters),))
