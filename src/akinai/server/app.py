"""The routes of the market and their description; `make_app` puts the hot route and the limits in front."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST

from akinai.core.canonical import Json, keepable
from akinai.core.ledger import Outcome, Turn
from akinai.server import described, wire
from akinai.server.door import Badge, Door, Refused, digest, new_token
from akinai.server.execute import EXECUTE, Execute, Front, Reply, guarded, refusal
from akinai.server.logbook import Logbook
from akinai.server.market import HostedMarket
from akinai.server.watching import Watching
from akinai.server.wire import Malformed
from akinai.worlds.market import registered
from akinai.worlds.market.state import State
from akinai.worlds.market.times import read_time

LONGEST_WAIT_S = 30
JSON = "application/json"

Offset = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int | None, Query(ge=1, le=2**53)]
When = Annotated[str | None, Query(max_length=100)]
Wait = Annotated[float, Query(ge=0, le=LONGEST_WAIT_S, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class House:
    """What stands behind the routes."""

    market: HostedMarket
    door: Door
    logbook: Logbook
    watching: Watching


def make_app(house: House) -> Front:
    """The ASGI app of a market. Whoever makes it opens and closes the market."""
    app = FastAPI(title="Akinai market", version="1", redirect_slashes=False, docs_url=None, redoc_url=None)
    execute = Execute(house.market, house.door, house.watching)
    _add_agents(app, house)
    _add_actions(app, execute)
    _add_logs(app, house)
    _add_operations(app, house)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(404, _unknown)
    return Front(app, execute, house.watching)


def _response(reply: Reply) -> Response:
    return Response(reply.body, reply.status, reply.headers, JSON)


def _told(value: Json) -> Reply:
    return Reply(200, wire.dumped(value))


async def _answered(work: Awaitable[Reply]) -> Response:
    return _response(await guarded(work))


async def _unknown(request: Request, _: Exception) -> Response:
    """A path that leads nowhere."""
    asked = keepable(f"{request.method} {request.url.path}")
    return _response(
        refusal(404, f"there is no {asked:.200}; /openapi.json tells what there is, /actions/protocol how to act")
    )


async def _unfit(_: Request, error: Exception) -> Response:
    """Parameters of a path or query that do not fit, told without repeating what came."""
    assert isinstance(error, RequestValidationError)
    faults = [
        {"type": one["type"], "loc": [keepable(str(step)) for step in one["loc"]], "msg": keepable(one["msg"])}
        for one in error.errors()
    ]
    return _response(refusal(422, faults))


def _badge(request: Request) -> Badge:
    return Badge.of(request.scope["headers"])


def _add_agents(app: FastAPI, house: House) -> None:
    market, door = house.market, house.door

    @app.post("/agents/register", **described.REGISTER)
    async def register(request: Request) -> Response:
        """Enter the market, or change a profile."""
        return await _answered(_register(house, await request.body(), _badge(request)))

    @app.get("/agents", **described.LISTING)
    async def agents(offset: Offset = 0, limit: Limit = None) -> Response:
        """The profiles of those who registered, in that order."""
        state = market.committed.state
        page = list(registered(state, offset, limit))
        return _response(_told(wire.listing(page, len(state.joined), offset, limit)))

    @app.get("/agents/{id:path}", **described.AGENT)
    async def agent(id: str) -> Response:
        """One profile."""
        member = market.committed.state.members.get(id)
        if member is None or not member.registered:
            return _response(refusal(404, f"Agent {keepable(id)!r:.100} not found"))
        return _response(_told({"error": None, "agent": member.profile}))

    @app.get("/views/{id:path}", **described.VIEW)
    async def view(request: Request, id: str, wait_s: Wait = 0) -> Response:
        """What an agent of this run sees: for its own eyes. With `wait_s` it is answered when there is mail."""

        async def seen() -> Reply:
            badge = _badge(request)
            if badge.name != id:
                raise Refused(401, "X-Agent-Id must name the agent whose view it is")
            await door.own_view(badge)
            if wait_s:
                await market.news_for(id, wait_s)
            return _told(market.view(id))

        return await _answered(seen())


async def _register(house: House, body: bytes, badge: Badge) -> Reply:
    profile = wire.read_profile(body)
    id: str = profile["id"]
    token = new_token() if house.door.tokens else ""

    def tell(state: State, turn: Turn, outcome: Outcome) -> Reply:
        if not outcome.ok:
            return refusal(422, outcome.text, outcome.code or "")
        own: Mapping[str, Json] = {"token": token} if turn.said else {}
        return _told({"error": None, "id": id, **own})

    action = wire.registration(profile, house.market.committed.state)
    reply = await house.market.act(id, action, tell, proof=digest(badge.token), claim=digest(token) if token else "")
    house.watching.acted("register", "ok" if reply.status == 200 else "refused", 0)
    return reply


def _add_actions(app: FastAPI, execute: Execute) -> None:
    @app.get("/actions/protocol", **described.PROTOCOL)
    async def protocol() -> Response:
        """The verbs, their parameters as JSON Schema."""
        actions: Any = wire.protocol()
        return _response(_told({"error": None, "actions": actions}))

    @app.post(EXECUTE, **described.EXECUTE)
    async def act(request: Request) -> Response:
        """Do something. Refusals by the rules are answers with `is_error`."""
        return _response(await execute(request.scope["headers"], await request.body()))


def _add_logs(app: FastAPI, house: House) -> None:
    @app.post("/logs/create", **described.LOG)
    async def log(request: Request) -> Response:
        """Take a line of an agent's log."""

        async def taken() -> Reply:
            badge = _badge(request)
            actor = await house.door.agent(badge) if badge.name is not None or house.door.tokens else ""
            if not house.logbook.add(actor, wire.read_log(await request.body())):
                return refusal(429, "Too many lines wait; try again in a second", "overloaded")
            return _told({"error": None})

        return await _answered(taken())

    @app.get("/logs", **described.LISTING)
    async def logs(
        request: Request, after: When = None, before: When = None, offset: Offset = 0, limit: Limit = None
    ) -> Response:
        """The lines between two times, oldest first."""

        async def page() -> Reply:
            house.door.operator(_badge(request))
            items, total = await house.logbook.read(_time("after", after), _time("before", before), offset, limit)
            return _told(wire.listing(items, total, offset, limit))

        return await _answered(page())


def _time(name: str, text: str | None) -> int | None:
    at = None if text is None else read_time(text)
    if text is not None and at is None:
        raise Malformed((), f"{name} is no time in ISO 8601: {keepable(text)!r:.60}")
    return at


def _add_operations(app: FastAPI, house: House) -> None:
    @app.get("/health", **described.HEALTH)
    async def health() -> Response:
        """The server answers."""
        return _response(_told({"status": "healthy"}))

    @app.get("/metrics", **described.METRICS)
    async def metrics(request: Request) -> Response:
        """Figures for Prometheus."""
        try:
            house.door.operator(_badge(request))
        except Refused as refused:
            return _response(refusal(refused.status, refused.why))
        place, waiting = house.market.committed, house.market.waiting
        page = house.watching.page(waiting=waiting, agents=len(place.state.joined), entries=place.seq)
        return Response(page, media_type=CONTENT_TYPE_LATEST)
