"""Whatever is sent, the server answers with something other than 500, and a refusal changes nothing."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from fuzzing import BODY, Background, market_of_two
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from wire_server import Wire


@pytest.fixture
def server() -> Iterator[Background]:
    with market_of_two() as background:
        yield background


def fuzz(server: Background, examples: int, begin: int = 0) -> None:
    market = server.server.market

    @seed(begin)
    @settings(max_examples=examples, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(["c", "b"]), BODY)
    def send(id: str, body: bytes) -> None:
        before = market.committed
        answer = http.post("/actions/execute", content=body, headers={"X-Agent-Id": id})
        assert answer.status_code in (200, 422), answer.text
        after = market.committed
        if answer.status_code == 422:
            assert after == before
        elif answer.json()["is_error"]:
            assert after.seq == before.seq + 1
            assert after.state is before.state
            assert answer.json()["metadata"]["error"]["message"]

    with httpx.Client(base_url=server.url) as http:
        send()


def test_any_body_is_answered_and_a_refusal_changes_nothing(server: Background) -> None:
    """Nearly valid envelopes, any JSON and any bytes: 200 or 422; a refusal leaves the very same state."""
    fuzz(server, 60)


@pytest.mark.slow
@pytest.mark.parametrize("begin", [1, 2])
def test_thousands_of_bodies_are_answered(server: Background, begin: int) -> None:
    """The same for much longer, each two thousand on their own market."""
    fuzz(server, 2_000, begin)


@pytest.mark.slow
def test_no_request_by_the_document_is_a_server_error(server: Background) -> None:
    """Requests that schemathesis makes from the server's own OpenAPI: never 5xx."""
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json", timeout=60)
    for result in schema.get_all_operations():
        operation: Any = result.ok()

        @settings(max_examples=60, database=None, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy())
        def send(case: Any) -> None:
            case.call_and_validate(checks=[not_a_server_error], timeout=60)

        send()


BREAKING = [
    b'{"name": "SendMessage", "parameters": {"to_agent_id": "b", "message": {"type": "text", "content": "\\ud800"}}}',
    b'{"name": "FetchMessages", "parameters": {"limit": 1e999}}',
    b'{"name": "FetchMessages", "parameters": {"limit": ' + b"9" * 5000 + b"}}",
    b'{"name": "Search", "parameters": {"query": "\\u0000"}}',
    b'{"name": "Search", "parameters": {"query": NaN}}',
    b'{"name": "Search", "parameters": {"x": ' + b"[" * 900 + b"]" * 900 + b"}}",
    b'{"name": "Search", "parameters": {"x": ' + b"[" * 90_000 + b"]" * 90_000 + b"}}",
    b'{"name": "SendMessage", "parameters": {"to_agent_id": "b", "message": {"type": "text", "content": "x", "y": '
    + b"[" * 300
    + b"]" * 300
    + b"}}}",
    b'{"name": "Search", "metadata": {"akinai_text": [1]}, "parameters": {"query": "x", "limit": 10.0}}',
]


async def test_bodies_that_break_parsers_are_answered(wire: Wire) -> None:
    """Half surrogates, NUL, NaN, huge numbers and deep nesting: an answer or 422, and the server goes on."""
    for body in BREAKING:
        answer = await wire.http.post("/actions/execute", content=body, headers={"X-Agent-Id": "c"})
        assert answer.status_code in (200, 422)
        register = await wire.http.post("/agents/register", content=b'{"agent": {"id": "n", "x": ' + body + b"}}")
        assert register.status_code in (200, 422)
        log = await wire.http.post(
            "/logs/create", content=b'{"log": {"level": "info", "name": "n", "data": ' + body + b"}}"
        )
        assert log.status_code in (200, 422)
        for path in ("/logs", "/agents", "/agents/n", "/health", "/metrics"):
            assert (await wire.http.get(path)).status_code in (200, 404)
