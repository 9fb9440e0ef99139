"""Sends requests to the public server and to ours, and makes their answers comparable."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from corpus import ABSENT, Request

from akinai.server.serving import ServeConfig, running_server

HERE = Path(__file__).parent


@asynccontextmanager
async def public_server(folder: Path) -> AsyncIterator[str]:
    """The URL of a new public server. It writes its database and its metrics into the folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, str(HERE / "public_server.py"), str(port), str(folder / "public.db")]
    server = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    try:
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            for _ in range(600):
                try:
                    assert (await http.get("/health")).status_code == 200
                    break
                except httpx.TransportError:
                    assert server.poll() is None, "the public server did not start"
                    await asyncio.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait(30)


@asynccontextmanager
async def our_server(**settings: Any) -> AsyncIterator[str]:
    """The URL of a new server of ours."""
    async with running_server(ServeConfig(store="memory:", port=0, **settings)) as server:
        yield server.info.url


@dataclass(frozen=True)
class Comparison:
    """What both servers answered to one request: the status and the normalised body."""

    request: Request
    public: Any
    ours: Any


async def compare_all(requests: Sequence[Request], folder: Path) -> list[Comparison]:
    """The answers of a new public server and of a new one of ours to the requests in their order.

    Each request has a connection of its own: a server may close one that waits while the other server is slow.
    """
    apart = httpx.Limits(max_keepalive_connections=0)
    async with (
        public_server(folder) as public_url,
        our_server() as our_url,
        httpx.AsyncClient(base_url=public_url, timeout=60, trust_env=False, limits=apart) as public_http,
        httpx.AsyncClient(base_url=our_url, timeout=60, trust_env=False, limits=apart) as our_http,
    ):
        public, ours = Client(public_http), Client(our_http)
        return [
            Comparison(request, *await asyncio.gather(public.answer(request), ours.answer(request)))
            for request in requests
        ]


@dataclass
class Client:
    """Sends the requests of the corpus to one server."""

    http: httpx.AsyncClient
    remembered: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    async def answer(self, request: Request) -> Any:
        """Status and normalised body."""
        headers = {} if request.agent is None else {"X-Agent-Id": request.agent}
        content = request.body
        if content is ABSENT:
            content = None
        elif not isinstance(content, bytes):
            content = json.dumps(self._filled(content)).encode()
        if content is not None:
            headers["content-type"] = "application/json"
        try:
            answer = await self.http.request(request.method, request.path, content=content, headers=headers)
        except httpx.TransportError as error:
            error.add_note(f"{request.name} to {self.http.base_url}")
            raise
        if request.remember:
            self.remembered[request.remember] = answer.json()["content"]["messages"]
        return [answer.status_code, normalised(request, answer)]

    def _filled(self, value: Any) -> Any:
        """The value with what it names of a remembered fetch."""
        match value:
            case {"$": str(path)}:
                name, place, field = path.split(".")
                return self.remembered[name][int(place)][field]
            case dict():
                return {key: self._filled(item) for key, item in value.items()}
            case list():
                return [self._filled(item) for item in value]
            case _:
                return value


def normalised(request: Request, answer: httpx.Response) -> Any:
    """The body without what differs between any two servers: wording of refusals, clocks, numbering of messages.

    What is left out here for good is in the table, as the rows without requests.
    """
    if answer.status_code != 200 or request.method == "HEAD":
        return None
    try:
        body = answer.json()
    except ValueError:
        return "not JSON"
    path = request.path.partition("?")[0].rstrip("/")
    if path == "/actions/execute":
        return _action(body)
    if path == "/actions/protocol":
        return [(action["name"], sorted(action)) for action in body["actions"]]
    if path == "/logs":
        items = [{key: item[key] for key in item if key not in ("agent_id", "created_at")} for item in body["items"]]
        return {**body, "items": items}
    return body


def _action(body: Mapping[str, Any]) -> Any:
    content: Any = body["content"]
    if body["is_error"]:
        kind = content.get("error") or content.get("error_type") if isinstance(content, dict) else None
        return {"is_error": True, "content": kind if kind == "invalid_proposal" or _is_unknown(kind) else "refused"}
    if isinstance(content, dict) and "messages" in content:
        messages = [
            {key: mail[key] for key in mail if key not in ("index", "created_at")} for mail in content["messages"]
        ]
        indices = [mail["index"] for mail in content["messages"]]
        assert indices == sorted(set(indices)), "indices rise"
        content = {**content, "messages": messages}
    elif isinstance(content, dict) and "created_at" in content:
        content = {**content, "created_at": _instant(content["created_at"])}
    return {**body, "content": content}


def _instant(text: str) -> Any:
    """Seconds since the epoch of a time with a zone; any other text as it is."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    return time.timestamp() if time.tzinfo else text


def _is_unknown(text: Any) -> bool:
    """Whether a refusal is about an unknown recipient, whose wording is part of the wire."""
    return isinstance(text, str) and text.startswith("to_agent_id ") and text.endswith(" not found")
