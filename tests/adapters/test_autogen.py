"""AutoGen's AssistantAgent as a player, over real HTTP on loopback: the adapter adds nothing and loses nothing."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.model_context import HeadAndTailChatCompletionContext
from autogen_core.models import ChatCompletionClient
from autogen_core.tools import Workbench
from autogen_ext.models.openai import OpenAIChatCompletionClient

import akinai
from akinai import worlds
from akinai.adapters.autogen import ANY_MODEL, AutogenPlayer, autogen_agent, by_name, identifier, openai_client
from akinai.core.agents import AgentFactory, Role, View
from akinai.core.errors import ModelError, UsageError
from akinai.core.models import Reply, ToolCall
from akinai.runtime.play.agent_spec import AgentSpec
from akinai.testing.endpoint import Endpoint, Faults, ModelCall, PlayerResponder, Refused, ScriptResponder, tool_call
from akinai.testing.endpoint.faults import HTTP_FAULTS, HttpFault
from akinai.testing.endpoint.market import text_only
from akinai.worlds.qa.players import best, overlap

DATA = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[3] / "shared" / "data")) / "jcommonsenseqa"
VENDING, MARKET = worlds.load("vending"), worlds.load("market")


def brain() -> PlayerResponder:
    return PlayerResponder(VENDING.players["reference"], VENDING.verbs)


def at(endpoint: Endpoint, **options: Any) -> Callable[[], ChatCompletionClient]:
    """A function that opens a client of the endpoint without retries."""
    options = {"max_retries": 0, "timeout": 5.0, **options}
    return lambda: openai_client("test", base_url=endpoint.openai_url, **options)


def assistants(**options: Any) -> Callable[[Role, ChatCompletionClient, Workbench], AssistantAgent]:
    """Custom assistants, with their own system message and settings."""

    def make(role: Role, client: ChatCompletionClient, verbs: Workbench) -> AssistantAgent:
        called = {name: value() for name, value in options.items() if callable(value)}
        settings: dict[str, Any] = {"system_message": f"You are {role.actor}.", **options, **called}
        return AssistantAgent(identifier(role.actor), client, workbench=verbs, **settings)

    return make


class Solver:
    """Answers the last question as the player `overlap` does."""

    async def reply(self, call: ModelCall) -> Reply:
        messages = reversed(call.request.messages)
        newest = next(message.text for message in messages if message.text.startswith("Question "))
        _, question, *choices = newest.split("\n")
        choice = best(overlap(question, [line.partition(". ")[2] for line in choices])) + 1
        return Reply("", (ToolCall(f"call_{call.nth}", "answer", {"choice": choice}),))


def play(world: str, agent: AgentFactory | AgentSpec, **options: Any) -> akinai.Run:
    (run,) = akinai.run(world, agent=agent, **options)
    return run


async def memory() -> ListMemory:
    notes = ListMemory()
    await notes.add(MemoryContent(content="The till jams on Sundays.", mime_type="text/plain"))
    return notes


def test_ten_days_of_the_reference_give_its_digest() -> None:
    """Prompt, tools, HTTP, AutoGen's loop and parsing add nothing: the ledger equals the rule-based player's."""
    whole = akinai.run("vending", agent="reference", days=10, preset="classic")[0]
    with Endpoint(brain()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=10, preset="classic")
    assert (run.header.status, run.header.ending, run.header.error) == ("done", "horizon", None)
    assert run.ledger.digest == whole.ledger.digest


CUSTOM = {
    "streamed": assistants(model_client_stream=True),
    "long loop": assistants(max_tool_iterations=1000),
    "short window": assistants(model_context=lambda: HeadAndTailChatCompletionContext(1, 6)),
}


@pytest.mark.parametrize("make", CUSTOM.values(), ids=CUSTOM.keys())
def test_a_custom_assistant_plays_the_same(make: Any) -> None:
    """Streaming, AutoGen's own loop of tool calls and a short context change the requests but no move."""
    whole = akinai.run("vending", agent="reference", days=10, preset="classic")[0]
    with Endpoint(brain()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint), make), days=10, preset="classic")
        (system, *_) = endpoint.calls[-1].request.messages
    assert run.ledger.digest == whole.ledger.digest
    assert system.text == "You are owner."


