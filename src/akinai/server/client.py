"""A client of the market over HTTP, and the session that lets our own agents play there as they do in process."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx
import orjson

from akinai.core.actions import Action
from akinai.core.agents import Agent, Move, View
from akinai.core.canonical import Json
from akinai.core.errors import AgentError, EndRun
from akinai.core.ledger import Outcome
from akinai.server.wire import KEY, TEXT_TOO
from akinai.worlds.market import actions as a
from akinai.worlds.market.views import WAITING

TRIES = 6
FIRST_PAUSE_S = 0.2
LONG_POLL_S = 25.0


class WireError(AgentError):
    """The market did not answer as its wire says: unreachable, or a status that is no answer."""

    def __init__(self, asked: str, found: str, status: int | None = None) -> None:
        super().__init__(f"{asked}: {found}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list."""

    items: Sequence[dict[str, Any]]
    total: int
    has_more: bool


class MarketClient:
    """Speaks the wire. Use it as `async with MarketClient("http://127.0.0.1:8000") as market: ...`.

    What may pass (no connection, 429, 503) is tried again for a while; a message bears an idempotency key, so that it
    is never sent twice. WireError for all else that is no answer.
    """

    def __init__(self, url: str, *, tokens: Mapping[str, str] | None = None, timeout_s: float = 60) -> None:
        self._url, self._timeout_s, self._tls = url, timeout_s, httpx.create_ssl_context(trust_env=False)
        self._lines: dict[str, httpx.AsyncClient] = {}
        self.tokens = dict(tokens or {})
        """By agent id; a registration adds the one that it is given."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(line.aclose() for line in self._lines.values()))

    def _line(self, actor: str) -> httpx.AsyncClient:
        """The connections of one agent: a pool of all would look at each of them, for each, at every request."""
        if actor not in self._lines:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=50)
            self._lines[actor] = httpx.AsyncClient(
                base_url=self._url, timeout=self._timeout_s, limits=limits, verify=self._tls, trust_env=False
            )
        return self._lines[actor]

    async def register(self, profile: Mapping[str, Json]) -> str | None:
        """Enter the market under the profile's id. Gives the token, where the server gives one."""
        told = await self._ask("POST", "/agents/register", body={"agent": profile}, actor=str(profile["id"]))
        if token := told.get("token"):
            self.tokens[told["id"]] = token
        return token

    async def agents(self, offset: int = 0, limit: int | None = None) -> Page:
        """The profiles of those who registered."""
        query = {"offset": offset} | ({"limit": limit} if limit else {})
        told = await self._ask("GET", "/agents", query=query)
        return Page(told["items"], told["total"], told["has_more"])

    async def agent(self, id: str) -> dict[str, Any]:
        """One profile. WireError with status 404 when nobody has the id."""
        return (await self._ask("GET", f"/agents/{quote(id, safe='')}"))["agent"]

    async def protocol(self) -> Sequence[dict[str, Any]]:
        """The verbs, parameters as JSON Schema."""
        return (await self._ask("GET", "/actions/protocol"))["actions"]

    async def view(self, actor: str, wait_s: float = 0) -> dict[str, Any]:
        """What an agent sees; with `wait_s`, at most 30, when there is mail for it."""
        query = {"wait_s": wait_s} if wait_s else {}
        return await self._ask("GET", f"/views/{quote(actor, safe='')}", query=query, actor=actor)

    async def act(self, actor: str, action: Action) -> Outcome:
        """Do an action, and give what the agent hears, as a session in process would."""
        parameters: dict[str, Any] = action.model_dump(mode="json")
        if isinstance(action, a.SendMessage) and KEY not in action.metadata:
            parameters["metadata"] = {**action.metadata, KEY: secrets.token_hex(12)}
        body = {"name": type(action).__name__, "parameters": parameters, "metadata": {TEXT_TOO: True}}
        return _outcome(await self._ask("POST", "/actions/execute", body=body, actor=actor))

    async def log(self, actor: str, level: str, name: str, message: str = "", data: Json = None) -> None:
        """Leave a line in the run's log."""
        line = {"level": level, "name": name, "message": message, "data": data, "metadata": {}}
        await self._ask("POST", "/logs/create", body={"log": line}, actor=actor)

    async def _ask(
        self, verb: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, actor: str = ""
    ) -> dict[str, Any]:
        headers = {b"content-type": b"application/json"}
        if actor:
            headers[b"x-agent-id"] = actor.encode()
        if token := self.tokens.get(actor):
            headers[b"authorization"] = b"Bearer " + token.encode()
        content = None if body is None else orjson.dumps(body)
        for attempt in range(TRIES):
            try:
                answer = await self._line(actor).request(
                    verb, path, params=query, content=content, headers=list(headers.items())
                )
                if answer.status_code == 200:
                    return orjson.loads(answer.content)
                found, status = f"status {answer.status_code}, {answer.text[:300]}", answer.status_code
            except httpx.TransportError as error:
                found, status = f"no answer from {self._url} ({type(error).__name__}: {error})", None
            except orjson.JSONDecodeError:
                raise WireError(f"{verb} {path}", "an answer that is not JSON; is this a market?") from None
            if status not in (None, 429, 503) or attempt == TRIES - 1:
                raise WireError(f"{verb} {path}", found, status)
            await asyncio.sleep(FIRST_PAUSE_S * 2**attempt)
        raise AssertionError("the last try has answered or raised")


def _outcome(told: Mapping[str, Any]) -> Outcome:
    metadata: Mapping[str, Any] = told["metadata"]
    text = metadata.get("text", "")
    if told["is_error"]:
        error = metadata["error"]
        return Outcome.refused(error["code"], error["message"], metadata.get("data"))
    return Outcome(text, data=metadata.get("data", told["content"]))


class HttpSession:
    """Plays a market over HTTP: view, act, hear. A wait is heard when there is mail or its time is over."""

    def __init__(self, client: MarketClient, profiles: Mapping[str, Mapping[str, Json]] | None = None) -> None:
        """`profiles` are those of agents that are not in the population of the run."""
        self._client, self._profiles = client, dict(profiles or {})

    async def view(self, actor: str) -> View:
        told = await self._client.view(actor)
        verbs = tuple(a.VERBS.find(name) for name in told["verbs"])
        return View(told["text"], verbs, told["closed"], told["news"])

    async def act(self, actor: str, move: Move) -> Outcome:
        if isinstance(move.action, a.Register):
            return await self._register(actor, move.action)
        heard = await self._client.act(actor, move.action)
        if isinstance(move.action, a.Wait) and heard.text == WAITING.text:
            return await self._waited(actor, move.action.seconds)
        return heard

    async def _waited(self, actor: str, seconds: float | None) -> Outcome:
        clock = asyncio.get_running_loop().time
        until = None if seconds is None else clock() + seconds
        while True:
            left = LONG_POLL_S if until is None else max(until - clock(), 0)
            told = await self._client.view(actor, min(left, LONG_POLL_S))
            if told["mail"] or told["closed"] or (until is not None and clock() >= until):
                return Outcome(told["wait"])

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
    """Let an agent play its part until it ends, and say why it did. Raises what the agent raises."""
    heard: Outcome | None = None
    while True:
        view = await session.view(actor)
        if view.closed:
            return view.closed
        try:
            move = await agent.act(view, heard)
        except EndRun as end:
            return end.ending
        heard = await session.act(actor, move)
