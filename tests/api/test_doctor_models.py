"""What `akinai doctor --model` says of a model and its server."""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import akinai
from akinai.api.doctor import Check
from akinai.cli.app import answer as run_command
from akinai.core.errors import ModelError
from akinai.runtime.models.examination import LETTER, told_window

Body = Mapping[str, Any]
Message = dict[str, Any]
Answer = Callable[[Body], Message | tuple[int, str]]


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@contextmanager
def server(answer: Answer, **facts: Any) -> Generator[str]:
    """A server of chat completions; `facts` stand in its list of models."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "m", **facts}, {"id": "other", "max_model_len": 7}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            reply = answer(body)
            if isinstance(reply, tuple):
                return self._send(reply[0], {"error": {"message": reply[1]}})
            finish = reply.pop("finish", "stop")
            choice = {"message": {"role": "assistant", "content": "", **reply}, "finish_reason": finish}
            usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
            return self._send(200, {"model": "m", "choices": [choice], "usage": usage})

        def _send(self, status: int, document: object) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{http.server_address[1]}/v1"
        http.shutdown()


def calls(*named: tuple[str, Mapping[str, Any]]) -> Message:
    return {
        "tool_calls": [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for n, (name, arguments) in enumerate(named)
        ]
    }


def able(body: Body) -> Message:
    """Does all that it is asked."""
    question = next(message["content"] for message in body["messages"] if message["role"] == "user")
    if "tools" not in body:
        return {"content": "12"}
    if "both" in question:
        return calls(
            ("set_price", {"product": "water", "cents": 150}), ("set_price", {"product": "cola", "cents": 200})
        )
    if "letter" in question:
        return calls(("send_letter", {"text": LETTER}))
    if "Think" in question:
        return calls(("set_price", {"product": "water", "cents": 42})) | {"reasoning_content": "7 times 6"}
    return calls(("advance_day", {}))


def talks(body: Body) -> Message:
    """Writes every action as JSON, also where tools are offered."""
    return {"content": '{"action": "ADVANCE_DAY"}'}


def doctor(url: str, **options: Any) -> dict[str, Check]:
    return {check.name: check for check in akinai.doctor(model="openai:m", base_url=url, **options)}


def test_a_model_that_can_do_all_is_played_with_tools() -> None:
    """Each question is answered, and its server's window and speed are told; nothing else of the machine is looked at."""
    with server(able, max_model_len=16_384) as url:
        checks = doctor(url)
    questions = [check for check in checks.values() if check.kind == "model"]
    assert [check.name for check in questions] == ["plain", "tool call", "two calls", "long argument", "thinking"]
    assert {check.state for check in questions} == {"ok"}
    assert checks["plain"].about == "it answers: 12"
    assert "reasoning_content" in checks["thinking"].about
    assert (checks["window"].value, checks["agent"].value) == (16_384, "chat")
    assert isinstance(checks["speed"].value, float)
    command, shown = _next(checks)
    assert command.startswith(f"akinai run vending --agent chat --model openai:m --base-url {url} --window 13108 ")
    assert shown == "akinai show first-1 --calls"


def test_a_model_that_writes_its_actions_is_played_as_structured() -> None:
    """Tools come to nothing, and JSON is read."""
    with server(talks) as url:
        checks = doctor(url)
    assert (checks["tool call"].state, checks["agent"].value) == ("missing", "structured")
    assert "it calls no tool" in checks["tool call"].about
    assert (checks["window"].state, checks["window"].value) == ("missing", None)
    assert "--agent structured" in _next(checks)[0]


def test_cut_replies_are_made_longer() -> None:
    """The next command repeats the questions with a limit that the last one lacked."""
    with server(lambda _: {"content": "Let me think", "finish": "length"}) as url:
        checks = doctor(url, reply_tokens=100)
    assert checks["agent"].state == "broken"
    assert _next(checks) == [f"akinai doctor --model openai:m --base-url {url} --reply-tokens 8000"]


def test_what_a_server_refuses_is_told() -> None:
    """As on the cards of runs."""

    def strict(body: Body) -> Message | tuple[int, str]:
        return (400, "Unknown parameter: 'temperature'") if "temperature" in body else able(body)

    with server(strict) as url:
        checks = doctor(url, temperature=0.5)
    assert checks["refused"].about.startswith("temperature is left out; the server said: Unknown parameter")
    assert checks["agent"].value == "chat"


def test_a_server_that_takes_no_outcome_is_told() -> None:
    """The second request of a conversation is a part of the question about thinking."""

    def forgetful(body: Body) -> Message | tuple[int, str]:
        return (404, "gone") if len(body["messages"]) > 2 else able(body)

    with server(forgetful) as url:
        thinking = doctor(url)["thinking"]
    assert thinking.state == "missing"
    assert "a second request fails" in thinking.about


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, "Invalid API key"), "HTTP 401.*Invalid API key; check the key"),
        ((404, "no model m"), "HTTP 404.*no model m"),
    ],
)
def test_a_first_contact_that_fails_is_one_sentence(
    answer: tuple[int, str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the command: exit code 1, and a line on stderr."""
    with server(lambda _: answer) as url:
        with pytest.raises(ModelError, match=words):
            doctor(url)
        code = run_command(["doctor", "--model", "openai:m", "--base-url", url])
    printed = capsys.readouterr()
    assert (code, printed.out, printed.err.count("\n")) == (1, "", 1)
    assert re.search(words, printed.err)


def test_the_command_prints_what_to_type_next(capsys: pytest.CaptureFixture[str]) -> None:
    """Outside the table, where it can be copied; `--json` has it as a value."""
    with server(able) as url:
        run_command(["doctor", "--model", "openai:m", "--base-url", url])
        assert f"\n  akinai run vending --agent chat --model openai:m --base-url {url} " in capsys.readouterr().out
        run_command(["doctor", "--model", "openai:m", "--base-url", url, "--json"])
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["agent"]["value"] == "chat"
    assert len(checks["next"]["value"]) == 2


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("This model's maximum context length is 2048 tokens. However, you requested 4000", 2048),
        ("request (9001 tokens) exceeds the available context size (8,192 tokens)", 8192),
        ("it is too long", None),
    ],
)
def test_a_refusal_may_tell_the_window(text: str, window: int | None) -> None:
    """The number after the words for it."""
    assert told_window(text) == window


def _next(checks: Mapping[str, Check]) -> Sequence[str]:
    value = checks["next"].value
    assert isinstance(value, list)
    return [str(command) for command in value]
