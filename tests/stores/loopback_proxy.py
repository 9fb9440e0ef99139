"""A loopback proxy between a store and its server that cuts a connection at a chosen moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

When = Literal["before", "after", "late"]
LATE_S = 0.3


@dataclass
class Proxy:
    """Cuts the client off at its next message that holds `at`."""

    target: dict[str, str]
    url: str = ""
    at: bytes | None = None
    when: When = "after"
    """Whether the server never gets that message, gets it, or gets it long after the client was cut off."""
    cuts: int = 0
    closed: bool = False
    _connections: set["asyncio.Task[None]"] = field(default_factory=set)

    def cut(self, at: bytes, when: When) -> None:
        self.at, self.when = at, when

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = self.target.get("host", "localhost"), self.target.get("port", "5432")
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, int(port))

    async def serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if not self.closed:
                with suppress(asyncio.CancelledError):  # by `end`
                    await self._carry(client, back)
        finally:
            back.close()
            self._connections.discard(task)

    async def _carry(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        server, to_server = await self._connect()
        answering = asyncio.ensure_future(_pump(server, back))
        try:
            while data := await client.read(1 << 20):
                if self.at is not None and self.at in data:
                    await self._cut(data, back, to_server, answering)
                    return
                to_server.write(data)
        except ConnectionError:
            pass
        finally:
            answering.cancel()
            to_server.close()

    async def _cut(
        self,
        data: bytes,
        back: asyncio.StreamWriter,
        to_server: asyncio.StreamWriter,
        answering: "asyncio.Future[None]",
    ) -> None:
        self.at, self.cuts = None, self.cuts + 1
        answering.cancel()
        back.transport.abort()
        if self.when == "before":
            return
        if self.when == "late":
            await asyncio.sleep(LATE_S)
        to_server.write(data)
        await to_server.drain()
        await asyncio.sleep(0.1)  # closed sooner, the server might not read it

    def end(self) -> None:
        for connection in self._connections:
            connection.cancel()


async def _pump(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(1 << 20):
            to.write(data)
    to.close()


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[Proxy]:
    """A proxy to the server at `url`; a store reaches it at the proxy's own `url`."""
    target = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
    proxy = Proxy(target)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    user = quote(target.get("user", "postgres")) + (":" + quote(target["password"]) if "password" in target else "")
    options = quote(target.get("options", ""))
    proxy.url = f"postgresql://{user}@127.0.0.1:{port}/{target['dbname']}?options={options}"
    try:
        yield proxy
    finally:
        proxy.end()
        server.close()
