"""docs/serve.md: its purchase by curl is made, its Python runs, and its table names the routes that are there."""

import re
import shutil
import subprocess
import sys
from asyncio import to_thread
from pathlib import Path

import pytest
from wire_server import Wire

PAGE = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")


def shown(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def run(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
async def test_the_purchase_of_the_page_is_made(wire: Wire) -> None:
    """Who types the page's commands has bought a soup, and its Python hears of the business."""
    address = str(wire.http.base_url).removeprefix("http://").rstrip("/")
    by_curl = next(text for text in shown("sh") if "curl" in text).replace("127.0.0.1:8000", address)
    told = await to_thread(run, ["sh", "-ec", by_curl])
    assert told.count('"is_error":false') == 5
    assert '"is_error":true' not in told
    assert wire.one.market.committed.state.booked_cents == 800
    (program,) = shown("python")
    heard = await to_thread(run, [sys.executable, "-c", program.replace("127.0.0.1:8000", address)])
    assert "grill" in heard
    assert "No messages." in heard


async def test_the_table_names_the_routes_that_are_there(wire: Wire) -> None:
    """Each route of the table is in the OpenAPI, and each of the OpenAPI in the table."""
    told = re.findall(r"`(GET|POST) (/[^`?]*)", PAGE)
    there = (await wire.http.get("/openapi.json")).json()["paths"]
    described = {(verb.upper(), path) for path, verbs in there.items() for verb in verbs}
    assert {one for one in told if one[1] != "/openapi.json"} == described
