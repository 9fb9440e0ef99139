"""The laws of the model endpoint, judged by the providers' own clients and by LangChain's."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

from akinai.agents.structured import read_reply
from akinai.core.actions import Action, Unreadable, Verbs
from akinai.core.agents import Move, Plan, Role, Routine, View, player
from akinai.core.ledger import Genesis, Ledger, Outcome
from akinai.core.models import Message, Reply, ToolCall
from akinai.core.stores import RunHeader
from akinai.runtime.config import prepare
from akinai.runtime.play import Driver
from akinai.runtime.session import LocalSession
from akinai.stores.memory import MemoryStore
from akinai.testing.endpoint import Brain, Endpoint, Exchange, FaultKind, Faults, PlayerBrain, ScriptBrain
from akinai.testing.endpoint import call, read_log, spoken_parameters
from akinai.testing.endpoint_faults import (
    BROKEN_JSON,
    HTTP_FAULTS,
    HUGE_BYTES,
    KINDS,
    PROSE,
    REPLY_FAULTS,
    UNKNOWN_TOOL,
)
from akinai.testing.runs import AWKWARD_TEXTS
from akinai.worlds.vending import Vending
from akinai.worlds.vending import actions as a

WIRES = ("openai", "anthropic", "openai-stream", "anthropic-stream")
LOOK = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {"where": {"type": "string"}}, "required": []},
}
Serve = Callable[..., Endpoint]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Opens endpoints that are closed after the test."""
    with ExitStack() as stack:
        yield lambda brain, **told: stack.enter_context(Endpoint(brain, **told))


def model_at(endpoint: Endpoint, wire: str, name: str = "test", **told: Any) -> BaseChatModel:
    """LangChain's model of a wire, as a user would build it."""
    provider, _, stream = wire.partition("-")
    given: dict[str, Any] = {"model": name, "api_key": "k", "max_retries": 0, "timeout": 20, "streaming": bool(stream)}
    if provider == "openai":
        return ChatOpenAI(base_url=endpoint.openai_url, stream_usage=True, **given | told)
    return ChatAnthropic(base_url=endpoint.url, **given | told)


def tools_of(verbs: Sequence[type[Action]], wire: str) -> list[dict[str, Any]]:
    return [spelled(verb.tool(), wire) for verb in verbs]


def spelled(tool: dict[str, Any], wire: str) -> dict[str, Any]:
    if wire.startswith("openai"):
        return {"type": "function", "function": tool}
    return {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}


@pytest.mark.parametrize("wire", WIRES)
def test_a_text_arrives_as_it_was(serve: Serve, wire: str) -> None:
    """A reply's text reaches the client unchanged, whatever is in it."""
    texts = [text for text in AWKWARD_TEXTS if text]
    model = model_at(serve(ScriptBrain(texts)), wire)
    assert [model.invoke(str(number)).text for number in range(len(texts))] == texts


@pytest.mark.parametrize("wire", WIRES)
def test_calls_arrive_in_order(serve: Serve, wire: str) -> None:
    """Several calls in a reply reach the client in order, with their arguments and the text beside them."""
    deep = {"where": 'é "quoted"', "n": [1, 2.5, None, {"deep": True}]}
    script = Reply("I look twice.", (call("look", {"where": "left"}), call("wait"), call("look", deep)))
    model = model_at(serve(ScriptBrain([script])), wire).bind_tools([spelled(LOOK, wire)])
    got = model.invoke("hi")
    assert got.text == "I look twice."
    assert [(one["name"], one["args"]) for one in got.tool_calls] == [
        ("look", {"where": "left"}),
        ("wait", {}),
        ("look", deep),
    ]
    assert len({one["id"] for one in got.tool_calls}) == 3


