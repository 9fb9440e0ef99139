"""A rule-based player behind a model endpoint: it plays from the HTTP messages alone, as a model would.

For the player to see the same over the wire as in process, the client must send messages in this form:

- The system message stays the same for the whole conversation. It holds the instructions and the text of the first
  view; the view may also be in user messages before the first reply.
- The outcome of a move is sent as its text, a refusal possibly after "Refused (code): ": as the result of the tool call
  or, where no tools are offered, as the first user message after the reply. A reply without an action is answered in
  the same way.
- Anything else (a report, a task, a changed view) is a user message after the outcome. It replaces the view from the
  first paragraph that is equal or has the same label ("Now: ..."), and is appended where there is none.
- Replies are sent back as they were given, ids and white space included. A window may be trimmed anywhere, as long as
  the newest answered move of the player is in it.

Each move carries its number, in the id of its tool call or in the white space of its JSON: progress is read from the
messages, never counted. So a request that is sent again gets the same reply, a reply that a fault replaced is given
again, and a client that goes back to an earlier point (a fork, a new run) is followed there. Where tools were offered,
a request without any (for a summary) is answered and is no move.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.canonical import Json
from akinai.core.errors import EndRun, UnknownName
from akinai.core.ledger import Outcome
from akinai.core.models import Message, Reply, Request, ToolCall
from akinai.core.replies.arguments import TEXT_KEYS
from akinai.core.replies.calls import NAME_KEYS
from akinai.testing.endpoint.wires import ModelCall, Refused

SUB_AGENT = "sub"
LABEL_LIMIT = 40
"""Characters of the longest label of a paragraph."""

_REFUSED = re.compile(r"Refused \((\w+)\): ")
TAG_BITS = 16
_CALL = re.compile(r"call_(\d{1,9})_([0-9a-f]{4})")
_WORD = re.compile(r"\w+")
_LISTED = re.compile(r"^\W*(\w+)\s*:", re.MULTILINE)
_MARK = re.compile(rf"\{{([ \t]{{{TAG_BITS + 1},60}})")
_TO_SPACE, _TO_BITS = str.maketrans("01", " \t"), str.maketrans(" \t", "01")


@dataclass(frozen=True, slots=True)
class Update:
    """The messages of a conversation between two moves of the player."""

    outcome: str | None
    """The text of the outcome of the last move; None before the first."""
    news: tuple[str, ...]
    """The user's messages that answer no move; before the first move the system message as well."""


@dataclass(frozen=True, slots=True)
class _Played:
    """A move, and the view and outcome that it was decided on."""

    view: View
    outcome: str | None
    reply: Reply


@dataclass(slots=True)
class _Branch:
    """One course of a conversation."""

    moves: list[_Played]
    agent: Agent | None = None
    """None where a new agent has to be made and played through the moves."""


