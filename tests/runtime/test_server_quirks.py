"""What users of OpenAI-compatible servers told of: each quirk is survived, or ends with its true cause in words."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from loopback import HELLO, Stopwatch

import forked
from akinai.core.errors import ModelError
from akinai.runtime.models.langchain import open_model
from akinai.runtime.models.retry import RetryPolicy

MODELS = (
    Path(os.environ.get("AKINAI_DATA", Path(__file__).parents[3] / "shared" / "data")).parent / "conformance" / "models"
)
needs_quirks = pytest.mark.skipif(
    not MODELS.is_dir() and not os.environ.get("AKINAI_CI"), reason=f"no quirks of servers in {MODELS}"
)
pytestmark = [pytest.mark.slow, needs_quirks]

APART = {"slow_drip", "r429_ra_zero"}
"""Quirks that are tried on a clock of their own: one takes all the time there is, the other has long waits."""

CAUSES = {
    "err200_credit": "HTTP 402.*Insufficient credits",
    "choices_empty": "2 tries.*the answer has no choices",
    "message_missing": "2 tries.*the answer's choice has no message",
    "message_null": "2 tries.*the answer's choice has no message",
    "html200": "2 tries.*page of HTML: Sign in",
    "html403": "1 try.*page of HTML: Just a moment",
    "empty200": "2 tries.*the answer is empty",
    "gzip_lie": "2 tries.*not compressed as its header says",
    "cut_body": "peer closed connection",
    "r429_balance": "1 try.*exceeded your current quota",
    "r429_balance_other": "1 try.*balance is insufficient",
    "r402": "1 try.*Insufficient Balance",
}
"""Quirks that no client survives: what the run's error says."""
CAUSES_BY_AGENT = {
    ("r400_context", "structured"): "1 try.*maximum context length is 2048.*--window",
}
"""Quirks that one protocol alone does not survive; the prompt of the other is longer than the server's context."""
PLAYED_BY_TOOLS = (
    "plain", "reasoning_field", "id_int", "id_null", "id_missing", "role_missing", "role_odd", "sse200", "bom", "latin1",
    "gzip_ok", "cut_once", "surrogate", "content_parts", "no_user_field", "no_temperature", "no_system", "alternate",
    "not_after_tool_user", "ids_nine", "needs_reasoning_back", "content_not_empty", "r400_context", "filter_finish",
    "r429_body", "r429_retrydelay", "r429_ra_negative", "r503_loading", "redirect_slash", "user_long", "created_text",
    "minimal", "usage_fields_null", "args_object", "no_tools", "no_auto_tools",
)  # fmt: skip
"""Quirks that a careful client survives by tool calls: every day is played."""
PLAYED_BY_JSON = (
    "plain",
    "role_missing",
    "role_odd",
    "sse200",
    "no_user_field",
    "no_temperature",
    "no_system",
    "no_tools",
)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The port at which the quirks are served."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = str(bound.getsockname()[1])
    server = subprocess.Popen([sys.executable, MODELS / "quirks.py", port], cwd=tmp_path_factory.mktemp("server"))
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(port))) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        server.kill()
        server.wait()


RUN = """
import multiprocessing, runpy, sys
from types import SimpleNamespace
import langchain_anthropic, langchain_openai
import forked

def run(words, *, env, timeout, capture_output):
    done = forked.run([sys.executable, "-m", "akinai", *words[1:]], env=env, timeout=timeout)
    return SimpleNamespace(returncode=done.returncode, stdout=done.stdout.encode(), stderr=done.stderr.encode())

forked.SERVER = multiprocessing.get_context("fork")
sys.path.insert(0, sys.argv[1])
import common
common.subprocess = SimpleNamespace(run=run)
runpy.run_path(f"{sys.argv[1]}/run.py")
"""
"""Plays `run.py`, whose commands load no interpreter and no LangChain of their own."""


@pytest.fixture(scope="module", autouse=True)
def small_process() -> Iterator[forked.Popen]:
    """It waits more than it works, so it runs beside all else."""
    with forked.Popen([sys.executable, "-c", RUN, str(MODELS)], stdout=forked.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def plays(port: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """What became of four days at each quirk, by quirk and agent."""
    names = re.findall(r"^@q\ndef (\w+)", (MODELS / "quirks.py").read_text(encoding="utf-8"), re.MULTILINE)
    quirks = [name for name in names if name not in APART]
    environment = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    command = [sys.executable, str(MODELS / "try_quirks.py"), port, *quirks]
    ran = forked.run(command, cwd=tmp_path_factory.mktemp("quirks"), env=environment, timeout=500)
    assert ran.returncode == 0, ran.stderr
    rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return {(row["quirk"], row["agent"]): row for row in rows}


async def test_a_server_that_only_drips_is_given_up_at_the_time_limit(port: str) -> None:
    """Bytes keep coming, and no answer: each try ends at its limit."""
    url = f"http://127.0.0.1:{port}/slow_drip/v1"
    policy, clock = RetryPolicy(max_attempts=2), Stopwatch().clock
    async with open_model("openai:m", base_url=url, timeout_s=0.5, policy=policy, clock=clock) as model:
        with pytest.raises(ModelError, match=r"2 tries \(2 times no answer within 0.5 s\)"):
            await model.reply(HELLO)


async def test_a_server_that_asks_for_no_patience_is_given_some(port: str) -> None:
    """Six refusals with `Retry-After: 0` a reply are waited out, each time longer, however little the server says."""
    watch = Stopwatch()
    url = f"http://127.0.0.1:{port}/r429_ra_zero/v1"
    async with open_model("openai:m", base_url=url, clock=watch.clock) as model:
        for _ in range(2):
            assert (await model.reply(HELLO)).calls[0].name == "advance_day"
    assert watch.slept == [1, 2, 4, 8, 16, 32] * 2


def test_no_quirk_fails_a_run_without_its_cause(plays: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    """Only quirks that nobody survives fail a run, and its error names the true cause; all others end it as done."""
    causes = {(quirk, agent): cause for quirk, cause in CAUSES.items() for agent in ("chat", "structured")}
    causes |= CAUSES_BY_AGENT
    wrong = {}
    assert len(plays) > 150
    for key, row in plays.items():
        expected = causes.get(key)
        if (row["status"] == "failed") != (expected is not None) or not re.search(expected or "", row["error"]):
            wrong[key] = (row["status"], row["error"])
    assert wrong == {}


@pytest.mark.parametrize(("agent", "quirks"), [("chat", PLAYED_BY_TOOLS), ("structured", PLAYED_BY_JSON)])
def test_a_careful_client_plays_on(
    agent: str, quirks: tuple[str, ...], plays: Mapping[tuple[str, str], Mapping[str, Any]]
) -> None:
    """At these quirks every day is played."""
    days = {quirk: plays[quirk, agent].get("acts", {}).get("AdvanceDay", 0) for quirk in quirks}
    assert {quirk: count for quirk, count in days.items() if count < 4} == {}


@pytest.mark.parametrize("name", [
    "think_draft_is_no_action", "label_refused", "thinking_goes_back", "json_text_as_argument", "retry_after_zero",
    "socks_proxy_set", "connection_error_names_its_cause", "context_limit_in_mid_run",
])  # fmt: skip
def test_small_inputs_are_right(name: str, small_inputs: str) -> None:
    """The cases of `run.py` that are about servers and replies."""
    assert re.search(rf"^right +{name}\b", small_inputs, re.MULTILINE), small_inputs


@pytest.fixture(scope="module")
def small_inputs(small_process: forked.Popen) -> str:
    """What `run.py` prints."""
    return small_process.communicate(timeout=500)[0]
