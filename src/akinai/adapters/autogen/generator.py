"""AutoGen's AssistantAgent as the learner's Generator."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import takewhile

from akinai.adapters.autogen.clients import OpenClient, SharedClients, model_error
from akinai.adapters.autogen.framework import AssistantAgent, CancellationToken, ChatCompletionClient, TextMessage
from akinai.core.models import Reply, Request, Usage
from akinai.learning.roles.model import ModelGenerator
from akinai.learning.roles.protocols import Insights, Retrieved, Trajectory
from akinai.learning.roles.requests import TRIES
from akinai.learning.roles.tasks import Assignment
from akinai.learning.roles.templates import PromptTemplates

CONCURRENT_TASKS = 8
"""The default number of tasks that an AutogenGenerator does at once."""


def solver(client: ChatCompletionClient) -> AssistantAgent:
    """The default assistant of the generator. The task's prompt holds all instructions."""
    return AssistantAgent("solver", client, system_message=None)


class AutogenGenerator:
    """Does each task with a new AssistantAgent, so that nothing of one task is visible in the next.

    Prompts and parsing are those of the model's Generator, bullets included. `make` makes the assistant for a task;
    at most `at_once` tasks run at the same time. ModelError when the model fails.
    """

    def __init__(
        self,
        client: OpenClient,
        make: Callable[[ChatCompletionClient], AssistantAgent] = solver,
        templates: PromptTemplates | None = None,
        *,
        tries: int = TRIES,
        at_once: int = CONCURRENT_TASKS,
    ) -> None:
        self._clients, self._make, self._tries = SharedClients(client), make, tries
        self._templates, self._at_once = templates or PromptTemplates(), at_once
        self._gate: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    async def generate(
        self, assignment: Assignment, retrieved: Retrieved, reflections: Sequence[Insights] = ()
    ) -> Trajectory:
        async with self._semaphore():
            client = self._clients.acquire()
            try:
                generator = ModelGenerator(_AssistantAsker(self._make(client)), self._templates, tries=self._tries)
                return await generator.generate(assignment, retrieved, reflections)
            finally:
                await self._clients.release()

    def _semaphore(self) -> asyncio.Semaphore:
        """The semaphore of the running loop. Each learning run has its own loop."""
        loop = asyncio.get_running_loop()
        if self._gate is None or self._gate[0] is not loop:
            self._gate = loop, asyncio.Semaphore(self._at_once)
        return self._gate[1]


class _AssistantAsker:
    """Asks an AssistantAgent like a model. It keeps its own history, so only new messages are sent."""

    def __init__(self, agent: AssistantAgent) -> None:
        self._agent = agent

    async def ask(self, request: Request) -> Reply:
        new = list(takewhile(lambda message: message.speaker != "assistant", reversed(request.messages)))
        text = "\n\n".join(message.text for message in reversed(new))
        try:
            response = await self._agent.on_messages([TextMessage(content=text, source="user")], CancellationToken())
        except Exception as error:  # AutoGen passes on whatever its clients raise
            raise model_error(self._agent.name, error) from error
        reported = (message.models_usage for message in (*(response.inner_messages or ()), response.chat_message))
        usage = sum((Usage(call.prompt_tokens, call.completion_tokens) for call in reported if call), Usage())
        return Reply(response.chat_message.to_model_text(), usage=usage)