@pytest.mark.parametrize("wire", WIRES)
def test_the_brain_sees_what_was_said(serve: Serve, wire: str) -> None:
    """System message, users' texts, calls, results and tools reach the brain alike over every wire."""
    endpoint = serve(ScriptBrain([Reply("Now.", (call("look", {"where": "é"}), call("look"))), "Done."]))
    model = model_at(endpoint, wire).bind_tools([spelled(LOOK, wire)])
    said: list[BaseMessage] = [SystemMessage("You are brief."), HumanMessage("Go on.")]
    got = model.invoke(said)
    said += [got, *(ToolMessage(f"seen {one['args']}", tool_call_id=one["id"]) for one in got.tool_calls)]
    said += [HumanMessage("And now?")]
    assert model.invoke(said).text == "Done."
    seen = endpoint.asked[-1].request
    assert list(seen.messages) == [
        Message("system", "You are brief."),
        Message("user", "Go on."),
        Message("assistant", "Now.", (ToolCall("call_1_1", "look", {"where": "é"}), ToolCall("call_1_2", "look", {}))),
        Message("tool", "seen {'where': 'é'}", call_id="call_1_1"),
        Message("tool", "seen {}", call_id="call_1_2"),
        Message("user", "And now?"),
    ]
    assert list(seen.tools) == [LOOK]


@pytest.mark.parametrize("wire", WIRES)
def test_usage_is_counted_alike(serve: Serve, wire: str) -> None:
    """Tokens in, out and cached are the same over every wire; the shared beginning of two requests counts as cached."""
    model = model_at(serve(ScriptBrain(["a" * 40, "b"])), wire)
    said: list[BaseMessage] = [SystemMessage("s" * 400), HumanMessage("u" * 80)]
    first = model.invoke(said)
    second = model.invoke([*said, AIMessage(first.text), HumanMessage("v" * 4)])
    before, after = first.usage_metadata, second.usage_metadata
    assert before is not None
    assert after is not None
    assert (before["input_tokens"], before["output_tokens"]) == (3 + 100 + 3 + 20, 3 + 10)
    assert (after["input_tokens"], after["output_tokens"]) == (126 + 13 + 3 + 1, 3 + 1)
    assert before.get("input_token_details", {}).get("cache_read") == 0
    assert after.get("input_token_details", {}).get("cache_read") == 126


def test_a_script_can_state_usage_and_finish(serve: Serve) -> None:
    """What a scripted reply says of tokens, model and the reason to stop is what the client reads."""
    from akinai.core.models import Usage

    reply = Reply("cut", usage=Usage(100, 7, 40), model="test-2031-01-01", finish="length")
    with openai.OpenAI(base_url=serve(ScriptBrain([reply])).openai_url, api_key="k") as client:
        got = client.chat.completions.create(model="test", messages=[{"role": "user", "content": "hi"}])
    assert (got.model, got.choices[0].finish_reason) == ("test-2031-01-01", "length")
    assert got.usage is not None
    assert got.usage.prompt_tokens_details is not None
    told = (got.usage.prompt_tokens, got.usage.completion_tokens, got.usage.prompt_tokens_details.cached_tokens)
    assert told == (100, 7, 40)


FAILURES: dict[FaultKind, tuple[str, int]] = {
    "rate_limit": ("RateLimitError", 429),
    "rate_limit_wait": ("RateLimitError", 429),
    "server_error": ("InternalServerError", 500),
    "overloaded": ("InternalServerError", 529),
    "hang": ("APITimeoutError", 0),
    "cut": ("APIConnectionError", 0),
    "cut_in_body": ("APIConnectionError", 200),
    "malformed": ("JSONDecodeError", 200),
}


@pytest.mark.parametrize("provider", [openai, anthropic])
@pytest.mark.parametrize("kind", HTTP_FAULTS)
def test_an_http_fault_is_what_its_client_knows(serve: Serve, provider: Any, kind: FaultKind) -> None:
    """Each HTTP fault raises the error that the provider's client has for it, and the next try gets the reply."""
    endpoint = serve(ScriptBrain(["here"]), faults=Faults(schedule={1: kind}, retry_after_s=3))
    name, status = FAILURES[kind]
    expected = json.JSONDecodeError if name == "JSONDecodeError" else getattr(provider, name)
    with ask_with(provider, endpoint, timeout=0.3) as ask:
        with pytest.raises(expected) as raised:
            ask()
        assert ask() == "here"
    if isinstance(raised.value, openai.APIStatusError | anthropic.APIStatusError):
        assert raised.value.response.headers.get("retry-after") == ("3" if kind == "rate_limit_wait" else None)
    assert [(one.fault, one.status, one.answered) for one in endpoint.log] == [(kind, status, False), (None, 200, True)]


