"""The contract with a server: what it refuses is changed once, remembered for all conversations, and said."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from loopback import HELLO, TOOLS, Loopback, Stopwatch, answering, called, completion, model_at, ok, status

import akinai
from akinai.core.errors import ContextLimit, ModelError, UsageError
from akinai.core.models import Message, Reply, Request, ToolCall, Tools
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.roles.protocols import RoleName
from akinai.runtime.learn.resources import Resources
from akinai.runtime.learn.result import LearnResult
from akinai.runtime.learn.role_models import RoleModels
from akinai.runtime.models.budget import NO_BUDGET
from akinai.runtime.models.contract import refusal_in, terms_of
from akinai.runtime.models.langchain import open_model
from akinai.runtime.play.agent_spec import ModelChoice
from akinai.testing.endpoint.http import HttpAnswer

Body = Mapping[str, Any]
Rule = Callable[[Body], str | None]
"""Why a server refuses a request; None for one that it takes."""


def strict_server(rule: Rule, number: int = 400, answer: Body | None = None) -> AbstractContextManager[Loopback]:
    """A server that answers what its rule takes, and refuses the rest."""

    def refuse(body: Body) -> HttpAnswer | None:
        why = rule(body)
        return status(number, why) if why else None

    return answering(ok(answer or completion("Good.")), refuse=refuse)


def thinking(text: str, thought: str, calls: Sequence[Body] = (), **over: Any) -> dict[str, Any]:
    """A completion with `reasoning_content`."""
    answer = completion(text, calls, **over)
    answer["choices"][0]["message"]["reasoning_content"] = thought
    return answer


def names_label(body: Body) -> str | None:
    text = "[{'type': 'extra_forbidden', 'loc': ('body', 'user'), 'msg': 'Extra inputs are not permitted'}]"
    return text if "user" in body else None


def names_label_in_prose(body: Body) -> str | None:
    return "Unrecognized request argument supplied: user" if "user" in body else None


def takes_the_newer_limit(body: Body) -> str | None:
    text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return text if "max_tokens" in body else None


def takes_the_older_limit(body: Body) -> str | None:
    return "max_completion_tokens: Extra inputs are not permitted" if "max_completion_tokens" in body else None


def has_a_lowest_limit(body: Body) -> str | None:
    text = "max_tokens must be less than or equal to 64"
    return text if body.get("max_tokens", 0) > 64 else None


def takes_no_temperature(body: Body) -> str | None:
    text = "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is supported."
    return text if "temperature" in body else None


def takes_no_system(body: Body) -> str | None:
    return "System role not supported" if body["messages"][0]["role"] == "system" else None


def takes_no_seed(body: Body) -> str | None:
    return "Unknown parameter: 'seed'" if "seed" in body else None


@pytest.mark.parametrize(
    ("rule", "number", "said"),
    [
        (names_label, 422, "user is left out"),
        (names_label_in_prose, 400, "user is left out"),
        (takes_the_newer_limit, 400, "max_tokens is sent as max_completion_tokens"),
        (has_a_lowest_limit, 400, "max_tokens is 64 instead of 99"),
        (takes_no_temperature, 400, "temperature is left out"),
        (takes_no_seed, 400, "seed is left out"),
        (takes_no_system, 400, "the system's message is sent"),
        (takes_no_system, 500, "the system's message is sent"),
    ],
)
async def test_nothing_is_sent_twice_to_a_server_that_refused_it(rule: Rule, number: int, said: str) -> None:
    """What a refusal names is changed once; all later requests, of other conversations too, come without."""
    with strict_server(rule, number) as server:
        async with model_at(server, temperature=0.2, max_tokens=99, seed=3) as model:
            for run in range(3):
                reply = await model.labelled(f"run-{run}/owner").reply(HELLO)
                assert (reply.text, reply.tries) == ("Good.", 1)
            assert [sentence for sentence in model.concessions if sentence.startswith(said)]
    assert len(server.bodies) == 4
    assert [bool(rule(body)) for body in server.bodies] == [True, False, False, False]


async def test_several_refusals_are_met_one_after_another() -> None:
    """A server that takes neither label nor temperature is asked three times, then once a request."""
    with strict_server(lambda body: names_label(body) or takes_no_temperature(body)) as server:
        async with model_at(server, temperature=0.2) as model:
            for _ in range(2):
                await model.labelled("run/owner").reply(HELLO)
            assert len(model.concessions) == 2
    assert len(server.bodies) == 4


async def test_what_names_nothing_that_is_sent_is_final() -> None:
    """A refusal that no change answers is told in its own words, after one request; nothing is conceded."""
    with strict_server(lambda _: "the model's weights are gone") as server:
        async with model_at(server, temperature=0.2) as model:
            with pytest.raises(ModelError, match="weights are gone"):
                await model.reply(HELLO)
            assert model.concessions == ()
    assert len(server.bodies) == 1


async def test_a_change_that_does_not_help_is_taken_back() -> None:
    """Where the same refusal comes again without the option, it was not about the option."""
    with strict_server(lambda _: "the value of 'temperature' and all others are wrong") as server:
        async with model_at(server, temperature=0.2) as model:
            with pytest.raises(ModelError, match="all others are wrong"):
                await model.reply(HELLO)
            assert model.concessions == ()
    assert len(server.bodies) == 2


async def test_a_schema_gives_way() -> None:
    """A server without schemas is asked for any object where it knows that, and for nothing else where not."""
    request = Request(HELLO.messages, schema={"type": "object"})
    for text, formats in (
        ("response_format type 'json_schema' is unavailable; use json_object", [{"type": "json_object"}] * 2),
        ("'response_format' is not supported", [None, None]),
    ):

        def refuse(body: Body, text: str = text) -> str | None:
            return text if (body.get("response_format") or {}).get("type") == "json_schema" else None

        with strict_server(refuse) as server:
            async with model_at(server) as model:
                await model.reply(request)
                await model.reply(request)
        assert [body.get("response_format") for body in server.bodies[1:]] == formats


MANY = Tools([{"name": f"tool_{n}", "description": "D.", "parameters": {"type": "object"}} for n in range(20)])


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("Invalid 'tools': array too long. Expected an array with maximum length 16, but got one with length 20.", 16),
        ("too many tools", 1),
    ],
)
async def test_tools_above_a_limit_are_folded(text: str, most: int) -> None:
    """Those without a place are one tool that names them; its calls come and go back as calls of the tool they mean."""
    inner = {"name": "tool_18", "parameters": {"a": 1}}
    answer = completion(None, [called("a", "tool_0", "{}"), called("b", "other_tool", json.dumps(inner))])

    with strict_server(lambda body: text if len(body["tools"]) > most else None, answer=answer) as server:
        async with model_at(server) as model:
            first = await model.reply(Request(HELLO.messages, MANY))
            assert [(call.name, call.arguments) for call in first.calls] == [("tool_0", {}), ("tool_18", {"a": 1})]
            past = [Message("tool", "done", call_id=call.id) for call in first.calls]
            await model.reply(Request((*HELLO.messages, first.message, *past), MANY))
            assert "folded into one; the server said:" in model.concessions[0]
    names = [tool["function"]["name"] for tool in server.bodies[1]["tools"]]
    assert names == [*(f"tool_{n}" for n in range(most - 1)), "other_tool"]
    folded = server.bodies[1]["tools"][-1]["function"]["parameters"]["properties"]["name"]["enum"]
    assert [*names[:-1], *folded] == [f"tool_{n}" for n in range(20)]
    function = server.bodies[2]["messages"][2]["tool_calls"][1]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("other_tool", inner)


NO_TOOLS_TEXTS = (
    "registry/model:latest does not support tools",
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "No endpoints found that support tool use.",
    "Unsupported parameter: 'tools'",
    "`tool calling` is not supported with this model",
)


@pytest.mark.parametrize(
    "text", [*NO_TOOLS_TEXTS[:2], *(pytest.param(text, marks=pytest.mark.slow) for text in NO_TOOLS_TEXTS[2:])]
)
def test_a_run_goes_on_by_json_where_a_server_takes_no_tools(text: str, tmp_path: Path) -> None:
    """The server is asked once with tools, by all agents and runs; a resume lives that again and asks nothing."""
    store, gone = str(tmp_path / "runs.db"), {3, 4}

    def refuse(body: Body) -> str | None:
        return text if body.get("tools") else "the weights are gone" if len(server.bodies) in gone else None

    with strict_server(refuse, answer=completion('{"action": "ADVANCE_DAY"}')) as server:
        options: Any = {"model": "openai:test", "base_url": server.openai_url, "store": store, "days": 3}
        for name in "ab":
            (run,) = akinai.run("vending", agent="chat", name=name, **options)
            assert run.status == "failed"
            (sentence,) = cast("Any", run.header.card)["servers"]["openai:test"]
            assert sentence.startswith("the server takes no tools, and actions are written as JSON instead: ")
        terms_of.cache_clear()
        (again,) = akinai.resume("a-1", store=store)
    assert [entry.name for entry in again.ledger.entries] == ["AdvanceDay"] * 3
    assert [bool(body.get("tools")) for body in server.bodies] == [True] + [False] * 5


async def test_roles_and_ids_and_empty_texts_give_way() -> None:
    """Templates that want turns, ids of nine signs or no empty text are given them; every call keeps its result."""

    def picky(body: Body) -> str | None:
        roles = [message["role"] for message in body["messages"]]
        if any(pair in (("user", "user"), ("tool", "user")) for pair in pairwise(roles)):
            return "Unexpected role 'user' after role 'tool'"
        ids = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]
        if any(not re.fullmatch("[A-Za-z0-9]{9}", id) for id in ids):
            return f"Tool call id was {ids[0]} but must be a-z, A-Z, 0-9, with a length of 9."
        empty = any(message["content"] == "" for message in body["messages"])
        return "messages: text content blocks must be non-empty" if empty else None

    call = ToolCall("past_1", "advance_day", {})
    messages = (
        *HELLO.messages, Message("assistant", "", (call,)), Message("tool", "", call_id="past_1"), Message("user", "News."),
        Message("assistant", ""), Message("user", "Go on."),
    )  # fmt: skip
    with strict_server(picky) as server:
        async with model_at(server) as model:
            await model.reply(Request(messages, TOOLS))
    sent = server.bodies[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"]
    assert sent[3]["content"] == "News."


# Thinking


async def test_thinking_is_text_beside_the_reply_and_goes_back_where_it_came_from() -> None:
    """`reasoning_content` of a reply is a thought, and is in the next request, in its field."""
    answer = thinking("", "Let me wait.", [called("a", "advance_day", "")])
    with strict_server(lambda _: None, answer=answer) as server:
        async with model_at(server) as model:
            reply = await model.reply(HELLO)
            again = Reply.from_json(reply.to_json())
            await model.reply(Request((*HELLO.messages, again.message, Message("tool", "done", call_id="a")), TOOLS))
    assert (reply.text, reply.message.thinking, reply.calls[0].name) == ("", "Let me wait.", "advance_day")
    assert again == reply
    sent = server.bodies[1]["messages"][2]
    assert (sent["reasoning_content"], sent["content"]) == ("Let me wait.", None)
    assert sent["tool_calls"][0]["id"] == "a"


async def test_thinking_that_a_server_does_not_take_back_is_left_out() -> None:
    """A server that refuses its own field is not sent it again."""

    def refuse(body: Body) -> str | None:
        back = any("reasoning_content" in message for message in body["messages"])
        return "reasoning_content: Extra inputs are not permitted" if back else None

    thought = Message(
        "assistant", "Hm.", thoughts=({"type": "thinking", "thinking": "A", "field": "reasoning_content"},)
    )
    request = Request((*HELLO.messages, thought, Message("user", "Go on.")))
    with strict_server(refuse) as server:
        async with model_at(server) as model:
            await model.reply(request)
            await model.reply(request)
            assert model.concessions[0].startswith("thinking is not sent back")
    assert [bool(refuse(body)) for body in server.bodies] == [True, False, False]


async def test_blocks_of_thinking_go_back_signed() -> None:
    """Anthropic's thinking comes in signed blocks before the call, and they are sent back unchanged."""
    signed = {"type": "thinking", "thinking": "Let me wait.", "signature": "c2lnbmVk"}
    use = {"type": "tool_use", "id": "a", "name": "advance_day", "input": {}}
    usage = {"input_tokens": 1, "output_tokens": 1}
    answer = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "t",
        "usage": usage,
        "stop_reason": "tool_use",
    }
    with answering(ok({**answer, "content": [signed, use]})) as server:
        async with model_at(server, "anthropic") as model:
            reply = await model.reply(HELLO)
            await model.reply(Request((*HELLO.messages, reply.message, Message("tool", "done", call_id="a")), TOOLS))
    assert reply.message.thinking == "Let me wait."
    assert server.bodies[1]["messages"][1]["content"] == [signed, use]