SHEETS = [
    {"draw": 20},
    pytest.param(
        {"draw": 20, "data": str(next(DATA.glob("valid*.json*"), DATA))},
        marks=pytest.mark.skipif(not DATA.is_dir(), reason=f"the real questions are not at {DATA}"),
    ),
]


@pytest.mark.parametrize("settings", SHEETS, ids=["our own", "JCommonsenseQA"])
def test_twenty_questions_are_answered(settings: dict[str, Any]) -> None:
    """A sheet of 20 questions: a request and an entry each, with the answers of the player on the wire."""
    (whole,) = akinai.run("qa", agent="overlap", settings=settings)
    with Endpoint(Solver()) as endpoint:
        run = play("qa", autogen_agent(at(endpoint)), settings=settings)
        assert len(endpoint.log) == 20
    assert [(entry.name, entry.parameters, entry.outcome) for entry in run.ledger.entries] == [
        (entry.name, entry.parameters, entry.outcome) for entry in whole.ledger.entries
    ]
    assert run.scores == whole.scores
    assert {score.name: score.value for score in run.scores}["answered"] == 20


def test_each_customer_of_a_market_has_its_own_assistant() -> None:
    """Three AutoGen customers among the world's businesses make the same deals as the rule-based customers."""
    settings = {"customers.count": 3}
    (whole,) = akinai.run("market", agent="careful", settings=settings)
    with Endpoint(PlayerResponder(text_only(MARKET.players["careful"]), MARKET.verbs)) as endpoint:
        run = play("market", autogen_agent(at(endpoint)), settings=settings)
        names = {call.request.messages[0].text.rpartition(" ")[2] for call in endpoint.calls}
        conversations = {exchange.key for exchange in endpoint.log}
    assert run.ledger.digest == whole.ledger.digest
    assert names == {f"customer_{number:04}." for number in (1, 2, 3)}
    assert len(conversations) == 3


def test_bad_replies_are_refused_as_elsewhere() -> None:
    """Prose, an unknown tool, broken and wrong arguments are actions, refused with a reason that the model reads."""
    wrong = [tool_call("fly_to_moon"), tool_call("wait_until", "{hour:"), tool_call("wait_until", {"hour": "noon"})]
    replies = ["I think I should wait.", *wrong, *[tool_call("advance_day")] * 3]
    with Endpoint(ScriptResponder(replies)) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=3)
        messages = endpoint.calls[-1].request.messages
        texts = [message.text for message in messages if message.speaker in ("tool", "user")]
    entries = run.ledger.entries[:4]
    assert [entry.name for entry in entries] == ["Unreadable"] * 4
    assert [entry.outcome.code for entry in entries] == ["no_action", "no_action", "bad_parameters", "bad_parameters"]
    for entry in entries:
        assert f"Refused ({entry.outcome.code}): {entry.outcome.text}" in texts
    assert run.header.ending == "horizon"


def test_several_calls_of_a_reply_are_several_actions() -> None:
    """They are done in order, a refused call does not cancel the next, and each gets its own outcome."""
    calls = (tool_call("advance_day"), tool_call("fly_to_moon"), tool_call("advance_day"))
    with Endpoint(ScriptResponder([Reply("Two days.", calls), "Done?", tool_call("advance_day")])) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=3)
        results = [message for message in endpoint.calls[1].request.messages if message.speaker == "tool"]
    entries = run.ledger.entries
    assert [entry.outcome.ok for entry in entries] == [True, False, True, False, True]
    assert [entry.said for entry in entries] == ["Two days.", "", "", "", ""]
    texts = [result.text.removeprefix("Refused (no_action): ") for result in results]
    assert texts == [entry.outcome.text for entry in entries[:3]]