class ask_with:  # noqa: N801 - it reads as a function
    """A provider's client that asks one thing."""

    def __init__(self, provider: Any, endpoint: Endpoint, **told: Any) -> None:
        given = {"api_key": "k", "max_retries": 0, **told}
        openai_wire = provider is openai
        self.client = provider.OpenAI(base_url=endpoint.openai_url, **given) if openai_wire else None
        self.client = self.client or provider.Anthropic(base_url=endpoint.url, **given)
        self.openai_wire = openai_wire

    def __enter__(self) -> Callable[[], str]:
        messages = [{"role": "user", "content": "hi"}]
        if self.openai_wire:
            return lambda: (
                self.client.chat.completions.create(model="test", messages=messages).choices[0].message.content
            )
        return lambda: self.client.messages.create(model="test", max_tokens=9, messages=messages).content[0].text

    def __exit__(self, *_: object) -> None:
        self.client.close()


ON_OPENAI: dict[FaultKind, Callable[[AIMessage], bool]] = {
    "unknown_tool": lambda got: [one["name"] for one in got.tool_calls] == [UNKNOWN_TOOL],
    "prose": lambda got: got.text == PROSE and not got.tool_calls,
    "empty": lambda got: not got.text and not got.tool_calls,
    "huge": lambda got: len(got.text) == HUGE_BYTES and not got.tool_calls,
    "bad_arguments": lambda got: not got.tool_calls and got.invalid_tool_calls[0]["args"] == BROKEN_JSON,
    "several_calls": lambda got: [one["name"] for one in got.tool_calls] == [UNKNOWN_TOOL, "look"],
}
ON_ANTHROPIC = ON_OPENAI | {"bad_arguments": lambda got: got.tool_calls[0]["args"] == {"INVALID_JSON": BROKEN_JSON}}
"""Its wire knows no arguments that are not JSON, save in a stream."""


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", REPLY_FAULTS)
def test_a_reply_fault_takes_no_reply_away(serve: Serve, wire: str, kind: FaultKind) -> None:
    """A faulty reply arrives as such, and the script's own comes next, as if it had never been there."""
    endpoint = serve(ScriptBrain([call("look")]), faults=Faults(schedule={1: kind}))
    model = model_at(endpoint, wire).bind_tools([spelled(LOOK, wire)])
    got = model.invoke("hi")
    assert isinstance(got, AIMessage)
    assert (ON_ANTHROPIC if wire == "anthropic" else ON_OPENAI)[kind](got)
    assert [one["name"] for one in model.invoke("hi" if kind == "several_calls" else "go on").tool_calls] == ["look"]


def test_faults_are_decided_by_seed_and_place() -> None:
    """A fault is a function of the seed, the conversation and the number of the request; their share is the rate."""
    faults = Faults(0.2, KINDS, seed=3)
    drawn = {(key, nth): faults.of(key, nth) for key in ("a", "b") for nth in range(1, 1001)}
    again = {(key, nth): Faults(0.2, KINDS, seed=3).of(key, nth) for key, nth in reversed(drawn)}
    assert drawn == again
    assert 320 < sum(kind is not None for kind in drawn.values()) < 480
    assert set(drawn.values()) == {None, *KINDS}
    assert [drawn["a", nth] for nth in range(1, 101)] != [drawn["b", nth] for nth in range(1, 101)]
    assert Faults(0.2, KINDS, seed=4).of("a", 1) != drawn["a", 1] or Faults(0.2, seed=4).of("a", 2) != drawn["a", 2]
    assert [Faults(schedule={2: "cut"}).of("a", nth) for nth in (1, 2, 3)] == [None, "cut", None]


def test_retry_after_is_obeyed(serve: Serve) -> None:
    """A client that reads Retry-After waits that long and then gets its reply."""
    endpoint = serve(ScriptBrain(["here"]), faults=Faults(schedule={1: "rate_limit_wait"}, retry_after_s=0.4))
    with ask_with(openai, endpoint, max_retries=1) as ask:
        assert ask() == "here"
    first, second = endpoint.log
    assert 0.4 <= second.at - first.at < 3


