"""Questions to a model and its server before anything is played: what works, and which agent fits."""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import ConfigDict

from akinai.agents.chat import prompt
from akinai.agents.protocols import (
    CUT_FINISHES,
    NUDGE,
    ActionProtocol,
    JsonProtocol,
    RequestedMove,
    ToolCallProtocol,
    describe_verbs,
)
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.errors import ContextLimit, ModelError
from akinai.core.models import NO_TOOLS, Message, Reply, Request, Tools
from akinai.core.replies.moves import EXPECTED
from akinai.core.replies.thoughts import split_thoughts
from akinai.runtime.config.addresses import on_this_machine
from akinai.runtime.models.folding import as_table, as_tables
from akinai.runtime.models.langchain import LangChainModel, open_model
from akinai.runtime.models.retry import RetryPolicy

PATIENCE = RetryPolicy(max_attempts=5, max_total_wait_s=30.0)
"""As in a run, but for no longer than somebody waits at a terminal."""
FACTS_S = 5.0
"""Seconds to wait for what a server says of itself."""
WINDOW_NAMES = (
    "max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length", "n_ctx",
    "n_ctx_train", "max_input_tokens", "inputTokenLimit",
)  # fmt: skip
"""The names under which lists of models give the window, those of the running server before those of the model."""
_TOLD_WINDOW = re.compile(r"(?:context|window|maximum|limit|n_ctx)\D{0,60}?(\d[\d,]{2,})", re.IGNORECASE)
LETTER = "\n".join(
    f"{number}. We offer {number} crates of water, delivered on day {number}." for number in range(1, 16)
)
"""A text of fifteen lines, as long as a letter."""


class AdvanceDay(Action):
    """End the day."""


class SetPrice(Action):
    """Set the price of a product."""

    product: str
    cents: int


class SendLetter(Action):
    """Send a letter."""

    text: str


