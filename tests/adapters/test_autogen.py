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
from akinai.runtime.cast import Cast
from akinai.testing.endpoint import Asked, Endpoint, Faults, PlayerBrain, Refused, ScriptBrain, call
from akinai.testing.endpoint_faults import HTTP_FAULTS, HttpFault
from akinai.testing.endpoint_market import by_reading
from akinai.worlds.qa.voting import best, overlap

DATA = Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[3] / "shared" / "data")) / "jcommonsenseqa"
VENDING, MARKET = worlds.load("vending"), worlds.load("market")


def brain() -> PlayerBrain:
    return PlayerBrain(VENDING.players["reference"], VENDING.verbs)


def at(endpoint: Endpoint, **options: Any) -> Callable[[], ChatCompletionClient]:
    """What opens a model of the endpoint that is asked once, not again."""
    options = {"max_retries": 0, "timeout": 5.0, **options}
    return lambda: openai_client("test", base_url=endpoint.openai_url, **options)


def assistants(**how: Any) -> Callable[[Role, ChatCompletionClient, Workbench], AssistantAgent]:
    """Assistants as users bring them: with words and settings of their own."""

    def make(role: Role, client: ChatCompletionClient, verbs: Workbench) -> AssistantAgent:
        own = {name: value() for name, value in how.items() if callable(value)}
        settings: dict[str, Any] = {"system_message": f"You are {role.actor}.", **how, **own}
        return AssistantAgent(identifier(role.actor), client, workbench=verbs, **settings)

    return make


class Solver:
    """Answers the question that was asked last as the player `overlap` does."""

    async def reply(self, asked: Asked) -> Reply:
        newest = next(one.text for one in reversed(asked.request.messages) if one.text.startswith("Question "))
        _, question, *choices = newest.split("\n")
        choice = best(overlap(question, [one.partition(". ")[2] for one in choices])) + 1
        return Reply("", (ToolCall(f"call_{asked.nth}", "answer", {"choice": choice}),))


def play(world: str, agent: AgentFactory | Cast, **how: Any) -> akinai.Run:
    (run,) = akinai.run(world, agent=agent, **how)
    return run


async def memory() -> ListMemory:
    notes = ListMemory()
    await notes.add(MemoryContent(content="The till jams on Sundays.", mime_type="text/plain"))
    return notes


def test_ten_days_of_the_reference_give_its_digest() -> None:
    """Prompt, tools, HTTP, AutoGen's loop and reading add nothing: the ledger is the rule-based player's, to the byte."""
    whole = akinai.run("vending", agent="reference", days=10)[0]
    with Endpoint(brain()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=10)
    assert (run.header.status, run.header.ending, run.header.error) == ("done", "horizon", None)
    assert run.ledger.digest == whole.ledger.digest


OWN = {
    "streamed": assistants(model_client_stream=True),
    "long loop": assistants(max_tool_iterations=1000),
    "short window": assistants(model_context=lambda: HeadAndTailChatCompletionContext(1, 6)),
}


@pytest.mark.parametrize("make", OWN.values(), ids=OWN.keys())
def test_an_assistant_of_ones_own_plays_the_same(make: Any) -> None:
    """Streaming, AutoGen's own loop of tool calls and a context that forgets change how a model is asked, and no move."""
    whole = akinai.run("vending", agent="reference", days=10)[0]
    with Endpoint(brain()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint), make), days=10)
        (told, *_) = endpoint.asked[-1].request.messages
    assert run.ledger.digest == whole.ledger.digest
    assert told.text == "You are owner."


SHEETS = [
    {"draw": 20},
    pytest.param(
        {"draw": 20, "data": str(next(DATA.glob("valid*.json*"), DATA))},
        marks=pytest.mark.skipif(not DATA.is_dir(), reason=f"the real questions are not at {DATA}"),
    ),
]


@pytest.mark.parametrize("settings", SHEETS, ids=["our own", "JCommonsenseQA"])
def test_twenty_questions_are_answered(settings: dict[str, Any]) -> None:
    """A sheet of 20 questions: a request and an entry each, and what the player behind the wire answers."""
    (whole,) = akinai.run("qa", agent="overlap", settings=settings)
    with Endpoint(Solver()) as endpoint:
        run = play("qa", autogen_agent(at(endpoint)), settings=settings)
        assert len(endpoint.log) == 20
    answers = [[(one.name, one.parameters, one.outcome) for one in each.ledger.entries] for each in (run, whole)]
    assert answers[0] == answers[1]
    assert run.scores == whole.scores
    assert {one.name: one.value for one in run.scores}["answered"] == 20