class Add(Action):
    """Add a number to the sum."""

    number: int


SUMS = Verbs((Add,))


@player
def counting(me: Routine) -> Plan:
    """Adds one more than all that it heard, so that each move tells its whole past."""
    total = 0
    while True:
        heard = yield Add(number=total + 1)
        total += int(heard.text)


class Chat:
    """A chat agent that does what `endpoint_player` asks of a client, and no more."""

    def __init__(self, model: BaseChatModel, verbs: Verbs, wire: str, *, by_tools: bool = True, window: int = 10_000):
        self._model, self._verbs, self._wire, self._by_tools, self._window = model, verbs, wire, by_tools, window
        self._said: list[BaseMessage] = []
        self._view = ""
        self._waiting: list[tuple[str | None, Move]] = []
        self._last: str | None = None

    async def act(self, view: View, heard: Outcome | None) -> Move:
        if heard is None:
            names = "" if self._by_tools else "Tools: " + " ".join(verb.tool_name() for verb in view.verbs)
            self._said = [SystemMessage(f"Play on.\n{names}\n\n{view.text}"), HumanMessage("Begin.")]
        elif self._last is None:
            self._said.append(HumanMessage(heard.text))
        else:
            self._said.append(ToolMessage(heard.text, tool_call_id=self._last))
        if not self._waiting:
            if heard is not None and (news := changed(self._view, view.text)):
                self._said.append(HumanMessage(news))
            self._view = view.text
            self._waiting = await self._asked(view)
        self._last, move = self._waiting.pop(0)
        return move

    async def _asked(self, view: View) -> list[tuple[str | None, Move]]:
        """The model's reply as the moves that it holds, each with the id of its call."""
        model = self._model.bind_tools(tools_of(view.verbs, self._wire)) if self._by_tools else self._model
        got = await model.ainvoke(self._in_window())
        assert isinstance(got, AIMessage)
        calls = [(one["id"], one["name"], one["args"]) for one in (*got.tool_calls, *got.invalid_tool_calls)]
        self._said.append(got if got.text or calls else AIMessage("(nothing)"))
        if not calls:
            return [(None, Move(read_reply(self._verbs, got.text)))]
        return [(id, Move(self._verbs.heard(name, args, str(args)), got.text)) for id, name, args in calls]

    def _in_window(self) -> list[BaseMessage]:
        """The beginning and the newest messages; results without their calls are left out."""
        kept = self._said[2:][-self._window :]
        while kept and not isinstance(kept[0], AIMessage):
            kept.pop(0)
        return self._said[:2] + kept


