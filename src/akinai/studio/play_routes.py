"""The routes on which a person plays: begin a run, see where it stands, act."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field

from akinai import worlds
from akinai.api.person import Game, is_persons
from akinai.api.session import AsyncSession
from akinai.core.actions import Unreadable
from akinai.core.errors import UnknownName
from akinai.core.ledger import Outcome
from akinai.core.presentation.complaints import Complaint, complaint_about
from akinai.core.replies.arguments import read_call
from akinai.core.stores import RunHeader
from akinai.report.language import translate_lines
from akinai.report.page.play.page import play_page, play_parts
from akinai.report.page.site import Site
from akinai.report.page.templating import render
from akinai.runtime.describe import describe
from akinai.runtime.play.agent_registry import HELD
from akinai.studio.shared import Studio, read_body, unless_stopping
from akinai.views.play import last_step, play_view, refused_paths

MAX_BODY_BYTES = 100_000
UNREADABLE = "the form cannot be read"


class NewGame(BaseModel, extra="forbid"):
    """The fields of the form that begins a run."""

    world: str = Field(max_length=200)
    preset: str | None = Field(None, max_length=500)
    seed: int = 1
    days: int | None = None


class Act(BaseModel, extra="forbid"):
    """An action."""

    action: str = Field(max_length=200)
    arguments: dict[str, Any]


def add_play_routes(app: FastAPI, studio: Studio) -> None:
    """Add the pages of a person's runs, and the requests of these pages."""

    @app.get("/play")
    async def new(request: Request) -> Response:
        studio.watch.look_again()
        await studio.watch.refresh()
        return HTMLResponse(await asyncio.to_thread(_new_page, studio, studio.site(request)))

    @app.post("/play")
    async def begin(request: Request) -> Response:
        form = await read_body(request, NewGame, UNREADABLE, most_bytes=MAX_BODY_BYTES)
        game = Game(form.world, form.preset, form.seed, days=form.days)
        return JSONResponse({"page": f"/play/{quote(await studio.players.begin(game), safe='')}"})

    @app.get("/play/{id}")
    async def play(request: Request, id: str) -> Response:
        header, site = await studio.header(id), studio.site(request)
        session = await studio.players.session(id)
        actor = _actor(session, header)
        parts = await _parts(studio, session, header, site)
        run = {
            "id": id, "world": header.genesis.world, "header": header, "actor": actor,
            "preset": header.card.get("preset"),
        }  # fmt: skip
        return HTMLResponse(play_page(run, parts, site))

    @app.get("/play/{id}/now")
    async def now(request: Request, id: str) -> Response:
        header = await studio.header(id)
        session = await studio.players.session(id)
        return JSONResponse(await _parts(studio, session, header, studio.site(request), wait=True))

    @app.post("/play/{id}/act")
    async def act(request: Request, id: str) -> Response:
        form = await read_body(request, Act, UNREADABLE, most_bytes=MAX_BODY_BYTES)
        header, session = await studio.header(id), await studio.players.session(id)
        if session and (
            complaint := await _complaint(studio, header, _actor(session, header), form)
        ):  # nothing was done: no entry, as at a terminal
            why = translate_lines(complaint.text, studio.site(request).language)
            return JSONResponse({"refused": True, "why": why, "marks": complaint.paths})
        outcome = await studio.players.act(id, form.action, form.arguments)
        session = await studio.players.session(id) if outcome else None
        parts = await _parts(studio, session, header, studio.site(request), outcome)
        if outcome and not outcome.ok:
            parts |= {"marks": await _marks(studio, header, session, form)}
        return JSONResponse(parts)


async def _complaint(studio: Studio, header: RunHeader, actor: str, form: Act) -> Complaint | None:
    """What is wrong with the values of a form; None where they can be read, and for an unknown action."""
    views = await studio.views.views(await studio.books.header(header.run_id))
    action = read_call(views.world.verbs, form.action, form.arguments, "").action
    if not isinstance(action, Unreadable):
        return None
    try:
        verb = views.world.verbs.find(form.action)
    except UnknownName:
        return None
    desk = views.world.facets.presentation.desk(views.steps.final, actor)
    return complaint_about(verb, form.arguments, desk) or Complaint(action.why)


async def _marks(
    studio: Studio, header: RunHeader, session: AsyncSession | None, form: Act
) -> Sequence[Sequence[str | int]]:
    """The values for which the world refused an action."""
    views = await studio.views.views(await studio.books.header(header.run_id))
    taken = last_step(views.steps, _actor(session, header))
    if taken is None or isinstance(taken.turn.action, Unreadable):
        return ()
    return await asyncio.to_thread(refused_paths, views.world, taken, form.arguments)


def _actor(session: AsyncSession | None, header: RunHeader) -> str:
    """The actor that the person plays, or played."""
    if session is not None:
        return session.actor or next(iter(session.held), "")
    held = cast("Mapping[str, Any] | None", header.card.get(HELD))
    named: Sequence[str] = (held or {}).get("hold") or ()
    return named[0] if named else next(iter(header.agents), "")


async def _parts(
    studio: Studio, session: AsyncSession | None, header: RunHeader, site: Site, last: Outcome | None = None, *,
    wait: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The parts of the page as the run stands. `wait`: only once idle and reference are played."""
    views = await studio.views.views(await studio.books.header(header.run_id))
    if wait:
        await unless_stopping(studio.stopping, studio.views.ghosts(header))
    ghosts = studio.views.known_ghosts(header)
    actor = _actor(session, header)
    view = session.view() if session is not None and session.actor else None
    last = last or (session.outcome if session else None)

    def make() -> dict[str, Any]:
        goods = views.world.facets.presentation.items(views.steps.opening)
        return play_parts(
            play_view(views.world, views.steps, actor), view, last, ghosts, site, goods,
            run=header.run_id, ending=views.header.ending,
        )  # fmt: skip

    return await asyncio.to_thread(make)


def _new_page(studio: Studio, site: Site) -> str:
    choices: list[dict[str, Any]] = []
    for name in worlds.names():
        info = describe(worlds.load(name))
        presets = [preset.name for preset in info.presets]
        dated = any(setting.name == "days" for setting in info.settings)
        choices.append({"name": name, "about": info.about, "presets": presets, "dated": dated})
    going = [item.header for item in studio.watch.items if is_persons(item.header)]
    open_runs = [{"id": run.run_id, "world": run.genesis.world, "header": run} for run in going[-20:]]
    return render("play_new.html", site.language, site=site, worlds=choices, open_runs=open_runs)
