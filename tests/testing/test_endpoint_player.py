"""The laws of a player on the wire: it does what it does in process, whatever the wire does."""

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import openai
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Agent, Move, Plan, Role, Routine, View, player
from akinai.core.ledger import Genesis, Ledger, Outcome
from akinai.core.replies.moves import read_move
from akinai.core.stores import RunHeader
from akinai.runtime.config.settings import prepare
from akinai.runtime.play.driver import Driver
from akinai.runtime.play.session import LocalSession
from akinai.stores.memory import MemoryStore
from akinai.testing.endpoint import Endpoint, Faults, PlayerResponder, ScriptResponder
from akinai.testing.endpoint.faults import REPLY_FAULTS
from akinai.worlds.vending import Vending
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.errands import ChangePrices
from together import together

Serve = Callable[..., Endpoint]
ModelAt = Callable[..., Any]


class Add(Action):
    """Add a number to the sum."""

    number: int


SUMS = Verbs((Add,))


@player
def counting(me: Routine) -> Plan:
    """Adds one more than all that it heard, so that each move tells its whole past."""
    total = 0
    while True:
        outcome = yield Add(number=total + 1)
        total += int(outcome.text)


class Chat:
    """A chat agent that does what `endpoint_player` asks of a client, and no more."""

    def __init__(self, model: ModelAt, verbs: Verbs, *, by_tools: bool = True, window: int = 10_000):
        self._model, self._verbs, self._by_tools, self._window = model, verbs, by_tools, window
        self._messages: list[BaseMessage] = []
        self._view = ""
        self._waiting: list[tuple[str | None, Move]] = []
        self._last: str | None = None

    async def act(self, view: View, last: Outcome | None) -> Move:
        if last is None:
            names = "" if self._by_tools else "Tools: " + " ".join(verb.tool_name() for verb in view.verbs)
            self._messages = [SystemMessage(f"Play on.\n{names}\n\n{view.text}"), HumanMessage("Begin.")]
        elif self._last is None:
            self._messages.append(HumanMessage(last.text))
        else:
            self._messages.append(ToolMessage(last.text, tool_call_id=self._last))
        if not self._waiting:
            if last is not None and (news := changed(self._view, view.text)):
                self._messages.append(HumanMessage(news))
            self._view = view.text
            self._waiting = await self._ask(view)
        self._last, move = self._waiting.pop(0)
        return move

    async def _ask(self, view: View) -> list[tuple[str | None, Move]]:
        """The model's reply as the moves that it holds, each with the id of its call."""
        model = self._model(tools=[verb.tool() for verb in view.verbs] if self._by_tools else [])
        reply = await model.ainvoke(self._in_window())
        assert isinstance(reply, AIMessage)
        calls = [(call["id"], call["name"], call["args"]) for call in (*reply.tool_calls, *reply.invalid_tool_calls)]
        self._messages.append(reply if calls else AIMessage(reply.text[:4096] or "(nothing)"))
        if not calls:
            return [(None, read_move(self._verbs, reply.text))]
        return [(id, Move(self._verbs.parse(name, args, str(args)), reply.text)) for id, name, args in calls]

    def _in_window(self) -> list[BaseMessage]:
        """The beginning and the newest messages; results without their calls are left out."""
        newest = self._messages[2:][-self._window :]
        while newest and not isinstance(newest[0], AIMessage):
            newest.pop(0)
        return self._messages[:2] + newest