def changed(before: str, now: str) -> str:
    """The view from the first paragraph on that is another."""
    old, new = before.split("\n\n"), now.split("\n\n")
    same = next(
        (i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    return "\n\n".join(new[same:])


async def played(factory: Callable[[Role], Any], days: int, preset: str = "default") -> Ledger:
    """A run of the vending world."""
    world, store = Vending(), MemoryStore()
    genesis = Genesis(world.name, 7, prepare(world, preset=preset, days=days).setup)
    await store.create(RunHeader("r", genesis, {"owner": "test"}, 1))
    await Driver(LocalSession(world, genesis, store, "r"), factory).play()
    return Ledger(genesis, [entry async for entry in store.read("r")])


@pytest.mark.parametrize("by_tools", [True, False], ids=["tools", "structured"])
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize(("name", "days", "preset"), [("naive", 21, "default"), ("reference", 9, "paper")])
async def test_the_player_on_the_wire_is_the_player(
    serve: Serve, name: str, days: int, preset: str, wire: str, by_tools: bool
) -> None:
    """Over the wire a player's run, its sub-agents' moves included, has the digest that it has in process.

    So it has through a window that holds few messages.
    """
    world = Vending()
    endpoint = serve(PlayerBrain(world.players[name], world.verbs))
    model = model_at(endpoint, wire)
    run = await played(lambda _: Chat(model, world.verbs, wire, by_tools=by_tools, window=7), days, preset)
    alone = await played(world.players[name], days, preset)
    assert run.digest == alone.digest, first_difference(run, alone)
    assert len(endpoint.log) == len(alone.entries) > 30


def first_difference(run: Ledger, other: Ledger) -> str:
    pairs = zip(run.entries, other.entries, strict=False)
    return next((f"{one.seq}: {one.text}\n{two.text}" for one, two in pairs if one.digest != two.digest), "the length")


@pytest.mark.parametrize("by_tools", [True, False], ids=["tools", "structured"])
async def test_faulty_replies_do_not_change_the_player(serve: Serve, by_tools: bool) -> None:
    """With half of the replies faulty, the readable moves are those of the run without faults."""
    world = Vending()
    endpoint = serve(PlayerBrain(world.players["naive"], world.verbs), faults=Faults(0.5, REPLY_FAULTS, seed=1))
    model = model_at(endpoint, "openai")
    run = await played(lambda _: Chat(model, world.verbs, "openai", by_tools=by_tools, window=12), 14)
    alone = await played(world.players["naive"], 14)
    readable = [(one.name, one.parameters, one.outcome) for one in run.entries if one.name != Unreadable.__name__]
    assert readable == [(one.name, one.parameters, one.outcome) for one in alone.entries]
    assert len(run.entries) > len(readable) + 10


async def test_conversations_at_once_are_not_mixed_up(serve: Serve) -> None:
    """Fifty conversations at once, told apart by the label in the model's name or by their keys, hear their own."""
    endpoint = serve(PlayerBrain(counting, SUMS))

    async def sums(nth: int) -> list[int]:
        named = nth % 2 == 0
        model = model_at(
            endpoint, "openai", f"test#run-{nth}" if named else "test", api_key="k" if named else f"k{nth}"
        )
        agent, heard, moves = Chat(model, SUMS, "openai"), None, list[int]()
        for _ in range(5):
            move = await agent.act(View("Add.", (Add,)), heard)
            assert isinstance(move.action, Add)
            moves.append(move.action.number)
            heard = Outcome(str(1000 * nth))
        return moves

    assert await asyncio.gather(*map(sums, range(50))) == [[1000 * nth * k + 1 for k in range(5)] for nth in range(50)]
    assert len({one.key for one in endpoint.log}) == 50
    assert sum("#run-" in one.key for one in endpoint.log) == 125


def test_a_request_sent_again_gets_its_reply_again(serve: Serve) -> None:
    """A request that is sent again, after a cut or by a client that forgot, gets the same reply and moves nothing on."""
    scripted, playing = serve(ScriptBrain(["one", "two"])), serve(PlayerBrain(counting, SUMS))
    for endpoint in (scripted, playing):
        model = model_at(endpoint, "openai").bind_tools(tools_of([Add], "openai"))
        first = model.invoke("hi")
        again = model.invoke("hi")
        assert (again.text, again.tool_calls) == (first.text, first.tool_calls)
    assert model_at(scripted, "openai").invoke("other").text == "two"
    model = model_at(
        serve(PlayerBrain(counting, SUMS), faults=Faults(schedule={2: "cut_in_body"})), "openai", max_retries=2
    )
    told = told_sums(model.bind_tools(tools_of([Add], "openai")), [5, 6])
    assert told == [1, 6, 12]


def told_sums(
    model: Any, outcomes: Sequence[int], before: Sequence[BaseMessage] = (HumanMessage("Add."),)
) -> list[int]:
    """What the counting player adds when it hears these outcomes."""
    said, told = list(before), list[int]()
    for outcome in (*outcomes, None):
        got = model.invoke(said)
        told.append(got.tool_calls[0]["args"]["number"])
        if outcome is not None:
            said += [got, ToolMessage(str(outcome), tool_call_id=got.tool_calls[0]["id"])]
    return told


def test_a_client_may_go_back(serve: Serve) -> None:
    """A client that goes back to an earlier point, or begins anew, is followed: the player has the past that it is told."""
    endpoint = serve(PlayerBrain(counting, SUMS))
    model = model_at(endpoint, "anthropic").bind_tools(tools_of([Add], "anthropic"))
    assert told_sums(model, [5, 6, 7]) == [1, 6, 12, 19]
    assert told_sums(model, [5, 6, 70, 8]) == [1, 6, 12, 82, 90]
    assert told_sums(model, [1]) == [1, 2]


def test_another_endpoint_catches_up_or_says_why_not(serve: Serve) -> None:
    """An endpoint that never heard a conversation plays on when its window holds all of it, and else refuses it."""
    said: list[BaseMessage] = [HumanMessage("Add.")]
    model = model_at(serve(PlayerBrain(counting, SUMS)), "openai").bind_tools(tools_of([Add], "openai"))
    for outcome in (5, 6):
        got = model.invoke(said)
        said += [got, ToolMessage(str(outcome), tool_call_id=got.tool_calls[0]["id"])]
    other = model_at(serve(PlayerBrain(counting, SUMS)), "openai").bind_tools(tools_of([Add], "openai"))
    with pytest.raises(openai.BadRequestError, match="let one endpoint hear a conversation from its beginning"):
        other.invoke([said[0], *said[3:]])
    assert told_sums(other, [1], before=said) == [12, 13]


def test_another_player_begins_afresh_in_a_history(serve: Serve) -> None:
    """A model that is handed the history of another, as on a fork, makes its own first move and hears its own alone."""
    endpoint = serve(PlayerBrain(counting, SUMS))
    said: list[BaseMessage] = [HumanMessage("Add.")]
    first, other = (
        model_at(endpoint, "openai", name).bind_tools(tools_of([Add], "openai")) for name in ("test#a", "test#b")
    )
    for outcome in (5, 6):
        got = first.invoke(said)
        said += [got, ToolMessage(str(outcome), tool_call_id=got.tool_calls[0]["id"])]
    assert told_sums(other, [100], before=said) == [1, 101]


def test_a_broken_player_is_told_to_its_client(serve: Serve) -> None:
    """When a player breaks, its client gets status 400 with the reason, and the log has it."""
    endpoint = serve(PlayerBrain(counting, SUMS))
    model = model_at(endpoint, "openai").bind_tools(tools_of([Add], "openai"))
    with pytest.raises(openai.BadRequestError, match="ValueError: invalid literal.*'many'"):
        told_sums(model, ["many"])  # pyright: ignore[reportArgumentType] - that is what breaks it
    assert "'many'" in endpoint.log[-1].error
    assert told_sums(model, [5]) == [1, 6]


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_what_no_provider_takes_is_refused(serve: Serve, wire: str) -> None:
    """A call without its result, a result without its call, and on Anthropic's wire a message without content: 400."""
    model = model_at(serve(ScriptBrain(["never"])), wire)
    asked = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}])
    wrong: list[list[BaseMessage]] = [
        [HumanMessage("a"), asked, HumanMessage("b")],
        [HumanMessage("a"), ToolMessage("seen", tool_call_id="c1")],
        [HumanMessage("a"), asked, ToolMessage("seen", tool_call_id="c1"), ToolMessage("seen", tool_call_id="c2")],
    ]
    if wire == "anthropic":
        wrong += [[HumanMessage("a"), AIMessage(""), HumanMessage("b")], [AIMessage("a"), HumanMessage("b")]]
    for messages in wrong:
        with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)):
            model.invoke(messages)


