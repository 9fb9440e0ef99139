"""The routes of the studio."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse

from akinai.core.errors import AkinaiError, UnknownName, UsageError
from akinai.core.stores import Books, RunHeader
from akinai.report.page.run_list import Scales, row_html, runs_page
from akinai.report.page.site import Site
from akinai.report.page.templating import Language, asset, preferred_language
from akinai.studio.jobs import Jobs
from akinai.studio.watch import POLL_S, Watch

ASSETS = {"studio.css": "text/css", "studio.js": "text/javascript"}
READ_S = 0.3
"""How long runs are judged between two looks at the store."""


@dataclass(slots=True)
class Studio:
    """What the routes share."""

    books: Books
    watch: Watch
    jobs: Jobs
    language: Language | None = None
    """None: the language that the browser prefers."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    notices: list[str] = field(default_factory=list[str])

    def site(self, request: Request) -> Site:
        return Site("live", self.language or preferred_language(request.headers.get("accept-language", "")))

    async def header(self, id: str) -> RunHeader:
        """The header of a run. HTTPException 404 when the store has none of that name."""
        try:
            return await self.books.header(id)
        except UnknownName as error:
            raise HTTPException(404, str(error)) from error


def make_app(studio: Studio) -> FastAPI:
    """The app without its check of access."""
    app = FastAPI(title="Akinai studio", docs_url=None, redoc_url=None, openapi_url=None)
    _add_runs(app, studio)
    _add_actions(app, studio)
    app.add_exception_handler(AkinaiError, _refused)

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=ASSETS[name])

    return app


async def _refused(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{error}\n", 400 if isinstance(error, UsageError) else 500)


def _add_runs(app: FastAPI, studio: Studio) -> None:
    watch = studio.watch

    @app.get("/")
    async def runs(request: Request) -> Response:
        await watch.refresh()
        await _read_for_a_while(watch)
        version = watch.version
        page = await asyncio.to_thread(runs_page, watch.items, studio.site(request), version)
        return HTMLResponse(page)

    @app.get("/events")
    async def events(request: Request, since: int = 0) -> Response:
        return stream(_row_events(studio, studio.site(request), since))


def stream(events: AsyncGenerator[str]) -> StreamingResponse:
    """Server-sent events."""
    return StreamingResponse(events, media_type="text/event-stream", headers={"cache-control": "no-store"})


def event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


async def _row_events(studio: Studio, site: Site, since: int) -> AsyncGenerator[str]:
    """The rows that change, as markup; a word when the list itself is another."""
    watch, notices = studio.watch, len(studio.notices)
    listed, unread = since, studio.watch.unread
    while not studio.stopping.is_set():
        await watch.refresh()
        await _read_for_a_while(watch)
        if watch.list_version > listed or (unread and not watch.unread):  # means and heads are known only then
            yield event("list", watch.list_version)
            listed, unread = watch.list_version, 0
        version, changed = watch.version, watch.changed_since(since)
        if changed:
            scales = Scales.of(watch.items)
            yield event("rows", {item.header.run_id: str(row_html(item, scales, site)) for item in changed})
            since = version
        for notice in studio.notices[notices:]:
            yield event("notice", notice)
        notices = len(studio.notices)
        if not changed:
            yield ": still here\n\n"
        await sleep_unless(studio.stopping, POLL_S)


async def _read_for_a_while(watch: Watch) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + READ_S
    while loop.time() < until and await watch.read_next():
        pass


async def sleep_unless(stopping: asyncio.Event, seconds: float) -> None:
    """Sleep, but not beyond the end of the server."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


def _add_actions(app: FastAPI, studio: Studio) -> None:
    @app.post("/runs/{id}/resume")
    async def resume(id: str) -> Response:
        await studio.header(id)
        return await _done(lambda: studio.jobs.start(id, ["resume", "--", id]))

    @app.post("/runs/{id}/stop")
    async def stop(id: str) -> Response:
        studio.jobs.stop(id)
        return Response(status_code=204)


async def _done(work: Callable[[], Awaitable[None]]) -> Response:
    await work()
    return Response(status_code=204)
