"""A seat at a run as an A2A agent: its card lists the world's actions, its executor takes them."""

# a2a-sdk is not installed where types are checked.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from akinai.adapters.seat_paths import Application, Seat
from akinai.agents.structured import read_move
from akinai.api.framework_tools import Narrator
from akinai.api.session import AsyncSession
from akinai.core.agents import Move
from akinai.core.canonical import Json
from akinai.core.errors import AkinaiError, EndRun

LOOK = "look"
"""The request for the view, which takes no time and is not recorded."""
CARD = "/.well-known/agent-card.json"
"""Path of a seat's card, after the address of the seat. Everybody may read it."""
REWARD = "akinai/reward"
"""The key of the data part's metadata that holds what an action changed of the first score, in its unit."""
OVER = "over"
"""The code of an action after the end of the run."""
QUICK_S = 0.5
"""An action that is answered within this time is answered by a message; a longer one becomes a task."""


def agent_card(session: AsyncSession, actor: str, url: str, *, token: bool) -> AgentCard:
    """The card of a seat at `url`; each of the world's actions is a skill. `token`: requests need that of the seat."""
    world = session.world
    bearer = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer"))
    return AgentCard(
        name=f"{actor} of {session.id}",
        description=f"Acts for {actor} in a run of {world.name}. Send a data part such as "
        '{"action": "NAME", "arguments": {...}}, or text that holds it; "look" shows what the actor sees.',
        version=world.name.partition("@")[2] or "1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["application/json", "text/plain"],
        default_output_modes=["text/plain", "application/json"],
        skills=[_skill(tool) for tool in (verb.tool(inline=True) for verb in world.verbs.classes)],
        security_schemes={"bearer": bearer} if token else {},
        security_requirements=[SecurityRequirement(schemes={"bearer": StringList()})] if token else [],
    )


def _skill(tool: Mapping[str, Any]) -> AgentSkill:
    schema = json.dumps(tool["parameters"], ensure_ascii=False)
    description = f"{tool['description']}\n\nIts arguments as JSON Schema: {schema}"
    return AgentSkill(id=tool["name"], name=tool["name"], description=description, tags=["action"])


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer to an action: text for a model, data for a program."""

    text: str
    data: Mapping[str, Json]
    reward: float | None = None

    @property
    def parts(self) -> list[Any]:
        data = new_data_part(dict(self.data))
        if self.reward is not None:
            data.metadata.update({REWARD: self.reward})
        return [new_text_part(self.text), data]


class SeatExecutor(AgentExecutor):
    """Takes the actions of an actor and its sub-agents.

    An action that is answered at once is answered by a message. Another, such as a `wait` for mail, is a task: it works
    until the actor may act again, and then has the answer as its artifact.
    """

    def __init__(self, session: AsyncSession, seat: str) -> None:
        self._session, self._seat = session, seat
        self._narrator = Narrator(session, seat)
        self._acting: set[asyncio.Task[_Answer]] = set()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer a message."""
        acting = asyncio.create_task(self._answer(context.message))
        self._acting.add(acting)  # it goes on when nobody waits for it any longer
        acting.add_done_callback(self._acting.discard)
        await asyncio.wait({acting}, timeout=QUICK_S)
        task_id, context_id = str(context.task_id), str(context.context_id)
        if acting.done():
            await event_queue.enqueue_event(new_message(acting.result().parts, context_id=context_id))
            return
        updater = TaskUpdater(event_queue, task_id, context_id)
        working = new_task(task_id, context_id, TaskState.TASK_STATE_WORKING, history=[context.message])
        await event_queue.enqueue_event(working)
        await asyncio.wait({acting})
        await updater.add_artifact(acting.result().parts, name="outcome")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Wait no longer. The action was taken and stays."""
        updater = TaskUpdater(event_queue, str(context.task_id), str(context.context_id))
        why = "The action was taken and stays; its answer comes with the next."
        await updater.cancel(new_message([new_text_part(why)]))

    async def _answer(self, message: Message | None) -> _Answer:
        session = self._session
        move = self._move(message)
        if move is None:
            return _Answer(self._narrator.look(), {"ok": True, "done": session.done})
        try:
            outcome = await session.take(move, self._narrator.on_turn(), "own")
        except EndRun as end:
            return _Answer(f"The run is over: {end.ending}.", {"ok": False, "code": OVER, "done": True})
        except AkinaiError as error:
            return _Answer(str(error), {"ok": False, "code": "failed", "done": session.done})
        data: dict[str, Json] = {"ok": outcome.ok, "code": outcome.code, "data": outcome.data, "done": session.done}
        return _Answer(self._narrator.tell(outcome), data, session.reward)

    def _move(self, message: Message | None) -> Move | None:
        """The move that a message asks for; None for a look. What cannot be read is refused by the rules."""
        parts = [] if message is None else message.parts
        text = "\n".join(get_text_parts(parts)).strip()
        actions = [part for part in get_data_parts(parts) if part is not None]
        if not actions:
            return None if text == LOOK else read_move(self._session.world.verbs, text)
        asked: Any = _whole(actions[0])
        fields = cast("dict[str, Any]", asked) if isinstance(asked, dict) else {}
        if fields.get("action") == LOOK:
            return None
        move = read_move(self._session.world.verbs, json.dumps(asked, ensure_ascii=False))
        return Move(move.action, text) if text else move


def make_app(session: AsyncSession, seats: Sequence[Seat]) -> Application:
    """The ASGI application of a session's seats, each an agent at its own address."""
    apps: dict[str, Application] = {}
    for seat in seats:
        path = urlsplit(seat.url).path
        card = agent_card(session, seat.actor, seat.url, token=bool(seat.token))
        handler = DefaultRequestHandler(SeatExecutor(session, seat.actor), InMemoryTaskStore(), card)
        routes = [*create_agent_card_routes(card, card_url=path + CARD), *create_jsonrpc_routes(handler, path)]
        apps[path] = seat_paths.guarded(Starlette(routes=routes), seat.token, public=path + CARD)
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