def test_each_customer_of_a_market_has_an_assistant_of_its_own() -> None:
    """Three customers by AutoGen among the businesses of the world: every deal is the one that the rules strike."""
    settings = {"customers.count": 3}
    (whole,) = akinai.run("market", agent="careful", settings=settings)
    with Endpoint(PlayerBrain(by_reading(MARKET.players["careful"]), MARKET.verbs)) as endpoint:
        run = play("market", autogen_agent(at(endpoint)), settings=settings)
        names = {one.request.messages[0].text.rpartition(" ")[2] for one in endpoint.asked}
        conversations = {one.key for one in endpoint.log}
    assert run.ledger.digest == whole.ledger.digest
    assert names == {f"customer_{number:04}." for number in (1, 2, 3)}
    assert len(conversations) == 3


def test_what_cannot_be_done_is_refused_as_elsewhere() -> None:
    """Prose, an unknown tool, broken arguments and wrong ones are messages, refused with a reason that the model hears."""
    wrong = [call("fly_to_moon"), call("wait_until", "{hour:"), call("wait_until", {"hour": "noon"})]
    replies = ["I think I should wait.", *wrong, *[call("advance_day")] * 3]
    with Endpoint(ScriptBrain(replies)) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=3)
        told = [message.text for message in endpoint.asked[-1].request.messages if message.speaker in ("tool", "user")]
    entries = run.ledger.entries[:4]
    assert [one.name for one in entries] == ["Unreadable"] * 4
    assert [one.outcome.code for one in entries] == ["no_action", "no_action", "bad_parameters", "bad_parameters"]
    for entry in entries:
        assert f"Refused ({entry.outcome.code}): {entry.outcome.text}" in told
    assert run.header.ending == "horizon"


def test_several_calls_of_a_reply_are_several_messages() -> None:
    """They are carried out in their order, a refused one does not cancel the next, and each hears its own outcome."""
    calls = (call("advance_day"), call("fly_to_moon"), call("advance_day"))
    with Endpoint(ScriptBrain([Reply("Two days.", calls), "Done?", call("advance_day")])) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=3)
        results = [one for one in endpoint.asked[1].request.messages if one.speaker == "tool"]
    entries = run.ledger.entries
    assert [one.outcome.ok for one in entries] == [True, False, True, False, True]
    assert [one.said for one in entries] == ["Two days.", "", "", "", ""]
    assert [one.text.removeprefix("Refused (no_action): ") for one in results] == [e.outcome.text for e in entries[:3]]


def test_a_run_knows_nothing_of_another() -> None:
    """The first request of each run holds the instructions and the first view alone; its seed decides the rest."""
    with Endpoint(brain()) as endpoint:
        agent = autogen_agent(at(endpoint))
        for seed in (1, 2):
            play("vending", agent, days=2, seeds=seed)
        first = [one for one in endpoint.asked if len(one.request.messages) == 2]
    assert [[message.speaker for message in one.request.messages] for one in first] == [["system", "user"]] * 2


def test_bullets_stand_before_the_first_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a playbook says is the first that the assistant is told, and stays in its sight."""
    with Endpoint(brain()) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
        run = play("vending", Cast("autogen:test", bullets=("Water sells on hot days.",)), days=2)
        last = endpoint.asked[-1].request.messages
    assert run.header.status == "done"
    assert "- Water sells on hot days.\n\nYou run a vending machine" in last[1].text


def test_a_memory_is_asked_once_for_a_loop() -> None:
    """An assistant with a memory and AutoGen's own loop of tool calls is reminded once, not at every move."""
    notes = asyncio.run(memory())
    make = assistants(memory=lambda: [notes], max_tool_iterations=1000)
    with Endpoint(brain()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint), make), days=3)
        texts = [message.text for message in endpoint.asked[-1].request.messages]
    assert len(run.ledger.entries) > 5
    assert sum("The till jams on Sundays." in text for text in texts) == 1


@pytest.mark.parametrize("kind", [kind for kind in HTTP_FAULTS if kind != "hang"])
def test_a_broken_model_makes_a_run_failed_and_loses_nothing(kind: HttpFault) -> None:
    """Whatever goes wrong on the wire, the run says that its model gave no answer and keeps what was played."""
    with Endpoint(brain(), faults=Faults(schedule={4: kind})) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=10)
    assert (run.header.status, len(run.ledger.entries)) == ("failed", 3)
    assert run.header.error is not None
    assert run.header.error.startswith("the model of owner gave AutoGen no answer: ")


def test_a_model_that_stumbles_is_asked_again() -> None:
    """With retries, as by default, errors of the server are waited out and no move is made twice."""
    whole = akinai.run("vending", agent="reference", days=3)[0]
    faults = Faults(schedule={2: "server_error", 5: "rate_limit", 6: "cut"})
    with Endpoint(brain(), faults=faults) as endpoint:
        run = play("vending", autogen_agent(at(endpoint, max_retries=2)), days=3)
    assert run.ledger.digest == whole.ledger.digest


class Echo:
    """Refuses every request with the key in its words."""

    async def reply(self, asked: Asked) -> Reply:
        raise Refused("the key correct-horse-battery is not known here")


