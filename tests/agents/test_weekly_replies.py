"""Agents that ask a model in a game with limits of its own: replies, equal calls, the window and what it is to cost."""

import asyncio
import json
from collections.abc import Mapping

import pytest

import akinai
from akinai.agents.chat import ChatAgent, ChatOptions
from akinai.core.actions import Action
from akinai.core.canonical import Json
from akinai.core.errors import EndRun
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.models import Reply, Request, ToolCall
from akinai.runtime.config.settings import prepare
from akinai.runtime.play.agent_spec import CHARACTERS_A_TOKEN, limited
from akinai.worlds.vending import Vending

WORLD = Vending()


class Asker:
    """Answers with the same calls every time, and keeps the characters that it was sent."""

    def __init__(self, *calls: tuple[str, Mapping[str, object]]) -> None:
        self.calls, self.characters, self.requests = calls, 0, list[Request]()

    async def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        self.characters += sum(len(m.text) + len(json.dumps([c.arguments for c in m.calls])) for m in request.messages)
        self.characters += len(json.dumps(list(request.tools)))
        count = len(self.requests)
        calls = tuple(ToolCall(f"{count}-{n}", name, values) for n, (name, values) in enumerate(self.calls))
        return Reply("", calls)


class Writer:
    """Answers with its texts in turn, and keeps the requests."""

    def __init__(self, *texts: str) -> None:
        self.texts, self.requests = texts, list[Request]()

    async def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply(self.texts[len(self.requests) - 1])


async def played(asker: Asker | Writer, options: ChatOptions, setup: Mapping[str, Json]) -> tuple[str, list[Action]]:
    """The ending of a run, and its actions."""
    state, agent, last = WORLD.begin(Genesis(WORLD.name, 12, setup)), ChatAgent(asker, WORLD.verbs, options), None
    actions: list[Action] = []
    while (ending := WORLD.ending(state)) is None:
        try:
            move = await agent.act(WORLD.view(state, "owner"), last)
        except EndRun as error:
            return error.ending, actions
        actions.append(move.action)
        outcome: Outcome
        state, outcome = WORLD.apply(state, Turn(len(actions), WORLD.now(state), "owner", move.action))
        last = outcome
    return ending, actions


def test_replies_end_at_their_cap() -> None:
    """After 120 replies the run ends as `message_cap`, however many calls each holds."""
    setup = prepare(WORLD, preset="sprint").setup
    asker = Asker(("search_web", {"query": "suppliers"}), ("get_price_lists", {}))
    ending, actions = asyncio.run(played(asker, limited(ChatOptions(), setup), setup))
    assert (ending, len(asker.requests), len(actions)) == ("message_cap", 120, 240)


def test_three_equal_calls_end_a_reply() -> None:
    """The third is done, what follows is not, and the next request holds no call without its result."""
    setup = prepare(WORLD, preset="sprint", days=7).setup
    asker = Asker(*[("search_web", {"query": "suppliers"})] * 5, ("close_week", {}))
    options = ChatOptions(max_replies=2)
    ending, actions = asyncio.run(played(asker, options, setup))
    assert (ending, len(actions)) == ("message_cap", 6)
    (reply,) = [message for message in asker.requests[1].messages if message.calls]
    results = {message.call_id for message in asker.requests[1].messages if message.call_id}
    assert {call.id for call in reply.calls} == results


def test_what_a_year_costs_is_what_the_estimate_says() -> None:
    """Tokens of requests, at the characters of a token here, are within 20 % of what `--dry-run` says for as many
    replies, and no request is above the window."""
    setup = prepare(WORLD, preset="sprint", settings={"start_cents": 5_000_000}).setup
    form: dict[str, object] = {
        "orders": [{"supplier": "orchard_trading", "items": {"milk": 60, "mango_juice": 60}}],
        "prices": {"milk": 1.9, "mango_juice": 3},
        "sites": {"1": ["milk", "mango_juice"]},
        "payments": [{"bill": "rent", "number": 1}],
        "notes": "Orders: 60 milk and 60 mango juice every Monday. " * 6,
    }
    asker = Asker(("week", form))
    ending, actions = asyncio.run(played(asker, limited(ChatOptions(), setup), setup))
    assert ending == "horizon"
    tokens = asker.characters / CHARACTERS_A_TOKEN / len(actions)
    expected = akinai.estimate("vending", preset="sprint", model="openai:any", seeds=12)
    assert expected.usage.input / expected.messages == pytest.approx(tokens, rel=0.2)
    assert expected.messages == pytest.approx(len(actions), rel=0.3)


def test_a_reply_of_json_that_cannot_be_read_is_answered_in_the_words_of_the_form() -> None:
    """The example in the prompt is a whole reply, and what is wrong names neither a code nor what is not offered."""
    setup = prepare(WORLD, preset="sprint", days=7, settings={"tools": ["week"]}).setup
    writer = Writer('{"action": "no_action"}', '{"orders": [], "notes": "the rent is due on Sunday"}')
    options = ChatOptions(protocol="json", max_replies=2)
    ending, actions = asyncio.run(played(writer, options, setup))
    assert (ending, [action.tool_name() for action in actions]) == ("horizon", ["unreadable", "week"])
    prompt, answer = writer.requests[1].messages[0].text, writer.requests[1].messages[-1].text
    assert 'For example: {"action": "WEEK", "orders": [' in prompt
    assert '"required": []' not in prompt
    assert answer == (
        "Nothing was done: no action 'no_action'; there is week. The action of a reply is for example WEEK with "
        "parameters beside it."
    )
