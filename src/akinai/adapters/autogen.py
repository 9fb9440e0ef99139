"""AutoGen (autogen-agentchat 0.7): its AssistantAgent as a player of any world, and as the learner's Generator.

    akinai.run("vending", agent=autogen_agent(lambda: openai_client("gpt-5-mini")), days=10)

AutoGen is imported here and nowhere else. Without the extra `autogen` the import of this module raises MissingExtra.
"""

# The extra need not be there where types are checked.
# pyright: reportMissingImports=false

import asyncio
import json
import os
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from akinai.agents.chat import PLAYBOOK, prompt, tools_of
from akinai.agents.speech import ByTools, Wish
from akinai.core.actions import Verbs
from akinai.core.agents import Agent, AgentFactory, Move, Role, View
from akinai.core.errors import AgentError, ModelError, UsageError
from akinai.core.ledger import Outcome
from akinai.core.models import Message, Reply, Request, ToolCall, Tools, Usage
from akinai.core.worlds import World
from akinai.learning.errors import MissingExtra
from akinai.learning.roles import Insights, Retrieved, Trajectory
from akinai.learning.roles_by_model import TRIES, ModelGenerator
from akinai.learning.tasks import Assignment
from akinai.learning.templates import PromptTemplates
from akinai.runtime.addresses import on_this_machine
from akinai.runtime.keys import without_keys

try:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.base import Response
    from autogen_agentchat.messages import (
        TextMessage,
        ThoughtEvent,
        ToolCallExecutionEvent,
        ToolCallRequestEvent,
        ToolCallSummaryMessage,
    )
    from autogen_core import CancellationToken, FunctionCall
    from autogen_core.model_context import HeadAndTailChatCompletionContext
    from autogen_core.models import (
        AssistantMessage,
        ChatCompletionClient,
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        LLMMessage,
        UserMessage,
    )
    from autogen_core.tools import TextResultContent, ToolResult, ToolSchema, Workbench
    from autogen_ext.models.openai import OpenAIChatCompletionClient
except ImportError as error:
    package = (error.name or "autogen").partition(".")[0]
    raise MissingExtra("the AutoGen adapter", package, "autogen") from error

TAIL = 100
"""Messages at the end of its conversation that `assistant` remembers, beside the first."""
AT_ONCE = 8
"""Tasks that an AutogenGenerator does at once, unless it is said otherwise."""
RETRIES, TIMEOUT_S = 6, 180.0
"""Of `openai_client`: how often it asks again, and how long it waits for an answer."""
ANY_MODEL: Mapping[str, Any] = {
    "family": "unknown",
    "function_calling": True,
    "json_output": True,
    "multiple_system_messages": True,
    "structured_output": False,
    "vision": False,
}
"""What AutoGen wants to know of a model that stands in no list of its own."""

Open = Callable[[], ChatCompletionClient]
"""Opens a model anew. Akinai opens it once for all who ask at the same time, and closes it behind the last."""
Maker = Callable[[Role, ChatCompletionClient, Workbench], AssistantAgent]
"""Makes the assistant for a part. The workbench holds the verbs of the world and is to be its only one."""


def assistant(role: Role, client: ChatCompletionClient, verbs: Workbench) -> AssistantAgent:
    """The assistant that plays where none is brought."""
    return AssistantAgent(
        identifier(role.actor),
        client,
        workbench=verbs,
        system_message=f"{prompt('chat')}\n\nYour name is {role.actor}.",
        model_context=HeadAndTailChatCompletionContext(head_size=1, tail_size=TAIL),
    )


def solver(client: ChatCompletionClient) -> AssistantAgent:
    """The assistant that does tasks where none is brought; all that it is told stands in the task."""
    return AssistantAgent("solver", client, system_message=None)


def identifier(actor: str) -> str:
    """An actor's name as AutoGen takes it: "owner/email-3" is owner_email_3."""
    name = re.sub(r"\W", "_", actor)
    return name if name.isidentifier() else f"_{name}"


def openai_client(name: str, **options: Any) -> ChatCompletionClient:
    """A model behind OpenAI's wire; `options` are those of AutoGen's client, such as `base_url`.

    Key and address are else those of the environment, OPENAI_API_KEY and OPENAI_BASE_URL; a server on this machine
    needs no key. UsageError where one is missing.
    """
    if not options.get("api_key") and not os.environ.get("OPENAI_API_KEY"):
        if not on_this_machine(options.get("base_url") or os.environ.get("OPENAI_BASE_URL", "")):
            raise UsageError(
                f"the model {name!r} needs a key; set OPENAI_API_KEY, or OPENAI_BASE_URL to a local server"
            )
        options["api_key"] = "no-key"
    usual = {"model_info": ANY_MODEL, "max_retries": RETRIES, "timeout": TIMEOUT_S}
    return OpenAIChatCompletionClient(model=name, **{**usual, **options})


def autogen_agent(client: Open, make: Maker = assistant) -> AgentFactory:
    """The factory of players each of which is an AssistantAgent of its own, made for one part of one run."""
    clients = _Clients(client)

    def autogen(role: Role) -> Agent:
        return AutogenPlayer(role, clients, make)

    return autogen


