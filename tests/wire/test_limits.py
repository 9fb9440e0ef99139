"""Attacks with raw sockets: large heads, slow heads and bodies, bodies without a token, foreign pages."""

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from server_process import Process
from wire_server import ServeConfig, Wire, wire_to

from akinai.runtime.http import connections
from akinai.server.serving import RunningServer

MIB = 1_048_576
POST = b"POST /actions/execute HTTP/1.1\r\nHost: localhost\r\n"


def one_value() -> Iterator[bytes]:
    yield POST + b"X: "
    while True:
        yield b"x" * 65_536


def many_headers() -> Iterator[bytes]:
    yield POST
    while True:
        yield b"".join(b"X-%d: y\r\n" % number for number in range(6_000))


def long_path() -> Iterator[bytes]:
    yield b"GET /"
    while True:
        yield b"x" * 65_536


def trailers() -> Iterator[bytes]:
    yield POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
    while True:
        yield b"".join(b"X-%d: y\r\n" % number for number in range(6_000))


def flood(port: int, chunks: Iterator[bytes], size: int) -> None:
    """Send so many bytes, or as many as the server takes."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        try:
            while size > 0:
                chunk = next(chunks)
                connection.sendall(chunk)
                size -= len(chunk)
        except OSError:
            pass


@pytest.mark.parametrize("megabytes", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_large_heads_take_no_memory(tmp_path: Path, megabytes: int) -> None:
    """Values, header counts, paths and trailers without end on forty connections: memory stays where it was."""
    process = Process(tmp_path, "--store", "memory:")
    try:
        flood(process.port, one_value(), MIB)
        before = process.memory_mb()
        attacks = [one_value, many_headers, long_path, trailers]
        with ThreadPoolExecutor(20) as threads:
            for number in range(40):
                threads.submit(flood, process.port, attacks[number % 4](), megabytes * MIB // 40)
        assert process.memory_mb("VmHWM") - before < 24
    finally:
        assert process.end(signal.SIGTERM) == 0


def port_of(wire: Wire) -> int:
    server: RunningServer = wire.server  # type: ignore[assignment]
    return int(server.info.url.rpartition(":")[2])


async def send(wire: Wire, *parts: bytes, pause_s: float = 0) -> tuple[bytes, float]:
    """What the server answers until it closes the connection, or for a minute, and how many seconds that took."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(wire))
    started = time.monotonic()

    async def write() -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause_s)

    writing = asyncio.create_task(write())
    answer = b""
    try:
        async with asyncio.timeout(60):
            while chunk := await reader.read(65_536):
                answer += chunk
    except (TimeoutError, ConnectionError):
        pass
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    writer.close()
    return answer, time.monotonic() - started