def test_keys_are_written_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that repeats the key in its error does not get it into the record."""
    monkeypatch.setenv("OPENAI_API_KEY", "correct-horse-battery")
    with Endpoint(Echo()) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=3)
    assert run.header.error is not None
    assert "is not known here" in run.header.error
    assert "correct-horse" not in str(run.header)


class Opened(OpenAIChatCompletionClient):
    """Says whether it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True
        await super().close()


def test_one_client_serves_a_run_and_is_closed_behind_it() -> None:
    """All assistants of a run share connections; the next run, in a loop of its own, opens another client."""
    opened: list[Opened] = []

    def client() -> ChatCompletionClient:
        opened.append(Opened(model="test", base_url=url, api_key="none", model_info=ANY_MODEL))
        return opened[-1]

    with Endpoint(PlayerBrain(by_reading(MARKET.players["careful"]), MARKET.verbs)) as endpoint:
        url, agent = endpoint.openai_url, autogen_agent(client)
        for count in (1, 2):
            play("market", agent, settings={"customers.count": 3})
            assert [one.closed for one in opened] == [True] * count


def test_a_failed_run_goes_on_with_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On resume a new assistant is told what was done: views, moves with what was said, outcomes; then it plays on."""
    first, rest = [Reply("First.", (call("advance_day"),)), "Hm.", call("advance_day")], [call("advance_day")] * 2
    store = str(tmp_path / "akinai.db")
    with Endpoint(ScriptBrain(first)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
        (failed,) = akinai.run("vending", agent="autogen:test", days=4, store=store, name="cut")
    assert (failed.header.status, len(failed.ledger.entries)) == ("failed", 3)
    with Endpoint(ScriptBrain(rest)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.openai_url)
        (run,) = akinai.resume("cut", store=store)
        _, view, *past = endpoint.asked[0].request.messages
    assert (run.header.status, run.header.ending, len(run.ledger.entries)) == ("done", "horizon", 5)
    assert view.text.startswith("You run a vending machine")
    assert [one.speaker for one in past] == ["assistant", "tool", "assistant", "user", "assistant", "tool"]
    assert (past[0].text, past[0].calls[0].name, past[2].text) == ("First.", "advance_day", "Hm.")
    heard = [entry.outcome.text for entry in run.ledger.entries[:3]]
    assert [one.text.removeprefix("Refused (no_action): ") for one in past[1::2]] == heard
    with Endpoint(ScriptBrain([*first, *rest])) as endpoint:
        whole = play("vending", autogen_agent(at(endpoint)), days=4)
    assert run.ledger.digest == whole.ledger.digest


def test_a_cap_ends_a_run_cleanly() -> None:
    """A run that ends between two calls of one reply leaves nothing behind: warnings are errors."""
    reply = Reply("", (call("advance_day"), call("advance_day"), call("advance_day")))
    with Endpoint(ScriptBrain([reply, reply])) as endpoint:
        run = play("vending", autogen_agent(at(endpoint)), days=10, settings={"max_messages": 4})
    assert (run.header.ending, len(run.ledger.entries)) == ("message_cap", 4)


async def test_an_agent_that_is_closed_leaves_no_task() -> None:
    """Closed in the middle of a reply, or cancelled while its model hangs, an assistant holds nothing any more."""
    role = Role("owner", VENDING.verbs.classes)
    view = View("You run a shop.", VENDING.verbs.classes)
    two = Reply("", (call("advance_day"), call("advance_day")))
    with Endpoint(ScriptBrain([two]), faults=Faults(schedule={2: "hang"})) as endpoint:
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
    """What AutoGen's client raises reaches the driver as ModelError."""
    role = Role("owner", VENDING.verbs.classes)
    with Endpoint(ScriptBrain([])) as endpoint:
        player = autogen_agent(at(endpoint))(role)
        assert isinstance(player, AutogenPlayer)
        with pytest.raises(ModelError, match="script is over"):
            await player.act(View("You run a shop.", VENDING.verbs.classes), None)
        await player.close()


def test_a_model_by_name_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--agent autogen` without a model, and a model without a key, are told before anything is written."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="--agent autogen:gpt-5-mini"):
        akinai.run("vending", agent="autogen")
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        akinai.run("vending", agent="autogen:gpt-5-mini")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert by_name(VENDING, "openai:test")


def test_a_client_that_is_open_is_refused() -> None:
    """Its connections would belong to the first run alone: who hands in a client and not what opens it is told so."""
    client: Any = openai_client("test", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="a function that opens the client"):
        autogen_agent(client)


@pytest.mark.parametrize(("actor", "name"), [("owner/email-3", "owner_email_3"), ("7th", "_7th"), ("owner", "owner")])
def test_actors_have_names_that_autogen_takes(actor: str, name: str) -> None:
    """AutoGen wants identifiers."""
    assert identifier(actor) == name
