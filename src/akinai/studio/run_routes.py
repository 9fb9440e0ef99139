"""The routes of a run's page: the page, its days, what is new, and forks."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field

from akinai import worlds
from akinai.core.errors import LedgerError, UsageError
from akinai.core.stores import RunHeader
from akinai.report.page.compare_page import compare_page
from akinai.report.page.market_page import market_page
from akinai.report.page.run_page import day_html, run_page
from akinai.runtime.play.agent_registry import seats_of
from akinai.runtime.play.agent_spec import CHAT, spec_of
from akinai.runtime.runs.planning import names_in, numbered_name
from akinai.studio.shared import Studio, event, read_body, sleep_unless, stream
from akinai.studio.watch import POLL_S


class ForkOrder(BaseModel, extra="forbid"):
    """The fields of the dialog."""

    after: int = Field(ge=0)
    agent: str = Field(max_length=200)
    model: str = Field(max_length=200)
    dollars: float = Field(ge=0, le=10_000, allow_inf_nan=False)


def add_run_routes(app: FastAPI, studio: Studio) -> None:
    """The page of a run and what it asks for."""

    @app.get("/runs/{id}")
    async def run(request: Request, id: str) -> Response:
        header = await studio.header(id)
        views = await _views(studio, header)
        ghosts = studio.views.known_ghosts(header) or {}
        return HTMLResponse(await asyncio.to_thread(run_page, views, ghosts, studio.site(request)))

    @app.get("/compare/{first}/{second}")
    async def compare(request: Request, first: str, second: str) -> Response:
        headers = [await studio.header(first), await studio.header(second)]
        a, b = [await _views(studio, header) for header in headers]
        groups = [_by_seed(studio, header) for header in headers]
        return HTMLResponse(await asyncio.to_thread(compare_page, a, b, groups, studio.site(request)))

    @app.get("/runs/{id}/market")
    async def market(request: Request, id: str) -> Response:
        views = await _views(studio, await studio.header(id))
        return HTMLResponse(await asyncio.to_thread(market_page, views, studio.site(request)))

    @app.get("/runs/{id}/day/{number}")
    async def day(request: Request, id: str, number: int) -> Response:
        views = await _views(studio, await studio.header(id))
        return HTMLResponse(day_html(views, number, studio.site(request)))

    @app.get("/runs/{id}/events")
    async def events(id: str, digest: str = "", status: str = "", ghosts: int = 0) -> Response:
        return stream(_news(studio, await studio.header(id), (digest, status, ghosts)))

    @app.post("/runs/{id}/fork")
    async def fork(request: Request, id: str) -> Response:
        header = await studio.header(id)
        order = await read_body(request, ForkOrder, "a fork asks for a budget and who plays on")
        studio.players.expect_players(header, order.agent or (CHAT if order.model else ""))
        name = numbered_name(f"{id}-fork", names_in(await studio.books.runs()))
        await studio.jobs.start(name, _fork_words(header, order, name))
        await _begun(studio, name)
        return JSONResponse({"page": f"/runs/{quote(name, safe='')}"})


def _by_seed(studio: Studio, header: RunHeader) -> dict[int, float]:
    """The headline of the runs of a run's group by seed, as far as they were read."""
    runs = [item.run for item in studio.watch.items if header.group and item.header.group == header.group and item.run]
    return {run.seed: float(run.scores[0].value) for run in runs if run.scores}


async def _views(studio: Studio, header: RunHeader) -> Any:
    try:
        return await studio.views.views(header)
    except (LedgerError, UsageError) as error:
        raise HTTPException(409, f"run {header.run_id!r} cannot be read: {error}") from error


async def _news(studio: Studio, header: RunHeader, page_state: tuple[str, str, int]) -> AsyncGenerator[str]:
    """An event whenever the run has grown, when it is over, and when idle and reference are known.

    `page_state` is the state of the page: digest, status, and the number of runs played beside it.
    """
    notices, waiting = len(studio.notices), None
    if studio.views.known_ghosts(header) is None:
        waiting = asyncio.create_task(studio.views.ghosts(header))
    try:
        while not studio.stopping.is_set():
            header = await studio.books.header(header.run_id)
            ghosts = studio.views.known_ghosts(header)
            views = await studio.views.views(header)
            now = (views.digest, views.header.status, page_state[2] if ghosts is None else len(ghosts))
            if now != page_state:
                yield event("grown", len(views.steps))
                page_state = now
            for notice in studio.notices[notices:]:
                yield event("notice", notice)
            notices = len(studio.notices)
            yield ": still here\n\n"
            await sleep_unless(studio.stopping, POLL_S)
    finally:
        if waiting is not None:
            waiting.cancel()


def _fork_words(header: RunHeader, order: ForkOrder, name: str) -> list[str]:
    """The command that forks and plays on. A model is asked only within the budget."""
    words = ["fork", "--after", str(order.after), "--name", name]
    if order.agent:
        words += ["--agent", order.agent]
    if order.model:
        words += ["--model", order.model]
    world = worlds.load(header.genesis.world)
    spec = seats_of(world, header.genesis.setup) if order.agent else spec_of(header)
    asks = bool(order.model or spec.asks_model)
    if asks and not order.dollars:
        raise UsageError("a model may cost money: give the fork a budget in dollars")
    if asks:
        words += ["--max-dollars", json.dumps(order.dollars)]
    return [*words, "--", header.run_id]


async def _begun(studio: Studio, name: str) -> None:
    """Wait until the fork is in the store. UsageError when its command ended without it."""
    while studio.jobs.plays(name):
        if any(header.run_id == name for header in await studio.books.runs()):
            return
        await asyncio.sleep(0.1)
    if all(header.run_id != name for header in await studio.books.runs()):
        raise UsageError(studio.notices[-1] if studio.notices else "the fork could not be made")
