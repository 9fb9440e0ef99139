"""`akinai.game`: writes a folder for a coding agent, and serves its game to the program there."""

import asyncio
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from akinai import worlds
from akinai.api.opening import open_session, plan_session
from akinai.api.seat import Answer, Seat
from akinai.api.session import AsyncSession
from akinai.core.errors import AkinaiError, MissingExtra, UsageError
from akinai.core.options import part_of
from akinai.core.stores import Books
from akinai.core.worlds import World
from akinai.runtime.config.addresses import opened, resolve_store, shared_url
from akinai.runtime.config.calls import with_options
from akinai.runtime.models.budget import Budget
from akinai.runtime.options import FolderOptions, OpenOptions
from akinai.runtime.play.agent_registry import SESSION_AGENT
from akinai.runtime.runs.lifecycle import can_resume
from akinai.runtime.runs.records import Run
from akinai.runtime.seal import load_optional
from akinai.runtime.sync import wait
from akinai.server.folder.files import GameFolder

try:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from akinai.runtime.http.front import LOOPBACK, Front, Guard, Listener, Scope, refusal
    from akinai.runtime.http.front import Answer as Response
    from akinai.server.wire import Malformed, read_json
except ImportError as error:
    raise MissingExtra("serving a game", "uvicorn and starlette", "server") from error

PATH = "/game"
STOPPED = "The game could not take the action, which was perhaps not done; its operator is told why."


@dataclass(frozen=True, slots=True)
class GameServer:
    """A game that is served."""

    run_id: str
    url: str
    folder: Path
    resumed: bool
    """Whether the run had begun before."""


class _Act(BaseModel):
    """An action that the program of the folder sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: str
    arguments: Mapping[str, Any] = Field(default_factory=dict[str, Any])


@with_options(FolderOptions)
def game(folder: str | Path, world: str | World[Any] | None = None, **options: Unpack[FolderOptions]) -> Run:
    """Write a folder for a coding agent, serve its game to the program `play` there, and return the run.

    It serves until the run is over, `max_minutes` have passed, or SIGTERM or SIGINT comes. The folder holds no seed,
    no key and no address of the store. The same folder and options go on with the same run; without `world` that
    of the folder goes on. `ready` is called when the agent may begin. UsageError for a folder that holds anything else,
    and for what cannot be played.
    """
    place, store = GameFolder.at(folder), resolve_store(options["store"])
    if shared_url(store) is None:
        raise UsageError("the run of a folder is kept in a store that lasts, such as akinai.db")
    path = str(store).partition(":///")[2] or str(store)
    place.expect_outside(*([] if "://" in path else [path]), options["key"])
    if world is not None:
        loaded = worlds.load(world) if isinstance(world, str) else world
        plan_session(loaded, SESSION_AGENT, _opening(place, options), load_optional(options["key"]))
    elif place.is_empty:
        raise _nothing_begun(place)
    Budget(minutes=options["max_minutes"])  # refuses what is no time

    async def serve() -> Run:
        with Front.at(Listener.GAME, LOOPBACK[0], options["port"]) as front:
            async with opened(store, create=place.is_empty) as books:
                return await _serve(place, world, options, books, front)

    return wait(serve())


def _nothing_begun(place: GameFolder) -> UsageError:
    return UsageError(f"no game was begun in {str(place.path)!r}; name a world, such as 'vending'")


def _opening(place: GameFolder, options: FolderOptions) -> OpenOptions:
    return part_of(OpenOptions, {**options, "name": place.run_name})


async def _serve(
    place: GameFolder, world: str | World[Any] | None, options: FolderOptions, books: Books, front: Front
) -> Run:
    async with await _open(place, world, options, books) as session:
        seat, minutes = Seat(session), options["max_minutes"]
        place.write(seat.prompt(), seat.tools(), minutes)

        def connected(token: str) -> None:
            place.connect(f"{front.url}{PATH}", token)
            if ready := options["ready"]:
                ready(GameServer(session.id, front.url, place.path, session.resumed))

        try:
            await _serve_until_over(seat, front, minutes * 60 or None, connected)
        finally:
            place.disconnect(seat.look().text if session.done else None)
    return await session.run()


async def _open(
    place: GameFolder, world: str | World[Any] | None, options: FolderOptions, books: Books
) -> AsyncSession:
    """The session of the folder's run. UsageError for a folder that holds anything but the game that is asked for."""
    opening: OpenOptions = {**_opening(place, options), "store": books}
    begun = {run.run_id: run for run in await books.runs(group=place.run_name)}
    if world is not None:
        key = load_optional(options["key"])
        loaded = worlds.load(world) if isinstance(world, str) else world
        header = plan_session(loaded, SESSION_AGENT, opening, key).header
        if header.run_id not in begun and not place.is_empty:
            raise UsageError(
                f"the folder {str(place.path)!r} is not empty; name a new one, or for a game that was begun there its "
                "options as they were"
            )
        return await open_session(world, opening)
    if not begun:
        raise _nothing_begun(place)
    *_, last = begun.values()
    if not can_resume(last):
        raise UsageError(f"the run {last.run_id!r} is over ({last.ending}); another folder begins another run")
    return await open_session(None, {**opening, "name": None, "resume": last.run_id})


async def _serve_until_over(
    seat: Seat[AsyncSession], front: Front, within_s: float | None, connected: Callable[[str], None]
) -> None:
    """Serve the seat until the run is over, which is after `within_s` seconds at the latest, or a signal comes.

    `connected` is called with the token when requests are taken.
    """
    token = secrets.token_urlsafe(32)
    guard = Guard(admit=_admit(token))
    async with front.serving(_app(seat), guard) as serving:
        connected(token)
        over = asyncio.create_task(seat.session.until_over(within_s))
        over.add_done_callback(lambda _: serving.stop())
        await serving.until_signal()
        if not seat.session.done:
            over.cancel()
            return
    await over


def _admit(token: str) -> Callable[[Scope], Response | None]:
    expected = f"Bearer {token}".encode()

    def admit(scope: Scope) -> Response | None:
        sent = dict(scope["headers"]).get(b"authorization", b"")
        why = "Send the token of the folder as Authorization: Bearer TOKEN"
        return None if hmac.compare_digest(sent, expected) else refusal(401, "unauthorized", why)

    return admit


def _app(seat: Seat[AsyncSession]) -> Starlette:
    """The app that the program of the folder asks. An error's own words stay here: they may name the run."""
    acting = asyncio.Lock()

    async def view(_: Request) -> JSONResponse:
        return _answer(seat.look())

    async def act(request: Request) -> JSONResponse:
        try:
            action = _Act.model_validate(read_json(await request.body()))
        except (Malformed, ValidationError) as error:
            return JSONResponse({"detail": f"the action does not parse: {error}"}, 422)
        async with acting:
            try:
                answer = await seat.settle(seat.act(action.action, action.arguments))
            except AkinaiError:
                return JSONResponse({"detail": STOPPED}, 503)
        return _answer(answer)

    return Starlette(routes=[Route(f"{PATH}/view", view), Route(f"{PATH}/act", act, methods=["POST"])])


def _answer(answer: Answer) -> JSONResponse:
    return JSONResponse({"text": answer.text, "ok": answer.ok, "done": answer.done})