def test_models_are_listed_and_strangers_turned_away(serve: Serve) -> None:
    """Both providers' clients can list the models; any other address answers 404 and says what there is."""
    endpoint = serve(ScriptBrain([]), models=("small", "large"))
    with (
        openai.OpenAI(base_url=endpoint.openai_url, api_key="k") as one,
        anthropic.Anthropic(base_url=endpoint.url, api_key="k") as two,
    ):
        assert (
            [model.id for model in one.models.list()] == [model.id for model in two.models.list()] == ["small", "large"]
        )
        with pytest.raises(openai.NotFoundError, match="POST /v1/chat/completions"):
            one.embeddings.create(model="small", input="hi")


def test_the_log_holds_no_key(serve: Serve, tmp_path: Path) -> None:
    """An API key is in no header, no conversation's key and no line of the log, over either wire."""
    key = "sk-planted-4711"
    endpoint = serve(ScriptBrain(["hi"]), log=tmp_path / "log.jsonl")
    for wire in ("openai", "anthropic"):
        model_at(endpoint, wire, api_key=key).invoke("hi")
    assert key not in (tmp_path / "log.jsonl").read_text()
    assert key not in repr(endpoint.log)
    assert read_log(tmp_path / "log.jsonl") == endpoint.log
    assert [(one.path, one.headers["content-type"]) for one in endpoint.log] == [
        ("/v1/chat/completions", "application/json"),
        ("/v1/messages", "application/json"),
    ]