def test_a_run_knows_nothing_of_another() -> None:
    """The first request of each run holds only the instructions and the first view."""
    with Endpoint(brain()) as endpoint:
        agent = autogen_agent(at(endpoint))
        for seed in (1, 2):
            play("vending", agent, days=2, seeds=seed)
        first = [call.request.messages for call in endpoint.calls if len(call.request.messages) == 2]
    assert [[message.speaker for message in messages] for messages in first] == [["system", "user"]] * 2


def test_bullets_precede_the_first_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bullets of a playbook come first in the conversation, and stay in the context."""
    with Endpoint(brain()) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
        agent = AgentSpec("autogen:test", bullets=("Water sells on hot days.",))
        run = play("vending", agent, days=2, preset="classic")
        last = endpoint.calls[-1].request.messages
    assert run.header.status == "done"
    assert "- Water sells on hot days.\n\nYou run a vending machine" in last[1].text


def test_a_memory_is_queried_once_in_a_loop() -> None:
    """An assistant with a memory and AutoGen's own loop of tool calls queries the memory once, not at every move."""
    notes = asyncio.run(memory())
    make = assistants(memory=lambda: [notes], max_tool_iterations=1000)
    with Endpoint(brain()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint), make), days=3)
        texts = [message.text for message in endpoint.calls[-1].request.messages]
    assert len(run.ledger.entries) > 5
    assert sum("The till jams on Sundays." in text for text in texts) == 1


@pytest.mark.parametrize("kind", [kind for kind in HTTP_FAULTS if kind != "hang"])
def test_a_broken_model_makes_a_run_failed_and_loses_nothing(kind: HttpFault) -> None:
    """Whatever goes wrong on the wire, the run reports that its model gave no answer and keeps its entries."""
    with Endpoint(brain(), faults=Faults(schedule={4: kind})) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=10)
    assert (run.header.status, len(run.ledger.entries)) == ("failed", 3)
    assert run.header.error is not None
    assert run.header.error.startswith("the model of owner gave AutoGen no answer: ")


def test_a_model_with_temporary_errors_is_retried() -> None:
    """With retries, the default, temporary server errors change nothing and no move is made twice."""
    whole = akinai.run("vending", agent="reference", days=3, preset="classic")[0]
    faults = Faults(schedule={2: "server_error", 5: "rate_limit", 6: "cut"})
    with Endpoint(brain(), faults=faults) as endpoint:
        run = play("vending", autogen_agent(at(endpoint, max_retries=2)), days=3, preset="classic")
    assert run.ledger.digest == whole.ledger.digest


class Echo:
    """Refuses every request with the key in its message."""

    async def reply(self, call: ModelCall) -> Reply:
        raise Refused("the key correct-horse-battery is not known here")


def test_keys_are_written_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that a provider repeats in its error is not recorded."""
    monkeypatch.setenv("OPENAI_API_KEY", "correct-horse-battery")
    with Endpoint(Echo()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=3)
    assert run.header.error is not None
    assert "is not known here" in run.header.error
    assert "correct-horse" not in str(run.header)


class CountedClient(OpenAIChatCompletionClient):
    """Records whether it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True
        await super().close()


def test_a_run_shares_a_client_and_closes_it() -> None:
    """All assistants of a run share a client; the next run, in its own loop, opens another."""
    opened: list[CountedClient] = []

    def client() -> ChatCompletionClient:
        opened.append(CountedClient(model="test", base_url=url, api_key="none", model_info=ANY_MODEL))
        return opened[-1]

    with Endpoint(PlayerResponder(text_only(MARKET.players["careful"]), MARKET.verbs)) as endpoint:
        url, agent = endpoint.openai_url, autogen_agent(client)
        for count in (1, 2):
            play("market", agent, settings={"customers.count": 3})
            assert [client.closed for client in opened] == [True] * count


