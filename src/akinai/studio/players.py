"""Runs that persons play in the browser: each a session of this process, opened again when its page is."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from akinai import worlds
from akinai.api.person import Game, is_persons, open_game
from akinai.api.session import AsyncSession
from akinai.core.errors import AkinaiError, EndRun, UnknownName, UsageError
from akinai.core.ledger import Outcome
from akinai.core.stores import Books, RunHeader
from akinai.core.worlds import World
from akinai.runtime.play.agent_registry import (
    HELD,
    HTTP_AGENT,
    HUMAN,
    SESSION_AGENT,
    agent_plugins,
    seats_of,
)
from akinai.runtime.play.agent_spec import MODEL_AGENTS, spec_of

FROM_OUTSIDE = (HTTP_AGENT, HUMAN, SESSION_AGENT)
"""In place of agents, in runs that nobody here plays on by itself."""


def expect_player(world: World[Any], agent: str) -> None:
    """UsageError for an agent that is neither a player of the world nor asks a model: no page may start a program."""
    players = (*world.players, *MODEL_AGENTS)
    if agent in players:
        return
    if agent.partition(":")[0] not in ("script", "stdio", *agent_plugins()):
        raise UnknownName("player", agent, players, f"a page lets {', '.join(players)} play")
    raise UsageError(
        f"a page starts no program, and the agent {agent!r:.100} is one; name one of {', '.join(players)}, use the "
        "command line, or start the studio with --allow-programs"
    )


def expect_players(header: RunHeader, agent: str = "") -> None:
    """UsageError where one of those who play a run, as its card and its settings say, is a program; `agent` plays on
    in the place of its own."""
    world = worlds.load(header.genesis.world)
    held = header.card.get(HELD)
    rest_agent = str(held.get("rest") or "") if isinstance(held, dict) else ""
    named = (*spec_of(header).seat_agents, *seats_of(world, header.genesis.setup).seat_agents)
    playing = {agent} if agent else {*header.agents.values(), rest_agent}
    for name in {*playing, *(other for _, other in named)} - {"", *FROM_OUTSIDE}:
        expect_player(world, name)


@dataclass(slots=True)
class Players:
    """The sessions by run."""

    books: Books
    store: str
    allow_programs: bool = False
    """Whether pages may start any agent, programs included."""
    _sessions: dict[str, AsyncSession] = field(default_factory=dict[str, AsyncSession])
    _named: set[str] = field(default_factory=set[str])
    """Runs that were begun here, or named by whoever started the studio: who plays the others was their choice."""
    _keys: dict[str, str | Path] = field(default_factory=dict[str, "str | Path"])
    """The key files of sealed runs that were named here, by run."""
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])

    async def begin(self, game: Game) -> str:
        """Begin a run, or open one to go on with; its name. UsageError for what cannot be played."""
        if game.resume is not None:
            self._named.add(game.resume)
            self._remember_key(game.resume, game)
            await self.session(game.resume)
            return game.resume
        session = await open_game(game, self.store)
        self._sessions[session.id] = session
        self._named.add(session.id)
        self._remember_key(session.id, game)
        return session.id

    def _remember_key(self, run: str, game: Game) -> None:
        if game.key is not None:
            self._keys[run] = game.key

    def expect_players(self, header: RunHeader, agent: str = "") -> None:
        """UsageError where a page may not let those play on who played a run, or `agent` in the place of its own."""
        if not self.allow_programs:
            expect_players(header, agent)

    async def session(self, run: str) -> AsyncSession | None:
        """The session of a run; None where the run is over. UsageError for one that no person plays."""
        async with self._lock(run):
            return await self._session(run)

    async def _session(self, run: str) -> AsyncSession | None:
        if (session := self._sessions.get(run)) is not None:
            if not session.done:
                return session
            del self._sessions[run]
            await session.close()
        header = await self.books.header(run)
        if header.status == "done" and not is_persons(header):
            return None
        if run not in self._named:
            self.expect_players(header)
        session = self._sessions[run] = await open_game(Game(resume=run, key=self._keys.get(run)), self.store)
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
