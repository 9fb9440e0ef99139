"""The routes of sessions and playbooks, with their OpenAPI descriptions."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ValidationError

from akinai.api.playbook import open_playbook
from akinai.api.seat import Seat, own_actors
from akinai.api.session import AsyncSession
from akinai.core.canonical import keepable
from akinai.core.errors import AgentError, EndRun, StoreError, UnknownName, UsageError
from akinai.learning.playbook.formats import to_json
from akinai.server import wire
from akinai.server.authentication import Unauthorized
from akinai.server.execute import Reply, read_body, refusal, reply_or_refusal
from akinai.server.routing import credentials_of, responds
from akinai.server.sessions import shapes as s
from akinai.server.sessions.access import SessionAccess
from akinai.server.sessions.hosting import HostedSession, OtherRequest, SessionClosed, SessionHost
from akinai.server.wire import Malformed

Offset = Annotated[int, Query(ge=0, le=2**53)]
Limit = Annotated[int | None, Query(ge=1, le=2**53)]
Actor = Annotated[str | None, Query(max_length=500, description="The actor; by default the one that acts next.")]
Inline = Annotated[bool, Query(description="Schemas without `$ref`.")]
B = TypeVar("B", bound=BaseModel)

MEANINGS = {
    401: "Not let in.", 403: "Another seat.", 404: "Not there.", 409: "The run is over, or failed.", 413: "Too large.",
    422: "Does not parse, or cannot be played.", 429: "Too many are open or wait; try again.",
    503: "Could not be kept, so it was not done; try again.",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SessionServices:
    """The services that the routes of sessions use."""

    host: SessionHost
    access: SessionAccess
    playbooks: Sequence[str] = ()
    """Names or paths of the playbooks that are served."""


@cache
def _described(answer: type[BaseModel], *statuses: int, body: type[BaseModel] | None = None, status: int = 200) -> Any:
    """The arguments of a route's decorator. FastAPI would make a validator for each answer that is given as a model, so
    one refusal brings the shape of all.
    """
    shape: Any = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}}}
    responses: dict[int, Any] = {code: {"description": MEANINGS[code], **shape} for code in statuses}
    responses[401] = {"model": s.ProblemAnswer, "description": MEANINGS[401]}
    content = {"application/json": {"schema": body.model_json_schema()}} if body else {}
    extra = {"openapi_extra": {"requestBody": {"required": True, "content": content}}} if body else {}
    return {"response_model": answer, "responses": responses, "status_code": status, **extra}


def _answer(value: BaseModel, status: int = 200) -> Reply:
    return Reply(status, wire.encode(value.model_dump(mode="json")))


async def _body(request: Request, shape: type[B]) -> B:
    body = await read_body(request.receive)
    try:
        return shape.model_validate(wire.read_json(body or b"{}"))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise Malformed([keepable(str(step)) for step in fault["loc"]], keepable(fault["msg"])) from None


async def _reply_or_refusal(work: Awaitable[Reply]) -> Reply:
    """The reply of `work`, or the refusal that its error means."""
    try:
        return await reply_or_refusal(_with_store_refusal(work))
    except EndRun as end:
        return refusal(409, f"The run is over: {end.ending}", "over")
    except SessionClosed as error:
        return refusal(409, str(error), "closed")
    except OtherRequest as error:
        return refusal(422, str(error), "key_reused")
    except UnknownName as error:
        status = 404 if error.kind in ("session", "playbook", "run") else 422
        return refusal(status, keepable(str(error)), f"unknown_{error.kind}")
    except UsageError as error:
        return refusal(422, keepable(str(error)), "unusable")
    except AgentError as error:
        return refusal(409, keepable(f"The run has failed: {error}"), "failed")


async def _with_store_refusal(work: Awaitable[Reply]) -> Reply:
    """The reply of `work`, or the refusal when the store fails, which leaves open whether it kept the action."""
    try:
        return await work
    except StoreError as error:
        why = f"The store failed ({keepable(str(error)):.300}); POST /sessions/ID/resume goes on from what it kept"
        return refusal(503, why, "store_unavailable")


def add_session_routes(app: FastAPI, services: SessionServices) -> None:
    """Add all routes of sessions and playbooks to an app."""
    _add_openings(app, services)
    _add_reads(app, services)
    _add_results(app, services)
    _add_actions(app, services)
    _add_playbooks(app, services)


def _opened(services: SessionServices, hosted: HostedSession, status: int) -> Reply:
    info, token = hosted.info(), services.access.token
    seats = [s.SeatToken(actor=actor, token=token(info.id, actor)) for actor in own_actors(hosted.session)]
    return _answer(s.OpenedSession(**info.model_dump(), token=token(info.id), seats=seats), status)


def _add_openings(app: FastAPI, services: SessionServices) -> None:
    host, access = services.host, services.access
    refusals = (401, 409, 413, 422, 429, 503)

    @app.post("/sessions", **_described(s.OpenedSession, *refusals, body=s.NewSession, status=201))
    @responds(_reply_or_refusal)
    async def open(request: Request) -> Reply:
        """Open a session, whose actors are played by requests: a new run (201), or one that goes on, which has the same
        name and options and is not over (200). For the operator."""
        access.operator(credentials_of(request))
        hosted, is_new = await host.open(await _body(request, s.NewSession))
        return _opened(services, hosted, 201 if is_new else 200)

    @app.get("/sessions", **_described(s.SessionPage, 401, 422))
    @responds(_reply_or_refusal)
    async def sessions(request: Request, offset: Offset = 0, limit: Limit = None) -> Reply:
        """The sessions that are open here, oldest first. For the operator."""
        access.operator(credentials_of(request))
        names = list(host.sessions)
        page = names[offset:] if limit is None else names[offset : offset + limit]
        items = [host.find(name).info() for name in page]
        return _answer(s.SessionPage(items=items, **_page_fields(len(names), offset, limit, len(items))))

    @app.post("/sessions/{id}/resume", **_described(s.OpenedSession, 401, 404, 413, 422, 429, 503))
    @responds(_reply_or_refusal)
    async def resume(request: Request, id: str) -> Reply:
        """Go on with a run that was opened before; the same session where it is open. For the operator."""
        access.whole_session(id, credentials_of(request))
        return _opened(services, await host.resume(id), 200)

    @app.post("/sessions/{id}/close", **_described(s.SessionInfo, 401, 404, 503))
    @responds(_reply_or_refusal)
    async def close(request: Request, id: str) -> Reply:
        """Close a session. A run that is not over can be resumed. For the token of the session."""
        access.whole_session(id, credentials_of(request))
        hosted = host.find(id)
        await host.close(id)
        return _answer(hosted.info())


def _page_fields(total: int, offset: int, limit: int | None, count: int) -> dict[str, Any]:
    return {"total": total, "offset": offset, "limit": limit, "has_more": offset + count < total}


def _expect_own(seat: Seat[AsyncSession], actor: str | None) -> None:
    """Unauthorized (403) for an actor of another seat."""
    if actor is not None and not seat.plays(actor):
        raise Unauthorized(403, f"the token is that of {seat.actor}, not of {keepable(actor)!r:.100}")


def _viewer(seat: Seat[AsyncSession], actor: str | None) -> str | None:
    """The actor that a request is about, by default the one that acts next. Unauthorized (403) as `_expect_own`."""
    _expect_own(seat, actor)
    return actor or seat.on_turn() or next(iter(own_actors(seat.session)), None)


def _add_reads(app: FastAPI, services: SessionServices) -> None:
    access = services.access

    @app.get("/sessions/{id}", **_described(s.SessionInfo, 401, 404))
    @responds(_reply_or_refusal)
    async def session(request: Request, id: str) -> Reply:
        """A session as it stands."""
        return _answer(access.session(id, credentials_of(request))[0].info())

    @app.get("/sessions/{id}/view", **_described(s.ViewAnswer, 401, 404, 422))
    @responds(_reply_or_refusal)
    async def view(request: Request, id: str, actor: Actor = None) -> Reply:
        """What an actor sees. Free; not recorded."""
        _, seat = access.session(id, credentials_of(request))
        viewer = _viewer(seat, actor)
        view = seat.session.view(viewer)
        names = [verb.tool_name() for verb in view.verbs]
        return _answer(
            s.ViewAnswer(
                actor=viewer or "", text=view.text, actions=names, closed=view.closed, news=view.news, now=view.now
            )
        )

    @app.get("/sessions/{id}/tools", **_described(s.ToolsAnswer, 401, 404, 422))
    @responds(_reply_or_refusal)
    async def tools(request: Request, id: str, actor: Actor = None, inline: Inline = False) -> Reply:
        """The actions that an actor may take now, as tools for a model."""
        _, seat = access.session(id, credentials_of(request))
        return _answer(s.ToolsAnswer(tools=seat.session.tools(_viewer(seat, actor), inline=inline)))

    @app.get("/sessions/{id}/prompt", **_described(s.PromptAnswer, 401, 404, 422))
    @responds(_reply_or_refusal)
    async def prompt(request: Request, id: str, actor: Actor = None) -> Reply:
        """The system prompt of an agent that begins to play an actor."""
        _, seat = access.session(id, credentials_of(request))
        return _answer(s.PromptAnswer(prompt=seat.session.prompt(_viewer(seat, actor))))


def _add_results(app: FastAPI, services: SessionServices) -> None:
    access = services.access

    @app.get("/sessions/{id}/scores", **_described(s.ScoresAnswer, 401, 404))
    @responds(_reply_or_refusal)
    async def scores(request: Request, id: str) -> Reply:
        """The scores as they stand; for the token of a seat once the run is over."""
        _, seat = access.session(id, credentials_of(request))
        scores = await seat.session.scores() if seat.actor is None or seat.session.done else ()
        return _answer(s.ScoresAnswer(done=seat.session.done, scores={score.name: score for score in scores}))

    @app.get("/sessions/{id}/ledger", **_described(s.LedgerPage, 401, 404, 422))
    @responds(_reply_or_refusal)
    async def ledger(request: Request, id: str, offset: Offset = 0, limit: Limit = None) -> Reply:
        """Entries of the run, first to last; for the token of a seat, its own."""
        _, seat = access.session(id, credentials_of(request))
        own = await seat.entries()
        page = own[offset:] if limit is None else own[offset : offset + limit]
        items = [{"seq": entry.seq, "at": entry.at, "digest": entry.digest, **entry.data} for entry in page]
        return _answer(s.LedgerPage(items=items, **_page_fields(len(own), offset, limit, len(items))))


def _add_actions(app: FastAPI, services: SessionServices) -> None:
    described = _described(s.ActAnswer, 401, 403, 404, 409, 413, 422, 429, 503, body=s.NewAction)
    described["responses"][202] = {"model": s.ActAnswer, "description": "Pending; send it again with its key."}

    @app.post("/sessions/{id}/act", **described)
    @responds(_reply_or_refusal)
    async def act(request: Request, id: str) -> Reply:
        """Take an action. A refusal by the rules is an answer whose outcome is not `ok`."""
        hosted, seat = services.access.session(id, credentials_of(request))
        action = await _body(request, s.NewAction)
        _expect_own(seat, action.actor)
        answer = await hosted.act(action, seat)
        return _answer(answer, 202 if answer.pending else 200)


def _add_playbooks(app: FastAPI, services: SessionServices) -> None:
    access, names = services.access, {open_playbook(name).path.stem: name for name in services.playbooks}

    @app.get("/playbooks", **_described(s.PlaybooksAnswer, 401))
    @responds(_reply_or_refusal)
    async def playbooks(request: Request) -> Reply:
        """The playbooks that are served."""
        access.member(credentials_of(request))
        return _answer(s.PlaybooksAnswer(playbooks=list(names)))

    @app.get("/playbooks/{name}", **_described(_Playbook, 401, 404))
    @responds(_reply_or_refusal)
    async def playbook(request: Request, name: str) -> Reply:
        """A playbook: sections of bullets."""
        access.member(credentials_of(request))
        if name not in names:
            raise UnknownName("playbook", name, names, "start the server with --playbook")
        return Reply(200, wire.encode(to_json(open_playbook(names[name]).load())))


class _Playbook(BaseModel, extra="allow", title="Playbook"):
    """A playbook as its file holds it."""
