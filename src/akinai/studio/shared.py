"""The state that all routes of the studio share, and their helpers."""

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import HTTPException, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ValidationError

from akinai.core.errors import UnknownName, UsageError
from akinai.core.stores import Books, RunHeader
from akinai.report.page.site import Site
from akinai.report.page.templating import Language, preferred_language
from akinai.studio.cached_views import CachedViews
from akinai.studio.jobs import Jobs
from akinai.studio.players import Players
from akinai.studio.watch import Watch

B = TypeVar("B", bound=BaseModel)


@dataclass(slots=True)
class Studio:
    """The state that the routes share."""

    books: Books
    watch: Watch
    views: CachedViews
    jobs: Jobs
    players: Players
    language: Language | None = None
    """The language of the pages; None for the one that the browser prefers."""
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


async def read_body(request: Request, model: type[B], complaint: str, *, most_bytes: int = 10_000) -> B:
    """The body of a request as a record.

    HTTPException 413 for a larger body; UsageError, which begins with `complaint`, for one of another shape.
    """
    body = await request.body()
    if len(body) > most_bytes:
        raise HTTPException(413)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise UsageError(f"{complaint}: {error.errors()[0]['msg']}") from error


def stream(events: AsyncGenerator[str]) -> StreamingResponse:
    """Server-sent events."""
    return StreamingResponse(events, media_type="text/event-stream")


def event(name: str, data: Any) -> str:
    """A server-sent event; `data` is JSON."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


async def sleep_unless(stopping: asyncio.Event, seconds: float) -> None:
    """Sleep, but not beyond the end of the server."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


async def unless_stopping(stopping: asyncio.Event, work: Coroutine[Any, Any, Any]) -> None:
    """Wait for work, but not beyond the end of the server, which ends it."""
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(work), asyncio.create_task(stopping.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
