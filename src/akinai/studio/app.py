"""The routes of the studio."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial

from fastapi import FastAPI, HTTPException, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException

from akinai.core.errors import AkinaiError, StoreError, UsageError
from akinai.report.page.boards.leaderboard import leaderboard_page
from akinai.report.page.run_list import Scales, row_html, runs_page
from akinai.report.page.site import Site
from akinai.report.page.templating import asset, render
from akinai.runtime.runs.marking import note
from akinai.studio.play_routes import add_play_routes
from akinai.studio.playbook_routes import add_playbook_routes
from akinai.studio.run_routes import add_run_routes
from akinai.studio.shared import Studio, event, read_body, sleep_unless, stream
from akinai.studio.watch import POLL_S

ASSETS = {"studio.css": "text/css", "studio.js": "text/javascript"}
MOST_WORDS = 200
"""Characters of the words to find."""
READ_S = 0.3
"""Seconds for which runs are judged between two looks at the store."""
LEADERBOARD_READ_S = 3.0
"""Seconds for which runs are judged before the leaderboard shows those that were."""


class NotesAsked(BaseModel, extra="forbid"):
    """Changes to the notes of a run; None leaves a note as it is."""

    label: str | None = None
    tags: list[str] | None = None
    deleted: bool | None = None


def make_app(studio: Studio) -> FastAPI:
    """The app without its check of access."""
    app = FastAPI(title="Akinai studio", docs_url=None, redoc_url=None, openapi_url=None)
    _add_lists(app, studio)
    add_run_routes(app, studio)
    add_play_routes(app, studio)
    add_playbook_routes(app, studio)
    _add_actions(app, studio)
    _add_refusals(app, studio)

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=ASSETS[name])

    return app


def _add_refusals(app: FastAPI, studio: Studio) -> None:
    """What cannot be answered: a page for who opens an address in a browser, a sentence for a script."""

    def reads_pages(request: Request) -> bool:
        return request.method == "GET" and "text/html" in request.headers.get("accept", "")

    def page(request: Request, status: int, why: str) -> Response:
        site = studio.site(request)
        return HTMLResponse(render("missing.html", site.language, site=site, status=status, why=why), status)

    @app.exception_handler(StarletteHTTPException)
    async def missing(request: Request, error: StarletteHTTPException) -> Response:
        if reads_pages(request):
            return page(request, error.status_code, error.detail)
        return await http_exception_handler(request, error)

    @app.exception_handler(AkinaiError)
    async def refused(request: Request, error: AkinaiError) -> Response:
        status = 400 if isinstance(error, UsageError | StoreError) else 500
        return page(request, status, str(error)) if reads_pages(request) else PlainTextResponse(f"{error}\n", status)


def _add_lists(app: FastAPI, studio: Studio) -> None:
    """The list of runs, what is new in it, and the leaderboard."""
    watch = studio.watch

    @app.get("/")
    async def runs(request: Request, deleted: bool = False, find: str = "", first: int = 1) -> Response:
        await watch.refresh(at_once=True)
        await watch.read_for(READ_S)
        version = watch.version
        site = studio.site(request)
        listed = partial(runs_page, yardsticks=watch.yardsticks, deleted=deleted, find=find[:MOST_WORDS], first=first)
        return HTMLResponse(await asyncio.to_thread(listed, watch.items, site, version))

    @app.get("/events")
    async def events(request: Request, since: int = 0) -> Response:
        return stream(_row_events(studio, studio.site(request), since))

    @app.get("/leaderboard")
    async def leaderboard(request: Request) -> Response:
        await watch.refresh()
        await watch.read_for(LEADERBOARD_READ_S)
        return HTMLResponse(await asyncio.to_thread(leaderboard_page, watch.items, studio.site(request)))


async def _row_events(studio: Studio, site: Site, since: int) -> AsyncGenerator[str]:
    """The rows that change, as markup; a word when the list itself is another."""
    watch, notices = studio.watch, len(studio.notices)
    listed, unread = since, studio.watch.unread
    while not studio.stopping.is_set():
        await watch.refresh()
        await watch.read_for(READ_S)
        if watch.list_version > listed or (unread and not watch.unread):  # means and heads are known only then
            yield event("list", watch.list_version)
            listed, unread = watch.list_version, 0
        version, changed = watch.version, watch.changed_since(since)
        if changed:
            scales = Scales.of([*watch.items, *watch.yardsticks])
            yield event("rows", {item.header.run_id: str(row_html(item, scales, site)) for item in changed})
            since = version
        for notice in studio.notices[notices:]:
            yield event("notice", notice)
        notices = len(studio.notices)
        if not changed:
            yield ": still here\n\n"
        await sleep_unless(studio.stopping, POLL_S)


def _add_actions(app: FastAPI, studio: Studio) -> None:
    @app.post("/runs/{id}/resume")
    async def resume(id: str) -> Response:
        studio.players.expect_players(await studio.header(id))
        await studio.jobs.start(id, ["resume", "--", id])
        return Response(status_code=204)

    @app.post("/runs/{id}/notes")
    async def notes(request: Request, id: str) -> Response:
        header = await studio.header(id)
        edits = await read_body(request, NotesAsked, "the notes cannot be read")
        growing = any(item.growing and item.header.run_id == id for item in studio.watch.items)
        if growing or studio.jobs.plays(id):  # whoever plays it writes its card
            raise UsageError(f"{id} is being played; stop it first, or wait until it is over")
        await note(studio.books, header.run_id, label=edits.label, tags=edits.tags, deleted=edits.deleted)
        studio.watch.look_again()
        return Response(status_code=204)

    @app.post("/runs/{id}/stop")
    async def stop(id: str) -> Response:
        studio.jobs.stop(id)
        return Response(status_code=204)