@dataclass(slots=True)
class _Conversation:
    role: Role
    by_tools: bool
    branches: list[_Branch] = field(default_factory=list[_Branch])
    """The newest last; a client that went back to an earlier point has more than one."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class PlayerResponder:
    """Plays a player of a world in each conversation.

    A conversation in which `report` is offered, and nothing that delegates, is a sub-agent's: its player is made for
    the actor "owner/sub". Any other is the owner's.
    """

    def __init__(self, factory: AgentFactory, verbs: Verbs, *, actor: str = "owner") -> None:
        self._factory, self._verbs, self._actor = factory, verbs, actor
        self._conversations: dict[str, _Conversation] = {}

    async def reply(self, call: ModelCall) -> Reply:
        conversation = self._conversations.get(call.key)
        if conversation is None:
            conversation = self._conversations[call.key] = self._begin(call.request)
        async with conversation.lock:
            if conversation.by_tools and not call.request.tools:
                return Reply(f"So far: {len(conversation.branches[-1].moves)} moves.")
            return await self._next(conversation, call)

    def _begin(self, request: Request) -> _Conversation:
        verbs = verbs_in(request, self._verbs)
        names = {verb.tool_name() for verb in verbs}
        sub_agent = "report" in names and not any(name.startswith("delegate") for name in names)
        actor = f"{self._actor}/{SUB_AGENT}" if sub_agent else self._actor
        return _Conversation(Role(actor, self._verbs.classes), by_tools=bool(request.tools))

    async def _next(self, conversation: _Conversation, call: ModelCall) -> Reply:
        """The move that follows the newest answered one."""
        tag, branches = tag_of(call.key), conversation.branches
        updates = updates_in(call.request.messages, tag)
        newest = max(updates)
        if newest == 0 and branches and any(message.speaker == "assistant" for message in call.request.messages):
            return branches[-1].moves[-1].reply  # its answered moves have left the window: repeat the last reply
        verbs = verbs_in(call.request, self._verbs)
        branch = _branch_of(branches, updates, verbs)
        for number in range(len(branch.moves), newest + 1):
            if number not in updates:
                raise Refused(
                    f"move {newest} of {call.key} was answered, but move {number} is unknown to this endpoint and not "
                    "in the window; send a conversation to the same endpoint from its beginning"
                )
            view = _view(branch.moves, number, updates[number], verbs)
            move = await self._act(conversation.role, branch, view, updates[number].outcome)
            reply = _reply(move, conversation.by_tools, number + 1, tag)
            branch.moves.append(_Played(view, updates[number].outcome, reply))
        conversation.branches = [*(other for other in branches if other is not branch), branch]
        return branch.moves[newest].reply

    async def _act(self, role: Role, branch: _Branch, view: View, outcome: str | None) -> Move | None:
        """The player's move; None when its plan is over."""
        agent = branch.agent or await self._replay(role, branch.moves)
        branch.agent = None  # until it has answered: an agent that raises is made anew
        move = await _move(agent, view, outcome)
        branch.agent = agent
        return move

    async def _replay(self, role: Role, moves: Sequence[_Played]) -> Agent:
        """A new player, played through the moves."""
        agent = self._factory(role)
        for played in moves:
            await _move(agent, played.view, played.outcome)
        return agent


def _branch_of(branches: Sequence[_Branch], updates: Mapping[int, Update], verbs: tuple[type[Action], ...]) -> _Branch:
    """The branch with all these updates; else a new one that begins as the newest branch that agrees so far."""
    newest = max(updates)
    agreeing = [
        branch
        for branch in reversed(branches)
        if len(branch.moves) >= newest and _agrees(branch.moves, updates, newest)
    ]
    for branch in agreeing:
        if len(branch.moves) == newest:
            return branch
        played, update = branch.moves[newest], updates[newest]
        if (played.view, played.outcome) == (_view(branch.moves, newest, update, verbs), update.outcome):
            return branch
    return _Branch(agreeing[0].moves[:newest]) if agreeing else _Branch([])


def _agrees(moves: Sequence[_Played], updates: Mapping[int, Update], before: int) -> bool:
    """Whether the moves before a number were decided on the same outcomes."""
    return all(moves[number].outcome == update.outcome for number, update in updates.items() if number < before)


def updates_in(messages: Sequence[Message], tag: str) -> Mapping[int, Update]:
    """The updates in the messages, by the number of the move that they follow; 0, the opening, is always there."""
    outcomes: dict[int, str | None] = {0: None}
    news: dict[int, list[str]] = {0: []}
    newest = 0
    waiting: int | None = None  # number of the text that the next message answers; 0: it is not the player's
    for message in messages:
        if message.speaker == "assistant":
            waiting = None if message.calls else number_in_text(message.text, tag)
        elif message.speaker == "tool" or waiting is not None:
            number = waiting or number_in_id(message.call_id, tag)
            waiting = None
            if number:
                newest = number
                outcomes[number], news[number] = message.text, []
        else:
            news[newest].append(message.text)
    return {number: Update(outcome, tuple(news[number])) for number, outcome in outcomes.items()}