def by_name(world: World[Any], model: str) -> AgentFactory:
    """`--agent autogen:MODEL`. UsageError for no model, and where its key is missing."""
    name = model.removeprefix("openai:")
    if not name:
        raise UsageError("the agent 'autogen' asks a model; name it, such as --agent autogen:gpt-5-mini")
    openai_client(name)
    return autogen_agent(lambda: openai_client(name))


class _Clients:
    """One client for all who ask at the same time; one for each event loop, since its connections belong to one."""

    def __init__(self, open: Open) -> None:
        if not callable(open):
            raise UsageError("give a function that opens the client, such as lambda: openai_client('gpt-5-mini')")
        self._open = open
        self._lent: dict[asyncio.AbstractEventLoop, tuple[ChatCompletionClient, int]] = {}
        """With how many have it."""

    def lend(self) -> ChatCompletionClient:
        loop = asyncio.get_running_loop()
        client, borrowers = self._lent.get(loop) or (self._open(), 0)
        self._lent[loop] = client, borrowers + 1
        return client

    async def take_back(self) -> None:
        loop = asyncio.get_running_loop()
        client, borrowers = self._lent.pop(loop)
        if borrowers > 1:
            self._lent[loop] = client, borrowers - 1
        else:
            await client.close()


class AutogenPlayer:
    """Plays one actor by an AssistantAgent, whose tools are the verbs.

    AutoGen's stream stands still where it tells which tools its model called. The calls are then the moves, and when
    all outcomes have been heard the stream goes on: the workbench hands it what the world answered.
    """

    told_on_resume = True

    def __init__(self, role: Role, clients: "_Clients", make: Maker) -> None:
        self._role, self._clients, self._verbs = role, clients, Verbs(role.verbs)
        self._tools, self._speech = _Answered(), ByTools()
        self._agent = make(role, clients.lend(), self._tools)
        self._stream: AsyncGenerator[Any, None] | None = None
        self._wishes: deque[Wish] = deque()
        self._open: Wish | None = None
        """The move whose outcome has not been heard."""
        self._to_tell: list[str] = []
        """What the model hears as the user's words before it is asked again."""
        self._news: str | None = None
        """None before the conversation has begun."""
        self._retold = 0

    async def act(self, view: View, heard: Outcome | None) -> Move:
        await self._listen(view, heard)
        if not self._wishes:
            self._hear_news(view)
            self._tools.offered = tools_of(tuple(view.verbs))
            self._wishes.extend(await self._replied())
        self._open = self._wishes.popleft()
        return self._open.move

    async def remember(self, view: View, heard: Outcome | None, move: Move) -> None:
        """Put a recorded move into the assistant's context as its own."""
        await self._listen(view, heard)
        self._hear_news(view)
        await self._tell()
        self._retold += 1
        message, self._open = self._speech.retold(move, f"past_{self._retold}")
        await self._agent.model_context.add_message(_as_autogen(message, self._agent.name))

    async def close(self) -> None:
        """Leave AutoGen's stream and give the model back."""
        await self._leave()
        await self._clients.take_back()

    async def _listen(self, view: View, heard: Outcome | None) -> None:
        """Begin the conversation, or take in the outcome of the last move."""
        if self._news is None:
            self._news = view.news
            self._to_tell.append(_opening(view, self._role.bullets))
        if self._open is None or heard is None:
            return
        result, self._open = _result(self._open, heard), None
        if self._stream is not None:
            self._tools.results.append(result)
        elif result.call_id:  # of a move of the past
            await self._agent.model_context.add_message(FunctionExecutionResultMessage(content=[result]))
        else:
            self._to_tell.append(result.content)

    def _hear_news(self, view: View) -> None:
        if view.news and view.news != self._news:
            self._news = view.news
            self._to_tell.append(view.news)

    async def _replied(self) -> Sequence[Wish]:
        """What the model's next reply wishes; at least one."""
        said = ""
        while True:
            match await self._next():
                case ThoughtEvent(content=text):
                    said = text
                case ToolCallRequestEvent(content=calls):
                    self._tools.called = [call.name for call in calls]
                    return self._speech.wishes(self._verbs, Reply(said, tuple(map(_call, calls))))
                case ToolCallExecutionEvent():
                    await self._tell()
                case Response(chat_message=message):
                    await self._leave()
                    if not isinstance(message, ToolCallSummaryMessage):
                        return self._speech.wishes(self._verbs, Reply(message.to_model_text()))
                case _:
                    pass  # a piece of a reply that is streamed, or what a memory gave

    async def _next(self) -> Any:
        """What AutoGen's stream tells next; a new one begins with what there is to tell."""
        stream = self._stream
        if stream is None:
            await self._tell()
            stream = self._stream = self._agent.on_messages_stream([], CancellationToken())
        try:
            return await anext(stream)
        except StopAsyncIteration:
            raise AgentError(f"the assistant of {self._role.actor} ended without a reply") from None
        except Exception as error:  # AutoGen hands on whatever its clients raise
            raise ModelError(_broken(self._role.actor, error)) from error

    async def _tell(self) -> None:
        """Put what is to be told behind what stands in the context; results first that AutoGen did not ask for, as of
        calls whose arguments are no JSON: it answers these in words of its own."""
        told, self._to_tell = [*self._tools.cleared(), *self._to_tell], []
        for text in told:
            await self._agent.model_context.add_message(UserMessage(content=text, source="user"))

    async def _leave(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()


class _Answered(Workbench):
    """A world's verbs as tools of AutoGen. The world has answered before AutoGen runs a tool: the results wait here."""

    def __init__(self) -> None:
        self.offered = Tools()
        self.called: Sequence[str] = ()
        """The names in the reply at hand, so that AutoGen comes here with each of them."""
        self.results: list[FunctionExecutionResult] = []
        """Of its calls, in their order."""

    def cleared(self) -> Sequence[str]:
        """The results that AutoGen did not come for; the reply is done with."""
        left, self.called, self.results = [one.content for one in self.results], (), []
        return left

    async def list_tools(self) -> list[ToolSchema]:
        return [*self.offered, *({"name": name} for name in self.called)]

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        result = next(one for one in self.results if one.call_id == call_id)
        self.results.remove(result)
        return ToolResult(name=name, result=[TextResultContent(content=result.content)], is_error=bool(result.is_error))

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def reset(self) -> None: ...
    async def load_state(self, state: Mapping[str, Any]) -> None: ...
    async def save_state(self) -> Mapping[str, Any]:
        return {}


class AutogenGenerator:
    """Does each task of the learner by an AssistantAgent of its own: nothing of a task is seen in the next.

    Prompt and reading are those of the model's Generator, the bullets in their place. `make` makes the assistant for a
    task; `at_once` tasks are done side by side. ModelError when the model is broken.
    """

    def __init__(
        self,
        client: Open,
        make: Callable[[ChatCompletionClient], AssistantAgent] = solver,
        templates: PromptTemplates | None = None,
        *,
        tries: int = TRIES,
        at_once: int = AT_ONCE,
    ) -> None:
        self._clients, self._make, self._tries = _Clients(client), make, tries
        self._templates, self._at_once = templates or PromptTemplates(), at_once
        self._gate: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    async def generate(
        self, assignment: Assignment, given: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        async with self._turn():
            client = self._clients.lend()
            try:
                generator = ModelGenerator(_Asker(self._make(client)), self._templates, tries=self._tries)
                return await generator.generate(assignment, given, reflections)
            finally:
                await self._clients.take_back()

    def _turn(self) -> asyncio.Semaphore:
        """The gate of the running loop: each learning has its own."""
        loop = asyncio.get_running_loop()
        if self._gate is None or self._gate[0] is not loop:
            self._gate = loop, asyncio.Semaphore(self._at_once)
        return self._gate[1]


class _Asker:
    """An AssistantAgent asked as a model is: it remembers what it was told, so it is told only what is new."""

    def __init__(self, agent: AssistantAgent) -> None:
        self._agent = agent

    async def ask(self, request: Request) -> Reply:
        new = list(takewhile(lambda message: message.speaker != "assistant", reversed(request.messages)))
        text = "\n\n".join(message.text for message in reversed(new))
        try:
            told = await self._agent.on_messages([TextMessage(content=text, source="user")], CancellationToken())
        except Exception as error:  # AutoGen hands on whatever its clients raise
            raise ModelError(_broken(self._agent.name, error)) from error
        spent = (one.models_usage for one in (*(told.inner_messages or ()), told.chat_message))
        usage = sum((Usage(one.prompt_tokens, one.completion_tokens) for one in spent if one), Usage())
        return Reply(told.chat_message.to_model_text(), usage=usage)


def _opening(view: View, bullets: Sequence[str]) -> str:
    lessons = "\n".join(f"- {bullet}" for bullet in bullets)
    return f"{PLAYBOOK}\n\n{lessons}\n\n{view.text}" if lessons else view.text


def _result(wish: Wish, heard: Outcome) -> FunctionExecutionResult:
    told = heard.text if heard.ok else f"Refused ({heard.code}): {heard.text}"
    name = wish.move.action.tool_name()
    return FunctionExecutionResult(content=told, call_id=wish.call_id, name=name, is_error=not heard.ok)


def _call(call: FunctionCall) -> ToolCall:
    """A call with its arguments as an object, or as the text that is none."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return ToolCall(call.id, call.name, arguments)


def _as_autogen(message: Message, name: str) -> LLMMessage:
    """A message of the assistant's own."""
    if not message.calls:
        return AssistantMessage(content=message.text, source=name)
    calls = [FunctionCall(one.id, json.dumps(one.arguments), one.name) for one in message.calls]
    return AssistantMessage(content=calls, source=name, thought=message.text or None)


def _broken(actor: str, error: Exception) -> str:
    return without_keys(f"the model of {actor} gave AutoGen no answer: {type(error).__name__}: {error}")
