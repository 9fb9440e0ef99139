"""Everything that listens does so through the front, and holds against the same attacks."""

import json
import re
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

import akinai
import attacks
from akinai.runtime.http.front import Listener
from attacks import Target

ROOT = Path(__file__).parents[2]
APART = {Listener.A2A: "test_a2a.py", Listener.OPENENV: "test_openenv.py"}
"""Those that are attacked by the tests of an environment of their own, in tests/adapters."""
BY_COOKIE = (Listener.STUDIO, Listener.PLAY)
"""Those that always have a token, which a browser keeps."""
OPEN = (Listener.MODEL,)
"""Those without tokens, on loopback alone."""
OWN_TOKEN = (*BY_COOKIE, Listener.GAME)
"""Those that always have a token; that of a game lies in its folder."""
HERE = [listener for listener in Listener if listener not in APART]


@contextmanager
def target(listener: Listener, folder: Path, *, token: bool) -> Generator[Target]:
    """A server of this kind."""
    words = {
        Listener.MARKET: ("serve",),
        Listener.SESSIONS: ("serve", "vending"),
        Listener.STUDIO: ("studio", "--no-browser", "--store", "akinai.db"),
        Listener.PLAY: ("play", "vending", "--days", "3", "--no-browser"),
        Listener.GAME: ("game", "game", "vending", "--days", "3"),
        Listener.MCP: ("mcp", "vending", "--days", "3", "--http"),
        Listener.MODEL: ("-c", "from akinai.testing.endpoint.__main__ import main; main()"),
    }[listener]
    by_cookie = listener in BY_COOKIE
    if listener is Listener.STUDIO:
        akinai.run("vending", agent="idle", days=1, store=str(folder / "akinai.db"), name="seen")
    auth = ("--auth", "token") if token and listener not in OWN_TOKEN else ()
    with attacks.started(folder, *words, "--port", "0", *auth) as (process, address, secret):
        path = {
            Listener.MARKET: "/metrics" if token else "/agents/register",
            Listener.SESSIONS: "/sessions",
            Listener.STUDIO: "/runs/seen-1/stop",
            Listener.PLAY: urlsplit(address).path,
            Listener.GAME: "/game/act",
            Listener.MCP: urlsplit(address).path,
            Listener.MODEL: "/v1/chat/completions",
        }[listener]
        if listener is Listener.GAME:
            secret = json.loads((folder / "game" / ".session.json").read_text())["token"]
        headers = {"authorization": f"Bearer {secret}"} if auth or listener is Listener.GAME else {}
        if by_cookie:
            secret = parse_qs(urlsplit(address).query)["token"][0]
            headers = {"cookie": f"akinai-studio-{urlsplit(address).port}={secret}"}
        yield Target(process, address, path, headers, token=token, hosts=by_cookie or not token)


@pytest.mark.slow
async def test_every_listener_holds(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """Every attack, on every listener, without tokens and with them."""
    cases = [
        (listener, token)
        for listener in HERE
        for token in (False, True)
        if listener not in (OPEN if token else OWN_TOKEN)
    ]
    assert {listener for listener, _ in cases} == {*HERE}
    with ExitStack() as stack:
        servers: list[Target] = []
        for listener, token in cases:
            (folder := tmp_path / f"{listener}-{token}").mkdir()
            servers.append(stack.enter_context(target(listener, folder, token=token)))
            assert httpx.get(f"http://{servers[-1].netloc}/static/studio.css").status_code in (200, 401, 404)
        for (listener, token), grown in zip(cases, await attacks.hold(*servers), strict=True):
            record_property(f"large_heads_mib {listener} {token}", round(grown, 1))


@pytest.mark.parametrize("listener", APART)
def test_those_apart_are_attacked_where_they_are_installed(listener: Listener) -> None:
    """Their tests call the same attacks."""
    text = (ROOT / "tests" / "adapters" / APART[listener]).read_text(encoding="utf-8")
    assert "attacks.hold(" in text


def test_the_security_page_names_every_listener() -> None:
    """In the sentence on what listens, each by the word that starts it."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    sentence = text.partition("**Whatever listens**")[2].partition(")")[0]
    assert [listener for listener in Listener if not re.search(rf"\b{re.escape(listener)}\b", sentence)] == []


LISTENS = re.compile(
    r"uvicorn\.(run|Server)|\.listen\(|create_server\(|start_server\(|HTTPServer|websockets\.serve|\.run_server\("
)


def test_nothing_listens_past_the_front() -> None:
    """No other module binds."""
    listening = {
        path.relative_to(ROOT / "src" / "akinai").as_posix()
        for path in (ROOT / "src" / "akinai").rglob("*.py")
        if LISTENS.search(path.read_text(encoding="utf-8"))
    }
    assert listening == {"runtime/http/front.py"}


def test_every_listener_is_at_one_front() -> None:
    """Each kind is named where it listens, and nowhere else."""
    places = {
        listener: [
            path
            for path in (ROOT / "src" / "akinai").rglob("*.py")
            if f"Listener.{listener.name}" in path.read_text(encoding="utf-8")
        ]
        for listener in Listener
    }
    assert {listener: len(paths) for listener, paths in places.items()} == dict.fromkeys(Listener, 1)
