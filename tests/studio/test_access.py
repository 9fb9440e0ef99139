"""Only a browser of this machine that was given the address may see a run, and only a page of the studio act."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import akinai
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.front import Door
from akinai.stores import open_store
from akinai.studio.access import guard_of
from akinai.studio.app import make_app
from akinai.studio.cached_views import CachedViews
from akinai.studio.jobs import Jobs
from akinai.studio.players import Players
from akinai.studio.shared import Studio
from akinai.studio.watch import Watch

HERE = "http://127.0.0.1:9"
TOKEN = "a" * 43
COOKIE = {"cookie": f"akinai-studio-9={TOKEN}"}


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with client(tmp_path) as opened:
        yield opened


@asynccontextmanager
async def client(tmp_path: Path, *, allow_programs: bool = False) -> AsyncIterator[httpx.AsyncClient]:
    """A browser's requests to a studio over one run, `quiet-1`."""
    store = str(tmp_path / "akinai.db")
    akinai.run("vending", agent="idle", days=2, store=store, name="quiet", preset="classic")
    books = await open_store(store)
    notices: list[str] = []
    watch = Watch(books)
    jobs = Jobs(store, notices.append)
    players = Players(books, store, allow_programs)
    app = make_app(Studio(books, watch, CachedViews(books, watch, {}), jobs, players, notices=notices))
    transport = httpx.ASGITransport(Door(app, guard_of(TOKEN, AllowedHosts(), 9)))
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as http:
        yield http
    await jobs.close()
    await players.close()
    await books.close()


async def test_nothing_is_shown_without_the_token(http: httpx.AsyncClient) -> None:
    """Neither a page nor an action; a wrong token is none. Styles hold nothing of a run."""
    for path in ("/", "/runs/quiet", "/events", "/?token=wrong", "/nowhere"):
        answer = await http.get(path)
        assert answer.status_code == 401, path
        assert "quiet" not in answer.text
    assert (await http.post("/runs/quiet/resume", headers={"origin": HERE})).status_code == 401
    assert (await http.get("/static/studio.css")).status_code == 200


async def test_the_token_is_taken_out_of_the_address(http: httpx.AsyncClient) -> None:
    """The first visit keeps it in a cookie that no script and no other site can use; further words of the address
    stay."""
    answer = await http.get(f"/runs/quiet?x=1&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/quiet?x=1")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(answer.headers["set-cookie"].split("; "))
    assert (await http.get("/", headers=COOKIE)).status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "/\\evil.example"])
async def test_the_way_leads_nowhere_else(http: httpx.AsyncClient, path: str) -> None:
    """An address made to lead away stays on this machine."""
    answer = await http.get(f"{HERE}{path}?token={TOKEN}")
    if answer.status_code == 303:
        location = answer.headers["location"]
        assert location.startswith("/")
        assert not location.startswith(("//", "/\\"))


async def test_a_foreign_page_reaches_nothing(http: httpx.AsyncClient) -> None:
    """Not by another name of this machine, not from its own pages, and not from another port: the cookie does not help."""
    assert (await http.get("/", headers={**COOKIE, "host": "evil.example"})).status_code == 403
    assert (await http.get("/", headers={**COOKIE, "origin": "http://evil.example"})).status_code == 403
    for headers in ({}, {"origin": "null"}, {"origin": "http://127.0.0.1:10"}, {"origin": "http://localhost:9"}):
        answer = await http.post("/runs/quiet/stop", headers={**COOKIE, **headers})
        assert answer.status_code == 403, headers
    assert (await http.post("/runs/quiet/stop", headers={**COOKIE, "origin": HERE})).status_code == 400


async def test_an_unknown_run_is_not_there(http: httpx.AsyncClient) -> None:
    """With a sentence, and a close match."""
    answer = await http.post("/runs/quite/resume", headers={**COOKIE, "origin": HERE})
    assert answer.status_code == 404
    assert "quiet" in answer.text


async def test_an_address_without_a_page_is_a_page_in_a_browser(http: httpx.AsyncClient) -> None:
    """It says why, in the reader's language, and leads to the list; a script gets the sentence alone."""
    browser = {**COOKIE, "accept": "text/html,*/*;q=0.8"}
    for path, why in (("/runs/quite-1", "quiet-1"), ("/nowhere", "Not Found"), ("/runs/%3Cb%3E", "&lt;b&gt;")):
        answer = await http.get(path, headers=browser)
        assert answer.status_code == 404, path
        assert why in answer.text
        assert '<a href="/">All runs</a>' in answer.text
    assert "ページ" in (await http.get("/nowhere", headers={**browser, "accept-language": "ja"})).text
    assert (await http.get("/runs/quite-1", headers=COOKIE)).headers["content-type"] == "application/json"


async def test_every_page_says_what_it_may_load(http: httpx.AsyncClient) -> None:
    """Scripts and requests of its own server alone; nothing frames it, nothing is kept, and no address leaks."""
    answer = await http.get("/", headers=COOKIE)
    assert "script-src &#39;self&#39;; img-src data:; connect-src &#39;self&#39;" in answer.text
    assert "default-src &#39;none&#39;" in answer.text
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "no-referrer")


ACTING = {**COOKIE, "origin": HERE}