@pytest.mark.parametrize(
    "head",
    [
        POST + b"X: " + b"x" * 20_000 + b"\r\n\r\n",
        POST + b"".join(b"X-%d: y\r\n" % number for number in range(101)) + b"\r\n",
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
async def test_a_large_head_is_answered_431(wire: Wire, head: bytes) -> None:
    """With a sentence that names the limits; a head within them is served."""
    answer, _ = await send(wire, head)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"may have 16,384 bytes and 100 headers" in answer
    long = {f"X-{number}": "y" * 150 for number in range(90)}
    assert (await wire.http.get("/health", headers=long)).status_code == 200


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ARRIVAL_S", 0.3)


SLOW: dict[str, list[bytes]] = {
    "nothing": [],
    "line feeds": [b"\r\n"] * 100,
    "head": [POST, *[b"X: y\r\n"] * 100],
    "body": [POST + b"X-Agent-Id: c\r\nContent-Length: 100\r\n\r\n", *[b"x"] * 100],
    "chunks": [POST + b"X-Agent-Id: c\r\nTransfer-Encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 100],
    "unread body": [POST + b"X-Agent-Id: nobody\r\nContent-Length: 100\r\n\r\n", *[b"x"] * 100],
    "second head": [b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", POST, *[b"X: y\r\n"] * 100],
}


async def test_what_comes_too_slowly_is_cut_off(wire: Wire, impatient: None) -> None:
    """Drops of a head or body, or none at all: the connection ends after the time limit, and nothing was done."""
    before = wire.server.market.committed.seq
    answers = await asyncio.gather(*(send(wire, *parts, pause_s=0.05) for parts in SLOW.values()))
    for name, (answer, seconds) in zip(SLOW, answers, strict=True):
        assert 0.2 < seconds < 50, name
        assert answer.count(b"HTTP/1.1 408 ") == ("head" in name), name
    assert wire.server.market.committed.seq == before
    assert (await wire.http.get("/health")).status_code == 200


async def test_an_agent_that_waits_for_mail_is_not_slow(wire: Wire, impatient: None) -> None:
    """The time limits are on requests that arrive: an answer and an idle connection may take longer."""
    assert (await wire.http.get("/views/c", params={"wait_s": 0.4}, headers={"X-Agent-Id": "c"})).status_code == 200
    await asyncio.sleep(0.4)
    assert (await wire.http.get("/health")).status_code == 200


@pytest.mark.parametrize("headers", [b"", b"X-Agent-Id: c\r\n", b"X-Agent-Id: c\r\nAuthorization: Bearer no\r\n"])
@pytest.mark.parametrize("path", [b"/actions/execute", b"/logs/create"])
async def test_a_body_is_read_after_the_token(headers: bytes, path: bytes) -> None:
    """Without the right token the answer is 401, before any of the body has come."""
    async with wire_to(ServeConfig(store="memory:", port=0, auth="token")) as wire:
        await wire.register("c")
        head = b"POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: 1000000\r\nConnection: close\r\n\r\n" % (
            path,
            headers,
        )
        answer, _ = await send(wire, head)
        assert answer.startswith(b"HTTP/1.1 401 ")


Head = Callable[[bytes], bytes]


HEADERS = [
    (b"Host: localhost:8000", 200),
    (b"Host: 127.0.0.1", 200),
    (b"Host: [::1]:9", 200),
    (b"Host: Market.Example", 200),
    (b"Host: localhost\r\nOrigin: http://localhost:3000", 403),
    (b"Host: localhost\r\nOrigin: https://market.example", 200),
    (b"Host: evil.example", 403),
    (b"Host: localhost.evil.example", 403),
    (b"Host: x@localhost", 403),
    (b"Host: 192.168.0.7:8000", 403),
    (b"Host:", 403),
    (b"Accept: */*", 403),
    (b"Host: localhost\r\nHost: evil.example", 403),
    (b"Host: localhost\r\nOrigin: https://evil.example", 403),
    (b"Host: localhost\r\nOrigin: null", 403),
]


async def test_an_open_market_is_for_this_machine() -> None:
    """A Host or Origin that is neither of this machine nor allowed is refused: a foreign page reaches no market."""
    async with wire_to(ServeConfig(store="memory:", port=0, allow_host=["market.example"])) as wire:
        body = b'{"agent": {"id": "x"}}'
        for headers, status in sorted(HEADERS, key=lambda row: -row[1]):  # what is refused comes first
            for line in (b"GET /health", b"POST /agents/register", b"POST /actions/execute"):
                sent = body if line.startswith(b"POST") else b""
                tail = b"\r\nX-Agent-Id: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(sent), sent)
                answer, _ = await send(wire, line + b" HTTP/1.1\r\n" + headers + tail)
                answered_status = int(answer.split()[1])
                assert (answered_status == 403) == (status == 403), answer
            assert len(wire.server.market.committed.state.joined) == (status == 200), headers


async def test_who_does_not_read_is_cut_off(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of answers are asked for and none is read: the connection ends. Who reads slowly gets all of them."""
    monkeypatch.setattr(connections, "UNREAD_S", 0.3)
    ended = asyncio.Event()
    lose = connections.LimitedConnection.connection_lost

    def lost(connection: connections.LimitedConnection, error: Exception | None) -> None:
        lose(connection, error)
        ended.set()

    monkeypatch.setattr(connections.LimitedConnection, "connection_lost", lost)
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    size = len((await wire.http.get("/openapi.json")).content)
    with socket.create_connection(("127.0.0.1", port_of(wire))) as connection:
        connection.setblocking(False)
        loop, count = asyncio.get_running_loop(), 40_000_000 // size
        sending = asyncio.create_task(loop.sock_sendall(connection, ask * count))
        await asyncio.wait_for(ended.wait(), 30)
        read = 0
        with suppress(ConnectionError):
            while chunk := await asyncio.wait_for(loop.sock_recv(connection, 1 << 20), 5):
                read += len(chunk)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    assert 0 < read < count * size / 2
    with socket.create_connection(("127.0.0.1", port_of(wire))) as connection:
        connection.setblocking(False)
        sending, read = asyncio.create_task(loop.sock_sendall(connection, ask * 200)), 0
        while read < 200 * size:
            read += len(await asyncio.wait_for(loop.sock_recv(connection, 1 << 18), 5))
            await asyncio.sleep(0.02)
        await sending
