"""`akinai.studio`: serves the pages of a store's runs on this machine until it is stopped."""

import asyncio
import secrets
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Unpack
from urllib.parse import quote

from akinai.api.person import Game
from akinai.core.errors import UsageError
from akinai.core.stores import Books
from akinai.report.page.templating import Language, checked_language, prepare
from akinai.runtime.config.addresses import opened, resolve_store, shared_url
from akinai.runtime.config.calls import with_options
from akinai.runtime.http.allowed_hosts import AllowedHosts
from akinai.runtime.http.front import Front, Listener
from akinai.runtime.models.budget import known_prices
from akinai.runtime.options import StudioOptions
from akinai.studio.access import guard_of
from akinai.studio.app import make_app
from akinai.studio.cached_views import CachedViews
from akinai.studio.jobs import Jobs
from akinai.studio.players import Players
from akinai.studio.shared import Studio
from akinai.studio.watch import Watch

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class StudioInfo:
    """A studio that listens."""

    url: str
    """The address to open once, with its token."""
    runs: int


@dataclass(frozen=True, slots=True)
class _Listening:
    """The runs that a studio shows, and the address at which it listens."""

    names: Sequence[str]
    store: str
    host: str
    port: int
    allow_host: Sequence[str]
    language: Language | None
    game: Game | None = None
    """A run that a person plays."""
    allow_programs: bool = False


@with_options(StudioOptions)
def studio(*runs: str, **options: Unpack[StudioOptions]) -> None:
    """Look at runs in a browser until SIGTERM or SIGINT: those that are named, or all of the store.

    From a page only the world's players and models play; with `allow_programs` also programs (`stdio:COMMAND`), scripts
    and agents of other packages. `ready` is called with the address when requests are taken. UsageError for an unknown
    run, a store in memory, and a port that is in use.
    """
    address = shared_url(resolve_store(options["store"]))
    if address is None:
        raise UsageError("the studio shows a store that other processes can open, such as akinai.db")
    listening = _Listening(
        runs, address, options["host"], options["port"], options["allow_host"], checked_language(options["language"]),
        allow_programs=options["allow_programs"],
    )  # fmt: skip
    _listen(listening, options["ready"], no_browser=options["no_browser"])


def serve_game(
    game: Game,
    store: str,
    *,
    port: int,
    language: str | None,
    no_browser: bool,
    ready: Callable[[StudioInfo], None] | None,
) -> None:
    """Let a person play in the browser, with the studio's other pages around it, until SIGTERM or SIGINT."""
    if shared_url(store) is None:
        raise UsageError("a person plays in a store that lasts, such as akinai.db")
    _listen(_Listening((), store, LOOPBACK, port, (), checked_language(language), game), ready, no_browser=no_browser)


def _listen(listening: _Listening, ready: Callable[[StudioInfo], None] | None, *, no_browser: bool) -> None:
    def started(info: StudioInfo) -> None:
        if ready:
            ready(info)
        if not no_browser:
            with suppress(webbrowser.Error):
                webbrowser.open(info.url)

    asyncio.run(_serve(listening, started))


async def _serve(listening: _Listening, ready: Callable[[StudioInfo], None]) -> None:
    listener = Listener.STUDIO if listening.game is None else Listener.PLAY
    with Front.at(listener, listening.host, listening.port) as front:
        async with opened(listening.store, create=listening.game is not None) as books:
            await _serve_books(listening, books, front, ready)


async def _serve_books(listening: _Listening, books: Books, front: Front, ready: Callable[[StudioInfo], None]) -> None:
    notices: list[str] = []
    jobs = Jobs(listening.store, notices.append)
    prices = known_prices()
    watch = Watch(books, listening.names, prices, jobs.plays)
    await watch.refresh()
    await asyncio.to_thread(prepare, listening.language or "en")
    players = Players(books, listening.store, listening.allow_programs)
    views = CachedViews(books, watch, prices)
    shared = Studio(books, watch, views, jobs, players, listening.language, notices=notices)
    played = await players.begin(listening.game) if listening.game else None
    token = secrets.token_urlsafe(32)
    guard = guard_of(token, AllowedHosts({listening.host, *listening.allow_host}), front.port)
    try:
        async with front.serving(make_app(shared), guard) as serving:

            def stop() -> None:
                shared.stopping.set()
                serving.stop()

            ready(StudioInfo(f"{front.url}{_first_page(watch, played)}?token={token}", len(watch.items)))
            await serving.until_signal(stop)
    finally:
        shared.stopping.set()
        await players.close()
        await jobs.close()


def _first_page(watch: Watch, played: str | None) -> str:
    """The path of the game that a person plays, of the only run, or of the list."""
    if played:
        return f"/play/{quote(played, safe='')}"
    return f"/runs/{quote(watch.items[0].header.run_id, safe='')}" if len(watch.items) == 1 else "/"