def fork_order(agent: str, after: int = 1) -> dict[str, object]:
    return {"after": after, "agent": agent, "model": "", "dollars": 0}


def touching(path: Path) -> str:
    """An agent that is a program, which leaves a file behind."""
    return f"stdio:{sys.executable} -c \"open(r'{path}', 'w')\""


@pytest.mark.parametrize("kind", ["stdio:touch", "script:", "autogen:os:system,", "stdio:"])
async def test_a_fork_from_a_page_starts_no_program(http: httpx.AsyncClient, tmp_path: Path, kind: str) -> None:
    """Neither a command, nor a script, nor an agent of another package; the name of a player is suggested."""
    agent = f"{kind} {tmp_path / 'OWNED'}"
    answer = await http.post("/runs/quiet-1/fork", headers=ACTING, json=fork_order(agent))
    assert answer.status_code == 400
    assert answer.text.startswith("a page starts no program")
    assert "reference" in answer.text
    misspelt = await http.post("/runs/quiet-1/fork", headers=ACTING, json=fork_order("referense"))
    assert misspelt.status_code == 400
    assert "did you mean 'reference'?" in misspelt.text
    assert {path.name.partition(".")[0] for path in tmp_path.iterdir()} == {"akinai"}


async def test_players_of_the_world_play_from_a_page(http: httpx.AsyncClient) -> None:
    played = await http.post("/runs/quiet-1/fork", headers=ACTING, json=fork_order("idle"))
    assert played.json() == {"page": "/runs/quiet-1-fork-1"}


@pytest.mark.parametrize("named", ["card", "settings"])
@pytest.mark.parametrize("agent", ["", "idle"])
async def test_a_page_starts_no_program_that_settings_name(tmp_path: Path, named: str, agent: str) -> None:
    """A program that plays one owner is one too, whether a run is resumed or forked, to whomever."""
    owned = tmp_path / "OWNED"
    async with client(tmp_path) as http:
        books = await open_store(str(tmp_path / "akinai.db"))
        header = await books.header("quiet-1")
        if named == "card":
            spec: dict[str, Any] = {"seat_agents": {"owner_2": touching(owned)}}
            header = replace(header, card={**header.card, "agent_spec": spec})
        else:
            setup = {**header.genesis.setup, "owners": {"1": {}, "2": {"agent": touching(owned)}}}
            header = replace(header, genesis=replace(header.genesis, setup=setup))
        await books.create(replace(header, run_id="sent", status="open", ending=None, entries=None, digest=None))
        await books.close()
        for asked in ("resume", "fork"):
            answer = await http.post(f"/runs/sent/{asked}", headers=ACTING, json=fork_order(agent, after=0))
            assert answer.status_code == 400, answer.text
            assert answer.text.startswith("a page starts no program")
    assert not owned.exists()


async def test_a_fork_with_a_model_of_one_owner_needs_a_budget(tmp_path: Path) -> None:
    """The model that the settings name plays on, whoever plays the others."""
    async with client(tmp_path) as http:
        books = await open_store(str(tmp_path / "akinai.db"))
        header = await books.header("quiet-1")
        setup = {**header.genesis.setup, "owners": {"1": {}, "2": {"model": "openai:m"}}}
        header = replace(header, genesis=replace(header.genesis, setup=setup), run_id="sent")
        await books.create(replace(header, status="open", ending=None, entries=None, digest=None))
        await books.close()
        answer = await http.post("/runs/sent/fork", headers=ACTING, json={**fork_order("idle", after=0), "dollars": 0})
        assert answer.status_code == 400, answer.text
        assert "budget" in answer.text


@pytest.mark.parametrize("asked", ["resume", "fork", "play"])
async def test_a_page_goes_on_with_no_program(tmp_path: Path, asked: str) -> None:
    """A run whose card names a program, which anybody may have sent, is resumed, forked and played on by others alone."""
    owned = tmp_path / "OWNED"
    async with client(tmp_path) as http:
        books = await open_store(str(tmp_path / "akinai.db"))
        header = await books.header("quiet-1")
        player = "human" if asked == "play" else touching(owned)
        card = {**header.card, "agent": player, "session": {"hold": ["nobody"], "rest": touching(owned)}}
        header = replace(header, run_id="sent", status="open", ending=None, agents={"owner": player}, card=card)
        await books.create(header)
        await books.close()
        if asked == "play":
            answer = await http.get("/play/sent", headers=COOKIE)
        else:
            answer = await http.post(f"/runs/sent/{asked}", headers=ACTING, json=fork_order("", after=0))
        assert answer.status_code == 400, answer.text
        assert answer.text.startswith("a page starts no program")
    assert not owned.exists()


@pytest.mark.slow
async def test_programs_play_where_the_studio_was_started_so(tmp_path: Path) -> None:
    """With `--allow-programs` a page starts the agent that it names."""
    owned = tmp_path / "OWNED"
    async with client(tmp_path, allow_programs=True) as http:
        answer = await http.post("/runs/quiet-1/fork", headers=ACTING, json=fork_order(touching(owned)))
        assert answer.status_code == 200, answer.text
        for _ in range(600):
            if owned.exists():
                break
            await asyncio.sleep(0.1)
    assert owned.exists()
