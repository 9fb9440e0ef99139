"""The laws of injected faults: what each is to its client, and that none takes a reply away."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import openai
import pytest
from langchain_core.messages import AIMessage

from akinai.testing.endpoint import Endpoint, FaultKind, Faults, ScriptResponder, tool_call
from akinai.testing.endpoint.faults import (
    BROKEN_JSON,
    HTTP_FAULTS,
    HUGE_BYTES,
    KINDS,
    PROSE,
    REPLY_FAULTS,
    UNKNOWN_TOOL,
)

WIRES = ("openai", "anthropic", "openai-stream", "anthropic-stream")
LOOK = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
Serve = Callable[..., Endpoint]
ModelAt = Callable[..., Any]


@contextmanager
def asking(provider: Any, endpoint: Endpoint, **options: Any) -> Iterator[Callable[[], str]]:
    """A provider's own client that asks one thing."""
    messages: Any = [{"role": "user", "content": "hi"}]
    common = {"api_key": "k", "max_retries": 0, **options}
    if provider is openai:
        with openai.OpenAI(base_url=endpoint.openai_url, **common) as client:
            yield (
                lambda: client.chat.completions.create(model="test", messages=messages).choices[0].message.content or ""
            )
    else:
        with anthropic.Anthropic(base_url=endpoint.url, **common) as two:
            yield lambda: str(two.messages.create(model="test", max_tokens=9, messages=messages).content[0].text)


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


CUTS: dict[FaultKind, str] = {"cut": "without sending a response", "cut_in_body": "complete message body"}
"""What the HTTP library says of a connection that was cut."""


@pytest.mark.parametrize("provider", [openai, anthropic])
@pytest.mark.parametrize("kind", HTTP_FAULTS)
def test_an_http_fault_is_what_its_client_knows(serve: Serve, provider: Any, kind: FaultKind) -> None:
    """Each HTTP fault raises the error that the provider's client has for it, and the next try gets the reply."""
    endpoint = serve(ScriptResponder(["here"]), faults=Faults(schedule={1: kind}, retry_after_s=3))
    name, status = FAILURES[kind]
    expected = json.JSONDecodeError if name == "JSONDecodeError" else getattr(provider, name)
    with asking(provider, endpoint, timeout=0.3) as ask:
        with pytest.raises(expected) as raised:
            ask()
        assert ask() == "here"
    assert CUTS.get(kind, "") in str(raised.value.__cause__)
    if isinstance(raised.value, openai.APIStatusError | anthropic.APIStatusError):
        assert raised.value.response.headers.get("retry-after") == ("3" if kind == "rate_limit_wait" else None)
    assert [(exchange.fault, exchange.status, exchange.answered) for exchange in endpoint.log] == [
        (kind, status, False),
        (None, 200, True),
    ]


ON_OPENAI: dict[FaultKind, Callable[[AIMessage], bool]] = {
    "unknown_tool": lambda got: [call["name"] for call in got.tool_calls] == [UNKNOWN_TOOL],
    "prose": lambda got: got.text == PROSE and not got.tool_calls,
    "empty": lambda got: not got.text and not got.tool_calls,
    "huge": lambda got: len(got.text) == HUGE_BYTES and not got.tool_calls,
    "bad_arguments": lambda got: not got.tool_calls and got.invalid_tool_calls[0]["args"] == BROKEN_JSON,
    "several_calls": lambda got: [call["name"] for call in got.tool_calls] == [UNKNOWN_TOOL, "look"],
}
ON_ANTHROPIC = ON_OPENAI | {"bad_arguments": lambda got: got.tool_calls[0]["args"] == {"INVALID_JSON": BROKEN_JSON}}
"""Its wire knows no arguments that are not JSON, save in a stream."""


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", REPLY_FAULTS)
def test_a_reply_fault_takes_no_reply_away(serve: Serve, model_at: ModelAt, wire: str, kind: FaultKind) -> None:
    """A faulty reply arrives as such, and the script's own comes next, as if it had never been there."""
    endpoint = serve(ScriptResponder([tool_call("look")]), faults=Faults(schedule={1: kind}))
    model = model_at(endpoint, wire, tools=[LOOK])
    got = model.invoke("hi")
    assert isinstance(got, AIMessage)
    assert (ON_ANTHROPIC if wire == "anthropic" else ON_OPENAI)[kind](got)
    assert [call["name"] for call in model.invoke("hi" if kind == "several_calls" else "go on").tool_calls] == ["look"]


def test_faults_are_decided_by_seed_and_place() -> None:
    """A fault is a function of the seed, the conversation and the number of the request; their share is the rate."""
    faults = Faults(0.2, KINDS, seed=3)
    drawn = {(key, nth): faults.kind_for(key, nth) for key in ("a", "b") for nth in range(1, 1001)}
    again = {(key, nth): Faults(0.2, KINDS, seed=3).kind_for(key, nth) for key, nth in reversed(drawn)}
    assert drawn == again
    assert 320 < sum(kind is not None for kind in drawn.values()) < 480
    assert set(drawn.values()) == {None, *KINDS}
    assert [drawn["a", nth] for nth in range(1, 101)] != [drawn["b", nth] for nth in range(1, 101)]
    other_seed = Faults(0.2, KINDS, seed=4)
    assert [other_seed.kind_for("a", nth) for nth in range(1, 101)] != [drawn["a", nth] for nth in range(1, 101)]
    assert [Faults(schedule={2: "cut"}).kind_for("a", nth) for nth in (1, 2, 3)] == [None, "cut", None]


def test_retry_after_is_obeyed(serve: Serve) -> None:
    """A client that reads Retry-After waits that long and then gets its reply."""
    endpoint = serve(ScriptResponder(["here"]), faults=Faults(schedule={1: "rate_limit_wait"}, retry_after_s=0.4))
    with asking(openai, endpoint, max_retries=1) as ask:
        assert ask() == "here"
    first, second = endpoint.log
    assert 0.4 <= second.at - first.at < 3
