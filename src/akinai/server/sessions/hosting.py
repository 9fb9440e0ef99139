"""The sessions of a server: opens, resumes and closes them, and takes each action once for its key."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from akinai import worlds
from akinai.api.opening import aopen, expect_same_run, plan_session
from akinai.api.seat import Seat
from akinai.api.session import AsyncSession
from akinai.core.errors import EndRun, UnknownName, UsageError
from akinai.core.facets import SAME
from akinai.core.stores import Books
from akinai.core.worlds import World
from akinai.runtime.config.calls import complete_options
from akinai.runtime.config.settings import DEFAULT_PRESET, presets, resolve_preset, setting
from akinai.runtime.options import OpenOptions
from akinai.runtime.play.agent_registry import SESSION_AGENT
from akinai.runtime.seal import Key
from akinai.server.market import Overloaded
from akinai.server.sessions.shapes import ActAnswer, NewAction, NewSession, SessionInfo

MOST_SESSIONS = 100
"""Sessions that are played at a time; further ones are refused."""
MOST_WAITING = 100
"""Actions of a session that wait at a time; further ones are refused."""
ANSWERS_KEPT = 100
"""The last actions of a session whose answers are repeated when they are asked for with the same key."""


class OtherRequest(UsageError):
    """An idempotency key that was used with another request."""


class SessionClosed(UsageError):
    """A session that was closed while an action waited."""


@dataclass(slots=True, eq=False)
class _Action:
    """An action under way, or its answer."""

    request: NewAction
    task: asyncio.Task[ActAnswer]


@dataclass(slots=True, eq=False)
class HostedSession:
    """A session with the actions of its clients."""

    session: AsyncSession
    closing: asyncio.Event
    """Set when the server stops: requests no longer wait."""
    closed: bool = False
    _actions: OrderedDict[tuple[str | None, str], _Action] = field(
        default_factory=OrderedDict[tuple[str | None, str], _Action]
    )
    _locks: dict[str | None, asyncio.Lock] = field(default_factory=dict[str | None, asyncio.Lock])

    def info(self) -> SessionInfo:
        """The session as it stands."""
        return SessionInfo(**self._standing())

    def _standing(self) -> dict[str, Any]:
        session = self.session
        return {
            "id": session.id,
            "world": session.world.name,
            "seed": session.seed,
            "sealed": asdict(session.sealed) if session.sealed else None,
            "held": session.held,
            "actors": session.actors,
            "done": session.done,
            "ending": session.ending,
        }

    async def act(self, request: NewAction, seat: Seat[AsyncSession]) -> ActAnswer:
        """Take an action, once for each key. `seat` is that of the token that was sent.

        The answer is `pending` after the request's `wait_s`; the action goes on. OtherRequest for a key that belongs to
        another action, Overloaded, and what `AsyncSession.act` raises.
        """
        key = request.key or secrets.token_hex(12)
        keyed_request = request.model_copy(update={"wait_s": 0.0, "key": key})
        action = self._actions.get((seat.actor, key))
        if action is None:
            if sum(not other.task.done() for other in self._actions.values()) >= MOST_WAITING:
                raise Overloaded
            action = _Action(keyed_request, asyncio.create_task(self._take(keyed_request, seat)))
            self._actions[seat.actor, key] = action
            self._forget_old()
        elif action.request != keyed_request:
            raise OtherRequest(f"the key {key!r:.100} belongs to another action; choose a new key for each")
        stopped = asyncio.create_task(self.closing.wait())
        try:
            await asyncio.wait({action.task, stopped}, timeout=request.wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        if action.task.cancelled():
            raise self._closed()
        if action.task.done():
            return action.task.result()
        return ActAnswer(**self._standing(), key=key, pending=True)

    async def _take(self, request: NewAction, seat: Seat[AsyncSession]) -> ActAnswer:
        actor = request.actor or seat.on_turn()
        wait = seat.wait if request.wait is None else request.wait
        async with self._locks.setdefault(seat.actor or request.actor, asyncio.Lock()):
            session = self.session
            try:
                outcome = await session.act(
                    request.action, request.arguments, text=request.text, actor=actor, wait=wait
                )
            except EndRun as end:
                if self.closed:
                    raise self._closed() from end
                raise
            return ActAnswer(**self._standing(), key=request.key or "", outcome=outcome, reward=session.reward)

    def _closed(self) -> SessionClosed:
        return SessionClosed(f"the session was closed; POST /sessions/{self.session.id}/resume goes on")

    def _forget_old(self) -> None:
        """Drop the oldest answers beyond those that are kept."""
        done = [key for key, action in self._actions.items() if action.task.done()]
        for key in done[: max(0, len(self._actions) - ANSWERS_KEPT)]:
            task = self._actions.pop(key).task
            if not task.cancelled():
                task.exception()  # an error that nobody asked for again is no warning

    @property
    def failed(self) -> bool:
        """Whether the run has stopped without an ending, as when the store could not be written."""
        return self.session.done and self.session.ending is None

    async def close(self) -> None:
        """Stop playing; what waits ends. A run that is not over can be resumed."""
        self.closed = True
        tasks = [action.task for action in self._actions.values()]
        await self.session.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class SessionHost:
    """The sessions of a server."""

    def __init__(
        self, store: Books, world: World[Any] | None = None, *, key: Key | None = None, most: int = MOST_SESSIONS
    ) -> None:
        """`world` is the only one that is played; None for all. With a `key` its games are dealt in their order, each
        once: who opens a session cannot come back to a game."""
        self._store, self._world, self._key, self._most = store, world, key, most
        self._sessions: dict[str, HostedSession] = {}
        self._opening = asyncio.Lock()
        self._closing = asyncio.Event()

    @property
    def sessions(self) -> Mapping[str, HostedSession]:
        """Hosted sessions by the name of their run, in the order of opening."""
        return self._sessions

    def find(self, name: str) -> HostedSession:
        """A session that is open here. UnknownName for another."""
        if name not in self._sessions:
            raise UnknownName("session", name, self._sessions, f"POST /sessions/{name:.100}/resume opens a run again")
        return self._sessions[name]

    async def open(self, options: NewSession) -> tuple[HostedSession, bool]:
        """Open a run, or go on with that of the same name and options, and return whether it is a new one.

        UsageError for what cannot be played, or not by a request; Overloaded.
        """
        world = self._world_of(options)
        fields = options.model_dump(exclude={"world"})
        async with self._opening:
            if self._key is not None:
                fields |= {"key": self._key.path, "seed": self._number(world, options, self._key)}
            hosted = self._sessions.get(f"{options.name}-{fields['seed']}")
            if hosted is not None and not hosted.failed:
                all_options = cast("OpenOptions", complete_options(OpenOptions, fields))
                planned = plan_session(world, SESSION_AGENT, all_options, self._key)
                expect_same_run(await self._store.header(hosted.session.id), planned.header)
                return hosted, False
            if hosted is not None:
                await self.close(hosted.session.id)
            await self._make_room()
            session = await aopen(world, store=self._store, **fields)
            return self._add(session), not session.resumed

    def _number(self, world: World[Any], options: NewSession, key: Key) -> int:
        """The number of the sealed game that a request is for: that of the open run of its name, or the next."""
        if "seed" in options.model_fields_set:
            raise UsageError("the games here are sealed, and the server deals them in their order; leave seed out")
        for hosted in self._sessions.values():
            session = hosted.session
            if session.sealed and session.id == f"{options.name}-{session.sealed.index}" and not session.done:
                return session.sealed.index
        preset = setting("preset", options.preset, DEFAULT_PRESET)
        return key.next_index(world.name, resolve_preset(world, preset))

    async def resume(self, name: str) -> HostedSession:
        """The session of a run that was opened before; the same where it is open here. UsageError, Overloaded."""
        async with self._opening:
            hosted = self._sessions.get(name)
            if hosted is not None and not hosted.failed:
                return hosted
            if hosted is not None:
                await self.close(name)
            await self._make_room()
            header = await self._store.header(name)
            sealed = header.sealed is not None and self._key is not None
            session = await aopen(resume=name, store=self._store, key=self._key.path if sealed and self._key else None)
            if self._world is not None and session.world.name != self._world.name:
                await session.close()
                raise UsageError(f"{name!r} is a run of {session.world.name}; here {self._world.name} is played")
            return self._add(session)

    async def close(self, name: str) -> None:
        """Close a session. UnknownName."""
        hosted = self.find(name)
        del self._sessions[name]
        await hosted.close()

    async def close_all(self) -> None:
        """Close every session."""
        self.wake_all()
        for name in list(self._sessions):
            await self.close(name)

    def wake_all(self) -> None:
        """Answer every request that waits, and play no new session."""
        self._closing.set()

    def _add(self, session: AsyncSession) -> HostedSession:
        return self._sessions.setdefault(session.id, HostedSession(session, self._closing))

    async def _make_room(self) -> None:
        """Close the oldest session that is over where there are too many. Overloaded if none is, and at a stop."""
        if len(self._sessions) < self._most and not self._closing.is_set():
            return
        over = next((name for name, hosted in self._sessions.items() if hosted.session.done), None)
        if over is None or self._closing.is_set():
            raise Overloaded
        await self.close(over)

    def _world_of(self, options: NewSession) -> World[Any]:
        """The world of a new session. UsageError for options that would read files or spend on models."""
        if options.world is None and self._world is None:
            raise UsageError(f"name a world: there is {', '.join(sorted(worlds.names()))}")
        world = self._world if options.world is None else worlds.load(options.world)
        assert world is not None
        if self._world is not None and world.name != self._world.name:
            raise UsageError(f"here {self._world.name} is played, not {options.world!r:.100}")
        if options.preset is not None and resolve_preset(world, options.preset) not in (names := presets(world)):
            raise UnknownName("preset", options.preset, names, f"of {world.name}")
        if options.rest is not None and options.rest not in world.players:
            raise UnknownName("player", options.rest, world.players, f"of {world.name}")
        for path in _paths(options.settings):
            _expect_harmless(world, path)
        return world


def _paths(settings: Mapping[str, Any], above: Sequence[str] = ()) -> list[tuple[list[str], object]]:
    """Every setting as the steps that lead to it, with its value."""
    paths: list[tuple[list[str], object]] = []
    for name, value in settings.items():
        steps = [*above, *str(name).split(".")]
        if isinstance(value, Mapping):
            paths += _paths(cast("Mapping[str, Any]", value), steps)
        else:
            paths.append((steps, value))
    return paths


def _expect_harmless(world: World[Any], setting: tuple[Sequence[str], object]) -> None:
    steps, value = setting
    name = ".".join(steps)
    if steps[0] in world.facets.files.readers and (isinstance(value, str) or "file" in steps):
        raise UsageError(f"the setting {name!r:.100} reads a file of the server; a request may not set it")
    sides = world.facets.sides
    by_rules = steps.index("agent") == len(steps) - 1 and value in (SAME, *world.players) if "agent" in steps else False
    if (
        "agent" in steps
        and not by_rules
        and any(steps[0] == name.partition(".")[0] for name in (*sides.helpers, *sides.seats.values()))
    ):
        raise UsageError(f"the setting {name!r:.100} would start an agent of the server's; a request may not set it")
    tables = {name.partition(".")[0] for name in (*sides.groups, *sides.helpers, *sides.seats.values())}
    if steps[0] in tables and "model" in steps:
        raise UsageError(f"the setting {name!r:.100} would ask a model of the server's; a request may not set it")
