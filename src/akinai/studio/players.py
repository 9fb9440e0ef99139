"""Runs that persons play in the browser: each a session of this process, opened again when its page is."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from akinai.api.person import Game, is_persons, open_game
from akinai.api.session import AsyncSession
from akinai.core.errors import AkinaiError, EndRun, UsageError
from akinai.core.ledger import Outcome
from akinai.core.stores import Books


@dataclass(slots=True)
class Players:
    """The sessions by run."""

    books: Books
    store: str
    _sessions: dict[str, AsyncSession] = field(default_factory=dict[str, AsyncSession])
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])

    async def begin(self, game: Game) -> str:
        """Begin a run, or open one to go on with; its name. UsageError for what cannot be played."""
        if game.resume is not None:
            await self.session(game.resume)
            return game.resume
        session = await open_game(game, self.store)
        self._sessions[session.id] = session
        return session.id

    async def session(self, run: str) -> AsyncSession | None:
        """The session of a run; None where the run is over. UsageError for one that no person plays."""
        async with self._lock(run):
            return await self._session(run)

    async def _session(self, run: str) -> AsyncSession | None:
        if (known := self._sessions.get(run)) is not None:
            if not known.done:
                return known
            del self._sessions[run]
            await known.close()
        header = await self.books.header(run)
        if header.status == "done" and not is_persons(header):
            return None
        self._sessions[run] = session = await open_game(Game(resume=run), self.store)
        return session

    async def act(self, run: str, verb: str, arguments: Mapping[str, Any]) -> Outcome | None:
        """Take an action, one at a time; None where it ended the run."""
        async with self._lock(run):
            session = await self._session(run)
            if session is None:
                raise UsageError(f"{run} is over")
            with suppress(EndRun):
                return await session.act(verb, arguments)
            return None

    async def close(self) -> None:
        """Close all sessions; their runs can be resumed."""
        for session in self._sessions.values():
            with suppress(AkinaiError):
                await session.close()
        self._sessions.clear()

    def _lock(self, run: str) -> asyncio.Lock:
        return self._locks.setdefault(run, asyncio.Lock())
