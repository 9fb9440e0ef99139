"""What the fuzzing tests share: a server on a thread of its own, and nearly valid bodies."""

import asyncio
import json
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread

import httpx
from hypothesis import strategies as st
from wire_server import ServeConfig

from akinai.server.serving import RunningServer, running_server


class Background:
    """A server on a thread of its own, for tests that are not asynchronous."""

    def __init__(self) -> None:
        self._ready, self._stop = Event(), asyncio.Event()
        self.server: RunningServer
        self._thread = Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        assert self._ready.wait(30)
        self.url = self.server.info.url

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with running_server(ServeConfig(store="memory:", port=0)) as self.server:
            self._ready.set()
            await self._stop.wait()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)


@contextmanager
def market_of_two() -> Generator[Background]:
    """A server at which the customer "c" and the business "b" have registered."""
    background = Background()
    for id, kind in (("c", "customer"), ("b", "business")):
        profile = {"id": id, "metadata": {"type": kind}, kind: {}}
        httpx.post(f"{background.url}/agents/register", json={"agent": profile}).raise_for_status()
    yield background
    background.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
MESSAGE = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "order_proposal", "payment", "x"])},
    optional={
        "content": JSON,
        "id": st.sampled_from(["p", "q", ""]) | JSON,
        "items": st.lists(
            st.fixed_dictionaries({"item_name": st.text(max_size=5), "quantity": st.integers(), "unit_price": JSON}),
            max_size=3,
        )
        | JSON,
        "total_price": st.floats() | st.integers() | JSON,
        "expiry_time": st.sampled_from(["2020-01-01", "9999-12-31T23:59:59-23:59", "soon"]) | JSON,
        "proposal_message_id": st.sampled_from(["p", "q"]) | JSON,
    },
)
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["send_message", "fetch_messages", "search"]) | JSON,
        "to_agent_id": st.sampled_from(["b", "c", "nobody"]) | JSON,
        "from_agent_id": JSON,
        "created_at": JSON,
        "message": MESSAGE | JSON,
        "metadata": st.dictionaries(st.sampled_from(["idempotency_key", "x"]), JSON) | JSON,
        "query": JSON,
        "search_algorithm": st.sampled_from(["simple", "lexical", "filtered", "optimal", "rnr"]) | JSON,
        "constraints": JSON,
        "limit": st.integers() | JSON,
        "offset": st.integers() | JSON,
        "page": st.integers() | JSON,
        "after": st.sampled_from(["2026-01-01", "0001-01-01T00:00:00+23:59"]) | JSON,
        "after_index": st.integers() | JSON,
    },
)
ENVELOPE = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["SendMessage", "FetchMessages", "Search", "Wait"]) | JSON,
        "parameters": PARAMETERS | JSON,
    },
    optional={"metadata": JSON},
)
BODY = (
    ENVELOPE.map(lambda envelope: json.dumps(envelope).encode())
    | st.binary(max_size=60)
    | JSON.map(json.dumps).map(str.encode)
)