def test_a_failed_run_resumes_from_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On resume a new assistant gets the recorded views, moves with their texts, and outcomes; then it plays on."""
    first, later = (
        [Reply("First.", (tool_call("advance_day"),)), "Hm.", tool_call("advance_day")],
        [tool_call("advance_day")] * 2,
    )
    store = str(tmp_path / "akinai.db")
    with Endpoint(ScriptResponder(first)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
        (failed,) = akinai.run("vending", agent="autogen:test", days=4, store=store, name="cut", preset="classic")
    assert (failed.header.status, len(failed.ledger.entries)) == ("failed", 3)
    with Endpoint(ScriptResponder(later)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
        (run,) = akinai.resume("cut", store=store)
        _, view, *past = endpoint.calls[0].request.messages
    assert (run.header.status, run.header.ending, len(run.ledger.entries)) == ("done", "horizon", 5)
    assert view.text.startswith("You run a vending machine")
    assert [message.speaker for message in past] == ["assistant", "tool", "assistant", "user", "assistant", "tool"]
    assert (past[0].text, past[0].calls[0].name, past[2].text) == ("First.", "advance_day", "Hm.")
    outcomes = [entry.outcome.text for entry in run.ledger.entries[:3]]
    assert [message.text.removeprefix("Refused (no_action): ") for message in past[1::2]] == outcomes
    with Endpoint(ScriptResponder([*first, *later])) as endpoint:
        whole = play("vending", autogen_agent(at(endpoint)), days=4, preset="classic")
    assert run.ledger.digest == whole.ledger.digest


def test_a_cap_ends_a_run_cleanly() -> None:
    """A run that ends between two calls of a reply leaves nothing open: warnings are errors."""
    reply = Reply("", (tool_call("advance_day"), tool_call("advance_day"), tool_call("advance_day")))
    with Endpoint(ScriptResponder([reply, reply])) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=10, settings={"max_messages": 4})
    assert (run.header.ending, len(run.ledger.entries)) == ("message_cap", 4)


async def test_an_agent_that_is_closed_leaves_no_task() -> None:
    """An assistant that is closed within a reply, or cancelled while its model hangs, holds nothing open."""
    role = Role("owner", VENDING.verbs.classes)
    view = View("You run a shop.", VENDING.verbs.classes)
    two = Reply("", (tool_call("advance_day"), tool_call("advance_day")))
    with Endpoint(ScriptResponder([two]), faults=Faults(schedule={2: "hang"})) as endpoint:
        for steps in (1, 2):
            player = autogen_agent(at(endpoint))(role)
            assert isinstance(player, AutogenPlayer)
            asking = asyncio.ensure_future(player.act(view, None))
            if steps == 2:
                await asyncio.sleep(0.2)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
            else:
                await asking
            await player.close()
    await asyncio.sleep(0.01)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_broken_model_is_a_typed_error() -> None:
    """An exception of AutoGen's client reaches the driver as ModelError."""
    role = Role("owner", VENDING.verbs.classes)
    with Endpoint(ScriptResponder([])) as endpoint:
        player = autogen_agent(at(endpoint))(role)
        assert isinstance(player, AutogenPlayer)
        with pytest.raises(ModelError, match="script is over"):
            await player.act(View("You run a shop.", VENDING.verbs.classes), None)
        await player.close()


def test_an_agent_by_name_reports_a_missing_model_or_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--agent autogen` without a model, and a model without a key, are errors before anything is written."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="--agent autogen:gpt-5-mini"):
        akinai.run("vending", agent="autogen", preset="classic")
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        akinai.run("vending", agent="autogen:gpt-5-mini", preset="classic")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert by_name(VENDING, "openai:test")


def test_a_client_that_is_open_is_refused() -> None:
    """A client's connections belong to one run, so a client in place of a function that opens it is a UsageError."""
    client: Any = openai_client("test", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="a function that opens the client"):
        autogen_agent(client)


@pytest.mark.parametrize(("actor", "name"), [("owner/email-3", "owner_email_3"), ("7th", "_7th"), ("owner", "owner")])
def test_actors_have_names_that_autogen_takes(actor: str, name: str) -> None:
    """AutoGen requires identifiers."""
    assert identifier(actor) == name
