"""The routes of the pages of playbooks."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, Response

from akinai.core.errors import AkinaiError
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.playbook.opening import PLAYBOOKS
from akinai.learning.playbook.patches import Difference
from akinai.learning.playbook.patches import difference as compare
from akinai.report.page.site import Site
from akinai.report.page.templating import marked, render
from akinai.studio.shared import Studio
from akinai.views.playbook import playbook_view

CHANGES = (marked("added"), marked("changed"), marked("counted"), marked("removed"))
"""Kinds of changes to a bullet, marked for the catalogue of words: a template translates them by name."""


def add_playbook_routes(app: FastAPI, studio: Studio) -> None:
    """Routes of the working folder's playbooks: their list, one with its bullets and history, how two differ."""

    @app.get("/playbooks")
    async def playbooks(request: Request) -> Response:
        site, counts = studio.site(request), [(name, _count(path)) for name, path in _playbook_paths().items()]
        return HTMLResponse(render("playbooks.html", site.language, site=site, playbooks=counts))

    @app.get("/playbooks/{name}")
    async def playbook(request: Request, name: str) -> Response:
        file, site = _file(name), studio.site(request)

        def page() -> str:
            view = playbook_view(name, file.load(), file.history())
            most = max((bullet.uses + bullet.neutral for bullet in view.playbook), default=0)
            other_names = [other for other in _playbook_paths() if other != name]
            return render(
                "playbook.html", site.language, site=site, view=view, known=runs, others=other_names, most=most
            )

        runs = frozenset(header.run_id for header in await studio.books.runs())
        return HTMLResponse(await asyncio.to_thread(page))

    @app.get("/playbooks/{name}/diff/{a}/{b}")
    async def diff(request: Request, name: str, a: int, b: int) -> Response:
        difference = await asyncio.to_thread(_file(name).diff, a, b)
        return _difference_page(name, f"{name} {a}", f"{name} {b}", difference, studio.site(request))

    @app.get("/playbooks/{name}/against/{other}")
    async def against(request: Request, name: str, other: str) -> Response:
        difference = compare(_file(name).load(), _file(other).load(), by_content=True)
        return _difference_page(name, name, other, difference, studio.site(request))


def _difference_page(name: str, before: str, after: str, difference: Difference, site: Site) -> Response:
    """The page of additions, removals and changes between two playbooks, or two points of one's history."""
    page = render(
        "playbook_diff.html", site.language, site=site, name=name, before=before, after=after, diff=difference
    )
    return HTMLResponse(page)


def _playbook_paths() -> Mapping[str, Path]:
    """The playbooks of the working folder by name."""
    return {path.stem: path for path in sorted(PLAYBOOKS.glob("*.json"))} if PLAYBOOKS.is_dir() else {}


def _file(name: str) -> PlaybookFile:
    """A playbook by its name. HTTPException 404 for any other name: no path is read."""
    path = _playbook_paths().get(name)
    if path is None:
        raise HTTPException(404, f"there is no playbook {name!r:.60} in {PLAYBOOKS}")
    return PlaybookFile(path)


def _count(path: Path) -> int:
    try:
        return len(PlaybookFile(path).load())
    except AkinaiError:
        return -1
