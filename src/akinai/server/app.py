"""The routes of the market with their OpenAPI descriptions, and the apps of both kinds of server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST

from akinai.core.canonical import Json, keepable
from akinai.core.ledger import Outcome, Turn
from akinai.server import openapi as described
from akinai.server import wire
from akinai.server.authentication import Authentication, Credentials, Unauthorized, digest, new_token
from akinai.server.execute import (
    EXECUTE_PATH,
    MAX_LOG_BYTES,
    ExecuteRoute,
    Receive,
    Reply,
    read_body,
    refusal,
    reply_or_refusal,
)
from akinai.server.log_sink import LogSink
from akinai.server.market import HostedMarket
from akinai.server.metrics import Metrics
from akinai.server.middleware import LOG_PATH, Middleware
from akinai.server.pages import docs_page, sessions_page, start_page
from akinai.server.routing import credentials_of, responds, response_of
from akinai.server.sessions.routes import SessionServices, add_session_routes
from akinai.server.wire import Malformed
from akinai.worlds.market import State, registered
from akinai.worlds.market.model.profiles import public_profile
from akinai.worlds.market.model.units import read_time

MAX_WAIT_S = 30

Offset = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int | None, Query(ge=1, le=2**53)]
Index = Annotated[int | None, Query(ge=0, le=2**53)]
Time = Annotated[str | None, Query(max_length=100)]
Wait = Annotated[float, Query(ge=0, le=MAX_WAIT_S, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Services:
    """The services that the routes use."""

    market: HostedMarket
    authentication: Authentication
    log_sink: LogSink
    metrics: Metrics
    sessions: SessionServices
    """The names that requests may be addressed to; None for any."""


def make_app(services: Services) -> Middleware:
    """The ASGI app of a market. The caller opens and closes the market."""
    app = FastAPI(title="Akinai market", version="1", redirect_slashes=False, docs_url=None, redoc_url=None)
    execute = ExecuteRoute(services.market, services.authentication, services.metrics)
    _add_agents(app, services)
    _add_actions(app, execute)
    _add_logs(app, services)
    _add_operations(app, services)
    add_session_routes(app, services.sessions)
    _add_pages(app, lambda: start_page(services.market.header.run_id, tokens=services.authentication.tokens))
    _add_refusals(app, "/openapi.json tells what there is, /actions/protocol how to act")
    return Middleware(app, execute, services.metrics)


def make_session_app(sessions: SessionServices, metrics: Metrics) -> Middleware:
    """The ASGI app of a server of sessions, without a market. The caller closes the sessions."""
    app = FastAPI(title="Akinai sessions", version="1", redirect_slashes=False, docs_url=None, redoc_url=None)
    add_session_routes(app, sessions)
    _add_health(app)
    _add_pages(app, lambda: sessions_page(tokens=sessions.access.tokens))
    _add_refusals(app, "/openapi.json tells what there is")
    return Middleware(app, None, metrics)


def _add_refusals(app: FastAPI, hint: str) -> None:
    """The answers for paths without a route, with `hint`, and for invalid parameters."""

    async def not_found(request: Request, _: Exception) -> Response:
        requested = keepable(f"{request.method} {request.url.path}")
        return response_of(refusal(404, f"there is no {requested:.200}; {hint}"))

    app.add_exception_handler(RequestValidationError, _invalid_parameters)
    app.add_exception_handler(404, not_found)


def _ok(value: Json) -> Reply:
    return Reply(200, wire.encode(value))


async def _invalid_parameters(_: Request, error: Exception) -> Response:
    """The answer for invalid parameters of a path or query. It does not repeat their values."""
    assert isinstance(error, RequestValidationError)
    faults = [
        {"type": fault["type"], "loc": [keepable(str(step)) for step in fault["loc"]], "msg": keepable(fault["msg"])}
        for fault in error.errors()
    ]
    return response_of(refusal(422, faults))


def _add_agents(app: FastAPI, services: Services) -> None:
    market, authentication = services.market, services.authentication

    @app.post("/agents/register", **described.REGISTER)
    @responds(reply_or_refusal)
    async def register(request: Request) -> Reply:
        """Enter the market, or change a profile."""
        return await _register(services, request.receive, credentials_of(request))

    @app.get("/agents", **described.LISTING)
    @responds(reply_or_refusal)
    async def agents(request: Request, offset: Offset = 0, limit: Limit = None) -> Reply:
        """The profiles of those who registered, in that order."""
        await authentication.profiles(credentials_of(request))
        state = market.committed.state
        items = [public_profile(profile["id"], profile) for profile in registered(state, offset, limit)]
        return _ok(wire.listing(items, len(state.joined), offset, limit))

    @app.get("/agents/{id:path}", **described.AGENT)
    @responds(reply_or_refusal)
    async def agent(request: Request, id: str) -> Reply:
        """One profile."""
        await authentication.profiles(credentials_of(request))
        members = market.committed.state.members
        member = members.get(id) or members.get(id.removesuffix("/"))
        if member is None or not member.registered:
            return refusal(404, f"Agent {keepable(id)!r:.100} not found")
        return _ok({"error": None, "agent": public_profile(member.id, member.profile)})

    @app.get("/views/{id:path}", **described.VIEW)
    @responds(reply_or_refusal)
    async def view(request: Request, id: str, wait_s: Wait = 0, after_index: Index = None) -> Reply:
        """What an agent of this run sees: for its own eyes. With `wait_s` it is answered when there is mail: after what
        it fetched or, with `after_index`, after the last message that reached it."""
        credentials = credentials_of(request)
        if credentials.agent_id != id:
            raise Unauthorized(401, "X-Agent-Id must name the agent whose view it is")
        await authentication.own_view(credentials)
        if wait_s:
            await market.wait_for_mail(id, wait_s, after_index)
        return _ok(market.view(id, after_index))


async def _register(services: Services, receive: Receive, credentials: Credentials) -> Reply:
    profile = wire.read_profile(await read_body(receive))
    id: str = profile["id"]
    services.authentication.expect_claim(id, credentials)
    token = new_token() if services.authentication.tokens else ""

    def respond(state: State, turn: Turn, outcome: Outcome) -> Reply:
        if not outcome.ok:
            return refusal(422, outcome.text, outcome.code or "")
        issued: Mapping[str, Json] = {"token": token} if turn.said else {}
        return _ok({"error": None, "id": id, **issued})

    action = wire.registration(profile, services.market.committed.state)
    reply = await services.market.act(
        id, action, respond, token_digest=digest(credentials.token), new_token_digest=digest(token) if token else ""
    )
    services.metrics.acted("register", "ok" if reply.status == 200 else "refused", 0)
    return reply


def _add_actions(app: FastAPI, execute: ExecuteRoute) -> None:
    @app.get("/actions/protocol", **described.PROTOCOL)
    async def protocol() -> Response:
        """The verbs, their parameters as JSON Schema."""
        actions: Any = wire.protocol()
        return response_of(_ok({"error": None, "actions": actions}))

    @app.post(EXECUTE_PATH, **described.EXECUTE)
    async def act(request: Request) -> Response:
        """Do something. Refusals by the rules are answers with `is_error`."""
        return response_of(await execute(request.scope["headers"], request.receive))


def _add_logs(app: FastAPI, services: Services) -> None:
    @app.post(LOG_PATH, **described.LOG)
    @responds(reply_or_refusal)
    async def log(request: Request) -> Reply:
        """Take a line of an agent's log."""
        credentials, authentication = credentials_of(request), services.authentication
        actor = await authentication.agent(credentials) if authentication.tokens else credentials.agent_id or ""
        body = await read_body(request.receive, MAX_LOG_BYTES)
        if not services.log_sink.add(keepable(actor), wire.read_log(body), len(body)):
            return refusal(429, "Too many lines wait; try again in a second", "overloaded")
        return _ok({"error": None})

    @app.get("/logs", **described.LISTING)
    @responds(reply_or_refusal)
    async def logs(
        request: Request, after: Time = None, before: Time = None, offset: Offset = 0, limit: Limit = None
    ) -> Reply:
        """The lines between two times, oldest first."""
        services.authentication.operator(credentials_of(request))
        items, total = await services.log_sink.read(_time("after", after), _time("before", before), offset, limit)
        return _ok(wire.listing(items, total, offset, limit))


