"""AutoGen's AssistantAgent as a player of any world."""

import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from akinai.adapters.autogen.clients import OpenClient, SharedClients, model_error, openai_client
from akinai.adapters.autogen.framework import (
    AssistantAgent,
    AssistantMessage,
    CancellationToken,
    ChatCompletionClient,
    FunctionCall,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    HeadAndTailChatCompletionContext,
    LLMMessage,
    Response,
    TextResultContent,
    ThoughtEvent,
    ToolCallExecutionEvent,
    ToolCallRequestEvent,
    ToolCallSummaryMessage,
    ToolResult,
    ToolSchema,
    UserMessage,
    Workbench,
)
from akinai.agents.chat import briefing, prompt, tools_of
from akinai.agents.protocols import RequestedMove, ToolCallProtocol, outcome_text
from akinai.core.actions import Verbs
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.errors import AgentError, UsageError
from akinai.core.ledger import Outcome
from akinai.core.models import Message, Reply, ToolCall, Tools
from akinai.core.worlds import World

NEWEST = 100
"""Messages that the context of `assistant` keeps, besides the first."""

MakeAssistant = Callable[[Role, ChatCompletionClient, Workbench], AssistantAgent]
"""Makes the assistant for a role. The workbench holds the verbs of the world and must be the assistant's only one."""


def assistant(role: Role, client: ChatCompletionClient, verbs: Workbench) -> AssistantAgent:
    """The default assistant of a player."""
    return AssistantAgent(
        identifier(role.actor),
        client,
        workbench=verbs,
        system_message=f"{prompt('chat')}\n\nYour name is {role.actor}.",
        model_context=HeadAndTailChatCompletionContext(head_size=1, tail_size=NEWEST),
    )


def identifier(actor: str) -> str:
    """An actor's name as an identifier, which AutoGen requires: "owner/email-3" becomes owner_email_3."""
    name = re.sub(r"\W", "_", actor)
    return name if name.isidentifier() else f"_{name}"


def autogen_agent(client: OpenClient, make: MakeAssistant = assistant) -> AgentFactory:
    """A factory of players. Each player has its own AssistantAgent, made for one role of one run."""
    clients = SharedClients(client)

    def autogen(role: Role) -> Agent:
        return AutogenPlayer(role, clients, make)

    return autogen


def by_name(world: World[Any], model: str) -> AgentFactory:
    """The agent of `--agent autogen:MODEL`. UsageError when the model or its key is missing."""
    name = model.removeprefix("openai:")
    if not name:
        raise UsageError("the agent 'autogen' asks a model; name it, such as --agent autogen:gpt-5-mini")
    openai_client(name)
    return autogen_agent(lambda: openai_client(name))


