"""A real server on loopback for the tests of the wire, and a small client for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from akinai.server.serving import RunningServer, ServeConfig, running_server

STORES = ("sqlite", "postgres")


class Wire:
    """Raw HTTP to a market, with minimal profiles."""

    def __init__(self, http: httpx.AsyncClient, server: RunningServer | None = None) -> None:
        self.http, self.server = http, server

    async def register(self, id: str, kind: str = "customer", **extra: Any) -> httpx.Response:
        own = {"name": id, "description": "", "rating": 3.0, "menu_features": {"Tea": 3}, "amenity_features": {}}
        profile = {"id": id, "metadata": {"type": kind}, kind: own, **extra}
        return await self.http.post("/agents/register", json={"agent": profile})

    async def act(self, id: str, name: str, parameters: Any = None, **more: Any) -> dict[str, Any]:
        answer = await self.post(id, {"name": name, "parameters": {} if parameters is None else parameters, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, id: str, envelope: Any, **headers: str) -> httpx.Response:
        named: Any = {"X-Agent-Id": id.encode(), **headers}
        return await self.http.post("/actions/execute", json=envelope, headers=named)

    async def text(self, sender: str, to: str, content: str = "hello", **more: Any) -> dict[str, Any]:
        message = {"type": "text", "content": content}
        return await self.act(sender, "SendMessage", {"to_agent_id": to, "message": message, **more})

    async def propose(self, sender: str, to: str, id: str, price: float = 3, **more: Any) -> dict[str, Any]:
        items = [{"id": "1", "item_name": "Tea", "quantity": 1, "unit_price": price}]
        message = {"type": "order_proposal", "id": id, "items": items, "total_price": price, **more}
        return await self.act(sender, "SendMessage", {"to_agent_id": to, "message": message})

    async def pay(self, sender: str, to: str, id: str, **more: Any) -> dict[str, Any]:
        message = {"type": "payment", "proposal_message_id": id}
        return await self.act(sender, "SendMessage", {"to_agent_id": to, "message": message, **more})

    async def mail(self, id: str, **parameters: Any) -> list[dict[str, Any]]:
        return (await self.act(id, "FetchMessages", parameters))["content"]["messages"]


@asynccontextmanager
async def wire_to(config: ServeConfig) -> AsyncIterator[Wire]:
    async with (
        running_server(config) as server,
        httpx.AsyncClient(base_url=server.info.url, timeout=30, verify=False) as http,
    ):  # plain HTTP: no certificates to load
        yield Wire(http, server)
