"""The least that a market server can be: it parses a request, commits it in a group with others, and answers.

`python bench/bare_server.py STORE RUN` listens on a free port with uvicorn, as `akinai serve` does, and writes to the
same kind of store with the same waiting for the disk. It knows no rules, no state and no digests: a message is answered
with itself, every search and mailbox is empty. `bench/market.py` measures `akinai serve` beside it.
"""

import asyncio
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import uvicorn
import uvloop

from akinai.core.ledger import Entry, Genesis, Outcome
from akinai.core.stores import RunHeader, Store
from akinai.stores import open_store

NO_DIGEST = "0" * 64
EMPTY = {
    "FetchMessages": {"messages": [], "has_more": False},
    "Search": {"businesses": [], "search_algorithm": "lexical", "total_possible_results": 0, "total_pages": 0},
}
DONE = Outcome("Done.")

Message = dict[str, Any]


class Committer:
    """Commits entries in groups: those that arrive during a commit share the next one."""

    def __init__(self, store: Store, run: str) -> None:
        self._store, self._run, self._seq = store, run, 0
        self._entries: list[Entry] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, actor: str, name: str, parameters: Message) -> asyncio.Future[None]:
        """A future that is done when the entry is durable."""
        self._seq += 1
        data = {"agent_id": actor, "request": {"name": name, "parameters": parameters}, "result": DONE.to_json()}
        at, text = time.time_ns() // 1_000, orjson.dumps(data).decode()
        self._entries.append(Entry(self._seq, at, actor, name, parameters, DONE, "", NO_DIGEST, text))
        durable = asyncio.get_running_loop().create_future()
        self._waiting.append(durable)
        if self._task is None:
            self._task = asyncio.create_task(self._commit_all())
        return durable

    async def _commit_all(self) -> None:
        while self._entries:
            entries, waiting = self._entries, self._waiting
            self._entries, self._waiting = [], []
            await self._store.append(self._run, entries)
            for durable in waiting:
                durable.set_result(None)
        self._task = None


def make_app(committer: Committer) -> Callable[[Message, Any, Any], Awaitable[None]]:
    """The ASGI app."""

    async def app(scope: Message, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        request = orjson.loads(body)
        if scope["path"] == "/actions/execute":
            name, parameters = request["name"], request["parameters"]
            actor = next(value for key, value in scope["headers"] if key == b"x-agent-id").decode()
            await committer.add(actor, name, parameters)
            answer = {"content": EMPTY.get(name, parameters), "is_error": False, "metadata": {}}
        else:
            id = request["agent"]["id"]
            await committer.add(id, "Register", request["agent"])
            answer = {"error": None, "id": id}
        data = orjson.dumps(answer)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    return app


async def serve(address: str, run: str) -> None:
    """Serve until the process is killed."""
    store = await open_store(address)
    await store.create(RunHeader(run, Genesis("bare@1", 1, {}), {"agents": "bench"}, created_at=1))
    with socket.create_server(("127.0.0.1", 0), backlog=4_096) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config: Any = {"http": "httptools", "ws": "none", "lifespan": "off", "log_config": None, "access_log": False}
        server = uvicorn.Server(uvicorn.Config(make_app(Committer(store, run)), timeout_keep_alive=60, **config))
        print(f"listening on http://127.0.0.1:{sock.getsockname()[1]}, bare", flush=True)
        await server.serve(sockets=[sock])


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(*sys.argv[1:]))