def changed(before: str, now: str) -> str:
    """The view from the first paragraph on that is another."""
    old, new = before.split("\n\n"), now.split("\n\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    return "\n\n".join(new)


async def played(factory: Callable[[Role], Any], days: int, preset: str = "classic") -> Ledger:
    """A run of the vending world."""
    world, store = Vending(), MemoryStore()
    genesis = Genesis(world.name, 7, prepare(world, preset=preset, days=days).setup)
    await store.create(RunHeader("r", genesis, {"owner": "test"}, 1))
    await Driver(LocalSession(world, genesis, store, "r"), factory).play()
    return Ledger(genesis, [entry async for entry in store.read("r")])


@pytest.mark.parametrize("by_tools", [True, False], ids=["tools", "structured"])
@pytest.mark.parametrize("wire", ["openai", pytest.param("anthropic", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "days", "preset"),
    [("naive", 21, "classic"), pytest.param("reference", 9, "paper", marks=pytest.mark.slow)],
)
async def test_the_player_on_the_wire_is_the_player(
    serve: Serve, model_at: ModelAt, name: str, days: int, preset: str, wire: str, by_tools: bool
) -> None:
    """Over the wire a player's run, its sub-agents' moves included, has the digest that it has in process.

    So it has through a window that holds few messages.
    """
    world = Vending()
    endpoint = serve(PlayerResponder(world.players[name], world.verbs))
    model = partial(model_at, endpoint, wire)
    run = await played(lambda _: Chat(model, world.verbs, by_tools=by_tools, window=7), days, preset)
    alone = await played(world.players[name], days, preset)
    assert run.digest == alone.digest, first_difference(run, alone)
    assert len(endpoint.log) == len(alone.entries) > 30


def first_difference(run: Ledger, other: Ledger) -> str:
    pairs = zip(run.entries, other.entries, strict=False)
    return next((f"{old.seq}: {old.text}\n{new.text}" for old, new in pairs if old.digest != new.digest), "the length")


@pytest.mark.slow
@pytest.mark.parametrize("by_tools", [True, False], ids=["tools", "structured"])
async def test_faulty_replies_do_not_change_the_player(serve: Serve, model_at: ModelAt, by_tools: bool) -> None:
    """With half of the replies faulty, one and the same player makes the moves of the run without faults."""
    world = Vending()
    roles: list[Role] = []

    def naive(role: Role) -> Agent:
        roles.append(role)
        return world.players["naive"](role)

    endpoint = serve(PlayerResponder(naive, world.verbs), faults=Faults(0.5, REPLY_FAULTS, seed=1))
    model = partial(model_at, endpoint, "openai")
    run = await played(lambda _: Chat(model, world.verbs, by_tools=by_tools, window=12), 14)
    alone = await played(world.players["naive"], 14)
    readable = [
        (entry.name, entry.parameters, entry.outcome) for entry in run.entries if entry.name != Unreadable.__name__
    ]
    assert readable == [(entry.name, entry.parameters, entry.outcome) for entry in alone.entries]
    assert len(run.entries) > len(readable) + 10
    assert roles == [Role("owner", world.verbs.classes)]


@pytest.mark.slow
async def test_conversations_at_once_are_not_mixed_up(serve: Serve, model_at: ModelAt) -> None:
    """Fifty conversations at once, told apart by the label in the model's name or by their keys, hear their own."""
    endpoint = serve(PlayerResponder(counting, SUMS))

    async def sums(nth: int) -> list[int]:
        named = nth % 2 == 0
        name, key = (f"test#run-{nth}", "k") if named else ("test", f"k{nth}")
        agent, last, moves = Chat(partial(model_at, endpoint, "openai", name, api_key=key), SUMS), None, list[int]()
        for _ in range(5):
            move = await agent.act(View("Add.", (Add,)), last)
            assert isinstance(move.action, Add)
            moves.append(move.action.number)
            last = Outcome(str(1000 * nth))
        return moves

    assert await asyncio.gather(*map(sums, range(50))) == [[1000 * nth * k + 1 for k in range(5)] for nth in range(50)]
    assert len({exchange.key for exchange in endpoint.log}) == 50
    assert sum("#run-" in exchange.key for exchange in endpoint.log) == 125


def test_a_request_sent_again_gets_its_reply_again(serve: Serve, model_at: ModelAt) -> None:
    """A request that is sent again, after a cut or by a client that forgot, gets the same reply; nothing moves on."""
    scripted, playing = serve(ScriptResponder(["one", "two"])), serve(PlayerResponder(counting, SUMS))
    for endpoint in (scripted, playing):
        model = model_at(endpoint, "openai", tools=[Add.tool()])
        first = model.invoke("hi")
        again = model.invoke("hi")
        assert (again.text, again.tool_calls) == (first.text, first.tool_calls)
    assert model_at(scripted, "openai").invoke("other").text == "two"
    cutting = serve(PlayerResponder(counting, SUMS), faults=Faults(schedule={2: "cut_in_body"}))
    assert told_sums(model_at(cutting, "openai", max_retries=2, tools=[Add.tool()]), [5, 6]) == [1, 6, 12]


def told_sums(
    model: Any, outcomes: Sequence[object], before: Sequence[BaseMessage] = (HumanMessage("Add."),)
) -> list[int]:
    """What the counting player adds when it hears these outcomes."""
    messages, numbers = list(before), list[int]()
    for outcome in (*outcomes, None):
        reply = model.invoke(messages)
        numbers.append(reply.tool_calls[0]["args"]["number"])
        if outcome is not None:
            messages += [reply, ToolMessage(str(outcome), tool_call_id=reply.tool_calls[0]["id"])]
    return numbers


def test_a_client_may_go_back(serve: Serve, model_at: ModelAt) -> None:
    """A client that goes back to an earlier point, or begins anew, is followed: the player has the past it is told."""
    endpoint = serve(PlayerResponder(counting, SUMS))
    model = model_at(endpoint, "anthropic", tools=[Add.tool()])
    assert told_sums(model, [5, 6, 7]) == [1, 6, 12, 19]
    assert told_sums(model, [5, 6, 70, 8]) == [1, 6, 12, 82, 90]
    assert told_sums(model, [1]) == [1, 2]


def test_runs_under_one_key_are_told_apart(serve: Serve, model_at: ModelAt) -> None:
    """Two runs that send the same key and begin alike are told apart by what they heard, also in a short window."""
    model = model_at(serve(PlayerResponder(counting, SUMS)), "openai", tools=[Add.tool()])
    conversations: dict[int, list[BaseMessage]] = {5: [HumanMessage("Add.")], 70: [HumanMessage("Add.")]}
    numbers: dict[int, list[int]] = {5: [], 70: []}
    for _ in range(5):
        for outcome, messages in conversations.items():
            got = model.invoke([messages[0], *messages[1:][-4:]])
            numbers[outcome].append(got.tool_calls[0]["args"]["number"])
            messages += [got, ToolMessage(str(outcome), tool_call_id=got.tool_calls[0]["id"])]
    assert numbers == {5: [1, 6, 11, 16, 21], 70: [1, 71, 141, 211, 281]}


class Note(Action):
    """Note a text."""

    text: str


@player
def repeating(me: Routine) -> Plan:
    """Says back what it heard and saw."""
    outcome = yield Note(text="")
    while True:
        outcome = yield Note(text=f"{outcome.ok} {outcome.code} {outcome.text} | {me.view.news}")


@pytest.mark.parametrize("by_tools", [True, False], ids=["tools", "structured"])
def test_refusals_and_news_are_heard_as_such(serve: Serve, model_at: ModelAt, by_tools: bool) -> None:
    """A refusal's code, its text and the news behind it reach the player as they do in process."""
    endpoint = serve(PlayerResponder(repeating, Verbs((Note,))))
    model = model_at(endpoint, "anthropic", tools=[Note.tool()] if by_tools else [])

    def noted(reply: AIMessage) -> str:
        return reply.tool_calls[0]["args"]["text"] if by_tools else json.loads(reply.text)["text"]

    def answered(reply: AIMessage, text: str) -> BaseMessage:
        return ToolMessage(text, tool_call_id=reply.tool_calls[0]["id"]) if by_tools else HumanMessage(text)

    messages: list[BaseMessage] = [SystemMessage("Note."), HumanMessage("Begin.")]
    for text, news, expected in (
        ("All well.", None, "True None All well. | "),
        ("Refused (no_cash): you have $1", "Report: done", "False no_cash you have $1 | Report: done"),
        ("All well.", None, "True None All well. | Report: done"),
    ):
        answer = model.invoke(messages)
        messages += [answer, answered(answer, text), *([HumanMessage(news)] if news else [])]
        assert noted(model.invoke(messages)) == expected


@pytest.mark.parametrize("by_tools", [True, False], ids=["tools", "structured"])
def test_a_summary_moves_nothing_on(serve: Serve, model_at: ModelAt, by_tools: bool) -> None:
    """A request amid a run for a summary of its older part gets a text, and the run goes on where it was."""
    endpoint = serve(PlayerResponder(counting, SUMS))
    asker = model_at(endpoint, "openai")
    model = model_at(endpoint, "openai", tools=[Add.tool()]) if by_tools else asker
    messages: list[BaseMessage] = [HumanMessage("Add.")]
    for outcome in (5, 6, 7, 8):
        reply = model.invoke(messages)
        answer = (
            ToolMessage(str(outcome), tool_call_id=reply.tool_calls[0]["id"])
            if by_tools
            else HumanMessage(str(outcome))
        )
        messages += [reply, answer]
    dropped = [HumanMessage(f"[add] {message.text}") if by_tools else message for message in messages[:5]]
    assert asker.invoke([*dropped, HumanMessage("Sum up.")]).text
    reply = model.invoke([messages[0], HumanMessage("Summary: much."), *messages[5:]])
    assert (reply.tool_calls[0]["args"] if by_tools else json.loads(reply.text))["number"] == 1 + 5 + 6 + 7 + 8


def test_another_endpoint_catches_up_or_says_why_not(serve: Serve, model_at: ModelAt) -> None:
    """An endpoint that never heard a conversation plays on when its window holds all of it, and else refuses it."""
    messages: list[BaseMessage] = [HumanMessage("Add.")]
    model = model_at(serve(PlayerResponder(counting, SUMS)), "openai", tools=[Add.tool()])
    for outcome in (5, 6):
        reply = model.invoke(messages)
        messages += [reply, ToolMessage(str(outcome), tool_call_id=reply.tool_calls[0]["id"])]
    other = model_at(serve(PlayerResponder(counting, SUMS)), "openai", tools=[Add.tool()])
    with pytest.raises(openai.BadRequestError, match="send a conversation to the same endpoint from its beginning"):
        other.invoke([messages[0], *messages[3:]])
    assert told_sums(other, [1], before=messages) == [12, 13]


def test_another_player_begins_afresh_in_a_history(serve: Serve, model_at: ModelAt) -> None:
    """A model that is handed the history of another, as on a fork, makes its own first move and hears its own alone."""
    endpoint = serve(PlayerResponder(counting, SUMS))
    messages: list[BaseMessage] = [HumanMessage("Add.")]
    first, other = (model_at(endpoint, "openai", name, tools=[Add.tool()]) for name in ("test#a", "test#b"))
    for outcome in (5, 6):
        reply = first.invoke(messages)
        messages += [reply, ToolMessage(str(outcome), tool_call_id=reply.tool_calls[0]["id"])]
    assert told_sums(other, [100], before=messages) == [1, 101]


def test_a_broken_player_is_told_to_its_client(serve: Serve, model_at: ModelAt) -> None:
    """When a player breaks, its client gets status 400 with the reason, and the log has it."""
    endpoint = serve(PlayerResponder(counting, SUMS))
    model = model_at(endpoint, "openai", tools=[Add.tool()])
    with pytest.raises(openai.BadRequestError, match=r"ValueError: invalid literal.*'many'"):
        told_sums(model, ["many"])
    assert "'many'" in endpoint.log[-1].error
    assert told_sums(model, [5]) == [1, 6]


ENCODED: list[tuple[Action, dict[str, Any]]] = [
    (a.AdvanceDay(), {}),
    (a.ReadEmail(folder="sent"), {"folder": "sent"}),
    (a.SearchWeb(query="cola"), {"query": "cola"}),
    (
        a.SetPrice(
            prices=(a.SetPrice.Tag(row=0, column=1, price_cents=175), a.SetPrice.Tag(row=1, column=0, price_cents=5))
        ),
        {"prices": [{"row": 0, "column": 1, "price": 1.75}, {"row": 1, "column": 0, "price": 0.05}]},
    ),
    (
        a.RestockSlot(slots=(a.RestockSlot.Fill(row=0, column=0, product_id="cola", quantity=12),)),
        {"slots": [{"row": 0, "column": 0, "product_id": "cola", "quantity": 12}]},
    ),
    (a.PlaceOrder(supplier_id="s", items={"cola": 24}), {"supplier_id": "s", "items": {"cola": 24}}),
    (ChangePrices(prices_cents={"cola": 175, "chips": 5}), {"prices": {"cola": 1.75, "chips": 0.05}}),
]


@together(("action", "encoded"), ENCODED)
def test_encoded_parameters_are_decoded_as_the_action(action: Action, encoded: dict[str, Any]) -> None:
    """What a player says of an action is spelled as models spell it, and decoded as that action."""
    assert action.encode() == encoded
    assert type(action).decode(json.loads(json.dumps(encoded))) == action


def test_every_price_can_be_spoken() -> None:
    """Each price from a cent to the highest is decoded as it was meant."""
    for cents in range(1, a.MAX_PRICE_CENTS + 1, 7):
        tag = a.SetPrice.Tag(row=0, column=0, price_cents=cents)
        encoded = tag.encode()
        assert "price" in encoded
        assert a.SetPrice.Tag.decode(encoded) == tag
