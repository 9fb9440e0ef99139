"""A seat at a run as an A2A agent: its card lists the world's actions, its executor takes them."""

# a2a-sdk is not installed where types are checked.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from a2a.helpers import get_data_parts, get_text_parts, new_data_part, new_message, new_task, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    Message,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    TaskState,
)
from starlette.applications import Starlette

from akinai.adapters import seat_paths
from akinai.adapters.seat_paths import SeatAddress
from akinai.api.seat import LOOK, Answer, Seat
from akinai.api.session import AsyncSession
from akinai.core.agents import Move
from akinai.runtime.http.front import App

CARD = "/.well-known/agent-card.json"
"""Path of a seat's card, after the address of the seat. Everybody may read it."""
PROMPT = "prompt"
"""The request for the system prompt with which a conversation begins."""
QUICK_S = 0.5
"""An action that is answered within this time is answered by a message; a longer one becomes a task."""


def agent_card(seat: Seat[AsyncSession], url: str, *, token: bool) -> AgentCard:
    """The card of a seat at `url`; each of its actions is a skill. `token`: requests need that of the seat."""
    world = seat.session.world
    bearer = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer"))
    return AgentCard(
        name=f"{seat.actor} of {seat.session.id}",
        description=f"Acts for {seat.actor} in a run of {world.name}. Send a data part such as "
        '{"action": "NAME", "arguments": {...}}, or text that holds it; "look" shows what the actor sees, and "prompt" '
        "is the system prompt to begin with.",
        version=world.name.partition("@")[2] or "1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["application/json", "text/plain"],
        default_output_modes=["text/plain", "application/json"],
        skills=[_skill(tool) for tool in seat.tools()],
        security_schemes={"bearer": bearer} if token else {},
        security_requirements=[SecurityRequirement(schemes={"bearer": StringList()})] if token else [],
    )


def _skill(tool: Mapping[str, Any]) -> AgentSkill:
    schema = json.dumps(tool["parameters"], ensure_ascii=False)
    description = f"{tool['description']}\n\nIts arguments as JSON Schema: {schema}"
    return AgentSkill(id=tool["name"], name=tool["name"], description=description, tags=["action"])


def _parts(answer: Answer) -> list[Any]:
    """An answer as a part for a model and one for a program."""
    data = new_data_part(answer.document)
    data.metadata.update(answer.metadata or {})
    return [new_text_part(answer.text), data]


class SeatExecutor(AgentExecutor):
    """Takes the actions of an actor and its sub-agents.

    An action that is answered at once is answered by a message. Another, such as a `wait` for mail, is a task: it works
    until the actor may act again, and then has the answer as its artifact.
    """

    def __init__(self, seat: Seat[AsyncSession]) -> None:
        self._seat = seat
        self._acting: set[asyncio.Task[Answer]] = set()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer a message."""
        acting = asyncio.create_task(self._answer(context.message))
        self._acting.add(acting)  # it goes on when nobody waits for it any longer
        acting.add_done_callback(self._acting.discard)
        await asyncio.wait({acting}, timeout=QUICK_S)
        task_id, context_id = str(context.task_id), str(context.context_id)
        if acting.done():
            await event_queue.enqueue_event(new_message(_parts(acting.result()), context_id=context_id))
            return
        updater = TaskUpdater(event_queue, task_id, context_id)
        working = new_task(task_id, context_id, TaskState.TASK_STATE_WORKING, history=[context.message])
        await event_queue.enqueue_event(working)
        await asyncio.wait({acting})
        await updater.add_artifact(_parts(acting.result()), name="outcome")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Wait no longer. The action was taken and stays."""
        updater = TaskUpdater(event_queue, str(context.task_id), str(context.context_id))
        why = "The action was taken and stays; its answer comes with the next."
        await updater.cancel(new_message([new_text_part(why)]))

    async def _answer(self, message: Message | None) -> Answer:
        move = self._move(message)
        if isinstance(move, Answer):
            return move
        return await self._seat.settle(self._seat.take(move), errors=True)

    def _free(self, word: object) -> Answer | None:
        """The answer to a request that takes no time and is not recorded; None for an action."""
        if word == PROMPT:
            return Answer(self._seat.prompt(), ok=True, done=self._seat.session.done)
        return self._seat.look() if word == LOOK else None

    def _move(self, message: Message | None) -> Move | Answer:
        """The move that a message asks for, or the answer to a free request. The rules refuse what cannot be read."""
        parts = [] if message is None else message.parts
        text = "\n".join(get_text_parts(parts)).strip()
        actions = [part for part in get_data_parts(parts) if part is not None]
        if not actions:
            return self._free(text) or self._seat.read(text)
        document: Any = _whole(actions[0])
        fields = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
        if answer := self._free(fields.get("action")):
            return answer
        move = self._seat.read(json.dumps(document, ensure_ascii=False))
        return Move(move.action, text) if text else move


def make_app(session: AsyncSession, addresses: Sequence[SeatAddress]) -> App:
    """The ASGI application of a session's seats, each an agent at its own address."""
    apps: dict[str, App] = {}
    for address in addresses:
        path, seat = urlsplit(address.url).path, Seat(session, address.actor)
        card = agent_card(seat, address.url, token=bool(address.token))
        handler = DefaultRequestHandler(SeatExecutor(seat), InMemoryTaskStore(), card)
        routes = [*create_agent_card_routes(card, card_url=path + CARD), *create_jsonrpc_routes(handler, path)]
        apps[path] = Starlette(routes=routes)
    return seat_paths.by_path(apps)


def _whole(value: Any) -> Any:
    """A value with whole numbers as such: protobuf makes a float of each."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _whole(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list():
            return [_whole(inner) for inner in cast("list[Any]", value)]
        case _:
            return value