def test_the_endpoint_is_a_process_of_its_own(tmp_path: Path) -> None:
    """As a process it prints its URL first, plays any player by name, ends at SIGTERM; the log outlives two of them."""
    log = tmp_path / "log.jsonl"
    for turn in (1, 2):
        line = [
            sys.executable,
            "-m",
            "akinai.testing.endpoint",
            "--world",
            "vending",
            "--player",
            "idle",
            "--log",
            str(log),
        ]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            given: dict[str, Any] = {"base_url": url, "api_key": "k", "max_retries": 0}
            for name, tool in (("test", "advance_day"), ("naive#x", "search_web")):
                model = ChatAnthropic(model=name, **given).bind_tools(tools_of(Vending.verbs.classes, "anthropic"))
                assert [one["name"] for one in model.invoke("Begin.").tool_calls] == [tool]
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=20)
        assert (process.returncode, errors) == (0, "")
        kept: tuple[Exchange, ...] = read_log(log)
        assert len(kept) == 2 * turn
        assert all(one.answered for one in kept)


async def test_waiting_conversations_do_not_wait_for_each_other(serve: Serve) -> None:
    """Sixty-four requests at once with 0.5 s latency are all waited for at the same time."""
    endpoint = serve(ScriptBrain(["here"]), latency_s=0.5)
    models = [model_at(endpoint, "openai", f"test#{nth}") for nth in range(64)]
    await models[0].ainvoke("warm")
    begun = time.perf_counter()
    got = await asyncio.gather(*(model.ainvoke("warm") for model in models))
    assert [one.text for one in got] == ["here"] * 64
    assert time.perf_counter() - begun < 64 * 0.5 / 4
    spans = [(one.at, one.at + one.took_s) for one in endpoint.log[1:]]
    assert max(begin for begin, _ in spans) < min(end for _, end in spans)


def test_closing_leaves_nothing_behind() -> None:
    """Closing cuts what hangs, ends the thread and frees the port; closing twice is no mistake."""
    endpoint = Endpoint(ScriptBrain(["here"]), faults=Faults(schedule={1: "hang"})).start()
    failed: list[Exception] = []

    def ask_and_hang() -> None:
        with ask_with(openai, endpoint, timeout=30) as ask:
            try:
                ask()
            except openai.APIConnectionError as error:
                failed.append(error)

    client = threading.Thread(target=ask_and_hang)
    client.start()
    while not endpoint.log:
        time.sleep(0.01)
    endpoint.close()
    endpoint.close()
    client.join(10)
    assert len(failed) == 1
    assert not [one for one in threading.enumerate() if one.name == "akinai-endpoint"]
    with (
        Endpoint(ScriptBrain(["here"]), port=int(endpoint.url.rpartition(":")[2])) as other,
        ask_with(openai, other) as ask,
    ):
        assert ask() == "here"


SPOKEN: list[tuple[Action, dict[str, Any]]] = [
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
]


@pytest.mark.parametrize(("action", "said"), SPOKEN)
def test_spoken_parameters_are_heard_as_the_action(action: Action, said: dict[str, Any]) -> None:
    """What a player says of an action is spelled as models spell it, and heard as that action."""
    assert spoken_parameters(action) == said
    assert type(action).hear(json.loads(json.dumps(said))) == action


def test_every_price_can_be_spoken() -> None:
    """Each price from a cent to the highest is heard as it was meant."""
    for cents in range(1, a.MAX_PRICE_CENTS + 1, 7):
        tag = a.SetPrice.Tag(row=0, column=0, price_cents=cents)
        said = spoken_parameters(tag)
        assert "price" in said
        assert a.SetPrice.Tag.hear(said) == tag
