"""However a request comes, in drops, in part or several times, the server does it whole, not at all, or once by its key."""

import json
import socket
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from fuzzing import BODY, Background, market_of_two
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

PAUSE_S = 0.002
CUTS = st.lists(st.floats(0, 1), max_size=4)


@pytest.fixture(scope="module")
def server() -> Iterator[Background]:
    with market_of_two() as background:
        yield background


def fuzzed(*values: Any, examples: int) -> Any:
    checks = list(HealthCheck)
    return lambda test: seed(1)(
        settings(max_examples=examples, database=None, suppress_health_check=checks)(given(*values)(test))
    )


class Connection:
    """A raw connection to the server."""

    def __init__(self, server: Background) -> None:
        self._socket = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), 20)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def send(self, request: bytes, cuts: Sequence[float] = ()) -> None:
        """Send a request, in pieces between the cuts."""
        places = [0, *sorted(round(cut * len(request)) for cut in cuts), len(request)]
        for number, (start, end) in enumerate(pairwise(places)):
            time.sleep(PAUSE_S if number else 0)
            self._socket.sendall(request[start:end])

    def answer(self) -> tuple[int, Any]:
        status = int(self._file.readline().split()[1])
        length = 0
        while (line := self._file.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, json.loads(self._file.read(length))


def request(body: bytes, id: str = "c", chunks: Sequence[float] | None = None) -> bytes:
    """A request with its length, or in chunks."""
    head = f"POST /actions/execute HTTP/1.1\r\nHost: localhost\r\nX-Agent-Id: {id}\r\n".encode()
    if chunks is None:
        return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    places = [0, *sorted(round(cut * len(body)) for cut in chunks), len(body)]
    parts = [body[start:end] for start, end in pairwise(places) if start < end]
    sent = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + sent + b"0\r\n\r\n"


def examples(few: int, many: int) -> Any:
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.slow)])


@examples(25, 1_000)
def test_a_request_in_drops_is_a_request(server: Background, examples: int) -> None:
    """Cut anywhere, in its head too, or sent in chunks: 200 and an entry, or 422 and none."""
    market = server.server.market

    @fuzzed(st.sampled_from(["c", "b"]), BODY, CUTS, st.none() | CUTS, examples=examples)
    def send(id: str, body: bytes, cuts: Sequence[float], chunks: Sequence[float] | None) -> None:
        before = market.committed.seq
        with Connection(server) as connection:
            connection.send(request(body, id, chunks), cuts)
            status, _ = connection.answer()
        assert status in (200, 422)
        assert market.committed.seq - before == (status == 200)

    send()


@examples(40, 1_000)
def test_half_a_request_is_none(server: Background, examples: int) -> None:
    """A request that ends before its last byte leaves nothing in the ledger, and the next one is served."""
    market = server.server.market

    @fuzzed(BODY, st.floats(0, 1, exclude_max=True), st.none() | CUTS, examples=examples)
    def send(body: bytes, part: float, chunks: Sequence[float] | None) -> None:
        before, whole = market.committed.seq, request(body, "c", chunks)
        with Connection(server) as connection:
            connection.send(whole[: int(part * (len(whole) - 1))])
        with Connection(server) as connection:
            connection.send(request(b'{"name": "FetchMessages"}'))
            assert connection.answer()[0] == 200
        assert market.committed.seq == before + 1

    send()


@examples(15, 1_000)
def test_a_repeated_message_is_sent_once(server: Background, examples: int) -> None:
    """Sent several times over one connection without waiting, and over another: all answers agree, one message comes."""
    market, keys = server.server.market, iter(range(10**9))

    @fuzzed(st.integers(1, 4), st.integers(0, 3), st.text("abc", max_size=3), examples=examples)
    def send(times: int, second_times: int, content: str) -> None:
        delivered, key = market.committed.state.delivered, {"idempotency_key": f"{examples} {next(keys)}"}
        message = {"type": "text", "content": content}
        parameters = {"to_agent_id": "b", "message": message, "metadata": key, "created_at": "2026-01-01T00:00:00Z"}
        body = json.dumps({"name": "SendMessage", "parameters": parameters}).encode()
        with Connection(server) as first, Connection(server) as second:
            first.send(request(body) * times)
            second.send(request(body) * second_times)
            answers = [first.answer() for _ in range(times)] + [second.answer() for _ in range(second_times)]
        assert all(answer == answers[0] for answer in answers)
        assert answers[0][0] == 200
        assert not answers[0][1]["is_error"]
        assert market.committed.state.delivered == delivered + 1

    send()
