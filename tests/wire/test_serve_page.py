"""docs/serve.md: its purchase by curl works, its Python runs, and its table names the real routes."""

import re
import shutil
import subprocess
import sys
import tomllib
from asyncio import to_thread
from pathlib import Path

import pytest
from wire_server import Wire

from together import together

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "serve.md"
PAGE = PATH.read_text(encoding="utf-8")
DIFFERENCES = tomllib.loads((ROOT / "tests" / "conformance" / "differences.toml").read_text(encoding="utf-8"))[
    "difference"
]
TABLE = re.compile(r"(?<=<!-- differences -->\n).*(?=<!-- end of differences -->)", re.DOTALL)


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def run(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
async def test_the_purchase_of_the_page_is_made(wire: Wire) -> None:
    """The page's curl commands buy a soup, and its Python finds the business."""
    address = str(wire.http.base_url).removeprefix("http://").rstrip("/")
    by_curl = next(text for text in code_blocks("sh") if "curl" in text).replace("127.0.0.1:8000", address)
    answers = await to_thread(run, ["sh", "-ec", by_curl])
    assert answers.count('"is_error":false') == 5
    assert '"is_error":true' not in answers
    assert wire.server.market.committed.state.booked_cents == 800
    (program,) = code_blocks("python")
    printed = await to_thread(run, [sys.executable, "-c", program.replace("127.0.0.1:8000", address)])
    assert "grill" in printed
    assert "No messages." in printed


async def test_the_table_names_the_routes(wire: Wire) -> None:
    """The routes of the table are those of the OpenAPI document."""
    pages = PAGE + PATH.with_name("http.md").read_text(encoding="utf-8")  # sessions are beside the market
    listed = re.findall(r"`(GET|POST) (/[^`?]*)", pages)
    there = (await wire.http.get("/openapi.json")).json()["paths"]
    described = {(verb.upper(), path) for path, verbs in there.items() for verb in verbs}
    elsewhere = {"/openapi.json", "/", "/docs"}
    assert {route for route in listed if route[1] not in elsewhere} == described


def test_the_table_of_differences_is_the_data(request: pytest.FixtureRequest) -> None:
    """The page shows each row of the data file that the differential test reads; `make golden` writes it anew."""
    rows = ["| public system | here | why | test |", "| --- | --- | --- | --- |"]
    rows += [
        f"| {row['public']} | {row['ours']} | {row['reason']} | `{row['test'].rpartition('::')[2]}` |"
        for row in DIFFERENCES
    ]
    table = "\n".join(rows) + "\n"
    if request.config.getoption("--golden"):
        PATH.write_text(TABLE.sub(lambda _: table, PAGE), encoding="utf-8")
    match = TABLE.search(PATH.read_text(encoding="utf-8"))
    assert match is not None
    assert match[0] == table


@together("row", DIFFERENCES)
def test_a_difference_names_its_test(row: dict[str, str]) -> None:
    """The test that holds a difference is there."""
    file, _, name = row["test"].partition("::")
    assert re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.M)