def _time(name: str, text: str | None) -> int | None:
    at = None if text is None else read_time(text)
    if text is not None and at is None:
        raise Malformed((), f"{name} is no time in ISO 8601: {keepable(text)!r:.60}")
    return at


def _add_operations(app: FastAPI, services: Services) -> None:
    @app.get("/claims", **described.LISTING)
    @responds(reply_or_refusal)
    async def claims(request: Request, offset: Offset = 0, limit: Limit = None) -> Reply:
        """For the operator, where tokens are required: with which token each known agent without one registers."""
        services.authentication.operator(credentials_of(request))
        claims = services.authentication.claims()
        page = claims[offset:] if limit is None else claims[offset : offset + limit]
        items = [{"id": id, "token": token} for id, token in page]
        return _ok(wire.listing(items, len(claims), offset, limit))

    _add_health(app)

    @app.get("/metrics", **described.METRICS)
    async def metrics(request: Request) -> Response:
        """Figures for Prometheus."""
        try:
            services.authentication.operator(credentials_of(request))
        except Unauthorized as error:
            return response_of(refusal(error.status, error.why))
        head, waiting = services.market.committed, services.market.waiting
        page = services.metrics.page(waiting=waiting, agents=len(head.state.joined), entries=head.seq)
        return Response(page, media_type=CONTENT_TYPE_LATEST)


def _add_health(app: FastAPI) -> None:
    @app.get("/health", **described.HEALTH)
    async def health() -> Response:
        """The server answers."""
        return response_of(_ok({"status": "healthy"}))


def _add_pages(app: FastAPI, page: Callable[[], Response]) -> None:
    """`page` makes the first page."""

    @app.get("/", include_in_schema=False)
    async def start() -> Response:
        return page()

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return docs_page(app.openapi())
