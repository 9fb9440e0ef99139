"""A proxy between agents and a market that cuts, delays and repeats requests and answers."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import cast

FAULTS = ("cut request", "lost request", "cut answer", "lost answer", "slow", "repeated", "repeated later")
"""What may befall a request. After the first two the server has nothing of it, after the next two it has all of it."""
PIECES = 5
"""In how many pieces a slow request arrives."""


class FaultyProxy:
    """Passes requests on to a server, each over a connection of its own. `fault` chooses what befalls the n-th, from 0."""

    def __init__(self, port: int, fault: Callable[[int], str], delay_s: float = 0.02) -> None:
        self._port, self._fault, self._delay_s = port, fault, delay_s
        self._count = 0
        self._later = set[asyncio.Task[bytes]]()
        self._open = set[asyncio.Task[None]]()
        """The connections of clients: idle between requests, or waiting for an answer that nobody is there to take."""
        self.url = ""
        self.met: Counter[str] = Counter()
        """How often each fault happened; "" counts requests without one."""

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["FaultyProxy"]:
        """Listen until the block is left, and until the repeated requests are answered."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield self
            await asyncio.gather(*self._later)
            for connection in self._open:
                connection.cancel()
            await asyncio.gather(*self._open)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(cast("asyncio.Task[None]", asyncio.current_task()))
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._pass_on(await _read_message(reader), writer):
                pass
        writer.close()
        with suppress(ConnectionError, asyncio.CancelledError):
            await writer.wait_closed()

    async def _pass_on(self, request: bytes, client: asyncio.StreamWriter) -> bool:
        """Whether the connection of the client goes on."""
        fault = self._fault(self._count)
        self._count += 1
        self.met[fault] += 1
        match fault:
            case "cut request":
                await self._send(request[: len(request) // 2 + 1], answered=False)
                return False
            case "lost request":
                return False
            case "slow":
                size = len(request) // PIECES + 1
                pieces = [request[start : start + size] for start in range(0, len(request), size)]
                answer = await self._send(*pieces)
            case "repeated":
                answer, _ = await asyncio.gather(self._send(request), self._send(request))
            case _:
                answer = await self._send(request)
        if fault == "repeated later":
            self._later.add(asyncio.create_task(self._repeat(request)))
        if fault == "lost answer":
            return False
        client.write(answer[: len(answer) // 2] if fault == "cut answer" else answer)
        await client.drain()
        return fault != "cut answer"

    async def _repeat(self, request: bytes) -> bytes:
        await asyncio.sleep(5 * self._delay_s)
        return await self._send(request)

    async def _send(self, *pieces: bytes, answered: bool = True) -> bytes:
        """The server's answer to a request that arrives in pieces."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            for number, piece in enumerate(pieces):
                await asyncio.sleep(self._delay_s if number else 0)
                writer.write(piece)
                await writer.drain()
            return await _read_message(reader) if answered else b""
        finally:
            writer.close()


async def _read_message(reader: asyncio.StreamReader) -> bytes:
    """A request or an answer, head and body. IncompleteReadError when the connection ends before it does."""
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return head + (await reader.readexactly(int(lengths[0].split(b":")[1])) if lengths else b"")
