"""The routes of pages on several runs, and on what was learned from them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from akinai.core.errors import AkinaiError
from akinai.learning.playbook.file import PlaybookFile
from akinai.report.page.boards.leaderboard import leaderboard_page
from akinai.report.page.boards.playbook import difference_page, playbook_page, playbooks_page
from akinai.runtime.learn.job import PLAYBOOKS
from akinai.studio.shared import Studio
from akinai.views.playbook import matched, playbook_view

READ_S = 3.0
"""How long runs are read for the leaderboard before it is shown with those that were."""


def add_board_routes(app: FastAPI, studio: Studio) -> None:
    """The leaderboard; playbooks of the working folder, with their history and differences."""

    @app.get("/leaderboard")
    async def leaderboard(request: Request) -> Response:
        await studio.watch.refresh()
        until = asyncio.get_running_loop().time() + READ_S
        while asyncio.get_running_loop().time() < until and await studio.watch.read_next():
            pass
        return HTMLResponse(await asyncio.to_thread(leaderboard_page, studio.watch.items, studio.site(request)))

    @app.get("/playbooks")
    async def playbooks(request: Request) -> Response:
        found = [(name, _count(path)) for name, path in _known().items()]
        return HTMLResponse(playbooks_page(found, studio.site(request)))

    @app.get("/playbooks/{name}")
    async def playbook(request: Request, name: str) -> Response:
        file = _file(name)

        def page() -> str:
            view = playbook_view(name, file.load(), file.history())
            runs = {header.run_id for header in headers}
            others = [other for other in _known() if other != name]
            return playbook_page(view, studio.site(request), runs=runs, others=others)

        headers = await studio.books.runs()
        return HTMLResponse(await asyncio.to_thread(page))

    @app.get("/playbooks/{name}/diff/{a}/{b}")
    async def diff(request: Request, name: str, a: int, b: int) -> Response:
        found = await asyncio.to_thread(_file(name).diff, a, b)
        return HTMLResponse(difference_page(name, f"{name} {a}", f"{name} {b}", found, studio.site(request)))

    @app.get("/playbooks/{name}/against/{other}")
    async def against(request: Request, name: str, other: str) -> Response:
        found = matched(_file(name).load(), _file(other).load())
        return HTMLResponse(difference_page(name, name, other, found, studio.site(request)))


def _known() -> Mapping[str, Path]:
    """The playbooks of the working folder by name."""
    return {path.stem: path for path in sorted(PLAYBOOKS.glob("*.json"))} if PLAYBOOKS.is_dir() else {}


def _file(name: str) -> PlaybookFile:
    """A playbook by its name. HTTPException 404 for any other name: no path is read."""
    path = _known().get(name)
    if path is None:
        raise HTTPException(404, f"there is no playbook {name!r:.60} in {PLAYBOOKS}")
    return PlaybookFile(path)


def _count(path: Path) -> int:
    try:
        return len(PlaybookFile(path).load())
    except AkinaiError:
        return -1