UNWRITTEN = ConfigDict(use_attribute_docstrings=False)  # Pydantic would look for each page's source in every module
PAGES = tuple(
    type(f"ReadPage{n}", (Action,), {"__doc__": f"Read page {n} of the handbook.", "model_config": UNWRITTEN})
    for n in range(1, 21)
)
"""So that as many tools are offered as in a game: some servers take few."""
VERBS = Verbs((AdvanceDay, SetPrice, SendLetter, *PAGES))
TOOLS = Tools(verb.tool() for verb in VERBS.classes)
PLAIN = "Which number is larger, 7 or 12? Answer with the number alone."
ONE_CALL = "It is evening and all is done. End the day now."
TWO_CALLS = "Set the price of water to 150 cents and the price of cola to 200 cents, both in this one reply."
LONG = f"Send a letter with exactly this text, all {LETTER.count(chr(10)) + 1} lines of it:\n\n{LETTER}"
THINK = (
    "A machine sells 7 bottles a day. Think about how many it sells in 6 days; "
    "then set the price of water to that many cents."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question."""

    question: str
    ok: bool
    about: str
    """What the model did; where it is not ok, why."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What works with a model and its server."""

    model: str
    base_url: str | None
    answers: Sequence[Answer]
    agent: str
    """The agent to play with, "chat" or "structured"; empty where neither was read."""
    tokens_a_second: float | None
    """Of replies, over all questions; None where the server counts no tokens."""
    window: int | None
    """Tokens of the longest prompt with its reply; None where the server does not say."""
    refused: Sequence[str]
    """What the server refused and what is sent in place of it."""
    cut: bool
    """Whether a reply was cut at the limit of its length."""


async def examine(
    name: str, *, base_url: str | None, temperature: float | None, reply_tokens: int | None, timeout_s: float
) -> Examination:
    """Ask a model five questions. ModelError where the first has no answer; UsageError for one that cannot be asked."""
    model = open_model(
        name, base_url=base_url, temperature=temperature, max_tokens=reply_tokens, timeout_s=timeout_s, policy=PATIENCE
    )
    async with model:
        examiner = _Examiner(model.labelled("akinai-doctor"))
        answers = [await examiner.plain()]
        answers.append(await examiner.one_call())
        if examiner.protocol is not None:
            answers += [await examiner.two_calls(), await examiner.long_argument(), await examiner.thinking()]
        agent = "" if examiner.protocol is None else "chat" if examiner.protocol.offers_tools else "structured"
        window = await window_of(model) or examiner.told_window
        return Examination(name, base_url, answers, agent, examiner.speed, window, model.concessions, cut=examiner.cut)


@dataclass
class _Examiner:
    """Asks the questions, each in a conversation of its own."""

    model: LangChainModel
    protocol: ActionProtocol | None = None
    """The protocol in which an action was read; None before, and where none was."""
    replies: list[Reply] = field(default_factory=list[Reply])
    told_window: int | None = None

    @property
    def speed(self) -> float | None:
        tokens = sum(reply.usage.output for reply in self.replies)
        seconds = sum(reply.latency_s for reply in self.replies)
        return tokens / seconds if tokens and seconds else None

    @property
    def cut(self) -> bool:
        return any(reply.finish in CUT_FINISHES for reply in self.replies)

    async def plain(self) -> Answer:
        reply = await self._ask(Message("system", "Answer briefly."), Message("user", PLAIN))
        text = split_thoughts(reply.text).text.strip()
        if text:
            return Answer("plain", True, f"it answers: {_short(text)}")
        return Answer("plain", False, _stopped(reply) or "its reply is empty")

    async def one_call(self) -> Answer:
        """Ask for an action as a tool call, and where none is read, as JSON. Settles the protocol."""
        tools = ToolCallProtocol()
        why = await self._refused(tools, ONE_CALL)
        if not why:
            self.protocol = tools
            return Answer("tool call", True, "it calls a tool that is offered")
        json_why = await self._refused(JsonProtocol(), ONE_CALL)
        if not json_why:
            self.protocol = JsonProtocol()
            return Answer("tool call", False, f"by tools: {why}; by JSON its actions are read")
        return Answer("tool call", False, f"by tools: {why}; by JSON: {json_why}")

    async def two_calls(self) -> Answer:
        moves, why = await self._moves(TWO_CALLS)
        if len(moves) > 1:
            return Answer("two calls", True, f"{len(moves)} actions in one reply")
        return Answer("two calls", False, why or "one action a reply: it plays, with a call for each action")

    async def long_argument(self) -> Answer:
        moves, why = await self._moves(LONG)
        letter = next((move.move.action for move in moves if isinstance(move.move.action, SendLetter)), None)
        if letter is None:
            other = moves[0].move.action.tool_name() if moves else "nothing"
            return Answer("long argument", False, why or f"no letter, but {other}")
        if len(letter.text) < len(LETTER) * 0.8:
            return Answer(
                "long argument", False, f"{len(letter.text)} of {len(LETTER)} characters of the letter arrived"
            )
        return Answer("long argument", True, f"a letter of {len(letter.text):,} characters arrived whole")

    async def thinking(self) -> Answer:
        """Have it think before an action, and send the outcome with the thoughts back."""
        assert self.protocol is not None
        messages = self._messages(self.protocol, THINK)
        try:
            reply = await self._ask(*messages, protocol=self.protocol)
            fields = {
                str(block.get("field") or block.get("type")) for block in reply.thoughts if isinstance(block, Mapping)
            }
            inline = split_thoughts(reply.text).thoughts
            requested = self.protocol.read_moves(VERBS, reply)
            outcomes = [self.protocol.render_outcome(move, "Done.") for move in requested]
            await self._ask(*messages, reply.message, *outcomes, protocol=self.protocol)
        except ModelError as error:
            return Answer("thinking", False, f"a second request fails: {error}")
        if isinstance(requested[0].move.action, Unreadable):
            return Answer("thinking", False, _why(reply, requested[0].move.action))
        if fields:
            return Answer(
                "thinking", True, f"it thinks in {' and '.join(sorted(fields))}, which goes back to the server"
            )
        if inline:
            return Answer("thinking", True, "it thinks between marks in its text, which decides nothing")
        return Answer("thinking", True, "it shows no thinking, and goes on after an outcome")

    async def _moves(self, text: str) -> tuple[list[RequestedMove], str]:
        """The readable moves in the answer to a question, and why there are none."""
        assert self.protocol is not None
        try:
            reply = await self._ask(*self._messages(self.protocol, text), protocol=self.protocol)
        except ModelError as error:
            return [], str(error)
        moves = self.protocol.read_moves(VERBS, reply)
        readable = [move for move in moves if not isinstance(move.move.action, Unreadable)]
        first = moves[0].move.action
        return readable, "" if readable or not isinstance(first, Unreadable) else _why(reply, first)

    async def _refused(self, protocol: ActionProtocol, text: str) -> str:
        """Why no action is read in the answer to a question; empty where one is, also with bad parameters."""
        try:
            reply = await self._ask(*self._messages(protocol, text), protocol=protocol)
        except ModelError as error:
            return str(error)
        actions = [move.move.action for move in protocol.read_moves(VERBS, reply)]
        if any(not isinstance(action, Unreadable) or action.code == "bad_parameters" for action in actions):
            return ""
        first = cast("Unreadable", actions[0])
        wrote = f" (it wrote: {_short(reply.text)})" if reply.text.strip() else ""
        return f"{_why(reply, first)}{wrote}"

    def _messages(self, protocol: ActionProtocol, text: str) -> tuple[Message, ...]:
        if protocol.offers_tools:
            return Message("system", prompt("chat")), Message("user", text)
        return Message("system", f"{prompt('structured')}\n\nActions:\n\n{describe_verbs(VERBS.classes)}"), Message(
            "user", text
        )

    async def _ask(self, *messages: Message, protocol: ActionProtocol | None = None) -> Reply:
        tools = TOOLS if protocol is not None and protocol.offers_tools else NO_TOOLS
        try:
            reply = await self.model.reply(Request(messages, tools))
        except ContextLimit as error:
            self.told_window = self.told_window or told_window(str(error))
            raise
        self.replies.append(reply)
        return reply


def told_window(text: str) -> int | None:
    """The number of tokens that a server's refusal of a long prompt names."""
    match = _TOLD_WINDOW.search(text)
    return int(match[1].replace(",", "")) if match else None


async def window_of(model: LangChainModel) -> int | None:
    """The window that a server's list of models gives; None where there is none, or it does not say."""
    if not model.base_url or not model.name.startswith("openai:"):
        return None
    import httpx

    name, key = model.name.partition(":")[2], os.environ.get("OPENAI_API_KEY", "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    local = on_this_machine(model.base_url)
    try:
        async with httpx.AsyncClient(timeout=FACTS_S, trust_env=not local, follow_redirects=True) as client:
            async with asyncio.timeout(FACTS_S):
                listed: object = (await client.get(f"{model.base_url.rstrip('/')}/models", headers=headers)).json()
    except (httpx.HTTPError, ValueError, TimeoutError, RecursionError):
        return None
    models = as_tables(as_table(listed).get("data"))
    own = [entry for entry in models if entry.get("id") == name] or (models if len(models) == 1 else [])
    return next((window for entry in own if (window := _window_in(entry))), None)


def _window_in(entry: Mapping[str, Any]) -> int | None:
    tables = [entry, *(as_table(entry.get(name)) for name in ("meta", "limits", "top_provider", "model_info"))]
    values = (table.get(name) for name in WINDOW_NAMES for table in tables)
    return next((value for value in values if isinstance(value, int) and value > 0), None)


def _stopped(reply: Reply) -> str:
    return "the reply was cut at the limit of its length" if reply.finish in CUT_FINISHES else ""


def _why(reply: Reply, unread: Unreadable) -> str:
    """Why no action was read in a reply, for people."""
    why = "it calls no tool" if unread.why == NUDGE else unread.why.removesuffix(f"; {EXPECTED}")
    return _stopped(reply) or why


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
