"""Responders for an endpoint: scripts, the players of a world, and a choice of responder by the model's name.

A responder reads the HTTP messages of a request and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from akinai import worlds
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName, UsageError
from akinai.core.ledger import Genesis
from akinai.core.models import Reply, ToolCall
from akinai.runtime.config.settings import prepare
from akinai.testing.endpoint.market import SHOPPERS, Biases, shopper, text_only
from akinai.testing.endpoint.player import PlayerResponder
from akinai.testing.endpoint.wires import ModelCall, Refused, Responder
from akinai.worlds.market import Market


def tool_call(name: str, arguments: Json = None) -> ToolCall:
    """A tool call for a script. Arguments that are text are sent unchanged over OpenAI's wire, JSON or not."""
    return ToolCall("", name, {} if arguments is None else arguments)


class ScriptResponder:
    """Sends replies in order, in each conversation from the first. Raises Refused when there are no more.

    A string is a reply without tool calls, a ToolCall a reply without text; a `Reply` may have both. Tool calls without
    an id get one.
    """

    def __init__(self, replies: Sequence[str | ToolCall | Reply]) -> None:
        self._replies = [_with_ids(_as_reply(reply), number) for number, reply in enumerate(replies, 1)]
        self._sent: dict[str, dict[str, Reply]] = {}

    async def reply(self, call: ModelCall) -> Reply:
        if call.replaced:
            return Reply("")
        sent = self._sent.setdefault(call.key, {})
        if call.body_sha256 not in sent:
            if len(sent) == len(self._replies):
                raise Refused(f"the script is over: it had {len(self._replies)} replies, all given to {call.key}")
            sent[call.body_sha256] = self._replies[len(sent)]
        return sent[call.body_sha256]


class ByModel:
    """Asks the responder with the requested model's name, or the first for any other name."""

    def __init__(self, responders: Mapping[str, Responder]) -> None:
        self.models = tuple(responders)
        self._responders = dict(responders)

    async def reply(self, call: ModelCall) -> Reply:
        return await self._responders.get(call.model, self._responders[self.models[0]]).reply(call)


def world_responder(
    world_name: str, player: str | None = None, shoppers: Sequence[tuple[str, Biases]] = ()
) -> Responder:
    """The players of a world, each under its name as a model; `player`, by default the first, for all other names.

    A market's are its players and the shoppers, and they read texts only. UnknownName for an unknown world or player;
    UsageError for shoppers in another world.
    """
    world = worlds.load(world_name)
    players = dict(world.players)
    if isinstance(world, Market):
        players = {name: text_only(factory) for name, factory in players.items()}
        players |= {name: shopper(biases) for name, biases in {**SHOPPERS, **dict(shoppers)}.items()}
    elif shoppers:
        raise UsageError(f"shoppers are customers of a market, and the world is {world_name!r}; add --world market")
    player = player or next(iter(players))
    if player not in players:
        raise UnknownName("player", player, players, f"there is {', '.join(players)}")
    actor = next(iter(world.actors(world.begin(Genesis(world.name, 0, prepare(world).setup)))), "player")
    names = [player, *(name for name in players if name != player)]
    return ByModel({name: PlayerResponder(players[name], world.verbs, actor=actor) for name in names})


def _as_reply(reply: str | ToolCall | Reply) -> Reply:
    match reply:
        case str():
            return Reply(reply)
        case ToolCall():
            return Reply("", (reply,))
        case Reply():
            return reply


def _with_ids(reply: Reply, number: int) -> Reply:
    calls = (replace(call, id=call.id or f"call_{number}_{nth}") for nth, call in enumerate(reply.calls, 1))
    return replace(reply, calls=tuple(calls))