def with_news(view: str, news: Iterable[str]) -> str:
    """A view's text after the user's messages: each replaces it from the first paragraph with the same beginning."""
    for message in news:
        paragraphs = view.split("\n\n") if view else []
        first = message.split("\n\n", 1)[0]
        label = _label(first)
        at = (i for i, text in enumerate(paragraphs) if text == first or (label and _label(text) == label))
        view = "\n\n".join([*paragraphs[: next(at, len(paragraphs))], message])
    return view


def verbs_in(request: Request, verbs: Verbs) -> tuple[type[Action], ...]:
    """The offered verbs: the tools, else those that lines of the system message begin with, else those that it names
    anywhere; all when it names none."""
    if request.tools:
        return tuple(verb for tool in request.tools if (verb := _verb(verbs, str(tool["name"]))))
    text = "\n".join(message.text for message in request.messages if message.speaker == "system")
    for names in (_LISTED.findall(text), words_in(text)):
        words = {word.lower() for word in names}
        if named := tuple(verb for verb in verbs.classes if verb.tool_name() in words):
            return named
    return verbs.classes


def _verb(verbs: Verbs, name: str) -> type[Action] | None:
    try:
        return verbs.find(name)
    except UnknownName:
        return None


def _view(moves: Sequence[_Played], number: int, update: Update, verbs: tuple[type[Action], ...]) -> View:
    before = moves[number - 1].view if number else View("")
    news = update.news[-1] if number and update.news else before.news
    return View(with_news(before.text, update.news), verbs, news=news)


def _label(paragraph: str) -> str:
    """The text before the colon in the first line of a paragraph; empty when that is no label."""
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
        return Reply(with_number(structured_text(move.action, move.said), number, tag))
    name, parameters = move.action.tool_name(), move.action.encode()
    return Reply(move.said, (ToolCall(call_id(number, tag), name, parameters),))


def structured_text(action: Action, remark: str = "") -> str:
    """An action as a JSON object, as models without tools write it."""
    parameters = action.encode()
    if not TEXT_KEYS.isdisjoint(parameters) or not set(NAME_KEYS).isdisjoint(parameters):
        parameters = {"arguments": parameters}
    reasoning: dict[str, Json] = {"reasoning": remark} if remark else {}
    return json.dumps({"action": action.tool_name().upper(), **reasoning, **parameters}, ensure_ascii=False)


def tag_of(key: str) -> str:
    """Four hex digits that distinguish the replies of a conversation from those of another."""
    return hashlib.sha256(key.encode()).hexdigest()[:4]


def call_id(number: int, tag: str) -> str:
    """The id of a conversation's n-th move as a tool call."""
    return f"call_{number}_{tag}"


def number_in_id(call_id: str, tag: str) -> int:
    """The number of the move in a tool call's id; 0 for an id of another conversation."""
    match = _CALL.fullmatch(call_id)
    return int(match[1]) if match and match[2] == tag else 0


def with_number(text: str, number: int, tag: str) -> str:
    """A JSON object with the number of the move in its white space, which JSON parsers ignore."""
    bits = f"{int(tag, 16):0{TAG_BITS}b}{number:b}"
    return "{" + bits.translate(_TO_SPACE) + text[1:]


def number_in_text(text: str, tag: str) -> int:
    """The number that `with_number` wrote; 0 when there is none of this conversation."""
    match = _MARK.search(text)
    bits = match[1].translate(_TO_BITS) if match else ""
    return int(bits[TAG_BITS:], 2) if bits and int(bits[:TAG_BITS], 2) == int(tag, 16) else 0


def words_in(text: str) -> Iterator[str]:
    """The words of a text; underscores are parts of words."""
    return (match[0] for match in _WORD.finditer(text))
