"""Everything that a page of the studio can start, as a list: a request that is new, or starts more, is seen here."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from test_access import ACTING, client

from akinai.studio import jobs
from akinai.studio.app import make_app

STARTS = {
    "/play": "a session of this process, played by a person",
    "/play/{id}/act": "an action in it",
    "/runs/{id}/fork": "akinai fork",
    "/runs/{id}/notes": "nothing",
    "/runs/{id}/resume": "akinai resume",
    "/runs/{id}/stop": "nothing; it ends what the studio started",
}
"""Every request that may change something."""
COMMANDS = [
    ["resume", "--", "quiet-1"],
    ["fork", "--after", "1", "--name", "quiet-1-fork-1", "--agent", "idle", "--", "quiet-1"],
    [
        "fork", "--after", "1", "--name", "quiet-1-fork-1", "--model", "--config=x", "--max-dollars", "0.5", "--",
        "quiet-1",
    ],
]  # fmt: skip
"""The commands that the requests below run; what a page writes is the value of an option, never an option."""
ORDERS: list[tuple[str, Mapping[str, Any]]] = [
    ("resume", {}),
    ("fork", {"after": 1, "agent": "idle", "model": "", "dollars": 0}),
    ("fork", {"after": 1, "agent": "", "model": "--config=x", "dollars": 0.5}),
]


def test_the_requests_that_change_something_are_these() -> None:
    """Those of the app; all others only read."""
    app = make_app(_NoStudio())  # type: ignore[arg-type]
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    assert {route.path for route in routes if set(route.methods or ()) - {"GET", "HEAD"}} == set(STARTS)


class _NoStudio:
    """In place of a studio: routes are added without a look at it."""

    def __getattr__(self, name: str) -> Any:
        return self


@pytest.mark.parametrize(("order", "expected"), list(zip(ORDERS, COMMANDS, strict=True)))
async def test_a_page_runs_these_commands(
    order: tuple[str, Mapping[str, Any]], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One program, this Python with akinai, with these words; nothing else is started."""
    started: list[tuple[str, ...]] = []

    async def start(*words: str, **_: Any) -> Any:
        started.append(words)
        raise AssertionError("not in this test")

    async with client(tmp_path) as http:
        monkeypatch.setattr(jobs.asyncio, "create_subprocess_exec", start)
        monkeypatch.setattr(asyncio, "create_subprocess_shell", start)
        with pytest.raises(AssertionError, match="not in this test"):
            await http.post(f"/runs/quiet-1/{order[0]}", headers=ACTING, json=order[1])
        monkeypatch.undo()
    assert started == [(sys.executable, "-m", "akinai", *expected)]
