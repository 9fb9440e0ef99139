"""A program as a player: it reads views and writes actions, one JSON line each."""

import asyncio
import json
import logging
import os
import shlex
import shutil
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from akinai.core.actions import Verbs
from akinai.core.agents import Move, Role, View
from akinai.core.canonical import Json
from akinai.core.errors import AgentError, EndRun, UsageError
from akinai.core.ledger import Outcome
from akinai.core.models import TIMEOUT_S
from akinai.core.replies.moves import read_program_moves

LINE_LIMIT = 8 * 2**20
"""Bytes of the longest line that a program may write."""
PATIENCE_S = 2.0
"""Seconds to wait for the first line without a word."""
LOGGER = logging.getLogger("akinai.agents")
OURS = ("AKINAI_", "PG")
"""Beginnings of variables that a program is not given: Akinai's own, and those that open a PostgreSQL store."""

try:
    import pwd
except ImportError:  # Windows
    pwd = None


def expect_user(name: str) -> None:
    """UsageError where a program cannot be started as the user `name`: such a system, no such user, no right to."""
    other = "start the program in a container, or on another machine over HTTP or MCP"
    if pwd is None:
        raise UsageError(f"this system starts no program as another user, such as {name!r}; {other}")
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise UsageError(
            f"there is no user {name!r} on this machine; make one (useradd --system), or {other}"
        ) from None
    if user.pw_uid in (0, os.geteuid()):
        raise UsageError(f"the user {name!r} may read what you may read, your keys and stores too; name another")
    if os.geteuid() != 0:
        raise UsageError(f"only root may start a program as the user {name!r}; run akinai with sudo, or {other}")


def program_environment(environment: Mapping[str, str], user: str = "") -> dict[str, str]:
    """The environment of a program that plays: without Akinai's own variables and the addresses of databases, and with
    the home of the `user` as whom it runs."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(OURS) and "postgresql://" not in value and "postgres://" not in value
    }
    if user and pwd is not None:
        with suppress(KeyError):
            kept |= {"HOME": pwd.getpwnam(user).pw_dir, "USER": user, "LOGNAME": user}
    return kept


def command_words(command: str) -> Sequence[str]:
    """The words of a command line. UsageError if it cannot be parsed or its program is not found."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the player {command!r} is no command: {error}; check its quotes") from error
    if not words or shutil.which(words[0]) is None:
        program = words[0] if words else ""
        if os.path.isfile(program):
            raise UsageError(f"the player {command!r} cannot be started: {program!r} may not be executed; chmod +x it")
        raise UsageError(f"the player {command!r} cannot be started: there is no program {program!r}; check its path")
    return words


class ProgramAgent:
    """A child process that plays one actor.

    Each turn the program reads one line, {"view", "news", "verbs", "heard": {"text", "ok", "code"} or null}, where
    "heard" is the outcome of its last move; the first line also holds "actor" and "tools". It answers with one line: an
    action in the structured-action format, or a list of actions, which are carried out in order. A line with
    "recorded": ACTION reports a move that was made before, as on a resume, and expects no answer. When the program
    exits with code 0 the run ends as `script_over`; any other exit code, or silence for `timeout_s`, is an AgentError.
    """

    remember_on_resume = True

    def __init__(self, command: str, role: Role, verbs: Verbs, timeout_s: float = TIMEOUT_S, user: str = "") -> None:
        """`user` is the one as whom the program runs; empty for the user of this process."""
        self._user = user
        self._command, self._role, self._verbs, self._timeout_s = command, role, verbs, timeout_s
        self._words = command_words(command)
        self._process: asyncio.subprocess.Process | None = None
        self._spoke = False
        """Whether it ever wrote a line."""
        self._moves = deque[Move]()
        """Moves of its last line that are still to be made."""

    async def act(self, view: View, last: Outcome | None) -> Move:
        if not self._moves:
            await self._send(_turn_line(view, last))
            self._moves.extend(read_program_moves(self._verbs, await self._read_line()))
        return self._moves.popleft()

    async def remember(self, view: View, last: Outcome | None, move: Move) -> None:
        """Send the program a recorded move."""
        action = {"action": move.action.tool_name().upper(), **move.action.encode()}
        await self._send(_turn_line(view, last) | {"recorded": action})

    async def close(self) -> None:
        """End the program: close its input, and kill it if it is still running two seconds later."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 2.0)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _send(self, line: dict[str, Json]) -> None:
        if self._process is None:
            self._process = await self._start()
            line = {"actor": self._role.actor, "tools": [verb.tool() for verb in self._role.verbs], **line}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            await self._raise_ended()

    async def _start(self) -> asyncio.subprocess.Process:
        other: dict[str, Any] = {}
        if self._user and pwd is not None:
            group = pwd.getpwnam(self._user).pw_gid
            other = {"user": self._user, "group": group, "extra_groups": [], "umask": 0o077}
        try:
            return await asyncio.create_subprocess_exec(
                *self._words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LINE_LIMIT,
                close_fds=True,
                env=program_environment(os.environ, self._user),
                **other,
            )
        except OSError as error:
            raise AgentError(f"the player {self._command!r} cannot be started: {error}") from error

    async def _read_line(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        reading = asyncio.ensure_future(self._process.stdout.readline())
        try:
            async with asyncio.timeout(self._timeout_s):
                if not self._spoke:
                    await self._say_who_is_awaited(reading)
                line = await reading
        except TimeoutError:
            raise AgentError(self._silence()) from None
        except ValueError as error:
            raise AgentError(f"the player {self._command!r} wrote a line above {LINE_LIMIT:,} bytes") from error
        finally:
            reading.cancel()
        self._spoke = True
        if not line.endswith(b"\n") and not line.strip():
            await self._raise_ended()
        return line.decode("utf-8", "surrogateescape").strip()

    async def _say_who_is_awaited(self, reading: "asyncio.Future[bytes]") -> None:
        """Log a line where the program's first one does not come at once: somebody may be watching."""
        await asyncio.wait([reading], timeout=PATIENCE_S)
        if not reading.done():
            LOGGER.warning(
                "waiting for the first line of the player %r, for up to %g seconds", self._command, self._timeout_s
            )

    def _silence(self) -> str:
        """The error for a program that writes nothing."""
        if self._spoke:
            return f"the player {self._command!r} wrote nothing for {self._timeout_s:g} seconds"
        return (
            f"the player {self._command!r} wrote no line within {self._timeout_s:g} seconds; it is to read a line of "
            "JSON and answer with one, and to flush it (in Python: print(line, flush=True)); --timeout waits longer"
        )

    async def _raise_ended(self) -> None:
        """Raise EndRun where the program exited with code 0, else AgentError."""
        assert self._process is not None
        code = await self._process.wait()
        if code == 0:
            raise EndRun("script_over")
        raise AgentError(f"the player {self._command!r} ended with code {code}; what it wrote to stderr says why")


def _turn_line(view: View, last: Outcome | None) -> dict[str, Json]:
    outcome: Json = None if last is None else {"text": last.text, "ok": last.ok, "code": last.code}
    return {"view": view.text, "news": view.news, "verbs": [verb.tool_name() for verb in view.verbs], "heard": outcome}