# Limits of the context, filters, keys


async def test_a_prompt_too_long_and_a_prompt_that_is_filtered_are_told_apart() -> None:
    """The one is a ContextLimit, tried once; the other a reply that says that a filter withheld it."""
    long = "This model's maximum context length is 2048 tokens. However, you requested 3032 tokens."
    with strict_server(lambda _: long) as server:
        async with model_at(server) as model:
            with pytest.raises(ContextLimit, match="--window"):
                await model.reply(HELLO)
    assert len(server.bodies) == 1
    with strict_server(lambda _: "The response was filtered due to Azure's content management policy.") as server:
        async with model_at(server) as model:
            assert (await model.reply(HELLO)).finish == "content_filter"


async def test_a_key_that_a_server_echoes_is_in_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, arguments, thinking and the model's id come without the values of known keys; other text stays."""
    key = "correct-horse-battery"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    calls = [called("a", "set_price", f'{{"slot": "{key}"}}')]
    body = thinking(f"You sent {key}.", f"Their key is {key}", calls, model=key)
    with answering(ok(body)) as server:
        async with model_at(server) as model:
            reply = await model.reply(HELLO)
    assert key not in str(reply)
    assert reply.text == "You sent [key removed]."


@pytest.mark.parametrize(
    ("key", "text", "recorded"),
    [
        ("hunt3r", "Your key hunt3r, or hunt3rs.", "Your key [key removed], or hunt3rs."),
        ("a2!x", '"a2!x"', '"[key removed]"'),
        ("shop", "The shop is open.", "The shop is open."),
        ("250", "I pay 250 for it.", "I pay 250 for it."),
        ("x", "x", "x"),
        ('quo"te-and-\\', 'Your key quo"te-and-\\.', "Your key [key removed]."),
    ],
)
async def test_a_short_key_is_struck_out_where_it_is_no_common_word(
    key: str, text: str, recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short value with letters and digits or signs goes where it stands as a word; a plain word or number stays."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with answering(ok(completion(text))) as server:
        async with model_at(server) as model:
            assert (await model.reply(HELLO)).text == recorded


async def test_numbers_of_a_reply_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of digits is struck out of texts, and the number that looks the same stays a number."""
    monkeypatch.setenv("OPENAI_API_KEY", "12345678")
    calls = [called("a", "set_price", '{"slot": "12345678", "price": 12345678}')]
    with answering(ok(completion("", calls))) as server:
        async with model_at(server) as model:
            reply = await model.reply(HELLO)
    assert reply.calls[0].arguments == {"slot": "[key removed]", "price": 12345678}


async def test_what_a_server_refused_is_known_to_all_that_is_opened_later() -> None:
    """The same model at the same server is not asked again what it refused; another model there is another matter.

    Each says only what changed requests of its own.
    """
    with strict_server(names_label) as server:
        for name, asked in (("test", 2), ("test", 3), ("another", 5)):
            async with open_model(f"openai:{name}", base_url=server.openai_url, clock=Stopwatch().clock) as model:
                await model.labelled("a").reply(HELLO)
                assert [sentence.partition(";")[0] for sentence in model.concessions] == ["user is left out"]
            assert len(server.bodies) == asked
        async with model_at(server) as model:
            await model.reply(HELLO)
            assert model.concessions == ()


async def test_a_learning_tells_what_was_refused(tmp_path: Path) -> None:
    """The servers of its roles stand on its card as those of a run do; a server that takes everything is not named."""
    with strict_server(names_label) as server:
        by_role: dict[RoleName, ModelChoice] = {"reflector": ModelChoice("openai:test", server.openai_url)}
        async with AsyncExitStack() as stack:
            resources = Resources("t", NO_BUDGET, tmp_path / "p.json", stack)
            ask = await resources.askers(RoleModels(by_role))
            assert resources.servers == {}
            await ask("reflector").ask(HELLO)
    result = LearnResult(
        "train", data_set="t", label="l", path=tmp_path / "p.json", playbook=Playbook(), epochs=(), ending="done",
        servers=resources.servers,
    )  # fmt: skip
    (sentence,) = cast("Any", result.to_json()["card"])["servers"]["openai:test"]
    assert sentence.startswith("user is left out; the server said:")


# Connections


@pytest.mark.parametrize("sign", ["\n", " ", "ß"])
async def test_a_key_that_no_request_can_carry_is_named_before_anything_is_sent(
    sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable is named and the key is not shown."""
    monkeypatch.setenv("OPENAI_API_KEY", f"sk-abcdefgh12345678{sign}")
    with pytest.raises(UsageError, match=r"the key in OPENAI_API_KEY .*line break") as caught:
        open_model("openai:test", base_url="http://127.0.0.1:9/v1")
    assert "sk-abcdefgh" not in str(caught.value)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("variable", ["ALL_PROXY", "NO_PROXY"])
async def test_a_server_on_this_machine_is_behind_no_proxy(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A SOCKS proxy and IPv6 addresses in the environment do not matter to a server on loopback."""
    monkeypatch.setenv(variable, {"ALL_PROXY": "socks5://127.0.0.1:9", "NO_PROXY": "[::1],::1"}[variable])
    with answering(status(404, "no such path")) as server:
        async with model_at(server, provider) as model:
            with pytest.raises(ModelError, match="no such path"):
                await model.reply(HELLO)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_socks_proxy_names_its_package(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server elsewhere behind a SOCKS proxy needs socksio: that is said, not that what is installed be installed."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "x")
    with pytest.raises(UsageError, match=r"SOCKS proxy.*socksio"):
        open_model(f"{provider}:test", base_url="http://models.example/v1")


@pytest.mark.parametrize(
    ("url", "words", "tries"),
    [
        ("http://127.0.0.1:9/v1", "connection refused: nothing listens at 127.0.0.1:9", 2),
        ("http://nowhere.invalid/v1", "unknown host at nowhere.invalid:80", 1),
    ],
)
async def test_the_innermost_cause_is_told(url: str, words: str, tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the network said, in words; what was never there is not waited for."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with open_model("openai:test", base_url=url, clock=Stopwatch().clock) as model:
        with pytest.raises(ModelError, match=words) as caught:
            await model.reply(HELLO)
    assert f"{tries} tr" in str(caught.value)


async def test_tls_to_a_plain_port_is_told_and_tried_once() -> None:
    """A server without TLS under https is named as that."""

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1") as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with open_model("openai:test", base_url=url, timeout_s=20) as model:
            with pytest.raises(ModelError, match=r"1 try .*no TLS at 127\.0\.0\.1"):
                await model.reply(HELLO)


def test_refusals_are_read_in_every_form() -> None:
    """OpenAI's, FastAPI's, Google's list, Anthropic's and plain text each name their option."""
    forms = [
        b'{"error": {"message": "no", "param": "user"}}',
        b'{"detail": [{"type": "extra_forbidden", "loc": ["body", "user"], "msg": "Extra inputs are not permitted"}]}',
        b'[{"error": {"code": 400, "message": "Unknown name \\"user\\": Cannot find field."}}]',
        b'{"type": "error", "error": {"type": "invalid_request_error", "message": "user: Extra inputs"}}',
        b"unknown field `user`, expected one of `model`, `messages`",
        b'{"object": "error", "message": "[{\'loc\': (\'body\', \'user\')}]"}',
    ]
    assert [form for form in forms if not refusal_in(400, form).names("user")] == []
    others = [b"Unexpected role: the user may not speak", b"roles must alternate user/assistant", b"ask the user"]
    assert [text for text in others if refusal_in(400, text).names("user")] == []