class AutogenPlayer:
    """Plays an actor by an AssistantAgent whose tools are the verbs.

    AutoGen's stream pauses when it reports the tool calls of its model. Those calls become moves. When all their
    outcomes are known the stream continues, and the workbench returns the outcomes as results of the calls.
    """

    remember_on_resume = True

    def __init__(self, role: Role, clients: SharedClients, make: MakeAssistant) -> None:
        self._role, self._clients, self._verbs = role, clients, Verbs(role.verbs)
        self._workbench, self._protocol = _OutcomeWorkbench(), ToolCallProtocol()
        self._agent = make(role, clients.acquire(), self._workbench)
        self._stream: AsyncGenerator[Any] | None = None
        self._requested: deque[RequestedMove] = deque()
        self._unanswered: RequestedMove | None = None
        """The move whose outcome has not arrived yet."""
        self._user_texts: list[str] = []
        """Texts to add to the context as the user's before the model is asked again."""
        self._news: str | None = None
        """None before the conversation begins."""
        self._remembered = 0

    async def act(self, view: View, last: Outcome | None) -> Move:
        await self._take_outcome(view, last)
        if not self._requested:
            self._take_news(view)
            self._workbench.offered = tools_of(tuple(view.verbs))
            self._requested.extend(await self._next_moves())
        self._unanswered = self._requested.popleft()
        return self._unanswered.move

    async def remember(self, view: View, last: Outcome | None, move: Move) -> None:
        """Add a recorded move to the assistant's context as its own."""
        await self._take_outcome(view, last)
        self._take_news(view)
        await self._add_user_texts()
        self._remembered += 1
        message, self._unanswered = self._protocol.render_move(move, f"past_{self._remembered}")
        await self._agent.model_context.add_message(_to_autogen(message, self._agent.name))

    async def close(self) -> None:
        """Close AutoGen's stream and release the client."""
        await self._close_stream()
        await self._clients.release()

    async def _take_outcome(self, view: View, last: Outcome | None) -> None:
        """Begin the conversation, or add the outcome of the last move to it."""
        if self._news is None:
            self._news = view.news
            self._user_texts.append(briefing(view, self._role.bullets))
        if self._unanswered is None or last is None:
            return
        result, self._unanswered = _call_result(self._unanswered, last), None
        if self._stream is not None:
            self._workbench.results.append(result)
        elif result.call_id:  # of a remembered move
            await self._agent.model_context.add_message(FunctionExecutionResultMessage(content=[result]))
        else:
            self._user_texts.append(result.content)

    def _take_news(self, view: View) -> None:
        if view.news and view.news != self._news:
            self._news = view.news
            self._user_texts.append(view.news)

    async def _next_moves(self) -> Sequence[RequestedMove]:
        """The moves in the model's next reply; at least one."""
        thought = ""
        while True:
            match await self._next_event():
                case ThoughtEvent(content=text):
                    thought = text
                case ToolCallRequestEvent(content=calls):
                    self._workbench.called = [call.name for call in calls]
                    return self._protocol.read_moves(self._verbs, Reply(thought, tuple(map(_tool_call, calls))))
                case ToolCallExecutionEvent():
                    await self._add_user_texts()
                case Response(chat_message=message):
                    await self._close_stream()
                    if not isinstance(message, ToolCallSummaryMessage):
                        return self._protocol.read_moves(self._verbs, Reply(message.to_model_text()))
                case _:
                    pass  # a chunk of a streamed reply, or the result of a memory query

    async def _next_event(self) -> Any:
        """The next stream event. Starts a stream if none is open."""
        stream = self._stream
        if stream is None:
            await self._add_user_texts()
            stream = self._stream = self._agent.on_messages_stream([], CancellationToken())
        try:
            return await anext(stream)
        except StopAsyncIteration:
            raise AgentError(f"the assistant of {self._role.actor} ended without a reply") from None
        except Exception as error:  # AutoGen passes on whatever its clients raise
            raise model_error(self._role.actor, error) from error

    async def _add_user_texts(self) -> None:
        """Add waiting texts to the context.

        First come results that AutoGen did not fetch: it answers calls whose arguments are not JSON by itself.
        """
        texts, self._user_texts = [*self._workbench.take_unfetched(), *self._user_texts], []
        for text in texts:
            await self._agent.model_context.add_message(UserMessage(content=text, source="user"))

    async def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()


class _OutcomeWorkbench(Workbench):
    """A world's verbs as AutoGen tools. The world has acted before AutoGen calls a tool: the results wait here."""

    def __init__(self) -> None:
        self.offered = Tools()
        self.called: Sequence[str] = ()
        """The names called by the current reply, listed as tools so that AutoGen calls each of them here."""
        self.results: list[FunctionExecutionResult] = []
        """The results of those calls, in order."""

    def take_unfetched(self) -> Sequence[str]:
        """End the current reply. Returns the results that AutoGen did not fetch."""
        texts, self.called, self.results = [result.content for result in self.results], (), []
        return texts

    async def list_tools(self) -> list[ToolSchema]:
        return [*self.offered, *({"name": name} for name in self.called)]

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        result = next(result for result in self.results if result.call_id == call_id)
        self.results.remove(result)
        return ToolResult(name=name, result=[TextResultContent(content=result.content)], is_error=bool(result.is_error))

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def reset(self) -> None: ...
    async def load_state(self, state: Mapping[str, Any]) -> None: ...
    async def save_state(self) -> Mapping[str, Any]:
        return {}


def _call_result(requested: RequestedMove, outcome: Outcome) -> FunctionExecutionResult:
    name, text = requested.move.action.tool_name(), outcome_text(outcome)
    return FunctionExecutionResult(content=text, call_id=requested.call_id, name=name, is_error=not outcome.ok)


def _tool_call(call: FunctionCall) -> ToolCall:
    """AutoGen's call as ours: the arguments parsed, or as text when they are not JSON."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return ToolCall(call.id, call.name, arguments)


def _to_autogen(message: Message, name: str) -> LLMMessage:
    """A message of the assistant `name` in AutoGen's form."""
    if not message.calls:
        return AssistantMessage(content=message.text, source=name)
    calls = [FunctionCall(call.id, json.dumps(call.arguments), call.name) for call in message.calls]
    return AssistantMessage(content=calls, source=name, thought=message.text or None)
