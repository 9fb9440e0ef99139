"""The short way of `/actions/execute`: who takes it, and that nobody can tell which way a request went."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from wire_server import ServeConfig, Wire, wire_to

from akinai.core.errors import StoreError
from akinai.core.ledger import Entry
from akinai.runtime.http.hot import HotWay
from akinai.server.execute import ExecuteRoute
from akinai.stores.memory import MemoryStore

FETCH = b'{"name": "FetchMessages"}'
PLAIN = ("Host: localhost", "X-Agent-Id: c")


class Raw:
    """A connection that sends bytes as they are."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def answer(self) -> tuple[str, dict[str, str], Any]:
        """Status line, headers and body of the next answer."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        status, *lines = head.strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        return status, headers, json.loads(await self.reader.readexactly(int(headers["content-length"])))

    async def ask(self, *pieces: bytes) -> tuple[str, dict[str, str], Any]:
        for number, piece in enumerate(pieces):
            await asyncio.sleep(0.02 if number else 0)
            self.writer.write(piece)
        return await self.answer()


def request(*headers: str, body: bytes = FETCH, line: str = "POST /actions/execute HTTP/1.1") -> bytes:
    lines = [line, *(headers or PLAIN), f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


OPEN: list[asyncio.StreamWriter] = []


async def connect(wire: Wire) -> Raw:
    """A connection that is closed at the end of the test."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(str(wire.http.base_url.port)))
    OPEN.append(writer)
    return Raw(reader, writer)


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()
    await asyncio.sleep(0)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that went the short way."""
    bodies, take = list[bytes](), ExecuteRoute.take

    def noting(self: ExecuteRoute, caller: Any, body: bytes, reply: Any) -> bool:
        done = take(self, caller, body, reply)
        bodies.extend([body] * done)
        return done

    monkeypatch.setattr(ExecuteRoute, "take", noting)
    return bodies


@pytest.mark.parametrize(
    "headers",
    [
        PLAIN,
        (*PLAIN, "connection: keep-alive", "Content-Type: application/json", "ACCEPT: */*", "User-Agent: x y/1.0"),
        ("host:localhost", "x-agent-id: c"),
    ],
)
async def test_a_plain_request_goes_the_short_way(wire: Wire, taken: list[bytes], headers: Sequence[str]) -> None:
    """A request in one piece with plain headers is taken, each time, also after its head was remembered."""
    raw = await connect(wire)
    for count in range(1, 4):
        status, _, body = await raw.ask(request(*headers))
        assert (status, body["content"]) == ("HTTP/1.1 200 OK", {"messages": [], "has_more": False})
        assert len(taken) == count


ODD = [
    ((request(*PLAIN, "X-Odd: 1"),), 200),
    ((request(*PLAIN, "Origin: http://evil.example"),), 403),
    ((request("Host: evil.example", "X-Agent-Id: c"),), 403),
    ((request("X-Agent-Id: c"),), 403),
    ((request(*PLAIN, "X-Agent-Id: d"),), 200),
    ((request(*PLAIN, "Host: localhost"),), 403),
    ((request(*PLAIN, f"Content-Length: {len(FETCH)}"),), 400),
    ((request(*PLAIN, " folded"),), 400),
    ((request("Host: localhost", "X-Agent-Id : c"),), 400),
    ((request("Host: localhost"),), 401),
    ((request("Host: localhost", "X-Agent-Id: nobody"),), 401),
    ((request(*PLAIN, "Connection: close"),), 200),
    ((request(*PLAIN, line="POST /actions/execute HTTP/1.0"),), 200),
    ((request(*PLAIN, line="POST /actions/execute/ HTTP/1.1"),), 200),
    ((request(body=b"{"),), 422),
    ((request(body=b'{"name": 1}'),), 422),
    ((request()[:20], request()[20:]), 200),
    ((request()[:-5], request()[-5:]), 200),
]


async def test_all_else_goes_the_long_way(wire: Wire, taken: list[bytes]) -> None:
    """What is odd, refused or in pieces is answered as before; the refusals are those of the long way."""
    for pieces, status in ODD:
        raw = await connect(wire)
        line, _, _ = await raw.ask(*pieces)
        assert int(line.split()[1]) == status, pieces
        assert not taken


async def test_both_ways_answer_alike(wire: Wire, taken: list[bytes]) -> None:
    """Status line, headers and body are the same but for the date."""
    await wire.text("d", "c", "hello")
    raw = await connect(wire)
    bodies = [FETCH, b'{"name": "Search"}', b'{"name": "SendMessage", "parameters": {"to_agent_id": "x"}}']
    for body in bodies:
        answers = [await raw.ask(request(*PLAIN, *more, body=body)) for more in ((), ("X-Odd: 1",))]
        for _, headers, _ in answers:
            assert re.fullmatch(r"\w{3}, .* GMT", headers.pop("date"))
        assert answers[0] == answers[1]
        assert [*answers[0][1]] == ["content-type", "content-length"]
    assert taken[1:] == bodies


async def test_requests_on_one_connection_are_answered_in_order(wire: Wire, taken: list[bytes]) -> None:
    """Requests that come while one waits are held, and answered in the order in which they came, on both ways."""
    raw = await connect(wire)
    texts = [str(number) for number in range(6)]
    for number, text in enumerate(texts):
        message = {"to_agent_id": "c", "message": {"type": "text", "content": text}}
        body = json.dumps({"name": "SendMessage", "parameters": message}).encode()
        raw.writer.write(request(*PLAIN, *(("X-Odd: 1",) if number % 3 == 2 else ()), body=body))
        await asyncio.sleep(0)
    answers = [await raw.answer() for _ in texts]
    assert [body["content"]["message"]["content"] for _, _, body in answers] == texts
    assert [mail["message"]["content"] for mail in await wire.mail("c")] == texts
    assert taken


class Failing(MemoryStore):
    """Commits when its gate is open, and fails as often as it is told."""

    failures = 0

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()

    async def append(self, run_id: str, entries: Sequence[Entry]) -> None:
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")
        await super().append(run_id, entries)


@pytest.fixture
async def failing(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Wire, Failing]]:
    store = Failing()

    async def opening(_: str) -> Failing:
        return store

    monkeypatch.setattr("akinai.server.serving.open_store", opening)
    async with wire_to(ServeConfig(store="memory:", port=0)) as wire:
        await wire.register("c")
        yield wire, store
        store.gate.set()


async def test_a_failed_commit_is_refused_on_the_short_way(failing: tuple[Wire, Failing], taken: list[bytes]) -> None:
    """The answer is 503 with its headers and code; the connection goes on, and the next commit is made."""
    wire, store = failing
    store.failures = 1
    raw = await connect(wire)
    status, headers, body = await raw.ask(request())
    assert (status, headers["retry-after"]) == ("HTTP/1.1 503 Service Unavailable", "1")
    assert body["error"]["code"] == "store_unavailable"
    assert (await raw.ask(request()))[0] == "HTTP/1.1 200 OK"
    assert len(taken) == 2


async def test_too_many_waiting_requests_are_refused(failing: tuple[Wire, Failing], taken: list[bytes]) -> None:
    """Above the limit the short way takes no request, and the long way says so."""
    wire, store = failing
    assert wire.server is not None
    store.gate.clear()
    first, second = await connect(wire), await connect(wire)
    first.writer.write(request())
    await asyncio.sleep(0.05)
    wire.server.market._max_waiting = 0
    assert (await second.ask(request()))[0] == "HTTP/1.1 429 Too Many Requests"
    store.gate.set()
    assert (await first.answer())[0] == "HTTP/1.1 200 OK"
    assert len(taken) == 1


async def test_a_client_that_vanishes_is_no_fault(failing: tuple[Wire, Failing], taken: list[bytes]) -> None:
    """What it sent is done all the same, and the server goes on."""
    wire, store = failing
    assert wire.server is not None
    before = wire.server.market.committed.seq
    store.gate.clear()
    raw = await connect(wire)
    raw.writer.write(request())
    await asyncio.sleep(0.05)
    raw.writer.transport.abort()
    await asyncio.sleep(0.05)
    store.gate.set()
    assert (await wire.act("c", "FetchMessages"))["content"]["messages"] == []
    assert wire.server.market.committed.seq == before + 2
    assert len(taken) == 2


async def test_a_stop_answers_what_waits(failing: tuple[Wire, Failing], taken: list[bytes]) -> None:
    """A request that waits when the server stops is answered, with word that the connection ends, and closed."""
    wire, store = failing
    assert wire.server is not None
    store.gate.clear()
    raw = await connect(wire)
    raw.writer.write(request())
    await asyncio.sleep(0.05)
    wire.server.stop()
    await asyncio.sleep(0.3)
    store.gate.set()
    status, headers, _ = await raw.answer()
    assert (status, headers["connection"]) == ("HTTP/1.1 200 OK", "close")
    assert await raw.reader.read() == b""
    assert len(taken) == 1


async def test_an_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch, taken: list[bytes]) -> None:
    """After its last answer, whichever way that went, a connection without requests is closed."""
    monkeypatch.setattr("akinai.server.serving.KEEP_ALIVE_S", 0.3)
    async with wire_to(ServeConfig(store="memory:", port=0)) as wire:
        await wire.register("c")
        for ways in ((), ("X-Odd: 1",)):
            raw = await connect(wire)
            await raw.ask(request())
            await asyncio.sleep(0.2)
            await raw.ask(request(*PLAIN, *ways))
            await asyncio.sleep(0.2)
            assert not raw.reader.at_eof()
            async with asyncio.timeout(10):
                assert await raw.reader.read() == b""
    assert len(taken) == 3


async def test_tokens_hold_on_the_short_way(taken: list[bytes]) -> None:
    """With a token a request is taken; with another, or none, it is refused as on the long way."""
    async with wire_to(ServeConfig(store="memory:", port=0, auth="token")) as wire:
        token = (await wire.register("c")).json()["token"]
        raw = await connect(wire)
        for header, status in ((f"Bearer {token}", 200), ("Bearer x", 401), (f"bearer {token}", 200), ("", 401)):
            more = (f"Authorization: {header}",) if header else ()
            line, _, _ = await raw.ask(request(*PLAIN, *more))
            assert int(line.split()[1]) == status
    assert len(taken) == 2


def test_heads_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many heads come, few are remembered."""

    class Route:
        line = b"POST / HTTP/1.1"

        def caller(self, headers: Any) -> Any:
            return headers

        def take(self, caller: Any, body: bytes, reply: Any) -> bool:
            return True

    monkeypatch.setattr("akinai.runtime.http.hot.REMEMBERED_HEADS", 10)
    way = HotWay(Route(), lambda _: False)
    for number in range(100):
        head = b"POST / HTTP/1.1\r\nhost: h%d" % number
        read = way.read(head)
        assert read is not None
        assert read.caller == ((b"host", b"h%d" % number),)
        way.remember(head, read)
        assert len(way.heads) <= 10
