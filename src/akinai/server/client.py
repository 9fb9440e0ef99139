"""A client of the market over HTTP, and a session in which our own agents play there as they do in process."""

import asyncio
import secrets
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote

import httpx
import orjson

from akinai.core.actions import Action
from akinai.core.agents import Agent, Move, View
from akinai.core.canonical import Json
from akinai.core.errors import AgentError, EndRun
from akinai.core.ledger import Outcome
from akinai.server.wire import KEY, WITH_TEXT
from akinai.worlds.market.model import actions as a
from akinai.worlds.market.rules.views import WAITING

ATTEMPTS = 6
FIRST_PAUSE_S = 0.2
LONG_POLL_S = 25.0
TEMPORARY = (None, 429, 502, 503, 504)
"""Statuses after which a request is sent again: None without an answer, 502 and 504 from a proxy."""


class WireError(AgentError):
    """The market is unreachable or answered with another status than 200."""

    def __init__(self, request: str, fault: str, status: int | None = None) -> None:
        super().__init__(f"{request}: {fault}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list."""

    items: Sequence[dict[str, Any]]
    total: int
    has_more: bool


@cache
def certificates() -> ssl.SSLContext:
    """Those that clients of a server trust, read once: each reading takes as long as a dozen requests."""
    return httpx.create_ssl_context(trust_env=False)


class MarketClient:
    """A client of the market: `async with MarketClient("http://127.0.0.1:8000") as market: ...`.

    Temporary failures (no connection, 429, 502 to 504) are retried for a while. Each message carries an idempotency
    key, so that it is never sent twice. Raises WireError for every other failure.
    """

    def __init__(self, url: str, *, tokens: Mapping[str, str] | None = None, timeout_s: float = 60) -> None:
        self._url, self._timeout_s = url, timeout_s
        self._connections: dict[str, httpx.AsyncClient] = {}
        self.tokens = dict(tokens or {})
        """Tokens by agent id; the operator's is under "". A registration sends the token that claims its id, and
        replaces it by the token that the server returns."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(connection.aclose() for connection in self._connections.values()))

    def _connection(self, actor: str) -> httpx.AsyncClient:
        """The connections of one agent. A shared pool would scan the connections of all agents at every request."""
        if actor not in self._connections:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=50)
            self._connections[actor] = httpx.AsyncClient(
                base_url=self._url, timeout=self._timeout_s, limits=limits, verify=certificates(), trust_env=False
            )
        return self._connections[actor]

    async def register(self, profile: Mapping[str, Json]) -> str | None:
        """Enter the market under the profile's id. Returns the token if the server issues one."""
        answer = await self._request("POST", "/agents/register", body={"agent": profile}, actor=str(profile["id"]))
        if token := answer.get("token"):
            self.tokens[answer["id"]] = token
        return token

    async def agents(self, offset: int = 0, limit: int | None = None, *, actor: str = "") -> Page:
        """The profiles of the registered agents. Where tokens are required, `actor` asks, or the operator."""
        query = {"offset": offset} | ({"limit": limit} if limit else {})
        answer = await self._request("GET", "/agents", query=query, actor=actor)
        return Page(answer["items"], answer["total"], answer["has_more"])

    async def agent(self, id: str, *, actor: str = "") -> dict[str, Any]:
        """The profile of an agent; `actor` as for `agents`. WireError with status 404 for an unknown id."""
        return (await self._request("GET", f"/agents/{quote(id, safe='')}", actor=actor))["agent"]

    async def claims(self) -> Mapping[str, str]:
        """Claim tokens of known agents that have not registered yet, by id. For the operator."""
        return {claim["id"]: claim["token"] for claim in (await self._request("GET", "/claims"))["items"]}

    async def protocol(self) -> Sequence[dict[str, Any]]:
        """The verbs, their parameters as JSON Schema."""
        return (await self._request("GET", "/actions/protocol"))["actions"]

    async def view(self, actor: str, wait_s: float = 0, after_index: int | None = None) -> dict[str, Any]:
        """The view of an agent. With `wait_s`, at most 30, the answer waits until there is mail for it.

        That is mail after `after_index`, the last message that reached the agent, else after all that it fetched: an
        answer that was lost may have held some.
        """
        query = ({"wait_s": wait_s} if wait_s else {}) | ({} if after_index is None else {"after_index": after_index})
        return await self._request("GET", f"/views/{quote(actor, safe='')}", query=query, actor=actor)

    async def act(self, actor: str, action: Action) -> Outcome:
        """Do an action. Returns the outcome that a session in process would return."""
        parameters: dict[str, Any] = action.model_dump(mode="json")
        if isinstance(action, a.SendMessage) and KEY not in action.metadata:
            parameters["metadata"] = {**action.metadata, KEY: secrets.token_hex(12)}
        body = {"name": type(action).__name__, "parameters": parameters, "metadata": {WITH_TEXT: True}}
        return _outcome(await self._request("POST", "/actions/execute", body=body, actor=actor))

    async def log(self, actor: str, level: str, name: str, message: str = "", data: Json = None) -> None:
        """Write a line to the run's log."""
        line: dict[str, Json] = {"level": level, "name": name, "message": message, "data": data, "metadata": {}}
        await self._request("POST", "/logs/create", body={"log": line}, actor=actor)

    async def _request(
        self, verb: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, actor: str = ""
    ) -> dict[str, Any]:
        headers = {b"content-type": b"application/json"}
        if actor:
            headers[b"x-agent-id"] = actor.encode()
        if token := self.tokens.get(actor):
            headers[b"authorization"] = b"Bearer " + token.encode()
        content = None if body is None else orjson.dumps(body)
        for attempt in range(ATTEMPTS):
            try:
                answer = await self._connection(actor).request(
                    verb, path, params=query, content=content, headers=list(headers.items())
                )
                if answer.status_code == 200:
                    return orjson.loads(answer.content)
                fault, status = f"status {answer.status_code}, {answer.text[:300]}", answer.status_code
            except httpx.TransportError as error:
                fault, status = f"no answer from {self._url} ({type(error).__name__}: {error})", None
            except orjson.JSONDecodeError:
                raise WireError(f"{verb} {path}", "an answer that is not JSON; is this a market?") from None
            if status not in TEMPORARY or attempt == ATTEMPTS - 1:
                raise WireError(f"{verb} {path}", fault, status)
            await asyncio.sleep(FIRST_PAUSE_S * 2**attempt)
        raise AssertionError("the last attempt has returned or raised")


def _outcome(answer: Mapping[str, Any]) -> Outcome:
    metadata: Mapping[str, Any] = answer["metadata"]
    text = metadata.get("text", "")
    if answer["is_error"]:
        error = metadata["error"]
        return Outcome.refused(error["code"], error["message"], metadata.get("data"))
    return Outcome(text, data=metadata.get("data", answer["content"]))


class HttpSession:
    """A session of a market over HTTP. A `Wait` returns when there is mail or its time is over."""

    def __init__(self, client: MarketClient, profiles: Mapping[str, Mapping[str, Json]] | None = None) -> None:
        """`profiles`, by agent id, are needed for agents outside the population of the run."""
        self._client, self._profiles = client, dict(profiles or {})
        self._read: dict[str, int] = {}
        """The index of the last message that reached each agent."""

    async def view(self, actor: str) -> View:
        answer = await self._client.view(actor)
        verbs = tuple(a.VERBS.find(name) for name in answer["verbs"])
        return View(answer["text"], verbs, answer["closed"], answer["news"])

    async def act(self, actor: str, move: Move) -> Outcome:
        if isinstance(move.action, a.Register):
            return await self._register(actor, move.action)
        outcome = await self._client.act(actor, move.action)
        if isinstance(move.action, a.FetchMessages) and outcome.ok:
            self._note_read(actor, move.action, cast("Mapping[str, Any]", outcome.data)["messages"])
        if isinstance(move.action, a.Wait) and outcome.text == WAITING.text:
            return await self._wait(actor, move.action.seconds)
        return outcome

    def _note_read(self, actor: str, fetch: a.FetchMessages, messages: Sequence[Mapping[str, Any]]) -> None:
        """Note how far an agent has read. A part of its mail, in which nothing came, does not tell."""
        if messages or fetch.after_index is not None or fetch == a.FetchMessages():
            indices = [message["index"] for message in messages]
            self._read[actor] = max(self._read.get(actor, 0), fetch.after_index or 0, *indices)

    async def _wait(self, actor: str, seconds: float | None) -> Outcome:
        clock = asyncio.get_running_loop().time
        until = None if seconds is None else clock() + seconds
        while True:
            left = LONG_POLL_S if until is None else max(until - clock(), 0)
            view = await self._client.view(actor, min(left, LONG_POLL_S), self._read.get(actor))
            if view["mail"] or view["closed"] or (until is not None and clock() >= until):
                return Outcome(view["wait"])

    async def _register(self, actor: str, action: a.Register) -> Outcome:
        profile = action.profile or self._profiles.get(actor) or {"id": actor}
        try:
            await self._client.register(profile)
        except WireError as error:
            if error.status != 422:
                raise
            return Outcome.refused("wrong_profile", str(error))
        return Outcome("You are registered.", data={"id": actor})


async def play(session: HttpSession, actor: str, agent: Agent) -> str:
    """Let an agent play until its part ends, and return the ending. Errors of the agent pass through."""
    last: Outcome | None = None
    while True:
        view = await session.view(actor)
        if view.closed:
            return view.closed
        try:
            move = await agent.act(view, last)
        except EndRun as end:
            return end.ending
        last = await session.act(actor, move)
